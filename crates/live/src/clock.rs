//! The clock of a live run: scenario time out of real time.
//!
//! Scenario time runs `k` times slower than real time, so a link of 10 Gb/s is one of 10 Gb/s divided by `k` on this
//! machine. The *elastic* clock stops whenever the loop is later than a bound: nothing then happens too late by more
//! than that, however long the kernel kept the process waiting, and the share of time it stood still, the slip, says
//! how much the machine was short of. It needs all nodes in one loop. The *wall* clock never stops.

use std::time::{Duration, Instant};
use xoff_engine::{Span, Time};

/// How scenario time follows real time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It stops while the loop is late.
    Elastic,
    /// It never does.
    Wall,
    /// It jumps to whatever is due next: how long a scenario takes if nobody waits, for calibration.
    Free,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Elastic => "elastic",
            Kind::Wall => "wall",
            Kind::Free => "free",
        }
    }
}

/// Sleeping is not exact: the last part of a wait is spent looking at the clock. A kernel that other programs keep busy
/// wakes a sleeper late by milliseconds.
const SPIN: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub struct Clock {
    kind: Kind,
    k: f64,
    began: Instant,
    /// Real time for which it stood still.
    stopped: Duration,
    /// The most that an event may be late, in scenario time.
    bound: Span,
    now: Time,
}

impl Clock {
    pub fn start(kind: Kind, k: f64, bound: Span) -> Clock {
        Clock { kind, k, began: Instant::now(), stopped: Duration::ZERO, bound, now: Time::ZERO }
    }

    /// Real time since the start, stops included.
    pub fn wall(&self) -> Duration {
        self.began.elapsed()
    }

    pub fn stopped(&self) -> Duration {
        self.stopped
    }

    pub fn has_come(&self, due: Time) -> bool {
        self.kind == Kind::Free || self.look() >= due
    }

    /// Scenario time, if the clock does not stop.
    pub fn look(&self) -> Time {
        let running = self.began.elapsed().saturating_sub(self.stopped);
        let at = Time::from_ps((running.as_nanos() as f64 * 1000.0 / self.k) as u64);
        self.now.max(at)
    }

    /// The time at which an event that was due is handled, and how late that is. The elastic clock stops so that it
    /// is not later than the bound.
    pub fn handle(&mut self, due: Time) -> (Time, Span) {
        let now = self.look();
        // Time at which something has happened does not come again.
        let at = match self.kind {
            Kind::Wall => now,
            Kind::Elastic => now.min(due.saturating_add(self.bound)).max(self.now),
            Kind::Free => due.max(self.now),
        };
        if self.kind == Kind::Elastic {
            self.stopped += self.real(now.saturating_since(at));
        }
        self.now = at;
        (at, at.saturating_since(due))
    }

    /// Real time until an instant of the scenario, less what is better spent looking: how long one may sleep.
    pub fn may_sleep(&self, until: Time) -> Option<Duration> {
        let left = self.real(until.saturating_since(self.look()));
        left.checked_sub(SPIN).filter(|rest| *rest > Duration::from_micros(20))
    }

    fn real(&self, span: Span) -> Duration {
        Duration::from_nanos((span.ps() as f64 * self.k / 1000.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_elastic_clock_is_never_later_than_its_bound() {
        let mut clock = Clock::start(Kind::Elastic, 1000.0, Span::from_us(1));
        std::thread::sleep(Duration::from_millis(20));
        // Twenty real milliseconds are twenty microseconds of the scenario.
        let (now, late) = clock.handle(Time::from_us(3));
        assert_eq!((now, late), (Time::from_us(4), Span::from_us(1)));
        assert!(clock.stopped() >= Duration::from_millis(15), "{:?}", clock.stopped());
        let after = clock.look();
        assert!(after >= now && after < Time::from_us(8), "it goes on from where it stood: {after:?}");
    }

    #[test]
    fn an_elastic_clock_does_not_go_back() {
        let mut clock = Clock::start(Kind::Elastic, 1000.0, Span::from_us(1));
        std::thread::sleep(Duration::from_millis(5));
        let (now, _) = clock.handle(Time::from_us(3));
        let (then, late) = clock.handle(Time::ZERO);
        assert_eq!((then, late), (now, now - Time::ZERO), "something has happened then: it is not undone");
    }

    #[test]
    fn a_wall_clock_is_as_late_as_it_is() {
        let mut clock = Clock::start(Kind::Wall, 1000.0, Span::from_us(1));
        std::thread::sleep(Duration::from_millis(5));
        let (now, late) = clock.handle(Time::from_us(1));
        assert!(late >= Span::from_us(4) && now >= Time::from_us(5));
        assert_eq!(clock.stopped(), Duration::ZERO);
    }
}
