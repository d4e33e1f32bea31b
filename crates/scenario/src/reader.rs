//! A cursor over one table of a scenario that consumes its keys.
//!
//! Each value read, whether given or default, is also recorded, so the scenario can be written
//! out with everything spelled out. What nobody consumed is an error: a setting without effect
//! is never accepted in silence.
//!
//! For every kind of value there are three forms: `x(key)` must be there, `x_or(key, default)`
//! may be left out, `take_x(key)` tells whether it was there.

use super::diagnostic::{Diagnostic, PROBLEMS_TOLD, Place, Source};
pub use super::diagnostic::{Result, Text};
use super::dictionary;
use super::files::Files;
use super::resolved::Recorder;
use super::spelled;
use super::tree::{Entry, Item, Value};
use super::values::{as_count, as_quantity, as_text, number_range, wrong_kind};
pub use super::values::{list, read_file};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use xoff_engine::quantity::{self, QuantityError};
use xoff_engine::{BitRate, Span, Time};

/// The longest delay, interval or run that makes sense: far beyond any experiment, yet the sum
/// of several still fits the clock.
pub const LONGEST: Span = Span::from_ms(100_000_000);

/// A cursor over one table.
pub struct Table {
    /// The section of the dictionary that lists its keys, such as `switch.pfc`.
    section: String,
    /// Its header, or the key it is the value of.
    place: Place,
    entries: Vec<Slot>,
    /// Keys asked for, present or not: what is valid here.
    asked: Vec<String>,
    recorder: Recorder,
    files: Files,
}

struct Slot {
    entry: Entry,
    taken: bool,
}

impl Table {
    /// The whole document. Files it names are looked up from `base`.
    pub fn root(source: &Arc<Source>, entries: Vec<Entry>, base: &Path, recorder: Recorder) -> Table {
        Table::root_with(source, entries, Files::in_folder(base), recorder)
    }

    /// As [`Table::root`], where some files may be in memory.
    pub fn root_with(source: &Arc<Source>, entries: Vec<Entry>, files: Files, recorder: Recorder) -> Table {
        let place = Place { source: source.clone(), span: 0..0 };
        Table::open(String::new(), place, entries, recorder, files)
    }

    /// A table that is not of a scenario but of a `kind` of its own; nothing records its values.
    pub fn of(kind: &str, place: Place, entries: Vec<Entry>) -> Table {
        Table::open(kind.to_owned(), place, entries, Recorder::default(), Files::in_folder(Path::new(".")))
    }

    fn open(section: String, place: Place, entries: Vec<Entry>, recorder: Recorder, files: Files) -> Table {
        let entries = entries.into_iter().map(|entry| Slot { entry, taken: false }).collect();
        Table { section, place, entries, asked: Vec::new(), recorder, files }
    }

    /// A table of another document, such as one row of an experiment. Nothing is recorded of it.
    pub fn from_item(section: &str, item: &Item, base: &Path) -> Result<Table> {
        match &item.value {
            Value::Table(entries) => {
                let recorder = Recorder::default();
                Ok(Table::open(
                    section.to_owned(),
                    item.place.clone(),
                    entries.clone(),
                    recorder,
                    Files::in_folder(base),
                ))
            }
            other => Err(wrong_kind(section, &item.place, other, &format!("a table: [[{section}]]"))),
        }
    }

