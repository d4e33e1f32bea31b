// The instant that is shown and the part of the runs around it: where playing, steps and the time line lead.
import type { Run } from "../data/run";
import type { Extent } from "../frames";
import { Clock, speedFor } from "./clock";
import { interesting } from "./interest";
import { firstRange, fitted, pageOf, type Range } from "./range";
import { pauseBeside, windowBeside, type Direction } from "./steps";

export class Transport {
  readonly clock: Clock;
  /** What the time line shows. */
  range: Range = [0, 1];
  private runs: readonly Run[] = [];
  /** The part of the runs that is worth watching. */
  private watch: Range | null = null;

  /** `stepUs`: how far a step leads at most. */
  constructor(
    private readonly changed: (extent: Extent) => void,
    private readonly stepUs: () => number,
  ) {
    this.clock = new Clock(() => changed("live"));
  }

  /** These runs are shown from now on, at `t` and `range` if those are given. */
  open(runs: readonly Run[], t: number | null, range: Range | null): void {
    const { clock } = this;
    this.runs = runs;
    clock.end = Math.max(...runs.map((run) => run.head.end_us));
    this.watch ??= this.findWhatToWatch();
    if (t !== null) clock.t = Math.max(0, Math.min(clock.end, t));
    const known = range !== null && range[0] < clock.end;
    this.range = known ? [Math.max(0, range[0]), Math.min(clock.end, range[1])] : firstRange(this.watch, clock.end);
  }

  private findWhatToWatch(): Range {
    const [from, until] = interesting(this.runs.flatMap((run) => run.timeline ?? []), this.clock.end);
    this.clock.speed = speedFor(until - from);
    // A little before it, so that it is seen to begin.
    this.clock.t = Math.max(0, from - 0.03 * (until - from));
    return [from, until];
  }

  seek(t: number): void {
    this.clock.seek(t);
  }

  playOrPause(): void {
    if (this.clock.playing) this.clock.pause();
    else this.clock.play(this.watch?.[0] ?? 0);
  }

  stepWindow(by: Direction): void {
    this.clock.playing = false;
    this.reveal(windowBeside(this.clock.t, this.stepUs(), by));
  }

  stepPause(by: Direction): void {
    this.clock.playing = false;
    const t = pauseBeside(this.runs, this.clock.t, by);
    if (t !== null) this.reveal(t);
  }

  toStart(): void {
    this.reveal(0);
  }

  toEnd(): void {
    this.reveal(this.clock.end);
  }

  setSpeed(speed: number): void {
    this.clock.setSpeed(speed);
  }

  /** The speed after that. */
  shiftSpeed(by: Direction): number {
    this.clock.shift(by);
    return this.clock.speed;
  }

  private reveal(t: number): void {
    this.clock.seek(t);
    if (this.turnPage()) this.changed("all");
  }

  /** Lets the range follow the clock; whether it had to. */
  turnPage(): boolean {
    const before = this.range;
    this.range = pageOf(before, this.clock.t, this.clock.end);
    return this.range !== before;
  }

  setRange(from: number, until: number): void {
    this.range = fitted(from, until, this.clock.end);
    this.changed("all");
  }

  /** `around` stays where it is in the time line. */
  zoomTime(factor: number, around = this.clock.t): void {
    const [from, until] = this.range;
    const centre = around < from || around > until ? (from + until) / 2 : around;
    this.setRange(centre - (centre - from) * factor, centre + (until - centre) * factor);
  }

  fitTime(): void {
    this.setRange(0, this.clock.end);
  }
}
