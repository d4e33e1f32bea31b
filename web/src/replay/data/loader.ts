// Brings runs here in the order in which they are needed: what the first picture shows, then pauses, then the rest.
import type { Index } from "./contract";
import { Run } from "./run";
import { json, type Source } from "./source";

export class Loader {
  private constructor(
    private readonly source: Source,
    readonly index: Index,
  ) {}

  static async open(source: Source): Promise<Loader> {
    const index = await json<Index>(source, "index.json");
    if (!index || index.runs.length === 0) throw new Error("there is no run in this replay");
    return new Loader(source, index);
  }

  /** The runs of these numbers; those of `open` are kept. `changed`: something of a run has come. */
  runs(numbers: readonly number[], open: readonly Run[], changed: () => void): Promise<Run[]> {
    return Promise.all(
      numbers.map((number) => open.find((run) => run.number === number) ?? Run.open(number, this.index.runs[number]!.name, this.source, changed)),
    );
  }

  /** What these runs show at `t`. */
  async firstTiles(runs: readonly Run[], t: number): Promise<void> {
    await Promise.all(runs.map((run) => run.tiles.loadAt(0, Math.min(t, run.head.end_us - 1e-6))));
  }

  /** What a picture can be drawn without, but not be complete. */
  async stops(runs: readonly Run[]): Promise<void> {
    await Promise.all(runs.map((run) => run.loadStops().catch((error: unknown) => console.error(error))));
  }

  /** All that no picture needs, run by run; `changed` after each. */
  async rest(runs: readonly Run[], changed: () => void): Promise<void> {
    for (const run of runs) {
      if (run.flows !== null) continue;
      await run.loadFlows().catch((error: unknown) => console.error(error));
      changed();
      // The coarsest windows stand in for finer ones that are not here yet.
      await run.tiles.load(run.head.levels - 1, 0);
    }
  }
}
