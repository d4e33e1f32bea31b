// What the server, or the exported file, holds. Times are in microseconds since the start of the run.
// Ports 2i and 2i+1 are the two ends of link i; a port is the transmitter of its node towards its peer.

export interface Index {
  title: string;
  version: string;
  kind: "run" | "comparison";
  runs: { name: string; scheme: string; seed: number }[];
}

export interface RunHead {
  name: string;
  scheme: string;
  seed: number;
  end_us: number;
  window_us: number;
  windows: number;
  tile_windows: number;
  levels: number;
  nodes: { name: string[]; layer: string[]; tier: number[]; domain: (number | string)[] };
  ports: { name: string[]; node: number[]; rate_gbps: number[] };
  queues: {
    port: number[];
    priority: number[];
    queue_peak_bytes: number[];
    queue_mean_bytes: number[];
    ingress_peak_bytes: number[];
    xoff_bytes: (number | null)[];
    headroom_bytes: (number | null)[];
    paused_us: number[];
    marks: number[];
    drops: number[];
  };
  port_totals: { tx_bytes: number[]; utilisation: number[]; pause_frames: number[]; resume_frames: number[] };
  jobs: Job[];
  /** What happened to the run, by time. */
  marks: Mark[];
  warnings: string[];
  failure: string | null;
  pause_times: string;
}

export interface Mark {
  at_us: number;
  until_us: number | null;
  text: string;
  kind: "fault" | "storm" | "burst" | "collective";
}

/** A training job. */
export interface Job {
  name: string;
  ranks: number;
  iterations: number;
  start_us: number;
  end_us: number | null;
  jct_us: number | null;
  compute_us: number;
  communication_us: number;
  exposed_us: number;
  exposed_share: number | null;
  /** Those of one name and size together. */
  collectives: {
    name: string;
    kind: string;
    bytes: number;
    completed: number;
    unfinished: number;
    time_us: number | null;
    busbw_gb_per_s: number | null;
    slowest: string;
  }[];
}

/** What the ranks of jobs did, by begin. Jobs are counted as in `RunHead`. */
export interface ActivityTable {
  texts: string[];
  /** By job: names of its ranks. */
  ranks: string[][];
  job: number[];
  rank: number[];
  name: number[];
  kind: number[];
  iteration: number[];
  begin_us: number[];
  end_us: (number | null)[];
}

export interface TimelineData {
  bin_us: number;
  paused_ports: number[];
  queued_bytes: number[];
  tx_gbps: number[];
  flows_started: number[];
  /** Empty without a job. */
  exposed_ranks: number[];
}

export interface Roots {
  stop: number[];
  congested_port: (number | null)[];
}

export interface Flows {
  texts: string[];
  paths: number[][];
  id: (number | string)[];
  label: number[];
  source: number[];
  src: number[];
  dst: number[];
  size_bytes: (number | null)[];
  delivered_bytes: number[];
  start_us: number[];
  finish_us: (number | null)[];
  ideal_us: (number | null)[];
  slowdown: (number | null)[];
  goodput_gbps: number[];
  path: number[];
  priority: number[];
  marked: number[];
  notifications: number[];
  retransmitted: number[];
  timeouts: number[];
  /** In how many windows it was watched: without one there is no course over time. */
  windows: number[];
}

export interface Victim {
  flow: number;
  held_us: number;
  held_share: number;
  lost_bytes: number;
  stops: number;
  root_port: number | null;
}

export interface Victims {
  total: number;
  victims: Victim[];
}

export interface PortSeries {
  window_us: number;
  time_us: number[];
  tx_gbps: number[];
  queue_bytes: number[];
  paused_share: number[];
  marks: number[];
}

export interface FlowSeries {
  time_us: number[];
  delivered_gbps: number[];
  asked_gbps: number[];
  notifications: number[];
  marked: number[];
  held: [from_us: number, until_us: number, port: number, victim: boolean][];
  /** What the scheme published of it, if a probe asked. */
  variables: { name: string; unit: string; time_us: number[]; value: number[] }[];
}

/** No stop, no cause. */
export const NONE = 0xffffffff;
