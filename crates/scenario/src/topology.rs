//! `[topology]`: which network, with which links.

use super::diagnostic::Diagnostic;
use super::dictionary::words;
use super::names::{Names, expand};
use super::reader::{Result, Table, Text};
use super::servers;
use super::topology_keys::{
    NODES_LARGEST, count, in_reach, link_rate, link_spec, link_spec_or, parallel, times, within,
};
use std::collections::{HashMap, HashSet};
use xoff_engine::BitRate;
use xoff_fabric::pieces::pieces;
use xoff_fabric::plan::{Direction, Link, Node, NodeKind};
use xoff_fabric::servers::Servers;
use xoff_fabric::topology::{self, Clos, CoreWiring, Graph, LeafSpine, LinkSpec, TwoDc};

/// Steps of the search for routes: some seconds.
const ROUTING_LARGEST: u64 = 1_000_000_000;
/// Entries of the routing tables: 1 GB.
const ROUTES_LARGEST: u64 = 250_000_000;

/// What `topology.kind` may be.
pub const KINDS: &[&str] = words::TOPOLOGY_KINDS;

/// Reads the whole section and checks that the network hangs together; networks of servers do so in pieces.
pub fn read(table: &mut Table) -> Result<(Graph, Servers)> {
    let kinds: Vec<(&str, &str)> = KINDS.iter().map(|kind| (*kind, *kind)).collect();
    let preset = servers::preset(table)?;
    let kind = match preset {
        Some(preset) => table.choice_or("kind", &kinds, preset.kind)?,
        None => table.word("kind")?,
    };
    servers::of_one_kind(table, preset, kind)?;
    let of_servers = words::SERVER_KINDS.contains(&kind);
    let (mut graph, servers) = if of_servers {
        servers::read(table, kind, preset)?
    } else {
        let graph = without_servers(table, kind)?;
        let servers = Servers::one_for_each_host(&graph.nodes);
        (graph, servers)
    };
    overrides(table, &mut graph)?;
    sound(table, &graph)?;
    if !of_servers {
        in_one_piece(table, &graph)?;
    }
    if kind != "two-dc" {
        domains(table, &mut graph)?;
    }
    routable(table, &graph)?;
    Ok((graph, servers))
}

fn without_servers(table: &mut Table, kind: &str) -> Result<Graph> {
    match kind {
        "star" => star(table),
        "dumbbell" => dumbbell(table),
        "parking-lot" => parking_lot(table),
        "chain" => chain(table),
        "leaf-spine" => leaf_spine(table),
        "fat-tree" => fat_tree(table),
        "clos" => clos(table),
        "two-dc" => two_dc(table),
        _ => custom(table),
    }
}

fn star(table: &mut Table) -> Result<Graph> {
    Ok(topology::star(count(table, "hosts")?, link_spec(table, "rate", "delay")?))
}

fn dumbbell(table: &mut Table) -> Result<Graph> {
    let (left, right) = (count(table, "left")?, count(table, "right")?);
    let host = link_spec(table, "rate", "delay")?;
    let trunk = link_spec_or(table, "trunk_rate", "trunk_delay", host)?;
    let trunks = parallel(table, "trunks")?;
    within(table, &[left.into(), right.into()], &[])?;
    Ok(topology::dumbbell(left, right, host, trunk, trunks))
}

fn chain(table: &mut Table) -> Result<Graph> {
    let (switches, hosts) = (count(table, "switches")?, count(table, "hosts_per_switch")?);
    let host = link_spec(table, "rate", "delay")?;
    let trunk = link_spec_or(table, "trunk_rate", "trunk_delay", host)?;
    within(table, &[switches.into(), times(&[switches, hosts])], &[])?;
    Ok(topology::chain(switches, hosts, host, trunk))
}

fn parking_lot(table: &mut Table) -> Result<Graph> {
    let bottlenecks = table.count("bottlenecks", 1..=10_000)? as u32;
    let host = link_spec(table, "rate", "delay")?;
    let trunk = link_spec_or(table, "trunk_rate", "trunk_delay", host)?;
    Ok(topology::parking_lot(bottlenecks, host, trunk))
}

