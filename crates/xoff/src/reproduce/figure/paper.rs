//! `[[figure.paper]]`: the paper's own numbers beside ours.

use super::pick::{Choice, Picked, is};
use super::series::{AxisSpec, Kind, Series, What, axis_values};
use crate::reproduce::results::same_value;
use xoff_results::figures::chart::{QuotedPlace, RGBColor, Shape};
use xoff_scenario::diagnostic::{Diagnostic, Place};
use xoff_scenario::number::thousands;
use xoff_scenario::reader::{Result, Table, Text, list};

/// A number that the paper gives, and what of the figure it is about.
#[derive(Clone, Debug)]
pub struct Quote {
    pub what: Said,
    pub shape: Shape,
    /// Values of axes: those of the lines, bars or cells that it is about.
    pub at: Vec<At>,
    measure: Option<Text>,
    runs: Option<Text>,
    /// Where in the paper.
    pub source: String,
    place: Place,
}

/// The values of an axis that a number is about.
#[derive(Clone, Debug)]
pub struct At {
    pub axis: String,
    pub values: Vec<String>,
    pub place: Place,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Said {
    Point(f64, f64),
    Level {
        y: f64,
        from: Option<f64>,
        until: Option<f64>,
    },
    Instant(f64),
    /// Value of a bar or of a cell of a table.
    Value(f64),
}

/// What a quote is checked against: the rest of its figure.
pub struct Figure<'a> {
    pub kind: Kind,
    pub x: &'a AxisSpec,
    pub y: &'a AxisSpec,
    pub panels: Option<&'a str>,
    pub series: &'a [Series],
}

const ANY: std::ops::RangeInclusive<f64> = f64::MIN..=f64::MAX;

/// Reads one `[[figure.paper]]`, and whether the figure has what it is about.
pub fn read(mut row: Table, figure: &Figure<'_>) -> Result<Quote> {
    let place = row.place().clone();
    let what = read_said(&mut row, figure)?;
    let bounds = [("at most", Shape::AtMost), ("at least", Shape::AtLeast)];
    let shape = row.take_choice("bound", &bounds)?.unwrap_or(Shape::Number);
    let at = match row.take_table("at")? {
        Some(inner) => inner.into_items().into_iter().map(read_at).collect::<Result<Vec<_>>>()?,
        None => Vec::new(),
    };
    let quote = Quote {
        what,
        shape,
        at,
        measure: row.take_text("measure")?,
        runs: row.take_text("runs")?,
        source: row.text("source")?.value,
        place,
    };
    quote.check(figure)?;
    row.finish()?;
    Ok(quote)
}

/// Reads a quoted number by the keys it has: `x` and `y`, `level`, `instant` or `value`.
fn read_said(row: &mut Table, figure: &Figure<'_>) -> Result<Said> {
    let curves = matches!(figure.kind, Kind::Lines | Kind::Steps);
    if curves && (row.has("x") || row.has("y")) {
        let (x, y) = (row.number("x", ANY)?, row.number("y", ANY)?);
        within(row, "x", x, figure.x)?;
        within(row, "y", y, figure.y)?;
        return Ok(Said::Point(x, y));
    }
    if curves && let Some(x) = row.take_number("instant", ANY)? {
        within(row, "instant", x, figure.x)?;
        return Ok(Said::Instant(x));
    }
    if figure.kind != Kind::Table
        && let Some(y) = row.take_number("level", ANY)?
    {
        within(row, "level", y, figure.y)?;
        let (mut from, mut until) = (None, None);
        if curves {
            (from, until) = (row.take_number("from", ANY)?, row.take_number("until", ANY)?);
        }
        for (key, end) in [("from", from), ("until", until)] {
            if let Some(end) = end {
                within(row, key, end, figure.x)?;
            }
        }
        if let (Some(from), Some(until)) = (from, until)
            && from >= until
        {
            return Err(row.error("until", "the level ends before it starts").label(format!("above {from}")));
        }
        return Ok(Said::Level { y, from, until });
    }
    if !curves && let Some(value) = row.take_number("value", ANY)? {
        if figure.kind != Kind::Table {
            within(row, "value", value, figure.y)?;
        }
        return Ok(Said::Value(value));
    }
    let wanted = match figure.kind {
        Kind::Lines | Kind::Steps => "`x` and `y`, `level` or `instant`",
        Kind::Bars | Kind::Stacked => "`value` or `level`",
        Kind::Table => "`value`",
    };
    Err(row.place().error("the paper's number is missing").label(format!("needs {wanted}")))
}

