// Switches, hosts and domains, with their names.
import { clipped, visible } from "../../../shared/format";
import { HOST_HEIGHT } from "../camera";
import { FONT, isHost, onScreen, SMALL_FONT, type Canvas } from "./canvas";

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

export function paintHosts(c: Canvas): void {
  const { ctx, screen, run, theme } = c;
  ctx.font = SMALL_FONT;
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

export function paintSwitches(c: Canvas): void {
  for (let node = 0; node < c.screen.x.length; node++) {
    if (!isHost(c, node) && onScreen(c, node)) box(c, node, c.theme.colour.node, 3);
  }
}

/** Of a wide switch the name stands where it can be seen. */
export function paintSwitchNames(c: Canvas): void {
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

export function paintDomains(c: Canvas): void {
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

/** Around a node: it is selected, or the pointer is on it. */
export function outline(c: Canvas, node: number, colour: string, width: number): void {
  const { screen } = c;
  const w = Math.max(6, screen.width[node]!) + 5;
  const h = screen.height[node]! + 5;
  c.ctx.strokeStyle = colour;
  c.ctx.lineWidth = width;
  c.ctx.strokeRect(screen.x[node]! - w / 2, screen.y[node]! - h / 2, w, h);
}