fn leaf_spine(table: &mut Table) -> Result<Graph> {
    let (leaves, spines) = (count(table, "leaves")?, count(table, "spines")?);
    let hosts_per_leaf = count(table, "hosts_per_leaf")?;
    let host = link_spec(table, "host_rate", "host_delay")?;
    let fabric = link_spec_or(table, "fabric_rate", "fabric_delay", host)?;
    let parallel = parallel(table, "parallel")?;
    let hosts = times(&[leaves, hosts_per_leaf]);
    within(table, &[hosts, leaves.into(), spines.into()], &[hosts, times(&[leaves, spines, parallel])])?;
    Ok(topology::leaf_spine(LeafSpine { leaves, spines, hosts_per_leaf, host, fabric, parallel }))
}

fn fat_tree(table: &mut Table) -> Result<Graph> {
    let k = table.count("k", 2..=158)? as u32;
    if !k.is_multiple_of(2) {
        return Err(table.error("k", "`k` must be even").label("half of a switch's ports go up, half go down"));
    }
    let host = link_spec(table, "host_rate", "host_delay")?;
    let fabric = link_spec_or(table, "fabric_rate", "fabric_delay", host)?;
    let core = link_spec_or(table, "core_rate", "core_delay", fabric)?;
    Ok(topology::fat_tree(k, host, fabric, core))
}

fn clos(table: &mut Table) -> Result<Graph> {
    let pods = count(table, "pods")?;
    let (tors_per_pod, aggs_per_pod) = (count(table, "tors_per_pod")?, count(table, "aggs_per_pod")?);
    let (hosts_per_tor, cores) = (count(table, "hosts_per_tor")?, count(table, "cores")?);
    let wiring = table.choice("core_wiring", words::CORE_WIRING)?;
    if wiring == CoreWiring::Grouped && !cores.is_multiple_of(aggs_per_pod) {
        return Err(table
            .error("cores", "the cores do not divide into equal groups")
            .label(format!("a multiple of aggs_per_pod = {aggs_per_pod}"))
            .help("or wire every aggregation switch to every core with core_wiring = \"full\""));
    }
    let host = link_spec(table, "host_rate", "host_delay")?;
    let tor_agg = link_spec_or(table, "fabric_rate", "fabric_delay", host)?;
    let tor_agg_parallel = parallel(table, "parallel")?;
    let agg_core = link_spec_or(table, "core_rate", "core_delay", tor_agg)?;
    let agg_core_parallel = parallel(table, "core_parallel")?;
    let (tors, aggs) = (times(&[pods, tors_per_pod]), times(&[pods, aggs_per_pod]));
    let hosts = times(&[pods, tors_per_pod, hosts_per_tor]);
    within(
        table,
        &[hosts, tors, aggs, cores.into()],
        &[
            hosts,
            times(&[pods, tors_per_pod, aggs_per_pod, tor_agg_parallel]),
            times(&[pods, aggs_per_pod, cores, agg_core_parallel]),
        ],
    )?;
    Ok(topology::clos(Clos {
        pods,
        tors_per_pod,
        aggs_per_pod,
        hosts_per_tor,
        cores,
        wiring,
        host,
        tor_agg,
        tor_agg_parallel,
        agg_core,
        agg_core_parallel,
    }))
}

