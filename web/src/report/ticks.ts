// The numbers at an axis: round, few, in a unit that fits what is in sight. The same rules as in
// crates/results/src/figures/ticks.rs, since an axis that is enlarged needs new ones.
import { type AxisData, brief } from "./data";

export interface Ticks {
  marks: [number, string][];
  /** For the title. */
  unit: string;
}

/** A unit, and how much of the data's it holds. */
function prefix(axis: AxisData, largest: number): [string, number] {
  switch (axis.unit) {
    case "time":
      return largest >= 2e6 ? ["s", 1e6] : largest >= 2e3 ? ["ms", 1e3] : ["us", 1];
    case "bytes":
      return largest >= 2e6 ? ["MB", 1e6] : largest >= 2e3 ? ["KB", 1e3] : ["bytes", 1];
    case "gbps":
      return largest < 0.2 ? ["Mb/s", 1e-3] : ["Gb/s", 1];
    case "per-second":
      return largest >= 2e6
        ? ["millions per second", 1e6]
        : largest >= 2e3
          ? ["thousands per second", 1e3]
          : ["per second", 1];
    case "fraction":
      return ["%", 0.01];
    case "ratio":
      return ["", 1];
    case "plain":
      return [axis.name, 1];
  }
}

function linear(axis: AxisData, low: number, high: number, wanted: number): Ticks {
  const [unit, scale] = prefix(axis, Math.max(Math.abs(low), Math.abs(high)));
  const [from, to] = [low / scale, high / scale];
  const rough = Math.max((to - from) / Math.max(wanted, 1), Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((of) => of >= rough * 0.999) ?? rough;
  const decimals = Math.min(Math.max(-Math.floor(Math.log10(step)), 0), 12);
  const first = Math.ceil(from / step - 1e-9);
  const marks: [number, string][] = [];
  for (let index = 0; index <= 2 * wanted + 2; index += 1) {
    const value = (first + index) * step;
    if (value > to + step * 1e-9) break;
    const plain = value === 0 ? 0 : value;
    const text = axis.unit === "plain" && Math.abs(plain) >= 1e4 ? brief(plain) : plain.toFixed(decimals);
    marks.push([plain * scale, text]);
  }
  return { marks, unit };
}

function logarithmic(axis: AxisData, low: number, high: number, wanted: number): Ticks {
  const decades = Math.log10(high / low);
  const between = decades * 3 <= wanted ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / Math.max(wanted, 1)));
  let marks: [number, string][] = [];
  const from = Math.floor(Math.log10(low));
  for (let exponent = from; 10 ** exponent <= high * 1.0001 && marks.length < 100; exponent += 1) {
    if (exponent % every !== 0) continue;
    for (const value of between.map((m) => m * 10 ** exponent)) {
      if (value >= low * 0.9999 && value <= high * 1.0001) marks.push([value, spelled(axis, value)]);
    }
  }
  if (marks.length < 2 || (marks.length < 3 && decades < 1)) {
    // Within a decade, evenly spaced round numbers say more than one or two of those.
    const even = linear({ ...axis, unit: "ratio" }, low, high, Math.min(wanted, 6));
    marks = even.marks.filter(([value]) => value > 0).map(([value]) => [value, spelled(axis, value)]);
  }
  const own = ["bytes", "time", "ratio"].includes(axis.unit);
  return { marks, unit: own ? "" : prefix(axis, high)[0] };
}

export function ticks(axis: AxisData, low: number, high: number, wanted: number): Ticks {
  const of = axis.log ? logarithmic(axis, low, high, wanted) : linear(axis, low, high, wanted);
  if (axis.marks.length === 0) return of;
  const inside = axis.marks.filter(([value]) => value >= low && value <= high);
  return { marks: inside, unit: axis.unit === "plain" ? axis.name : of.unit };
}

function trimmed(value: number): string {
  const text = Number(value.toPrecision(5)).toString();
  return text.replace("e-", "e−");
}

/** A value with its own prefix: `2 KB`, `5 ms`, `99 %`. */
export function spelled(axis: AxisData, value: number): string {
  const by = (steps: [number, string][], rest: string): string => {
    const step = steps.find(([size]) => Math.abs(value) >= size);
    return step ? `${trimmed(value / step[0])}${step[1]}` : `${trimmed(value)}${rest}`;
  };
  switch (axis.unit) {
    case "bytes":
      return by([[1e9, " GB"], [1e6, " MB"], [1e3, " KB"]], " B");
    case "time":
      return by([[1e6, " s"], [1e3, " ms"]], " us");
    case "gbps":
      return `${brief(value)} Gb/s`;
    case "per-second":
      return `${brief(value)} per second`;
    case "fraction":
      return `${trimmed(Number((100 * value).toPrecision(4)))} %`;
    case "plain":
      return axis.name ? `${brief(value)} ${axis.name}` : brief(value);
    case "ratio":
      return by([[1e9, "G"], [1e6, "M"], [1e3, "k"]], "");
  }
}

/** A measured value as people read it: fewer digits than a mark needs. */
export function read(axis: AxisData, value: number): string {
  // Nothing has the unit of the axis.
  const [unit, scale] = prefix(axis, Math.abs(value === 0 ? axis.high : value));
  const text = brief(value / scale);
  return unit ? `${text} ${unit === "bytes" ? "B" : unit}` : text;
}

/** The title of an axis with the unit of its numbers. */
export function titled(axis: AxisData, unit: string): string {
  if (unit === "") return axis.title;
  return axis.title === "" ? unit : `${axis.title} (${unit})`;
}
