// Every kind of report as a reader uses it, and names that would like to be more than names.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { assertFits, assertSound, given, launch, openPage, screenshots } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** Figures are made when they come into sight. */
const scrollThrough = (page) =>
  page.evaluate(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight + 800; y += 800) {
      window.scrollTo(0, y);
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    }
    window.scrollTo(0, 0);
  });

const unfold = (page) => page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));

for (const [kind, url] of Object.entries(given.reports)) {
  test(`the report of a ${kind} stands alone, sorts, moves and saves`, async () => {
    // Colours do not depend on the width, nor the layout on colours.
    for (const [width, colorScheme] of [[420, "dark"], [1400, "light"]]) {
      const { page, trouble, close } = await openPage(browser, url, { viewport: { width, height: 900 }, colorScheme });
      const what = `report of a ${kind}, ${width} pixels, ${colorScheme}`;
      await scrollThrough(page);
      await assertFits(page, what);
      await unfold(page);
      await assertSound(page, trouble, what);
      if (width > 1000) {
        await assertSorts(page);
        await assertMoves(page);
        await page.emulateMedia({ media: "print" });
        await assertStill(page);
        assert.deepEqual(trouble, [], what);
      }
      await close();
    }
    await screenshots(browser, url, `report-${kind.replace(/\W/g, "-")}`, (page) => page.waitForTimeout(300));
  });

  test(`the report of a ${kind} needs no script`, async () => {
    const { page, close } = await openPage(browser, url, { javaScriptEnabled: false });
    await assertStill(page);
    await close();
  });
}

async function assertSorts(page) {
  const button = page.locator("table.sortable tr.keys th button").first();
  if ((await button.count()) === 0) return;
  const table = page.locator("table.sortable").filter({ has: page.locator("tr.keys th button") }).first();
  const first = () => table.locator("tbody tr").first().textContent();
  const unsorted = await first();
  await button.press("Enter");
  assert.equal(await table.locator("th[aria-sort=ascending]").count(), 1, "a table says how it is sorted");
  await button.press("Enter");
  await button.press("Enter");
  assert.equal(await first(), unsorted, "a table finds back to its order");
}

async function assertMoves(page) {
  const figure = page.locator("figure.moves").first();
  if ((await figure.count()) === 0) return;
  await figure.scrollIntoViewIfNeeded();
  assert.ok(!(await figure.locator(".still").isVisible()), "the drawing makes room for what moves");
  await assertZooms(page, figure);
  const name = figure.locator(".legend button").first();
  if ((await name.count()) > 0) {
    await name.click();
    assert.equal(await name.getAttribute("aria-pressed"), "true", "a name is highlighted");
    await name.click();
  }
  await assertSaves(page, figure);
}

async function assertZooms(page, figure) {
  const box = await figure.locator(".u-over").first().boundingBox();
  const at = (x, y) => [box.x + x * box.width, box.y + y * box.height];
  await page.mouse.move(...at(0.4, 0.6));
  assert.ok(await figure.locator(".tip.on").first().isVisible(), "values are told at the pointer");
  const picture = () => figure.locator("canvas").first().evaluate((of) => of.toDataURL());
  const reset = async () => {
    await page.mouse.dblclick(...at(0.5, 0.5));
    await page.waitForTimeout(100);
  };
  await reset();
  const whole = await picture();
  await page.mouse.move(...at(0.4, 0.6));
  await page.mouse.down();
  await page.mouse.move(...at(0.7, 0.9), { steps: 4 });
  await page.mouse.up();
  await page.waitForTimeout(100);
  assert.notEqual(await picture(), whole, "dragging enlarges");
  await reset();
  assert.equal(await picture(), whole, "a double click shows all again");
}

async function assertSaves(page, figure) {
  const beginnings = { PDF: "%PDF-1.7", SVG: "<svg", PNG: "\u0089PNG", CSV: "panel,kind" };
  for (const [kind, begins] of Object.entries(beginnings)) {
    const button = figure.locator(".save > *").filter({ hasText: kind }).first();
    const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
    const bytes = await readFile(await file.path());
    assert.ok(bytes.toString("latin1").startsWith(begins), `${file.suggestedFilename()} is a ${kind}`);
  }
}

/** Without a script and on paper there are the drawings. */
async function assertStill(page) {
  assert.equal(await page.locator(".live:visible").count(), 0, "nothing moves");
  assert.equal(await page.locator(".still:visible").count(), await page.locator(".still").count(), "every drawing is shown");
}

test("a wide table takes the window's width before it is scrolled, and shows that it goes on", { skip: !given.reports.comparison }, async () => {
  const { page, close } = await openPage(browser, given.reports.comparison, { viewport: { width: 1400, height: 900 } });
  const wide = await page.$$eval("main > .scroll", (all) => {
    for (const table of document.querySelectorAll("table")) table.style.fontSize = "2.5rem";
    const cut = all.filter((one) => one.scrollWidth > one.clientWidth + 1);
    return cut.map((one) => ({ unused: document.documentElement.clientWidth - one.clientWidth, shade: getComputedStyle(one).backgroundImage }));
  });
  assert.ok(wide.length > 0, "there is a wide table");
  for (const { unused, shade } of wide) {
    assert.ok(unused <= 48, `${unused} pixels are empty beside a table that is cut off`);
    assert.ok(shade.includes("gradient"), "its edge shows that there is more");
  }
  await close();
});

/** Nothing that a name says may become part of the page. */
async function assertHarmless(page, trouble, what) {
  const strange = await page.$$eval("img, iframe, object, embed, [onload], [onerror]", (found) => found.map((one) => one.outerHTML));
  assert.deepEqual(strange, [], what);
  assert.equal(await page.evaluate(() => window.evil), undefined, what);
  await assertSound(page, trouble, what);
}

test("hostile names are harmless in report, replay and exported file", async () => {
  for (const [what, url] of Object.entries(given.hostile)) {
    const { page, trouble, close } = await openPage(browser, url);
    if (what === "report") {
      await scrollThrough(page);
    } else {
      await page.evaluate(() => window.xoff.ready);
      for (const tab of ["Victims", "Flows", "Run", "Paused"]) await page.getByRole("tab", { name: tab, exact: true }).click();
      await page.evaluate(() => ((window.xoff.t = 1000), window.xoff.frame()));
      await page.getByRole("tab", { name: "Flows", exact: true }).click();
      await page.waitForFunction((text) => document.body.textContent.includes(text), given.hostile_text);
    }
    assert.ok((await page.textContent("body")).includes(given.hostile_text), `${what} shows the name as it is`);
    await assertHarmless(page, trouble, what);
    await close();
  }
});
