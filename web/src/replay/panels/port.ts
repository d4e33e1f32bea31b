// One port (in all runs shown), or the ports of one node.
import { duration, gbps, instant, plural } from "../../shared/format";
import { focused, type App } from "../app";
import { Charts } from "../page/chart";
import { button, el, nameButton, nameOf } from "../page/dom";
import type { Run } from "../data/run";
import { Stops } from "../data/stops";
import { VirtualList } from "../page/virtual-list";
import { heading, note } from "./facts";
import { nodePorts } from "./node-ports";
import type { Panel } from "./panel";
import { loadCourses, portCharts } from "./port-charts";
import { portFacts } from "./port-facts";

export class PortPanel implements Panel {
  private readonly charts: Charts;
  private chain: HTMLElement | null = null;
  private chainOf = -2;
  /** Counts what was asked for, so that an answer that comes too late is dropped. */
  private asked = 0;

  constructor(
    private readonly app: App,
    private readonly root: HTMLElement,
    private readonly showFlowsOf: (port: number) => void,
  ) {
    this.charts = new Charts(app);
  }

  rebuild(): void {
    this.asked++;
    this.charts.clear();
    this.chain = null;
    this.root.replaceChildren();
    const { port, node } = this.app.selection;
    if (port !== null) this.showPort(port);
    else if (node !== null) this.showNode(node);
    else this.root.append(note("Click a port in the picture, or find one by its name above."));
  }

  tick(): void {
    this.charts.draw();
    this.updateChain();
  }

  recolour(): void {
    this.charts.recolour();
  }

  private showNode(name: string): void {
    const run = focused(this.app);
    const node = run.head.nodes.name.indexOf(name);
    if (node < 0) this.root.append(note("This run has no node of that name."));
    else this.root.append(...nodePorts(run, node, (port) => this.app.selectPort(port)));
  }

  private showPort(name: string): void {
    const run = focused(this.app);
    const port = run.portNumber.get(name);
    if (port === undefined) {
      this.root.append(note("This run has no port of that name."));
      return;
    }
    const peer = run.nodeOf(port ^ 1);
    this.root.append(
      el("h2", { "data-testid": "port-name" }, nameOf(name)),
      el(
        "p",
        { class: "dim" },
        "egress of ",
        nameButton(run.nodeName(run.nodeOf(port)), () => this.app.selectNode(run.nodeName(run.nodeOf(port)))),
        " to ",
        nameButton(run.nodeName(peer), () => this.app.selectNode(run.nodeName(peer))),
        `, ${gbps(run.head.ports.rate_gbps[port]!)} · `,
        nameButton(run.portName(port ^ 1), () => this.app.selectPort(run.portName(port ^ 1)), { title: "other direction of the link" }),
      ),
    );
    const plots = el("div", {}, note("Loading …"));
    this.root.append(plots);
    for (const shown of this.app.runs) {
      const number = shown.portNumber.get(name);
      if (number === undefined) continue;
      if (this.app.runs.length > 1) this.root.append(el("h3", { class: this.app.colourOf(shown) }, nameOf(shown.label)));
      this.root.append(portFacts(shown, number));
    }
    this.root.append(button("Flows through this port", () => this.showFlowsOf(port)));
    this.chain = el("div");
    this.chainOf = -2;
    this.root.append(this.chain, this.stopList(run, port));
    this.updateChain();
    void this.loadCharts(name, plots);
  }

  private async loadCharts(name: string, into: HTMLElement): Promise<void> {
    const asked = this.asked;
    const courses = await loadCourses(this.app.runs, name);
    if (asked !== this.asked) return;
    into.replaceChildren();
    if (courses.length === 0) into.append(note("What this port did over time is not part of this replay."));
    else for (const chart of portCharts(this.app, courses)) this.charts.add(into, chart);
  }

  /** Why it stands still now: from stop to stop, to the root. */
  private updateChain(): void {
    const { chain } = this;
    const name = this.app.selection.port;
    if (!chain || name === null) return;
    const run = focused(this.app);
    const { stops } = run;
    const port = run.portNumber.get(name);
    if (!(stops instanceof Stops) || port === undefined) return;
    const now = run.holding.find((stop) => stops.port[stop] === port) ?? -1;
    if (now === this.chainOf) return;
    this.chainOf = now;
    chain.replaceChildren();
    if (now < 0) {
      chain.append(note("Not paused at this instant."));
      return;
    }
    const list = el("ol", { class: "causes", "data-testid": "chain" });
    for (const stop of stops.chain(now)) {
      const at = run.portName(stops.port[stop]!);
      list.append(
        el("li", {}, nameButton(at, () => this.app.selectPort(at)), " paused by ", nameOf(run.stopperOf(stops.port[stop]!)), ` at ${instant(stops.from[stop]!)}`),
      );
    }
    const root = stops.rootPort(now);
    if (root !== null) {
      const at = run.portName(root);
      list.append(el("li", { class: "root" }, nameButton(at, () => this.app.selectPort(at)), " congested: root of the tree"));
    }
    chain.append(heading("Why it is paused now"), list);
  }

  private stopList(run: Run, port: number): HTMLElement {
    const { stops } = run;
    if (!(stops instanceof Stops)) return note(stops === null ? "Loading pauses …" : "Single pauses are not part of this replay.");
    const own = stops.ofPort(port);
    if (own.length === 0) return note("Never paused.");
    const list = new VirtualList("Pauses of this port", {
      height: 40,
      fill: (row, i) => {
        const stop = own[i]!;
        const root = stops.rootPort(stop);
        row.append(
          el("div", {}, el("span", { class: "number" }, instant(stops.from[stop]!)), el("span", { class: "number" }, duration(stops.until[stop]! - stops.from[stop]!))),
          el(
            "div",
            { class: "dim" },
            "by ",
            nameOf(run.stopperOf(port)),
            `, priority ${stops.priority[stop]}, depth ${stops.depth[stop]}, root `,
            root === null ? "unknown" : nameOf(run.portName(root)),
          ),
        );
      },
      chosen: (i) => this.app.seek(stops.from[own[i]!]!),
    });
    list.reset(own.length);
    return el("div", {}, heading(plural(own.length, "pause")), list.root);
  }
}
