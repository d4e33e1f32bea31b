//! What is varied: a key of the scenario, or several that move together, and the values it takes.

use crate::value::{Quantity, Unit, Value, value_text};
use std::path::Path;
use xoff_scenario::diagnostic::{Diagnostic, Place, Source, Text};
use xoff_scenario::reader::{Result, Table};
use xoff_scenario::{spelled, tree};

#[derive(Clone, Debug)]
pub struct Axis {
    /// Name of its column, without unit.
    pub name: String,
    /// Keys of the scenario; a value has as many texts.
    pub keys: Vec<String>,
    /// In the order of the runs. Empty for a range of which only samples are taken.
    pub values: Vec<Vec<Value>>,
    /// Where a sample lies between two ends, by key.
    pub(crate) ranges: Option<Vec<Range>>,
    /// Schemes for which it is varied, by name without preset; `None` for all that have the key.
    pub only: Option<Vec<String>>,
    pub(crate) at: Place,
}

/// All that lies between two ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) from: Quantity,
    pub(crate) to: Quantity,
    pub(crate) log: bool,
}

/// More values than this are a mistake.
const MOST: u64 = 100_000;

/// Where an axis that is in no file is from.
const TYPED: &str = "--axis";

impl Axis {
    /// `KEY=1,2,3`, `KEY=5KB..400KB:log8`, `KEY=0.1..0.9:lin5`, `KEY=0.1..0.9` (of which samples are taken), and several
    /// of them joined by `+` for keys that move together.
    pub fn typed(text: &str) -> Result<Axis> {
        let source = Source::new(TYPED, text);
        let place = |span: std::ops::Range<usize>| Place { source: source.clone(), span };
        let mut axis = Axis {
            name: String::new(),
            keys: Vec::new(),
            values: Vec::new(),
            ranges: None,
            only: None,
            at: place(0..text.len()),
        };
        let mut columns: Vec<Vec<Value>> = Vec::new();
        let mut ranges: Vec<Range> = Vec::new();
        let mut start = 0;
        for part in together(text) {
            let at = place(start..start + part.len());
            start += part.len() + 1;
            let Some((key, values)) = part.split_once('=').filter(|(key, _)| !key.trim().is_empty()) else {
                let error = at.error("an axis is KEY=VALUES").label("there is no `=` with a key before it");
                return Err(error.help("such as traffic.0.load=0.3,0.5,0.7 or scheme.kmin=5KB..400KB:log8"));
            };
            axis.keys.push(key.trim().to_owned());
            match Range::typed(values, &at)? {
                Some((range, count)) => {
                    columns.push(count.map_or_else(Vec::new, |count| range.values(count)));
                    ranges.push(range);
                }
                None => columns.push(spelled::parts(values, ',').into_iter().map(Value::typed).collect()),
            }
        }
        if ranges.len() == axis.keys.len() {
            axis.ranges = Some(ranges);
        }
        axis.join(columns)
    }

    pub(crate) fn read(mut table: Table) -> Result<Axis> {
        let at = table.place().clone();
        let mut keys: Vec<String> =
            table.take_texts("keys")?.unwrap_or_default().into_iter().map(|k| k.value).collect();
        keys.extend(table.take_text("key")?.map(|key| key.value));
        if keys.is_empty() {
            return Err(at.error("this axis has neither `key` nor `keys`"));
        }
        let name = table.take_text("name")?.map_or_else(String::new, |name| name.value);
        let only = table.take_texts("where")?.map(|names| names.into_iter().map(|name| name.value).collect());
        let mut axis = Axis { name, keys, values: Vec::new(), ranges: None, only, at: at.clone() };
        let columns = match table.items("values")? {
            Some(items) => axis.columns_of(&items)?,
            None => {
                let (Some(from), Some(to)) = (table.items("from")?, table.items("to")?) else {
                    return Err(at.error("an axis has `values`, or `from` and `to`"));
                };
                let scales = table.take_texts("scale")?.unwrap_or_default();
                let count = table.take_count("steps", 2..=MOST)?;
                let ranges = axis.ranges_of(&from, &to, &scales)?;
                let values = |range: &Range| count.map_or_else(Vec::new, |count| range.values(count));
                let columns = ranges.iter().map(values).collect();
                axis.ranges = Some(ranges);
                columns
            }
        };
        table.finish()?;
        axis.join(columns)
    }

