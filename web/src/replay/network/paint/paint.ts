// How a network is drawn, on a canvas whose units are CSS pixels.
import { clipped, visible } from "../../../shared/format";
import type { Screen } from "../camera";
import { BAR, HOST_HEIGHT } from "../camera";
import { NONE } from "../../data/contract";
import type { Run } from "../../data/run";
import { Stops } from "../../data/stops";
import { UTILISATION_STEPS, type Theme } from "../../page/theme";

type Ctx = CanvasRenderingContext2D;

export interface Canvas {
  ctx: Ctx;
  screen: Screen;
  run: Run;
  theme: Theme;
  width: number;
  height: number;
}

export const FONT = "11px system-ui, sans-serif";
// Long paths of many lines are slow to fill in software; short ones cost a call each.
const LINES_PER_PATH = 48;
const IDLE = 0.005;

const isHost = (c: Canvas, node: number): boolean => c.screen.layout.row[node] === 0;

/** Links to hosts become one bundle when hosts become one group. */
function bundled(c: Canvas, port: number): boolean {
  if (c.screen.near) return false;
  const node = c.run.nodeOf(port);
  const peer = c.run.nodeOf(port ^ 1);
  const group = c.screen.layout.groupOf[isHost(c, node) ? node : peer]!;
  return group >= 0 && c.screen.layout.groups[group]!.above >= 0;
}

/** Whether any of a lane is in the picture. */
function inSight(c: Canvas, port: number): boolean {
  const { lane } = c.screen;
  const at = port * 8;
  const x0 = lane[at]!;
  const x3 = lane[at + 6]!;
  const y0 = Math.min(lane[at + 1]!, lane[at + 3]!);
  const y3 = Math.min(lane[at + 7]!, lane[at + 5]!);
  if (Math.max(x0, x3) < -8 || Math.min(x0, x3) > c.width + 8) return false;
  return Math.max(lane[at + 1]!, lane[at + 7]!) > -8 && Math.min(y0, y3) < c.height + 8;
}

function trace(c: Canvas, port: number, behindBar: boolean): void {
  const { lane } = c.screen;
  const at = port * 8;
  if (behindBar) {
    c.ctx.moveTo(lane[at + 2]!, lane[at + 3]!);
  } else {
    c.ctx.moveTo(lane[at]!, lane[at + 1]!);
    c.ctx.lineTo(lane[at + 2]!, lane[at + 3]!);
  }
  c.ctx.lineTo(lane[at + 4]!, lane[at + 5]!);
  c.ctx.lineTo(lane[at + 6]!, lane[at + 7]!);
}

function strokeLanes(c: Canvas, ports: readonly number[], colour: string, width: number, behindBars = false): void {
  if (ports.length === 0) return;
  c.ctx.strokeStyle = colour;
  c.ctx.lineWidth = width;
  for (let i = 0; i < ports.length; i += LINES_PER_PATH) {
    c.ctx.beginPath();
    for (let k = i; k < Math.min(ports.length, i + LINES_PER_PATH); k++) {
      trace(c, ports[k]!, behindBars && c.screen.pitch[ports[k]!]! >= FRAMED);
    }
    c.ctx.stroke();
  }
}

const laneWidth = (c: Canvas, port: number): number => Math.max(1, Math.min(3.5, c.screen.pitch[port]! * 0.16));
const barWidth = (c: Canvas, port: number): number => Math.max(1, Math.min(8, c.screen.pitch[port]! * 0.36));
/** Ports further apart than this have a frame around their bar, and the line begins behind it. */
const FRAMED = 9;

/** What does not change with time: nodes, names, links without traffic. */
export function paintStill(c: Canvas, path: readonly number[]): void {
  const { ctx, screen, run, theme } = c;
  const { colour } = theme;
  const lanes: number[] = [];
  for (let port = 0; port < run.head.ports.node.length; port++) if (!bundled(c, port) && inSight(c, port)) lanes.push(port);
  flowPath(c, path);
  strokeLanes(c, lanes, colour.idle, 1);
  ctx.strokeStyle = colour["queue-frame"];
  ctx.lineWidth = 1;
  for (const port of lanes) if (screen.pitch[port]! >= FRAMED) frame(c, port);

  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  if (screen.layout.domains.length > 1) domains(c);
  screen.near ? hosts(c) : groups(c);
  for (let node = 0; node < screen.x.length; node++) {
    if (!isHost(c, node) && onScreen(c, node)) box(c, node, colour.node, 3);
  }
}

