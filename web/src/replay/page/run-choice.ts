// Which runs are shown, and which of them the panels are about.
import { visible } from "../../shared/format";
import type { Index } from "../data/contract";
import type { Run } from "../data/run";
import { byId, el, nameOf } from "./dom";

/** More pictures than this beside each other are too narrow. */
export const SIDE_BY_SIDE = 3;

/** The list of all runs, with a box each; `chosen` is called with the numbers of those that are ticked. */
export function connectRunChoice(index: Index, shown: () => readonly number[], chosen: (numbers: number[]) => void): void {
  if (index.runs.length < 2) return;
  const choice = byId<HTMLDetailsElement>("run-choice");
  choice.hidden = false;
  closeByItself(choice);
  const boxes = index.runs.map((_, number) => {
    const box = el("input", { type: "checkbox", value: number });
    box.checked = shown().includes(number);
    return box;
  });
  const changed = (): void => {
    const ticked = boxes.flatMap((box, number) => (box.checked ? [number] : []));
    for (const box of boxes) box.disabled = box.checked ? ticked.length === 1 : ticked.length >= SIDE_BY_SIDE;
    if (ticked.join() !== shown().join()) chosen(ticked);
  };
  for (const box of boxes) box.addEventListener("change", changed);
  const rows = index.runs.map((run, number) =>
    el("label", {}, boxes[number]!, nameOf(run.name), el("span", { class: "dim" }, ` ${visible(run.scheme)}, seed ${run.seed}`)),
  );
  byId("run-boxes").replaceChildren(...rows);
  changed();
}

function closeByItself(choice: HTMLDetailsElement): void {
  addEventListener("pointerdown", (event) => {
    if (!choice.contains(event.target as Node)) choice.open = false;
  });
  choice.addEventListener("keydown", (event) => {
    if (event.key === "Escape") choice.open = false;
  });
}

export function connectFocusChoice(chosen: (index: number) => void): void {
  const select = byId<HTMLSelectElement>("focus-run");
  select.addEventListener("change", () => chosen(Number(select.value)));
}

/** The runs shown, or the one in focus, changed. */
export function showFocusChoice(runs: readonly Run[], focus: number): void {
  const select = byId<HTMLSelectElement>("focus-run");
  byId("focus-choice").hidden = runs.length < 2;
  select.replaceChildren(...runs.map((run, i) => el("option", { value: i }, visible(run.label))));
  select.value = String(focus);
}
