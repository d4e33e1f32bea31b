//! What comes out of a run: plain records, drained by whoever drives the world.

use std::collections::BTreeMap;
use xoff_engine::{Span, Time};

/// One flow, written when it ends or when the run does.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRecord {
    /// In order of start.
    pub id: u32,
    /// Number among the flows of its source.
    pub number: u64,
    /// Index of its source, in the order in which the run was given them.
    pub source: u32,
    /// [`crate::contract::traffic::FlowSpec::label`]
    pub label: u32,
    /// The sending host, by node.
    pub src: u32,
    /// The receiving host, by node.
    pub dst: u32,
    /// UDP or TCP ports of its packets, source first.
    pub ports: (u16, u16),
    /// `None`: endless.
    pub size_bytes: Option<u64>,
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    /// Index into [`crate::network::plan::Classes::list`].
    pub class: u8,
    /// Index of the scheme that controls it.
    pub scheme: u8,
    /// When its source started it; the first packet may leave later.
    pub start: Time,
    /// The receiver has every byte.
    pub delivered_at: Option<Time>,
    /// The sender knows so.
    pub acked_at: Option<Time>,
    /// Delivery time of the same flow alone on an idle network, along the same path.
    pub ideal: Span,
    /// Round trip of its path on an idle network, as [`crate::network::plan::Model::base_rtt`] counts it.
    pub base_rtt: Span,
    /// Data packets put on the wire by the sender, retransmissions included.
    pub packets_sent: u64,
    /// Those of `packets_sent` that were sent before.
    pub packets_retransmitted: u64,
    /// What recovery from losses did at both ends.
    pub recovery: RecoveryRecord,
    /// Its data packets and ACKs that the network dropped, for whatever reason.
    pub lost: u64,
    /// Data packets that reached the receiver with a congestion mark.
    pub marked: u64,
    /// Notifications that reached the sender.
    pub notifications: u64,
    /// When the first of them did.
    pub first_notified: Option<Time>,
    /// What more than one path did to it.
    pub multipath: Multipath,
    /// Paths of its packets.
    pub path: Paths,
}

/// What recovery from losses did, beside packets sent again, until all was delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecoveryRecord {
    /// How often the retransmission timer of the sender ran out.
    pub timeouts: u32,
    /// NAKs that the receiver sent.
    pub naks: u32,
    /// Data packets that the receiver had already: they were sent again without need.
    pub duplicates: u32,
    /// Packets that reached the receiver without their payload, which a switch had cut off.
    pub trimmed: u32,
    /// Most packets that the receiver held at once beyond the first one missing.
    pub held_packets_max: u32,
}

/// What more than one path did to a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Multipath {
    /// Other routes than its path that some of its packets were sent by VOQ switches.
    pub detours: u32,
    /// `None` for a flow that keeps one path.
    pub spread: Option<Spread>,
}

/// Paths of a flow whose packets choose theirs, or have it chosen by switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spread {
    /// Ways from sender to receiver along the hops that its data packets took. Where two ways meet and part again, their
    /// combinations count too.
    pub paths_used: u64,
    /// In which order its data packets arrived.
    pub order: Order,
}

/// In which order data packets arrived, until the receiver had all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Order {
    /// Packets that arrived after one with a higher PSN (RFC 4737), retransmissions apart.
    pub reordered: u64,
    /// Most packets that arrived from the first with a higher PSN on, before a reordered one.
    pub extent_most: u64,
    /// Packets that arrived while one before them was missing.
    pub out_of_order: u64,
}

/// Paths of a flow's packets, each as its egress ports from the sender's NIC on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Paths {
    /// All packets take one, but for detours and faults.
    One(Box<[u32]>),
    /// Packets take several: as few as cover every hop that data packets took. Where none has arrived, a path ends as
    /// routes continue it.
    Many(Box<[Box<[u32]>]>),
}

