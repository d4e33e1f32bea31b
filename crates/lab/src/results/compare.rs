//! Several runs of the same traffic under different schemes, side by side.

use super::directory::Staging;
use super::figures;
use super::grid::Grid;
use super::number::{brief, brief_bytes, brief_or_dash, microseconds, thousands};
use super::report;
use super::summary::{MeasuredRow, Summary};
use super::warnings;
use super::writer::Outcome;
use crate::wrap::{columns, wrap};
use serde_json::{Value, json};
use std::io;

/// The table of a comparison and what it needs to be understood.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub title: String,
    pub grid: Grid,
    /// Full sentences that explain the columns, for a reader who sees them for the first time.
    pub notes: Vec<String>,
    /// The scenario's own measures, where it has some.
    pub measures: Vec<Grid>,
}

/// A scheme that could not take part, and why.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Skipped {
    pub scheme: String,
    pub reason: String,
}

/// Chooses the columns by what the runs contain.
pub fn table(outcomes: &[Outcome], skipped: &[Skipped]) -> Comparison {
    let runs: Vec<&Summary> = outcomes.iter().map(|outcome| &outcome.summary).collect();
    let mut comparison = if !runs.is_empty() && runs.iter().all(|run| run.episode.is_some()) {
        episode_table(&runs)
    } else {
        general_table(&runs)
    };
    comparison.measures = measures_tables(&runs);
    for run in runs.iter().filter(|run| !run.sound()) {
        let broken = run.checks.iter().filter(|c| !c.held).map(|c| format!("{} ({})", c.name, c.detail));
        let why = match &run.failure {
            Some(failure) => failure.lines().next().unwrap_or("it failed").to_owned(),
            None => format!("not so: {}", broken.collect::<Vec<_>>().join(", ")),
        };
        comparison.notes.push(format!("{}: {why}.", run.scheme));
    }
    comparison.notes.extend(warnings::of_comparison(&runs));
    for Skipped { scheme, reason } in skipped {
        comparison.notes.push(format!("{scheme} is left out: {reason}."));
    }
    comparison
}

/// For a disturbance that hits long flows: what the newcomer should see.
fn episode_table(runs: &[&Summary]) -> Comparison {
    let flows: Vec<String> = match &runs[0].episode {
        Some(first) => first.flows.iter().take(2).map(|flow| flow.name.clone()).collect(),
        None => Vec::new(),
    };
    let mut head = vec!["scheme"];
    let mut groups = vec![(String::new(), 1)];
    for flow in &flows {
        head.extend(["before", "during", "cut to", "back in"]);
        groups.push((format!("{flow}, Gbps"), 4));
    }
    head.extend(["PAUSE", "tree"]);
    groups.push(("network".to_owned(), 2));
    let mut grid = Grid::new(head);
    grid.groups = groups;
    for run in runs {
        let Some(episode) = &run.episode else { continue };
        let mut row = vec![run.scheme.clone()];
        for name in &flows {
            let Some(flow) = episode.flows.iter().find(|flow| flow.name == *name) else {
                row.extend(["-"; 4].map(str::to_owned));
                continue;
            };
            row.extend([flow.before_gbps, flow.during_gbps, flow.cut_to_gbps].map(brief_or_dash));
            row.push(flow.recovery_us.map_or_else(|| "not yet".to_owned(), microseconds));
        }
        row.push(thousands(run.pause_frames));
        row.push(match (episode.pauses_toward_senders, episode.tree_us) {
            (Some(0), _) => "none".to_owned(),
            (_, Some(us)) => microseconds(us),
            _ => "-".to_owned(),
        });
        grid.row(row);
    }
    let notes = [
        "before, during: mean delivered payload before the burst and while it lasts.",
        "cut to: the lowest rate that the scheme itself allowed the flow while the burst lasted, headers included. What \
         the flow lost beyond that, PFC took.",
        "back in: from the start of the burst until the flow stays above 95% of what it had before; 0 if it never fell \
         below.",
        "PAUSE: frames sent in the whole network.",
        "tree: life of the congestion tree, from the first to the last PAUSE that reached a host of these flows since \
         the burst began.",
    ];
    let mut notes = notes.map(str::to_owned).to_vec();
    let lasted = runs.iter().filter_map(|run| run.episode.as_ref()).map(|episode| episode.end_us - episode.start_us);
    let (least, most) = lasted.fold((f64::MAX, 0.0f64), |(least, most), us| (least.min(us), most.max(us)));
    notes.push(format!(
        "The burst lasts {} to {}, from its start until its last byte has arrived.",
        microseconds(least),
        microseconds(most)
    ));
    Comparison {
        title: format!("{}: what the burst does to the long flows", runs[0].name),
        grid,
        notes,
        measures: Vec::new(),
    }
}

