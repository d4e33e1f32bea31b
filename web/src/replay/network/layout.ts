// Where nodes and links lie, in abstract units: x in slots (one host each), y in rows (0 = hosts, upwards).
//
// A switch is a bar as wide as the hosts below it, so that the links to its hosts are upright. Switches further up lie
// over the switches that they connect, spread out where several connect the same ones. Domains lie side by side.

export interface Topology {
  nodes: { name: string[]; tier: number[]; domain: (number | string)[] };
  ports: { node: number[] };
}

/** Where a link leaves a node. */
export const enum Side {
  Top,
  Bottom,
  Left,
  Right,
}

export interface Layout {
  /** Of each node: centre and width, and its row. */
  x: Float64Array;
  width: Float64Array;
  row: Uint16Array;
  rows: number;
  left: number;
  right: number;
  /** Of each port: on which side of its node the link leaves, and where (x for top and bottom; else -n..n from the middle). */
  side: Uint8Array;
  anchor: Float64Array;
  /** Of each link that goes over others of its row: how high (1, 2, ...); else 0. */
  lift: Uint16Array;
  /** Hosts of a switch that lie next to each other: drawn as one when they are too narrow. */
  groups: Group[];
  /** Group of each host; -1 for other nodes. */
  groupOf: Int32Array;
  domains: { name: string; left: number; right: number }[];
}

export interface Group {
  /** -1: hosts without a switch. */
  above: number;
  hosts: number[];
  left: number;
  right: number;
}

const GAP = 1;
const LINKED_GAP = 3.2;
const DOMAIN_GAP = 6;

export function layOut(topology: Topology): Layout {
  const { tier, domain } = topology.nodes;
  const count = tier.length;
  const ports = topology.ports.node;
  const peers: number[][] = Array.from({ length: count }, () => []);
  for (let port = 0; port < ports.length; port++) peers[ports[port]!]!.push(ports[port ^ 1]!);

  const layout: Layout = {
    x: new Float64Array(count),
    width: new Float64Array(count).fill(1),
    row: Uint16Array.from(tier),
    rows: Math.max(1, ...tier) + 1,
    left: 0,
    right: 0,
    side: new Uint8Array(ports.length),
    anchor: new Float64Array(ports.length),
    lift: new Uint16Array(ports.length >> 1),
    groups: [],
    groupOf: new Int32Array(count).fill(-1),
    domains: [],
  };
  let x = 0;
  const names = [...new Set(domain)];
  for (const name of names) {
    const members = [...tier.keys()].filter((node) => domain[node] === name);
    const left = x;
    x = placeFeet(layout, members, tier, peers, x);
    for (let level = 2; level < layout.rows; level++) placeLevel(layout, members, tier, peers, level, left, x);
    layout.domains.push({ name: String(name), left, right: x });
    x += DOMAIN_GAP;
  }
  layout.right = x - DOMAIN_GAP;
  placeAnchors(layout, ports);
  return layout;
}

/** Switches of tier 1 in a row, each over its hosts; the end of the row. */
function placeFeet(
  layout: Layout,
  members: number[],
  tier: readonly number[],
  peers: readonly number[][],
  start: number,
): number {
  const own = new Set(members);
  const hosts = new Map<number, number[]>();
  const alone: number[] = [];
  for (const node of members) {
    if (tier[node] !== 0) continue;
    const above = peers[node]!.find((peer) => tier[peer]! > 0 && own.has(peer));
    if (above === undefined) alone.push(node);
    else hosts.set(above, [...(hosts.get(above) ?? []), node]);
  }
  let x = start;
  let before = -1;
  const feet = members.filter((node) => tier[node] === 1 || hosts.has(node));
  for (const foot of feet) {
    if (before >= 0) x += peers[before]!.includes(foot) ? LINKED_GAP : GAP;
    const below = hosts.get(foot) ?? [];
    const up = peers[foot]!.filter((peer) => tier[peer]! > tier[foot]!).length;
    const width = Math.max(below.length, up * 0.6, 2.4);
    layout.x[foot] = x + width / 2;
    layout.width[foot] = width;
    group(layout, foot, below, x + (width - below.length) / 2);
    x += width;
    before = foot;
  }
  if (alone.length > 0) {
    if (before >= 0) x += GAP;
    group(layout, -1, alone, x);
    x += alone.length;
  }
  return Math.max(x, start + 3);
}

function group(layout: Layout, above: number, hosts: number[], left: number): void {
  if (hosts.length === 0) return;
  hosts.forEach((host, i) => {
    layout.x[host] = left + i + 0.5;
    layout.groupOf[host] = layout.groups.length;
  });
  layout.groups.push({ above, hosts, left, right: left + hosts.length });
}