    /// The range of each key: one for all of them, or as many ends and scales as there are keys.
    fn ranges_of(&self, from: &[tree::Item], to: &[tree::Item], scales: &[Text]) -> Result<Vec<Range>> {
        let logs = scales.iter().map(|scale| match scale.value.as_str() {
            "linear" => Ok(false),
            "log" => Ok(true),
            _ => Err(scale.error("`scale` is \"linear\" or \"log\"")),
        });
        let logs = logs.collect::<Result<Vec<bool>>>()?;
        for (key, count) in [("from", from.len()), ("to", to.len()), ("scale", logs.len().max(1))] {
            if count != 1 && count != self.keys.len() {
                let error = self.at.error(format!("`{key}` is one value, or one for each key"));
                return Err(error.label(format!("here are {count} for {} keys", self.keys.len())));
            }
        }
        let of = |at: usize| {
            // One end or scale is that of every key.
            let (from, to) = (&from[at % from.len()], &to[at % to.len()]);
            let log = logs.get(at % logs.len().max(1)).copied().unwrap_or(false);
            Range::new(&Value::of_item(&from.value), &Value::of_item(&to.value), log, &to.place)
        };
        (0..self.keys.len()).map(of).collect()
    }

    /// The values of each key: a list of lists where there are several keys.
    fn columns_of(&self, items: &[tree::Item]) -> Result<Vec<Vec<Value>>> {
        let mut columns = vec![Vec::new(); self.keys.len()];
        for item in items {
            let row: Vec<Value> = match &item.value {
                tree::Value::Array(row) if self.keys.len() > 1 => {
                    row.iter().map(|item| Value::of_item(&item.value)).collect()
                }
                value => vec![Value::of_item(value)],
            };
            if row.len() != self.keys.len() {
                let wanted = format!("a list of {} values, one for each of {}", self.keys.len(), self.keys.join(", "));
                return Err(item.place.error("this value is not one for each key").label(wanted));
            }
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        Ok(columns)
    }

    /// One list per key becomes one list of values.
    fn join(mut self, columns: Vec<Vec<Value>>) -> Result<Axis> {
        let counts: Vec<usize> = columns.iter().map(Vec::len).collect();
        if counts.iter().any(|count| *count != counts[0]) {
            let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
            let error = self.at.error("keys that move together must have as many values each");
            return Err(error.label(format!("here are {}", counts.join(" and "))));
        }
        if counts[0] == 0 && self.ranges.is_none() {
            return Err(self.at.error("this axis has no values"));
        }
        self.values = (0..counts[0]).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect();
        if let Some(twice) = (1..self.values.len()).find(|&row| self.values[..row].contains(&self.values[row])) {
            let error = self.at.error("an axis takes each value once");
            return Err(error.label(format!("`{}` is there twice", self.values[twice][0].name)));
        }
        if self.name.is_empty() {
            self.name = self.keys[0].rsplit('.').next().unwrap_or_default().to_owned();
        }
        Ok(self)
    }

    /// Text of an `[[axis]]` of a file, of which samples are drawn or not.
    pub(crate) fn file_text(&self, sampled: bool) -> String {
        let quoted = |text: &str| toml_edit::Value::from(text).to_string();
        let list = |texts: Vec<String>| format!("[{}]", texts.join(", "));
        let value = |value: &Value| value_text(&value.text);
        let mut text = format!("\n[[axis]]\nname = {}\n", quoted(&self.name));
        match self.keys.as_slice() {
            [key] => text.push_str(&format!("key = {}\n", quoted(key))),
            keys => text.push_str(&format!("keys = {}\n", list(keys.iter().map(|key| quoted(key)).collect()))),
        }
        if let Some(only) = &self.only {
            text.push_str(&format!("where = {}\n", list(only.iter().map(|name| quoted(name)).collect())));
        }
        // Of a range that samples are drawn from, both ends; all others by their values.
        match self.ranges.as_deref() {
            Some(ranges) if sampled => {
                let each = |of: &dyn Fn(&Range) -> String| match ranges {
                    [one] => of(one),
                    several => list(several.iter().map(of).collect()),
                };
                let end = |of| value(&Value::of_quantity(of));
                let (from, to) = (each(&|range| end(range.from)), each(&|range| end(range.to)));
                let scale = each(&|range| if range.log { "\"log\"".to_owned() } else { "\"linear\"".to_owned() });
                text.push_str(&format!("from = {from}\nto = {to}\nscale = {scale}\n"));
            }
            _ => {
                let row = |row: &Vec<Value>| match row.as_slice() {
                    [one] => value(one),
                    several => list(several.iter().map(value).collect()),
                };
                text.push_str(&format!("values = {}\n", list(self.values.iter().map(row).collect())));
            }
        }
        text
    }

    /// The unit of its numbers; `None` if they are names, or of several units.
    pub fn unit(&self) -> Option<Unit> {
        let range = self.ranges.iter().flatten().map(|range| range.from.unit).next();
        let mut units =
            self.values.iter().map(|row| row[0].quantity.map(|quantity| quantity.unit)).chain(range.map(Some));
        let first = units.next().flatten()?;
        units.all(|unit| unit == Some(first)).then_some(first)
    }

    /// The value at `part` of the axis, from 0 to 1: between the ends of a range, or one of the list.
    pub(crate) fn sample(&self, part: f64) -> Vec<Value> {
        match &self.ranges {
            Some(ranges) => ranges.iter().map(|range| range.at(part)).collect(),
            None => {
                let index = (part * self.values.len() as f64) as usize;
                self.values[index.min(self.values.len() - 1)].clone()
            }
        }
    }

    /// What it was asked for by, for messages about one of its values.
    pub(crate) fn option(&self) -> &'static str {
        if self.at.source.name == TYPED { TYPED } else { "[[axis]]" }
    }

