// Queues, as bars at the egresses that they wait for.
import { BAR } from "../camera";
import { bundled, inSight, isHost, type Canvas } from "./canvas";

const barWidth = (c: Canvas, port: number): number => Math.max(1, Math.min(8, c.screen.pitch[port]! * 0.36));

/** How much of the first part of a lane a full bar takes. */
const barLength = (c: Canvas, port: number): number => {
  const { lane } = c.screen;
  const length = Math.hypot(lane[port * 8 + 2]! - lane[port * 8]!, lane[port * 8 + 3]! - lane[port * 8 + 1]!);
  return Math.min(1, BAR / Math.max(1, length));
};

/** Adds a bar to the path that is being made: along `share` of the first part of a lane. */
function bar(c: Canvas, port: number, share: number, thick: number): void {
  const { lane } = c.screen;
  const at = port * 8;
  const x0 = lane[at]!;
  const y0 = lane[at + 1]!;
  const dx = (lane[at + 2]! - x0) * share;
  const dy = (lane[at + 3]! - y0) * share;
  // Bars stand upright or lie flat.
  if (Math.abs(dy) >= Math.abs(dx)) c.ctx.rect(x0 - thick / 2, Math.min(y0, y0 + dy), thick, Math.abs(dy));
  else c.ctx.rect(Math.min(x0, x0 + dx), y0 - thick / 2, Math.abs(dx), thick);
}

export function paintQueues(c: Canvas, scale: number): void {
  const { ctx, run, theme } = c;
  const { queue } = run.moment;
  ctx.fillStyle = theme.colour.queue;
  ctx.beginPath();
  for (let port = 0; port < queue.length; port++) {
    const share = Math.min(1, queue[port]! / scale);
    // A host's queue has no place of its own in a group.
    if (share * BAR < 0.5 || (bundled(c, port) && isHost(c, run.nodeOf(port))) || !inSight(c, port)) continue;
    bar(c, port, share * barLength(c, port), barWidth(c, port));
  }
  ctx.fill();
}

/** The frames that bars fill. */
export function paintFrames(c: Canvas, ports: readonly number[]): void {
  const { ctx, theme } = c;
  ctx.strokeStyle = theme.colour["queue-frame"];
  ctx.fillStyle = theme.colour.bg;
  ctx.lineWidth = 1;
  for (const port of ports) {
    ctx.beginPath();
    bar(c, port, barLength(c, port), barWidth(c, port));
    ctx.fill();
    ctx.stroke();
  }
}

export const stoppedFrame = (c: Canvas, port: number): void => strokeFrame(c, port, 1, c.theme.colour.paused, 2);

/** Around the place of a bar: the port is selected, or the pointer is on it. */
export const ring = (c: Canvas, port: number, colour: string, width: number): void => strokeFrame(c, port, 7, colour, width);

function strokeFrame(c: Canvas, port: number, wider: number, colour: string, width: number): void {
  c.ctx.beginPath();
  bar(c, port, barLength(c, port), barWidth(c, port) + wider);
  c.ctx.strokeStyle = colour;
  c.ctx.lineWidth = width;
  c.ctx.stroke();
}
