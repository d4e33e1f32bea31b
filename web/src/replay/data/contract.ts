// What the server, or the exported file, holds, written from the types of the program by
// `XOFF_UPDATE=1 cargo test -p xoff --test house pages`. Times are in microseconds since the start of the run.
// Ports 2i and 2i+1 are the two ends of link i; a port is the transmitter of its node towards its peer.

/** The runs of a directory. */
export interface Index {
  title: string;
  version: string;
  kind: "run" | "comparison";
  runs: IndexRow[];
}

export interface IndexRow {
  name: string;
  scheme: string;
  seed: number;
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
  nodes: Nodes;
  ports: Ports;
  queues: Queues;
  port_totals: PortTotals;
  jobs: Job[];
  /** What happened to the run, by time. */
  marks: Mark[];
  warnings: string[];
  failure: string | null;
  pause_times: string;
}

export interface Nodes {
  name: string[];
  layer: string[];
  tier: number[];
  domain: number[];
}

export interface Ports {
  name: string[];
  node: number[];
  rate_gbps: number[];
}

/** Rows of `ports.parquet`. */
export interface Queues {
  port: number[];
  priority: number[];
  queue_peak_bytes: number[];
  queue_mean_bytes: number[];
  ingress_peak_bytes: number[];
  xoff_bytes: (number | null)[];
  headroom_bytes: number[];
  paused_us: number[];
  marks: number[];
  drops: number[];
}

/** What `ports.parquet` has of a port in all priorities, by port. */
export interface PortTotals {
  tx_bytes: number[];
  utilisation: number[];
  pause_frames: number[];
  resume_frames: number[];
}

/** Something worth a mark in the time line. */
export interface Mark {
  at_us: number;
  until_us: number | null;
  text: string;
  kind: "fault" | "storm" | "burst" | "collective";
}

/** One job. */
export interface Job {
  /** Of its `[[traffic]]` table. */
  name: string;
  /** GPUs that take part. */
  ranks: number;
  /** That it was to do. */
  iterations: number;
  /** How many of them were run: fewer where it settled before. */
  iterations_run: number;
  /** Mean time of an iteration, where it settled. */
  iteration_us: number | null;
  /** Half-width of the 95 % interval of that mean. */
  iteration_half_width_us: number | null;
  /** When it started. */
  start_us: number;
  /** When its last activity was over, or would have been, where it settled; `None` if it did not end within the run. */
  end_us: number | null;
  /** Job completion time: from start to end. */
  jct_us: number | null;
  /** Half-width that the iterations that were not run give that, where it settled. */
  jct_half_width_us: number | null;
  /** Mean over the ranks of the time in which each computed. */
  compute_us: number;
  /** Mean over the ranks of the time in which each took part in a collective or a message. */
  communication_us: number;
  /** Mean over the ranks of the communication time that the rank's own computing does not cover. */
  exposed_us: number;
  /** `exposed_us` over `jct_us`. */
  exposed_share: number | null;
  /** Collectives and messages of one name and size, over all iterations. */
  collectives: JobCollective[];
}

/** Collectives of one name and size. */
export interface JobCollective {
  /** As the job calls it. */
  name: string;
  /** `all-reduce`, `point-to-point` and so on. */
  kind: string;
  /** That take part in one. */
  ranks: number;
  /** Size as nccl-tests defines it. */
  bytes: number;
  /** How many came to their end. */
  completed: number;
  /** How many began and did not. */
  unfinished: number;
  /** Mean time, from the first rank's begin to the last one's end. */
  time_us: number | null;
  /** The shortest. */
  min_us: number | null;
  /** The longest. */
  max_us: number | null;
  /** Algorithm bandwidth of the mean time, as nccl-tests reports it, in 10^9 bytes per second. */
  algbw_gb_per_s: number | null;
  /** Bus bandwidth, likewise. */
  busbw_gb_per_s: number | null;
  /** The rank that ended last most often, by name. */
  slowest: string;
}

export interface ActivityTable {
  /** Names of activities and of kinds. */
  texts: string[];
  /** By job: names of ranks. */
  ranks: string[][];
  job: number[];
  rank: number[];
  name: number[];
  kind: number[];
  iteration: number[];
  begin_us: number[];
  end_us: (number | null)[];
}

/** Sums over the network, for the time line. */
export interface TimelineData {
  bin_us: number;
  paused_ports: number[];
  queued_bytes: number[];
  tx_gbps: number[];
  flows_started: number[];
  /** Of training jobs; empty without one. */
  exposed_ranks: number[];
}

/** Curves of one port over the whole run. */
export interface PortSeries {
  window_us: number;
  time_us: number[];
  tx_gbps: number[];
  queue_bytes: number[];
  paused_share: number[];
  marks: number[];
}

export interface Roots {
  stop: number[];
  congested_port: (number | null)[];
}

export interface Victims {
  total: number;
  victims: Victim[];
}

export interface Victim {
  flow: number;
  held_us: number;
  held_share: number;
  lost_bytes: number;
  stops: number;
  root_port: number;
}

/** All flows, in the order of their starts. */
export interface Flows {
  /** Labels and names of sources. */
  texts: string[];
  /** Ports of each path. */
  paths: number[][];
  label: number[];
  source: number[];
  path: number[];
  /** In how many windows it was watched: without one there is no course over time. */
  windows: number[];
  id: number[];
  src: number[];
  dst: number[];
  priority: number[];
  size_bytes: (number | null)[];
  delivered_bytes: number[];
  start_us: number[];
  finish_us: (number | null)[];
  ideal_us: (number | null)[];
  slowdown: (number | null)[];
  goodput_gbps: (number | null)[];
  retransmitted: number[];
  timeouts: number[];
  marked: number[];
  notifications: number[];
}

/** One flow over its life. Rates are means over a window, which ends at the time beside them. */
export interface FlowSeries {
  time_us: number[];
  delivered_gbps: number[];
  sent_gbps: number[];
  asked_gbps: number[];
  notifications: number[];
  marked: number[];
  held: [number, number, number, boolean][];
  variables: Variable[];
  /** Ports that carried it, if the run counted what they did. */
  links: number[];
  /** Share of what the node of each of these ports sent of it. */
  link_shares: number[];
}

/** One variable of one flow over time. */
export interface Variable {
  name: string;
  unit: string;
  time_us: number[];
  value: number[];
}

/** No stop, no cause. */
export const NONE = 0xffffffff;