/** Switches of one tier over those below that they connect. */
function placeLevel(
  layout: Layout,
  members: number[],
  tier: readonly number[],
  peers: readonly number[][],
  level: number,
  left: number,
  right: number,
): void {
  const own = new Set(members);
  const span = (node: number): [number, number] => {
    const below = peers[node]!.filter((peer) => tier[peer]! < level && own.has(peer));
    if (below.length === 0) return [left, right];
    return [
      Math.min(...below.map((peer) => layout.x[peer]! - layout.width[peer]! / 2)),
      Math.max(...below.map((peer) => layout.x[peer]! + layout.width[peer]! / 2)),
    ];
  };
  const switches = members
    .filter((node) => tier[node] === level && layout.width[node] === 1 && layout.x[node] === 0)
    .map((node) => ({ node, span: span(node) }))
    .sort((a, b) => a.span[0] + a.span[1] - b.span[0] - b.span[1] || a.node - b.node);
  // Those that lie over the same part of the row share it.
  const clusters: { nodes: number[]; span: [number, number] }[] = [];
  for (const { node, span } of switches) {
    const last = clusters[clusters.length - 1];
    const shared = last ? Math.min(last.span[1], span[1]) - Math.max(last.span[0], span[0]) : 0;
    if (last && shared > 0.5 * Math.min(last.span[1] - last.span[0], span[1] - span[0])) {
      last.nodes.push(node);
      last.span = [Math.min(last.span[0], span[0]), Math.max(last.span[1], span[1])];
    } else {
      clusters.push({ nodes: [node], span: [...span] });
    }
  }
  for (const cluster of clusters) {
    const pitch = (cluster.span[1] - cluster.span[0]) / cluster.nodes.length;
    cluster.nodes.forEach((node, i) => {
      const links = peers[node]!.length;
      layout.x[node] = cluster.span[0] + (i + 0.5) * pitch;
      layout.width[node] = Math.min(pitch * 0.72, Math.max(2.4, links * 1.6, pitch * 0.3));
    });
  }
}

/** Which side of its nodes each link leaves, and where. */
function placeAnchors(layout: Layout, ports: readonly number[]): void {
  const { row, x } = layout;
  const onSide = new Map<string, number[]>();
  const neighbours = nextInRow(layout);
  const lifted: { link: number; from: number; to: number }[] = [];
  for (let port = 0; port < ports.length; port++) {
    const node = ports[port]!;
    const peer = ports[port ^ 1]!;
    let side: Side;
    if (row[node]! > row[peer]!) side = Side.Bottom;
    else if (row[node]! < row[peer]!) side = Side.Top;
    else if (neighbours.has(`${node} ${peer}`)) side = x[peer]! > x[node]! ? Side.Right : Side.Left;
    else {
      side = Side.Top;
      if ((port & 1) === 0) {
        lifted.push({ link: port >> 1, from: Math.min(x[node]!, x[peer]!), to: Math.max(x[node]!, x[peer]!) });
      }
    }
    layout.side[port] = side;
    const key = `${node} ${side}`;
    onSide.set(key, [...(onSide.get(key) ?? []), port]);
  }
  // Short links pass below long ones.
  lifted.sort((a, b) => a.to - a.from - (b.to - b.from) || a.link - b.link);
  lifted.forEach((arc, i) => {
    let height = 1;
    for (const lower of lifted.slice(0, i)) {
      if (lower.from < arc.to && arc.from < lower.to) height = Math.max(height, layout.lift[lower.link]! + 1);
    }
    layout.lift[arc.link] = height;
  });
  for (const list of onSide.values()) spread(layout, ports, list);
}

function nextInRow(layout: Layout): Set<string> {
  const pairs = new Set<string>();
  for (let row = 0; row < layout.rows; row++) {
    const nodes = [...layout.row.keys()].filter((node) => layout.row[node] === row);
    nodes.sort((a, b) => layout.x[a]! - layout.x[b]!);
    for (let i = 1; i < nodes.length; i++) {
      pairs.add(`${nodes[i - 1]} ${nodes[i]}`);
      pairs.add(`${nodes[i]} ${nodes[i - 1]}`);
    }
  }
  return pairs;
}

/** Ports of one side of a node, next to each other in the order of their peers. */
function spread(layout: Layout, ports: readonly number[], list: number[]): void {
  const node = ports[list[0]!]!;
  const side: Side = layout.side[list[0]!]!;
  const peerX = (port: number): number => layout.x[ports[port ^ 1]!]!;
  list.sort((a, b) => peerX(a) - peerX(b) || a - b);
  if (side === Side.Left || side === Side.Right) {
    // Parallel links keep their order at both ends, so that they do not cross.
    list.forEach((port, i) => (layout.anchor[port] = i - (list.length - 1) / 2));
    return;
  }
  const width = layout.width[node]! * 0.94;
  const left = layout.x[node]! - width / 2;
  const hosts = list.filter((port) => {
    const group = layout.groupOf[ports[port ^ 1]!]!;
    return side === Side.Bottom && group >= 0 && layout.groups[group]!.above === node;
  });
  const singly = new Set(hosts.map((port) => ports[port ^ 1]!)).size === hosts.length;
  const others = singly ? list.filter((port) => !hosts.includes(port)) : list;
  if (singly) for (const port of hosts) layout.anchor[port] = peerX(port);
  others.forEach((port, i) => (layout.anchor[port] = left + ((i + 0.5) * width) / others.length));
}
