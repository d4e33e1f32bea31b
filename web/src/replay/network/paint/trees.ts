// Congestion trees: within switches, from what is congested to what it stops; and the roots that they begin at.
import { NONE } from "../../data/contract";
import { Stops } from "../../data/stops";
import { bundled, FONT, inSight, onScreen, type Canvas } from "./canvas";

/** Half the size of the sign of a root. */
const SIGN = 6;
/** The room that its name needs beside it. */
const WORD = 40;
/** With more roots than this, only those that lie far apart are named. */
const NAMED = 6;

/** In each switch: from the egress that stands still, or is congested, to the links that it made the switch stop. */
export function paintTrees(c: Canvas): void {
  const { ctx, run, theme } = c;
  const { stops } = run;
  if (!(stops instanceof Stops)) return;
  ctx.strokeStyle = theme.colour.paused;
  ctx.lineWidth = 2;
  const drawn = new Set<string>();
  ctx.beginPath();
  for (const stop of run.holding) {
    const cause = stops.cause[stop]!;
    const from = cause === NONE ? stops.rootPort(stop) : stops.port[cause]!;
    const effect = stops.port[stop]!;
    // Several priorities of a port have a branch in common.
    const branch = `${from} ${effect}`;
    if (from === null || drawn.has(branch)) continue;
    drawn.add(branch);
    traceBranch(c, from, effect);
  }
  ctx.stroke();
}

/** Through the switch that both belong to: `effect` ends where `from` begins. */
function traceBranch(c: Canvas, from: number, effect: number): void {
  const { ctx, run, screen } = c;
  const { lane } = screen;
  const node = run.nodeOf(from);
  if (node !== run.nodeOf(effect ^ 1) || !onScreen(c, node)) return;
  const half = screen.width[node]! / 2 - 3;
  const inside = (x: number): number => Math.max(screen.x[node]! - half, Math.min(screen.x[node]! + half, x));
  const bus = screen.y[node]! + 7;
  const [x, y] = bundled(c, effect)
    ? [screen.x[node]! + 3, screen.y[node]! + screen.height[node]! / 2]
    : [lane[effect * 8 + 6]!, lane[effect * 8 + 7]!];
  ctx.moveTo(lane[from * 8]!, lane[from * 8 + 1]!);
  ctx.lineTo(inside(lane[from * 8]!), bus);
  ctx.lineTo(inside(x), bus);
  ctx.lineTo(x, y);
}

/** The congested egresses that the trees of this instant begin at. */
export function paintRoots(c: Canvas): void {
  const { run, screen } = c;
  const { stops } = run;
  if (!(stops instanceof Stops)) return;
  const ports = new Set(run.holding.flatMap((stop) => stops.rootPort(stop) ?? []));
  const named = ports.size <= NAMED || screen.slot >= 24;
  for (const port of ports) if (inSight(c, port)) paintRoot(c, port, named);
}

function paintRoot(c: Canvas, port: number, named: boolean): void {
  const { ctx, theme } = c;
  const { lane } = c.screen;
  const x = lane[port * 8 + 2]!;
  const end = lane[port * 8 + 3]!;
  // Behind the bar of its queue, on the side away from the switch.
  const y = end + (end >= lane[port * 8 + 1]! ? SIGN + 1 : -SIGN - 1);
  ctx.beginPath();
  ctx.moveTo(x, y - SIGN);
  ctx.lineTo(x + SIGN, y);
  ctx.lineTo(x, y + SIGN);
  ctx.lineTo(x - SIGN, y);
  ctx.closePath();
  ctx.fillStyle = theme.colour.bg;
  ctx.fill();
  ctx.strokeStyle = theme.colour.paused;
  ctx.lineWidth = 2.5;
  ctx.stroke();
  if (!named) return;
  const after = x + WORD < c.width;
  ctx.font = `600 ${FONT}`;
  ctx.textBaseline = "middle";
  ctx.textAlign = after ? "left" : "right";
  ctx.lineWidth = 3;
  ctx.strokeStyle = theme.colour.bg;
  ctx.strokeText("root", after ? x + 9 : x - 9, y);
  ctx.fillStyle = theme.colour.paused;
  ctx.fillText("root", after ? x + 9 : x - 9, y);
}
