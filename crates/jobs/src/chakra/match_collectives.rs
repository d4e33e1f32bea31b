//! Which nodes of different ranks are parts of one collective.

use super::error::{Fault, TraceError};
use super::findings::{Findings, NoteKind};
use super::groups::{Communicators, listed};
use super::node::{Node, NodeKind, Trace};
use crate::dag::Collective;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct MatchedCollective {
    pub what: Collective,
    /// Size as nccl-tests counts it.
    pub bytes: u64,
    /// In ascending order.
    pub members: Vec<u32>,
    /// Place among the members of the one that broadcasts, or to which is reduced.
    pub root: u32,
    /// The node of each member in its trace, in the order of members.
    pub nodes: Vec<u32>,
}

/// The nodes of each communicator's members, by their ids.
type Parts = Vec<BTreeMap<u32, Vec<u32>>>;

/// All collectives, in the order of their groups.
pub(super) fn meetings(
    traces: &[Trace],
    groups: &mut Communicators,
    findings: &mut Findings,
) -> Vec<MatchedCollective> {
    let mut parts: Parts = Vec::new();
    for trace in traces {
        for (index, node) in trace.nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Collective) {
            match groups.of(trace.rank, node) {
                Ok(group) => {
                    parts.resize_with(groups.all.len(), BTreeMap::new);
                    parts[group as usize].entry(trace.rank).or_default().push(index as u32);
                }
                Err(defect) => findings.error(defect),
            }
        }
    }
    let mut meetings = Vec::new();
    for (group, parts) in groups.all.iter().zip(&parts) {
        let count = |member: &u32| parts.get(member).map_or(0, Vec::len);
        let least = group.members.iter().copied().min_by_key(count).expect("a group has members");
        let most = group.members.iter().copied().max_by_key(count).expect("a group has members");
        if count(&least) < count(&most) {
            let node = &traces[most as usize].nodes[parts[&most][count(&least)] as usize];
            let what = format!(
                "the {} collective of group `{}` has no part on rank {least}, whose trace has {} of that group",
                nth(count(&least)),
                group.name,
                count(&least)
            );
            findings.error(node.error(Fault::Group, most, what));
            continue;
        }
        let lists: Vec<&[u32]> = group.members.iter().map(|member| &parts[member][..]).collect();
        for round in 0..count(&most) {
            let nodes: Vec<u32> = lists.iter().map(|list| list[round]).collect();
            match meeting(traces, &group.name, &group.members, nodes, round, findings) {
                Ok(meeting) => meetings.push(meeting),
                Err(defect) => findings.error(defect),
            }
        }
    }
    meetings
}

/// What a node has in common with the others of its collective.
#[derive(PartialEq, Eq, Debug)]
struct Part {
    what: Collective,
    bytes: u64,
    root: Option<u32>,
}

fn meeting(
    traces: &[Trace],
    group: &str,
    members: &[u32],
    nodes: Vec<u32>,
    round: usize,
    findings: &mut Findings,
) -> Result<MatchedCollective, TraceError> {
    let node = |at: usize| &traces[members[at] as usize].nodes[nodes[at] as usize];
    let first = part(members[0], node(0), members)?;
    for (at, member) in members.iter().enumerate().skip(1) {
        let other = part(*member, node(at), members)?;
        if other != first {
            let what = format!(
                "the {} collective of group `{group}` is {} here, and on rank {} (node {} `{}`) {}",
                nth(round),
                described(node(at), &other),
                members[0],
                node(0).id,
                node(0).name,
                described(node(0), &first)
            );
            return Err(node(at).error(Fault::Group, *member, what));
        }
    }
    for _ in members {
        match (first.what, first.root) {
            (Collective::AllGather, _) => findings.note(NoteKind::AllGather),
            (Collective::Broadcast | Collective::Reduce, None) => findings.note(NoteKind::NoRoot),
            _ => {}
        }
    }
    let root = members.iter().position(|member| Some(*member) == first.root).unwrap_or(0) as u32;
    Ok(MatchedCollective { what: first.what, bytes: first.bytes, members: members.to_vec(), root, nodes })
}

/// `comm_type` by its number.
fn collective(number: i64) -> Result<Collective, &'static str> {
    Ok(match number {
        0 => Collective::AllReduce,
        1 => Collective::Reduce,
        2 => Collective::AllGather,
        3 => return Err("GATHER cannot be simulated"),
        4 => return Err("SCATTER cannot be simulated"),
        5 => Collective::Broadcast,
        6 => Collective::AllToAll,
        // The same, with parts of one size.
        7 | 8 => Collective::ReduceScatter,
        9 => Collective::Barrier,
        _ => return Err("`comm_type` is a number that the schema does not have"),
    })
}

fn part(rank: u32, node: &Node, members: &[u32]) -> Result<Part, TraceError> {
    let more = node.more();
    let Some(number) = more.what else {
        return Err(node.error(Fault::Unsupported, rank, "a collective without `comm_type`"));
    };
    let what = collective(number).map_err(|why| node.error(Fault::Unsupported, rank, why))?;
    let bytes = u64::try_from(more.bytes.unwrap_or(0)).unwrap_or(0);
    let bytes = match what {
        Collective::AllGather => bytes * members.len() as u64,
        Collective::Barrier => 0,
        _ => bytes,
    };
    let root = match (what, more.src) {
        (Collective::Broadcast | Collective::Reduce, Some(src)) => {
            let found = members.iter().copied().find(|member| i64::from(*member) == src);
            let what = || format!("its root is rank {src}, which is no member of its group: {}", listed(members));
            Some(found.ok_or_else(|| node.error(Fault::Group, rank, what()))?)
        }
        _ => None,
    };
    Ok(Part { what, bytes, root })
}

fn described(node: &Node, part: &Part) -> String {
    let root = part.root.map_or_else(String::new, |root| format!(" from or to rank {root}"));
    format!("{}{root} of {} bytes", part.what, node.more().bytes.unwrap_or(0))
}

/// Counted from zero.
fn nth(number: usize) -> String {
    let number = number + 1;
    let end = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}
