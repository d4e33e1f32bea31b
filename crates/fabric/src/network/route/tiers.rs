//! Tiers of switches, in which next hops are computed and not stored: fat trees, Clos networks, leaves and spines, the
//! planes and rails of servers.
//!
//! The *level* of a switch is its distance from the nearest edge. Edges are *blocks* of level 0; a block of the next
//! level is what the switches of that level join. A piece of the network is *regular* if links join neighbouring levels
//! alone, a switch has a link to every block that its own is made of, and a switch whose block is not the whole piece
//! has a link upwards.
//!
//! Then every shortest path first goes up and then down. An edge within the switch's block is as far below as the level
//! says, by each link into the part of the block that it is in. To any other edge a path must go up to the level of the
//! first block that has both, and as far down: by each link upwards, since all of them lead to the same block.

use crate::network::pieces::lowest;
use crate::network::rows::Rows;

pub(super) const NONE: u32 = u32::MAX;

/// Links of switches, by the number of the switch: port, and switch at the other end.
pub(super) type Links = Rows<(u32, u32)>;

/// Levels and blocks of a network, and which of its pieces are regular.
#[derive(Debug, Default)]
pub(super) struct Tiers {
    /// Piece of each switch; without a way to any edge it has none.
    pub piece: Vec<u32>,
    /// Whether each piece is regular.
    pub regular: Vec<bool>,
    /// Level of each switch.
    pub level: Vec<u32>,
    /// Block of each switch, whose number is that of the edge at level 0.
    pub block: Vec<u32>,
    /// Parent of each block, its place among the parts of that, and how many parts it has.
    parent: Vec<u32>,
    order: Vec<u32>,
    parts: Vec<u32>,
    /// First edge of each block, and how many it has.
    first_edge: Vec<u32>,
    size: Vec<u32>,
}

impl Tiers {
    /// `edges` are switches, by the number of the edge.
    pub fn new(links: &Links, edges: &[u32]) -> Tiers {
        let mut tiers = Tiers {
            piece: vec![NONE; links.len()],
            level: vec![NONE; links.len()],
            block: vec![NONE; links.len()],
            parent: vec![NONE; edges.len()],
            order: vec![0; edges.len()],
            parts: vec![0; edges.len()],
            first_edge: (0..edges.len() as u32).collect(),
            size: vec![1; edges.len()],
            ..Tiers::default()
        };
        let piece_edges = tiers.find_pieces(links, edges);
        let order = tiers.find_levels(links, edges);
        let (mut from, mut below) = (edges.len(), 0);
        while let Some(&switch) = order.get(from) {
            let level = tiers.level[switch as usize];
            let to = order.partition_point(|&switch| tiers.level[switch as usize] <= level);
            below = tiers.join(links, &order[from..to], below);
            from = to;
        }
        for switch in order {
            let (at, piece) = (switch as usize, tiers.piece[switch as usize] as usize);
            let level = |next: u32| tiers.level[next as usize];
            let mut onward = links.of(switch).iter().map(|&(_, next)| level(next));
            let whole = tiers.size[tiers.block[at] as usize] == piece_edges[piece];
            let leads_up = whole || onward.clone().any(|next| next > tiers.level[at]);
            if !leads_up || onward.any(|next| next == tiers.level[at]) {
                tiers.regular[piece] = false;
            }
        }
        tiers
    }

    /// Finds what hangs together; how many edges each piece has.
    fn find_pieces(&mut self, links: &Links, edges: &[u32]) -> Vec<u32> {
        let mut counts = Vec::new();
        for &edge in edges {
            let mut todo = vec![edge];
            while let Some(switch) = todo.pop() {
                if self.piece[switch as usize] == NONE {
                    self.piece[switch as usize] = counts.len() as u32;
                    todo.extend(links.of(switch).iter().map(|(_, next)| next));
                }
            }
            if self.piece[edge as usize] as usize == counts.len() {
                counts.push(0);
            }
            counts[self.piece[edge as usize] as usize] += 1;
        }
        self.regular = vec![true; counts.len()];
        counts
    }

