//! What a sweep found: each point with its numbers over the seeds, and which scheme did best where.

use crate::numbers::union;
use crate::plan::Sweep;
use crate::table::Rows;
use crate::value::Value;
use std::collections::BTreeMap;
use xoff_results::interval::Estimate;
use xoff_scenario::Diagnostic;
use xoff_scenario::number::brief;

/// All points of a sweep, with the measures that its report is about.
pub struct Study<'a> {
    /// What was asked for.
    pub sweep: &'a Sweep,
    /// In the order of their columns.
    pub measures: Vec<Measure>,
    /// In the order of the table.
    pub cells: Vec<Cell<'a>>,
    /// Runs that failed, and that were given up.
    pub failed: (usize, usize),
}

/// A number that is looked at.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Of its column.
    pub name: String,
    /// Empty where nothing is measured.
    pub unit: String,
    /// Whether more of it is better.
    pub more: bool,
}

impl Measure {
    /// With its unit, if it has one.
    pub fn title(&self) -> String {
        match self.unit.as_str() {
            "" | "1" => self.name.clone(),
            unit => format!("{} ({unit})", self.name),
        }
    }
}

/// One point over its seeds.
pub struct Cell<'a> {
    /// As it was asked for, or the scenario's own.
    pub scheme: &'a str,
    /// By axis.
    pub values: &'a [Option<Vec<Value>>],
    /// By measure; `None` where no seed has it.
    pub estimates: Vec<Option<Estimate>>,
}

/// The report's own choice is short.
const MOST_MEASURES: usize = 6;

impl<'a> Study<'a> {
    /// Joins the seeds of every point.
    pub fn of(rows: &'a Rows<'a>) -> Result<Study<'a>, Diagnostic> {
        let measures = measures(rows)?;
        let mut cells: Vec<Cell<'a>> = Vec::new();
        for (point, records) in rows.by_point() {
            let estimate = |measure: &Measure| {
                Estimate::of(&records.iter().filter_map(|record| record.number(&measure.name)).collect::<Vec<_>>())
            };
            cells.push(Cell {
                scheme: point.scheme.as_deref().unwrap_or(&records[0].scheme),
                values: &point.values,
                estimates: measures.iter().map(estimate).collect(),
            });
        }
        let gave_up = rows.records.iter().filter(|record| record.gave_up).count();
        let failed = rows.records.iter().filter(|record| record.failure.is_some()).count() - gave_up;
        Ok(Study { sweep: rows.sweep, measures, cells, failed: (failed, gave_up) })
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

    /// The sentence that says what was found, by the first measure.
    pub fn finding(&self) -> String {
        let Some(measure) = self.measures.first() else { return "No run yielded a number to compare.".to_owned() };
        let better = |a: f64, b: f64| if measure.more { a > b } else { a < b };
        let mean = |cell: &Cell<'_>| cell.estimates[0].map(|estimate| estimate.mean);
        let mut best: Option<&Cell<'_>> = None;
        for cell in &self.cells {
            if mean(cell).is_some_and(|own| best.and_then(mean).is_none_or(|known| better(own, known))) {
                best = Some(cell);
            }
        }
        let Some(best) = best else { return format!("No run yielded {}.", measure.name) };
        let word = if measure.more { "highest" } else { "lowest" };
        let at = self.place(best);
        let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
        let equal: Vec<&str> = self
            .cells
            .iter()
            .filter(|cell| mean(cell) == mean(best) && cell.scheme != best.scheme)
            .map(|cell| cell.scheme)
            .collect();
        let top = format!(
            "The {word} {} is {} under {}{at}{}",
            measure.name,
            shown(best.estimates[0], &measure.unit),
            best.scheme,
            also(equal)
        );
        match self.wins(&better) {
            Some((_, 0, all)) if all > 1 => {
                format!("{top}; at none of {all} settings is one scheme's clearly the {word}.")
            }
            Some((scheme, wins, all)) if all > 1 => {
                let most = if wins == all { format!("all {all}") } else { format!("{wins} of {all}") };
                format!("{top}; at {most} settings {scheme} is clearly the {word}.")
            }
            _ => format!("{top}."),
        }
    }

    /// Who is clearly the best at most settings of what all schemes share, at how many of how many. Clearly: its
    /// interval and that of the next best have nothing in common.
    fn wins(&self, better: &dyn Fn(f64, f64) -> bool) -> Option<(String, usize, usize)> {
        let schemes = self.schemes();
        if schemes.len() < 2 {
            return None;
        }
        // Parameters of single schemes are each scheme's own to choose; what is left is the setting.
        let is_shared = |axis: &crate::axis::Axis| axis.keys.iter().all(|key| !key.starts_with("scheme."));
        let shared: Vec<bool> = self.sweep.axes.iter().map(is_shared).collect();
        let mut settings: BTreeMap<String, BTreeMap<&str, Estimate>> = BTreeMap::new();
        for cell in &self.cells {
            let Some(estimate) = cell.estimates[0] else { continue };
            let values = cell.values.iter().zip(&shared).filter(|(_, shared)| **shared);
            let key: Vec<&str> =
                values.filter_map(|(value, _)| value.as_ref().map(|value| value[0].name.as_str())).collect();
            let known = settings.entry(key.join(", ")).or_default().entry(cell.scheme).or_insert(estimate);
            if better(estimate.mean, known.mean) {
                *known = estimate;
            }
        }
        let winners: Vec<&str> = settings.values().filter_map(|of| clear_winner(of, better)).collect();
        let count = |scheme: &str| winners.iter().filter(|winner| **winner == scheme).count();
        let winner = schemes.iter().max_by_key(|scheme| count(scheme))?;
        Some((winner.clone(), count(winner), settings.len()))
    }

