//! The tables of a run directory.

use super::column::{Column, Kind, Table};
use std::sync::LazyLock;

const fn integer(name: &'static str, unit: &'static str, meaning: &'static str) -> Column<'static> {
    Column { name, kind: Kind::Integer, unit, nullable: false, meaning }
}
const fn real(name: &'static str, unit: &'static str, meaning: &'static str) -> Column<'static> {
    Column { name, kind: Kind::Real, unit, nullable: false, meaning }
}
const fn text(name: &'static str, meaning: &'static str) -> Column<'static> {
    Column { name, kind: Kind::Text, unit: "", nullable: false, meaning }
}
/// The same column, which may be empty.
const fn maybe(column: Column<'static>) -> Column<'static> {
    Column { nullable: true, ..column }
}

pub(crate) static FLOWS: Table = Table {
    name: "flows",
    meaning: "one row per flow, in the order in which flows ended (unfinished ones last)",
    columns: &[
        integer("flow_id", "", "Number of the flow, in order of start."),
        text("source", "The traffic generator that started it."),
        integer("number", "", "Its number among the flows of that generator: the same flow in other runs."),
        text("label", "What the scenario calls the flow."),
        integer("src", "", "Number of the sending host."),
        integer("dst", "", "Number of the receiving host."),
        text("src_name", "Name of the sending host."),
        text("dst_name", "Name of the receiving host."),
        integer("src_port", "", "UDP or TCP source port of its data packets."),
        integer("dst_port", "", "UDP or TCP destination port of its data packets."),
        maybe(integer("size_bytes", "bytes", "Payload to be sent; empty for an endless flow.")),
        integer("delivered_bytes", "bytes", "Payload delivered to the receiver in order."),
        integer("priority", "", "IEEE 802.1 priority of its data packets."),
        text("scheme", "The congestion control that governed it."),
        real("start_us", "us", "When it started, since the start of the run."),
        maybe(real("finish_us", "us", "When the receiver had every byte; empty if it never did.")),
        maybe(real("fct_us", "us", "Flow completion time: from start until the receiver had every byte.")),
        maybe(real("fct_acked_us", "us", "From start until the sender knew that every byte had arrived.")),
        maybe(real(
            "ideal_us",
            "us",
            "Completion time of the same flow alone on the idle network, on the same path; empty for an endless flow.",
        )),
        maybe(real("slowdown", "1", "fct_us divided by ideal_us; 1 is perfect.")),
        real("base_rtt_us", "us", "Round-trip time of the idle network on its path."),
        integer("packets_sent", "", "Data packets put on the wire, retransmissions included."),
        integer("packets_retransmitted", "", "Data packets sent again."),
        integer("timeouts", "", "Retransmission timeouts."),
        integer("marked", "", "Data packets that arrived with a congestion mark."),
        integer("notifications", "", "Congestion notifications that reached the sender."),
        integer("hops", "", "Links on its longest path."),
        text(
            "path",
            "Nodes from sender to receiver, joined by '>'; '#n' tells parallel links apart. Several paths are joined by '|'.",
        ),
        maybe(real(
            "goodput_gbps",
            "Gbps",
            "Delivered payload over the time from start to delivery, or to the end of the run if unfinished.",
        )),
    ],
};

/// The same without `scheme`, for a data set whose folders are named by it.
pub(crate) static FLOWS_BY_SCHEME: LazyLock<Table<'static>> = LazyLock::new(|| {
    static COLUMNS: LazyLock<Vec<Column<'static>>> =
        LazyLock::new(|| FLOWS.columns.iter().copied().filter(|column| column.name != "scheme").collect());
    Table { columns: &COLUMNS, ..FLOWS }
});

/// What probes measured, a row per sample.
pub static SERIES: Table = Table {
    name: "series",
    meaning: "one row per sample of a probe, in order of time",
    columns: &[
        real("time_us", "us", "End of the interval that the sample describes, or the instant of a queue length."),
        text("metric", "What was measured; see the list of metrics below."),
        text("entity", "The port (from->to) or the label of the flow."),
        maybe(integer("flow_id", "", "The flow, as in flows.parquet; empty for ports.")),
        maybe(integer("priority", "", "IEEE 802.1 priority, where the metric is per priority.")),
        real("value", "see unit", "The value."),
        text("unit", "Unit of the value: bytes, Gbps, 1 (a fraction) or 1/s."),
    ],
};

