// One port (in all runs shown), or the ports of one node.
import { bytes, duration, exactBytes, gbps, grouped, instant, percent, plural } from "../../shared/format";
import { focused, type App } from "../app";
import { Chart } from "../page/chart";
import type { PortSeries } from "../data/contract";
import { button, el, nameButton, nameOf } from "../page/dom";
import type { Run } from "../data/run";
import { Stops } from "../data/stops";
import { VirtualList } from "../page/virtual-list";
import { facts, heading, note, type Fact } from "./facts";
import type { Panel } from "./panel";

export class PortPanel implements Panel {
  private charts: Chart[] = [];
  private chain: HTMLElement | null = null;
  private chainOf = -2;
  /** Counts what was asked for, so that an answer that comes too late is dropped. */
  private asked = 0;

  constructor(
    private readonly app: App,
    private readonly root: HTMLElement,
    private readonly showFlowsOf: (port: number) => void,
  ) {}

  rebuild(): void {
    this.asked++;
    for (const chart of this.charts) chart.destroy();
    this.charts = [];
    this.chain = null;
    this.root.replaceChildren();
    const { port, node } = this.app.selection;
    if (port !== null) this.showPort(port);
    else if (node !== null) this.showNode(node);
    else this.root.append(note("Click a port in the picture, or find one by its name above."));
  }

  tick(): void {
    for (const chart of this.charts) chart.draw();
    this.updateChain();
  }

  private showNode(name: string): void {
    const run = focused(this.app);
    const node = run.head.nodes.name.indexOf(name);
    if (node < 0) {
      this.root.append(note("This run has no node of that name."));
      return;
    }
    const ports = run.portsOfNode[node]!;
    const body = el("tbody");
    for (const port of ports) {
      const rows = run.queueRows.get(port) ?? [];
      const peak = Math.max(0, ...rows.map((row) => run.head.queues.queue_peak_bytes[row]!));
      const paused = rows.reduce((sum, row) => sum + run.head.queues.paused_us[row]!, 0);
      const portName = run.portName(port);
      body.append(
        el(
          "tr",
          {},
          el("th", { scope: "row" }, nameButton(portName, () => this.app.selectPort(portName))),
          el("td", {}, bytes(peak)),
          el("td", {}, duration(paused)),
          el("td", {}, percent(run.head.port_totals.utilisation[port] ?? 0)),
        ),
      );
    }
    const head = el("tr", {}, ...["egress", "queue peak", "paused", "utilisation"].map((text) => el("th", { scope: "col" }, text)));
    this.root.append(
      el("h2", {}, nameOf(name)),
      el("p", { class: "dim" }, "layer ", nameOf(run.head.nodes.layer[node] ?? ""), `, ${plural(ports.length, "port")}`),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Ports of the node" }, el("table", {}, el("thead", {}, head), body)),
    );
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
    const plots = el("div", { class: "plots" }, note("Loading …"));
    this.root.append(plots);
    for (const [i, shown] of this.app.runs.entries()) {
      const number = shown.portNumber.get(name);
      if (number === undefined) continue;
      if (this.app.runs.length > 1) this.root.append(el("h3", { class: `run-${i}` }, nameOf(shown.label)));
      this.root.append(portFacts(shown, number));
    }
    this.root.append(button("Flows through this port", () => this.showFlowsOf(port)));
    this.chain = el("div", { class: "chain" });
    this.chainOf = -2;
    this.root.append(this.chain, this.stopList(run, port));
    this.updateChain();
    void this.loadCharts(name, plots);
  }

