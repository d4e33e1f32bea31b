//! Incast: now and then many senders answer one receiver at the same instant.

use super::choose::draw_by_rate;
use super::flow::{Handles, Template, Wiring, staggered};
use super::poisson::{Arrivals, Clock};
use super::sizes::Sizes;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use xoff_engine::rng::{Rng, stream};
use xoff_engine::{Span, Time};
use xoff_fabric::traffic::{Action, Source};

#[derive(Clone, Debug)]
pub struct Incast {
    pub events: Events,
    /// No new event once this many flows have been started.
    pub flows: Option<u64>,
    /// Senders of an event, each number being as likely.
    pub degree: RangeInclusive<u32>,
    pub senders: Arc<[u32]>,
    pub receivers: Arc<[u32]>,
    /// Running totals of the receivers' rates, in proportion to which they are drawn.
    pub receiver_rates: Arc<[u64]>,
    /// Senders are taken from other switches than the receiver's.
    pub other_racks: bool,
    pub sizes: Sizes,
    /// One size is drawn for all flows of an event.
    pub same_size: bool,
    pub wiring: Arc<Wiring>,
    pub template: Template,
}

#[derive(Clone, Debug)]
pub enum Events {
    Poisson(Arrivals),
    /// Ascending.
    Times(Arc<[Time]>),
    Periodic {
        start: Time,
        period: Span,
        count: Option<u64>,
        until: Option<Time>,
    },
}

impl Incast {
    /// The receiver whom the fewest senders may answer, and how many these are.
    pub fn fewest_candidates(&self) -> Option<(usize, u32)> {
        let mut racks: HashMap<u32, usize> = HashMap::new();
        for sender in self.senders.iter() {
            *racks.entry(self.wiring.rack(*sender)).or_default() += 1;
        }
        let senders: HashSet<u32> = self.senders.iter().copied().collect();
        let candidates = |receiver: u32| {
            let barred = if self.other_racks {
                racks.get(&self.wiring.rack(receiver)).copied().unwrap_or(0)
            } else {
                usize::from(senders.contains(&receiver))
            };
            senders.len() - barred
        };
        self.receivers.iter().map(|receiver| (candidates(*receiver), *receiver)).min()
    }

    fn may_send(&self, sender: u32, receiver: u32) -> bool {
        sender != receiver && !(self.other_racks && self.wiring.rack(sender) == self.wiring.rack(receiver))
    }

    pub fn source(&self, seed: u64, key: u64) -> IncastSource {
        let clock = match &self.events {
            Events::Poisson(arrivals) => When::Poisson(Clock::new(arrivals.clone(), stream(seed, "traffic", key))),
            Events::Times(times) => When::Times { times: times.clone(), done: 0 },
            Events::Periodic { start, period, count, until } => {
                When::Periodic { start: *start, period: *period, count: *count, until: *until, done: 0 }
            }
        };
        IncastSource {
            clock,
            draws: stream(seed, "traffic flows", key),
            handles: Handles::default(),
            order: self.senders.to_vec(),
            started: 0,
            of: self.clone(),
        }
    }
}

#[derive(Debug)]
enum When {
    Poisson(Clock),
    Times { times: Arc<[Time]>, done: usize },
    Periodic { start: Time, period: Span, count: Option<u64>, until: Option<Time>, done: u64 },
}

impl When {
    fn next(&self) -> Option<Time> {
        match self {
            When::Poisson(clock) => clock.next(),
            When::Times { times, done } => times.get(*done).copied(),
            When::Periodic { start, period, count, until, done } => {
                let next = staggered(*start, *period, *done);
                let over = count.is_some_and(|count| *done >= count) || until.is_some_and(|until| next >= until);
                (!over && next < Time::NEVER).then_some(next)
            }
        }
    }

    fn happened(&mut self, now: Time) {
        match self {
            When::Poisson(clock) => clock.arrived(now),
            When::Times { done, .. } => *done += 1,
            When::Periodic { done, .. } => *done += 1,
        }
    }
}

#[derive(Debug)]
pub struct IncastSource {
    of: Incast,
    clock: When,
    draws: Rng,
    handles: Handles,
    /// The senders in the order the last event left them: shuffling on costs only the degree.
    order: Vec<u32>,
    started: u64,
}

impl Source for IncastSource {
    fn reacts(&self) -> bool {
        false // It only gives handles out again, which nobody sees.
    }

    fn next(&self) -> Option<Time> {
        self.clock.next().filter(|_| self.of.flows.is_none_or(|flows| self.started < flows))
    }

    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        let receiver = self.of.receivers[draw_by_rate(&self.of.receiver_rates, &mut self.draws)];
        let (least, most) = (*self.of.degree.start(), *self.of.degree.end());
        let degree = least + self.draws.below(u64::from(most - least) + 1) as u32;
        let shared = self.of.same_size.then(|| self.of.sizes.sample(&mut self.draws));
        let mut chosen = 0;
        for rank in 0..self.order.len() {
            if chosen == degree {
                break;
            }
            let drawn = rank + self.draws.below((self.order.len() - rank) as u64) as usize;
            self.order.swap(rank, drawn);
            let sender = self.order[rank];
            if !self.of.may_send(sender, receiver) {
                continue;
            }
            chosen += 1;
            let size = shared.unwrap_or_else(|| self.of.sizes.sample(&mut self.draws));
            let handle = self.handles.take();
            out.push(Action::Start(self.of.template.flow(handle, sender, receiver, Some(size), 0)));
        }
        self.started += u64::from(chosen);
        self.clock.happened(now);
    }

    fn on_finished(&mut self, _now: Time, handle: u32) {
        self.handles.give(handle);
    }
}

