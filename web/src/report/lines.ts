// Curves: drawn with their markers, intervals and quoted numbers, and told when pointed at.
import { type AxisData, type ChartData, type Entry, finite, type LineData, type PanelData, type QuotedData } from "./data";
import type { Emphasis, Pen } from "./pen";
import type { AxisView, Row, Scene, Told } from "./scene";
import { read, spelled, ticks, titled } from "./ticks";
import { type Hidden, view } from "./view";

export function axisView(axis: AxisData): AxisView {
  return {
    low: axis.low,
    high: axis.high,
    log: axis.log,
    title: (low, high) => titled(axis, ticks(axis, low, high, 6).unit),
    marks: (low, high, wanted) => ticks(axis, low, high, wanted).marks,
  };
}

/** Distance between the markers of a curve without dots. */
const STEP = 90;
/** How near the pointer must be to a quoted number. */
const NEAR = 12;
/** Curves that are told at once. */
const MOST_ROWS = 12;

export interface LineView {
  chart: ChartData;
  panel: PanelData;
  entries: Entry[];
  hidden: Hidden;
  /** The one that this plot is about, in front of all others in grey. */
  own: string | null;
}

export function lineScene(of: LineView): Scene {
  const { chart } = of;
  return {
    x: axisView(chart.x),
    y: axisView(chart.y),
    paint: (pen) => paint(of, pen),
    tell: (pen, x, y) => tellQuoted(of, pen, x, y) ?? tell(of, pen, x, y),
  };
}

function emphasis(of: LineView, name: string): Emphasis {
  const focus = of.own ?? view.focus;
  const known = focus !== null && of.entries.some((entry) => entry.name === focus);
  if (!known) return "normal";
  return name === focus ? "strong" : "grey";
}

function shapeOf(of: LineView, name: string): number {
  return of.entries.find((entry) => entry.name === name)?.shape ?? 0;
}

function shownLines(of: LineView): LineData[] {
  return of.panel.lines.filter((line) => line.name === of.own || !of.hidden.has(line.name));
}

function paint(of: LineView, pen: Pen): void {
  pen.inside(() => {
    instants(of, pen);
    const order: Emphasis[] = ["grey", "normal", "strong"];
    const lines = shownLines(of).map((line) => ({ line, how: emphasis(of, line.name) }));
    // Unbroken lines first, so that a dashed one shows where the two coincide.
    const rank = (how: Emphasis, line: LineData) => 2 * order.indexOf(how) + (line.dash === "solid" ? 0 : 1);
    lines.sort((a, b) => rank(a.how, a.line) - rank(b.how, b.line));
    for (const { line, how } of lines) curve(of, pen, line, how);
    for (const quoted of of.panel.quoted) paintQuoted(pen, quoted);
    if (of.panel.silence) {
      pen.text(of.panel.silence, pen.box.left + pen.box.width / 2, pen.box.top + 24 * pen.ratio, pen.ground.quiet);
    }
  });
  for (const line of shownLines(of)) {
    for (const at of line.never.filter(finite)) pen.never(pen.px(at), pen.colour(line.colour, emphasis(of, line.name)));
  }
}

function instants(of: LineView, pen: Pen): void {
  // Where the names in each row end; one that would touch another goes a row down.
  const rows: number[] = [];
  for (const [at, name] of [...of.chart.marks].sort((a, b) => a[0] - b[0])) {
    const x = pen.px(at);
    pen.stroke([[x, pen.box.top], [x, pen.bottom]], pen.ground.quiet, 1, [3, 3]);
    if (of.own !== null || x < pen.box.left) continue;
    const late = x > pen.box.left + 0.75 * pen.box.width;
    const wide = pen.width(name) + 10 * pen.ratio;
    const from = late ? x - wide : x;
    const free = rows.findIndex((end) => end <= from);
    const row = free < 0 ? rows.length : free;
    rows[row] = from + wide;
    const y = pen.box.top + (8 + 14 * row) * pen.ratio;
    pen.text(name, x + (late ? -4 : 4) * pen.ratio, y, pen.ground.quiet, late ? "right" : "left");
  }
}

