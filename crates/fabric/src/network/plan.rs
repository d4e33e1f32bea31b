//! What a run is made of, checked and complete: the input of [`crate::run::World`].
//!
//! Nodes, links, ports and classes are plain indices. Link `i` has two ports, `2 * i` at its
//! `a` end and `2 * i + 1` at its `b` end, so the port at the other end of the link is `port ^ 1` everywhere.

pub use crate::buffer::{ActiveSettings, Counting, Rule, Unscheduled};
pub use crate::network::edge_routing::{ConWeaveSettings, CongaSettings, EdgeRouting};
pub use crate::network::forwarding::{
    AdaptiveSettings, DrillSettings, Forwarding, NextHopRule, PathMap, PathRule, PlbSettings, Tie, path_choice,
};
pub use crate::network::probe::{Probe, ProbeTarget};
pub use crate::network::recovery::{Irn, Recovery, Sack};
pub use crate::network::response::PfcResponse;
use xoff_engine::{BitRate, Span, Time, TimeResolution};

/// The port at the other end of the link.
#[inline]
pub const fn peer(port: u32) -> u32 {
    port ^ 1
}

/// Everything the world needs to be built.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All randomness hangs on it.
    pub seed: u64,
    /// Nodes are known by their place here.
    pub nodes: Vec<Node>,
    /// Link `i` has the ports `2 * i` and `2 * i + 1`.
    pub links: Vec<Link>,
    /// At most eight.
    pub classes: Classes,
    /// Switch profiles; a switch names one by index in [`Node::profile`].
    pub switches: Vec<SwitchSettings>,
    /// Host profiles; a host names one by index in [`Node::profile`].
    pub hosts: Vec<HostSettings>,
    /// Exact and unbiased by default.
    pub model: Model,
    /// Reverse traffic (ACKs, receiver-sent notifications) hashes its own path, or retraces the data's.
    pub ack_path: AckPath,
    /// Sorted by time.
    pub faults: Vec<Fault>,
    /// What is sampled while the run goes on.
    pub probes: Vec<Probe>,
    /// When it ends, and what it keeps.
    pub run: RunSettings,
}

/// How the simulator itself counts and chooses. The defaults are exact and unbiased; the rest lets a
/// run follow the rules of another simulator, so that results can be compared one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Model {
    /// Of serialisation times and pacing gaps.
    pub resolution: TimeResolution,
    /// Among events at one instant.
    pub ties: Ties,
    /// Among equal next hops.
    pub ecmp: Ecmp,
    /// What that hash is of.
    pub hash: Hash,
    /// Their order, which the hash counts in.
    pub next_hops: NextHops,
    /// Which round trip schemes are told.
    pub base_rtt: BaseRtt,
    /// For schemes that mark by lot.
    pub random: Random,
    /// Which way packets take, and who chooses it when.
    pub forwarding: Forwarding,
    /// Whose rules switches and NICs follow where there is no other option.
    pub dialect: Dialect,
    /// Flows of the run, where a dialect draws for all of them before the first begins; else 0.
    pub connections: u32,
}

/// A simulator whose rules a run follows as a whole, where single rules of it would serve nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// None.
    #[default]
    Own,
    /// ConWeave's (SIGCOMM 2023): its shared buffer ([`crate::buffer::broadcom`]), a PAUSE frame for every packet that
    /// finds its ingress above its threshold, in one queue with ACKs, a generator of marks per switch, NICs that wake
    /// up for flows that wait for their time alone, and receivers that forget a flow once its sender has ended.
    ConWeave,
    /// The Ultra Ethernet Consortium's htsim: its queues with coins that trim, NICs, transport, and one generator for all
    /// draws in the order of events ([`crate::part`]).
    Htsim,
}

/// Where marking by lot takes its numbers from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Random {
    /// Each queue has a stream of its own, whatever happens elsewhere.
    #[default]
    Own,
    /// All queues share one generator ([`xoff_engine::shared_random`]), in the order of events: every draw takes
    /// a new stream, and so does every PFC frame.
    Shared {
        /// Number of the first stream that is drawn from.
        first: u64,
    },
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

