//! All-reduce by hierarchy: each server reduces and scatters among its GPUs, each rail reduces over the servers what its
//! GPU got, and each server gathers.

use super::layer::Layer;
use super::options::Servers;
use super::ring::Ring;
use super::size::Sends;
use super::visits::{Task, Visit, visits};
use crate::dag::{Collective, OpId};

/// An all-reduce; `begins` and `ends` by member.
pub(super) fn generate(layer: &mut Layer, task: &Task, begins: &[OpId], ends: &mut [Vec<OpId>]) -> Result<(), String> {
    let Task { bytes, visits: servers, options, .. } = *task;
    let gpus = servers[0].members.len();
    let channels = (options.channels > 0).then_some(options.channels);
    let mut have = begins.to_vec();
    let inside = |layer: &mut Layer, what: Collective, have: &mut Vec<OpId>| {
        let mut arrivals = vec![Vec::new(); have.len()];
        for server in servers {
            let visits = std::slice::from_ref(server);
            Ring { what, visits, at: 0, bytes, channels }.generate(layer, options, have, &mut arrivals)?;
        }
        gather(layer, have, &arrivals);
        Ok::<_, String>(())
    };
    inside(layer, Collective::ReduceScatter, &mut have)?;
    let mut arrivals = vec![Vec::new(); have.len()];
    for (gpu, at, bytes) in blocks(gpus, bytes) {
        let rail: Vec<usize> = servers.iter().map(|visit| visit.members[gpu]).collect();
        let visits = of_members(layer.members, layer.servers, &rail);
        let ring = Ring { what: Collective::AllReduce, visits: &visits, at, bytes, channels };
        ring.generate(layer, options, &have, &mut arrivals)?;
    }
    gather(layer, &mut have, &arrivals);
    inside(layer, Collective::AllGather, &mut have)?;
    for (have, end) in have.iter().zip(ends) {
        end.push(*have);
    }
    Ok(())
}

/// What it sends: all servers and all rails alike, but for the length of their blocks.
pub(super) fn sends(members: &[u32], of: Servers, task: &Task) -> Result<Sends, String> {
    let Task { bytes, visits: servers, options, .. } = *task;
    let gpus = servers[0].members.len();
    if let Some(other) = servers.iter().find(|visit| visit.members.len() != gpus) {
        return Err(format!(
            "hierarchical all-reduce needs as many ranks in each server: {gpus} here, {} there; use the ring algorithm",
            other.members.len()
        ));
    }
    let channels = (options.channels > 0).then_some(options.channels);
    let mut sends = Sends { joins: 3 * members.len() as u64, ..Sends::default() };
    for what in [Collective::ReduceScatter, Collective::AllGather] {
        for server in servers {
            sends += Ring { what, visits: std::slice::from_ref(server), at: 0, bytes, channels }.sends(options)?;
        }
    }
    for (gpu, at, bytes) in blocks(gpus, bytes) {
        let rail: Vec<usize> = servers.iter().map(|visit| visit.members[gpu]).collect();
        let visits = of_members(members, of, &rail);
        sends += Ring { what: Collective::AllReduce, visits: &visits, at, bytes, channels }.sends(options)?;
    }
    Ok(sends)
}

/// The block of each GPU of a server that has one: whose, where it begins, and its length.
pub(super) fn blocks(gpus: usize, bytes: u64) -> impl Iterator<Item = (usize, u64, u64)> {
    let block = bytes.div_ceil(gpus as u64);
    let starts = (0..gpus).zip((0..).map(move |gpu| gpu * block)).take_while(move |(_, at)| *at < bytes);
    starts.map(move |(gpu, at)| (gpu, at, block.min(bytes - at)))
}

/// Visits of some of the members, who keep their places.
pub(super) fn of_members(all: &[u32], servers: Servers, members: &[usize]) -> Vec<Visit> {
    let ranks: Vec<u32> = members.iter().map(|member| all[*member]).collect();
    let mut visits = visits(&ranks, servers);
    for place in visits.iter_mut().flat_map(|visit| &mut visit.members) {
        *place = members[*place];
    }
    visits
}

/// What each member has when it has all that was sent to it.
fn gather(layer: &mut Layer, have: &mut [OpId], arrivals: &[Vec<OpId>]) {
    for (member, (have, arrivals)) in have.iter_mut().zip(arrivals).enumerate() {
        let needs: Vec<OpId> = arrivals.iter().copied().chain([*have]).collect();
        *have = layer.join(member, &needs);
    }
}