    /// Finds how far switches are from the nearest edge; those that have a way to one, by level.
    fn find_levels(&mut self, links: &Links, edges: &[u32]) -> Vec<u32> {
        let mut order = edges.to_vec();
        for (&switch, edge) in edges.iter().zip(0..) {
            (self.level[switch as usize], self.block[switch as usize]) = (0, edge);
        }
        let mut head = 0;
        while let Some(&switch) = order.get(head) {
            head += 1;
            for &(_, next) in links.of(switch) {
                if self.level[next as usize] == NONE {
                    self.level[next as usize] = self.level[switch as usize] + 1;
                    order.push(next);
                }
            }
        }
        order
    }

    /// Joins blocks from `below` on by the switches of the level above; the first block of that.
    fn join(&mut self, links: &Links, layer: &[u32], below: usize) -> usize {
        let above = self.parent.len();
        let mut joined: Vec<u32> = (0..above as u32).collect();
        let mut touched = vec![false; above];
        for &switch in layer {
            let mut first = NONE;
            for &(_, next) in links.of(switch) {
                if self.level[next as usize] >= self.level[switch as usize] {
                    continue;
                }
                let block = lowest(&mut joined, self.block[next as usize]);
                touched[block as usize] = true;
                first = if first == NONE { block } else { first };
                joined[block.max(first) as usize] = block.min(first);
                first = block.min(first);
            }
        }
        for block in below..above {
            let root = lowest(&mut joined, block as u32) as usize;
            if !touched[root] {
                continue;
            }
            if root == block {
                self.parent.push(NONE);
                self.order.push(0);
                self.parts.push(0);
                self.first_edge.push(self.first_edge[block]);
                self.size.push(0);
                self.parent[block] = self.parent.len() as u32 - 1;
            }
            let parent = self.parent[root] as usize;
            self.parent[block] = parent as u32;
            self.order[block] = self.parts[parent];
            self.parts[parent] += 1;
            self.size[parent] += self.size[block];
        }
        let mut seen = vec![NONE; above];
        for &switch in layer {
            let at = switch as usize;
            let mut distinct = 0;
            for &(_, next) in links.of(switch) {
                if self.level[next as usize] < self.level[at] {
                    let block = self.block[next as usize] as usize;
                    distinct += u32::from(std::mem::replace(&mut seen[block], switch) != switch);
                    self.block[at] = self.parent[block];
                }
            }
            if distinct != self.parts[self.block[at] as usize] {
                self.regular[self.piece[at] as usize] = false;
            }
        }
        above
    }

    /// How many parts the block of a switch has.
    pub fn parts_of(&self, switch: u32) -> u32 {
        self.parts[self.block[switch as usize] as usize]
    }

    /// Which of its groups of links a switch sends to an edge by: 0 upwards, 1 into the first part of its block and so
    /// on; none if it is that edge.
    #[inline]
    pub fn group(&self, switch: u32, edge: u32) -> Option<u32> {
        let (mut block, mut place) = (edge, None);
        for _ in 0..self.level[switch as usize] {
            place = Some(self.order[block as usize] + 1);
            block = self.parent[block as usize];
        }
        if block == self.block[switch as usize] { place } else { Some(0) }
    }

    /// The group that a link of a switch belongs to, by the switch at its other end.
    pub fn group_of_link(&self, switch: u32, next: u32) -> u32 {
        if self.level[next as usize] > self.level[switch as usize] {
            0
        } else {
            self.order[self.block[next as usize] as usize] + 1
        }
    }

    /// Pairs of edges of regular pieces that represent all others: one across every block, between its first two parts.
    pub fn spans(&self) -> impl Iterator<Item = (u32, u32)> {
        let second = self.order.iter().zip(0..).filter(|(order, _)| **order == 1);
        second.map(|(_, block)| {
            let first = |block: u32| self.first_edge[block as usize];
            (first(self.parent[block as usize]), first(block))
        })
    }
}
