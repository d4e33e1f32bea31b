//! State of forwarding in a part: paths that senders choose from, next hops that switches choose from.
//!
//! A run in which every flow keeps one path has none of it.

use crate::contract::forwarding::{Candidate, Loss, PathChoice};
use crate::contract::packet::TableRoute;
use crate::contract::record::Order;
use crate::id::{PortId, ReceiverId, SenderId, SwitchId};
use crate::network::forwarding::{HashOfPackets, NextHopMachine, PathMachine};
use crate::node::edge_routing::EdgeState;
use crate::node::order::ArrivalOrder;
use xoff_engine::{Numbered, Table, Time};

/// Everything that a part needs to forward packets one by one, and free blocks of its route memory.
#[derive(Default)]
pub(crate) struct Forwarder {
    /// Paths of flows that have several, by sender.
    spreads: Table<SenderId, Option<Box<Spread>>>,
    /// In which order packets of such flows arrived, by receiver.
    orders: Table<ReceiverId, Option<Box<ArrivalOrder>>>,
    /// Next-hop choices by switch; empty if switches do not choose.
    pub machines: Table<SwitchId, NextHopMachine>,
    /// Hashes by which ACKs and notifications find their next hops, by switch.
    pub ack_hashes: Table<SwitchId, HashOfPackets>,
    pub next_hops: NextHopTable,
    /// Free blocks of the route memory, by length.
    pub route_free: Vec<Vec<u32>>,
    /// Candidates of the packet at hand.
    pub candidates: Vec<Candidate>,
    /// Where edges choose paths.
    pub edge: Option<Box<EdgeState>>,
    pub recent_hops: RecentHops,
}

/// Hops of flows with several paths that were noted not long ago: most packets find theirs here and need no search.
#[derive(Default)]
pub(crate) struct RecentHops {
    /// Number of a flow, which no other flow ever has, and the two ports of a hop; each hop has one place, which others
    /// may take.
    places: Option<Box<[(u32, PortId, PortId); 1 << RecentHops::BITS]>>,
}

impl RecentHops {
    const BITS: u32 = 12;

    /// Keeps a hop. Whether it was not there: then it may be the flow's first of it.
    #[inline]
    pub fn insert(&mut self, flow: u32, ingress: PortId, egress: PortId) -> bool {
        let places = match &mut self.places {
            Some(places) => places,
            none => none.insert(RecentHops::none()),
        };
        let mixed = (flow ^ egress.get() << 12 ^ ingress.get() << 20).wrapping_mul(0x9e37_79b1);
        let (hop, place) = ((flow, ingress, egress), &mut places[(mixed >> (32 - RecentHops::BITS)) as usize]);
        let is_new = *place != hop;
        if is_new {
            *place = hop;
        }
        is_new
    }

    #[cold]
    #[inline(never)]
    fn none() -> Box<[(u32, PortId, PortId); 1 << RecentHops::BITS]> {
        Box::new([(u32::MAX, PortId::NONE, PortId::NONE); 1 << RecentHops::BITS])
    }
}

impl Forwarder {
    pub fn spread_mut(&mut self, flow: SenderId) -> Option<&mut Spread> {
        self.spreads.get_mut(flow)?.as_deref_mut()
    }

    /// What a receiver has seen of the order of packets, from the first one on.
    pub fn order_mut(&mut self, flow: ReceiverId) -> &mut ArrivalOrder {
        self.orders.reach(flow, || None).get_or_insert_default()
    }

    pub fn order(&self, flow: ReceiverId) -> Order {
        self.orders.get(flow).and_then(Option::as_deref).map_or_else(Order::default, |order| order.counts)
    }

    pub fn forget_order(&mut self, flow: ReceiverId) {
        if let Some(order) = self.orders.get_mut(flow) {
            *order = None;
        }
    }

    pub fn set_spread(&mut self, flow: SenderId, spread: Option<Box<Spread>>) {
        if spread.is_some() || self.spreads.get(flow).is_some() {
            *self.spreads.reach(flow, || None) = spread;
        }
    }
}

/// Equal-cost next hops of the switches of a part to every edge, in the part's own port numbers.
#[derive(Default)]
pub(crate) struct NextHopTable {
    edges: usize,
    /// `[switch][edge]` -> first and length in `ports`.
    groups: Vec<(u32, u32)>,
    ports: Vec<PortId>,
}

impl NextHopTable {
    pub fn new(edges: usize) -> NextHopTable {
        NextHopTable { edges, ..NextHopTable::default() }
    }

    /// Adds the next hops of the next (switch, edge). Most often they are those of the edge before.
    pub fn push(&mut self, next_hops: &[PortId]) {
        let before = self.groups.last().copied().filter(|&group| self.group(group) == next_hops);
        let group = before.unwrap_or_else(|| {
            self.ports.extend(next_hops);
            ((self.ports.len() - next_hops.len()) as u32, next_hops.len() as u32)
        });
        self.groups.push(group);
    }