/// What switches hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hash {
    /// Fields of packets.
    pub fields: HashFields,
    /// What else enters the hash of a switch.
    pub seeds: HashSeeds,
}

/// Fields of a packet that switches hash; a field that they do not hash counts as zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HashFields(u8);

impl HashFields {
    /// None.
    pub const NONE: HashFields = HashFields(0);
    /// Source address.
    pub const SOURCE: HashFields = HashFields(1);
    /// Destination address.
    pub const DESTINATION: HashFields = HashFields(2);
    /// UDP or TCP source port, which a sender's number of the path changes.
    pub const SOURCE_PORT: HashFields = HashFields(4);
    /// UDP or TCP destination port.
    pub const DESTINATION_PORT: HashFields = HashFields(8);
    /// Destination queue pair.
    pub const QP: HashFields = HashFields(16);
    /// Addresses and ports; under [`Ecmp::Mix`] all that a flow is.
    pub const FIVE_TUPLE: HashFields = HashFields(15);

    /// The fields of both.
    pub const fn with(self, other: HashFields) -> HashFields {
        HashFields(self.0 | other.0)
    }
    /// Whether any of `other` is among these.
    pub const fn has(self, other: HashFields) -> bool {
        self.0 & other.0 != 0
    }
}

impl Default for HashFields {
    fn default() -> HashFields {
        HashFields::FIVE_TUPLE
    }
}

/// Seeds of the hashes of switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HashSeeds {
    /// Every switch has its own.
    #[default]
    PerSwitch,
    /// Switches of a layer have the same.
    PerLayer,
    /// All switches have the same.
    Equal,
}

/// In which order a switch lists equal next hops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NextHops {
    /// By number of the link.
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

/// A host or a switch.
#[derive(Clone, Debug)]
pub struct Node {
    /// As results call it; unique.
    pub name: String,
    /// Which of the two profiles it has.
    pub kind: NodeKind,
    /// Index into [`Plan::switches`] or [`Plan::hosts`], by kind.
    pub profile: u16,
    /// Where it stands, for grouping results: "host", "tor", "leaf", "spine", "core", "edge", ...
    pub layer: String,
    /// Which datacentre it is in; a host is in that of its switch. See [`crate::network::domain`].
    pub domain: u16,
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// Has exactly one link.
    Host,
    /// Has any number of links.
    Switch,
}

/// A full-duplex link; each direction has its own rate, delay and loss.
#[derive(Clone, Debug)]
pub struct Link {
    /// Node at the end with the even port.
    pub a: u32,
    /// Node at the end with the odd port.
    pub b: u32,
    /// What leaves by the even port.
    pub a_to_b: Direction,
    /// What leaves by the odd port.
    pub b_to_a: Direction,
}

impl Link {
    /// The shorter of its delays.
    pub fn delay(&self) -> Span {
        self.a_to_b.delay.min(self.b_to_a.delay)
    }
}

/// One direction of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Direction {
    /// At which frames and gaps go onto the wire.
    pub rate: BitRate,
    /// Propagation, from the last bit sent to the last bit received.
    pub delay: Span,
    /// Probability that a frame is lost on the wire (never applied to PFC frames).
    pub loss: f64,
}

/// The traffic classes in use, in ascending priority. A class is addressed by its index here.
#[derive(Clone, Debug)]
pub struct Classes {
    /// At most eight.
    pub list: Vec<Class>,
    /// Index of the class that carries notifications, and ACKs unless they travel with the data.
    pub control: u8,
}