/// For any scenario.
fn general_table(runs: &[&Summary]) -> Comparison {
    let finite = runs.iter().any(|run| run.flows_completed > 0);
    let endless = runs.iter().any(|run| run.flows_endless > 0);
    let mut head = vec!["scheme"];
    let mut groups = vec![("", 1)];
    if finite {
        head.extend(["done", "mean", "p99", "p50", "p95", "p99"]);
        groups.extend([("flows", 1), ("FCT, us", 2), ("slowdown", 3)]);
    }
    if endless {
        head.extend(["Gbps", "fairness"]);
        groups.push(("long flows", 2));
    }
    head.extend(["goodput", "PAUSE", "drops", "queue"]);
    groups.push(("network", 4));
    let mut grid = Grid::new(head);
    grid.groups = groups.into_iter().map(|(title, columns)| (title.to_owned(), columns)).collect();
    for run in runs {
        let mut row = vec![run.scheme.clone()];
        if finite {
            let flows = run.flows_total - run.flows_endless;
            let part = if flows > 0 { run.flows_completed as f64 / flows as f64 } else { 1.0 };
            // Rounded down: 100% must mean all.
            row.push(format!("{:.1}%", (part * 1000.0).floor() / 10.0));
            row.extend([run.fct_us.mean, run.fct_us.p99].map(brief_or_dash));
            row.extend([run.slowdown.p50, run.slowdown.p95, run.slowdown.p99].map(brief_or_dash));
        }
        if endless {
            let number: u64 = run.throughput.iter().map(|of| of.flows).sum();
            let total: f64 = run.throughput.iter().map(|of| of.mean_gbps * of.flows as f64).sum();
            row.push(brief(total / number.max(1) as f64));
            row.push(match &run.throughput[..] {
                [one] if one.flows > 1 => brief_or_dash(one.fairness),
                _ => "-".to_owned(),
            });
        }
        row.push(brief(run.goodput_gbps));
        row.push(thousands(run.pause_frames));
        row.push(thousands(run.drops));
        row.push(run.worst_queue.as_ref().map_or_else(|| "-".to_owned(), |queue| brief_bytes(queue.peak_bytes)));
        grid.row(row);
    }
    let mut notes = Vec::new();
    if finite {
        notes.push("done: finite flows that finished. slowdown: 1 is the flow alone on an idle network.".to_owned());
    }
    if endless {
        notes
            .push("long flows: mean throughput of an endless flow, and Jain's index if all have one label.".to_owned());
    }
    notes.push(
        "goodput: all delivered payload over the simulated time, in Gbps. queue: longest egress queue.".to_owned(),
    );
    let name = runs.first().map_or("comparison", |run| run.name.as_str());
    Comparison {
        title: format!("{name}: the same traffic under {} schemes", runs.len()),
        grid,
        notes,
        measures: Vec::new(),
    }
}

/// Columns of a terminal that a table of measures may take.
const WIDEST: usize = 98;

