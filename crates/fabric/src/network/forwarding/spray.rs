//! Spraying: any path, packet by packet.

use crate::contract::forwarding::{Candidate, Forwarded, NextHop, NextHopFacts, PathChoice, PathFacts};
use crate::network::forwarding::draws::Draws;
use xoff_engine::{Rng, Time, stream};

/// Chooses among the paths of a flow uniformly.
pub(crate) struct SprayPaths(Rng);

impl SprayPaths {
    pub fn new(facts: &PathFacts) -> SprayPaths {
        SprayPaths(stream(facts.seed, "spray", facts.flow))
    }
}

impl PathChoice for SprayPaths {
    fn pick(&mut self, _: Time, _: u32, paths: u16) -> u16 {
        self.0.below(paths.into()) as u16
    }
}

/// Chooses among next hops uniformly.
pub(crate) struct SprayNextHops(Draws);

impl SprayNextHops {
    pub fn new(facts: &NextHopFacts) -> SprayNextHops {
        SprayNextHops(Draws::new(facts, "spray at switch"))
    }
}

impl NextHop for SprayNextHops {
    fn pick(&mut self, packet: &Forwarded, candidates: &[Candidate]) -> usize {
        self.0.of(packet).below(candidates.len() as u64) as usize
    }
}
