// Egresses that stand still: their lines, and signs that tell them without their colour.
import { bundled, inSight, type Canvas } from "./canvas";
import { FRAMED, laneWidth, strokeLanes } from "./lanes";
import { stoppedFrame } from "./queues";

/** Ports closer together than this have no room for a sign each. */
const SIGNED = 11;

/** The stopped egresses that are drawn one by one. */
export const stoppedInSight = (c: Canvas, paused: ReadonlySet<number>): number[] =>
  [...paused].filter((port) => !bundled(c, port) && inSight(c, port));

export function paintStoppedLanes(c: Canvas, stopped: readonly number[]): void {
  const { screen, theme } = c;
  strokeLanes(c, stopped.filter((port) => laneWidth(c, port) < 2), theme.colour.paused, 1.75, true);
  strokeLanes(c, stopped.filter((port) => laneWidth(c, port) >= 2), theme.colour.paused, 3, true);
  for (const port of stopped) if (screen.pitch[port]! >= FRAMED) stoppedFrame(c, port);
}

export function paintPauseSigns(c: Canvas, stopped: readonly number[]): void {
  const { lane, pitch } = c.screen;
  for (const port of stopped) arrows(c, port);
  for (const port of stopped) {
    if (pitch[port]! >= SIGNED) pauseSign(c, lane[port * 8 + 2]!, lane[port * 8 + 3]!);
  }
}

/** Arrow heads along a stopped lane, against the traffic: the way the tree grows. */
function arrows(c: Canvas, port: number): void {
  const { ctx, screen, theme } = c;
  const { lane } = screen;
  const at = port * 8;
  const x1 = lane[at + 2]!;
  const y1 = lane[at + 3]!;
  const dx = x1 - lane[at + 4]!;
  const dy = y1 - lane[at + 5]!;
  const length = Math.hypot(dx, dy);
  const size = Math.min(5, screen.pitch[port]! * 0.35);
  if (length < 16 || size < 2.5) return;
  const ux = dx / length;
  const uy = dy / length;
  const count = Math.max(1, Math.min(4, Math.floor(length / 60)));
  ctx.fillStyle = theme.colour.paused;
  ctx.beginPath();
  for (let i = 0; i < count; i++) {
    const along = (length * (i + 0.5)) / count;
    const x = x1 - ux * along;
    const y = y1 - uy * along;
    ctx.moveTo(x + ux * size, y + uy * size);
    ctx.lineTo(x - ux * size - uy * size, y - uy * size + ux * size);
    ctx.lineTo(x - ux * size + uy * size, y - uy * size - ux * size);
    ctx.closePath();
  }
  ctx.fill();
}

/** The sign of a pause: two bars, so that it is not told by its colour alone. */
export function pauseSign(c: Canvas, x: number, y: number): void {
  const { ctx, theme } = c;
  ctx.fillStyle = theme.colour.paused;
  ctx.beginPath();
  ctx.roundRect(x - 6, y - 6, 12, 12, 2.5);
  ctx.fill();
  ctx.fillStyle = theme.colour["on-paused"];
  ctx.fillRect(x - 3, y - 3.5, 2, 7);
  ctx.fillRect(x + 1, y - 3.5, 2, 7);
}
