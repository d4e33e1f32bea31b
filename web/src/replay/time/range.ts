// The part of the run that the time line shows: [from, until] in microseconds.

export type Range = readonly [from: number, until: number];

/** The least that can be looked at. */
const LEAST = 0.5;

/** This part of a run that lasts until `end`, moved into the run and not shorter than can be looked at. */
export function fitted(from: number, until: number, end: number): Range {
  const width = Math.max(Math.min(until - from, end), Math.min(end, LEAST));
  const start = Math.max(0, Math.min(end - width, from));
  return [start, start + width];
}

/** The page that `t` is on: the same range if `t` lies in it, else one as wide that begins shortly before `t`. */
export function pageOf(range: Range, t: number, end: number): Range {
  const [from, until] = range;
  if (t >= from && t <= until) return range;
  const width = until - from;
  const start = Math.max(0, Math.min(end - width, t - 0.05 * width));
  return [start, start + width];
}

/** To begin with: what is worth watching, if that is little of the run. */
export function firstRange([from, until]: Range, end: number): Range {
  const margin = 0.2 * (until - from);
  return until - from < 0.4 * end ? [Math.max(0, from - margin), Math.min(end, until + margin)] : [0, end];
}
