// Every kind of report, and names that would like to be more than names.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertFits, assertSound, given, launch, openPage, screenshots } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

for (const [kind, url] of Object.entries(given.reports)) {
  test(`the report of a ${kind} stands alone`, async () => {
    for (const [width, colorScheme] of [[1400, "light"], [420, "dark"]]) {
      const { page, trouble, close } = await openPage(browser, url, { viewport: { width, height: 900 }, colorScheme });
      await page.waitForTimeout(300);
      await assertFits(page, kind);
      await assertSound(page, trouble, `report of a ${kind}, ${width} pixels, ${colorScheme}`);
      await close();
    }
    await screenshots(browser, url, `report-${kind.replace(/\W/g, "-")}`, (page) => page.waitForTimeout(300));
  });
}

/** Nothing that a name says may become part of the page. */
async function assertHarmless(page, trouble, what) {
  const strange = await page.$$eval("img, iframe, object, embed, [onload], [onerror], b.evil", (found) => found.map((one) => one.outerHTML));
  assert.deepEqual(strange, [], what);
  assert.equal(await page.evaluate(() => window.evil), undefined, what);
  await assertSound(page, trouble, what);
}

test("hostile names are harmless in report, replay and exported file", async () => {
  for (const [what, url] of Object.entries(given.hostile)) {
    const { page, trouble, close } = await openPage(browser, url);
    if (what !== "report") {
      await page.evaluate(() => window.xoff.ready);
      for (const tab of ["Victims", "Flows", "Run", "Paused"]) await page.getByRole("tab", { name: tab, exact: true }).click();
      await page.evaluate(() => ((window.xoff.t = 1000), window.xoff.frame()));
    }
    await assertHarmless(page, trouble, what);
    assert.ok((await page.textContent("body")).includes(given.hostile_text), `${what} shows the name as it is`);
    await close();
  }
});
