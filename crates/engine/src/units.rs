//! Physical quantities as integers: instants and spans in picoseconds, rates in bits per second.
//!
//! Only the physical operations exist (`Time - Time = Span`, `bytes at a rate = Span`), so a unit
//! slip does not compile. Byte counts are plain `u64`, named `*_bytes` wherever they appear.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// Picoseconds in one second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant: picoseconds since the start of the run. Reaches 213 days.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span(u64);

/// What instants and spans share. An instant counts from the start of the run.
macro_rules! picoseconds {
    ($type:ident) => {
        impl $type {
            /// The start of the run, or no time at all.
            pub const ZERO: $type = $type(0);

            /// From picoseconds, the resolution of all times.
            pub const fn from_ps(ps: u64) -> $type {
                $type(ps)
            }
            /// From nanoseconds, up to 213 days.
            pub const fn from_ns(ns: u64) -> $type {
                $type(ns * 1_000)
            }
            /// From microseconds, up to 213 days.
            pub const fn from_us(us: u64) -> $type {
                $type(us * 1_000_000)
            }
            /// From milliseconds, up to 213 days.
            pub const fn from_ms(ms: u64) -> $type {
                $type(ms * 1_000_000_000)
            }
            /// Picoseconds, exactly.
            pub const fn ps(self) -> u64 {
                self.0
            }
            /// Microseconds, rounded to a `f64`: for people, not for arithmetic.
            pub fn as_us(self) -> f64 {
                self.0 as f64 / 1e6
            }
            /// Seconds, rounded to a `f64`: what control laws compute with.
            pub fn as_s(self) -> f64 {
                self.0 as f64 / 1e12
            }
        }
    };
}

picoseconds!(Time);
picoseconds!(Span);

impl Time {
    /// Later than anything that happens: "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// The span since `earlier`, zero if `earlier` is in fact later.
    pub fn saturating_since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
    /// `NEVER` stays `NEVER`.
    pub fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// 213 days. Added to an instant it overflows, unless by [`Time::saturating_add`].
    pub const MAX: Span = Span(u64::MAX);

    /// Rounded to the nearest picosecond; negative and NaN become zero, overflow the maximum.
    pub fn from_s_rounded(seconds: f64) -> Span {
        Span((seconds * 1e12).round() as u64)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}
impl Sub<Time> for Time {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Time) -> Span {
        debug_assert!(self >= earlier, "negative span: {self:?} - {earlier:?}");
        Span(self.0 - earlier.0)
    }
}
impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}
impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        debug_assert!(self >= other, "negative span: {self:?} - {other:?}");
        Span(self.0 - other.0)
    }
}
impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, times: u64) -> Span {
        Span(self.0 * times)
    }
}
impl Div<u64> for Span {
    type Output = Span;
    fn div(self, parts: u64) -> Span {
        Span(self.0 / parts)
    }
}
impl Div for Span {
    type Output = f64;
    fn div(self, other: Span) -> f64 {
        self.0 as f64 / other.0 as f64
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}
impl fmt::Display for Span {
    /// The largest unit that shows the value with few digits: `12.8us`, `3.072ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, ["ps", "ns", "us", "ms", "s"])
    }
}

/// Writes a value in the largest of these units, each a thousand of the one before, that leaves a whole part.
fn write_scaled(f: &mut fmt::Formatter<'_>, value: u64, units: [&str; 5]) -> fmt::Result {
    let place = (value.checked_ilog10().unwrap_or(0) as usize / 3).min(4);
    let text = format!("{:.6}", value as f64 / [1.0, 1e3, 1e6, 1e9, 1e12][place]);
    write!(f, "{}{}", text.trim_end_matches('0').trim_end_matches('.'), units[place])
}

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BitRate(u64);

impl BitRate {
    /// Bits per second, the unit of all rates.
    pub const fn from_bps(bps: u64) -> BitRate {
        BitRate(bps)
    }
    /// Rate in units of 10^6 bits per second.
    pub const fn from_mbps(mbps: u64) -> BitRate {
        BitRate(mbps * 1_000_000)
    }
    /// Rate in units of 10^9 bits per second.
    pub const fn from_gbps(gbps: u64) -> BitRate {
        BitRate(gbps * 1_000_000_000)
    }
    /// Bits per second, exactly.
    pub const fn bps(self) -> u64 {
        self.0
    }
    /// Units of 10^9 bits per second, rounded to a `f64`.
    pub fn as_gbps(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Whole bytes that pass in `span`, rounded down.
    pub fn bytes_in(self, span: Span) -> u64 {
        (self.0 as u128 * span.0 as u128 / (8 * PS_PER_S as u128)) as u64
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, ["bps", "Kbps", "Mbps", "Gbps", "Tbps"])
    }
}

/// The rate of a wire, prepared for exact serialisation times.
///
/// Every Ethernet speed from 1 Gb/s to 1.6 Tb/s is a whole number of picoseconds per byte, and
/// then serialisation is one multiplication. Any other rate divides and rounds up, so a wire
/// never carries more than its rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkRate {
    rate: BitRate,
    /// Zero when the rate has no whole number of picoseconds per byte, or durations are coarser.
    ps_per_byte: u32,
    resolution: TimeResolution,
}

