import assert from "node:assert/strict";
import { test } from "node:test";
import type { AxisData } from "../src/report/data";
import { read, ticks } from "../src/report/ticks";

function axis(unit: AxisData["unit"], log = false): AxisData {
  return { title: "", unit, name: "", log, low: 0, high: 1, marks: [] };
}

function texts(of: AxisData, low: number, high: number, wanted: number): string[] {
  return ticks(of, low, high, wanted).marks.map(([, text]) => text);
}

test("marks are those of the drawing", () => {
  assert.deepEqual(texts(axis("time"), 0, 10_000, 5), ["0", "2", "4", "6", "8", "10"]);
  assert.deepEqual(texts(axis("fraction"), 0, 0.9, 5), ["0", "20", "40", "60", "80"]);
  assert.deepEqual(texts(axis("ratio"), 0, 1, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
  assert.deepEqual(texts(axis("bytes", true), 900, 3e7, 8), ["1 KB", "10 KB", "100 KB", "1 MB", "10 MB"]);
  assert.deepEqual(texts(axis("bytes", true), 61_000, 79_000, 9), ["65 KB", "70 KB", "75 KB"]);
  assert.deepEqual(texts(axis("ratio", true), 1, 30, 8), ["1", "2", "5", "10", "20"]);
});

test("values carry their unit, and nothing has that of the axis", () => {
  assert.equal(read(axis("time"), 3_200), "3.20 ms");
  assert.equal(read({ ...axis("gbps"), high: 40 }, 0), "0 Gb/s");
  assert.equal(read(axis("fraction"), 0.5), "50.0 %");
});
