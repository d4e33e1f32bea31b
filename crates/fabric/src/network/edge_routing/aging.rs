//! Periodic work of a switch, done when it is next looked at.

use xoff_engine::{Span, Time};

/// Ticks every `period` after a first instant.
#[derive(Debug)]
pub(super) struct Ticks {
    period: Span,
    next: Time,
}

impl Ticks {
    pub fn new(period: Span) -> Ticks {
        Ticks { period, next: Time::NEVER }
    }

    /// Ticks begin with the first call.
    pub fn begin(&mut self, now: Time) {
        if self.next == Time::NEVER {
            self.next = now + self.period;
        }
    }

    /// The next tick that is not later than `now`. A tick comes before all else of its instant, since it was set a
    /// period ago.
    pub fn due(&mut self, now: Time) -> Option<Time> {
        let tick = self.next;
        if tick == Time::NEVER || tick > now {
            return None;
        }
        self.next += self.period;
        Some(tick)
    }

    /// How many ticks are due, none of which is due after.
    pub fn count(&mut self, now: Time) -> u64 {
        if self.next == Time::NEVER || self.next > now {
            return 0;
        }
        let count = (now - self.next).ps() / self.period.ps() + 1;
        self.next += self.period * count;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_count_from_the_first_packet() {
        let (mut one, mut all) = (Ticks::new(Span::from_us(50)), Ticks::new(Span::from_us(50)));
        assert_eq!((one.due(Time::from_us(9)), all.count(Time::from_us(9))), (None, 0));
        one.begin(Time::from_us(10));
        all.begin(Time::from_us(10));
        one.begin(Time::from_us(20));
        all.begin(Time::from_us(20));
        assert_eq!((one.due(Time::from_us(59)), all.count(Time::from_us(59))), (None, 0));
        let due: Vec<Time> = std::iter::from_fn(|| one.due(Time::from_us(160))).collect();
        assert_eq!(due, [60, 110, 160].map(Time::from_us));
        assert_eq!((all.count(Time::from_us(160)), all.count(Time::from_us(160))), (3, 0));
    }
}
