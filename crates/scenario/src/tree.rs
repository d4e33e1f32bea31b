//! A parsed document in which every key and value knows where it was written, and `--set` on it.
//!
//! A value that `--set` brings keeps the `--set` itself as its source, so a complaint about it
//! shows what was typed rather than a line of a file that says something else.

use super::diagnostic::{Diagnostic, Place, Source};
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// A value of TOML, with places inside.
#[derive(Clone, Debug)]
pub enum Value {
    /// Of any of the four kinds of strings.
    Text(String),
    /// Kept as written where it does not fit.
    Integer(Result<i64, String>),
    /// May be infinite or not a number.
    Float(f64),
    /// `true` or `false`.
    Flag(bool),
    /// TOML dates: nothing here takes one.
    Date,
    /// A list, or the tables of one `[[name]]`.
    Array(Vec<Item>),
    /// In the order of the file.
    Table(Vec<Entry>),
}

/// A value and where it is written.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it is.
    pub value: Value,
    /// In a file, or in a `--set`.
    pub place: Place,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// One part of a dotted key.
    pub key: String,
    pub(crate) key_place: Place,
    /// What it was given.
    pub item: Item,
}

impl Value {
    /// What it is, for a message.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date => "a date",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// A value that is no table and no list, from its spelling: a text without escapes, a number or a flag.
pub(crate) fn scalar(spelled: &str) -> Option<Value> {
    match spelled {
        "true" | "false" => Some(Value::Flag(spelled == "true")),
        text if text.starts_with('"') => Some(Value::Text(text.trim_matches('"').to_owned())),
        number => match number.parse::<i64>() {
            Ok(number) => Some(Value::Integer(Ok(number))),
            Err(_) => number.parse().ok().map(Value::Float),
        },
    }
}

/// Parses a whole document.
pub fn parse(source: &Arc<Source>) -> Result<Vec<Entry>, Diagnostic> {
    let table = DeTable::parse(&source.text).map_err(|error| syntax_error(source, &error))?;
    Ok(entries(source, table.into_inner()))
}

fn syntax_error(source: &Arc<Source>, error: &toml::de::Error) -> Diagnostic {
    let message = error.message().replace('\n', "; ");
    match error.span() {
        Some(span) => Place { source: source.clone(), span }.error("this is not valid TOML").label(message),
        None => Place { source: source.clone(), span: 0..0 }.error("this is not valid TOML").label(message),
    }
}

fn entries(source: &Arc<Source>, table: DeTable<'_>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = table
        .into_iter()
        .map(|(key, value)| {
            let key_place = Place { source: source.clone(), span: key.span() };
            let span = value.span();
            Entry { key: key.into_inner().into_owned(), key_place, item: item(source, span, value.into_inner()) }
        })
        .collect();
    // The order of the file, so that the first complaint is about the first mistake.
    entries.sort_by_key(|entry| entry.key_place.span.start);
    entries
}

fn item(source: &Arc<Source>, span: std::ops::Range<usize>, value: DeValue<'_>) -> Item {
    let value = match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => {
            Value::Integer(i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| number.to_string()))
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Flag(flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::Array(
            items
                .into_iter()
                .map(|each| {
                    let span = each.span();
                    item(source, span, each.into_inner())
                })
                .collect(),
        ),
        DeValue::Table(table) => Value::Table(entries(source, table)),
    };
    Item { value, place: Place { source: source.clone(), span } }
}

/// Carries out one `--set path=value`, or one of an axis. A path is dotted; a table of a list goes by its number, which
/// counts from 0, or by its name ([`index_of`]). The value `null`, which TOML has not, takes the key out.
pub(crate) fn set(document: &mut Vec<Entry>, source: &Arc<Source>) -> Result<(), Diagnostic> {
    let assignment = source.text.as_str();
    let whole = Place { source: source.clone(), span: 0..assignment.len() };
    let Some((path, text)) = assignment.split_once('=').filter(|(path, _)| !path.trim().is_empty()) else {
        return Err(whole.error("`--set` takes KEY=VALUE").label("such as run.stop=5ms or traffic.0.load=0.5"));
    };
    let value = match text.trim() {
        "null" => None,
        _ => Some(value_at(source, path.len() + 1..assignment.len())?),
    };
    let mut steps = Vec::new();
    let mut start = 0;
    for part in path.split('.') {
        let at = start + (part.len() - part.trim_start().len());
        let place = Place { source: source.clone(), span: at..at + part.trim().len() };
        if part.trim().is_empty() {
            return Err(place.error("a path of `--set` has an empty part"));
        }
        steps.push((part.trim(), place));
        start += part.len() + 1;
    }
    if steps.len() > PATH_LIMIT {
        return Err(whole.error(format!("a path of `--set` has more than {PATH_LIMIT} parts")));
    }
    match value {
        Some(value) => put(document, &steps, value),
        None => take_out(document, &steps),
    }
}

/// Removes what the path names: a key, or an entry of a list.
fn take_out(entries: &mut Vec<Entry>, steps: &[(&str, Place)]) -> Result<(), Diagnostic> {
    let Some(((key, place), rest)) = steps.split_first() else { return Ok(()) };
    let Some(index) = entries.iter().position(|entry| entry.key == *key) else {
        let error = place.error(format!("there is no `{key}` to take out"));
        return Err(error.nearest(key, entries.iter().map(|entry| entry.key.as_str())));
    };
    if rest.is_empty() {
        entries.remove(index);
        return Ok(());
    }
    take_out_below(&mut entries[index].item, key, rest)
}

fn take_out_below(item: &mut Item, name: &str, steps: &[(&str, Place)]) -> Result<(), Diagnostic> {
    let (step, place) = &steps[0];
    match &mut item.value {
        Value::Table(entries) => take_out(entries, steps),
        Value::Array(items) => {
            let index = index_of(items, name, step, place)?;
            if steps.len() == 1 {
                items.remove(index);
                return Ok(());
            }
            take_out_below(&mut items[index], step, &steps[1..])
        }
        other => Err(place.error(format!("`{name}` is {}, it has no `{step}`", other.kind()))),
    }
}

/// Which entry of a list a step of a path means: that of its number, the only one of its `name`, or, where none has that
/// name, the only one of its `kind` or `what`.
fn index_of(items: &[Item], list: &str, step: &str, place: &Place) -> Result<usize, Diagnostic> {
    let number = step.parse::<usize>().ok().filter(|index| *index < items.len());
    let having = |keys: &[&str]| -> Vec<usize> {
        let has = |item: &Item| keys.iter().any(|key| text_of(item, key) == Some(step));
        (0..items.len()).filter(|index| has(&items[*index])).collect()
    };
    let mut found = having(&["name"]);
    if found.is_empty() && number.is_none() {
        found = having(&["kind", "what"]);
    }
    found.extend(number);
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [index] => Ok(index),
        [] => {
            let error = place.error(format!("`{list}` has no entry {step}"));
            let names: Vec<&str> = items
                .iter()
                .filter_map(|item| ["name", "kind", "what"].iter().find_map(|key| text_of(item, key)))
                .collect();
            let count = items.len();
            if names.is_empty() {
                return Err(error.label(format!("`{list}` is a list of {count}; count from 0")));
            }
            Err(error.label(format!("`{list}` is a list of {count}; count from 0, or name one")).nearest(step, names))
        }
        _ => {
            let error = place.error(format!("`{list}.{step}` is not one entry"));
            let numbers: Vec<String> = found.iter().map(usize::to_string).collect();
            Err(error.label(format!("entries {} of `{list}` go by it", numbers.join(" and "))).help(format!(
                "say which by its number, such as {list}.{}; names of their own tell them apart",
                found[0]
            )))
        }
    }
}

