//! Settings that runs are given, and changes that name the runs they are meant for.

use xoff_scenario::diagnostic::Place;
use xoff_scenario::reader::{Result, Table, Text};
use xoff_scenario::tree::{Item, Value};
use xoff_sweep::value::toml_text;

/// An assignment to a key of the scenario, or to a parameter of the model.
#[derive(Clone, Debug)]
pub struct Set {
    pub key: String,
    pub value: Value,
}

impl Set {
    /// Text for `--set`.
    pub fn text(&self) -> String {
        format!("{}={}", self.key, toml_text(&self.value))
    }
}

/// `set = { "run.stop" = "5ms" }`.
pub fn read_sets(table: &mut Table) -> Result<Vec<Set>> {
    let sets = table.table("set")?.into_items().into_iter();
    Ok(sets.map(|(key, item)| Set { key: key.value, value: item.value }).collect())
}

/// What is to be changed in which runs.
#[derive(Clone, Debug)]
pub struct Change {
    /// Empty: every experiment of the paper.
    pub experiments: Vec<Text>,
    /// Empty: every group.
    pub runs: Vec<Text>,
    /// Axes and their values; an axis that is not named may have any.
    pub at: Vec<(Text, Vec<String>)>,
    /// In place of the scheme of the run, with the settings that its axis gives it.
    pub scheme: Option<String>,
    pub sets: Vec<Set>,
    pub place: Place,
}

impl Change {
    pub fn read(mut table: Table) -> Result<Change> {
        let place = table.place().clone();
        let at = table.table("at")?.into_items().into_iter().map(|(axis, item)| (axis, names_of(&item))).collect();
        let change = Change {
            experiments: table.take_texts("experiments")?.unwrap_or_default(),
            runs: table.take_texts("runs")?.unwrap_or_default(),
            at,
            scheme: table.take_text("scheme")?.map(|text| text.value),
            sets: read_sets(&mut table)?,
            place,
        };
        table.finish()?;
        if change.scheme.is_none() && change.sets.is_empty() {
            return Err(change.place.error("a change needs a `scheme` or something to `set`"));
        }
        Ok(change)
    }

    /// Whether it is meant for the run at these values of axes, of a group that it concerns.
    pub fn applies<'a>(&self, mut values: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
        values.all(|(axis, value)| {
            let mut own = self.at.iter().filter(|(name, _)| name.value == axis);
            own.all(|(_, wanted)| wanted.iter().any(|name| name == value))
        })
    }
}

/// A value of an axis, or several, as the axis names them.
fn names_of(item: &Item) -> Vec<String> {
    match &item.value {
        Value::Array(items) => items.iter().map(|item| value_name(&item.value)).collect(),
        value => vec![value_name(value)],
    }
}

/// A value as its axis names it.
pub fn value_name(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => toml_text(other),
    }
}
