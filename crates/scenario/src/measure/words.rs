//! What a run and its ports count, by the words that scenarios use. Readers and the dictionary share these lists.

use xoff_fabric::record::Counters;

pub(super) type Count = fn(&Counters) -> u64;

/// The counters of a run, by the names of `run.json`.
pub(super) const COUNTERS: &[(&str, Count)] = &[
    ("events", |c| c.events),
    ("packet_hops", |c| c.packet_hops),
    ("flows_started", |c| c.flows_started),
    ("flows_completed", |c| c.flows_completed),
    ("packets_sent", |c| c.data_packets_sent),
    ("packets_delivered", |c| c.data_packets_delivered),
    ("packets_retransmitted", |c| c.data_packets_retransmitted),
    ("packets_discarded", |c| c.data_packets_discarded),
    ("delivered_bytes", |c| c.delivered_bytes),
    ("acks", |c| c.acks_sent),
    ("naks", |c| c.naks_sent),
    ("notifications", |c| c.notifications_sent),
    ("marks", |c| c.marks),
    ("neighbour_messages", |c| c.neighbour_messages),
    ("pause_frames", |c| c.pause_frames),
    ("resume_frames", |c| c.resume_frames),
    ("refresh_frames", |c| c.refresh_frames),
    ("drops", drops),
    ("drops_lossless", |c| c.drops_lossless),
    ("drops_lossy", |c| c.drops_lossy),
    ("drops_fault", |c| c.drops_fault),
    ("packets_trimmed", |c| c.packets_trimmed),
    ("timeouts", |c| c.timeouts),
    ("deadlocks", |c| c.deadlocks),
    ("watchdog_storms", |c| c.watchdog_storms),
];

pub(super) fn drops(counters: &Counters) -> u64 {
    counters.drops_lossless + counters.drops_lossy + counters.drops_fault
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PortTotal {
    QueuePeak,
    QueueMean,
    IngressPeak,
    HeadroomPeak,
    Utilisation,
    Paused,
    Marks,
    Drops,
    SentBytes,
    SentPackets,
    PauseFrames,
    ResumeFrames,
    RefreshFrames,
}

/// Totals of a port, by their names in scenarios.
pub(super) const PORT_TOTALS: &[(&str, PortTotal)] = &[
    ("queue_peak", PortTotal::QueuePeak),
    ("queue_mean", PortTotal::QueueMean),
    ("ingress_peak", PortTotal::IngressPeak),
    ("headroom_used_peak", PortTotal::HeadroomPeak),
    ("utilisation", PortTotal::Utilisation),
    ("paused", PortTotal::Paused),
    ("marks", PortTotal::Marks),
    ("drops", PortTotal::Drops),
    ("sent_bytes", PortTotal::SentBytes),
    ("sent_packets", PortTotal::SentPackets),
    ("pause_frames", PortTotal::PauseFrames),
    ("resume_frames", PortTotal::ResumeFrames),
    ("refresh_frames", PortTotal::RefreshFrames),
];
