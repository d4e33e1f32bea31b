// Hosts that are too narrow to be drawn singly: those of a switch as one box, and their links as one bundle.
import { HOST_HEIGHT, type Screen } from "../camera";
import { FONT, SMALL_FONT, type Canvas } from "./canvas";
import { utilisationColour } from "./lanes";
import { pauseSign } from "./pauses";

export const GROUP_HEIGHT = 20;

interface Box {
  left: number;
  right: number;
  top: number;
}

export function groupBox(screen: Screen, hosts: readonly number[]): Box {
  const first = hosts[0]!;
  const half = screen.slot / 2;
  return {
    left: screen.x[first]! - half,
    right: screen.x[hosts[hosts.length - 1]!]! + half,
    top: screen.y[first]! - HOST_HEIGHT / 2,
  };
}

const seen = (c: Canvas, { left, right }: Box): boolean => right >= -20 && left <= c.width + 20;

/** The boxes, with the number of hosts where there is room for it. */
export function paintGroups(c: Canvas): void {
  const { ctx, screen, theme } = c;
  ctx.font = SMALL_FONT;
  for (const { hosts } of screen.layout.groups) {
    const box = groupBox(screen, hosts);
    const { left, right, top } = box;
    if (!seen(c, box)) continue;
    ctx.fillStyle = theme.colour.host;
    ctx.fillRect(left, top, right - left, GROUP_HEIGHT);
    ctx.strokeStyle = theme.colour["node-line"];
    ctx.lineWidth = 1;
    ctx.strokeRect(left - 0.5, top - 0.5, right - left + 1, GROUP_HEIGHT + 1);
    if (right - left <= 34) continue;
    ctx.fillStyle = theme.colour.ink;
    ctx.fillText(right - left > 60 ? `${hosts.length} hosts` : `×${hosts.length}`, (left + right) / 2, top + GROUP_HEIGHT + 9);
  }
}

/** Hosts as narrow columns, and the links to them as one pair of lines. */
export function paintBundles(c: Canvas, paused: ReadonlySet<number>): void {
  for (const group of c.screen.layout.groups) {
    const box = groupBox(c.screen, group.hosts);
    if (!seen(c, box)) continue;
    const load = paintColumns(c, group.hosts, box.top, paused);
    if (group.above >= 0) paintBundle(c, group.above, box, load);
  }
}

interface Load {
  /** Mean utilisation of the links towards the hosts, and from them. */
  down: number;
  up: number;
  /** How many of the hosts are stopped, and the share of all of them. */
  stopped: number;
  stoppedShare: number;
}

/** Of each host the link towards it above, the link from it below. */
function paintColumns(c: Canvas, hosts: readonly number[], top: number, paused: ReadonlySet<number>): Load {
  const { ctx, screen, run, theme } = c;
  const { utilisation } = run.moment;
  const width = Math.max(1, screen.slot * 0.86);
  const half = (port: number, x: number, y: number): void => {
    ctx.fillStyle = paused.has(port) ? theme.colour.paused : utilisationColour(c, utilisation[port]!);
    ctx.fillRect(x, y, width, GROUP_HEIGHT / 2 - 0.5);
  };
  let down = 0;
  let up = 0;
  let stopped = 0;
  for (const host of hosts) {
    const x = screen.x[host]! - width / 2;
    for (const port of run.portsOfNode[host]!) {
      half(port ^ 1, x, top);
      half(port, x, top + GROUP_HEIGHT / 2 + 0.5);
      down += utilisation[port ^ 1]!;
      up += utilisation[port]!;
      if (paused.has(port)) stopped++;
    }
  }
  return { down: down / hosts.length, up: up / hosts.length, stopped, stoppedShare: stopped / hosts.length };
}

/** One line towards the hosts, one from them; with how many of them are stopped. */
function paintBundle(c: Canvas, above: number, { left, right, top }: Box, load: Load): void {
  const { ctx, screen, theme } = c;
  const middle = (left + right) / 2;
  const from = screen.y[above]! + screen.height[above]! / 2;
  // The switch's queues towards the hosts are drawn as bars, behind which that line begins.
  const behindBars = from + 34;
  const line = (x: number, y: number, colour: string, width: number): void => {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x, top);
    ctx.stroke();
  };
  line(middle - 3, behindBars, utilisationColour(c, load.down), 4);
  line(middle + 3, from, utilisationColour(c, load.up), 4);
  if (load.stopped === 0) return;
  line(middle + 3, from, theme.colour.paused, 1.5 + 4.5 * load.stoppedShare);
  if (right - left < 40) return;
  const y = (behindBars + top) / 2;
  pauseSign(c, middle + 14, y);
  ctx.font = FONT;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme.colour.paused;
  ctx.fillText(String(load.stopped), middle + 22, y + 0.5);
}
