//! Samples of probes as steps of counters.
//!
//! A counter holds its value until the next one. A queue length is what it was at the instant of
//! the sample, but a rate describes the interval that the sample ends, so it is drawn from the
//! beginning of that interval. That moves samples back in time, by at most the longest interval of
//! a probe: so far they have to be put in order again.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use xoff_engine::{Span, Time};
use xoff_fabric::record::Metric;

/// Whether a sample is a mean over the time since the one before it.
pub fn over_interval(metric: Metric) -> bool {
    match metric {
        Metric::PortThroughput
        | Metric::PausedFraction
        | Metric::PauseRate
        | Metric::FlowSendRate
        | Metric::FlowThroughput => true,
        Metric::QueueBytes
        | Metric::IngressBytes
        | Metric::FlowRate
        | Metric::ShapedBytes
        | Metric::FlowShapedBytes
        | Metric::SwitchBytes
        | Metric::Variable(_) => false,
    }
}

/// A value that a counter takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    pub at: Time,
    pub track: u64,
    pub value: f64,
}

pub struct Steps {
    /// By time, then as they came. A value is kept as its bits, since these can be compared.
    waiting: BinaryHeap<Reverse<(Time, u64, u64, u64)>>,
    taken: u64,
    horizon: Span,
    now: Time,
    /// By track of means: the time of its last sample.
    last: HashMap<u64, Time>,
}

impl Steps {
    /// `horizon`: no sample describes more time than that.
    pub fn new(horizon: Span) -> Steps {
        Steps { waiting: BinaryHeap::new(), taken: 0, horizon, now: Time::ZERO, last: HashMap::new() }
    }

    /// A sample of an instant. Samples come in order of time.
    pub fn instant(&mut self, at: Time, track: u64, value: f64) {
        self.now = self.now.max(at);
        self.waiting.push(Reverse((at, self.taken, track, value.to_bits())));
        self.taken += 1;
    }

    /// A sample of the time since the last one of its track, or since `start`.
    pub fn mean(&mut self, at: Time, start: Time, track: u64, value: f64) {
        let since = self.last.insert(track, at).unwrap_or(start);
        let earliest = Time::from_ps(at.ps().saturating_sub(self.horizon.ps()));
        self.instant(since.max(earliest).min(at), track, value);
        self.now = self.now.max(at);
    }

    /// The next step that no later sample can precede.
    pub fn ready(&mut self) -> Option<Step> {
        let settled = Time::from_ps(self.now.ps().saturating_sub(self.horizon.ps()));
        self.take(|at| at < settled)
    }

    /// The next step when no more samples come.
    pub fn rest(&mut self) -> Option<Step> {
        self.take(|_| true)
    }

    pub fn taken(&self) -> u64 {
        self.taken
    }

    fn take(&mut self, due: impl Fn(Time) -> bool) -> Option<Step> {
        let &Reverse((at, _, track, bits)) = self.waiting.peek().filter(|next| due(next.0.0))?;
        self.waiting.pop();
        Some(Step { at, track, value: f64::from_bits(bits) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_drawn_where_their_interval_begins_and_all_in_order() {
        let us = Time::from_us;
        let mut steps = Steps::new(Span::from_us(10));
        let mut out = Vec::new();
        // Track 1: means every 10 us of a flow that starts at 3 us; track 2: lengths every 4 us.
        for at in 1..=30 {
            if at % 4 == 0 {
                steps.instant(us(at), 2, at as f64);
            }
            if at % 10 == 0 {
                steps.mean(us(at), us(3), 1, at as f64);
            }
            out.extend(std::iter::from_fn(|| steps.ready()));
        }
        assert!(!out.is_empty(), "nothing was handed out before the end");
        out.extend(std::iter::from_fn(|| steps.rest()));
        assert!(out.windows(2).all(|two| two[0].at <= two[1].at), "{out:?}");
        let of = |track| out.iter().filter(|step| step.track == track).map(|s| (s.at, s.value)).collect::<Vec<_>>();
        assert_eq!(of(1), [(us(3), 10.0), (us(10), 20.0), (us(20), 30.0)]);
        assert_eq!(of(2).len(), 7);
        assert_eq!(steps.taken(), 10);
    }
}
