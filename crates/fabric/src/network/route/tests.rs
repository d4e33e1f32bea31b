//! Computed next hops against those of a search, and what follows from them.

use super::*;
use crate::network::extent;
use crate::network::servers::ServerFabric;
use crate::network::topology::{self, Clos, CoreWiring, Graph, LeafSpine, LinkSpec, TwoDc};
use xoff_engine::{BitRate, Span, stream};

fn link(gbps: u64, us: u64) -> LinkSpec {
    LinkSpec { rate: BitRate::from_gbps(gbps), delay: Span::from_us(us) }
}

fn plan(graph: Graph) -> Plan {
    Plan { nodes: graph.nodes, links: graph.links, ..Plan::default() }
}

fn clos(pods: u32, aggs: u32, cores: u32, wiring: CoreWiring, parallel: u32) -> Graph {
    topology::clos(Clos {
        pods,
        tors_per_pod: 3,
        aggs_per_pod: aggs,
        hosts_per_tor: 2,
        cores,
        wiring,
        host: link(100, 1),
        tor_agg: link(200, 1),
        tor_agg_parallel: parallel,
        agg_core: link(400, 5),
        agg_core_parallel: parallel,
    })
}

fn servers(planes: u32, rails: bool) -> Graph {
    let fabric = ServerFabric {
        servers: 7,
        gpus: 4,
        nics: 2,
        ports: 2,
        planes,
        rails,
        segment_servers: 3,
        spines: 3,
        parallel: 2,
        nic: link(200, 1),
        fabric: link(400, 1),
        scale_up: link(2880, 1),
    };
    fabric.build().0
}

fn leaf_spine(leaves: u32, spines: u32, parallel: u32) -> Graph {
    let (host, fabric) = (link(25, 1), link(100, 2));
    topology::leaf_spine(LeafSpine { leaves, spines, hosts_per_leaf: 3, host, fabric, parallel })
}

/// Two stars, and two hosts back to back.
fn islands() -> Graph {
    let mut graph = Graph::default();
    for (name, hosts) in [("a", 2), ("b", 1), ("c", 0)] {
        let switch = graph.switch(name, "switch");
        for number in 0..hosts {
            let host = graph.host(format!("{name}.h{number}"));
            graph.connect(host, switch, link(100, 1), 1);
        }
    }
    let (left, right) = (graph.host("left"), graph.host("right"));
    graph.connect(left, right, link(10, 9), 1);
    graph
}

fn regular() -> Vec<Graph> {
    let mut graphs: Vec<Graph> =
        [2, 4, 6, 8].map(|k| topology::fat_tree(k, link(100, 1), link(100, 2), link(400, 3))).into();
    graphs.extend([1, 2, 5].map(|leaves| leaf_spine(leaves, 3, 1)));
    graphs.push(leaf_spine(3, 2, 3));
    graphs.push(topology::star(5, link(100, 1)));
    graphs.push(islands());
    for wiring in [CoreWiring::Grouped, CoreWiring::Full] {
        graphs.extend([(1, 2, 4), (2, 2, 4), (5, 4, 8)].map(|(pods, aggs, cores)| clos(pods, aggs, cores, wiring, 1)));
        graphs.push(clos(3, 2, 2, wiring, 2));
    }
    graphs.extend([(1, true), (2, true), (1, false), (2, false)].map(|(planes, rails)| servers(planes, rails)));
    graphs
}

fn irregular() -> Vec<Graph> {
    let two_dc = TwoDc {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 2,
        host: link(25, 1),
        fabric: link(100, 5),
        dci: link(100, 5),
        long: link(100, 3000),
        long_parallel: 2,
    };
    vec![
        topology::dumbbell(2, 3, link(10, 1), link(40, 5), 2),
        topology::chain(5, 2, link(10, 1), link(10, 1)),
        topology::parking_lot(4, link(10, 1), link(10, 1)),
        topology::two_dc(two_dc),
    ]
}

/// Compares computed routes with tables for every switch and host, and the longest round trips along them.
fn compare(plan: &Plan, down: &[u32], what: &str) -> Routes {
    let build = |computed| Routes::build(plan, |link| !down.contains(&link), computed);
    let (computed, tables) = (build(true), build(false));
    assert_eq!(computed.table.is_empty(), computed.tiers.regular.iter().all(|regular| *regular), "{what}");
    for switch in (0..plan.nodes.len() as u32).filter(|node| !plan.is_host(*node)) {
        for host in (0..plan.nodes.len() as u32).filter(|node| plan.is_host(*node)) {
            let hops = computed.next_hops(switch, host);
            assert_eq!(hops, tables.next_hops(switch, host), "{what}: from {switch} to {host} without {down:?}");
        }
    }
    assert_eq!(extent::longest(plan, &computed), extent::longest(plan, &tables), "{what} without {down:?}");
    computed
}

#[test]
fn regular_networks_need_no_table() {
    for (number, graph) in regular().into_iter().enumerate() {
        let routes = compare(&plan(graph), &[], &format!("network {number}"));
        assert!(routes.table.is_empty(), "network {number} is regular");
    }
    for graph in irregular() {
        let routes = compare(&plan(graph), &[], "irregular");
        assert!(!routes.table.is_empty());
    }
}

