// What a port did over time, in all runs shown.
import { bytes, gbps, grouped, percent, visible } from "../../shared/format";
import type { App } from "../app";
import type { PortSeries } from "../data/contract";
import type { Run } from "../data/run";
import type { ChartSpec, Series } from "../page/chart";
import type { ColourName } from "../page/theme";

export interface PortCourse {
  run: Run;
  port: number;
  data: PortSeries;
}

/** Of the runs that have such a port and know what it did. */
export async function loadCourses(runs: readonly Run[], name: string): Promise<PortCourse[]> {
  const loaded = await Promise.all(
    runs.map(async (run) => {
      const port = run.portNumber.get(name);
      const data = port === undefined ? null : await run.port(port).catch(() => null);
      return port === undefined || data === null ? [] : [{ run, port, data }];
    }),
  );
  return loaded.flat();
}

export function portCharts(app: App, courses: readonly PortCourse[]): ChartSpec[] {
  const time = courses.map(({ data }) => data.time_us).reduce((best, next) => (next.length > best.length ? next : best));
  const alone = app.runs.length === 1;
  // Alone, a line has the colour and name of what it shows; together, those of its run.
  const lines = (label: string, colour: ColourName, values: (data: PortSeries) => number[], rest: Pick<Series, "unit" | "fill">): Series[] =>
    courses.map(({ run, data }) => ({
      label: alone ? label : visible(run.label),
      colour: alone ? colour : app.colourOf(run),
      values: values(data),
      ...rest,
    }));
  const charts: ChartSpec[] = [
    {
      label: "Queue at the end of each window",
      time,
      axis: bytes,
      series: [...lines("queue", "queue", (data) => data.queue_bytes, { unit: bytes, fill: alone }), ...threshold(courses[0]!, time)],
    },
    { label: "Sent", time, axis: gbps, height: 92, series: lines("sent", "throughput", (data) => data.tx_gbps, { unit: gbps }) },
    {
      label: "Share of each window paused",
      time,
      axis: percent,
      height: 80,
      series: lines("paused", "paused", (data) => data.paused_share, { unit: percent, fill: true }),
    },
  ];
  if (courses.some(({ data }) => data.marks.some((marks) => marks > 0))) {
    charts.push({
      label: "ECN marks in each window",
      time,
      axis: grouped,
      height: 80,
      series: lines("marks", "path", (data) => data.marks, { unit: grouped }),
    });
  }
  return charts;
}

/** The fill of the ingress at which the switch stops its neighbour. */
function threshold({ run, port }: PortCourse, time: readonly number[]): Series[] {
  const rows = run.queueRows.get(port) ?? [];
  const xoff = Math.max(0, ...rows.map((row) => run.head.queues.xoff_bytes[row] ?? 0));
  return xoff > 0 ? [{ label: "xoff of the ingress", colour: "paused", values: time.map(() => xoff), unit: bytes, dash: [6, 4] }] : [];
}
