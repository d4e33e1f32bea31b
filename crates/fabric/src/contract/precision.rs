//! A record of telemetry, and how exact it is: as the switch knows it, or as it fits the header (2 B, and 8 B for each
//! of up to five hops) that schemes with in-band telemetry share.

use xoff_engine::{BitRate, Time};

/// One hop's telemetry.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct IntHop {
    /// Line rate of the port.
    pub rate: BitRate,
    /// When the packet left the queue.
    pub at: Time,
    /// Bytes the port had sent before this packet.
    pub tx_bytes: u64,
    /// Bytes left in the port's queues.
    pub queue_bytes: u64,
}

/// How exact the records of switches are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Precision {
    /// Picoseconds and bytes, and any number of hops.
    #[default]
    Exact,
    /// Time in 24 bits of nanoseconds, bytes sent in 20 bits of 128 m bytes, queue in 17 bits of
    /// 80 m bytes, where m is the port's speed over 25 Gb/s.
    Header,
    /// Fields of the header with one m (at least 1, at most 32) for all ports, bit for bit: the queue
    /// wraps too, and the speed is one of five codes.
    Coded(u8),
}

/// Hops a telemetry stack can hold; the header format itself stops at five.
pub const INT_HOPS: usize = 8;
/// The header has room for these.
pub const HEADER_HOPS: usize = 5;
const NANOSECOND_PS: u64 = 1_000;
const TIME_WRAP_PS: u64 = NANOSECOND_PS << TIME_BITS;

/// Speeds that the header has a code for; every other reads as the first.
pub(crate) const CODED_GBPS: [u64; 5] = [25, 50, 100, 200, 400];

/// What stands for a port's speed in the header.
pub(crate) fn code_of(rate: BitRate) -> u8 {
    CODED_GBPS.iter().position(|&gbps| BitRate::from_gbps(gbps) == rate).unwrap_or(0) as u8
}

/// Multiplier of the header's units: coarser at faster ports.
pub fn multiplier(rate: BitRate) -> u64 {
    (rate.bps() / 25_000_000_000).max(1)
}

/// A record's fields in the header: nanoseconds in 24 bits, bytes sent in 20 bits of 128 m bytes, queue in 17 bits of
/// 80 m bytes.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    nanoseconds: u64,
    tx_units: u64,
    queue_units: u64,
}

const TIME_BITS: u32 = 24;
const TX_BITS: u32 = 20;
const QUEUE_BITS: u32 = 17;

/// The lowest bits of a number.
const fn low(number: u64, bits: u32) -> u64 {
    number & ((1 << bits) - 1)
}

impl Fields {
    /// What does not fit wraps.
    #[inline]
    pub fn wrapped(at: Time, tx_bytes: u64, queue_bytes: u64, m: u64) -> Fields {
        Fields {
            nanoseconds: low(at.ps() / NANOSECOND_PS, TIME_BITS),
            tx_units: low(per(tx_bytes / 128, m), TX_BITS),
            queue_units: low(per(queue_bytes / 80, m), QUEUE_BITS),
        }
    }

    /// Fields whose queue saturates at the largest value; time and bytes sent wrap.
    pub fn capped(at: Time, tx_bytes: u64, queue_bytes: u64, m: u64) -> Fields {
        let queue_units = per(queue_bytes / 80, m).min(low(u64::MAX, QUEUE_BITS));
        Fields { queue_units, ..Fields::wrapped(at, tx_bytes, queue_bytes, m) }
    }

    /// Fields of the header, behind the three bits of the port's speed.
    #[inline]
    pub fn word(&self, code: u8) -> u64 {
        let time = u64::from(code) << TIME_BITS | self.nanoseconds;
        (time << TX_BITS | self.tx_units) << QUEUE_BITS | self.queue_units
    }

    /// What stands for the port's speed, and the fields.
    #[inline]
    pub fn of_word(word: u64) -> (u8, Fields) {
        let (tx, time) = (word >> QUEUE_BITS, word >> (QUEUE_BITS + TX_BITS));
        let fields = Fields {
            nanoseconds: low(time, TIME_BITS),
            tx_units: low(tx, TX_BITS),
            queue_units: low(word, QUEUE_BITS),
        };
        ((time >> TIME_BITS) as u8, fields)
    }

    /// Record as it is read from the header.
    #[inline]
    pub fn hop(&self, rate: BitRate, m: u64) -> IntHop {
        IntHop {
            rate,
            at: Time::from_ns(self.nanoseconds),
            tx_bytes: self.tx_units * 128 * m,
            queue_bytes: self.queue_units * 80 * m,
        }
    }
}

impl Precision {
    /// How many records there can be.
    #[inline]
    pub fn hops_most(self) -> usize {
        if self == Precision::Exact { INT_HOPS } else { HEADER_HOPS }
    }

    /// What is left of a record in the header.
    #[inline]
    pub fn fit(self, hop: &IntHop) -> IntHop {
        let (m, rate) = match self {
            Precision::Coded(m) => (u64::from(m), BitRate::from_gbps(CODED_GBPS[usize::from(code_of(hop.rate))])),
            _ => (multiplier(hop.rate), hop.rate),
        };
        let fields = if let Precision::Coded(_) = self { Fields::wrapped } else { Fields::capped };
        fields(hop.at, hop.tx_bytes, hop.queue_bytes, m).hop(rate, m)
    }

    /// Picoseconds and bytes sent between two records of one port. Zero picoseconds mean that the
    /// records say nothing of a rate.
    #[inline(always)]
    pub fn between(self, new: &IntHop, old: &IntHop) -> (u64, u64) {
        match self {
            Precision::Exact => (new.at.ps().saturating_sub(old.at.ps()), new.tx_bytes.saturating_sub(old.tx_bytes)),
            Precision::Header => modulo(new, old, multiplier(new.rate)),
            Precision::Coded(m) => modulo(new, old, u64::from(m)),
        }
    }
}

/// Whole multiples of m, which is a power of two at all usual speeds: then without a division.
#[inline]
fn per(amount: u64, m: u64) -> u64 {
    if m.is_power_of_two() { amount >> m.trailing_zeros() } else { amount / m }
}

/// Fields that are too narrow wrap; a difference is right as long as they wrapped once at most.
#[inline]
fn modulo(new: &IntHop, old: &IntHop, m: u64) -> (u64, u64) {
    let tx_wrap = (128 * m) << TX_BITS;
    (since(new.at.ps(), old.at.ps(), TIME_WRAP_PS), since(new.tx_bytes, old.tx_bytes, tx_wrap))
}

/// From `old` on to `new` where `wrap` follows upon `wrap - 1`.
#[inline]
fn since(new: u64, old: u64, wrap: u64) -> u64 {
    let apart = match new.abs_diff(old) {
        // Both have been fitted.
        apart if apart < wrap => apart,
        apart => apart % wrap,
    };
    if new < old && apart > 0 { wrap - apart } else { apart }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn differences_are_those_of_the_remainders(new: u64, old: u64, wrap in 1..1u64 << 40) {
            let (new, old) = (new >> (wrap % 40), old >> (wrap % 40));
            let expected = (i128::from(new) - i128::from(old)).rem_euclid(i128::from(wrap));
            prop_assert_eq!(i128::from(since(new, old, wrap)), expected);
        }
    }
}
