// One clock for all runs shown: simulated microseconds, and how many of them pass in a second.

/** Simulated microseconds per second of wall time. */
export const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6] as const;

/** The speed at which `us` last about 20 seconds. */
export function speedFor(us: number): number {
  const wanted = us / 20;
  let best: number = SPEEDS[0];
  for (const speed of SPEEDS) if (Math.abs(Math.log(speed / wanted)) < Math.abs(Math.log(best / wanted))) best = speed;
  return best;
}

export class Clock {
  t = 0;
  end = 1;
  speed = 1e3;
  playing = false;
  private wall = 0;

  /** `changed` is called after every change but the passing of time. */
  constructor(private readonly changed: () => void) {}

  seek(t: number): void {
    this.t = Math.max(0, Math.min(this.end, t));
    this.changed();
  }

  play(from: number): void {
    if (this.playing) return;
    if (this.t >= this.end) this.t = from;
    this.playing = true;
    this.wall = performance.now();
    this.changed();
  }

  pause(): void {
    this.playing = false;
    this.changed();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.changed();
  }

  /** `by` steps faster or slower. */
  shift(by: number): void {
    const at = SPEEDS.findIndex((speed) => speed >= this.speed);
    const next = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, (at < 0 ? SPEEDS.length - 1 : at) + by))]!;
    this.setSpeed(next);
  }

  /** Lets time pass up to the wall time `now` (ms). A page that was hidden does not jump ahead. */
  advance(now: number): void {
    if (!this.playing) return;
    const passed = Math.min(250, Math.max(0, now - this.wall));
    this.wall = now;
    this.t += (passed / 1e3) * this.speed;
    if (this.t >= this.end) {
      this.t = this.end;
      this.pause();
    }
  }
}
