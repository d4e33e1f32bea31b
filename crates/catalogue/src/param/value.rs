//! Values of parameters: units, what texts they accept, and how a value is spelled.

use xoff_engine::quantity::{self, QuantityError};
use xoff_engine::{BitRate, Span};
use xoff_fabric::scheme::QueueFacts;

/// What a parameter is measured in, and which texts it accepts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ParamKind {
    /// `"55us"`
    Time,
    /// `"40Mbps"`, or a part of the sender's line rate: `"line/1000"`.
    Rate,
    /// `"10MB"`
    Bytes,
    /// At a port: `"5KB"` for all, `"4KB/Gbps"` in proportion to its rate, or by rate:
    /// `"160KB@40Gbps, 400KB@100Gbps"` (in a scenario also as a table,
    /// `{ "40Gbps" = "160KB", "100Gbps" = "400KB" }`). Any of them may be bounded by what PFC lets an
    /// ingress hold: `"min(4KB/Gbps, xoff/2)"`.
    BytesByRate,
    /// At a port: `"10us"` for all, or by rate: `"1ms@10Gbps, 250us@40Gbps"`.
    TimeByRate,
    /// At a port: `"0.3"` for all, or by rate: `"0.3@40Gbps, 0.45@100Gbps"`.
    NumberByRate {
        /// Smallest value at any rate, itself allowed.
        min: f64,
        /// Largest value at any rate, itself allowed.
        max: f64,
    },
    /// A number within bounds, both included: `0.00390625` or `"1/256"`.
    Number {
        /// Smallest value, itself allowed.
        min: f64,
        /// Largest value, itself allowed.
        max: f64,
    },
    /// A whole number within bounds, both included.
    Count {
        /// Smallest value, itself allowed.
        min: u64,
        /// Largest value, itself allowed.
        max: u64,
    },
    /// `true` or `false`
    Flag,
    /// One of these texts, letter by letter.
    Choice(&'static [&'static str]),
}

/// A parameter's value, of the kind its [`ParamKind`] asks for.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `"55us"`
    Time(Span),
    /// `"40Mbps"`, `"line/1000"`
    Rate(RateValue),
    /// `"10MB"`
    Bytes(u64),
    /// `"5KB"`, `"4KB/Gbps"`, `"160KB@40Gbps, 400KB@100Gbps"`
    BytesByRate(BytesByRate),
    /// `"10us"`, `"1ms@10Gbps, 250us@40Gbps"`
    TimeByRate(TimeByRate),
    /// `"0.3"`, `"0.3@40Gbps, 0.45@100Gbps"`
    NumberByRate(NumberByRate),
    /// Within the bounds of its [`ParamKind::Number`].
    Number(f64),
    /// Within the bounds of its [`ParamKind::Count`].
    Count(u64),
    /// `true` or `false`
    Flag(bool),
    /// One of the texts of its [`ParamKind::Choice`].
    Choice(&'static str),
}

/// A rate at a sender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RateValue {
    /// One rate, whatever the line rate.
    Fixed(BitRate),
    /// This part of the sender's line rate.
    OfLine(f64),
}

impl RateValue {
    /// In bits per second, at a sender of this line rate.
    pub fn at(self, line: BitRate) -> f64 {
        match self {
            RateValue::Fixed(rate) => rate.bps() as f64,
            RateValue::OfLine(part) => line.bps() as f64 * part,
        }
    }
}

/// A size at ports, which may depend on their rate.
#[derive(Clone, PartialEq, Debug)]
pub enum BytesByRate {
    /// Bytes at every port.
    Fixed(u64),
    /// Bytes for each Gb/s of the port's rate.
    PerGbps(f64),
    /// Sizes by port rate, ascending; a rate not listed takes the nearest lower entry scaled to it.
    Table(Vec<(BitRate, u64)>),
    /// At most this part of what an ingress holds when PFC pauses it.
    AtMost(Box<BytesByRate>, f64),
}

impl BytesByRate {
    /// At a queue of a switch.
    pub fn at_queue(&self, queue: &QueueFacts) -> u64 {
        self.at_port(queue.rate, queue.pause_bytes)
    }

    /// At a port of this rate; `pause_bytes` as in [`QueueFacts`].
    pub fn at_port(&self, rate: BitRate, pause_bytes: Option<u64>) -> u64 {
        match (self, pause_bytes) {
            (BytesByRate::AtMost(bytes, part), Some(pause)) => bytes.at(rate).min((pause as f64 * part) as u64),
            _ => self.at(rate),
        }
    }

