//! What the points of a scheme may know of their queue or flow.

use xoff_engine::{BitRate, SharedRandom, Span, Time};

/// What a congestion point may know of its place: one egress queue (port, class) of a switch.
#[derive(Clone, Debug)]
pub struct QueueFacts {
    /// Seed of the run, for [`xoff_engine::stream`].
    pub seed: u64,
    /// Unique in the network; stable for a given scenario.
    pub queue: u64,
    /// Line rate of the port.
    pub rate: BitRate,
    /// The longest base round trip of the network.
    pub max_base_rtt: Span,
    /// Propagation of the link it feeds.
    pub delay: Span,
    /// Wire size of the largest data packet.
    pub mtu_wire_bytes: u32,
    /// Above which an ingress of the switch pauses, where that is static.
    pub xoff_bytes: Option<u64>,
    /// At or below which an ingress resumes, where that is static.
    pub xon_bytes: Option<u64>,
    /// The least that an ingress of the switch holds when PFC pauses it, alone in the buffer; `None`
    /// in lossy classes.
    pub pause_bytes: Option<u64>,
    /// The link it feeds leads into another domain.
    pub leaves_domain: bool,
    /// The link it feeds leads to a host.
    pub last_hop: bool,
    /// The random stream that the whole run shares, if it does.
    pub shared_random: Option<SharedRandom>,
}

impl QueueFacts {
    /// A queue of this rate, with plain values for the rest: for tests and calculations.
    pub fn at(rate: BitRate) -> QueueFacts {
        QueueFacts {
            seed: 1,
            queue: 0,
            rate,
            max_base_rtt: Span::from_us(10),
            delay: Span::from_us(1),
            mtu_wire_bytes: 1082,
            xoff_bytes: None,
            xon_bytes: None,
            pause_bytes: None,
            leaves_domain: false,
            last_hop: false,
            shared_random: None,
        }
    }
}

/// What the two end points of a flow may know of it.
#[derive(Clone, Copy, Debug)]
pub struct FlowFacts {
    /// Seed of the run, for [`xoff_engine::stream`].
    pub seed: u64,
    /// A hash of what the flow is, for its random streams.
    pub flow: u64,
    /// Line rate of the sender's NIC.
    pub line_rate: BitRate,
    /// When its source started it.
    pub start: Time,
    /// The rate it starts at: line rate, unless the scenario says otherwise. A controlled flow that
    /// starts below line rate is one in recovery: free to grow.
    pub initial_rate: BitRate,
    /// Round trip of its path on an idle network, as [`Model::base_rtt`](crate::network::plan::Model::base_rtt) counts it.
    pub base_rtt: Span,
    /// The longest base round trip of the network.
    pub max_base_rtt: Span,
    /// What the in-flight cap counts as one bandwidth-delay product.
    pub bdp_bytes: u64,
    /// Payload of a full packet.
    pub mtu_bytes: u32,
    /// Wire size of a full packet.
    pub mtu_wire_bytes: u32,
    /// Share it deserves, where the scheme knows weights; 1 as a rule.
    pub weight: u16,
    /// Switches on its path when it starts.
    pub hops: u8,
    /// How long its receiver takes to acknowledge a packet.
    pub ack_delay: Span,
    /// How it crosses domains; `None` if both ends are in one.
    pub inter_domain: Option<InterDomain>,
    /// Its packets may take different paths.
    pub spread: bool,
    /// Switches trim packets that find no room.
    pub trims: bool,
}

/// The two short stretches of a flow between domains.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct InterDomain {
    /// Base round trip between the sender and the gateway out of its domain.
    pub near_rtt: Span,
    /// Base round trip between the gateway into the receiver's domain and the receiver.
    pub far_rtt: Span,
    /// Rate of the receiver's link.
    pub far_line_rate: BitRate,
}

impl FlowFacts {
    /// A flow of this line rate and base round trip, with plain values for the rest: for tests and
    /// calculations.
    pub fn at(line_rate: BitRate, base_rtt: Span) -> FlowFacts {
        FlowFacts {
            seed: 1,
            flow: 0,
            line_rate,
            start: Time::ZERO,
            initial_rate: line_rate,
            base_rtt,
            max_base_rtt: base_rtt,
            bdp_bytes: line_rate.bytes_in(base_rtt),
            mtu_bytes: 1000,
            mtu_wire_bytes: 1082,
            weight: 1,
            hops: 1,
            ack_delay: Span::ZERO,
            inter_domain: None,
            spread: false,
            trims: false,
        }
    }
}
