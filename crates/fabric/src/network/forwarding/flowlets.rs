//! Flowlets: packets of a flow that follow each other closely keep their next hop.

use crate::contract::forwarding::{Candidate, Forwarded};
use std::collections::BTreeMap;
use xoff_engine::{Span, Time};

/// Entries of flows that have been idle for so many gaps are removed, and no more often.
const IDLE_GAPS: u64 = 20;

/// Next hop of each flow, and when its last packet came.
pub(crate) struct Flowlets {
    gap: Span,
    flows: BTreeMap<(u32, u16), (u16, Time)>,
    swept: Time,
}

impl Flowlets {
    pub fn new(gap: Span) -> Flowlets {
        Flowlets { gap, flows: BTreeMap::new(), swept: Time::ZERO }
    }

    /// The next hop of the flowlet that a packet belongs to, or what `choose` returns if the packet begins one: it came
    /// more than a gap after the one before, or its next hop is gone.
    pub fn pick(&mut self, packet: &Forwarded, candidates: &[Candidate], choose: impl FnOnce() -> usize) -> usize {
        let now = packet.now;
        self.sweep(now);
        let seen = self.flows.entry((packet.flow, packet.edge)).or_insert((0, Time::NEVER));
        let goes_on = seen.1 <= now && now - seen.1 <= self.gap;
        let kept = candidates.iter().position(|candidate| goes_on && candidate.port == seen.0);
        let place = kept.unwrap_or_else(choose);
        *seen = (candidates[place].port, now);
        place
    }

    fn sweep(&mut self, now: Time) {
        let idle = self.gap * IDLE_GAPS;
        if now.saturating_since(self.swept) > idle {
            self.flows.retain(|_, (_, last)| now.saturating_since(*last) <= idle);
            self.swept = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::forwarding::testing::{candidates, packet};

    #[test]
    fn a_flowlet_ends_after_a_longer_gap_than_allowed() {
        let mut flowlets = Flowlets::new(Span::from_us(100));
        let queues = candidates(&[0, 0, 0]);
        // Each at the time given, with the next hop that a new flowlet would take.
        for (us, would, takes) in [(0, 2, 2), (100, 1, 2), (201, 1, 1), (250, 0, 1), (351, 0, 0)] {
            assert_eq!(flowlets.pick(&packet(us, 7), &queues, || would), takes, "at {us} us");
        }
        assert_eq!(flowlets.pick(&packet(351, 8), &queues, || 1), 1, "another flow");
        // Port 0 is down.
        assert_eq!(flowlets.pick(&packet(352, 7), &queues[1..], || 1), 1);
    }

    #[test]
    fn idle_flows_are_forgotten() {
        let mut flowlets = Flowlets::new(Span::from_us(1));
        for flow in 0..100 {
            flowlets.pick(&packet(u64::from(flow), flow), &candidates(&[0, 0]), || 0);
        }
        assert!(flowlets.flows.len() <= 2 * IDLE_GAPS as usize + 2, "{}", flowlets.flows.len());
    }
}