/// What the axis does not show cannot be compared.
fn within(row: &Table, key: &str, value: f64, axis: &AxisSpec) -> Result<()> {
    let wrong = |why: String| Err(row.error(key, "the figure does not reach here").label(why));
    match (axis.from, axis.until) {
        (Some(from), _) if value < from => wrong(format!("its axis starts at {from}")),
        (_, Some(until)) if value > until => wrong(format!("its axis ends at {until}")),
        _ if axis.log && value <= 0.0 => wrong("a logarithmic axis has no zero".to_owned()),
        _ => Ok(()),
    }
}

fn read_at((axis, item): (Text, xoff_scenario::tree::Item)) -> Result<At> {
    let place = item.place.clone();
    let (axis, values) = axis_values((axis, item))?;
    Ok(At { axis, values, place })
}

impl Quote {
    /// Whether it is about no line or bar in particular.
    pub fn is_general(&self) -> bool {
        self.at.is_empty() && self.measure.is_none() && self.runs.is_none()
    }

    /// Whether it may be about a measure of a series; `None` is all of them together.
    pub fn is_of(&self, series: &Series, measure: Option<&str>) -> bool {
        let runs = self.runs.as_ref().is_none_or(|runs| series.runs.as_deref() == Some(runs.value.as_str()));
        runs && self.measure.as_ref().is_none_or(|own| measure == Some(own.value.as_str()))
    }

    /// Whether it is about what this choice of values yields.
    pub fn fits(&self, picked: &Picked<'_>, choice: &Choice) -> bool {
        self.at.iter().all(|at| {
            let Ok(axis) = picked.axis(&at.axis) else { return false };
            let wanted = |of: (usize, usize)| at.values.iter().any(|value| is(picked.value(of), value));
            match choice.iter().find(|(of, _)| *of == axis) {
                Some(of) => wanted(*of),
                // Where a filter leaves one value, it is that.
                None => matches!(&picked.choices(&[axis])[..], [one] if wanted(one[0])),
            }
        })
    }

    /// Place in a chart.
    pub fn place(&self, bar: Option<(usize, usize)>) -> Option<QuotedPlace> {
        Some(match self.what {
            Said::Point(x, y) => QuotedPlace::Point(x, y),
            Said::Level { y, from, until } => QuotedPlace::Level { y, from, until },
            Said::Instant(x) => QuotedPlace::Instant(x),
            Said::Value(value) => bar.map(|(group, slot)| QuotedPlace::Bar { group, slot, value })?,
        })
    }

    /// Text of a cell of a table.
    pub fn text(&self) -> String {
        let Said::Value(value) = self.what else { return String::new() };
        // All the digits that the paper gives.
        let number = match value {
            whole if whole.fract() == 0.0 && (0.0..1e15).contains(&whole) => thousands(whole as u64),
            other => other.to_string(),
        };
        match self.shape {
            Shape::Number => format!("paper: {number}"),
            Shape::AtMost => format!("paper: at most {number}"),
            Shape::AtLeast => format!("paper: at least {number}"),
        }
    }

    /// The figure must have what it names, and one place for it.
    fn check(&self, figure: &Figure<'_>) -> Result<()> {
        let measures = || figure.series.iter().flat_map(measures_of);
        if let Some(own) = &self.measure
            && !measures().any(|known| known == own.value)
        {
            let error = own.error(format!("the figure does not show `{}`", own.value));
            return Err(error.label(format!("it shows {}", list(measures()))).nearest(&own.value, measures()));
        }
        let runs = || figure.series.iter().filter_map(|series| series.runs.as_deref());
        if let Some(own) = &self.runs
            && !runs().any(|known| known == own.value)
        {
            let error = own.error(format!("the figure names no runs `{}`", own.value));
            return Err(error.nearest(&own.value, runs()));
        }
        let named = |series: &&Series| {
            let mut all = measures_of(series).map(Some).chain([None]);
            all.any(|measure| self.is_of(series, measure))
        };
        let mut left: Vec<&Series> = figure.series.iter().filter(named).collect();
        if left.is_empty() {
            return Err(self.place.error("no series has both this measure and these runs"));
        }
        for at in &self.at {
            let told: Vec<&str> = left.iter().flat_map(|series| told_by(series, figure)).collect();
            left.retain(|series| told_by(series, figure).contains(&at.axis.as_str()));
            if left.is_empty() {
                let error = at.place.error(format!("the figure does not tell `{}` apart", at.axis));
                return Err(error.label(format!("it tells {}", list(told.iter().copied()))).nearest(&at.axis, told));
            }
            left.retain(|series| allows(series, at));
            if left.is_empty() {
                let error = at.place.error(format!("the figure leaves out {} `{}`", at.axis, at.values.join("`, `")));
                return Err(error.label("its series have a `where` without it"));
            }
        }
        if matches!(self.what, Said::Value(_)) { self.check_value(&left, figure) } else { Ok(()) }
    }

