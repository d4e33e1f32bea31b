//! Paths between hosts, reckoned without packets: of equal ones the first that a search from the
//! receiver meets, which looks at neighbours by descending number.
//!
//! Round trips of payload ([`BaseRtt::Payload`](crate::network::plan::BaseRtt::Payload)) are counted along them,
//! in whole nanoseconds, whatever path a flow's packets take.

use crate::network::plan::{NodeKind, Plan, peer};
use std::collections::VecDeque;
use xoff_engine::{BitRate, Span};

/// What the path from one node to a host is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PayloadPath {
    /// Delays of all links, there and back.
    pub delay_ns: u64,
    /// Serialisation of a full payload, without headers, at each link there.
    pub serialise_ns: u64,
    /// Rate of its slowest link there, in bits per second.
    pub slowest_bps: u64,
}

impl PayloadPath {
    /// Propagation both ways, and the payload of a full packet out.
    pub fn round_trip(&self) -> Span {
        Span::from_ns(self.delay_ns + self.serialise_ns)
    }

    /// Bytes under way at the rate of its slowest link in one round trip.
    pub fn bdp_bytes(&self) -> u64 {
        BitRate::from_bps(self.slowest_bps).bytes_in(self.round_trip())
    }
}

/// The network, ready to be searched.
#[derive(Debug)]
pub struct PayloadPaths {
    /// The ports of each node, by descending number of the neighbour.
    ports: Vec<Vec<u32>>,
}

impl PayloadPaths {
    /// Of the network as planned, whatever fails later.
    pub fn new(plan: &Plan) -> PayloadPaths {
        let mut ports = vec![Vec::new(); plan.nodes.len()];
        for port in 0..plan.ports() as u32 {
            ports[plan.node_of(port) as usize].push(port);
        }
        for own in &mut ports {
            own.sort_by_key(|&port| std::cmp::Reverse(plan.node_of(peer(port))));
        }
        PayloadPaths { ports }
    }

    /// The paths from every node to the host `dst`, through switches only; none where there is none.
    pub fn to(&self, plan: &Plan, dst: u32, payload_bytes: u32) -> Vec<Option<PayloadPath>> {
        let mut paths = vec![None; plan.nodes.len()];
        paths[dst as usize] = Some(PayloadPath { delay_ns: 0, serialise_ns: 0, slowest_bps: u64::MAX });
        let mut queue = VecDeque::from([dst]);
        while let Some(node) = queue.pop_front() {
            let Some(rest) = paths[node as usize] else { continue };
            for &port in &self.ports[node as usize] {
                let next = plan.node_of(peer(port));
                if paths[next as usize].is_some() {
                    continue;
                }
                let (there, back) = (plan.direction(peer(port)), plan.direction(port));
                let bps = there.rate.bps().max(1);
                paths[next as usize] = Some(PayloadPath {
                    delay_ns: rest.delay_ns + there.delay.ps() / 1000 + back.delay.ps() / 1000,
                    serialise_ns: rest.serialise_ns + u64::from(payload_bytes) * 8_000_000_000 / bps,
                    slowest_bps: rest.slowest_bps.min(bps),
                });
                if plan.nodes[next as usize].kind == NodeKind::Switch {
                    queue.push_back(next);
                }
            }
        }
        paths
    }

    /// The longest round trip between two hosts, and the largest bandwidth-delay product.
    pub fn longest(&self, plan: &Plan, payload_bytes: u32) -> (Span, u64) {
        let is_host = |node: usize| plan.nodes[node].kind == NodeKind::Host;
        let (mut longest, mut largest) = (Span::ZERO, 0);
        for dst in (0..plan.nodes.len()).filter(|node| is_host(*node)) {
            for (src, path) in self.to(plan, dst as u32, payload_bytes).into_iter().enumerate() {
                if let Some(path) = path.filter(|_| src != dst && is_host(src)) {
                    longest = longest.max(path.round_trip());
                    largest = largest.max(path.bdp_bytes());
                }
            }
        }
        (longest, largest)
    }
}
