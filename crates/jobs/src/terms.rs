//! Terms that graphs and programs of collectives share: operations, collectives, lanes.

use std::fmt;

/// An operation, by its place in the graph's operations.
pub type OpId = u32;

/// What ranks do together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Collective {
    /// Every rank receives the sum over all ranks.
    AllReduce,
    /// Every rank receives its part of the sum.
    ReduceScatter,
    /// Every rank receives the parts of all ranks.
    AllGather,
    /// Every rank has a part for each other rank.
    AllToAll,
    /// One has what all end with.
    Broadcast,
    /// One ends with the sum.
    Reduce,
    /// No rank continues before all have entered.
    Barrier,
}

/// The connection that a message takes. Messages of one pair of ranks on one lane stay in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lane {
    pub via: Via,
    /// Each channel has connections of its own.
    pub channel: u16,
    /// Each queue pair has a path of its own.
    pub queue_pair: u16,
}

/// Messages of two ranks that stay in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pair {
    pub from: u32,
    pub to: u32,
    pub lane: Lane,
}

/// Which network a message crosses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Via {
    ScaleUp,
    /// The NICs of this number, at both ends.
    Nic(u16),
    /// From rail to rail: out by the NIC of the first number, in by that of the second.
    Cross(u16, u16),
}

impl Collective {
    /// Its name in tables.
    pub fn word(self) -> &'static str {
        match self {
            Collective::AllReduce => "all-reduce",
            Collective::ReduceScatter => "reduce-scatter",
            Collective::AllGather => "all-gather",
            Collective::AllToAll => "all-to-all",
            Collective::Broadcast => "broadcast",
            Collective::Reduce => "reduce",
            Collective::Barrier => "barrier",
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Via::ScaleUp => f.write_str("the scale-up network"),
            Via::Nic(nic) => write!(f, "NIC {nic}"),
            Via::Cross(out, into) => write!(f, "NICs {out} and {into}"),
        }
    }
}
