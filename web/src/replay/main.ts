// The replay of finished runs: puts the parts together, and draws a frame whenever something changed.
import { duration, instant, plural, visible } from "../shared/format";
import { focused, type App, type Selection } from "./app";
import type { View } from "./network/camera";
import { Clock, speedFor } from "./time/clock";
import type { Index } from "./data/contract";
import { connectControls, type Commands } from "./page/controls";
import { byId, el, nameOf, setText } from "./page/dom";
import { firstRange, interesting } from "./time/interest";
import { AboutPanel } from "./panels/about";
import { FlowPanel } from "./panels/flow";
import { FlowsPanel } from "./panels/flows";
import { PausedPanel } from "./panels/paused";
import { PortPanel } from "./panels/port";
import { VictimsPanel } from "./panels/victims";
import { Picture } from "./network/picture";
import { connectPortSearch } from "./page/port-search";
import { Run } from "./data/run";
import { json, openSource, type Source } from "./data/source";
import { readState, writeState, type ViewState } from "./state";
import { Stops } from "./data/stops";
import { Tabs } from "./page/tabs";
import { ThemeSwitch, type Theme } from "./page/theme";
import { Timeline } from "./time/timeline";
import { showTip } from "./page/tip";

const WHOLE: View = { cx: 0.5, cy: 0.5, zoom: 1 };
const SIDE_BY_SIDE = 3;
/** While playing, what is made of elements changes this often (ms); the pictures change with every frame. */
const PANEL_PERIOD = 200;
const SPEECH_PERIOD = 1500;
const ADDRESS_PERIOD = 500;

class Replay implements App, Commands {
  runs: Run[] = [];
  focus = 0;
  view: View = WHOLE;
  range: [number, number] = [0, 1];
  selection: Selection = { port: null, node: null, flow: null };
  queueScale = 1;
  readonly clock = new Clock(() => this.request("live"));

  private pictures: Picture[] = [];
  private readonly themes = new ThemeSwitch(() => this.themeChanged());
  private readonly timeline = new Timeline(this, byId("timeline"));
  private readonly tabs: Tabs;
  private flowsPanel!: FlowsPanel;
  private watch: [number, number] = [0, 1];

  private waiting: "all" | "live" | null = null;
  private painted: (() => void)[] = [];
  private panelsAt = 0;
  private spokenAt = 0;
  private addressTimer = 0;

  constructor(
    private readonly source: Source,
    private readonly index: Index,
  ) {
    this.tabs = new Tabs(byId("tabs"), byId("panels"), () => this.saveAddress());
    connectControls(this);
    connectPortSearch(() => this.runs[0]?.head.ports.name ?? [], (name) => this.selectPort(name));
    new ResizeObserver(() => this.resize()).observe(byId("stage"));
    addEventListener("hashchange", () => void this.followAddress());
    addEventListener("beforeprint", () => this.resize());
  }

  get theme(): Theme {
    return this.themes.current;
  }

  /** Loads what the first picture needs, draws it, and then loads the rest. */
  async start(): Promise<void> {
    const state = readState(location.hash);
    setText(byId("title"), visible(this.index.title));
    document.title = `${visible(this.index.title)} – xoff replay`;
    this.addPanels();
    await this.open(this.chosenRuns(state), state);
    this.tabs.show(state.tab ?? (state.port !== null || state.node !== null ? "port" : state.flow !== null ? "flow" : "paused"));
    this.chooser();
    await this.frame();
    void this.loadRest();
  }

  private addPanels(): void {
    this.tabs.add("paused", "Paused", (body) => new PausedPanel(this, body));
    this.tabs.add("port", "Port", (body) => new PortPanel(this, body, (port) => this.showFlowsOf(port)));
    this.tabs.add("victims", "Victims", (body) => new VictimsPanel(this, body));
    this.tabs.add("flows", "Flows", (body) => (this.flowsPanel = new FlowsPanel(this, body)));
    this.tabs.add("flow", "Flow", (body) => new FlowPanel(this, body));
    this.tabs.add("about", "Run", (body) => new AboutPanel(this, body));
  }

  private chosenRuns(state: ViewState): number[] {
    const known = [...new Set(state.runs ?? [])].filter((run) => run < this.index.runs.length);
    return known.length > 0 ? known : this.index.runs.map((_, i) => i).slice(0, SIDE_BY_SIDE);
  }

