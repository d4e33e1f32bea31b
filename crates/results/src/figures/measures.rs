//! Figures of measures that are curves, with the user's own bins.

use super::chart::{Axis, AxisUnit, Chart, Line, Style, plain};
use super::colour;
use crate::averaged::Averaged;
use crate::columns::Entry;
use crate::curve_tables::{curve_of, curves};
use crate::summary::Summary;
use xoff_scenario::measure::{Along, Curve, CurveAxes};

/// A figure for each curve of a run.
pub fn of_run(summary: &Summary) -> Vec<Chart> {
    let chart = |of: &crate::summary::MeasuredRow| {
        let (curve, axes) = (of.curve.as_ref()?, of.axes.as_ref()?);
        let line = line(axes, of.name.clone(), colour::by_index(0), (&[curve], 0));
        (!line.points.is_empty()).then(|| chart(&of.name, axes, vec![line]))
    };
    summary.measures.iter().filter_map(chart).collect()
}

/// The same with a line for each scheme, over all its seeds.
pub fn of_comparison(entries: &[Entry], looks: &[(String, Style)]) -> Vec<Chart> {
    let figure = |(of, axes): (&crate::summary::MeasuredRow, &CurveAxes)| {
        let line = |(place, (entry, (name, style))): (usize, (&Entry, &(String, Style)))| {
            let own: Vec<&Curve> = entry.summaries().filter_map(|run| curve_of(run, &of.name)).collect();
            line(axes, name.clone(), *style, (&own, place))
        };
        let lines = entries.iter().zip(looks).enumerate().map(line).filter(|line| !line.points.is_empty());
        let mut chart = chart(&of.name, axes, lines.collect());
        chart.note = over_seeds(entries.first().map_or(0, |entry| entry.runs.len()));
        (chart.lines().count() > 0).then_some(chart)
    };
    curves(entries).into_iter().filter_map(figure).collect()
}

/// What whiskers are, where there are several seeds.
pub fn over_seeds(seeds: usize) -> String {
    match seeds {
        0 | 1 => String::new(),
        seeds => format!("means over {seeds} seeds; whiskers: 95 % confidence interval (Student's t)"),
    }
}

/// The curves of one scheme, in the units of the figure's axes.
pub fn line(axes: &CurveAxes, name: String, style: Style, (curves, place): (&[&Curve], usize)) -> Line {
    let of = Averaged::of(axes.along, curves, place);
    let ((_, x), (_, y)) = (AxisUnit::named(&axes.x_unit), AxisUnit::named(&axes.y_unit));
    let mut line = Line::new(name, style, of.points.iter().map(|p| (p.0 * x, p.1 * y)).collect());
    line.intervals = of.intervals.iter().map(|i| (i.0 * x, i.1 * y, i.2 * y)).collect();
    line.spans = of.spans.iter().map(|i| (i.0 * y, i.1 * x, i.2 * x)).collect();
    line.dots = axes.along == Along::Sizes;
    line
}

pub fn chart(name: &str, axes: &CurveAxes, lines: Vec<Line>) -> Chart {
    let ((x_unit, _), (y_unit, _)) = (AxisUnit::named(&axes.x_unit), AxisUnit::named(&axes.y_unit));
    let values = |pick: fn(&(f64, f64)) -> f64| {
        lines.iter().flat_map(|line| &line.points).map(pick).filter(|value| *value > 0.0).collect::<Vec<f64>>()
    };
    let is_slowdown = |title: &str| title.to_lowercase().contains("slowdown");
    let axis = |title: &str, unit: AxisUnit, values: Vec<f64>| match is_slowdown(title) {
        true => Axis::of_slowdown(title),
        false => {
            let log = super::chart::spans_decades(values.into_iter());
            Axis { from: (!log).then_some(0.0), ..Axis::new(title, unit, log, !log) }
        }
    };
    let (x, y, title) = match axes.along {
        Along::Sizes => (
            Axis::new(axes.x.clone(), x_unit, true, false),
            axis(&axes.y, y_unit, values(|p| p.1)),
            format!("{} by flow size ({name})", axes.y),
        ),
        Along::Time => (
            Axis::new(axes.x.clone(), x_unit, false, true),
            Axis { from: Some(0.0), ..Axis::new(axes.y.clone(), y_unit, false, true) },
            format!("{} over time", axes.y),
        ),
        Along::Values => (
            axis(&axes.x, x_unit, values(|p| p.0)),
            Axis { until: Some(1.0), ..Axis::new(axes.y.clone(), AxisUnit::Fraction, false, true) },
            format!("Distribution of {} ({name})", axes.x),
        ),
    };
    Chart::of_lines(format!("measure-{}", plain(name)), title, x, y, lines)
}
