//! Quantities as people write them: `"12us"`, `"100Gbps"`, `"512KB"`. Exact, or refused.

use crate::units::{BitRate, Span};

/// Why a text is not the quantity asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QuantityError {
    /// No number at the front, or one we do not read (signs, exponents, NaN).
    NotANumber,
    /// A bare number.
    NoUnit {
        /// What could have followed the number.
        units: &'static [&'static str],
    },
    /// Letters after the number that are no unit of this quantity; case counts.
    UnknownUnit {
        /// Unit, as written.
        unit: String,
        /// What could have stood there.
        units: &'static [&'static str],
    },
    /// More decimals than the step of the unit allows.
    TooFine {
        /// The smallest step, with its unit: `1 ps`, `1 bps`, `1 byte`.
        step: &'static str,
    },
    /// More than 64 bits of the smallest step.
    TooLarge,
}

impl std::fmt::Display for QuantityError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            QuantityError::NotANumber => write!(f, "does not start with a non-negative decimal number"),
            QuantityError::NoUnit { units } => write!(f, "has no unit; write one of {}", units.join(", ")),
            QuantityError::UnknownUnit { unit, units } => {
                write!(f, "has the unknown unit `{unit}`; write one of {}", units.join(", "))
            }
            QuantityError::TooFine { step } => write!(f, "is finer than {step}"),
            QuantityError::TooLarge => write!(f, "is too large"),
        }
    }
}

impl std::error::Error for QuantityError {}

const TIME_UNITS: &[&str] = &["ps", "ns", "us", "ms", "s"];
const RATE_UNITS: &[&str] = &["bps", "Kbps", "Mbps", "Gbps", "Tbps"];
const BYTE_UNITS: &[&str] = &["B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB"];

/// `"12us"`, `"0.5 ms"`.
pub fn parse_span(text: &str) -> Result<Span, QuantityError> {
    let scale = |unit: &str| match unit {
        "ps" => Some(1),
        "ns" => Some(1_000),
        "us" | "µs" => Some(1_000_000),
        "ms" => Some(1_000_000_000),
        "s" => Some(1_000_000_000_000),
        _ => None,
    };
    parse(text, TIME_UNITS, scale, "1 ps").map(Span::from_ps)
}

/// `"100Gbps"`, `"37.5 Gb/s"`.
pub fn parse_rate(text: &str) -> Result<BitRate, QuantityError> {
    let scale = |unit: &str| match unit {
        "bps" | "b/s" => Some(1),
        "Kbps" | "kbps" | "Kb/s" | "kb/s" => Some(1_000),
        "Mbps" | "Mb/s" => Some(1_000_000),
        "Gbps" | "Gb/s" => Some(1_000_000_000),
        "Tbps" | "Tb/s" => Some(1_000_000_000_000),
        _ => None,
    };
    parse(text, RATE_UNITS, scale, "1 bps").map(BitRate::from_bps)
}

/// `"512KB"` (1000 bytes to the KB), `"3MiB"` (1024s).
pub fn parse_bytes(text: &str) -> Result<u64, QuantityError> {
    let scale = |unit: &str| match unit {
        "B" => Some(1),
        "KB" | "kB" => Some(1_000),
        "MB" => Some(1_000_000),
        "GB" => Some(1_000_000_000),
        "TB" => Some(1_000_000_000_000),
        "KiB" => Some(1 << 10),
        "MiB" => Some(1 << 20),
        "GiB" => Some(1 << 30),
        _ => None,
    };
    parse(text, BYTE_UNITS, scale, "1 byte")
}

/// The shortest exact spelling that [`parse_bytes`] reads back.
pub fn format_bytes(bytes: u64) -> String {
    for (scale, unit) in [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")] {
        if bytes >= scale {
            return format!("{}{unit}", decimal(bytes, scale));
        }
    }
    format!("{bytes}B")
}

/// The shortest exact spelling that [`parse_span`] reads back.
pub fn format_span(span: Span) -> String {
    let ps = span.ps();
    for (scale, unit) in [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns")] {
        if ps >= scale {
            return format!("{}{unit}", decimal(ps, scale));
        }
    }
    format!("{ps}ps")
}

/// The shortest exact spelling that [`parse_rate`] reads back.
pub fn format_rate(rate: BitRate) -> String {
    let bps = rate.bps();
    for (scale, unit) in [(1_000_000_000, "Gbps"), (1_000_000, "Mbps"), (1_000, "Kbps")] {
        if bps >= scale {
            return format!("{}{unit}", decimal(bps, scale));
        }
    }
    format!("{bps}bps")
}