/// The text at a key of a table.
fn text_of<'a>(item: &'a Item, key: &str) -> Option<&'a str> {
    let Value::Table(entries) = &item.value else { return None };
    match &entries.iter().find(|entry| entry.key == key)?.item.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// A path of `--set` with the number of every entry that it names otherwise, by which two paths can be compared. Of one
/// that leads nowhere, what can be followed.
pub fn numbered(document: &[Entry], path: &str) -> String {
    let place = Place { source: Source::new("", ""), span: 0..0 };
    let mut steps = path.split('.').map(str::trim);
    let mut shown: Vec<String> = steps.next().map(str::to_owned).into_iter().collect();
    let mut item = document.iter().find(|entry| shown.first() == Some(&entry.key)).map(|entry| &entry.item);
    for step in steps {
        let below = match item.map(|item| &item.value) {
            Some(Value::Table(entries)) => {
                entries.iter().find(|entry| entry.key == step).map(|entry| (step.to_owned(), &entry.item))
            }
            Some(Value::Array(items)) => {
                index_of(items, "", step, &place).ok().map(|index| (index.to_string(), &items[index]))
            }
            _ => None,
        };
        shown.push(below.as_ref().map_or_else(|| step.to_owned(), |(step, _)| step.clone()));
        item = below.map(|(_, item)| item);
    }
    shown.join(".")
}

/// No setting lies this deep; a path that does is a mistake, and following it would recurse.
const PATH_LIMIT: usize = 16;

