// What happened to a run, above and behind its traces: bursts and collectives as bars, faults as flags.
import { clipped, visible } from "../../shared/format";
import type { Mark } from "../data/contract";
import type { Run } from "../data/run";
import type { Theme } from "../page/theme";
import type { Range } from "./range";
import { EVENTS, type Scale } from "./timeline-scale";

/** More bars in sight than this are only drawn above the traces, which they would cover. */
const SHADED = 12;

/** A mark where it is drawn. */
interface Drawn {
  mark: Mark;
  x: number;
  end: number;
}

export function paintMarks(ctx: CanvasRenderingContext2D, scale: Scale, theme: Theme, run: Run, range: Range, y: number): void {
  const drawn = run.head.marks
    .filter((mark) => mark.at_us < range[1] && (mark.until_us ?? mark.at_us) >= range[0])
    .map((mark): Drawn => ({ mark, x: scale.toX(mark.at_us), end: endOf(mark, scale) }));
  const shaded = drawn.length <= SHADED;
  ctx.save();
  ctx.beginPath();
  ctx.rect(scale.gutter, 0, scale.right - scale.gutter, scale.height);
  ctx.clip();
  for (const { mark, x, end } of drawn) {
    ctx.fillStyle = colourOf(mark, theme);
    if (isFault(mark) || shaded) shade(ctx, x, end, y + 3, scale.runHeight - 8);
    sign(ctx, mark, x, end, y);
  }
  paintTexts(ctx, scale, theme, drawn, y);
  ctx.restore();
}

const isFault = ({ kind }: Mark): boolean => kind === "fault" || kind === "storm";

const colourOf = (mark: Mark, { colour }: Theme): string =>
  isFault(mark) ? colour.fault : mark.kind === "collective" ? colour.communication : colour.burst;

function endOf({ at_us, until_us }: Mark, scale: Scale): number {
  const x = scale.toX(at_us);
  return until_us === null ? x + 2 : Math.max(x + 2, scale.toX(until_us));
}

/** Of texts that would overlap, those of faults are shown, and then the first. */
function paintTexts(ctx: CanvasRenderingContext2D, scale: Scale, theme: Theme, drawn: readonly Drawn[], y: number): void {
  const taken: Range[] = [];
  ctx.textAlign = "left";
  ctx.fillStyle = theme.colour.ink;
  for (const { mark, x } of [...drawn].sort((a, b) => Number(isFault(b.mark)) - Number(isFault(a.mark)))) {
    const from = Math.max(x, scale.gutter) + (isFault(mark) ? 12 : 5);
    const text = clipped(visible(mark.text), 40);
    const until = from + ctx.measureText(text).width + 8;
    if (taken.some((other) => from < other[1] && other[0] < until)) continue;
    // The flag of a fault stands before its text.
    taken.push([from - 14, until]);
    ctx.fillText(text, from, y + 7);
  }
}

function shade(ctx: CanvasRenderingContext2D, x: number, end: number, y: number, height: number): void {
  ctx.globalAlpha = 0.13;
  ctx.fillRect(x, y, end - x, height);
  ctx.globalAlpha = 1;
  ctx.fillRect(x, y, 1, height);
}

function sign(ctx: CanvasRenderingContext2D, mark: Mark, x: number, end: number, y: number): void {
  ctx.beginPath();
  if (isFault(mark)) {
    ctx.moveTo(x, y + 2);
    ctx.lineTo(x + 9, y + 6);
    ctx.lineTo(x, y + 10);
  } else {
    ctx.rect(x, y + EVENTS - 4, Math.max(3, end - x), 3);
  }
  ctx.fill();
}
