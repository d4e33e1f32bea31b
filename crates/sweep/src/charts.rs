//! The figures of a sweep: lines over one axis, small multiples over the others, and the Pareto front of two measures.

use crate::axis::Axis as SweepAxis;
use crate::study::{Cell, Measure, Study};
use crate::value::Unit;
use xoff_results::figures::chart::{Axis, AxisUnit, Chart, Dash, Line, Panel, RGBColor, plain};
use xoff_results::figures::colour;

/// More panels than this nobody looks at.
const MOST_PANELS: usize = 16;

/// Every figure that says something.
pub fn of(study: &Study<'_>) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    let x = study.sweep.axes.iter().position(|axis| axis.unit().is_some() && different(study, axis) > 1);
    if let Some(x) = x {
        charts.extend((0..study.measures.len()).filter_map(|measure| over_axis(study, x, measure)));
    }
    if study.measures.len() > 1 && study.cells.len() > 2 {
        charts.extend(pareto(study));
    }
    charts
}

/// How many values of an axis were run.
fn different(study: &Study<'_>, axis: &SweepAxis) -> usize {
    let at = study.sweep.axes.iter().position(|of| of.name == axis.name).unwrap_or(0);
    let mut names: Vec<&str> =
        study.cells.iter().filter_map(|cell| cell.values[at].as_ref()).map(|value| value[0].name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

fn unit_of(unit: Option<Unit>) -> AxisUnit {
    match unit {
        Some(Unit::Bytes) => AxisUnit::Bytes,
        Some(Unit::Microseconds) => AxisUnit::Time,
        Some(Unit::Gbps) => AxisUnit::Gbps,
        Some(Unit::One) | None => AxisUnit::Plain(String::new()),
    }
}

fn unit_named(unit: &str) -> AxisUnit {
    match unit {
        "us" => AxisUnit::Time,
        "bytes" => AxisUnit::Bytes,
        "Gbps" => AxisUnit::Gbps,
        "1" => AxisUnit::Ratio,
        other => AxisUnit::Plain(other.to_owned()),
    }
}

/// Values that span more than this factor are drawn on a logarithmic axis.
const WIDE: f64 = 20.0;

fn spans_decades(values: impl Iterator<Item = f64> + Clone) -> bool {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(0.0, f64::max);
    least > 0.0 && most / least > WIDE
}

/// An axis that leaves room beside its outermost points.
fn along(title: String, unit: AxisUnit, values: Vec<f64>) -> Axis {
    let log = spans_decades(values.iter().copied());
    let mut axis = Axis::new(title, unit, log, false);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if least < most {
        const ROOM: f64 = 0.03;
        let (from, until) = match log {
            false => (least - ROOM * (most - least), most + ROOM * (most - least)),
            true => (least / libm::pow(most / least, ROOM), most * libm::pow(most / least, ROOM)),
        };
        (axis.from, axis.until) = (Some(from), Some(until));
    }
    axis
}

/// One panel: what the axes other than the one along x are set to. An axis that a scheme does not know is not set,
/// and its line stands in every panel.
struct Setting(Vec<Option<String>>);

impl Setting {
    fn of(cell: &Cell<'_>, x: usize) -> Setting {
        let others = cell.values.iter().enumerate().filter(|(at, _)| *at != x);
        Setting(others.map(|(_, value)| value.as_ref().map(|value| value[0].name.clone())).collect())
    }

    /// Whether a cell of this setting belongs into the panel of that one.
    fn fits(&self, panel: &Setting) -> bool {
        self.0.iter().zip(&panel.0).all(|(own, wanted)| own.is_none() || own == wanted)
    }

    fn title(&self, axes: &[SweepAxis], x: usize) -> String {
        let others = axes.iter().enumerate().filter(|(at, _)| *at != x).zip(&self.0);
        let part = |((_, axis), value): ((usize, &SweepAxis), &Option<String>)| {
            value.as_ref().map(|value| format!("{} {value}", axis.name))
        };
        others.filter_map(part).collect::<Vec<_>>().join(", ")
    }
}

/// The panels of a figure along `x`: the settings that are not part of another one.
fn settings(study: &Study<'_>, x: usize) -> Vec<Setting> {
    let all: Vec<Setting> = study.cells.iter().map(|cell| Setting::of(cell, x)).collect();
    let mut kept: Vec<Setting> = Vec::new();
    for setting in &all {
        let wider = all.iter().any(|other| setting.fits(other) && !other.fits(setting));
        if !wider && !kept.iter().any(|known| known.0 == setting.0) {
            kept.push(Setting(setting.0.clone()));
        }
    }
    kept.truncate(MOST_PANELS);
    kept
}

/// One measure over the axis `x`, a line for each scheme, a panel for each setting of the other axes.
fn over_axis(study: &Study<'_>, x: usize, measure: usize) -> Option<Chart> {
    let schemes = study.schemes();
    let styles = colour::of_schemes(&schemes);
    // Samples lie everywhere: one panel has them all, without lines.
    let scattered = study.sweep.sample.is_some();
    let settings = if scattered { vec![Setting(Vec::new())] } else { settings(study, x) };
    let place = |cell: &Cell<'_>| cell.values[x].as_ref().and_then(|value| value[0].number());
    let line = |panel: &Setting, scheme: &String, style| {
        let own = study.cells.iter().filter(|cell| cell.scheme == scheme && Setting::of(cell, x).fits(panel));
        let mut points: Vec<(f64, _)> = own.filter_map(|cell| Some((place(cell)?, cell.estimates[measure]?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut line = Line::new(scheme.clone(), style, Vec::new());
        line.dots = true;
        for (at, estimate) in points {
            line.points.push((at, estimate.mean));
            if scattered {
                line.points.push((at, f64::NAN));
            }
            // No time, queue or count is below zero, whatever Student's t thinks of two seeds.
            let low =
                |half: f64| if estimate.mean < 0.0 { estimate.mean - half } else { (estimate.mean - half).max(0.0) };
            line.intervals.extend(estimate.half_width.map(|half| (at, low(half), estimate.mean + half)));
        }
        line
    };
    let panel = |setting: &Setting| {
        let lines = schemes.iter().zip(&styles).map(|(scheme, style)| line(setting, scheme, *style));
        let lines = lines.filter(|line| !line.points.is_empty()).collect();
        Panel { title: setting.title(&study.sweep.axes, x), lines, ..Panel::default() }
    };
    let panels: Vec<Panel> = settings.iter().map(panel).filter(|panel| !panel.lines.is_empty()).collect();
    if panels.is_empty() {
        return None;
    }
    let (of, axis) = (&study.measures[measure], &study.sweep.axes[x]);
    let means = study.cells.iter().filter_map(|cell| cell.estimates[measure]).map(|estimate| estimate.mean);
    let places = study.cells.iter().filter_map(place);
    let mut chart = Chart::of_lines(
        format!("{}-over-{}", plain(&of.name), plain(&axis.name)),
        format!("{} over {}", of.name, axis.name),
        along(axis.name.clone(), unit_of(axis.unit()), places.collect()),
        Axis::new(of.name.clone(), unit_named(&of.unit), spans_decades(means), true),
        Vec::new(),
    );
    chart.columns = if panels.len() > 1 { 2 } else { 1 };
    chart.panels = panels;
    if study.sweep.seeds > 1 {
        chart.note = format!("Means and 95 % intervals over {} seeds.", study.sweep.seeds);
    }
    Some(chart)
}

/// The points that no other beats in both measures, joined; all others beside them.
fn pareto(study: &Study<'_>) -> Option<Chart> {
    let (a, b) = (&study.measures[0], &study.measures[1]);
    let schemes = study.schemes();
    let styles = colour::of_schemes(&schemes);
    let pair = |cell: &Cell<'_>| Some((cell.estimates[0]?.mean, cell.estimates[1]?.mean));
    let mut lines: Vec<Line> = schemes
        .iter()
        .zip(&styles)
        .map(|(scheme, style)| {
            let own = study.cells.iter().filter(|cell| cell.scheme == scheme).filter_map(pair);
            let mut line = Line::new(scheme.clone(), *style, own.flat_map(|(x, y)| [(x, y), (x, f64::NAN)]).collect());
            line.dots = true;
            line
        })
        .collect();
    let all: Vec<(f64, f64)> = study.cells.iter().filter_map(pair).collect();
    let front = front(&all, (a.more, b.more));
    lines.push(Line::new("Pareto front".to_owned(), (RGBColor(90, 90, 90), Dash::Short), front));
    let axis = |of: &Measure, values: Vec<f64>| along(of.name.clone(), unit_named(&of.unit), values);
    let (x, y) =
        (axis(a, all.iter().map(|point| point.0).collect()), axis(b, all.iter().map(|point| point.1).collect()));
    Some(Chart::of_lines("pareto".to_owned(), format!("{} against {}", b.name, a.name), x, y, lines))
}

/// In order of the first measure. `more` says of which more is better.
fn front(points: &[(f64, f64)], more: (bool, bool)) -> Vec<(f64, f64)> {
    let sign = |more: bool| if more { -1.0 } else { 1.0 };
    let costs = |point: &(f64, f64)| (point.0 * sign(more.0), point.1 * sign(more.1));
    let mut sorted: Vec<(f64, f64)> = points.to_vec();
    sorted.sort_by(|a, b| costs(a).0.total_cmp(&costs(b).0).then(costs(a).1.total_cmp(&costs(b).1)));
    let mut best = f64::INFINITY;
    sorted.retain(|point| {
        let beaten = costs(point).1 >= best;
        best = best.min(costs(point).1);
        !beaten
    });
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_nobody_beats() {
        let points = [(1.0, 9.0), (2.0, 5.0), (3.0, 6.0), (4.0, 1.0), (5.0, 1.0)];
        assert_eq!(front(&points, (false, false)), [(1.0, 9.0), (2.0, 5.0), (4.0, 1.0)]);
        assert_eq!(front(&points, (false, true)), [(1.0, 9.0)]);
        assert_eq!(front(&points, (true, true)), [(5.0, 1.0), (3.0, 6.0), (1.0, 9.0)]);
    }
}
