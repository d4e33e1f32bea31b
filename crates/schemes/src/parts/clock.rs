//! A periodic timer of a congestion point that stops while it is not needed.
//!
//! Its ticks lie on a grid from time zero, so that sleeping changes nothing but the number of
//! events: who sleeps only while a tick would leave its state as it is, behaves as if it had never
//! slept.

use xoff_engine::{Span, Time};

/// The first point after `now` of a grid from `start` on. A period of nothing is taken as a picosecond.
#[inline]
pub fn grid_after(now: Time, start: Time, period: Span) -> Time {
    let periods = now.saturating_since(start).ps() / period.ps().max(1) + 1;
    start + period * periods
}

/// Ticks at the multiples of its period, while awake.
#[derive(Clone, Debug)]
pub struct Clock {
    period: Span,
    /// Periods accounted for, since time zero.
    periods: u64,
    next: Option<Time>,
}

impl Clock {
    /// Asleep. A period below a nanosecond is taken as one.
    pub fn new(period: Span) -> Clock {
        Clock { period: period.max(Span::from_ns(1)), periods: 0, next: None }
    }

    /// Between two ticks; at least a nanosecond.
    #[inline]
    pub fn period(&self) -> Span {
        self.period
    }

    /// The next tick: what a congestion point's `timer` returns. None while asleep.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        self.next
    }

    /// Whether there is no next tick until [`Clock::wake`].
    #[inline]
    pub fn is_asleep(&self) -> bool {
        self.next.is_none()
    }

    /// Whether the next tick is now, or should have been.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        self.next.is_some_and(|at| at <= now)
    }

    /// Starts to tick again; says how many ticks were slept through.
    pub fn wake(&mut self, now: Time) -> u64 {
        let slept = (now.ps() / self.period.ps()).saturating_sub(self.periods);
        self.advance(now, true);
        slept
    }

    /// A tick is done. On to the next, or to sleep.
    pub fn advance(&mut self, now: Time, awake: bool) {
        self.periods = now.ps() / self.period.ps();
        self.next = awake.then(|| Time::ZERO + self.period * (self.periods + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_a_point_after_now() {
        let us = Time::from_us;
        let after = |now| grid_after(us(now), us(7), Span::from_us(50));
        assert_eq!([after(7), after(56), after(57), after(300)], [us(57), us(57), us(107), us(307)]);
    }

    #[test]
    fn ticks_lie_on_a_grid() {
        let us = Time::from_us;
        let mut clock = Clock::new(Span::from_us(40));
        assert!(clock.is_asleep() && !clock.is_due(us(1000)));
        assert_eq!(clock.wake(us(95)), 2);
        assert_eq!(clock.next(), Some(us(120)));
        assert!(clock.is_due(us(120)) && !clock.is_due(us(119)));
        clock.advance(us(120), true);
        assert_eq!(clock.next(), Some(us(160)));
        clock.advance(us(160), false);
        assert!(clock.is_asleep());
        assert_eq!(clock.wake(us(190)), 0, "no tick was missed");
        clock.advance(us(200), false);
        assert_eq!(clock.wake(us(400)), 5);
        assert_eq!(clock.next(), Some(us(440)));
    }
}
