// Drawing on a canvas in the units of the data.
import { ground, type Ground, shown } from "../shared/palette";
import type { Dash, Hatch } from "./data";

export interface Range {
  low: number;
  high: number;
  log: boolean;
}

/** 0 at the low end, 1 at the high end. */
export function part(range: Range, value: number): number {
  if (!range.log) return (value - range.low) / (range.high - range.low);
  return Math.log(Math.max(value, range.low * 1e-3) / range.low) / Math.log(range.high / range.low);
}

/** The value at a part of the way. */
export function valueAt(range: Range, at: number): number {
  if (!range.log) return range.low + at * (range.high - range.low);
  return range.low * (range.high / range.low) ** at;
}

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** How much one of several curves is meant to be seen. */
export type Emphasis = "normal" | "strong" | "grey";

const DASHES: Record<Dash, number[]> = { solid: [], long: [10, 4], short: [5, 3], dotted: [2, 3] };

export class Pen {
  readonly ground: Ground;

  constructor(
    readonly ctx: CanvasRenderingContext2D,
    readonly box: Box,
    readonly x: Range,
    readonly y: Range,
    /** Pixels of the canvas in one of the page. */
    readonly ratio: number,
    readonly dark: boolean,
  ) {
    this.ground = ground(dark);
  }

  px(value: number): number {
    return this.box.left + part(this.x, value) * this.box.width;
  }

  py(value: number): number {
    return this.box.top + (1 - part(this.y, value)) * this.box.height;
  }

  get bottom(): number {
    return this.box.top + this.box.height;
  }

  get right(): number {
    return this.box.left + this.box.width;
  }

  colour(hex: string, emphasis: Emphasis): string {
    return emphasis === "grey" ? this.ground.grey : shown(hex, this.dark);
  }

  /** Draws within the plot. */
  inside(draw: () => void): void {
    const { left, top, width, height } = this.box;
    this.ctx.save();
    this.ctx.beginPath();
    this.ctx.rect(left, top, width, height);
    this.ctx.clip();
    draw();
    this.ctx.restore();
  }

  stroke(points: [number, number][], colour: string, width: number, dash: number[] = []): void {
    const { ctx, ratio } = this;
    ctx.beginPath();
    points.forEach(([x, y], index) => (index === 0 ? ctx.moveTo(x, y) : ctx.lineTo(x, y)));
    ctx.strokeStyle = colour;
    ctx.lineWidth = width * ratio;
    ctx.lineJoin = "round";
    ctx.setLineDash(dash.map((of) => of * ratio));
    ctx.stroke();
    ctx.setLineDash([]);
  }

  dashes(dash: Dash): number[] {
    return DASHES[dash];
  }

  /** Of a text, in pixels of the canvas. */
  width(text: string): number {
    this.ctx.font = `${12 * this.ratio}px ${FONT}`;
    return this.ctx.measureText(text).width;
  }

