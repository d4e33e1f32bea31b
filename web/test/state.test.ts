import assert from "node:assert/strict";
import { test } from "node:test";
import { speedFor } from "../src/replay/time/clock";
import { filterFlows } from "../src/replay/data/flow-filter";
import { counterpart } from "../src/replay/data/flow-match";
import { interesting } from "../src/replay/time/interest";
import { runColours } from "../src/replay/page/theme";
import { firstRange, fitted, pageOf } from "../src/replay/time/range";
import { windowBeside } from "../src/replay/time/steps";
import { readState, writeState } from "../src/replay/state";
import { tickStep } from "../src/replay/time/timeline-scale";
import type { Flows } from "../src/replay/data/contract";

test("a view survives the way through an address", () => {
  const state = { t: 20180.5, range: [20000, 24000] as [number, number], camera: [0.5, 0.25, 3] as [number, number, number], port: "a&b=<i>->S1 #", node: null, flow: 12, run: 1, runs: [0, 2], tab: "port" };
  assert.deepEqual(readState(`#${writeState(state)}`), state);
});

test("an address of nonsense is a view of everything", () => {
  const state = readState("#t=NaN&range=5,1&camera=x&flow=-1&runs=a,b&run=1.5");
  assert.deepEqual(state, { t: null, range: null, camera: null, port: null, node: null, flow: null, run: null, runs: null, tab: null });
});

test("the interesting part lasts about twenty seconds", () => {
  assert.equal(speedFor(8820), 500);
  assert.equal(speedFor(1), 1);
  const timeline = { bin_us: 100, paused_ports: [0, 0, 3, 0, 1, 0], queued_bytes: [0, 9, 9, 9, 0, 0], tx_gbps: [], flows_started: [], exposed_ranks: [] };
  assert.deepEqual(interesting([timeline], 600), [200, 500]);
  assert.deepEqual(interesting([{ ...timeline, paused_ports: [0, 0, 0, 0, 0, 0] }], 600), [100, 400]);
  assert.deepEqual(interesting([], 600), [0, 600]);
  assert.deepEqual(firstRange([200, 300], 1000), [180, 320]);
  assert.deepEqual(firstRange([200, 900], 1000), [0, 1000]);
});

test("ticks are at round times", () => {
  assert.equal(tickStep(3), 5);
  assert.equal(tickStep(10), 10);
  assert.ok(Math.abs(tickStep(0.13) - 0.2) < 1e-12);
});

test("flows are found by node, ends, label, id and port", () => {
  const flows = {
    texts: ["incast", "web"], paths: [[0, 2], [4]], id: [100, 101, 102], label: [0, 1, 1], source: [0, 1, 1], src: [0, 1, 2], dst: [2, 2, 0],
    path: [0, 1, 1], slowdown: [2, 5, null], size_bytes: [10, 20, null],
  } as unknown as Flows;
  const names = ["H0", "H1", "R0"];
  const find = (text: string, port: number | null = null, order: "start" | "slowdown" | "size" = "start"): number[] => [...filterFlows(flows, names, { text, port, order })];
  assert.deepEqual(find(""), [0, 1, 2]);
  assert.deepEqual(find("h1"), [1]);
  assert.deepEqual(find("h -> r0"), [0, 1]);
  assert.deepEqual(find("incast"), [0]);
  assert.deepEqual(find("102"), [2]);
  assert.deepEqual(find("", 4), [1, 2]);
  assert.deepEqual(find("", null, "slowdown"), [1, 0, 2]);
  assert.deepEqual(find("", null, "size"), [2, 1, 0]);
});

test("a flow is found again in another run, by what it is and not by its number", () => {
  const flows = (rows: [label: number, src: number, dst: number, size: number | null][]): Flows =>
    ({
      texts: ["incast", "web"], id: rows.map((_, i) => i), label: rows.map((row) => row[0]), source: rows.map((row) => row[0]), src: rows.map((row) => row[1]),
      dst: rows.map((row) => row[2]), size_bytes: rows.map((row) => row[3]), priority: rows.map(() => 3),
    }) as unknown as Flows;
  const one = flows([[0, 0, 2, 10], [1, 1, 2, 20], [0, 0, 2, 10], [1, 1, 2, null]]);
  const other = flows([[1, 1, 2, null], [0, 0, 2, 10], [1, 1, 2, 20], [0, 1, 2, 10], [0, 0, 2, 10]]);
  assert.deepEqual([0, 1, 2, 3].map((flow) => counterpart(one, flow, other)), [1, 2, 4, 0]);
  assert.deepEqual([0, 1, 2, 3].map((flow) => counterpart(one, flow, one)), [0, 1, 2, 3]);
  assert.equal(counterpart(other, 3, one), null);
  assert.equal(counterpart(other, 9, one), null);
});

test("a run keeps its colour, and no two that are shown share one", () => {
  assert.deepEqual(runColours([0, 1, 2]), ["run-0", "run-1", "run-2"]);
  assert.deepEqual(runColours([2]), ["run-2"]);
  assert.deepEqual(runColours([1, 7, 13]), ["run-1", "run-2", "run-3"]);
});

test("the time line follows the clock, and stays within the run", () => {
  const range = [100, 200] as const;
  assert.equal(pageOf(range, 150, 1000), range);
  assert.deepEqual(pageOf(range, 250, 1000), [245, 345]);
  assert.deepEqual(pageOf(range, 990, 1000), [900, 1000]);
  assert.deepEqual(fitted(-50, 50, 1000), [0, 100]);
  assert.deepEqual(fitted(500, 500, 1000), [500, 500.5]);
});

test("a step leads to the bound of a window", () => {
  assert.equal(windowBeside(10, 8, 1), 16);
  assert.equal(windowBeside(10, 8, -1), 8);
  assert.equal(windowBeside(16, 8, 1), 24);
  assert.equal(windowBeside(16, 8, -1), 8);
});
