import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, clipped, duration, exactBytes, gbps, grouped, instant, visible } from "../src/shared/format";

test("numbers carry their units", () => {
  assert.equal(grouped(1234567), "1,234,567");
  assert.equal(grouped(-1234.5), "−1,234.5");
  assert.equal(bytes(0), "0\u00a0B");
  assert.equal(bytes(1_500_000), "1.5\u00a0MB");
  assert.equal(exactBytes(1_899_008), "1,899,008\u00a0B");
  assert.equal(gbps(40), "40\u00a0Gb/s");
  assert.equal(gbps(0.25), "250\u00a0Mb/s");
  assert.equal(duration(0.5), "500\u00a0ns");
  assert.equal(duration(20_180), "20.2\u00a0ms");
});

test("an instant has as many digits as tell instants apart", () => {
  assert.equal(instant(20_180.5), "20.180500\u00a0ms");
  assert.equal(instant(20_180.5, 100), "20.2\u00a0ms");
  assert.equal(instant(20_000, 1000), "20\u00a0ms");
});

test("what cannot be seen in a name is shown", () => {
  assert.equal(visible("S1\u202Eevil"), "S1\ufffdevil");
  assert.equal(visible("a\u0007b\nc"), "a\u2407b\u240ac");
  assert.equal(visible("\ud800x"), "\ufffdx");
  assert.equal(visible("<b>Ünïcode 東京 🦀</b>"), "<b>Ünïcode 東京 🦀</b>");
});

test("a long name keeps its two ends", () => {
  assert.equal(clipped("abcdefghij", 5), "ab…ij");
  assert.equal(clipped("abc", 5), "abc");
});