/// `value / scale` in decimals, exactly; `scale` is a power of ten.
fn decimal(value: u64, scale: u64) -> String {
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = scale.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

fn parse(
    text: &str,
    units: &'static [&'static str],
    scale: impl Fn(&str) -> Option<u64>,
    step: &'static str,
) -> Result<u64, QuantityError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let (whole, fraction) = (whole.replace('_', ""), fraction.trim_end_matches('0'));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(&whole) || !digits(fraction) {
        return Err(QuantityError::NotANumber);
    }
    if unit.is_empty() {
        return Err(QuantityError::NoUnit { units });
    }
    let Some(scale) = scale(unit) else {
        return Err(QuantityError::UnknownUnit { unit: unit.chars().take(20).collect(), units });
    };
    if whole.len() > 19 {
        return Err(QuantityError::TooLarge);
    }
    if fraction.len() > 15 {
        return Err(QuantityError::TooFine { step });
    }
    // At most 19 + 15 digits: 10^34 times 2^40 could pass 2^128, so widen in two checked steps.
    let power = 10u128.pow(fraction.len() as u32);
    let mantissa = format!("{whole}{fraction}").parse::<u128>().map_err(|_| QuantityError::TooLarge)?;
    let scaled = mantissa.checked_mul(u128::from(scale)).ok_or(QuantityError::TooLarge)?;
    if scaled % power != 0 {
        return Err(QuantityError::TooFine { step });
    }
    u64::try_from(scaled / power).map_err(|_| QuantityError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_people_write() {
        assert_eq!(parse_span("12us"), Ok(Span::from_us(12)));
        assert_eq!(parse_span(" 83.3 us "), Ok(Span::from_ns(83_300)));
        assert_eq!(parse_rate("100Gbps"), Ok(BitRate::from_gbps(100)));
        assert_eq!(parse_rate("37.5Gb/s"), Ok(BitRate::from_mbps(37_500)));
        assert_eq!(parse_bytes("512KB"), Ok(512_000));
        assert_eq!(parse_bytes("3MiB"), Ok(3 << 20));
        assert_eq!(parse_bytes("1_000B"), Ok(1000));
    }

    #[test]
    fn every_unit_is_read_and_named() {
        let spans = [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
        for (unit, ps) in spans {
            assert_eq!(parse_span(&format!("3{unit}")), Ok(Span::from_ps(3 * ps)), "{unit}");
        }
        let rates =
            [("bps", 1), ("Kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)];
        for (unit, bps) in rates {
            assert_eq!(parse_rate(&format!("3{unit}")), Ok(BitRate::from_bps(3 * bps)), "{unit}");
            assert_eq!(
                parse_rate(&format!("3{}", unit.replace("bps", "b/s"))),
                Ok(BitRate::from_bps(3 * bps)),
                "{unit}"
            );
        }
        let bytes = [1, 1_000, 1_000_000, 1_000_000_000, 1_000_000_000_000, 1024, 1024 * 1024, 1024 * 1024 * 1024];
        for (unit, bytes) in BYTE_UNITS.iter().zip(bytes) {
            assert_eq!(parse_bytes(&format!("3{unit}")), Ok(3 * bytes), "{unit}");
        }
        assert_eq!(spans.map(|(unit, _)| unit), TIME_UNITS);
        assert_eq!(rates.map(|(unit, _)| unit), RATE_UNITS);
    }

    #[test]
    fn the_largest_and_the_finest_are_read() {
        assert_eq!(parse_bytes("1000000000000000000B"), Ok(1_000_000_000_000_000_000), "19 digits");
        assert_eq!(parse_bytes("00000000000000000001B"), Err(QuantityError::TooLarge), "20 digits");
        assert_eq!(parse_bytes("18446744073709551615B"), Err(QuantityError::TooLarge), "though it would fit");
        assert_eq!(parse_span("0.000000000001s"), Ok(Span::from_ps(1)));
        assert_eq!(parse_span("0.0000000000001s"), Err(QuantityError::TooFine { step: "1 ps" }));
        // Fifteen digits are looked at; zeros at the end count for nothing.
        assert_eq!(parse_bytes("0.100000000000000TB"), Ok(100_000_000_000));
        assert_eq!(parse_bytes("0.000000000000001TB"), Err(QuantityError::TooFine { step: "1 byte" }));
        assert_eq!(parse_bytes("0.0000000000000001TB"), Err(QuantityError::TooFine { step: "1 byte" }));
    }

    #[test]
    fn errors_say_what_to_write() {
        let error = |text: &str| parse_bytes(text).unwrap_err().to_string();
        assert_eq!(error("5"), "has no unit; write one of B, KB, MB, GB, TB, KiB, MiB, GiB");
        assert!(error("5 parsecs").starts_with("has the unknown unit `parsecs`; write one of B"));
        assert_eq!([error("x"), error("0.5B"), error("99999999999TB")].map(|text| text.len() > 8), [true; 3]);
    }

    #[test]
    fn refuses_the_rest() {
        assert_eq!(parse_span("12"), Err(QuantityError::NoUnit { units: TIME_UNITS }));
        assert!(matches!(parse_span("12 parsecs"), Err(QuantityError::UnknownUnit { .. })));
        assert_eq!(parse_span("-3us"), Err(QuantityError::NotANumber));
        assert_eq!(parse_span("NaN"), Err(QuantityError::NotANumber));
        assert_eq!(parse_span("1.2.3us"), Err(QuantityError::NotANumber));
        assert_eq!(parse_span("0.5ps"), Err(QuantityError::TooFine { step: "1 ps" }));
        assert_eq!(parse_bytes("99999999999TB"), Err(QuantityError::TooLarge));
        assert_eq!(parse_rate(""), Err(QuantityError::NotANumber));
    }

    proptest! {
        #[test]
        fn spellings_read_back(value in any::<u64>()) {
            prop_assert_eq!(parse_bytes(&format_bytes(value)), Ok(value));
            prop_assert_eq!(parse_span(&format_span(Span::from_ps(value))), Ok(Span::from_ps(value)));
            prop_assert_eq!(parse_rate(&format_rate(BitRate::from_bps(value))), Ok(BitRate::from_bps(value)));
        }

        #[test]
        fn nothing_panics(text in ".{0,40}") {
            let _ = (parse_span(&text), parse_rate(&text), parse_bytes(&text));
        }
    }
}