/// One row per run and a column per measure that is a number, in as many tables as the width asks for.
fn measures_tables(runs: &[&Summary]) -> Vec<Grid> {
    let blank = || {
        let mut grid = Grid::new(["scheme"]);
        runs.iter().for_each(|run| grid.row([run.scheme.as_str()]));
        grid
    };
    let width = |cells: &[String]| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) + 2;
    let schemes: Vec<String> = runs.iter().map(|run| run.scheme.clone()).chain(["scheme".to_owned()]).collect();
    let (mut grids, mut taken) = (Vec::new(), 0);
    let first = runs.first().map_or(&[][..], |run| &run.measures);
    for of in first.iter().filter(|of| of.curve.is_none()) {
        let title = if of.unit.is_empty() { of.name.clone() } else { format!("{}, {}", of.name, of.unit) };
        let value = |run: &&Summary| {
            let own = run.measures.iter().find(|own| own.name == of.name);
            own.map_or_else(|| "-".to_owned(), MeasuredRow::text)
        };
        let cells: Vec<String> = std::iter::once(title).chain(runs.iter().map(value)).collect();
        taken += width(&cells);
        if grids.is_empty() || taken > WIDEST {
            grids.push(blank());
            taken = width(&schemes) + width(&cells);
        }
        let Some(Grid { head, rows, .. }) = grids.last_mut() else { continue };
        let mut cells = cells.into_iter();
        head.extend(cells.next());
        rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }
    grids
}

impl Comparison {
    /// For the terminal.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n\n{}\n", self.title, self.grid.text());
        for grid in &self.measures {
            out.push_str(&grid.text());
            out.push('\n');
        }
        for note in &self.notes {
            out.push_str("  ");
            wrap(&mut out, note, 2, columns());
        }
        out
    }
}

/// One object with every run's summary, for `--json` and `comparison.json`.
pub fn json(outcomes: &[Outcome], skipped: &[Skipped]) -> Value {
    let runs: Vec<Value> = outcomes.iter().map(|outcome| json!(outcome.summary)).collect();
    json!({ "runs": runs, "skipped": skipped })
}

/// Adds table, figures and report to a directory that already holds the runs' own directories,
/// and gives it its final name.
pub fn write(
    staging: Staging,
    outcomes: &[Outcome],
    skipped: &[Skipped],
    figures_as_files: bool,
) -> io::Result<std::path::PathBuf> {
    let comparison = table(outcomes, skipped);
    let charts = figures::of_comparison(outcomes);
    if figures_as_files {
        figures::write_all(&charts, staging.path())?;
    }
    let page = report::of_comparison(&comparison, outcomes, &charts).map_err(io::Error::other)?;
    staging.write("report.html", page.as_bytes())?;
    let text = serde_json::to_string_pretty(&json(outcomes, skipped)).map_err(io::Error::other)?;
    staging.write("comparison.json", format!("{text}\n").as_bytes())?;
    staging.finish()
}

#[cfg(test)]
mod tests {
    use super::super::directory::scratch::Scratch;
    use super::super::fixture;
    use super::super::writer::{RunContext, RunWriter};
    use super::*;
    use xoff_engine::Time;
    use xoff_fabric::record::{Metric, Sample};

    fn outcome(scheme: &str, dip: Option<f64>) -> Outcome {
        let plan = fixture::plan();
        let context = RunContext { schemes: vec![scheme.into()], ..fixture::context(&plan) };
        let mut writer = RunWriter::create(None, &context).unwrap();
        writer.flows(&[fixture::flow(1, 64_000, 2_000, 1_000)]).unwrap();
        for bin in 1..=1000u64 {
            let low = (201..=300).contains(&bin);
            let Some(dip) = dip else { continue };
            let value = if low { dip } else { 20e9 };
            let at = Time::from_us(10 * bin);
            let sample = Sample { at, metric: Metric::FlowThroughput, entity: 0, label: 0, class: 0, value };
            let allowed = Sample { metric: Metric::FlowRate, value: if low { 19e9 } else { 21e9 }, ..sample };
            writer.samples(&[sample, allowed]).unwrap();
        }
        writer.pauses(&[fixture::pause(2_100, 1, true), fixture::pause(2_900, 1, true)]).unwrap();
        writer.flows(&[fixture::endless(0, 1_000_000)]).unwrap();
        writer.finish(fixture::end(1_064_000)).unwrap()
    }

