//! Which nodes of a network are drawn, and which links between them.

use super::scene::Scene;
use std::collections::{BTreeMap, BTreeSet};

/// Networks up to so many switches are drawn whole; of larger ones only what the tree is about.
const WHOLE: usize = 24;
/// More hosts than this are drawn as one box for each switch.
const HOSTS: usize = 64;

/// What is drawn: a switch, a host, or the hosts of a switch together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub nodes: Vec<u32>,
    pub tier: u32,
    /// For hosts: the item of their switch, if they have one.
    pub parent: Option<usize>,
}

/// Links between the same two items that are drawn as one line: the egresses at either end, in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    pub ends: [usize; 2],
    pub ports: [Vec<u32>; 2],
}

pub struct Choice {
    /// Switches first.
    pub items: Vec<Item>,
    pub wires: Vec<Wire>,
    /// By port: its wire, and at which end.
    pub wire_of: BTreeMap<u32, (usize, usize)>,
    /// Switches that are drawn, and all there are.
    pub switches: (usize, usize),
}

impl Choice {
    pub fn of(scene: &Scene) -> Choice {
        let all: Vec<u32> = (0..scene.nodes.len() as u32).filter(|&node| !scene.is_host(node)).collect();
        let drawn = if all.len() <= WHOLE { all.clone() } else { of_interest(scene) };
        let mut item_of: BTreeMap<u32, usize> = drawn.iter().copied().zip(0..).collect();
        let mut items: Vec<Item> = drawn.iter().map(|&node| switch(scene, node)).collect();
        let hosts = hosts(scene, &item_of, all.len() == drawn.len());
        let many = hosts.values().map(Vec::len).sum::<usize>() > HOSTS;
        for (parent, hosts) in hosts {
            let together = many && parent.is_some();
            let boxes: Vec<Vec<u32>> =
                if together { vec![hosts] } else { hosts.iter().map(|&one| vec![one]).collect() };
            for nodes in boxes {
                item_of.extend(nodes.iter().map(|&node| (node, items.len())));
                items.push(Item { nodes, tier: 0, parent });
            }
        }
        let (wires, wire_of) = wires(scene, &items, &item_of);
        Choice { items, wires, wire_of, switches: (drawn.len(), all.len()) }
    }
}

fn switch(scene: &Scene, node: u32) -> Item {
    Item { nodes: vec![node], tier: scene.nodes[node as usize].tier, parent: None }
}

/// Switches that stopped or were stopped, those of roots, and those that the flows drawn cross.
fn of_interest(scene: &Scene) -> Vec<u32> {
    let stopped = scene.stops.iter().map(|stop| stop.port);
    let ports = stopped.chain(scene.roots()).chain(scene.flows.iter().flat_map(|way| way.ports.iter().copied()));
    let ends = ports.flat_map(|port| [scene.owner(port), scene.owner(port ^ 1)]);
    let found: BTreeSet<u32> = ends.filter(|&node| !scene.is_host(node)).collect();
    found.into_iter().collect()
}

/// By the item of their switch, in the order of the network; a host of several is below the first of them. Hosts of
/// switches that are not drawn are left out, and so are those without a switch, unless the network is drawn whole.
fn hosts(scene: &Scene, switches: &BTreeMap<u32, usize>, whole: bool) -> BTreeMap<Option<usize>, Vec<u32>> {
    let mut found: BTreeMap<Option<usize>, Vec<u32>> = BTreeMap::new();
    let mut parents: BTreeMap<u32, usize> = BTreeMap::new();
    for &(a, b) in &scene.links {
        for (host, other) in [(a, b), (b, a)].into_iter().filter(|&(host, _)| scene.is_host(host)) {
            if let Some(&switch) = switches.get(&other) {
                parents.entry(host).or_insert(switch);
            }
        }
    }
    for host in (0..scene.nodes.len() as u32).filter(|&node| scene.is_host(node)) {
        let parent = parents.get(&host).copied();
        if parent.is_some() || whole {
            found.entry(parent).or_default().push(host);
        }
    }
    found
}

fn wires(scene: &Scene, items: &[Item], item_of: &BTreeMap<u32, usize>) -> (Vec<Wire>, BTreeMap<u32, (usize, usize)>) {
    let mut wires: Vec<Wire> = Vec::new();
    let mut wire_of = BTreeMap::new();
    // Links between the same switches stay apart; those of hosts that are drawn together do not.
    let mut of_group: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (link, &(a, b)) in (0u32..).zip(&scene.links) {
        let (Some(&from), Some(&to)) = (item_of.get(&a), item_of.get(&b)) else { continue };
        let group = items[from].nodes.len().max(items[to].nodes.len()) > 1;
        let known = of_group.get(&(from.min(to), from.max(to))).filter(|_| group).copied();
        let wire = known.unwrap_or_else(|| {
            of_group.insert((from.min(to), from.max(to)), wires.len());
            wires.push(Wire { ends: [from, to], ports: [Vec::new(), Vec::new()] });
            wires.len() - 1
        });
        for (port, end) in [(2 * link, from), (2 * link + 1, to)] {
            let side = usize::from(wires[wire].ends[0] != end);
            wires[wire].ports[side].push(port);
            wire_of.insert(port, (wire, side));
        }
    }
    (wires, wire_of)
}

#[cfg(test)]
mod tests {
    use super::super::scene::tests::chain;
    use super::*;

    #[test]
    fn a_small_network_is_drawn_whole() {
        let choice = Choice::of(&chain(3, 2, 10));
        assert_eq!((choice.items.len(), choice.wires.len(), choice.switches), (15, 14, (3, 3)));
        assert_eq!(choice.wire_of[&1], (0, 1));
    }

    #[test]
    fn many_hosts_are_one_box_for_each_switch() {
        let choice = Choice::of(&chain(2, 60, 5));
        assert_eq!((choice.items.len(), choice.wires.len()), (4, 3));
        assert_eq!(choice.items[2].nodes.len(), 60);
        assert_eq!(choice.wires[1].ports[0].len(), 60);
        let few = Choice::of(&chain(2, 60, 4));
        assert_eq!(few.items.len(), 66);
    }

    #[test]
    fn of_a_large_network_only_the_tree_is_drawn() {
        let mut scene = chain(40, 2, 2);
        scene.flows.clear();
        scene.stops.retain(|stop| stop.port < 4 || stop.port >= 78);
        let choice = Choice::of(&scene);
        // S0 to S2 stand still, S39 has the root.
        assert_eq!(choice.switches, (4, 40));
        assert_eq!(choice.items.iter().filter(|item| item.tier == 0).count(), 4);
    }
}
