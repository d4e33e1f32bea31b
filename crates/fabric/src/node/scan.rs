//! The flows of a NIC that looks through them ([`NicScheduler::Scan`](crate::network::plan::NicScheduler::Scan)).

use crate::id::SenderId;
use xoff_engine::{Fifo, Time};

/// The flows of one NIC, in the order in which they were opened.
#[derive(Debug)]
pub struct Scan {
    /// Ended ones are [`SenderId::NONE`] until a look passes them.
    pub(crate) flows: Vec<SenderId>,
    /// Place of the flow served last. It stays as it is when ended flows before it are removed.
    pub(crate) last: usize,
    /// ACKs that wait.
    pub(crate) acks: Fifo,
    /// Classes whose pause stops the ACKs.
    pub(crate) ack_gate: u8,
    /// Wake-ups that were moved and are still scheduled: they must not be taken for another of the same
    /// time.
    pub(crate) moved: Vec<Time>,
    /// Flows whose time has come do not keep the NIC from setting a wake-up, and places of ended flows keep the order.
    pub(crate) late: bool,
}

impl Scan {
    pub fn new(ack_gate: u8, late: bool) -> Scan {
        Scan { flows: Vec::new(), last: 0, acks: Fifo::default(), ack_gate, moved: Vec::new(), late }
    }

    /// Whether the wake-up of now is one that was moved; it counts once.
    pub fn take_moved(&mut self, now: Time) -> bool {
        let place = self.moved.iter().position(|at| *at == now);
        place.is_some_and(|place| self.moved.swap_remove(place) == now)
    }

    /// Places from the one after the last served, once around.
    pub(crate) fn order(&self) -> impl Iterator<Item = usize> {
        let (last, count) = (self.last, self.flows.len());
        (1..=count).map(move |step| (step + last) % count)
    }

    /// Removes all ended flows; the order from the one after the last served stays. Returns where `kept` is now.
    pub(crate) fn compact(&mut self, kept: Option<usize>) -> Option<usize> {
        let living = |places: &[SenderId]| places.iter().filter(|flow| **flow != SenderId::NONE).count();
        let kept = kept.map(|place| living(&self.flows[..place]));
        let before = living(&self.flows[..self.flows.len().min(self.last + 1)]);
        self.flows.retain(|flow| *flow != SenderId::NONE);
        // The one after the last served comes first, so the last served is the one before it.
        self.last = (before + self.flows.len()).saturating_sub(1) % self.flows.len().max(1);
        kept
    }

    /// Removes ended flows from `first` on; says where what stood at `kept` stands now.
    pub(crate) fn clear_from(&mut self, first: usize, kept: Option<usize>) -> Option<usize> {
        let before = |place: usize| self.flows[first..place].iter().filter(|flow| **flow == SenderId::NONE).count();
        let kept = kept.map(|place| if place > first { place - before(place) } else { place });
        let mut place = 0;
        self.flows.retain(|flow| {
            place += 1;
            place <= first || *flow != SenderId::NONE
        });
        kept
    }
}