pub(crate) static PAUSES: Table = Table {
    name: "pauses",
    meaning: "one row per PAUSE and RESUME frame (refreshes apart), when a port decides to send it",
    columns: &[
        real("time_us", "us", "When the port decided to send the frame."),
        text("port", "The sending port (from->to); the egress that must stop is at its other end."),
        text("node", "The node that sends the frame."),
        text("layer", "Where that node stands: tor, leaf, spine and so on."),
        text("toward", "'host' or 'switch': who is told to stop."),
        integer("priority", "", "IEEE 802.1 priority that the frame concerns."),
        text("event", "'pause' or 'resume'."),
        integer("ingress_bytes", "bytes", "Buffered bytes that came in by this port at the decision."),
    ],
};

pub(crate) static PFC: Table = Table {
    name: "pfc",
    meaning: "one row per priority told by a PFC frame that arrives, with [output] pfc_frames = true",
    columns: &[
        real("time_us", "us", "When the last bit of the frame arrived; refreshes of timed pauses count too."),
        text("node", "The node that receives the frame."),
        text("node_kind", "'host' or 'switch'."),
        text("port", "The receiving port (from->to), whose egress is told."),
        integer("port_number", "", "Number of that port among its node's: 1, 2, ... in the order of the links."),
        integer("priority", "", "IEEE 802.1 priority that is told."),
        text("event", "'pause' or 'resume'."),
    ],
};

pub(crate) static PORTS: Table = Table {
    name: "ports",
    meaning: "one row per port and priority, over the whole run",
    columns: &[
        text("port", "The port (from->to)."),
        text("node", "The node that owns the port."),
        text("layer", "Where that node stands."),
        text("peer", "The node at the other end of the link."),
        integer("priority", "", "IEEE 802.1 priority."),
        real("rate_gbps", "Gbps", "Configured rate of the outgoing direction at the start of the run."),
        integer("port_tx_packets", "", "Packets sent by the port in all priorities."),
        integer(
            "port_tx_bytes",
            "bytes",
            "Wire bytes sent by the port in all priorities, gaps and PFC frames included.",
        ),
        real("port_utilisation", "1", "Share of the run in which the port was sending, at its configured rate."),
        integer("port_pause_frames", "", "PAUSE frames sent by the port in all priorities, refreshes apart."),
        integer("port_resume_frames", "", "RESUME frames sent by the port in all priorities."),
        integer("port_refresh_frames", "", "PAUSE frames sent only to prolong a timed pause."),
        integer("queue_peak_bytes", "bytes", "Longest egress queue."),
        real("queue_mean_bytes", "bytes", "Egress queue averaged over time."),
        integer("ingress_peak_bytes", "bytes", "Most buffered bytes that had come in by this port."),
        maybe(integer(
            "xoff_bytes",
            "bytes",
            "Smallest threshold at which this ingress would send PAUSE; empty at hosts and in lossy priorities.",
        )),
        integer("headroom_bytes", "bytes", "Bytes that this ingress may take beyond the threshold."),
        integer("headroom_used_peak_bytes", "bytes", "The most that it took of them at once."),
        real("paused_us", "us", "How long the egress was paused."),
        integer("marks", "", "Packets that this egress queue marked."),
        integer("drops", "", "Packets dropped here."),
    ],
};

pub(crate) static PORT_ACTIVITY: Table = Table {
    name: "port_activity",
    meaning: "one row per window and port that was not idle; windows are as short as a run of its length can afford",
    columns: &[
        integer("window", "", "Number of the window, from zero."),
        real("time_us", "us", "End of the window; the last one ends with the run."),
        text("port", "The port (from->to)."),
        integer("tx_bytes", "bytes", "Wire bytes sent in the window, gaps and PFC frames included."),
        integer("queue_bytes", "bytes", "Bytes waiting in all its egress queues at the end of the window."),
        real("paused_us", "us", "How long PFC stopped it; of several priorities the one that was stopped longest."),
        integer("marks", "", "Packets that its egress queues marked."),
    ],
};

pub(crate) static FLOW_ACTIVITY: Table = Table {
    name: "flow_activity",
    meaning: "one row per window and flow alive at its end (of more than 1,000 the oldest), windows as in port_activity",
    columns: &[
        integer("window", "", "Number of the window, from zero."),
        real("time_us", "us", "End of the window; the last one ends with the run."),
        integer("flow_id", "", "The flow, as in flows.parquet."),
        integer("sent_wire_bytes", "bytes", "Wire bytes that its NIC sent in the window."),
        integer("delivered_bytes", "bytes", "Payload delivered to the receiver in order, in the window."),
        real("allowed_gbps", "Gbps", "What its scheme allows at the end of the window, headers included."),
        integer("notifications", "", "Congestion notifications that reached the sender in the window."),
        integer("marked", "", "Packets that arrived with a congestion mark in the window."),
    ],
};

