// Courses of a run over time: queued bytes, paused ports, throughput, and the ranks of jobs that wait for the network.
import { bytes, gbps, grouped, short } from "../../shared/format";
import type { TimelineData } from "../data/contract";
import type { Run } from "../data/run";
import { Stops } from "../data/stops";
import type { Theme } from "../page/theme";
import type { Range } from "./range";
import type { Scale } from "./timeline-scale";

const TRACES = [
  { key: "queued_bytes", label: "queued", unit: bytes, colour: "queue", filled: true },
  { key: "paused_ports", label: "paused", unit: (n: number) => grouped(n), colour: "paused", filled: true },
  { key: "tx_gbps", label: "sum of links", unit: gbps, colour: "throughput", filled: false },
  { key: "exposed_ranks", label: "exposed", unit: (n: number) => `${short(n)}\u00a0ranks`, colour: "communication", filled: true },
] as const;

export type Trace = (typeof TRACES)[number];

/** Those that one of the runs has. */
export const tracesOf = (runs: readonly Run[]): readonly Trace[] =>
  TRACES.filter(({ key }) => runs.some((run) => (run.timeline?.[key].length ?? 0) > 0));

/** Stops in sight up to which paused ports are drawn from the stops themselves, not from bins. */
const EXACT_STOPS = 6000;

/** `most`: the value that fills the height, the same in all runs shown. */
export function paintTrace(ctx: CanvasRenderingContext2D, scale: Scale, theme: Theme, run: Run, trace: Trace, range: Range, most: number, y: number): void {
  const { gutter, right, traceHeight: height } = scale;
  paintName(ctx, scale, theme, trace, most, y);
  ctx.fillStyle = theme.colour.line;
  ctx.fillRect(gutter, y + height - 1, right - gutter, 1);
  if (most === 0 || !run.timeline) return;
  const steps = (trace.key === "paused_ports" ? exactPaused(run, scale, range) : null) ?? binned(run.timeline, trace.key, scale, range);
  const toY = (value: number): number => y + height - 1 - (value / most) * (height - 3);
  ctx.save();
  ctx.beginPath();
  ctx.rect(gutter, y, right - gutter, height);
  ctx.clip();
  ctx.beginPath();
  let last = 0;
  ctx.moveTo(gutter, toY(0));
  for (let i = 0; i < steps.length; i += 2) {
    ctx.lineTo(steps[i]!, toY(last));
    last = steps[i + 1]!;
    ctx.lineTo(steps[i]!, toY(last));
  }
  ctx.lineTo(right, toY(last));
  ctx.strokeStyle = ctx.fillStyle = theme.colour[trace.colour];
  if (trace.filled) {
    ctx.lineTo(right, toY(0));
    ctx.closePath();
    ctx.globalAlpha = 0.85;
    ctx.fill();
  } else {
    ctx.lineWidth = 1.25;
    ctx.stroke();
  }
  ctx.restore();
}

function paintName(ctx: CanvasRenderingContext2D, { gutter, traceHeight: height }: Scale, theme: Theme, trace: Trace, most: number, y: number): void {
  ctx.textAlign = "left";
  ctx.fillStyle = theme.colour.dim;
  ctx.fillText(trace.label, 8, y + height / 2);
  if (gutter <= 80) return;
  ctx.textAlign = "right";
  ctx.fillText(trace.unit(most), gutter - 5, y + (height >= 18 ? 7 : height / 2));
}

/** Steps (x, value) of one trace; of bins that fall on the same pixel the largest. */
function binned(timeline: TimelineData, key: Trace["key"], scale: Scale, [from, until]: Range): number[] {
  const { bin_us: bin, [key]: values } = timeline;
  const steps: number[] = [];
  const end = Math.min(values.length, Math.ceil(until / bin));
  for (let i = Math.max(0, Math.floor(from / bin)); i < end; i++) {
    const x = scale.toX(i * bin);
    const n = steps.length;
    if (n > 0 && x - steps[n - 2]! < 0.7) steps[n - 1] = Math.max(steps[n - 1]!, values[i]!);
    else steps.push(x, values[i]!);
  }
  if (end === values.length) steps.push(scale.toX(values.length * bin), 0);
  return steps;
}

/** Paused ports from the stops themselves, where few enough are in sight. */
function exactPaused({ stops }: Run, scale: Scale, [from, until]: Range): number[] | null {
  if (!(stops instanceof Stops)) return null;
  const first = stops.begun(from);
  const last = stops.begun(until);
  if (last - first > EXACT_STOPS) return null;
  const holding = stops.at(from);
  const changes: [number, number][] = [];
  for (const stop of holding) changes.push([stops.until[stop]!, -1]);
  for (let stop = first; stop < last; stop++) changes.push([stops.from[stop]!, 1], [stops.until[stop]!, -1]);
  changes.sort((a, b) => a[0] - b[0]);
  let count = holding.length;
  const steps = [scale.gutter, count];
  for (const [t, by] of changes) {
    count += by;
    steps.push(scale.toX(t), count);
  }
  return steps;
}
