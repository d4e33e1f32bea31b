//! `[[figure.series]]`: curves, bars or rows that are made alike.

use xoff_results::figures::chart::Dash;
use xoff_scenario::reader::{Result, Table, Text};
use xoff_scenario::tree::{Item, Value};
use xoff_scenario::values::{as_text, wrong_kind};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Lines,
    Steps,
    Bars,
    Stacked,
    Table,
}

#[derive(Clone, Debug, Default)]
pub struct AxisSpec {
    pub title: String,
    pub unit: String,
    pub from: Option<f64>,
    pub until: Option<f64>,
    pub log: bool,
}

/// Curves, bars or rows that are made alike.
#[derive(Clone, Debug)]
pub struct Series {
    pub what: What,
    /// The group of runs, where several have the measure.
    pub runs: Option<String>,
    /// Values of axes to which it is confined.
    pub only: Vec<(String, Vec<String>)>,
    /// The axis along x.
    pub over: Option<String>,
    /// A line, bar or row for each value of these axes.
    pub by: Vec<String>,
    pub label: Option<String>,
    pub dash: Option<Dash>,
    pub against: Option<Against>,
}

/// Numbers are shown beside those of other runs: the same, but for some values of axes.
#[derive(Clone, Debug)]
pub struct Against {
    pub at: Vec<(String, Vec<String>)>,
    pub how: How,
}

/// How a run is compared with the one it is shown against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// The run over the other.
    Ratio,
    /// The other over the run.
    Inverse,
    /// Percent by which the other is below the run.
    Reduction,
    /// Percent by which the other is above the run.
    Increase,
}

impl How {
    pub fn of(self, run: f64, other: f64) -> f64 {
        match self {
            How::Ratio => run / other,
            How::Inverse => other / run,
            How::Reduction => 100.0 * (1.0 - other / run),
            How::Increase => 100.0 * (other / run - 1.0),
        }
    }
}

#[derive(Clone, Debug)]
pub enum What {
    /// A curve of the first seed.
    Curve(String),
    /// Numbers with their names, estimated over the seeds. `measures` names them even where it is
    /// one; a `measure` alone is named by its runs.
    Numbers { list: Vec<(String, String)>, named: bool },
    /// How many seeds have at most so much of a number.
    Cumulative(String),
}

