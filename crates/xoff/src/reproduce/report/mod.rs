//! What is said about the papers: pages, tables for programs, the terminal's text and the report.

mod cross;
mod data;
mod html;
mod markdown;
mod readings;
#[cfg(test)]
mod tests;
mod text;
mod totals;

pub use cross::CrossReport;
pub use data::{csv, json};
pub use html::pages;
pub use markdown::{AMONG, BESIDE, FIGURES, PaperSummary, markdown};
pub use text::text;
pub use totals::Totals;

use super::report_data::{ClaimResult, ExperimentPage, PaperPage, Report, Verdict};
use xoff_scenario::number::{brief, thousands};

/// `23 to 85`; empty without a range.
fn range_text(claim: &ClaimResult) -> String {
    match claim.range {
        None => String::new(),
        Some((low, high)) => match (low.is_finite(), high.is_finite()) {
            (true, true) => format!("{} to {}", plain(low), plain(high)),
            (true, false) => format!("at least {}", plain(low)),
            (false, true) => format!("at most {}", plain(high)),
            (false, false) => String::new(),
        },
    }
}

/// A number without trailing zeros.
fn plain(value: f64) -> String {
    // What is written in decimals is not always so in binary.
    let small = || ((value * 1e9).round() / 1e9).to_string();
    if value.fract() == 0.0 || value.abs() < 1.0 { small() } else { brief(value) }
}

/// In how many seeds the clauses of a claim hold: `4 of 5`, or `5 of 5, 3 in range` where the two differ; empty where
/// nothing was counted.
fn agreement(claim: &ClaimResult) -> String {
    let Some(seeds) = claim.seeds else { return String::new() };
    match (seeds.direction, seeds.in_range) {
        (Some(agree), Some(inside)) if agree != inside => format!("{agree} of {}, {inside} in range", seeds.count),
        (Some(agree), _) | (None, Some(agree)) => format!("{agree} of {}", seeds.count),
        (None, None) => String::new(),
    }
}

/// What would decide a claim: `60 seeds`; empty if it is decided.
fn needed(claim: &ClaimResult) -> String {
    match claim.seeds_needed {
        None => String::new(),
        Some(count) if count > 10_000 => "more than 10,000 seeds".to_owned(),
        Some(count) => format!("about {}", counted(count as usize, "seed")),
    }
}

/// Whether a claim needs to be explained.
fn falls_short(claim: &ClaimResult) -> bool {
    let short = [Verdict::HoldsInDirection, Verdict::DoesNotHold, Verdict::Undecided, Verdict::NotJudged];
    claim.contradicted.is_empty() && short.contains(&claim.verdict)
}

/// Why a claim falls short.
fn why(claim: &ClaimResult) -> &str {
    match claim.verdict {
        _ if !claim.diagnosis.is_empty() => &claim.diagnosis,
        Verdict::Undecided => "chance: with the seeds that were run the answer is open.",
        _ => "not yet explained.",
    }
}

/// Claims that fall short, those for one reason together: several often fail for the same.
fn by_reason(claims: &[ClaimResult]) -> Vec<Vec<&ClaimResult>> {
    let mut groups: Vec<Vec<&ClaimResult>> = Vec::new();
    for claim in claims.iter().filter(|claim| falls_short(claim)) {
        let alike = |group: &&mut Vec<&ClaimResult>| {
            let first = group[0];
            why(first) == why(claim) && first.verdict == claim.verdict
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(claim),
            None => groups.push(vec![claim]),
        }
    }
    groups
}

/// The command that makes an experiment again.
fn again(report: &Report, experiment: &ExperimentPage) -> String {
    let scale = if experiment.at_full { "full" } else { &report.scale };
    made_by(&experiment.id, scale, &[], report.seeds)
}

/// The command that makes all experiments of a paper again.
fn paper_again(report: &Report, paper: &PaperPage) -> String {
    let full = paper.experiments.iter().filter(|of| of.at_full && of.runs_from.is_empty());
    let full: Vec<&str> = full.map(|of| of.id.as_str()).collect();
    made_by(&paper.about.id, &report.scale, &full, report.seeds)
}

fn made_by(name: &str, scale: &str, full: &[&str], seeds: Option<u64>) -> String {
    let full = if full.is_empty() { String::new() } else { format!(" --full {}", full.join(",")) };
    let seeds = seeds.map(|seeds| format!(" --seeds {seeds}")).unwrap_or_default();
    format!("xoff reproduce {name} --scale {scale}{full}{seeds}")
}

/// Authors, venue and year of a paper, as far as they are known.
fn source(paper: &PaperPage) -> String {
    let year = if paper.about.year > 0 { paper.about.year.to_string() } else { String::new() };
    let parts = [paper.about.authors.clone(), paper.about.venue.clone(), year];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// What kind of experiment it was, and what it is here.
fn setting_text(setting: &str) -> &str {
    match setting {
        "testbed" => "simulated; the paper used a testbed",
        "simulation" => "simulated, as in the paper",
        "theory" => "computed from the paper's model",
        "workload" => "computed from the workload",
        "design" => "a design, held by tests",
        other => other,
    }
}

/// How long the command took, and for how many runs, where not for all: `8 min; 12 of 300 runs were found finished`.
pub fn this_command(report: &Report) -> String {
    let took = duration(report.wall_seconds);
    match report.found {
        0 => took,
        found => format!("{took}; {} of {} were found finished", thousands(found as u64), counted(report.runs, "run")),
    }
}

/// CPU or wall time: `42 s`, `12 min`, `3.1 h`.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 5400.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 120.0 => format!("{:.0} min", s / 60.0),
        s if s >= 10.0 => format!("{s:.0} s"),
        s => format!("{s:.1} s"),
    }
}

/// `85 runs, 14 s CPU`, or whose runs they are; empty without any.
fn cost(experiment: &ExperimentPage) -> String {
    let runs = counted(experiment.runs, "run");
    match experiment.runs_from.as_str() {
        _ if experiment.runs == 0 => String::new(),
        "" => format!("{runs}, {} CPU", duration(experiment.cpu_seconds)),
        source => format!("the {runs} of {source}"),
    }
}

/// `1 run`, `1,234 runs`.
fn counted(count: usize, what: &str) -> String {
    let number = xoff_scenario::number::thousands(count as u64);
    if count == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// The first few of the failed runs, and how many more there are: where deadlock is the subject,
/// most of them fail.
fn first_failures(failures: &[String]) -> (&[String], usize) {
    const SHOWN: usize = 3;
    let shown = &failures[..failures.len().min(SHOWN)];
    (shown, failures.len() - shown.len())
}

/// `47 more runs failed`.
fn more_failed(more: usize) -> String {
    format!("{more} more {} failed", if more == 1 { "run" } else { "runs" })
}