  /** Shows these runs; keeps those that are open already. */
  private async open(numbers: readonly number[], state: ViewState): Promise<void> {
    const open = new Map(this.runs.map((run) => [run.number, run]));
    const label = (i: number): string => this.index.runs[i]!.name;
    this.runs = await Promise.all(numbers.map(async (i) => open.get(i) ?? Run.open(i, label(i), this.source, () => this.request("live"))));
    const first = this.pictures.length === 0;
    this.clock.end = Math.max(...this.runs.map((run) => run.head.end_us));
    this.queueScale = Math.max(...this.runs.map((run) => run.largestQueue));
    setText(byId("queue-scale"), formatScale(this.queueScale));
    if (first) {
      this.watch = interesting(this.runs.flatMap((run) => run.timeline ?? []), this.clock.end);
      this.clock.speed = speedFor(this.watch[1] - this.watch[0]);
      this.clock.t = Math.max(0, this.watch[0] - 0.03 * (this.watch[1] - this.watch[0]));
    }
    this.apply(state);
    for (const picture of this.pictures) picture.destroy();
    this.pictures = this.runs.map((run, i) => new Picture(this, run, i));
    byId("pictures").replaceChildren(...this.pictures.map((picture) => picture.root));
    byId("pictures").dataset["count"] = String(this.runs.length);
    await Promise.all(this.runs.map((run) => this.firstTile(run)));
    this.focusChooser();
    this.resize();
    this.tabs.rebuild();
  }

  private async firstTile(run: Run): Promise<void> {
    const { windowUs, tileWindows } = run.tiles.grid;
    await run.tiles.load(0, Math.floor(Math.min(this.clock.t, run.head.end_us - 1e-6) / (windowUs * tileWindows)));
  }

  private async loadRest(): Promise<void> {
    for (const run of this.runs) {
      if (run.stops !== null) continue;
      await run.loadRest().catch((error: unknown) => console.error(error));
      this.tabs.rebuild();
      this.request("all");
      // What stands in for windows that are not here yet.
      await run.tiles.load(run.head.levels - 1, 0);
    }
  }

  private apply(state: ViewState): void {
    const end = this.clock.end;
    if (state.t !== null) this.clock.t = Math.max(0, Math.min(end, state.t));
    this.range = state.range && state.range[0] < end ? [Math.max(0, state.range[0]), Math.min(end, state.range[1])] : firstRange(this.watch, end);
    this.view = state.camera ? { cx: state.camera[0], cy: state.camera[1], zoom: state.camera[2] } : WHOLE;
    this.selection = { port: state.port, node: state.node, flow: state.flow };
    this.focus = Math.max(0, this.runs.findIndex((run) => run.number === state.run));
  }

  private async followAddress(): Promise<void> {
    if (location.hash.slice(1) === writeState(this.state())) return;
    const state = readState(location.hash);
    await this.open(this.chosenRuns(state), state);
    if (state.tab !== null) this.tabs.show(state.tab);
    await this.loadRest();
  }

  private state(): ViewState {
    const { view } = this;
    return {
      t: this.clock.t,
      range: this.range,
      camera: view.zoom > 1 ? [view.cx, view.cy, view.zoom] : null,
      ...this.selection,
      run: this.runs.length > 1 ? focused(this).number : null,
      runs: this.index.runs.length > 1 ? this.runs.map((run) => run.number) : null,
      tab: this.tabs.shown === "paused" ? null : this.tabs.shown,
    };
  }

  private saveAddress(): void {
    if (this.addressTimer !== 0 || this.runs.length === 0) return;
    this.addressTimer = window.setTimeout(() => {
      this.addressTimer = 0;
      if (this.clock.playing) return;
      try {
        history.replaceState(null, "", `#${writeState(this.state())}`);
      } catch {
        // A browser may forbid it (a page within a page): the view then has no address.
      }
    }, ADDRESS_PERIOD);
  }

  // Frames

  /** Asks for a frame: of everything, or of what depends on the instant. */
  request(what: "all" | "live"): void {
    if (this.waiting === null) requestAnimationFrame((now) => this.draw(now));
    if (this.waiting !== "all") this.waiting = what;
  }

  /** Resolves when the next frame is on the screen. */
  frame(): Promise<void> {
    return new Promise((resolve) => {
      this.painted.push(resolve);
      this.request("live");
    });
  }

  private draw(now: number): void {
    const what = this.waiting;
    this.waiting = null;
    if (this.runs.length === 0) return;
    const { clock } = this;
    clock.advance(now);
    const perFrame = clock.playing ? clock.speed / 30 : 0;
    for (const run of this.runs) {
      run.showAt(clock.t, perFrame);
      // What will be shown in a second, or the tile after this one.
      run.tiles.prefetch(0, clock.t + Math.max(clock.playing ? clock.speed : 0, run.head.window_us * 16));
    }
    const turned = clock.playing && this.turnPage();
    if (what === "all" || turned) {
      for (const picture of this.pictures) picture.drawAll();
      this.timeline.draw();
    } else {
      for (const picture of this.pictures) picture.drawLive();
      this.timeline.drawCursor();
    }
    this.drawControls(now);
    if (clock.playing) this.request("live");
    else this.saveAddress();
    const painted = this.painted;
    this.painted = [];
    // A task of its own runs after the frame has been painted.
    if (painted.length > 0) setTimeout(() => painted.forEach((resolve) => resolve()), 0);
  }

