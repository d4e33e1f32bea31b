// The time line: queued bytes, paused ports and throughput of every run shown, with what the scenario did to them.
import { clipped, grouped, instant, visible } from "../../shared/format";
import type { App } from "../app";
import type { Run } from "../data/run";
import { el } from "../page/dom";
import { paintMarks } from "./timeline-marks";
import { AXIS, EVENTS, FONT, Scale, tickStep } from "./timeline-scale";
import { paintTrace, tracesOf, type Trace } from "./timeline-traces";

export class Timeline {
  private readonly scale: Scale;
  private readonly base = el("canvas", { "aria-hidden": "true" });
  /** Changes with every frame while it plays. */
  private readonly top = el("canvas", { "aria-hidden": "true", class: "cursor" });
  private readonly fingers = new Map<number, number>();
  private readonly maxima = new Map<Trace["key"], number>();

  constructor(
    private readonly app: App,
    private readonly root: HTMLElement,
  ) {
    this.scale = new Scale(app);
    root.replaceChildren(this.base, this.top);
    this.listen();
  }

  /** The runs shown or the size of the page changed. */
  resize(): void {
    const { scale } = this;
    scale.resize(this.root.clientWidth);
    this.root.style.height = `${scale.height}px`;
    for (const canvas of [this.base, this.top]) {
      canvas.width = Math.round(scale.width * devicePixelRatio);
      canvas.height = Math.round(scale.height * devicePixelRatio);
      canvas.style.width = `${scale.width}px`;
      canvas.style.height = `${scale.height}px`;
    }
    for (const { key } of tracesOf(this.app.runs)) {
      let most = 0;
      for (const run of this.app.runs) for (const value of run.timeline?.[key] ?? []) most = Math.max(most, value);
      this.maxima.set(key, most);
    }
  }

  draw(): void {
    const ctx = this.context(this.base);
    this.drawAxis(ctx);
    this.app.runs.forEach((run, i) => this.drawRun(ctx, run, AXIS + i * this.scale.runHeight));
    this.drawCursor();
  }

  drawCursor(): void {
    const ctx = this.context(this.top);
    const { scale } = this;
    const x = scale.toX(this.app.clock.t);
    if (x < scale.gutter - 1 || x > scale.width) return;
    ctx.fillStyle = this.app.theme.colour.focus;
    ctx.fillRect(Math.round(x) - 0.75, AXIS - 4, 1.5, scale.height);
    ctx.beginPath();
    ctx.moveTo(x - 6, AXIS - 12);
    ctx.lineTo(x + 6, AXIS - 12);
    ctx.lineTo(x, AXIS - 3);
    ctx.closePath();
    ctx.fill();
  }

  private context(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
    const ctx = canvas.getContext("2d")!;
    ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    ctx.clearRect(0, 0, this.scale.width, this.scale.height);
    ctx.font = FONT;
    ctx.textBaseline = "middle";
    return ctx;
  }

  private drawAxis(ctx: CanvasRenderingContext2D): void {
    const [from, until] = this.app.range;
    const { colour } = this.app.theme;
    const { scale } = this;
    const step = tickStep((until - from) / Math.max(2, Math.floor((scale.width - scale.gutter) / 96)));
    ctx.textAlign = "center";
    for (let k = Math.ceil(from / step); k * step <= until; k++) {
      const x = scale.toX(k * step);
      ctx.fillStyle = colour.line;
      ctx.fillRect(Math.round(x), AXIS, 1, scale.height - AXIS);
      ctx.fillStyle = colour.dim;
      const text = instant(k * step, step);
      const half = ctx.measureText(text).width / 2;
      ctx.fillText(text, Math.min(scale.width - half - 2, x), 8);
    }
  }

  private drawRun(ctx: CanvasRenderingContext2D, run: Run, y: number): void {
    const { scale } = this;
    const { range, theme } = this.app;
    if (this.app.runs.length > 1) this.drawLabel(ctx, run, y);
    paintMarks(ctx, scale, theme, run, range, y);
    tracesOf(this.app.runs).forEach((trace, i) => {
      paintTrace(ctx, scale, theme, run, trace, range, this.maxima.get(trace.key)!, y + EVENTS + i * scale.traceHeight);
    });
  }

  private drawLabel(ctx: CanvasRenderingContext2D, run: Run, y: number): void {
    const { colour } = this.app.theme;
    ctx.textAlign = "left";
    ctx.fillStyle = colour[this.app.colourOf(run)];
    ctx.fillRect(0, y + 3, 3, this.scale.runHeight - 8);
    ctx.fillStyle = colour.ink;
    ctx.font = `600 ${FONT}`;
    ctx.fillText(clipped(visible(run.label), this.scale.gutter < 80 ? 8 : 14), 8, y + 8);
    ctx.font = FONT;
  }

  private listen(): void {
    const { top, fingers, scale } = this;
    top.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      top.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, this.place(event));
      if (fingers.size === 1 && !event.shiftKey) this.app.seek(scale.toTime(this.place(event)));
    });
    top.addEventListener("pointermove", (event) => this.move(event));
    const lift = (event: PointerEvent): void => void fingers.delete(event.pointerId);
    top.addEventListener("pointerup", lift);
    top.addEventListener("pointercancel", lift);
    top.addEventListener("pointerleave", () => this.app.tip(null, 0, 0));
    top.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  private place(event: MouseEvent): number {
    return event.clientX - this.top.getBoundingClientRect().left;
  }

  private move(event: PointerEvent): void {
    const { app, fingers, scale } = this;
    const now = this.place(event);
    const before = fingers.get(event.pointerId);
    if (before === undefined) {
      app.tip(now >= scale.gutter ? this.describe(now, event.clientY) : null, event.clientX, event.clientY);
      return;
    }
    fingers.set(event.pointerId, now);
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)![1];
      if (Math.abs(now - other) > 4) app.zoomTime(Math.abs(before - other) / Math.abs(now - other), scale.toTime((now + other) / 2));
    } else if (event.shiftKey) {
      this.shift(before - now);
    } else {
      app.tip(null, 0, 0);
      app.seek(scale.toTime(now));
    }
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.shift(event.deltaX + (event.shiftKey ? event.deltaY : 0));
    } else {
      this.app.zoomTime(Math.exp(event.deltaY * pixels * 0.0016), this.scale.toTime(this.place(event)));
    }
  }

  private shift(pixels: number): void {
    const by = this.scale.toTime(pixels) - this.scale.toTime(0);
    this.app.setRange(this.app.range[0] + by, this.app.range[1] + by);
  }

  private describe(x: number, clientY: number): string[] | null {
    const { runs } = this.app;
    const t = this.scale.toTime(x);
    const y = clientY - this.top.getBoundingClientRect().top - AXIS;
    const run = runs[Math.max(0, Math.min(runs.length - 1, Math.floor(y / this.scale.runHeight)))];
    if (!run?.timeline) return null;
    const { timeline } = run;
    const bin = Math.max(0, Math.min(timeline.queued_bytes.length - 1, Math.floor(t / timeline.bin_us)));
    return [
      `${instant(t, timeline.bin_us / 10)}${runs.length > 1 ? ` · ${visible(run.label)}` : ""}`,
      ...tracesOf([run]).map(({ key, label, unit }) => `${label} ${unit(timeline[key][bin] ?? 0)}`),
      `flows started ${grouped(timeline.flows_started[bin] ?? 0)}`,
    ];
  }
}
