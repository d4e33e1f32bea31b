//! What a picture of a congestion tree shows, as plain data: it can be kept and drawn later.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A network at an instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Above the picture; empty for none.
    pub title: String,
    /// What controls congestion, in the caption.
    pub scheme: String,
    /// The instant, in microseconds since the start of the run.
    pub at_us: f64,
    pub nodes: Vec<Node>,
    /// The nodes at both ends. Port `2i` is the egress of the first end of link `i`, port `2i + 1` that of the second.
    pub links: Vec<(u32, u32)>,
    /// The egresses that stand still, each once, by port.
    pub stops: Vec<Stopped>,
    /// Egress queues that are not empty: port and bytes.
    pub queues: Vec<(u32, u64)>,
    /// Flows whose ways are drawn.
    pub flows: Vec<Way>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    /// Links to the nearest host; zero for hosts.
    pub tier: u32,
    pub domain: u16,
}

/// An egress that PFC has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    pub port: u32,
    /// The queue at the root of its tree, if it is known.
    pub root: Option<u32>,
}

/// A flow whose way is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    pub name: String,
    /// The egress ports on its way, the sender's first.
    pub ports: Vec<u32>,
}

impl Scene {
    /// The node that owns a port.
    pub(super) fn owner(&self, port: u32) -> u32 {
        let (first, second) = self.links[port as usize / 2];
        if port & 1 == 0 { first } else { second }
    }

    /// `from->to`.
    pub(super) fn port_name(&self, port: u32) -> String {
        let name = |port: u32| self.nodes[self.owner(port) as usize].name.as_str();
        format!("{}->{}", name(port), name(port ^ 1))
    }

    pub(super) fn is_host(&self, node: u32) -> bool {
        self.nodes[node as usize].tier == 0
    }

    pub(super) fn is_stopped(&self, port: u32) -> bool {
        self.stops.binary_search_by_key(&port, |stop| stop.port).is_ok()
    }

    pub(super) fn queue(&self, port: u32) -> u64 {
        self.queues.iter().find(|(of, _)| *of == port).map_or(0, |(_, bytes)| *bytes)
    }

    /// The queues at the roots of the trees that stand: that of the largest tree first.
    pub(super) fn roots(&self) -> Vec<u32> {
        let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
        for root in self.stops.iter().filter_map(|stop| stop.root) {
            *sizes.entry(root).or_default() += 1;
        }
        let mut roots: Vec<u32> = sizes.keys().copied().collect();
        roots.sort_by_key(|root| Reverse((sizes[root], self.queue(*root))));
        roots
    }

    /// Whether a flow crosses the queue at the root of the largest tree.
    pub(super) fn crosses_root(&self, way: &Way) -> bool {
        self.roots().first().is_some_and(|root| way.ports.contains(root))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Switches in a row, the first with `left` hosts and the last with `right`; each flow goes from the first host to
    /// the last. The last egress is the root; the links between switches and those of all hosts of the first stand
    /// still.
    pub fn chain(switches: u32, left: u32, right: u32) -> Scene {
        let node = |name: String, tier| Node { name, tier, domain: 0 };
        let mut nodes: Vec<Node> =
            (0..switches).map(|i| node(format!("S{i}"), 1 + i.min(switches - 1 - i).min(1))).collect();
        nodes.extend((0..left + right).map(|i| node(format!("h{i}"), 0)));
        let mut links: Vec<(u32, u32)> = (1..switches).map(|i| (i - 1, i)).collect();
        links.extend((0..left).map(|i| (switches + i, 0)));
        links.extend((left..left + right).map(|i| (switches + i, switches - 1)));
        let root = 2 * (links.len() as u32 - 1) + 1;
        let stops = (0..switches - 1 + left).map(|link| Stopped { port: 2 * link, root: Some(root) }).collect();
        let mut ports = vec![2 * (switches - 1)];
        ports.extend((0..switches - 1).map(|link| 2 * link));
        ports.push(root);
        Scene {
            title: "A chain".into(),
            scheme: "none".into(),
            at_us: 20_943.5,
            nodes,
            links,
            stops,
            queues: vec![(0, 300_000), (root, 2_400_000)],
            flows: vec![Way { name: "F1".into(), ports }],
        }
    }

    #[test]
    fn ports_are_named_by_their_ends() {
        let scene = chain(2, 2, 3);
        assert_eq!((scene.port_name(0), scene.port_name(1)), ("S0->S1".into(), "S1->S0".into()));
        assert_eq!(scene.roots(), [11]);
        assert_eq!((scene.port_name(11), scene.queue(11), scene.queue(9)), ("S1->h4".into(), 2_400_000, 0));
        assert!(scene.is_stopped(0) && !scene.is_stopped(1) && scene.crosses_root(&scene.flows[0]));
    }
}
