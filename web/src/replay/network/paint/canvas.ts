// What everything that paints a network is given, and what of the network can be seen.
import type { Run } from "../../data/run";
import type { Theme } from "../../page/theme";
import type { Screen } from "../camera";

/** Its units are CSS pixels. */
export interface Canvas {
  ctx: CanvasRenderingContext2D;
  screen: Screen;
  run: Run;
  theme: Theme;
  width: number;
  height: number;
}

export const FONT = "11px system-ui, sans-serif";
export const SMALL_FONT = "10px system-ui, sans-serif";

export const isHost = (c: Canvas, node: number): boolean => c.screen.layout.row[node] === 0;

/** Links to hosts become one bundle when hosts become one group. */
export function bundled(c: Canvas, port: number): boolean {
  if (c.screen.near) return false;
  const node = c.run.nodeOf(port);
  const peer = c.run.nodeOf(port ^ 1);
  const group = c.screen.layout.groupOf[isHost(c, node) ? node : peer]!;
  return group >= 0 && c.screen.layout.groups[group]!.above >= 0;
}

export const onScreen = (c: Canvas, node: number): boolean =>
  c.screen.x[node]! + c.screen.width[node]! / 2 > -20 && c.screen.x[node]! - c.screen.width[node]! / 2 < c.width + 20;

/** Whether any of a lane is in the picture. */
export function inSight(c: Canvas, port: number): boolean {
  const { lane } = c.screen;
  const at = port * 8;
  const x0 = lane[at]!;
  const x3 = lane[at + 6]!;
  const y0 = Math.min(lane[at + 1]!, lane[at + 3]!);
  const y3 = Math.min(lane[at + 7]!, lane[at + 5]!);
  if (Math.max(x0, x3) < -8 || Math.min(x0, x3) > c.width + 8) return false;
  return Math.max(lane[at + 1]!, lane[at + 7]!) > -8 && Math.min(y0, y3) < c.height + 8;
}
