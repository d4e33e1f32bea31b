// What is paused at the instant shown, in order of beginning: what the picture shows, as a list.
import { duration, instant, plural } from "../../shared/format";
import type { App } from "../app";
import { el, nameButton, nameOf, setText } from "../page/dom";
import type { Run } from "../data/run";
import { Stops } from "../data/stops";
import { note } from "./facts";
import type { Panel } from "./panel";

/** A deadlock of a large network pauses more ports than anyone reads. */
const SHOWN = 80;

interface Section {
  run: Run;
  heading: HTMLElement;
  list: HTMLElement;
  more: HTMLElement;
  items: Map<number, { root: HTMLElement; since: HTMLElement }>;
}

export class PausedPanel implements Panel {
  private sections: Section[] = [];

  constructor(
    private readonly app: App,
    private readonly root: HTMLElement,
  ) {}

  rebuild(): void {
    this.sections = [];
    this.root.replaceChildren();
    for (const run of this.app.runs) {
      const heading = el(this.app.runs.length > 1 ? "h4" : "h3", {});
      const list = el("ol", { class: "paused-list", "data-testid": "paused-list", "data-run": run.number });
      const more = note("");
      if (this.app.runs.length > 1) this.root.append(el("h3", { class: this.app.colourOf(run) }, nameOf(run.label)));
      this.root.append(heading, list, more);
      if (run.stops === "absent") this.root.append(note("Single pauses are not part of this replay."));
      this.sections.push({ run, heading, list, more, items: new Map() });
    }
    this.tick();
  }

  tick(): void {
    for (const section of this.sections) this.update(section);
  }

  private update({ run, heading, list, more, items }: Section): void {
    const { stops } = run;
    if (!(stops instanceof Stops)) {
      setText(heading, stops === null ? "Loading pauses …" : "Paused now");
      return;
    }
    const { t } = this.app.clock;
    setText(heading, run.holding.length === 0 ? "No port is paused" : `${plural(run.holding.length, "pause")} in force`);
    const shown = run.holding.slice(0, SHOWN);
    const wanted = new Set(shown);
    for (const [stop, item] of items) {
      if (wanted.has(stop)) continue;
      item.root.remove();
      items.delete(stop);
    }
    let after: Element | null = null;
    for (const stop of shown) {
      let item = items.get(stop);
      if (!item) {
        item = this.item(run, stops, stop);
        items.set(stop, item);
      }
      const next: Element | null = after === null ? list.firstElementChild : after.nextElementSibling;
      if (next !== item.root) list.insertBefore(item.root, next);
      setText(item.since, duration(t - stops.from[stop]!));
      after = item.root;
    }
    setText(more, run.holding.length > SHOWN ? `and ${plural(run.holding.length - SHOWN, "more")}` : "");
  }

  private item(run: Run, stops: Stops, stop: number): { root: HTMLElement; since: HTMLElement } {
    const port = stops.port[stop]!;
    const rootPort = stops.rootPort(stop);
    const since = el("span", { class: "number" });
    const name = run.portName(port);
    const root = el(
      "li",
      { "data-port": name, "data-stop": stop, "data-root": rootPort === null ? null : run.portName(rootPort) },
      el("div", {}, nameButton(name, () => this.app.selectPort(name)), since),
      el(
        "div",
        { class: "dim" },
        `since ${instant(stops.from[stop]!)} by `,
        nameOf(run.stopperOf(port)),
        ", root ",
        rootPort === null ? "unknown" : nameOf(run.portName(rootPort)),
      ),
    );
    return { root, since };
  }
}