fn two_dc(table: &mut Table) -> Result<Graph> {
    let (leaves, spines) = (count(table, "leaves")?, count(table, "spines")?);
    let hosts_per_leaf = count(table, "hosts_per_leaf")?;
    let host = link_spec(table, "host_rate", "host_delay")?;
    let fabric = link_spec_or(table, "fabric_rate", "fabric_delay", host)?;
    let dci = link_spec_or(table, "dci_rate", "dci_delay", fabric)?;
    let long_rate = table.rate_or("long_rate", dci.rate)?;
    let long = LinkSpec {
        rate: link_rate(table, "long_rate", long_rate)?,
        delay: {
            let given = table.span("long_delay")?;
            in_reach(table, "long_delay", given)?
        },
    };
    let long_parallel = parallel(table, "long_links")?;
    let hosts = times(&[2, leaves, hosts_per_leaf]);
    within(table, &[hosts, times(&[2, leaves]), times(&[2, spines])], &[hosts, times(&[2, leaves, spines])])?;
    Ok(topology::two_dc(TwoDc { leaves, spines, hosts_per_leaf, host, fabric, dci, long, long_parallel }))
}

/// Nodes by name, links between selections of them.
fn custom(table: &mut Table) -> Result<Graph> {
    let mut graph = Graph::default();
    let mut seen = HashSet::new();
    for (key, kind) in [("hosts", NodeKind::Host), ("switches", NodeKind::Switch)] {
        for text in table.texts(key)? {
            let room = NODES_LARGEST as usize - graph.nodes.len();
            for name in expand(&text, room)? {
                if !seen.insert(name.value.clone()) {
                    return Err(text.error(format!("the name `{}` is given twice", name.value)));
                }
                match kind {
                    NodeKind::Host => graph.host(name.value),
                    NodeKind::Switch => {
                        let layer = name.value.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
                        graph.switch(name.value, &layer)
                    }
                };
            }
        }
    }
    name_layers(&mut graph);
    if let Some(texts) = table.take_texts("order")? {
        renumber(&texts, &mut graph)?;
    }
    let names = Names::new(&graph.nodes, &[]);
    let rows = table.tables("link")?;
    if rows.is_empty() {
        return Err(table.place().error("this topology has no links").label("add [[topology.link]] with a, b, rate"));
    }
    for row in rows {
        links(row, &names, &mut graph)?;
    }
    Ok(graph)
}

/// Puts the nodes into the order given, which has each of them once.
fn renumber(order: &[Text], graph: &mut Graph) -> Result<()> {
    let mut left: HashMap<String, Node> = graph.nodes.drain(..).map(|node| (node.name.clone(), node)).collect();
    for text in order {
        for name in expand(text, NODES_LARGEST as usize)? {
            let Some(node) = left.remove(&name.value) else {
                return Err(text.error(format!("`{}` is no node, or comes twice", name.value)));
            };
            graph.nodes.push(node);
        }
    }
    match left.into_keys().min() {
        None => Ok(()),
        Some(name) => {
            let error = order[0].error(format!("the node `{name}` is missing here"));
            Err(error.label("every host and every switch has its place"))
        }
    }
}

/// Switches named alike but for a number are a layer, where there are several such names; results
/// are grouped by it.
fn name_layers(graph: &mut Graph) {
    let switches = || graph.nodes.iter().filter(|node| node.kind == NodeKind::Switch);
    let first = switches().next().map(|node| node.layer.clone());
    let alike = switches().all(|node| Some(&node.layer) == first.as_ref());
    let unnamed = switches().any(|node| node.layer.is_empty() || node.layer == "host");
    if alike || unnamed {
        let switches = graph.nodes.iter_mut().filter(|node| node.kind == NodeKind::Switch);
        switches.for_each(|node| "switch".clone_into(&mut node.layer));
    }
}

fn links(mut row: Table, names: &Names, graph: &mut Graph) -> Result<()> {
    let (a, b) = (row.texts("a")?, row.texts("b")?);
    let (a_nodes, b_nodes) = (names.nodes(&a)?, names.nodes(&b)?);
    let there = link_spec(&mut row, "rate", "delay")?;
    let back = link_spec_or(&mut row, "reverse_rate", "reverse_delay", there)?;
    let loss = row.number("loss", 0.0..=1.0)?;
    let copies = parallel(&mut row, "count")?;
    within(&row, &[], &[graph.links.len() as u64, a_nodes.len() as u64 * b_nodes.len() as u64 * u64::from(copies)])?;
    let direction = |link: LinkSpec| Direction { rate: link.rate, delay: link.delay, loss };
    let mut made = 0;
    for &a in &a_nodes {
        for &b in b_nodes.iter().filter(|b| **b != a) {
            for _ in 0..copies {
                graph.links.push(Link { a, b, a_to_b: direction(there), b_to_a: direction(back) });
                made += 1;
            }
        }
    }
    if made == 0 {
        return Err(row.error("b", "this links a node to itself").label("`a` and `b` are the same"));
    }
    row.finish()
}

