//! Routes while switches learn of a failed link: each switch decides by the links that it knows to be dead.
//!
//! A switch that knows of a dead link takes it, and next hops from which every path uses it, out of its groups. It keeps
//! to the shortest paths of before, so no packet loops; a switch without another next hop sends into the dead link. Once
//! all switches know, routes are the shortest paths of the remaining network.

use super::{NONE, Routes};
use crate::network::plan::{NodeKind, Plan, peer};
use std::collections::{BTreeMap, VecDeque};

/// `within` once all switches know of a link.
pub const ALL_SWITCHES: u8 = u8::MAX;

/// Farthest distance that differs from [`ALL_SWITCHES`].
pub const FARTHEST: u8 = 62;

/// Which switches take which links for dead.
#[derive(Debug, Default)]
pub struct Convergence(BTreeMap<u32, State>);

/// A link that at least one switch takes for dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// Shortest paths count it.
    counted: bool,
    /// Bit `d`: switches `d` hops from the link take it for dead.
    dead_at: u64,
}

impl Convergence {
    /// Switches up to `within` hops away learn whether a link works.
    pub fn learn(&mut self, link: u32, within: u8, works: bool) {
        let all = within == ALL_SWITCHES;
        let hops = if all { u64::MAX } else { (1 << (within.min(FARTHEST) + 1)) - 1 };
        let state = self.0.entry(link).or_insert(State { counted: true, dead_at: 0 });
        state.dead_at = if works { state.dead_at & !hops } else { state.dead_at | hops };
        if all {
            state.counted = works;
        }
        if state.counted && state.dead_at == 0 {
            self.0.remove(&link);
        }
    }

    /// Whether all switches take a link for dead.
    pub fn is_dead(&self, link: u32) -> bool {
        self.0.get(&link).is_some_and(|state| !state.counted)
    }

    /// Routes by what each switch knows.
    pub fn routes(&self, plan: &Plan) -> Routes {
        let counted = |link: u32| self.0.get(&link).is_none_or(|state| state.counted);
        let mut spreading: Vec<(u32, u64)> = Vec::new();
        spreading.extend(self.0.iter().filter(|(_, state)| state.counted).map(|(&link, state)| (link, state.dead_at)));
        if spreading.is_empty() {
            return Routes::new(plan, counted);
        }
        let mut routes = Routes::build(plan, counted, false);
        for (dead, switches) in views(plan, &spreading) {
            routes.avoid(&dead, &switches);
        }
        routes
    }
}

/// Switches that take the same links for dead, with these links; those that know of none are left out.
fn views(plan: &Plan, spreading: &[(u32, u64)]) -> BTreeMap<Vec<u32>, Vec<u32>> {
    let mut dead: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &(link, dead_at) in spreading {
        for (switch, hops) in (0u32..).zip(distances(plan, link)) {
            if hops != NONE && dead_at & 1 << hops.min(63) != 0 {
                dead.entry(switch).or_default().push(link);
            }
        }
    }
    let mut views: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for (switch, links) in dead {
        views.entry(links).or_default().push(switch);
    }
    views
}

/// Per node: switches that news of a link passes before it is there, `NONE` for hosts and where it never comes.
fn distances(plan: &Plan, link: u32) -> Vec<u32> {
    let mut distance = vec![NONE; plan.nodes.len()];
    let ends = [plan.node_of(2 * link), plan.node_of(2 * link + 1)];
    let is_switch = |node: u32| plan.nodes[node as usize].kind == NodeKind::Switch;
    let mut next: VecDeque<u32> = ends.into_iter().filter(|&node| is_switch(node)).collect();
    next.iter().for_each(|&node| distance[node as usize] = 0);
    let mut neighbours = vec![Vec::new(); plan.nodes.len()];
    for link in &plan.links {
        neighbours[link.a as usize].push(link.b);
        neighbours[link.b as usize].push(link.a);
    }
    while let Some(node) = next.pop_front() {
        for &far in &neighbours[node as usize] {
            if is_switch(far) && distance[far as usize] == NONE {
                distance[far as usize] = distance[node as usize] + 1;
                next.push_back(far);
            }
        }
    }
    distance
}

/// Hops from a link to the farthest switch that news of it reaches.
pub fn farthest(plan: &Plan, link: u32) -> u8 {
    let most = distances(plan, link).into_iter().filter(|hops| *hops != NONE).max().unwrap_or(0);
    most.min(u32::from(FARTHEST)) as u8
}

impl Routes {
    /// Takes dead links, and next hops that lead only to them, out of the groups of some switches, as far as others are
    /// left. All pieces have tables.
    fn avoid(&mut self, dead: &[u32], switches: &[u32]) {
        // Without the changes made for other views.
        let table = self.table.clone();
        for edge in 0..self.edges.len() as u32 {
            let mut leads = vec![None; self.first.len()];
            for &node in switches {
                let switch = self.switch_index[node as usize];
                let Some(cell) = self.cell(switch, edge) else { continue };
                if table[cell] == NONE {
                    continue;
                }
                let hops = self.groups.of(table[cell]).to_vec();
                let good = |&port: &u32| {
                    !dead.contains(&(port / 2)) && self.leads(&table, dead, self.next_of(port), edge, &mut leads)
                };
                let left: Vec<u32> = hops.iter().copied().filter(good).collect();
                if !left.is_empty() && left.len() < hops.len() {
                    self.table[cell] = self.groups.push(left);
                }
            }
        }
    }

    /// Index in the table of the group of a switch towards an edge; none in another piece.
    fn cell(&self, switch: u32, edge: u32) -> Option<usize> {
        let same = self.tiers.piece[switch as usize] == self.tiers.piece[self.edges[edge as usize] as usize];
        (same && self.first[switch as usize] != NONE)
            .then(|| (self.first[switch as usize] + self.column[edge as usize]) as usize)
    }

    /// The switch that a port leads to.
    fn next_of(&self, port: u32) -> u32 {
        self.switch_index[self.owner[peer(port) as usize] as usize]
    }

    /// Whether a way leads from a switch to an edge without dead links. Next hops are nearer to the edge, so this ends.
    fn leads(&self, table: &[u32], dead: &[u32], switch: u32, edge: u32, known: &mut [Option<bool>]) -> bool {
        if switch == self.edges[edge as usize] {
            return true;
        }
        if let Some(known) = known[switch as usize] {
            return known;
        }
        let group = self.cell(switch, edge).map(|cell| table[cell]).filter(|&group| group != NONE);
        let hops = group.map_or(&[][..], |group| self.groups.of(group));
        let found = hops
            .iter()
            .any(|&port| !dead.contains(&(port / 2)) && self.leads(table, dead, self.next_of(port), edge, known));
        known[switch as usize] = Some(found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_forgotten_once_all_know_that_it_works() {
        let mut convergence = Convergence::default();
        convergence.learn(3, 0, false);
        convergence.learn(3, 1, false);
        assert_eq!(convergence.0[&3], State { counted: true, dead_at: 0b11 });
        convergence.learn(3, ALL_SWITCHES, false);
        assert_eq!(convergence.0[&3], State { counted: false, dead_at: u64::MAX });
        // Shortest paths count it again only when all switches know.
        convergence.learn(3, 1, true);
        assert!(!convergence.0[&3].counted);
        convergence.learn(3, ALL_SWITCHES, true);
        assert!(convergence.0.is_empty());
        // The failure ended before a switch learned of it.
        convergence.learn(4, ALL_SWITCHES, true);
        assert!(convergence.0.is_empty());
    }
}
