//! Builders of the usual networks: nodes and links, named and layered alike everywhere.
//!
//! Hosts are numbered through (`h0`, `h1`, ...) in the order of the switches they hang from, and
//! so are the switches of each layer. A link's `a` end is the lower one: the host, then the edge.

use crate::network::plan::{Direction, Link, Node, NodeKind};
use xoff_engine::{BitRate, Span};

/// Nodes and links in the making.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// As in [`crate::network::plan::Plan::nodes`].
    pub nodes: Vec<Node>,
    /// As in [`crate::network::plan::Plan::links`].
    pub links: Vec<Link>,
}

/// The two directions of a link alike, without loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkSpec {
    /// Of each direction.
    pub rate: BitRate,
    /// Propagation, one way.
    pub delay: Span,
}

impl LinkSpec {
    /// Either of the two.
    pub fn direction(self) -> Direction {
        Direction { rate: self.rate, delay: self.delay, loss: 0.0 }
    }
}

impl Graph {
    pub(crate) fn node(&mut self, name: String, kind: NodeKind, layer: &str) -> u32 {
        self.nodes.push(Node { name, kind, profile: 0, layer: layer.to_owned(), domain: 0 });
        self.nodes.len() as u32 - 1
    }

    /// Adds one, without a link yet; returns its node.
    pub fn host(&mut self, name: impl Into<String>) -> u32 {
        self.node(name.into(), NodeKind::Host, "host")
    }

    /// Adds one, without a link yet; returns its node. `layer` is for grouping results.
    pub fn switch(&mut self, name: impl Into<String>, layer: &str) -> u32 {
        self.node(name.into(), NodeKind::Switch, layer)
    }

    /// `count` switches of a layer, named after it.
    pub(crate) fn layer(&mut self, layer: &str, count: u32) -> Vec<u32> {
        (0..count).map(|i| self.switch(format!("{layer}{i}"), layer)).collect()
    }

    /// `count` parallel links.
    pub fn connect(&mut self, a: u32, b: u32, link: LinkSpec, count: u32) {
        for _ in 0..count {
            self.links.push(Link { a, b, a_to_b: link.direction(), b_to_a: link.direction() });
        }
    }

    /// `count` hosts on each of the switches, numbered through.
    fn hang(&mut self, switches: &[u32], count: u32, link: LinkSpec) {
        let mut number = 0;
        for &switch in switches {
            for _ in 0..count {
                let host = self.host(format!("h{number}"));
                self.connect(host, switch, link, 1);
                number += 1;
            }
        }
    }
}

/// Hosts around one switch `sw`.
pub fn star(hosts: u32, link: LinkSpec) -> Graph {
    let mut graph = Graph::default();
    let switch = graph.switch("sw", "switch");
    graph.hang(&[switch], hosts, link);
    graph
}

/// Two switches `s0` and `s1` with hosts on either side: `h0..` left, the following right.
pub fn dumbbell(left: u32, right: u32, host: LinkSpec, trunk: LinkSpec, trunks: u32) -> Graph {
    let mut graph = Graph::default();
    let (s0, s1) = (graph.switch("s0", "switch"), graph.switch("s1", "switch"));
    for number in 0..left + right {
        let host_node = graph.host(format!("h{number}"));
        graph.connect(host_node, if number < left { s0 } else { s1 }, host, 1);
    }
    graph.connect(s0, s1, trunk, trunks);
    graph
}

/// Switches `s0`, `s1`, ... in a row, each with the same number of hosts.
pub fn chain(switches: u32, hosts_per_switch: u32, host: LinkSpec, trunk: LinkSpec) -> Graph {
    let mut graph = Graph::default();
    let row: Vec<u32> = (0..switches).map(|i| graph.switch(format!("s{i}"), "switch")).collect();
    graph.hang(&row, hosts_per_switch, host);
    for pair in row.windows(2) {
        graph.connect(pair[0], pair[1], trunk, 1);
    }
    graph
}

/// `bottlenecks` links in a row. `src0` to `dst0` crosses all of them, `src1` to `dst1` only the
/// first, and so on.
pub fn parking_lot(bottlenecks: u32, host: LinkSpec, trunk: LinkSpec) -> Graph {
    let mut graph = Graph::default();
    let row: Vec<u32> = (0..=bottlenecks).map(|i| graph.switch(format!("s{i}"), "switch")).collect();
    for flow in 0..=bottlenecks {
        let (from, to) = if flow == 0 { (0, bottlenecks) } else { (flow - 1, flow) };
        let (src, dst) = (graph.host(format!("src{flow}")), graph.host(format!("dst{flow}")));
        graph.connect(src, row[from as usize], host, 1);
        graph.connect(dst, row[to as usize], host, 1);
    }
    for pair in row.windows(2) {
        graph.connect(pair[0], pair[1], trunk, 1);
    }
    graph
}