impl Paths {
    /// Paths from `first` on that cover all hops, which are pairs of an egress port and the next one in ascending order.
    pub fn covering(first: u32, hops: &[(u32, u32)]) -> Paths {
        let after = |port: u32| {
            let begin = hops.partition_point(|&(from, _)| from < port);
            begin..begin + hops[begin..].iter().take_while(|&&(from, _)| from == port).count()
        };
        let mut covered = vec![false; hops.len()];
        let mut paths: Vec<Box<[u32]>> = Vec::new();
        while let Some(missing) = covered.iter().position(|covered| !covered) {
            // From the first port to the hop that is missing, and on by what is missing, if anything is.
            let mut path = way_to(first, hops[missing].0, hops);
            let mut next = Some(missing);
            while let Some(hop) = next {
                path.push(hops[hop].1);
                // Routes that changed may have led packets in a circle.
                let fresh = after(hops[hop].1).filter(|&hop| !path.contains(&hops[hop].1));
                next = fresh.min_by_key(|&hop| covered[hop]);
            }
            for hop in path.windows(2).filter_map(|hop| hops.binary_search(&(hop[0], hop[1])).ok()) {
                covered[hop] = true;
            }
            paths.push(path.into());
        }
        Paths::of(paths)
    }

    /// One path or several.
    pub fn of(mut paths: Vec<Box<[u32]>>) -> Paths {
        match paths.len() {
            1 => Paths::One(paths.remove(0)),
            _ => Paths::Many(paths.into()),
        }
    }

    /// Number of ways from `first` on along hops, which are pairs of an egress port and the next one in ascending order.
    /// Routes that changed may have led packets in a circle; a way does not go round in it.
    pub fn count(first: u32, hops: &[(u32, u32)]) -> u64 {
        fn ways(port: u32, hops: &[(u32, u32)], known: &mut BTreeMap<u32, u64>) -> u64 {
            if let Some(&ways) = known.get(&port) {
                return ways;
            }
            known.insert(port, 0);
            let after = hops.iter().skip(hops.partition_point(|&(from, _)| from < port));
            let after: Vec<u32> = after.take_while(|&&(from, _)| from == port).map(|&(_, to)| to).collect();
            let sum = after.iter().fold(0, |sum: u64, &next| sum.saturating_add(ways(next, hops, known)));
            let ways = if after.is_empty() { 1 } else { sum };
            known.insert(port, ways);
            ways
        }
        ways(first, hops, &mut BTreeMap::new())
    }

    /// Paths one by one.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let paths = match self {
            Paths::One(path) => std::slice::from_ref(path),
            Paths::Many(paths) => paths,
        };
        paths.iter().map(|path| &**path)
    }

    /// Egress ports of all paths, each once.
    pub fn ports(&self) -> Vec<u32> {
        let mut ports: Vec<u32> = self.iter().flatten().copied().collect();
        if matches!(self, Paths::Many(_)) {
            ports.sort_unstable();
            ports.dedup();
        }
        ports
    }

    /// Whether a path crosses an egress port.
    pub fn contains(&self, port: u32) -> bool {
        self.iter().any(|path| path.contains(&port))
    }

    /// Links on the longest path.
    pub fn hops(&self) -> usize {
        self.iter().map(<[u32]>::len).max().unwrap_or(0)
    }
}

/// A way from a port to another by hops in ascending order; both ports are part of it.
fn way_to(first: u32, last: u32, hops: &[(u32, u32)]) -> Vec<u32> {
    let mut way = vec![last];
    while let Some(&port) = way.last().filter(|&&port| port != first) {
        // Hops were taken by packets, so that something leads to each; a port comes once.
        let Some(&(before, _)) = hops.iter().find(|(from, to)| *to == port && !way.contains(from)) else { break };
        way.push(before);
    }
    way.reverse();
    way
}

/// A PAUSE or RESUME at the instant a port decides to send it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PauseRecord {
    /// When the port decides, before the frame waits for the one on the wire.
    pub at: Time,
    /// The port that sends the frame; the paused egress is its peer.
    pub port: u32,
    /// Index into [`crate::network::plan::Classes::list`].
    pub class: u8,
    /// PAUSE, else RESUME.
    pub pause: bool,
    /// A PAUSE that only prolongs a timed one; recorded if [`crate::network::plan::RunSettings::record_refreshes`].
    pub refresh: bool,
    /// Ingress bytes at the decision.
    pub ingress_bytes: u64,
}

