// A figure that moves, in place of the drawing, which stays for print.
import { night } from "../shared/palette";
import { barScene, dotScene, wantsDots } from "./bars";
import { type ChartData, entries, type Entry } from "./data";
import { isolated, make } from "./dom";
import { legend } from "./legend";
import { lineScene } from "./lines";
import type { Range } from "./pen";
import { Plot, type Shape } from "./plot";
import type { Scene } from "./scene";
import { swatch } from "./swatch";
import { Hidden, view } from "./view";

/** More curves than this in one plot nobody can follow: each gets a plot of its own. */
const MOST_CURVES = 8;

interface Sub {
  title: Node | null;
  label: string;
  scene: Scene;
  height: number;
}

/** How plots stand side by side. */
type Grid = "one" | "pair" | "many";

export class LiveFigure {
  private readonly hidden = new Hidden();
  private readonly entries: Entry[];
  private readonly plots: Plot[] = [];
  private readonly grid = make("div", { class: "plots" });
  /** What small plots have no room to say. */
  private readonly axes = make("p", { class: "note" });
  private apart: boolean;

  constructor(
    private readonly chart: ChartData,
    figure: HTMLElement,
  ) {
    this.entries = entries(chart);
    this.apart = this.canBeApart();
    const live = make("div", { class: "live" });
    live.append(make("h3", {}, isolated(chart.title)));
    if (chart.note) live.append(make("p", { class: "note" }, chart.note));
    live.append(this.tools(), this.axes, this.grid);
    figure.prepend(live);
    figure.classList.add("moves");
    this.build();
    const redraw = () => this.redraw();
    view.onChange(redraw);
    night.addEventListener("change", redraw);
  }

  private canBeApart(): boolean {
    const [only, ...more] = this.chart.panels;
    return only !== undefined && more.length === 0 && only.lines.length > MOST_CURVES;
  }

  private tools(): HTMLElement {
    const tools = make("div", { class: "tools" });
    if (this.entries.length > 0) tools.append(legend(this.entries, this.hidden, () => this.changed()));
    if (this.canBeApart()) tools.append(this.switch());
    return tools;
  }

  /** Between one plot for each curve and one for all. */
  private switch(): HTMLElement {
    const button = make("button", { type: "button", class: "switch" });
    const label = () => (button.textContent = this.apart ? "All in one plot" : "One plot for each");
    button.addEventListener("click", () => {
      this.apart = !this.apart;
      label();
      this.build();
    });
    label();
    return button;
  }

  private changed(): void {
    if (this.apart) this.build();
    else this.redraw();
  }

  private redraw(): void {
    for (const plot of this.plots) plot.redraw();
  }

  private build(): void {
    this.plots.length = 0;
    this.grid.replaceChildren();
    const [subs, grid] = this.subs();
    this.grid.dataset.grid = grid;
    const first = subs[0]?.scene;
    const say = (x: Range, y: Range) => {
      const [along, up] = [first?.x.title(x.low, x.high), first?.y.title(y.low, y.high)];
      this.axes.textContent = grid === "many" ? `${up} over ${along}; all others in grey` : "";
    };
    if (first) say(first.x, first.y);
    const zoomed = (x: Range, y: Range) => {
      for (const plot of this.plots) plot.zoom(x, y);
      say(x, y);
    };
    for (const sub of subs) {
      const cell = make("div", { class: "cell" });
      if (sub.title) cell.append(make("h4", {}, sub.title));
      this.grid.append(cell);
      const shape: Shape = { height: sub.height, small: grid === "many", label: sub.label };
      this.plots.push(new Plot(sub.scene, shape, zoomed, cell));
    }
  }

  private subs(): [Sub[], Grid] {
    if (this.chart.groups.length > 0) return this.barSubs();
    const { chart, entries: all, hidden } = this;
    if (this.apart) return [this.multiples(), "many"];
    const of = (index: number): Sub => {
      const panel = chart.panels[index] as ChartData["panels"][number];
      return {
        title: panel.title ? isolated(panel.title) : null,
        label: [chart.title, panel.title].filter(Boolean).join(", "),
        scene: lineScene({ chart, panel, entries: all, hidden, own: null }),
        height: chart.panels.length > 1 ? 220 : 320,
      };
    };
    return [chart.panels.map((_, index) => of(index)), chart.panels.length > 1 ? "pair" : "one"];
  }

  private multiples(): Sub[] {
    const { chart, entries: all, hidden } = this;
    const panel = chart.panels[0];
    if (!panel) return [];
    const shown = all.filter((entry) => !hidden.has(entry.name));
    return shown.map((entry) => {
      const title = document.createDocumentFragment();
      title.append(swatch(entry), " ", isolated(entry.name));
      const scene = lineScene({ chart, panel, entries: all, hidden, own: entry.name });
      return { title, label: `${chart.title}, ${entry.name}`, scene, height: 150 };
    });
  }

  private barSubs(): [Sub[], Grid] {
    const { chart, entries: all, hidden } = this;
    if (!wantsDots(chart)) {
      const subs = chart.panels.map((panel) => ({
        title: panel.title ? isolated(panel.title) : null,
        label: [chart.title, panel.title].filter(Boolean).join(", "),
        scene: barScene({ chart, panel, entries: all, hidden }),
        height: 300,
      }));
      return [subs, "one"];
    }
    const subs = chart.panels.flatMap((panel) =>
      chart.groups.map((group, index) => ({
        title: isolated([panel.title, group].filter(Boolean).join(", ")),
        label: [chart.title, panel.title, group].filter(Boolean).join(", "),
        scene: dotScene({ chart, panel, entries: all, hidden }, index),
        height: 60 + 18 * all.length,
      })),
    );
    return [subs, subs.length > 1 ? "pair" : "one"];
  }
}
