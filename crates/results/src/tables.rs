//! The tables of a run directory. A column is declared with what its cell is in a row.

use super::column::{Column, Kind, Table, table};
use super::jobs::rows::JobRow;
use super::live_timing::Window;
use super::names::Names;
use super::table_writer::{Cell, CellRun};
use std::sync::LazyLock;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::peer;
use xoff_fabric::record::{ClassReport, FlowLink, FlowRecord, PauseRecord, PfcRecord, PortReport, Sample, Spread};
use xoff_jobs::bandwidth::{Exchange, Share};
use xoff_jobs::{Activity, Interval};
use xoff_scenario::measure::probe::MetricFacts;

/// A flow, and until when it delivered: its end or that of the run.
pub(crate) struct FlowRow<'a> {
    pub(crate) flow: &'a FlowRecord,
    pub(crate) until: Time,
    pub(crate) source: &'a str,
    pub(crate) scheme: &'a str,
    pub(crate) label: &'a str,
    pub(crate) path: &'a str,
    pub(crate) names: &'a Names,
}

impl FlowRow<'_> {
    fn fct(&self) -> Option<Span> {
        self.flow.delivered_at.map(|at| at.saturating_since(self.flow.start))
    }

    fn ideal(&self) -> Option<Span> {
        self.flow.size_bytes.map(|_| self.flow.ideal)
    }

    fn slowdown(&self) -> Option<f64> {
        let ideal = self.ideal().filter(|ideal| *ideal > Span::ZERO)?;
        self.fct().map(|fct| fct / ideal)
    }

    fn spread(&self, read: impl Fn(&Spread) -> u64) -> Option<u64> {
        self.flow.multipath.spread.as_ref().map(read)
    }

    fn goodput_gbps(&self) -> Option<f64> {
        let lasted = self.until.saturating_since(self.flow.start);
        (lasted > Span::ZERO).then(|| self.flow.delivered_bytes as f64 * 8.0 / lasted.as_s() / 1e9)
    }
}

pub(crate) struct SampleRow<'a> {
    pub(crate) sample: &'a Sample,
    pub(crate) facts: MetricFacts,
    pub(crate) entity: &'a str,
    pub(crate) names: &'a Names,
}

pub(crate) struct PauseRow<'a> {
    pub(crate) pause: &'a PauseRecord,
    pub(crate) names: &'a Names,
}

pub(crate) struct PfcRow<'a> {
    pub(crate) frame: &'a PfcRecord,
    pub(crate) names: &'a Names,
}

/// A class of a port.
pub(crate) struct PortRow<'a> {
    pub(crate) port: &'a PortReport,
    pub(crate) class: u8,
    pub(crate) of: &'a ClassReport,
    pub(crate) utilisation: f64,
    pub(crate) names: &'a Names,
}

/// Equal-cost links of a switch.
pub(crate) struct GroupRow<'a> {
    /// The first of them.
    pub(crate) port: u32,
    pub(crate) links: String,
    pub(crate) tx_bytes: u64,
    pub(crate) window: Span,
    pub(crate) mean: f64,
    pub(crate) worst: f64,
    pub(crate) names: &'a Names,
}

/// What a port sent of a flow.
pub(crate) struct FlowLinkRow<'a> {
    pub(crate) of: &'a FlowLink,
    /// Share of what its node sent of that flow.
    pub(crate) share: f64,
    pub(crate) names: &'a Names,
}

/// Some ports in a window.
#[derive(Default)]
pub(crate) struct PortColumns {
    pub(crate) ports: Vec<u32>,
    pub(crate) tx_bytes: Vec<u64>,
    pub(crate) queue_bytes: Vec<u64>,
    pub(crate) paused_us: Vec<f64>,
    pub(crate) marks: Vec<u64>,
}

/// Some flows in a window.
#[derive(Default)]
pub(crate) struct FlowColumns {
    pub(crate) flows: Vec<u64>,
    pub(crate) sent_wire_bytes: Vec<u64>,
    pub(crate) delivered_bytes: Vec<u64>,
    pub(crate) allowed_gbps: Vec<f64>,
    pub(crate) notifications: Vec<u64>,
    pub(crate) marked: Vec<u64>,
}

