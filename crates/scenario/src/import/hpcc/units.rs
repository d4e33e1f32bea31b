//! Rates and times as that simulator reads them.
//!
//! A decimal becomes a binary double, the double a fixed-point number of 64 binary places, and that
//! times the unit is cut to whole nanoseconds (whole bits per second for rates). So 2.000000123 s,
//! whose double lies a little below, starts at ...122 ns. This rule gives every start time of the
//! results we compare with.

use super::super::words::number;

/// Whole nanoseconds in `value` units of `unit_ns`.
pub fn nanoseconds(value: f64, unit_ns: u64) -> Option<u64> {
    const LARGEST_S: f64 = 100_000.0;
    if !value.is_finite() || value < 0.0 || value * unit_ns as f64 > LARGEST_S * 1e9 {
        return None;
    }
    // Exact: scaling a double by a power of two changes its exponent only.
    let fixed = (value * 2f64.powi(64)) as u128;
    u64::try_from(fixed.checked_mul(u128::from(unit_ns))? >> 64).ok()
}

/// Whole nanoseconds in decimal seconds.
pub fn seconds(value: f64) -> Option<u64> {
    nanoseconds(value, 1_000_000_000)
}

/// The whole nanoseconds nearest to `value` units of `unit_ns`, as newer simulators of that family count.
pub fn rounded(value: f64, unit_ns: u64) -> Option<u64> {
    nanoseconds(value, unit_ns)?;
    Some((value * unit_ns as f64).round() as u64)
}

/// `1000ns`, `0.001ms`; a bare number is seconds.
pub fn time(text: &str) -> Option<u64> {
    time_by(text, nanoseconds)
}

/// Nanoseconds of a time, with a rule for what is no whole nanosecond.
pub fn time_by(text: &str, nanoseconds: fn(f64, u64) -> Option<u64>) -> Option<u64> {
    let (value, unit) = split(text)?;
    match unit {
        "s" | "" => nanoseconds(value, 1_000_000_000),
        "ms" => nanoseconds(value, 1_000_000),
        "us" => nanoseconds(value, 1_000),
        "ns" => nanoseconds(value, 1),
        "ps" => nanoseconds(value, 1).map(|ps| ps / 1_000),
        "fs" => nanoseconds(value, 1).map(|fs| fs / 1_000_000),
        _ => None,
    }
}

/// Bits per second: `100Gbps`, `50Mb/s`; a bare number is bits per second.
pub fn rate(text: &str) -> Option<u64> {
    let (value, unit) = split(text)?;
    let ends = [("bps", 1.0), ("b/s", 1.0), ("Bps", 8.0), ("B/s", 8.0)];
    let (prefix, bits) = match unit {
        "" => ("", 1.0),
        unit => ends.into_iter().find_map(|(end, bits)| Some((unit.strip_suffix(end)?, bits)))?,
    };
    let scale = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bps = value * (scale * bits);
    (bps < 1e15).then_some(bps as u64)
}

fn split(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    Some((number(&text[..end])?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts that the simulator itself reported.
    #[test]
    fn seconds_are_cut_from_the_double() {
        for (text, ns) in [
            ("2.000000000", 2_000_000_000),
            ("2.000000123", 2_000_000_122),
            ("2.000000962", 2_000_000_962),
            ("2.000002612", 2_000_002_611),
            ("2.002004000", 2_002_003_999),
            ("2.001450223", 2_001_450_222),
            ("0.1", 100_000_000),
            ("4.00", 4_000_000_000),
        ] {
            assert_eq!(seconds(text.parse().unwrap()), Some(ns), "{text}");
        }
        assert_eq!(seconds(1e6), None);
        assert_eq!(seconds(f64::NAN), None);
    }

    /// Starts of the newer simulator.
    #[test]
    fn seconds_may_be_rounded_instead() {
        for (text, ns) in [("2.000000123", 2_000_000_123), ("2.000002308", 2_000_002_308), ("0.0000000016", 2)] {
            assert_eq!(rounded(text.parse().unwrap(), 1_000_000_000), Some(ns), "{text}");
        }
        assert_eq!(time_by("0.0000016ms", rounded), Some(2));
        assert_eq!((rounded(1e6, 1_000_000_000), rounded(-1.0, 1), rounded(f64::NAN, 1)), (None, None, None));
    }

    #[test]
    fn times_and_rates() {
        for (text, ns) in
            [("1000ns", 1000), ("0.001ms", 1000), ("5us", 5000), ("1500ps", 1), ("2", 2_000_000_000), ("0ns", 0)]
        {
            assert_eq!(time(text), Some(ns), "{text}");
        }
        for (text, bps) in [
            ("100Gbps", 100_000_000_000),
            ("50Mb/s", 50_000_000),
            ("37.5Gb/s", 37_500_000_000),
            ("1000000", 1_000_000),
            ("5MB/s", 40_000_000),
            ("8Kbps", 8_000),
        ] {
            assert_eq!(rate(text), Some(bps), "{text}");
        }
        for wrong in ["", "Gbps", "100 Gbps", "-1Gbps", "100G", "1e30Gbps", "12parsecs", "1.2.3Gbps", "100Tbps", "4k"] {
            assert_eq!((rate(wrong), time(wrong)), (None, None), "{wrong}");
        }
    }
}
