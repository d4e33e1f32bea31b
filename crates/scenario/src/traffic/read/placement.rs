//! `ranks`: which GPUs, or hosts, a job runs on.

use super::Scope;
use crate::Table;
use crate::reader::Result;
use crate::traffic::job::placement::{PlacedRank, RankPlacement};
use std::collections::HashMap;
use std::sync::Arc;
use xoff_fabric::servers as fabric;
use xoff_jobs::collective::Servers;

/// The placement of a job's ranks, in the order in which they are selected, and the shape of its servers: all of them
/// give it as many GPUs and as many NICs.
pub fn read(table: &mut Table, scope: &Scope<'_>) -> Result<(RankPlacement, Servers)> {
    let chosen = ranks(table, scope)?;
    let (servers, nodes) = (scope.ctx.servers, &scope.ctx.plan.nodes);
    let blocks: Vec<&[u32]> = chosen.chunk_by(|a, b| servers.server_of(*a) == servers.server_of(*b)).collect();
    let name = |server: u32| servers.server_name(server, nodes);
    let mut seen = HashMap::new();
    for block in &blocks {
        let server = servers.server_of(block[0]);
        if seen.insert(server, ()).is_some() {
            return Err(table
                .error("ranks", format!("the ranks of `{}` do not follow each other", name(server)))
                .label("server by server"));
        }
        if block.len() != blocks[0].len() {
            let first = servers.server_of(blocks[0][0]);
            let message =
                format!("`{}` has {} ranks, `{}` has {}", name(first), blocks[0].len(), name(server), block.len());
            return Err(table.error("ranks", message).label("every server has as many ranks of a job"));
        }
    }
    if chosen.len() < 2 {
        return Err(table.error("ranks", "a job needs at least two ranks"));
    }
    let gpus = blocks[0].len() as u32;
    let mut placement = RankPlacement::default();
    for (place, block) in (0..).zip(&blocks) {
        let server = servers.server_of(block[0]);
        let mut nics: Vec<u32> = block.iter().map(|rank| servers.nic_of(*rank)).collect();
        nics.dedup();
        let shared = gpus as usize / nics.len().max(1);
        let even =
            block.iter().enumerate().all(|(i, rank)| nics.get(i / shared.max(1)) == Some(&servers.nic_of(*rank)));
        if !even || placement.nics.first().is_some_and(|first: &Arc<[Box<[u32]>]>| first.len() != nics.len()) {
            return Err(table
                .error("ranks", format!("the ranks of `{}` do not share its NICs evenly", name(server)))
                .label("as many ranks to each NIC, and as many NICs of each server"));
        }
        placement.nics.push(nics.iter().map(|nic| servers.port_hosts(server, *nic).into()).collect());
        placement.ranks.extend(block.iter().map(|rank| PlacedRank {
            name: servers.rank_name(*rank, nodes).to_owned(),
            server: place,
            gpu: host_of(servers, *rank),
        }));
    }
    let nics = placement.nics[0].len() as u32;
    Ok((placement, Servers { gpus, nics }))
}

/// The host that is a rank: its GPU, or where servers have no network of their own, all there is of it.
fn host_of(servers: &fabric::Servers, rank: u32) -> u32 {
    servers.gpu_host(rank).unwrap_or_else(|| servers.port_hosts(rank, 0)[0])
}

/// The ranks of the whole network that are chosen.
fn ranks(table: &mut Table, scope: &Scope<'_>) -> Result<Vec<u32>> {
    let servers = scope.ctx.servers;
    let Some(selectors) = table.take_texts("ranks")? else {
        table.record("ranks", if servers.has_scale_up() { "gpu" } else { "*" });
        return Ok((0..servers.ranks()).collect());
    };
    let rank_of: HashMap<u32, u32> = (0..servers.ranks()).map(|rank| (host_of(servers, rank), rank)).collect();
    let mut chosen = Vec::new();
    let mut taken = vec![false; servers.ranks() as usize];
    for selector in &selectors {
        for host in scope.ctx.names.hosts(std::slice::from_ref(selector))? {
            let Some(&rank) = rank_of.get(&host) else {
                let host = scope.ctx.names.node_name(host);
                return Err(selector.error(format!("`{host}` is no GPU")).label("such as \"s0.g*\""));
            };
            if !std::mem::replace(&mut taken[rank as usize], true) {
                chosen.push(rank);
            }
        }
    }
    Ok(chosen)
}
