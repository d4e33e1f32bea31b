//! Tables of measures that are curves: each bin, or the usual percentiles of a distribution, is a column.

use super::averaged::{at_size, quantile, sizes};
use super::columns::{Column, Entry};
use super::summary::{MeasuredRow, Summary};
use xoff_scenario::measure::{Along, Curve, CurveAxes};
use xoff_scenario::number::{brief, brief_size};

/// Bins that have a column; all are in the figure and its CSV.
const MOST_COLUMNS: usize = 24;
/// Percentiles of a distribution that have a column.
const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

/// The measures of several runs that are curves, in the scenario's order: name, unit and axes.
pub(crate) fn curves(entries: &[Entry]) -> Vec<(&MeasuredRow, &CurveAxes)> {
    let first = entries.first().map_or(&[][..], |entry| &entry.first().summary.measures);
    first.iter().filter_map(|of| of.axes.as_ref().map(|axes| (of, axes))).collect()
}

/// The curve of a run, by the name of its measure.
pub(crate) fn curve_of<'a>(run: &'a Summary, name: &str) -> Option<&'a Curve> {
    run.measures.iter().find(|of| of.name == name)?.curve.as_ref()
}

/// One table for each, as its title and columns; what goes over time has a figure alone.
pub(crate) fn tables(entries: &[Entry]) -> Vec<(String, Vec<Column>)> {
    let sheet = |(of, axes): (&MeasuredRow, &CurveAxes)| {
        let name = of.name.clone();
        let runs = || entries.iter().flat_map(Entry::summaries).filter_map(|run| curve_of(run, &of.name));
        let columns: Vec<Column> = match axes.along {
            Along::Time => return None,
            Along::Sizes => {
                let column = |x: f64| {
                    let name = name.clone();
                    let read = move |run: &Summary| curve_of(run, &name).and_then(|curve| at_size(curve, x)).into();
                    Column::new(format!("measures.{}.{x:.0}", of.name), brief_size(x), brief, read)
                };
                sizes(runs()).into_iter().take(MOST_COLUMNS).map(column).collect()
            }
            Along::Values => {
                let column = |(title, part): (&str, f64)| {
                    let name = name.clone();
                    let read = move |run: &Summary| curve_of(run, &name).and_then(|curve| quantile(curve, part)).into();
                    Column::new(format!("measures.{}.{title}", of.name), title, brief, read)
                };
                PERCENTILES.into_iter().map(column).collect()
            }
        };
        let title = match axes.along {
            Along::Values => format!("{}: {}", of.name, with_unit(&axes.x, &axes.x_unit)),
            _ => format!("{}: {} by {}", of.name, with_unit(&axes.y, &axes.y_unit), axes.x.to_lowercase()),
        };
        (!columns.is_empty()).then_some((title, columns))
    };
    curves(entries).into_iter().filter_map(sheet).collect()
}

/// `FCT, us`.
pub(crate) fn with_unit(title: &str, unit: &str) -> String {
    if unit.is_empty() { title.to_owned() } else { format!("{title}, {unit}") }
}