impl LinkRate {
    /// With exact durations. Panics at a rate of zero.
    pub fn new(rate: BitRate) -> LinkRate {
        LinkRate::with_resolution(rate, TimeResolution::Exact)
    }

    /// Serialisation times are multiples of `resolution`.
    pub fn with_resolution(rate: BitRate, resolution: TimeResolution) -> LinkRate {
        assert!(rate.0 > 0, "a link rate must be positive");
        let ps = 8 * PS_PER_S;
        let exact =
            resolution == TimeResolution::Exact && ps.is_multiple_of(rate.0) && ps / rate.0 <= u64::from(u32::MAX);
        LinkRate { rate, ps_per_byte: if exact { (ps / rate.0) as u32 } else { 0 }, resolution }
    }

    /// The rate itself, whatever the resolution of its durations.
    pub fn rate(self) -> BitRate {
        self.rate
    }

    /// Whether serialisation is one multiplication.
    #[inline]
    pub fn is_quick(self) -> bool {
        self.ps_per_byte != 0
    }

    /// Time on the wire of `wire_bytes` (at most 2 MB: a frame, not a flow).
    #[inline]
    pub fn serialise(self, wire_bytes: u32) -> Span {
        if self.ps_per_byte != 0 {
            Span(u64::from(wire_bytes) * u64::from(self.ps_per_byte))
        } else {
            self.serialise_slowly(wire_bytes)
        }
    }

    #[cold]
    fn serialise_slowly(self, wire_bytes: u32) -> Span {
        match self.resolution {
            TimeResolution::Exact => Span((u64::from(wire_bytes) * (8 * PS_PER_S)).div_ceil(self.rate.0)),
            resolution => resolution.duration(wire_bytes, self.rate.0 as f64),
        }
    }
}

/// How fine durations are that follow from a rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TimeResolution {
    /// Picoseconds, which is exact for the usual rates.
    #[default]
    Exact,
    /// Whole nanoseconds, rounded down.
    Nanosecond,
    /// Whole nanoseconds, rounded down from seconds that are cut to 64 binary digits after the point:
    /// what would be a whole number of nanoseconds comes out one less.
    BinaryNanosecond,
}

