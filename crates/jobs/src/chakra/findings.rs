//! What is found on the way from traces to a job.

use super::error::{Fault, Note, TraceError};
use super::node::Node;
use super::options::Strictness;
use std::collections::BTreeMap;

/// Most findings that are listed: people read them.
const MOST_DEFECTS: usize = 1000;

/// Defects, and what there is to say of nodes that are taken in another way than they were written.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub defects: Vec<TraceError>,
    remarks: BTreeMap<NoteKind, (u64, String)>,
}

/// What there may be to say, in the order in which it is said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum NoteKind {
    AllGather,
    NoRoot,
    Alone,
    Memory,
    Invalid,
    Unknown,
    NoProcessor,
    NoDuration,
    Priority,
    GroupsIgnored,
    Doubt,
}

impl NoteKind {
    fn text(self, count: u64) -> String {
        let counted = |one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
        let nodes = |noun: &str| counted(noun, &format!("{noun}s"));
        match self {
            NoteKind::AllGather => format!(
                "{}: `comm_size` is what one rank has, as ASTRA-sim means it; sizes here are those of all, as \
                 nccl-tests means them",
                counted("part in an all-gather", "parts in all-gathers")
            ),
            NoteKind::NoRoot => format!(
                "{} without `comm_src`: the lowest rank of the group is the root",
                counted("part in a broadcast or reduction", "parts in broadcasts or reductions")
            ),
            NoteKind::Alone => format!("{} in groups of one: over at once", nodes("collective")),
            NoteKind::Memory => {
                format!("{} to or from memory: over at once, for memory is not simulated", nodes("node"))
            }
            NoteKind::Invalid => format!("{} of type INVALID_NODE: over at once", nodes("node")),
            NoteKind::Unknown => format!(
                "{} of a type that is not known here: each takes the time that it says, as computing",
                nodes("node")
            ),
            NoteKind::NoProcessor => format!("{} without `is_cpu_op`: taken as the GPU's", nodes("computing node")),
            NoteKind::NoDuration => format!(
                "{} with `num_ops` and no duration: 1 ns each; `peak_tflops` and `memory_bandwidth` tell what they \
                 take",
                nodes("computing node")
            ),
            NoteKind::Priority => format!("{} with a `comm_priority`, which has no effect", nodes("node")),
            NoteKind::GroupsIgnored => {
                format!("{} about groups: the file of groups holds instead", nodes("METADATA node"))
            }
            NoteKind::Doubt => format!("{} taken as they are, though something seems to be lost", nodes("node")),
        }
    }
}

impl Findings {
    pub fn error(&mut self, defect: TraceError) {
        match self.defects.len() {
            MOST_DEFECTS.. => {}
            told if told + 1 == MOST_DEFECTS => {
                self.defects.push(TraceError::new(Fault::Unsupported, "and more that is not told"));
            }
            _ => self.defects.push(defect),
        }
    }

    /// One node more of which this is to be said.
    pub fn note(&mut self, remark: NoteKind) {
        self.remarks.entry(remark).or_default().0 += 1;
    }

    /// A node of a type that later schemas may have.
    pub fn unknown(&mut self, rank: u32, node: &Node, number: u32) {
        let (count, first) = self.remarks.entry(NoteKind::Unknown).or_default();
        *count += 1;
        if first.is_empty() {
            *first = format!(", such as node {} `{}` of rank {rank}, of type {number}", node.id, node.name);
        }
    }

    /// Something looks lost.
    pub fn doubt(&mut self, strictness: Strictness, defect: TraceError) {
        match strictness {
            Strictness::Refuse => self.error(defect.help("`doubts = \"note\"` takes it as it is")),
            Strictness::Note => {
                let (count, first) = self.remarks.entry(NoteKind::Doubt).or_default();
                *count += 1;
                if first.is_empty() {
                    *first = format!(", such as {defect}");
                }
            }
        }
    }

    pub fn notes(&self) -> Vec<Note> {
        let note = |(remark, (count, such)): (&NoteKind, &(u64, String))| Note { text: remark.text(*count) + such };
        self.remarks.iter().map(note).collect()
    }
}
