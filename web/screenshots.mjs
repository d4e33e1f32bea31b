// Pictures of pages for the README: node screenshots.mjs REPLAY.html REPORT.html FOLDER (see scripts/screenshots).
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const [replay, report, folder] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"],
});

async function shoot(file, name, height, prepare) {
  const page = await browser.newPage({ viewport: { width: 1400, height } });
  await page.goto(`file://${resolve(file)}`);
  await prepare(page);
  await page.screenshot({ path: join(folder, name) });
  await page.close();
}

// Half a millisecond into the burst, with the port in whose queue it begins.
await shoot(replay, "replay.png", 860, async (page) => {
  await page.evaluate(() => window.xoff.ready);
  await page.evaluate(() => ((window.xoff.t = 20_500), window.xoff.select("S1->R1")));
  await page.waitForSelector("[data-testid=port-name]");
  await page.waitForTimeout(1500);
});
await shoot(report, "report.png", 1000, (page) => page.waitForTimeout(800));
await browser.close();
