// What one rank does over time, as two rows of bars: above it computes, below it communicates.
import { duration, instant, visible } from "../../shared/format";
import type { App } from "../app";
import { computes, runningAt, type Activity } from "../data/activities";
import { el } from "../page/dom";

/** Heights in CSS pixels: of the canvas, and of one row in it. */
const HEIGHT = 13;
const ROW = 6;

export class RankLine {
  private readonly canvas = el("canvas", { "aria-hidden": "true" });
  private readonly cursor = el("div", { class: "now" });
  readonly root = el("div", { class: "lines" }, this.canvas, this.cursor);

  constructor(
    private readonly app: App,
    private readonly activities: readonly Activity[],
  ) {
    const { canvas } = this;
    canvas.addEventListener("click", (event) => {
      // It leads to an instant, not to the rank.
      event.stopPropagation();
      app.seek(this.timeAt(event));
    });
    canvas.addEventListener("pointermove", (event) => app.tip(this.describe(event), event.clientX, event.clientY));
    canvas.addEventListener("pointerleave", () => app.tip(null, 0, 0));
  }

  /** The part of the run, the width, or the colours changed. */
  paint(): void {
    const { canvas, app } = this;
    const width = this.root.clientWidth;
    if (width === 0) return;
    canvas.width = Math.round(width * devicePixelRatio);
    canvas.height = Math.round(HEIGHT * devicePixelRatio);
    const ctx = canvas.getContext("2d")!;
    ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    const { colour } = app.theme;
    ctx.fillStyle = colour.line;
    ctx.fillRect(0, ROW, width, 1);
    const [from, until] = app.range;
    const toX = (t: number): number => ((t - from) / (until - from)) * width;
    for (const activity of this.activities) {
      if (activity.until < from || activity.begin > until) continue;
      const x = Math.max(0, toX(activity.begin));
      ctx.fillStyle = computes(activity) ? colour.compute : colour.communication;
      // A hair shorter, so that two in a row are two.
      const length = Math.min(width, toX(activity.until)) - x;
      ctx.fillRect(x, computes(activity) ? 0 : ROW + 1, Math.max(0.5, length - (length > 3 ? 0.75 : 0)), ROW);
    }
    this.move();
  }

  /** The instant changed. */
  move(): void {
    const [from, until] = this.app.range;
    const share = (this.app.clock.t - from) / (until - from);
    this.cursor.hidden = !(share >= 0 && share <= 1);
    this.cursor.style.transform = `translateX(${share * this.root.clientWidth}px)`;
  }

  private timeAt(event: MouseEvent): number {
    const { left, width } = this.canvas.getBoundingClientRect();
    const [from, until] = this.app.range;
    return from + ((event.clientX - left) / Math.max(1, width)) * (until - from);
  }

  private describe(event: MouseEvent): string[] | null {
    const t = this.timeAt(event);
    const told = runningAt(this.activities, t).map(
      (activity) =>
        `${visible(activity.name)} (${visible(activity.kind)}), iteration ${activity.iteration}: ` +
        `${duration(activity.until - activity.begin)}${activity.ended ? "" : ", not ended"}`,
    );
    return [instant(t, 0.1), ...(told.length > 0 ? told : ["idle"])];
  }
}
