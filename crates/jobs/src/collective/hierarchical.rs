//! All-reduce by hierarchy: each server reduces and scatters among its GPUs, each rail reduces over the servers what its
//! GPU got, and each server gathers.

use super::layer::Layer;
use super::options::Options;
use super::ring::Ring;
use super::visits::{Visit, visits};
use crate::dag::{Collective, OpId};

/// An all-reduce; `begins` and `ends` by member.
pub(super) fn lay(
    layer: &mut Layer,
    servers: &[Visit],
    bytes: u64,
    options: &Options,
    begins: &[OpId],
    ends: &mut [Vec<OpId>],
) -> Result<(), String> {
    let gpus = servers[0].members.len();
    if let Some(other) = servers.iter().find(|visit| visit.members.len() != gpus) {
        return Err(format!(
            "hierarchical all-reduce needs as many ranks in each server: {gpus} here, {} there; a ring would do",
            other.members.len()
        ));
    }
    let channels = (options.channels > 0).then_some(options.channels);
    let mut have = begins.to_vec();
    let inside = |layer: &mut Layer, what: Collective, have: &mut Vec<OpId>| {
        let mut arrivals = vec![Vec::new(); have.len()];
        for server in servers {
            let visits = std::slice::from_ref(server);
            Ring { what, visits, at: 0, bytes, channels }.lay(layer, options, have, &mut arrivals)?;
        }
        gather(layer, have, &arrivals);
        Ok::<_, String>(())
    };
    inside(layer, Collective::ReduceScatter, &mut have)?;
    let block = bytes.div_ceil(gpus as u64);
    let mut arrivals = vec![Vec::new(); have.len()];
    for (gpu, at) in (0..gpus).zip((0..).map(|gpu| gpu * block)).take_while(|(_, at)| *at < bytes) {
        let rail: Vec<usize> = servers.iter().map(|visit| visit.members[gpu]).collect();
        let visits = of_members(layer, &rail);
        let ring = Ring { what: Collective::AllReduce, visits: &visits, at, bytes: block.min(bytes - at), channels };
        ring.lay(layer, options, &have, &mut arrivals)?;
    }
    gather(layer, &mut have, &arrivals);
    inside(layer, Collective::AllGather, &mut have)?;
    for (have, end) in have.iter().zip(ends) {
        end.push(*have);
    }
    Ok(())
}

/// Visits of some of the members, who keep their places.
fn of_members(layer: &Layer, members: &[usize]) -> Vec<Visit> {
    let ranks: Vec<u32> = members.iter().map(|member| layer.members[*member]).collect();
    let mut visits = visits(&ranks, layer.servers);
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