/// A value that was typed, at `span` of its source and not before the third byte: TOML where it parses, else a plain text.
pub(crate) fn value_at(source: &Arc<Source>, span: std::ops::Range<usize>) -> Result<Item, Diagnostic> {
    let text = &source.text[span.clone()];
    // Padding keeps the spans of the parsed value those of the text the user typed.
    let padded = Source::new(source.name.as_str(), format!("{}v={text}", " ".repeat(span.start - 2)));
    let place = Place { source: source.clone(), span };
    match parse(&padded) {
        Ok(mut entries) if entries.len() == 1 && entries[0].key == "v" => Ok(relocate(entries.remove(0).item, source)),
        Ok(_) => Err(place.error(format!("`{}` takes one value", source.name))),
        Err(error) if text.trim_start().starts_with(['"', '\'', '[', '{']) => {
            Err(Diagnostic { place: Some(place), ..error })
        }
        Err(_) => Ok(Item { value: Value::Text(text.trim().to_owned()), place }),
    }
}

fn relocate(mut item: Item, source: &Arc<Source>) -> Item {
    item.place.source = source.clone();
    item.value = match item.value {
        Value::Array(items) => Value::Array(items.into_iter().map(|each| relocate(each, source)).collect()),
        Value::Table(entries) => Value::Table(
            entries
                .into_iter()
                .map(|entry| Entry {
                    key_place: Place { source: source.clone(), ..entry.key_place },
                    item: relocate(entry.item, source),
                    ..entry
                })
                .collect(),
        ),
        other => other,
    };
    item
}

fn put(entries: &mut Vec<Entry>, steps: &[(&str, Place)], value: Item) -> Result<(), Diagnostic> {
    let Some(((key, place), rest)) = steps.split_first() else { return Ok(()) };
    let index = match entries.iter().position(|entry| entry.key == *key) {
        Some(index) => index,
        None => {
            let item = Item { value: Value::Table(Vec::new()), place: place.clone() };
            entries.push(Entry { key: (*key).to_owned(), key_place: place.clone(), item });
            entries.len() - 1
        }
    };
    let entry = &mut entries[index];
    if rest.is_empty() {
        entry.key_place = place.clone();
        entry.item = value;
        return Ok(());
    }
    put_below(&mut entry.item, key, rest, value)
}

