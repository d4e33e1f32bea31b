//! Flows that arrive at random: exponential gaps, sizes from a distribution, hosts by lot.

use super::choose::{Choice, Receivers};
use super::flow::{Handles, Template};
use super::sizes::Sizes;
use std::sync::Arc;
use xoff_engine::rng::{Rng, stream};
use xoff_engine::{Span, Time};
use xoff_fabric::traffic::{Action, Source};

#[derive(Clone, Debug)]
pub struct Poisson {
    pub arrivals: Arrivals,
    pub who: Who,
    pub sizes: Sizes,
    pub template: Template,
}

/// When things arrive.
#[derive(Clone, Debug)]
pub struct Arrivals {
    pub start: Time,
    /// Nothing arrives at or after.
    pub until: Option<Time>,
    pub per_second: f64,
    /// How many arrive at most.
    pub count: Option<u64>,
}

#[derive(Clone, Debug)]
pub enum Who {
    Any(Choice),
    /// As `Any`, but this part of the flows goes to the hot receivers.
    Hot {
        all: Choice,
        hot: Receivers,
        fraction: f64,
    },
    /// One of these pairs, in proportion to the sender's rate (running totals).
    Pairs {
        pairs: Arc<[(u32, u32)]>,
        rates: Arc<[u64]>,
    },
}

impl Who {
    pub fn draw(&self, rng: &mut Rng) -> (u32, u32) {
        match self {
            Who::Any(choice) => {
                let (rank, src) = choice.sender(rng);
                (src, choice.receiver(rank, rng))
            }
            Who::Hot { all, hot, fraction } => {
                let (rank, src) = all.sender(rng);
                // The only hot host has no hot peer.
                let to_hot = rng.unit() < *fraction && hot.reaches_any(rank);
                let dst = if to_hot { hot.draw(rank, rng) } else { all.receiver(rank, rng) };
                (src, dst)
            }
            Who::Pairs { pairs, rates } => pairs[super::choose::draw_by_rate(rates, rng)],
        }
    }
}

/// The instants of a Poisson process, one after the other.
#[derive(Debug)]
pub struct Clock {
    arrivals: Arrivals,
    /// A stream of its own: with another load the same flows come, at other times.
    gaps: Rng,
    arrived: u64,
    next: Option<Time>,
}

impl Clock {
    pub fn new(arrivals: Arrivals, gaps: Rng) -> Clock {
        let start = arrivals.start;
        let mut clock = Clock { arrivals, gaps, arrived: 0, next: None };
        clock.advance(start);
        clock
    }

    pub fn next(&self) -> Option<Time> {
        self.next
    }

    /// What was to arrive has.
    pub fn arrived(&mut self, now: Time) {
        self.arrived += 1;
        self.advance(now);
    }

    fn advance(&mut self, from: Time) {
        let gap = Span::from_s_rounded(self.gaps.exponential(1.0 / self.arrivals.per_second));
        let next = from.saturating_add(gap);
        let over = self.arrivals.count.is_some_and(|count| self.arrived >= count)
            || self.arrivals.until.is_some_and(|until| next >= until)
            || next == Time::NEVER;
        self.next = (!over).then_some(next);
    }
}

impl Poisson {
    pub fn source(&self, seed: u64, key: u64) -> PoissonSource {
        PoissonSource {
            clock: Clock::new(self.arrivals.clone(), stream(seed, "traffic", key)),
            draws: stream(seed, "traffic flows", key),
            handles: Handles::default(),
            of: self.clone(),
        }
    }
}

#[derive(Debug)]
pub struct PoissonSource {
    of: Poisson,
    clock: Clock,
    draws: Rng,
    handles: Handles,
}

impl Source for PoissonSource {
    fn reacts(&self) -> bool {
        false // It only gives handles out again, which nobody sees.
    }