    /// At a port of this rate, where nothing is paused.
    pub fn at(&self, rate: BitRate) -> u64 {
        match self {
            BytesByRate::AtMost(bytes, _) => bytes.at(rate),
            BytesByRate::Fixed(bytes) => *bytes,
            BytesByRate::PerGbps(bytes) => (bytes * rate.as_gbps()).round() as u64,
            BytesByRate::Table(rows) => {
                let scaled = |(listed, bytes): (BitRate, u64)| bytes as f64 * rate.as_gbps() / listed.as_gbps();
                listed(rows, rate).map_or(0, |row| scaled(row).round() as u64)
            }
        }
    }
}

/// Times at ports: a rate not listed takes the nearest lower entry (else the lowest) scaled in
/// inverse proportion, since what takes a time at a port is a number of bytes.
#[derive(Clone, PartialEq, Debug)]
pub enum TimeByRate {
    /// One value at every port, whatever its rate.
    Fixed(Span),
    /// Values by port rate, ascending.
    Table(Vec<(BitRate, Span)>),
}

impl TimeByRate {
    /// At a port of this rate.
    pub fn at(&self, rate: BitRate) -> Span {
        match self {
            TimeByRate::Fixed(span) => *span,
            TimeByRate::Table(rows) => listed(rows, rate).map_or(Span::ZERO, |(listed, span)| {
                Span::from_ps((span.ps() as f64 * listed.as_gbps() / rate.as_gbps()).round() as u64)
            }),
        }
    }
}

/// Numbers at ports: a rate not listed takes the nearest lower entry, else the lowest.
#[derive(Clone, PartialEq, Debug)]
pub enum NumberByRate {
    /// One value at every port, whatever its rate.
    Fixed(f64),
    /// Values by port rate, ascending.
    Table(Vec<(BitRate, f64)>),
}

impl NumberByRate {
    /// At a port of this rate.
    pub fn at(&self, rate: BitRate) -> f64 {
        match self {
            NumberByRate::Fixed(number) => *number,
            NumberByRate::Table(rows) => listed(rows, rate).map_or(0.0, |(_, number)| number),
        }
    }
}

/// The row of the highest listed rate not above `rate`, or the first.
fn listed<T: Copy>(rows: &[(BitRate, T)], rate: BitRate) -> Option<(BitRate, T)> {
    rows.iter().rev().find(|(listed, _)| *listed <= rate).or(rows.first()).copied()
}

/// Why a text is not a value of the unit asked for; reads on from "the value ...".
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueError(pub String);

impl From<QuantityError> for ValueError {
    fn from(error: QuantityError) -> Self {
        ValueError(error.to_string())
    }
}

impl ParamKind {
    /// Reads a text as a scenario spells it (numbers and flags arrive as their TOML text).
    pub fn parse(self, text: &str) -> Result<Value, ValueError> {
        let text = text.trim();
        match self {
            ParamKind::Time => Ok(Value::Time(quantity::parse_span(text)?)),
            ParamKind::Bytes => Ok(Value::Bytes(quantity::parse_bytes(text)?)),
            ParamKind::Rate => parse_rate_value(text).map(Value::Rate),
            ParamKind::BytesByRate => parse_bytes_by_rate(text).map(Value::BytesByRate),
            ParamKind::TimeByRate => Ok(Value::TimeByRate(match text.contains('@') {
                false => TimeByRate::Fixed(quantity::parse_span(text)?),
                true => TimeByRate::Table(parse_table(text, |text| Ok(quantity::parse_span(text)?))?),
            })),
            ParamKind::NumberByRate { min, max } => Ok(Value::NumberByRate(match text.contains('@') {
                false => NumberByRate::Fixed(parse_bounded(text, min, max)?),
                true => NumberByRate::Table(parse_table(text, |text| parse_bounded(text, min, max))?),
            })),
            ParamKind::Number { min, max } => Ok(Value::Number(parse_bounded(text, min, max)?)),
            ParamKind::Count { min, max } => match text.replace('_', "").parse::<u64>() {
                Ok(count) if (min..=max).contains(&count) => Ok(Value::Count(count)),
                _ => Err(ValueError(format!("is not a whole number between {min} and {max}"))),
            },
            ParamKind::Flag => match text {
                "true" => Ok(Value::Flag(true)),
                "false" => Ok(Value::Flag(false)),
                _ => Err(ValueError("is not true or false".to_owned())),
            },
            ParamKind::Choice(choices) => match choices.iter().find(|choice| **choice == text) {
                Some(choice) => Ok(Value::Choice(choice)),
                None => Err(ValueError(format!("is not one of {}", choices.join(", ")))),
            },
        }
    }

