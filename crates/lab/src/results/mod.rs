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
pub mod writer;

pub use summary::Summary;
pub use writer::{Outcome, RunContext, RunEnd, RunWriter};

use serde_json::{Value, json};

/// What `xoff describe` prints: every column of every table, and the metrics of the series.
pub fn describe_text() -> String {
    let mut text = column::dictionary_text(tables::ALL);
    text.push_str("metrics of series.parquet\n");
    for metric in curves::METRICS {
        let facts = curves::facts(metric);
        text.push_str(&format!("  {:16} {:6} {}\n", facts.name, facts.unit, facts.meaning));
    }
    text
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
