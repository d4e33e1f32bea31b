// Bars side by side, and, where they are many, dots in rows instead.
import { type BarData, type ChartData, type Entry, finite, type PanelData } from "./data";
import { axisView, paintQuoted, quotedRow } from "./lines";
import type { Box, Emphasis, Pen } from "./pen";
import type { AxisView, Row, Scene, Told } from "./scene";
import { read } from "./ticks";
import { type Hidden, view } from "./view";

export interface BarView {
  chart: ChartData;
  panel: PanelData;
  entries: Entry[];
  hidden: Hidden;
}

/** More bars than this in a group are told apart better as dots in rows. */
const MOST_SLOTS = 8;

export function wantsDots(chart: ChartData): boolean {
  const bars = chart.panels.flatMap((panel) => panel.bars);
  return bars.every((bar) => bar.parts.length === 1) && bars.some((bar) => bar.slot >= MOST_SLOTS);
}

function emphasis(entries: Entry[], name: string): Emphasis {
  const focus = view.focus;
  if (focus === null || !entries.some((entry) => entry.name === focus)) return "normal";
  return focus === name ? "strong" : "grey";
}

/** Names in place of numbers. */
function named(names: string[], from: number, until: number): AxisView {
  const marks = names.map((name, at): [number, string] => [at, name]);
  const inside = (low: number, high: number) => marks.filter(([at]) => at >= low && at <= high);
  return { low: from, high: until, log: false, title: () => "", marks: inside };
}

export function barScene(of: BarView): Scene {
  const { chart } = of;
  const x = named(chart.groups, -0.5, chart.groups.length - 0.5);
  x.title = () => chart.x.title;
  return {
    x,
    y: axisView(chart.y),
    paint: (pen) => paint(of, pen),
    tell: (pen, at, y) => tell(of, pen, at, y),
  };
}

function slots(chart: ChartData): number {
  return Math.max(1, ...chart.panels.flatMap((panel) => panel.bars).map((bar) => bar.slot + 1));
}

/** Left and right end of a bar. */
function ends(of: BarView, pen: Pen, group: number, slot: number): [number, number] {
  const count = slots(of.chart);
  const width = pen.px(1) - pen.px(0);
  const bar = Math.min((width * (count === 1 ? 0.5 : 0.84)) / count, 70 * pen.ratio);
  const first = pen.px(group) - (bar * count) / 2;
  return [first + slot * bar + pen.ratio, first + (slot + 1) * bar - pen.ratio];
}

function paint(of: BarView, pen: Pen): void {
  pen.inside(() => {
    for (const bar of of.panel.bars) paintBar(of, pen, bar);
    for (const quoted of of.panel.quoted) {
      if (quoted.group === undefined || quoted.slot === undefined || !finite(quoted.y)) paintQuoted(pen, quoted);
      else {
        const [left, right] = ends(of, pen, quoted.group, quoted.slot);
        paintQuoted(pen, quoted, [[(left + right) / 2, pen.py(quoted.y)]]);
      }
    }
    if (of.panel.silence) {
      pen.text(of.panel.silence, pen.box.left + pen.box.width / 2, pen.box.top + 24 * pen.ratio, pen.ground.quiet);
    }
  });
}

function paintBar(of: BarView, pen: Pen, bar: BarData): void {
  const [left, right] = ends(of, pen, bar.group, bar.slot);
  const middle = (left + right) / 2;
  let sum = 0;
  for (const part of bar.parts) {
    if (of.hidden.has(part.name)) continue;
    const how = emphasis(of.entries, part.name);
    const colour = pen.colour(part.colour, how);
    if (part.value === "inf") {
      pen.stroke([[middle, pen.bottom], [middle, pen.box.top]], colour, 1);
      pen.never(middle, colour);
      return;
    }
    if (!finite(part.value)) continue;
    const [from, to] = [pen.py(sum), pen.py(sum + part.value)];
    sum += part.value;
    const box: Box = { left, top: Math.min(from, to), width: right - left, height: Math.abs(from - to) };
    pen.bar(box, colour, part.hatch);
    if (finite(part.interval) && part.interval > 0) {
      pen.whisker(middle, pen.py(sum - part.interval), pen.py(sum + part.interval), pen.ground.ink);
    }
  }
}

