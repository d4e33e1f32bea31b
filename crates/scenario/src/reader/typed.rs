//! Values of every kind, read from a table: texts, choices, flags, numbers and quantities.

use super::Table;
use crate::diagnostic::{Result, Text};
use crate::dictionary;
use crate::tree::{Item, Value};
use crate::values::{as_count, as_quantity, as_text, list, number_range, wrong_kind};
use std::ops::RangeInclusive;
use xoff_engine::{BitRate, Span, Time, quantity};

/// The longest delay, interval or run that makes sense: far beyond any experiment, yet the sum
/// of several still fits the clock.
pub const LONGEST: Span = Span::from_ms(100_000_000);

impl Table {
    /// Returns what was found, or the default, which is recorded as `spelled` writes it.
    fn or_default<T: Copy, V: Into<toml_edit::Value>>(
        &mut self,
        key: &str,
        found: Option<T>,
        default: T,
        spelled: impl FnOnce(T) -> V,
    ) -> T {
        found.unwrap_or_else(|| {
            self.record(key, spelled(default));
            default
        })
    }

    // Texts, choices and flags.

    fn read_text(&mut self, key: &str, item: Item) -> Result<Text> {
        let text = as_text(key, item)?;
        self.record(key, text.value.as_str());
        Ok(text)
    }

    /// `None` if left out.
    pub fn take_text(&mut self, key: &str) -> Result<Option<Text>> {
        self.written(key, |table, item| table.read_text(key, item))
    }

    /// A text that must be there, unless it has a default. What is left out has the place of its table.
    pub fn text(&mut self, key: &str) -> Result<Text> {
        self.one(key, |table, item| table.read_text(key, item))
    }

    /// What is left out has the place of its table.
    pub fn text_or(&mut self, key: &str, default: &str) -> Result<Text> {
        let found = self.take_text(key)?;
        Ok(found.unwrap_or_else(|| {
            self.record(key, default);
            Text { value: default.to_owned(), place: self.place.clone() }
        }))
    }

    /// One of `choices`, each with its value.
    pub fn choice<T: Clone>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<T> {
        let text = self.text(key)?;
        match choices.iter().find(|(name, _)| *name == text.value) {
            Some((_, value)) => Ok(value.clone()),
            None => Err(text
                .error(format!("`{key}` cannot be \"{}\"", text.value))
                .label(format!("one of {}", list(choices.iter().map(|(name, _)| *name))))
                .nearest(&text.value, choices.iter().map(|(name, _)| *name))),
        }
    }