/// What a PFC frame tells one class of the egress that it reaches, when its last bit is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PfcRecord {
    /// Arrival of the last bit.
    pub at: Time,
    /// The port that receives the frame, and whose egress is told.
    pub port: u32,
    /// Index into [`crate::network::plan::Classes::list`].
    pub class: u8,
    /// PAUSE, else RESUME.
    pub pause: bool,
}

/// What a port has sent of a flow; recorded if [`crate::network::plan::RunSettings::record_flow_links`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowLink {
    /// [`FlowRecord::id`] of the flow.
    pub flow: u32,
    /// The sending port.
    pub port: u32,
    /// Data packets, retransmissions and trimmed ones included.
    pub packets: u64,
    /// Their bytes on the wire.
    pub wire_bytes: u64,
}

/// One sample of one probe.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// Rates and fractions are means since the sample before.
    pub at: Time,
    /// What `value` is.
    pub metric: Metric,
    /// A port, or for the flow metrics a [`FlowRecord::id`].
    pub entity: u32,
    /// For the flow metrics the flow's [`FlowRecord::label`]; zero for ports.
    pub label: u32,
    /// Index into [`crate::network::plan::Classes::list`]; zero where the metric is of a whole port.
    pub class: u8,
    /// Bytes, bits per second, a fraction, or frames per second.
    pub value: f64,
}

/// What a probe samples; [`crate::network::plan::ProbeTarget`] says of what.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Metric {
    /// Bytes waiting in an egress queue.
    QueueBytes,
    /// Bytes buffered in the switch that came in by a port: what PFC counts.
    IngressBytes,
    /// Bits per second that left a port.
    PortThroughput,
    /// Fraction of the interval in which an egress was paused, from 0 to 1.
    PausedFraction,
    /// PAUSE frames per second that a port sent, refreshes included.
    PauseRate,
    /// Bits per second that the scheme allows a flow.
    FlowRate,
    /// Bits per second that the NIC put on the wire for a flow.
    FlowSendRate,
    /// Bits per second of a flow that were delivered.
    FlowThroughput,
    /// Bytes in shaped per-flow queues that will leave by a port.
    ShapedBytes,
    /// Bytes in the shaped queue of a flow.
    FlowShapedBytes,
    /// Bytes in the whole buffer of the switch that owns a port.
    SwitchBytes,
    /// A variable of the scheme of a flow, in its own unit.
    Variable(&'static Variable),
}

/// Something that a reaction point remembers and that people want to see: the paper's alpha, its target rate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Variable {
    /// Name in the column `metric` of `series.parquet`: lower case, with underscores, and of no other metric.
    pub name: &'static str,
    /// Unit of its values: `Gbps`, `us`, `bytes`, `1` for plain numbers.
    pub unit: &'static str,
    /// A sentence.
    pub meaning: &'static str,
}

