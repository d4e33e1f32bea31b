// Buttons and keys.
import { duration } from "../../shared/format";
import { SPEEDS } from "../time/clock";
import { byId, el } from "./dom";

export interface Commands {
  playOrPause(): void;
  stepWindow(by: 1 | -1): void;
  stepPause(by: 1 | -1): void;
  toStart(): void;
  toEnd(): void;
  setSpeed(speed: number): void;
  shiftSpeed(by: 1 | -1): void;
  seek(t: number): void;
  zoomTime(factor: number): void;
  fitTime(): void;
  zoomPicture(factor: number): void;
  fitPicture(): void;
  toggleTheme(): void;
  clearSelection(): void;
}

const ZOOM = 1.6;

export function connectControls(commands: Commands): void {
  const buttons: Record<string, () => void> = {
    "to-start": () => commands.toStart(),
    "last-pause": () => commands.stepPause(-1),
    "step-back": () => commands.stepWindow(-1),
    play: () => commands.playOrPause(),
    step: () => commands.stepWindow(1),
    "next-pause": () => commands.stepPause(1),
    "to-end": () => commands.toEnd(),
    "time-in": () => commands.zoomTime(1 / ZOOM),
    "time-out": () => commands.zoomTime(ZOOM),
    "time-fit": () => commands.fitTime(),
    "picture-in": () => commands.zoomPicture(ZOOM),
    "picture-out": () => commands.zoomPicture(1 / ZOOM),
    "picture-fit": () => commands.fitPicture(),
    theme: () => commands.toggleTheme(),
    "help-open": () => help(),
  };
  for (const [id, command] of Object.entries(buttons)) byId(id).addEventListener("click", command);

  const speed = byId<HTMLSelectElement>("speed");
  speed.append(...SPEEDS.map((value) => el("option", { value }, `${duration(value)} per s`)));
  speed.addEventListener("change", () => commands.setSpeed(Number(speed.value)));
  const time = byId<HTMLInputElement>("time");
  time.addEventListener("input", () => commands.seek(Number(time.value)));
  document.addEventListener("keydown", (event) => key(event, commands));
}

export function help(): void {
  byId<HTMLDialogElement>("help").showModal();
}

function key(event: KeyboardEvent, commands: Commands): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (byId<HTMLDialogElement>("help").open) return;
  const target = event.target instanceof HTMLElement ? event.target : null;
  const slider = target?.id === "time";
  // What is typed belongs to the field, and a key that presses a button belongs to the button.
  if (target?.closest("select, textarea") || (target?.closest("input") && !slider)) return;
  if (event.key === " " && target?.closest("button, summary")) return;
  const by = event.key === "ArrowLeft" ? -1 : 1;
  switch (event.key) {
    case " ":
      commands.playOrPause();
      break;
    case "ArrowLeft":
    case "ArrowRight":
      if (event.shiftKey) commands.stepPause(by);
      else commands.stepWindow(by);
      break;
    case "ArrowUp":
    case "ArrowDown":
      if (!slider) return;
      commands.stepWindow(event.key === "ArrowUp" ? 1 : -1);
      break;
    case "Home":
      commands.toStart();
      break;
    case "End":
      commands.toEnd();
      break;
    case "[":
      commands.shiftSpeed(-1);
      break;
    case "]":
      commands.shiftSpeed(1);
      break;
    case "+":
    case "=":
      commands.zoomTime(1 / ZOOM);
      break;
    case "-":
      commands.zoomTime(ZOOM);
      break;
    case "0":
      commands.fitTime();
      break;
    case "/":
      byId("port-input").focus();
      break;
    case "Escape":
      commands.clearSelection();
      break;
    case "?":
      help();
      break;
    default:
      return;
  }
  event.preventDefault();
}
