//! What traces hold, for people.

use super::node::{NodeKind, Trace};
use std::collections::BTreeMap;

/// What there is in the traces of all ranks together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceSummary {
    pub ranks: u64,
    /// What the first says of its schema.
    pub version: String,
    pub nodes: u64,
    pub by_kind: BTreeMap<NodeKind, u64>,
    /// Parts in collectives, by `comm_type`: how many, and the sum of their `comm_size`.
    pub collectives: BTreeMap<String, (u64, u64)>,
    /// Groups that communication names, besides that of all ranks.
    pub groups: Vec<String>,
}

pub fn summarise(traces: &[Trace]) -> TraceSummary {
    let mut found = TraceSummary { ranks: traces.len() as u64, ..TraceSummary::default() };
    found.version = traces.first().map(|trace| trace.version.clone()).unwrap_or_default();
    let mut groups = BTreeMap::new();
    for node in traces.iter().flat_map(|trace| &trace.nodes) {
        found.nodes += 1;
        *found.by_kind.entry(node.kind).or_default() += 1;
        let more = node.more();
        if node.kind == NodeKind::Collective {
            let (count, bytes) = found.collectives.entry(spelled(more.what)).or_default();
            *count += 1;
            *bytes = bytes.saturating_add(more.bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0));
        }
        if let Some(group) = more.group.as_deref().filter(|name| node.communicates() && !matches!(*name, "" | "0")) {
            groups.insert(group.to_owned(), ());
        }
    }
    found.groups = groups.into_keys().collect();
    found
}

/// The schema's spelling.
fn spelled(number: Option<i64>) -> String {
    const NAMES: [&str; 10] = [
        "ALL_REDUCE",
        "REDUCE",
        "ALL_GATHER",
        "GATHER",
        "SCATTER",
        "BROADCAST",
        "ALL_TO_ALL",
        "REDUCE_SCATTER",
        "REDUCE_SCATTER_BLOCK",
        "BARRIER",
    ];
    let known = number.and_then(|number| NAMES.get(usize::try_from(number).ok()?));
    known.map_or_else(|| number.map_or_else(|| "none".to_owned(), |number| number.to_string()), |name| (*name).into())
}
