//! From `[[measure]]` tables to measures.

use super::registry::{self, Family};
use super::scope::Scope;
use super::{Measure, Measures, What};
use super::{flows, jobs, pauses, ports, series, whole};
use crate::reader::Result;
use crate::tree::Item;
use crate::{Table, Text};
use std::collections::HashSet;
use std::path::Path;

/// Resolves the tables against a scenario.
pub fn read(rows: Vec<Table>, scope: &Scope<'_>) -> Result<Measures> {
    let mut measures = Measures::default();
    let mut known = HashSet::new();
    for mut row in rows {
        let name = row.text("name")?;
        valid_name(&name)?;
        let measure = read_one(&name, &mut row, scope)?;
        row.finish()?;
        if !known.insert(name.value.clone()) {
            return Err(name.error(format!("two measures are called `{}`", name.value)));
        }
        measures.list.push(measure);
    }
    Ok(measures)
}

/// The `[[measure]]` tables of another document, for one of its groups of runs: those that name it
/// in `runs`, and those that name none.
pub fn rows(items: &[Item], group: &str, base: &Path) -> Result<Vec<Table>> {
    let mut rows = Vec::with_capacity(items.len());
    for item in items {
        let mut row = Table::from_item("measure", item, base)?;
        if is_for(&groups(&mut row)?, group) {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The groups of runs that a `[[measure]]` names; none means all.
pub fn groups(row: &mut Table) -> Result<Vec<Text>> {
    Ok(row.take_texts("runs")?.unwrap_or_default())
}

/// Whether a measure that names these groups is for a group.
pub fn is_for(groups: &[Text], group: &str) -> bool {
    groups.is_empty() || groups.iter().any(|own| own.value == group)
}

fn read_one(name: &Text, row: &mut Table, scope: &Scope<'_>) -> Result<Measure> {
    let metric = row.text("metric")?;
    let of = metric.value.as_str();
    let Some(spec) = registry::find(of) else {
        let error = metric.error(format!("no metric is called `{of}`"));
        let known = registry::METRICS.iter().map(|metric| metric.name);
        return Err(error.label("`xoff describe metrics` lists them all").nearest(of, known));
    };
    let (what, unit) = match spec.family {
        Family::Flows => flows::read(of, row, scope).map(|(measure, unit)| (What::Flows(measure), unit))?,
        Family::Series => series::read(of, row, scope).map(|(measure, unit)| (What::Series(measure), unit))?,
        Family::Pauses => pauses::read(of, row, scope).map(|(measure, unit)| (What::Pauses(measure), unit))?,
        Family::Ports => ports::read(row, scope).map(|(measure, unit)| (What::Ports(measure), unit))?,
        Family::Jobs => jobs::read(of, row, scope).map(|(measure, unit)| (What::Jobs(measure), unit))?,
        Family::Whole => whole::read(of, row, scope).map(|(measure, unit)| (What::Whole(measure), unit))?,
    };
    let unit = match of {
        "slope" if !unit.is_empty() => format!("{unit}/ms"),
        "slope" => "1/ms".to_owned(),
        "pause-rate" | "completion-rate" => "1/s".to_owned(),
        "largest-cut" => "%".to_owned(),
        _ => unit.to_owned(),
    };
    let (stat, time) = match &what {
        What::Flows(flows) => (flows.curve_stat(), None),
        What::Series(series) => (None, series.curve_time()),
        _ => (None, None),
    };
    let axes = spec.axes(&name.value, &unit, stat, time);
    let of_packets = what.is_of_packets(spec.name);
    Ok(Measure { name: name.value.clone(), unit, what, axes, of_packets })
}

fn valid_name(name: &Text) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let starts = name.value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts && name.value.chars().all(plain) {
        return Ok(());
    }
    let error = name.error(format!("`{}` cannot be the name of a measure", name.value));
    Err(error.label("a letter, then letters, digits, `_` and `-`"))
}
