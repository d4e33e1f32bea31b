//! All-reduce up and down two binary trees (nccl:src/graph/trees.cc, src/device/all_reduce.h).
//!
//! The trees are of servers; inside each, the GPUs form a chain below the one that owns the channel's NIC. Half of the
//! channels use one tree, half the other, in which inner nodes of the first are leaves: for an even number of servers
//! exactly so.

use super::layer::{Connection, Layer, Piece, by_nics};
use super::options::{share_bytes, shares};
use super::size::{Sends, each};
use super::visits::{Task, Visit, usual_channels};
use crate::dag::{OpId, Via};

pub(super) const CHUNK_BYTES: u64 = 512 << 10;
pub(super) const OUTSTANDING: u32 = 8;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Node {
    /// `None`: the root.
    pub parent: Option<u32>,
    /// Two at most.
    pub children: Vec<u32>,
}

/// One of two trees over `n` nodes: the first, or the second, which is the first mirrored (even `n`) or shifted by one.
pub fn double_tree(n: u32, second: bool, node: u32) -> Node {
    if !second {
        return binary_tree(n, node);
    }
    let (into, back): (u32, &dyn Fn(u32) -> u32) = if n.is_multiple_of(2) {
        (n - 1 - node, &|other| n - 1 - other)
    } else {
        ((node + n - 1) % n, &|other| (other + 1) % n)
    };
    let Node { parent, children } = binary_tree(n, into);
    Node { parent: parent.map(back), children: children.into_iter().map(back).collect() }
}

/// A tree whose nodes of odd number are leaves. The lowest set bit of a number is its height.
fn binary_tree(n: u32, node: u32) -> Node {
    if node == 0 {
        let child = if n > 1 { vec![n.next_power_of_two() / 2] } else { Vec::new() };
        return Node { parent: None, children: child };
    }
    let bit = node & node.wrapping_neg();
    let above = (node ^ bit) | (bit << 1);
    let parent = if above < n { above } else { node ^ bit };
    let mut children = Vec::new();
    if bit > 1 {
        children.push(node - bit / 2);
        // Where the tree is cut off, the nearest that exists.
        let steps = std::iter::successors(Some(bit / 2), |step| Some(step / 2)).take_while(|step| *step > 0);
        children.extend(steps.map(|step| node + step).find(|child| *child < n));
    }
    Node { parent: Some(parent), children }
}

/// An all-reduce; `begins` and `ends` by member.
pub(super) fn generate(layer: &mut Layer, task: &Task, begins: &[OpId], ends: &mut [Vec<OpId>]) -> Result<(), String> {
    let Task { bytes, visits, options, .. } = *task;
    let channels = if options.channels == 0 { usual_channels(visits) } else { options.channels };
    let chunk = options.chunk(CHUNK_BYTES, 1)?;
    let parts = shares(bytes, u64::from(channels));
    layer.set_window(options.window(OUTSTANDING));
    let half = channels / 2;
    for (channel, &(at, bytes)) in (0..).zip(&parts) {
        let mut tree = Tree::new(layer, visits, channel >= half, channel % half, channel);
        for (number, (at, bytes)) in chunk.pieces(at, bytes).enumerate() {
            tree.up(layer, number, Piece { at, bytes, adds: true }, begins);
            tree.down(layer, number, Piece { at, bytes, adds: false }, begins);
        }
        for connection in tree.up.iter().chain(&tree.down).flatten() {
            layer.close(connection, ends);
        }
    }
    Ok(())
}

/// What it sends among `n` members: each piece up and down every edge.
pub(super) fn sends(n: usize, task: &Task) -> Result<Sends, String> {
    let Task { bytes, visits, options, .. } = *task;
    let channels = if options.channels == 0 { usual_channels(visits) } else { options.channels };
    if channels % 2 == 1 {
        return Err(format!("two trees share the channels: {channels} is odd; use {}", channels + 1));
    }
    let chunk = options.chunk(CHUNK_BYTES, 1)?;
    let edge = |bytes| Sends::chunks(chunk, bytes, options).with(1, 0);
    Ok(each(bytes, share_bytes(bytes, channels.into()), edge) * (2 * (n as u64 - 1)))
}

pub(super) struct Tree {
    /// Parents before children.
    order: Vec<usize>,
    children: Vec<Vec<usize>>,
    /// To each member's parent, by member; the root has none.
    up: Vec<Option<Connection>>,
    /// From it.
    down: Vec<Option<Connection>>,
    needs: Vec<OpId>,
}

