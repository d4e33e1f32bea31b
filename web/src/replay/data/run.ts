// One finished run: what was loaded of it so far.
import { Activities } from "./activities";
import type { ActivityTable, Flows, FlowSeries, PortSeries, Roots, RunHead, TimelineData, Victims } from "./contract";
import { layOut, type Layout } from "../network/layout";
import { json, type Source } from "./source";
import { Stops } from "./stops";
import { levelFor, Moment, Tiles } from "./tiles";

/** What comes later: null = not there yet, "absent" = this replay does not have it. */
export type Later<T> = T | null | "absent";

export class Run {
  readonly layout: Layout;
  readonly tiles: Tiles;
  readonly moment: Moment;
  readonly portNumber = new Map<string, number>();
  readonly portsOfNode: number[][];
  /** Rows of `queues` of each port. */
  readonly queueRows = new Map<number, number[]>();
  /** The largest queue that any switch had. */
  readonly largestQueue: number;

  stops: Later<Stops> = null;
  flows: Later<Flows> = null;
  victims: Later<Victims> = null;
  activities: Later<Activities> = null;
  /** Stops that hold at the instant shown, in order of beginning. */
  holding: number[] = [];
  private readonly portSeries = new Map<number, Promise<PortSeries | null>>();
  private readonly flowSeries = new Map<number, Promise<FlowSeries | null>>();
  private shown: unknown = null;

  private constructor(
    readonly number: number,
    /** What tells it from the other runs shown. */
    readonly label: string,
    readonly head: RunHead,
    readonly timeline: TimelineData | null,
    private readonly source: Source,
    changed: () => void,
  ) {
    const { nodes, ports, queues } = head;
    this.layout = layOut(head);
    this.moment = new Moment(ports.node.length);
    this.tiles = new Tiles(
      source,
      String(number),
      { windowUs: head.window_us, windows: head.windows, tileWindows: head.tile_windows, levels: head.levels },
      changed,
    );
    this.portsOfNode = nodes.name.map(() => []);
    ports.name.forEach((name, port) => {
      this.portNumber.set(name, port);
      this.portsOfNode[ports.node[port]!]!.push(port);
    });
    let largest = 0;
    queues.port.forEach((port, row) => {
      const rows = this.queueRows.get(port);
      if (rows) rows.push(row);
      else this.queueRows.set(port, [row]);
      if (nodes.tier[ports.node[port]!]! > 0) largest = Math.max(largest, queues.queue_peak_bytes[row]!);
    });
    this.largestQueue = largest > 0 ? largest : Math.max(1, ...queues.queue_peak_bytes);
  }

  static async open(number: number, label: string, source: Source, changed: () => void): Promise<Run> {
    const [head, timeline] = await Promise.all([
      json<RunHead>(source, `${number}/run.json`),
      json<TimelineData>(source, `${number}/timeline.json`),
    ]);
    if (!head) throw new Error(`run ${number} is not in this replay`);
    return new Run(number, label, head, timeline, source, changed);
  }

  portName(port: number): string {
    return this.head.ports.name[port] ?? `port ${port}`;
  }

  nodeOf(port: number): number {
    return this.head.ports.node[port]!;
  }

  nodeName(node: number): string {
    return this.head.nodes.name[node] ?? `node ${node}`;
  }

  /** The node that can stop this egress: the one at the other end. */
  stopperOf(port: number): string {
    return this.nodeName(this.nodeOf(port ^ 1));
  }

  /** Pauses and the trees that they form. */
  async loadStops(): Promise<void> {
    if (this.stops !== null) return;
    const [bytes, roots] = await Promise.all([
      this.source.bytes(`${this.number}/stops.bin`),
      json<Roots>(this.source, `${this.number}/roots.json`),
    ]);
    this.stops = bytes ? Stops.decode(bytes, roots) : "absent";
  }

  /** What only panels show. */
  async loadFlows(): Promise<void> {
    if (this.flows !== null) return;
    const activities = this.head.jobs.length > 0 ? await json<ActivityTable>(this.source, `${this.number}/activities.json`) : null;
    this.activities = activities ? new Activities(activities, this.head.end_us) : "absent";
    this.victims = (await json<Victims>(this.source, `${this.number}/victims.json`)) ?? "absent";
    this.flows = (await json<Flows>(this.source, `${this.number}/flows.json`)) ?? "absent";
  }

  /** Brings `moment` and `holding` to the instant `t`. */
  showAt(t: number, usPerFrame: number): void {
    // What holds when the run ends was never undone: the last picture shows it, half a nanosecond before the end.
    const within = Math.min(t, this.head.end_us - 0.0005);
    if (this.stops instanceof Stops) this.holding = this.stops.at(within);
    const level = levelFor(this.tiles.grid, usPerFrame);
    const found = this.tiles.at(level, t);
    if (!found) return;
    const { tile, window, width } = found;
    if (this.shown === tile && this.moment.from === window * width) return;
    this.shown = tile;
    this.moment.fill(tile, window, width, this.head.ports.rate_gbps);
  }

  /** The egresses that are stopped at the instant shown, each once. */
  pausedPorts(): number[] {
    if (this.stops instanceof Stops) {
      const { port } = this.stops;
      return [...new Set(this.holding.map((stop) => port[stop]!))];
    }
    const ports: number[] = [];
    this.moment.paused.forEach((share, port) => {
      if (share > 0) ports.push(port);
    });
    return ports;
  }

  queued(): number {
    return this.moment.queue.reduce((sum, queue) => sum + queue, 0);
  }

  port(port: number): Promise<PortSeries | null> {
    return remembered(this.portSeries, port, () => json<PortSeries>(this.source, `${this.number}/port/${port}.json`));
  }

  /** Why there is no course over time of a flow, known before anybody asks for it; null: there is one. */
  withoutCourse(flow: number): string | null {
    if (!this.source.mayHave(`${this.number}/flow/${flow}.json`)) return "not in this file, which holds the largest flows and victims";
    if (this.flows === null || this.flows === "absent" || this.flows.windows[flow]! > 0) return null;
    return "it lived within one window, or too many flows were alive to keep them all";
  }

  flow(flow: number): Promise<FlowSeries | null> {
    return remembered(this.flowSeries, flow, () => json<FlowSeries>(this.source, `${this.number}/flow/${flow}.json`));
  }
}

function remembered<T>(kept: Map<number, Promise<T>>, key: number, load: () => Promise<T>): Promise<T> {
  let value = kept.get(key);
  if (!value) {
    value = load();
    kept.set(key, value);
    if (kept.size > 50) kept.delete(kept.keys().next().value!);
  }
  return value;
}
