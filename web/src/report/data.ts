// A figure as the program writes it (crates/results/src/figures/data.rs).

/** A number, null where there is none, or beyond all numbers. */
export type Num = number | null | "inf" | "-inf";

export interface AxisData {
  title: string;
  unit: "time" | "bytes" | "gbps" | "per-second" | "fraction" | "ratio" | "plain";
  /** Of the unit, where it is plain. */
  name: string;
  log: boolean;
  low: number;
  high: number;
  /** Numbers that were asked for in place of round ones. */
  marks: [number, string][];
}

export type Dash = "solid" | "long" | "short" | "dotted";
export type Hatch = "full" | "rising" | "empty" | "level" | "falling" | "pale" | "crossed";

export interface LineData {
  name: string;
  colour: string;
  dash: Dash;
  dots: boolean;
  /** Which marker it has; without one it is told by its place. */
  marker: number | null;
  /** How far it is moved along x, so that intervals at one place stand side by side; in pixels. */
  shift: number;
  x: Num[];
  y: Num[];
  /** Where, from, to. */
  intervals: [Num, Num, Num][];
  /** The same along x: at which y, from, to. */
  spans: [Num, Num, Num][];
  never: Num[];
}

export interface PartData {
  name: string;
  colour: string;
  hatch: Hatch;
  value: Num;
  interval: Num;
}

export interface BarData {
  group: number;
  slot: number;
  name: string;
  parts: PartData[];
}

/** A number of the paper: a point, a level (y alone), an instant (x alone), or on a bar. */
export interface QuotedData {
  name: string;
  colour: string | null;
  shape: "number" | "at most" | "at least";
  source: string;
  x?: Num;
  y?: Num;
  from?: Num;
  until?: Num;
  group?: number;
  slot?: number;
}

export interface PanelData {
  title: string;
  /** What to say where nothing can be seen. */
  silence: string | null;
  lines: LineData[];
  bars: BarData[];
  quoted: QuotedData[];
}

export interface ChartData {
  file: string;
  title: string;
  note: string;
  x: AxisData;
  y: AxisData;
  groups: string[];
  columns: number;
  marks: [number, string][];
  panels: PanelData[];
}

export function finite(value: Num | undefined): value is number {
  return typeof value === "number";
}

/** One entry of the legend: a name with its look. */
export interface Entry {
  name: string;
  colour: string;
  dash: Dash | null;
  hatch: Hatch | null;
  /** Which marker it has. */
  shape: number;
}

/** Every name once, in order of appearance. */
export function entries(chart: ChartData): Entry[] {
  const found = new Map<string, Entry>();
  const add = (name: string, of: Omit<Entry, "name" | "shape">, marker: number | null = null) => {
    if (name !== "" && !found.has(name)) found.set(name, { name, shape: marker ?? found.size, ...of });
  };
  for (const panel of chart.panels) {
    for (const line of panel.lines) add(line.name, { colour: line.colour, dash: line.dash, hatch: null }, line.marker);
    for (const part of panel.bars.flatMap((bar) => bar.parts)) {
      add(part.name, { colour: part.colour, dash: null, hatch: part.hatch });
    }
  }
  return [...found.values()];
}

/** How a number reads beside its unit: three digits or so. */
export function brief(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e15 || size < 1e-4) return value.toExponential(2);
  if (size >= 99.95) return Math.round(value).toLocaleString("en-GB");
  return value.toFixed(size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 4);
}
