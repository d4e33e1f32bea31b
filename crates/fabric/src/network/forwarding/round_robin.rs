//! Round robin: every next hop once per round, in an order that is drawn for each round. `ecmp_rr` of the UEC simulator.

use crate::contract::forwarding::{Candidate, Forwarded, NextHop, NextHopFacts};
use crate::network::forwarding::draws::Draws;
use xoff_engine::Rng;

/// Next hops of one group of equal cost.
struct Round {
    /// First port of the group, and how many there are: what a switch knows it by.
    first: u16,
    order: Vec<u16>,
    next: usize,
}

/// Goes through the next hops of each group, whatever the destination. The order of a round is a draw of the packet that
/// begins it.
pub(crate) struct RoundRobin {
    draws: Draws,
    rounds: Vec<Round>,
}

impl RoundRobin {
    pub fn new(facts: &NextHopFacts) -> RoundRobin {
        RoundRobin { draws: Draws::new(facts, "round robin"), rounds: Vec::new() }
    }
}

impl Round {
    fn take(&mut self, rng: impl FnOnce() -> Rng) -> usize {
        if self.next == 0 {
            let mut rng = rng();
            for place in (1..self.order.len()).rev() {
                self.order.swap(place, rng.below(place as u64 + 1) as usize);
            }
        }
        let taken = self.order[self.next];
        self.next = (self.next + 1) % self.order.len();
        usize::from(taken)
    }
}

impl NextHop for RoundRobin {
    fn pick(&mut self, packet: &Forwarded, candidates: &[Candidate]) -> usize {
        let first = candidates[0].port;
        let known = |round: &Round| round.first == first && round.order.len() == candidates.len();
        let place = self.rounds.iter().position(known).unwrap_or_else(|| {
            self.rounds.push(Round { first, order: (0..candidates.len() as u16).collect(), next: 0 });
            self.rounds.len() - 1
        });
        let draws = &self.draws;
        self.rounds[place].take(|| draws.of(packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::forwarding::testing::{candidates, packet};

    #[test]
    fn a_round_takes_every_next_hop_once_and_rounds_differ() {
        let mut rule = RoundRobin::new(&NextHopFacts { seed: 1, switch: 3, shared: None });
        let four = candidates(&[0; 4]);
        let rounds: Vec<Vec<usize>> =
            (0..16).map(|round| (0..4).map(|at| rule.pick(&packet(round * 4 + at, 7), &four)).collect()).collect();
        for round in &rounds {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
        }
        assert!(rounds.iter().any(|round| *round != rounds[0]));
        // A group that has lost a next hop begins a round of its own.
        assert!(rule.pick(&packet(99, 7), &four[..3]) < 3);
        assert_eq!(rule.rounds.len(), 2);
    }
}
