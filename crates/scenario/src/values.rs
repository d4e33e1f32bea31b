//! From a value as parsed to what a key asks for, or to what is wrong with it.

use super::diagnostic::{Diagnostic, Place, Result, Text};
use super::tree::{Item, Value};
pub use crate::read::text as read_file;
use std::ops::RangeInclusive;
use xoff_engine::quantity::QuantityError;

/// A text in quotes; `key` is for the complaint.
pub fn as_text(key: &str, item: Item) -> Result<Text> {
    match item.value {
        Value::Text(value) => Ok(Text { value, place: item.place }),
        other => Err(wrong_kind(key, &item.place, &other, "a text in quotes")),
    }
}

pub(crate) fn as_count(key: &str, item: &Item, range: RangeInclusive<u64>) -> Result<u64> {
    let expected = match *range.end() {
        u64::MAX => format!("a whole number, at least {}", range.start()),
        end => format!("a whole number from {} to {end}", range.start()),
    };
    let number = match &item.value {
        Value::Integer(Ok(number)) => u64::try_from(*number).ok(),
        Value::Integer(Err(_)) => None,
        // 1e6 is a float to TOML and a whole number to people.
        Value::Float(number) if number.fract() == 0.0 && (0.0..9e15).contains(number) => Some(*number as u64),
        other => return Err(wrong_kind(key, &item.place, other, &expected)),
    };
    match number {
        Some(number) if range.contains(&number) => Ok(number),
        _ => Err(item.place.error(format!("`{key}` is out of range")).label(expected)),
    }
}

/// A quantity written as a text with its unit.
pub fn as_quantity<T>(
    key: &str,
    item: &Item,
    example: &str,
    parse: impl Fn(&str) -> std::result::Result<T, QuantityError>,
) -> Result<T> {
    match &item.value {
        Value::Text(text) => parse(text).map_err(|why| item.place.error(format!("`{key}` {why}")).label(example)),
        Value::Integer(_) | Value::Float(_) => {
            Err(item.place.error(format!("`{key}` has no unit")).label(format!("{example}, in quotes")))
        }
        other => Err(wrong_kind(key, &item.place, other, example)),
    }
}

/// The complaint that `key` has a value of another kind than expected.
pub fn wrong_kind(key: &str, place: &Place, found: &Value, expected: &str) -> Diagnostic {
    place.error(format!("`{key}` cannot be {}", found.kind())).label(format!("expected {expected}"))
}

pub(crate) fn number_range(range: &RangeInclusive<f64>) -> String {
    match *range.end() {
        end if end >= f64::MAX => format!("a number, at least {}", range.start()),
        end => format!("a number from {} to {end}", range.start()),
    }
}

/// `a, b or c`.
pub fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
