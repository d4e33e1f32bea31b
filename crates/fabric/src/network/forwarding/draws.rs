//! Random numbers of switches, packet by packet.

use crate::contract::forwarding::{Forwarded, NextHopFacts};
use xoff_engine::rng::mix;
use xoff_engine::{Rng, stream};

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
