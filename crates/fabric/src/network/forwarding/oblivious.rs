//! Oblivious spraying: every path once per round, in an order that is drawn for each round.

use crate::contract::forwarding::{PathChoice, PathFacts};
use xoff_engine::{Rng, Time, stream};

/// Rounds over the paths of a flow: path `i xor x` for `i` = 0, 1, ..., with a new `x` for each round. Their number is a
/// power of two.
pub(crate) struct Rounds {
    rng: Rng,
    next: u16,
    order: u16,
}

impl Rounds {
    pub fn new(facts: &PathFacts) -> Rounds {
        Rounds { rng: stream(facts.seed, "rounds of paths", facts.flow), next: 0, order: 0 }
    }

    pub fn next(&mut self, paths: u16) -> u16 {
        if self.next == 0 {
            self.order = self.rng.below(paths.into()) as u16;
        }
        let path = (self.next ^ self.order) & (paths - 1);
        self.next = (self.next + 1) % paths;
        path
    }
}

/// Takes every path once per round.
pub(crate) struct Oblivious(Rounds);

impl Oblivious {
    pub fn new(facts: &PathFacts) -> Oblivious {
        Oblivious(Rounds::new(facts))
    }
}

impl PathChoice for Oblivious {
    fn pick(&mut self, _: Time, _: u32, paths: u16) -> u16 {
        self.0.next(paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_takes_every_path_once_and_rounds_differ() {
        let mut rounds = Rounds::new(&PathFacts { seed: 1, flow: 7 });
        let round = |rounds: &mut Rounds| -> Vec<u16> { (0..16).map(|_| rounds.next(16)).collect() };
        let drawn: Vec<Vec<u16>> = (0..8).map(|_| round(&mut rounds)).collect();
        for order in &drawn {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..16), "{order:?}");
        }
        assert!(drawn.iter().any(|order| *order != drawn[0]));
        assert_eq!(Rounds::new(&PathFacts { seed: 1, flow: 7 }).next(1), 0, "one path");
    }
}
