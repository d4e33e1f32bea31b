// What there is to know of the run in focus as a whole: what happened in it, and what to keep in mind.
import { duration, grouped, instant } from "../../shared/format";
import { focused, type App } from "../app";
import { button, el, nameOf } from "../page/dom";
import { facts, heading, note } from "./facts";
import type { Panel } from "./panel";

export class AboutPanel implements Panel {
  constructor(
    private readonly app: App,
    private readonly root: HTMLElement,
  ) {}

  tick(): void {}

  rebuild(): void {
    const run = focused(this.app);
    const { head } = run;
    this.root.replaceChildren(el("h2", {}, nameOf(head.name)));
    if (head.failure !== null) {
      const lines = head.failure.trim().split("\n");
      this.root.append(el("div", { class: "failure" }, "The run failed:", ...lines.map((line) => el("p", {}, nameOf(line.trim())))));
    }
    this.root.append(
      facts([
        ["scheme", nameOf(head.scheme)],
        ["seed", grouped(head.seed)],
        ["simulated", duration(head.end_us), head.end_us],
        ["window", duration(head.window_us), head.window_us],
        ["nodes", grouped(head.nodes.name.length)],
        ["ports", grouped(head.ports.name.length)],
      ]),
    );
    const list = el("ul", { class: "events" });
    const { marks } = head;
    for (const mark of marks.slice(0, 500)) {
      const end = mark.until_us === null ? "" : ` for ${duration(mark.until_us - mark.at_us)}`;
      list.append(el("li", {}, button(instant(mark.at_us, 1), () => this.app.seek(mark.at_us), { class: "link number" }), " ", nameOf(mark.text), end));
    }
    if (marks.length > 0) this.root.append(heading("What happened"), list);
    if (head.warnings.length > 0) {
      this.root.append(heading("Warnings"), el("ul", {}, ...head.warnings.map((warning) => el("li", {}, nameOf(warning)))));
    }
    this.root.append(heading("Pause times"), el("p", {}, nameOf(head.pause_times)));
    if (marks.length > 500) this.root.append(note(`${grouped(marks.length - 500)} more are not listed.`));
  }
}