/** Names of switches, on top of the trees that run through them; of a wide switch, where it can be seen. */
function switchNames(c: Canvas): void {
  const { ctx, screen, run, theme } = c;
  ctx.font = FONT;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.lineWidth = 3;
  ctx.lineJoin = "round";
  ctx.strokeStyle = theme.colour.node;
  ctx.fillStyle = theme.colour.ink;
  for (let node = 0; node < screen.x.length; node++) {
    const half = screen.width[node]! / 2;
    if (isHost(c, node) || half < 12 || !onScreen(c, node)) continue;
    const left = Math.max(0, screen.x[node]! - half);
    const right = Math.min(c.width, screen.x[node]! + half);
    const text = clipped(visible(run.nodeName(node)), Math.max(1, Math.floor((2 * half - 8) / 6.2)));
    const x = right - left > 40 ? (left + right) / 2 : screen.x[node]!;
    ctx.strokeText(text, x, screen.y[node]! - 5);
    ctx.fillText(text, x, screen.y[node]! - 5);
  }
}

const onScreen = (c: Canvas, node: number): boolean =>
  c.screen.x[node]! + c.screen.width[node]! / 2 > -20 && c.screen.x[node]! - c.screen.width[node]! / 2 < c.width + 20;

function box(c: Canvas, node: number, fill: string, radius: number): void {
  const { ctx, screen } = c;
  const w = screen.width[node]!;
  const h = screen.height[node]!;
  ctx.beginPath();
  ctx.roundRect(screen.x[node]! - w / 2, screen.y[node]! - h / 2, w, h, Math.min(radius, w / 3));
  ctx.fillStyle = fill;
  ctx.fill();
  ctx.strokeStyle = c.theme.colour["node-line"];
  ctx.lineWidth = 1;
  ctx.stroke();
}

function hosts(c: Canvas): void {
  const { ctx, screen, run, theme } = c;
  ctx.font = "10px system-ui, sans-serif";
  // All upright or all turned: a mixture is hard to read.
  const longest = run.head.nodes.name.reduce((most, name, node) => (isHost(c, node) ? Math.max(most, name.length) : most), 0);
  const upright = longest * 6.2 + 4 < screen.slot;
  for (let node = 0; node < screen.x.length; node++) {
    if (!isHost(c, node) || !onScreen(c, node)) continue;
    box(c, node, theme.colour.host, 2);
    ctx.fillStyle = theme.colour.ink;
    const name = visible(run.nodeName(node));
    const x = screen.x[node]!;
    const y = screen.y[node]! + HOST_HEIGHT / 2;
    if (upright) {
      ctx.fillText(name, x, y + 9);
    } else {
      ctx.save();
      ctx.translate(x, y + 4);
      ctx.rotate(-Math.PI / 2);
      ctx.textAlign = "right";
      ctx.fillText(clipped(name, 8), 0, 0);
      ctx.restore();
    }
  }
}

function groups(c: Canvas): void {
  const { ctx, screen, theme } = c;
  ctx.font = "10px system-ui, sans-serif";
  for (const { hosts } of screen.layout.groups) {
    const { left, right, top } = groupBox(c, hosts);
    if (right < -20 || left > c.width + 20) continue;
    ctx.fillStyle = theme.colour.host;
    ctx.fillRect(left, top, right - left, GROUP_HEIGHT);
    ctx.strokeStyle = theme.colour["node-line"];
    ctx.lineWidth = 1;
    ctx.strokeRect(left - 0.5, top - 0.5, right - left + 1, GROUP_HEIGHT + 1);
    if (right - left > 34) {
      ctx.fillStyle = theme.colour.ink;
      const text = right - left > 60 ? `${hosts.length} hosts` : `×${hosts.length}`;
      ctx.fillText(text, (left + right) / 2, top + GROUP_HEIGHT + 9);
    }
  }
}

export const GROUP_HEIGHT = 20;