    /// One of `choices`; `None` if left out.
    pub fn take_choice<T: Clone>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        if !self.has(key) {
            self.take(key);
            return Ok(None);
        }
        self.choice(key, choices).map(Some)
    }

    /// `default` is the name of one of the choices.
    pub fn choice_or<T: Clone>(&mut self, key: &str, choices: &[(&str, T)], default: &str) -> Result<T> {
        if !self.has(key) {
            self.take(key);
            self.record(key, default);
            let (_, value) = choices.iter().find(|(name, _)| *name == default).expect("the default is a choice");
            return Ok(value.clone());
        }
        self.choice(key, choices)
    }

    /// One of the words that the dictionary lists for `key`.
    pub(crate) fn word(&mut self, key: &str) -> Result<&'static str> {
        let words = dictionary::stated(&self.section, key).map_or(&[][..], |key| key.kind.words());
        let choices: Vec<(&str, &'static str)> = words.iter().map(|word| (*word, *word)).collect();
        self.choice(key, &choices)
    }

    /// Whether `key` has this one of the words that the dictionary lists for it.
    pub(crate) fn is(&mut self, key: &str, word: &str) -> Result<bool> {
        Ok(self.word(key)? == word)
    }

    fn read_flag(&mut self, key: &str, item: Item) -> Result<bool> {
        match item.value {
            Value::Flag(flag) => {
                self.record(key, flag);
                Ok(flag)
            }
            other => Err(wrong_kind(key, &item.place, &other, "true or false")),
        }
    }

    /// `true` or `false`, nothing else.
    pub(crate) fn flag(&mut self, key: &str) -> Result<bool> {
        self.one(key, |table, item| table.read_flag(key, item))
    }

    /// `true` or `false`, nothing else.
    pub fn flag_or(&mut self, key: &str, default: bool) -> Result<bool> {
        let found = self.written(key, |table, item| table.read_flag(key, item))?;
        Ok(self.or_default(key, found, default, |flag| flag))
    }

    fn read_texts(&mut self, key: &str, item: Item) -> Result<Vec<Text>> {
        let texts = match item.value {
            Value::Array(items) => items.into_iter().map(|item| as_text(key, item)).collect::<Result<Vec<_>>>()?,
            _ => vec![as_text(key, item)?],
        };
        match &texts[..] {
            [] => return Err(self.error(key, format!("`{key}` is empty")).label("at least one is needed")),
            [one] => self.record(key, one.value.as_str()),
            many => self.record(key, toml_edit::Array::from_iter(many.iter().map(|text| text.value.as_str()))),
        }
        Ok(texts)
    }

    /// A text, or a list of texts; `None` if left out.
    pub fn take_texts(&mut self, key: &str) -> Result<Option<Vec<Text>>> {
        self.written(key, |table, item| table.read_texts(key, item))
    }

    /// A text or a list of texts that must be there.
    pub fn texts(&mut self, key: &str) -> Result<Vec<Text>> {
        self.one(key, |table, item| table.read_texts(key, item))
    }

    // Numbers.

    fn read_count(&mut self, key: &str, range: RangeInclusive<u64>, item: &Item) -> Result<u64> {
        let count = as_count(key, item, range)?;
        self.record(key, i64::try_from(count).unwrap_or(i64::MAX));
        Ok(count)
    }

    /// A whole number within bounds, both included; `1e6` is one too. `None` if left out.
    pub fn take_count(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<Option<u64>> {
        self.written(key, |table, item| table.read_count(key, range, &item))
    }

    /// A whole number within bounds that must be there, unless it has a default.
    pub fn count(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<u64> {
        self.one(key, |table, item| table.read_count(key, range, &item))
    }

    /// A whole number within bounds; the default is not held against them.
    pub fn count_or(&mut self, key: &str, range: RangeInclusive<u64>, default: u64) -> Result<u64> {
        let found = self.take_count(key, range)?;
        Ok(self.or_default(key, found, default, |count| i64::try_from(count).unwrap_or(i64::MAX)))
    }

    fn read_number(&mut self, key: &str, range: &RangeInclusive<f64>, item: Item) -> Result<f64> {
        let number = match item.value {
            Value::Float(number) => number,
            Value::Integer(Ok(number)) => number as f64,
            Value::Integer(Err(_)) => f64::NAN,
            other => return Err(wrong_kind(key, &item.place, &other, &number_range(range))),
        };
        if !number.is_finite() || !range.contains(&number) {
            return Err(item.place.error(format!("`{key}` is out of range")).label(number_range(range)));
        }
        self.record(key, number);
        Ok(number)
    }

    /// A finite number within bounds, both included.
    pub fn take_number(&mut self, key: &str, range: RangeInclusive<f64>) -> Result<Option<f64>> {
        self.written(key, |table, item| table.read_number(key, &range, item))
    }

    /// A number within bounds that must be there, unless it has a default.
    pub fn number(&mut self, key: &str, range: RangeInclusive<f64>) -> Result<f64> {
        self.one(key, |table, item| table.read_number(key, &range, item))
    }

    /// A number within bounds; the default is not held against them.
    pub fn number_or(&mut self, key: &str, range: RangeInclusive<f64>, default: f64) -> Result<f64> {
        let found = self.take_number(key, range)?;
        Ok(self.or_default(key, found, default, |number| number))
    }

    // Quantities: texts with a unit.

    fn read_span(&mut self, key: &str, item: &Item) -> Result<Span> {
        let span = as_quantity(key, item, "a time such as \"10us\"", quantity::parse_span)?;
        if span > LONGEST {
            let error = self.error(key, format!("`{key}` is longer than anything here can last"));
            return Err(error.label(format!("at most {LONGEST}")));
        }
        self.record(key, quantity::format_span(span));
        Ok(span)
    }

    /// A length of time, at most [`LONGEST`].
    pub fn take_span(&mut self, key: &str) -> Result<Option<Span>> {
        self.written(key, |table, item| table.read_span(key, &item))
    }

    pub(crate) fn span(&mut self, key: &str) -> Result<Span> {
        self.one(key, |table, item| table.read_span(key, &item))
    }

    pub(crate) fn span_or(&mut self, key: &str, default: Span) -> Result<Span> {
        let found = self.take_span(key)?;
        Ok(self.or_default(key, found, default, quantity::format_span))
    }

    /// A length of time above zero, such as an interval.
    pub fn interval(&mut self, key: &str) -> Result<Span> {
        let span = self.span(key)?;
        if span == Span::ZERO {
            return Err(self.error(key, format!("`{key}` cannot be zero")));
        }
        Ok(span)
    }

    /// What is repeated more often than this would be all that a run does.
    pub fn not_below(&self, key: &str, interval: Span, least: Span) -> Result<Span> {
        if interval < least {
            let error = self.error(key, format!("`{key}` is too short to be simulated"));
            return Err(error.label(format!("at least {least}")));
        }
        Ok(interval)
    }

    /// A length of time above zero, or "off".
    pub fn interval_or_off(&mut self, key: &str) -> Result<Option<Span>> {
        if self.text_is(key, "off") {
            return self.choice(key, &[("off", None)]);
        }
        self.interval(key).map(Some)
    }

    pub(crate) fn take_time(&mut self, key: &str) -> Result<Option<Time>> {
        Ok(self.take_span(key)?.map(|span| Time::ZERO + span))
    }

    pub(crate) fn time(&mut self, key: &str) -> Result<Time> {
        Ok(Time::ZERO + self.span(key)?)
    }

    pub(crate) fn time_or(&mut self, key: &str, default: Time) -> Result<Time> {
        Ok(Time::ZERO + self.span_or(key, Span::from_ps(default.ps()))?)
    }

    fn read_rate(&mut self, key: &str, item: &Item) -> Result<BitRate> {
        let rate = as_quantity(key, item, "a rate such as \"100Gbps\"", quantity::parse_rate)?;
        if rate.bps() == 0 || rate > BitRate::from_gbps(10_000) {
            let error = self.error(key, format!("`{key}` is not a possible rate"));
            return Err(error.label("above zero and at most 10Tbps"));
        }
        self.record(key, quantity::format_rate(rate));
        Ok(rate)
    }

    /// A rate above zero and at most 10 Tb/s.
    pub fn take_rate(&mut self, key: &str) -> Result<Option<BitRate>> {
        self.written(key, |table, item| table.read_rate(key, &item))
    }

    pub(crate) fn rate(&mut self, key: &str) -> Result<BitRate> {
        self.one(key, |table, item| table.read_rate(key, &item))
    }

    pub(crate) fn rate_or(&mut self, key: &str, default: BitRate) -> Result<BitRate> {
        let found = self.take_rate(key)?;
        Ok(self.or_default(key, found, default, quantity::format_rate))
    }

    fn read_bytes(&mut self, key: &str, range: &RangeInclusive<u64>, item: &Item) -> Result<u64> {
        let bytes = as_quantity(key, item, "a size such as \"512KB\"", quantity::parse_bytes)?;
        if !range.contains(&bytes) {
            let [least, most] = [range.start(), range.end()].map(|bytes| quantity::format_bytes(*bytes));
            return Err(self.error(key, format!("`{key}` is out of range")).label(format!("from {least} to {most}")));
        }
        self.record(key, quantity::format_bytes(bytes));
        Ok(bytes)
    }

    pub(crate) fn take_bytes(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<Option<u64>> {
        self.written(key, |table, item| table.read_bytes(key, &range, &item))
    }

    pub(crate) fn bytes(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<u64> {
        self.one(key, |table, item| table.read_bytes(key, &range, &item))
    }

    pub(crate) fn bytes_or(&mut self, key: &str, range: RangeInclusive<u64>, default: u64) -> Result<u64> {
        let found = self.take_bytes(key, range)?;
        Ok(self.or_default(key, found, default, quantity::format_bytes))
    }
}
