//! Shortest paths with equal-cost choice: a group of next hops per (switch, edge).
//!
//! An *edge* is a switch with hosts. In regular pieces of a network the group is computed ([`tiers`]); others have a
//! table, which grows with their switches times their edges and holds equal groups once. Nothing grows with hosts
//! squared. A flow's path is resolved when it starts.

mod convergence;
mod search;
#[cfg(test)]
mod tests;
mod tiers;

use crate::network::forwarding::Hash;
pub use crate::network::forwarding::{FlowKey, address};
use crate::network::plan::{NextHops, NodeKind, Plan, peer};
use crate::network::rows::Rows;
pub use convergence::{ALL_SWITCHES, Convergence, FARTHEST, farthest};
use search::Search;
use std::collections::HashMap;
use tiers::{Links, NONE, Tiers};

/// Next hops of every switch towards every edge.
#[derive(Debug)]
pub struct Routes {
    /// Per node: its port if it is a host.
    host_port: Vec<u32>,
    /// Per node: its number among switches, or `NONE`.
    switch_index: Vec<u32>,
    /// Per switch: its number among edges, or `NONE`.
    edge_index: Vec<u32>,
    /// Per edge: its switch.
    edges: Vec<u32>,
    owner: Vec<u32>,
    tiers: Tiers,
    /// Per switch of a regular piece: the first of its groups; of another: where its row of `table` begins.
    first: Vec<u32>,
    /// Per edge: its column in the table of its piece.
    column: Vec<u32>,
    /// `[switch][edge]` -> group, or `NONE` where there is no way; of pieces that are not regular.
    table: Vec<u32>,
    /// Equal-cost ports.
    groups: Rows<u32>,
    hash: Hash,
}

impl Routes {
    /// Routes over the links that `up` allows.
    pub fn new(plan: &Plan, up: impl Fn(u32) -> bool) -> Routes {
        // A search shows in the order of next hops only if they are listed by it.
        Routes::build(plan, up, plan.model.next_hops == NextHops::ByLink)
    }

    /// Routes with tables for regular pieces too, unless these are `computed`.
    fn build(plan: &Plan, up: impl Fn(u32) -> bool, computed: bool) -> Routes {
        let nodes = plan.nodes.len();
        let owner: Vec<u32> = (0..plan.ports() as u32).map(|port| plan.node_of(port)).collect();
        let mut ports_of = Rows::grouped(nodes, owner.iter().copied().zip(0u32..));
        if plan.model.next_hops == NextHops::Descending {
            for node in 0..nodes as u32 {
                ports_of.of_mut(node).sort_by_key(|&port| std::cmp::Reverse(owner[peer(port) as usize]));
            }
        }
        let is_switch = |node: u32| plan.nodes[node as usize].kind == NodeKind::Switch;
        let (mut switch_index, mut host_port) = (vec![NONE; nodes], vec![NONE; nodes]);
        let mut switches = Vec::new();
        for node in 0..nodes as u32 {
            if is_switch(node) {
                switch_index[node as usize] = switches.len() as u32;
                switches.push(node);
            } else if let Some(&port) = ports_of.of(node).first() {
                host_port[node as usize] = port;
            }
        }
        let (mut edge_index, mut edges) = (vec![NONE; switches.len()], Vec::new());
        for &port in host_port.iter().filter(|port| **port != NONE) {
            // Two hosts back to back need no edge.
            let switch = switch_index[owner[peer(port) as usize] as usize];
            if switch != NONE && edge_index[switch as usize] == NONE {
                edge_index[switch as usize] = edges.len() as u32;
                edges.push(switch);
            }
        }
        let mut links = Links::default();
        for &node in &switches {
            let neighbours =
                ports_of.of(node).iter().map(|&port| (port, switch_index[owner[peer(port) as usize] as usize]));
            // Both directions fail together, so the link's state serves the way back.
            links.push(neighbours.filter(|&(port, next)| next != NONE && up(port / 2)));
        }
        let mut tiers = Tiers::new(&links, &edges);
        if !computed {
            tiers.regular.fill(false);
        }
        let mut routes = Routes {
            host_port,
            switch_index,
            edge_index,
            owner,
            tiers,
            first: vec![NONE; switches.len()],
            column: vec![NONE; edges.len()],
            table: Vec::new(),
            groups: Rows::default(),
            edges,
            hash: Hash::new(plan),
        };
        routes.group_links(&links);
        routes.fill_table(&links, plan.model.next_hops == NextHops::Descending);
        routes
    }

    fn is_regular(&self, piece: u32) -> bool {
        piece != NONE && self.tiers.regular[piece as usize]
    }

    /// Groups the links of switches in regular pieces: those upwards, and those into each part of the switch's block.
    fn group_links(&mut self, links: &Links) {
        for switch in 0..links.len() as u32 {
            if !self.is_regular(self.tiers.piece[switch as usize]) {
                continue;
            }
            let own = links.of(switch);
            let group_of = |&(port, next): &(u32, u32)| (self.tiers.group_of_link(switch, next), port);
            let grouped = Rows::grouped(self.tiers.parts_of(switch) as usize + 1, own.iter().map(group_of));
            self.first[switch as usize] = self.groups.len() as u32;
            for group in 0..grouped.len() as u32 {
                self.groups.push(grouped.of(group).iter().copied());
            }
        }
    }

