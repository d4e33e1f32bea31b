// One flow: what it asked for, what it got, and what held it.
import { duration, exactBytes, gbps, grouped, instant, percent, plural, short, visible } from "../../shared/format";
import { focused, type App } from "../app";
import type { Flows, FlowSeries } from "../data/contract";
import type { Run } from "../data/run";
import { Charts } from "../page/chart";
import { el, nameButton, nameOf } from "../page/dom";
import { VirtualList } from "../page/virtual-list";
import { facts, heading, note } from "./facts";
import { flowEnds, flowLabel } from "./flow-name";
import type { Panel } from "./panel";

export class FlowPanel implements Panel {
  private readonly charts: Charts;
  /** Counts what was asked for, so that an answer that comes too late is dropped. */
  private asked = 0;

  constructor(
    private readonly app: App,
    private readonly root: HTMLElement,
  ) {
    this.charts = new Charts(app);
  }

  tick(): void {
    this.charts.draw();
  }

  recolour(): void {
    this.charts.recolour();
  }

  rebuild(): void {
    this.asked++;
    this.charts.clear();
    this.root.replaceChildren();
    const { flow } = this.app.selection;
    const run = focused(this.app);
    const { flows } = run;
    if (flow === null) {
      this.root.append(note("Choose a flow from the list of flows or of victims."));
      return;
    }
    if (flows === null || flows === "absent" || flow >= flows.id.length) {
      this.root.append(note(flows === null ? "Loading flows …" : "This flow is not part of this replay."));
      return;
    }
    const plots = el("div", {}, note("Loading …"));
    const way = this.path(run, flows, flow);
    this.root.append(
      el("h2", {}, flowLabel(flows, flow)),
      el("p", { class: "dim" }, `flow ${String(flows.id[flow])} · `, flowEnds(run, flows, flow), ` · priority ${flows.priority[flow]}`),
      plots,
      flowFacts(flows, flow),
      heading("Path"),
      way,
    );
    void this.load(run, flow, plots, way);
  }

  private path(run: Run, flows: Flows, flow: number): HTMLElement {
    const hops = (flows.paths[flows.path[flow]!] ?? []).map((port) => run.portName(port));
    return el("ol", { class: "hops", "aria-label": "Path" }, ...hops.map((name) => el("li", {}, nameButton(name, () => this.app.selectPort(name)))));
  }

  private async load(run: Run, flow: number, into: HTMLElement, way: HTMLElement): Promise<void> {
    const asked = this.asked;
    const data = await run.flow(flow).catch(() => null);
    if (asked !== this.asked) return;
    into.replaceChildren();
    if (!data) {
      into.append(note(`No course over time: ${run.withoutCourse(flow) ?? "it could not be read"}.`));
      return;
    }
    if (data.time_us.length === 0) into.append(note(`No course over time: ${run.withoutCourse(flow) ?? "nothing was kept"}.`));
    else this.addCharts(into, data);
    this.addVariables(into, data);
    if (run.flows !== null && run.flows !== "absent") addShares(way, run.flows.paths[run.flows.path[flow]!] ?? [], data);
    if (data.held.length === 0) into.append(note("Never held by a paused port."));
    else this.addHeld(into, run, data.held);
  }

  private addCharts(into: HTMLElement, data: FlowSeries): void {
    this.charts.add(into, {
      label: "Rate asked for and delivered; red: held by a paused port",
      axis: gbps,
      height: 130,
      time: data.time_us,
      bands: data.held.map(([from, until]) => ({ from, until, colour: "paused" })),
      series: [
        { label: "asked for", colour: "dim", values: data.asked_gbps, unit: gbps, dash: [4, 3] },
        { label: "delivered", colour: "throughput", values: data.delivered_gbps, unit: gbps },
      ],
    });
    this.charts.add(into, {
      label: "Feedback in each window",
      axis: short,
      height: 84,
      time: data.time_us,
      series: [
        { label: "notifications", colour: "path", values: data.notifications, unit: grouped, bars: true },
        { label: "marked packets", colour: "queue", values: data.marked, unit: grouped, bars: true },
      ],
    });
  }

  private addVariables(into: HTMLElement, { variables }: FlowSeries): void {
    for (const { name, unit, time_us: time, value: values } of variables) {
      const words = visible(name.replaceAll("_", " "));
      const label = `${words} of the scheme${unit === "1" ? "" : `, ${visible(unit)}`}`;
      this.charts.add(into, { label, axis: short, height: 92, time, series: [{ label: words, colour: "path", values, unit: short }] });
    }
  }

  private addHeld(into: HTMLElement, run: Run, held: FlowSeries["held"]): void {
    const list = new VirtualList("When it was held", {
      height: 40,
      fill: (row, i) => {
        const [from, until, port, victim] = held[i]!;
        row.append(
          el("div", {}, el("span", { class: "number" }, instant(from)), el("span", { class: "number" }, duration(until - from))),
          el("div", { class: "dim" }, "at ", nameOf(run.portName(port)), victim ? ", as a victim" : ", its own congestion"),
        );
      },
      chosen: (i) => this.app.seek(held[i]![0]),
    });
    const total = held.reduce((sum, [from, until]) => sum + until - from, 0);
    into.append(heading(`Held ${plural(held.length, "time")}, ${duration(total)}`), list.root);
    list.reset(held.length);
  }
}

/** Beside each port of the path what it carried of the flow, where it shared that with others of its switch. */
function addShares(way: HTMLElement, ports: readonly number[], { links, link_shares: shares }: FlowSeries): void {
  const of = new Map(links.map((port, i) => [port, shares[i]!]));
  ports.forEach((port, i) => {
    const share = of.get(port) ?? 1;
    if (share < 1) way.children[i]?.append(" ", el("span", { class: "number dim" }, percent(share)));
  });
}

function flowFacts(flows: Flows, flow: number): HTMLElement {
  const size = flows.size_bytes[flow] ?? null;
  const start = flows.start_us[flow]!;
  const finish = flows.finish_us[flow] ?? null;
  const ideal = flows.ideal_us[flow] ?? null;
  const slowdown = flows.slowdown[flow] ?? null;
  const goodput = flows.goodput_gbps[flow] ?? null;
  return facts([
    ["size", size === null ? "endless" : exactBytes(size), size ?? -1],
    ["delivered", exactBytes(flows.delivered_bytes[flow]!), flows.delivered_bytes[flow]!],
    ["start", instant(start), start],
    ["finish", finish === null ? "not finished" : instant(finish), finish ?? -1],
    ["took", finish === null ? "–" : duration(finish - start)],
    ["ideal", ideal === null ? "–" : duration(ideal)],
    ["slowdown", slowdown === null ? "–" : `${short(slowdown)}×`, slowdown ?? -1],
    ["goodput", goodput === null ? "–" : gbps(goodput)],
    ["marked packets", grouped(flows.marked[flow]!)],
    ["notifications", grouped(flows.notifications[flow]!)],
    ["retransmitted", grouped(flows.retransmitted[flow]!)],
    ["timeouts", grouped(flows.timeouts[flow]!)],
  ]);
}
