//! `[topology]`: one of every kind, small.

use crate::draw::{Draw, US, gbps, push, set, time};
use crate::table;
use toml::Table;
use xoff_engine::{BitRate, Span};
use xoff_fabric::plan::NodeKind;
use xoff_fabric::servers::{GPU_LAYER, ServerFabric};
use xoff_fabric::topology::{self, Clos, CoreWiring, Graph, LeafSpine, LinkSpec, TwoDc};

/// A network as a scenario writes it, and what other sections must know of it.
#[derive(Debug)]
pub struct Network {
    pub table: Table,
    pub hosts: Vec<String>,
    pub switches: Vec<String>,
    /// Ends of the links by name; hosts come first.
    pub links: Vec<(String, String)>,
    pub slowest_gbps: u64,
    pub fastest_gbps: u64,
}

const RATES: [u64; 7] = [1, 10, 25, 40, 100, 200, 400];
/// In picoseconds; nothing at all, odd numbers and long ones are worth a look.
const DELAYS: [u64; 7] = [0, 100_000, 333_333, 500_000, US, 2 * US, 5 * US];

pub fn network(draw: &mut Draw) -> Network {
    let host_gbps = *draw.pick(&RATES);
    let trunk_gbps = if draw.one_in(2) { host_gbps } else { *draw.pick(&RATES) };
    let (host_delay, trunk_delay) = (*draw.pick(&DELAYS), *draw.pick(&DELAYS));
    let link = |gbps: u64, ps: u64| LinkSpec { rate: BitRate::from_gbps(gbps), delay: Span::from_ps(ps) };
    let (host, trunk) = (link(host_gbps, host_delay), link(trunk_gbps, trunk_delay));
    let small = table! { rate = gbps(host_gbps), delay = time(host_delay) };
    let row = {
        let mut row = small.clone();
        set(&mut row, "trunk_rate", gbps(trunk_gbps));
        set(&mut row, "trunk_delay", time(trunk_delay));
        row
    };
    let tree = table! {
        host_rate = gbps(host_gbps), host_delay = time(host_delay),
        fabric_rate = gbps(trunk_gbps), fabric_delay = time(trunk_delay),
    };
    let mut count = |least: u64, most: u64| draw.between(least, most) as u32;
    let kind = count(0, 11);
    let (a, b, c, twins) = (count(1, 3), count(1, 3), count(1, 3), count(1, 2));
    let (graph, rest, fields): (Graph, Table, Vec<(&str, u32)>) = match kind {
        0 => (topology::star(a + c, host), small, vec![("hosts", a + c)]),
        1 => {
            let fields = vec![("left", a), ("right", b), ("trunks", twins)];
            (topology::dumbbell(a, b, host, trunk, twins), row, fields)
        }
        2 => (topology::parking_lot(a, host, trunk), row, vec![("bottlenecks", a)]),
        3 => (topology::chain(1 + a, b, host, trunk), row, vec![("switches", 1 + a), ("hosts_per_switch", b)]),
        4 => {
            let shape = LeafSpine { leaves: 1 + a, spines: b, hosts_per_leaf: c, host, fabric: trunk, parallel: twins };
            let fields = vec![("leaves", 1 + a), ("spines", b), ("hosts_per_leaf", c), ("parallel", twins)];
            (topology::leaf_spine(shape), tree, fields)
        }
        5 => (topology::fat_tree(2 * twins, host, trunk, trunk), tree, vec![("k", 2 * twins)]),
        6 => clos(a.min(2), twins, b.min(2), host, trunk, tree),
        7 => return two_dc(draw, a.min(2), b.min(2), twins, host, (trunk_gbps, trunk), tree),
        8..=10 => return servers(draw, (kind - 8) as usize, (a, b.min(2), twins), host, trunk),
        _ => return custom(draw, 1 + a as usize, 2 + (b + c) as usize),
    };
    let kinds = ["star", "dumbbell", "parking-lot", "chain", "leaf-spine", "fat-tree", "clos"];
    let mut table = rest;
    set(&mut table, "kind", kinds[kind as usize]);
    fields.iter().for_each(|(key, value)| set(&mut table, key, *value));
    let mut network = of_graph(&graph, table);
    overrides(draw, &mut network);
    domains(draw, &mut network);
    network
}

