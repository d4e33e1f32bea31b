// What the scenario did to a run, above and behind its traces: bursts as bars, faults as flags.
import { clipped, visible } from "../../shared/format";
import type { Run } from "../data/run";
import type { Theme } from "../page/theme";
import type { Range } from "./range";
import { EVENTS, type Scale } from "./timeline-scale";

/** More bursts in sight than this are only marked above the traces, which they would cover. */
const SHADED = 12;

interface Mark {
  at_us: number;
  until_us: number | null;
  text: string;
  fault: boolean;
}

export function paintEvents(ctx: CanvasRenderingContext2D, scale: Scale, theme: Theme, run: Run, range: Range, y: number): void {
  const marks: Mark[] = [
    ...run.head.bursts.map((burst) => ({ ...burst, fault: false })),
    ...run.head.events.map((event) => ({ ...event, fault: true })),
  ].sort((a, b) => a.at_us - b.at_us);
  const inSight = marks.filter((mark) => mark.at_us < range[1] && (mark.until_us ?? mark.at_us) >= range[0]).length;
  ctx.save();
  ctx.beginPath();
  ctx.rect(scale.gutter, 0, scale.right - scale.gutter, scale.height);
  ctx.clip();
  ctx.textAlign = "left";
  let textEnd = -1;
  for (const mark of marks) {
    const x = scale.toX(mark.at_us);
    const end = mark.until_us === null ? x + 2 : Math.max(x + 2, scale.toX(mark.until_us));
    if (end < scale.gutter || x > scale.right) continue;
    ctx.fillStyle = mark.fault ? theme.colour.fault : theme.colour.burst;
    if (mark.fault || inSight <= SHADED) shade(ctx, x, end, y + 3, scale.runHeight - 8);
    sign(ctx, mark, x, end, y);
    // Of texts that would overlap, the first is shown.
    const at = Math.max(x, scale.gutter) + (mark.fault ? 12 : 5);
    if (at <= textEnd) continue;
    const text = clipped(visible(mark.text), 40);
    ctx.fillStyle = theme.colour.ink;
    ctx.fillText(text, at, y + 7);
    textEnd = at + ctx.measureText(text).width + 8;
  }
  ctx.restore();
}

function shade(ctx: CanvasRenderingContext2D, x: number, end: number, y: number, height: number): void {
  ctx.globalAlpha = 0.13;
  ctx.fillRect(x, y, end - x, height);
  ctx.globalAlpha = 1;
  ctx.fillRect(x, y, 1, height);
}

function sign(ctx: CanvasRenderingContext2D, mark: Mark, x: number, end: number, y: number): void {
  ctx.beginPath();
  if (mark.fault) {
    ctx.moveTo(x, y + 2);
    ctx.lineTo(x + 9, y + 6);
    ctx.lineTo(x, y + 10);
  } else {
    ctx.rect(x, y + EVENTS - 4, Math.max(3, end - x), 3);
  }
  ctx.fill();
}
