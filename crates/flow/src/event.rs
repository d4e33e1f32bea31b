//! What happens at a known time, completions apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Kinds of events, in the order in which they happen at one instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    /// A fault of the plan.
    Fault,
    /// The last byte of a message is at its receiver.
    Delivered,
    /// The last byte of a message is acknowledged.
    Acknowledged,
    /// A source acts.
    Source,
    /// A probe samples.
    Probe,
}

/// Events are ordered by time, then by what they are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Event {
    /// Picoseconds.
    pub at: u64,
    pub kind: Kind,
    /// Identity of the flow, or name of the source.
    pub tie: u64,
    /// Number of the message in its flow.
    pub message: u32,
    /// Fault, queue pair, source or probe.
    pub index: u32,
    /// Number of the flow in the run, by which a stale event recognises itself.
    pub flow: u32,
}

/// Events to come, the earliest first.
pub(crate) type Events = BinaryHeap<Reverse<Event>>;
