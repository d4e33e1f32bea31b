// What lies under the pointer. A scan of all lanes takes a fraction of a millisecond for thousands of ports.
import { groupBox, GROUP_HEIGHT } from "./paint/groups";
import type { Screen } from "./camera";
import type { Run } from "../data/run";

export type Hit = { port: number } | { node: number } | { group: number };

const REACH = 7;

export function hitTest(run: Run, screen: Screen, x: number, y: number): Hit | null {
  if (!screen.near) {
    for (let i = 0; i < screen.layout.groups.length; i++) {
      const { left, right, top } = groupBox(screen, screen.layout.groups[i]!.hosts);
      if (x >= left && x <= right && y >= top && y <= top + GROUP_HEIGHT + 14) return { group: i };
    }
  }
  for (let node = 0; node < screen.x.length; node++) {
    if (!screen.near && screen.layout.row[node] === 0) continue;
    const inX = Math.abs(x - screen.x[node]!) <= screen.width[node]! / 2;
    if (inX && Math.abs(y - screen.y[node]!) <= screen.height[node]! / 2) return { node };
  }
  let best = -1;
  let nearest = REACH;
  for (let port = 0; port < run.head.ports.node.length; port++) {
    if (!screen.near && (screen.layout.row[run.nodeOf(port)] === 0 || screen.layout.row[run.nodeOf(port ^ 1)] === 0)) continue;
    for (let part = 0; part < 3; part++) {
      const far = distance(screen.lane, port * 8 + part * 2, x, y);
      if (far < nearest) {
        nearest = far;
        best = port;
      }
    }
  }
  return best >= 0 ? { port: best } : null;
}

function distance(lane: Float32Array, at: number, x: number, y: number): number {
  const x0 = lane[at]!;
  const y0 = lane[at + 1]!;
  const dx = lane[at + 2]! - x0;
  const dy = lane[at + 3]! - y0;
  const squared = dx * dx + dy * dy;
  const along = squared === 0 ? 0 : Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / squared));
  return Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
}
