//! Cyclic buffer dependencies: whether PFC could lock the network for good.
//!
//! A *channel* is a switch's egress port that faces a switch. Channel `p` waits for channel `e`
//! when some routed traffic that arrives over `p` leaves over `e`: then a full buffer behind `e`
//! can pause `p`. A circle of waiting channels can deadlock; without a circle nothing can.

use std::collections::BTreeSet;
use xoff_fabric::plan::{Fault, FaultKind, NodeKind, Plan, peer};
use xoff_fabric::route::Routes;

/// The first circle found: egress ports, each waiting for the next and the last for the first.
pub fn find(plan: &Plan, down: &BTreeSet<u32>) -> Option<Vec<u32>> {
    let waits = dependencies(plan, &Routes::new(plan, |link| !down.contains(&link)));
    circle(&waits)
}

/// The states of the network that a run passes through: the links that are down, and since when.
pub fn link_states(plan: &Plan, largest: usize) -> Vec<(xoff_engine::Time, BTreeSet<u32>)> {
    let mut states = vec![(xoff_engine::Time::ZERO, BTreeSet::new())];
    let mut down = BTreeSet::new();
    for (i, fault) in plan.faults.iter().enumerate() {
        match fault.what {
            FaultKind::LinkDown { link } => down.insert(link),
            FaultKind::LinkUp { link } => down.remove(&link),
            _ => continue,
        };
        // Faults of one instant make one state.
        let is_link = |next: &&Fault| matches!(next.what, FaultKind::LinkDown { .. } | FaultKind::LinkUp { .. });
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
    // One host stands for all behind the same switch.
    let mut edges: Vec<(u32, u32)> = (0..plan.nodes.len() as u32)
        .filter(|&node| !is_switch(node))
        .map(|host| (plan.node_of(peer(routes.host_port(host))), host))
        .collect();
    edges.sort_unstable();
    edges.dedup_by_key(|(edge, _)| *edge);

    let mut waits: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); ports];
    let mut reached = vec![u32::MAX; plan.nodes.len()];
    for (round, &(edge, host)) in edges.iter().enumerate() {
        let mut todo: Vec<u32> = edges.iter().map(|(from, _)| *from).filter(|from| *from != edge).collect();
        todo.iter().for_each(|&switch| reached[switch as usize] = round as u32);
        while let Some(switch) = todo.pop() {
            for &hop in routes.next_hops(switch, host) {
                let next = plan.node_of(peer(hop));
                for &onward in routes.next_hops(next, host) {
                    waits[hop as usize].insert(onward);
                }
                if reached[next as usize] != round as u32 {
                    reached[next as usize] = round as u32;
                    todo.push(next);
                }
            }
        }
    }
    waits.into_iter().map(|set| set.into_iter().collect()).collect()
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
