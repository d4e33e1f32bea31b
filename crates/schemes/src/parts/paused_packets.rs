//! Which packets of a queue were held by a PAUSE (PCN, section 5.1 and Figure 7).
//!
//! A queue is first in, first out, so those that waited at a RESUME are the next to leave: their
//! number is enough.

use xoff_fabric::scheme::QueueView;

/// The packets of one egress queue that a PAUSE has held.
#[derive(Clone, Debug, Default)]
pub struct PausedPackets {
    /// Data packets in the queue, of whatever scheme. Counted here because ACKs may share the queue
    /// and are not shown at departure: they must not use up the count of paused ones.
    waiting: u32,
    /// PN: of those, the ones that were in the queue at the last RESUME.
    left: u32,
}

impl PausedPackets {
    /// A data packet joins the queue; the view is without it.
    #[inline]
    pub fn arrive(&mut self, view: &QueueView) {
        // What the buffer refused or a watchdog flushed was counted in, but never leaves.
        self.waiting = self.waiting.min(view.queue_packets);
        self.left = self.left.min(self.waiting);
        self.waiting += 1;
    }

    /// A data packet has left the queue; says whether a PAUSE had held it.
    #[inline]
    pub fn leave(&mut self, view: &QueueView) -> bool {
        self.waiting = self.waiting.saturating_sub(1).min(view.queue_packets);
        let held = self.left > 0;
        self.left = self.left.saturating_sub(1).min(self.waiting);
        held
    }

    /// The port may send again: all that wait were held, those of an earlier PAUSE and new ones alike.
    pub fn resume(&mut self, view: &QueueView) {
        self.waiting = self.waiting.min(view.queue_packets);
        self.left = self.waiting;
    }

    /// How many of the next packets to leave were held.
    #[cfg(test)]
    pub fn left(&self) -> u32 {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::{BitRate, Time};

    fn view(packets: u32) -> QueueView {
        QueueView { queue_packets: packets, ..QueueView::at(BitRate::from_gbps(40), Time::ZERO, 0) }
    }

    #[test]
    fn what_was_flushed_is_not_waited_for() {
        let mut paused = PausedPackets::default();
        (0..4).for_each(|packets| paused.arrive(&view(packets)));
        paused.resume(&view(4));
        assert_eq!(paused.left(), 4);
        // A watchdog empties the queue; none of the four comes to leave it.
        paused.arrive(&view(0));
        assert!(!paused.leave(&view(0)), "it came after the RESUME");
    }
}