/// Whole-run totals. Never negative, never reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Events handled, of every kind.
    pub events: u64,
    /// One transmission of one data or control packet over one link (PFC frames apart).
    pub packet_hops: u64,
    /// Flows that a source started, endless ones too.
    pub flows_started: u64,
    /// Flows that ended for their sender: all acknowledged, or stopped.
    pub flows_completed: u64,
    /// Data packets put on the wire by senders, retransmissions included.
    pub data_packets_sent: u64,
    /// Data packets that a receiver kept.
    pub data_packets_delivered: u64,
    /// Those of `data_packets_sent` that were sent before.
    pub data_packets_retransmitted: u64,
    /// Data packets that ended without being delivered: dropped, or out of order at the receiver.
    pub data_packets_discarded: u64,
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    /// ACKs of receivers, without NAKs.
    pub acks_sent: u64,
    /// NAKs of receivers, repetitions included.
    pub naks_sent: u64,
    /// Receiver- and switch-originated congestion notifications.
    pub notifications_sent: u64,
    /// Notices that a switch did not make, because its lossless class had no room for them.
    pub notices_refused: u64,
    /// Packets whose ECN field a congestion point changed, once for each queue where one did.
    pub marks: u64,
    /// Messages of switches to their neighbours.
    pub neighbour_messages: u64,
    /// First PAUSEs, one for each class that a frame stops.
    pub pause_frames: u64,
    /// RESUMEs, one for each class that a frame lets go on.
    pub resume_frames: u64,
    /// Repetitions of a PAUSE in timed signalling; not in `pause_frames`.
    pub refresh_frames: u64,
    /// Packets of lossless classes that found no room: more than none is a failure, unless allowed.
    pub drops_lossless: u64,
    /// Packets of lossy classes that found no room.
    pub drops_lossy: u64,
    /// Data packets whose payload a switch has cut off, because their class had no room.
    pub packets_trimmed: u64,
    /// Lost on the wire at random, by a failed link or by a watchdog.
    pub drops_fault: u64,
    /// Retransmission timers that ran out.
    pub timeouts: u64,
    /// Found by the run-time check, each cycle once.
    pub deadlocks: u64,
    /// Egress queues that a watchdog took for stormed, each time anew.
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
            packets_trimmed,
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
    /// Index into the plan's ports.
    pub port: u32,
    /// Frames of every kind; PFC frames too.
    pub tx_packets: u64,
    /// Wire bytes, gaps included; PFC frames too.
    pub tx_wire_bytes: u64,
    /// First PAUSEs only; repetitions are `refresh_frames`.
    pub pause_frames: u64,
    /// RESUMEs that it sent.
    pub resume_frames: u64,
    /// PAUSEs that only prolonged a timed one.
    pub refresh_frames: u64,
    /// One per class, in the order of [`crate::network::plan::Classes::list`].
    pub classes: Vec<ClassReport>,
}

/// What one (port, class) saw: its egress queue and its ingress account.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassReport {
    /// The longest that the egress queue was.
    pub queue_bytes_peak: u64,
    /// Time integral of the egress queue over the run's length.
    pub queue_bytes_mean: f64,
    /// The most that was buffered of what came in here.
    pub ingress_bytes_peak: u64,
    /// The smallest threshold this ingress was held against; `None` at hosts and in lossy classes.
    pub xoff_bytes: Option<u64>,
    /// Bytes it may take beyond the threshold.
    pub headroom_bytes: u64,
    /// The most that it took of them at once.
    pub headroom_used_peak_bytes: u64,
    /// How long the egress was paused.
    pub paused: Span,
    /// Packets whose ECN field a congestion point of the egress queue changed.
    pub marks: u64,
    /// Packets dropped: lossy ones and those of dead links at this egress, lossless ones at this ingress.
    pub drops: u64,
}

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// A packet of a lossless class found no room, and drops are not allowed.
    LosslessDrop(LosslessDrop),
    /// Paused queues wait for each other in a circle.
    Deadlock {
        /// When the check found it.
        at: Time,
        /// Each waits for the next, the last for the first.
        cycle: Vec<BlockedQueue>,
    },
    /// Nothing was delivered for longer than [`crate::network::plan::RunSettings::stall_after`], or nothing is left to happen.
    Stall {
        /// When it was found.
        at: Time,
        /// Last progress.
        since: Time,
        /// Flows with payload still to be delivered.
        unfinished: u64,
        /// Those of them to whose receivers no route leads.
        stranded: u64,
        /// Egress queues that hold packets or are paused.
        blocked: Vec<BlockedQueue>,
    },
    /// The process holds more memory than it may; told by whoever drives the world.
    Memory {
        /// Simulated time reached.
        at: Time,
        /// Held by the whole process.
        used_bytes: u64,
        /// What the process may hold.
        limit_bytes: u64,
        /// Where it may have gone.
        held: Holdings,
    },
    /// The run has taken longer than it may; told likewise.
    Time {
        /// Simulated time reached.
        at: Time,
        /// What it may take, on the wall's clock.
        limit_seconds: f64,
    },
    /// This many events have happened at one instant, and it does not pass; told likewise.
    Standstill {
        /// The instant that does not pass.
        at: Time,
        /// How many happened at it.
        events: u64,
        /// What may cause them.
        held: Holdings,
    },
}

