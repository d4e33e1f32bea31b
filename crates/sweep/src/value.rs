//! Values of an axis: as they are set, as they are shown, and as numbers of one unit.

use xoff_engine::quantity::{format_bytes, format_rate, format_span, parse_bytes, parse_rate, parse_span};
use xoff_engine::{BitRate, Span};
use xoff_scenario::tree;

/// What the numbers of an axis measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    One,
    /// Sizes such as `"5KB"`.
    Bytes,
    /// Times such as `"12us"`.
    Microseconds,
    /// Rates such as `"100Gbps"`.
    Gbps,
}

impl Unit {
    /// What a column of such numbers ends with.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::One => "",
            Unit::Bytes => "_bytes",
            Unit::Microseconds => "_us",
            Unit::Gbps => "_gbps",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Unit::One => "1",
            Unit::Bytes => "bytes",
            Unit::Microseconds => "us",
            Unit::Gbps => "Gbps",
        }
    }
}

/// A number with its unit, in the unit's smallest steps where it has some.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Quantity {
    pub(crate) unit: Unit,
    /// Bytes, picoseconds, bits per second, or the number itself.
    pub(crate) steps: f64,
    /// Written without a point: what lies between two such is whole, too.
    pub(crate) whole: bool,
}

impl Quantity {
    /// The number or quantity of a text.
    pub(crate) fn parse(text: &str) -> Option<Quantity> {
        let of = |unit, steps| Some(Quantity { unit, steps, whole: true });
        if let Ok(number) = text.parse::<f64>() {
            let whole = text.parse::<i64>().is_ok();
            return number.is_finite().then_some(Quantity { unit: Unit::One, steps: number, whole });
        }
        parse_bytes(text)
            .ok()
            .and_then(|bytes| of(Unit::Bytes, bytes as f64))
            .or_else(|| parse_span(text).ok().and_then(|span| of(Unit::Microseconds, span.ps() as f64)))
            .or_else(|| parse_rate(text).ok().and_then(|rate| of(Unit::Gbps, rate.bps() as f64)))
    }

    pub(crate) fn number(self) -> f64 {
        match self.unit {
            Unit::One | Unit::Bytes => self.steps,
            Unit::Microseconds => self.steps / 1e6,
            Unit::Gbps => self.steps / 1e9,
        }
    }

    /// Spelling in a scenario.
    fn text(self) -> String {
        let steps = self.steps.round() as u64;
        match self.unit {
            Unit::One if self.whole => format!("{}", self.steps.round()),
            Unit::One => format!("{:?}", self.steps),
            Unit::Bytes => format_bytes(steps),
            Unit::Microseconds => format_span(Span::from_ps(steps)),
            Unit::Gbps => format_rate(BitRate::from_bps(steps)),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Text for `--set KEY=`.
    pub text: String,
    /// Text for people.
    pub name: String,
    pub(crate) quantity: Option<Quantity>,
}

impl Value {
    /// Value as typed after `--set KEY=`.
    pub(crate) fn typed(text: &str) -> Value {
        let plain = text.trim().trim_matches('"').to_owned();
        Value { text: text.trim().to_owned(), quantity: Quantity::parse(&plain), name: plain }
    }

    pub(crate) fn of_item(value: &tree::Value) -> Value {
        let text = toml_text(value);
        let name = match value {
            tree::Value::Text(text) => text.clone(),
            _ => text.clone(),
        };
        Value { text, quantity: Quantity::parse(&name), name }
    }

    pub(crate) fn of_quantity(quantity: Quantity) -> Value {
        let name = quantity.text();
        // Rounded to what a scenario can hold.
        let quantity = Quantity::parse(&name);
        let text = match quantity.map(|quantity| quantity.unit) {
            Some(Unit::One) => name.clone(),
            _ => format!("\"{name}\""),
        };
        Value { text, name, quantity }
    }

    /// In the unit of its axis, if it is a number.
    pub fn number(&self) -> Option<f64> {
        self.quantity.map(Quantity::number)
    }
}

/// A value as typed after `--set KEY=`, in the spelling of a file.
pub(crate) fn value_text(typed: &str) -> String {
    match format!("v = {typed}").parse::<toml_edit::DocumentMut>() {
        Ok(_) => typed.trim().to_owned(),
        // A bare word is a text.
        Err(_) => toml_edit::Value::from(typed.trim()).to_string(),
    }
}

/// A value in TOML, on one line.
pub fn toml_text(value: &tree::Value) -> String {
    match value {
        tree::Value::Text(text) => toml_edit::Value::from(text.as_str()).to_string(),
        tree::Value::Integer(Ok(number)) => number.to_string(),
        tree::Value::Integer(Err(number)) => number.clone(),
        tree::Value::Float(number) => toml_edit::Value::from(*number).to_string(),
        tree::Value::Flag(flag) => flag.to_string(),
        tree::Value::Date => "\"a date\"".to_owned(),
        tree::Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| toml_text(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        tree::Value::Table(entries) => {
            let entry =
                |entry: &tree::Entry| format!("{} = {}", toml_edit::Key::new(&entry.key), toml_text(&entry.item.value));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_know_their_unit() {
        let of = |text: &str| Value::typed(text).quantity.map(|of| (of.unit, of.number()));
        assert_eq!(of("0.5"), Some((Unit::One, 0.5)));
        assert_eq!(of("5KB"), Some((Unit::Bytes, 5000.0)));
        assert_eq!(of("\"12us\""), Some((Unit::Microseconds, 12.0)));
        assert_eq!(of("100Gbps"), Some((Unit::Gbps, 100.0)));
        assert_eq!(of("websearch"), None);
        assert_eq!(of("1KB/Gbps"), None, "a rule, not a number");
    }

    #[test]
    fn what_is_computed_is_what_a_scenario_can_hold() {
        let value = Value::of_quantity(Quantity { unit: Unit::Bytes, steps: 9353.4, whole: true });
        assert_eq!((value.text.as_str(), value.number()), ("\"9.353KB\"", Some(9353.0)));
        let value = Value::of_quantity(Quantity { unit: Unit::One, steps: 0.1 + 0.2, whole: false });
        assert_eq!(value.text.parse::<f64>(), Ok(0.1 + 0.2));
        let value = Value::of_quantity(Quantity { unit: Unit::Microseconds, steps: 1.5e6, whole: true });
        assert_eq!((value.text.as_str(), value.number()), ("\"1.5us\"", Some(1.5)));
    }
}
