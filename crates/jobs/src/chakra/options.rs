//! How traces are to be understood.

use super::json::Groups;
use crate::collective::{self, Servers};
use crate::dag::Collective;
use xoff_engine::Span;

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub deps: Deps,
    pub resources: Resources,
    pub matching: Matching,
    /// What becomes of traces that look as if something were lost.
    pub strictness: Strictness,
    /// In place of those that the traces tell of.
    pub groups: Option<Groups>,
    /// What a GPU computes that tells its operations and bytes takes so long; else what its duration says.
    pub roofline: Option<Roofline>,
    /// From the arrival of a message to what its receiver does with it.
    pub endpoint_delay: Span,
    pub servers: Servers,
    pub collectives: collective::Options,
    /// How some are done instead.
    pub other_collectives: Vec<(Collective, collective::Options)>,
}

/// A GPU that computes, or waits for its memory, whichever takes longer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Roofline {
    /// Operations in a second, above zero.
    pub operations_per_second: f64,
    /// From and to memory, above zero.
    pub bytes_per_second: f64,
}

impl Roofline {
    /// What so much takes.
    pub(super) fn time(self, operations: i64, bytes: i64) -> Span {
        let seconds = (operations as f64 / self.operations_per_second).max(bytes as f64 / self.bytes_per_second);
        Span::from_s_rounded(seconds)
    }
}

/// Which dependencies hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Deps {
    /// `data_deps` alone, as in the feeder of mlcommons.
    Data,
    /// `ctrl_deps` too, as in ASTRA-sim's (feeder v3).
    #[default]
    Both,
}

/// What a rank does at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Resources {
    /// ASTRA-sim's rule: one operation on the CPU, one on the GPU, one send or collective; any number of receives.
    #[default]
    Astra,
    /// One operation on the CPU, and one in each CUDA stream; what names none is as in ASTRA-sim.
    Stream,
}

/// How sends find their receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Matching {
    /// Sends and receives share `comm_src`, `comm_dst` and `comm_tag`.
    #[default]
    Attributes,
    /// Within groups of two by their order, for traces that say nothing else.
    Order,
}

/// What becomes of traces that look as if something were lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strictness {
    /// They are refused.
    #[default]
    Refuse,
    /// They are taken as they are, with a note.
    Note,
}

impl Options {
    pub(super) fn of(&self, what: Collective) -> &collective::Options {
        let other = self.other_collectives.iter().find(|(kind, _)| *kind == what);
        other.map_or(&self.collectives, |(_, options)| options)
    }
}
