//! Which nodes of different ranks are the two ends of one message.

use super::error::{Fault, TraceError};
use super::findings::Findings;
use super::groups::Communicators;
use super::node::{Node, NodeKind, Trace};
use super::options::{Matching, Options};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct MatchedMessage {
    pub bytes: u64,
    /// A rank, and the node in its trace.
    pub send: (u32, u32),
    pub receive: (u32, u32),
}

/// What a send and its receive share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    src: u32,
    dst: u32,
    by: By,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum By {
    Tag(i64),
    Group(u32),
}

impl Key {
    fn described(self, groups: &Communicators) -> String {
        match self.by {
            By::Tag(tag) => format!("from rank {} to rank {} with tag {tag}", self.src, self.dst),
            By::Group(group) => {
                let name = &groups.all[group as usize].name;
                format!("from rank {} to rank {} in group `{name}`", self.src, self.dst)
            }
        }
    }
}

/// Nodes of a rank, in the order of their ids.
type Ends = Vec<(u32, u32)>;

/// All messages.
pub(super) fn passages(
    traces: &[Trace],
    options: &Options,
    groups: &mut Communicators,
    findings: &mut Findings,
) -> Vec<MatchedMessage> {
    let mut ends: BTreeMap<Key, (Ends, Ends)> = BTreeMap::new();
    for trace in traces {
        for (index, node) in trace.nodes.iter().enumerate() {
            if !matches!(node.kind, NodeKind::Send | NodeKind::Receive) {
                continue;
            }
            match key(trace.rank, node, traces.len() as u32, options.matching, groups) {
                Ok(key) => {
                    let (sends, receives) = ends.entry(key).or_default();
                    let list = if node.kind == NodeKind::Send { sends } else { receives };
                    list.push((trace.rank, index as u32));
                }
                Err(defect) => findings.error(defect),
            }
        }
    }
    let node = |(rank, index): (u32, u32)| &traces[rank as usize].nodes[index as usize];
    let mut passages = Vec::new();
    for (key, (sends, receives)) in &ends {
        for (send, receive) in sends.iter().zip(receives) {
            let (sent, received) = (node(*send).more().bytes, node(*receive).more().bytes);
            if sent != received {
                let what = format!(
                    "it receives {} bytes {}, and node {} `{}` there sends {}",
                    received.unwrap_or(0),
                    key.described(groups),
                    node(*send).id,
                    node(*send).name,
                    sent.unwrap_or(0)
                );
                findings.error(node(*receive).error(Fault::Unpaired, receive.0, what));
            }
            let bytes = u64::try_from(sent.unwrap_or(0)).unwrap_or(0);
            passages.push(MatchedMessage { bytes, send: *send, receive: *receive });
        }
        let both = sends.len().min(receives.len());
        let alone = [
            (sends, "nobody receives what it sends", "receives"),
            (receives, "nobody sends what it waits for", "sends"),
        ];
        for (list, what, others) in alone {
            if let Some(end) = list.get(both) {
                let what = format!(
                    "{what} {}: {} of {} such nodes find no {others}",
                    key.described(groups),
                    list.len() - both,
                    list.len()
                );
                findings.error(node(*end).error(Fault::Unpaired, end.0, what));
            }
        }
    }
    passages
}

fn key(rank: u32, node: &Node, ranks: u32, matching: Matching, groups: &mut Communicators) -> Result<Key, TraceError> {
    let more = node.more();
    let sends = node.kind == NodeKind::Send;
    let (own, other) = if sends { (more.src, more.dst) } else { (more.dst, more.src) };
    let (own_name, other_name) = if sends { ("comm_src", "comm_dst") } else { ("comm_dst", "comm_src") };
    let refuse = |what: String| Err(node.error(Fault::Unpaired, rank, what));
    if own.is_some_and(|own| own != i64::from(rank)) {
        return refuse(format!("`{own_name}` is {}, and the trace is that of rank {rank}", own.unwrap_or(0)));
    }
    let (peer, by) = match (other, matching) {
        (Some(other), _) => {
            let Some(peer) = u32::try_from(other).ok().filter(|peer| *peer < ranks) else {
                return refuse(format!("`{other_name}` is {other}, and there are traces of {ranks} ranks"));
            };
            (peer, By::Tag(more.tag.unwrap_or(0)))
        }
        (None, Matching::Attributes) => {
            let help = "`matching = \"order\"` pairs sends and receives within groups of two ranks by their order";
            let what = format!(
                "no `{other_name}`: traces that mlcommons' converter makes from PyTorch do not say who the other end is"
            );
            return Err(node.error(Fault::Unpaired, rank, what).help(help));
        }
        (None, Matching::Order) => {
            let group = groups.of(rank, node)?;
            let members = &groups.all[group as usize].members;
            let [one, two] = members[..] else {
                let what = format!("no `{other_name}`, and its group has {} ranks", members.len());
                return Err(node.error(Fault::Unpaired, rank, what).help("only in a group of two the order tells"));
            };
            (if one == rank { two } else { one }, By::Group(group))
        }
    };
    if peer == rank {
        return refuse(format!("a message of rank {rank} to itself"));
    }
    let (src, dst) = if sends { (rank, peer) } else { (peer, rank) };
    Ok(Key { src, dst, by })
}