/// A traffic class: a queue at every port.
#[derive(Clone, Debug)]
pub struct Class {
    /// IEEE 802.1 priority, 0..=7; a higher number is served first among strict classes.
    pub priority: u8,
    /// Under PFC, never dropped. Otherwise tail drop.
    pub lossless: bool,
    /// Beside the other classes of a port.
    pub service: Service,
    /// Longest egress queue of a lossy class; `None` leaves only the buffer as a limit.
    pub queue_limit_bytes: Option<u64>,
    /// Longest egress queue of a lossy class as the time that its port takes to send it; `None` for none.
    pub queue_time: Option<Span>,
    /// Longest egress queue of a lossy class as a share of the free pool; `None` for none.
    pub alpha: Option<f64>,
}

/// How a port shares its link among classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// Before all weighted classes; among strict ones the higher priority first.
    Strict,
    /// Deficit round-robin with this many bytes of quantum per round and unit weight.
    Weighted(u32),
    /// Round-robin, a packet each, after strict classes. Not to be mixed with weighted ones.
    RoundRobin,
}

/// A profile of switches.
#[derive(Clone, Debug)]
pub struct SwitchSettings {
    /// All ports and classes share it, headroom included.
    pub buffer_bytes: u64,
    /// A packet that finds its egress idle counts for its ingress for that instant, as if it had
    /// waited; otherwise it passes without being counted.
    pub count_passing: bool,
    /// Frame bytes that are left of a data packet of a lossy class that finds no room; `None`: such packets are dropped.
    pub trim_bytes: Option<u16>,
    /// For its lossless classes.
    pub pfc: PfcSettings,
    /// Until its ports obey a PAUSE.
    pub pfc_response: PfcResponse,
    /// `None`: it has none.
    pub watchdog: Option<Watchdog>,
}

/// How a switch keeps its lossless classes lossless.
#[derive(Clone, Debug)]
pub struct PfcSettings {
    /// When an ingress pauses and resumes.
    pub thresholds: Thresholds,
    /// What is kept free for what is still on its way.
    pub headroom: Headroom,
    /// What of headroom and reserve is taken off the shared pool.
    pub set_aside: SetAside,
    /// How long a PAUSE holds.
    pub signalling: Signalling,
    /// Settings of rules that count busy queues.
    pub active: ActiveSettings,
}

/// When an ingress queue (port, class) asks its upstream to stop.
#[derive(Clone, Debug)]
pub enum Thresholds {
    /// The same whatever else is in the buffer.
    Static {
        /// PAUSE above it.
        xoff_bytes: u64,
        /// RESUME at or below it.
        xon_bytes: u64,
    },
    /// PAUSE when an ingress uses `alpha` times the free shared pool beyond its reserve.
    Dynamic {
        /// By port.
        alpha: Alpha,
        /// What every ingress has for itself before it takes of the pool.
        reserve_bytes: u64,
        /// RESUME so far below the threshold,
        resume_offset_bytes: u64,
        /// or with less than this beyond the reserve; with 1, once nothing is.
        resume_below_bytes: u64,
        /// Any rule but [`Rule::Static`].
        rule: Rule,
    },
}

impl Thresholds {
    /// Rule that charges the buffer.
    pub const fn rule(&self) -> Rule {
        match self {
            Thresholds::Static { .. } => Rule::Static,
            Thresholds::Dynamic { rule, .. } => *rule,
        }
    }

    /// Dynamic thresholds with the defaults of everything but alpha.
    pub const fn dynamic(alpha: f64) -> Thresholds {
        Thresholds::Dynamic {
            alpha: Alpha::Fixed(alpha),
            reserve_bytes: 4096,
            resume_offset_bytes: 3072,
            resume_below_bytes: 1,
            rule: Rule::Dynamic,
        }
    }
}

/// How often headroom and reserve of a port are taken off the shared pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetAside {
    /// For every lossless class of it.
    Class,
    /// Once.
    Port,
    /// Not at all: headroom is a limit of an ingress, not room that is kept free.
    Nothing,
    /// Not at all: the headroom of every lossless class is beside the buffer, which is shared as a whole.
    Beside,
}

impl SetAside {
    /// Of a port with so many lossless classes.
    pub fn times(self, lossless: u64) -> u64 {
        match self {
            SetAside::Class => lossless,
            SetAside::Port => lossless.min(1),
            SetAside::Nothing | SetAside::Beside => 0,
        }
    }
}