    /// Whether only samples of it can be taken.
    pub(crate) fn is_open(&self) -> bool {
        self.values.is_empty()
    }
}

impl Range {
    /// `A..B`, with its number of values.
    fn typed(text: &str, at: &Place) -> Result<Option<(Range, Option<u64>)>> {
        let Some((from, rest)) = text.split_once("..") else { return Ok(None) };
        let (to, steps) = rest.split_once(':').map_or((rest, None), |(to, steps)| (to, Some(steps)));
        let (log, count) = match steps {
            None => (false, None),
            Some("log") => (true, None),
            Some(steps) => {
                let (log, number) = match (steps.strip_prefix("log"), steps.strip_prefix("lin")) {
                    (Some(number), _) => (true, number),
                    (None, Some(number)) => (false, number),
                    (None, None) => (false, steps),
                };
                let count = number.parse().ok().filter(|count| (2..=MOST).contains(count));
                let Some(count) = count else {
                    let error = at.error("a range ends with the number of its values");
                    return Err(error.label(format!("`{steps}` is not such as `lin5` or `log8`, from 2 on")));
                };
                (log, Some(count))
            }
        };
        Range::new(&Value::typed(from), &Value::typed(to), log, at).map(|range| Some((range, count)))
    }

    fn new(from: &Value, to: &Value, log: bool, at: &Place) -> Result<Range> {
        let (Some(low), Some(high)) = (from.quantity, to.quantity) else {
            let odd = if from.quantity.is_none() { from } else { to };
            let error = at.error("a range has numbers, sizes, times or rates at its ends");
            return Err(error.label(format!("`{}` is none of them", odd.name)));
        };
        if low.unit != high.unit {
            let units = format!("one is in {}, the other in {}", low.unit.name(), high.unit.name());
            return Err(at.error("both ends of a range are of one unit").label(units));
        }
        if low.steps >= high.steps || (log && low.steps <= 0.0) {
            let why = if low.steps >= high.steps {
                "it ends where it begins, or before"
            } else {
                "a logarithmic one begins above zero"
            };
            return Err(at.error("this range is empty").label(why));
        }
        Ok(Range { from: low, to: high, log })
    }

    /// At `part` of the way, from 0 to 1.
    fn at(&self, part: f64) -> Value {
        let (low, high) = (self.from.steps, self.to.steps);
        let steps = match self.log {
            false => low + (high - low) * part,
            // The same on every machine, which the system's own need not be.
            true => low * libm::pow(high / low, part),
        };
        let whole = self.from.whole && self.to.whole && (self.from.unit != Unit::One || !self.log || high - low >= 2.0);
        Value::of_quantity(Quantity { unit: self.from.unit, steps, whole })
    }