export function groupBox(c: Pick<Canvas, "screen">, hosts: readonly number[]): { left: number; right: number; top: number } {
  const first = hosts[0]!;
  const half = c.screen.slot / 2;
  return {
    left: c.screen.x[first]! - half,
    right: c.screen.x[hosts[hosts.length - 1]!]! + half,
    top: c.screen.y[first]! - HOST_HEIGHT / 2,
  };
}

function domains(c: Canvas): void {
  const { ctx, screen, theme } = c;
  const { layout } = screen;
  // Any node tells where x = 0 lies.
  const origin = screen.x[0]! - layout.x[0]! * screen.slot;
  ctx.font = FONT;
  ctx.lineWidth = 1;
  for (const domain of layout.domains) {
    const left = origin + domain.left * screen.slot - 10;
    const width = (domain.right - domain.left) * screen.slot + 20;
    ctx.setLineDash([3, 4]);
    ctx.strokeStyle = theme.colour.idle;
    ctx.strokeRect(left, 4.5, width, c.height - 9);
    ctx.setLineDash([]);
    ctx.fillStyle = theme.colour.dim;
    ctx.textAlign = "left";
    ctx.fillText(`domain ${visible(domain.name)}`, Math.max(left, 0) + 6, c.height - 14);
    ctx.textAlign = "center";
  }
}

/** The place of a bar along the first part of a lane: four corners of `share` of it. */
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

const barLength = (c: Canvas, port: number): number => {
  const { lane } = c.screen;
  const length = Math.hypot(lane[port * 8 + 2]! - lane[port * 8]!, lane[port * 8 + 3]! - lane[port * 8 + 1]!);
  return Math.min(1, BAR / Math.max(1, length));
};

function frame(c: Canvas, port: number): void {
  c.ctx.beginPath();
  bar(c, port, barLength(c, port), barWidth(c, port));
  c.ctx.fillStyle = c.theme.colour.bg;
  c.ctx.fill();
  c.ctx.stroke();
}

function stoppedFrame(c: Canvas, port: number): void {
  c.ctx.beginPath();
  bar(c, port, barLength(c, port), barWidth(c, port) + 1);
  c.ctx.strokeStyle = c.theme.colour.paused;
  c.ctx.lineWidth = 2;
  c.ctx.stroke();
}

/** What the instant shows: utilisation, queues, and the congestion trees. `scale`: the queue that fills a bar. */
export function paintLive(c: Canvas, scale: number): void {
  const { run, screen, theme } = c;
  const paused = new Set(run.pausedPorts());
  traffic(c, paused);
  if (!screen.near) bundles(c, paused);
  queues(c, scale);
  const stopped = [...paused].filter((port) => !bundled(c, port) && inSight(c, port));
  strokeLanes(c, stopped.filter((port) => laneWidth(c, port) < 2), theme.colour.paused, 1.75, true);
  strokeLanes(c, stopped.filter((port) => laneWidth(c, port) >= 2), theme.colour.paused, 3, true);
  for (const port of stopped) if (screen.pitch[port]! >= FRAMED) stoppedFrame(c, port);
  trees(c);
  switchNames(c);
  for (const port of stopped) arrows(c, port);
  for (const port of stopped) pauseSign(c, port);
  roots(c);
}

export const step = (utilisation: number): number =>
  Math.max(0, Math.min(UTILISATION_STEPS - 1, Math.round(utilisation * (UTILISATION_STEPS - 1))));

function traffic(c: Canvas, paused: ReadonlySet<number>): void {
  const { utilisation } = c.run.moment;
  const steps: number[][] = Array.from({ length: UTILISATION_STEPS }, () => []);
  for (let port = 0; port < utilisation.length; port++) {
    if (utilisation[port]! < IDLE || paused.has(port) || bundled(c, port) || !inSight(c, port)) continue;
    steps[step(utilisation[port]!)]!.push(port);
  }
  steps.forEach((ports, i) => {
    if (ports.length > 0) strokeLanes(c, ports, c.theme.utilisation[i]!, laneWidth(c, ports[0]!), true);
  });
}

