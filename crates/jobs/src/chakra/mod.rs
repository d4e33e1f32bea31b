//! Chakra execution traces (mlcommons/chakra, `schema/protobuf/et_def.proto`): what ranks of a real or made-up training
//! job computed, sent and received, as a [`Dag`].
//!
//! [`read`] takes the bytes of one rank's file, [`to_dag`] what all ranks did. Traces that would hang are refused
//! before, each [`Defect`] with its rank and node. docs/chakra.md says what is taken how.

mod checks;
mod circle;
mod defect;
mod findings;
mod found;
mod groups;
mod json;
mod lower;
mod meet;
mod node;
mod options;
mod pass;
mod protobuf;
mod read;
mod wait;

pub use defect::{Defect, Fault, Note};
pub use found::{Found, found};
pub use json::{Groups, bundle, groups, unbundle};
pub use node::{LONGEST_NAME, More, Node, NodeKind, Trace};
pub use options::{Deps, Doubts, Matching, Options, Resources, Roofline};
pub use read::{LARGEST_UNPACKED, read};

use crate::dag::Dag;
use findings::Findings;
use groups::Communicators;
use lower::Lowering;
use meet::Meeting;
use pass::Passage;

/// What the ranks of these traces do once, and what is not as it was written. Traces are in ascending order of ranks.
pub fn to_dag(traces: &[Trace], options: &Options) -> Result<(Dag, Vec<Note>), Vec<Defect>> {
    let Sound { meetings, passages, mut findings } = sound(traces, options)?;
    let mut dag =
        Lowering::new(traces, options).lower(&meetings, &passages, &mut findings).map_err(|defect| vec![defect])?;
    lower::delay_receipts(&mut dag, options.endpoint_delay);
    Ok((dag, findings.notes()))
}

/// The defects of these traces. Whether their collectives can be laid out only [`to_dag`] can tell.
pub fn check(traces: &[Trace], options: &Options) -> Result<(), Vec<Defect>> {
    sound(traces, options).map(drop)
}

/// Traces without defects: what their nodes do together.
struct Sound {
    meetings: Vec<Meeting>,
    passages: Vec<Passage>,
    findings: Findings,
}

fn sound(traces: &[Trace], options: &Options) -> Result<Sound, Vec<Defect>> {
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
    let meetings = meet::meetings(traces, &mut groups, &mut findings);
    let passages = pass::passages(traces, options, &mut groups, &mut findings);
    if findings.defects.is_empty() {
        wait::find(traces, options.deps, &meetings, &passages, &mut findings);
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
