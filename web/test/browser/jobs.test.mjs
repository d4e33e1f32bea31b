// The replay of a training job, in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertFits, assertSound, given, launch, openPage, screenshots } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function ready(page) {
  await page.evaluate(() => window.xoff.ready);
  await page.waitForSelector("[data-rank]");
}

const at = (page, us) => page.evaluate((us) => ((window.xoff.t = us), window.xoff.frame()), us);

/** What activities.parquet says that a rank does at an instant. */
const doing = (rank, us) => given.job.activities.filter((of) => of.rank === rank && of.begin_us <= us && us < (of.end_us ?? Infinity));

test("every rank is shown doing what activities.parquet says", async () => {
  const { page, trouble, close } = await openPage(browser, given.job.url);
  await ready(page);
  const ranks = [...new Set(given.job.activities.map((of) => of.rank))];
  const instants = given.job.activities.flatMap((of) => [of.begin_us + 0.5, of.end_us - 0.5]);
  const seen = { compute: 0, communicate: 0, idle: 0 };
  for (const us of instants) {
    await at(page, us);
    const shown = await page.$$eval("[data-rank]", (rows) => rows.map((row) => [row.dataset.rank, row.lastChild.textContent]));
    assert.deepEqual(shown.map(([rank]) => rank).sort(), ranks.toSorted());
    const count = { compute: 0, communicate: 0, idle: 0 };
    for (const [rank, text] of shown) {
      const expected = doing(rank, us);
      assert.deepEqual(new Set(text.split(", ")), new Set(expected.length > 0 ? expected.map((of) => of.name) : ["idle"]), `${rank} at ${us} us`);
      count[expected.length === 0 ? "idle" : expected.some((of) => of.kind === "compute") ? "compute" : "communicate"]++;
    }
    assert.equal(await page.textContent("[data-testid=job-now]"), `Now: ${count.compute} compute, ${count.communicate} only communicate, ${count.idle} idle`);
    for (const key of Object.keys(seen)) seen[key] += count[key];
  }
  assert.ok(seen.compute > 0 && seen.communicate > 0, "the job does both");
  await assertSound(page, trouble, "replay of a job");
  await close();
});

test("a click in a rank's line leads to its instant, one on its name to its ports", async () => {
  const { page, trouble, close } = await openPage(browser, given.job.url);
  await ready(page);
  await page.click("#time-fit");
  const box = await (await page.$("[data-rank] + .lines canvas")).boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const t = await page.evaluate(() => window.xoff.t);
  assert.ok(Math.abs(t / given.job.end_us - 0.5) < 0.02, `${t} of ${given.job.end_us} us`);
  const rank = await page.$eval("[data-rank]", (row) => row.dataset.rank);
  await page.click("[data-rank] .name");
  await page.waitForFunction((rank) => document.querySelector("#panel-port h2")?.textContent === rank, rank);
  await page.waitForFunction((rank) => location.hash.includes(`node=${rank}`), rank);
  await assertSound(page, trouble, "ports of a rank");
  await close();
});

test("runs without a job have no tab for it", async () => {
  const { page, trouble, close } = await openPage(browser, `${given.victim.url}#tab=jobs`);
  await page.evaluate(() => window.xoff.ready);
  assert.equal(await page.getByRole("tab", { name: "Jobs" }).count(), 0);
  assert.equal(await page.getByRole("tab", { selected: true }).count(), 1);
  await assertSound(page, trouble, "no job");
  await close();
});

test("it fits a phone, and a file", async () => {
  for (const url of [given.job.url, given.job.exported]) {
    const { page, trouble, close } = await openPage(browser, url, { viewport: { width: 420, height: 800 } });
    await ready(page);
    await assertFits(page, "replay of a job");
    await assertSound(page, trouble, "replay of a job on a phone");
    await close();
  }
  await screenshots(browser, given.job.url, "replay-job", ready);
});
