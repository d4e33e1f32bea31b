// From the layout to pixels. Across, the picture is magnified as asked; upwards only a little, so that hosts and the
// switch above them stay in sight together. Signs, bars and texts keep their size.
import { Side, type Layout } from "./layout";

export interface View {
  /** What lies in the middle of the picture, as shares of the network's width and height. */
  cx: number;
  cy: number;
  /** 1: all of it. */
  zoom: number;
}

const MIN_ZOOM = 1;
export const WHOLE: View = { cx: 0.5, cy: 0.5, zoom: MIN_ZOOM };
const SWITCH_HEIGHT = 32;
export const HOST_HEIGHT = 16;
/** Slots narrower than this many pixels: hosts are drawn as one group per switch. */
const NEAR = 11;
/** The longest a bar of a queue gets. */
export const BAR = 40;
const MARGIN_X = 22;
const MARGIN_TOP = 30;
const MARGIN_BOTTOM = 46;
/** Between parallel links of neighbours. */
const SIDE_PITCH = 24;
const WIDEST_SLOT = 96;
const TALLEST_ROW = 330;
/** Links to hosts are upright and need less height than those between switches, which cross. */
const HOST_ROW = 0.72;

const heightOf = (row: number): number => (row === 0 ? 0 : HOST_ROW + row - 1);

/** Everything in pixels, computed anew when the view or the size of the picture changes. */
export class Screen {
  slot = 1;
  near = true;
  /** Of each node. */
  x: Float32Array;
  y: Float32Array;
  width: Float32Array;
  height: Float32Array;
  /** Of each port four points, from its node to its peer, on the right side of the link: x, y, x, y, ... */
  lane: Float32Array;
  /** Of each port: how far two ports on that side are apart. */
  pitch: Float32Array;

  constructor(
    readonly layout: Layout,
    private readonly ports: readonly number[],
  ) {
    const nodes = layout.x.length;
    this.x = new Float32Array(nodes);
    this.y = new Float32Array(nodes);
    this.width = new Float32Array(nodes);
    this.height = new Float32Array(nodes);
    this.lane = new Float32Array(ports.length * 8);
    this.pitch = new Float32Array(ports.length);
  }

  /** Pixels per slot and per row when all is in sight. */
  private fit(width: number, height: number): { across: number; up: number } {
    const { layout } = this;
    const lifted = layout.lift.some((lift) => lift > 0) ? 40 : 0;
    return {
      across: Math.min(WIDEST_SLOT, (width - 2 * MARGIN_X) / (layout.right - layout.left)),
      up: Math.min(TALLEST_ROW, Math.max(60, (height - MARGIN_TOP - MARGIN_BOTTOM - lifted) / this.tall)),
    };
  }

  private get tall(): number {
    return heightOf(this.layout.rows - 1);
  }

  maxZoom(width: number, height: number): number {
    return Math.max(4, 48 / this.fit(width, height).across);
  }

  private scales(view: View, width: number, height: number): { across: number; up: number } {
    const fit = this.fit(width, height);
    return { across: fit.across * view.zoom, up: fit.up * view.zoom ** 0.15 };
  }

  place(view: View, width: number, height: number): void {
    const { layout } = this;
    const { across, up } = this.scales(view, width, height);
    this.slot = across;
    this.near = across >= NEAR;
    const { tall } = this;
    const middle = (height + MARGIN_TOP - MARGIN_BOTTOM) / 2;
    const toX = (x: number): number => width / 2 + (x - (layout.left + (layout.right - layout.left) * view.cx)) * across;
    const toY = (row: number): number => middle - (heightOf(row) - tall * (1 - view.cy)) * up;
    for (let node = 0; node < layout.x.length; node++) {
      const host = layout.row[node] === 0;
      this.x[node] = toX(layout.x[node]!);
      this.y[node] = toY(layout.row[node]!);
      this.width[node] = host ? Math.min(across * 0.82, 46) : Math.max(7, layout.width[node]! * across);
      this.height[node] = host ? HOST_HEIGHT : SWITCH_HEIGHT;
    }
    for (let link = 0; link < this.ports.length >> 1; link++) this.placeLink(link, toX, across);
  }

  private placeLink(link: number, toX: (x: number) => number, across: number): void {
    const a = link * 2;
    const b = a + 1;
    const from = this.end(a, toX);
    const to = this.end(b, toX);
    const apart = Math.hypot(to.x - from.x, to.y - from.y);
    const stub = Math.min(BAR, apart * 0.3);
    const lift = this.layout.lift[link]!;
    const reach = lift > 0 ? BAR - 10 + 16 * lift : stub;
    const points = [
      from.x, from.y,
      from.x + from.dx * reach, from.y + from.dy * reach,
      to.x + to.dx * reach, to.y + to.dy * reach,
      to.x, to.y,
    ];
    const aside = Math.max(1, Math.min(6, Math.min(this.pitchOf(a, across), this.pitchOf(b, across)) * 0.22));
    for (let port = a; port <= b; port++) this.pitch[port] = this.pitchOf(port, across);
    this.offset(points, aside, a);
    this.offset([6, 7, 4, 5, 2, 3, 0, 1].map((i) => points[i]!), aside, b);
  }

