import assert from "node:assert/strict";
import { test } from "node:test";
import { Activities, computes } from "../src/replay/data/activities";

const activities = new Activities(
  {
    texts: ["step", "compute", "gradients", "all-reduce"],
    ranks: [["s0.g0", "s0.g1"]],
    job: [0, 0, 0],
    rank: [1, 0, 1],
    name: [0, 2, 2],
    kind: [1, 3, 3],
    iteration: [0, 0, 1],
    begin_us: [0, 4, 6],
    end_us: [10, 8, null],
  },
  20,
);

const doing = (rank: number, t: number): string[] => activities.at(0, rank, t).map(({ name }) => name);

test("a rank does what has begun and is not over", () => {
  assert.deepEqual(doing(0, 3.9), []);
  assert.deepEqual(doing(0, 4), ["gradients"]);
  assert.deepEqual(doing(0, 8), []);
  assert.deepEqual(doing(1, 7), ["step", "gradients"]);
  assert.ok(computes(activities.at(0, 1, 7)[0]!));
  assert.deepEqual(doing(7, 7), [], "no such rank");
});

test("what did not end lasts until the run does", () => {
  assert.deepEqual(doing(1, 19.9), ["gradients"]);
  assert.equal(activities.of(0, 1)[1]!.ended, false);
});