    /// What the unit accepts, for messages and lists.
    pub fn expects(self) -> String {
        match self {
            ParamKind::Time => "a time such as \"55us\"".into(),
            ParamKind::Rate => "a rate such as \"40Mbps\" or \"line/1000\"".into(),
            ParamKind::Bytes => "a size such as \"10MB\"".into(),
            ParamKind::BytesByRate => {
                "a size such as \"5KB\", \"4KB/Gbps\", \"min(4KB/Gbps, xoff/2)\" or a table by port rate".into()
            }
            ParamKind::TimeByRate => "a time such as \"10us\", or by port rate \"1ms@10Gbps, 250us@40Gbps\"".into(),
            ParamKind::NumberByRate { min, max } => {
                format!("a number from {min} to {max}, or by port rate \"0.3@40Gbps, 0.45@100Gbps\"")
            }
            ParamKind::Number { min, max } => format!("a number from {min} to {max}"),
            ParamKind::Count { min, max } => format!("a whole number from {min} to {max}"),
            ParamKind::Flag => "true or false".into(),
            ParamKind::Choice(choices) => format!("one of {}", choices.join(", ")),
        }
    }
}

fn parse_rate_value(text: &str) -> Result<RateValue, ValueError> {
    let Some(rest) = text.strip_prefix("line") else {
        return Ok(RateValue::Fixed(quantity::parse_rate(text)?));
    };
    let part = match rest.trim().strip_prefix('/') {
        None if rest.trim().is_empty() => Some(1.0),
        None => None,
        Some(divisor) => parse_number(divisor.trim()).ok().filter(|d| *d >= 1.0).map(|d| 1.0 / d),
    };
    part.map(RateValue::OfLine).ok_or_else(|| ValueError("is not `line` or `line/N` with N at least 1".into()))
}

fn parse_bytes_by_rate(text: &str) -> Result<BytesByRate, ValueError> {
    if let Some(inner) = text.strip_prefix("min(") {
        let parts = inner.strip_suffix(')').and_then(|inner| inner.rsplit_once(','));
        let bounded = parts.and_then(|(bytes, bound)| Some((bytes.trim(), parse_part_of_xoff(bound.trim())?)));
        return match bounded {
            Some((bytes, part)) if !bytes.starts_with("min(") => {
                Ok(BytesByRate::AtMost(Box::new(parse_bytes_by_rate(bytes)?), part))
            }
            _ => Err(ValueError("is not of the form `min(SIZE, xoff/N)` or `min(SIZE, xoff*N)`".into())),
        };
    }
    if text.contains('@') {
        return Ok(BytesByRate::Table(parse_table(text, |text| Ok(quantity::parse_bytes(text)?))?));
    }
    match text.strip_suffix("/Gbps") {
        Some(bytes) => Ok(BytesByRate::PerGbps(quantity::parse_bytes(bytes)? as f64)),
        None => Ok(BytesByRate::Fixed(quantity::parse_bytes(text)?)),
    }
}

/// `xoff`, `xoff/N` or `xoff*N`.
fn parse_part_of_xoff(text: &str) -> Option<f64> {
    let rest = text.strip_prefix("xoff")?.trim();
    let number = |text: &str| parse_number(text.trim()).ok().filter(|number| *number > 0.0);
    match (rest.strip_prefix('/'), rest.strip_prefix('*')) {
        (Some(divisor), _) => number(divisor).map(|divisor| 1.0 / divisor),
        (_, Some(factor)) => number(factor),
        _ => rest.is_empty().then_some(1.0),
    }
}