function queues(c: Canvas, scale: number): void {
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

/** Hosts as narrow columns (above: towards the host; below: from it), and their links as one pair of lines. */
function bundles(c: Canvas, paused: ReadonlySet<number>): void {
  const { ctx, screen, run, theme } = c;
  const { utilisation } = run.moment;
  for (const { above, hosts } of screen.layout.groups) {
    const { left, right, top } = groupBox(c, hosts);
    if (right < -20 || left > c.width + 20) continue;
    const column = Math.max(1, screen.slot * 0.86);
    let down = 0;
    let up = 0;
    let stopped = 0;
    for (const host of hosts) {
      for (const port of run.portsOfNode[host]!) {
        const x = screen.x[host]! - column / 2;
        down += utilisation[port ^ 1]!;
        up += utilisation[port]!;
        ctx.fillStyle = paused.has(port ^ 1) ? theme.colour.paused : theme.utilisation[step(utilisation[port ^ 1]!)]!;
        ctx.fillRect(x, top, column, GROUP_HEIGHT / 2 - 0.5);
        ctx.fillStyle = paused.has(port) ? theme.colour.paused : theme.utilisation[step(utilisation[port]!)]!;
        ctx.fillRect(x, top + GROUP_HEIGHT / 2 + 0.5, column, GROUP_HEIGHT / 2 - 0.5);
        if (paused.has(port)) stopped++;
      }
    }
    if (above < 0) continue;
    const middle = (left + right) / 2;
    const from = screen.y[above]! + screen.height[above]! / 2;
    const line = (x: number, y: number, colour: string, width: number): void => {
      ctx.strokeStyle = colour;
      ctx.lineWidth = width;
      ctx.beginPath();
      ctx.moveTo(x, y);
      ctx.lineTo(x, top);
      ctx.stroke();
    };
    line(middle - 3, from + 34, theme.utilisation[step(down / hosts.length)]!, 4);
    line(middle + 3, from, theme.utilisation[step(up / hosts.length)]!, 4);
    if (stopped === 0) continue;
    line(middle + 3, from, theme.colour.paused, 1.5 + (4.5 * stopped) / hosts.length);
    if (right - left < 40) continue;
    const y = (from + 34 + top) / 2;
    sign(c, middle + 14, y);
    ctx.font = FONT;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillStyle = theme.colour.paused;
    ctx.fillText(String(stopped), middle + 22, y + 0.5);
  }
}

/** In each switch: from the egress that stands still, or is congested, to the links that it made the switch stop. */
function trees(c: Canvas): void {
  const { ctx, run, screen, theme } = c;
  if (!(run.stops instanceof Stops)) return;
  const { stops } = run;
  const { lane } = screen;
  ctx.strokeStyle = theme.colour.paused;
  ctx.lineWidth = 2;
  const drawn = new Set<number>();
  ctx.beginPath();
  for (const stop of run.holding) {
    const cause = stops.cause[stop]!;
    const from = cause === NONE ? stops.rootPort(stop) : stops.port[cause]!;
    const effect = stops.port[stop]!;
    const key = (from ?? 0) * 0x40000 + effect;
    if (from === null || drawn.has(key)) continue;
    drawn.add(key);
    const node = run.nodeOf(from);
    if (node !== run.nodeOf(effect ^ 1) || !onScreen(c, node)) continue;
    const half = screen.width[node]! / 2 - 3;
    const inside = (x: number): number => Math.max(screen.x[node]! - half, Math.min(screen.x[node]! + half, x));
    const bus = screen.y[node]! + 7;
    const target = bundled(c, effect) ? screen.x[node]! + 3 : lane[effect * 8 + 6]!;
    const targetY = bundled(c, effect) ? screen.y[node]! + screen.height[node]! / 2 : lane[effect * 8 + 7]!;
    ctx.moveTo(lane[from * 8]!, lane[from * 8 + 1]!);
    ctx.lineTo(inside(lane[from * 8]!), bus);
    ctx.lineTo(inside(target), bus);
    ctx.lineTo(target, targetY);
  }
  ctx.stroke();
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

function pauseSign(c: Canvas, port: number): void {
  const { lane, pitch } = c.screen;
  if (pitch[port]! < 11) return;
  sign(c, lane[port * 8 + 2]!, lane[port * 8 + 3]!);
}

/** The sign of a pause: two bars, so that it is not told by its colour alone. */
function sign(c: Canvas, x: number, y: number): void {
  const { ctx, theme } = c;
  ctx.fillStyle = theme.colour.paused;
  ctx.beginPath();
  ctx.roundRect(x - 6, y - 6, 12, 12, 2.5);
  ctx.fill();
  ctx.fillStyle = theme.colour["on-paused"];
  ctx.fillRect(x - 3, y - 3.5, 2, 7);
  ctx.fillRect(x + 1, y - 3.5, 2, 7);
}

/** The congested egresses that the trees of this instant begin at. */
function roots(c: Canvas): void {
  const { ctx, run, screen, theme } = c;
  if (!(run.stops instanceof Stops)) return;
  const ports = new Set<number>();
  for (const stop of run.holding) {
    const port = run.stops.rootPort(stop);
    if (port !== null) ports.add(port);
  }
  ctx.font = `600 ${FONT}`;
  ctx.textBaseline = "middle";
  for (const port of ports) {
    if (!inSight(c, port)) continue;
    const x = screen.lane[port * 8 + 2]!;
    const y = screen.lane[port * 8 + 3]! + (screen.lane[port * 8 + 3]! >= screen.lane[port * 8 + 1]! ? 7 : -7);
    const size = 6;
    ctx.beginPath();
    ctx.moveTo(x, y - size);
    ctx.lineTo(x + size, y);
    ctx.lineTo(x, y + size);
    ctx.lineTo(x - size, y);
    ctx.closePath();
    ctx.fillStyle = theme.colour.bg;
    ctx.fill();
    ctx.strokeStyle = theme.colour.paused;
    ctx.lineWidth = 2.5;
    ctx.stroke();
    if (ports.size > 6 && screen.slot < 24) continue;
    const after = x + 40 < c.width;
    ctx.textAlign = after ? "left" : "right";
    ctx.lineWidth = 3;
    ctx.strokeStyle = theme.colour.bg;
    ctx.strokeText("root", after ? x + 9 : x - 9, y);
    ctx.fillStyle = theme.colour.paused;
    ctx.fillText("root", after ? x + 9 : x - 9, y);
  }
}

/** The path of a flow, as a broad band below what the links show. */
function flowPath(c: Canvas, path: readonly number[]): void {
  const { ctx, theme } = c;
  if (path.length === 0) return;
  ctx.globalAlpha = 0.55;
  ctx.lineCap = ctx.lineJoin = "round";
  strokeLanes(c, path, theme.colour.path, 11);
  ctx.globalAlpha = 1;
  ctx.lineCap = "butt";
  ctx.lineJoin = "miter";
  outline(c, c.run.nodeOf(path[0]!), theme.colour.path, 3);
  outline(c, c.run.nodeOf(path[path.length - 1]! ^ 1), theme.colour.path, 3);
}

export interface Marks {
  port: number | null;
  node: number | null;
  hover: { port: number } | { node: number } | null;
}

/** What is selected, and what the pointer is on. */
export function paintMarks(c: Canvas, marks: Marks): void {
  const { theme } = c;
  if (marks.port !== null) ring(c, marks.port, theme.colour.focus, 2);
  if (marks.node !== null) outline(c, marks.node, theme.colour.focus, 2);
  if (marks.hover && "port" in marks.hover) {
    strokeLanes(c, [marks.hover.port], theme.colour.focus, 1);
    ring(c, marks.hover.port, theme.colour.focus, 1);
  } else if (marks.hover) {
    outline(c, marks.hover.node, theme.colour.focus, 1);
  }
}

function ring(c: Canvas, port: number, colour: string, width: number): void {
  const thick = barWidth(c, port) + 7;
  c.ctx.beginPath();
  bar(c, port, barLength(c, port), thick);
  c.ctx.strokeStyle = colour;
  c.ctx.lineWidth = width;
  c.ctx.stroke();
}

function outline(c: Canvas, node: number, colour: string, width: number): void {
  const { screen } = c;
  const w = Math.max(6, screen.width[node]!) + 5;
  const h = screen.height[node]! + 5;
  c.ctx.strokeStyle = colour;
  c.ctx.lineWidth = width;
  c.ctx.strokeRect(screen.x[node]! - w / 2, screen.y[node]! - h / 2, w, h);
}
