//! Macro-flows of a job: the hosts of their connections, and which flows of the job these are.

use super::pairs::QueuePair;
use super::{Completion, JobPlan};
use std::collections::HashMap;
use xoff_fabric::traffic::{self, MacroFlow, MacroPart};
use xoff_jobs::{Message, Pair, macro_flow};

/// Numbers of the queue pairs of a job among its flows: those of a connection are the same in all its macro-flows, and
/// as if its messages were sent.
#[derive(Debug, Default)]
pub struct Numbers {
    of: HashMap<Pair, u32>,
    next: u32,
}

impl Numbers {
    /// A flow starts that is no macro-flow.
    pub fn count(&mut self) {
        self.next += 1;
    }

    fn of(&mut self, pair: Pair) -> u32 {
        let next = &mut self.next;
        *self.of.entry(pair).or_insert_with(|| {
            *next += 1;
            *next - 1
        })
    }
}

/// A macro-flow of a graph on the network of a job.
pub fn macro_flow(flow: &macro_flow::MacroFlow, job: &JobPlan, numbers: &mut Numbers) -> MacroFlow {
    let placement = &job.placement;
    let edge = |edge: &macro_flow::Edge| {
        let pair = edge.pair;
        let first =
            Message { id: 0, from: pair.from, to: pair.to, bytes: 1, lane: pair.lane, pair: 0, iteration: 0, order: 0 };
        let port = QueuePair::new(&first, placement.ports(pair.from, pair.lane), placement.nics[0].len()).port();
        let (src, dst) = placement.hosts(pair.from, pair.to, pair.lane, port);
        traffic::Edge { src, dst, number: numbers.of(pair), share: edge.share }
    };
    let edges: Vec<_> = flow.edges.iter().map(edge).collect();
    let part = |part: &macro_flow::Chunks| MacroPart {
        times: part.times,
        chunks: part.chunks,
        chunk_bytes: part.chunk_bytes,
        slice_bytes: part.slice_bytes,
        depth: part.depth,
    };
    let pace = match &flow.pace {
        macro_flow::Pace::Free => traffic::Pace::Free,
        macro_flow::Pace::Ring => traffic::Pace::Ring,
        macro_flow::Pace::Path(path) => traffic::Pace::Path(path.clone()),
    };
    let spec = job.template.flow(0, edges[0].src, edges[0].dst, None, 0);
    MacroFlow {
        spec: traffic::FlowSpec { offered_bytes: Some(0), ..spec },
        edges,
        parts: flow.parts.iter().map(part).collect(),
        pace,
        overhead: job.overhead,
        acknowledged: job.completion == Completion::Acknowledged,
    }
}