pub(crate) static LIVE: Table = Table {
    name: "live",
    meaning: "one row per window of a run on real packets: how well the machine kept up with the clock",
    columns: &[
        real("time_us", "us", "End of the window, in the scenario's time."),
        real("wall_s", "s", "End of the window since the start of the run, on the wall."),
        real("slip", "1", "Share of the wall time until then in which the clock stood still."),
        maybe(real(
            "lateness_p99_ns",
            "ns",
            "99th percentile of how late the window's work was done, in the scenario's time; empty if nothing was due.",
        )),
        maybe(real("lateness_max_ns", "ns", "The largest lateness in the window, likewise.")),
        integer("frames", "", "Frames handed to the kernel in the window."),
    ],
};

pub(crate) static JOBS: Table = Table {
    name: "jobs",
    meaning: "one row per training job, where the scenario has one",
    columns: &[
        text("job", "Name of its [[traffic]] table."),
        integer("ranks", "", "GPUs that take part."),
        integer("iterations", "", "How often it was to do what it does."),
        real("start_us", "us", "When it started."),
        maybe(real("end_us", "us", "When its last activity was over; empty if it did not end within the run.")),
        maybe(real("jct_us", "us", "Job completion time: from start_us to end_us.")),
        real("compute_us", "us", "Time in which a rank computed, the mean over the ranks."),
        real("communication_us", "us", "Time in which a rank took part in collectives and messages, likewise."),
        real("exposed_us", "us", "Of that, the time in which the same rank did not compute, likewise."),
        maybe(real("exposed_share", "1", "exposed_us over jct_us.")),
        text("state", "'finished' or 'unfinished'."),
    ],
};

pub(crate) static COLLECTIVES: Table = Table {
    name: "collectives",
    meaning: "one row per collective, or message from rank to rank, of every iteration of every job, by begin",
    columns: &[
        text("job", "The job, as in jobs.parquet."),
        integer("iteration", "", "From zero."),
        text("name", "What the job calls it."),
        text(
            "kind",
            "all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, barrier or point-to-point.",
        ),
        integer("ranks", "", "How many take part."),
        integer("size_bytes", "bytes", "Size as nccl-tests defines it: of the whole buffer."),
        real("begin_us", "us", "When the first rank began; of a message, when it was first sent."),
        maybe(real("end_us", "us", "When the last rank was done, or the message delivered; empty if one was not.")),
        maybe(real("time_us", "us", "From begin_us to end_us.")),
        maybe(real(
            "algbw_gb_per_s",
            "GB/s",
            "Algorithm bandwidth: size_bytes over time_us, in 10^9 bytes per second.",
        )),
        maybe(real("busbw_gb_per_s", "GB/s", "Bus bandwidth: algorithm bandwidth times the factor of nccl-tests.")),
        integer("slowest_rank", "", "The rank that was done last, or one that was not."),
        text("slowest", "Its name."),
    ],
};

pub(crate) static RANKS: Table = Table {
    name: "ranks",
    meaning: "one row per iteration and rank of every job: what it spent its time on",
    columns: &[
        text("job", "The job, as in jobs.parquet."),
        integer("iteration", "", "From zero."),
        integer("rank", "", "From zero."),
        text("name", "The rank's GPU or host."),
        maybe(integer("server", "", "Its server, by its place in the job.")),
        real("begin_us", "us", "When its first activity began."),
        real("end_us", "us", "When its last was over, or the run was."),
        real("compute_us", "us", "Time in which it computed."),
        real("communication_us", "us", "Time in which it took part in collectives and messages."),
        real("exposed_us", "us", "Of that, the time in which it did not compute."),
        real("idle_us", "us", "Time between begin_us and end_us in which it did neither."),
    ],
};

pub(crate) static ACTIVITIES: Table = Table {
    name: "activities",
    meaning: "one row per activity of a rank of a job, in the order in which they ended (unfinished ones last)",
    columns: &[
        text("job", "The job, as in jobs.parquet."),
        integer("iteration", "", "From zero."),
        integer("rank", "", "From zero."),
        text("rank_name", "The rank's GPU or host."),
        text("name", "What the job calls it."),
        text("kind", "'compute', or as in collectives.parquet."),
        real("begin_us", "us", "When the first of its operations began."),
        maybe(real("end_us", "us", "When the last was over; empty if the run ended before.")),
    ],
};

/// Every table, in the order in which the dictionary lists them.
pub static ALL: &[&Table] = &[
    &FLOWS,
    &SERIES,
    &PAUSES,
    &PFC,
    &PORTS,
    &PORT_ACTIVITY,
    &FLOW_ACTIVITY,
    &LIVE,
    &JOBS,
    &COLLECTIVES,
    &RANKS,
    &ACTIVITIES,
];