/// Share of the free shared pool that an ingress may take: alpha of dynamic thresholds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Alpha {
    /// The same at every port.
    Fixed(f64),
    /// `base` at `nic_rate`, doubled per doubling of the port's speed, at most 1.
    BySpeed {
        /// Alpha at `nic_rate`.
        base: f64,
        /// Speed from which doublings are counted.
        nic_rate: BitRate,
    },
    /// The same, and a speed between two doublings counts as the higher.
    BySpeedUp {
        /// Alpha at `nic_rate`.
        base: f64,
        /// Speed from which doublings are counted.
        nic_rate: BitRate,
    },
}

/// Bytes an ingress may still take after it decided to pause.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Headroom {
    /// What [`crate::network::pfc::PauseLoop`] computes for each port.
    Auto,
    /// The same for every ingress, enough or not.
    Bytes(u64),
    /// So many times what fits on the wire, one way.
    Bdps(u32),
}

/// How a PAUSE ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Signalling {
    /// One PAUSE until one RESUME.
    OnOff,
    /// A PAUSE runs out unless it is refreshed, as it is while the ingress is above XOFF.
    Timed {
        /// How long it lasts.
        pause: Span,
        /// How often it is refreshed.
        refresh: Span,
        /// Whether every packet that arrives above XOFF refreshes it too.
        per_arrival: bool,
        /// When an ingress is found below XON.
        resume: ResumeAt,
    },
}

/// When an ingress that has paused its upstream looks whether it may resume it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ResumeAt {
    /// Whenever a packet of it leaves.
    #[default]
    Departures,
    /// When a packet arrives, once that has been queued or has gone, and at a refresh. Each egress that a PAUSE
    /// was decided for repeats it on a clock of its own, which begins anew with every PAUSE and ends at a look
    /// that finds no reason for another.
    Checks,
}

/// PFC storm watchdog of a switch's egress queues.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Watchdog {
    /// How often queues are looked at.
    pub poll: Span,
    /// A queue paused, non-empty and silent for this long is in a storm.
    pub detect: Span,
    /// Back to normal after this long without PAUSE.
    pub restore: Span,
    /// What becomes of a queue in a storm.
    pub action: WatchdogAction,
}

/// What a watchdog does with a queue in a storm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WatchdogAction {
    /// Flush the queue and drop what arrives.
    Drop,
    /// Ignore PAUSE.
    Forward,
}

/// A profile of hosts.
#[derive(Clone, Debug)]
pub struct HostSettings {
    /// Payload bytes of a full packet.
    pub mtu_bytes: u32,
    /// Of frames that it sends.
    pub sizes: FrameSizes,
    /// One ACK per this many in-order packets (and always for the last).
    pub ack_every: u32,
    /// Of ACKs and NAKs that it sends.
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
    /// How its RoCE flows recover from losses; the same at all hosts.
    pub recovery: Recovery,
    /// Until its port obeys a PAUSE.
    pub pfc_response: PfcResponse,
    /// How flows share its link.
    pub nic: NicSettings,
}

/// How a NIC shares its link among flows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NicSettings {
    /// Who sends next.
    pub scheduler: NicScheduler,
    /// A change of rate moves the time of the next packet, as if the gap had been computed with it.
    pub follow_rate: bool,
    /// Flows are spaced by their rate; otherwise at line rate, whatever their scheme says.
    pub pace: bool,
    /// Limit of payload bytes in flight, on top of the scheme's.
    pub inflight_cap: Option<InflightCap>,
}

/// How a NIC finds the flow that sends next.
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
    /// At the rate of the sender's NIC, not at the smallest of the path.
    pub at_line_rate: bool,
    /// Times the flow's rate over its line rate, and at least a byte.
    pub scales: bool,
}

