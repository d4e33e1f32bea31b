//! Domains: which datacentre a node is in, and what follows from it.
//!
//! A link between nodes of two domains is long-haul, and the switches at its ends are gateways. In
//! a network of one domain there are none, and nothing here happens.

use crate::contract::scheme::InterDomain;
use crate::network::plan::{Plan, peer};
use crate::network::timing;

/// Whether the link of `port` leads into another domain.
pub fn is_long_haul(plan: &Plan, port: u32) -> bool {
    let domain = |port: u32| plan.nodes[plan.node_of(port) as usize].domain;
    domain(port) != domain(peer(port))
}

/// How a flow along `path` crosses domains, if its ends are in two: the stretch before the first
/// long-haul link and the one after the last.
pub fn inter_domain(plan: &Plan, path: &[u32], of: timing::Exchange) -> Option<InterDomain> {
    let (first, last) = (*path.first()?, *path.last()?);
    let domain = |port: u32| plan.nodes[plan.node_of(port) as usize].domain;
    if domain(first) == domain(peer(last)) {
        return None;
    }
    let out = path.iter().position(|&port| is_long_haul(plan, port))?;
    let inward = path.iter().rposition(|&port| is_long_haul(plan, port))? + 1;
    let rtt = |ports: &[u32]| timing::base_rtt(plan, ports, of);
    let (near, far) = (&path[..out], &path[inward..]);
    // A host is in the domain of its switch, so neither stretch is empty.
    let ends = !near.is_empty() && !far.is_empty();
    ends.then(|| InterDomain { near_rtt: rtt(near), far_rtt: rtt(far), far_line_rate: plan.direction(last).rate })
}
