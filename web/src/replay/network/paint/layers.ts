// The three layers that the picture of a network consists of, each from the back to the front.
import { bundled, inSight, type Canvas } from "./canvas";
import { paintBundles, paintGroups } from "./groups";
import { FRAMED, paintTraffic, strokeLanes } from "./lanes";
import { outline, paintDomains, paintHosts, paintSwitches, paintSwitchNames } from "./nodes";
import { paintPauseSigns, paintStoppedLanes, stoppedInSight } from "./pauses";
import { paintFrames, paintQueues, ring } from "./queues";
import { paintRoots, paintTrees } from "./trees";

/** What does not change with time: nodes, names, links without traffic. */
export function paintStill(c: Canvas, path: readonly number[]): void {
  const { ctx, screen, run, theme } = c;
  const lanes = [...run.head.ports.node.keys()].filter((port) => !bundled(c, port) && inSight(c, port));
  paintPath(c, path);
  strokeLanes(c, lanes, theme.colour.idle, 1);
  paintFrames(c, lanes.filter((port) => screen.pitch[port]! >= FRAMED));
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  if (screen.layout.domains.length > 1) paintDomains(c);
  if (screen.near) paintHosts(c);
  else paintGroups(c);
  paintSwitches(c);
}

/** What the instant shows: utilisation, queues, and the congestion trees. `scale`: the queue that fills a bar. */
export function paintLive(c: Canvas, scale: number): void {
  const paused = new Set(c.run.pausedPorts());
  const stopped = stoppedInSight(c, paused);
  paintTraffic(c, paused);
  if (!c.screen.near) paintBundles(c, paused);
  paintQueues(c, scale);
  paintStoppedLanes(c, stopped);
  paintTrees(c);
  // Trees run through switches, and must not hide their names.
  paintSwitchNames(c);
  paintPauseSigns(c, stopped);
  paintRoots(c);
}

export interface Marks {
  port: number | null;
  node: number | null;
  hover: { port: number } | { node: number } | null;
}

/** What is selected, and what the pointer is on. */
export function paintMarks(c: Canvas, marks: Marks): void {
  const { focus } = c.theme.colour;
  if (marks.port !== null) ring(c, marks.port, focus, 2);
  if (marks.node !== null) outline(c, marks.node, focus, 2);
  if (marks.hover && "port" in marks.hover) {
    strokeLanes(c, [marks.hover.port], focus, 1);
    ring(c, marks.hover.port, focus, 1);
  } else if (marks.hover) {
    outline(c, marks.hover.node, focus, 1);
  }
}

/** The path of a flow, as a broad band below what the links show. */
function paintPath(c: Canvas, path: readonly number[]): void {
  const { ctx, run, theme } = c;
  if (path.length === 0) return;
  ctx.save();
  ctx.globalAlpha = 0.55;
  ctx.lineCap = ctx.lineJoin = "round";
  strokeLanes(c, path, theme.colour.path, 11);
  ctx.restore();
  outline(c, run.nodeOf(path[0]!), theme.colour.path, 3);
  outline(c, run.nodeOf(path[path.length - 1]! ^ 1), theme.colour.path, 3);
}
