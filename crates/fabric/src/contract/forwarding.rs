//! The contract of forwarding: which way a packet takes.
//!
//! A sender chooses among the numbered paths of its flow ([`PathChoice`]), a switch among the equal-cost next hops of
//! a packet ([`NextHop`]). Both only decide: they hold no port, event or packet, and the network calls them. A run in
//! which every flow keeps one path has neither; its paths are resolved when flows start.

use crate::contract::delegate::delegable;
use crate::contract::packet::Ecn;
pub use crate::contract::scheme::Loss;
use xoff_engine::{BitRate, SharedGlibc, SharedTwister, Span, Time};

/// What a path choice may know of its flow.
#[derive(Clone, Debug)]
pub struct PathFacts {
    /// Seed of the run, for [`xoff_engine::stream`].
    pub seed: u64,
    /// Identity of the flow; stable for a given scenario.
    pub flow: u64,
    /// What its numbers are drawn from where all of a run share a generator.
    pub shared: Option<SharedDraws>,
}

/// Draws of one flow from a generator that all of a run share.
#[derive(Clone, Debug)]
pub struct SharedDraws {
    /// The generator.
    pub random: SharedTwister,
    /// The number that orders the first round over its paths, which was drawn before the run.
    pub order: u32,
}

delegable! { $ delegate_path_choice
/// Chooses a path for each packet of one flow, at its sender.
pub trait PathChoice: Send {
    /// Returns the path of packet `psn`, which leaves now: a number below `paths`, which is at least 1.
    #[inline]
    fn pick(&mut self, now: Time, psn: u32, paths: u16) -> u16;
    /// Takes note of an ACK or NAK: the path and the mark of the data packet that caused it, and its round trip.
    #[inline]
    fn on_ack(&mut self, now: Time, path: u16, ecn: Ecn, rtt: Span) {}
    /// Takes note of a loss, and of how the sender learned of it: the path that the oldest unacknowledged packet took
    /// last. A single retransmission that the reaction point asks for counts as a NAK.
    #[inline]
    fn on_loss(&mut self, now: Time, path: u16, loss: Loss) {}
}
}
pub(crate) use delegate_path_choice;

/// What a next-hop choice may know of its switch.
#[derive(Clone, Debug)]
pub struct NextHopFacts {
    /// Seed of the run, for [`xoff_engine::stream`].
    pub seed: u64,
    /// Number of the switch among switches; stable for a given scenario.
    pub switch: u32,
    /// Generator that all switches share, if they follow a simulator in which they do.
    pub shared: Option<SharedGlibc>,
}

/// A packet that has arrived at a switch and needs a next hop.
#[derive(Clone, Copy, Debug)]
pub struct Forwarded {
    /// Time of arrival.
    pub now: Time,
    /// Hash of the flow's identity.
    pub flow: u32,
    /// Number of the host that receives it.
    pub host: u32,
    /// Number of the switch where the packet's way ends, among switches with hosts.
    pub edge: u16,
    /// Path number that the sender chose: the packet's entropy.
    pub path: u16,
    /// Index into [`crate::network::plan::Classes::list`].
    pub class: u8,
}

/// One of the equal-cost next hops of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Egress port, as the switch numbers its ports.
    pub port: u16,
    /// Bytes in all queues of that egress, without the frame on the wire.
    pub queue_bytes: u64,
    /// PFC stops the packet's class there.
    pub paused: bool,
    /// Rate of its link.
    pub rate: BitRate,
}

delegable! { $ delegate_next_hop
/// Chooses the next hop of each data packet, at one switch.
pub trait NextHop: Send {
    /// Returns the place of the chosen one among `candidates`, of which there are at least two. Their order is that of
    /// [`crate::network::plan::NextHops`].
    #[inline]
    fn pick(&mut self, packet: &Forwarded, candidates: &[Candidate]) -> usize;
}
}
pub(crate) use delegate_next_hop;
