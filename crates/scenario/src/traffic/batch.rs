//! Many alike flows between given pairs: long-lived flows, bursts, permutations.

use super::choose::{Receivers, derangement};
use super::flow::{Template, staggered};
use super::sizes::Sizes;
use super::timetable::{Cap, Planned};
use std::sync::Arc;
use xoff_engine::rng::Rng;
use xoff_engine::{Span, Time};

#[derive(Clone, Debug)]
pub struct Batch {
    pub pairs: Pairs,
    pub flows_per_pair: u32,
    /// `None`: endless.
    pub sizes: Option<Sizes>,
    pub start: Time,
    /// From one flow's start to the next one's, in the order of the pairs.
    pub stagger: Span,
    pub stop: Option<Time>,
    pub caps: Arc<[Cap]>,
    pub template: Template,
    /// Each flow has a label of its own, counted from 0; else all have label 0.
    pub labelled: bool,
}

/// Who sends to whom.
#[derive(Clone, Debug)]
pub enum Pairs {
    Given(Arc<[(u32, u32)]>),
    Drawn {
        senders: Arc<[u32]>,
        receivers: Receivers,
    },
    /// Each host sends to one other and receives from one other, drawn anew for every seed.
    Permutation(Arc<[u32]>),
}

impl Pairs {
    pub fn count(&self) -> usize {
        match self {
            Pairs::Given(pairs) => pairs.len(),
            Pairs::Drawn { senders, .. } => senders.len(),
            Pairs::Permutation(hosts) => hosts.len(),
        }
    }

    fn draw(&self, rng: &mut Rng) -> Vec<(u32, u32)> {
        match self {
            Pairs::Given(pairs) => pairs.to_vec(),
            Pairs::Drawn { senders, receivers } => {
                senders.iter().enumerate().map(|(rank, sender)| (*sender, receivers.draw(rank, rng))).collect()
            }
            Pairs::Permutation(hosts) => hosts.iter().copied().zip(derangement(hosts, rng)).collect(),
        }
    }
}

impl Batch {
    /// All flows, for a [`super::timetable::Timetable`].
    pub fn plan(&self, rng: &mut Rng) -> Arc<[Planned]> {
        let pairs = self.pairs.draw(rng);
        let mut planned = Vec::with_capacity(pairs.len() * self.flows_per_pair as usize);
        for (src, dst) in pairs {
            for _ in 0..self.flows_per_pair {
                let index = planned.len() as u32;
                let size = self.sizes.as_ref().map(|sizes| sizes.sample(rng));
                let label = if self.labelled { index } else { 0 };
                planned.push(Planned {
                    at: staggered(self.start, self.stagger, u64::from(index)),
                    spec: self.template.flow(index, src, dst, size, label),
                    stop: self.stop,
                    caps: self.caps.clone(),
                });
            }
        }
        planned.into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::tests::{template, wiring};
    use super::*;
    use xoff_engine::rng::stream;

    fn batch(pairs: Pairs) -> Batch {
        Batch {
            pairs,
            flows_per_pair: 1,
            sizes: None,
            start: Time::from_us(10),
            stagger: Span::ZERO,
            stop: None,
            caps: Arc::new([]),
            template: template(),
            labelled: true,
        }
    }

    #[test]
    fn a_burst_of_14_hosts_with_16_flows_each() {
        let pairs: Vec<(u32, u32)> = (2..16).map(|host| (host, 16)).collect();
        let burst = Batch {
            flows_per_pair: 16,
            sizes: Some(Sizes::Fixed(64_000)),
            labelled: false,
            ..batch(Pairs::Given(pairs.into()))
        };
        let flows = burst.plan(&mut stream(1, "traffic", 0));
        assert_eq!((flows.len(), burst.pairs.count()), (224, 14));
        assert!(flows.iter().all(|flow| flow.spec.dst == 16 && flow.at == Time::from_us(10) && flow.spec.label == 0));
        assert_eq!(flows.iter().filter_map(|flow| flow.spec.size_bytes).sum::<u64>(), 14_336_000);
    }

    #[test]
    fn starts_are_staggered() {
        let flows = Batch { stagger: Span::from_us(3), ..batch(Pairs::Given([(0, 1), (2, 3), (4, 5)].into())) }
            .plan(&mut stream(1, "traffic", 0));
        let starts: Vec<u64> = flows.iter().map(|flow| flow.at.ps() / 1_000_000).collect();
        assert_eq!(starts, [10, 13, 16]);
        assert_eq!(flows[2].spec.label, 2);
    }

    #[test]
    fn a_permutation_follows_the_seed() {
        let permutation = batch(Pairs::Permutation((0..50).collect()));
        let receivers = |seed| -> Vec<u32> {
            permutation.plan(&mut stream(seed, "traffic", 0)).iter().map(|f| f.spec.dst).collect()
        };
        assert_eq!(receivers(1), receivers(1));
        assert_ne!(receivers(1), receivers(2));
        let mut once = receivers(1);
        assert!(once.iter().enumerate().all(|(src, dst)| src as u32 != *dst));
        once.sort_unstable();
        assert_eq!(once, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn drawn_receivers_are_others() {
        let hosts: Vec<u32> = (0..6).collect();
        let receivers = Receivers::new(&hosts, &hosts, &wiring(2, 3), true).unwrap();
        let flows = batch(Pairs::Drawn { senders: hosts.into(), receivers }).plan(&mut stream(1, "traffic", 0));
        assert!(flows.iter().all(|flow| flow.spec.src / 3 != flow.spec.dst / 3));
    }
}
