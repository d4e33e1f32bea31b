//! How far apart hosts are at most: the longest round trip, and the largest bandwidth-delay product.

use crate::network::payload_paths::PayloadPaths;
use crate::network::pfc::mtu_wire_bytes;
use crate::network::plan::{BaseRtt, NodeKind, Plan, peer};
use crate::network::route::{FlowKey, Routes};
use crate::network::timing;
use xoff_engine::Span;

/// The longest base round trip between two hosts. Hosts of one edge differ only in their own
/// link, so the slowest (two, for a pair under one edge) stand for all.
pub fn max_base_rtt(plan: &Plan, routes: &Routes) -> Span {
    longest(plan, routes).0
}

/// A full packet and an ACK, the largest that any host sends, before what a scheme adds.
pub fn largest_exchange(plan: &Plan) -> timing::Exchange {
    timing::Exchange {
        data_wire_bytes: mtu_wire_bytes(plan),
        ack_wire_bytes: plan.hosts.iter().map(|h| h.sizes.ack_bytes + h.sizes.gap_bytes).max().unwrap_or(86),
    }
}

/// The longest base round trip between two hosts, and the largest bandwidth-delay product.
pub fn longest(plan: &Plan, routes: &Routes) -> (Span, u64) {
    if plan.model.base_rtt == BaseRtt::Payload {
        let mtu_bytes = plan.hosts.iter().map(|h| h.mtu_bytes).max().unwrap_or(1000);
        return PayloadPaths::new(plan).longest(plan, mtu_bytes);
    }
    let exchange = largest_exchange(plan);
    let own = |host: u32| timing::base_rtt(plan, &[routes.host_port(host)], exchange);
    let mut by_edge: std::collections::BTreeMap<u32, Vec<u32>> = Default::default();
    for (node, spec) in plan.nodes.iter().enumerate() {
        if spec.kind == NodeKind::Host {
            by_edge.entry(plan.node_of(peer(routes.host_port(node as u32)))).or_default().push(node as u32);
        }
    }
    for hosts in by_edge.values_mut() {
        hosts.sort_by_cached_key(|&host| std::cmp::Reverse(own(host)));
    }
    // The farthest hosts of an edge stand for the longest round trip, the nearest, which are the fastest,
    // for the largest product.
    // Where those do not differ, and no path between edges from another of as many hops, one will do.
    let mut inner =
        plan.links.iter().filter(|link| !plan.leads_to_host(link)).flat_map(|link| [link.a_to_b, link.b_to_a]);
    let first = inner.next();
    let uniform = inner.all(|direction| Some(direction) == first);
    let alike = |hosts: &[u32]| {
        let link = |host: u32| [routes.host_port(host), peer(routes.host_port(host))].map(|port| *plan.direction(port));
        uniform && link(hosts[0]) == link(hosts[hosts.len() - 1])
    };
    let edges: Vec<(&Vec<u32>, bool)> = by_edge.values().map(|hosts| (hosts, alike(hosts))).collect();
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for &(a, a_alike) in &edges {
        if let ([far, other, ..], [.., another, near]) = (&a[..], &a[..]) {
            pairs.extend([(*far, *other), (*near, *another)]);
        }
        for &(b, b_alike) in edges.iter().filter(|(b, _)| b[0] != a[0]) {
            pairs.push((a[0], b[0]));
            if !(a_alike && b_alike) {
                pairs.push((a[a.len() - 1], b[b.len() - 1]));
            }
        }
    }
    let mut path = Vec::new();
    let (mut longest, mut largest) = (Span::ZERO, 0);
    for (a, b) in pairs {
        if routes.path(a, b, &FlowKey::between(a, b), &mut path) {
            let base_rtt = timing::base_rtt(plan, &path, exchange);
            longest = longest.max(base_rtt);
            largest = largest.max(timing::bdp_bytes(plan, &path, base_rtt));
        }
    }
    (longest, largest)
}
