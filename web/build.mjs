// Bundles the pages into the crates that embed them.
//
//   node build.mjs            writes them
//   node build.mjs --check    builds them and compares with what is there; exit code 1 if they differ
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const crates = join(here, "..", "crates");

/** Entry points, and the files that they become. */
const pages = [
  { script: "src/replay/main.ts", style: "src/replay/style.css", into: join(crates, "view/assets/replay") },
  { script: "src/report/main.ts", style: "src/report/style.css", into: join(crates, "results/assets/report") },
];

async function bundle(entry) {
  const built = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    charset: "utf8",
    legalComments: "inline",
    target: ["chrome109", "firefox115", "safari16.4"],
    format: "iife",
  });
  return built.outputFiles[0].text;
}

/** What a content security policy calls a text. */
const hash = (text) => createHash("sha256").update(text).digest("base64");

const check = process.argv.includes("--check");
const stale = [];

async function put(file, text) {
  if (!check) {
    await writeFile(file, text);
    console.log(`${relative(process.cwd(), file)}: ${Math.ceil(text.length / 1024)} KB`);
  } else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
    stale.push(relative(process.cwd(), file));
  }
}

for (const { script, style, into } of pages) {
  for (const [entry, ending] of [[script, "js"], [style, "css"]]) {
    // They are put into pages, where these would end them.
    const text = (await bundle(entry)).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
    await put(`${into}.${ending}`, text);
    await put(`${into}.${ending}.sha256`, `${hash(text)}\n`);
  }
}
if (stale.length > 0) {
  console.error(`not what their sources give: ${stale.join(", ")}\nrun: npm --prefix web run build`);
  process.exit(1);
}
