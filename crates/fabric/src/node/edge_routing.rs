//! State of edge routing in a network of one part: machines by switch, paths between edges, headers of packets under
//! way, and packets that last edges hold back.

use crate::contract::edge_routing::{EdgeMessage, EdgePath, Effects, Header};
use crate::contract::packet::Packet;
use crate::id::{PortId, SwitchId};
use crate::network::edge_routing::EdgeMachine;
use std::collections::HashMap;
use xoff_engine::{Slab, Span, Table, Time};

/// All equal-cost paths from one edge to another.
#[derive(Debug, Default)]
pub(crate) struct PathSet {
    /// In order.
    pub paths: Vec<EdgePath>,
    /// Propagation along the first of them and back.
    pub round_trip: Span,
}

/// Packets of a flow that wait at the edge of its receiver.
#[derive(Debug)]
pub(crate) struct Held {
    pub switch: SwitchId,
    /// Identity of the flow.
    pub flow: u64,
    /// When they are let go; never, once they are gone.
    pub due: Time,
    /// Timers that will fire, those for another time than `due` too.
    pub timers: Vec<Time>,
    pub egress: PortId,
    pub packets: Vec<Packet>,
}

/// See the module's page.
#[derive(Default)]
pub(crate) struct EdgeState {
    pub machines: Table<SwitchId, EdgeMachine>,
    /// Number of the edge that a switch is.
    pub edge_of: Table<SwitchId, Option<u16>>,
    /// Filled when packets ask for them; emptied when routes change.
    pub paths: HashMap<(u16, u16), PathSet>,
    pub headers: Slab<u32, Header>,
    pub messages: Slab<u32, EdgeMessage>,
    pub held: Slab<u32, Held>,
    /// Places in `held` by switch and flow.
    pub held_of: HashMap<(SwitchId, u64), u32>,
    /// Facts of the packet at hand.
    pub effects: Effects,
}