    /// Where the table is written.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Whether the key is written; does not consume it.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|slot| slot.entry.key == key)
    }

    /// The keys as written, in the order of the file.
    pub fn keys(&self) -> Vec<Text> {
        let text = |slot: &Slot| Text { value: slot.entry.key.clone(), place: slot.entry.key_place.clone() };
        self.entries.iter().map(text).collect()
    }

    /// Where the value of `key` is written, or the table's own place where it is not.
    pub fn place_of(&self, key: &str) -> Place {
        let slot = self.entries.iter().find(|slot| slot.entry.key == key);
        slot.map_or(self.place.clone(), |slot| slot.entry.item.place.clone())
    }

    /// Where the key of a dotted path below the table `section` is written, or as near to it as can be told.
    pub fn place_within(&self, section: &str, path: &str) -> Place {
        let slot = self.entries.iter().find(|slot| slot.entry.key == section);
        let Some(Slot { entry, .. }) = slot else { return self.place.clone() };
        let mut item = &entry.item;
        for key in path.split('.') {
            let Value::Table(inner) = &item.value else { break };
            let Some(found) = inner.iter().find(|inner| inner.key == key) else { break };
            item = &found.item;
        }
        item.place.clone()
    }

    /// Every text under `key` here and in the tables within; consumes none.
    pub fn peek_texts(&self, key: &str) -> Vec<Text> {
        fn walk(entry: &Entry, key: &str, found: &mut Vec<Text>) {
            match &entry.item.value {
                Value::Text(value) if entry.key == key => {
                    found.push(Text { value: value.clone(), place: entry.item.place.clone() });
                }
                Value::Table(inner) => inner.iter().for_each(|inner| walk(inner, key, found)),
                Value::Array(items) => items.iter().for_each(|item| {
                    if let Value::Table(inner) = &item.value {
                        inner.iter().for_each(|inner| walk(inner, key, found));
                    }
                }),
                _ => {}
            }
        }
        let mut found = Vec::new();
        self.entries.iter().for_each(|slot| walk(&slot.entry, key, &mut found));
        found
    }

    /// Something is wrong with the value of `key`.
    pub fn error(&self, key: &str, message: impl Into<String>) -> Diagnostic {
        self.place_of(key).error(message)
    }

    /// Something is wrong with `key` being there at all.
    pub fn key_error(&self, key: &str, message: impl Into<String>) -> Diagnostic {
        let slot = self.entries.iter().find(|slot| slot.entry.key == key);
        slot.map_or(&self.place, |slot| &slot.entry.key_place).error(message)
    }

    fn take(&mut self, key: &str) -> Option<Item> {
        if !self.asked.iter().any(|asked| asked == key) {
            self.asked.push(key.to_owned());
        }
        let slot = self.entries.iter_mut().find(|slot| slot.entry.key == key)?;
        slot.taken = true;
        Some(slot.entry.item.clone())
    }

    fn required<T>(&self, key: &str, found: Option<T>) -> Result<T> {
        found.ok_or_else(|| {
            let whose = if self.section.is_empty() { "the scenario".to_owned() } else { format!("`{}`", self.section) };
            let missing = self.place.error(format!("{whose} lacks `{key}`"));
            match dictionary::key(&self.section, key) {
                Some(known) => missing.label(format!("`{key}` is {}: {}", known.kind.expects(), known.meaning)),
                None => missing,
            }
        })
    }

    /// Notes the value of `key` in the resolved scenario, in place of an earlier one.
    pub fn record(&mut self, key: &str, value: impl Into<toml_edit::Value>) {
        self.recorder.value(key, value.into());
    }

    // Texts, choices and flags.

    /// `None` if left out.
    pub fn take_text(&mut self, key: &str) -> Result<Option<Text>> {
        let Some(item) = self.take(key) else { return Ok(None) };
        let text = as_text(key, item)?;
        self.record(key, text.value.as_str());
        Ok(Some(text))
    }

    /// A text that must be there.
    pub fn text(&mut self, key: &str) -> Result<Text> {
        let found = self.take_text(key)?;
        self.required(key, found)
    }

    /// What is left out has the place of its table.
    pub fn text_or(&mut self, key: &str, default: &str) -> Result<Text> {
        let found = self.take_text(key)?;
        Ok(found.unwrap_or_else(|| {
            self.record(key, default);
            Text { value: default.to_owned(), place: self.place.clone() }
        }))
    }

    /// One of `choices`, each with the value it stands for.
    pub fn take_choice<T: Clone>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        let Some(text) = self.take_text(key)? else { return Ok(None) };
        match choices.iter().find(|(name, _)| *name == text.value) {
            Some((_, value)) => Ok(Some(value.clone())),
            None => Err(text
                .error(format!("`{key}` cannot be \"{}\"", text.value))
                .label(format!("one of {}", list(choices.iter().map(|(name, _)| *name))))
                .nearest(&text.value, choices.iter().map(|(name, _)| *name))),
        }
    }

    /// One that must be there; the same as [`Table::take_choice`] otherwise.
    pub fn choice<T: Clone>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<T> {
        let found = self.take_choice(key, choices)?;
        self.required(key, found)
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

    pub(crate) fn take_flag(&mut self, key: &str) -> Result<Option<bool>> {
        let Some(item) = self.take(key) else { return Ok(None) };
        match item.value {
            Value::Flag(flag) => {
                self.record(key, flag);
                Ok(Some(flag))
            }
            other => Err(wrong_kind(key, &item.place, &other, "true or false")),
        }
    }

    /// `true` or `false`, nothing else.
    pub fn flag_or(&mut self, key: &str, default: bool) -> Result<bool> {
        let found = self.take_flag(key)?;
        Ok(found.unwrap_or_else(|| {
            self.record(key, default);
            default
        }))
    }

    /// A text, or a list of texts; `None` if left out.
    pub fn take_texts(&mut self, key: &str) -> Result<Option<Vec<Text>>> {
        let Some(item) = self.take(key) else { return Ok(None) };
        let texts = match item.value {
            Value::Array(items) => items.into_iter().map(|item| as_text(key, item)).collect::<Result<Vec<_>>>()?,
            _ => vec![as_text(key, item)?],
        };
        if texts.is_empty() {
            return Err(self.error(key, format!("`{key}` is empty")).label("at least one is needed"));
        }
        match &texts[..] {
            [one] => self.record(key, one.value.as_str()),
            many => self.record(key, toml_edit::Array::from_iter(many.iter().map(|text| text.value.as_str()))),
        }
        Ok(Some(texts))
    }

    /// A text or a list of texts that must be there.
    pub fn texts(&mut self, key: &str) -> Result<Vec<Text>> {
        let found = self.take_texts(key)?;
        self.required(key, found)
    }

    // Numbers.

    /// A whole number within bounds, both included; `1e6` is one too. `None` if left out.
    pub fn take_count(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<Option<u64>> {
        let Some(item) = self.take(key) else { return Ok(None) };
        let count = as_count(key, &item, range)?;
        self.record(key, i64::try_from(count).unwrap_or(i64::MAX));
        Ok(Some(count))
    }

    /// A whole number within bounds that must be there.
    pub fn count(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<u64> {
        let found = self.take_count(key, range)?;
        self.required(key, found)
    }

    /// A whole number within bounds; the default is not held against them.
    pub fn count_or(&mut self, key: &str, range: RangeInclusive<u64>, default: u64) -> Result<u64> {
        let found = self.take_count(key, range)?;
        Ok(found.unwrap_or_else(|| {
            self.record(key, i64::try_from(default).unwrap_or(i64::MAX));
            default
        }))
    }

    /// A finite number within bounds, both included.
    pub fn take_number(&mut self, key: &str, range: RangeInclusive<f64>) -> Result<Option<f64>> {
        let Some(item) = self.take(key) else { return Ok(None) };
        let number = match item.value {
            Value::Float(number) => number,
            Value::Integer(Ok(number)) => number as f64,
            Value::Integer(Err(_)) => f64::NAN,
            other => return Err(wrong_kind(key, &item.place, &other, &number_range(&range))),
        };
        if !number.is_finite() || !range.contains(&number) {
            return Err(item.place.error(format!("`{key}` is out of range")).label(number_range(&range)));
        }
        self.record(key, number);
        Ok(Some(number))
    }

    /// A number within bounds that must be there.
    pub fn number(&mut self, key: &str, range: RangeInclusive<f64>) -> Result<f64> {
        let found = self.take_number(key, range)?;
        self.required(key, found)
    }

    /// A number within bounds; the default is not held against them.
    pub fn number_or(&mut self, key: &str, range: RangeInclusive<f64>, default: f64) -> Result<f64> {
        let found = self.take_number(key, range)?;
        Ok(found.unwrap_or_else(|| {
            self.record(key, default);
            default
        }))
    }

    // Quantities: texts with a unit.

    fn quantity<T>(
        &mut self,
        key: &str,
        example: &str,
        parse: impl Fn(&str) -> std::result::Result<T, QuantityError>,
        format: impl Fn(&T) -> String,
    ) -> Result<Option<T>> {
        let Some(item) = self.take(key) else { return Ok(None) };
        let value = as_quantity(key, &item, example, parse)?;
        self.record(key, format(&value));
        Ok(Some(value))
    }

    /// A length of time, at most [`LONGEST`].
    pub fn take_span(&mut self, key: &str) -> Result<Option<Span>> {
        let found =
            self.quantity(key, "a time such as \"10us\"", quantity::parse_span, |span| quantity::format_span(*span))?;
        match found {
            Some(span) if span > LONGEST => Err(self
                .error(key, format!("`{key}` is longer than anything here can last"))
                .label(format!("at most {LONGEST}"))),
            found => Ok(found),
        }
    }

    pub(crate) fn span(&mut self, key: &str) -> Result<Span> {
        let found = self.take_span(key)?;
        self.required(key, found)
    }

    pub(crate) fn span_or(&mut self, key: &str, default: Span) -> Result<Span> {
        let found = self.take_span(key)?;
        Ok(found.unwrap_or_else(|| {
            self.record(key, quantity::format_span(default));
            default
        }))
    }

    /// A length of time above zero, such as an interval.
    pub fn interval_or(&mut self, key: &str, default: Span) -> Result<Span> {
        let span = self.span_or(key, default)?;
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
    pub fn interval_or_off(&mut self, key: &str, default: Option<Span>) -> Result<Option<Span>> {
        let off = self.text_is(key, "off");
        match default {
            _ if off => {
                self.take(key);
                self.record(key, "off");
                Ok(None)
            }
            None if !self.has(key) => {
                self.take(key);
                self.record(key, "off");
                Ok(None)
            }
            default => self.interval_or(key, default.unwrap_or(Span::ZERO)).map(Some),
        }
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

    /// A rate above zero and at most 10 Tb/s.
    pub fn take_rate(&mut self, key: &str) -> Result<Option<BitRate>> {
        let found = self
            .quantity(key, "a rate such as \"100Gbps\"", quantity::parse_rate, |rate| quantity::format_rate(*rate))?;
        match found {
            Some(rate) if rate.bps() == 0 || rate > BitRate::from_gbps(10_000) => {
                Err(self.error(key, format!("`{key}` is not a possible rate")).label("above zero and at most 10Tbps"))
            }
            found => Ok(found),
        }
    }

    pub(crate) fn rate(&mut self, key: &str) -> Result<BitRate> {
        let found = self.take_rate(key)?;
        self.required(key, found)
    }

    pub(crate) fn rate_or(&mut self, key: &str, default: BitRate) -> Result<BitRate> {
        let found = self.take_rate(key)?;
        Ok(found.unwrap_or_else(|| {
            self.record(key, quantity::format_rate(default));
            default
        }))
    }

    pub(crate) fn take_bytes(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<Option<u64>> {
        let found = self
            .quantity(key, "a size such as \"512KB\"", quantity::parse_bytes, |bytes| quantity::format_bytes(*bytes))?;
        match found {
            Some(bytes) if !range.contains(&bytes) => Err(self.error(key, format!("`{key}` is out of range")).label(
                format!("from {} to {}", quantity::format_bytes(*range.start()), quantity::format_bytes(*range.end())),
            )),
            found => Ok(found),
        }
    }

    pub(crate) fn bytes(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<u64> {
        let found = self.take_bytes(key, range)?;
        self.required(key, found)
    }

    pub(crate) fn bytes_or(&mut self, key: &str, range: RangeInclusive<u64>, default: u64) -> Result<u64> {
        let found = self.take_bytes(key, range)?;
        Ok(found.unwrap_or_else(|| {
            self.record(key, quantity::format_bytes(default));
            default
        }))
    }

    // Tables within.

    /// The table under `key`; an empty one if it is left out, so that its defaults are read.
    pub fn table(&mut self, key: &str) -> Result<Table> {
        let found = self.take_table(key)?;
        Ok(found.unwrap_or_else(|| {
            let place = self.place.clone();
            self.child(key, place, Vec::new())
        }))
    }

    /// The table `[key]`; `None` if left out.
    pub fn take_table(&mut self, key: &str) -> Result<Option<Table>> {
        let Some(item) = self.take(key) else { return Ok(None) };
        match item.value {
            Value::Table(entries) => Ok(Some(self.child(key, item.place, entries))),
            other => Err(wrong_kind(key, &item.place, &other, &format!("a table: [{}]", self.path(key)))),
        }
    }

    /// The tables `[[key]]`, none if it is left out.
    pub fn tables(&mut self, key: &str) -> Result<Vec<Table>> {
        let Some(item) = self.take(key) else { return Ok(Vec::new()) };
        self.open_tables(key, item)
    }

    /// The tables `[[key]]`, or where there are none those of a document of our own.
    pub fn tables_or(&mut self, key: &str, document: &str) -> Result<Vec<Table>> {
        if self.has(key) {
            return self.tables(key);
        }
        self.take(key);
        let source = Source::new("built-in defaults", document);
        let entry = super::tree::parse(&source)?.into_iter().find(|entry| entry.key == key);
        entry.map_or(Ok(Vec::new()), |entry| self.open_tables(key, entry.item))
    }

    fn open_tables(&mut self, key: &str, item: Item) -> Result<Vec<Table>> {
        let expected = format!("tables: [[{}]]", self.path(key));
        let Value::Array(items) = item.value else {
            return Err(wrong_kind(key, &item.place, &item.value, &expected));
        };
        let recorders = self.recorder.tables(key, items.len());
        let mut tables = Vec::with_capacity(items.len());
        for (item, recorder) in items.into_iter().zip(recorders) {
            match item.value {
                Value::Table(entries) => {
                    tables.push(Table::open(self.path(key), item.place, entries, recorder, self.files.clone()));
                }
                other => return Err(wrong_kind(key, &item.place, &other, &expected)),
            }
        }
        Ok(tables)
    }

    /// The table under `key`, with the keys of another section of the dictionary.
    pub fn table_in(&mut self, key: &str, section: &str) -> Result<Table> {
        let mut table = self.table(key)?;
        section.clone_into(&mut table.section);
        Ok(table)
    }

    /// As [`Table::table_in`], where a text such as `NAME:PRESET` may stand for a table ([`spelled`]).
    pub fn named_table_in(&mut self, key: &str, section: &str) -> Result<Table> {
        if !self.is_text(key) {
            return self.table_in(key, section);
        }
        let Some(Item { value: Value::Text(text), place }) = self.take(key) else { return self.table_in(key, section) };
        let entries = spelled::entries(&Source::new("", text.as_str()), 0..text.len());
        // What is wrong with any of it is shown at the whole text, which may have escapes.
        let entries = entries.map_err(|error| Diagnostic { place: Some(place.clone()), ..error })?;
        let at = |entry: Entry| Entry {
            key_place: place.clone(),
            item: Item { place: place.clone(), ..entry.item },
            ..entry
        };
        let entries = entries.into_iter().map(at).collect();
        let mut table = self.child(key, place, entries);
        section.clone_into(&mut table.section);
        Ok(table)
    }

    /// An empty table `[outer.key]` that nobody wrote, for something read with all its defaults.
    pub fn unwritten(&mut self, outer: &str, key: &str, section: &str) -> Table {
        let recorder = self.recorder.table(outer).table(key);
        Table::open(section.to_owned(), self.place.clone(), Vec::new(), recorder, self.files.clone())
    }

    /// The values of a list as they stand; a value that is no list stands for a list of one.
    pub fn items(&mut self, key: &str) -> Result<Option<Vec<Item>>> {
        Ok(self.take(key).map(|item| match item.value {
            Value::Array(items) => items,
            _ => vec![item],
        }))
    }

    /// The keys and values as they stand, for tables whose keys are data. Consumes them all.
    pub fn into_items(self) -> Vec<(Text, Item)> {
        let text = |entry: &Entry| Text { value: entry.key.clone(), place: entry.key_place.clone() };
        self.entries.into_iter().map(|slot| (text(&slot.entry), slot.entry.item)).collect()
    }

    fn child(&mut self, key: &str, place: Place, entries: Vec<Entry>) -> Table {
        let recorder = self.recorder.table(key);
        Table::open(self.path(key), place, entries, recorder, self.files.clone())
    }

    fn path(&self, key: &str) -> String {
        if self.section.is_empty() { key.to_owned() } else { format!("{}.{key}", self.section) }
    }

    /// The value of `key` as the text a scheme's parameter would be spelled with: quantities are
    /// texts already, numbers and flags are turned into theirs. Not recorded.
    pub fn take_spelling(&mut self, key: &str) -> Result<Option<Text>> {
        let Some(item) = self.take(key) else { return Ok(None) };
        let value = match item.value {
            Value::Text(text) => text,
            Value::Integer(Ok(number)) => number.to_string(),
            Value::Integer(Err(number)) => number,
            Value::Float(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
            other => return Err(wrong_kind(key, &item.place, &other, "a text or a number")),
        };
        Ok(Some(Text { value, place: item.place }))
    }

    /// Whether the value of `key` is a text.
    pub fn is_text(&self, key: &str) -> bool {
        self.entries.iter().any(|slot| slot.entry.key == key && matches!(slot.entry.item.value, Value::Text(_)))
    }

    /// Whether the value of `key` is this text.
    pub fn text_is(&self, key: &str, wanted: &str) -> bool {
        let is = |value: &Value| matches!(value, Value::Text(text) if text.trim() == wanted);
        self.entries.iter().any(|slot| slot.entry.key == key && is(&slot.entry.item.value))
    }

    /// Whether the value of `key` is a table.
    pub fn is_table(&self, key: &str) -> bool {
        self.entries.iter().any(|slot| slot.entry.key == key && matches!(slot.entry.item.value, Value::Table(_)))
    }

    /// Reads the file that `name`, the value of `key`, gives relative to the scenario. Its text is
    /// kept with the results, and the resolved scenario names that copy.
    pub fn file(&mut self, key: &str, name: &Text, largest_bytes: u64) -> Result<Arc<Source>> {
        let source = self.files.read(&name.value, largest_bytes).map_err(|(why, looked_for)| {
            name.error(format!("cannot read the file of `{key}`")).label(why).help(format!("looked for {looked_for}"))
        })?;
        let copy = self.recorder.attach(&name.value, &source);
        self.record(key, copy);
        Ok(source)
    }

    /// Where the files are that the scenario names.
    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    /// Keeps a text that was made of files the scenario names, in place of them, and gives the name of the copy.
    pub(crate) fn keep(&mut self, key: &str, name: &str, text: String) {
        let copy = self.recorder.attach(name, &Source::new(name, text));
        self.record(key, copy);
    }

    /// Something to know about a value that is taken all the same.
    pub(crate) fn warn(&self, warning: Diagnostic) {
        self.recorder.warn(warning);
    }

    /// Every key must have been consumed.
    pub fn finish(self) -> Result<()> {
        self.check_finished()
    }

    /// As [`Table::finish`], for a table that is still looked at.
    pub fn check_finished(&self) -> Result<()> {
        match self.entries.iter().find(|slot| !slot.taken) {
            None => Ok(()),
            Some(slot) => Err(self.unconsumed(&slot.entry)),
        }
    }

    /// Keys that no scenario has here, whatever else it says.
    pub fn unknown(&self) -> Vec<Diagnostic> {
        let unknown = |slot: &&Slot| dictionary::key(&self.section, &slot.entry.key).is_none();
        let mut found = self.entries.iter().filter(unknown);
        let mut problems: Vec<Diagnostic> =
            found.by_ref().take(PROBLEMS_TOLD).map(|slot| self.unconsumed(&slot.entry)).collect();
        // What is only counted needs no suggestion, which would take longer than all the rest.
        problems.extend(found.map(|slot| slot.entry.key_place.error(format!("unknown key `{}`", slot.entry.key))));
        problems
    }

    fn unconsumed(&self, entry: &Entry) -> Diagnostic {
        let key = entry.key.as_str();
        let whose = if self.section.is_empty() { "a scenario".to_owned() } else { format!("`{}`", self.section) };
        if dictionary::key(&self.section, key).is_some() {
            let when = match dictionary::applies(&self.section, key) {
                cases if cases.is_empty() => "it does not apply here".to_owned(),
                cases => format!("it applies only {cases}"),
            };
            return entry.key_place.error(format!("`{key}` has no effect here")).label(when);
        }
        let error = entry.key_place.error(format!("unknown key `{key}`"));
        let error = error.label(format!("not a key of {whose}"));
        let known = dictionary::keys(&self.section).map(|known| known.name);
        error.nearest(key, self.asked.iter().map(String::as_str).chain(known))
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
