// Where instants and runs lie in the time line, in CSS pixels.
import type { App } from "../app";
import { tracesOf } from "./timeline-traces";

export const FONT = "11px system-ui, sans-serif";
/** Heights of the axis, and of the line above the traces of a run that says what happened to it. */
export const AXIS = 18;
export const EVENTS = 18;
const GAP = 4;
/** Free at the right, so that the last instant can be reached. */
const MARGIN = 8;

export class Scale {
  width = 0;
  /** The column of names at the left. */
  gutter = 96;

  constructor(private readonly app: App) {}

  resize(width: number): void {
    this.width = width;
    this.gutter = width < 600 ? 78 : 132;
  }

  get right(): number {
    return this.width - MARGIN;
  }

  get height(): number {
    return AXIS + Math.max(1, this.app.runs.length) * this.runHeight;
  }

  get traceHeight(): number {
    const runs = this.app.runs.length;
    return runs <= 1 ? 26 : runs === 2 ? 18 : 14;
  }

  get runHeight(): number {
    return EVENTS + tracesOf(this.app.runs).length * this.traceHeight + GAP;
  }

  toX(t: number): number {
    const [from, until] = this.app.range;
    return this.gutter + ((t - from) / (until - from)) * (this.right - this.gutter);
  }

  toTime(x: number): number {
    const [from, until] = this.app.range;
    return from + ((x - this.gutter) / (this.right - this.gutter)) * (until - from);
  }
}

/** The least of 1, 2, 5 times a power of ten that is not below `least`. */
export function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least * 0.999) return factor * power;
  return 10 * power;
}
