//! What comes out of a run: plain records, drained by whoever drives the world.

use xoff_engine::{Span, Time};

/// One flow, written when it ends or when the run does.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRecord {
    /// In order of start.
    pub id: u32,
    /// The same among the flows of its source.
    pub number: u64,
    pub source: u32,
    pub label: u32,
    pub src: u32,
    pub dst: u32,
    /// UDP or TCP ports of its packets, source first.
    pub ports: (u16, u16),
    /// `None`: endless.
    pub size_bytes: Option<u64>,
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    pub class: u8,
    pub scheme: u8,
    pub start: Time,
    /// The receiver has every byte.
    pub delivered_at: Option<Time>,
    /// The sender knows so.
    pub acked_at: Option<Time>,
    /// Delivery time of the same flow alone on an idle network, along the same path.
    pub ideal: Span,
    pub base_rtt: Span,
    pub packets_sent: u64,
    pub packets_retransmitted: u64,
    pub timeouts: u32,
    /// Its data packets and ACKs that the network dropped, for whatever reason.
    pub lost: u64,
    /// Data packets that reached the receiver with a congestion mark.
    pub marked: u64,
    /// Notifications that reached the sender.
    pub notifications: u64,
    /// When the first of them did.
    pub first_notified: Option<Time>,
    /// Other routes than its path that some of its packets were sent by VOQ switches.
    pub detours: u32,
    /// Egress ports from the sender's NIC on.
    pub path: Box<[u32]>,
}

/// A PAUSE or RESUME at the instant a port decides to send it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PauseRecord {
    pub at: Time,
    /// The port that sends the frame; the paused egress is its peer.
    pub port: u32,
    pub class: u8,
    pub pause: bool,
    /// A PAUSE that only prolongs a timed one; recorded if [`crate::network::plan::RunSettings::record_refreshes`].
    pub refresh: bool,
    /// Ingress bytes at the decision.
    pub ingress_bytes: u64,
}

/// What a PFC frame tells one class of the egress that it reaches, when its last bit is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PfcRecord {
    pub at: Time,
    /// The port that receives the frame, and whose egress is told.
    pub port: u32,
    pub class: u8,
    pub pause: bool,
}

/// One sample of one probe.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    pub at: Time,
    pub metric: Metric,
    /// A port, or for the flow metrics a [`FlowRecord::id`].
    pub entity: u32,
    /// For the flow metrics the flow's [`FlowRecord::label`]; zero for ports.
    pub label: u32,
    pub class: u8,
    /// Bytes, bits per second, a fraction, or frames per second.
    pub value: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Metric {
    QueueBytes,
    IngressBytes,
    PortThroughput,
    PausedFraction,
    PauseRate,
    FlowRate,
    FlowSendRate,
    FlowThroughput,
    ShapedBytes,
    FlowShapedBytes,
}

/// Whole-run totals. Never negative, never reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    pub events: u64,
    /// One transmission of one data or control packet over one link (PFC frames apart).
    pub packet_hops: u64,
    pub flows_started: u64,
    pub flows_completed: u64,
    /// Data packets put on the wire by senders, retransmissions included.
    pub data_packets_sent: u64,
    pub data_packets_delivered: u64,
    pub data_packets_retransmitted: u64,
    /// Data packets that ended without being delivered: dropped, or out of order at the receiver.
    pub data_packets_discarded: u64,
    pub delivered_bytes: u64,
    pub acks_sent: u64,
    pub naks_sent: u64,
    /// Receiver- and switch-originated congestion notifications.
    pub notifications_sent: u64,
    /// Notices that a switch did not make, because its lossless class had no room for them.
    pub notices_refused: u64,
    pub marks: u64,
    /// Messages of switches to their neighbours.
    pub neighbour_messages: u64,
    pub pause_frames: u64,
    pub resume_frames: u64,
    /// Repetitions of a PAUSE in timed signalling; not in `pause_frames`.
    pub refresh_frames: u64,
    pub drops_lossless: u64,
    pub drops_lossy: u64,
    /// Lost on the wire at random, by a failed link or by a watchdog.
    pub drops_fault: u64,
    pub timeouts: u64,
    pub deadlocks: u64,
    pub watchdog_storms: u64,
}