/// `[[topology.override]]`: other rates, delays or losses for some directions.
fn overrides(table: &mut Table, graph: &mut Graph) -> Result<()> {
    let rows = table.tables("override")?;
    let names = Names::new(&graph.nodes, &graph.links);
    for mut row in rows {
        let selectors = row.texts("links")?;
        let ports = names.all_ports(&selectors)?;
        let (rate, delay) = (row.take_rate("rate")?, row.take_span("delay")?);
        let loss = row.take_number("loss", 0.0..=1.0)?;
        if rate.is_none() && delay.is_none() && loss.is_none() {
            return Err(row.place().error("this override changes nothing").label("give rate, delay or loss"));
        }
        if let Some(delay) = delay {
            in_reach(&row, "delay", delay)?;
        }
        if let Some(rate) = rate {
            link_rate(&row, "rate", rate)?;
        }
        for port in ports {
            let link = &mut graph.links[port as usize / 2];
            let direction = if port & 1 == 0 { &mut link.a_to_b } else { &mut link.b_to_a };
            direction.rate = rate.unwrap_or(direction.rate);
            direction.delay = delay.unwrap_or(direction.delay);
            direction.loss = loss.unwrap_or(direction.loss);
        }
        row.finish()?;
    }
    Ok(())
}

/// `[[topology.domain]]`: which switches make up a datacentre. Hosts are in that of their switch, so
/// that a link between two always joins switches.
fn domains(table: &mut Table, graph: &mut Graph) -> Result<()> {
    let rows = table.tables("domain")?;
    if rows.is_empty() {
        return Ok(());
    }
    let names = Names::new(&graph.nodes, &graph.links);
    let mut domain_of: Vec<Option<u16>> = vec![None; graph.nodes.len()];
    for (number, mut row) in rows.into_iter().enumerate() {
        let number = u16::try_from(number).map_err(|_| row.place().error("these are too many domains"))?;
        let selectors = row.texts("switches")?;
        for switch in names.switches(&selectors)? {
            if domain_of[switch as usize].replace(number).is_some() {
                let message = format!("the switch `{}` is in two domains", names.node_name(switch));
                return Err(row.error("switches", message));
            }
        }
        row.finish()?;
    }
    for (node, domain) in graph.nodes.iter_mut().zip(&domain_of).filter(|(node, _)| node.kind == NodeKind::Switch) {
        let Some(domain) = domain else {
            let message = format!("the switch `{}` is in no domain", node.name);
            return Err(table.place().error(message).label("with [[topology.domain]] every switch is in one"));
        };
        node.domain = *domain;
    }
    for link in &graph.links {
        for (host, switch) in [(link.a, link.b), (link.b, link.a)] {
            if graph.nodes[host as usize].kind == NodeKind::Host {
                graph.nodes[host as usize].domain = graph.nodes[switch as usize].domain;
            }
        }
    }
    Ok(())
}

