//! Size of a collective's graph by arithmetic, before the graph is built.

use super::options::{Chunk, Options};
use super::ring_program::RingProgram;
use crate::compiled;
use std::ops::{Add, AddAssign, Mul};

/// More messages than this would not fit in the memory of most machines; nor would a rank send so many in a day.
const MOST_MESSAGES: u64 = 1 << 28;

/// Memory of a connection of a macro-flow, as it is generated and as it is run, with the ports of its path.
const EDGE_BYTES: u64 = 200;

/// A graph in numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// From rank to rank, inside servers too; exact.
    pub messages: u64,
    /// That they carry; exact.
    pub bytes: u64,
    /// Messages that the graph lists; the others are made when they are due.
    listed: u64,
    /// Messages of a rank that are made when they are due.
    due: u64,
    /// Other operations, at most.
    others: u64,
    /// Needs of operations, at most.
    needs: u64,
    /// Memory of programs and of the tables of their pairs of ranks, about.
    table_bytes: u64,
    /// Connections of macro-flows.
    connections: u64,
}

impl Size {
    /// Operations that send nothing, with as many needs.
    pub fn of_others(others: u64) -> Size {
        Size { others, needs: others, ..Size::default() }
    }

    pub fn of(dag: &crate::Dag) -> Size {
        let (others, needs) = (dag.ops.len() as u64, dag.needs.len() as u64);
        let mut size = Size { others, needs, ..Size::default() };
        for op in &dag.ops {
            if let crate::Work::Send { bytes, .. } = op.work {
                let (messages, bytes) = (size.messages + 1, size.bytes + bytes);
                size = Size { messages, bytes, listed: messages, others: size.others - 1, ..size };
            }
        }
        size
    }

    pub(super) fn of_sends(sends: Sends, members: u64, options: &Options) -> Size {
        let ways = if options.split { 1 } else { u64::from(options.queue_pairs) };
        let split = if options.split { sends.messages.saturating_add(sends.pieces.saturating_mul(2)) } else { 0 };
        let joined = if options.split { sends.pieces } else { 0 };
        Size {
            messages: sends.messages,
            bytes: sends.bytes,
            listed: sends.messages,
            due: 0,
            table_bytes: 0,
            connections: 0,
            others: sends.joins.saturating_add(joined).saturating_add(2 * members),
            // What a message waits for, and what its sender may have under way; the last of each connection.
            needs: (sends.messages.saturating_add(sends.connections).saturating_add(sends.joins))
                .saturating_mul(2 * ways)
                .saturating_add(split)
                .saturating_add(2 * members),
        }
    }

    /// Size of a program with as many connections and members.
    pub(super) fn of_program(sends: Sends, members: u64, options: &Options) -> Size {
        let ways = u64::from(options.queue_pairs);
        Size {
            messages: sends.messages,
            bytes: sends.bytes,
            due: sends.messages.div_ceil(members.max(1)),
            table_bytes: RingProgram::memory_bytes(sends.connections, members, ways)
                .saturating_add(compiled::memory_of_pairs(sends.connections.saturating_mul(ways))),
            ..Size::of_others(2 * members)
        }
    }

    /// Size as macro-flows: what follows messages is left out.
    pub(super) fn of_macro_flows(sends: Sends, members: u64, options: &Options) -> Size {
        let edges = sends.connections.saturating_mul(u64::from(options.queue_pairs));
        Size {
            messages: sends.messages,
            bytes: sends.bytes,
            connections: edges,
            table_bytes: compiled::memory_of_pairs(edges).saturating_add(edges.saturating_mul(EDGE_BYTES)),
            ..Size::of_others(3 * members + 64)
        }
    }

    /// Connections of its macro-flows.
    pub fn connections(&self) -> u64 {
        self.connections
    }

    /// Bytes of memory that the graph takes while it is made; it takes about half of them after that.
    pub fn memory_bytes(&self) -> u64 {
        compiled::memory_to_compile(self.listed.saturating_add(self.others), self.needs)
            .saturating_add(self.table_bytes)
    }

    /// Room for about so many operations and needs.
    pub(super) fn reserve(&self, dag: &mut crate::Dag) {
        dag.ops.reserve((self.listed + self.others) as usize);
        dag.needs.reserve(self.needs as usize);
    }