impl TimeResolution {
    /// Time that `wire_bytes` take at `bps` bits per second.
    pub fn duration(self, wire_bytes: u32, bps: f64) -> Span {
        match self {
            TimeResolution::Exact => Span((f64::from(wire_bytes) * (8e12 / bps)) as u64),
            TimeResolution::Nanosecond => {
                let bits = u128::from(wire_bytes) * 8_000_000_000;
                Span((bits / (bps as u128).max(1)) as u64 * 1_000)
            }
            TimeResolution::BinaryNanosecond => {
                let seconds = f64::from(wire_bytes * 8) / bps;
                // A power of two only moves the binary point, so this is exact. What is below a second fits 64 bits,
                // which the processor converts by itself.
                let fraction = seconds * 18_446_744_073_709_551_616.0;
                let fraction = if seconds < 1.0 { u128::from(fraction as u64) } else { fraction as u128 };
                Span(((fraction * 1_000_000_000) >> 64) as u64 * 1_000)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_and_odd_rates_divide_and_round_up() {
        // 8e12 / 1000 ps per byte do not fit in 32 bits.
        let slow = LinkRate::new(BitRate::from_bps(1_000));
        assert_eq!(slow.serialise(3), Span::from_ps(24_000_000_000));
        // The slowest that does, and the first that does not.
        assert_eq!(LinkRate::new(BitRate::from_bps(2_000)).serialise(1), Span::from_ps(4_000_000_000));
        assert_eq!(LinkRate::new(BitRate::from_bps(1_600)).serialise(1), Span::from_ps(5_000_000_000));
        let odd = LinkRate::new(BitRate::from_bps(7_000_000_000));
        assert_eq!(odd.serialise(1), Span::from_ps(1_143), "8000 / 7 rounded up");
    }

    #[test]
    fn durations_are_multiples_of_the_time_resolution() {
        assert_eq!(TimeResolution::Exact.duration(1_000, 100e9), Span::from_ps(80_000));
        assert_eq!(TimeResolution::Nanosecond.duration(1_048, 100e9), Span::from_ns(83));
        assert_eq!(TimeResolution::Nanosecond.duration(1_000, 100e9), Span::from_ns(80));
        assert_eq!(
            TimeResolution::BinaryNanosecond.duration(1_000, 100e9),
            Span::from_ns(79),
            "one less where it is whole"
        );
        assert_eq!(TimeResolution::BinaryNanosecond.duration(1_048, 100e9), Span::from_ns(83));
        assert_eq!(
            LinkRate::with_resolution(BitRate::from_gbps(100), TimeResolution::Nanosecond).serialise(1_048),
            Span::from_ns(83)
        );
    }

    #[test]
    fn ethernet_speeds_serialise_exactly() {
        // (Gb/s, ps per byte)
        for (gbps, ps) in [
            (1, 8000),
            (10, 800),
            (25, 320),
            (40, 200),
            (50, 160),
            (100, 80),
            (200, 40),
            (400, 20),
            (800, 10),
            (1600, 5),
        ] {
            let rate = LinkRate::new(BitRate::from_gbps(gbps));
            assert_eq!(rate.serialise(1).ps(), ps);
            assert_eq!(rate.serialise(1106).ps(), 1106 * ps);
        }
    }

    #[test]
    fn odd_rates_round_up() {
        let rate = LinkRate::new(BitRate::from_gbps(30));
        assert_eq!(rate.serialise(3).ps(), 800);
        assert_eq!(rate.serialise(1).ps(), 267);
    }

    #[test]
    fn serialisation_times_round_down_to_the_time_resolution() {
        let ns = |gbps, bytes, resolution| {
            LinkRate::with_resolution(BitRate::from_gbps(gbps), resolution).serialise(bytes).ps() / 1_000
        };
        for (gbps, bytes, down, binary) in
            [(100, 1048, 83, 83), (400, 1048, 20, 20), (400, 60, 1, 1), (40, 60, 12, 11), (400, 43, 0, 0)]
        {
            assert_eq!(ns(gbps, bytes, TimeResolution::Nanosecond), down, "{bytes} B at {gbps}G");
            assert_eq!(ns(gbps, bytes, TimeResolution::BinaryNanosecond), binary, "{bytes} B at {gbps}G");
        }
    }

    #[test]
    fn roce_packet_spacing() {
        // roce-transport 5.1: 1024 B payload is 1106 B on the wire.
        for (gbps, ns) in [(100, 88.48), (40, 221.2), (25, 353.92), (10, 884.8)] {
            let span = LinkRate::new(BitRate::from_gbps(gbps)).serialise(1106);
            assert_eq!(span.ps() as f64 / 1e3, ns);
        }
    }

    #[test]
    fn quantities_print_briefly() {
        assert_eq!(Span::from_ps(12_800_000).to_string(), "12.8us");
        assert_eq!(Span::from_ms(3).to_string(), "3ms");
        assert_eq!(Span::ZERO.to_string(), "0ps");
        assert_eq!(BitRate::from_mbps(37_500).to_string(), "37.5Gbps");
    }

    #[test]
    fn bytes_in_a_span() {
        assert_eq!(BitRate::from_gbps(100).bytes_in(Span::from_us(12)), 150_000);
    }

    #[test]
    fn instants_and_spans_are_picoseconds() {
        assert_eq!(
            [Time::from_ns(3).ps(), Time::from_us(3).ps(), Time::from_ms(3).ps()],
            [3_000, 3_000_000, 3_000_000_000]
        );
        assert_eq!(
            [Span::from_ns(3).ps(), Span::from_us(3).ps(), Span::from_ms(3).ps()],
            [3_000, 3_000_000, 3_000_000_000]
        );
        assert_eq!((Time::from_us(3).as_us(), Span::from_us(3).as_us()), (3.0, 3.0));
        assert_eq!((Time::from_ms(250).as_s(), Span::from_ms(250).as_s()), (0.25, 0.25));
        assert_eq!((BitRate::from_mbps(2_500).bps(), BitRate::from_mbps(2_500).as_gbps()), (2_500_000_000, 2.5));
        assert_eq!(LinkRate::new(BitRate::from_gbps(7)).rate(), BitRate::from_gbps(7));
    }

    #[test]
    fn only_physical_sums() {
        let (mut at, mut span) = (Time::from_ps(10), Span::from_ps(6));
        assert_eq!((at + span, at - Time::from_ps(4)), (Time::from_ps(16), Span::from_ps(6)));
        assert_eq!((span + Span::from_ps(2), span - Span::from_ps(2)), (Span::from_ps(8), Span::from_ps(4)));
        assert_eq!((span * 4, span / 4, span / Span::from_ps(4)), (Span::from_ps(24), Span::from_ps(1), 1.5));
        at += span;
        span += span;
        assert_eq!((at, span), (Time::from_ps(16), Span::from_ps(12)));
    }

    #[test]
    fn what_saturates_stays_at_its_end() {
        let (early, late) = (Time::from_ps(3), Time::from_ps(5));
        assert_eq!((late.saturating_since(early), early.saturating_since(late)), (Span::from_ps(2), Span::ZERO));
        assert_eq!(early.saturating_add(Span::from_ps(2)), late);
        assert_eq!(Time::NEVER.saturating_add(Span::from_ps(1)), Time::NEVER);
        let rounded = [1.4e-12, 1.6e-12, -1.0, f64::NAN, 1e9].map(Span::from_s_rounded);
        assert_eq!(rounded, [Span::from_ps(1), Span::from_ps(2), Span::ZERO, Span::ZERO, Span::MAX]);
    }
}
