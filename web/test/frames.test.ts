import assert from "node:assert/strict";
import { test } from "node:test";
import { Frames } from "../src/replay/frames";

/** Calls what was asked for, and gives what it threw. */
function fakeScreen(): () => unknown {
  let wanted: FrameRequestCallback | null = null;
  globalThis.requestAnimationFrame = (callback) => ((wanted = callback), 1);
  return () => {
    const callback = wanted;
    wanted = null;
    try {
      callback?.(0);
    } catch (error) {
      return error;
    }
    return null;
  };
}

test("many changes are one frame, as large as the largest", () => {
  const paint = fakeScreen();
  const drawn: string[] = [];
  const frames = new Frames((extent) => drawn.push(extent));
  frames.request("live");
  frames.request("all");
  frames.request("live");
  paint();
  paint();
  assert.deepEqual(drawn, ["all"]);
});

test("who waits for a frame does not wait for ever if drawing fails, and the failure is reported", async () => {
  const paint = fakeScreen();
  const frames = new Frames(() => {
    throw new Error("cannot draw");
  });
  const next = frames.next();
  assert.match(String(paint()), /cannot draw/);
  await next;
});
