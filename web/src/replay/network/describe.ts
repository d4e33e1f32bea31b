// What the tooltip says of what lies under the pointer.
import { bytes, duration, gbps, percent, visible } from "../../shared/format";
import type { Run } from "../data/run";
import { Stops } from "../data/stops";
import type { Hit } from "./hit";

/** Its name, and what it does at the instant `t`, which the run shows. */
export function describe(run: Run, hit: Hit, t: number): string[] {
  if ("port" in hit) return [...describePort(run, hit.port), ...describeStops(run, hit.port, t)];
  if ("node" in hit) return [visible(run.nodeName(hit.node)), ...describeNodes(run, [hit.node])];
  const { hosts, above } = run.layout.groups[hit.group]!;
  return [`${hosts.length} hosts of ${visible(run.nodeName(above))}`, ...describeNodes(run, hosts), "click to magnify"];
}

function describePort(run: Run, port: number): string[] {
  const { utilisation, queue, marks } = run.moment;
  const rate = run.head.ports.rate_gbps[port]!;
  return [
    visible(run.portName(port)),
    `${gbps(rate * utilisation[port]!)} of ${gbps(rate)} (${percent(utilisation[port]!)})`,
    `queue ${bytes(queue[port]!)}`,
    ...(marks[port]! > 0 ? [`${marks[port]} ECN marks in this window`] : []),
  ];
}

function describeStops(run: Run, port: number, t: number): string[] {
  const { stops } = run;
  if (!(stops instanceof Stops)) return [];
  return run.holding
    .filter((stop) => stops.port[stop] === port)
    .flatMap((stop) => {
      const root = stops.rootPort(stop);
      const since = `paused by ${visible(run.stopperOf(port))} for ${duration(t - stops.from[stop]!)}`;
      return root === null ? [since] : [since, `root: ${visible(run.portName(root))}`];
    });
}

function describeNodes(run: Run, nodes: readonly number[]): string[] {
  const { queue, utilisation } = run.moment;
  const ports = nodes.flatMap((node) => run.portsOfNode[node]!);
  const paused = new Set(run.pausedPorts());
  const sum = (value: (port: number) => number): number => ports.reduce((total, port) => total + value(port), 0);
  return [
    `${ports.filter((port) => paused.has(port)).length} of ${ports.length} egress ports paused`,
    `queued ${bytes(sum((port) => queue[port]!))}`,
    `sending ${gbps(sum((port) => utilisation[port]! * run.head.ports.rate_gbps[port]!))}`,
  ];
}