  text(text: string, x: number, y: number, colour: string, align: CanvasTextAlign = "center"): void {
    const { ctx, ratio } = this;
    ctx.font = `${12 * ratio}px ${FONT}`;
    ctx.textAlign = align;
    ctx.textBaseline = "middle";
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y);
  }

  /** An interval with caps; an arrow where it leaves the plot. */
  whisker(x: number, low: number, high: number, colour: string): void {
    const [from, to] = [Math.max(low, high), Math.min(low, high)];
    const { top } = this.box;
    if (from - to < this.ratio || from < top || to > this.bottom) return;
    const cap = 3.5 * this.ratio;
    const [foot, head] = [Math.min(from, this.bottom), Math.max(to, top)];
    this.stroke([[x, foot], [x, head]], colour, 1.2);
    for (const [end, edge, back] of [[from, this.bottom, -cap], [to, top, cap]] as const) {
      if (end >= top && end <= this.bottom) this.stroke([[x - cap, end], [x + cap, end]], colour, 1.2);
      else this.stroke([[x - cap, edge + back], [x, edge], [x + cap, edge + back]], colour, 1.2);
    }
  }

  /** The same lying. */
  whiskerAlong(y: number, low: number, high: number, colour: string): void {
    const cap = 3.5 * this.ratio;
    const { left } = this.box;
    const [from, to] = [Math.max(low, left), Math.min(high, this.right)];
    if (to < left || from > this.right) return;
    this.stroke([[from, y], [to, y]], colour, 1.2);
    for (const [end, edge, back] of [[low, left, cap], [high, this.right, -cap]] as const) {
      if (end >= left && end <= this.right) this.stroke([[end, y - cap], [end, y + cap]], colour, 1.2);
      else this.stroke([[edge + back, y - cap], [edge, y], [edge + back, y + cap]], colour, 1.2);
    }
  }

  /** "Never": an arrow head that points out of the plot at its top. */
  never(x: number, colour: string): void {
    const { top } = this.box;
    const reach = 5 * this.ratio;
    this.polygon([[x, top], [x - reach, top + 2 * reach], [x + reach, top + 2 * reach]], colour);
  }

  polygon(points: [number, number][], colour: string): void {
    this.ctx.beginPath();
    points.forEach(([x, y], index) => (index === 0 ? this.ctx.moveTo(x, y) : this.ctx.lineTo(x, y)));
    this.ctx.closePath();
    this.ctx.fillStyle = colour;
    this.ctx.fill();
  }

  /** One of eight shapes, filled or open, so that curves differ without their colours too. */
  marker(shape: number, x: number, y: number, colour: string, size = 3.4): void {
    const { ctx, ratio } = this;
    const path = markerPath(shape, x, y, size * ratio);
    const open = isOpen(shape);
    ctx.fillStyle = open ? this.ground.paper : colour;
    ctx.fill(path);
    if (!open) return;
    ctx.strokeStyle = colour;
    ctx.lineWidth = ratio;
    ctx.stroke(path);
  }

  /** A bar, filled so that it differs without its colour. */
  bar(box: Box, colour: string, hatch: Hatch): void {
    const { ctx, ratio } = this;
    const { left, top, width, height } = box;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.fillStyle = hatch === "empty" ? this.ground.paper : colour;
    ctx.globalAlpha = hatch === "full" || hatch === "empty" ? 1 : hatch === "pale" ? 0.45 : 0.15;
    ctx.fill();
    ctx.globalAlpha = 1;
    const step = 6 * ratio;
    const slope = (rise: number) => {
      for (let at = left - height; at < left + width + height; at += step) {
        const ends: [number, number][] =
          rise > 0 ? [[at, top + height], [at + height, top]] : [[at, top], [at + height, top + height]];
        this.stroke(ends, colour, 1);
      }
    };
    if (hatch === "rising" || hatch === "crossed") slope(1);
    if (hatch === "falling" || hatch === "crossed") slope(-1);
    if (hatch === "level") {
      for (let at = top; at < top + height; at += step) this.stroke([[left, at], [left + width, at]], colour, 1);
    }
    ctx.restore();
    ctx.strokeStyle = colour;
    ctx.lineWidth = ratio;
    ctx.strokeRect(left, top, width, height);
  }
}

export const FONT = 'system-ui, "DejaVu Sans", sans-serif';
/** How many shapes markers have; from this number on they are open (crates/results/src/figures/marker.rs). */
export const SHAPES = 8;

export function isOpen(shape: number): boolean {
  return shape % (2 * SHAPES) >= SHAPES;
}

export function markerPath(shape: number, x: number, y: number, r: number): Path2D {
  const path = new Path2D();
  const closed = (points: [number, number][]) => {
    points.forEach(([dx, dy], at) => (at === 0 ? path.moveTo(x + dx * r, y + dy * r) : path.lineTo(x + dx * r, y + dy * r)));
    path.closePath();
  };
  const cross = (turn: number) => {
    const [c, s] = [Math.cos(turn), Math.sin(turn)];
    const w = 0.38;
    const corners: [number, number][] = [
      [-w, -1.2], [w, -1.2], [w, -w], [1.2, -w], [1.2, w], [w, w], [w, 1.2], [-w, 1.2], [-w, w], [-1.2, w], [-1.2, -w], [-w, -w],
    ];
    closed(corners.map(([a, b]) => [a * c - b * s, a * s + b * c]));
  };
  switch (shape % SHAPES) {
    case 0:
      path.arc(x, y, r, 0, 2 * Math.PI);
      break;
    case 1:
      closed([[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]);
      break;
    case 2:
      closed([[0, -1.2], [1.1, 0.8], [-1.1, 0.8]]);
      break;
    case 3:
      closed([[0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]]);
      break;
    case 4:
      cross(0);
      break;
    case 5:
      closed([[0, 1.2], [1.1, -0.8], [-1.1, -0.8]]);
      break;
    case 6:
      cross(Math.PI / 4);
      break;
    default:
      closed([[-1.4, -0.6], [1.4, -0.6], [1.4, 0.6], [-1.4, 0.6]]);
  }
  return path;
}
