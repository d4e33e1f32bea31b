//! Rounds over paths that pass over those which marked or lost packets: `bitmap` and `mixed` of the UEC simulator.

use crate::contract::forwarding::{Loss, PathChoice, PathFacts};
use crate::contract::packet::Ecn;
use crate::network::forwarding::oblivious::Rounds;
use std::collections::VecDeque;
use xoff_engine::{Span, Time};

const MARK: u8 = 1;
const NAK: u8 = 4;
/// Penalty after a timeout, and the largest.
const MOST: u8 = 15;

/// Rounds over paths with a penalty each.
pub(crate) struct Bitmap {
    rounds: Rounds,
    penalties: Vec<u8>,
}

impl Bitmap {
    pub fn new(facts: &PathFacts) -> Bitmap {
        Bitmap { rounds: Rounds::new(facts), penalties: Vec::new() }
    }

    /// The next path without a penalty. The first that is passed over loses one; after a whole round the next is taken
    /// whatever its penalty.
    fn next(&mut self, paths: u16) -> u16 {
        self.penalties.resize(paths.into(), 0);
        Bitmap::choose(&mut self.penalties, || self.rounds.next(paths))
    }

    fn choose(penalties: &mut [u8], mut next: impl FnMut() -> u16) -> u16 {
        for passed in 0..penalties.len() {
            let path = next();
            let penalty = &mut penalties[usize::from(path)];
            if *penalty == 0 {
                return path;
            }
            *penalty -= u8::from(passed == 0);
        }
        next()
    }

    fn punish(&mut self, path: u16, by: u8) {
        if let Some(penalty) = self.penalties.get_mut(usize::from(path)) {
            *penalty = (*penalty + by).min(MOST);
        }
    }

    fn answered(&mut self, path: u16, ecn: Ecn) {
        if ecn == Ecn::Ce {
            self.punish(path, MARK);
        }
    }

    fn lost(&mut self, path: u16, loss: Loss) {
        self.punish(path, if loss == Loss::Timeout { MOST } else { NAK });
    }
}

impl PathChoice for Bitmap {
    fn pick(&mut self, _: Time, _: u32, paths: u16) -> u16 {
        self.next(paths)
    }
    fn on_ack(&mut self, _: Time, path: u16, ecn: Ecn, _: Span) {
        self.answered(path, ecn);
    }
    fn on_loss(&mut self, _: Time, path: u16, loss: Loss) {
        self.lost(path, loss);
    }
}

/// Paths that returned an unmarked ACK, in the order of ACKs and each as often as it did; where there is none, the next
/// of a [`Bitmap`].
pub(crate) struct Mixed {
    good: VecDeque<u16>,
    bitmap: Bitmap,
}

impl Mixed {
    pub fn new(facts: &PathFacts) -> Mixed {
        Mixed { good: VecDeque::new(), bitmap: Bitmap::new(facts) }
    }
}

impl PathChoice for Mixed {
    fn pick(&mut self, _: Time, _: u32, paths: u16) -> u16 {
        self.good.pop_front().unwrap_or_else(|| self.bitmap.next(paths))
    }
    fn on_ack(&mut self, _: Time, path: u16, ecn: Ecn, _: Span) {
        self.bitmap.answered(path, ecn);
        if ecn != Ecn::Ce {
            self.good.push_back(path);
        }
    }
    fn on_loss(&mut self, _: Time, path: u16, loss: Loss) {
        self.bitmap.lost(path, loss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: PathFacts = PathFacts { seed: 1, flow: 7, shared: None };

    #[test]
    fn paths_2_only_the_first_path_passed_over_loses_a_penalty() {
        let (mut penalties, mut at) = ([0, 2, 1, 0], 0);
        let mut next = || {
            at += 1;
            (at - 1) % 4
        };
        let taken: Vec<u16> = (0..11).map(|_| Bitmap::choose(&mut penalties, &mut next)).collect();
        assert_eq!(taken, [0, 3, 0, 3, 0, 1, 3, 0, 1, 2, 3]);
        assert_eq!(penalties, [0; 4]);
    }

    #[test]
    fn marks_naks_and_timeouts_add_up_to_fifteen() {
        let mut bitmap = Bitmap::new(&FACTS);
        bitmap.next(4);
        bitmap.answered(1, Ecn::Ect0);
        bitmap.answered(2, Ecn::Ce);
        bitmap.lost(2, Loss::Nak);
        bitmap.lost(3, Loss::Timeout);
        bitmap.lost(3, Loss::Nak);
        assert_eq!(bitmap.penalties, [0, 0, 5, 15]);
        // With a penalty everywhere a packet still leaves.
        bitmap.penalties = vec![15; 4];
        bitmap.next(4);
        assert_eq!(bitmap.penalties.iter().sum::<u8>(), 59);
    }

    /// A path that fails is tried once in 15 rounds or more (section 8, 9).
    #[test]
    fn a_dead_path_is_tried_rarely() {
        let (mut bitmap, mut tried) = (Bitmap::new(&FACTS), 0);
        for _ in 0..16 * 150 {
            if bitmap.next(16) == 5 {
                tried += 1;
                bitmap.lost(5, Loss::Timeout);
            }
        }
        assert!((5..=10).contains(&tried), "{tried}");
    }

    #[test]
    fn paths_that_answered_unmarked_come_first() {
        let mut mixed = Mixed::new(&FACTS);
        for (path, ecn) in [(5, Ecn::Ect0), (9, Ecn::Ect0), (3, Ecn::Ce), (5, Ecn::Ect0)] {
            mixed.on_ack(Time::ZERO, path, ecn, Span::ZERO);
        }
        let taken = [(); 3].map(|()| mixed.pick(Time::ZERO, 0, 16));
        assert_eq!(taken, [5, 9, 5]);
        let mut rest: Vec<u16> = (0..16).map(|_| mixed.pick(Time::ZERO, 0, 16)).collect();
        rest.sort_unstable();
        assert!(rest.iter().copied().eq(0..16));
    }
}
