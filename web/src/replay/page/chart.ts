// A chart over the time of a run, with the instant of the clock in it. A click goes to that instant.
import uPlot from "uplot";
import { instant } from "../../shared/format";
import type { App } from "../app";
import type { Range } from "../time/range";
import { el } from "./dom";
import type { ColourName, Theme } from "./theme";

export interface Series {
  label: string;
  colour: ColourName;
  values: (number | null)[];
  unit: (value: number) => string;
  dash?: number[];
  fill?: boolean;
  bars?: boolean;
}

/** A part of the time with a ground of its own. */
export interface Band {
  from: number;
  until: number;
  colour: ColourName;
}

export interface ChartSpec {
  label: string;
  time: number[];
  series: Series[];
  bands?: Band[];
  height?: number;
  /** What stands at the axis upwards. */
  axis: (value: number) => string;
}

class Chart {
  readonly root: HTMLElement;
  private readonly plot: uPlot;
  private readonly cursor = el("div", { class: "now" });
  private readonly observer: ResizeObserver;
  private range: Range = [0, 0];

  constructor(
    private readonly app: App,
    private readonly spec: ChartSpec,
  ) {
    const box = el("div", { class: "plot" });
    this.root = el("figure", { class: "chart" }, el("figcaption", {}, spec.label), box);
    const options = this.options();
    this.plot = new uPlot(options, [spec.time, ...spec.series.map((series) => series.values)] as uPlot.AlignedData, box);
    this.plot.over.append(this.cursor);
    this.plot.over.addEventListener("click", (event) => {
      app.seek(this.plot.posToVal(event.clientX - this.plot.over.getBoundingClientRect().left, "x"));
    });
    this.observer = new ResizeObserver(() => {
      if (box.clientWidth > 0) this.plot.setSize({ width: box.clientWidth, height: options.height });
    });
    this.observer.observe(box);
    this.draw();
  }

  /** Colours are looked up whenever they are needed, so that a change of them needs no other chart. */
  private options(): uPlot.Options {
    const { app, spec } = this;
    const stroke = (name: ColourName) => (): string => app.theme.colour[name];
    const axis = {
      stroke: stroke("dim"),
      grid: { stroke: stroke("line"), width: 1 },
      ticks: { stroke: stroke("line"), width: 1, size: 4 },
      font: "11px system-ui",
    };
    return {
      // Until the size is known.
      width: 300,
      height: spec.height ?? 120,
      padding: [6, 18, 0, 0],
      scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.06 : 1] } },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 } },
      legend: { live: true },
      axes: [
        { ...axis, size: 24, space: 70, values: (_u, ticks) => ticks.map((t, i) => instant(t, Math.abs((ticks[i + 1] ?? t) - t) || (ticks[1]! - ticks[0]!))) },
        { ...axis, size: 58, space: 26, values: (_u, ticks) => ticks.map((value) => spec.axis(value)) },
      ],
      series: [{ label: "t", value: (_u, t) => (t === null ? "–" : instant(t, 1)) }, ...spec.series.map((series) => this.line(series))],
      hooks: {
        drawClear: [(plot) => paintBands(plot, spec.bands ?? [], app.theme)],
        setScale: [(plot) => this.moveCursor(plot)],
      },
    };
  }

  private line(series: Series): uPlot.Series {
    const colour = (): string => this.app.theme.colour[series.colour];
    return {
      label: series.label,
      stroke: colour,
      width: series.bars ? 1 : 1.4,
      points: { show: false },
      value: (_u, value) => (value === null || value === undefined ? "–" : series.unit(value)),
      ...(series.dash ? { dash: series.dash } : {}),
      ...(series.fill ? { fill: () => `${colour()}33` } : {}),
      ...(series.bars ? { paths: uPlot.paths.bars!({ size: [1, 6, 1] }), fill: colour } : {}),
    };
  }

  /** Follows the clock, and shows the same part of the run as the time line. */
  draw(): void {
    const { range } = this.app;
    if (range[0] === this.range[0] && range[1] === this.range[1]) {
      this.moveCursor(this.plot);
    } else {
      this.range = range;
      this.plot.setScale("x", { min: range[0], max: range[1] });
    }
  }

  private moveCursor(plot: uPlot): void {
    const x = plot.valToPos(this.app.clock.t, "x");
    this.cursor.style.transform = `translateX(${x}px)`;
    this.cursor.hidden = !(x >= 0 && x <= plot.over.clientWidth);
  }

  /** The lines look their colours up; the signs in the legend are elements that do not. */
  recolour(): void {
    const { colour } = this.app.theme;
    const [, ...signs] = this.root.querySelectorAll<HTMLElement>(".u-marker");
    this.spec.series.forEach((series, i) => {
      const sign = signs[i];
      if (!sign) return;
      sign.style.borderColor = colour[series.colour];
      if (series.bars) sign.style.background = colour[series.colour];
      else if (series.fill) sign.style.background = `${colour[series.colour]}33`;
    });
    this.plot.redraw(false, true);
  }

  destroy(): void {
    this.observer.disconnect();
    this.plot.destroy();
    this.root.remove();
  }
}

/** The charts of a panel. */
export class Charts {
  private charts: Chart[] = [];

  constructor(private readonly app: App) {}

  add(into: HTMLElement, spec: ChartSpec): void {
    const chart = new Chart(this.app, spec);
    this.charts.push(chart);
    into.append(chart.root);
  }

  draw(): void {
    for (const chart of this.charts) chart.draw();
  }

  recolour(): void {
    for (const chart of this.charts) chart.recolour();
  }

  clear(): void {
    for (const chart of this.charts) chart.destroy();
    this.charts = [];
  }
}

function paintBands(plot: uPlot, bands: readonly Band[], theme: Theme): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.globalAlpha = 0.25;
  for (const band of bands) {
    const x = plot.valToPos(band.from, "x", true);
    ctx.fillStyle = theme.colour[band.colour];
    ctx.fillRect(x, bbox.top, Math.max(1, plot.valToPos(band.until, "x", true) - x), bbox.height);
  }
  ctx.restore();
}