function curve(of: LineView, pen: Pen, line: LineData, how: Emphasis): void {
  const colour = pen.colour(line.colour, how);
  const width = how === "strong" ? 2.6 : how === "grey" ? 1 : 1.6;
  const shift = line.shift * pen.ratio;
  if (how !== "grey") {
    for (const [x, low, high] of line.intervals) {
      if (finite(x) && finite(low) && finite(high)) pen.whisker(pen.px(x) + shift, pen.py(low), pen.py(high), colour);
    }
    for (const [y, low, high] of line.spans) {
      if (finite(y) && finite(low) && finite(high)) pen.whiskerAlong(pen.py(y), pen.px(low), pen.px(high), colour);
    }
  }
  const shape = shapeOf(of, line.name);
  let piece: [number, number][] = [];
  const end = () => {
    if (piece.length > 1) pen.stroke(piece, colour, width, how === "grey" ? [] : pen.dashes(line.dash));
    const all = line.dots || piece.length === 1;
    // A plot of one curve needs nothing to tell it by.
    if (piece.length > 0 && how !== "grey" && (all || of.own === null)) markers(pen, piece, shape, colour, all);
    piece = [];
  };
  line.x.forEach((x, index) => {
    const y = line.y[index];
    if (finite(x) && finite(y)) piece.push([pen.px(x) + shift, pen.py(y)]);
    else end();
  });
  end();
}

function markers(pen: Pen, points: [number, number][], shape: number, colour: string, all: boolean): void {
  const step = STEP * pen.ratio;
  // Each curve begins elsewhere, so that markers of curves that coincide stand side by side.
  let next = pen.box.left + ((shape * 0.37) % 1) * step;
  for (const [index, [x, y]] of points.entries()) {
    if (all) {
      pen.marker(shape, x, y, colour, 3);
      continue;
    }
    const before = points[index - 1];
    if (!before) continue;
    while (next < before[0]) next += step;
    for (; next <= x && x > before[0]; next += step) {
      const part = (next - before[0]) / (x - before[0]);
      pen.marker(shape, next, before[1] + part * (y - before[1]), colour);
    }
  }
}

/** Where a quoted number stands: one place, or the ends of a line. */
export function places(pen: Pen, of: QuotedData): [number, number][] {
  const edge = 11 * pen.ratio;
  if (finite(of.x) && finite(of.y)) return [[pen.px(of.x), pen.py(of.y)]];
  if (finite(of.x)) return [[pen.px(of.x), pen.box.top + edge], [pen.px(of.x), pen.bottom - edge]];
  if (!finite(of.y) || of.group !== undefined) return [];
  const y = pen.py(of.y);
  const left = finite(of.from) ? pen.px(of.from) : pen.box.left + edge;
  const right = finite(of.until) ? pen.px(of.until) : pen.right - edge;
  return [[left, y], [right, y]];
}

export function paintQuoted(pen: Pen, of: QuotedData, at: [number, number][] = places(pen, of)): void {
  const colour = of.colour ? pen.colour(of.colour, "normal") : pen.ground.ink;
  if (at.length > 1) pen.stroke(at, colour, 1, [7, 5]);
  for (const [x, y] of at) {
    const outline = (r: number): [number, number][] => {
      if (of.shape === "at most") return [[x - r, y - r], [x + r, y - r], [x, y + 0.8 * r]];
      if (of.shape === "at least") return [[x - r, y + r], [x + r, y + r], [x, y - 0.8 * r]];
      return [[x - r, y], [x, y - r], [x + r, y], [x, y + r]];
    };
    pen.polygon(outline(8.5 * pen.ratio), pen.ground.paper);
    const corners = outline(5.5 * pen.ratio);
    pen.stroke([...corners, corners[0] ?? [x, y], corners[1] ?? [x, y]], colour, 2);
  }
}

/** Whether a quoted number is at hand, and what it says. */
export function quotedRow(chart: ChartData, of: QuotedData): Row {
  const axis = finite(of.y) ? chart.y : chart.x;
  const value = finite(of.y) ? of.y : finite(of.x) ? of.x : 0;
  const bound = of.shape === "number" ? "" : `${of.shape} `;
  return { name: of.source || of.name, text: `${bound}${read(axis, value)}`, colour: of.colour, shape: null, near: true };
}