  /** The time line follows the clock out of its range. */
  private turnPage(): boolean {
    const [from, until] = this.range;
    if (this.clock.t <= until && this.clock.t >= from) return false;
    const width = until - from;
    const start = Math.max(0, Math.min(this.clock.end - width, this.clock.t - 0.05 * width));
    this.range = [start, start + width];
    return true;
  }

  private drawControls(now: number): void {
    const { clock } = this;
    const play = byId("play");
    play.classList.toggle("playing", clock.playing);
    play.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
    byId<HTMLSelectElement>("speed").value = String(clock.speed);
    setText(byId("now"), instant(clock.t));
    byId<HTMLInputElement>("time").value = String(clock.t);
    if (clock.playing && now - this.panelsAt < PANEL_PERIOD) return;
    this.panelsAt = now;
    this.tabs.tick();
    const paused = this.runs.map((run) => {
      const count = run.pausedPorts().length;
      return `${this.runs.length > 1 ? `${visible(run.label)}: ` : ""}${count === 0 ? "no port" : plural(count, "port")} paused`;
    });
    byId("time").setAttribute("aria-valuetext", `${instant(clock.t)} of ${instant(clock.end, 1)}, ${paused.join("; ")}`);
    if (now - this.spokenAt < SPEECH_PERIOD) return;
    this.spokenAt = now;
    setText(byId("announce"), paused.join("; "));
  }

  private resize(): void {
    if (this.runs.length === 0) return;
    this.timeline.resize();
    const time = byId<HTMLInputElement>("time");
    time.max = String(this.clock.end);
    for (const picture of this.pictures) picture.resize();
    this.request("all");
  }

  private themeChanged(): void {
    if (this.runs.length === 0) return;
    this.tabs.rebuild();
    this.request("all");
  }

  // Runs

  private chooser(): void {
    if (this.index.runs.length < 2) return;
    const choice = byId<HTMLDetailsElement>("run-choice");
    choice.hidden = false;
    addEventListener("pointerdown", (event) => {
      if (!choice.contains(event.target as Node)) choice.open = false;
    });
    choice.addEventListener("keydown", (event) => {
      if (event.key === "Escape") choice.open = false;
    });
    const boxes = this.index.runs.map((run, i) => {
      const box = el("input", { type: "checkbox", value: i });
      box.checked = this.runs.some((shown) => shown.number === i);
      return { box, row: el("label", {}, box, nameOf(run.name), el("span", { class: "dim" }, ` ${visible(run.scheme)}, seed ${run.seed}`)) };
    });
    const changed = (): void => {
      const chosen = boxes.flatMap(({ box }, i) => (box.checked ? [i] : []));
      for (const { box } of boxes) box.disabled = box.checked ? chosen.length === 1 : chosen.length >= SIDE_BY_SIDE;
      const shown = this.runs.map((run) => run.number);
      if (chosen.join() === shown.join()) return;
      void this.open(chosen, { ...this.state(), run: null }).then(() => this.loadRest());
    };
    for (const { box } of boxes) box.addEventListener("change", changed);
    byId("run-boxes").replaceChildren(...boxes.map(({ row }) => row));
    changed();
  }

  private focusChooser(): void {
    const select = byId<HTMLSelectElement>("focus-run");
    byId("focus-choice").hidden = this.runs.length < 2;
    select.replaceChildren(...this.runs.map((run, i) => el("option", { value: i }, visible(run.label))));
    select.value = String(this.focus);
    select.onchange = () => this.setFocus(Number(select.value));
  }

  setFocus(index: number): void {
    if (index === this.focus || !this.runs[index]) return;
    this.focus = index;
    // A number of a flow means another flow in another run.
    this.selection = { ...this.selection, flow: null };
    byId<HTMLSelectElement>("focus-run").value = String(index);
    this.tabs.rebuild();
    this.request("all");
  }

  // Selection

  private select(selection: Selection, tab: string): void {
    this.selection = selection;
    this.tabs.rebuildAndShow(tab);
    this.request("all");
  }

  selectPort(name: string): void {
    this.select({ port: name, node: null, flow: this.selection.flow }, "port");
  }

  selectNode(name: string): void {
    this.select({ port: null, node: name, flow: this.selection.flow }, "port");
  }

  selectFlow(flow: number): void {
    this.select({ ...this.selection, flow }, "flow");
  }

  clearSelection(): void {
    this.select({ port: null, node: null, flow: null }, this.tabs.shown ?? "paused");
  }