/// What a world holds that may grow without bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Started and not ended.
    pub flows_alive: u64,
    /// In queues of switches and NICs.
    pub packets_queued: u64,
    /// On links.
    pub packets_in_flight: u64,
    /// The source with most flows alive, and how many.
    pub greediest: Option<(u32, u64)>,
    /// The queue with most bytes.
    pub longest: Option<BlockedQueue>,
}

/// Why a packet of a lossless class found no room.
#[derive(Clone, Debug, PartialEq)]
pub struct LosslessDrop {
    /// When it came in.
    pub at: Time,
    /// The switch.
    pub node: u32,
    /// The ingress port.
    pub port: u32,
    /// Index into [`crate::network::plan::Classes::list`].
    pub class: u8,
    /// Frame bytes of the packet.
    pub packet_bytes: u32,
    /// What the ingress held, without it.
    pub ingress_bytes: u64,
    /// Above which the ingress pauses, at that moment.
    pub threshold_bytes: u64,
    /// What the ingress may take beyond the threshold, as planned.
    pub headroom_bytes: u64,
    /// What its link can still send after a PAUSE: [`crate::network::pfc::PauseLoop::required`].
    pub headroom_required_bytes: u64,
    /// Bytes in the buffer of the switch, of all ports and classes.
    pub buffer_used_bytes: u64,
    /// Size of the switch's buffer.
    pub buffer_bytes: u64,
}

/// A watchdog took an egress queue for stormed, and what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StormRecord {
    /// The paused egress.
    pub port: u32,
    /// Index into [`crate::network::plan::Classes::list`].
    pub class: u8,
    /// When the watchdog decided so.
    pub from: Time,
    /// When it went back to normal; `None`: not within the run.
    pub until: Option<Time>,
    /// Packets dropped there meanwhile.
    pub drops: u64,
}

/// A link that failed, and the packets that were lost on it from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadLink {
    /// Index into [`crate::network::plan::Plan::links`].
    pub link: u32,
    /// When it failed.
    pub from: Time,
    /// Packets on it or in the queues of its ports at that time, and those sent to it later.
    pub packets_lost: u64,
    /// When the last of them was lost.
    pub last_at: Option<Time>,
}

/// An egress queue that cannot move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedQueue {
    /// The egress.
    pub port: u32,
    /// Index into [`crate::network::plan::Classes::list`].
    pub class: u8,
    /// Waiting in it.
    pub bytes: u64,
    /// Whether PFC stops it.
    pub paused: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_cover_every_hop_that_was_taken() {
        let paths =
            |hops: &[(u32, u32)]| -> Vec<Vec<u32>> { Paths::covering(0, hops).iter().map(<[u32]>::to_vec).collect() };
        assert_eq!(paths(&[(0, 2), (2, 4)]), [[0, 2, 4]]);
        assert_eq!(paths(&[(0, 2), (0, 3), (2, 9), (3, 9)]), [[0, 2, 9], [0, 3, 9]]);
        // Two tiers of two: a second path is needed for each of the crossings.
        let crossed = [(0, 2), (0, 3), (2, 5), (2, 6), (3, 5), (3, 6), (5, 9), (6, 9)];
        assert_eq!(paths(&crossed), [[0, 2, 5, 9], [0, 3, 5, 9], [0, 2, 6, 9], [0, 3, 6, 9]]);
        assert_eq!(Paths::covering(8, &[(0, 9), (2, 9), (8, 0), (8, 2)]).iter().count(), 2, "in any order of numbers");
        // Routes changed under way: a circle ends.
        assert_eq!(paths(&[(0, 2), (2, 4), (4, 2), (4, 9)]), [vec![0, 2, 4, 9], vec![0, 2, 4, 2]]);
    }
}
