// Looks at reports in a browser as a reader does: node test/report.mjs PAGE.html...
// Fails where a page asks for anything, complains, overflows a phone, keeps somebody out, or does not do what it should.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { chromium } from "playwright-core";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const quiet = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", ...quiet] });
const faults = [];

/** Opens a page, scrolls through it so that all of it is made, and does something with it. */
async function visit(path, options, look) {
  const context = await browser.newContext({ ...options, acceptDownloads: true });
  const page = await context.newPage();
  const blame = (what) => faults.push(`${path} (${options.viewport.width}, ${options.colorScheme ?? "no script"}): ${what}`);
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && blame(message.text()));
  page.on("pageerror", (error) => blame(error.stack));
  page.on("request", (request) => /^(file|blob|data):/.test(request.url()) || blame(`asks for ${request.url()}`));
  await page.goto(`file://${resolve(path)}`);
  if (options.javaScriptEnabled !== false) {
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    for (let y = 0; y < height + 3000; y += 800) {
      await page.evaluate((to) => window.scrollTo(0, to), y);
      await page.waitForTimeout(30);
    }
    await page.evaluate(() => window.scrollTo(0, 0));
  }
  await look(page, blame);
  await context.close();
}

async function fits(page, blame) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (over > 0) blame(`wider than the window by ${over} pixels`);
}

/** Under a policy that lets the checker in; everything else is the page's own. */
async function open(page, blame) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
  await page.addScriptTag({ content: axe });
  const found = await page.evaluate(async () => (await window.axe.run()).violations);
  for (const { impact, id, nodes } of found.filter((of) => ["serious", "critical"].includes(of.impact))) {
    blame(`${impact}: ${id}, ${nodes.length} times, first ${nodes[0].html.slice(0, 200)}`);
  }
}

async function sorts(page, blame) {
  const button = page.locator("table.sortable tr.keys th button").first();
  if ((await button.count()) === 0) return;
  const table = page.locator("table.sortable").filter({ has: page.locator("tr.keys th button") }).first();
  const first = () => table.locator("tbody tr").first().textContent();
  const before = await first();
  await button.press("Enter");
  if ((await table.locator("th[aria-sort=ascending]").count()) !== 1) blame("a table does not say how it is sorted");
  await button.press("Enter");
  await button.press("Enter");
  if ((await first()) !== before) blame("a table does not find back to its order");
}

async function moves(page, blame) {
  const figure = page.locator("figure.moves").first();
  if ((await figure.count()) === 0) return;
  await figure.scrollIntoViewIfNeeded();
  if (await figure.locator(".still").isVisible()) blame("the drawing stands beside what moves");
  const plot = figure.locator(".u-over").first();
  const box = await plot.boundingBox();
  const at = (x, y) => [box.x + x * box.width, box.y + y * box.height];
  await page.mouse.move(...at(0.4, 0.6));
  if (!(await figure.locator(".tip.on").first().isVisible())) blame("nothing is told at the pointer");
  const picture = () => figure.locator("canvas").first().evaluate((of) => of.toDataURL());
  // Drawn once more, so that both pictures were.
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
  if ((await picture()) === whole) blame("dragging does not enlarge");
  await reset();
  if ((await picture()) !== whole) blame("a double click does not show all again");
  const name = figure.locator(".legend button").first();
  if ((await name.count()) > 0) {
    await name.click();
    if ((await name.getAttribute("aria-pressed")) !== "true") blame("a name is not highlighted");
    await name.click();
  }
  for (const kind of ["PDF", "SVG", "PNG", "CSV"]) {
    const [file] = await Promise.all([page.waitForEvent("download"), figure.locator(".save > *").filter({ hasText: kind }).first().click()]);
    const bytes = await readFile(await file.path());
    const begins = { PDF: "%PDF-1.7", SVG: "<svg", PNG: "\u0089PNG", CSV: "panel,kind" }[kind];
    if (!bytes.toString("latin1").startsWith(begins)) blame(`${file.suggestedFilename()} is no ${kind}`);
  }
}

async function still(page, blame) {
  if (await page.locator(".live").first().isVisible().catch(() => false)) blame("moves without a script");
  for (const one of await page.locator(".still").all()) if (!(await one.isVisible())) blame("a drawing is hidden");
}

for (const path of process.argv.slice(2)) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1400, 420]) {
      const options = { viewport: { width, height: 900 }, colorScheme };
      await visit(path, options, fits);
      await visit(path, { ...options, bypassCSP: true }, open);
    }
  }
  const wide = { viewport: { width: 1400, height: 900 }, colorScheme: "light" };
  await visit(path, wide, sorts);
  await visit(path, wide, moves);
  await visit(path, { viewport: { width: 1400, height: 900 }, javaScriptEnabled: false }, still);
  await visit(path, wide, async (page, blame) => {
    await page.emulateMedia({ media: "print" });
    await still(page, blame);
  });
}
await browser.close();
if (faults.length > 0) {
  console.error(faults.join("\n"));
  process.exit(1);
}
console.log(`${process.argv.length - 2} pages are in order`);