fn clos(
    pods: u32,
    tors: u32,
    aggs: u32,
    host: LinkSpec,
    trunk: LinkSpec,
    tree: Table,
) -> (Graph, Table, Vec<(&'static str, u32)>) {
    let shape = Clos {
        pods,
        tors_per_pod: tors,
        aggs_per_pod: aggs,
        hosts_per_tor: 2,
        cores: 2 * aggs,
        wiring: CoreWiring::Grouped,
        host,
        tor_agg: trunk,
        tor_agg_parallel: 1,
        agg_core: trunk,
        agg_core_parallel: 1,
    };
    let fields =
        vec![("pods", pods), ("tors_per_pod", tors), ("aggs_per_pod", aggs), ("hosts_per_tor", 2), ("cores", 2 * aggs)];
    (topology::clos(shape), tree, fields)
}

fn two_dc(
    draw: &mut Draw,
    leaves: u32,
    spines: u32,
    long_links: u32,
    host: LinkSpec,
    (trunk_gbps, trunk): (u64, LinkSpec),
    tree: Table,
) -> Network {
    let long_ps = *draw.pick(&[5 * US, 20 * US, 50 * US]);
    let long = LinkSpec { delay: Span::from_ps(long_ps), ..trunk };
    let shape =
        TwoDc { leaves, spines, hosts_per_leaf: 2, host, fabric: trunk, dci: trunk, long, long_parallel: long_links };
    let mut table = tree;
    for (key, value) in [("leaves", leaves), ("spines", spines), ("hosts_per_leaf", 2), ("long_links", long_links)] {
        set(&mut table, key, value);
    }
    set(&mut table, "kind", "two-dc");
    set(&mut table, "long_delay", time(long_ps));
    set(&mut table, "dci_rate", gbps(trunk_gbps));
    of_graph(&topology::two_dc(shape), table)
}

/// Servers of two GPUs, whose traffic is that of one plane, or once in a while that of one server's GPUs.
fn servers(
    draw: &mut Draw,
    kind: usize,
    (servers, spines, twins): (u32, u32, u32),
    nic: LinkSpec,
    fabric: LinkSpec,
) -> Network {
    let kind = ["rail", "dual-plane", "server-clos"][kind];
    let ports = if kind == "dual-plane" { 2 } else { twins };
    let planes = if draw.one_in(2) { ports } else { 1 };
    let (segment, link) =
        (draw.between(1, 2) as u32, |spec: LinkSpec| (gbps(spec.rate.bps() / 1_000_000_000), time(spec.delay.ps())));
    let shape = ServerFabric {
        servers: 1 + servers,
        gpus: 2,
        nics: twins,
        ports,
        planes,
        rails: kind != "server-clos",
        segment_servers: segment,
        spines,
        parallel: twins,
        nic,
        fabric,
        scale_up: LinkSpec { rate: BitRate::from_gbps(400), delay: Span::from_ns(25) },
    };
    let ((nic_rate, nic_delay), (fabric_rate, fabric_delay)) = (link(nic), link(fabric));
    let mut table = table! {
        kind = kind, nic_rate = nic_rate, nic_delay = nic_delay, fabric_rate = fabric_rate, fabric_delay = fabric_delay,
        scale_up_rate = gbps(400),
    };
    let group = if shape.rails { "segment_servers" } else { "servers_per_tor" };
    let fields = [("servers", shape.servers), ("gpus", 2), ("nics", twins), ("ports", ports), ("planes", planes)];
    for (key, value) in fields.into_iter().chain([(group, segment), ("spines", spines), ("parallel", twins)]) {
        set(&mut table, key, value);
    }
    let (graph, of) = shape.build();
    let mut network = of_graph(&graph, table);
    let gpus = graph.nodes.iter().filter(|node| node.layer == GPU_LAYER).map(|node| node.name.clone());
    network.hosts = if draw.one_in(4) {
        gpus.take(2).collect()
    } else {
        let nics = (0..of.count()).flat_map(|server| (0..of.nics()).map(move |nic| (server, nic)));
        let port = |(server, nic): (u32, u32)| of.port_hosts(server, nic)[0];
        nics.map(port).map(|host| graph.nodes[host as usize].name.clone()).collect()
    };
    overrides(draw, &mut network);
    domains(draw, &mut network);
    network
}

/// A tree of switches, some with a second link, once in a while closed to a ring; hosts anywhere.
fn custom(draw: &mut Draw, switches: usize, hosts: usize) -> Network {
    let names = |letter: &str, count: usize| (0..count).map(|i| format!("{letter}{i}")).collect::<Vec<String>>();
    let (hosts, switches) = (names("h", hosts), names("s", switches));
    let mut table = table! { kind = "custom", hosts = hosts.clone(), switches = switches.clone() };
    let mut links = Vec::new();
    let mut rates = Vec::new();
    let mut link = |draw: &mut Draw, a: &String, b: &String, twins: u64| {
        let rate = *draw.pick(&RATES);
        let mut row = table! { a = a.as_str(), b = b.as_str(), rate = gbps(rate), delay = time(*draw.pick(&DELAYS)) };
        if twins > 1 {
            set(&mut row, "count", twins as i64);
        }
        if draw.one_in(10) {
            let back = *draw.pick(&RATES);
            set(&mut row, "reverse_rate", gbps(back));
            rates.push(back);
        }
        rates.push(rate);
        links.extend((0..twins).map(|_| (a.clone(), b.clone())));
        push(&mut table, "link", row);
    };
    for (number, host) in hosts.iter().enumerate() {
        // Every switch has one while there are enough.
        let switch = if number < switches.len() { &switches[number] } else { draw.pick(&switches) };
        link(draw, host, switch, 1);
    }
    for number in 1..switches.len() {
        let (parent, twins) = (draw.between(0, number as u64 - 1) as usize, draw.between(1, 2));
        link(draw, &switches[number], &switches[parent], twins);
    }
    if switches.len() > 2 && draw.one_in(4) {
        link(draw, &switches[0], &switches[switches.len() - 1], 1);
    }
    let (slowest, fastest) = (rates.iter().copied().min(), rates.iter().copied().max());
    let mut network = Network {
        table,
        hosts,
        switches,
        links,
        slowest_gbps: slowest.unwrap_or(1),
        fastest_gbps: fastest.unwrap_or(1),
    };
    domains(draw, &mut network);
    network
}

fn of_graph(graph: &Graph, table: Table) -> Network {
    let name = |node: u32| graph.nodes[node as usize].name.clone();
    let of = |kind: NodeKind| graph.nodes.iter().filter(|n| n.kind == kind).map(|n| n.name.clone()).collect();
    let rates = || graph.links.iter().map(|link| link.a_to_b.rate.bps() / 1_000_000_000);
    Network {
        table,
        hosts: of(NodeKind::Host),
        switches: of(NodeKind::Switch),
        links: graph.links.iter().map(|link| (name(link.a), name(link.b))).collect(),
        slowest_gbps: rates().min().unwrap_or(1),
        fastest_gbps: rates().max().unwrap_or(1),
    }
}

fn overrides(draw: &mut Draw, network: &mut Network) {
    if !draw.one_in(8) {
        return;
    }
    let (a, b) = draw.pick(&network.links).clone();
    let mut row = table! { links = format!("{a}<->{b}") };
    match draw.between(0, 2) {
        0 => {
            let rate = *draw.pick(&RATES);
            network.slowest_gbps = network.slowest_gbps.min(rate);
            network.fastest_gbps = network.fastest_gbps.max(rate);
            set(&mut row, "rate", gbps(rate));
        }
        1 => set(&mut row, "delay", time(*draw.pick(&DELAYS))),
        _ => set(&mut row, "loss", *draw.pick(&[0.0001, 0.01, 0.2])),
    }
    push(&mut network.table, "override", row);
}

/// Some networks are two data centres, whatever their shape.
fn domains(draw: &mut Draw, network: &mut Network) {
    if network.switches.len() < 2 || !draw.one_in(8) {
        return;
    }
    let (first, second) = network.switches.split_at(draw.between(1, network.switches.len() as u64 - 1) as usize);
    for switches in [first.to_vec(), second.to_vec()] {
        push(&mut network.table, "domain", table! { switches = switches });
    }
}

impl Network {
    /// A selector of one direction of one link, as its owner and the node it faces.
    pub fn port(&self, draw: &mut Draw) -> String {
        let (a, b) = draw.pick(&self.links);
        if draw.one_in(2) { format!("{a}->{b}") } else { format!("{b}->{a}") }
    }

    /// The port of a switch.
    pub fn switch_port(&self, draw: &mut Draw) -> String {
        // Only `b` is a switch for sure.
        let (a, b) = draw.pick(&self.links);
        format!("{b}->{a}")
    }
}
