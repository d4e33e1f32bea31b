//! Who was stopped by a congestion that is none of his: flows held by a tree whose root they do not cross.

use super::flows::{Flow, Flows};
use super::network::Network;
use super::tree::Trees;
use std::collections::HashMap;
use xoff_engine::{Span, Time};

/// One flow, and what trees of others cost it.
#[derive(Clone, Debug, PartialEq)]
pub struct Victim {
    /// Its place in [`Flows::list`].
    pub flow: u32,
    /// How long an egress on its way stood still because of such a tree, in its life.
    pub held: Span,
    /// The same as a part of its life.
    pub held_share: f64,
    /// Payload that it would have delivered in that time at the rate it had otherwise.
    pub lost_bytes: u64,
    /// Stops on its way.
    pub stops: u32,
    /// The queue at the root that held it longest.
    pub root_port: u32,
}

/// A time in which an egress on the way of a flow stood still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    pub from: Time,
    pub until: Time,
    pub port: u32,
    /// The queue at the root of the tree, if it is known.
    pub root_port: Option<u32>,
    /// The flow does not cross that queue.
    pub foreign: bool,
}

/// Looks up what held a flow.
pub struct Holds<'a> {
    trees: &'a Trees,
    roots: &'a HashMap<u32, Option<u32>>,
}

impl<'a> Holds<'a> {
    pub fn new(trees: &'a Trees, roots: &'a HashMap<u32, Option<u32>>) -> Holds<'a> {
        Holds { trees, roots }
    }

    /// In order of their beginnings.
    pub fn of(&self, flows: &Flows, flow: &Flow, end: Time) -> Vec<Hold> {
        let (start, end, path) = (flow.start, flow.network_end(end), flows.ports(flow));
        let mut holds = Vec::new();
        for &port in path {
            let Some(own) = self.trees.of_queue.get(&(port, flow.priority)) else { continue };
            let first = own.partition_point(|&stop| self.trees.stops[stop as usize].until <= start);
            for &index in &own[first..] {
                let stop = &self.trees.stops[index as usize];
                if stop.from >= end {
                    break;
                }
                let root_port = self.roots.get(&self.trees.links[index as usize].root).copied().flatten();
                let foreign = root_port.is_some_and(|root| !path.contains(&root));
                holds.push(Hold { from: stop.from.max(start), until: stop.until.min(end), port, root_port, foreign });
            }
        }
        holds.sort_by_key(|hold| (hold.from, hold.port));
        holds
    }
}

/// All victims, those that lost most first.
pub fn victims(flows: &Flows, holds: &Holds<'_>, network: &Network, end: Time) -> Vec<Victim> {
    let of = |(index, flow): (u32, &Flow)| victim(index, flow, &holds.of(flows, flow, end), flows, network, end);
    let mut victims: Vec<Victim> = (0..).zip(&flows.list).filter_map(of).collect();
    victims.sort_by_key(|victim| (std::cmp::Reverse((victim.lost_bytes, victim.held)), victim.flow));
    victims
}

fn victim(index: u32, flow: &Flow, holds: &[Hold], flows: &Flows, network: &Network, end: Time) -> Option<Victim> {
    let foreign: Vec<&Hold> = holds.iter().filter(|hold| hold.foreign).collect();
    let mut by_root: HashMap<u32, Span> = HashMap::new();
    for hold in &foreign {
        let root = hold.root_port?;
        *by_root.entry(root).or_default() += hold.until - hold.from;
    }
    let (&root_port, _) = by_root.iter().max_by_key(|&(&port, &held)| (held, !port))?;
    let held = covered(foreign.iter().copied());
    let life = flow.network_end(end).saturating_since(flow.start);
    let free = life - covered(holds.iter());
    let slowest = flows.shared_ports(flow).map(|port| network.names.rate(port).bps()).min().unwrap_or(0) as f64;
    let rate = if free > Span::ZERO { (flow.delivered_bytes as f64 * 8.0 / free.as_s()).min(slowest) } else { slowest };
    Some(Victim {
        flow: index,
        held,
        held_share: if life > Span::ZERO { held / life } else { 0.0 },
        lost_bytes: (rate * held.as_s() / 8.0) as u64,
        stops: foreign.len() as u32,
        root_port,
    })
}

/// How long at least one of them holds; they are in order of their beginnings.
fn covered<'a>(holds: impl Iterator<Item = &'a Hold>) -> Span {
    let (mut sum, mut reached) = (Span::ZERO, Time::ZERO);
    for hold in holds {
        sum += hold.until.saturating_since(hold.from.max(reached));
        reached = reached.max(hold.until);
    }
    sum
}
