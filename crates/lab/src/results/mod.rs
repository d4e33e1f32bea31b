//! What becomes of a run: tables, a summary, figures, a report, and comparisons of several runs.
//!
//! Reading order: [`writer`] (records in, run directory out), [`tables`] (the columns),
//! [`summary`], [`metrics`], [`compare`], [`figures`], [`report`].

pub mod column;
pub mod columns;
pub mod compare;
pub mod comparison;
pub mod curves;
pub mod directory;
pub mod disruption;
pub mod episode;
pub mod failure;
pub mod figures;
#[cfg(test)]
pub(crate) mod fixture;
mod flows;
pub mod goodput;
pub mod grid;
pub mod interval;
pub mod metrics;
pub mod names;
pub mod number;
pub mod read;
pub mod report;
pub mod seeds;
pub mod summary;
mod table_writer;
pub mod tables;
mod tally;
pub mod text;
pub mod warnings;
pub mod writer;

pub use summary::Summary;
pub use writer::{Outcome, RunContext, RunEnd, RunWriter};

use serde_json::{Value, json};

/// What `xoff describe` prints: every column of every table, and the metrics of the series.
pub fn describe_text(width: usize) -> String {
    let mut text: String = tables::ALL.iter().map(|table| column::dictionary_text(table, width)).collect();
    text.push_str(&describe_metrics(width));
    text
}

/// One of the tables, if it is called so.
pub fn describe_table(name: &str, width: usize) -> Option<String> {
    let table = tables::ALL.iter().find(|table| table.name == name)?;
    let mut text = column::dictionary_text(table, width);
    if std::ptr::eq(*table, &tables::SERIES) {
        text.push_str(&describe_metrics(width));
    }
    Some(text)
}

fn describe_metrics(width: usize) -> String {
    let mut grid = grid::Grid::new(["metric", "unit", "meaning"]).left(&[1, 2]);
    for metric in curves::METRICS {
        let facts = curves::facts(metric);
        grid.row([facts.name, facts.unit, facts.meaning]);
    }
    format!("metrics of series.parquet\n{}", grid.text_in(width))
}

/// The same for programs.
pub fn describe_json() -> Value {
    let mut value = column::dictionary_json(tables::ALL);
    let metric = |metric| {
        let facts = curves::facts(metric);
        json!({ "name": facts.name, "unit": facts.unit, "meaning": facts.meaning })
    };
    value["metrics"] = curves::METRICS.into_iter().map(metric).collect();
    value
}
