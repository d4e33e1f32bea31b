// Which flows a search means, and in which order. Texts and names are searched once; flows then only look up numbers.
import type { Flows } from "./contract";

export type Order = "start" | "slowdown" | "size" | "goodput" | "finish";

export interface Query {
  /** Words; "a->b" means from a to b; a number also means the flow of that id. */
  text: string;
  /** Only flows that cross this port. */
  port: number | null;
  order: Order;
}

export function filterFlows(flows: Flows, nodeNames: readonly string[], query: Query): Uint32Array {
  const count = flows.id.length;
  let found = 0;
  const result = new Uint32Array(count);
  const matches = matcher(flows, nodeNames, query.text);
  const crosses = query.port === null ? null : flows.paths.map((path) => path.includes(query.port!));
  for (let flow = 0; flow < count; flow++) {
    if (crosses && !crosses[flows.path[flow]!]) continue;
    if (matches(flow)) result[found++] = flow;
  }
  const chosen = result.subarray(0, found);
  const key = keyOf(flows, query.order);
  // Flows are ordered by start already.
  return key ? chosen.sort((a, b) => key(b) - key(a) || a - b) : chosen;
}

function keyOf(flows: Flows, order: Order): ((flow: number) => number) | null {
  switch (order) {
    case "start":
      return null;
    case "slowdown":
      return (flow) => flows.slowdown[flow] ?? -1;
    case "size":
      return (flow) => flows.size_bytes[flow] ?? Number.MAX_VALUE;
    case "goodput":
      return (flow) => flows.goodput_gbps[flow] ?? -1;
    case "finish":
      return (flow) => flows.finish_us[flow] ?? Number.MAX_VALUE;
  }
}

function matcher(flows: Flows, nodeNames: readonly string[], text: string): (flow: number) => boolean {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return () => true;
  const has = (part: string) => (name: string): boolean => name.toLowerCase().includes(part);
  const ends = wanted.split(/->|→/);
  if (ends.length === 2) {
    const from = nodeNames.map(has(ends[0]!.trim()));
    const to = nodeNames.map(has(ends[1]!.trim()));
    return (flow) => from[flows.src[flow]!]! && to[flows.dst[flow]!]!;
  }
  const texts = flows.texts.map(has(wanted));
  const nodes = nodeNames.map(has(wanted));
  return (flow) =>
    nodes[flows.src[flow]!]! ||
    nodes[flows.dst[flow]!]! ||
    texts[flows.label[flow]!]! ||
    texts[flows.source[flow]!]! ||
    String(flows.id[flow]) === wanted;
}
