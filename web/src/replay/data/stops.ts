// Every time PFC stopped an egress, and which of them hold at an instant.
import { NONE, type Roots } from "./contract";

// Between two checkpoints the stops that began are looked at one by one. At a checkpoint those that held are known.
const STRIDE = 512;

export class Stops {
  private readonly checkpoints: Uint32Array[] = [];
  private readonly byPort = new Map<number, number[]>();

  private constructor(
    readonly count: number,
    readonly from: Float64Array,
    readonly until: Float64Array,
    readonly port: Uint32Array,
    readonly priority: Uint32Array,
    readonly root: Uint32Array,
    readonly cause: Uint32Array,
    readonly depth: Uint32Array,
    /** The congested egress of each stop that is the root of a tree. */
    private readonly congested: ReadonlyMap<number, number>,
  ) {
    let holding: number[] = [];
    for (let i = 0; i < count; i++) {
      if (i % STRIDE === 0) {
        holding = holding.filter((stop) => !(this.until[stop]! <= this.from[i]!));
        this.checkpoints.push(Uint32Array.from(holding));
      }
      holding.push(i);
      const port = this.port[i]!;
      const list = this.byPort.get(port);
      if (list) list.push(i);
      else this.byPort.set(port, [i]);
    }
  }

  /** `roots` come together with the stops, so that no tree is ever drawn without its root. */
  static decode(bytes: ArrayBuffer, roots: Roots | null): Stops {
    const count = new DataView(bytes).getUint32(0, true);
    if (bytes.byteLength < 8 + count * 36) throw new Error("stops.bin is shorter than its number of stops says");
    const words = (k: number): Uint32Array => new Uint32Array(bytes, 8 + count * (16 + 4 * k), count);
    return new Stops(
      count,
      new Float64Array(bytes, 8, count),
      new Float64Array(bytes, 8 + count * 8, count),
      words(0),
      words(1),
      words(2),
      words(3),
      words(4),
      congestedPorts(roots),
    );
  }

  /** How many stops have begun at `t`. */
  begun(t: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.from[middle]! <= t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Stops with from <= t < until, in order of beginning. */
  at(t: number): number[] {
    const begun = this.begun(t);
    if (begun === 0) return [];
    const checkpoint = Math.floor((begun - 1) / STRIDE);
    const holding: number[] = [];
    for (const stop of this.checkpoints[checkpoint]!) if (!(this.until[stop]! <= t)) holding.push(stop);
    for (let stop = checkpoint * STRIDE; stop < begun; stop++) if (!(this.until[stop]! <= t)) holding.push(stop);
    return holding;
  }

  /** When the next stop after `t` begins. */
  nextAfter(t: number): number | null {
    const next = this.begun(t);
    return next < this.count ? this.from[next]! : null;
  }

  /** When the last stop before `t` began. */
  lastBefore(t: number): number | null {
    let stop = this.begun(t) - 1;
    while (stop >= 0 && this.from[stop]! >= t) stop--;
    return stop >= 0 ? this.from[stop]! : null;
  }

  ofPort(port: number): readonly number[] {
    return this.byPort.get(port) ?? [];
  }

  /** The egress whose queue is at the root of this stop's tree. */
  rootPort(stop: number): number | null {
    return this.congested.get(this.root[stop]!) ?? null;
  }

  /** From this stop back to the root of its tree. */
  chain(stop: number): number[] {
    const chain = [stop];
    for (let at = this.cause[stop]!; at !== NONE && at < this.count && chain.length < 64; at = this.cause[at]!) {
      if (chain.includes(at)) break;
      chain.push(at);
    }
    return chain;
  }
}

function congestedPorts(roots: Roots | null): Map<number, number> {
  const ports = new Map<number, number>();
  roots?.stop.forEach((stop, i) => {
    const port = roots.congested_port[i];
    if (port !== null && port !== undefined) ports.set(stop, port);
  });
  return ports;
}
