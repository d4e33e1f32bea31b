//! The contract of edge routing: the switch by which a packet enters the fabric chooses its whole path, and the switch
//! by which it leaves sees what the path did to it.
//!
//! A rule has a machine at every switch. Between the two edges a packet carries a [`Header`]; edges may send each other
//! messages, and the last one may hold packets back. A machine only decides: it holds no port, event or packet.

use crate::contract::delegate::delegable;
use xoff_engine::{BitRate, SharedGlibc, Span, Time};

/// Switches that a path may cross before the last one: those of a fat tree.
pub const HOPS_MOST: usize = 4;

/// A path between two edges: the egress port of each switch, as it numbers its ports from 1 on, in 16 bits, the first
/// switch's in the lowest. Paths are in the order of their last hops.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct EdgePath(u64);

impl EdgePath {
    /// A path by its egress ports, which count from 0 here; at most [`HOPS_MOST`].
    pub fn of(ports: impl IntoIterator<Item = u16>) -> EdgePath {
        let hops = ports.into_iter().take(HOPS_MOST).enumerate();
        EdgePath(hops.fold(0, |path, (hop, port)| path | (u64::from(port) + 1) << (16 * hop)))
    }

    /// Egress port of the switch that is `hop` switches after the first; `None` where the path has ended.
    pub fn port(self, hop: u8) -> Option<u16> {
        let port = (self.0 >> (16 * u32::from(hop))) as u16;
        port.checked_sub(1).filter(|_| usize::from(hop) < HOPS_MOST)
    }

    /// Its ports in a byte each: what identifies a path in ConWeave's simulator.
    pub fn bytes(self) -> u32 {
        (0..4).fold(0, |id, hop| id | ((self.0 >> (16 * hop)) as u32 & 0xff) << (8 * hop))
    }
}

/// What a machine may know of its switch.
#[derive(Clone, Debug)]
pub struct EdgeFacts {
    /// Seed of the run, for [`xoff_engine::stream`].
    pub seed: u64,
    /// Number of the switch among switches.
    pub switch: u32,
    /// Number of the switch among nodes.
    pub node: u32,
    /// Generator that all switches share, if they follow a simulator in which they do.
    pub shared: Option<SharedGlibc>,
}

/// A data packet at an edge.
#[derive(Clone, Copy, Debug)]
pub struct EdgePacket {
    /// Time of arrival.
    pub now: Time,
    /// Identity of its flow.
    pub flow: u64,
    /// What identifies flowlets: the flow, or what a simulator takes in its place.
    pub flowlet: u64,
    /// Edge of its sender, by number.
    pub from: u16,
    /// Edge of its receiver.
    pub to: u16,
    /// Egress port towards its receiver at the last edge; 0 elsewhere.
    pub egress: u16,
    /// Its ECN field says that it met congestion.
    pub marked: bool,
    /// Propagation from edge to edge and back.
    pub round_trip: Span,
}

/// What a packet means to the last edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Role {
    /// Nothing.
    #[default]
    Plain,
    /// The first packet of an epoch, which is answered.
    Init,
    /// The last one on its path before packets take another, which is answered.
    Tail,
}

/// What a packet carries from edge to edge; a rule uses what it needs. It takes no bytes on the wire: public
/// simulators count none, and the published formats fit fields that exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// Path that was chosen.
    pub path: EdgePath,
    /// Switches that the packet has left.
    pub hop: u8,
    /// Highest congestion metric along the path so far.
    pub congestion: u32,
    /// A path in the other direction, and the metric that was last seen of it.
    pub feedback: Option<(EdgePath, u32)>,
    /// Number of the epoch of its flow.
    pub epoch: u32,
    /// The packet follows its epoch's tail.
    pub rerouted: bool,
    /// What it means to the last edge.
    pub role: Role,
    /// When it passed the first edge.
    pub sent: Time,
    /// When the tail of its epoch did; zero before there is one.
    pub tail: Time,
}

/// A message from the last edge to the first, in the control class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeMessage {
    /// A packet came marked by this path.
    Notify(EdgePath),
    /// A packet with a role has arrived.
    Reply {
        /// Its epoch.
        epoch: u32,
        /// The packet was the tail, not the first.
        tail: bool,
    },
}

/// What the last edge does with a packet.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Messages to the first edge, in order.
    pub messages: Vec<EdgeMessage>,
    /// The packet joins those of its flow that are held back.
    pub hold: bool,
    /// Packets of the flow that are held back are let go then, and not at a time that was named before.
    pub flush_at: Option<Time>,
}

delegable! { $ delegate_edge_rule
/// Chooses paths at the switches by which packets enter the fabric.
pub trait EdgeRule: Send {
    /// Takes note of any packet that reaches the switch. Timers of the switch may begin with its first.
    #[inline]
    fn on_packet(&mut self, now: Time, is_data: bool) {}
    /// Returns the path of a packet that enters the fabric here, and writes the rest of its header. `paths` has at
    /// least one and is in order.
    #[inline]
    fn enter(&mut self, packet: &EdgePacket, paths: &[EdgePath], header: &mut Header) -> EdgePath;
    /// A packet will leave by `port`, on its way along its path, whether the egress has room for it or not.
    #[inline]
    fn pass(&mut self, now: Time, port: u16, rate: BitRate, frame_bytes: u32, header: &mut Header) {}
    /// A packet has come to the edge of its receiver.
    #[inline]
    fn leave(&mut self, packet: &EdgePacket, header: &Header, effects: &mut Effects) {}
    /// Takes a message about a flow that enters the fabric here.
    #[inline]
    fn on_message(&mut self, now: Time, flow: u64, message: &EdgeMessage) {}
    /// The packets of a flow that were held back are let go.
    #[inline]
    fn on_flush(&mut self, flow: u64) {}
}
}
pub(crate) use delegate_edge_rule;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_by_their_last_hop_first() {
        let paths = [[0, 1], [1, 1], [0, 2]].map(EdgePath::of);
        assert!(paths.is_sorted());
        assert_eq!((paths[1].port(0), paths[1].port(1), paths[1].port(2)), (Some(1), Some(1), None));
        // ConWeave's simulator numbers ports from 1, too.
        assert_eq!(paths.map(EdgePath::bytes), [0x201, 0x202, 0x301]);
    }
}
