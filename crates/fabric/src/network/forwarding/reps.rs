//! REPS: recycled entropies (Bonato et al., arXiv 2407.21625), as the UEC simulator has it.

use crate::contract::forwarding::{Loss, PathChoice, PathFacts};
use crate::contract::packet::Ecn;
use crate::network::forwarding::draws::PathDraws;
use xoff_engine::{Span, Time};

/// Paths that are remembered.
const KEPT: usize = 8;
/// How long a sender takes no new path after a timeout.
const FREEZE: Span = Span::from_ms(10);
/// Packets on any path after that.
const EXPLORING: u32 = 16;

/// A ring of paths that returned unmarked ACKs. Each is used once, in the order of ACKs; where none is left, any path.
/// After a timeout the ring is cycled through for a while, used or not.
pub(crate) struct Reps {
    draws: PathDraws,
    ring: [u16; KEPT],
    /// Paths in the ring that have not been used since their ACK: a bit for each place.
    valid: u8,
    /// Places that were ever written, as long as not all are.
    len: usize,
    /// Where the next path is written, and from where the oldest is read.
    head: usize,
    frozen_until: Option<Time>,
    /// Place that is read next while frozen.
    cycle: usize,
    exploring: u32,
}

impl Reps {
    pub fn new(facts: &PathFacts) -> Reps {
        Reps {
            draws: PathDraws::new(facts, "reps"),
            ring: [0; KEPT],
            valid: 0,
            len: 0,
            head: 0,
            frozen_until: None,
            cycle: 0,
            exploring: 0,
        }
    }

    /// The first feedback after the freeze ends it.
    fn thaw(&mut self, now: Time) {
        if self.frozen_until.is_some_and(|until| now > until) {
            (self.valid, self.len, self.head, self.cycle) = (0, 0, 0, 0);
            (self.frozen_until, self.exploring) = (None, EXPLORING);
        }
    }

    /// The oldest path that has not been used since its ACK.
    fn oldest_valid(&mut self) -> Option<u16> {
        let place = (0..KEPT).map(|step| (self.head + step) % KEPT).find(|place| self.valid & 1 << place != 0)?;
        self.valid &= !(1 << place);
        Some(self.ring[place])
    }
}

impl PathChoice for Reps {
    fn pick(&mut self, _: Time, _: u32, paths: u16) -> u16 {
        if self.frozen_until.is_some() && self.len > 0 {
            let place = self.cycle;
            self.cycle = (place + 1) % self.len;
            self.valid &= !(1 << place);
            return self.ring[place];
        }
        if self.exploring > 0 {
            self.exploring -= 1;
        } else if let Some(path) = self.oldest_valid() {
            return path;
        }
        self.draws.below(paths)
    }

    fn on_ack(&mut self, now: Time, path: u16, ecn: Ecn, _: Span) {
        self.thaw(now);
        if ecn == Ecn::Ce {
            return;
        }
        self.ring[self.head] = path;
        self.valid |= 1 << self.head;
        self.head = (self.head + 1) % KEPT;
        self.len = (self.len + 1).min(KEPT);
    }

    fn on_loss(&mut self, now: Time, _: u16, loss: Loss) {
        self.thaw(now);
        if loss == Loss::Timeout && self.exploring == 0 && self.frozen_until.is_none() {
            self.frozen_until = Some(now + FREEZE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reps(good: impl IntoIterator<Item = u16>) -> Reps {
        let mut reps = Reps::new(&PathFacts { seed: 1, flow: 7, shared: None });
        good.into_iter().for_each(|path| reps.on_ack(Time::ZERO, path, Ecn::Ect0, Span::ZERO));
        reps
    }

    fn sent(reps: &mut Reps, us: u64, packets: usize) -> Vec<u16> {
        (0..packets).map(|_| reps.pick(Time::from_us(us), 0, 1000)).collect()
    }

    #[test]
    fn paths_2_good_paths_are_used_once_each_in_the_order_of_their_acks() {
        let mut few = reps([5, 9, 5]);
        assert_eq!(sent(&mut few, 0, 3), [5, 9, 5]);
        assert!(sent(&mut few, 0, 32).iter().any(|path| ![5, 9].contains(path)), "then any");
        assert_eq!(sent(&mut reps(1..=9), 0, 8), [2, 3, 4, 5, 6, 7, 8, 9], "the ring holds eight");
    }

    #[test]
    fn marked_acks_and_naks_leave_the_ring_alone() {
        let mut reps = reps([5]);
        reps.on_ack(Time::ZERO, 6, Ecn::Ce, Span::ZERO);
        reps.on_loss(Time::ZERO, 7, Loss::Nak);
        assert_eq!(sent(&mut reps, 0, 1), [5]);
        assert!(reps.frozen_until.is_none());
    }

    #[test]
    fn a_timeout_freezes_the_ring_for_ten_milliseconds() {
        let mut reps = reps([5, 9]);
        sent(&mut reps, 0, 1);
        reps.on_loss(Time::from_us(100), 3, Loss::Timeout);
        assert_eq!(sent(&mut reps, 101, 5), [5, 9, 5, 9, 5], "used or not");
        // Good ACKs still enter: eight of them, and nothing else is sent.
        (20..28).for_each(|path| reps.on_ack(Time::from_us(200), path, Ecn::Ect0, Span::ZERO));
        assert!(sent(&mut reps, 201, 16).iter().all(|path| (20..28).contains(path)));
        // After the thaw 16 packets go anywhere, whatever ACKs say; a timeout then freezes nothing.
        assert!(sent(&mut reps, 10_101, 8).iter().all(|path| (20..28).contains(path)), "until something is answered");
        reps.on_ack(Time::from_us(10_101), 20, Ecn::Ce, Span::ZERO);
        let anywhere = sent(&mut reps, 10_101, 15);
        assert!(anywhere.iter().filter(|path| !(20..28).contains(*path)).count() > 10);
        reps.on_ack(Time::from_us(10_101), 77, Ecn::Ect0, Span::ZERO);
        reps.on_loss(Time::from_us(10_101), 3, Loss::Timeout);
        assert!(reps.frozen_until.is_none());
        sent(&mut reps, 10_102, 1);
        assert_eq!(sent(&mut reps, 10_102, 1), [77]);
    }

    /// The place after the last is the first, as many as there were when the last was read.
    #[test]
    fn a_ring_that_grows_while_it_is_frozen_goes_on_from_its_first_place() {
        let mut reps = reps([5, 9]);
        reps.on_loss(Time::from_us(100), 3, Loss::Timeout);
        assert_eq!(sent(&mut reps, 101, 2), [5, 9]);
        reps.on_ack(Time::from_us(102), 7, Ecn::Ect0, Span::ZERO);
        assert_eq!(sent(&mut reps, 103, 4), [5, 9, 7, 5]);
    }

    #[test]
    fn a_frozen_sender_without_good_paths_takes_any() {
        let mut reps = reps([]);
        reps.on_loss(Time::ZERO, 3, Loss::Timeout);
        assert!(sent(&mut reps, 1, 32).windows(2).any(|two| two[0] != two[1]));
    }
}