/// Every leaf linked to every spine.
#[derive(Clone, Copy, Debug)]
pub struct LeafSpine {
    /// Named `leaf0`, `leaf1`, ...
    pub leaves: u32,
    /// Named `spine0`, `spine1`, ...
    pub spines: u32,
    /// Each with one link.
    pub hosts_per_leaf: u32,
    /// Host to leaf.
    pub host: LinkSpec,
    /// Leaf to spine.
    pub fabric: LinkSpec,
    /// Links between each leaf and each spine.
    pub parallel: u32,
}

/// Two layers of switches.
pub fn leaf_spine(shape: LeafSpine) -> Graph {
    let mut graph = Graph::default();
    let leaves = graph.layer("leaf", shape.leaves);
    let spines = graph.layer("spine", shape.spines);
    graph.hang(&leaves, shape.hosts_per_leaf, shape.host);
    for &leaf in &leaves {
        for &spine in &spines {
            graph.connect(leaf, spine, shape.fabric, shape.parallel);
        }
    }
    graph
}

/// A three-layer tree of `k`-port switches with `k * k * k / 4` hosts; `k` is even.
pub fn fat_tree(k: u32, host: LinkSpec, edge_agg: LinkSpec, agg_core: LinkSpec) -> Graph {
    let half = k / 2;
    let shape = Clos {
        pods: k,
        tors_per_pod: half,
        aggs_per_pod: half,
        hosts_per_tor: half,
        cores: half * half,
        wiring: CoreWiring::Grouped,
        host,
        tor_agg: edge_agg,
        tor_agg_parallel: 1,
        agg_core,
        agg_core_parallel: 1,
    };
    three_tiers(shape, "edge")
}

/// Hosts, top-of-rack, aggregation and core switches with free counts.
#[derive(Clone, Copy, Debug)]
pub struct Clos {
    /// Groups of top-of-rack and aggregation switches.
    pub pods: u32,
    /// Top-of-rack switches, each of which has hosts.
    pub tors_per_pod: u32,
    /// Aggregation switches.
    pub aggs_per_pod: u32,
    /// Each with one link.
    pub hosts_per_tor: u32,
    /// In all; with [`CoreWiring::Grouped`] a multiple of `aggs_per_pod`.
    pub cores: u32,
    /// Between aggregation and core.
    pub wiring: CoreWiring,
    /// Host to top-of-rack switch.
    pub host: LinkSpec,
    /// Every ToR of a pod to every aggregation switch of it.
    pub tor_agg: LinkSpec,
    /// Links between each such pair.
    pub tor_agg_parallel: u32,
    /// Aggregation to core, where the wiring has one.
    pub agg_core: LinkSpec,
    /// Links between each such pair.
    pub agg_core_parallel: u32,
}

/// Which cores an aggregation switch reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoreWiring {
    /// Aggregation switch `j` of each pod to the `j`th of `aggs_per_pod` equal groups of cores.
    Grouped,
    /// Every aggregation switch to every core.
    Full,
}

/// Three layers of switches.
pub fn clos(shape: Clos) -> Graph {
    three_tiers(shape, "tor")
}

fn three_tiers(shape: Clos, lowest: &str) -> Graph {
    let mut graph = Graph::default();
    let tors = graph.layer(lowest, shape.pods * shape.tors_per_pod);
    let aggs = graph.layer("agg", shape.pods * shape.aggs_per_pod);
    let cores = graph.layer("core", shape.cores);
    graph.hang(&tors, shape.hosts_per_tor, shape.host);
    for pod in 0..shape.pods as usize {
        let tors = &tors[pod * shape.tors_per_pod as usize..][..shape.tors_per_pod as usize];
        let aggs = &aggs[pod * shape.aggs_per_pod as usize..][..shape.aggs_per_pod as usize];
        for &tor in tors {
            for &agg in aggs {
                graph.connect(tor, agg, shape.tor_agg, shape.tor_agg_parallel);
            }
        }
    }
    let group = (shape.cores / shape.aggs_per_pod.max(1)) as usize;
    for (number, &agg) in aggs.iter().enumerate() {
        let place = number % shape.aggs_per_pod as usize;
        let reached = match shape.wiring {
            CoreWiring::Grouped => &cores[place * group..][..group],
            CoreWiring::Full => &cores[..],
        };
        for &core in reached {
            graph.connect(agg, core, shape.agg_core, shape.agg_core_parallel);
        }
    }
    graph
}

