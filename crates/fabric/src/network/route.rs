//! Shortest paths with equal-cost choice, held compactly: one next-hop group per (switch, edge).
//!
//! An *edge* is a switch with hosts. Tables grow with switches times edges, never with hosts
//! squared, and equal groups are stored once. A flow's path is resolved when it starts.

pub use crate::network::forwarding::{FlowKey, address};
use crate::network::plan::{Ecmp, NextHops, NodeKind, Plan, peer};
use std::collections::HashMap;

const NONE: u32 = u32::MAX;

/// Next hops of every switch towards every edge.
#[derive(Debug)]
pub struct Routes {
    /// Per node: its port if it is a host.
    host_port: Vec<u32>,
    /// Per node: its number among switches, or `NONE`.
    switch_index: Vec<u32>,
    /// Per switch: its number among edges, or `NONE`.
    edge_index: Vec<u32>,
    edges: usize,
    /// `[switch][edge]` -> group, or `NONE` where there is no way.
    table: Vec<u32>,
    /// (first, length) into `group_ports`.
    groups: Vec<(u32, u32)>,
    group_ports: Vec<u32>,
    owner: Vec<u32>,
    ecmp: Ecmp,
}

/// Groups of ports by their content.
type Known = HashMap<Vec<u32>, u32>;

/// Links between switches, by the number of the switch: port, and switch at its other end.
struct Adjacency {
    first: Vec<u32>,
    links: Vec<(u32, u32)>,
}

impl Adjacency {
    fn new<I: Iterator<Item = (u32, u32)>>(switches: &[u32], links_of: impl Fn(u32) -> I) -> Adjacency {
        let (mut first, mut links) = (vec![0], Vec::new());
        for &switch in switches {
            links.extend(links_of(switch));
            first.push(links.len() as u32);
        }
        Adjacency { first, links }
    }

    fn of(&self, switch: u32) -> &[(u32, u32)] {
        let [first, end] = [switch, switch + 1].map(|at| self.first[at as usize] as usize);
        &self.links[first..end]
    }

    /// Hops from `root` of every switch, and those that can be reached as they are met.
    fn search(&self, root: u32) -> (Vec<u32>, Vec<u32>) {
        let mut distance = vec![NONE; self.first.len() - 1];
        distance[root as usize] = 0;
        let mut order = vec![root];
        let mut head = 0;
        while let Some(&switch) = order.get(head) {
            head += 1;
            for &(_, next) in self.of(switch) {
                if distance[next as usize] == NONE {
                    distance[next as usize] = distance[switch as usize] + 1;
                    order.push(next);
                }
            }
        }
        (distance, order)
    }
}

impl Routes {
    /// Routes over the links that `up` allows.
    pub fn new(plan: &Plan, up: impl Fn(u32) -> bool) -> Routes {
        let nodes = plan.nodes.len();
        let mut ports_of: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        let owner: Vec<u32> = (0..plan.ports() as u32).map(|port| plan.node_of(port)).collect();
        for port in 0..plan.ports() as u32 {
            ports_of[owner[port as usize] as usize].push(port);
        }
        if plan.model.next_hops == NextHops::Descending {
            for ports in &mut ports_of {
                ports.sort_by_key(|&port| std::cmp::Reverse(owner[peer(port) as usize]));
            }
        }
        let is_switch = |node: u32| plan.nodes[node as usize].kind == NodeKind::Switch;
        let switches: Vec<u32> = (0..nodes as u32).filter(|&node| is_switch(node)).collect();
        let mut switch_index = vec![NONE; nodes];
        for (i, &node) in switches.iter().enumerate() {
            switch_index[node as usize] = i as u32;
        }
        let mut host_port = vec![NONE; nodes];
        let mut edge_index = vec![NONE; switches.len()];
        let mut edge_nodes = Vec::new();
        for node in 0..nodes as u32 {
            if is_switch(node) {
                continue;
            }
            let Some(&port) = ports_of[node as usize].first() else { continue };
            host_port[node as usize] = port;
            let edge = owner[peer(port) as usize];
            if !is_switch(edge) {
                continue; // Two hosts back to back need no table.
            }
            let index = &mut edge_index[switch_index[edge as usize] as usize];
            if *index == NONE {
                *index = edge_nodes.len() as u32;
                edge_nodes.push(edge);
            }
        }

        let mut routes = Routes {
            host_port,
            switch_index,
            edge_index,
            edges: edge_nodes.len(),
            table: vec![NONE; switches.len() * edge_nodes.len()],
            groups: Vec::new(),
            group_ports: Vec::new(),
            owner,
            ecmp: plan.model.ecmp,
        };
        let links = Adjacency::new(&switches, |node| {
            let neighbours = ports_of[node as usize].iter().map(|&port| (port, routes.owner[peer(port) as usize]));
            // Both directions fail together, so the link's state serves the way back.
            neighbours
                .filter(|&(port, next)| up(port / 2) && is_switch(next))
                .map(|(port, next)| (port, routes.switch_index[next as usize]))
        });
        let mut known = HashMap::new();
        let by_search = plan.model.next_hops == NextHops::Descending;
        for (edge, &node) in edge_nodes.iter().enumerate() {
            let root = routes.switch_index[node as usize];
            routes.add_edge(edge, root, &links, by_search, &mut known);
        }
        routes
    }

