//! ON-OFF: a connection that lives long and is handed bytes in bursts.

use super::flow::{Template, staggered};
use super::sizes::Sizes;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use xoff_engine::rng::{Rng, stream};
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::traffic::{Action, FlowSpec, Source};

#[derive(Clone, Debug)]
pub struct OnOff {
    pub pairs: Arc<[(u32, u32)]>,
    pub bursts: Sizes,
    pub pace: Pace,
    /// Gaps are drawn from an exponential distribution instead of being all alike.
    pub exponential: bool,
    pub start: Time,
    /// From one connection's start to the next one's.
    pub stagger: Span,
    pub stop: Option<Time>,
    pub template: Template,
}

/// How far apart bursts are.
#[derive(Clone, Debug)]
pub enum Pace {
    /// So that each connection is offered this rate in the mean.
    Rate(BitRate),
    /// This long after the burst could have left the host at its full rate (by pair).
    Off { silence: Span, peak: Arc<[BitRate]> },
}

impl OnOff {
    /// Bits per second that one connection is offered in the mean.
    pub fn mean_rate_bps(&self, pair: usize) -> f64 {
        match &self.pace {
            Pace::Rate(rate) => rate.bps() as f64,
            Pace::Off { silence, peak } => {
                let bits = self.bursts.mean() * 8.0;
                bits / (bits / peak[pair].bps() as f64 + silence.as_s())
            }
        }
    }

    pub fn source(&self, seed: u64, key: u64) -> OnOffSource {
        let mut due: BinaryHeap<Reverse<(Time, u32)>> = (0..self.pairs.len())
            .map(|pair| Reverse((staggered(self.start, self.stagger, pair as u64), pair as u32)))
            .collect();
        due.retain(|Reverse((at, _))| self.stop.is_none_or(|stop| *at < stop));
        let running = vec![false; self.pairs.len()];
        OnOffSource { due, running, draws: stream(seed, "traffic", key), of: self.clone() }
    }
}

#[derive(Debug)]
pub struct OnOffSource {
    of: OnOff,
    /// The next burst, or the stop, of each connection.
    due: BinaryHeap<Reverse<(Time, u32)>>,
    running: Vec<bool>,
    draws: Rng,
}

impl OnOffSource {
    /// From the beginning of a burst to the beginning of the next.
    fn gap(&mut self, pair: u32, bytes: u64) -> Span {
        let bits = bytes as f64 * 8.0;
        let (burst, mean) = match &self.of.pace {
            Pace::Rate(rate) => (0.0, bits / rate.bps() as f64),
            Pace::Off { silence, peak } => (bits / peak[pair as usize].bps() as f64, silence.as_s()),
        };
        let drawn = if self.of.exponential { self.draws.exponential(mean) } else { mean };
        // At least a tick, lest a connection act for ever at one instant.
        Span::from_s_rounded(burst + drawn).max(Span::from_ps(1))
    }
}

impl Source for OnOffSource {
    fn reacts(&self) -> bool {
        false
    }

    fn next(&self) -> Option<Time> {
        self.due.peek().map(|Reverse((at, _))| *at).filter(|at| *at < Time::NEVER)
    }

    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        while let Some(Reverse((at, pair))) = self.due.peek().copied().filter(|Reverse((at, _))| *at <= now) {
            self.due.pop();
            if self.of.stop.is_some_and(|stop| at >= stop) {
                out.push(Action::Stop { handle: pair });
                continue;
            }
            let bytes = self.of.bursts.sample(&mut self.draws);
            if std::mem::replace(&mut self.running[pair as usize], true) {
                out.push(Action::Offer { handle: pair, bytes });
            } else {
                let (src, dst) = self.of.pairs[pair as usize];
                let spec = self.of.template.flow(pair, src, dst, None, pair);
                out.push(Action::Start(FlowSpec { offered_bytes: Some(bytes), ..spec }));
            }
            let next = now.saturating_add(self.gap(pair, bytes));
            self.due.push(Reverse((self.of.stop.map_or(next, |stop| next.min(stop)), pair)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::tests::template;
    use super::super::timetable::tests::play;
    use super::*;

    fn on_off(pace: Pace, exponential: bool) -> OnOff {
        OnOff {
            pairs: [(0, 2), (1, 3)].into(),
            bursts: Sizes::Fixed(10_000),
            pace,
            exponential,
            start: Time::from_ms(1),
            stagger: Span::from_us(1),
            stop: Some(Time::from_ms(101)),
            template: template(),
        }
    }

    fn offered(of: &OnOff) -> [u64; 2] {
        let mut offered = [0; 2];
        for (at, action) in play(&mut of.source(1, 0), usize::MAX) {
            match action {
                Action::Start(spec) => {
                    assert_eq!(at, staggered(Time::from_ms(1), Span::from_us(1), u64::from(spec.handle)));
                    assert_eq!(spec.size_bytes, None);
                    offered[spec.handle as usize] += spec.offered_bytes.unwrap();
                }
                Action::Offer { handle, bytes } => offered[handle as usize] += bytes,
                Action::Stop { .. } => assert_eq!(at, Time::from_ms(101)),
                Action::Cap { .. } | Action::Send { .. } | Action::StartTogether(_) => {
                    panic!("no caps or messages here")
                }
            }
        }
        offered
    }

    #[test]
    fn the_mean_rate_is_the_one_asked_for() {
        for exponential in [false, true] {
            let of = on_off(Pace::Rate(BitRate::from_gbps(5)), exponential);
            for bytes in offered(&of) {
                // 5 Gb/s for 0.1 s.
                let share = bytes as f64 / 62.5e6;
                let most = if exponential { 0.05 } else { 0.001 };
                assert!((share - 1.0).abs() < most, "{share} of the rate, exponential: {exponential}");
            }
        }
    }

    #[test]
    fn silence_follows_the_burst() {
        let peak = [BitRate::from_gbps(10), BitRate::from_gbps(20)].into();
        let of = on_off(Pace::Off { silence: Span::from_us(8), peak }, false);
        // 10 KB take 8 us at 10 Gb/s and 4 us at 20 Gb/s.
        assert_eq!((of.mean_rate_bps(0), (of.mean_rate_bps(1) / 1e6).round()), (5e9, 6667.0));
        let [slow, fast] = offered(&of);
        assert_eq!(slow, 6250 * 10_000);
        assert_eq!(fast, 8334 * 10_000);
    }

    #[test]
    fn every_connection_is_stopped_once() {
        let of = on_off(Pace::Rate(BitRate::from_gbps(1)), true);
        let stops: Vec<u32> = play(&mut of.source(4, 0), usize::MAX)
            .into_iter()
            .filter_map(|(_, action)| if let Action::Stop { handle } = action { Some(handle) } else { None })
            .collect();
        assert_eq!(stops, [0, 1]);
    }
}
