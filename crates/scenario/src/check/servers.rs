//! Networks of servers in numbers: what is below and above the switches of each plane, and how many ways lead between
//! two NICs.

use super::network::{levels, ways};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use xoff_fabric::plan::{Plan, peer};
use xoff_fabric::route::{FlowKey, Routes};

/// What is known of the servers of a network that has some.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub(crate) struct Servers {
    pub(crate) servers: u32,
    pub(crate) gpus: u32,
    pub(crate) nics: u32,
    pub(crate) ports: u32,
    pub(crate) planes: u32,
    pub(crate) rails: bool,
    pub(crate) tiers: Vec<Tier>,
    pub(crate) pairs: Vec<Pair>,
}

/// The switches of a layer in one plane.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub(crate) struct Tier {
    pub(crate) plane: u32,
    pub(crate) layer: String,
    pub(crate) switches: usize,
    /// Links towards the NICs, of the switch with the fewest and of that with the most.
    pub(crate) down_links: (u32, u32),
    /// Links away from them.
    pub(crate) up_links: (u32, u32),
    /// Capacity from below over capacity upwards, at the worst switch; `None` without the latter.
    pub(crate) oversubscription: Option<f64>,
}

/// Two NICs of different servers that represent all that are placed so.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub(crate) struct Pair {
    /// "same rail, other leaf".
    pub(crate) placed: String,
    pub(crate) from: String,
    pub(crate) to: String,
    /// Switches on the way; zero where there is none.
    pub(crate) switches: usize,
    /// Equal ones, among which a hash chooses.
    pub(crate) paths: u64,
}

pub(crate) fn servers(plan: &Plan, servers: &xoff_fabric::servers::Servers, routes: &Routes) -> Option<Servers> {
    servers.has_scale_up().then(|| Servers {
        servers: servers.count(),
        gpus: servers.gpus(),
        nics: servers.nics(),
        ports: servers.ports(),
        planes: servers.planes(),
        rails: servers.rails(),
        tiers: tiers(plan, servers),
        pairs: pairs(plan, servers, routes),
    })
}

/// What one switch has.
#[derive(Clone, Copy, Default)]
struct Links {
    down: u32,
    up: u32,
    down_gbps: f64,
    up_gbps: f64,
}

fn tiers(plan: &Plan, servers: &xoff_fabric::servers::Servers) -> Vec<Tier> {
    let level = levels(plan);
    let piece = xoff_fabric::pieces::pieces(&plan.nodes, &plan.links);
    let mut links = vec![Links::default(); plan.nodes.len()];
    for port in 0..plan.ports() as u32 {
        let (here, there) = (plan.node_of(port) as usize, plan.node_of(peer(port)) as usize);
        let (own, gbps) = (&mut links[here], plan.direction(port).rate.as_gbps());
        match level[there].cmp(&level[here]) {
            Ordering::Less => (own.down, own.down_gbps) = (own.down + 1, own.down_gbps + gbps),
            _ => (own.up, own.up_gbps) = (own.up + 1, own.up_gbps + gbps),
        }
    }
    let mut tiers: Vec<Tier> = Vec::new();
    for plane in 0..servers.planes() {
        let own = piece[servers.port_hosts(0, 0)[plane as usize] as usize];
        let mut layers: BTreeMap<(u32, &str), Vec<Links>> = BTreeMap::new();
        let switches = (0..plan.nodes.len()).filter(|&node| piece[node] == own && !plan.is_host(node as u32));
        for node in switches {
            layers.entry((level[node], plan.nodes[node].layer.as_str())).or_default().push(links[node]);
        }
        let row = |((_, layer), of): ((u32, &str), Vec<Links>)| {
            let range = |count: fn(&Links) -> u32| {
                let least = of.iter().map(count).min().unwrap_or(0);
                (least, of.iter().map(count).max().unwrap_or(0))
            };
            let ratios = of.iter().filter(|links| links.up > 0).map(|links| links.down_gbps / links.up_gbps);
            Tier {
                plane,
                layer: layer.to_owned(),
                switches: of.len(),
                down_links: range(|links| links.down),
                up_links: range(|links| links.up),
                oversubscription: ratios.max_by(f64::total_cmp),
            }
        };
        tiers.extend(layers.into_iter().map(row));
    }
    tiers
}

/// From the first NIC's first port to one of each kind of others.
fn pairs(plan: &Plan, servers: &xoff_fabric::servers::Servers, routes: &Routes) -> Vec<Pair> {
    let leaf_of = |host: u32| plan.node_of(peer(routes.host_port(host)));
    let src = servers.port_hosts(0, 0)[0];
    // In the order of the rows: near ones first.
    let mut found: BTreeMap<(bool, bool, bool), u32> = BTreeMap::new();
    for (server, nic) in (1..servers.count()).flat_map(|server| (0..servers.nics()).map(move |nic| (server, nic))) {
        for (port, &dst) in servers.port_hosts(server, nic).iter().enumerate() {
            let other_rail = servers.rails() && nic != 0;
            found.entry((port != 0, other_rail, leaf_of(dst) != leaf_of(src))).or_insert(dst);
        }
    }
    let mut path = Vec::new();
    let row = |((other_port, other_rail, other_leaf), dst): ((bool, bool, bool), u32)| {
        let word = |other: bool, what: &str| format!("{} {what}", if other { "other" } else { "same" });
        let mut placed = Vec::new();
        if servers.rails() {
            placed.push(word(other_rail, "rail"));
        }
        if servers.ports() > 1 {
            placed.push(word(other_port, "port"));
        }
        placed.push(word(other_leaf, "leaf"));
        let way = routes.path(src, dst, &FlowKey::between(src, dst), &mut path);
        Pair {
            placed: placed.join(", "),
            from: plan.nodes[src as usize].name.clone(),
            to: plan.nodes[dst as usize].name.clone(),
            switches: if way { path.len() - 1 } else { 0 },
            paths: ways(plan, routes, leaf_of(src), leaf_of(dst), dst),
        }
    };
    found.into_iter().map(row).collect()
}
