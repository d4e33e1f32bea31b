// 512 hosts and 50,000 flows: the first picture within two seconds, every answer within a tenth of one.
import assert from "node:assert/strict";
import { availableParallelism, loadavg } from "node:os";
import { after, before, test } from "node:test";
import { assertSound, given, launch, openPage, screenshots } from "./browser.mjs";

// On a machine with other work everything takes as many times longer as programs wait for each of its cores.
const patience = Math.max(1, (3 * loadavg()[0]) / availableParallelism());
const FIRST_PICTURE_MS = 2000 * patience;
const ANSWER_MS = 100 * patience;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** From an act of the user until the frame that shows it is painted, in the page's own time; the best of a few. */
async function answer(page, what, act, argument) {
  const times = [];
  for (let i = 0; i < 5 && (i < 3 || Math.min(...times) > ANSWER_MS); i++) times.push(await page.evaluate(act, [argument, i % 3]));
  console.log(`${what}: ${times.map((ms) => ms.toFixed(0)).join(", ")} ms`);
  assert.ok(Math.min(...times) <= ANSWER_MS, `${what} took ${times} ms`);
}

const click = async ([id]) => {
  const begin = performance.now();
  document.getElementById(id).click();
  await window.xoff.frame();
  return performance.now() - begin;
};

const seek = async ([from, i]) => {
  const begin = performance.now();
  window.xoff.t = from + 13_000 * i;
  await window.xoff.frame();
  return performance.now() - begin;
};

const select = async ([, i]) => {
  const begin = performance.now();
  window.xoff.select(`leaf${i}->h${32 * i + 3}`);
  await window.xoff.frame();
  return performance.now() - begin;
};

/** The page, open; the best of several, since a machine that does other things as well may be late once. */
async function openedInTime() {
  const times = [];
  for (let attempt = 0; attempt < 5; attempt++) {
    const opened = await openPage(browser, given.large.url);
    await opened.page.evaluate(() => window.xoff.ready);
    times.push(await opened.page.evaluate(() => window.xoff.firstPicture));
    if (times.at(-1) <= FIRST_PICTURE_MS) {
      console.log(`first picture: ${times.map((ms) => ms.toFixed(0)).join(", ")} ms`);
      return opened;
    }
    await opened.close();
  }
  assert.fail(`first picture after ${times} ms`);
}

test("a large run is seen at once and answers at once", async () => {
  const { page, trouble, close } = await openedInTime();
  await page.waitForFunction(() => !/Loading/.test(document.getElementById("panels").textContent));

  await answer(page, "a time elsewhere", seek, 20_000);
  await answer(page, "a window on", click, "step");
  await answer(page, "the next pause", click, "next-pause");
  await answer(page, "a larger picture", click, "picture-in");
  await answer(page, "less time", click, "time-in");
  await answer(page, "a port", select, null);
  await answer(page, "light or dark", click, "theme");
  await assertSound(page, trouble, "large run");
  await close();
  await screenshots(browser, given.large.url, "large", (page) => page.evaluate(() => window.xoff.ready));
});
