//! All to all: every host sends to every other, in rounds.
//!
//! In round `r` each host sends to the one `r` places on, so no receiver gets two flows of one
//! round. Rounds are made when they are due: nothing grows with the square of the hosts.

use super::flow::{Handles, Template, staggered};
use super::sizes::Sizes;
use std::sync::Arc;
use xoff_engine::rng::{Rng, stream};
use xoff_engine::{Span, Time};
use xoff_fabric::traffic::{Action, Source};

#[derive(Clone, Debug)]
pub struct AllToAll {
    pub hosts: Arc<[u32]>,
    pub sizes: Sizes,
    pub start: Time,
    /// From one round to the next; zero starts all at once.
    pub stagger: Span,
    /// Places are drawn by lot, so that rounds do not follow the wiring.
    pub shuffled: bool,
    pub template: Template,
}

impl AllToAll {
    pub fn flows(&self) -> u64 {
        let hosts = self.hosts.len() as u64;
        hosts * (hosts - 1)
    }

    pub fn source(&self, seed: u64, key: u64) -> AllToAllSource {
        let mut order = self.hosts.to_vec();
        if self.shuffled {
            stream(seed, "traffic", key).shuffle(&mut order);
        }
        AllToAllSource {
            order,
            round: 1,
            draws: stream(seed, "traffic flows", key),
            handles: Handles::default(),
            of: self.clone(),
        }
    }
}

#[derive(Debug)]
pub struct AllToAllSource {
    of: AllToAll,
    order: Vec<u32>,
    /// The next, from 1 to one below the number of hosts.
    round: usize,
    draws: Rng,
    handles: Handles,
}

impl Source for AllToAllSource {
    fn reacts(&self) -> bool {
        false // It only gives handles out again, which nobody sees.
    }

    fn next(&self) -> Option<Time> {
        let at = staggered(self.of.start, self.of.stagger, self.round as u64 - 1);
        (self.round < self.order.len() && at < Time::NEVER).then_some(at)
    }

    fn act(&mut self, _now: Time, out: &mut Vec<Action>) {
        let count = self.order.len();
        for place in 0..count {
            let (src, dst) = (self.order[place], self.order[(place + self.round) % count]);
            let size = self.of.sizes.sample(&mut self.draws);
            out.push(Action::Start(self.of.template.flow(self.handles.take(), src, dst, Some(size), 0)));
        }
        self.round += 1;
    }

    fn on_finished(&mut self, _now: Time, handle: u32) {
        self.handles.give(handle);
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::tests::template;
    use super::super::timetable::tests::play;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_pair_once_and_no_receiver_twice_in_a_round() {
        for shuffled in [false, true] {
            let all = AllToAll {
                hosts: (0..9).collect(),
                sizes: Sizes::Fixed(1000),
                start: Time::from_us(2),
                stagger: Span::from_us(5),
                shuffled,
                template: template(),
            };
            let flows: Vec<(Time, u32, u32)> = play(&mut all.source(1, 0), usize::MAX)
                .into_iter()
                .map(|(at, action)| match action {
                    Action::Start(spec) => (at, spec.src, spec.dst),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(flows.len() as u64, all.flows());
            assert_eq!(flows.iter().map(|(_, src, dst)| (src, dst)).collect::<BTreeSet<_>>().len(), 72);
            assert!(flows.iter().all(|(_, src, dst)| src != dst));
            for round in flows.chunks(9) {
                assert!(round.iter().all(|flow| flow.0 == round[0].0));
                assert_eq!(round.iter().map(|(_, _, dst)| dst).collect::<BTreeSet<_>>().len(), 9);
            }
            assert_eq!(flows[71].0, Time::from_us(2 + 7 * 5));
            assert_eq!(flows[0] == (Time::from_us(2), 0, 1), !shuffled);
        }
    }
}
