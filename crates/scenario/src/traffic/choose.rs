//! Choosing who sends to whom.

use super::flow::Wiring;
use std::ops::Range;
use std::sync::Arc;
use xoff_engine::rng::Rng;

/// Senders and the receivers each may choose, ready for draws in constant or logarithmic time.
#[derive(Clone, Debug)]
pub struct Choice {
    senders: Arc<[u32]>,
    /// Running totals of the senders' rates: a sender is drawn in proportion to its rate, so that
    /// each link carries the same load.
    rates: Arc<[u64]>,
    receivers: Receivers,
}

/// Receivers sorted so that those a sender must not choose stand side by side.
#[derive(Clone, Debug)]
pub struct Receivers {
    hosts: Arc<[u32]>,
    /// By sender: the part of `hosts` it skips.
    skipped: Arc<[Range<u32>]>,
}

/// A sender that has nobody to send to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lonely(pub u32);

impl Receivers {
    /// No sender chooses itself; with `other_racks`, nor a host of its own switch.
    pub fn new(senders: &[u32], receivers: &[u32], wiring: &Wiring, other_racks: bool) -> Result<Receivers, Lonely> {
        let made = Receivers::for_some(senders, receivers, wiring, other_racks);
        match (0..senders.len()).find(|rank| !made.reaches_any(*rank)) {
            Some(rank) => Err(Lonely(senders[rank])),
            None => Ok(made),
        }
    }

    /// As [`Receivers::new`], but some senders may have nobody to send to.
    pub fn for_some(senders: &[u32], receivers: &[u32], wiring: &Wiring, other_racks: bool) -> Receivers {
        let mut hosts = receivers.to_vec();
        let place = |host: u32| (wiring.rack(host), host);
        hosts.sort_unstable_by_key(|host| place(*host));
        let skip = |sender: &u32| {
            let (from, to) = if other_racks {
                let rack = wiring.rack(*sender);
                (
                    hosts.partition_point(|host| wiring.rack(*host) < rack),
                    hosts.partition_point(|host| wiring.rack(*host) <= rack),
                )
            } else {
                (
                    hosts.partition_point(|host| place(*host) < place(*sender)),
                    hosts.partition_point(|host| place(*host) <= place(*sender)),
                )
            };
            from as u32..to as u32
        };
        let skipped = senders.iter().map(skip).collect();
        Receivers { hosts: hosts.into(), skipped }
    }

    /// Whether the sender of this rank has anybody to send to.
    pub fn reaches_any(&self, rank: usize) -> bool {
        self.skipped[rank].len() < self.hosts.len()
    }

    pub fn hosts(&self) -> &[u32] {
        &self.hosts
    }

    /// A receiver for the sender of this rank, who must have one; each of those allowed being as likely.
    pub fn draw(&self, rank: usize, rng: &mut Rng) -> u32 {
        let skipped = &self.skipped[rank];
        let gap = skipped.end - skipped.start;
        let drawn = rng.below(self.hosts.len() as u64 - u64::from(gap)) as u32;
        self.hosts[if drawn >= skipped.start { drawn + gap } else { drawn } as usize]
    }
}

impl Choice {
    pub fn new(senders: &[u32], receivers: &[u32], wiring: &Wiring, other_racks: bool) -> Result<Choice, Lonely> {
        let receivers = Receivers::new(senders, receivers, wiring, other_racks)?;
        Ok(Choice { senders: senders.into(), rates: running_rates(senders, wiring), receivers })
    }

    pub fn senders(&self) -> &[u32] {
        &self.senders
    }

    pub fn receivers(&self) -> &[u32] {
        self.receivers.hosts()
    }

    /// The sender's rank and its host.
    pub fn sender(&self, rng: &mut Rng) -> (usize, u32) {
        let rank = draw_by_rate(&self.rates, rng);
        (rank, self.senders[rank])
    }

    pub fn receiver(&self, rank: usize, rng: &mut Rng) -> u32 {
        self.receivers.draw(rank, rng)
    }
}

/// Running totals of the rates at which `hosts` send.
pub fn running_rates(hosts: &[u32], wiring: &Wiring) -> Arc<[u64]> {
    let mut total = 0;
    let add = |host: &u32| {
        total += wiring.rate(*host).bps();
        total
    };
    hosts.iter().map(add).collect()
}

/// The rank of a host drawn in proportion to its rate.
pub fn draw_by_rate(running: &[u64], rng: &mut Rng) -> usize {
    let total = running.last().copied().unwrap_or(1);
    let drawn = rng.below(total);
    running.partition_point(|upto| *upto <= drawn)
}

/// A random order in which nobody stands in its own place, each such order being as likely.
/// `hosts` are distinct and at least two.
pub fn derangement(hosts: &[u32], rng: &mut Rng) -> Vec<u32> {
    let mut order = hosts.to_vec();
    // A shuffle is a derangement once in e tries.
    loop {
        rng.shuffle(&mut order);
        if order.iter().zip(hosts).all(|(a, b)| a != b) {
            return order;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::tests::{row, wiring};
    use super::*;
    use proptest::prelude::*;
    use xoff_engine::BitRate;
    use xoff_engine::rng::stream;

    #[test]
    fn receivers_are_even_and_never_the_sender() {
        let wiring = wiring(2, 3);
        let hosts: Vec<u32> = (0..6).collect();
        for (other_racks, allowed) in [(false, vec![0, 1, 3, 4, 5]), (true, vec![3, 4, 5])] {
            let receivers = Receivers::new(&hosts, &hosts, &wiring, other_racks).unwrap();
            let mut rng = stream(1, "choose", 0);
            let mut seen = [0u32; 6];
            for _ in 0..60_000 {
                seen[receivers.draw(2, &mut rng) as usize] += 1;
            }
            for (host, seen) in seen.into_iter().enumerate() {
                let expected = if allowed.contains(&host) { 60_000 / allowed.len() as u32 } else { 0 };
                assert!(seen.abs_diff(expected) <= expected / 20, "{host}: {seen} not {expected}");
            }
        }
    }

    #[test]
    fn a_sender_with_nobody_to_send_to_is_found() {
        let wiring = wiring(2, 3);
        assert_eq!(Receivers::new(&[0, 1], &[1], &wiring, false).unwrap_err(), Lonely(1));
        assert_eq!(Receivers::new(&[3, 0], &[1, 2], &wiring, true).unwrap_err(), Lonely(0));
        assert!(Receivers::new(&[3], &[1, 2], &wiring, true).is_ok());
    }

    #[test]
    fn faster_hosts_send_more() {
        let (nodes, mut links) = row(1, 2);
        links[0].a_to_b.rate = BitRate::from_gbps(300);
        let wiring = Wiring::new(&nodes, &links);
        let choice = Choice::new(&[0, 1], &[0, 1], &wiring, false).unwrap();
        let mut rng = stream(1, "choose", 1);
        let fast = (0..40_000).filter(|_| choice.sender(&mut rng).1 == 0).count();
        assert!((fast as f64 / 4e4 - 0.75).abs() < 0.01, "{fast}");
    }

    proptest! {
        #[test]
        fn nobody_keeps_its_place(count in 2u32..40, seed in any::<u64>()) {
            let hosts: Vec<u32> = (0..count).map(|i| i * 3).collect();
            let order = derangement(&hosts, &mut stream(seed, "permutation", 0));
            prop_assert!(order.iter().zip(&hosts).all(|(a, b)| a != b));
            let mut sorted = order;
            sorted.sort_unstable();
            prop_assert_eq!(sorted, hosts);
        }
    }
}