function tell(of: BarView, pen: Pen, x: number, y: number): Told | null {
  const at = (bar: { group: number; slot: number }) => {
    const [left, right] = ends(of, pen, bar.group, bar.slot);
    return x >= left - pen.ratio && x <= right + pen.ratio;
  };
  const bar = of.panel.bars.find(at);
  const quoted = of.panel.quoted.filter((one) => {
    if (one.group === undefined || one.slot === undefined) return finite(one.y) && Math.abs(pen.py(one.y) - y) < 8 * pen.ratio;
    return at({ group: one.group, slot: one.slot });
  });
  if (!bar && quoted.length === 0) return null;
  const parts = bar?.parts.filter((part) => !of.hidden.has(part.name)) ?? [];
  const rows = parts.map((part): Row => {
    const entry = of.entries.find((one) => one.name === part.name);
    return { name: part.name, text: valueText(of.chart, part.value, part.interval), colour: part.colour, shape: entry?.shape ?? null, near: true };
  });
  rows.push(...quoted.map((one) => quotedRow(of.chart, one)));
  const head = [of.chart.groups[bar?.group ?? -1] ?? "", bar?.name ?? ""].filter((name) => name !== "").join(", ");
  return { head, rows };
}

function valueText(chart: ChartData, value: BarData["parts"][number]["value"], half: BarData["parts"][number]["interval"]): string {
  if (value === "inf") return "never";
  if (!finite(value)) return "no number";
  return `${read(chart.y, value)}${finite(half) && half > 0 ? ` ± ${read(chart.y, half)}` : ""}`;
}

/** Each bar of a group as a dot in a row of its own. */
export function dotScene(of: BarView, group: number): Scene {
  const bars = of.panel.bars.filter((bar) => bar.group === group);
  const shown = () => bars.filter((bar) => !of.hidden.has(bar.parts[0]?.name ?? ""));
  const names = bars.map((bar) => bar.parts[0]?.name ?? "");
  const value = axisView(of.chart.y);
  // The first at the top.
  const rows = named(names, -0.7, names.length - 0.3);
  const y: AxisView = {
    ...rows,
    marks: () => names.map((name, at): [number, string] => [names.length - 1 - at, name]),
  };
  const place = (bar: BarData) => names.length - 1 - bars.indexOf(bar);
  return {
    x: value,
    y,
    paint: (pen) => {
      for (const bar of shown()) pen.inside(() => paintDot(of, pen, bar, place(bar)));
    },
    tell: (pen, _x, at) => {
      const bar = shown().find((one) => Math.abs(pen.py(place(one)) - at) < (pen.py(0) - pen.py(1)) / 2);
      const part = bar?.parts[0];
      if (!part) return null;
      const shape = of.entries.find((entry) => entry.name === part.name)?.shape ?? null;
      const text = valueText(of.chart, part.value, part.interval);
      return { head: of.chart.groups[group] ?? "", rows: [{ name: part.name, text, colour: part.colour, shape, near: true }] };
    },
  };
}

function paintDot(of: BarView, pen: Pen, bar: BarData, row: number): void {
  const part = bar.parts[0];
  if (!part) return;
  const how = emphasis(of.entries, part.name);
  const colour = pen.colour(part.colour, how);
  const y = pen.py(row);
  pen.stroke([[pen.box.left, y], [pen.right, y]], pen.ground.faint, 1);
  if (part.value === "inf") return pen.text("never →", pen.right - 4 * pen.ratio, y, colour, "right");
  if (!finite(part.value)) return;
  if (finite(part.interval) && part.interval > 0) {
    pen.whiskerAlong(y, pen.px(part.value - part.interval), pen.px(part.value + part.interval), colour);
  }
  const shape = of.entries.find((entry) => entry.name === part.name)?.shape ?? 0;
  pen.marker(shape, pen.px(part.value), y, colour, how === "strong" ? 6 : 4.5);
}