macro_rules! add_up {
    ($a:ident, $b:ident, $($field:ident),+ $(,)?) => {
        Counters { $($field: $a.$field + $b.$field),+ }
    };
}

impl Counters {
    /// Both together.
    pub fn plus(&self, other: &Counters) -> Counters {
        add_up!(
            self,
            other,
            events,
            packet_hops,
            flows_started,
            flows_completed,
            data_packets_sent,
            data_packets_delivered,
            data_packets_retransmitted,
            data_packets_discarded,
            delivered_bytes,
            acks_sent,
            naks_sent,
            notifications_sent,
            notices_refused,
            marks,
            neighbour_messages,
            pause_frames,
            resume_frames,
            refresh_frames,
            drops_lossless,
            drops_lossy,
            drops_fault,
            timeouts,
            deadlocks,
            watchdog_storms,
        )
    }
}

/// What one port did, per run.
#[derive(Clone, Debug, Default)]
pub struct PortReport {
    pub port: u32,
    pub tx_packets: u64,
    /// Wire bytes, gaps included; PFC frames too.
    pub tx_wire_bytes: u64,
    /// First PAUSEs only; repetitions are `refresh_frames`.
    pub pause_frames: u64,
    pub resume_frames: u64,
    pub refresh_frames: u64,
    pub classes: Vec<ClassReport>,
}

/// What one (port, class) saw: its egress queue and its ingress account.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassReport {
    pub queue_bytes_peak: u64,
    /// Time integral of the egress queue over the run's length.
    pub queue_bytes_mean: f64,
    pub ingress_bytes_peak: u64,
    /// The smallest threshold this ingress was held against; `None` at hosts and in lossy classes.
    pub xoff_bytes: Option<u64>,
    /// Bytes it may take beyond the threshold.
    pub headroom_bytes: u64,
    /// How long the egress was paused.
    pub paused: Span,
    pub marks: u64,
    pub drops: u64,
}

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    LosslessDrop(LosslessDrop),
    Deadlock {
        at: Time,
        cycle: Vec<BlockedQueue>,
    },
    Stall {
        at: Time,
        since: Time,
        unfinished: u64,
        blocked: Vec<BlockedQueue>,
    },
    /// The process holds more memory than it may; told by whoever drives the world.
    Memory {
        at: Time,
        used_bytes: u64,
        limit_bytes: u64,
        held: Holdings,
    },
    /// This many events have happened at one instant, and it does not pass; told likewise.
    Standstill {
        at: Time,
        events: u64,
        held: Holdings,
    },
}

/// What a world holds that may grow without bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    pub flows_alive: u64,
    /// In queues of switches, and on links.
    pub packets_queued: u64,
    pub packets_in_flight: u64,
    /// The source with most flows alive, and how many.
    pub greediest: Option<(u32, u64)>,
    /// The queue with most bytes.
    pub longest: Option<BlockedQueue>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LosslessDrop {
    pub at: Time,
    /// The switch.
    pub node: u32,
    /// The ingress port.
    pub port: u32,
    pub class: u8,
    pub packet_bytes: u32,
    pub ingress_bytes: u64,
    pub threshold_bytes: u64,
    pub headroom_bytes: u64,
    pub headroom_required_bytes: u64,
    pub buffer_used_bytes: u64,
    pub buffer_bytes: u64,
}

/// A watchdog took an egress queue for stormed, and what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StormRecord {
    /// The paused egress.
    pub port: u32,
    pub class: u8,
    pub from: Time,
    /// When it went back to normal; `None`: not within the run.
    pub until: Option<Time>,
    /// Packets dropped there meanwhile.
    pub drops: u64,
}

/// An egress queue that cannot move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedQueue {
    pub port: u32,
    pub class: u8,
    pub bytes: u64,
    pub paused: bool,
}
