//! In which order the data packets of a flow with several paths reach its receiver.

use crate::contract::record::Order;
use std::collections::VecDeque;

/// What a receiver has seen of the order of packets. Retransmissions count as arrivals, but are never reordered: they
/// left late.
#[derive(Debug, Default)]
pub(crate) struct ArrivalOrder {
    pub counts: Order,
    arrivals: u64,
    /// Packets that were the highest when they arrived, each with its place among arrivals, in ascending order; those
    /// that are in order by now are forgotten.
    highest: VecDeque<(u32, u64)>,
}

impl ArrivalOrder {
    /// Takes note of a packet. `expected` is the first one missing before it.
    pub fn on_arrival(&mut self, psn: u32, expected: u32, resent: bool) {
        self.arrivals += 1;
        self.counts.out_of_order += u64::from(psn > expected);
        if self.highest.len() == 1
            && let Some(only) = self.highest.back_mut()
            && only.0 < expected.min(psn)
        {
            // Packets that come in order take each other's place.
            *only = (psn, self.arrivals);
        } else if self.highest.back().is_none_or(|&(highest, _)| psn > highest) {
            // A packet below the first one missing can no longer be overtaken.
            while self.highest.front().is_some_and(|&(highest, _)| highest < expected) {
                self.highest.pop_front();
            }
            self.highest.push_back((psn, self.arrivals));
        } else if !resent {
            let after = self.highest.partition_point(|&(highest, _)| highest <= psn);
            if let Some(&(_, overtaken_at)) = self.highest.get(after) {
                self.counts.reordered += 1;
                self.counts.extent_most = self.counts.extent_most.max(self.arrivals - overtaken_at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets in an order, at a receiver that keeps all of them.
    fn counts(arrivals: &[u32]) -> Order {
        let (mut order, mut expected, mut kept) = (ArrivalOrder::default(), 0, Vec::new());
        for &psn in arrivals {
            order.on_arrival(psn, expected, false);
            kept.push(psn);
            while kept.contains(&expected) {
                expected += 1;
            }
        }
        order.counts
    }

    #[test]
    fn paths_7_two_packets_of_eight_are_reordered() {
        let order = Order { reordered: 2, extent_most: 2, out_of_order: 3 };
        assert_eq!(counts(&[0, 1, 3, 4, 2, 6, 5, 7]), order);
        assert_eq!(counts(&[0, 1, 2, 3]), Order::default());
        assert_eq!(counts(&[1, 2, 3, 0]), Order { reordered: 1, extent_most: 3, out_of_order: 3 });
    }

    #[test]
    fn only_what_is_out_of_order_is_remembered() {
        let mut order = ArrivalOrder::default();
        for psn in 0..1000 {
            order.on_arrival(psn, psn, false);
        }
        assert!(order.highest.len() <= 2, "{}", order.highest.len());
    }

    #[test]
    fn a_retransmission_is_not_reordered() {
        let mut order = ArrivalOrder::default();
        for (psn, expected, resent) in [(0, 0, false), (2, 1, false), (1, 1, true), (1, 3, false)] {
            order.on_arrival(psn, expected, resent);
        }
        // Packet 1 came late, two packets after 2, when its retransmission was there already.
        assert_eq!(order.counts, Order { reordered: 1, extent_most: 2, out_of_order: 1 });
    }
}
