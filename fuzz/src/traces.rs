//! Execution traces.

use super::text;
use xoff_engine::Span;
use xoff_jobs::chakra::{
    Deps, Matching, Options, Resources, Strictness, Trace, bundle, groups, read, to_dag, unbundle,
};
use xoff_jobs::collective::{self, Servers};

/// The file of every rank of two, or a text of all ranks. What is accepted makes a sound job.
pub fn chakra(bytes: &[u8]) -> bool {
    if let Some(text) = text(bytes) {
        let _ = groups(text);
        if let Ok(traces) = unbundle(text) {
            return job(traces);
        }
    }
    let Ok(trace) = read(0, bytes) else { return false };
    let other = Trace { rank: 1, ..trace.clone() };
    job(vec![trace.clone()]) | job(vec![trace, other])
}

fn job(mut traces: Vec<Trace>) -> bool {
    assert_eq!(unbundle(&bundle(&traces)).as_ref(), Ok(&traces), "what is kept is what was read");
    // What a collective takes is its size's doing, not the reader's.
    for more in traces.iter_mut().flat_map(|trace| &mut trace.nodes).filter_map(|node| node.more.as_mut()) {
        more.bytes = more.bytes.map(|bytes| bytes.min(4_000_000));
    }
    if traces.len() > 64 {
        return false;
    }
    let mut accepted = false;
    for (resources, matching) in [(Resources::Astra, Matching::Attributes), (Resources::Stream, Matching::Order)] {
        let options = Options {
            deps: Deps::Both,
            resources,
            matching,
            strictness: Strictness::Note,
            groups: None,
            roofline: None,
            endpoint_delay: Span::from_ns(1),
            servers: Servers { gpus: 1, nics: 1 },
            collectives: collective::Options::default(),
            other_collectives: Vec::new(),
        };
        match to_dag(&traces, &options) {
            Ok((dag, notes)) => {
                dag.check().unwrap_or_else(|why| panic!("an unsound job: {why}"));
                assert!(notes.iter().all(|note| !note.text.is_empty()));
                accepted = true;
            }
            Err(defects) => assert!(defects.iter().all(|defect| !defect.what.is_empty()) && !defects.is_empty()),
        }
    }
    accepted
}