/// `VALUE@RATE, VALUE@RATE, ...`, in ascending order of rate.
fn parse_table<T>(text: &str, parse: impl Fn(&str) -> Result<T, ValueError>) -> Result<Vec<(BitRate, T)>, ValueError> {
    let mut rows: Vec<(BitRate, T)> = Vec::new();
    for row in text.split(',') {
        let Some((value, rate)) = row.split_once('@') else {
            return Err(ValueError(format!("has a part `{}` without a rate", row.trim())));
        };
        let rate = quantity::parse_rate(rate.trim())?;
        if rate.bps() == 0 || rows.last().is_some_and(|(last, _)| *last >= rate) {
            return Err(ValueError("does not list its rates in ascending order".into()));
        }
        rows.push((rate, parse(value.trim())?));
    }
    Ok(rows)
}

fn parse_bounded(text: &str, min: f64, max: f64) -> Result<f64, ValueError> {
    let number = parse_number(text)?;
    if !(min..=max).contains(&number) {
        return Err(ValueError(format!("is not between {min} and {max}")));
    }
    Ok(number)
}

/// A decimal number or a fraction of two.
fn parse_number(text: &str) -> Result<f64, ValueError> {
    let plain = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    let number = match text.split_once('/') {
        Some((a, b)) => plain(a).zip(plain(b)).filter(|(_, b)| *b != 0.0).map(|(a, b)| a / b),
        None => plain(text),
    };
    number.ok_or_else(|| ValueError("is not a finite number or a fraction such as \"1/256\"".into()))
}

/// Spelling in a scenario; [`ParamKind::parse`] reads it back.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Time(span) => write!(f, "{}", quantity::format_span(*span)),
            Value::Rate(RateValue::Fixed(rate)) => write!(f, "{}", quantity::format_rate(*rate)),
            Value::Rate(RateValue::OfLine(part)) => write!(f, "line/{}", 1.0 / part),
            Value::Bytes(bytes) => write!(f, "{}", quantity::format_bytes(*bytes)),
            Value::BytesByRate(bytes) => write!(f, "{bytes}"),
            Value::TimeByRate(TimeByRate::Fixed(span)) => write!(f, "{}", quantity::format_span(*span)),
            Value::TimeByRate(TimeByRate::Table(rows)) => write_table(f, rows, |s| quantity::format_span(*s)),
            Value::NumberByRate(NumberByRate::Fixed(number)) => write!(f, "{number}"),
            Value::NumberByRate(NumberByRate::Table(rows)) => write_table(f, rows, f64::to_string),
            Value::Number(number) => write!(f, "{number}"),
            Value::Count(count) => write!(f, "{count}"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Choice(choice) => write!(f, "{choice}"),
        }
    }
}

impl std::fmt::Display for BytesByRate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BytesByRate::Fixed(bytes) => write!(f, "{}", quantity::format_bytes(*bytes)),
            BytesByRate::PerGbps(bytes) => write!(f, "{}/Gbps", quantity::format_bytes(*bytes as u64)),
            BytesByRate::Table(rows) => write_table(f, rows, |b| quantity::format_bytes(*b)),
            BytesByRate::AtMost(bytes, part) if *part < 1.0 => write!(f, "min({bytes}, xoff/{})", 1.0 / part),
            BytesByRate::AtMost(bytes, part) => write!(f, "min({bytes}, xoff*{part})"),
        }
    }
}

