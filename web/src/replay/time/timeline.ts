// The time line: queued bytes, paused ports and throughput of every run shown, with what the scenario did to them.
import { bytes, clipped, gbps, grouped, instant, visible } from "../../shared/format";
import type { App } from "../app";
import { el } from "../page/dom";
import type { Run } from "../data/run";
import { Stops } from "../data/stops";

const AXIS = 18;
const EVENTS = 18;
/** Stops in sight up to which paused ports are drawn from the stops themselves, not from bins. */
const EXACT_STOPS = 6000;

/** More bursts in sight than this are only marked above the traces, which they would cover. */
const SHADED = 12;

const TRACES = [
  { key: "queued_bytes", label: "queued", unit: bytes, colour: "queue", filled: true },
  { key: "paused_ports", label: "paused", unit: (n: number) => grouped(n), colour: "paused", filled: true },
  { key: "tx_gbps", label: "throughput", unit: gbps, colour: "throughput", filled: false },
] as const;

export class Timeline {
  private readonly base: HTMLCanvasElement;
  private readonly top: HTMLCanvasElement;
  private width = 0;
  private height = 0;
  private gutter = 96;
  private readonly fingers = new Map<number, number>();
  private readonly maxima = new Map<string, number>();

  constructor(
    private readonly app: App,
    private readonly root: HTMLElement,
  ) {
    this.base = el("canvas", { "aria-hidden": "true" });
    this.top = el("canvas", { "aria-hidden": "true", class: "cursor" });
    root.replaceChildren(this.base, this.top);
    this.listen();
  }

