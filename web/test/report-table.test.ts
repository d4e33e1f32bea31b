import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, numberOf } from "../src/report/table";

test("cells are read as what they mean", () => {
  assert.equal(numberOf("1,234.5"), 1234.5);
  assert.equal(numberOf("3.20 ms"), 3200);
  assert.equal(numberOf("12.3 ± 0.50 us*"), 12.3);
  assert.equal(numberOf("885 KB"), 885e3);
  assert.equal(numberOf("-138 ± 4.97"), -138);
  assert.equal(numberOf("+0.5^"), 0.5);
  assert.equal(numberOf("99.9%"), 99.9);
  assert.equal(numberOf("12 (3 lossless)"), 12);
  assert.equal(numberOf("never"), Number.POSITIVE_INFINITY);
  assert.equal(numberOf("none"), 0);
  assert.equal(numberOf("-"), null);
  assert.equal(numberOf("dcqcn"), null);
  assert.equal(numberOf("leaf0->h3"), null);
});

test("what is missing comes last in both directions", () => {
  const cells = ["2 ms", "-", "never", "900 us", ""];
  const sorted = (down: boolean) => [...cells].sort((a, b) => compare(a, b, down));
  assert.deepEqual(sorted(false), ["900 us", "2 ms", "never", "-", ""]);
  assert.deepEqual(sorted(true), ["never", "2 ms", "900 us", "-", ""]);
});

test("words go by the alphabet, with their numbers in order", () => {
  assert.deepEqual(["s10", "s9", "a"].sort((a, b) => compare(a, b, false)), ["a", "s9", "s10"]);
});
