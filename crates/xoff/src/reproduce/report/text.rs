//! The verdicts for the terminal, in as many columns as it has.

use super::{Totals, by_reason, cost, counted, duration, first_failures, more_failed, readings, this_command};
use crate::reproduce::report_data::{ExperimentPage, Report, Verdict};
use xoff_results::grid::{self, Grid, shorten};
use xoff_scenario::wrap;

/// A table of claims per experiment, then totals.
pub fn text(report: &Report, width: usize) -> String {
    let mut out = String::new();
    for paper in &report.papers {
        for experiment in paper.experiments.iter().filter(|experiment| worth_a_line(experiment)) {
            out.push_str(&of_experiment(experiment, width));
            out.push('\n');
        }
    }
    out.push_str(&wrap::lines(&totals(report), width));
    out
}

fn worth_a_line(experiment: &ExperimentPage) -> bool {
    !experiment.claims.is_empty() || !experiment.failures.is_empty() || experiment.runs > 0
}

fn of_experiment(experiment: &ExperimentPage, width: usize) -> String {
    let head = format!("{}: {} ({})", experiment.id, experiment.title, experiment.place);
    let mut out = shorten(&head, width) + "\n";
    let mut said = Vec::new();
    said.extend(Some(cost(experiment)).filter(|cost| !cost.is_empty()));
    if experiment.setting == "testbed" {
        said.push("simulated; the paper used a testbed".into());
    }
    if !experiment.scaled.is_empty() {
        said.push(format!("scaled: {}", experiment.scaled));
    }
    for line in fold(&said.join("; "), width - 2) {
        out.push_str(&format!("  {line}\n"));
    }
    let (failures, more) = first_failures(&experiment.failures);
    for failure in failures {
        out.push_str(&shorten(&format!("  a run failed: {}", one_line(failure)), width));
        out.push('\n');
    }
    if more > 0 {
        out.push_str(&format!("  {}\n", more_failed(more)));
    }
    if experiment.claims.is_empty() {
        return out;
    }
    let mut grid = Grid::new(["claim", "verdict", "paper", "ours"]).left(&[1]);
    for claim in &experiment.claims {
        let (paper, ours) = (or_dash(&claim.paper), or_dash(&claim.ours));
        let words = words(claim.verdict).to_owned();
        grid.row([shorten(&claim.id, 16), words, shorten(&paper, 13), shorten(&ours, 21)]);
    }
    // What each claims is below it: beside it there is not room for a sentence.
    let rows = grid.text();
    let mut rows = rows.lines();
    out.extend(rows.next().map(|head| format!("{head}\n")));
    for (row, claim) in rows.zip(&experiment.claims) {
        out.push_str(&format!("{row}\n"));
        for line in fold(&one_line(&claim.says), width - 6) {
            out.push_str(&format!("      {line}\n"));
        }
    }
    for group in by_reason(&experiment.claims) {
        let diagnosis = one_line(&group[0].diagnosis);
        if diagnosis.is_empty() {
            continue;
        }
        let ids: Vec<&str> = group.iter().map(|claim| claim.id.as_str()).collect();
        // The pages have all of it.
        let lines = fold(&shorten(&format!("{}: {diagnosis}", ids.join(", ")), 3 * (width - 8)), width - 4);
        for (index, line) in lines.iter().enumerate() {
            out.push_str(if index == 0 { "  " } else { "    " });
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::HoldsInDirection => "in direction",
        Verdict::DoesNotHold => "does not hold",
        Verdict::Undecided => "undecided",
        Verdict::NotRunAtThisScale => "not run",
        Verdict::NotJudged => "not judged",
    }
}

fn totals(report: &Report) -> String {
    let head = ["paper", "reading", "hold", "dir.", "fail", "open", "no run", "apart", "hold", "or dir"];
    let mut grid = Grid::new(head).left(&[1]);
    let mut row = |name: &str, reading: &str, of: Totals| {
        let counts = [of.holds, of.in_direction, of.does_not_hold, of.undecided, of.not_run, set_apart(of)];
        let counts = counts.map(|n| n.to_string());
        grid.row([vec![name.to_owned(), reading.to_owned()], counts.to_vec(), of.percents().to_vec()].concat());
    };
    for paper in &report.papers {
        row(&paper.about.id, &shorten(&paper.reading, 12), Totals::of(paper.claims()));
        for other in readings::rows(paper).iter().filter(|row| row.reading.name != paper.reading) {
            row("", &shorten(&other.reading.name, 12), other.totals);
        }
    }
    if report.papers.len() != 1 {
        row("all", "", Totals::of(report.claims()));
    }
    let all = Totals::of(report.claims());
    let mut apart = String::new();
    if all.undecided > 0 {
        apart.push_str("  open: undecided, other seeds could say otherwise\n");
    }
    if set_apart(all) > 0 {
        apart.push_str(
            "  apart: not judged, or cannot fail, or contradicted by the paper; they count in no percentage\n",
        );
    }
    format!(
        "{}\n  percentages: of the claims judged, outright, and at least in direction\n{apart}\
         scale {}: {}, {} CPU in all\nthis command: {}\n",
        grid.text().trim_end(),
        report.scale,
        counted(report.runs, "run"),
        duration(report.cpu_seconds),
        this_command(report)
    )
}

/// Claims that count in no percentage of those judged.
fn set_apart(of: Totals) -> usize {
    of.not_judged + of.apart + of.contradicted
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { one_line(text) }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lines of at most `width`, none for no text; a word that is longer is cut.
fn fold(text: &str, width: usize) -> Vec<String> {
    let lines = grid::fold(text, width).into_iter().filter(|line| !line.is_empty());
    lines.map(|line| shorten(&line, width)).collect()
}
