import assert from "node:assert/strict";
import { test } from "node:test";
import type { AxisData, ChartData } from "../src/report/data";
import { csv } from "../src/report/save";

const axis: AxisData = { title: "", unit: "ratio", name: "", log: false, low: 0, high: 1, marks: [] };

function chart(name: string): ChartData {
  const line = { name, colour: "#000000", dash: "solid" as const, dots: false, marker: null, shift: 0, spans: [] as [number, number, number][], x: [1, 2], y: [3, null], intervals: [[1, 2, 4]] as [number, number, number][], never: [5] };
  const panels = [{ title: "", silence: null, lines: [line], bars: [], quoted: [] }];
  return { file: "f", title: "t", note: "", x: axis, y: axis, groups: [], columns: 1, marks: [], panels };
}

test("every point has a line, with its interval", () => {
  const rows = csv(chart("a, \"b\"")).split("\r\n");
  assert.deepEqual(rows, [
    "panel,kind,name,x,y,low,high,source",
    ',line,"a, ""b""",1,3,2,4,',
    ',line,"a, ""b""",2,,,,',
    ',line,"a, ""b""",5,inf,,,',
  ]);
});

test("no name is a formula", () => {
  assert.match(csv(chart("=1+2")), /,'=1\+2,/);
});
