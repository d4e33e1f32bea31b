//! What is wrong with traces, or worth knowing.

use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceError {
    pub fault: Fault,
    /// In whose trace, if in one.
    pub rank: Option<u32>,
    /// The node's id and name, if one can be blamed.
    pub node: Option<(u64, String)>,
    /// What is wrong, in one line.
    pub what: String,
    /// The remedy; may be empty.
    pub help: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// The bytes are no trace.
    Malformed,
    /// A rank has no trace.
    MissingRank,
    /// A send without its receive or the reverse, or of another size.
    Unpaired,
    /// Dependencies on nodes that do not exist or on each other in a circle, and ids given twice.
    Dependency,
    /// An unknown group, a rank that is no member, or members that do not meet.
    Group,
    /// Communication without bytes.
    Empty,
    /// Communication that does not say whether the CPU does it, or says that it does.
    Processor,
    /// What was recorded is not what happened.
    Lost,
    /// Something that cannot be simulated.
    Unsupported,
}

impl TraceError {
    pub(super) fn new(fault: Fault, what: impl Into<String>) -> TraceError {
        TraceError { fault, rank: None, node: None, what: what.into(), help: String::new() }
    }

    pub(super) fn of_rank(fault: Fault, rank: u32, what: impl Into<String>) -> TraceError {
        TraceError { rank: Some(rank), ..TraceError::new(fault, what) }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> TraceError {
        self.help = help.into();
        self
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.rank, &self.node) {
            (Some(rank), Some((id, name))) => write!(f, "rank {rank}, node {id} `{name}`: ")?,
            (Some(rank), None) => write!(f, "rank {rank}: ")?,
            (None, _) => {}
        }
        f.write_str(&self.what)?;
        if !self.help.is_empty() {
            write!(f, "; {}", self.help)?;
        }
        Ok(())
    }
}

/// Something that is done, but not as the author of the traces may expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