    /// The next hops of all switches to one edge: equal-cost ones of the fewest hops.
    fn add_edge(&mut self, edge: usize, root: u32, links: &Adjacency, by_search: bool, known: &mut Known) {
        let (distance, order) = links.search(root);
        let mut met = vec![0; if by_search { distance.len() } else { 0 }];
        for (place, &switch) in order.iter().enumerate().filter(|_| by_search) {
            met[switch as usize] = place;
        }
        let mut hops: Vec<(u32, u32)> = Vec::new();
        for &switch in order.iter().skip(1) {
            let closer = |&(_, next): &(u32, u32)| distance[next as usize] + 1 == distance[switch as usize];
            hops.clear();
            hops.extend(links.of(switch).iter().copied().filter(closer));
            if by_search {
                // As the search from the destination met them.
                hops.sort_by_key(|&(_, next)| met[next as usize]);
            }
            let row = switch as usize * self.edges;
            // Most often the way is that to the edge before.
            let before = edge.checked_sub(1).map(|before| self.table[row + before]).filter(|&group| group != NONE);
            let same = before.filter(|&group| self.group(group).iter().eq(hops.iter().map(|(port, _)| port)));
            self.table[row + edge] = same.unwrap_or_else(|| self.number_group(&hops, known));
        }
    }

    fn group(&self, group: u32) -> &[u32] {
        let (first, len) = self.groups[group as usize];
        &self.group_ports[first as usize..(first + len) as usize]
    }

    /// The number of a group of ports; a new one if there is none yet.
    fn number_group(&mut self, hops: &[(u32, u32)], known: &mut Known) -> u32 {
        let ports: Vec<u32> = hops.iter().map(|(port, _)| *port).collect();
        *known.entry(ports).or_insert_with_key(|ports| {
            let first = self.group_ports.len() as u32;
            self.group_ports.extend(ports);
            self.groups.push((first, ports.len() as u32));
            self.groups.len() as u32 - 1
        })
    }

    /// The port of a host.
    pub fn host_port(&self, host: u32) -> u32 {
        self.host_port[host as usize]
    }

    /// Equal-cost egress ports of `switch` towards the edge of `dst`; empty if there is no way or
    /// the switch is that edge.
    pub fn next_hops(&self, switch: u32, dst: u32) -> &[u32] {
        self.edge_of(dst).map_or(&[], |edge| self.next_hops_to(switch, edge))
    }

    /// Number of the switch of a host among edges; none if there is no switch.
    pub fn edge_of(&self, host: u32) -> Option<u32> {
        let edge_node = self.owner[peer(self.host_port[host as usize]) as usize];
        let edge_switch = self.switch_index[edge_node as usize];
        (edge_switch != NONE).then(|| self.edge_index[edge_switch as usize])
    }

    /// Equal-cost egress ports of `switch` towards an edge, by its number; empty if there is no way or it is that edge.
    pub fn next_hops_to(&self, switch: u32, edge: u32) -> &[u32] {
        let row = self.switch_index[switch as usize] as usize;
        match self.table[row * self.edges + edge as usize] {
            NONE => &[],
            group => self.group(group),
        }
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// Nodes on all shortest paths between two hosts, each once.
    pub fn nodes_between(&self, src: u32, dst: u32) -> Vec<u32> {
        let mut found = vec![src, self.owner[peer(self.host_port[src as usize]) as usize]];
        let mut next = 1;
        while let Some(&node) = found.get(next) {
            next += 1;
            let hops = if self.switch_index[node as usize] == NONE { &[] } else { self.next_hops(node, dst) };
            for &port in hops {
                let far = self.owner[peer(port) as usize];
                if !found.contains(&far) {
                    found.push(far);
                }
            }
        }
        found
    }

    /// Egress ports from the NIC of `src` to the last switch before `dst`, choosing among equals by
    /// a hash of `key` and the switch. `false` if there is no way.
    pub fn path(&self, src: u32, dst: u32, key: &FlowKey, out: &mut Vec<u32>) -> bool {
        out.clear();
        out.push(self.host_port[src as usize]);
        self.extend(dst, key, out)
    }

    /// The rest of a path that has begun.
    pub fn extend(&self, dst: u32, key: &FlowKey, out: &mut Vec<u32>) -> bool {
        let last = peer(self.host_port[dst as usize]);
        loop {
            let at = self.owner[peer(out[out.len() - 1]) as usize];
            if at == dst {
                return true;
            }
            if at == self.owner[last as usize] {
                out.push(last);
                return true;
            }
            if self.switch_index[at as usize] == NONE {
                return false;
            }
            let hops = self.next_hops(at, dst);
            if hops.is_empty() {
                return false;
            }
            out.push(hops[key.choose(self.ecmp, at, hops.len())]);
        }
    }
}
