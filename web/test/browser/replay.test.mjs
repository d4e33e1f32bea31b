// The replay of the victim-flow comparison, in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertFits, assertSound, given, launch, openPage, screenshots } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** The first picture is painted, and pauses and trees have come. */
async function ready(page) {
  await page.evaluate(() => window.xoff.ready);
  await page.waitForFunction(() => !/Loading/.test(document.getElementById("panels").textContent));
}

const at = (page, us) => page.evaluate((us) => ((window.xoff.t = us), window.xoff.frame()), us);

/** Ports paused at the instant shown, in the order of the list, of one run. */
const paused = (page, run) =>
  page.$$eval(`[data-testid=paused-list][data-run="${run}"] > li`, (items) => items.map((item) => item.dataset.port));

/** Plays the burst and stops some times on the way: the list is then what the tables say of that instant. */
async function playThroughTheBurst(page, run, until) {
  const { name, stops } = given.victim.runs[run];
  const start = given.burst_us - 5;
  await at(page, start);
  await page.selectOption("#speed", { index: await slowEnough(page) });
  let listed = 0;
  for (let t = start; t < until; ) {
    await page.click("#play");
    await page.waitForFunction((us) => window.xoff.t >= us, t + (until - start) / 6, { timeout: 300_000 });
    await page.click("#play");
    t = await page.evaluate(() => window.xoff.frame().then(() => window.xoff.t));
    const shown = new Set(await paused(page, run));
    const expected = stops.filter((stop) => stop.from_us <= t && t < stop.until_us);
    assert.deepEqual(shown, new Set(expected.map((stop) => stop.port)), `${name}, ${t} us`);
    listed += shown.size;
  }
  assert.ok(listed > 0, `${name}: no pause was listed`);
}

/** The fastest speed at which the burst lasts some seconds. */
const slowEnough = (page) =>
  page.$$eval("#speed option", (options) => Math.max(0, options.findLastIndex((option) => Number(option.value) <= 250)));

test("ports are paused in the order of pauses.parquet", async () => {
  for (const [run, { name, pauses }] of given.victim.runs.entries()) {
    const { page, trouble, close } = await openPage(browser, `${given.victim.url}#runs=${run}`);
    await ready(page);
    const until = Math.max(...pauses.map((pause) => pause.at_us)) + 20;
    const when = new Map(pauses.map((pause) => [pause.port, pause.at_us]));
    if (run === 0) await playThroughTheBurst(page, run, until);
    // All of them; at one instant, in any order.
    const stepped = await stepThroughTheBurst(page, run, until);
    assert.deepEqual(new Set(stepped), new Set(pauses.map((pause) => pause.port)), name);
    assert.deepEqual(stepped.map((port) => when.get(port)), pauses.map((pause) => pause.at_us), name);
    await assertSound(page, trouble, `replay of ${name}`);
    await close();
  }
});

/** Pause by pause: ports in the order in which they are first stopped. */
const stepThroughTheBurst = (page, run, until) =>
  page.evaluate(
    async ([run, until]) => {
      const order = new Set();
      window.xoff.t = 0;
      await window.xoff.frame();
      for (let before = -1; window.xoff.t < until && window.xoff.t !== before; ) {
        before = window.xoff.t;
        document.getElementById("next-pause").click();
        await window.xoff.frame();
        const shown = document.querySelectorAll(`[data-testid=paused-list][data-run="${run}"] > li`);
        for (const item of shown) order.add(item.dataset.port);
      }
      return [...order];
    },
    [run, until],
  );

test("under PFC alone the receiver's switch stops the shared link, then the hosts", () => {
  const order = given.victim.runs[0].pauses.map((pause) => pause.port);
  const shared = order.indexOf("S0->S1");
  const hosts = order.findIndex((port) => port.endsWith("->S0"));
  assert.ok(shared >= 0 && hosts > shared, order.join(", "));
});