fn put_below(item: &mut Item, name: &str, steps: &[(&str, Place)], value: Item) -> Result<(), Diagnostic> {
    let (step, place) = &steps[0];
    match &mut item.value {
        Value::Table(entries) => put(entries, steps, value),
        Value::Array(items) => {
            let index = index_of(items, name, step, place)?;
            let inner = &mut items[index];
            if steps.len() == 1 {
                *inner = value;
                return Ok(());
            }
            put_below(inner, step, &steps[1..], value)
        }
        other => Err(place.error(format!("`{name}` is {}, it has no `{step}`", other.kind()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn find<'a>(entries: &'a [Entry], path: &str) -> &'a Item {
        let (head, rest) = path.split_once('.').unwrap_or((path, ""));
        let item = &entries.iter().find(|entry| entry.key == head).unwrap().item;
        match &item.value {
            Value::Table(inner) if !rest.is_empty() => find(inner, rest),
            Value::Array(items) if !rest.is_empty() => {
                let (index, rest) = rest.split_once('.').unwrap_or((rest, ""));
                let item = &items[index.parse::<usize>().unwrap()];
                match &item.value {
                    Value::Table(inner) if !rest.is_empty() => find(inner, rest),
                    _ => item,
                }
            }
            _ => item,
        }
    }

    fn set(document: &mut Vec<Entry>, assignment: &str) -> Result<(), Diagnostic> {
        super::set(document, &Source::new("--set", assignment))
    }

    fn document() -> Vec<Entry> {
        parse(&Source::new("a.toml", "[run]\nstop = \"1ms\"\n[[traffic]]\nload = 0.1\n")).unwrap()
    }

    #[test]
    fn sets_values_of_every_kind() {
        let mut tree = document();
        set(&mut tree, "run.stop=5ms").unwrap();
        set(&mut tree, "traffic.0.load=0.5").unwrap();
        set(&mut tree, "switch.pfc.enabled=true").unwrap();
        set(&mut tree, "groups.a=[\"h0\", \"h1\"]").unwrap();
        assert!(matches!(&find(&tree, "run.stop").value, Value::Text(t) if t == "5ms"));
        assert!(matches!(find(&tree, "traffic.0.load").value, Value::Float(x) if x == 0.5));
        assert!(matches!(find(&tree, "switch.pfc.enabled").value, Value::Flag(true)));
        let item = find(&tree, "groups.a.1");
        assert!(matches!(&item.value, Value::Text(t) if t == "h1"));
        assert_eq!(&item.place.source.text[item.place.span.clone()], "\"h1\"");
        assert_eq!(item.place.source.name, "--set");
    }

    #[test]
    fn null_takes_out_keys_tables_and_entries() {
        let mut tree = document();
        set(&mut tree, "traffic.0.load=null").unwrap();
        assert!(matches!(&find(&tree, "traffic.0").value, Value::Table(keys) if keys.is_empty()));
        set(&mut tree, "traffic.0= null ").unwrap();
        assert!(matches!(&find(&tree, "traffic").value, Value::Array(rows) if rows.is_empty()));
        set(&mut tree, "run=null").unwrap();
        assert_eq!(tree.len(), 1);
        // A name may still be so called.
        set(&mut tree, "name=\"null\"").unwrap();
        assert!(matches!(&find(&tree, "name").value, Value::Text(text) if text == "null"));
    }

    #[test]
    fn refuses_bad_paths() {
        for (assignment, message) in [
            ("run.stop", "takes KEY=VALUE"),
            ("=3", "takes KEY=VALUE"),
            ("traffic.1.load=0.5", "no entry 1"),
            ("traffic.x.load=0.5", "no entry x"),
            ("run.stop.more=1", "it has no `more`"),
            ("run..stop=1", "empty part"),
            ("run.stpo=null", "no `stpo` to take out"),
            ("traffic.1=null", "no entry 1"),
            ("run.stop.more=null", "it has no `more`"),
            ("a=1\nb=2", "takes one value"),
            ("a=[1,", "not valid TOML"),
        ] {
            let error = set(&mut document(), assignment).unwrap_err();
            assert!(error.message.contains(message), "{assignment}: {}", error.message);
            error.render(false);
        }
    }

    #[test]
    fn tables_of_a_list_go_by_name() {
        let text = "[[traffic]]\nname = \"web\"\nkind = \"poisson\"\nload = 0.1\n\
            [[traffic]]\nkind = \"incast\"\ndegree = 4\n[[probe]]\nwhat = \"queue\"\n[[probe]]\nwhat = \"queue\"\n\
            [[traffic]]\nname = \"0\"\n[[traffic]]\nname = \"twin\"\n[[traffic]]\nname = \"twin\"\n";
        let mut tree = parse(&Source::new("a.toml", text)).unwrap();
        set(&mut tree, "traffic.web.load=0.5").unwrap();
        set(&mut tree, "traffic.incast.degree=8").unwrap();
        assert!(matches!(find(&tree, "traffic.0.load").value, Value::Float(x) if x == 0.5));
        assert!(matches!(find(&tree, "traffic.1.degree").value, Value::Integer(Ok(8))));
        assert_eq!(numbered(&tree, "traffic.web.load"), "traffic.0.load");
        assert_eq!(numbered(&tree, "traffic.nobody.load"), "traffic.nobody.load");
        assert_eq!(numbered(&tree, "run.stop"), "run.stop");
        for (assignment, message, label) in [
            ("traffic.wbe.load=1", "`traffic` has no entry wbe", "or name one"),
            ("traffic.twin.load=1", "`traffic.twin` is not one entry", "entries 3 and 4"),
            ("traffic.twin=null", "`traffic.twin` is not one entry", "entries 3 and 4"),
            ("traffic.0.load=1", "`traffic.0` is not one entry", "entries 0 and 2"),
            ("probe.queue.every=1us", "`probe.queue` is not one entry", "entries 0 and 1"),
        ] {
            let error = set(&mut tree, assignment).unwrap_err();
            assert!(error.message == message && error.label.contains(label), "{assignment}: {error}");
        }
        set(&mut tree, "traffic.web=null").unwrap();
        set(&mut tree, "traffic.incast.degree=null").unwrap();
        assert!(matches!(&find(&tree, "traffic.0").value, Value::Table(keys) if keys.len() == 1));
    }

    #[test]
    fn deep_nesting_is_refused_not_followed() {
        let text = format!("a = {}", "[".repeat(100_000));
        assert!(parse(&Source::new("deep", text)).is_err());
        let text = format!("{} = 1", vec!["a"; 5_000].join("."));
        assert!(parse(&Source::new("deep", text)).is_err());
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[a-c0-9.=\\[\\]{}\"\n é#-]{0,60}") {
            let mut tree = document();
            if let Err(error) = set(&mut tree, &text) {
                error.render(false);
            }
            if let Err(error) = parse(&Source::new("x", text)) {
                error.render(false);
            }
        }
    }
}
