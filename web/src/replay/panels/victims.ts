// Flows that a congestion tree stopped although they do not cross its root.
import { bytes, duration, percent, plural } from "../../shared/format";
import { focused, type App } from "../app";
import { el, nameOf } from "../page/dom";
import { VirtualList } from "../page/virtual-list";
import { note } from "./facts";
import { flowName } from "./flow-name";
import type { Panel } from "./panel";

export class VictimsPanel implements Panel {
  constructor(
    private readonly app: App,
    private readonly root: HTMLElement,
  ) {}

  tick(): void {}

  rebuild(): void {
    const run = focused(this.app);
    const { victims, flows } = run;
    this.root.replaceChildren();
    if (victims === null || victims === "absent") {
      this.root.append(note(victims === null ? "Loading victims …" : "Victims are not part of this replay."));
      return;
    }
    if (victims.total === 0) {
      this.root.append(note("No flow was stopped by a congestion tree whose root it does not cross."));
      return;
    }
    const shown = victims.victims.length;
    this.root.append(
      note(`${plural(victims.total, "flow")} stopped by a congestion tree whose root ${victims.total === 1 ? "it does" : "they do"} not cross${shown < victims.total ? `; the worst ${shown}` : ""}.`),
    );
    const list = new VirtualList("Victims, worst first", {
      height: 56,
      fill: (row, i) => {
        const victim = victims.victims[i]!;
        const known = flows !== null && flows !== "absent";
        const name = known ? flowName(run, flows, victim.flow) : el("span", {}, `flow ${victim.flow}`);
        row.append(
          el("div", {}, name, el("span", { class: "number", "data-value": victim.lost_bytes }, `lost ${bytes(victim.lost_bytes)}`)),
          el("div", { class: "dim" }, `held ${duration(victim.held_us)} (${percent(victim.held_share)} of its life) by ${plural(victim.stops, "pause")}`),
          el("div", { class: "dim" }, "root ", nameOf(run.portName(victim.root_port))),
        );
      },
      chosen: (i) => this.app.selectFlow(victims.victims[i]!.flow),
    });
    list.root.classList.add("tall");
    this.root.append(list.root);
    list.reset(shown);
  }
}
