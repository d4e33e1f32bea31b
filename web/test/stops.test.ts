import assert from "node:assert/strict";
import { test } from "node:test";
import { NONE } from "../src/replay/data/contract";
import { Stops } from "../src/replay/data/stops";

type Row = { from: number; until: number; port: number; cause?: number; root?: number };

function encode(rows: readonly Row[]): ArrayBuffer {
  const n = rows.length;
  const bytes = new ArrayBuffer(8 + n * 36);
  const view = new DataView(bytes);
  view.setUint32(0, n, true);
  rows.forEach((row, i) => {
    view.setFloat64(8 + i * 8, row.from, true);
    view.setFloat64(8 + n * 8 + i * 8, row.until, true);
    [row.port, 3, row.root ?? i, row.cause ?? NONE, row.cause === undefined ? 0 : 1].forEach((value, column) =>
      view.setUint32(8 + n * (16 + 4 * column) + i * 4, value, true),
    );
  });
  return bytes;
}

test("a stop holds from its beginning until before its end", () => {
  const stops = Stops.decode(encode([{ from: 10, until: 20, port: 4 }, { from: 12, until: 15, port: 6, cause: 0, root: 0 }]), null);
  assert.deepEqual(stops.at(9.999), []);
  assert.deepEqual(stops.at(10), [0]);
  assert.deepEqual(stops.at(12), [0, 1]);
  assert.deepEqual(stops.at(15), [0]);
  assert.deepEqual(stops.at(20), []);
});

test("the index agrees with a scan of all stops", () => {
  let seed = 7;
  const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const rows = Array.from({ length: 5000 }, () => ({ from: random() * 1000, length: random() < 0.02 ? 800 : random() * 5 }))
    .sort((a, b) => a.from - b.from)
    .map(({ from, length }, i) => ({ from, until: from + length, port: i % 64 }));
  const stops = Stops.decode(encode(rows), null);
  for (let t = 0; t < 1100; t += 3.7) {
    const scan = rows.flatMap((row, i) => (row.from <= t && t < row.until ? [i] : []));
    assert.deepEqual(stops.at(t), scan);
  }
});

test("steps go from one beginning to the next", () => {
  const stops = Stops.decode(encode([{ from: 10, until: 20, port: 0 }, { from: 10, until: 30, port: 2 }, { from: 15, until: 16, port: 0 }]), null);
  assert.equal(stops.nextAfter(0), 10);
  assert.equal(stops.nextAfter(10), 15);
  assert.equal(stops.nextAfter(15), null);
  assert.equal(stops.lastBefore(15), 10);
  assert.equal(stops.lastBefore(10), null);
  assert.deepEqual(stops.ofPort(0), [0, 2]);
});

test("a chain ends at the root, and a circle does not go on for ever", () => {
  const rows = [{ from: 1, until: 9, port: 0 }, { from: 2, until: 9, port: 2, cause: 0, root: 0 }, { from: 3, until: 9, port: 4, cause: 1, root: 0 }];
  const stops = Stops.decode(encode(rows), { stop: [0], congested_port: [8] });
  assert.deepEqual(stops.chain(2), [2, 1, 0]);
  assert.equal(stops.rootPort(2), 8);
  const circle = Stops.decode(encode([{ from: 1, until: 9, port: 0, cause: 1 }, { from: 1, until: 9, port: 2, cause: 0 }]), null);
  assert.deepEqual(circle.chain(0), [0, 1]);
  assert.equal(circle.rootPort(0), null);
});

test("a file that is too short is refused", () => {
  const bytes = new ArrayBuffer(8);
  new DataView(bytes).setUint32(0, 5, true);
  assert.throws(() => Stops.decode(bytes, null), /shorter/);
});
