//! The figures of a sweep: lines over one axis, small multiples over the others, and the Pareto front of two measures.

use crate::axis::Axis as SweepAxis;
use crate::record::MeasuredCurve;
use crate::study::{Cell, Measure, Study};
use crate::value::Unit;
use xoff_results::figures::chart::{Axis, AxisUnit, Chart, Dash, Line, Panel, RGBColor, Style, plain, spans_decades};
use xoff_results::figures::measures::{self, over_seeds};
use xoff_results::figures::{called, colour, ticks};
use xoff_results::titles::{of_key, of_number, within};
use xoff_scenario::measure::Curve;

/// Most panels of a figure.
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
    charts.extend(curves(study));
    charts
}

/// The schemes with what the legend calls them and how they look.
fn looks(study: &Study<'_>) -> Vec<(String, String, Style)> {
    let schemes = study.schemes();
    let styles = colour::of_schemes(&schemes, &study.looks);
    let look = |(scheme, style): (String, Style)| (scheme.clone(), called(&scheme, &study.looks), style);
    schemes.into_iter().zip(styles).map(look).collect()
}

/// A measure as an axis calls it, with the unit of its data.
fn named(of: &Measure) -> (String, AxisUnit) {
    (of_number(&of.name), AxisUnit::named(&of.unit).0)
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

/// An axis that leaves room beside its outermost points.
fn along(title: String, unit: AxisUnit, values: Vec<f64>) -> Axis {
    let log = spans_decades(values.iter().copied());
    let mut axis = Axis::new(title, unit, log, false);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if least < most {
        const ROOM: f64 = 0.05;
        let (from, until) = match log {
            false => (least - ROOM * (most - least), most + ROOM * (most - least)),
            true => (least / libm::pow(most / least, ROOM), most * libm::pow(most / least, ROOM)),
        };
        (axis.from, axis.until) = (Some(from), Some(until));
    }
    axis
}

/// One panel: what the axes other than the one along x are set to. An axis that a scheme does not know is not set,
/// and its line is in every panel.
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
            value.as_ref().map(|value| format!("{} {value}", of_key(&axis.name)))
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
    let looks = looks(study);
    let (of, axis) = (&study.measures[measure], &study.sweep.axes[x]);
    let (title, unit) = named(of);
    let factor = AxisUnit::named(&of.unit).1;
    // Samples lie everywhere: one panel has them all, without lines.
    let scattered = study.sweep.sample.is_some();
    let settings = if scattered { vec![Setting(Vec::new())] } else { settings(study, x) };
    let place = |cell: &Cell<'_>| cell.values[x].as_ref().and_then(|value| value[0].number());
    let line = |panel: &Setting, (scheme, name, style): &(String, String, Style)| {
        let own = study.cells.iter().filter(|cell| cell.scheme == scheme && Setting::of(cell, x).fits(panel));
        let mut points: Vec<(f64, _)> = own.filter_map(|cell| Some((place(cell)?, cell.estimates[measure]?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut line = Line::new(name.clone(), *style, Vec::new()).dotted();
        for (at, estimate) in points {
            let mean = estimate.mean * factor;
            if mean.is_infinite() {
                line.never.push(at);
                continue;
            }
            line.points.push((at, mean));
            if scattered {
                line.points.push((at, f64::NAN));
            }
            let half = estimate.half_width.map(|half| half * factor);
            line.intervals.extend(half.map(|half| (at, mean - half, mean + half)));
        }
        line
    };
    let panel = |setting: &Setting| {
        let lines = looks.iter().map(|look| line(setting, look));
        let lines = lines.filter(|line| !line.points.is_empty() || !line.never.is_empty()).collect();
        Panel { title: setting.title(&study.sweep.axes, x), lines, ..Panel::default() }
    };
    let panels: Vec<Panel> = settings.iter().map(panel).filter(|panel| !panel.lines.is_empty()).collect();
    if panels.is_empty() {
        return None;
    }
    let means: Vec<f64> =
        panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points).map(|p| p.1).collect();
    let mut places: Vec<f64> = study.cells.iter().filter_map(place).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let x_title = of_key(&axis.name);
    let chart_title = format!("{title} over {}", within(&x_title));
    let mut along_x = along(x_title, unit_of(axis.unit()), places.clone());
    // Numbers are at the values that were run, where they are few.
    if places.len() <= MOST_MARKS && !scattered {
        along_x.marks = ticks::at(&places, along_x.log, &along_x.unit);
    }
    let y = upward(&title, unit, &means);
    let file = format!("{}-over-{}", plain(&of.name), plain(&axis.name));
    let mut chart = Chart::of_lines(file, chart_title, along_x, y, Vec::new());
    chart.columns = if panels.len() > 1 { 2 } else { 1 };
    chart.panels = panels;
    chart.note = over_seeds(study.sweep.seeds as usize);
    Some(chart)
}

/// Values along x that have a number each.
const MOST_MARKS: usize = 12;

/// The axis of a measure: slowdowns from 1 on a logarithmic scale, what is never negative from 0.
fn upward(title: &str, unit: AxisUnit, means: &[f64]) -> Axis {
    if title.to_lowercase().contains("slowdown") {
        return Axis::of_slowdown(title);
    }
    let log = spans_decades(means.iter().copied());
    let negative = means.iter().any(|mean| *mean < 0.0);
    Axis { from: (!log && !negative).then_some(0.0), ..Axis::new(title, unit, log, !log) }
}

/// Measures that are curves: a figure each, a panel for each setting, a line for each scheme, over all seeds.
fn curves(study: &Study<'_>) -> Vec<Chart> {
    let all = || study.cells.iter().flat_map(|cell| cell.records).flat_map(|record| &record.curves);
    let mut known: Vec<&MeasuredCurve> = Vec::new();
    for curve in all() {
        if !known.iter().any(|other| other.name == curve.name) {
            known.push(curve);
        }
    }
    // No axis is along x here: all of them make panels.
    let nowhere = study.sweep.axes.len();
    let settings = settings(study, nowhere);
    let points: usize =
        study.cells.iter().filter(|cell| Some(cell.scheme) == study.cells.first().map(|c| c.scheme)).count();
    let figure = |of: &MeasuredCurve| {
        let line = |setting: &Setting, place: usize, (scheme, name, style): &(String, String, Style)| {
            let own =
                study.cells.iter().filter(|cell| cell.scheme == scheme && Setting::of(cell, nowhere).fits(setting));
            let records = own.flat_map(|cell| cell.records).flat_map(|record| &record.curves);
            let own: Vec<&Curve> = records.filter(|curve| curve.name == of.name).map(|curve| &curve.curve).collect();
            measures::line(&of.axes, name.clone(), *style, (&own, place))
        };
        let looks = looks(study);
        let panel = |setting: &Setting| {
            let lines = looks.iter().enumerate().map(|(place, look)| line(setting, place, look));
            let lines = lines.filter(|line| !line.points.is_empty()).collect();
            Panel { title: setting.title(&study.sweep.axes, nowhere), lines, ..Panel::default() }
        };
        let panels: Vec<Panel> = settings.iter().map(panel).filter(|panel| !panel.lines.is_empty()).collect();
        let lines = panels.iter().flat_map(|panel| panel.lines.clone()).collect();
        let mut chart = measures::chart(&of.name, &of.axes, lines);
        chart.columns = panels.len().min(2);
        chart.panels = panels;
        chart.note = over_seeds(study.sweep.seeds as usize);
        if settings.len() < points {
            let more = format!("the first {} of {points} settings; all are in curves.csv", settings.len());
            chart.note = if chart.note.is_empty() { more } else { format!("{}; {more}", chart.note) };
        }
        (!chart.panels.is_empty()).then_some(chart)
    };
    known.into_iter().filter_map(figure).collect()
}

/// The points that no other beats in both measures, joined; all others beside them.
fn pareto(study: &Study<'_>) -> Option<Chart> {
    let (a, b) = (&study.measures[0], &study.measures[1]);
    let (a_factor, b_factor) = (AxisUnit::named(&a.unit).1, AxisUnit::named(&b.unit).1);
    let pair = |cell: &Cell<'_>| Some((cell.estimates[0]?.mean * a_factor, cell.estimates[1]?.mean * b_factor));
    let mut lines: Vec<Line> = looks(study)
        .into_iter()
        .map(|(scheme, name, style)| {
            let own = study.cells.iter().filter(|cell| cell.scheme == scheme).filter_map(pair);
            Line::new(name, style, own.flat_map(|(x, y)| [(x, y), (x, f64::NAN)]).collect()).dotted()
        })
        .collect();
    let all: Vec<(f64, f64)> = study.cells.iter().filter_map(pair).collect();
    let front = front(&all, (a.more, b.more));
    lines.push(Line::new("Pareto front".to_owned(), (RGBColor(90, 90, 90), Dash::Short), front));
    let axis = |of: &Measure, values: Vec<f64>| {
        let (title, unit) = named(of);
        along(title, unit, values)
    };
    let (x, y) =
        (axis(a, all.iter().map(|point| point.0).collect()), axis(b, all.iter().map(|point| point.1).collect()));
    let title = format!("{} against {}", of_number(&b.name), within(&of_number(&a.name)));
    Some(Chart::of_lines("pareto".to_owned(), title, x, y, lines))
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
