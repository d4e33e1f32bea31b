// The look of a curve or bar beside its name: a piece of line with its dashes and marker.
import { ground, night, shown } from "../shared/palette";
import type { Dash, Entry } from "./data";
import { makeSvg } from "./dom";
import { isOpen, SHAPES } from "./pen";

const DASHES: Record<Dash, string> = { solid: "", long: "10 4", short: "5 3", dotted: "2 3" };

/** As `markerPath` draws them, around the middle. */
const OUTLINES = [
  "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0Z",
  "M-3-3H3V3H-3Z",
  "M0-4L3.7 2.7H-3.7Z",
  "M0-4.4L3.7 0L0 4.4L-3.7 0Z",
  "M-1.3-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4V-1.3H-1.3Z",
  "M0 4L3.7-2.7H-3.7Z",
  "M-3.7-1.9L-1.9-3.7L0-1.9L1.9-3.7L3.7-1.9L1.9 0L3.7 1.9L1.9 3.7L0 1.9L-1.9 3.7L-3.7 1.9L-1.9 0Z",
  "M-4.8-2H4.8V2H-4.8Z",
];

export function swatch(entry: Pick<Entry, "colour" | "dash" | "shape">): SVGElement {
  const colour = shown(entry.colour, night.matches);
  const svg = makeSvg("svg", { width: "30", height: "12", viewBox: "-15 -6 30 12", "aria-hidden": "true" });
  if (entry.dash) {
    svg.append(
      makeSvg("path", { d: "M-15 0H15", stroke: colour, "stroke-width": "2", "stroke-dasharray": DASHES[entry.dash] }),
    );
  }
  const outline = { d: OUTLINES[entry.shape % SHAPES] ?? "" };
  const open = { fill: ground(night.matches).paper, stroke: colour, "stroke-width": "1" };
  svg.append(makeSvg("path", isOpen(entry.shape) ? { ...outline, ...open } : { ...outline, fill: colour }));
  return svg;
}
