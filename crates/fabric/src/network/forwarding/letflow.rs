//! LetFlow: every flowlet takes any next hop (Vanini et al., NSDI 2017).

use crate::contract::forwarding::{Candidate, Forwarded, NextHop, NextHopFacts};
use crate::network::forwarding::draws::Draws;
use crate::network::forwarding::flowlets::Flowlets;
use xoff_engine::Span;

/// Draws a next hop for each flowlet.
pub(crate) struct LetFlow {
    draws: Draws,
    flowlets: Flowlets,
}

impl LetFlow {
    pub fn new(facts: &NextHopFacts, gap: Span) -> LetFlow {
        LetFlow { draws: Draws::new(facts, "letflow"), flowlets: Flowlets::new(gap) }
    }
}

impl NextHop for LetFlow {
    fn pick(&mut self, packet: &Forwarded, candidates: &[Candidate]) -> usize {
        let draws = &self.draws;
        self.flowlets.pick(packet, candidates, || draws.of(packet).below(candidates.len() as u64) as usize)
    }
}
