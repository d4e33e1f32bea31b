//! How many of the paths between two switches flows use.

use super::network::ways;
use crate::Loaded;
use serde::Serialize;
use std::collections::BTreeSet;
use xoff_engine::{Rng, stream};
use xoff_fabric::plan::{PathMap, Plan, peer};
use xoff_fabric::route::{FlowKey, Routes};
use xoff_fabric::traffic::ROCE_PORT;

/// A smaller share of the paths than this is a warning.
const POLARISED: f64 = 0.5;
/// Pairs of switches that are looked at.
const PAIRS: usize = 16;
/// Pairs with more paths are not looked at.
const PATHS_MOST: u64 = 1024;
/// Flows for each path: one in 160,000 paths is missed by chance.
const FLOWS_PER_PATH: u64 = 12;
/// Flows whose entropies are counted.
const FLOWS_COUNTED: u32 = 16;

/// What can be said of `[routing]` before a run.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub(crate) struct Routing {
    pub(crate) mode: &'static str,
    /// Packets of one flow may take different paths.
    pub(crate) spreads: bool,
    /// The pair of switches with hosts of which flows use the smallest share of paths.
    pub(crate) from: String,
    pub(crate) to: String,
    /// Shortest paths between them, and those that many flows use together.
    pub(crate) paths: u64,
    pub(crate) paths_used: u64,
    /// Paths that the entropies of one flow give there, in the mean; only where senders choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) paths_per_flow: Option<f64>,
}

/// `None` where no two switches with hosts have several paths between them.
pub(crate) fn routing(loaded: &Loaded, routes: &Routes) -> Option<Routing> {
    let plan = &*loaded.plan;
    let mut rng = stream(plan.seed, "check routing", 0);
    let hosts = loaded.names.all_hosts();
    let mut found: Option<Routing> = None;
    for (src, dst) in pairs(plan, routes, &hosts, &mut rng) {
        let [from, to] = [src, dst].map(|host| plan.node_of(peer(routes.host_port(host))));
        let paths = ways(plan, routes, from, to, dst);
        if !(2..=PATHS_MOST).contains(&paths) {
            continue;
        }
        let by_hash = plan.model.forwarding.next_hop.is_none() && plan.model.forwarding.path_map == PathMap::Hash;
        let paths_used = if by_hash { used(plan, routes, (src, dst), paths, &mut rng) } else { paths };
        let share = |of: &Routing| of.paths_used as f64 / of.paths as f64;
        if found.as_ref().is_none_or(|worst| paths_used as f64 / (paths as f64) < share(worst)) {
            found = Some(Routing {
                mode: loaded.routing(),
                spreads: plan.model.forwarding.is_per_packet(),
                from: plan.nodes[from as usize].name.clone(),
                to: plan.nodes[to as usize].name.clone(),
                paths,
                paths_used,
                paths_per_flow: of_one_flow(plan, routes, (src, dst), &mut rng),
            });
        }
    }
    found
}

/// Hosts of different switches: of the first and the last, and some more.
fn pairs(plan: &Plan, routes: &Routes, hosts: &[u32], rng: &mut Rng) -> Vec<(u32, u32)> {
    let (Some(&first), Some(&last)) = (hosts.first(), hosts.last()) else { return Vec::new() };
    let mut pick = || hosts[rng.below(hosts.len() as u64) as usize];
    let drawn: Vec<(u32, u32)> = (0..PAIRS).map(|_| (pick(), pick())).collect();
    let switch = |host: u32| plan.node_of(peer(routes.host_port(host)));
    let apart = |&(src, dst): &(u32, u32)| !plan.is_host(switch(src)) && switch(src) != switch(dst);
    [(first, last)].into_iter().chain(drawn).filter(apart).collect()
}

/// Paths that flows between two hosts use.
fn used(plan: &Plan, routes: &Routes, (src, dst): (u32, u32), paths: u64, rng: &mut Rng) -> u64 {
    let mut seen = BTreeSet::new();
    let mut path = Vec::new();
    for _ in 0..paths * FLOWS_PER_PATH {
        if routes.path(src, dst, &flow(plan, (src, dst), rng), &mut path) {
            seen.insert(path.clone());
        }
    }
    seen.len() as u64
}

fn flow(plan: &Plan, (from, to): (u32, u32), rng: &mut Rng) -> FlowKey {
    let ports = (49_152 + rng.below(16_384) as u16, ROCE_PORT);
    FlowKey { seed: plan.seed, identity: rng.next_u64(), from, to, ports, number: 0 }
}

fn of_one_flow(plan: &Plan, routes: &Routes, (src, dst): (u32, u32), rng: &mut Rng) -> Option<f64> {
    let forwarding = plan.model.forwarding;
    if forwarding.paths == 1 {
        return None;
    }
    let mut path = Vec::new();
    let mut sum = 0;
    for _ in 0..FLOWS_COUNTED {
        let (key, mut seen) = (flow(plan, (src, dst), rng), BTreeSet::new());
        for number in 0..forwarding.paths {
            let way = match forwarding.path_map {
                PathMap::Hash => routes.path(src, dst, &key.path(number), &mut path),
                PathMap::Path => routes.numbered_path(src, dst, number.into(), &mut path),
            };
            if way {
                seen.insert(path.clone());
            }
        }
        sum += seen.len();
    }
    Some(sum as f64 / f64::from(FLOWS_COUNTED))
}

impl Routing {
    /// What is to be said of switches that hash alike.
    pub(crate) fn warning(&self) -> Option<String> {
        let share = self.paths_used as f64 / self.paths as f64;
        (share < POLARISED).then(|| {
            format!(
                "flows use {} of {} paths between {} and {}, because switches hash alike; \
                 `[routing] hash_seed = \"per-switch\"` or more hash_fields spread them",
                self.paths_used, self.paths, self.from, self.to
            )
        })
    }

    /// One line.
    pub(crate) fn text(&self, lossless: bool) -> String {
        let Routing { mode, from, to, paths, paths_used, .. } = self;
        let each = match self.paths_per_flow {
            Some(mean) => format!(", each flow {mean:.1} of them"),
            None => String::new(),
        };
        let pauses = match self.spreads && lossless {
            true => format!("; PFC may stop one flow at {paths} links at once"),
            false => String::new(),
        };
        format!("routing: {mode}; flows use {paths_used} of {paths} paths between {from} and {to}{each}{pauses}")
    }
}