#[test]
fn failed_links_make_a_table_where_one_is_needed() {
    for (number, graph) in regular().into_iter().chain(irregular()).enumerate() {
        let (plan, mut rng) = (plan(graph), stream(1, "failed links", number as u64));
        let links = plan.links.len() as u64;
        for _ in 0..20 {
            let down: Vec<u32> = (0..=rng.below(3)).map(|_| rng.below(links) as u32).collect();
            compare(&plan, &down, &format!("network {number}"));
        }
    }
    // Only the piece with the failed link needs a table.
    let plan = plan(servers(2, true));
    let link = plan.links.iter().position(|link| !plan.leads_to_host(link)).unwrap() as u32;
    let routes = compare(&plan, &[link, link + 1], "planes");
    assert_eq!(routes.tiers.regular.iter().filter(|regular| !**regular).count(), 1);
}

#[test]
fn a_link_too_many_or_too_slow_is_seen() {
    for (number, graph) in regular().into_iter().enumerate() {
        let mut rng = stream(1, "odd links", number as u64);
        for _ in 0..10 {
            let mut graph = graph.clone();
            let switches: Vec<u32> = (0..graph.nodes.len() as u32)
                .filter(|&node| graph.nodes[node as usize].kind == NodeKind::Switch)
                .collect();
            let [from, to] = [(); 2].map(|()| switches[rng.below(switches.len() as u64) as usize]);
            if from != to && rng.below(2) == 0 {
                graph.connect(from, to, link(100, 2), 1);
            }
            let links = graph.links.len() as u64;
            graph.links[rng.below(links) as usize].a_to_b = link(40, 7).direction();
            compare(&plan(graph), &[], &format!("network {number}"));
        }
    }
}

/// Ports of a switch that its next hops towards an edge are, as names of the switches behind them.
fn behind(plan: &Plan, routes: &Routes, from: &str, to: &str) -> Vec<String> {
    let node = |name: &str| plan.nodes.iter().position(|node| &*node.name == name).unwrap() as u32;
    let edge =
        (0..routes.edges() as u32).find(|&edge| routes.edges[edge as usize] == routes.switch_index[node(to) as usize]);
    let hops = routes.next_hops_to(node(from), edge.unwrap());
    hops.iter().map(|&port| plan.nodes[plan.node_of(peer(port)) as usize].name.to_string()).collect()
}

#[test]
fn switches_avoid_a_dead_link_once_they_are_told_of_it() {
    let plan = plan(leaf_spine(3, 3, 1));
    let link = (0..plan.links.len() as u32)
        .find(|&link| {
            let ends = [2 * link, 2 * link + 1].map(|port| &*plan.nodes[plan.node_of(port) as usize].name);
            ends.contains(&"leaf1") && ends.contains(&"spine0")
        })
        .unwrap();
    assert_eq!(farthest(&plan, link), 1, "all switches are next to one of its ends");
    let mut told = Told::default();
    let whole = told.routes(&plan);
    assert_eq!(behind(&plan, &whole, "leaf0", "leaf1"), ["spine0", "spine1", "spine2"]);
    // Both ends: leaf1 has other spines; spine0 has nothing but the dead link.
    told.tell(link, 0, false);
    let ends = told.routes(&plan);
    assert_eq!(behind(&plan, &ends, "leaf1", "leaf0"), ["spine1", "spine2"]);
    assert_eq!(behind(&plan, &ends, "spine0", "leaf1"), ["leaf1"]);
    assert_eq!(behind(&plan, &ends, "leaf0", "leaf1"), ["spine0", "spine1", "spine2"], "not told yet");
    // Leaves learn that spine0 no longer leads to leaf1; to others it does.
    told.tell(link, 1, false);
    let near = told.routes(&plan);
    assert_eq!(behind(&plan, &near, "leaf0", "leaf1"), ["spine1", "spine2"]);
    assert_eq!(behind(&plan, &near, "leaf0", "leaf2"), ["spine0", "spine1", "spine2"]);
    // All are told: the routes of the network without the link.
    told.tell(link, ALL_SWITCHES, false);
    let all = told.routes(&plan);
    let without = Routes::new(&plan, |other| other != link);
    for (from, to) in [("leaf0", "leaf1"), ("leaf1", "leaf0"), ("spine0", "leaf1"), ("leaf0", "leaf2")] {
        assert_eq!(behind(&plan, &all, from, to), behind(&plan, &without, from, to), "{from} to {to}");
    }
    // It works again, and is used when all know it.
    told.tell(link, 1, true);
    assert_eq!(behind(&plan, &told.routes(&plan), "leaf0", "leaf1"), ["spine1", "spine2"]);
    told.tell(link, ALL_SWITCHES, true);
    assert_eq!(behind(&plan, &told.routes(&plan), "leaf0", "leaf1"), ["spine0", "spine1", "spine2"]);
}
