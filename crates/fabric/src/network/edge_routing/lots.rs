//! Random numbers of the machines of edge routing.

use crate::contract::edge_routing::EdgeFacts;
use xoff_engine::{Rng, SharedGlibc, stream};

/// Draws of one switch: a stream of its own, or the generator that all share.
#[derive(Debug)]
pub(super) enum Lots {
    Own(Rng),
    Shared(SharedGlibc),
}

impl Lots {
    pub fn new(facts: &EdgeFacts, purpose: &str) -> Lots {
        match &facts.shared {
            Some(shared) => Lots::Shared(shared.clone()),
            None => Lots::Own(stream(facts.seed, purpose, facts.switch.into())),
        }
    }

    /// One of `n`.
    pub fn below(&mut self, n: usize) -> usize {
        match self {
            Lots::Own(rng) => rng.below(n as u64) as usize,
            Lots::Shared(shared) => shared.below(n),
        }
    }
}
