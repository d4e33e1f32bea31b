//! Who takes part in a collective.

use super::error::{Fault, TraceError};
use super::findings::{Findings, NoteKind};
use super::json::{Groups, groups_within, plain};
use super::node::{Node, NodeKind, Trace};
use super::options::Options;
use std::collections::BTreeMap;

/// Ranks that do collectives together.
#[derive(Debug)]
pub(super) struct Communicator {
    pub name: String,
    /// In ascending order.
    pub members: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Communicators {
    ranks: u32,
    /// For all ranks alike, if a file says so.
    given: Option<Groups>,
    /// What the trace of each rank tells.
    told: Vec<Groups>,
    pub all: Vec<Communicator>,
    /// Groups of one name may be different ones on different ranks.
    known: BTreeMap<(String, Vec<u32>), u32>,
    by_rank: Vec<BTreeMap<String, u32>>,
}

/// The name of the group of all ranks; the empty name is the same.
const EVERYONE: &str = "0";

impl Communicators {
    /// Reads the METADATA of traces, which are those of ranks 0, 1, 2 and so on.
    pub fn new(traces: &[Trace], options: &Options, findings: &mut Findings) -> Communicators {
        let ranks = traces.len() as u32;
        let mut told = vec![Groups::new(); traces.len()];
        for (trace, told) in traces.iter().zip(&mut told) {
            for node in trace.nodes.iter().filter(|node| node.kind == NodeKind::Metadata) {
                match groups_within(&node.more().inputs) {
                    Ok(groups) if groups.is_empty() => {}
                    Ok(_) if options.groups.is_some() => findings.note(NoteKind::GroupsIgnored),
                    Ok(groups) => told.extend(groups),
                    Err(why) => findings.error(node.error(Fault::Group, trace.rank, why)),
                }
            }
        }
        let found = Communicators {
            ranks,
            given: options.groups.clone(),
            told,
            all: Vec::new(),
            known: BTreeMap::new(),
            by_rank: vec![BTreeMap::new(); traces.len()],
        };
        found.check_everyone(findings);
        found
    }

    fn check_everyone(&self, findings: &mut Findings) {
        let given = self.given.iter().map(|groups| (None, groups));
        let told = self.told.iter().zip(0..).map(|(groups, rank)| (Some(rank), groups));
        for (rank, groups) in given.chain(told) {
            let Some(members) = groups.get(EVERYONE).filter(|members| !members.is_empty()) else { continue };
            if !members.iter().copied().eq(0..self.ranks) {
                let what = format!("group `0` is that of all {} ranks, and is given {}", self.ranks, listed(members));
                findings.error(TraceError { rank, ..TraceError::new(Fault::Group, what) });
            }
        }
    }

    /// Whether the trace of a rank tells of groups besides that of all ranks.
    pub fn has_told(&self, rank: u32) -> bool {
        self.told[rank as usize].keys().any(|name| name != EVERYONE)
    }

    pub fn of(&mut self, rank: u32, node: &Node) -> Result<u32, TraceError> {
        let name = node.more().group.as_deref().map_or_else(String::new, plain);
        let name = if name.is_empty() { EVERYONE.to_owned() } else { name };
        if let Some(known) = self.by_rank[rank as usize].get(&name) {
            return Ok(*known);
        }
        let members = self.members(rank, &name).map_err(|why| node.error(Fault::Group, rank, why))?;
        let next = self.all.len() as u32;
        let number = *self.known.entry((name.clone(), members.clone())).or_insert(next);
        if number == next {
            self.all.push(Communicator { name: name.clone(), members });
        }
        self.by_rank[rank as usize].insert(name, number);
        Ok(number)
    }

    fn members(&self, rank: u32, name: &str) -> Result<Vec<u32>, String> {
        let everyone = || (0..self.ranks).collect();
        if name == EVERYONE {
            return Ok(everyone());
        }
        let found = match &self.given {
            Some(groups) => groups.get(name),
            // A trace may leave out a group that another tells of.
            None => self.told[rank as usize].get(name).or_else(|| {
                let mut others = self.told.iter().filter_map(|groups| groups.get(name));
                others.find(|members| members.is_empty() || members.contains(&rank))
            }),
        };
        let Some(members) = found else { return Err(self.unknown(name)) };
        if members.is_empty() {
            return Ok(everyone());
        }
        if !members.contains(&rank) {
            return Err(format!("it is no member of its group `{name}`, which has {}", listed(members)));
        }
        match members.iter().find(|member| **member >= self.ranks) {
            Some(member) => {
                Err(format!("group `{name}` has rank {member}, and there are traces of {} ranks", self.ranks))
            }
            None => Ok(members.clone()),
        }
    }

    fn unknown(&self, name: &str) -> String {
        let mut names: Vec<&str> = match &self.given {
            Some(groups) => groups.keys().map(String::as_str).collect(),
            None => self.told.iter().flat_map(Groups::keys).map(String::as_str).collect(),
        };
        names.sort_unstable();
        names.dedup();
        match names[..] {
            [] => format!("group `{name}` is unknown: no file of groups is given, and no METADATA node tells of any"),
            _ => format!("group `{name}` is unknown: the groups are {}", listed(&names)),
        }
    }
}

/// The first of them, for messages.
pub(super) fn listed<T: ToString>(things: &[T]) -> String {
    let most = 16;
    let mut text = things.iter().take(most).map(T::to_string).collect::<Vec<_>>().join(", ");
    if things.len() > most {
        text.push_str(", ...");
    }
    text
}