/// Frame sizes from Ethernet header to FCS; `gap_bytes` (preamble and inter-frame gap) is wire
/// time only. Buffers count frames, links count frames plus gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameSizes {
    /// Of a RoCE data packet, all but its payload.
    pub data_header_bytes: u32,
    /// A whole RoCE ACK or NAK.
    pub ack_bytes: u32,
    /// Of a TCP segment, all but its payload.
    pub tcp_header_bytes: u32,
    /// A whole TCP ACK without payload.
    pub tcp_ack_bytes: u32,
    /// A whole notification, unless its scheme says otherwise.
    pub notification_bytes: u32,
    /// A whole PFC frame.
    pub pfc_bytes: u32,
    /// After each frame: never in buffers.
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

/// In which class ACKs travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckClass {
    /// [`Classes::control`]
    Control,
    /// That of the packets they acknowledge.
    WithData,
}

/// Which way reverse traffic takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckPath {
    /// An ECMP hash of its own, as a real fabric does with swapped addresses and ports: one path for a flow.
    #[default]
    Ecmp,
    /// ACKs are hashed as under `Ecmp`, together with the path number of the data packet that they answer.
    Entropy,
    /// Back along the data's path.
    Symmetric,
}

/// Something that happens to the network at a given time.
#[derive(Clone, Debug)]
pub struct Fault {
    /// From the start of the run.
    pub at: Time,
    /// What happens then.
    pub what: FaultKind,
}

/// What may happen to a network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FaultKind {
    /// What is on the link or waits for it is lost, and routes avoid it from then on.
    LinkDown {
        /// Index into [`Plan::links`].
        link: u32,
    },
    /// A link that was down works again.
    LinkUp {
        /// Index into [`Plan::links`].
        link: u32,
    },
    /// A link goes down, and routes use it until switches learn of it.
    LinkDead {
        /// Index into [`Plan::links`].
        link: u32,
    },
    /// A link works again, and routes avoid it until switches learn of it.
    LinkAlive {
        /// Index into [`Plan::links`].
        link: u32,
    },
    /// Switches learn whether a link works, and choose next hops by it.
    Learned {
        /// Index into [`Plan::links`].
        link: u32,
        /// Hops from the link to the farthest of them, or [`ALL_SWITCHES`](crate::network::route::ALL_SWITCHES).
        within: u8,
    },
    /// New rate of the direction that leaves `port`.
    Rate {
        /// The sending end.
        port: u32,
        /// From the next frame on.
        rate: BitRate,
    },
    /// New loss probability of the direction that leaves `port`.
    Loss {
        /// The sending end.
        port: u32,
        /// From 0 to 1, per frame.
        loss: f64,
    },
    /// From now on this host's NIC keeps its upstream paused in `class` (a storm), or stops to.
    PauseStorm {
        /// The port of the host's only link.
        host_port: u32,
        /// Index into [`Classes::list`].
        class: u8,
        /// Whether the storm begins or ends.
        on: bool,
    },
}

/// How closely a run follows the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fidelity {
    /// Every packet, queue and PAUSE frame.
    #[default]
    Packet,
    /// Flows at max-min fair rates: no packet, no queue, no PAUSE. What such a run cannot know has no value.
    Flow,
}

/// What a collective of a job is at flow level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Collectives {
    /// Macro-flows in jobs of many ranks, else messages.
    #[default]
    Auto,
    /// Macro-flows: all connections of a channel or phase send at one rate.
    Macro,
    /// Every message is sent.
    Messages,
}

/// When a run ends, and what it keeps.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// Which engine runs it.
    pub fidelity: Fidelity,
    /// What collectives of jobs are at flow level.
    pub collectives: Collectives,
    /// Run at flow level where that is known to be far from packet level.
    pub out_of_range: bool,
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
    /// Count what each port sends of each flow, for `flow_links.parquet`.
    pub record_flow_links: bool,
}

impl Plan {
    /// Two for each link.
    pub fn ports(&self) -> usize {
        self.links.len() * 2
    }

    /// Whether that node is a host, not a switch.
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