  private async loadCharts(name: string, into: HTMLElement): Promise<void> {
    const asked = this.asked;
    const shown = this.app.runs.map((run, i) => ({ run, i, port: run.portNumber.get(name) })).filter(({ port }) => port !== undefined);
    const loaded = await Promise.all(shown.map(({ run, port }) => run.port(port!).catch(() => null)));
    if (asked !== this.asked) return;
    const series = shown.map((entry, k) => ({ ...entry, data: loaded[k] ?? null })).filter(({ data }) => data !== null);
    if (series.length === 0) {
      into.replaceChildren(note("What this port did over time is not part of this replay."));
      return;
    }
    const time = longest(series.map(({ data }) => data!));
    const single = this.app.runs.length === 1;
    const { colour } = this.app.theme;
    const label = (run: Run, text: string): string => (single ? text : clean(run.label));
    const pick = (i: number, own: string): string => (single ? own : colour[`run-${i as 0 | 1 | 2}`]);
    const xoff = Math.max(0, ...(series[0]!.run.queueRows.get(series[0]!.port!) ?? []).map((row) => series[0]!.run.head.queues.xoff_bytes[row] ?? 0));
    into.replaceChildren();
    this.add(into, {
      label: "Queue at the end of each window",
      time,
      axis: bytes,
      series: [
        ...series.map(({ run, i, data }) => ({ label: label(run, "queue"), colour: pick(i, colour.queue), values: data!.queue_bytes, unit: bytes, fill: single })),
        ...(xoff > 0 ? [{ label: "xoff of the ingress", colour: colour.paused, values: time.map(() => xoff), unit: bytes, dash: [6, 4] }] : []),
      ],
    });
    this.add(into, {
      label: "Sent",
      time,
      axis: gbps,
      height: 92,
      series: series.map(({ run, i, data }) => ({ label: label(run, "sent"), colour: pick(i, colour.throughput), values: data!.tx_gbps, unit: gbps })),
    });
    this.add(into, {
      label: "Share of each window paused",
      time,
      axis: percent,
      height: 80,
      series: series.map(({ run, i, data }) => ({ label: label(run, "paused"), colour: pick(i, colour.paused), values: data!.paused_share, unit: percent, fill: true })),
    });
    if (series.some(({ data }) => data!.marks.some((marks) => marks > 0))) {
      this.add(into, {
        label: "ECN marks in each window",
        time,
        axis: grouped,
        height: 80,
        series: series.map(({ run, i, data }) => ({ label: label(run, "marks"), colour: pick(i, colour.path), values: data!.marks, unit: grouped })),
      });
    }
  }

  private add(into: HTMLElement, spec: ConstructorParameters<typeof Chart>[1]): void {
    const chart = new Chart(this.app, spec);
    this.charts.push(chart);
    into.append(chart.root);
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

const clean = (text: string): string => nameOf(text).textContent ?? "";

function longest(series: readonly PortSeries[]): number[] {
  return series.reduce((best, next) => (next.time_us.length > best.length ? next.time_us : best), series[0]!.time_us);
}

/** Exact numbers, per priority. */
function portFacts(run: Run, port: number): HTMLElement {
  const root = el("div", { "data-testid": "port-facts", "data-run": run.number });
  const { queues, port_totals: totals } = run.head;
  const all = run.queueRows.get(port) ?? [];
  // A priority that nothing used and that has no threshold says nothing.
  const used = all.filter(
    (row) => queues.queue_peak_bytes[row]! > 0 || queues.ingress_peak_bytes[row]! > 0 || queues.paused_us[row]! > 0 || queues.drops[row]! > 0 || queues.xoff_bytes[row] != null,
  );
  const rows = used.length > 0 ? used : all.slice(0, 1);
  for (const row of rows) {
    const xoff = queues.xoff_bytes[row];
    const headroom = queues.headroom_bytes[row];
    const list: Fact[] = [
      ["queue peak", exactBytes(queues.queue_peak_bytes[row]!), queues.queue_peak_bytes[row]!],
      ["queue mean", exactBytes(Math.round(queues.queue_mean_bytes[row]!)), queues.queue_mean_bytes[row]!],
      ["ingress peak", exactBytes(queues.ingress_peak_bytes[row]!), queues.ingress_peak_bytes[row]!],
      ["xoff", xoff === null || xoff === undefined ? "none" : exactBytes(xoff)],
      ["headroom", headroom === null || headroom === undefined ? "none" : exactBytes(headroom)],
      ["paused", duration(queues.paused_us[row]!), queues.paused_us[row]!],
      ["ECN marks", grouped(queues.marks[row]!), queues.marks[row]!],
      ["drops", grouped(queues.drops[row]!), queues.drops[row]!],
    ];
    if (all.length > 1) root.append(el("h4", {}, `priority ${queues.priority[row]}`));
    root.append(facts(list));
  }
  root.append(
    facts([
      ["sent", bytes(totals.tx_bytes[port] ?? 0), totals.tx_bytes[port] ?? 0],
      ["utilisation", percent(totals.utilisation[port] ?? 0)],
      ["PAUSE frames", grouped(totals.pause_frames[port] ?? 0)],
      ["RESUME frames", grouped(totals.resume_frames[port] ?? 0)],
    ]),
  );
  return root;
}