    /// A value belongs to one bar, or to one cell.
    fn check_value(&self, left: &[&Series], figure: &Figure<'_>) -> Result<()> {
        let unclear = |what: String| Err(self.place.error("the figure has several places for it").label(what));
        let [series] = left else { return unclear("name its `measure`, its `runs` or both".to_owned()) };
        match (figure.kind, &self.measure) {
            (Kind::Stacked, Some(own)) => {
                return Err(own.error("a number beside a stack is about the whole of it").label("leave this out"));
            }
            (Kind::Bars | Kind::Table, None) if measures_of(series).count() > 1 => {
                return unclear(format!("name its `measure`: {}", list(measures_of(series))));
            }
            _ => {}
        }
        let missing = told_by(series, figure).into_iter().find(|axis| {
            let fixed = series.only.iter().any(|(name, values)| name == axis && values.len() == 1);
            !fixed && !self.at.iter().any(|at| at.axis == *axis)
        });
        match missing {
            Some(axis) => unclear(format!("say at which `{axis}`: at = {{ {axis} = ... }}")),
            None => Ok(()),
        }
    }
}

fn measures_of(series: &Series) -> Box<dyn Iterator<Item = &str> + '_> {
    match &series.what {
        What::Curve(name) | What::Cumulative(name) => Box::new(std::iter::once(name.as_str())),
        What::Numbers { list, .. } => Box::new(list.iter().map(|(name, _)| name.as_str())),
    }
}

/// The axes by which lines, bars, cells and panels of a series are known.
fn told_by<'a>(series: &'a Series, figure: &Figure<'a>) -> Vec<&'a str> {
    let along = series.over.as_deref().filter(|_| !matches!(figure.kind, Kind::Lines | Kind::Steps));
    let only = series.only.iter().map(|(axis, _)| axis.as_str());
    let mut all: Vec<&str> = figure.panels.into_iter().chain(series.by.iter().map(String::as_str)).collect();
    all.extend(along);
    all.extend(only.filter(|axis| series.over.as_deref() != Some(axis)));
    all.dedup();
    all
}

/// Whether the filter of a series lets any of the values through.
fn allows(series: &Series, at: &At) -> bool {
    let filter = series.only.iter().find(|(axis, _)| *axis == at.axis);
    filter.is_none_or(|(_, values)| at.values.iter().all(|value| values.iter().any(|known| same_value(known, value))))
}

/// A line or bar of the panel in hand that a quote is about.
pub struct Met {
    pub quote: usize,
    pub colour: Option<RGBColor>,
    pub bar: Option<(usize, usize)>,
}

/// What the marks are, and where the paper says so.
pub fn note(quotes: &[&Quote], chart: bool) -> String {
    let mut sources: Vec<&str> = Vec::new();
    for quote in quotes {
        if !sources.contains(&quote.source.as_str()) {
            sources.push(&quote.source);
        }
    }
    let sources = sources.join("; ");
    match (chart, quotes.iter().any(|quote| quote.shape != Shape::Number)) {
        _ if quotes.is_empty() => String::new(),
        (false, _) => format!("The paper's own numbers: {sources}."),
        (true, false) => format!("Open marks: the paper's own numbers ({sources})."),
        (true, true) => format!(
            "Open marks: the paper's own numbers ({sources}); a triangle that points down is \"at most\", one that \
             points up \"at least\"."
        ),
    }
}

/// A value that no scale runs is a mistake.
pub fn unknown_value<'a>(at: &At, value: &str, known: impl Iterator<Item = &'a str> + Clone) -> Diagnostic {
    let error = at.place.error(format!("no run has {} `{value}`", at.axis));
    error.label(format!("{} is {}", at.axis, list(known.clone()))).nearest(value, known)
}