  /** The runs shown or the size of the page changed. */
  resize(): void {
    const runs = Math.max(1, this.app.runs.length);
    this.width = this.root.clientWidth;
    this.gutter = this.width < 600 ? 78 : 132;
    this.height = AXIS + runs * (EVENTS + TRACES.length * this.traceHeight + 4);
    this.root.style.height = `${this.height}px`;
    for (const canvas of [this.base, this.top]) {
      canvas.width = Math.round(this.width * devicePixelRatio);
      canvas.height = Math.round(this.height * devicePixelRatio);
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${this.height}px`;
    }
    for (const { key } of TRACES) {
      let most = 0;
      for (const run of this.app.runs) for (const value of run.timeline?.[key] ?? []) most = Math.max(most, value);
      this.maxima.set(key, most);
    }
  }

  private get traceHeight(): number {
    const runs = this.app.runs.length;
    return runs <= 1 ? 26 : runs === 2 ? 18 : 14;
  }

  private toX(t: number): number {
    const [from, until] = this.app.range;
    return this.gutter + ((t - from) / (until - from)) * (this.width - this.gutter - 8);
  }

  private toTime(x: number): number {
    const [from, until] = this.app.range;
    return from + ((x - this.gutter) / (this.width - this.gutter - 8)) * (until - from);
  }

  private context(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
    const ctx = canvas.getContext("2d")!;
    ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    ctx.clearRect(0, 0, this.width, this.height);
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    return ctx;
  }

  draw(): void {
    const ctx = this.context(this.base);
    this.axis(ctx);
    let y = AXIS;
    for (const run of this.app.runs) {
      this.events(ctx, run, y);
      y += EVENTS;
      for (const trace of TRACES) {
        this.trace(ctx, run, trace, y);
        y += this.traceHeight;
      }
      y += 4;
    }
    this.drawCursor();
  }

  drawCursor(): void {
    const ctx = this.context(this.top);
    const x = this.toX(this.app.clock.t);
    if (x < this.gutter - 1 || x > this.width) return;
    const { colour } = this.app.theme;
    ctx.fillStyle = colour.focus;
    ctx.fillRect(Math.round(x) - 0.75, AXIS - 4, 1.5, this.height);
    ctx.beginPath();
    ctx.moveTo(x - 6, AXIS - 12);
    ctx.lineTo(x + 6, AXIS - 12);
    ctx.lineTo(x, AXIS - 3);
    ctx.closePath();
    ctx.fill();
  }

  private axis(ctx: CanvasRenderingContext2D): void {
    const [from, until] = this.app.range;
    const { colour } = this.app.theme;
    const step = tickStep((until - from) / Math.max(2, Math.floor((this.width - this.gutter) / 96)));
    ctx.textAlign = "center";
    for (let k = Math.ceil(from / step); k * step <= until; k++) {
      const x = this.toX(k * step);
      ctx.fillStyle = colour.line;
      ctx.fillRect(Math.round(x), AXIS, 1, this.height - AXIS);
      ctx.fillStyle = colour.dim;
      const text = instant(k * step, step);
      const half = ctx.measureText(text).width / 2;
      ctx.fillText(text, Math.min(this.width - half - 2, x), 8);
    }
  }

  /** Bursts as bars, faults as hatched bars or flags. */
  private events(ctx: CanvasRenderingContext2D, run: Run, y: number): void {
    const { colour } = this.app.theme;
    const right = this.width - 8;
    ctx.textAlign = "left";
    if (this.app.runs.length > 1) {
      ctx.fillStyle = colour[this.app.colourOf(run)];
      ctx.fillRect(0, y + 3, 3, EVENTS + TRACES.length * this.traceHeight - 4);
      ctx.fillStyle = colour.ink;
      ctx.font = "600 11px system-ui, sans-serif";
      ctx.fillText(clipped(visible(run.label), this.gutter < 80 ? 8 : 14), 8, y + 8);
      ctx.font = "11px system-ui, sans-serif";
    }
    ctx.save();
    ctx.beginPath();
    ctx.rect(this.gutter, 0, right - this.gutter, this.height);
    ctx.clip();
    const marks = [
      ...run.head.bursts.map((b) => ({ ...b, colour: colour.burst, fault: false })),
      ...run.head.events.map((e) => ({ ...e, colour: colour.fault, fault: true })),
    ].sort((a, b) => a.at_us - b.at_us);
    const [from, until] = this.app.range;
    const inSight = marks.filter((mark) => mark.at_us < until && (mark.until_us ?? mark.at_us) >= from).length;
    let textEnd = -1;
    for (const mark of marks) {
      const x = this.toX(mark.at_us);
      const end = mark.until_us === null ? x + 2 : Math.max(x + 2, this.toX(mark.until_us));
      if (end < this.gutter || x > right) continue;
      ctx.fillStyle = mark.colour;
      if (mark.fault || inSight <= SHADED) {
        ctx.globalAlpha = 0.13;
        ctx.fillRect(x, y + 3, end - x, EVENTS + TRACES.length * this.traceHeight - 4);
        ctx.globalAlpha = 1;
        ctx.fillRect(x, y + 3, 1, EVENTS + TRACES.length * this.traceHeight - 4);
      }
      ctx.beginPath();
      if (mark.fault) {
        ctx.moveTo(x, y + 2);
        ctx.lineTo(x + 9, y + 6);
        ctx.lineTo(x, y + 10);
      } else {
        ctx.rect(x, y + 14, Math.max(3, end - x), 3);
      }
      ctx.fill();
      const at = Math.max(x, this.gutter) + (mark.fault ? 12 : 5);
      if (at > textEnd) {
        const text = clipped(visible(mark.text), 40);
        ctx.fillStyle = colour.ink;
        ctx.fillText(text, at, y + 7);
        textEnd = at + ctx.measureText(text).width + 8;
      }
    }
    ctx.restore();
  }

  private trace(ctx: CanvasRenderingContext2D, run: Run, trace: (typeof TRACES)[number], y: number): void {
    const { colour } = this.app.theme;
    const height = this.traceHeight;
    const most = this.maxima.get(trace.key)!;
    ctx.textAlign = "left";
    ctx.fillStyle = colour.dim;
    const wide = this.gutter > 80;
    ctx.fillText(trace.label, 8, y + height / 2);
    if (wide && height >= 14) {
      ctx.textAlign = "right";
      ctx.fillText(trace.unit(most), this.gutter - 5, y + (height >= 18 ? 7 : height / 2));
    }
    ctx.fillStyle = colour.line;
    ctx.fillRect(this.gutter, y + height - 1, this.width - this.gutter - 8, 1);
    if (most === 0 || !run.timeline) return;
    const exact = trace.key === "paused_ports" ? this.exactPaused(run) : null;
    const points = exact ?? this.binned(run, trace.key);
    const toY = (value: number): number => y + height - 1 - (value / most) * (height - 3);
    const left = this.gutter;
    const right = this.width - 8;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, y, right - left, height);
    ctx.clip();
    ctx.beginPath();
    let last = 0;
    ctx.moveTo(left, toY(0));
    for (let i = 0; i < points.length; i += 2) {
      ctx.lineTo(points[i]!, toY(last));
      last = points[i + 1]!;
      ctx.lineTo(points[i]!, toY(last));
    }
    ctx.lineTo(right, toY(last));
    ctx.strokeStyle = colour[trace.colour];
    ctx.fillStyle = colour[trace.colour];
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

  /** Steps (x, value) of one trace; of bins that fall on the same pixel the largest. */
  private binned(run: Run, key: (typeof TRACES)[number]["key"]): number[] {
    const { timeline } = run;
    const [from, until] = this.app.range;
    const values = timeline![key];
    const bin = timeline!.bin_us;
    const points: number[] = [];
    const end = Math.min(values.length, Math.ceil(until / bin));
    for (let i = Math.max(0, Math.floor(from / bin)); i < end; i++) {
      const x = this.toX(i * bin);
      const n = points.length;
      if (n > 0 && x - points[n - 2]! < 0.7) points[n - 1] = Math.max(points[n - 1]!, values[i]!);
      else points.push(x, values[i]!);
    }
    if (end === values.length) points.push(this.toX(values.length * bin), 0);
    return points;
  }

  /** Paused ports from the stops themselves, where few enough are in sight. */
  private exactPaused(run: Run): number[] | null {
    const { stops } = run;
    if (!(stops instanceof Stops)) return null;
    const [from, until] = this.app.range;
    const first = stops.begun(from);
    const last = stops.begun(until);
    if (last - first > EXACT_STOPS) return null;
    const holding = stops.at(from);
    const changes: [number, number][] = [];
    for (const stop of holding) changes.push([stops.until[stop]!, -1]);
    for (let stop = first; stop < last; stop++) changes.push([stops.from[stop]!, 1], [stops.until[stop]!, -1]);
    changes.sort((a, b) => a[0] - b[0]);
    let count = holding.length;
    const points = [this.gutter, count];
    for (const [t, by] of changes) {
      count += by;
      points.push(this.toX(t), count);
    }
    return points;
  }

  private listen(): void {
    const { top } = this;
    const x = (event: MouseEvent): number => event.clientX - top.getBoundingClientRect().left;
    top.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      top.setPointerCapture(event.pointerId);
      this.fingers.set(event.pointerId, x(event));
      if (this.fingers.size === 1 && !event.shiftKey) this.app.seek(this.toTime(x(event)));
    });
    top.addEventListener("pointermove", (event) => {
      const now = x(event);
      const before = this.fingers.get(event.pointerId);
      if (before === undefined) {
        this.app.tip(now >= this.gutter ? this.describe(now, event.clientY) : null, event.clientX, event.clientY);
        return;
      }
      this.fingers.set(event.pointerId, now);
      const [from, until] = this.app.range;
      if (this.fingers.size === 2) {
        const other = [...this.fingers].find(([id]) => id !== event.pointerId)![1];
        if (Math.abs(now - other) > 4) this.app.zoomTime(Math.abs(before - other) / Math.abs(now - other), this.toTime((now + other) / 2));
      } else if (event.shiftKey) {
        const by = this.toTime(before) - this.toTime(now);
        this.app.setRange(from + by, until + by);
      } else {
        this.app.tip(null, 0, 0);
        this.app.seek(this.toTime(now));
      }
    });
    const lift = (event: PointerEvent): void => void this.fingers.delete(event.pointerId);
    top.addEventListener("pointerup", lift);
    top.addEventListener("pointercancel", lift);
    top.addEventListener("pointerleave", () => this.app.tip(null, 0, 0));
    top.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const pixels = event.deltaMode === 1 ? 30 : 1;
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          const by = this.toTime(event.deltaX + (event.shiftKey ? event.deltaY : 0)) - this.toTime(0);
          this.app.setRange(this.app.range[0] + by, this.app.range[1] + by);
        } else {
          this.app.zoomTime(Math.exp(event.deltaY * pixels * 0.0016), this.toTime(x(event)));
        }
      },
      { passive: false },
    );
  }

  private describe(x: number, clientY: number): string[] | null {
    const t = this.toTime(x);
    const y = clientY - this.top.getBoundingClientRect().top - AXIS;
    const block = EVENTS + TRACES.length * this.traceHeight + 4;
    const run = this.app.runs[Math.max(0, Math.min(this.app.runs.length - 1, Math.floor(y / block)))];
    if (!run?.timeline) return null;
    const bin = Math.max(0, Math.min(run.timeline.queued_bytes.length - 1, Math.floor(t / run.timeline.bin_us)));
    return [
      `${instant(t, run.timeline.bin_us / 10)}${this.app.runs.length > 1 ? ` · ${visible(run.label)}` : ""}`,
      ...TRACES.map(({ key, label, unit }) => `${label} ${unit(run.timeline![key][bin] ?? 0)}`),
      `flows started ${grouped(run.timeline.flows_started[bin] ?? 0)}`,
    ];
  }
}

/** The least of 1, 2, 5 times a power of ten that is not below `least`. */
export function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least * 0.999) return factor * power;
  return 10 * power;
}
