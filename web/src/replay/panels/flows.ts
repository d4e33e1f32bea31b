// All flows of the run in focus: search, order, choose.
import { bytes, duration, grouped, instant, plural, short } from "../../shared/format";
import { focused, type App } from "../app";
import { el, button, nameOf, setText } from "../page/dom";
import { filterFlows, type Order } from "../data/flow-filter";
import { VirtualList } from "../page/virtual-list";
import { flowName } from "./flow-name";
import type { Panel } from "./panel";

const ORDERS: readonly [Order, string][] = [
  ["start", "start"],
  ["slowdown", "slowdown, worst first"],
  ["size", "size, largest first"],
  ["goodput", "goodput, highest first"],
  ["finish", "finish, last first"],
];

export class FlowsPanel implements Panel {
  private readonly search = el("input", { type: "search", id: "flow-search", placeholder: "node, a->b, label or id", autocomplete: "off", spellcheck: "false" });
  private readonly order = el("select", { id: "flow-order" }, ...ORDERS.map(([value, text]) => el("option", { value }, text)));
  private readonly count = el("p", { class: "dim", role: "status" });
  private readonly only = el("p", { hidden: true });
  private readonly list: VirtualList;
  private found: Uint32Array = new Uint32Array(0);
  private port: string | null = null;

  constructor(
    private readonly app: App,
    root: HTMLElement,
  ) {
    this.list = new VirtualList("Flows", {
      height: 40,
      fill: (row, i) => this.fill(row, this.found[i]!),
      chosen: (i) => this.app.selectFlow(this.found[i]!),
    });
    this.list.root.classList.add("tall");
    root.append(
      el("div", { class: "form" }, el("label", { for: "flow-search" }, "Find flows"), this.search, el("label", { for: "flow-order" }, "Order"), this.order),
      this.only,
      this.count,
      this.list.root,
    );
    this.search.addEventListener("input", () => this.refresh());
    this.order.addEventListener("change", () => this.refresh());
  }

  tick(): void {}

  rebuild(): void {
    this.refresh();
  }

  /** Only flows that cross this port; null: all. */
  restrict(port: string | null): void {
    this.port = port;
    this.refresh();
  }

  private refresh(): void {
    const run = focused(this.app);
    const { flows } = run;
    this.only.hidden = this.port === null;
    if (this.port !== null) {
      this.only.replaceChildren("through ", nameOf(this.port), " ", button("show all", () => this.restrict(null)));
    }
    if (flows === null || flows === "absent") {
      setText(this.count, flows === null ? "Loading flows …" : "Flows are not part of this replay.");
      this.list.reset(0);
      return;
    }
    const port = this.port === null ? null : (run.portNumber.get(this.port) ?? -1);
    this.found = filterFlows(flows, run.head.nodes.name, { text: this.search.value, port, order: this.order.value as Order });
    setText(this.count, this.found.length === flows.id.length ? plural(flows.id.length, "flow") : `${grouped(this.found.length)} of ${plural(flows.id.length, "flow")}`);
    this.list.reset(this.found.length);
    const { flow } = this.app.selection;
    this.list.setActive(flow === null ? -1 : this.found.indexOf(flow), false);
  }

  private fill(row: HTMLElement, flow: number): void {
    const run = focused(this.app);
    const { flows } = run;
    if (flows === null || flows === "absent") return;
    const size = flows.size_bytes[flow] ?? null;
    const finish = flows.finish_us[flow] ?? null;
    const slowdown = flows.slowdown[flow] ?? null;
    const life = `${instant(flows.start_us[flow]!, 1)}${finish === null ? ", not finished" : `, took ${duration(finish - flows.start_us[flow]!)}`}`;
    const without = run.withoutCourse(flow);
    row.title = without === null ? "" : `No course over time: ${without}`;
    row.append(
      el("div", {}, flowName(run, flows, flow), el("span", { class: "number" }, slowdown === null ? "" : `${short(slowdown)}×`)),
      el("div", { class: "dim" }, `flow ${String(flows.id[flow])} · ${size === null ? "endless" : bytes(size)} · ${life}${without === null ? "" : " · no course"}`),
    );
  }
}
