// The ports of one node, with what was most of each.
import { bytes, duration, percent, plural } from "../../shared/format";
import type { Run } from "../data/run";
import { el, nameButton, nameOf } from "../page/dom";

const COLUMNS = ["egress", "queue peak", "paused", "utilisation"];

export function nodePorts(run: Run, node: number, select: (port: string) => void): Node[] {
  const ports = run.portsOfNode[node]!;
  const head = el("tr", {}, ...COLUMNS.map((text) => el("th", { scope: "col" }, text)));
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, ...ports.map((port) => row(run, port, select))));
  return [
    el("h2", {}, nameOf(run.nodeName(node))),
    el("p", { class: "dim" }, "layer ", nameOf(run.head.nodes.layer[node] ?? ""), `, ${plural(ports.length, "port")}`),
    el("div", { tabindex: 0, role: "region", "aria-label": "Ports of the node" }, table),
  ];
}

function row(run: Run, port: number, select: (port: string) => void): HTMLElement {
  const { queues, port_totals: totals } = run.head;
  const rows = run.queueRows.get(port) ?? [];
  const name = run.portName(port);
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, nameButton(name, () => select(name))),
    el("td", {}, bytes(Math.max(0, ...rows.map((i) => queues.queue_peak_bytes[i]!)))),
    el("td", {}, duration(rows.reduce((sum, i) => sum + queues.paused_us[i]!, 0))),
    el("td", {}, percent(totals.utilisation[port] ?? 0)),
  );
}
