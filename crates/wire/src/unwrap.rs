//! Narrow fields made whole again, at the end of a flow that reads them.
//!
//! A record's time has 24 bits of nanoseconds, its count of bytes 20 bits, a PSN 24. With the approximate current
//! value the rest follows: records that went through here can be subtracted from each other as if they had never been
//! cut.

use xoff_catalogue::int_header::unit;
use xoff_engine::Time;
use xoff_fabric::packet::{INT_HOPS, IntHop, IntStack};

/// A time field counts on from zero after so long.
const TIME_WRAP_PS: u64 = 1000 << 24;
/// A count of bytes does after so many, times the unit's m.
const BYTES_WRAP: u64 = 128 << 20;

/// The whole PSN of which 24 bits are given: the one nearest to `around`.
pub fn near(psn24: u32, around: u32) -> u32 {
    // The distance, as a signed number of 24 bits.
    let ahead = (psn24.wrapping_sub(around) << 8) as i32 >> 8;
    around.wrapping_add_signed(ahead)
}

/// What one end of a flow remembers of the records it has read.
#[derive(Clone, Debug)]
pub struct Unwrap {
    /// The one m of all ports, if the scheme sets it.
    multiplier: Option<u64>,
    path: u16,
    hops: u8,
    /// Bytes sent at each hop, made whole.
    tx_bytes: [u64; INT_HOPS],
}

impl Unwrap {
    /// Before the first record.
    pub fn new(multiplier: Option<u64>) -> Unwrap {
        Unwrap { multiplier, path: 0, hops: 0, tx_bytes: [0; INT_HOPS] }
    }

    /// Makes the records of a packet whole that arrives `now`. Times become the latest that are not after now; the
    /// clocks of switches must not be ahead of this one by more than the way takes. Counts of bytes continue from those of
    /// the packet before, if that came by the same path; else they begin anew.
    pub fn widen(&mut self, now: Time, stack: &IntStack) -> IntStack {
        let follows = self.path == stack.path() && usize::from(self.hops) == stack.hops().len();
        (self.path, self.hops) = (stack.path(), stack.hops().len() as u8);
        let mut whole = *stack;
        whole.clear();
        whole.pass(stack.path());
        for (hop, last) in stack.hops().iter().zip(&mut self.tx_bytes) {
            let wrap = BYTES_WRAP * unit(hop.rate, self.multiplier);
            *last = if follows { last_or_later(*last, hop.tx_bytes, wrap) } else { hop.tx_bytes };
            whole.push(IntHop { at: latest(now, hop.at), tx_bytes: *last, ..*hop });
        }
        whole
    }
}

/// The first value from `last` on whose low bits are the field.
fn last_or_later(last: u64, field: u64, wrap: u64) -> u64 {
    last + (field % wrap + wrap - last % wrap) % wrap
}

/// The last instant up to `now` whose low bits are the field; the field itself, if none was yet.
fn latest(now: Time, field: Time) -> Time {
    let (now, field) = (now.ps(), field.ps() % TIME_WRAP_PS);
    Time::from_ps(field + now.saturating_sub(field) / TIME_WRAP_PS * TIME_WRAP_PS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use xoff_catalogue::int_header::{telemetry_from, telemetry_in};
    use xoff_engine::BitRate;

    proptest! {
        #[test]
        fn a_psn_is_the_nearest(around: u32, ahead in -0x80_0000..0x80_0000i32) {
            let whole = around.wrapping_add_signed(ahead);
            prop_assert_eq!(near(whole & 0xff_ffff, around), whole);
        }

        /// Exact records of two hops, sent through the header, differ as before, but for the unit.
        #[test]
        fn differences_survive_the_header(
            steps in proptest::collection::vec((1..16_000_000u64, 0..100_000_000u64), 1..40),
            gbps in proptest::sample::select(vec![10u64, 25, 100, 400]),
            multiplier in proptest::option::of(1..33u64),
        ) {
            let rate = BitRate::from_gbps(gbps);
            let m = unit(rate, multiplier);
            let mut unwrap = Unwrap::new(multiplier);
            let (mut at, mut tx_bytes, mut last) = (Time::from_ns(5), 7, None);
            for (ns, sent) in steps {
                at = Time::from_ps(at.ps() + 1000 * ns);
                tx_bytes += sent;
                let mut stack = IntStack::default();
                stack.pass(0x123);
                for ahead in [0, 1_000_000] {
                    stack.push(IntHop { rate, at, tx_bytes: tx_bytes + ahead, queue_bytes: 0 });
                }
                let narrow = telemetry_from(&telemetry_in(&stack, multiplier), multiplier).unwrap();
                // Half a millisecond later at the end.
                let whole = unwrap.widen(Time::from_ps(at.ps() + 500_000_000), &narrow);
                prop_assert_eq!((whole.path(), whole.hops().len()), (0x123, 2));
                for hop in whole.hops() {
                    prop_assert_eq!(hop.at, at);
                }
                let counted = whole.hops()[1].tx_bytes;
                if let Some((before, then)) = last.replace((counted, tx_bytes)) {
                    let error = (counted - before).abs_diff(tx_bytes - then);
                    prop_assert!(error < 128 * m, "off by {} of units of {}", error, 128 * m);
                }
            }
        }
    }

    #[test]
    fn another_path_begins_anew() {
        let mut unwrap = Unwrap::new(None);
        let record = |path, tx_bytes| {
            let mut stack = IntStack::default();
            stack.pass(path);
            stack.push(IntHop { rate: BitRate::from_gbps(25), at: Time::ZERO, tx_bytes, queue_bytes: 0 });
            stack
        };
        let mut read = |path, tx_bytes| unwrap.widen(Time::from_ms(1), &record(path, tx_bytes)).hops()[0].tx_bytes;
        assert_eq!(read(1, 1280), 1280);
        assert_eq!(read(1, 128), 128 + BYTES_WRAP, "it has wrapped");
        assert_eq!(read(1, 128), 128 + BYTES_WRAP, "nothing was sent");
        assert_eq!(read(2, 0), 0, "another port");
    }

    #[test]
    fn a_time_is_never_after_now() {
        let wrap = Time::from_ps(TIME_WRAP_PS);
        assert_eq!(latest(Time::from_ps(TIME_WRAP_PS + 7000), Time::from_ps(7000)), Time::from_ps(TIME_WRAP_PS + 7000));
        assert_eq!(latest(Time::from_ps(TIME_WRAP_PS + 6999), Time::from_ps(7000)), Time::from_ps(7000));
        assert_eq!(latest(wrap, Time::ZERO), wrap);
    }
}