/// Two leaf-spine data centres, each with one switch at its edge, joined by long links.
#[derive(Clone, Copy, Debug)]
pub struct TwoDc {
    /// Of each data centre.
    pub leaves: u32,
    /// Of each data centre, every one linked to every leaf of it.
    pub spines: u32,
    /// Each with one link.
    pub hosts_per_leaf: u32,
    /// Host to leaf.
    pub host: LinkSpec,
    /// Leaf to spine.
    pub fabric: LinkSpec,
    /// Spine to the edge switch `dci0` or `dci1`.
    pub dci: LinkSpec,
    /// `dci0` to `dci1`.
    pub long: LinkSpec,
    /// So many of them, side by side.
    pub long_parallel: u32,
}

/// The second data centre's nodes follow the first's numbers.
pub fn two_dc(shape: TwoDc) -> Graph {
    let mut graph = Graph::default();
    let leaves = graph.layer("leaf", 2 * shape.leaves);
    let spines = graph.layer("spine", 2 * shape.spines);
    let dci = graph.layer("dci", 2);
    graph.hang(&leaves, shape.hosts_per_leaf, shape.host);
    for centre in 0..2 {
        let spines = &spines[centre * shape.spines as usize..][..shape.spines as usize];
        for &leaf in &leaves[centre * shape.leaves as usize..][..shape.leaves as usize] {
            for &spine in spines {
                graph.connect(leaf, spine, shape.fabric, 1);
            }
        }
        for &spine in spines {
            graph.connect(spine, dci[centre], shape.dci, 1);
        }
    }
    graph.connect(dci[0], dci[1], shape.long, shape.long_parallel);
    for centre in 0..2 {
        let hosts = (shape.leaves * shape.hosts_per_leaf) as usize;
        let first_host = dci[1] as usize + 1 + centre * hosts;
        let switches = [(&leaves, shape.leaves as usize), (&spines, shape.spines as usize), (&dci, 1)];
        let switches = switches.iter().flat_map(|(layer, each)| layer[centre * each..][..*each].iter());
        for node in switches.map(|&node| node as usize).chain(first_host..first_host + hosts) {
            graph.nodes[node].domain = centre as u16;
        }
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(gbps: u64, us: u64) -> LinkSpec {
        LinkSpec { rate: BitRate::from_gbps(gbps), delay: Span::from_us(us) }
    }

    fn count(graph: &Graph, layer: &str) -> usize {
        graph.nodes.iter().filter(|node| node.layer == layer).count()
    }

    /// Rates of a switch's links towards the layer, summed in Gb/s.
    fn towards(graph: &Graph, name: &str, layer: &str) -> u64 {
        let me = graph.nodes.iter().position(|node| node.name == name).unwrap() as u32;
        let other = |link: &Link| match me {
            _ if link.a == me => Some(link.b),
            _ if link.b == me => Some(link.a),
            _ => None,
        };
        let reached = graph.links.iter().filter(|l| other(l).is_some_and(|o| graph.nodes[o as usize].layer == layer));
        reached.map(|link| link.a_to_b.rate.bps() / 1_000_000_000).sum()
    }

    /// Every host has one link, no link joins a node to itself, and all nodes hang together.
    fn sound(graph: &Graph) {
        let mut degree = vec![0; graph.nodes.len()];
        let mut reached = vec![false; graph.nodes.len()];
        let mut neighbours = vec![Vec::new(); graph.nodes.len()];
        for link in &graph.links {
            assert_ne!(link.a, link.b);
            for (from, to) in [(link.a, link.b), (link.b, link.a)] {
                degree[from as usize] += 1;
                neighbours[from as usize].push(to);
            }
        }
        let mut todo = vec![0u32];
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut reached[node as usize], true) {
                todo.extend(&neighbours[node as usize]);
            }
        }
        assert!(reached.iter().all(|reached| *reached), "disconnected");
        for (node, degree) in graph.nodes.iter().zip(degree) {
            assert!(node.kind == NodeKind::Switch || degree == 1, "{} has {degree} links", node.name);
        }
        let mut names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), graph.nodes.len(), "names repeat");
    }

    #[test]
    fn small_networks() {
        for (graph, hosts, switches, links) in [
            (star(4, link(10, 1)), 4, 1, 4),
            (dumbbell(2, 3, link(10, 1), link(40, 5), 2), 5, 2, 7),
            (chain(3, 2, link(10, 1), link(10, 1)), 6, 3, 8),
            (parking_lot(3, link(10, 1), link(10, 1)), 8, 4, 11),
        ] {
            sound(&graph);
            assert_eq!((count(&graph, "host"), count(&graph, "switch"), graph.links.len()), (hosts, switches, links));
        }
    }

    #[test]
    fn eight_pods_of_512_hosts_at_10g() {
        let graph = clos(Clos {
            pods: 8,
            tors_per_pod: 4,
            aggs_per_pod: 2,
            hosts_per_tor: 16,
            cores: 8,
            wiring: CoreWiring::Full,
            host: link(10, 5),
            tor_agg: link(40, 5),
            tor_agg_parallel: 2,
            agg_core: link(40, 5),
            agg_core_parallel: 1,
        });
        sound(&graph);
        let counts = ["host", "tor", "agg", "core"].map(|layer| count(&graph, layer));
        assert_eq!(counts, [512, 32, 16, 8]);
        // No layer is oversubscribed.
        assert_eq!((towards(&graph, "tor31", "host"), towards(&graph, "tor31", "agg")), (160, 160));
        assert_eq!((towards(&graph, "agg15", "tor"), towards(&graph, "agg15", "core")), (320, 320));
    }

    #[test]
    fn five_pods_of_320_hosts_at_100g() {
        let graph = clos(Clos {
            pods: 5,
            tors_per_pod: 4,
            aggs_per_pod: 4,
            hosts_per_tor: 16,
            cores: 16,
            wiring: CoreWiring::Grouped,
            host: link(100, 1),
            tor_agg: link(400, 1),
            tor_agg_parallel: 1,
            agg_core: link(400, 1),
            agg_core_parallel: 1,
        });
        sound(&graph);
        let counts = ["host", "tor", "agg", "core"].map(|layer| count(&graph, layer));
        assert_eq!((counts, graph.links.len()), ([320, 20, 20, 16], 480));
        assert_eq!((towards(&graph, "tor0", "host"), towards(&graph, "tor0", "agg")), (1600, 1600));
    }

    #[test]
    fn two_data_centres_of_128_hosts() {
        let graph = two_dc(TwoDc {
            leaves: 4,
            spines: 2,
            hosts_per_leaf: 32,
            host: link(25, 1),
            fabric: link(100, 5),
            dci: link(100, 5),
            long: link(100, 3000),
            long_parallel: 1,
        });
        sound(&graph);
        let counts = ["host", "leaf", "spine", "dci"].map(|layer| count(&graph, layer));
        assert_eq!(counts, [256, 8, 4, 2]);
        // Every node is in the data centre of its neighbours; only the long link joins the two.
        let domain = |node: u32| graph.nodes[node as usize].domain;
        let between: Vec<&Link> = graph.links.iter().filter(|link| domain(link.a) != domain(link.b)).collect();
        assert_eq!((between.len(), between[0].a_to_b.delay), (1, Span::from_us(3000)));
        assert_eq!(graph.nodes.iter().filter(|node| node.domain == 1).count(), 128 + 4 + 2 + 1);
        // 4:1 at the leaves.
        assert_eq!((towards(&graph, "leaf7", "host"), towards(&graph, "leaf7", "spine")), (800, 200));
    }

    #[test]
    fn fat_trees_and_leaf_spines() {
        for k in [2, 4, 8, 12] {
            let graph = fat_tree(k, link(100, 1), link(100, 1), link(100, 1));
            sound(&graph);
            let counts = ["host", "edge", "agg", "core"].map(|layer| count(&graph, layer) as u32);
            assert_eq!(counts, [k * k * k / 4, k * k / 2, k * k / 2, k * k / 4]);
            let core_degree = graph.links.iter().filter(|l| graph.nodes[l.b as usize].name == "core0").count();
            assert_eq!(core_degree as u32, k, "a core has one link to each pod");
        }
        let shape =
            LeafSpine { leaves: 4, spines: 2, hosts_per_leaf: 8, host: link(25, 1), fabric: link(100, 1), parallel: 2 };
        let graph = leaf_spine(shape);
        sound(&graph);
        assert_eq!((count(&graph, "host"), graph.links.len()), (32, 32 + 16));
    }
}
