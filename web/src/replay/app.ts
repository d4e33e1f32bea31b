// What the parts of the page share: the runs shown, the clock, the view, and what is selected.
import type { View } from "./network/camera";
import type { Clock } from "./time/clock";
import type { Range } from "./time/range";
import type { Run } from "./data/run";
import type { RunColour, Theme } from "./page/theme";

export interface Selection {
  /** Ports and nodes are selected by name, in all runs shown. */
  port: string | null;
  node: string | null;
  /** A flow is selected in the run in focus; its like in another run is found when that comes into focus. */
  flow: number | null;
}

export interface App {
  readonly runs: readonly Run[];
  /** The run that the panels are about, as an index into `runs`. */
  readonly focus: number;
  readonly clock: Clock;
  readonly view: View;
  /** Part of the run that the time line shows. */
  readonly range: Range;
  readonly theme: Theme;
  /** What a run has where several are drawn together, or listed below each other. */
  colourOf(run: Run): RunColour;
  readonly selection: Selection;
  /** The queue that fills a bar, in bytes: the same in all runs shown. */
  readonly queueScale: number;

  seek(t: number): void;
  setFocus(index: number): void;
  setView(view: View): void;
  setRange(from: number, until: number): void;
  zoomTime(factor: number, around: number): void;
  selectPort(name: string): void;
  selectNode(name: string): void;
  selectFlow(flow: number): void;
  clearSelection(): void;
  tip(lines: readonly string[] | null, x: number, y: number): void;
}

export const focused = (app: App): Run => app.runs[app.focus]!;
