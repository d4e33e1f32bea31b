// The training jobs of the run in focus: what each took, its collectives, and what every rank does at the instant shown.
import { bytes, duration, grouped, percent, plural, short, visible } from "../../shared/format";
import { focused, type App } from "../app";
import { computes, type Activities, type Activity } from "../data/activities";
import type { Job } from "../data/contract";
import type { Run } from "../data/run";
import { el, nameOf, setText } from "../page/dom";
import { VirtualList } from "../page/virtual-list";
import type { Range } from "../time/range";
import { facts, heading, note } from "./facts";
import type { Panel } from "./panel";
import { RankLine } from "./rank-line";

/** One job in the panel. */
interface Section {
  /** Its place in the run. */
  number: number;
  now: HTMLElement;
  list: VirtualList;
  /** By row in sight. */
  rows: WeakMap<HTMLElement, { line: RankLine; doing: HTMLElement }>;
}

export class JobsPanel implements Panel {
  private sections: Section[] = [];
  private range: Range = [0, 0];

  constructor(
    private readonly app: App,
    private readonly root: HTMLElement,
  ) {
    new ResizeObserver(() => this.paint()).observe(root);
  }

  rebuild(): void {
    const run = focused(this.app);
    const { jobs } = run.head;
    this.sections = [];
    this.root.replaceChildren();
    if (jobs.length === 0) this.root.append(note("This run has no training job."));
    else if (run.activities === null) this.root.append(note("Loading jobs …"));
    jobs.forEach((job, number) => this.addJob(run, job, number));
    this.tick();
  }

  tick(): void {
    const { range } = this.app;
    if (range[0] !== this.range[0] || range[1] !== this.range[1]) this.paint();
    for (const section of this.sections) this.update(section);
  }

  recolour(): void {
    this.paint();
  }

  private addJob(run: Run, job: Job, number: number): void {
    this.root.append(el("h2", {}, nameOf(job.name)), jobFacts(job), collectives(job));
    const { activities } = run;
    if (activities === null) return;
    if (activities === "absent") {
      this.root.append(note("What its ranks did is not part of this replay."));
      return;
    }
    const now = el("p", { class: "note", "data-testid": "job-now", "data-job": number });
    const section: Section = { number, now, list: this.rankList(run, activities, number), rows: new WeakMap() };
    this.sections.push(section);
    // A list that is alone has all the room that is left.
    section.list.root.classList.toggle("tall", run.head.jobs.length === 1);
    this.root.append(heading("Ranks"), legend(), now, section.list.root);
    section.list.reset(activities.ranks(number).length);
  }

  private rankList(run: Run, activities: Activities, job: number): VirtualList {
    return new VirtualList(`Ranks of ${visible(run.head.jobs[job]!.name)}`, {
      height: 40,
      fill: (row, rank) => {
        const line = new RankLine(this.app, activities.of(job, rank));
        const doing = el("span", { class: "dim" });
        const name = activities.ranks(job)[rank]!;
        row.append(el("div", { "data-rank": name }, nameOf(name), doing), line.root);
        this.sections.find((section) => section.number === job)?.rows.set(row, { line, doing });
        // It has a width only once it is in the page.
        queueMicrotask(() => line.paint());
        setText(doing, words(activities.at(job, rank, this.app.clock.t)));
      },
      chosen: (rank) => {
        const name = activities.ranks(job)[rank]!;
        if (run.head.nodes.name.includes(name)) this.app.selectNode(name);
      },
    });
  }

  private update({ number, now, list, rows }: Section): void {
    const { activities } = focused(this.app);
    if (activities === null || activities === "absent") return;
    const { t } = this.app.clock;
    list.each((row, rank) => {
      const shown = rows.get(row);
      shown?.line.move();
      if (shown) setText(shown.doing, words(activities.at(number, rank, t)));
    });
    const doing = activities.ranks(number).map((_, rank) => activities.at(number, rank, t));
    const computing = doing.filter((list) => list.some(computes)).length;
    const exposed = doing.filter((list) => list.length > 0 && !list.some(computes)).length;
    const idle = doing.length - computing - exposed;
    setText(now, `Now: ${grouped(computing)} compute, ${grouped(exposed)} only communicate, ${grouped(idle)} idle`);
  }

  private paint(): void {
    this.range = this.app.range;
    for (const { list, rows } of this.sections) list.each((row) => rows.get(row)?.line.paint());
  }
}

const words = (doing: readonly Activity[]): string =>
  doing.length === 0 ? "idle" : [...new Set(doing.map((activity) => activity.name))].join(", ");

function jobFacts(job: Job): HTMLElement {
  return facts([
    ["job time", job.jct_us === null ? "not ended" : duration(job.jct_us), job.jct_us ?? NaN],
    ["ranks", grouped(job.ranks), job.ranks],
    ["exposed", job.exposed_share === null ? duration(job.exposed_us) : percent(job.exposed_share), job.exposed_us],
    ["iterations", grouped(job.iterations), job.iterations],
    ["compute", duration(job.compute_us), job.compute_us],
    ["communication", duration(job.communication_us), job.communication_us],
  ]);
}

const COLUMNS = ["collective", "size", "time", "busbw GB/s", "slowest"];

function collectives(job: Job): HTMLElement {
  const head = el("tr", {}, ...COLUMNS.map((text) => el("th", { scope: "col" }, text)));
  const rows = job.collectives.map((of) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, nameOf(of.name), of.unfinished > 0 ? ` (${plural(of.unfinished, "unfinished", "unfinished")})` : null),
      el("td", {}, bytes(of.bytes)),
      el("td", {}, of.time_us === null ? "–" : duration(of.time_us)),
      el("td", {}, of.busbw_gb_per_s === null ? "–" : short(of.busbw_gb_per_s)),
      el("td", {}, nameOf(of.slowest)),
    ),
  );
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows));
  return el("div", { class: "scrolls", tabindex: 0, role: "region", "aria-label": "Collectives of the job" }, table);
}

const legend = (): HTMLElement =>
  el(
    "p",
    { class: "dim legend" },
    el("span", { class: "key" }, el("span", { class: "compute-key", "aria-hidden": "true" }), "computes"),
    el("span", { class: "key" }, el("span", { class: "communication-key", "aria-hidden": "true" }), "communicates"),
  );
