//! Cyclic buffer dependencies: whether PFC could lock the network for good.
//!
//! A *channel* is a switch's egress port that faces a switch. Channel `p` waits for channel `e`
//! when some traffic, routed or pinned, that arrives over `p` leaves over `e`: then a full buffer behind `e`
//! can pause `p`. A circle of waiting channels can deadlock; without a circle nothing can.

use crate::traffic::TrafficPlan;
use crate::traffic::plan::Generator;
use std::collections::BTreeSet;
use xoff_fabric::plan::{Fault, FaultKind, NodeKind, Plan, peer};
use xoff_fabric::route::{ALL_SWITCHES, Routes};

/// The first circle found: egress ports, each waiting for the next and the last for the first.
/// `routes` are those of the network without the links that are `down`; `pinned` are paths of flows that
/// follow no routes, as ports in order.
pub(crate) fn find(plan: &Plan, routes: &Routes, down: &BTreeSet<u32>, pinned: &[Box<[u32]>]) -> Option<Vec<u32>> {
    let mut waits = dependencies(plan, routes);
    for path in pinned.iter().filter(|path| path.iter().all(|port| !down.contains(&(port / 2)))) {
        for two in path.windows(2) {
            waits[two[0] as usize].push(two[1]);
        }
    }
    circle(&waits)
}

/// The paths that traffic is pinned to, each once.
pub(crate) fn pinned(traffic: &[TrafficPlan]) -> Vec<Box<[u32]>> {
    let mut paths: BTreeSet<Box<[u32]>> = BTreeSet::new();
    for plan in traffic {
        if let Generator::Listed(flows) = &plan.generator {
            paths.extend(flows.iter().filter_map(|flow| flow.spec.path.clone()));
        }
        let shared = plan.template().and_then(|template| template.path.as_ref());
        paths.extend(shared.map(|path| path.between_switches.iter().copied().collect::<Box<[u32]>>()));
    }
    paths.into_iter().collect()
}

/// The states of the network that a run passes through: the links that are down, and since when.
pub(crate) fn link_states(plan: &Plan, largest: usize) -> Vec<(xoff_engine::Time, BTreeSet<u32>)> {
    let mut states = vec![(xoff_engine::Time::ZERO, BTreeSet::new())];
    let (mut down, mut dead) = (BTreeSet::new(), BTreeSet::new());
    for (i, fault) in plan.faults.iter().enumerate() {
        match fault.what {
            FaultKind::LinkDown { link } => down.insert(link),
            FaultKind::LinkUp { link } => down.remove(&link),
            // Before all switches are told they use a part of the paths of before.
            FaultKind::Told { link, within: ALL_SWITCHES } if dead.contains(&link) => down.insert(link),
            FaultKind::Told { link, within: ALL_SWITCHES } => down.remove(&link),
            FaultKind::LinkDead { link } => {
                dead.insert(link);
                continue;
            }
            FaultKind::LinkAlive { link } => {
                dead.remove(&link);
                continue;
            }
            _ => continue,
        };
        // Faults of one instant make one state.
        let is_link = |next: &&Fault| {
            matches!(
                next.what,
                FaultKind::LinkDown { .. } | FaultKind::LinkUp { .. } | FaultKind::Told { within: ALL_SWITCHES, .. }
            )
        };
        let more = plan.faults[i + 1..].iter().take_while(|next| next.at == fault.at).any(|next| is_link(&next));
        if !more && !states.iter().any(|(_, known)| *known == down) {
            states.push((fault.at, down.clone()));
        }
    }
    states.truncate(largest);
    states
}

