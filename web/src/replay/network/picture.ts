// The network of one run at the instant of the clock. Three layers: what stands still, what moves, what is marked.
import { Konva } from "konva/lib/Core.js";
import { bytes, visible } from "../../shared/format";
import { focused, type App } from "../app";
import { Screen } from "./camera";
import { el, nameOf, setText } from "../page/dom";
import { describe } from "./describe";
import { hitTest, type Hit } from "./hit";
import type { Canvas } from "./paint/canvas";
import { paintLive, paintMarks, paintStill } from "./paint/layers";
import type { Run } from "../data/run";

Konva.autoDrawEnabled = false;

export class Picture {
  readonly root: HTMLElement;
  readonly screen: Screen;
  private readonly stage: Konva.Stage;
  private readonly still: Konva.Layer;
  private readonly live: Konva.Layer;
  private readonly marks: Konva.Layer;
  private readonly surface: HTMLElement;
  private readonly figures: HTMLElement;
  private hover: Hit | null = null;
  private readonly fingers = new Map<number, { x: number; y: number }>();
  private moved = 0;

  constructor(
    private readonly app: App,
    readonly run: Run,
    private readonly index: number,
  ) {
    const { head } = run;
    this.figures = el("span", { class: "figures" });
    const title = el("h2", {}, nameOf(run.label));
    const about = el("span", { class: "dim about" }, `${head.scheme === run.label ? "" : `${visible(head.scheme)}, `}seed ${head.seed}`);
    this.surface = el("div", { class: "surface", role: "img", "aria-label": `Network of run ${visible(run.label)}` });
    this.root = el("section", { class: "picture" }, el("header", {}, title, about, this.figures));
    if (head.failure !== null) this.root.append(el("p", { class: "failure" }, nameOf(head.failure.split("\n")[0]!)));
    this.root.append(this.surface);
    this.root.dataset["run"] = String(run.number);
    this.screen = new Screen(run.layout, head.ports.node);
    this.stage = new Konva.Stage({ container: this.surface as HTMLDivElement, width: 300, height: 200, listening: false });
    this.still = this.layer((c) => paintStill(c, this.flowPath()));
    this.live = this.layer((c) => paintLive(c, this.app.queueScale));
    this.marks = this.layer((c) => this.paintMarks(c));
    this.listen();
  }

  private layer(paint: (canvas: Canvas) => void): Konva.Layer {
    const layer = new Konva.Layer({ listening: false });
    layer.add(
      new Konva.Shape({
        listening: false,
        perfectDrawEnabled: false,
        sceneFunc: (context) => paint(this.canvas(context._context as CanvasRenderingContext2D)),
      }),
    );
    this.stage.add(layer);
    return layer;
  }

  private canvas(ctx: CanvasRenderingContext2D): Canvas {
    return { ctx, screen: this.screen, run: this.run, theme: this.app.theme, width: this.stage.width(), height: this.stage.height() };
  }

  resize(): void {
    const { clientWidth, clientHeight } = this.surface;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.stage.size({ width: clientWidth, height: clientHeight });
  }

  /** Draws everything: after a change of view, size, colours or selection. */
  drawAll(): void {
    this.screen.place(this.app.view, this.stage.width(), this.stage.height());
    this.surface.classList.toggle("zoomed", this.app.view.zoom > 1);
    this.root.classList.toggle("focus", this.app.runs.length > 1 && focused(this.app) === this.run);
    this.still.draw();
    this.drawLive();
    this.marks.draw();
  }

  drawLive(): void {
    this.live.draw();
    const paused = this.run.pausedPorts().length;
    setText(this.figures, `${paused} paused · ${bytes(this.run.queued())} queued`);
    this.figures.classList.toggle("alarm", paused > 0);
  }

  destroy(): void {
    this.stage.destroy();
    this.root.remove();
  }

  /** Where the egress of a port is drawn, in the coordinates of the window. */
  portAt(port: number): { x: number; y: number } {
    const box = this.surface.getBoundingClientRect();
    const { lane } = this.screen;
    const at = port * 8;
    return { x: box.left + (lane[at]! + lane[at + 2]!) / 2, y: box.top + (lane[at + 1]! + lane[at + 3]!) / 2 };
  }