impl Tree {
    pub(super) fn new(layer: &Layer, visits: &[Visit], second: bool, rail: u16, channel: u16) -> Tree {
        let members = layer.members.len();
        let mut tree = Tree {
            order: Vec::new(),
            children: vec![Vec::new(); members],
            up: (0..members).map(|_| None).collect(),
            down: (0..members).map(|_| None).collect(),
            needs: Vec::new(),
        };
        let mut below = |child: usize, parent: usize, up: Via, down: Via| {
            tree.children[parent].push(child);
            tree.up[child] = Some(layer.connect(child, parent, up, channel));
            tree.down[child] = Some(layer.connect(parent, child, down, channel));
        };
        let chains: Vec<Vec<usize>> = visits.iter().map(|visit| visit.members_from_entry(rail).collect()).collect();
        let mut root = 0;
        for (server, chain) in chains.iter().enumerate() {
            match double_tree(visits.len() as u32, second, server as u32).parent {
                Some(parent) => {
                    let (own, nic) = (visits[server].nic(rail), visits[parent as usize].nic(rail));
                    below(chain[0], chains[parent as usize][0], by_nics(own, nic), by_nics(nic, own));
                }
                None => root = chain[0],
            }
            for pair in chain.windows(2) {
                below(pair[1], pair[0], Via::ScaleUp, Via::ScaleUp);
            }
        }
        tree.order.push(root);
        for at in 0..members {
            let children = tree.children[tree.order[at]].clone();
            tree.order.extend(children);
        }
        tree
    }

    /// Its connections, up and then down, and the places of those from the deepest leaf to the root and back.
    pub(super) fn hops(&self) -> (Vec<(usize, usize, Via)>, Vec<u32>) {
        let below: Vec<usize> = self.order.iter().skip(1).copied().collect();
        let all = [&self.up, &self.down];
        let of = |edges: &[Option<Connection>], child: usize| edges[child].as_ref().map(Connection::hop);
        let hops = all.iter().flat_map(|edges| below.iter().filter_map(|child| of(edges, *child))).collect();
        // Parents come before children: the last is as deep as any.
        let mut depth = vec![0_usize; self.children.len()];
        let mut parent = vec![None; self.children.len()];
        for &member in &self.order {
            for &child in &self.children[member] {
                (depth[child], parent[child]) = (depth[member] + 1, Some(member));
            }
        }
        let place = |child: usize| below.iter().position(|other| *other == child).unwrap_or_default() as u32;
        let deepest = below.iter().copied().max_by_key(|child| depth[*child]);
        let way = std::iter::successors(deepest, |at| parent[*at]).filter(|at| parent[*at].is_some());
        let up: Vec<u32> = way.map(place).collect();
        let down = up.iter().rev().map(|at| at + below.len() as u32);
        (hops, up.iter().copied().chain(down).collect())
    }

    /// Every member sends its sum to its parent when it has its children's.
    fn up(&mut self, layer: &mut Layer, number: usize, piece: Piece, begins: &[OpId]) {
        for at in (1..self.order.len()).rev() {
            let member = self.order[at];
            self.sums(layer, number, member);
            if let Some(connection) = &mut self.up[member] {
                layer.send(connection, piece, begins[member], &self.needs);
            }
        }
    }

    /// Every member passes on what it has from its parent; the root what it has from its children.
    fn down(&mut self, layer: &mut Layer, number: usize, piece: Piece, begins: &[OpId]) {
        for at in 0..self.order.len() {
            let member = self.order[at];
            match &self.down[member] {
                Some(connection) => {
                    self.needs.clear();
                    layer.arrival(connection, number, &mut self.needs);
                }
                None => self.sums(layer, number, member),
            }
            for child in &self.children[member] {
                if let Some(connection) = &mut self.down[*child] {
                    layer.send(connection, piece, begins[member], &self.needs);
                }
            }
        }
    }

    /// Operations that end when a member has its children's sums of a piece.
    fn sums(&mut self, layer: &Layer, number: usize, member: usize) {
        self.needs.clear();
        for child in &self.children[member] {
            if let Some(connection) = &self.up[*child] {
                layer.arrival(connection, number, &mut self.needs);
            }
        }
    }
}
