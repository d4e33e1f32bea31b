//! Ranks that would wait for each other for ever.

use super::checks::{deps, place_of};
use super::cycle::cycle;
use super::error::Fault;
use super::findings::Findings;
use super::match_collectives::MatchedCollective;
use super::match_messages::MatchedMessage;
use super::node::Trace;
use super::options::Deps;
use crate::dag::Collective;

/// Finds nodes of several ranks that need each other in a circle. What a lack of resources leads to is not foreseen.
pub(super) fn find(
    traces: &[Trace],
    which: Deps,
    meetings: &[MatchedCollective],
    passages: &[MatchedMessage],
    findings: &mut Findings,
) {
    // Things are nodes, rank by rank, and then the collectives whose parts all need each other.
    let mut begin = vec![0_usize];
    begin.extend(traces.iter().scan(0, |sum, trace| {
        *sum += trace.nodes.len();
        Some(*sum)
    }));
    let nodes = begin[traces.len()];
    let thing = |rank: u32, node: u32| (begin[rank as usize] + node as usize) as u32;
    let mut over: Vec<u32> = (0..nodes as u32).collect();
    let mut needs = Vec::new();
    let meets = |meeting: &&MatchedCollective| !matches!(meeting.what, Collective::Broadcast | Collective::Reduce);
    for (number, meeting) in meetings.iter().filter(meets).enumerate() {
        let all = (nodes + number) as u32;
        for (member, node) in meeting.members.iter().zip(&meeting.nodes) {
            needs.push((thing(*member, *node), all));
            over[thing(*member, *node) as usize] = all;
        }
    }
    for trace in traces {
        for (index, node) in trace.nodes.iter().enumerate() {
            let needed = deps(node, which).filter_map(|id| place_of(trace, id));
            let after = thing(trace.rank, index as u32);
            needs.extend(needed.map(|before| (over[thing(trace.rank, before as u32) as usize], after)));
        }
    }
    needs.extend(passages.iter().map(|way| (thing(way.send.0, way.send.1), thing(way.receive.0, way.receive.1))));
    let Some(found) = cycle(nodes + meetings.len(), &needs) else { return };
    let named = |thing: u32| {
        let rank = begin.partition_point(|begin| *begin <= thing as usize) - 1;
        traces.get(rank).map(|trace| (trace.rank, &trace.nodes[thing as usize - begin[rank]]))
    };
    let mut parts = found.into_iter().filter_map(named);
    let Some((rank, node)) = parts.next() else { return };
    let others: Vec<String> =
        parts.take(8).map(|(rank, node)| format!("rank {rank} node {} `{}`", node.id, node.name)).collect();
    let what = format!("it waits for itself by way of {}", others.join(", "));
    findings.error(node.error(Fault::Dependency, rank, what));
}
