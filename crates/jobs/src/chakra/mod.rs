//! Chakra execution traces (mlcommons/chakra, `schema/protobuf/et_def.proto`): what ranks of a real or made-up training
//! job computed, sent and received, as a [`Dag`].
//!
//! [`read`] takes the bytes of one rank's file, [`to_dag`] what all ranks did. Traces that would hang are refused
//! before, each [`TraceError`] with its rank and node. docs/chakra.md says what is taken how.

mod checks;
mod cycle;
mod deadlock;
mod error;
mod findings;
mod groups;
mod json;
mod lower;
mod match_collectives;
mod match_messages;
mod node;
mod options;
mod protobuf;
mod read;
mod summary;

pub use error::{Fault, Note, TraceError};
pub use json::{Groups, bundle, groups, unbundle};
pub use node::{LONGEST_NAME, More, Node, NodeKind, Trace};
pub use options::{Deps, Matching, Options, Resources, Roofline, Strictness};
pub use read::{LARGEST_UNPACKED, read};
pub use summary::{TraceSummary, summarise};

use crate::dag::Dag;
use findings::Findings;
use groups::Communicators;
use lower::Lowering;
use match_collectives::MatchedCollective;
use match_messages::MatchedMessage;

/// What the ranks of these traces do once, and what is not as it was written. Traces are in ascending order of ranks.
pub fn to_dag(traces: &[Trace], options: &Options) -> Result<(Dag, Vec<Note>), Vec<TraceError>> {
    let Sound { meetings, passages, mut findings } = sound(traces, options)?;
    let mut dag =
        Lowering::new(traces, options).lower(&meetings, &passages, &mut findings).map_err(|defect| vec![defect])?;
    lower::delay_receipts(&mut dag, options.endpoint_delay);
    Ok((dag, findings.notes()))
}

/// The defects of these traces. Whether their collectives can be generated out only [`to_dag`] can tell.
pub fn check(traces: &[Trace], options: &Options) -> Result<(), Vec<TraceError>> {
    sound(traces, options).map(drop)
}

/// Traces without defects: what their nodes do together.
struct Sound {
    meetings: Vec<MatchedCollective>,
    passages: Vec<MatchedMessage>,
    findings: Findings,
}

fn sound(traces: &[Trace], options: &Options) -> Result<Sound, Vec<TraceError>> {
    let mut findings = Findings::default();
    checks::ranks(traces, &mut findings);
    if !findings.defects.is_empty() {
        return Err(findings.defects);
    }
    for trace in traces {
        checks::order(trace, options.deps, &mut findings);
    }
    let mut groups = Communicators::new(traces, options, &mut findings);
    for trace in traces {
        checks::nodes(trace, options, &groups, &mut findings);
    }
    let meetings = match_collectives::meetings(traces, &mut groups, &mut findings);
    let passages = match_messages::passages(traces, options, &mut groups, &mut findings);
    if findings.defects.is_empty() {
        deadlock::find(traces, options.deps, &meetings, &passages, &mut findings);
    }
    if !findings.defects.is_empty() {
        return Err(findings.defects);
    }
    Ok(Sound { meetings, passages, findings })
}

#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod tests;
