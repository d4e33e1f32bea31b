//! The verdicts for the terminal, in as many columns as it has.

use super::{Totals, by_reason, cost, counted, duration, first_failures, more_failed, readings};
use crate::reproduce::judged::{Book, ExperimentPage, Verdict};
use xoff_results::grid::{self, Grid, shorten};
use xoff_scenario::wrap;

/// A table of claims per experiment, then totals.
pub fn text(book: &Book, width: usize) -> String {
    let mut out = String::new();
    for paper in &book.papers {
        for experiment in paper.experiments.iter().filter(|experiment| worth_a_line(experiment)) {
            out.push_str(&of_experiment(experiment, width));
            out.push('\n');
        }
    }
    out.push_str(&wrap::lines(&totals(book), width));
    out
}

fn worth_a_line(experiment: &ExperimentPage) -> bool {
    !experiment.claims.is_empty() || !experiment.failures.is_empty() || experiment.runs > 0
}

fn of_experiment(experiment: &ExperimentPage, width: usize) -> String {
    let head = ["paper", "reading", "hold", "direction", "fail", "not run", "unjudged", "apart", "hold", "or dir."];
    let mut grid = Grid::new(head).left(&[1]);
    let mut row = |name: &str, reading: &str, of: Totals| {
        let counts = [of.holds, of.in_direction, of.does_not_hold, of.not_run, of.not_judged, of.apart];
        let counts = counts.map(|n| n.to_string());
        grid.row([vec![name.to_owned(), reading.to_owned()], counts.to_vec(), of.percents().to_vec()].concat());
    };
    for paper in &book.papers {
        row(&paper.id, &shorten(&paper.reading, 12), Totals::of(paper.claims()));
        for other in readings::rows(paper).iter().filter(|row| row.reading.name != paper.reading) {
            row("", &shorten(&other.reading.name, 12), other.totals);
        }
    }
    if book.papers.len() != 1 {
        row("all", "", Totals::of(book.claims()));
    }
    format!(
        "{}\n  percentages: of the claims judged, outright, and at least in direction\n\
         scale {}: {}, {} CPU in all, {} for this command\n",
        grid.text().trim_end(),
        book.scale,
        counted(book.runs, "run"),
        duration(book.cpu_seconds),
        duration(book.wall_seconds)
    )
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
