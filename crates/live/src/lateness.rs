//! How late events were handled: a histogram over the whole run, and windows of it.

use crate::clock::Clock;
use xoff_engine::{Span, Time};
use xoff_results::live_timing::Window;

/// Buckets of a histogram: sixteen per doubling, from a nanosecond on.
const PER_DOUBLING: f64 = 16.0;
const BUCKETS: usize = 16 * 40;

/// A histogram of spans, exact to some per cent.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    max: Span,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: vec![0; BUCKETS], total: 0, max: Span::ZERO }
    }
}

impl Histogram {
    fn add(&mut self, span: Span) {
        let ns = span.ps() as f64 / 1000.0;
        let bucket = if ns <= 1.0 { 0 } else { ((ns.log2() * PER_DOUBLING) as usize + 1).min(BUCKETS - 1) };
        self.counts[bucket] += 1;
        self.total += 1;
        self.max = self.max.max(span);
    }

    fn clear(&mut self) {
        *self = Histogram::default();
    }

    pub fn max_ns(&self) -> f64 {
        self.max.ps() as f64 / 1000.0
    }

    /// Nearest-rank percentile: the upper end of its bucket, but never more than the largest.
    pub fn percentile_ns(&self, percent: f64) -> Option<f64> {
        let rank = ((self.total as f64 * percent / 100.0).ceil() as u64).max(1);
        let mut seen = 0;
        let bucket = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank && self.total > 0
        })?;
        let upper = if bucket == 0 { 1.0 } else { (bucket as f64 / PER_DOUBLING).exp2() };
        Some(upper.min(self.max_ns()))
    }
}

/// Lateness of a run as it goes on.
#[derive(Debug)]
pub struct Lateness {
    pub all: Histogram,
    window: Histogram,
    frames: u64,
    every: Span,
    next: Time,
    pub windows: Vec<Window>,
}

impl Lateness {
    pub fn new(every: Span) -> Lateness {
        let next = Time::ZERO + every;
        Lateness {
            all: Histogram::default(),
            window: Histogram::default(),
            frames: 0,
            every,
            next,
            windows: Vec::new(),
        }
    }

    pub fn note(&mut self, now: Time, late: Span, clock: &Clock) {
        if now >= self.next {
            self.close(self.next, clock);
            while self.next <= now {
                self.next += self.every;
            }
        }
        self.all.add(late);
        self.window.add(late);
    }

    pub fn note_frame(&mut self) {
        self.frames += 1;
    }

    pub fn close(&mut self, at: Time, clock: &Clock) {
        let wall_seconds = clock.wall().as_secs_f64();
        self.windows.push(Window {
            at,
            wall_seconds,
            slip: if wall_seconds > 0.0 { clock.stopped().as_secs_f64() / wall_seconds } else { 0.0 },
            lateness_p99_ns: self.window.percentile_ns(99.0),
            lateness_max_ns: (self.window.total > 0).then(|| self.window.max_ns()),
            frames: std::mem::take(&mut self.frames),
        });
        self.window.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_near_and_never_beyond_the_largest() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile_ns(50.0), None);
        for us in 1..=1000 {
            histogram.add(Span::from_us(us));
        }
        let near = |percent: f64, ns: f64| {
            let value = histogram.percentile_ns(percent).unwrap();
            assert!((value / ns - 1.0).abs() < 0.05, "{percent}: {value}");
        };
        near(50.0, 500_000.0);
        near(99.0, 990_000.0);
        assert_eq!(histogram.percentile_ns(100.0), Some(1_000_000.0));
    }
}