    /// Both ends, and what lies evenly between them.
    fn values(&self, count: u64) -> Vec<Value> {
        let mut values: Vec<Value> = (0..count).map(|i| self.at(i as f64 / (count - 1) as f64)).collect();
        values.dedup();
        values
    }
}

/// Parts between the `+` that begin another key.
fn together(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices('+') {
        let key = text[at + 1..].split('=').next().unwrap_or_default();
        let is_key = text[at + 1..].contains('=')
            && !key.is_empty()
            && key.chars().all(|c| c.is_alphanumeric() || "._-".contains(c));
        if is_key {
            parts.push(&text[start..at]);
            start = at + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

pub(crate) fn read_all(root: &mut Table) -> Result<Vec<Axis>> {
    root.tables("axis")?.into_iter().map(Axis::read).collect()
}

/// An error at the place of an axis.
pub(crate) fn error(axis: &Axis, message: impl Into<String>) -> Diagnostic {
    axis.at.error(message.into())
}

/// A file's own folder, for what it names.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &Axis) -> Vec<String> {
        axis.values
            .iter()
            .map(|row| row.iter().map(|value| value.name.as_str()).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn lists_and_ranges() {
        let axis = Axis::typed("traffic.0.load=0.3,0.5,0.7").unwrap();
        assert_eq!((axis.name.as_str(), names(&axis)), ("load", vec!["0.3".into(), "0.5".into(), "0.7".into()]));
        assert_eq!(axis.unit(), Some(Unit::One));
        let axis = Axis::typed("scheme.kmin=5KB..400KB:log8").unwrap();
        assert_eq!(axis.unit(), Some(Unit::Bytes));
        let bytes: Vec<f64> = axis.values.iter().map(|row| row[0].number().unwrap()).collect();
        // 5000 * 80^(i/7), rounded.
        assert_eq!(bytes, [5000.0, 9351.0, 17487.0, 32702.0, 61158.0, 114372.0, 213890.0, 400000.0]);
        let axis = Axis::typed("run.stop=1ms..2ms:lin3").unwrap();
        assert_eq!(names(&axis), ["1ms", "1.5ms", "2ms"]);
        let axis = Axis::typed("topology.hosts=2..8:lin4").unwrap();
        assert_eq!(names(&axis), ["2", "4", "6", "8"]);
        let axis = Axis::typed("traffic.0.load=0.1..0.9:lin3").unwrap();
        assert_eq!(names(&axis), ["0.1", "0.5", "0.9"]);
    }

    #[test]
    fn keys_that_move_together() {
        let axis = Axis::typed("topology.host_rate=100Gbps,400Gbps+switch.buffer=32MB,64MB").unwrap();
        assert_eq!(axis.keys, ["topology.host_rate", "switch.buffer"]);
        assert_eq!(names(&axis), ["100Gbps 32MB", "400Gbps 64MB"]);
        let one = Axis::typed("scheme.name=pcn+dcqcn,mlcc+hpcc").unwrap();
        assert_eq!(names(&one), ["pcn+dcqcn", "mlcc+hpcc"], "a scheme with its base is one value");
        assert!(Axis::typed("a=1,2+b=1,2,3").unwrap_err().message.contains("as many values"));
    }

    #[test]
    fn mistakes_are_told_before_anything_runs() {
        for (text, why) in [
            ("0.3,0.5", "KEY=VALUES"),
            ("a=", "no values"),
            ("a=1,1", "each value once"),
            ("a=5KB..2ms:lin3", "one unit"),
            ("a=5..x:lin3", "numbers, sizes, times or rates"),
            ("a=5..2:lin3", "empty"),
            ("a=0..2:log3", "empty"),
            ("a=1..2:many", "number of its values"),
        ] {
            let error = Axis::typed(text).unwrap_err();
            assert!(error.message.contains(why), "{text}: {}", error.message);
        }
        assert!(Axis::typed("a=1..2").unwrap().is_open());
    }

    #[test]
    fn lists_keep_their_brackets() {
        let axis = Axis::typed("run.at=[1, 2],[3]").unwrap();
        assert_eq!(names(&axis), ["[1, 2]", "[3]"]);
    }
}
