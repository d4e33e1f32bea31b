//! What a run is made of, checked and complete: the input of [`crate::run::World`].
//!
//! Nodes, links, ports and classes are plain indices. Link `i` has two ports, `2 * i` at its
//! `a` end and `2 * i + 1` at its `b` end, so the port at the other end of the link is `port ^ 1` everywhere.

use xoff_engine::{BitRate, Grain, Span, Time};

/// The port at the other end of the link.
#[inline]
pub const fn peer(port: u32) -> u32 {
    port ^ 1
}

/// Everything the world needs to be built.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub nodes: Vec<Node>,
    pub links: Vec<Link>,
    pub classes: Classes,
    /// Switch profiles; a switch names one by index in [`Node::profile`].
    pub switches: Vec<SwitchSettings>,
    /// Host profiles; a host names one by index in [`Node::profile`].
    pub hosts: Vec<HostSettings>,
    pub model: Model,
    /// Reverse traffic (ACKs, receiver-sent notifications) hashes its own path, or retraces the data's.
    pub ack_path: AckPath,
    /// Sorted by time.
    pub faults: Vec<Fault>,
    pub probes: Vec<Probe>,
    pub run: RunSettings,
}

/// How the simulator itself counts and chooses. The defaults are exact and unbiased; the rest lets a
/// run follow the rules of another simulator, so that results can be compared one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Model {
    /// Of serialisation times and pacing gaps.
    pub grain: Grain,
    pub ties: Ties,
    pub ecmp: Ecmp,
    pub next_hops: NextHops,
    pub base_rtt: BaseRtt,
    pub random: Random,
}

/// Where marking by lot takes its numbers from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Random {
    /// Each queue has a stream of its own, whatever happens elsewhere.
    #[default]
    Own,
    /// All queues share one generator ([`xoff_engine::shared_random`]), in the order of events: every draw takes
    /// a new stream, from `first` on, and so does every PFC frame.
    Shared { first: u64 },
}

/// The order of events at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ties {
    /// By what they are, then by a hash of time and entity.
    #[default]
    Hash,
    /// In the order in which they were scheduled.
    Scheduled,
}

/// How a switch chooses among equal next hops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecmp {
    /// A hash of the flow, the run's seed and the switch.
    #[default]
    Mix,
    /// MurmurHash3 (x86, 32 bits) of addresses and ports, with the switch's number as its seed; what
    /// remains of a division by the number of next hops counts.
    Murmur3,
}

/// In which order a switch lists equal next hops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NextHops {
    #[default]
    ByLink,
    /// As a search from the destination meets them, which looks at neighbours by number, the highest
    /// first. In regular networks that is the highest number first.
    Descending,
}

/// What the base round trip of a path is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BaseRtt {
    /// A full packet out and an ACK back, as on the wire.
    #[default]
    Wire,
    /// Propagation both ways, and the payload of a full packet out, in whole nanoseconds per link.
    Payload,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub name: String,
    pub kind: NodeKind,
    /// Index into [`Plan::switches`] or [`Plan::hosts`], by kind.
    pub profile: u16,
    /// Where it stands, for grouping results: "host", "tor", "leaf", "spine", "core", "edge", ...
    pub layer: String,
    /// Which datacentre it is in; a host is in that of its switch. See [`crate::network::domain`].
    pub domain: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// Has exactly one link.
    Host,
    Switch,
}

/// A full-duplex link; each direction has its own rate, delay and loss.
#[derive(Clone, Debug)]
pub struct Link {
    pub a: u32,
    pub b: u32,
    pub a_to_b: Direction,
    pub b_to_a: Direction,
}

