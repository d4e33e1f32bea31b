// A browser without a window, and what must hold of every page of ours.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);

/** What the test was given: where data are, and what tables say. */
export const given = JSON.parse(await readFile(process.env.XOFF_BROWSER ?? "/dev/null", "utf8"));

// The browser talks to its maker unless it is told not to; nothing of that belongs to a page.
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: QUIET });
}

/** A page that keeps what it logs as errors and what it asks others for. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const trouble = [];
  page.on("pageerror", (error) => trouble.push(`exception: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) trouble.push(`console: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const own = new URL(url);
  page.on("request", (request) => {
    const asked = new URL(request.url());
    const inside = ["data:", "blob:"].includes(asked.protocol);
    const same = own.protocol === "file:" ? asked.href === own.href : asked.origin === own.origin;
    if (!inside && !same) trouble.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, trouble, close: () => context.close() };
}

/** No error, no request to anywhere, no serious fault that axe-core knows of. */
export async function assertSound(page, trouble, what) {
  // By the debugger's way in: the pages' own policy forbids other scripts.
  await page.evaluate(await readFile(require.resolve("axe-core/axe.min.js"), "utf8"));
  // Rows of a table are of one kind: the first say what the others would.
  const content = { include: [["html"]], exclude: [["tbody tr:nth-child(n + 6)"]] };
  const found = await page.evaluate((content) => window.axe.run(content, { resultTypes: ["violations"] }), content);
  const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  const told = serious.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html).join(" | ")}`);
  assert.deepEqual(told, [], `${what}: accessibility`);
  assert.deepEqual(trouble, [], `${what}: errors and foreign requests`);
}

/** The page must not be wider than its window. */
export async function assertFits(page, what) {
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(wide <= window, `${what}: ${wide} pixels wide in a window of ${window}`);
}

/** Screenshots for people, light and dark, wide and narrow. */
export async function screenshots(browser, url, name, prepare = async () => {}) {
  if (!given.screenshots) return;
  for (const [width, height] of [[1400, 900], [420, 800]]) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, close } = await openPage(browser, url, { viewport: { width, height }, colorScheme });
      await prepare(page);
      await page.screenshot({ path: `${given.screenshots}/${name}-${width}-${colorScheme}.png` });
      await close();
    }
  }
}
