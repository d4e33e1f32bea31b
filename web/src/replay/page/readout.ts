// What the controls say of the instant: the time, and how many ports are paused, for eyes and for screen readers.
import { instant, plural, visible } from "../../shared/format";
import type { Run } from "../data/run";
import type { Clock } from "../time/clock";
import { byId, setText } from "./dom";

/** A screen reader that is told more often than this (ms) never comes to the end of a sentence. */
const SPEECH_PERIOD = 1500;

export class Readout {
  private spokenAt = 0;

  /** With every frame. */
  draw(clock: Clock): void {
    const play = byId("play");
    play.classList.toggle("playing", clock.playing);
    play.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
    byId<HTMLSelectElement>("speed").value = String(clock.speed);
    setText(byId("now"), instant(clock.t));
    byId<HTMLInputElement>("time").value = String(clock.t);
  }

  /** Less often than with every frame. */
  describe(clock: Clock, runs: readonly Run[], now: number): void {
    const paused = runs.map((run) => `${runs.length > 1 ? `${visible(run.label)}: ` : ""}${pausedText(run)}`).join("; ");
    byId("time").setAttribute("aria-valuetext", `${instant(clock.t)} of ${instant(clock.end, 1)}, ${paused}`);
    if (now - this.spokenAt < SPEECH_PERIOD) return;
    this.spokenAt = now;
    this.announce(paused);
  }

  announce(text: string): void {
    setText(byId("announce"), text);
  }

  /** The runs shown changed. */
  setScales(end: number, queueScale: number): void {
    byId<HTMLInputElement>("time").max = String(end);
    setText(byId("queue-scale"), scaleText(queueScale));
  }
}

function pausedText(run: Run): string {
  const count = run.pausedPorts().length;
  return `${count === 0 ? "no port" : plural(count, "port")} paused`;
}

function scaleText(value: number): string {
  return value >= 1e6 ? `${(value / 1e6).toPrecision(3)} MB` : `${(value / 1e3).toPrecision(3)} KB`;
}