    /// Refuses what no machine of today would hold.
    pub fn within_reason(self) -> Result<Size, String> {
        let Size { listed, due, others, messages, .. } = self;
        if listed.saturating_add(due).saturating_add(others) <= MOST_MESSAGES {
            return Ok(self);
        }
        let (how_many, whose) = match listed {
            0 => (due, " of a rank"),
            _ => (messages, ""),
        };
        Err(format!(
            "{how_many} messages{whose} are more than {MOST_MESSAGES}: fewer channels or larger chunks make fewer"
        ))
    }

    /// Adds a group that does this at the same time: a rank is in one group.
    pub(crate) fn beside(self, other: Size) -> Size {
        Size { due: self.due.max(other.due), ..self + other }
    }
}

impl Add for Size {
    type Output = Size;
    fn add(self, other: Size) -> Size {
        Size {
            messages: self.messages.saturating_add(other.messages),
            bytes: self.bytes.saturating_add(other.bytes),
            listed: self.listed.saturating_add(other.listed),
            due: self.due.saturating_add(other.due),
            table_bytes: self.table_bytes.saturating_add(other.table_bytes),
            connections: self.connections.saturating_add(other.connections),
            others: self.others.saturating_add(other.others),
            needs: self.needs.saturating_add(other.needs),
        }
    }
}

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Sends {
    /// Each may be cut among queue pairs.
    pub(super) pieces: u64,
    /// Those parts.
    pub(super) messages: u64,
    pub(super) bytes: u64,
    /// Operations that wait for some of them.
    pub(super) joins: u64,
    pub(super) connections: u64,
}

impl Sends {
    pub(super) fn piece(bytes: u64, options: &Options) -> Sends {
        if bytes == 0 {
            return Sends::default();
        }
        let messages = bytes.div_ceil(part_bytes(bytes, split_parts(options)));
        Sends { pieces: 1, messages, bytes, ..Sends::default() }
    }

    /// A chunk, in slices.
    pub(super) fn chunk(chunk: Chunk, bytes: u64, options: &Options) -> Sends {
        each(bytes, chunk.slice_of(bytes), |slice| Sends::piece(slice, options))
    }

    /// All chunks of a part.
    pub(super) fn chunks(chunk: Chunk, bytes: u64, options: &Options) -> Sends {
        each(bytes, chunk.bytes, |bytes| Sends::chunk(chunk, bytes, options))
    }

    /// These on so many connections more, and with so many joins more.
    pub(super) fn with(self, connections: u64, joins: u64) -> Sends {
        Sends { connections: self.connections + connections, joins: self.joins + joins, ..self }
    }
}

/// `bytes` in parts of `part`, the last of which may be shorter.
pub(super) fn each(bytes: u64, part: u64, of: impl Fn(u64) -> Sends) -> Sends {
    let last = bytes % part;
    let whole = if bytes >= part { of(part) * (bytes / part) } else { Sends::default() };
    if last > 0 { whole + of(last) } else { whole }
}

/// Into how many parts a message is cut, at most.
pub(super) fn split_parts(options: &Options) -> u64 {
    if options.split { u64::from(options.queue_pairs) } else { 1 }
}

/// The length of each part of a message, but for the last.
pub(super) fn part_bytes(bytes: u64, parts: u64) -> u64 {
    bytes.div_ceil(parts).next_multiple_of(if parts > 1 { 128 } else { 1 })
}

impl Add for Sends {
    type Output = Sends;
    fn add(self, other: Sends) -> Sends {
        Sends {
            pieces: self.pieces.saturating_add(other.pieces),
            messages: self.messages.saturating_add(other.messages),
            bytes: self.bytes.saturating_add(other.bytes),
            joins: self.joins.saturating_add(other.joins),
            connections: self.connections.saturating_add(other.connections),
        }
    }
}

impl AddAssign for Sends {
    fn add_assign(&mut self, other: Sends) {
        *self = *self + other;
    }
}

/// So many times over.
impl Mul<u64> for Sends {
    type Output = Sends;
    fn mul(self, times: u64) -> Sends {
        Sends {
            pieces: self.pieces.saturating_mul(times),
            messages: self.messages.saturating_mul(times),
            bytes: self.bytes.saturating_mul(times),
            joins: self.joins.saturating_mul(times),
            connections: self.connections.saturating_mul(times),
        }
    }
}
