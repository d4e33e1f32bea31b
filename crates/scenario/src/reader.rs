//! A cursor over one table of a scenario that consumes its keys.
//!
//! Each value read, whether given or default, is also recorded, so the scenario can be written
//! out with everything spelled out. What nobody consumed is an error: a setting without effect
//! is never accepted in silence.
//!
//! Every kind of value has three forms. `x(key)` takes the value as written, else that of the table it inherits from,
//! else the default that the dictionary states; without any it complains. `x_or(key, default)` has a default that
//! depends on something else. `take_x(key)` takes only what is written.

use super::diagnostic::{Diagnostic, PROBLEMS_TOLD, Place, Source};
pub use super::diagnostic::{Result, Text};
use super::dictionary;
use super::files::Files;
use super::resolved::Recorder;
use super::spelled;
use super::tree::{Entry, Item, Value};
use super::values::wrong_kind;
pub use super::values::{list, read_file};
use std::path::Path;
use std::sync::Arc;
pub use typed::LONGEST;

mod typed;

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
    /// What was read of the table whose values are the defaults here.
    inherited: Option<Recorder>,
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
        let current = |entry: Entry| Slot { entry: renamed(entry, &section, &recorder), taken: false };
        let entries = entries.into_iter().map(current).collect();
        Table { section, place, entries, asked: Vec::new(), recorder, inherited: None, files }
    }

    /// A table of a section that is written nowhere, with these entries; nothing records its values.
    pub(crate) fn built_in(section: &str, text: &str) -> Result<Table> {
        let source = Source::new("built-in defaults", text);
        let entries = super::tree::parse(&source)?;
        Ok(Table::of(section, Place { source, span: 0..0 }, entries))
    }

    /// Takes the values that were read of `base` for defaults, ahead of those that the dictionary states.
    pub(crate) fn inherit(&mut self, base: &Recorder) {
        self.inherited = Some(base.clone());
    }

    /// What was read of this table so far, for [`Table::inherit`].
    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Whether the table it inherits from has a value of `key`.
    pub(crate) fn inherits(&self, key: &str) -> bool {
        self.inherited.as_ref().is_some_and(|base| base.has(key))
    }

    /// What holds where `key` is left out: what is inherited, or what the dictionary states.
    fn fallback(&self, key: &str) -> Option<Value> {
        let inherited = self.inherited.as_ref().and_then(|base| base.spelled(key));
        let spelled = inherited.or_else(|| match dictionary::stated(&self.section, key)?.default {
            dictionary::Default::Value(spelled) => Some(spelled.to_owned()),
            _ => None,
        })?;
        super::tree::scalar(&spelled)
    }

    /// The value as written, or what holds where it is left out.
    fn effective(&self, key: &str) -> Option<Value> {
        let slot = self.entries.iter().find(|slot| slot.entry.key == key);
        slot.map_or_else(|| self.fallback(key), |slot| Some(slot.entry.item.value.clone()))
    }

    /// Takes the value of `key` and reads it; a key without a default must be there.
    fn one<T>(&mut self, key: &str, read: impl FnOnce(&mut Table, Item) -> Result<T>) -> Result<T> {
        let written = self.take(key);
        let place = self.place.clone();
        let item = written.or_else(|| self.fallback(key).map(|value| Item { value, place }));
        let item = self.required(key, item)?;
        read(self, item)
    }

    /// Takes the value of `key` and reads it; `None` if it is not written.
    fn written<T>(&mut self, key: &str, read: impl FnOnce(&mut Table, Item) -> Result<T>) -> Result<Option<T>> {
        let item = self.take(key);
        item.map(|item| read(self, item)).transpose()
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
            match dictionary::stated(&self.section, key) {
                Some(known) => missing.label(format!("`{key}` is {}: {}", known.kind.expects(), known.meaning)),
                None => missing,
            }
        })
    }

    /// Notes the value of `key` in the resolved scenario, in place of an earlier one.
    pub fn record(&mut self, key: &str, value: impl Into<toml_edit::Value>) {
        self.recorder.value(key, value.into());
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
        let mut child = Table::open(self.path(key), place, entries, recorder, self.files.clone());
        child.inherited = self.inherited.as_ref().filter(|base| base.has(key)).map(|base| base.table(key));
        child
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

    /// Whether the value of `key`, written or not, is a text.
    pub fn is_text(&self, key: &str) -> bool {
        matches!(self.effective(key), Some(Value::Text(_)))
    }

    /// Whether the value of `key`, written or not, is this text.
    pub fn text_is(&self, key: &str, wanted: &str) -> bool {
        matches!(self.effective(key), Some(Value::Text(text)) if text.trim() == wanted)
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

/// An entry under the name, and with the word, that replaced its own; a warning tells of it.
fn renamed(mut entry: Entry, section: &str, recorder: &Recorder) -> Entry {
    let Some(key) = dictionary::renamed(section, &entry.key) else { return entry };
    let until = "the old spelling is accepted until Xoff 2.0";
    if entry.key != key.name {
        let what = format!("`{}` is now called `{}`", entry.key, key.name);
        recorder.warn(entry.key_place.error(what).label(until));
        key.name.clone_into(&mut entry.key);
    }
    if let Value::Text(text) = &mut entry.item.value
        && let Some((old, new)) = key.said.iter().find(|(old, _)| old == text)
    {
        let what = format!("\"{old}\" of `{}` is now \"{new}\"", key.name);
        recorder.warn(entry.item.place.error(what).label(until));
        (*new).clone_into(text);
    }
    entry
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
