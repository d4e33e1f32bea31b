// The same flow in another run: numbers of flows count starts, which two runs need not share.
import type { Flows } from "./contract";

/** What a flow is, whatever became of it. */
const identity = (flows: Flows, flow: number): string =>
  [
    flows.texts[flows.source[flow]!],
    flows.texts[flows.label[flow]!],
    flows.src[flow],
    flows.dst[flow],
    flows.priority[flow],
    flows.size_bytes[flow] ?? "endless",
  ].join("\n");

/** Of flows that are alike the one that started as the same one in its row; null if there are not so many. */
export function counterpart(from: Flows, flow: number, to: Flows): number | null {
  if (flow >= from.id.length) return null;
  const wanted = identity(from, flow);
  let before = 0;
  for (let other = 0; other < flow; other++) before += identity(from, other) === wanted ? 1 : 0;
  for (let other = 0; other < to.id.length; other++) {
    if (identity(to, other) !== wanted) continue;
    if (before === 0) return other;
    before--;
  }
  return null;
}
