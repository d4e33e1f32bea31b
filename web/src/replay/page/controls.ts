// Buttons and keys.
import { duration } from "../../shared/format";
import { SPEEDS } from "../time/clock";
import type { Direction } from "../time/steps";
import { byId, el, setText } from "./dom";

export interface TimeCommands {
  playOrPause(): void;
  stepWindow(by: Direction): void;
  stepPause(by: Direction): void;
  toStart(): void;
  toEnd(): void;
  setSpeed(speed: number): void;
  shiftSpeed(by: Direction): number;
  seek(t: number): void;
  zoomTime(factor: number): void;
  fitTime(): void;
}

export interface ViewCommands {
  zoomPicture(factor: number): void;
  fitPicture(): void;
  toggleTheme(): void;
  clearSelection(): void;
}

const ZOOM = 1.6;

export function connectControls(time: TimeCommands, view: ViewCommands): void {
  const buttons: Record<string, () => void> = {
    "to-start": () => time.toStart(),
    "last-pause": () => time.stepPause(-1),
    "step-back": () => time.stepWindow(-1),
    play: () => time.playOrPause(),
    step: () => time.stepWindow(1),
    "next-pause": () => time.stepPause(1),
    "to-end": () => time.toEnd(),
    "time-in": () => time.zoomTime(1 / ZOOM),
    "time-out": () => time.zoomTime(ZOOM),
    "time-fit": () => time.fitTime(),
    "picture-in": () => view.zoomPicture(ZOOM),
    "picture-out": () => view.zoomPicture(1 / ZOOM),
    "picture-fit": () => view.fitPicture(),
    theme: () => view.toggleTheme(),
    "help-open": () => help(),
  };
  for (const [id, command] of Object.entries(buttons)) byId(id).addEventListener("click", command);

  const speed = byId<HTMLSelectElement>("speed");
  speed.append(...SPEEDS.map((value) => el("option", { value }, `${duration(value)} per s`)));
  speed.addEventListener("change", () => time.setSpeed(Number(speed.value)));
  const slider = byId<HTMLInputElement>("time");
  slider.addEventListener("input", () => time.seek(Number(slider.value)));
  document.addEventListener("keydown", (event) => key(event, time, view));
}

function help(): void {
  byId<HTMLDialogElement>("help").showModal();
}

function key(event: KeyboardEvent, time: TimeCommands, view: ViewCommands): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (byId<HTMLDialogElement>("help").open) return;
  const target = event.target instanceof HTMLElement ? event.target : null;
  const onSlider = target?.id === "time";
  // What is typed belongs to the field, and a key that presses a button belongs to the button.
  if (target?.closest("select, textarea") || (target?.closest("input") && !onSlider)) return;
  if (event.key === " " && target?.closest("button, summary")) return;
  const command = commandOf(event, onSlider, time, view);
  if (!command) return;
  command();
  event.preventDefault();
}

function commandOf(event: KeyboardEvent, onSlider: boolean, time: TimeCommands, view: ViewCommands): (() => void) | undefined {
  const step = (by: Direction): void => (event.shiftKey ? time.stepPause(by) : time.stepWindow(by));
  const shiftSpeed = (by: Direction): void => setText(byId("announce"), `${duration(time.shiftSpeed(by))} per second`);
  const keys: Record<string, () => void> = {
    " ": () => time.playOrPause(),
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    Home: () => time.toStart(),
    End: () => time.toEnd(),
    "[": () => shiftSpeed(-1),
    "]": () => shiftSpeed(1),
    "+": () => time.zoomTime(1 / ZOOM),
    "=": () => time.zoomTime(1 / ZOOM),
    "-": () => time.zoomTime(ZOOM),
    "0": () => time.fitTime(),
    "/": () => byId("port-input").focus(),
    "?": () => help(),
    Escape: () => view.clearSelection(),
    // Elsewhere they scroll.
    ...(onSlider ? { ArrowUp: () => time.stepWindow(1), ArrowDown: () => time.stepWindow(-1) } : {}),
  };
  return keys[event.key];
}
