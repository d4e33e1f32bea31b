//! From the spec of a figure and the runs' results to what is drawn.

use super::builder::{Builder, View, first_measure};
use super::pick::Picked;
use super::series::{AxisSpec, Kind};
use super::spec::FigureSpec;
use super::{Shown, bars, lines, table};
use crate::reproduce::results::Results;
use xoff_results::figures::chart::{Axis, AxisUnit, Chart, Panel};

/// Points of a whole figure; more make a large document and no better picture.
const MOST_POINTS: usize = 4500;

/// Values of an axis that are all named at it.
const MOST_MARKS: usize = 12;

/// Draws a figure. Nothing comes of one whose runs were not made; wrong names are an error.
pub fn draw(spec: &FigureSpec, experiment: &str, results: &Results) -> Result<Vec<Shown>, String> {
    let named = |why: String| match spec.name.as_str() {
        "" => format!("figure of {experiment}: {why}"),
        name => format!("figure {name} of {experiment}: {why}"),
    };
    if spec.kind == Kind::Table {
        return table::draw(spec, results).map_err(named);
    }
    let file = if spec.name.is_empty() { experiment.to_owned() } else { format!("{experiment}-{}", spec.name) };
    Ok(chart(spec, file, results).map_err(named)?.map(|chart| Shown::Chart(Box::new(chart))).into_iter().collect())
}

fn chart(spec: &FigureSpec, file: String, results: &Results) -> Result<Option<Chart>, String> {
    let mut builder = Builder::new(spec);
    let mut panels = Vec::new();
    for panel in panel_names(spec, results)? {
        let mut made = Panel::default();
        for series in &spec.series {
            let Some(view) = View::of(spec, series, panel.as_ref().map(|(name, _)| name.as_str()), results)? else {
                continue;
            };
            match spec.kind {
                Kind::Lines | Kind::Steps => made.lines.extend(lines::of_series(&mut builder, series, &view)?),
                _ => bars::of_series(&mut builder, series, &view, &mut made.bars)?,
            }
        }
        tell_apart(&made)?;
        made.quoted = builder.quotes();
        made.title = panel.map(|(_, title)| title).unwrap_or_default();
        if !made.lines.is_empty() || !made.bars.is_empty() {
            panels.push(made);
        }
    }
    if panels.is_empty() {
        return Ok(None);
    }
    if spec.series.iter().all(|series| series.label.is_none()) {
        drop_lone_name(&mut panels);
    }
    lines::thin(panels.iter_mut().flat_map(|panel| &mut panel.lines).collect(), &spec.x, MOST_POINTS);
    let columns = spec.panel_columns.unwrap_or(match panels.len() {
        0 | 1 => 1,
        2..=4 => 2,
        _ => 3,
    });
    let bars = !builder.groups.is_empty();
    let mut x = with_room(axis(&spec.x, false), &panels);
    if builder.marks.len() <= MOST_MARKS && spec.series.iter().all(|series| series.over.is_some()) {
        x.marks = std::mem::take(&mut builder.marks);
        x.marks.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let note = builder.whole_note();
    Ok(Some(Chart {
        file,
        title: spec.title.clone(),
        note,
        x,
        y: axis(&spec.y, true),
        groups: if bars { builder.groups } else { Vec::new() },
        panels,
        columns,
        marks: spec.marks.clone(),
    }))
}

/// No two lines of a panel have one name, no two bars one place.
fn tell_apart(panel: &Panel) -> Result<(), String> {
    let twice = |what: &str, name: &str| Err(format!("two {what} \"{name}\": each series needs a `label` of its own"));
    for (index, line) in panel.lines.iter().enumerate() {
        if panel.lines[..index].iter().any(|other| other.name == line.name) {
            return twice("lines", &line.name);
        }
    }
    for (index, bar) in panel.bars.iter().enumerate() {
        if panel.bars[..index].iter().any(|other| (other.group, other.slot) == (bar.group, bar.slot)) {
            let name = bar.parts.first().map_or("", |part| &part.name);
            return twice("bars", if bar.name.is_empty() { name } else { &bar.name });
        }
    }
    Ok(())
}

fn axis(spec: &AxisSpec, from_zero: bool) -> Axis {
    // On a logarithmic axis sizes read better with a prefix each.
    let unit = if spec.log && spec.unit == "B" { AxisUnit::Bytes } else { AxisUnit::Plain(spec.unit.clone()) };
    Axis {
        title: spec.title.clone(),
        unit,
        log: spec.log,
        from_zero: from_zero && !spec.log && spec.from.is_none(),
        from: spec.from,
        until: spec.until,
        marks: Vec::new(),
    }
}

/// Dots and stairs at the very edge of a plot are hard to see, so the axis is a bit longer.
fn with_room(mut axis: Axis, panels: &[Panel]) -> Axis {
    let lines = || panels.iter().flat_map(|panel| &panel.lines);
    if axis.log || !lines().all(|line| line.dots) {
        return axis;
    }
    let xs = lines().flat_map(|line| line.points.iter().map(|p| p.0).chain(line.never.iter().copied()));
    let (low, high) = xs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if low < high {
        axis.from = axis.from.or(Some(low - 0.02 * (high - low)));
        axis.until = axis.until.or(Some(high + 0.02 * (high - low)));
    }
    axis
}

/// A legend of one default name says no more than the axis does.
fn drop_lone_name(panels: &mut [Panel]) {
    let mut names: Vec<&String> = panels.iter().flat_map(|panel| &panel.lines).map(|line| &line.name).collect();
    names.extend(panels.iter().flat_map(|panel| &panel.bars).flat_map(|bar| &bar.parts).map(|part| &part.name));
    if names.windows(2).any(|pair| pair[0] != pair[1]) {
        return;
    }
    for panel in panels {
        panel.lines.iter_mut().for_each(|line| line.name.clear());
        panel.bars.iter_mut().flat_map(|bar| &mut bar.parts).for_each(|part| part.name.clear());
    }
}

/// Names of the panels' values with their titles; one nameless panel where there are none.
fn panel_names(spec: &FigureSpec, results: &Results) -> Result<Vec<Option<(String, String)>>, String> {
    let Some(name) = &spec.panels else { return Ok(vec![None]) };
    let mut found: Vec<Option<(String, String)>> = Vec::new();
    let mut known = false;
    for series in &spec.series {
        let Some(picked) = Picked::of(series, first_measure(series), results)? else { continue };
        let Ok(axis) = picked.axis(name) else { continue };
        known = true;
        for choice in picked.choices(&[axis]) {
            let value = picked.value(choice[0]);
            let title = if value.number.is_some() { format!("{name} {}", value.name) } else { value.name.clone() };
            let panel = Some((value.name.clone(), title));
            if !found.contains(&panel) {
                found.push(panel);
            }
        }
    }
    let any = results.groups.iter().any(|group| !group.cells.is_empty());
    if !known && any {
        return Err(format!("no runs have the axis `{name}` of its panels"));
    }
    Ok(found)
}