/// Every host has one link, to a switch.
fn sound(table: &Table, graph: &Graph) -> Result<()> {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); graph.nodes.len()];
    for link in &graph.links {
        neighbours[link.a as usize].push(link.b);
        neighbours[link.b as usize].push(link.a);
    }
    let error = |message: String| -> Diagnostic { table.place().error(message) };
    let hosts = graph.nodes.iter().filter(|node| node.kind == NodeKind::Host).count();
    if hosts < 2 {
        return Err(error(format!("this topology has {hosts} host")).label("traffic needs at least two"));
    }
    for (node, linked) in graph.nodes.iter().zip(&neighbours).filter(|(node, _)| node.kind == NodeKind::Host) {
        if linked.len() != 1 {
            let message = format!("the host `{}` has {} links", node.name, linked.len());
            return Err(error(message).label("a host has exactly one"));
        }
        let other = &graph.nodes[linked[0] as usize];
        if other.kind == NodeKind::Host {
            return Err(error(format!("the hosts `{}` and `{}` are linked to each other", node.name, other.name))
                .label("a host is linked to a switch"));
        }
    }
    Ok(())
}

/// Every node can be reached from every other.
fn in_one_piece(table: &Table, graph: &Graph) -> Result<()> {
    match pieces(&graph.nodes, &graph.links).iter().position(|piece| *piece != 0) {
        Some(node) => {
            let name = |node: usize| graph.nodes[node].name.as_str();
            let message = format!("no way leads from `{}` to `{}`", name(0), name(node));
            Err(table.place().error(message).label("this network is in several pieces"))
        }
        None => Ok(()),
    }
}

/// Routes are searched from every switch with hosts, over every link between switches, and kept per switch and switch
/// with hosts; in each piece of the network by itself, such as the inside of a server.
fn routable(table: &Table, graph: &Graph) -> Result<()> {
    let is_switch = |node: u32| graph.nodes[node as usize].kind == NodeKind::Switch;
    let piece_of = pieces(&graph.nodes, &graph.links);
    let count = piece_of.iter().max().map_or(0, |last| *last as usize + 1);
    let (mut has_hosts, mut trunks) = (vec![false; graph.nodes.len()], vec![0u64; count]);
    for link in &graph.links {
        match (is_switch(link.a), is_switch(link.b)) {
            (true, true) => trunks[piece_of[link.a as usize] as usize] += 1,
            (true, false) => has_hosts[link.a as usize] = true,
            (false, _) => has_hosts[link.b as usize] = true,
        }
    }
    let (mut edges, mut switches) = (vec![0u64; count], vec![0u64; count]);
    for node in (0..graph.nodes.len()).filter(|node| is_switch(*node as u32)) {
        let piece = piece_of[node] as usize;
        switches[piece] += 1;
        edges[piece] += u64::from(has_hosts[node]);
    }
    let searched: u64 = edges.iter().zip(&trunks).map(|(edges, trunks)| edges * trunks * 2).sum();
    let kept: u64 = edges.iter().zip(&switches).map(|(edges, switches)| edges * switches).sum();
    if searched > ROUTING_LARGEST || kept > ROUTES_LARGEST {
        let [edges, switches, trunks] = [edges, switches, trunks].map(|of| of.iter().sum::<u64>());
        return Err(table
            .place()
            .error(format!("this network is too large to route: {switches} switches, {edges} of them with hosts"))
            .label(format!("and {trunks} links between switches")));
    }
    Ok(())
}

/// The slowest link of a host: the speed of a NIC, where one number must stand for all.
pub fn slowest_host_rate(graph: &Graph) -> BitRate {
    let is_host = |node: u32| graph.nodes[node as usize].kind == NodeKind::Host;
    let links = graph.links.iter().filter(|link| is_host(link.a) || is_host(link.b));
    links.map(|link| if is_host(link.a) { link.a_to_b.rate } else { link.b_to_a.rate }).min().unwrap_or_default()
}

/// Selectors of nodes of either kind, as the ends of custom links use them.
impl Names {
    pub(crate) fn nodes(&self, selectors: &[Text]) -> Result<Vec<u32>> {
        let mut picked = Vec::new();
        for selector in selectors {
            let side = self.side(selector, &selector.value)?;
            picked.extend((0..side.len() as u32).filter(|node| side[*node as usize]));
        }
        picked.sort_unstable();
        picked.dedup();
        Ok(picked)
    }
}
