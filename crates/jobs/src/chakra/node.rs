//! A trace as it is written: the nodes of one rank.

use super::error::{Fault, TraceError};

/// All that one rank does.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    pub rank: u32,
    /// What the file says of its schema; often empty.
    pub version: String,
    /// In ascending order of their ids.
    pub nodes: Vec<Node>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Node {
    /// Unique within the trace, unless it is defective.
    pub id: u64,
    /// At most [`LONGEST_NAME`] characters of it.
    pub name: Box<str>,
    pub kind: NodeKind,
    /// `data_deps`.
    pub data: Vec<u64>,
    /// `ctrl_deps`.
    pub control: Vec<u64>,
    /// `duration_micros`.
    pub micros: u64,
    /// The attribute `is_cpu_op`.
    pub on_cpu: Option<bool>,
    /// What communication and some others have besides.
    pub more: Option<Box<More>>,
}

/// Longer names are cut.
pub const LONGEST_NAME: usize = 120;

/// `NodeType` of the schema.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum NodeKind {
    /// No kind; passes at once.
    #[default]
    Invalid,
    /// About the trace, such as its groups.
    Metadata,
    Load,
    Store,
    Compute,
    Send,
    Receive,
    Collective,
    /// A number that is not known here: STORAGE, BATCH and CHECKPOINT nodes of later schemas are 8 to 10. Takes the time
    /// that it says, as computing does.
    Unknown(u32),
}

/// Kinds by their numbers in the schema, with its spelling.
const KINDS: [(NodeKind, &str); 8] = [
    (NodeKind::Invalid, "INVALID_NODE"),
    (NodeKind::Metadata, "METADATA_NODE"),
    (NodeKind::Load, "MEM_LOAD_NODE"),
    (NodeKind::Store, "MEM_STORE_NODE"),
    (NodeKind::Compute, "COMP_NODE"),
    (NodeKind::Send, "COMM_SEND_NODE"),
    (NodeKind::Receive, "COMM_RECV_NODE"),
    (NodeKind::Collective, "COMM_COLL_NODE"),
];

impl NodeKind {
    pub(super) fn of(number: u64) -> NodeKind {
        let known = usize::try_from(number).ok().and_then(|number| KINDS.get(number));
        known.map_or_else(|| NodeKind::Unknown(u32::try_from(number).unwrap_or(u32::MAX)), |(kind, _)| *kind)
    }

    pub(super) fn number(self) -> u32 {
        match self {
            NodeKind::Unknown(number) => number,
            known => (0..).zip(KINDS).find(|(_, (kind, _))| *kind == known).map_or(0, |(number, _)| number),
        }
    }

    /// Whether it takes its time on the rank.
    pub(super) fn computes(self) -> bool {
        matches!(self, NodeKind::Compute | NodeKind::Unknown(_))
    }

    /// The schema's spelling.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("unknown", |(_, name)| name)
    }
}

/// Attributes that most nodes do without. Numbers beyond 64 bits with a sign are the largest of these.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct More {
    /// `comm_type`: which collective.
    pub what: Option<i64>,
    /// `comm_size`.
    pub bytes: Option<i64>,
    /// `comm_src`.
    pub src: Option<i64>,
    /// `comm_dst`.
    pub dst: Option<i64>,
    /// `comm_tag`.
    pub tag: Option<i64>,
    /// `comm_priority`.
    pub priority: Option<i64>,
    /// `pg_name`.
    pub group: Option<Box<str>>,
    /// `involved_dim`.
    pub dimensions: Vec<bool>,
    /// `num_ops`.
    pub operations: Option<i64>,
    /// `tensor_size`.
    pub tensor_bytes: Option<i64>,
    /// `stream`.
    pub stream: Option<i64>,
    /// `inputs.values` of a [`NodeKind::Metadata`].
    pub inputs: String,
}

type Slot = fn(&mut More) -> &mut Option<i64>;

/// Attributes that are whole numbers, and where they are kept.
pub(super) const ATTRIBUTES: [(&str, Slot); 9] = [
    ("comm_type", |more| &mut more.what),
    ("comm_size", |more| &mut more.bytes),
    ("comm_src", |more| &mut more.src),
    ("comm_dst", |more| &mut more.dst),
    ("comm_tag", |more| &mut more.tag),
    ("comm_priority", |more| &mut more.priority),
    ("num_ops", |more| &mut more.operations),
    ("tensor_size", |more| &mut more.tensor_bytes),
    ("stream", |more| &mut more.stream),
];

/// What nodes without such attributes have.
static NONE: More = More {
    what: None,
    bytes: None,
    src: None,
    dst: None,
    tag: None,
    priority: None,
    group: None,
    dimensions: Vec::new(),
    operations: None,
    tensor_bytes: None,
    stream: None,
    inputs: String::new(),
};

impl Node {
    pub(super) fn more(&self) -> &More {
        self.more.as_deref().unwrap_or(&NONE)
    }

    pub(super) fn more_mut(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    /// An empty list among the attributes says no more than none: nodes that say the same are equal.
    pub(super) fn without_empty(mut self) -> Node {
        self.more = self.more.filter(|more| **more != More::default());
        self
    }

    /// This node of a rank is to blame.
    pub(super) fn error(&self, fault: Fault, rank: u32, what: impl Into<String>) -> TraceError {
        let node = Some((self.id, self.name.to_string()));
        TraceError { node, ..TraceError::of_rank(fault, rank, what) }
    }

    pub(super) fn communicates(&self) -> bool {
        matches!(self.kind, NodeKind::Send | NodeKind::Receive | NodeKind::Collective)
    }
}

/// A text as long as messages can bear it.
pub(super) fn shortened(text: &str) -> Box<str> {
    match text.char_indices().nth(LONGEST_NAME) {
        Some((at, _)) => text[..at].into(),
        None => text.into(),
    }
}