/// Ports in one window.
pub(crate) struct PortActivityRows<'a> {
    pub(crate) of: &'a PortColumns,
    pub(crate) window: u32,
    pub(crate) end_us: f64,
    pub(crate) names: &'a Names,
}

/// Flows in one window.
pub(crate) struct FlowActivityRows<'a> {
    pub(crate) of: &'a FlowColumns,
    pub(crate) window: u32,
    pub(crate) end_us: f64,
}

/// A collective, or a message, of an iteration of a job.
pub(crate) struct ExchangeRow<'a> {
    pub(crate) job: &'a str,
    pub(crate) name: &'a str,
    pub(crate) slowest: &'a str,
    pub(crate) of: &'a Exchange,
}

/// What a rank spent its time on in an iteration of a job.
pub(crate) struct RankRow<'a> {
    pub(crate) job: &'a str,
    pub(crate) name: &'a str,
    pub(crate) server: Option<u32>,
    pub(crate) of: &'a Share,
}

pub(crate) struct ActivityRow<'a> {
    pub(crate) job: &'a str,
    pub(crate) rank_name: &'a str,
    pub(crate) name: &'a str,
    pub(crate) activity: &'a Activity,
    pub(crate) of: &'a Interval,
}

table! {
    pub(crate) FLOWS, flow_cells(row: FlowRow<'_>) = "flows", "one row per flow, in the order in which flows ended (unfinished ones last)":
    integer "flow_id" = row.flow.id, "Number of the flow, in order of start.";
    text "source" = row.source, "The traffic generator that started it.";
    integer "number" = row.flow.number, "Its number among the flows of that generator: the same flow in other runs.";
    text "label" = row.label, "What the scenario calls the flow.";
    integer "src" = row.flow.src, "Number of the sending host.";
    integer "dst" = row.flow.dst, "Number of the receiving host.";
    text "src_name" = row.names.node(row.flow.src), "Name of the sending host.";
    text "dst_name" = row.names.node(row.flow.dst), "Name of the receiving host.";
    integer "src_port" = row.flow.ports.0, "UDP or TCP source port of its data packets.";
    integer "dst_port" = row.flow.ports.1, "UDP or TCP destination port of its data packets.";
    maybe integer "size_bytes" in "bytes" = row.flow.size_bytes, "Payload to be sent; empty for an endless flow.";
    integer "delivered_bytes" in "bytes" = row.flow.delivered_bytes, "Payload delivered to the receiver in order.";
    integer "priority" = row.names.priority(row.flow.class), "IEEE 802.1 priority of its data packets.";
    text "scheme" = row.scheme, "The congestion control that governed it.";
    real "start_us" in "us" = row.flow.start.as_us(), "When it started, since the start of the run.";
    maybe real "finish_us" in "us" = row.flow.delivered_at.map(Time::as_us),
        "When the receiver had every byte; empty if it never did.";
    maybe real "fct_us" in "us" = row.fct().map(Span::as_us),
        "Flow completion time: from start until the receiver had every byte.";
    maybe real "fct_acked_us" in "us" = row.flow.acked_at.map(|at| at.saturating_since(row.flow.start).as_us()),
        "From start until the sender knew that every byte had arrived.";
    maybe real "ideal_us" in "us" = row.ideal().map(Span::as_us),
        "Completion time of the same flow alone on the idle network, on the same path; empty for an endless flow.";
    maybe real "slowdown" in "1" = row.slowdown(), "fct_us divided by ideal_us; 1 is perfect.";
    real "base_rtt_us" in "us" = row.flow.base_rtt.as_us(), "Round-trip time of the idle network on its path.";
    integer "packets_sent" = row.flow.packets_sent, "Data packets put on the wire, retransmissions included.";
    integer "packets_retransmitted" = row.flow.packets_retransmitted, "Data packets sent again.";
    integer "timeouts" = row.flow.recovery.timeouts, "Retransmission timeouts.";
    integer "nacks" = row.flow.recovery.naks, "NAKs that the receiver sent.";
    integer "duplicates" = row.flow.recovery.duplicates,
        "Data packets that the receiver had already: they were sent again without need.";
    integer "trimmed" = row.flow.recovery.trimmed,
        "Data packets that reached the receiver without their payload, which a switch had cut off.";
    integer "held_packets_max" = row.flow.recovery.held_packets_max,
        "Most packets that the receiver held at once beyond the first one missing; 0 where it discards them.";
    integer "marked" = row.flow.marked, "Data packets that arrived with a congestion mark.";
    integer "notifications" = row.flow.notifications, "Congestion notifications that reached the sender.";
    integer "hops" = row.flow.path.hops() as u64, "Links on its longest path.";
    text "path" = row.path,
        "Nodes from sender to receiver, joined by '>'; '#n' tells parallel links apart. Several paths are joined by '|'.";
    maybe integer "paths_used" = row.spread(|of| of.paths_used),
        "Different paths that its data packets took; like the next three columns empty for a flow that keeps one path.";
    maybe integer "packets_reordered" = row.spread(|of| of.order.reordered),
        "Data packets that arrived after one with a higher PSN (RFC 4737), retransmissions apart.";
    maybe integer "reorder_extent_max" = row.spread(|of| of.order.extent_most),
        "Most packets that arrived from the first with a higher PSN on, before a reordered one.";
    maybe integer "out_of_order" = row.spread(|of| of.order.out_of_order),
        "Data packets that arrived while one before them was missing.";
    maybe real "goodput_gbps" in "Gbps" = row.goodput_gbps(),
        "Delivered payload over the time from start to delivery, or to the end of the run if unfinished.";
}

/// The column by which the folders of a data set of flows are named.
pub(crate) const FOLDER_COLUMN: &str = "scheme";

/// Flows without `scheme`, for a data set whose folders are named by it.
pub(crate) static FLOWS_BY_SCHEME: LazyLock<Table<'static>> = LazyLock::new(|| {
    static COLUMNS: LazyLock<Vec<Column<'static>>> =
        LazyLock::new(|| FLOWS.columns.iter().copied().filter(|column| column.name != FOLDER_COLUMN).collect());
    Table { columns: &COLUMNS, ..FLOWS }
});

