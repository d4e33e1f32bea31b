//! Adaptive routing: the next hop with the shortest queue, packet by packet or flowlet by flowlet.

use crate::contract::forwarding::{Candidate, Forwarded, NextHop, NextHopFacts};
use crate::network::forwarding::draws::Draws;
use crate::network::forwarding::flowlets::Flowlets;
use xoff_engine::Span;
use xoff_engine::rng::mix;

/// Parameters of adaptive routing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdaptiveSettings {
    /// Queues are compared by their bytes over this, rounded down; zero compares bytes.
    pub quantum_bytes: u64,
    /// Next hops where the packet's class is paused count only if it is paused at all of them.
    pub skip_paused: bool,
    /// Which of equal next hops is taken.
    pub tie: Tie,
    /// Packets of a flow that follow each other within this keep their next hop; `None`: each packet chooses.
    pub flowlet_gap: Option<Span>,
}

/// Which of equally good next hops is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tie {
    /// Any, drawn anew each time.
    Random,
    /// The first in the order of next hops.
    Lowest,
    /// The one that a hash of flow and switch names.
    Hash,
}

/// Chooses the shortest queue.
pub(crate) struct Adaptive {
    draws: Draws,
    switch: u64,
    settings: AdaptiveSettings,
    flowlets: Option<Flowlets>,
}

impl Adaptive {
    pub fn new(facts: &NextHopFacts, settings: AdaptiveSettings) -> Adaptive {
        Adaptive {
            draws: Draws::new(facts, "adaptive"),
            switch: mix(facts.seed ^ mix(u64::from(facts.switch) + 1)),
            flowlets: settings.flowlet_gap.map(Flowlets::new),
            settings,
        }
    }
}

/// The best of `candidates` for a packet.
fn least(
    settings: &AdaptiveSettings,
    packet: &Forwarded,
    candidates: &[Candidate],
    (switch, draws): (u64, &Draws),
) -> usize {
    let level = |candidate: &Candidate| {
        let paused = settings.skip_paused && candidate.paused;
        (paused, candidate.queue_bytes / settings.quantum_bytes.max(1))
    };
    let Some(best) = candidates.iter().map(level).min() else { return 0 };
    let equal = || (0..candidates.len()).filter(|&place| level(&candidates[place]) == best);
    let count = equal().count() as u64;
    let which = match settings.tie {
        _ if count == 1 => 0,
        Tie::Random => draws.of(packet).below(count),
        Tie::Lowest => 0,
        Tie::Hash => mix(switch ^ mix(packet.flow.into())) % count,
    };
    equal().nth(which as usize).unwrap_or(0)
}

impl NextHop for Adaptive {
    fn pick(&mut self, packet: &Forwarded, candidates: &[Candidate]) -> usize {
        let Adaptive { draws, switch, settings, flowlets } = self;
        match flowlets {
            Some(flowlets) => {
                flowlets.pick(packet, candidates, || least(settings, packet, candidates, (*switch, draws)))
            }
            None => least(settings, packet, candidates, (*switch, draws)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::forwarding::testing::{candidates, packet};

    const SETTINGS: AdaptiveSettings =
        AdaptiveSettings { quantum_bytes: 0, skip_paused: true, tie: Tie::Random, flowlet_gap: None };

    fn adaptive(settings: AdaptiveSettings) -> Adaptive {
        Adaptive::new(&NextHopFacts { seed: 1, switch: 3, shared: None }, settings)
    }

    /// How often each is chosen of 1,000 times, for one flow after the other.
    fn chosen(settings: AdaptiveSettings, candidates: &[Candidate]) -> Vec<u32> {
        let mut rule = adaptive(settings);
        let mut counts = vec![0; candidates.len()];
        (0..1000).for_each(|flow| counts[rule.pick(&packet(0, flow), candidates)] += 1);
        counts
    }

    #[test]
    fn paths_2_queues_within_a_quantum_are_equal() {
        let queues = candidates(&[1999, 0, 2000, 5000]);
        let quantised = AdaptiveSettings { quantum_bytes: 2000, ..SETTINGS };
        let counts = chosen(quantised, &queues);
        assert_eq!(counts[2..], [0, 0]);
        // Bounds of a fair coin that 1,000 throws leave once in a million.
        assert!((422..=578).contains(&counts[0]) && counts[0] + counts[1] == 1000, "{counts:?}");
        assert_eq!(chosen(SETTINGS, &queues), [0, 1000, 0, 0], "exact");
    }

    #[test]
    fn paused_next_hops_are_skipped_unless_all_are() {
        let mut queues = candidates(&[0, 100, 200]);
        queues[0].paused = true;
        assert_eq!(chosen(SETTINGS, &queues), [0, 1000, 0]);
        assert_eq!(chosen(AdaptiveSettings { skip_paused: false, ..SETTINGS }, &queues), [1000, 0, 0]);
        queues.iter_mut().for_each(|candidate| candidate.paused = true);
        assert_eq!(chosen(SETTINGS, &queues), [1000, 0, 0]);
    }

    #[test]
    fn ties_go_to_the_first_or_stay_with_a_flow() {
        let queues = candidates(&[300, 0, 0, 0]);
        assert_eq!(chosen(AdaptiveSettings { tie: Tie::Lowest, ..SETTINGS }, &queues), [0, 1000, 0, 0]);
        let hashed = AdaptiveSettings { tie: Tie::Hash, ..SETTINGS };
        assert!(chosen(hashed, &queues)[1..].iter().all(|&count| count > 250));
        let mut rule = adaptive(hashed);
        let first = rule.pick(&packet(0, 5), &queues);
        assert!((0..100).all(|_| rule.pick(&packet(0, 5), &queues) == first));
    }

    #[test]
    fn a_flowlet_stays_where_it_is_however_long_the_queue() {
        let gap = Some(Span::from_us(10));
        let mut rule = adaptive(AdaptiveSettings { flowlet_gap: gap, ..SETTINGS });
        assert_eq!(rule.pick(&packet(0, 1), &candidates(&[0, 500])), 0);
        assert_eq!(rule.pick(&packet(10, 1), &candidates(&[900, 0])), 0);
        assert_eq!(rule.pick(&packet(21, 1), &candidates(&[900, 0])), 1);
    }
}
