// A chart over the time of a run, with the instant of the clock in it. A click goes to that instant.
import uPlot from "uplot";
import { instant } from "../../shared/format";
import type { App } from "../app";
import { el } from "./dom";

export interface Series {
  label: string;
  colour: string;
  values: (number | null)[];
  unit: (value: number) => string;
  dash?: number[];
  fill?: boolean;
  bars?: boolean;
}

export interface Band {
  from: number;
  until: number;
  colour: string;
}

export interface ChartSpec {
  label: string;
  time: number[];
  series: Series[];
  bands?: Band[];
  height?: number;
  axis: (value: number) => string;
}

export class Chart {
  readonly root: HTMLElement;
  private readonly plot: uPlot;
  private readonly cursor: HTMLElement;
  private readonly observer: ResizeObserver;
  private range: readonly [number, number] = [0, 0];

  constructor(
    private readonly app: App,
    spec: ChartSpec,
  ) {
    const { colour } = app.theme;
    this.root = el("figure", { class: "chart" }, el("figcaption", {}, spec.label));
    const box = el("div", { class: "plot" });
    this.root.append(box);
    const axis = { stroke: colour.dim, grid: { stroke: colour.line, width: 1 }, ticks: { stroke: colour.line, width: 1, size: 4 }, font: "11px system-ui" };
    const height = spec.height ?? 120;
    this.plot = new uPlot(
      {
        width: 300,
        height,
        padding: [6, 18, 0, 0],
        scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.06 : 1] } },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 } },
        legend: { live: true },
        axes: [
          { ...axis, size: 24, space: 70, values: (_u, ticks) => ticks.map((t, i) => instant(t, Math.abs((ticks[i + 1] ?? t) - t) || (ticks[1]! - ticks[0]!))) },
          { ...axis, size: 58, space: 26, values: (_u, ticks) => ticks.map((value) => spec.axis(value)) },
        ],
        series: [
          { label: "t", value: (_u, t) => (t === null ? "–" : instant(t, 1)) },
          ...spec.series.map((series): uPlot.Series => ({
            label: series.label,
            stroke: series.colour,
            width: series.bars ? 1 : 1.4,
            points: { show: false },
            value: (_u, value) => (value === null || value === undefined ? "–" : series.unit(value)),
            ...(series.dash ? { dash: series.dash } : {}),
            ...(series.fill ? { fill: `${series.colour}33` } : {}),
            ...(series.bars ? { paths: uPlot.paths.bars!({ size: [1, 6, 1] }), fill: series.colour } : {}),
          })),
        ],
        hooks: { drawClear: [(plot) => paintBands(plot, spec.bands ?? [])], setScale: [() => this.draw()] },
      },
      [spec.time, ...spec.series.map((series) => series.values)] as uPlot.AlignedData,
      box,
    );
    this.cursor = el("div", { class: "now" });
    this.plot.over.append(this.cursor);
    this.plot.over.addEventListener("click", (event) => {
      app.seek(this.plot.posToVal(event.clientX - this.plot.over.getBoundingClientRect().left, "x"));
    });
    this.observer = new ResizeObserver(() => {
      if (box.clientWidth > 0) this.plot.setSize({ width: box.clientWidth, height });
    });
    this.observer.observe(box);
    this.draw();
  }

  /** Follows the clock and the time line. */
  draw(): void {
    if (!this.cursor) return;
    const [min, max] = this.app.range;
    if (min !== this.range[0] || max !== this.range[1]) {
      // Charts show the same part of the run as the time line.
      this.range = [min, max];
      this.plot.setScale("x", { min, max });
      return;
    }
    const x = this.plot.valToPos(this.app.clock.t, "x");
    this.cursor.style.transform = `translateX(${x}px)`;
    this.cursor.hidden = !(x >= 0 && x <= this.plot.over.clientWidth);
  }

  destroy(): void {
    this.observer.disconnect();
    this.plot.destroy();
    this.root.remove();
  }
}

function paintBands(plot: uPlot, bands: readonly Band[]): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.globalAlpha = 0.25;
  for (const band of bands) {
    const x = plot.valToPos(band.from, "x", true);
    ctx.fillStyle = band.colour;
    ctx.fillRect(x, bbox.top, Math.max(1, plot.valToPos(band.until, "x", true) - x), bbox.height);
  }
  ctx.restore();
}