#[cfg(test)]
mod tests {
    use super::super::choose::running_rates;
    use super::super::flow::tests::{template, wiring};
    use super::super::timetable::tests::play;
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn incast(events: Events) -> Incast {
        Incast {
            events,
            flows: None,
            degree: 1..=15,
            senders: (0..32).collect(),
            receivers: (0..32).collect(),
            receiver_rates: running_rates(&(0..32).collect::<Vec<_>>(), &wiring(4, 8)),
            other_racks: true,
            sizes: Sizes::Fixed(20_000),
            same_size: false,
            wiring: wiring(4, 8),
            template: template(),
        }
    }

    /// Senders and receiver of every event.
    fn events(incast: &Incast, seed: u64) -> BTreeMap<Time, (Vec<u32>, u32)> {
        let mut events: BTreeMap<Time, (Vec<u32>, u32)> = BTreeMap::new();
        for (at, action) in play(&mut incast.source(seed, 3), usize::MAX) {
            let Action::Start(spec) = action else { panic!("{action:?}") };
            let event = events.entry(at).or_insert((Vec::new(), spec.dst));
            assert_eq!(event.1, spec.dst, "one receiver at a time");
            event.0.push(spec.src);
        }
        events
    }

    #[test]
    fn degrees_are_even_and_senders_distinct_others() {
        let arrivals = Arrivals { start: Time::ZERO, until: None, per_second: 1e6, count: Some(30_000) };
        let seen = events(&incast(Events::Poisson(arrivals)), 1);
        assert_eq!(seen.len(), 30_000);
        let mut degrees = [0u32; 16];
        for (senders, receiver) in seen.values() {
            degrees[senders.len()] += 1;
            assert_eq!(senders.iter().collect::<BTreeSet<_>>().len(), senders.len());
            assert!(senders.iter().all(|sender| sender / 8 != receiver / 8));
        }
        assert_eq!(degrees[0], 0);
        assert!(degrees[1..].iter().all(|count| count.abs_diff(2000) < 200), "{degrees:?}");
        let last = seen.keys().next_back().unwrap().as_s();
        assert!((last / 0.03 - 1.0).abs() < 0.02, "{last} s for 30000 events at 1e6 per second");
    }

    #[test]
    fn one_size_for_an_event_or_one_for_each_flow() {
        let distinct = |same_size| {
            let sizes = Sizes::Uniform { min_bytes: 1, max_bytes: 1 << 40 };
            let times = Events::Times([3, 8].map(Time::from_us).into());
            let incast = Incast { degree: 10..=10, same_size, sizes, ..incast(times) };
            let mut seen: BTreeMap<Time, BTreeSet<Option<u64>>> = BTreeMap::new();
            for (at, action) in play(&mut incast.source(1, 3), usize::MAX) {
                let Action::Start(spec) = action else { panic!("{action:?}") };
                seen.entry(at).or_default().insert(spec.size_bytes);
            }
            seen.into_values().collect::<Vec<_>>()
        };
        let same = distinct(true);
        assert_eq!(same.iter().map(BTreeSet::len).collect::<Vec<_>>(), [1, 1]);
        assert_ne!(same[0], same[1], "every event draws anew");
        assert_eq!(distinct(false).iter().map(BTreeSet::len).collect::<Vec<_>>(), [10, 10]);
    }

    #[test]
    fn the_poorest_receiver_is_found() {
        let few = |senders: &[u32], other_racks| {
            Incast { senders: senders.into(), other_racks, ..incast(Events::Times([].into())) }.fewest_candidates()
        };
        // Eight hosts on each switch: receivers of the first lose three of these, itself one.
        assert_eq!(few(&[0, 1, 2, 20], true), Some((1, 0)));
        assert_eq!(few(&[5, 6, 20], false), Some((2, 5)));
    }

    #[test]
    fn events_come_at_given_times_or_with_a_period() {
        let times: Vec<Time> = [3, 8, 9].map(Time::from_us).into();
        let seen = events(&incast(Events::Times(times.clone().into())), 1);
        assert_eq!(seen.into_keys().collect::<Vec<_>>(), times);
        let periodic =
            |count, until| Events::Periodic { start: Time::from_us(5), period: Span::from_us(2), count, until };
        let at = |events: BTreeMap<Time, _>| events.into_keys().map(|at| at.ps() / 1_000_000).collect::<Vec<_>>();
        assert_eq!(at(events(&incast(periodic(Some(3), None)), 1)), [5, 7, 9]);
        assert_eq!(at(events(&incast(periodic(None, Some(Time::from_us(9)))), 1)), [5, 7]);
    }

    #[test]
    fn it_ends_after_the_flows_asked_for_and_follows_the_seed() {
        let arrivals = Arrivals { start: Time::ZERO, until: None, per_second: 1e6, count: None };
        let incast = Incast { flows: Some(1000), ..incast(Events::Poisson(arrivals)) };
        let flows: usize = events(&incast, 1).values().map(|event| event.0.len()).sum();
        assert!((1000..1015).contains(&flows), "{flows}");
        assert_eq!(events(&incast, 1), events(&incast, 1));
        assert_ne!(events(&incast, 1), events(&incast, 2));
    }
}
