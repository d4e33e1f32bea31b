//! Paths as in OCP Multipath Reliable Connection 1.0, as far as it is public: a set in use and a reserve.
//!
//! A path that marked or trimmed is passed over once. One that lost a packet otherwise is assumed to be bad: one of the
//! reserve takes its place, and it is tried again now and then. Assumptions: half of all paths are the reserve, one loss
//! is enough, and a path is tried with a data packet, after 100 us and after twice as long each time, up to 10 ms. (The
//! real ones have probes.) Planes are not here.

use crate::contract::forwarding::{Loss, PathChoice, PathFacts};
use crate::contract::packet::Ecn;
use crate::network::forwarding::oblivious::Rounds;
use std::collections::VecDeque;
use xoff_engine::{Span, Time};

/// From a loss to the first trial of its path.
const FIRST_TRIAL: Span = Span::from_us(100);
/// Longest time between two trials.
const TRIAL_MOST: Span = Span::from_ms(10);

/// Path that is assumed to be bad.
struct Bad {
    path: u16,
    /// When it is tried next; `NEVER` while a trial is on its way.
    trial: Time,
    wait: Span,
}

/// Rounds over the paths in use.
pub(crate) struct Mrc {
    rounds: Rounds,
    active: Vec<u16>,
    reserve: VecDeque<u16>,
    /// To be passed over once, by path.
    skip: Vec<bool>,
    bad: Vec<Bad>,
}

impl Mrc {
    pub fn new(facts: &PathFacts) -> Mrc {
        Mrc {
            rounds: Rounds::new(facts),
            active: Vec::new(),
            reserve: VecDeque::new(),
            skip: Vec::new(),
            bad: Vec::new(),
        }
    }

    fn begin(&mut self, paths: u16) {
        let active = (paths / 2).max(1);
        self.active = (0..active).collect();
        self.reserve = (active..paths).collect();
        self.skip = vec![false; paths.into()];
    }

    fn trial(&mut self, now: Time) -> Option<u16> {
        let bad = self.bad.iter_mut().find(|bad| bad.trial <= now)?;
        bad.trial = Time::NEVER;
        Some(bad.path)
    }

    fn pass_over(&mut self, path: u16) {
        if let Some(skip) = self.skip.get_mut(usize::from(path)) {
            *skip = true;
        }
    }

    /// A packet was lost on a path. Without a reserve the path stays in use.
    fn assume_bad(&mut self, now: Time, path: u16) {
        if let Some(bad) = self.bad.iter_mut().find(|bad| bad.path == path) {
            bad.wait = (bad.wait * 2).min(TRIAL_MOST);
            bad.trial = now + bad.wait;
            return;
        }
        let Some(place) = self.active.iter().position(|active| *active == path) else { return };
        match self.reserve.pop_front() {
            Some(other) => {
                self.active[place] = other;
                self.bad.push(Bad { path, trial: now + FIRST_TRIAL, wait: FIRST_TRIAL });
            }
            None => self.pass_over(path),
        }
    }
}

impl PathChoice for Mrc {
    fn pick(&mut self, now: Time, _: u32, paths: u16) -> u16 {
        if self.skip.len() != usize::from(paths) {
            self.begin(paths);
        }
        if let Some(path) = self.trial(now) {
            return path;
        }
        let count = self.active.len() as u16;
        for _ in 0..count {
            let path = self.active[usize::from(self.rounds.next(count))];
            if !std::mem::take(&mut self.skip[usize::from(path)]) {
                return path;
            }
        }
        self.active[usize::from(self.rounds.next(count))]
    }

    fn on_ack(&mut self, _: Time, path: u16, ecn: Ecn, _: Span) {
        // A trial that succeeded: the path waits for its turn in the reserve.
        if let Some(place) = self.bad.iter().position(|bad| bad.path == path && bad.trial == Time::NEVER) {
            self.bad.swap_remove(place);
            self.reserve.push_back(path);
        }
        if ecn == Ecn::Ce {
            self.pass_over(path);
        }
    }

    fn on_loss(&mut self, now: Time, path: u16, loss: Loss) {
        match loss {
            Loss::Trimmed => self.pass_over(path),
            Loss::Nak | Loss::Timeout => self.assume_bad(now, path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(mrc: &mut Mrc, us: u64, packets: usize) -> Vec<u16> {
        (0..packets).map(|_| mrc.pick(Time::from_us(us), 0, 16)).collect()
    }

    fn mrc() -> Mrc {
        let mut mrc = Mrc::new(&PathFacts { seed: 1, flow: 7, shared: None });
        picked(&mut mrc, 0, 8);
        mrc
    }

    #[test]
    fn half_of_the_paths_are_used_once_per_round() {
        let mut round = picked(&mut mrc(), 0, 8);
        round.sort_unstable();
        assert!(round.iter().copied().eq(0..8), "{round:?}");
    }

    #[test]
    fn marks_and_trims_pass_over_a_path_once() {
        let mut mrc = mrc();
        mrc.on_ack(Time::ZERO, 3, Ecn::Ce, Span::ZERO);
        mrc.on_ack(Time::ZERO, 4, Ecn::Ect0, Span::ZERO);
        mrc.on_loss(Time::ZERO, 5, Loss::Trimmed);
        let mut round = picked(&mut mrc, 0, 6);
        round.sort_unstable();
        assert_eq!(round, [0, 1, 2, 4, 6, 7]);
        let mut next = picked(&mut mrc, 0, 8);
        next.sort_unstable();
        assert!(next.iter().copied().eq(0..8), "{next:?}");
    }

    #[test]
    fn a_lost_packet_replaces_its_path_and_trials_bring_it_back() {
        let mut mrc = mrc();
        mrc.on_loss(Time::ZERO, 3, Loss::Timeout);
        let round = picked(&mut mrc, 99, 8);
        assert!(!round.contains(&3) && round.contains(&8));
        assert_eq!(picked(&mut mrc, 100, 1), [3], "one packet tries it");
        assert!(!picked(&mut mrc, 101, 64).contains(&3));
        // Lost again: twice as long.
        mrc.on_loss(Time::from_us(150), 3, Loss::Timeout);
        assert!(!picked(&mut mrc, 349, 64).contains(&3));
        assert_eq!(picked(&mut mrc, 350, 1), [3]);
        mrc.on_ack(Time::from_us(360), 3, Ecn::Ect0, Span::ZERO);
        assert!(mrc.bad.is_empty() && mrc.reserve.back() == Some(&3));
        // Without a reserve a path is passed over and stays.
        mrc.reserve.clear();
        mrc.on_loss(Time::from_us(400), 5, Loss::Timeout);
        assert!(mrc.active.contains(&5) && mrc.skip[5]);
    }
}
