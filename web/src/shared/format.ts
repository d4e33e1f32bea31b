// Numbers with their units, and names that can be shown.

/** Digits grouped by thousands, by commas: 1,234,567. */
export function grouped(value: number): string {
  const [whole = "", part] = String(Math.abs(value)).split(".");
  if (whole.includes("e")) return String(value);
  const digits = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return (value < 0 ? "−" : "") + digits + (part === undefined ? "" : `.${part}`);
}

/** Three significant digits without an exponent. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return grouped(Number(value.toFixed(digits)));
}

function scaled(value: number, steps: readonly (readonly [number, string])[]): string {
  const size = Math.abs(value);
  for (const [unit, name] of steps) {
    if (size >= unit || (size === 0 && unit === 1)) return `${short(value / unit)}\u00a0${name}`;
  }
  const [unit, name] = steps[steps.length - 1]!;
  return `${short(value / unit)}\u00a0${name}`;
}

export const bytes = (value: number): string =>
  scaled(value, [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]]);

/** All digits: what a result is quoted from. */
export const exactBytes = (value: number): string => `${grouped(value)}\u00a0B`;

export const gbps = (value: number): string =>
  scaled(value, [[1e3, "Tb/s"], [1, "Gb/s"], [1e-3, "Mb/s"], [1e-6, "Kb/s"]]);

/** How long something lasts, from microseconds. */
export const duration = (us: number): string =>
  scaled(us, [[1e6, "s"], [1e3, "ms"], [1, "µs"], [1e-3, "ns"]]);

export const percent = (share: number): string => `${short(share * 100)}\u00a0%`;

/** An instant in milliseconds, to the nanosecond or as far as `step` (µs) can tell instants apart. */
export function instant(us: number, step = 0.001): string {
  const digits = Math.max(0, Math.min(6, Math.ceil(3 - Math.log10(Math.max(step, 0.001)))));
  return `${(us / 1e3).toFixed(digits)}\u00a0ms`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)}\u00a0${count === 1 ? one : many}`;

// Characters that are not seen or that turn the text around them: controls, marks of direction, separators of lines,
// joiners, the byte order mark and tags.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** A name with whatever cannot be seen replaced by a sign that can, so that it cannot pass for another one. */
export function visible(name: string): string {
  return name.replace(UNSEEN, (c) => {
    const code = c.codePointAt(0)!;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** A long name with its middle left out. */
export function clipped(name: string, length: number): string {
  if (name.length <= length) return name;
  const head = Math.ceil((length - 1) / 2);
  return `${name.slice(0, head)}…${name.slice(name.length - (length - 1 - head))}`;
}
