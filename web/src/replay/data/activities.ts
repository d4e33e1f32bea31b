// What the ranks of training jobs did over time.
import type { ActivityTable } from "./contract";

export interface Activity {
  name: string;
  kind: string;
  iteration: number;
  begin: number;
  /** The end of the run if it did not end. */
  until: number;
  ended: boolean;
}

export class Activities {
  /** By job and rank, in order of begins. */
  private readonly lines: Activity[][][];

  constructor(
    private readonly table: ActivityTable,
    end: number,
  ) {
    const { texts, job, rank, name, kind, iteration, begin_us, end_us } = table;
    this.lines = table.ranks.map((ranks) => ranks.map(() => []));
    begin_us.forEach((begin, row) => {
      const over = end_us[row] ?? null;
      this.lines[job[row]!]![rank[row]!]!.push({
        name: texts[name[row]!]!,
        kind: texts[kind[row]!]!,
        iteration: iteration[row]!,
        begin,
        until: over ?? end,
        ended: over !== null,
      });
    });
  }

  ranks(job: number): readonly string[] {
    return this.table.ranks[job] ?? [];
  }

  of(job: number, rank: number): readonly Activity[] {
    return this.lines[job]?.[rank] ?? [];
  }

  /** What a rank does at an instant. */
  at(job: number, rank: number, t: number): Activity[] {
    return runningAt(this.of(job, rank), t);
  }
}

/** Those of a list in order of begins that have begun and are not over. */
export function runningAt(list: readonly Activity[], t: number): Activity[] {
  const running: Activity[] = [];
  for (const activity of list) {
    if (activity.begin > t) break;
    if (t < activity.until) running.push(activity);
  }
  return running;
}

export const computes = (activity: Activity): boolean => activity.kind === "compute";
