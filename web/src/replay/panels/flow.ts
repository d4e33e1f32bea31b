// One flow: what it asked for, what it got, and what held it.
import { duration, exactBytes, gbps, grouped, instant, plural, short } from "../../shared/format";
import { focused, type App } from "../app";
import { Chart } from "../page/chart";
import { el, nameButton, nameOf } from "../page/dom";
import { VirtualList } from "../page/virtual-list";
import { facts, heading, note } from "./facts";
import type { Panel } from "./panel";

export class FlowPanel implements Panel {
  private charts: Chart[] = [];
  private asked = 0;

  constructor(
    private readonly app: App,
    private readonly root: HTMLElement,
  ) {}

  tick(): void {
    for (const chart of this.charts) chart.draw();
  }

  rebuild(): void {
    this.asked++;
    for (const chart of this.charts) chart.destroy();
    this.charts = [];
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
    const size = flows.size_bytes[flow] ?? null;
    const finish = flows.finish_us[flow] ?? null;
    const ideal = flows.ideal_us[flow] ?? null;
    const slowdown = flows.slowdown[flow] ?? null;
    const path = el("ol", { class: "hops", "aria-label": "Path" });
    for (const port of flows.paths[flows.path[flow]!] ?? []) {
      const name = run.portName(port);
      path.append(el("li", {}, nameButton(name, () => this.app.selectPort(name))));
    }
    const plots = el("div", { class: "plots" }, note("Loading …"));
    this.root.append(
      el("h2", {}, `Flow ${String(flows.id[flow])} `),
      el("p", { class: "dim" }, nameOf(run.nodeName(flows.src[flow]!)), " to ", nameOf(run.nodeName(flows.dst[flow]!)), ", ", nameOf(flows.texts[flows.label[flow]!] ?? ""), ` · priority ${flows.priority[flow]}`),
      plots,
      facts([
        ["size", size === null ? "endless" : exactBytes(size), size ?? -1],
        ["delivered", exactBytes(flows.delivered_bytes[flow]!), flows.delivered_bytes[flow]!],
        ["start", instant(flows.start_us[flow]!), flows.start_us[flow]!],
        ["finish", finish === null ? "not finished" : instant(finish), finish ?? -1],
        ["took", finish === null ? "–" : duration(finish - flows.start_us[flow]!)],
        ["ideal", ideal === null ? "–" : duration(ideal)],
        ["slowdown", slowdown === null ? "–" : `${short(slowdown)}×`, slowdown ?? -1],
        ["goodput", gbps(flows.goodput_gbps[flow]!)],
        ["marked packets", grouped(flows.marked[flow]!)],
        ["notifications", grouped(flows.notifications[flow]!)],
        ["retransmitted", grouped(flows.retransmitted[flow]!)],
        ["timeouts", grouped(flows.timeouts[flow]!)],
      ]),
      heading("Path"),
      path,
    );
    void this.load(flow, plots);
  }

  private async load(flow: number, into: HTMLElement): Promise<void> {
    const asked = this.asked;
    const run = focused(this.app);
    const data = await run.flow(flow).catch(() => null);
    if (asked !== this.asked) return;
    if (!data) {
      into.replaceChildren(note("What this flow did over time is not part of this replay."));
      return;
    }
    into.replaceChildren();
    const { colour } = this.app.theme;
    const bands = data.held.map(([from, until]) => ({ from, until, colour: colour.paused }));
    if (data.time_us.length === 0) {
      into.append(note("It lived within one window: there is no course over time."));
    } else {
      const rate = { axis: gbps, height: 130, label: "Rate asked for and delivered; red: held by a paused port", time: data.time_us, bands };
      this.add(into, {
        ...rate,
        series: [
          { label: "asked for", colour: colour.dim, values: data.asked_gbps, unit: gbps, dash: [4, 3] },
          { label: "delivered", colour: colour.throughput, values: data.delivered_gbps, unit: gbps },
        ],
      });
      this.add(into, {
        label: "Feedback in each window",
        axis: short,
        height: 84,
        time: data.time_us,
        series: [
          { label: "notifications", colour: colour.path, values: data.notifications, unit: grouped, bars: true },
          { label: "marked packets", colour: colour.queue, values: data.marked, unit: grouped, bars: true },
        ],
      });
    }
    const held = data.held;
    if (held.length === 0) {
      into.append(note("Never held by a paused port."));
      return;
    }
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

  private add(into: HTMLElement, spec: ConstructorParameters<typeof Chart>[1]): void {
    const chart = new Chart(this.app, spec);
    this.charts.push(chart);
    into.append(chart.root);
  }
}