function tellQuoted(of: LineView, pen: Pen, x: number, y: number): Told | null {
  const near = NEAR * pen.ratio;
  const hit = of.panel.quoted.filter((quoted) => {
    const at = places(pen, quoted);
    const [first, last] = [at[0], at[at.length - 1]];
    if (!first || !last) return false;
    const [dx, dy] = [last[0] - first[0], last[1] - first[1]];
    const long = dx * dx + dy * dy;
    const along = long === 0 ? 0 : Math.min(1, Math.max(0, ((x - first[0]) * dx + (y - first[1]) * dy) / long));
    return Math.hypot(first[0] + along * dx - x, first[1] + along * dy - y) < near;
  });
  return hit.length > 0 ? { head: "from the paper", rows: hit.map((quoted) => quotedRow(of.chart, quoted)) } : null;
}

interface Found {
  line: LineData;
  at: number;
  value: number;
  interval: [number, number] | null;
  distance: number;
}

/** What a curve is at the pointer: at the nearest of its points, or between two of them. */
function find(pen: Pen, line: LineData, x: number, y: number): Found | null {
  let best: Found | null = null;
  let nearest = Number.POSITIVE_INFINITY;
  line.x.forEach((at, index) => {
    const value = line.y[index];
    if (!finite(at) || !finite(value)) return;
    const aside = Math.abs(pen.px(at) + line.shift * pen.ratio - x);
    const distance = Math.hypot(aside, pen.py(value) - y);
    // Of steps, which have several points at one place, the one that is nearest.
    if (aside > nearest + 0.5 || (aside > nearest - 0.5 && best && distance >= best.distance)) return;
    nearest = Math.min(nearest, aside);
    const around = line.intervals.find(([of]) => of === at);
    const interval: [number, number] | null = around && finite(around[1]) && finite(around[2]) ? [around[1], around[2]] : null;
    best = { line, at, value, interval, distance };
  });
  return between(pen, line, x, y) ?? best;
}

/** Along the straight stretch under the pointer; nothing for curves of few points, which are told point by point. */
function between(pen: Pen, line: LineData, x: number, y: number): Found | null {
  if (line.dots) return null;
  for (let index = 1; index < line.x.length; index += 1) {
    const [a, b, va, vb] = [line.x[index - 1], line.x[index], line.y[index - 1], line.y[index]];
    if (!finite(a) || !finite(b) || !finite(va) || !finite(vb)) continue;
    const [left, right] = [pen.px(a), pen.px(b)];
    if (left > x || right < x || right === left) continue;
    const part = (x - left) / (right - left);
    const value = va + part * (vb - va);
    return { line, at: a + part * (b - a), value, interval: null, distance: Math.abs(pen.py(value) - y) };
  }
  return null;
}

function tell(of: LineView, pen: Pen, x: number, y: number): Told | null {
  const lines = shownLines(of).filter((line) => of.own === null || line.name === of.own);
  const found = lines.map((line) => find(pen, line, x, y)).filter((one) => one !== null);
  const nearest = found.reduce<Found | null>((best, one) => (best && best.distance <= one.distance ? best : one), null);
  if (!nearest) return null;
  // All that have a value at the same place, the highest first; of many the nearest ones.
  const reach = (3 + Math.abs(nearest.line.shift)) * pen.ratio + Math.abs(pen.px(nearest.at) - x);
  const here = found.filter((one) => Math.abs(pen.px(one.at) - x) <= reach);
  here.sort((a, b) => a.distance - b.distance);
  const told = here.slice(0, MOST_ROWS).sort((a, b) => b.value - a.value);
  const row = (one: Found): Row => {
    const interval = one.interval ? ` (${read(of.chart.y, one.interval[0])} to ${read(of.chart.y, one.interval[1])})` : "";
    return {
      name: one.line.name,
      text: `${read(of.chart.y, one.value)}${interval}`,
      colour: one.line.colour,
      shape: shapeOf(of, one.line.name),
      near: one === nearest,
    };
  };
  const title = of.chart.x.title.split(" (")[0] ?? "";
  return { head: `${title} ${spelled(of.chart.x, Number(nearest.at.toPrecision(4)))}`.trim(), rows: told.map(row) };
}
