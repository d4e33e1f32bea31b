//! RED marking on the instantaneous egress queue: the congestion point of the ECN family.
//!
//! No averaging. Below `kmin` never, above `kmax` always, between them with a probability that
//! rises linearly to `pmax`. `kmin = kmax` is a step.

use xoff_engine::{Rng, SharedRandom, stream};
use xoff_fabric::scheme::QueueFacts;

/// One queue's marking decision.
#[derive(Clone, Debug)]
pub struct Red {
    kmin_bytes: u64,
    kmax_bytes: u64,
    pmax: f64,
    random: Draw,
}

/// Where numbers come from: a stream of the queue's own, or one generator for the whole run.
#[derive(Clone, Debug)]
enum Draw {
    Own(Rng),
    Shared(SharedRandom),
}

impl Draw {
    #[inline]
    fn unit(&mut self) -> f64 {
        match self {
            Draw::Own(rng) => rng.unit(),
            Draw::Shared(random) => random.draw(),
        }
    }
}

impl Red {
    /// `pmax` is the probability at Kmax, from 0 to 1; beyond Kmax every packet is marked.
    pub fn new(kmin_bytes: u64, kmax_bytes: u64, pmax: f64, facts: &QueueFacts) -> Red {
        let own = || Draw::Own(stream(facts.seed, "red", facts.queue));
        let random = facts.shared_random.clone().map_or_else(own, Draw::Shared);
        Red { kmin_bytes, kmax_bytes, pmax, random }
    }

    /// Whether a packet that sees `queue_bytes` is marked. Draws a random number only between the
    /// thresholds, so that runs stay comparable when thresholds change.
    #[inline]
    pub fn decide(&mut self, queue_bytes: u64) -> bool {
        if queue_bytes <= self.kmin_bytes {
            false
        } else if queue_bytes > self.kmax_bytes {
            true
        } else {
            self.random.unit() < self.probability(queue_bytes)
        }
    }

    /// The rule itself: ecn-red section 2.
    pub fn probability(&self, queue_bytes: u64) -> f64 {
        if queue_bytes <= self.kmin_bytes {
            0.0
        } else if queue_bytes > self.kmax_bytes {
            1.0
        } else {
            self.pmax * (queue_bytes - self.kmin_bytes) as f64 / (self.kmax_bytes - self.kmin_bytes) as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::BitRate;

    fn red(kmin: u64, kmax: u64, pmax: f64) -> Red {
        let facts = QueueFacts::at(BitRate::from_gbps(40));
        Red::new(kmin, kmax, pmax, &facts)
    }

    #[test]
    fn points_of_ecn_red_4_1() {
        let paper = red(5_000, 200_000, 0.01);
        for (queue, percent) in [(5_000, 0.0), (100_000, 0.4872), (200_000, 1.0), (200_001, 100.0)] {
            assert!((paper.probability(queue) * 100.0 - percent).abs() < 5e-5, "{queue} B");
        }
        assert!((red(100_000, 400_000, 0.2).probability(200_000) - 0.06667).abs() < 5e-6);
        assert!((red(160_000, 640_000, 0.2).probability(300_000) - 0.05833).abs() < 5e-6);
    }

    #[test]
    fn statistics_of_ecn_red_4_2() {
        let mut paper = red(5_000, 200_000, 0.01);
        let marks = (0..1_000_000).filter(|_| paper.decide(100_000)).count();
        assert!((4872 - 210..=4872 + 210).contains(&marks), "{marks} marks");
    }

    #[test]
    fn step_of_ecn_red_4_3() {
        let mut step = red(30_000, 30_000, 1.0);
        for _ in 0..100 {
            assert!(!step.decide(29_000) && !step.decide(30_000) && step.decide(31_000));
        }
    }
}
