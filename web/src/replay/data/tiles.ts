// What ports did, in tiles of windows that are fetched when they are needed.
import type { Source } from "./source";

/** The rows of some windows of one level, ordered by (window, port); only what is not zero has a row. */
export interface Tile {
  rows: number;
  port: Uint32Array;
  window: Uint32Array;
  tx: Uint32Array;
  queue: Uint32Array;
  paused: Float32Array;
  marks: Uint32Array;
}

export function decodeTile(bytes: ArrayBuffer): Tile {
  const rows = new DataView(bytes).getUint32(0, true);
  if (bytes.byteLength < 4 + rows * 24) throw new Error("tile is shorter than its number of rows says");
  const column = (k: number): Uint32Array => new Uint32Array(bytes, 4 + k * rows * 4, rows);
  return {
    rows,
    port: column(0),
    window: column(1),
    tx: column(2),
    queue: column(3),
    paused: new Float32Array(bytes, 4 + 4 * rows * 4, rows),
    marks: column(5),
  };
}

/** The first row whose window is not below `window`. */
export function firstRow(tile: Tile, window: number): number {
  let low = 0;
  let high = tile.rows;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tile.window[middle]! < window) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What every port did in one window: dense, by port number. */
export class Moment {
  readonly utilisation: Float32Array;
  readonly queue: Float32Array;
  readonly paused: Float32Array;
  readonly marks: Float32Array;
  /** The beginning of the window shown, in microseconds. */
  from = 0;

  constructor(ports: number) {
    this.utilisation = new Float32Array(ports);
    this.queue = new Float32Array(ports);
    this.paused = new Float32Array(ports);
    this.marks = new Float32Array(ports);
  }

  fill(tile: Tile, window: number, width: number, rates: readonly number[]): void {
    this.utilisation.fill(0);
    this.queue.fill(0);
    this.paused.fill(0);
    this.marks.fill(0);
    this.from = window * width;
    for (let row = firstRow(tile, window); row < tile.rows && tile.window[row] === window; row++) {
      const port = tile.port[row]!;
      this.utilisation[port] = (tile.tx[row]! * 8) / (rates[port]! * 1e3 * width);
      this.queue[port] = tile.queue[row]!;
      this.paused[port] = tile.paused[row]! / width;
      this.marks[port] = tile.marks[row]!;
    }
  }
}

export interface Grid {
  windowUs: number;
  windows: number;
  tileWindows: number;
  levels: number;
}

/** Where an instant lies at a level. */
export function locate(grid: Grid, level: number, t: number): { window: number; tile: number; width: number } {
  const width = grid.windowUs * 4 ** level;
  const last = Math.max(0, Math.ceil(grid.windows / 4 ** level) - 1);
  const window = Math.max(0, Math.min(last, Math.floor(t / width + 1e-9)));
  return { window, tile: Math.floor(window / grid.tileWindows), width };
}

/** The level whose windows are not much shorter than what passes between two frames. */
export function levelFor(grid: Grid, usPerFrame: number): number {
  const level = Math.floor(Math.log(Math.max(1, usPerFrame / grid.windowUs)) / Math.log(4));
  return Math.max(0, Math.min(grid.levels - 1, level));
}

const BUDGET = 64 << 20;

/** Tiles of one run: those used last are kept, up to a budget of bytes. */
export class Tiles {
  private readonly kept = new Map<string, Tile>();
  private readonly asked = new Set<string>();
  private readonly absent = new Set<string>();
  private size = 0;

  /** `arrived` is called whenever a tile has come. */
  constructor(
    private readonly source: Source,
    private readonly folder: string,
    readonly grid: Grid,
    private readonly arrived: () => void,
  ) {}

  /** The tile that shows `t` at `level`, or at the next coarser level that is here; asks for what is missing. */
  at(level: number, t: number): { tile: Tile; window: number; width: number } | null {
    for (let k = level; k < this.grid.levels; k++) {
      const place = locate(this.grid, k, t);
      const tile = this.get(k, place.tile);
      if (tile) return { tile, window: place.window, width: place.width };
    }
    return null;
  }

  prefetch(level: number, t: number): void {
    this.get(level, locate(this.grid, level, t).tile);
  }

  /** As `load`, of the tile that shows `t`. */
  loadAt(level: number, t: number): Promise<void> {
    return this.load(level, locate(this.grid, level, t).tile);
  }

  /** Resolves when the tile is here, or known to be absent. */
  async load(level: number, index: number): Promise<void> {
    const key = `${level}/${index}`;
    if (this.kept.has(key) || this.asked.has(key) || this.absent.has(key)) return;
    this.asked.add(key);
    try {
      const bytes = await this.source.bytes(`${this.folder}/tile/${key}`);
      if (bytes === null) {
        this.absent.add(key);
        return;
      }
      this.keep(key, decodeTile(bytes));
      this.arrived();
    } catch (error) {
      // A server that has gone away: what is here goes on being shown, and nothing is asked for again and again.
      this.absent.add(key);
      console.error(error);
    } finally {
      this.asked.delete(key);
    }
  }

  private get(level: number, index: number): Tile | null {
    const key = `${level}/${index}`;
    const tile = this.kept.get(key);
    if (!tile) {
      void this.load(level, index);
      return null;
    }
    this.kept.delete(key);
    this.kept.set(key, tile);
    return tile;
  }

  private keep(key: string, tile: Tile): void {
    this.kept.set(key, tile);
    this.size += tile.rows * 24;
    for (const [oldest, gone] of this.kept) {
      if (this.size <= BUDGET || oldest === key) break;
      this.kept.delete(oldest);
      this.size -= gone.rows * 24;
    }
  }
}
