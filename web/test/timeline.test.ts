import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../src/replay/data/run";
import { tracesOf } from "../src/replay/time/timeline-traces";

const run = (columns: Partial<Record<"queued_bytes" | "paused_ports" | "tx_gbps" | "exposed_ranks", number[]>>): Run =>
  ({ timeline: { queued_bytes: [], paused_ports: [], tx_gbps: [], exposed_ranks: [], ...columns } }) as unknown as Run;

test("what is added up over links is not called throughput", () => {
  const [links, ...others] = tracesOf([run({ tx_gbps: [1] })]);
  assert.equal(links!.label, "sum of links");
  assert.deepEqual(others, []);
});

test("courses are those that one of the runs has", () => {
  const keys = tracesOf([run({ queued_bytes: [0, 1] }), run({ exposed_ranks: [2] })]).map(({ key }) => key);
  assert.deepEqual(keys, ["queued_bytes", "exposed_ranks"]);
});
