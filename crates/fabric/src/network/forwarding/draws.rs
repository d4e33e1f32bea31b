//! Random numbers of switches, packet by packet, and of senders that choose paths.

use crate::contract::forwarding::{Forwarded, NextHopFacts, PathFacts};
use xoff_engine::rng::mix;
use xoff_engine::{Rng, SharedTwister, stream};

/// Random numbers of one switch. Each packet has a stream of its own, by its flow and the time of its arrival: what other
/// flows send through the switch does not change its draws.
pub(crate) struct Draws {
    seed: u64,
    purpose: &'static str,
}

impl Draws {
    pub fn new(facts: &NextHopFacts, purpose: &'static str) -> Draws {
        Draws { seed: mix(facts.seed ^ mix(u64::from(facts.switch) + 1)), purpose }
    }

    pub fn of(&self, packet: &Forwarded) -> Rng {
        stream(self.seed, self.purpose, mix(packet.flow.into()) ^ packet.now.ps())
    }
}

/// Random numbers of the path choice of one flow.
pub(crate) enum PathDraws {
    Own(Rng),
    /// Drawn in the order of events, with all others of the run.
    Shared(SharedTwister),
}

impl PathDraws {
    pub fn new(facts: &PathFacts, purpose: &'static str) -> PathDraws {
        match &facts.shared {
            None => PathDraws::Own(stream(facts.seed, purpose, facts.flow)),
            Some(shared) => PathDraws::Shared(shared.random.clone()),
        }
    }

    /// A path of so many.
    pub fn below(&mut self, paths: u16) -> u16 {
        match self {
            PathDraws::Own(rng) => rng.below(paths.into()) as u16,
            PathDraws::Shared(random) => random.below(paths.into()) as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::forwarding::testing::packet;

    #[test]
    fn draws_of_packets_are_even() {
        let draws = Draws::new(&NextHopFacts { seed: 1, switch: 3, shared: None }, "test");
        let mut counts = [0; 8];
        (0..10_000).for_each(|us| counts[draws.of(&packet(us, 7)).below(8) as usize] += 1);
        // Bounds of a binomial with p = 1/8 that it leaves once in a million times.
        assert!(counts.iter().all(|count| (1_091..=1_415).contains(count)), "{counts:?}");
        let first = |flow| draws.of(&packet(5, flow)).next_u64();
        assert_eq!(first(7), first(7));
        assert_ne!(first(7), first(8));
    }
}
