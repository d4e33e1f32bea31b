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
    /// The same fields with one m (at least 1, at most 32) for all ports, bit for bit: the queue
    /// wraps too, and the speed is one of five codes.
    Coded(u8),
}

/// Hops a telemetry stack can hold; the header format itself stops at five.
pub const INT_HOPS: usize = 8;
/// The header has room for these.
pub const HEADER_HOPS: usize = 5;
const NANOSECOND_PS: u64 = 1_000;
const TIME_WRAP_PS: u64 = NANOSECOND_PS << 24;

/// Speeds that the header has a code for; every other reads as the first.
pub(crate) const CODED_GBPS: [u64; 5] = [25, 50, 100, 200, 400];

/// What stands for a port's speed in the header.
pub(crate) fn code_of(rate: BitRate) -> u8 {
    CODED_GBPS.iter().position(|&gbps| BitRate::from_gbps(gbps) == rate).unwrap_or(0) as u8
}

/// Multiplier of the header's units: coarser at faster ports.
fn multiplier(rate: BitRate) -> u64 {
    (rate.bps() / 25_000_000_000).max(1)
}

/// A record's fields in the header: nanoseconds in 24 bits, bytes sent in 20 bits of 128 m bytes, queue in 17 bits of
/// 80 m bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub nanoseconds: u64,
    pub tx_units: u64,
    /// May be more than fit.
    pub queue_units: u64,
}

/// The most that the queue's field can hold.
pub(crate) const QUEUE_MOST: u64 = (1 << 17) - 1;

impl Fields {
    #[inline]
    pub fn new(at: Time, tx_bytes: u64, queue_bytes: u64, m: u64) -> Fields {
        Fields {
            nanoseconds: (at.ps() / NANOSECOND_PS) & ((1 << 24) - 1),
            tx_units: per(tx_bytes / 128, m) & ((1 << 20) - 1),
            queue_units: per(queue_bytes / 80, m),
        }
    }

    /// As whoever reads the header understands it.
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
        let mut fields = Fields::new(hop.at, hop.tx_bytes, hop.queue_bytes, m);
        fields.queue_units = match self {
            Precision::Coded(_) => fields.queue_units & QUEUE_MOST,
            _ => fields.queue_units.min(QUEUE_MOST),
        };
        fields.hop(rate, m)
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
    let tx_wrap = (128 * m) << 20;
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