    fn next(&self) -> Option<Time> {
        self.clock.next()
    }

    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        let (src, dst) = self.of.who.draw(&mut self.draws);
        let size = self.of.sizes.sample(&mut self.draws);
        out.push(Action::Start(self.of.template.flow(self.handles.take(), src, dst, Some(size), 0)));
        self.clock.arrived(now);
    }

    fn on_finished(&mut self, _now: Time, handle: u32) {
        self.handles.give(handle);
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::tests::{template, wiring};
    use super::super::timetable::tests::play;
    use super::super::workloads;
    use super::*;
    use xoff_fabric::traffic::FlowSpec;

    fn poisson(count: Option<u64>, until: Option<Time>) -> Poisson {
        let wiring = wiring(4, 4);
        let hosts: Vec<u32> = (0..16).collect();
        let sizes = Sizes::Cdf(Arc::new(workloads::find("alistorage").unwrap().cdf()));
        // Half of 16 links of 100 Gb/s.
        let per_second = 0.5 * wiring.total_bps(&hosts) / 8.0 / sizes.mean();
        Poisson {
            arrivals: Arrivals { start: Time::from_ms(1), until, per_second, count },
            who: Who::Any(Choice::new(&hosts, &hosts, &wiring, false).unwrap()),
            sizes,
            template: template(),
        }
    }

    fn flows(poisson: &Poisson, seed: u64) -> Vec<(Time, FlowSpec)> {
        let start = |(at, action)| match action {
            Action::Start(spec) => (at, spec),
            other => panic!("{other:?}"),
        };
        play(&mut poisson.source(seed, 0), usize::MAX).into_iter().map(start).collect()
    }

    #[test]
    fn arrivals_and_load_are_those_asked_for() {
        let poisson = poisson(Some(400_000), None);
        let flows = flows(&poisson, 1);
        assert_eq!(flows.len(), 400_000);
        let seconds = (flows[flows.len() - 1].0 - Time::from_ms(1)).as_s();
        let rate = flows.len() as f64 / seconds;
        assert!((rate / poisson.arrivals.per_second - 1.0).abs() < 0.01, "{rate} per second");
        let bytes: u64 = flows.iter().filter_map(|(_, flow)| flow.size_bytes).sum();
        let load = bytes as f64 * 8.0 / seconds / 1.6e12;
        assert!((load - 0.5).abs() < 0.005, "load {load}");
        for host in 0..16 {
            let sent = flows.iter().filter(|(_, flow)| flow.src == host).count();
            let got = flows.iter().filter(|(_, flow)| flow.dst == host).count();
            assert!(sent.abs_diff(25_000) < 750 && got.abs_diff(25_000) < 750, "{host}: {sent} sent, {got} received");
        }
        assert!(flows.iter().all(|(_, flow)| flow.src != flow.dst));
    }

    #[test]
    fn gaps_are_exponential() {
        let poisson = poisson(Some(100_000), None);
        let flows = flows(&poisson, 2);
        let mean = 1.0 / poisson.arrivals.per_second;
        let longer = flows.windows(2).filter(|two| (two[1].0 - two[0].0).as_s() > mean).count();
        assert!((longer as f64 / 1e5 - (-1f64).exp()).abs() < 0.005, "{longer}");
    }

    #[test]
    fn the_same_seed_gives_the_same_flows_and_another_load_only_other_times() {
        let brief = |poisson: &Poisson, seed| -> Vec<(Time, u32, u32, Option<u64>)> {
            flows(poisson, seed).into_iter().map(|(at, f)| (at, f.src, f.dst, f.size_bytes)).collect()
        };
        let half = poisson(Some(1000), None);
        assert_eq!(brief(&half, 7), brief(&half, 7));
        assert_ne!(brief(&half, 7), brief(&half, 8));
        let mut tenth = half.clone();
        tenth.arrivals.per_second /= 5.0;
        let drop_time = |flows: Vec<(Time, u32, u32, Option<u64>)>| -> Vec<_> {
            flows.into_iter().map(|(_, src, dst, size)| (src, dst, size)).collect()
        };
        assert_eq!(drop_time(brief(&half, 7)), drop_time(brief(&tenth, 7)));
    }

    #[test]
    fn nothing_arrives_at_the_end_or_later() {
        let until = Time::from_us(1500);
        let flows = flows(&poisson(None, Some(until)), 3);
        assert!(flows.iter().all(|(at, _)| *at > Time::from_ms(1) && *at < until));
        // Half of 1.6 Tb/s for 0.5 ms.
        assert!(flows.len().abs_diff(1223) < 120, "{}", flows.len());
    }

    #[test]
    fn hot_hosts_get_their_part_on_top() {
        let mut poisson = poisson(Some(100_000), None);
        let hosts: Vec<u32> = (0..16).collect();
        let wiring = wiring(4, 4);
        let all = Choice::new(&hosts, &hosts, &wiring, false).unwrap();
        let hot = Receivers::new(&hosts, &[0, 1], &wiring, false).unwrap();
        poisson.who = Who::Hot { all, hot, fraction: 0.15 };
        let hot = flows(&poisson, 1).iter().filter(|(_, flow)| flow.dst < 2).count();
        // 15 % and an even share of the rest.
        assert!((hot as f64 / 1e5 - (0.15 + 0.85 / 8.0)).abs() < 0.005, "{hot}");
    }
}