/// Columns of `flows` and `ports` that only packets tell: empty in a run at flow level.
const OF_PACKETS: &[&str] = &[
    "packets_retransmitted",
    "timeouts",
    "nacks",
    "duplicates",
    "trimmed",
    "held_packets_max",
    "marked",
    "notifications",
    "port_tx_packets",
    "port_pause_frames",
    "port_resume_frames",
    "port_refresh_frames",
    "queue_peak_bytes",
    "queue_mean_bytes",
    "ingress_peak_bytes",
    "xoff_bytes",
    "headroom_bytes",
    "headroom_used_peak_bytes",
    "paused_us",
    "marks",
    "drops",
];

/// A table of a run at flow level: what only packets tell may be empty.
fn at_flow_level(table: &Table<'static>) -> Table<'static> {
    let column =
        |column: &Column<'static>| Column { nullable: column.nullable || OF_PACKETS.contains(&column.name), ..*column };
    // Once for each table of the program.
    let columns = Vec::leak(table.columns.iter().map(column).collect());
    Table { columns, ..*table }
}

/// [`FLOWS`], [`FLOWS_BY_SCHEME`] and [`PORTS`] of a run at flow level.
pub(crate) static FLOWS_OF_RATES: LazyLock<Table<'static>> = LazyLock::new(|| at_flow_level(&FLOWS));
pub(crate) static FLOWS_OF_RATES_BY_SCHEME: LazyLock<Table<'static>> =
    LazyLock::new(|| at_flow_level(&FLOWS_BY_SCHEME));
pub(crate) static PORTS_OF_RATES: LazyLock<Table<'static>> = LazyLock::new(|| at_flow_level(&PORTS));

/// Empties the cells that only packets tell.
pub(crate) fn forget_packets(table: &Table<'_>, cells: &mut [Cell<'_>]) {
    let known = table.columns.iter().zip(cells);
    for (_, cell) in known.filter(|(column, _)| OF_PACKETS.contains(&column.name)) {
        *cell = Cell::Empty;
    }
}

