// The replay of finished runs: holds what is looked at, and has it drawn whenever it changed.
import { visible } from "../shared/format";
import { Address } from "./address";
import { focused, type App, type Selection } from "./app";
import type { Flows } from "./data/contract";
import { counterpart } from "./data/flow-match";
import type { Loader } from "./data/loader";
import type { Run } from "./data/run";
import { Frames, type Extent } from "./frames";
import { WHOLE, type View } from "./network/camera";
import { Picture } from "./network/picture";
import { connectControls, type ViewCommands } from "./page/controls";
import { byId, setText } from "./page/dom";
import { connectPortSearch } from "./page/port-search";
import { Readout } from "./page/readout";
import { connectFocusChoice, connectRunChoice, showFocusChoice, SIDE_BY_SIDE } from "./page/run-choice";
import { Tabs } from "./page/tabs";
import { runColours, ThemeSwitch, type RunColour, type Theme } from "./page/theme";
import { showTip } from "./page/tip";
import { addPanels } from "./panels/all";
import type { ViewState } from "./state";
import type { Clock } from "./time/clock";
import type { Range } from "./time/range";
import { Timeline } from "./time/timeline";
import { Transport } from "./time/transport";

/** While playing, what is made of elements changes this often (ms); the pictures change with every frame. */
const PANEL_PERIOD = 200;

export class Replay implements App, ViewCommands {
  runs: Run[] = [];
  focus = 0;
  view: View = WHOLE;
  selection: Selection = { port: null, node: null, flow: null };
  queueScale = 1;
  /** When the first picture was painted, in milliseconds since the navigation. */
  firstPicture = NaN;

  private readonly frames = new Frames((extent, now) => this.draw(extent, now));
  private readonly time = new Transport(
    (extent) => this.frames.request(extent),
    () => focused(this).head.window_us,
  );
  private readonly themes = new ThemeSwitch(() => this.themeChanged());
  private readonly timeline = new Timeline(this, byId("timeline"));
  private readonly tabs = new Tabs(byId("tabs"), byId("panels"), () => this.address.save());
  private readonly readout = new Readout();
  // While it plays, the address would change all the time.
  private readonly address = new Address(
    () => (this.runs.length === 0 || this.clock.playing ? null : this.state()),
    (state) => void this.follow(state),
  );
  /** The flow that was looked at in another run, until the flows of this one are there to find it among. */
  private sought: { flows: Flows; flow: number } | null = null;
  private pictures: Picture[] = [];
  private colours: RunColour[] = [];
  private panelsAt = 0;

  constructor(private readonly loader: Loader) {
    connectControls(this.time, this);
    connectPortSearch(() => this.runs[0]?.head.ports.name ?? [], (name) => this.selectPort(name));
    connectFocusChoice((index) => this.setFocus(index));
    new ResizeObserver(() => this.resize()).observe(byId("stage"));
    addEventListener("beforeprint", () => this.resize());
  }

  get theme(): Theme {
    return this.themes.current;
  }

  colourOf(run: Run): RunColour {
    return this.colours[this.runs.indexOf(run)] ?? "run-0";
  }

  // Runs

  /** Draws the first picture, completes it, and leaves the rest to be loaded. */
  async start(): Promise<void> {
    const { index } = this.loader;
    const state = this.address.read();
    setText(byId("title"), visible(index.title));
    document.title = `${visible(index.title)} – xoff replay`;
    addPanels(this.tabs, this);
    await this.open(this.runsOf(state), state);
    this.tabs.show(state.tab ?? (state.port !== null || state.node !== null ? "port" : state.flow !== null ? "flow" : this.firstTab));
    connectRunChoice(
      index,
      () => this.runs.map((run) => run.number),
      (numbers) => void this.choose(numbers),
    );
    await this.frame();
    this.firstPicture = performance.now();
    await this.complete();
    void this.loadRest();
  }

  /** Shows other runs, and in the first of them the flow that was looked at. */
  private async choose(numbers: readonly number[]): Promise<void> {
    const sought = this.lookedAt();
    await this.open(numbers, { ...this.state(), run: null, flow: null });
    this.sought = sought;
    await this.complete();
    await this.loadRest();
  }

  private runsOf(state: ViewState): number[] {
    const all = [...this.loader.index.runs.keys()];
    const known = [...new Set(state.runs ?? [])].filter((run) => run < all.length);
    return known.length > 0 ? known : all.slice(0, SIDE_BY_SIDE);
  }

  /** Shows these runs; keeps those that are open already. */
  private async open(numbers: readonly number[], state: ViewState): Promise<void> {
    this.runs = await this.loader.runs(numbers, this.runs, () => this.frames.request("live"));
    this.colours = runColours(numbers);
    this.queueScale = Math.max(...this.runs.map((run) => run.largestQueue));
    this.apply(state);
    this.readout.setScales(this.clock.end, this.queueScale);
    for (const picture of this.pictures) picture.destroy();
    this.pictures = this.runs.map((run, i) => new Picture(this, run, i));
    byId("pictures").replaceChildren(...this.pictures.map((picture) => picture.root));
    byId("pictures").dataset["count"] = String(this.runs.length);
    await this.loader.firstTiles(this.runs, this.clock.t);
    showFocusChoice(this.runs, this.focus);
    this.resize();
    this.tabs.offer("jobs", this.haveJobs);
    this.tabs.rebuild();
  }

  private get haveJobs(): boolean {
    return this.runs.some((run) => run.head.jobs.length > 0);
  }

