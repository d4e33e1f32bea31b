//! What a sweep found: each point with its numbers over the seeds, and which scheme did best where.

use crate::numbers::union;
use crate::plan::{Point, Sweep};
use crate::record::Record;
use crate::table::Rows;
use crate::value::Value;
use xoff_results::interval::Estimate;
use xoff_results::titles::of_number;
use xoff_results::verdict::{Series, smallest_effect};
use xoff_scenario::number::brief;
use xoff_scenario::{Diagnostic, Looks};

/// All points of a sweep, with the measures that its report is about.
pub struct Study<'a> {
    pub sweep: &'a Sweep,
    /// In the order of their columns.
    pub measures: Vec<Measure>,
    /// In the order of the table.
    pub cells: Vec<Cell<'a>>,
    /// The smallest effect of interest, as a share; `None` leaves it to what is measured.
    pub delta: Option<f64>,
    /// Runs that failed, and that were given up.
    pub failed: (usize, usize),
    /// How figures call and draw schemes.
    pub looks: Looks,
}

/// A number that is looked at.
#[derive(Clone, Debug)]
pub struct Measure {
    pub name: String,
    /// Empty where nothing is measured.
    pub unit: String,
    /// Whether more of it is better.
    pub more: bool,
}

impl Measure {
    /// In words, with its unit if it has one.
    pub fn title(&self) -> String {
        let words = of_number(&self.name);
        match self.unit.as_str() {
            "" | "1" => words,
            "Gbps" => format!("{words} (Gb/s)"),
            unit => format!("{words} ({unit})"),
        }
    }
}

/// One point over its seeds.
pub struct Cell<'a> {
    /// Scheme as requested, or the scenario's own.
    pub scheme: &'a str,
    pub values: &'a [Option<Vec<Value>>],
    /// Estimates by measure; `None` where no seed has it.
    pub estimates: Vec<Option<Estimate>>,
    /// The first measure by seed; empty where a run failed.
    pub first: Series,
    /// Its runs, one for each seed.
    pub records: &'a [Record],
}

/// The report's own choice is short.
const MOST_MEASURES: usize = 6;

impl<'a> Study<'a> {
    /// Joins the seeds of every point.
    pub fn of(rows: &'a Rows<'a>) -> Result<Study<'a>, Diagnostic> {
        let measures = measures(rows)?;
        let mut cells: Vec<Cell<'a>> = Vec::new();
        for (points, records) in rows.by_point() {
            let estimate = |measure: &Measure| {
                Estimate::of(&records.iter().filter_map(|record| record.number(&measure.name)).collect::<Vec<_>>())
            };
            let failed = records.iter().any(|record| record.failure.is_some());
            let name = measures.first().filter(|_| !failed).map(|measure| measure.name.as_str());
            let number = |(point, record): (&Point, &Record)| Some((point.seed, record.number(name?)?));
            cells.push(Cell {
                first: Series::of(points.iter().zip(records).filter_map(number)),
                scheme: points[0].scheme.as_deref().unwrap_or(&records[0].scheme),
                values: &points[0].values,
                estimates: measures.iter().map(estimate).collect(),
                records,
            });
        }
        let gave_up = rows.records.iter().filter(|record| record.gave_up).count();
        let failed = rows.records.iter().filter(|record| record.failure.is_some()).count() - gave_up;
        let looks = rows.points.first().map_or_else(Looks::default, |first| rows.sweep.looks(first));
        Ok(Study { sweep: rows.sweep, measures, cells, delta: None, failed: (failed, gave_up), looks })
    }

    /// The schemes, in the order of the sweep.
    pub fn schemes(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for cell in &self.cells {
            if !names.iter().any(|name| name == cell.scheme) {
                names.push(cell.scheme.to_owned());
            }
        }
        names
    }

    /// The smallest effect of interest in a measure.
    pub(crate) fn delta(&self, measure: &Measure) -> f64 {
        self.delta.unwrap_or_else(|| smallest_effect(&measure.name))
    }

    /// `load 0.5, kmin 5KB`: where a cell is.
    pub fn place(&self, cell: &Cell<'_>) -> String {
        self.sweep.setting(cell.values, &[])
    }
}

/// A mean with its interval and unit, for people.
pub fn shown(estimate: Option<Estimate>, unit: &str) -> String {
    let Some(estimate) = estimate else { return "-".to_owned() };
    let unit = if unit.is_empty() || unit == "1" { String::new() } else { format!(" {unit}") };
    format!("{}{unit}", estimate.text(brief))
}

/// What was asked for, or what most people look at first.
fn measures(rows: &Rows<'_>) -> Result<Vec<Measure>, Diagnostic> {
    let known: Vec<(&str, &str)> = union(rows.records.iter().map(|record| record.network.as_slice()))
        .into_iter()
        .map(|number| (number.name.as_str(), number.unit.as_str()))
        .collect();
    let measure =
        |name: &str, unit: &str| Measure { name: name.to_owned(), unit: unit.to_owned(), more: more_is_better(name) };
    // Curves have figures and a table of their own, asked for or not.
    let is_curve = |name: &String| {
        let own = name.strip_prefix("measure.").unwrap_or(name);
        rows.records.iter().flat_map(|record| &record.curves).any(|curve| curve.name == own)
    };
    let asked: Vec<&String> = rows.sweep.measures.iter().filter(|name| !is_curve(name)).collect();
    if !asked.is_empty() {
        let find = |name: &String| match known.iter().find(|(known, _)| known == name) {
            Some((name, unit)) => Ok(measure(name, unit)),
            None => {
                let error = Diagnostic::new(format!("no run has a number `{name}`"));
                Err(error.nearest(name, known.iter().map(|(name, _)| *name)))
            }
        };
        return asked.into_iter().map(find).collect();
    }
    let own = known.iter().filter(|(name, _)| name.starts_with("measure."));
    let flows = known.iter().filter(|(name, _)| {
        name.starts_with("by_source.") && !name.contains(".by_size.") && name.ends_with(".slowdown.p99")
    });
    let others = ["throughput.", "goodput90_gbps", "pause_frames", "worst_queue.peak_bytes"];
    let others = known.iter().filter(|(name, _)| {
        others.iter().any(|other| match other.strip_suffix('.') {
            Some(_) => name.starts_with(other) && name.ends_with(".mean_gbps"),
            None => name == other,
        })
    });
    Ok(own.chain(flows).chain(others).take(MOST_MEASURES).map(|(name, unit)| measure(name, unit)).collect())
}

/// Whether more of a number is better; times, queues, pauses and drops are not.
fn more_is_better(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    ["gbps", "fairness", "utilisation", "completed", "delivered"].iter().any(|word| last.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_good_is_known() {
        for (name, more) in [
            ("goodput90_gbps", true),
            ("throughput.elephants.mean_gbps", true),
            ("by_source.mice.slowdown.p99", false),
            ("pause_frames", false),
            ("by_source.mice.completed", true),
        ] {
            assert_eq!(more_is_better(name), more, "{name}");
        }
    }

    #[test]
    fn estimates_carry_their_unit() {
        let of = |half_width| Some(Estimate { mean: 12.34, half_width, count: 3 });
        assert_eq!(shown(of(Some(0.5)), "us"), "12.3 ± 0.5 us");
        assert_eq!(shown(of(None), "1"), "12.3");
        assert_eq!(shown(None, "us"), "-");
    }
}
