// One plot: uPlot draws the axes and finds the pointer and what is dragged; the scene draws the rest.
import uPlot from "uplot";
import { ground, night } from "../shared/palette";
import { make } from "./dom";
import { type Box, FONT, Pen, type Range, valueAt } from "./pen";
import type { AxisView, Scene } from "./scene";
import { Tip } from "./tip";

export interface Shape {
  height: number;
  /** Without titles of the axes, and with fewer numbers. */
  small: boolean;
  label: string;
}

const TEXT = 12;
/** How far must be dragged before it is meant. */
const LEAST_DRAG = 6;

export class Plot {
  readonly element: HTMLElement;
  private readonly plot: uPlot;
  private readonly tip: Tip;
  private x: Range;
  private y: Range;

  constructor(
    private readonly scene: Scene,
    private readonly shape: Shape,
    /** Told when a part is enlarged, so that neighbours follow. */
    private readonly zoomed: (x: Range, y: Range) => void,
    parent: HTMLElement,
  ) {
    this.x = { ...scene.x };
    this.y = { ...scene.y };
    this.element = make("div", { class: "plot", role: "img", "aria-label": shape.label });
    parent.append(this.element);
    this.plot = new uPlot(this.options(), [[0, 1], [0, 1]], this.element);
    this.tip = new Tip(this.element);
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  redraw(): void {
    this.plot.redraw(false, true);
  }

  /** Shows a part of the axes, or all of them. */
  zoom(x: Range, y: Range): void {
    [this.x, this.y] = [x, y];
    this.plot.batch(() => {
      this.plot.setScale("x", { min: x.low, max: x.high });
      this.plot.setScale("y", { min: y.low, max: y.high });
    });
    this.plot.redraw(false, true);
  }

  private reset(): void {
    this.zoomed({ ...this.scene.x }, { ...this.scene.y });
  }

  private fit(): void {
    const width = Math.floor(this.element.clientWidth);
    if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.shape.height });
  }

  private options(): uPlot.Options {
    const range = (of: () => Range) => () => [of().low, of().high] as uPlot.Range.MinMax;
    const distr = (axis: AxisView): uPlot.Scale.Distr => (axis.log ? 3 : 1);
    return {
      width: Math.max(200, Math.floor(this.element.clientWidth)),
      height: this.shape.height,
      legend: { show: false },
      padding: [8, this.shape.small ? 8 : 14, this.shape.small ? 2 : 0, this.shape.small ? 2 : 0],
      scales: {
        x: { time: false, distr: distr(this.scene.x), range: range(() => this.x) },
        y: { distr: distr(this.scene.y), range: range(() => this.y) },
      },
      series: [{}, { show: false }],
      axes: [this.axis("x"), this.axis("y")],
      cursor: {
        points: { show: false },
        drag: { x: true, y: true, uni: 40, dist: LEAST_DRAG, setScale: false },
        bind: {
          dblclick: () => () => {
            this.reset();
            return null;
          },
        },
      },
      hooks: {
        draw: [(plot) => this.scene.paint(this.pen(plot))],
        setCursor: [(plot) => this.point(plot)],
        setSelect: [(plot) => this.select(plot)],
      },
    };
  }

  private axis(key: "x" | "y"): uPlot.Axis {
    const view = this.scene[key];
    const along = (plot: uPlot) => plot.bbox[key === "x" ? "width" : "height"] / devicePixelRatio;
    const marks = (plot: uPlot) => {
      const { low, high } = key === "x" ? this.x : this.y;
      const room = key === "x" ? 75 : 42;
      return view.marks(low, high, Math.max(2, Math.floor(along(plot) / room)));
    };
    const axis: uPlot.Axis = {
      stroke: () => ground(night.matches).ink,
      font: `${TEXT}px ${FONT}`,
      labelFont: `${TEXT}px ${FONT}`,
      grid: { stroke: () => ground(night.matches).faint, width: 1 },
      ticks: { show: false },
      border: { show: true, stroke: () => ground(night.matches).quiet, width: 1 },
      gap: 4,
      splits: (plot) => marks(plot).map(([at]) => at),
      filter: (_plot, splits) => splits,
      values: (plot) => fitting(marks(plot).map(([, text]) => text), key === "x" ? along(plot) : null),
      size: (_plot, values) => (key === "x" ? 22 : Math.min(170, Math.max(...(values ?? [""]).map(width), 16) + 10)),
    };
    if (this.shape.small && key === "y") return axis;
    const title = () => view.title(...((of) => [of.low, of.high] as const)(key === "x" ? this.x : this.y));
    return title() === "" || this.shape.small ? axis : { ...axis, label: title, labelSize: 20, labelGap: 0 };
  }

  private pen(plot: uPlot): Pen {
    return new Pen(plot.ctx, plot.bbox as Box, this.x, this.y, devicePixelRatio, night.matches);
  }

  private point(plot: uPlot): void {
    const { left, top } = plot.cursor;
    if (left === undefined || top === undefined || left < 0 || top < 0) return this.tip.hide();
    const pen = this.pen(plot);
    const [x, y] = [left * devicePixelRatio + pen.box.left, top * devicePixelRatio + pen.box.top];
    const told = this.scene.tell(pen, x, y);
    if (!told) return this.tip.hide();
    this.tip.show(told, x / devicePixelRatio, y / devicePixelRatio);
  }

  private select(plot: uPlot): void {
    const { left, top, width, height } = plot.select;
    if (width < LEAST_DRAG && height < LEAST_DRAG) return;
    const [wide, high] = [plot.over.clientWidth, plot.over.clientHeight];
    const cut = (of: Range, from: number, to: number): Range => ({ ...of, low: valueAt(of, from), high: valueAt(of, to) });
    const x = width >= LEAST_DRAG && width < wide ? cut(this.x, left / wide, (left + width) / wide) : this.x;
    const y = height >= LEAST_DRAG && height < high ? cut(this.y, 1 - (top + height) / high, 1 - top / high) : this.y;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoomed(x, y);
  }
}

const ruler = document.createElement("canvas").getContext("2d");

function width(text: string): number {
  if (!ruler) return 7 * text.length;
  ruler.font = `${TEXT}px ${FONT}`;
  return Math.ceil(ruler.measureText(text).width);
}

/** Names that are too long for their place are cut; numbers never are, since there are few enough of them. */
function fitting(texts: string[], room: number | null): string[] {
  if (room === null || texts.length === 0) return texts;
  const most = room / texts.length - 8;
  const cut = (text: string): string => {
    if (width(text) <= most || !/[a-z]{3}/i.test(text)) return text;
    let kept = text;
    while (kept.length > 1 && width(`${kept}…`) > most) kept = kept.slice(0, -1);
    return `${kept}…`;
  };
  return texts.map(cut);
}