  private get firstTab(): string {
    return this.haveJobs ? "jobs" : "paused";
  }

  /** Adds pauses and trees to the pictures; resolves when they are painted. */
  private async complete(): Promise<void> {
    await this.loader.stops(this.runs);
    this.moreCame();
    await this.frame();
  }

  private loadRest(): Promise<void> {
    return this.loader.rest(this.runs, () => this.moreCame());
  }

  private moreCame(): void {
    this.findFlow();
    this.tabs.rebuild();
    this.frames.request("all");
  }

  setFocus(index: number): void {
    if (index === this.focus || !this.runs[index]) return;
    const sought = this.lookedAt();
    this.focus = index;
    // A number of a flow means another flow in another run.
    this.selection = { ...this.selection, flow: null };
    this.sought = sought;
    this.findFlow();
    showFocusChoice(this.runs, index);
    this.tabs.rebuild();
    this.frames.request("all");
  }

  /** The flow that is selected, or about to be. */
  private lookedAt(): { flows: Flows; flow: number } | null {
    const { flows } = focused(this);
    const { flow } = this.selection;
    return flow !== null && flows !== null && flows !== "absent" ? { flows, flow } : this.sought;
  }

  /** Selects the flow that was looked at in another run, once it can be found. */
  private findFlow(): void {
    const { sought } = this;
    const { flows } = focused(this);
    if (sought === null || flows === null) return;
    this.sought = null;
    this.selection = { ...this.selection, flow: flows === "absent" ? null : counterpart(sought.flows, sought.flow, flows) };
  }

  // What is looked at, as the address tells it

  private apply({ t, range, camera, port, node, flow, run }: ViewState): void {
    this.time.open(this.runs, t, range);
    this.view = camera ? { cx: camera[0], cy: camera[1], zoom: camera[2] } : WHOLE;
    this.sought = null;
    this.selection = { port, node, flow };
    this.focus = Math.max(0, this.runs.findIndex((shown) => shown.number === run));
  }

  private state(): ViewState {
    const { cx, cy, zoom } = this.view;
    return {
      t: this.clock.t,
      range: this.range,
      camera: zoom > 1 ? [cx, cy, zoom] : null,
      ...this.selection,
      run: this.runs.length > 1 ? focused(this).number : null,
      runs: this.loader.index.runs.length > 1 ? this.runs.map((run) => run.number) : null,
      tab: this.tabs.shown === this.firstTab ? null : this.tabs.shown,
    };
  }

  private async follow(state: ViewState): Promise<void> {
    await this.open(this.runsOf(state), state);
    if (state.tab !== null) this.tabs.show(state.tab);
    await this.complete();
    await this.loadRest();
  }

  // Frames

  frame(): Promise<void> {
    return this.frames.next();
  }

  private draw(extent: Extent, now: number): void {
    if (this.runs.length === 0) return;
    const { clock } = this;
    clock.advance(now);
    for (const run of this.runs) {
      run.showAt(clock.t, clock.playing ? clock.speed / 30 : 0);
      // What will be shown in a second, or the tile after this one.
      run.tiles.prefetch(0, clock.t + Math.max(clock.playing ? clock.speed : 0, run.head.window_us * 16));
    }
    const turned = clock.playing && this.time.turnPage();
    if (extent === "all" || turned) {
      for (const picture of this.pictures) picture.drawAll();
      this.timeline.draw();
    } else {
      for (const picture of this.pictures) picture.drawLive();
      this.timeline.drawCursor();
    }
    this.readout.draw(clock);
    if (!clock.playing || now - this.panelsAt >= PANEL_PERIOD) {
      this.panelsAt = now;
      this.tabs.tick();
      this.readout.describe(clock, this.runs, now);
    }
    if (clock.playing) this.frames.request("live");
    else this.address.save();
  }

  private resize(): void {
    if (this.runs.length === 0) return;
    this.timeline.resize();
    for (const picture of this.pictures) picture.resize();
    this.frames.request("all");
  }

  // Selection

  private select(selection: Selection, tab: string): void {
    this.sought = null;
    this.selection = selection;
    this.tabs.rebuildAndShow(tab);
    this.frames.request("all");
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
    this.select({ port: null, node: null, flow: null }, this.tabs.shown ?? this.firstTab);
  }

  tip(lines: readonly string[] | null, x: number, y: number): void {
    showTip(lines, x, y);
  }

  // Time

  get clock(): Clock {
    return this.time.clock;
  }

  get range(): Range {
    return this.time.range;
  }

  seek(t: number): void {
    this.time.seek(t);
  }

  setRange(from: number, until: number): void {
    this.time.setRange(from, until);
  }

  zoomTime(factor: number, around: number): void {
    this.time.zoomTime(factor, around);
  }

  // Pictures

  zoomPicture(factor: number): void {
    this.pictures[0]?.zoom(factor);
  }

  fitPicture(): void {
    this.setView(WHOLE);
  }

  setView(view: View): void {
    this.view = view;
    this.frames.request("all");
  }

  toggleTheme(): void {
    this.themes.toggle();
  }

  private themeChanged(): void {
    if (this.runs.length === 0) return;
    this.tabs.recolour();
    this.frames.request("all");
  }

  /** Where a port is drawn, for tests. */
  portAt(name: string, run: number): { x: number; y: number } | null {
    const picture = this.pictures[run];
    const port = picture?.run.portNumber.get(name);
    return picture && port !== undefined ? picture.portAt(port) : null;
  }
}
