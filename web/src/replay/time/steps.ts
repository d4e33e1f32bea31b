// Where the next step leads, forwards or backwards.
import type { Run } from "../data/run";
import { Stops } from "../data/stops";

export type Direction = 1 | -1;

/** The bound of a window beside `t`, also from within one. */
export function windowBeside(t: number, width: number, by: Direction): number {
  const at = t / width;
  return width * (by > 0 ? Math.floor(at + 1e-6) + 1 : Math.ceil(at - 1e-6) - 1);
}

/** The beginning of a pause beside `t`, in any of these runs; null if there is none. */
export function pauseBeside(runs: readonly Run[], t: number, by: Direction): number | null {
  const times = runs.flatMap(({ stops }) => {
    if (!(stops instanceof Stops)) return [];
    return (by > 0 ? stops.nextAfter(t) : stops.lastBefore(t)) ?? [];
  });
  if (times.length === 0) return null;
  return by > 0 ? Math.min(...times) : Math.max(...times);
}
