//! What tests of rules give them.

use crate::contract::edge_routing::{EdgeFacts, EdgePacket, EdgePath};
use xoff_engine::{SharedGlibc, Span, Time};

/// A switch that draws as `rand()` does after `srand(1)`: 1804289383, 846930886, 1681692777, 1714636915, 1957747793.
pub fn facts() -> EdgeFacts {
    EdgeFacts { seed: 1, switch: 0, node: 9, shared: Some(SharedGlibc::new(1)) }
}

/// So many paths over as many spines, whose port to the last edge is 1.
pub fn paths(count: u16) -> Vec<EdgePath> {
    (0..count).map(|port| EdgePath::of([port, 1])).collect()
}

/// A packet of a flow from edge 0 to edge 1, at a time in microseconds.
pub fn entering(us: u64, flow: u64) -> EdgePacket {
    EdgePacket {
        now: Time::from_us(us),
        flow,
        flowlet: flow,
        from: 0,
        to: 1,
        egress: 0,
        marked: false,
        round_trip: Span::from_us(4),
    }
}
