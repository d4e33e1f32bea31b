//! How far apart hosts are at most: the longest round trip, and the largest bandwidth-delay product.

use crate::network::payload_paths::PayloadPaths;
use crate::network::pfc::mtu_wire_bytes;
use crate::network::plan::{BaseRtt, Direction, Link, Plan, peer};
use crate::network::route::{FlowKey, Routes};
use crate::network::rows::Rows;
use crate::network::timing;
use std::cmp::Reverse;
use std::collections::HashMap;
use xoff_engine::Span;

/// The longest base round trip between two hosts. Hosts of one edge differ only in their own
/// link, so the slowest (two, for a pair under one edge) stand for all.
pub fn max_base_rtt(plan: &Plan, routes: &Routes) -> Span {
    longest(plan, routes).0
}

/// Returns the most links between switches on a shortest path from one switch with hosts to another.
pub fn longest_path(plan: &Plan) -> usize {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); plan.nodes.len()];
    let mut is_edge = vec![false; plan.nodes.len()];
    for link in &plan.links {
        match (plan.is_host(link.a), plan.is_host(link.b)) {
            (true, _) => is_edge[link.b as usize] = true,
            (_, true) => is_edge[link.a as usize] = true,
            (false, false) => {
                neighbours[link.a as usize].push(link.b);
                neighbours[link.b as usize].push(link.a);
            }
        }
    }
    let mut longest = 0;
    for edge in (0..plan.nodes.len()).filter(|&node| is_edge[node]) {
        let mut far = vec![usize::MAX; plan.nodes.len()];
        far[edge] = 0;
        let mut found = vec![edge];
        let mut next = 0;
        while let Some(&node) = found.get(next) {
            next += 1;
            if is_edge[node] {
                longest = longest.max(far[node]);
            }
            for &other in &neighbours[node] {
                if far[other as usize] == usize::MAX {
                    far[other as usize] = far[node] + 1;
                    found.push(other as usize);
                }
            }
        }
    }
    longest
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
    let edges = Edges::new(plan, routes, exchange);
    let mut pairs: Vec<(u32, u32)> = edges.back_to_back.clone();
    for hosts in (0..routes.edges() as u32).map(|edge| edges.hosts.of(edge)) {
        if let ([far, other, ..], [.., another, near]) = (hosts, hosts) {
            pairs.extend([(*far, *other), (*near, *another)]);
        }
    }
    edges.pair_up(plan, routes, &mut pairs);
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

/// Edges with their hosts. The farthest hosts of an edge give the longest round trip, the nearest, which are the
/// fastest, for the largest product.
struct Edges {
    /// Hosts of each edge, the farthest first.
    hosts: Rows<u32>,
    /// Hosts without a switch, each with the other end of its link.
    back_to_back: Vec<(u32, u32)>,
}

impl Edges {
    fn new(plan: &Plan, routes: &Routes, exchange: timing::Exchange) -> Edges {
        let mut known: Option<([Direction; 2], Span)> = None;
        let mut own = |host: u32| {
            let link = directions(plan, routes.host_port(host));
            if let Some((_, rtt)) = known.filter(|(of, _)| *of == link) {
                return rtt;
            }
            let rtt = timing::base_rtt(plan, &[routes.host_port(host)], exchange);
            known = Some((link, rtt));
            rtt
        };
        let mut back_to_back = Vec::new();
        let mut hosts: Vec<(u32, Reverse<Span>, u32)> = Vec::new();
        for host in (0..plan.nodes.len() as u32).filter(|&node| plan.is_host(node)) {
            match routes.edge_of(host) {
                Some(edge) => hosts.push((edge, Reverse(own(host)), host)),
                None => back_to_back.push((host, plan.node_of(peer(routes.host_port(host))))),
            }
        }
        hosts.sort_unstable();
        let hosts = Rows::grouped(routes.edges(), hosts.iter().map(|&(edge, _, host)| (edge, host)));
        Edges { hosts, back_to_back }
    }

    /// The links of the farthest host of an edge and of the nearest.
    fn links(&self, plan: &Plan, routes: &Routes, edge: u32) -> [[Direction; 2]; 2] {
        let hosts = self.hosts.of(edge);
        [hosts[0], hosts[hosts.len() - 1]].map(|host| directions(plan, routes.host_port(host)))
    }

    /// Pairs of hosts at different edges: of each piece all pairs, unless some represent all.
    fn pair_up(&self, plan: &Plan, routes: &Routes, pairs: &mut Vec<(u32, u32)>) {
        let ends = |edge: u32| {
            let hosts = self.hosts.of(edge);
            (hosts[0], hosts[hosts.len() - 1])
        };
        let alike = self.alike(plan, routes);
        for (a, b) in routes.spans().filter(|&(edge, _)| alike[routes.piece_of(edge) as usize]) {
            let ((far, near), (other, another)) = (ends(a), ends(b));
            pairs.extend([(far, other), (near, another)]);
        }
        // Where hosts of an edge do not differ, and no path between edges from another of as many hops, the farthest do.
        let mut inner = inner_links(plan).flat_map(|(link, _)| [link.a_to_b, link.b_to_a]);
        let first = inner.next();
        let uniform = inner.all(|direction| Some(direction) == first);
        let edges = 0..routes.edges() as u32;
        let equal = |edge: u32| matches!(self.links(plan, routes, edge), [far, near] if uniform && far == near);
        let equal: Vec<bool> = edges.clone().map(equal).collect();
        let by_piece = Rows::grouped(alike.len(), edges.map(|edge| (routes.piece_of(edge), edge)));
        for piece in (0..alike.len() as u32).filter(|&piece| !alike[piece as usize]) {
            for &a in by_piece.of(piece) {
                for &b in by_piece.of(piece).iter().filter(|b| **b != a) {
                    let ((far, near), (other, another)) = (ends(a), ends(b));
                    pairs.push((far, other));
                    if !(equal[a as usize] && equal[b as usize]) {
                        pairs.push((near, another));
                    }
                }
            }
        }
    }

    /// Whether, for each piece of the network, paths that go equally high take equally long. They do in a regular piece
    /// in which the links of a tier are alike, and the hosts of one edge those of another.
    fn alike(&self, plan: &Plan, routes: &Routes) -> Vec<bool> {
        let pieces = (0..routes.edges() as u32).map(|edge| routes.piece_of(edge) + 1).max().unwrap_or(0);
        let mut alike = vec![false; pieces as usize];
        routes.spans().for_each(|(edge, _)| alike[routes.piece_of(edge) as usize] = true);
        let mut tiers: HashMap<(u32, u32), [Direction; 2]> = HashMap::new();
        for (link, number) in inner_links(plan) {
            if let Some((piece, tier, upward)) = routes.tier_of(number * 2) {
                let link = if upward { [link.a_to_b, link.b_to_a] } else { [link.b_to_a, link.a_to_b] };
                alike[piece as usize] &= *tiers.entry((piece, tier)).or_insert(link) == link;
            }
        }
        let mut of_piece = vec![None; alike.len()];
        for edge in 0..routes.edges() as u32 {
            let (piece, links) = (routes.piece_of(edge) as usize, self.links(plan, routes, edge));
            alike[piece] &= *of_piece[piece].get_or_insert(links) == links;
        }
        alike
    }
}

/// Links between switches, with their numbers.
fn inner_links(plan: &Plan) -> impl Iterator<Item = (&Link, u32)> {
    plan.links.iter().zip(0..).filter(|(link, _)| !plan.leads_to_host(link))
}

fn directions(plan: &Plan, port: u32) -> [Direction; 2] {
    [port, peer(port)].map(|port| *plan.direction(port))
}