    #[test]
    fn a_burst_on_long_flows_gets_the_newcomers_table() {
        let comparison = table(&[outcome("none", Some(5e9)), outcome("dcqcn", Some(20e9))], &[]);
        assert_eq!(comparison.grid.groups[1], ("F0, Gbps".to_owned(), 4));
        assert_eq!(comparison.grid.rows[0][..4], ["none", "20.0", "5.00", "19.0"]);
        assert_eq!(comparison.grid.rows[0][5..], ["4", "800 us"]);
        assert!(comparison.notes.iter().any(|note| note.starts_with("The burst lasts 1.00 ms to 1.00 ms")));
        assert_eq!(comparison.grid.rows[1][4], "0 us");
        assert!(comparison.text().lines().all(|line| line.chars().count() <= 100));
    }

    #[test]
    fn any_other_scenario_gets_the_general_table() {
        let comparison = table(&[outcome("none", None), outcome("dcqcn", None)], &[]);
        assert_eq!(comparison.grid.head[1..4], ["done", "mean", "p99"]);
        assert!(comparison.text().lines().all(|line| line.chars().count() <= 100), "{}", comparison.text());
        assert_eq!(comparison.grid.rows[0][1..3], ["100.0%", "1,000"]);
        assert!(table(&[], &[]).grid.rows.is_empty());
    }

    #[test]
    fn own_measures_stand_below_the_table() {
        let measured = |scheme: &str, first: Option<f64>| {
            let mut outcome = outcome(scheme, None);
            let row = |name: String, value| MeasuredRow {
                name,
                unit: "us".into(),
                value,
                never: value.is_none(),
                curve: None,
            };
            outcome.summary.measures =
                (0..20).map(|i| row(format!("measure{i}"), first.map(|v| v + f64::from(i)))).collect();
            outcome.summary.measures.push(MeasuredRow { curve: Some(Default::default()), ..row("curve".into(), None) });
            outcome
        };
        let comparison = table(&[measured("none", Some(3.0)), measured("dcqcn", None)], &[]);
        assert!(comparison.measures.len() > 1);
        assert_eq!(comparison.measures[0].head[..2], ["scheme", "measure0, us"]);
        assert_eq!(comparison.measures[0].rows[0][..2], ["none", "3"]);
        assert_eq!(comparison.measures[0].rows[1][..2], ["dcqcn", "never"]);
        let columns: usize = comparison.measures.iter().map(|grid| grid.head.len() - 1).sum();
        assert_eq!(columns, 20);
        assert!(comparison.text().lines().all(|line| line.chars().count() <= 100), "{}", comparison.text());
    }

    #[test]
    fn failures_are_named_beside_the_table() {
        let mut failed = outcome("none", None);
        failed.summary.failure = Some("deadlock at 3ms\n  more".into());
        let notes = table(&[failed], &[]).notes;
        assert!(notes.iter().any(|note| note == "none: deadlock at 3ms."), "{notes:?}");
        let skipped = Skipped { scheme: "far".into(), reason: "it needs two data centres".into() };
        let notes = table(&[outcome("none", None)], &[skipped]).notes;
        assert!(notes.iter().any(|note| note == "far is left out: it needs two data centres."), "{notes:?}");
    }

    #[test]
    fn a_comparison_directory_is_complete() {
        let scratch = Scratch::new("compare");
        let outcomes = [outcome("none", Some(5e9)), outcome("dcqcn", Some(20e9))];
        let staging = Staging::create(&scratch.0.join("out")).unwrap();
        let path = write(staging, &outcomes, &[], true).unwrap();
        for file in ["report.html", "comparison.json"] {
            assert!(path.join(file).is_file());
        }
        let text = std::fs::read_to_string(path.join("comparison.json")).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["runs"][1]["scheme"], "dcqcn");
        assert!(std::fs::read_dir(&path).unwrap().count() > 3);
    }
}