fn write_table<T>(
    f: &mut std::fmt::Formatter<'_>,
    rows: &[(BitRate, T)],
    show: impl Fn(&T) -> String,
) -> std::fmt::Result {
    let rows: Vec<String> =
        rows.iter().map(|(rate, value)| format!("{}@{}", show(value), quantity::format_rate(*rate))).collect();
    write!(f, "{}", rows.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_follow_the_port() {
        let by = |text: &str| match ParamKind::BytesByRate.parse(text).unwrap() {
            Value::BytesByRate(value) => value,
            other => panic!("{other:?}"),
        };
        assert_eq!(by("5KB").at(BitRate::from_gbps(40)), 5_000);
        // ecn-red 3: 4 KB per Gb/s.
        assert_eq!(by("4KB/Gbps").at(BitRate::from_gbps(25)), 100_000);
        assert_eq!(by("4KB/Gbps").at(BitRate::from_gbps(400)), 1_600_000);
        let table = BytesByRate::Table(vec![(BitRate::from_gbps(40), 160_000), (BitRate::from_gbps(100), 300_000)]);
        assert_eq!(table.at(BitRate::from_gbps(40)), 160_000);
        assert_eq!(table.at(BitRate::from_gbps(50)), 200_000);
        assert_eq!(table.at(BitRate::from_gbps(400)), 1_200_000);
        assert_eq!(table.at(BitRate::from_gbps(10)), 40_000);
        // An ingress that is paused at 300 KB bounds it; without PFC nothing does.
        let bounded = by("min(4KB/Gbps, xoff/2)");
        let at = |gbps, pause| bounded.at_port(BitRate::from_gbps(gbps), pause);
        assert_eq!([at(25, Some(300_000)), at(100, Some(300_000)), at(100, None)], [100_000, 150_000, 400_000]);
        assert_eq!(by("min(16KB/Gbps, xoff*2)").at_port(BitRate::from_gbps(100), Some(300_000)), 600_000);
        let listed = by("min(160KB@40Gbps, 400KB@100Gbps, xoff)");
        assert_eq!(listed.at_port(BitRate::from_gbps(100), Some(300_000)), 300_000);
        for odd in ["min(4KB)", "min(4KB, 5KB)", "min(4KB, xoff/0)", "min(4KB, xoff", "min(min(4KB, xoff), xoff)"] {
            assert!(ParamKind::BytesByRate.parse(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn times_and_numbers_follow_the_port() {
        let Value::TimeByRate(time) = ParamKind::TimeByRate.parse("1ms@10Gbps, 250us@40Gbps").unwrap() else {
            panic!()
        };
        assert_eq!(time.at(BitRate::from_gbps(40)), Span::from_us(250));
        assert_eq!(time.at(BitRate::from_gbps(100)), Span::from_us(100));
        assert_eq!(time.at(BitRate::from_gbps(5)), Span::from_us(2000));
        let unit = ParamKind::NumberByRate { min: 0.0, max: 1.0 };
        let Value::NumberByRate(number) = unit.parse("0.3@40Gbps, 0.45@100Gbps").unwrap() else { panic!() };
        assert_eq!([10, 40, 50, 400].map(|g| number.at(BitRate::from_gbps(g))), [0.3, 0.3, 0.3, 0.45]);
        assert!(unit.parse("0.3@40Gbps, 2@100Gbps").is_err() && unit.parse("0.3@40Gbps, 0.2@10Gbps").is_err());
    }

    #[test]
    fn rates_may_follow_the_line() {
        let at = |text: &str, gbps| match ParamKind::Rate.parse(text).unwrap() {
            Value::Rate(value) => value.at(BitRate::from_gbps(gbps)),
            other => panic!("{other:?}"),
        };
        assert_eq!(at("40Mbps", 100), 40e6);
        assert_eq!(at("line/1000", 40), 40e6);
        assert_eq!(at("line/5000", 100), 20e6);
        assert!(ParamKind::Rate.parse("line/0").is_err());
        assert!(ParamKind::Rate.parse("line*3").is_err());
    }

    #[test]
    fn bounds_and_choices_hold() {
        let unit = ParamKind::Number { min: 0.0, max: 1.0 };
        assert_eq!(unit.parse("1/256"), Ok(Value::Number(0.00390625)));
        assert!(unit.parse("1.5").is_err() && unit.parse("NaN").is_err() && unit.parse("1/0").is_err());
        assert!(ParamKind::Count { min: 1, max: 5 }.parse("0").is_err());
        assert!(ParamKind::Choice(&["a", "b"]).parse("c").is_err());
    }

    #[test]
    fn values_read_back() {
        for (unit, text) in [
            (ParamKind::Time, "55us"),
            (ParamKind::Rate, "line/1000"),
            (ParamKind::Rate, "40Mbps"),
            (ParamKind::Bytes, "10MB"),
            (ParamKind::BytesByRate, "4KB/Gbps"),
            (ParamKind::Number { min: 0.0, max: 1.0 }, "0.00390625"),
            (ParamKind::Flag, "true"),
            (ParamKind::BytesByRate, "160KB@40Gbps, 400KB@100Gbps"),
            (ParamKind::BytesByRate, "min(4KB/Gbps, xoff/2)"),
            (ParamKind::BytesByRate, "min(160KB@40Gbps, 400KB@100Gbps, xoff*2)"),
            (ParamKind::TimeByRate, "1ms@10Gbps, 250us@40Gbps"),
            (ParamKind::NumberByRate { min: 0.0, max: 1.0 }, "0.3@40Gbps, 0.45@100Gbps"),
        ] {
            assert_eq!(unit.parse(text).unwrap().to_string(), text);
        }
    }
}
