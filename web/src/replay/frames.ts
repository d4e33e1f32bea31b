// When to draw: many changes become one frame, and whoever waits for a frame is told when it is painted.

/** Everything, or only what depends on the instant of the clock. */
export type Extent = "all" | "live";

export class Frames {
  private wanted: Extent | null = null;
  private waiting: (() => void)[] = [];

  constructor(private readonly draw: (extent: Extent, now: number) => void) {}

  request(extent: Extent): void {
    if (this.wanted === null) requestAnimationFrame((now) => this.run(now));
    if (this.wanted !== "all") this.wanted = extent;
  }

  /** Resolves when the next frame is on the screen. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.request("live");
    });
  }

  private run(now: number): void {
    const extent = this.wanted ?? "live";
    const waiting = this.waiting;
    this.wanted = null;
    this.waiting = [];
    try {
      this.draw(extent, now);
    } finally {
      // Also after a failure, which the browser reports: nobody is to wait for ever.
      // A task of its own runs after the frame has been painted.
      if (waiting.length > 0) setTimeout(() => waiting.forEach((resolve) => resolve()), 0);
    }
  }
}