    /// Searches from every edge of the other pieces.
    fn fill_table(&mut self, links: &Links, as_met: bool) {
        let mut columns = vec![0; self.tiers.regular.len()];
        for (edge, &switch) in self.edges.iter().enumerate() {
            let columns = &mut columns[self.tiers.piece[switch as usize] as usize];
            self.column[edge] = *columns;
            *columns += 1;
        }
        let mut cells = 0;
        for switch in 0..links.len() {
            let piece = self.tiers.piece[switch];
            if piece != NONE && !self.is_regular(piece) {
                self.first[switch] = cells;
                cells += columns[piece as usize];
            }
        }
        self.table = vec![NONE; cells as usize];
        if cells == 0 {
            return;
        }
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut search = Search::new(links.len(), as_met);
        for edge in 0..self.edges.len() {
            let (root, column) = (self.edges[edge], self.column[edge]);
            if self.is_regular(self.tiers.piece[root as usize]) {
                continue;
            }
            let Routes { first, table, groups, .. } = self;
            search.run(links, root, |switch, hops| {
                let cell = (first[switch as usize] + column) as usize;
                let ports = hops.iter().map(|(port, _)| *port);
                // Most often the way is that to the edge before.
                let before = (column > 0).then(|| table[cell - 1]).filter(|&group| group != NONE);
                let same = before.filter(|&group| groups.of(group).iter().copied().eq(ports.clone()));
                table[cell] = same.unwrap_or_else(|| {
                    *known.entry(ports.collect()).or_insert_with_key(|ports| groups.push(ports.iter().copied()))
                });
            });
        }
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
        let (switch, end) = (self.switch_index[switch as usize], self.edges[edge as usize]);
        let piece = self.tiers.piece[switch as usize];
        if piece != self.tiers.piece[end as usize] {
            return &[];
        }
        let first = self.first[switch as usize];
        let group = match self.is_regular(piece) {
            true => self.tiers.group(switch, edge).map(|group| first + group),
            false => Some(self.table[(first + self.column[edge as usize]) as usize]).filter(|&group| group != NONE),
        };
        group.map_or(&[], |group| self.groups.of(group))
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// The piece of the network that an edge is in.
    pub(crate) fn piece_of(&self, edge: u32) -> u32 {
        self.tiers.piece[self.edges[edge as usize] as usize]
    }

    /// Piece and tier of a link between switches, and whether its port leads upwards; none in a piece that is not regular.
    pub(crate) fn tier_of(&self, port: u32) -> Option<(u32, u32, bool)> {
        let [from, to] = [port, peer(port)].map(|port| self.switch_index[self.owner[port as usize] as usize] as usize);
        let (piece, [below, above]) = (self.tiers.piece[from], [from, to].map(|switch| self.tiers.level[switch]));
        self.is_regular(piece).then(|| (piece, below.min(above), below < above))
    }

    /// Pairs of edges of regular pieces that represent all others, as far as paths differ in how high they go.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (u32, u32)> {
        self.tiers.spans().filter(|&(edge, _)| self.is_regular(self.piece_of(edge)))
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

    /// Egress ports of all shortest paths between two hosts, hop by hop; as far as there is a way.
    pub fn hops_between(&self, src: u32, dst: u32) -> Vec<Vec<u32>> {
        let last = peer(self.host_port[dst as usize]);
        let mut hops = vec![vec![self.host_port[src as usize]]];
        loop {
            let mut nodes: Vec<u32> =
                hops[hops.len() - 1].iter().map(|&port| self.owner[peer(port) as usize]).collect();
            nodes.sort_unstable();
            nodes.dedup();
            if nodes == [dst] {
                return hops;
            }
            if nodes == [self.owner[last as usize]] {
                hops.push(vec![last]);
                return hops;
            }
            let switches = nodes.into_iter().filter(|&node| self.switch_index[node as usize] != NONE);
            let next: Vec<u32> = switches.flat_map(|switch| self.next_hops(switch, dst)).copied().collect();
            if next.is_empty() {
                return hops;
            }
            hops.push(next);
        }
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
        self.follow(dst, out, |at, count| self.hash.choose(key, at, count))
    }

    /// Egress ports of the path of this number, counting through all equal-cost ones: each has one number below how many
    /// there are.
    pub fn numbered_path(&self, src: u32, dst: u32, number: u32, out: &mut Vec<u32>) -> bool {
        out.clear();
        out.push(self.host_port[src as usize]);
        let mut rest = number as usize;
        self.follow(dst, out, |_, count| {
            let place = rest % count;
            rest /= count;
            place
        })
    }

    /// Continues to a host, choosing at each switch among so many next hops.
    fn follow(&self, dst: u32, out: &mut Vec<u32>, mut choose: impl FnMut(u32, usize) -> usize) -> bool {
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
            out.push(hops[choose(at, hops.len())]);
        }
    }
}
