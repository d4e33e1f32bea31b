// Opens the replay that the page was sent with.
import { visible } from "../shared/format";
import { Loader } from "./data/loader";
import { openSource } from "./data/source";
import { offerHandle } from "./handle";
import { byId, el } from "./page/dom";
import { Replay } from "./replay";

async function open(): Promise<Replay> {
  const replay = new Replay(await Loader.open(openSource(document)));
  await replay.start();
  return replay;
}

function fail(error: unknown): void {
  console.error(error);
  const reason = visible(error instanceof Error ? error.message : String(error));
  byId("pictures").replaceChildren(el("p", { role: "alert", class: "failure" }, `This replay cannot be shown: ${reason}`));
}

function begin(): void {
  const opening = open();
  offerHandle(opening);
  opening.catch(fail);
}

// Exported, the script is part of the page and may run before the page is complete.
if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
else begin();