/// Reads one of them; every key must make sense for the kind of figure.
pub fn read(mut row: Table, kind: Kind) -> Result<Series> {
    let place = row.place().clone();
    let mut what = None;
    if matches!(kind, Kind::Lines | Kind::Steps) {
        what = row.take_text("curve")?.map(|text| What::Curve(text.value));
        if what.is_none() && row.flag_or("cumulative", false)? {
            what = Some(What::Cumulative(row.text("measure")?.value));
        }
    }
    let numbers = if what.is_none() { read_numbers(&mut row)? } else { None };
    let Some(what) = what.or(numbers) else {
        let wanted = match kind {
            Kind::Lines | Kind::Steps => "`curve`, `measure` or `measures`",
            _ => "`measure` or `measures`",
        };
        return Err(place.error("the series says not what it shows").label(format!("needs {wanted}")));
    };
    let over = match &what {
        What::Numbers { .. } if kind != Kind::Table => row.take_text("over")?.map(|text| text.value),
        _ => None,
    };
    let by: Vec<String> = row.take_texts("by")?.unwrap_or_default().into_iter().map(|text| text.value).collect();
    if let What::Numbers { list, .. } = &what {
        let several = list.len() > 1;
        let twice =
            |(index, (_, name)): (usize, &(String, String))| list[..index].iter().any(|(_, other)| other == name);
        match kind {
            Kind::Table => {}
            _ if list.iter().enumerate().any(twice) => {
                let error = row.error("names", "two measures have the same name");
                return Err(error.label("they would look alike in the figure"));
            }
            Kind::Lines | Kind::Steps if over.is_none() => {
                let error = place.error("nothing is along x");
                return Err(error.label("a line of numbers needs `over`, a numeric axis of the runs"));
            }
            Kind::Lines | Kind::Steps | Kind::Bars if several && over.is_some() && !by.is_empty() => {
                let error = row.key_error("by", "too much for one figure");
                return Err(error.label("with `over`, either several measures or `by`, not both"));
            }
            _ => {}
        }
    }
    let runs = row.take_text("runs")?.map(|text| text.value);
    let only = match row.take_table("where")? {
        Some(inner) => inner.into_items().into_iter().map(axis_values).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    let against = match &what {
        What::Numbers { .. } if kind != Kind::Stacked => read_against(&mut row)?,
        _ => None,
    };
    let label = row.take_text("label")?;
    if let Some(label) = &label {
        check_braces(label)?;
    }
    let label = label.map(|text| text.value);
    let dashes = [("solid", Dash::Solid), ("long", Dash::Long), ("short", Dash::Short), ("dotted", Dash::Dotted)];
    let dash = match kind {
        Kind::Lines | Kind::Steps => row.take_choice("dash", &dashes)?,
        _ => None,
    };
    row.finish()?;
    Ok(Series { what, runs, only, over, by, label, dash, against })
}

/// `against = { scheme = "PCN" }`, `as = "ratio"`.
fn read_against(row: &mut Table) -> Result<Option<Against>> {
    let Some(inner) = row.take_table("against")? else { return Ok(None) };
    let place = inner.place().clone();
    let at = inner.into_items().into_iter().map(axis_values).collect::<Result<Vec<_>>>()?;
    if at.is_empty() || at.iter().any(|(_, values)| values.len() > 1) {
        let error = place.error("this names not one run to compare with");
        return Err(error.label("such as against = { scheme = \"PCN\" }"));
    }
    let ways =
        [("ratio", How::Ratio), ("inverse", How::Inverse), ("reduction", How::Reduction), ("increase", How::Increase)];
    Ok(Some(Against { at, how: row.choice("as", &ways)? }))
}

/// `measure`, or `measures` with their `names`.
fn read_numbers(row: &mut Table) -> Result<Option<What>> {
    if let Some(one) = row.take_text("measure")? {
        return Ok(Some(What::Numbers { list: vec![(one.value.clone(), one.value)], named: false }));
    }
    let Some(measures) = row.take_texts("measures")? else { return Ok(None) };
    let names = match row.take_texts("names")? {
        Some(names) => names,
        None => measures.clone(),
    };
    if names.len() != measures.len() {
        let error = row.error("names", format!("{} names for {} measures", names.len(), measures.len()));
        return Err(error.label("one for each"));
    }
    let list = measures.into_iter().zip(names).map(|(measure, name)| (measure.value, name.value)).collect();
    Ok(Some(What::Numbers { list, named: true }))
}

/// An axis with one of its values, or a list of them.
pub fn axis_values((axis, item): (Text, Item)) -> Result<(String, Vec<String>)> {
    let name = |item: Item| match item.value {
        Value::Integer(Ok(number)) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Text(_) => Ok(as_text(&axis.value, item)?.value),
        other => Err(wrong_kind(&axis.value, &item.place, &other, "a value of the axis, or a list of them")),
    };
    let place = item.place.clone();
    let values = match item.value {
        Value::Array(items) => items.into_iter().map(name).collect::<Result<Vec<_>>>()?,
        _ => vec![name(item)?],
    };
    if values.is_empty() {
        return Err(place.error(format!("no value of `{}` is left", axis.value)).label("at least one is needed"));
    }
    Ok((axis.value, values))
}

fn check_braces(label: &Text) -> Result<()> {
    let mut open = false;
    for c in label.value.chars() {
        match (c, open) {
            ('{', false) => open = true,
            ('}', true) => open = false,
            ('{', true) | ('}', false) => {
                return Err(label.error("a brace too many").label("write {axis} for the name of its value"));
            }
            _ => {}
        }
    }
    if open {
        Err(label.error("a brace is not closed").label("write {axis} for the name of its value"))
    } else {
        Ok(())
    }
}