    fn group(&self, (first, len): (u32, u32)) -> &[PortId] {
        &self.ports[first as usize..(first + len) as usize]
    }

    pub fn next_hops(&self, switch: SwitchId, edge: u16) -> &[PortId] {
        self.group(self.groups[switch.get() as usize * self.edges + usize::from(edge)])
    }
}

/// What the number of a path means in [`crate::contract::packet::Packet::route`].
#[derive(Debug)]
pub(crate) enum PathRoutes {
    /// First cursors of paths in the route memory.
    Installed(Box<[u32]>),
    /// Switches choose: the destination's edge, and how many numbers there are.
    Table { edge: u16, paths: u16 },
}

/// The paths of a flow, at its sender.
pub(crate) struct Spread {
    machine: PathMachine,
    pub routes: PathRoutes,
    /// Path of each outstanding packet, by PSN.
    taken: Numbered<u16>,
}

impl Spread {
    pub fn new(machine: PathMachine, routes: PathRoutes) -> Spread {
        Spread { machine, routes, taken: Numbered::default() }
    }

    /// Chooses the path of a packet that leaves now; its route. Packets before `una` are acknowledged.
    pub fn pick(&mut self, now: Time, psn: u32, una: u32) -> u32 {
        let paths = match &self.routes {
            PathRoutes::Installed(routes) => routes.len() as u16,
            PathRoutes::Table { paths, .. } => *paths,
        };
        let path = self.machine.pick(now, psn, paths);
        assert!(path < paths, "path {path} of {paths}");
        self.taken.forget_before(una);
        self.taken.set(psn, path);
        match &self.routes {
            PathRoutes::Installed(routes) => routes[usize::from(path)],
            PathRoutes::Table { edge, .. } => TableRoute { edge: *edge, path }.word(),
        }
    }

    pub fn machine(&mut self) -> &mut PathMachine {
        &mut self.machine
    }

    /// Packet `psn` counts as lost.
    pub fn on_loss(&mut self, now: Time, psn: u32, loss: Loss) {
        if let Some(path) = self.taken.get(psn) {
            self.machine.on_loss(now, path, loss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::forwarding::PathFacts;
    use crate::network::forwarding::PathRule;
    use std::sync::Mutex;

    static LOST: Mutex<Vec<u16>> = Mutex::new(Vec::new());

    /// Packets 0, 1, 2, ... on paths 0, 2, 4, ... at first, and on path 9 from 1 us on.
    struct Doubling;
    impl PathChoice for Doubling {
        fn pick(&mut self, now: Time, psn: u32, _: u16) -> u16 {
            if now < Time::from_us(1) { 2 * psn as u16 } else { 9 }
        }
        fn on_loss(&mut self, _: Time, path: u16, _: Loss) {
            LOST.lock().expect("one test").push(path);
        }
    }

    #[test]
    fn a_loss_is_blamed_on_the_path_that_the_packet_took_last() {
        let machine = PathRule::Own(|_| Box::new(Doubling)).machine(&PathFacts { seed: 0, flow: 0, shared: None });
        let mut spread = Spread::new(machine, PathRoutes::Table { edge: 5, paths: 10 });
        let routes = [0, 1, 2, 3].map(|psn| spread.pick(Time::ZERO, psn, 0));
        assert_eq!(routes, [0x8005_0000, 0x8005_0002, 0x8005_0004, 0x8005_0006]);
        spread.on_loss(Time::ZERO, 1, Loss::Nak);
        // Packet 2 is sent again after 0 and 1 were acknowledged.
        spread.pick(Time::from_us(1), 2, 2);
        spread.on_loss(Time::ZERO, 2, Loss::Timeout);
        spread.on_loss(Time::ZERO, 3, Loss::Nak);
        spread.on_loss(Time::ZERO, 4, Loss::Nak);
        assert_eq!(*LOST.lock().expect("one test"), [2, 9, 6], "packet 4 was never sent");
    }

    #[test]
    fn equal_next_hops_are_stored_once() {
        let ports = [1, 2, 3].map(PortId::new);
        let mut table = NextHopTable::new(2);
        for hops in [&ports[..2], &ports[..2], &ports[2..], &[]] {
            table.push(hops);
        }
        let of = |switch: u32, edge| table.next_hops(SwitchId::new(switch), edge);
        assert_eq!([of(0, 0), of(0, 1), of(1, 0), of(1, 1)], [&ports[..2], &ports[..2], &ports[2..], &[]]);
        assert_eq!(table.ports.len(), 3);
    }
}
