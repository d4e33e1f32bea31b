// What a plot shows: its axes, how it is drawn, and what is under the pointer.
import type { Pen, Range } from "./pen";

export interface AxisView extends Range {
  title: (low: number, high: number) => string;
  marks: (low: number, high: number, wanted: number) => [number, string][];
}

/** A line of what is told about a place. */
export interface Row {
  name: string;
  text: string;
  colour: string | null;
  shape: number | null;
  /** What the pointer is at. */
  near: boolean;
}

export interface Told {
  head: string;
  rows: Row[];
}

export interface Scene {
  x: AxisView;
  y: AxisView;
  paint(pen: Pen): void;
  /** At a place of the page, in the pixels of the canvas; null where there is nothing to tell. */
  tell(pen: Pen, x: number, y: number): Told | null;
}