  private paintMarks(canvas: Canvas): void {
    const { selection } = this.app;
    const hover = this.hover && !("group" in this.hover) ? this.hover : null;
    const node = selection.node === null ? -1 : this.run.head.nodes.name.indexOf(selection.node);
    paintMarks(canvas, {
      port: selection.port === null ? null : (this.run.portNumber.get(selection.port) ?? null),
      node: node >= 0 ? node : null,
      hover,
    });
  }

  private flowPath(): readonly number[] {
    const { flow } = this.app.selection;
    const { flows } = this.run;
    if (flow === null || flows === null || flows === "absent" || focused(this.app) !== this.run) return [];
    return flows.paths[flows.path[flow] ?? -1] ?? [];
  }

  private listen(): void {
    const { surface } = this;
    surface.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      surface.setPointerCapture(event.pointerId);
      this.fingers.set(event.pointerId, this.place(event));
      if (this.fingers.size === 1) this.moved = 0;
    });
    surface.addEventListener("pointermove", (event) => this.move(event));
    const lift = (event: PointerEvent): void => {
      const single = this.fingers.size === 1 && this.fingers.has(event.pointerId);
      this.fingers.delete(event.pointerId);
      if (single && this.moved < 5 && event.type === "pointerup") this.click(this.place(event));
    };
    surface.addEventListener("pointerup", lift);
    surface.addEventListener("pointercancel", lift);
    surface.addEventListener("pointerleave", () => {
      this.setHover(null);
      this.app.tip(null, 0, 0);
    });
    surface.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const { x, y } = this.place(event);
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)), x, y);
      },
      { passive: false },
    );
  }

  private place(event: MouseEvent): { x: number; y: number } {
    const box = this.surface.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  zoom(factor: number, x = this.stage.width() / 2, y = this.stage.height() / 2): void {
    const { width, height } = this.stage.size();
    this.app.setView(this.screen.zoomed(this.app.view, width, height, factor, x, y));
  }

  private move(event: PointerEvent): void {
    const before = this.fingers.get(event.pointerId);
    const now = this.place(event);
    if (!before) {
      const hit = hitTest(this.run, this.screen, now.x, now.y);
      this.setHover(hit);
      this.app.tip(hit ? describe(this.run, hit, this.app.clock.t) : null, event.clientX, event.clientY);
      return;
    }
    this.fingers.set(event.pointerId, now);
    this.moved += Math.hypot(now.x - before.x, now.y - before.y);
    const { width, height } = this.stage.size();
    if (this.fingers.size === 2) {
      const other = [...this.fingers].find(([id]) => id !== event.pointerId)![1];
      const was = Math.hypot(before.x - other.x, before.y - other.y);
      const is = Math.hypot(now.x - other.x, now.y - other.y);
      if (was > 0 && is > 0) this.zoom(is / was, (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else if (this.moved >= 5) {
      this.app.tip(null, 0, 0);
      this.app.setView(this.screen.panned(this.app.view, width, height, now.x - before.x, now.y - before.y));
    }
  }

  private setHover(hit: Hit | null): void {
    const name = (h: Hit | null): string => JSON.stringify(h);
    if (name(hit) === name(this.hover)) return;
    this.hover = hit;
    this.surface.classList.toggle("over", hit !== null);
    this.marks.draw();
  }

  private click({ x, y }: { x: number; y: number }): void {
    const hit = hitTest(this.run, this.screen, x, y);
    if (hit === null || !("group" in hit)) this.app.setFocus(this.index);
    if (hit === null) return;
    if ("port" in hit) this.app.selectPort(this.run.portName(hit.port));
    else if ("node" in hit) this.app.selectNode(this.run.nodeName(hit.node));
    else {
      const { left, right } = this.run.layout.groups[hit.group]!;
      this.app.setView(this.screen.showing(left, right, this.stage.width(), this.stage.height()));
    }
  }
}