  private showFlowsOf(port: number): void {
    this.flowsPanel.restrict(focused(this).portName(port));
    this.tabs.show("flows");
  }

  tip(lines: readonly string[] | null, x: number, y: number): void {
    showTip(lines, x, y);
  }

  // Time and views

  seek(t: number): void {
    this.clock.seek(t);
  }

  playOrPause(): void {
    if (this.clock.playing) this.clock.pause();
    else this.clock.play(this.watch[0]);
  }

  stepWindow(by: 1 | -1): void {
    this.clock.playing = false;
    const width = focused(this).head.window_us;
    const at = this.clock.t / width;
    // A step leads to the bound of a window, also from within one.
    this.reveal(width * (by > 0 ? Math.floor(at + 1e-6) + 1 : Math.ceil(at - 1e-6) - 1));
  }

  stepPause(by: 1 | -1): void {
    this.clock.playing = false;
    const { t } = this.clock;
    const times = this.runs.flatMap(({ stops }) => {
      const time = stops instanceof Stops ? (by > 0 ? stops.nextAfter(t) : stops.lastBefore(t)) : null;
      return time === null ? [] : [time];
    });
    if (times.length > 0) this.reveal(by > 0 ? Math.min(...times) : Math.max(...times));
  }

  toStart(): void {
    this.reveal(0);
  }

  toEnd(): void {
    this.reveal(this.clock.end);
  }

  setSpeed(speed: number): void {
    this.clock.setSpeed(speed);
  }

  shiftSpeed(by: 1 | -1): void {
    this.clock.shift(by);
    setText(byId("announce"), `${duration(this.clock.speed)} per second`);
  }

  private reveal(t: number): void {
    this.clock.seek(t);
    if (this.turnPage()) this.request("all");
  }

  zoomTime(factor: number): void {
    this.timeline.zoom(factor);
  }

  fitTime(): void {
    this.setRange(0, this.clock.end);
  }

  setRange(from: number, until: number): void {
    const { end } = this.clock;
    const width = Math.max(Math.min(until - from, end), Math.min(end, 0.5));
    const start = Math.max(0, Math.min(end - width, from));
    this.range = [start, start + width];
    this.request("all");
  }

  zoomPicture(factor: number): void {
    this.pictures[0]?.zoom(factor);
  }

  fitPicture(): void {
    this.setView(WHOLE);
  }

  setView(view: View): void {
    this.view = view;
    this.request("all");
  }

  toggleTheme(): void {
    this.themes.toggle();
  }

  /** Where a port is drawn, for tests. */
  portAt(name: string, run: number): { x: number; y: number } | null {
    const picture = this.pictures[run];
    const port = picture?.run.portNumber.get(name);
    return picture && port !== undefined ? picture.portAt(port) : null;
  }
}

function formatScale(value: number): string {
  return value >= 1e6 ? `${(value / 1e6).toPrecision(3)} MB` : `${(value / 1e3).toPrecision(3)} KB`;
}

/** The handle that tests hold; nothing in the page uses it. */
export interface Handle {
  /** Resolved when the first picture is painted. */
  ready: Promise<void>;
  /** When that was, in milliseconds since the navigation. */
  firstPicture: number;
  /** The instant shown, in simulated microseconds. */
  t: number;
  /** Selects a port by name. */
  select(port: string): void;
  /** Where the egress of a port is drawn in the n-th picture, in coordinates of the window. */
  portAt(port: string, picture?: number): { x: number; y: number } | null;
  /** Resolves when the next frame is painted. */
  frame(): Promise<void>;
}

declare global {
  interface Window {
    xoff: Handle;
  }
}

async function open(): Promise<Replay> {
  const source = openSource(document);
  const index = await json<Index>(source, "index.json");
  if (!index || index.runs.length === 0) throw new Error("there is no run in this replay");
  return new Replay(source, index);
}

function begin(): void {
  let replay: Replay | null = null;
  const handle = {
    firstPicture: NaN,
    get t() {
      return replay?.clock.t ?? NaN;
    },
    set t(us: number) {
      replay?.seek(us);
    },
    select: (port: string) => replay?.selectPort(port),
    portAt: (port: string, picture = 0) => replay?.portAt(port, picture) ?? null,
    frame: () => replay?.frame() ?? Promise.resolve(),
  };
  const ready = open().then(async (opened) => {
    replay = opened;
    await opened.start();
    handle.firstPicture = performance.now();
  });
  window.xoff = Object.defineProperty(handle, "ready", { value: ready }) as Handle;
  ready.catch((error: unknown) => {
    console.error(error);
    byId("pictures").replaceChildren(el("p", { role: "alert", class: "failure" }, `This replay cannot be shown: ${visible(String(error instanceof Error ? error.message : error))}`));
  });
}

// Exported, the script is part of the page and may run before the page is complete.
if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
else begin();