impl Link {
    /// The shorter of its delays.
    pub fn delay(&self) -> Span {
        self.a_to_b.delay.min(self.b_to_a.delay)
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Direction {
    pub rate: BitRate,
    pub delay: Span,
    /// Probability that a frame is lost on the wire (never applied to PFC frames).
    pub loss: f64,
}

/// The traffic classes in use, in ascending priority. A class is addressed by its index here.
#[derive(Clone, Debug)]
pub struct Classes {
    pub list: Vec<Class>,
    /// Index of the class that carries notifications, and ACKs unless they travel with the data.
    pub control: u8,
}

#[derive(Clone, Debug)]
pub struct Class {
    /// IEEE 802.1 priority, 0..=7; a higher number is served first among strict classes.
    pub priority: u8,
    /// Under PFC, never dropped. Otherwise tail drop.
    pub lossless: bool,
    pub service: Service,
    /// Longest egress queue of a lossy class; `None` leaves only the buffer as a limit.
    pub queue_limit_bytes: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// Before all weighted classes; among strict ones the higher priority first.
    Strict,
    /// Deficit round-robin with this many bytes of quantum per round and unit weight.
    Weighted(u32),
    /// Round-robin, a packet each, after strict classes. Not to be mixed with weighted ones.
    RoundRobin,
}

#[derive(Clone, Debug)]
pub struct SwitchSettings {
    pub buffer_bytes: u64,
    /// A packet that finds its egress idle counts for its ingress for that instant, as if it had
    /// waited; otherwise it passes without being counted.
    pub count_passing: bool,
    pub pfc: PfcSettings,
    pub watchdog: Option<Watchdog>,
}

#[derive(Clone, Debug)]
pub struct PfcSettings {
    pub thresholds: Thresholds,
    pub headroom: Headroom,
    /// Headroom and reserve are taken off the shared pool once per port, not per lossless class of it.
    pub set_aside_per_port: bool,
    pub signalling: Signalling,
}

/// When an ingress queue (port, class) asks its upstream to stop.
#[derive(Clone, Debug)]
pub enum Thresholds {
    /// PAUSE above `xoff_bytes`, RESUME at or below `xon_bytes`.
    Static { xoff_bytes: u64, xon_bytes: u64 },
    /// PAUSE when an ingress uses `alpha` times the free shared pool beyond its reserve; RESUME
    /// `resume_offset_bytes` below.
    Dynamic { alpha: Alpha, reserve_bytes: u64, resume_offset_bytes: u64 },
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Alpha {
    Fixed(f64),
    /// `base` at `nic_rate`, doubled per doubling of the port's speed, at most 1.
    BySpeed {
        base: f64,
        nic_rate: BitRate,
    },
    /// The same, and a speed between two doublings counts as the higher.
    BySpeedUp {
        base: f64,
        nic_rate: BitRate,
    },
}

/// Bytes an ingress may still take after it decided to pause.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Headroom {
    /// What [`crate::network::pfc::required_headroom`] computes for each port.
    Auto,
    Bytes(u64),
    /// So many times what fits on the wire, one way.
    Bdps(u32),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Signalling {
    /// One PAUSE until one RESUME.
    OnOff,
    /// A PAUSE lasts `pause` unless refreshed; refreshed every `refresh` while above XOFF, and for
    /// every packet arriving above XOFF if `per_arrival`.
    Timed { pause: Span, refresh: Span, per_arrival: bool },
}

/// PFC storm watchdog of a switch's egress queues.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Watchdog {
    pub poll: Span,
    /// A queue paused, non-empty and silent for this long is in a storm.
    pub detect: Span,
    /// Back to normal after this long without PAUSE.
    pub restore: Span,
    pub action: WatchdogAction,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WatchdogAction {
    /// Flush the queue and drop what arrives.
    Drop,
    /// Ignore PAUSE.
    Forward,
}

#[derive(Clone, Debug)]
pub struct HostSettings {
    /// Payload bytes of a full packet.
    pub mtu_bytes: u32,
    pub sizes: FrameSizes,
    /// One ACK per this many in-order packets (and always for the last).
    pub ack_every: u32,
    pub ack_class: AckClass,
    /// From the arrival of a packet to its ACK entering the NIC's queue.
    pub ack_delay: Span,
    /// From the decision to notify to the notification entering the NIC's queue.
    pub notify_delay: Span,
    /// Repeat a NAK for the same packet no sooner than this.
    pub nak_interval: Span,
    /// Go back to the oldest unacknowledged packet after this long without progress (and never
    /// sooner than four base round trips of the flow).
    pub retransmit_timeout: Span,
    pub nic: NicSettings,
}

/// How a NIC shares its link among flows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NicSettings {
    pub scheduler: NicScheduler,
    /// A change of rate moves the time of the next packet, as if the gap had been computed with it.
    pub follow_rate: bool,
    /// Flows are spaced by their rate; otherwise at line rate, whatever their scheme says.
    pub pace: bool,
    /// Limit of payload bytes in flight, on top of the scheme's.
    pub inflight_cap: Option<InflightCap>,
}

impl Default for NicSettings {
    fn default() -> Self {
        NicSettings { scheduler: NicScheduler::Ready, follow_rate: true, pace: true, inflight_cap: None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NicScheduler {
    /// Flows that may send stand in line, one line per class.
    Ready,
    /// The NIC looks through all its flows in the order in which they were opened, from the one after
    /// the last it served.
    Scan {
        /// All ACKs wait in one queue, ahead of the flows; it stops while this priority is paused.
        acks_paused_by: Option<u8>,
    },
}

/// One bandwidth-delay product: smallest rate of a path times base round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InflightCap {
    /// The largest of all pairs of hosts; otherwise the flow's own.
    pub longest: bool,
    /// Times the flow's rate over its line rate, and at least a byte.
    pub scales: bool,
}

/// Frame sizes from Ethernet header to FCS; `gap_bytes` (preamble and inter-frame gap) is wire
/// time only. Buffers count frames, links count frames plus gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameSizes {
    pub data_header_bytes: u32,
    pub ack_bytes: u32,
    pub tcp_header_bytes: u32,
    pub tcp_ack_bytes: u32,
    pub notification_bytes: u32,
    pub pfc_bytes: u32,
    pub gap_bytes: u32,
    /// Shorter data frames are padded to it.
    pub min_frame_bytes: u32,
}

impl FrameSizes {
    /// RoCEv2 over untagged Ethernet and IPv4 (IBTA layout); TCP without options: 14 + 20 + 20
    /// bytes of headers and the FCS, an ACK padded to the smallest frame.
    pub const ROCE_V2: FrameSizes = FrameSizes {
        data_header_bytes: 62,
        ack_bytes: 66,
        tcp_header_bytes: 58,
        tcp_ack_bytes: 64,
        notification_bytes: 78,
        pfc_bytes: 64,
        gap_bytes: 20,
        min_frame_bytes: 64,
    };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckClass {
    Control,
    WithData,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckPath {
    /// An ECMP hash of its own, as a real fabric does with swapped addresses and ports.
    Ecmp,
    /// Back along the data's path.
    Symmetric,
}

/// Something that happens to the network at a given time.
#[derive(Clone, Debug)]
pub struct Fault {
    pub at: Time,
    pub what: FaultKind,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FaultKind {
    LinkDown {
        link: u32,
    },
    LinkUp {
        link: u32,
    },
    /// New rate of the direction that leaves `port`.
    Rate {
        port: u32,
        rate: BitRate,
    },
    /// New loss probability of the direction that leaves `port`.
    Loss {
        port: u32,
        loss: f64,
    },
    /// From now on this host's NIC keeps its upstream paused in `class` (a storm), or stops to.
    PauseStorm {
        host_port: u32,
        class: u8,
        on: bool,
    },
}

/// A quantity sampled at a fixed interval.
#[derive(Clone, Debug)]
pub struct Probe {
    pub what: ProbeTarget,
    pub every: Span,
    pub from: Time,
    pub until: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProbeTarget {
    /// Egress queue of a port and class: [`crate::contract::record::Metric::QueueBytes`].
    Queue { port: u32, class: u8 },
    /// Bytes buffered that came in by a port and class: `IngressBytes`.
    Ingress { port: u32, class: u8 },
    /// Bits per second that left a port in the interval: `PortThroughput`.
    Throughput { port: u32 },
    /// Fraction of the interval in which an egress (port, class) was paused: `PausedFraction`.
    Paused { port: u32, class: u8 },
    /// PAUSE frames (first and refreshed) per second sent by a port: `PauseRate`.
    PauseRate { port: u32 },
    /// Bytes that wait in shaped per-flow queues to leave by a port: `ShapedBytes`.
    Shaped { port: u32 },
    /// Every flow whose [`crate::contract::traffic::FlowSpec::probed`] is set: `FlowRate` (allowed by the
    /// scheme), `FlowSendRate` (put on the wire by the NIC), `FlowThroughput` (delivered) and, if it
    /// has a shaped queue on its way, that queue's `FlowShapedBytes`.
    Flows,
}

#[derive(Clone, Debug)]
pub struct RunSettings {
    /// Simulated time at which the run ends.
    pub stop: Time,
    /// End earlier, once no source will act again and every flow has ended.
    pub stop_when_idle: bool,
    /// Count drops in lossless classes instead of failing.
    pub allow_drops: bool,
    /// Interval of the run-time deadlock check; `None` turns it off.
    pub deadlock_check: Option<Span>,
    /// Whether a deadlock ends the run or is only recorded.
    pub stop_on_deadlock: bool,
    /// Fail when flows are unfinished and nothing was delivered for this long.
    pub stall_after: Option<Span>,
    /// Keep every PAUSE and RESUME (not refreshes) for `pauses.parquet`.
    pub record_pauses: bool,
    /// Keep the repetitions of timed signalling too.
    pub record_refreshes: bool,
    /// Keep every PFC frame when it arrives, for `pfc.parquet`.
    pub record_pfc_frames: bool,
}

impl Plan {
    pub fn ports(&self) -> usize {
        self.links.len() * 2
    }

    pub fn is_host(&self, node: u32) -> bool {
        self.nodes[node as usize].kind == NodeKind::Host
    }

    /// Whether one end of a link is a host.
    pub fn leads_to_host(&self, link: &Link) -> bool {
        self.is_host(link.a) || self.is_host(link.b)
    }

    /// The settings of a host.
    pub fn host(&self, node: u32) -> &HostSettings {
        &self.hosts[usize::from(self.nodes[node as usize].profile)]
    }

    /// The node that owns `port`.
    pub fn node_of(&self, port: u32) -> u32 {
        let link = &self.links[port as usize / 2];
        if port & 1 == 0 { link.a } else { link.b }
    }

    /// The direction that leaves `port`.
    pub fn direction(&self, port: u32) -> &Direction {
        let link = &self.links[port as usize / 2];
        if port & 1 == 0 { &link.a_to_b } else { &link.b_to_a }
    }

    /// The direction that leaves `port` at the highest rate it will have: what headroom must stand.
    pub fn fastest(&self, port: u32) -> Direction {
        self.at_extreme(port, BitRate::max)
    }

    /// The direction that leaves `port` at the lowest rate it will have: how long a PAUSE may take.
    pub fn slowest(&self, port: u32) -> Direction {
        self.at_extreme(port, BitRate::min)
    }

    fn at_extreme(&self, port: u32, of: impl Fn(BitRate, BitRate) -> BitRate) -> Direction {
        let mut direction = *self.direction(port);
        for fault in &self.faults {
            if let FaultKind::Rate { port: changed, rate } = fault.what
                && changed == port
            {
                direction.rate = of(direction.rate, rate);
            }
        }
        direction
    }

    /// `leaf0->h3`, with the link's number appended where the two nodes share several.
    pub fn port_name(&self, port: u32) -> String {
        let (from, to) = (self.node_of(port), self.node_of(peer(port)));
        let twins: Vec<usize> = (0..self.links.len())
            .filter(|&i| {
                let link = &self.links[i];
                (link.a, link.b) == (from, to) || (link.a, link.b) == (to, from)
            })
            .collect();
        let name = format!("{}->{}", self.nodes[from as usize].name, self.nodes[to as usize].name);
        match twins.iter().position(|&i| i == port as usize / 2) {
            Some(which) if twins.len() > 1 => format!("{name}#{which}"),
            _ => name,
        }
    }
}