  private pitchOf(port: number, across: number): number {
    const side: Side = this.layout.side[port]!;
    if (side === Side.Left || side === Side.Right) return SIDE_PITCH;
    const node = this.ports[port]!;
    if (this.layout.row[node] === 0) return across;
    const group = this.layout.groupOf[this.ports[port ^ 1]!]!;
    if (group >= 0) return across;
    return Math.max(1, (this.width[node]! * 0.94) / Math.max(1, this.sideCount(port)));
  }

  private readonly counts = new Map<number, number>();

  private sideCount(port: number): number {
    if (this.counts.size === 0) {
      this.ports.forEach((node, p) => {
        const key = node * 4 + this.layout.side[p]!;
        this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
      });
    }
    return this.counts.get(this.ports[port]! * 4 + this.layout.side[port]!) ?? 1;
  }

  private end(port: number, toX: (x: number) => number): { x: number; y: number; dx: number; dy: number } {
    const node = this.ports[port]!;
    const side: Side = this.layout.side[port]!;
    const anchor = this.layout.anchor[port]!;
    const half = this.height[node]! / 2;
    switch (side) {
      case Side.Top:
        return { x: this.within(node, toX(anchor)), y: this.y[node]! - half, dx: 0, dy: -1 };
      case Side.Bottom:
        return { x: this.within(node, toX(anchor)), y: this.y[node]! + half, dx: 0, dy: 1 };
      default: {
        const dx = side === Side.Left ? -1 : 1;
        return { x: this.x[node]! + (dx * this.width[node]!) / 2, y: this.y[node]! + anchor * SIDE_PITCH, dx, dy: 0 };
      }
    }
  }

  private within(node: number, x: number): number {
    const half = this.width[node]! / 2;
    return Math.max(this.x[node]! - half, Math.min(this.x[node]! + half, x));
  }

  /** Moves a line of four points to its right and stores it. */
  private offset(points: number[], by: number, port: number): void {
    for (let i = 0; i < 4; i++) {
      let nx = 0;
      let ny = 0;
      let normals = 0;
      for (const k of [i - 1, i]) {
        if (k < 0 || k > 2) continue;
        const dx = points[2 * k + 2]! - points[2 * k]!;
        const dy = points[2 * k + 3]! - points[2 * k + 1]!;
        const length = Math.hypot(dx, dy);
        if (length < 1e-6) continue;
        nx -= dy / length;
        ny += dx / length;
        normals++;
      }
      const length = Math.hypot(nx, ny);
      // At a bend the line moves along the bisector, far enough to stay parallel on both sides of it.
      const far = length < 1e-6 ? 0 : (by * Math.min(2, normals / length)) / length;
      this.lane[port * 8 + 2 * i] = points[2 * i]! + nx * far;
      this.lane[port * 8 + 2 * i + 1] = points[2 * i + 1]! + ny * far;
    }
  }

  /** The view after magnifying by `factor` around a point of the picture. */
  zoomed(view: View, width: number, height: number, factor: number, px: number, py: number): View {
    const zoom = Math.max(MIN_ZOOM, Math.min(this.maxZoom(width, height), view.zoom * factor));
    const before = this.scales(view, width, height);
    const after = this.scales({ ...view, zoom }, width, height);
    const wide = this.layout.right - this.layout.left;
    const { tall } = this;
    const middle = (height + MARGIN_TOP - MARGIN_BOTTOM) / 2;
    return this.clamped({
      cx: view.cx + ((px - width / 2) * (1 / before.across - 1 / after.across)) / wide,
      cy: view.cy + ((py - middle) * (1 / before.up - 1 / after.up)) / tall,
      zoom,
    });
  }

  panned(view: View, width: number, height: number, dx: number, dy: number): View {
    const { across, up } = this.scales(view, width, height);
    return this.clamped({
      cx: view.cx - dx / across / (this.layout.right - this.layout.left),
      cy: view.cy - dy / up / this.tall,
      zoom: view.zoom,
    });
  }

  private clamped(view: View): View {
    if (view.zoom <= MIN_ZOOM) return WHOLE;
    return { cx: Math.max(0, Math.min(1, view.cx)), cy: Math.max(0, Math.min(1, view.cy)), zoom: view.zoom };
  }

  /** The view that shows a part of the row of hosts. */
  showing(left: number, right: number, width: number, height: number): View {
    const { layout } = this;
    const fit = this.fit(width, height);
    const zoom = Math.max(1, Math.min(this.maxZoom(width, height), (width * 0.8) / ((right - left) * fit.across)));
    return this.clamped({ cx: ((left + right) / 2 - layout.left) / (layout.right - layout.left), cy: 0.72, zoom });
  }
}
