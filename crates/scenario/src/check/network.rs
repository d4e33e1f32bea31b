//! The network in numbers: layers, links, oversubscription and round trips.

use serde::Serialize;
use std::collections::BTreeMap;
use xoff_engine::{BitRate, Span, stream};
use xoff_fabric::extent::{largest_exchange, max_base_rtt};
use xoff_fabric::plan::{NodeKind, Plan, peer};
use xoff_fabric::route::{FlowKey, Routes};
use xoff_fabric::timing::base_rtt;

/// The switches (or hosts) of one layer.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub(crate) struct Layer {
    pub(crate) layer: String,
    pub(crate) nodes: usize,
    /// Capacity of all its links towards the hosts, among equals, and away from the hosts.
    pub(crate) down_gbps: f64,
    pub(crate) across_gbps: f64,
    pub(crate) up_gbps: f64,
    /// Capacity from below over capacity upwards; `None` without the latter.
    pub(crate) oversubscription: Option<f64>,
}

/// Links that are alike.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub(crate) struct LinkGroup {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) links: usize,
    pub(crate) rate: String,
    pub(crate) delay: String,
    pub(crate) reverse_rate: String,
    pub(crate) reverse_delay: String,
    pub(crate) loss: f64,
}

/// Base round trips of full packets and their ACKs.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub(crate) struct RoundTrips {
    pub(crate) pairs_sampled: usize,
    pub(crate) min_us: f64,
    pub(crate) median_us: f64,
    /// Over all pairs, not only the sampled.
    pub(crate) max_us: f64,
    /// The fastest NIC's rate times the longest round trip.
    pub(crate) bdp_bytes: u64,
    #[serde(skip)]
    pub(crate) line_bps: u64,
}

pub(crate) fn layers(plan: &Plan) -> Vec<Layer> {
    let level = levels(plan);
    let mut order: Vec<(u32, &str)> =
        plan.nodes.iter().zip(&level).map(|(node, level)| (*level, node.layer.as_str())).collect();
    order.sort_unstable();
    order.dedup();
    let mut rows: Vec<Layer> = Vec::new();
    for (_, name) in order {
        if rows.iter().any(|row| row.layer == name) {
            continue;
        }
        let inside = |node: u32| plan.nodes[node as usize].layer == name;
        let mut row = Layer {
            layer: name.to_owned(),
            nodes: plan.nodes.iter().filter(|node| node.layer == name).count(),
            down_gbps: 0.0,
            across_gbps: 0.0,
            up_gbps: 0.0,
            oversubscription: None,
        };
        for link in &plan.links {
            for (here, there, out) in [(link.a, link.b, link.a_to_b.rate), (link.b, link.a, link.b_to_a.rate)] {
                if inside(here) {
                    let (here, there) = (level[here as usize], level[there as usize]);
                    let sum = match there.cmp(&here) {
                        std::cmp::Ordering::Less => &mut row.down_gbps,
                        std::cmp::Ordering::Equal => &mut row.across_gbps,
                        std::cmp::Ordering::Greater => &mut row.up_gbps,
                    };
                    *sum += out.as_gbps();
                }
            }
        }
        let onward = row.up_gbps + row.across_gbps;
        row.oversubscription = (row.down_gbps > 0.0 && onward > 0.0).then(|| row.down_gbps / onward);
        rows.push(row);
    }
    rows
}

/// How many links each node is from the nearest host.
pub(crate) fn levels(plan: &Plan) -> Vec<u32> {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); plan.nodes.len()];
    for link in &plan.links {
        neighbours[link.a as usize].push(link.b);
        neighbours[link.b as usize].push(link.a);
    }
    let mut level = vec![u32::MAX; plan.nodes.len()];
    let mut ring: Vec<u32> =
        (0..plan.nodes.len() as u32).filter(|node| plan.nodes[*node as usize].kind == NodeKind::Host).collect();
    ring.iter().for_each(|host| level[*host as usize] = 0);
    for distance in 1.. {
        let mut next = Vec::new();
        for node in ring {
            for &other in &neighbours[node as usize] {
                if level[other as usize] == u32::MAX {
                    level[other as usize] = distance;
                    next.push(other);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        ring = next;
    }
    level
}

pub(crate) fn link_groups(plan: &Plan) -> Vec<LinkGroup> {
    type Facts<'a> = (&'a str, &'a str, BitRate, Span, BitRate, Span, u64);
    let mut groups: BTreeMap<Facts<'_>, usize> = BTreeMap::new();
    for link in &plan.links {
        let layer = |node: u32| plan.nodes[node as usize].layer.as_str();
        let (there, back) = (link.a_to_b, link.b_to_a);
        let loss = there.loss.max(back.loss).to_bits();
        let facts = (layer(link.a), layer(link.b), there.rate, there.delay, back.rate, back.delay, loss);
        *groups.entry(facts).or_default() += 1;
    }
    let row = |((from, to, rate, delay, reverse_rate, reverse_delay, loss), links): (Facts<'_>, usize)| LinkGroup {
        from: from.to_owned(),
        to: to.to_owned(),
        links,
        rate: rate.to_string(),
        delay: delay.to_string(),
        reverse_rate: reverse_rate.to_string(),
        reverse_delay: reverse_delay.to_string(),
        loss: f64::from_bits(loss),
    };
    groups.into_iter().map(row).collect()
}

/// At most this many pairs are measured one by one.
const PAIRS_LARGEST: usize = 4000;

/// Between these hosts, where there is a way.
pub(crate) fn round_trips(plan: &Plan, hosts: &[u32], routes: &Routes) -> Option<RoundTrips> {
    let count = hosts.len() as u64;
    let mut rng = stream(plan.seed, "check", 0);
    let pairs: Vec<(u32, u32)> = if hosts.len() * hosts.len() <= PAIRS_LARGEST {
        hosts.iter().flat_map(|&a| hosts.iter().filter(move |b| **b != a).map(move |&b| (a, b))).collect()
    } else {
        let mut pick = || hosts[rng.below(count) as usize];
        (0..PAIRS_LARGEST).map(|_| (pick(), pick())).filter(|(a, b)| a != b).collect()
    };
    let exchange = largest_exchange(plan);
    let mut path = Vec::new();
    let mut trips: Vec<Span> = Vec::with_capacity(pairs.len());
    for (src, dst) in pairs {
        if routes.path(src, dst, &FlowKey::between(src, dst), &mut path) {
            trips.push(base_rtt(plan, &path, exchange));
        }
    }
    trips.sort_unstable();
    let longest = max_base_rtt(plan, routes);
    let fastest = hosts.iter().map(|host| plan.direction(routes.host_port(*host)).rate).max()?;
    Some(RoundTrips {
        pairs_sampled: trips.len(),
        min_us: trips.first()?.as_us(),
        median_us: trips[trips.len() / 2].as_us(),
        max_us: longest.as_us(),
        bdp_bytes: fastest.bytes_in(longest),
        line_bps: fastest.bps(),
    })
}

/// How many shortest ways lead from a switch to the last one before a host.
pub(crate) fn ways(plan: &Plan, routes: &Routes, at: u32, last: u32, dst: u32) -> u64 {
    if at == last {
        return 1;
    }
    routes.next_hops(at, dst).iter().map(|&hop| ways(plan, routes, plan.node_of(peer(hop)), last, dst)).sum()
}
