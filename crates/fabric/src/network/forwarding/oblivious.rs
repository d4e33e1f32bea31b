//! Oblivious spraying: every path once per round, in an order that is drawn for each round.

use crate::contract::forwarding::{PathChoice, PathFacts};
use crate::network::forwarding::draws::PathDraws;
use xoff_engine::Time;

/// Rounds over the paths of a flow: path `i xor x` for `i` = 0, 1, ..., with a new `x` for each round. Their number is a
/// power of two.
pub(crate) struct Rounds {
    draws: PathDraws,
    next: u16,
    order: Option<u16>,
}

impl Rounds {
    pub fn new(facts: &PathFacts) -> Rounds {
        let order = facts.shared.as_ref().map(|shared| shared.order as u16);
        Rounds { draws: PathDraws::new(facts, "rounds of paths"), next: 0, order }
    }

    pub fn next(&mut self, paths: u16) -> u16 {
        let order = self.order.unwrap_or_else(|| self.draws.below(paths));
        let path = (self.next ^ order) & (paths - 1);
        self.next = (self.next + 1) % paths;
        // The next round is ordered when this one ends.
        self.order = Some(if self.next == 0 { self.draws.below(paths) } else { order });
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
        let mut rounds = Rounds::new(&PathFacts { seed: 1, flow: 7, shared: None });
        let round = |rounds: &mut Rounds| -> Vec<u16> { (0..16).map(|_| rounds.next(16)).collect() };
        let drawn: Vec<Vec<u16>> = (0..8).map(|_| round(&mut rounds)).collect();
        for order in &drawn {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..16), "{order:?}");
        }
        assert!(drawn.iter().any(|order| *order != drawn[0]));
        assert_eq!(Rounds::new(&PathFacts { seed: 1, flow: 7, shared: None }).next(1), 0, "one path");
    }
}