table! {
    pub SERIES, sample_cells(row: SampleRow<'_>) = "series", "one row per sample of a probe, in order of time":
    real "time_us" in "us" = row.sample.at.as_us(),
        "End of the interval that the sample describes, or the instant of a queue length.";
    text "metric" = row.facts.name, "What was measured; see the list of metrics below.";
    text "entity" = row.entity, "The port (from->to) or the label of the flow.";
    maybe integer "flow_id" = row.facts.of_flow.then_some(row.sample.entity),
        "The flow, as in flows.parquet; empty for ports.";
    maybe integer "priority" = row.facts.per_class.then(|| row.names.priority(row.sample.class)),
        "IEEE 802.1 priority, where the metric is per priority.";
    real "value" in "see unit" = row.sample.value * row.facts.scale, "The value.";
    text "unit" = row.facts.unit, "Unit of the value: bytes, Gbps, 1 (a fraction) or 1/s.";
}

table! {
    pub(crate) PAUSES, pause_cells(row: PauseRow<'_>) = "pauses", "one row per PAUSE and RESUME frame (refreshes apart), when a port decides to send it":
    real "time_us" in "us" = row.pause.at.as_us(), "When the port decided to send the frame.";
    text "port" = row.names.port(row.pause.port),
        "The sending port (from->to); the egress that must stop is at its other end.";
    text "node" = row.names.node_name_of(row.pause.port), "The node that sends the frame.";
    text "layer" = row.names.layer_of(row.pause.port), "Where that node stands: tor, leaf, spine and so on.";
    text "toward" = if row.names.faces_host(row.pause.port) { "host" } else { "switch" },
        "'host' or 'switch': who is told to stop.";
    integer "priority" = row.names.priority(row.pause.class), "IEEE 802.1 priority that the frame concerns.";
    text "event" = if row.pause.pause { "pause" } else { "resume" }, "'pause' or 'resume'.";
    integer "ingress_bytes" in "bytes" = row.pause.ingress_bytes,
        "Buffered bytes that came in by this port at the decision.";
}

table! {
    pub(crate) PFC, pfc_cells(row: PfcRow<'_>) = "pfc", "one row per priority told by a PFC frame that arrives, with [output] pfc_frames = true":
    real "time_us" in "us" = row.frame.at.as_us(),
        "When the last bit of the frame arrived; refreshes of timed pauses count too.";
    text "node" = row.names.node_name_of(row.frame.port), "The node that receives the frame.";
    text "node_kind" = if row.names.is_host(row.names.node_of(row.frame.port)) { "host" } else { "switch" },
        "'host' or 'switch'.";
    text "port" = row.names.port(row.frame.port), "The receiving port (from->to), whose egress is told.";
    integer "port_number" = row.names.number_of(row.frame.port),
        "Number of that port among its node's: 1, 2, ... in the order of the links.";
    integer "priority" = row.names.priority(row.frame.class), "IEEE 802.1 priority that is told.";
    text "event" = if row.frame.pause { "pause" } else { "resume" }, "'pause' or 'resume'.";
}

table! {
    pub(crate) PORTS, port_cells(row: PortRow<'_>) = "ports", "one row per port and priority, over the whole run":
    text "port" = row.names.port(row.port.port), "The port (from->to).";
    text "node" = row.names.node_name_of(row.port.port), "The node that owns the port.";
    text "layer" = row.names.layer_of(row.port.port), "Where that node stands.";
    text "peer" = row.names.node_name_of(peer(row.port.port)), "The node at the other end of the link.";
    integer "priority" = row.names.priority(row.class), "IEEE 802.1 priority.";
    real "rate_gbps" in "Gbps" = row.names.rate(row.port.port).as_gbps(),
        "Configured rate of the outgoing direction at the start of the run.";
    integer "port_tx_packets" = row.port.tx_packets, "Packets sent by the port in all priorities.";
    integer "port_tx_bytes" in "bytes" = row.port.tx_wire_bytes,
        "Wire bytes sent by the port in all priorities, gaps and PFC frames included.";
    real "port_utilisation" in "1" = row.utilisation,
        "Share of the run in which the port was sending, at its configured rate.";
    integer "port_pause_frames" = row.port.pause_frames,
        "PAUSE frames sent by the port in all priorities, refreshes apart.";
    integer "port_resume_frames" = row.port.resume_frames, "RESUME frames sent by the port in all priorities.";
    integer "port_refresh_frames" = row.port.refresh_frames, "PAUSE frames sent only to prolong a timed pause.";
    integer "queue_peak_bytes" in "bytes" = row.of.queue_bytes_peak, "Longest egress queue.";
    real "queue_mean_bytes" in "bytes" = row.of.queue_bytes_mean, "Egress queue averaged over time.";
    integer "ingress_peak_bytes" in "bytes" = row.of.ingress_bytes_peak,
        "Most buffered bytes that had come in by this port.";
    maybe integer "xoff_bytes" in "bytes" = row.of.xoff_bytes,
        "Smallest threshold at which this ingress would send PAUSE; empty at hosts and in lossy priorities.";
    integer "headroom_bytes" in "bytes" = row.of.headroom_bytes,
        "Bytes that this ingress may take beyond the threshold.";
    integer "headroom_used_peak_bytes" in "bytes" = row.of.headroom_used_peak_bytes,
        "The most that it took of them at once.";
    real "paused_us" in "us" = row.of.paused.as_us(), "How long the egress was paused.";
    integer "marks" = row.of.marks, "Packets that this egress queue marked.";
    integer "drops" = row.of.drops, "Packets dropped here.";
}

table! {
    pub(crate) GROUPS, group_cells(row: GroupRow<'_>) = "groups", "one row per group of equal-cost links of a switch that sent something, in order of their ports":
    text "node" = row.names.node_name_of(row.port), "The switch.";
    text "layer" = row.names.layer_of(row.port), "Its layer: tor, leaf, spine and so on.";
    text "links" = row.links.as_str(), "Its ports (from->to), joined by '|'.";
    integer "tx_bytes" in "bytes" = row.tx_bytes, "Wire bytes sent by all of them.";
    real "window_us" in "us" = row.window.as_us(),
        "Windows in which their loads are compared; each link has time for 20 full packets in one.";
    real "load_max_over_mean" in "1" = row.mean,
        "Largest load over the mean load of the links, a load being bytes over rate: the mean over windows, weighted by bytes. 1 is even.";
    real "load_max_over_mean_worst" in "1" = row.worst, "The largest of any window.";
}

table! {
    pub(crate) PORT_ACTIVITY, port_activity_runs(row: PortActivityRows<'_>) -> CellRun = "port_activity", "one row per window and port that was not idle; windows are as short as a run of its length can afford":
    integer "window" = CellRun::Same(row.window.into()), "Number of the window, from zero.";
    real "time_us" in "us" = CellRun::Same(row.end_us.into()), "End of the window; the last one ends with the run.";
    text "port" = CellRun::Listed(&row.of.ports, row.names), "The port (from->to).";
    integer "tx_bytes" in "bytes" = CellRun::Integers(&row.of.tx_bytes), "Wire bytes sent in the window, gaps and PFC frames included.";
    integer "queue_bytes" in "bytes" = CellRun::Integers(&row.of.queue_bytes),
        "Bytes waiting in all its egress queues at the end of the window.";
    real "paused_us" in "us" = CellRun::Reals(&row.of.paused_us),
        "How long PFC stopped it; of several priorities the one that was stopped longest.";
    integer "marks" = CellRun::Integers(&row.of.marks), "Packets that its egress queues marked.";
}

table! {
    pub(crate) FLOW_ACTIVITY, flow_activity_runs(row: FlowActivityRows<'_>) -> CellRun = "flow_activity", "one row per window and flow alive at its end (of more than 1,000 the oldest), windows as in port_activity":
    integer "window" = CellRun::Same(row.window.into()), "Number of the window, from zero.";
    real "time_us" in "us" = CellRun::Same(row.end_us.into()), "End of the window; the last one ends with the run.";
    integer "flow_id" = CellRun::Integers(&row.of.flows), "The flow, as in flows.parquet.";
    integer "sent_wire_bytes" in "bytes" = CellRun::Integers(&row.of.sent_wire_bytes), "Wire bytes that its NIC sent in the window.";
    integer "delivered_bytes" in "bytes" = CellRun::Integers(&row.of.delivered_bytes),
        "Payload delivered to the receiver in order, in the window.";
    real "allowed_gbps" in "Gbps" = CellRun::Reals(&row.of.allowed_gbps),
        "What its scheme allows at the end of the window, headers included.";
    integer "notifications" = CellRun::Integers(&row.of.notifications), "Congestion notifications that reached the sender in the window.";
    integer "marked" = CellRun::Integers(&row.of.marked), "Packets that arrived with a congestion mark in the window.";
}

table! {
    pub(crate) FLOW_LINKS, flow_link_cells(row: FlowLinkRow<'_>) = "flow_links", "one row per flow and port that sent data packets of it, by flow, with [output] flow_links = true":
    integer "flow_id" = row.of.flow, "The flow, as in flows.parquet.";
    text "port" = row.names.port(row.of.port), "The port (from->to).";
    text "node" = row.names.node_name_of(row.of.port), "The node that owns the port.";
    text "layer" = row.names.layer_of(row.of.port), "Its layer: tor, leaf, spine and so on.";
    integer "packets" = row.of.packets, "Data packets of the flow that the port sent, retransmissions and trimmed ones included.";
    integer "wire_bytes" in "bytes" = row.of.wire_bytes, "Their bytes on the wire, gaps included.";
    real "share" in "1" = row.share, "wire_bytes over what all ports of the node sent of the flow; 1 where the flow keeps one path.";
}

table! {
    pub(crate) LIVE, live_cells(row: Window) = "live", "one row per window of a run on real packets: how well the machine kept up with the clock":
    real "time_us" in "us" = row.at.as_us(), "End of the window, in the scenario's time.";
    real "wall_s" in "s" = row.wall_seconds, "End of the window since the start of the run, on the wall.";
    real "frozen_share" in "1" = row.slip, "Share of the wall time until then in which virtual time was frozen.";
    maybe real "event_lag_p99_ns" in "ns" = row.lateness_p99_ns,
        "99th percentile of how late the window's work was done, in the scenario's time; empty if nothing was due.";
    maybe real "event_lag_max_ns" in "ns" = row.lateness_max_ns, "The largest event lag in the window, likewise.";
    integer "frames" = row.frames, "Frames handed to the kernel in the window.";
}

table! {
    pub(crate) JOBS, job_cells(row: JobRow) = "jobs", "one row per training job, where the scenario has one":
    text "job" = row.name.as_str(), "Name of its [[traffic]] table.";
    integer "ranks" = row.ranks, "GPUs that take part.";
    integer "iterations" = row.iterations, "How often it was to do what it does.";
    integer "iterations_run" = row.iterations_run, "How many of them were run; those after are extrapolated, where it settled.";
    maybe real "iteration_us" in "us" = row.iteration_us, "Mean time of an iteration, where the job settled; else empty.";
    maybe real "iteration_half_width_us" in "us" = row.iteration_half_width_us,
        "Half-width of the 95 % interval of that mean.";
    real "start_us" in "us" = row.start_us, "When it started.";
    maybe real "end_us" in "us" = row.end_us,
        "When its last activity was over, or would have been, where it settled; empty if it did not end within the run.";
    maybe real "jct_us" in "us" = row.jct_us, "Job completion time: from start_us to end_us.";
    maybe real "jct_half_width_us" in "us" = row.jct_half_width_us,
        "By how much the extrapolated iterations may move jct_us; empty where none is.";
    real "compute_us" in "us" = row.compute_us, "Time in which a rank computed, the mean over the ranks.";
    real "communication_us" in "us" = row.communication_us,
        "Time in which a rank took part in collectives and messages, likewise.";
    real "exposed_us" in "us" = row.exposed_us, "Of that, the time in which the same rank did not compute, likewise.";
    maybe real "exposed_share" in "1" = row.exposed_share, "exposed_us over jct_us.";
    text "state" = row.state(), "'finished', 'settled' (iterations after iterations_run are extrapolated) or 'unfinished'.";
}

table! {
    pub(crate) COLLECTIVES, collective_cells(row: ExchangeRow<'_>) = "collectives", "one row per collective, or message from rank to rank, of every iteration of every job, by begin":
    text "job" = row.job, "The job, as in jobs.parquet.";
    integer "iteration" = row.of.iteration, "From zero.";
    text "name" = row.name, "What the job calls it.";
    text "kind" = row.of.kind.word(),
        "all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, barrier or point-to-point.";
    integer "ranks" = row.of.ranks, "How many take part.";
    integer "size_bytes" in "bytes" = row.of.bytes, "Size as nccl-tests defines it: of the whole buffer.";
    real "begin_us" in "us" = row.of.begin.as_us(), "When the first rank began; of a message, when it was first sent.";
    maybe real "end_us" in "us" = row.of.end.map(Time::as_us),
        "When the last rank was done, or the message delivered; empty if one was not.";
    maybe real "time_us" in "us" = row.of.time().map(Span::as_us), "From begin_us to end_us.";
    maybe real "algbw_gb_per_s" in "GB/s" = row.of.algorithm_bandwidth(),
        "Algorithm bandwidth: size_bytes over time_us, in 10^9 bytes per second.";
    maybe real "busbw_gb_per_s" in "GB/s" = row.of.bus_bandwidth(),
        "Bus bandwidth: algorithm bandwidth times the factor of nccl-tests.";
    integer "slowest_rank" = row.of.slowest, "The rank that was done last, or one that was not.";
    text "slowest" = row.slowest, "Its name.";
}

table! {
    pub(crate) RANKS, rank_cells(row: RankRow<'_>) = "ranks", "one row per iteration and rank of every job: what it spent its time on":
    text "job" = row.job, "The job, as in jobs.parquet.";
    integer "iteration" = row.of.iteration, "From zero.";
    integer "rank" = row.of.rank, "From zero.";
    text "name" = row.name, "The rank's GPU or host.";
    maybe integer "server" = row.server, "Its server, by its place in the job.";
    real "begin_us" in "us" = row.of.begin.as_us(), "When its first activity began.";
    real "end_us" in "us" = row.of.end.as_us(), "When its last was over, or the run was.";
    real "compute_us" in "us" = row.of.compute.as_us(), "Time in which it computed.";
    real "communication_us" in "us" = row.of.communication.as_us(),
        "Time in which it took part in collectives and messages.";
    real "exposed_us" in "us" = row.of.exposed.as_us(), "Of that, the time in which it did not compute.";
    real "idle_us" in "us" = row.of.idle.as_us(), "Time between begin_us and end_us in which it did neither.";
}

table! {
    pub(crate) ACTIVITIES, activity_cells(row: ActivityRow<'_>) = "activities", "one row per activity of a rank of a job, in the order in which they ended (unfinished ones last)":
    text "job" = row.job, "The job, as in jobs.parquet.";
    integer "iteration" = row.of.iteration, "From zero.";
    integer "rank" = row.activity.rank, "From zero.";
    text "rank_name" = row.rank_name, "The rank's GPU or host.";
    text "name" = row.name, "What the job calls it.";
    text "kind" = row.activity.kind.word(), "'compute', or as in collectives.parquet.";
    real "begin_us" in "us" = row.of.begin.as_us(), "When the first of its operations began.";
    maybe real "end_us" in "us" = row.of.end.map(Time::as_us), "When the last was over; empty if the run ended before.";
}

/// Every table, in the order in which the dictionary lists them.
pub static ALL: &[&Table] = &[
    &FLOWS,
    &SERIES,
    &PAUSES,
    &PFC,
    &PORTS,
    &PORT_ACTIVITY,
    &FLOW_ACTIVITY,
    &GROUPS,
    &FLOW_LINKS,
    &LIVE,
    &JOBS,
    &COLLECTIVES,
    &RANKS,
    &ACTIVITIES,
];
