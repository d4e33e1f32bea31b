//! The nodes and ports of a run: their names, and the order in which people want to see them.

use crate::names::Names;
use std::collections::{HashMap, VecDeque};
use xoff_engine::{LinkRate, Span};
use xoff_fabric::plan::{Plan, Signalling, peer};

pub struct Network {
    pub names: Names,
    ports: HashMap<String, u32>,
    layers: Vec<String>,
    /// By node: links to the nearest host.
    tiers: Vec<u32>,
    /// Place of a node in the interface, from the top.
    ranks: Vec<u32>,
    /// By port: how long a PAUSE holds that arrives there; `None` until it is taken back.
    pause_lasts: Vec<Option<Span>>,
    /// By port: how long a PFC frame takes to it, from the moment at which it leaves.
    pause_travel: Vec<Span>,
}

impl Network {
    pub fn of(plan: &Plan) -> Network {
        let names = Names::of(plan);
        let all = 0..plan.ports() as u32;
        let ports = all.clone().map(|port| (names.port(port).to_owned(), port)).collect();
        let lasts = |port: u32| {
            let node = &plan.nodes[plan.node_of(peer(port)) as usize];
            if names.is_host(plan.node_of(peer(port))) {
                return None;
            }
            match plan.switches[usize::from(node.profile)].pfc.signalling {
                Signalling::OnOff => None,
                Signalling::Timed { pause, .. } => Some(pause),
            }
        };
        let wire_bytes = plan.hosts.first().map_or(0, |host| host.sizes.pfc_bytes + host.sizes.gap_bytes);
        let travel = |port: u32| {
            let wire = plan.direction(peer(port));
            LinkRate::new(wire.rate).serialise(wire_bytes) + wire.delay
        };
        let tiers = tiers(plan, &names);
        Network {
            ports,
            layers: plan.nodes.iter().map(|node| node.layer.clone()).collect(),
            ranks: ranks(&tiers),
            tiers,
            pause_lasts: all.clone().map(lasts).collect(),
            pause_travel: all.map(travel).collect(),
            names,
        }
    }

    pub fn nodes(&self) -> usize {
        self.layers.len()
    }
    pub fn ports(&self) -> usize {
        self.pause_lasts.len()
    }
    pub fn port(&self, name: &str) -> Option<u32> {
        self.ports.get(name).copied()
    }
    pub fn layer(&self, node: u32) -> &str {
        &self.layers[node as usize]
    }
    pub fn tier(&self, node: u32) -> u32 {
        self.tiers[node as usize]
    }
    pub fn rank(&self, node: u32) -> u32 {
        self.ranks[node as usize]
    }
    pub fn pause_lasts(&self, port: u32) -> Option<Span> {
        self.pause_lasts[port as usize]
    }
    pub fn pause_travel(&self, port: u32) -> Span {
        self.pause_travel[port as usize]
    }
    /// The node that can stop this egress: the one at the other end of its link.
    pub fn stopper(&self, port: u32) -> &str {
        self.names.node_name_of(peer(port))
    }
}

/// How many links each node is away from the nearest host; nodes that no host reaches are above all others.
fn tiers(plan: &Plan, names: &Names) -> Vec<u32> {
    let mut neighbours = vec![Vec::new(); plan.nodes.len()];
    for link in &plan.links {
        neighbours[link.a as usize].push(link.b);
        neighbours[link.b as usize].push(link.a);
    }
    let mut tiers = vec![u32::MAX; plan.nodes.len()];
    let mut front: VecDeque<u32> = (0..plan.nodes.len() as u32).filter(|&node| names.is_host(node)).collect();
    for &host in &front {
        tiers[host as usize] = 0;
    }
    let mut highest = 0;
    while let Some(node) = front.pop_front() {
        for &next in &neighbours[node as usize] {
            if tiers[next as usize] == u32::MAX {
                tiers[next as usize] = tiers[node as usize] + 1;
                highest = highest.max(tiers[next as usize]);
                front.push_back(next);
            }
        }
    }
    tiers.iter().map(|&tier| tier.min(highest + 1)).collect()
}

/// The core first, then the layers below it, the hosts last; within a layer as the scenario numbers them.
fn ranks(tiers: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..tiers.len() as u32).collect();
    order.sort_by_key(|&node| std::cmp::Reverse(tiers[node as usize]));
    let mut ranks = vec![0; order.len()];
    for (rank, &node) in (0u32..).zip(&order) {
        ranks[node as usize] = rank;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn switches_come_before_hosts() {
        let plan = fixture::plan();
        let network = Network::of(&plan);
        let hosts: Vec<u32> = (0..network.nodes() as u32).filter(|&node| network.names.is_host(node)).collect();
        let switches = network.nodes() - hosts.len();
        assert!(hosts.iter().all(|&host| network.rank(host) as usize >= switches));
        let mut ranks: Vec<u32> = (0..network.nodes() as u32).map(|node| network.rank(node)).collect();
        ranks.sort_unstable();
        assert!(ranks.iter().copied().eq(0..network.nodes() as u32));
        for port in 0..network.ports() as u32 {
            assert_eq!(network.port(network.names.port(port)), Some(port));
        }
    }
}
