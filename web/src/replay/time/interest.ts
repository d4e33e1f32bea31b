// Which part of a run is worth watching, to begin with.
import type { TimelineData } from "../data/contract";

/** From the first to the last paused port; without any, where queues are long; else all of it. */
export function interesting(timelines: readonly TimelineData[], end: number): [number, number] {
  const where = (holds: (timeline: TimelineData, bin: number) => boolean): [number, number] | null => {
    let from = Infinity;
    let until = -Infinity;
    for (const timeline of timelines) {
      for (let bin = 0; bin < timeline.queued_bytes.length; bin++) {
        if (!holds(timeline, bin)) continue;
        from = Math.min(from, bin * timeline.bin_us);
        until = Math.max(until, (bin + 1) * timeline.bin_us);
      }
    }
    return from < until ? [from, Math.min(end, until)] : null;
  };
  const longest = Math.max(0, ...timelines.map((timeline) => timeline.queued_bytes.reduce((a, b) => Math.max(a, b), 0)));
  return (
    where((timeline, bin) => timeline.paused_ports[bin]! > 0) ??
    (longest > 0 ? where((timeline, bin) => timeline.queued_bytes[bin]! > longest / 4) : null) ?? [0, end]
  );
}