    /// `load 0.5, kmin 5KB`: where a cell is.
    pub fn place(&self, cell: &Cell<'_>) -> String {
        self.sweep.setting(cell.values, &[])
    }
}

/// The best of several, if its interval is apart from that of the next best.
fn clear_winner<'a>(of: &BTreeMap<&'a str, Estimate>, better: &dyn Fn(f64, f64) -> bool) -> Option<&'a str> {
    let mut sorted: Vec<(&'a str, Estimate)> = of.iter().map(|(scheme, estimate)| (*scheme, *estimate)).collect();
    sorted.sort_by(|a, b| match (better(a.1.mean, b.1.mean), better(b.1.mean, a.1.mean)) {
        (true, _) => std::cmp::Ordering::Less,
        (_, true) => std::cmp::Ordering::Greater,
        _ => std::cmp::Ordering::Equal,
    });
    let [(winner, first), (_, second), ..] = sorted.as_slice() else { return None };
    let half = |estimate: &Estimate| estimate.half_width.unwrap_or(0.0);
    ((first.mean - second.mean).abs() > half(first) + half(second)).then_some(winner)
}

/// A mean with its interval and unit, for people.
pub fn shown(estimate: Option<Estimate>, unit: &str) -> String {
    let Some(Estimate { mean, half_width, .. }) = estimate else { return "-".to_owned() };
    let unit = if unit.is_empty() || unit == "1" { String::new() } else { format!(" {unit}") };
    match half_width {
        Some(half) => format!("{} ± {}{unit}", brief(mean), brief(half)),
        None => format!("{}{unit}", brief(mean)),
    }
}

/// What was asked for, or what most people look at first.
fn measures(rows: &Rows<'_>) -> Result<Vec<Measure>, Diagnostic> {
    let known: Vec<(&str, &str)> = union(rows.records.iter().map(|record| record.network.as_slice()))
        .into_iter()
        .map(|number| (number.name.as_str(), number.unit.as_str()))
        .collect();
    let measure =
        |name: &str, unit: &str| Measure { name: name.to_owned(), unit: unit.to_owned(), more: more_is_better(name) };
    if !rows.sweep.measures.is_empty() {
        let find = |name: &String| match known.iter().find(|(known, _)| known == name) {
            Some((name, unit)) => Ok(measure(name, unit)),
            None => {
                let error = Diagnostic::new(format!("no run has a number `{name}`"));
                Err(error.nearest(name, known.iter().map(|(name, _)| *name)))
            }
        };
        return rows.sweep.measures.iter().map(find).collect();
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

/// Schemes that do as well as the one named, in words.
fn also(mut schemes: Vec<&str>) -> String {
    schemes.dedup();
    match schemes[..] {
        [] => String::new(),
        [one] => format!(", and the same under {one}"),
        [first, ..] => format!(", and the same under {} others ({first} and so on)", schemes.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_as_well_is_said() {
        assert_eq!(also(Vec::new()), "");
        assert_eq!(also(vec!["dcqcn", "dcqcn"]), ", and the same under dcqcn");
        assert_eq!(also(vec!["dcqcn", "hpcc"]), ", and the same under 2 others (dcqcn and so on)");
    }

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
    fn who_wins_is_apart_from_the_next() {
        let of = |mean, half_width| Estimate { mean, half_width: Some(half_width), count: 3 };
        let less = |a: f64, b: f64| a < b;
        let table = |a, b| BTreeMap::from([("x", a), ("y", b)]);
        assert_eq!(clear_winner(&table(of(5.0, 1.0), of(3.0, 0.5)), &less), Some("y"));
        assert_eq!(clear_winner(&table(of(5.0, 1.0), of(3.0, 1.5)), &less), None);
        assert_eq!(clear_winner(&table(of(3.0, 0.0), of(3.0, 0.0)), &less), None);
        assert_eq!(clear_winner(&BTreeMap::from([("x", of(1.0, 0.0))]), &less), None);
    }

    #[test]
    fn estimates_carry_their_unit() {
        let of = |half_width| Some(Estimate { mean: 12.34, half_width, count: 3 });
        assert_eq!(shown(of(Some(0.5)), "us"), "12.3 ± 0.50 us");
        assert_eq!(shown(of(None), "1"), "12.3");
        assert_eq!(shown(None, "us"), "-");
    }
}