/// For each port the ports it waits for, ascending.
fn dependencies(plan: &Plan, routes: &Routes) -> Vec<Vec<u32>> {
    let ports = plan.ports();
    let is_switch = |node: u32| plan.nodes[node as usize].kind == NodeKind::Switch;
    // One host represents all behind the same switch.
    let mut edges: Vec<(u32, u32)> = (0..plan.nodes.len() as u32)
        .filter(|&node| !is_switch(node))
        .map(|host| (plan.node_of(peer(routes.host_port(host))), host))
        .collect();
    edges.sort_unstable();
    edges.dedup_by_key(|(edge, _)| *edge);

    let places = Places::new(plan);
    let words = places.words;
    let mut waits = vec![0u64; ports * words];
    // Per node, what all that comes to it on its way to the host waits for, and in which round that was found.
    let mut onward = vec![0u64; plan.nodes.len() * words];
    let (mut known, mut reached) = (vec![u32::MAX; plan.nodes.len()], vec![u32::MAX; plan.nodes.len()]);
    for (round, &(edge, host)) in (0..).zip(&edges) {
        let mut todo: Vec<u32> = edges.iter().map(|(from, _)| *from).filter(|from| *from != edge).collect();
        todo.iter().for_each(|&switch| reached[switch as usize] = round);
        while let Some(switch) = todo.pop() {
            for &hop in routes.next_hops(switch, host) {
                let next = plan.node_of(peer(hop));
                let there = next as usize * words..(next as usize + 1) * words;
                if std::mem::replace(&mut known[next as usize], round) != round {
                    let set = &mut onward[there.clone()];
                    set.fill(0);
                    routes.next_hops(next, host).iter().for_each(|&port| places.mark(set, port));
                }
                let here = hop as usize * words..(hop as usize + 1) * words;
                waits[here].iter_mut().zip(&onward[there]).for_each(|(all, more)| *all |= more);
                if std::mem::replace(&mut reached[next as usize], round) != round {
                    todo.push(next);
                }
            }
        }
    }
    (0..ports as u32).map(|port| places.list(plan, port, &waits)).collect()
}

/// Ports by their place at their node, so that a set of a switch's ports is a few words.
struct Places {
    ports_of: Vec<Vec<u32>>,
    place: Vec<u32>,
    /// Words of a set.
    words: usize,
}

impl Places {
    fn new(plan: &Plan) -> Places {
        let mut ports_of: Vec<Vec<u32>> = vec![Vec::new(); plan.nodes.len()];
        let mut place = vec![0; plan.ports()];
        for port in 0..plan.ports() as u32 {
            let ports = &mut ports_of[plan.node_of(port) as usize];
            place[port as usize] = ports.len() as u32;
            ports.push(port);
        }
        let words = ports_of.iter().map(|ports| ports.len().div_ceil(64)).max().unwrap_or(0).max(1);
        Places { ports_of, place, words }
    }

    fn mark(&self, set: &mut [u64], port: u32) {
        let place = self.place[port as usize];
        set[place as usize / 64] |= 1 << (place % 64);
    }

    /// The ports in the set of `port`, which are those of the node at the other end of the link.
    fn list(&self, plan: &Plan, port: u32, sets: &[u64]) -> Vec<u32> {
        let set = &sets[port as usize * self.words..(port as usize + 1) * self.words];
        if set.iter().all(|word| *word == 0) {
            return Vec::new();
        }
        let there = &self.ports_of[plan.node_of(peer(port)) as usize];
        there.iter().enumerate().filter(|(i, _)| set[i / 64] & (1 << (i % 64)) != 0).map(|(_, port)| *port).collect()
    }
}

/// Depth first, without recursion: a chain of a million switches must not end the stack.
fn circle(waits: &[Vec<u32>]) -> Option<Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; waits.len()];
    for start in 0..waits.len() {
        if state[start] != State::New {
            continue;
        }
        state[start] = State::Open;
        let mut trail: Vec<(u32, usize)> = vec![(start as u32, 0)];
        while let Some(top) = trail.last_mut() {
            let (port, tried) = *top;
            let Some(&next) = waits[port as usize].get(tried) else {
                state[port as usize] = State::Done;
                trail.pop();
                continue;
            };
            top.1 += 1;
            match state[next as usize] {
                State::Done => {}
                State::New => {
                    state[next as usize] = State::Open;
                    trail.push((next, 0));
                }
                State::Open => {
                    let from = trail.iter().position(|(on, _)| *on == next).unwrap_or(0);
                    return Some(trail[from..].iter().map(|(port, _)| *port).collect());
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found() {
        assert_eq!(circle(&[vec![1], vec![2], vec![]]), None);
        assert_eq!(circle(&[vec![1], vec![2], vec![1]]), Some(vec![1, 2]));
        assert_eq!(circle(&[vec![0]]), Some(vec![0]));
        // A diamond is no circle.
        assert_eq!(circle(&[vec![1, 2], vec![3], vec![3], vec![]]), None);
    }
}