test("a click on a port shows its peak, as ports.parquet has it", async () => {
  const { page, trouble, close } = await openPage(browser, given.victim.url);
  await ready(page);
  await at(page, given.burst_us + 500);
  const place = await page.evaluate(() => window.xoff.portAt("S1->R1", 0));
  await page.mouse.click(place.x, place.y);
  await page.waitForSelector("[data-testid=port-name]");
  assert.equal(await page.textContent("[data-testid=port-name]"), "S1->R1");
  for (const [run, { peaks }] of given.victim.runs.entries()) {
    const values = await page.$$eval(`[data-testid=port-facts][data-run="${run}"] [data-value]`, (cells) =>
      cells.map((cell) => Number(cell.dataset.value)),
    );
    assert.ok(values.includes(peaks["S1->R1"]), `${values} without ${peaks["S1->R1"]}`);
  }
  await assertSound(page, trouble, "panel of a port");
  await close();
});

test("the time line can be dragged, and keys step", async () => {
  const { page, trouble, close } = await openPage(browser, given.victim.url);
  await ready(page);
  await at(page, 0);
  const box = await (await page.$("#timeline")).boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5, { steps: 5 });
  await page.mouse.up();
  const dragged = await page.evaluate(() => window.xoff.t);
  assert.ok(dragged > given.victim.end_us * 0.3 && dragged < given.victim.end_us * 0.8, `${dragged}`);
  await page.keyboard.press("Home");
  assert.equal(await page.evaluate(() => window.xoff.t), 0);
  await page.keyboard.press("Shift+ArrowRight");
  const first = Math.min(...given.victim.runs.flatMap((run) => run.pauses.map((pause) => pause.at_us)));
  assert.ok(Math.abs((await page.evaluate(() => window.xoff.t)) - first) < 0.001);
  await assertSound(page, trouble, "after dragging");
  await close();
});

test("two schemes move in step", async () => {
  const { page, trouble, close } = await openPage(browser, `${given.victim.url}#runs=0,1`);
  await ready(page);
  for (const us of [given.burst_us + 100, given.burst_us + 600, given.burst_us + 2500]) {
    await at(page, us);
    for (const run of [0, 1]) {
      const expected = given.victim.runs[run].stops.filter((stop) => stop.from_us <= us && us < stop.until_us);
      assert.deepEqual(new Set(await paused(page, run)), new Set(expected.map((stop) => stop.port)), `run ${run}, ${us} us`);
    }
  }
  assert.equal(await page.$$eval("[data-testid=paused-list]", (lists) => lists.length), 2);
  await assertSound(page, trouble, "two runs");
  await close();
});

test("the victim is listed with what it lost", async () => {
  const { page, trouble, close } = await openPage(browser, `${given.victim.url}#runs=0`);
  await ready(page);
  await page.getByRole("tab", { name: "Victims" }).click();
  await page.waitForFunction(() => document.querySelector("#panels")?.textContent?.includes("victim F0"));
  await assertSound(page, trouble, "victims");
  await close();
});

test("an exported file needs nobody", async () => {
  const { page, trouble, close } = await openPage(browser, given.victim.exported);
  await ready(page);
  await at(page, given.burst_us + 500);
  const expected = given.victim.runs[0].stops.filter(
    (stop) => stop.from_us <= given.burst_us + 500 && given.burst_us + 500 < stop.until_us,
  );
  await page.waitForSelector("[data-testid=paused-list] > li");
  assert.deepEqual(new Set(await paused(page, 0)), new Set(expected.map((stop) => stop.port)));
  await page.evaluate(() => window.xoff.select("S1->R1"));
  await page.waitForSelector("[data-testid=port-name]");
  await assertSound(page, trouble, "exported file");
  await close();
});

test("it fits a phone", async () => {
  const { page, trouble, close } = await openPage(browser, given.victim.url, { viewport: { width: 420, height: 800 } });
  await ready(page);
  await at(page, given.burst_us + 500);
  await assertFits(page, "replay");
  await assertSound(page, trouble, "replay on a phone");
  await close();
  await screenshots(browser, given.victim.url, "replay", async (page) => {
    await ready(page);
    await at(page, given.burst_us + 500);
  });
});
