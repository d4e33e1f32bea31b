//! Macro-flows: all connections of a channel, or of a phase, as one operation, for networks in which they have one rate.
//! Their messages are numbers, not operations.

use crate::terms::Pair;

/// Connections that send together and end together.
#[derive(Clone, PartialEq, Debug)]
pub struct MacroFlow {
    pub edges: Vec<Edge>,
    /// What each connection sends, in parts that follow each other.
    pub parts: Vec<Chunks>,
    pub pace: Pace,
}

/// A connection of a macro-flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Edge {
    pub pair: Pair,
    /// What it sends, in shares of what the parts say; at most one.
    pub share: f32,
}

/// Messages that are cut alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunks {
    /// How often these chunks are sent; each time waits for the last of the time before.
    pub times: u64,
    pub chunks: u64,
    pub chunk_bytes: u64,
    /// Length of a message, but for the last of a chunk.
    pub slice_bytes: u64,
    /// A message goes when the one so many before it has arrived; zero: it waits for none.
    pub depth: u32,
}

/// How messages of the connections wait for each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Not at all.
    Free,
    /// A message passes all connections, one after the other, round and round.
    Ring,
    /// A message passes some connections, by their places: the longest way of any.
    Path(Vec<u32>),
}

impl MacroFlow {
    /// What its busiest connections send.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.times * part.chunks * part.chunk_bytes).sum()
    }
}
