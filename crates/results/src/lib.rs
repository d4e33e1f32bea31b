//! What becomes of a run: tables, a summary, figures, a report, and comparisons of several runs.
//!
//! Reading order: `writer` (records in, run directory out), [`tables`] (the columns),
//! [`summary`] with `flows` and `goodput`, [`xoff_scenario::measure::metrics`], [`columns`] (numbers of several runs with
//! [`interval`]s), [`verdict`] and [`ranking`] (what may be said of them, in which words), [`finding`], [`compare`],
//! [`seeds`], [`comparison`] (their directory), [`live_timing`] and [`live`] (runs on real packets, beside their
//! simulation), [`figures`], `report`.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod averaged;
mod capture;
#[doc(hidden)]
pub mod chance;
pub mod collect;
pub mod column;
pub mod columns;
pub mod compare;
pub mod comparison;
mod congestion;
pub mod contract;
pub(crate) mod curve_tables;
mod curves;
pub mod directory;
mod disruption;
mod episode;
pub mod execute;
pub mod export;
pub mod failure;
pub mod fidelity;
pub mod figures;
pub mod files;
pub mod finding;
#[doc(hidden)]
pub mod fixture;
mod flows;
mod goodput;
pub mod grid;
mod groups;
mod hpcc_slowdown;
mod incident;
mod interner;
pub mod interval;
pub mod jobs;
pub mod live;
pub mod live_timing;
#[cfg(test)]
mod measure_tests;
pub mod names;
pub mod outcome;
pub mod page;
pub mod ranking;
pub mod read;
pub mod refusal;
pub mod replay;
pub mod report;
mod row_sink;
pub mod seeds;
pub mod settings;
mod shared_links;
mod spreading;
pub mod summary;
pub mod table_writer;
pub mod tables;
mod tally;
pub mod text;
pub mod titles;
pub mod trace;
pub mod verdict;
#[cfg(test)]
mod verdict_tests;
mod warnings;
mod windows;
mod writer;

pub use outcome::Outcome;
pub use summary::Summary;
use writer::RunWriter;

use serde_json::{Value, json};
use xoff_scenario::measure::probe;
use xoff_scenario::wrap;

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

pub fn describe_column(table: &column::Table, column: &column::Column, width: usize) -> String {
    let unit = if column.unit.is_empty() { String::new() } else { format!(", in {}", column.unit) };
    let empty = if column.nullable { " May be empty." } else { "" };
    let mut text = format!("column of {}.parquet ({}{unit})\n", table.name, column.kind.name());
    wrap::item(&mut text, column.name, &format!("{}{empty}", column.meaning), (2, 23), width);
    text
}

fn describe_metrics(width: usize) -> String {
    let mut grid = grid::Grid::new(["metric", "unit", "meaning"]).left(&[1, 2]);
    for metric in probe::METRICS {
        let facts = probe::facts(metric);
        grid.row([facts.name, facts.unit, facts.meaning]);
    }
    format!("metrics of series.parquet\n{}\n{}", grid.text_in(width), describe_numbers(width))
}

/// What some numbers of a run or comparison mean.
pub fn describe_numbers(width: usize) -> String {
    let mut text = String::from("numbers of run.json, comparison.json, seeds.json, metrics.csv and cdf.csv\n");
    for (name, meaning) in NUMBERS {
        text.push_str(&format!("  {name}\n"));
        wrap::paragraph(&mut text, meaning, 6, width);
    }
    text
}

/// What a number means where its name does not say it all.
pub const NUMBERS: [(&str, &str); 11] = [
    (
        "goodput90_gbps",
        "Payload per time from the first start until 90 % of all delivered payload had arrived, each flow's taken as \
         delivered evenly over its life. The slowest tenth of the bytes may take any time without changing it.",
    ),
    (
        "slowdown_hpcc",
        "Only in runs by the rules of the HPCC authors' simulator, such as imported ones: time until the sender has the \
         last ACK over that simulator's standalone time (round trip, and the flow with its headers at the slowest link), \
         the two last columns of its fct.txt. The slowdown of tables and flows.parquet is fct_us over ideal_us.",
    ),
    ("goodput_to_end_gbps", "All delivered payload over the simulated time; the last flow decides it."),
    (
        "p50, p95, p99, p999",
        "Nearest-rank percentiles: values that occurred. Tables mark a p95 of fewer than 20 flows, a p99 of fewer than \
         100 and a p99.9 of fewer than 1,000 with *: they are no more than the maximum.",
    ),
    (
        "by_source",
        "The finite flows of each [[traffic]] table: percentiles, the same by flow size, and `cdf`. Sources are never \
         mixed in one curve.",
    ),
    (
        "cdf",
        "Percentiles of completion times and of slowdowns at fixed percentages, each in its own order; cdf.csv has a \
         line for each.",
    ),
    (
        "estimates",
        "With --seeds: mean over the seeds, half the width of its 95 % confidence interval (Student's t), and how many \
         seeds have the number. Seed k of --seeds N is the first seed plus k - 1.",
    ),
    ("differences", "The same for the number less that of the first scheme under the same seed."),
    (
        "jobs",
        "Training jobs: completion time, means over the ranks of computing, communication and what of it is exposed (the \
         same rank does not compute), and collectives with the bandwidths of nccl-tests in 10^9 bytes per second. \
         `job_time_us` is from the first start to the last end.",
    ),
    (
        "live_timing",
        "Of a run on real packets: slip, lateness and their bounds, frames that the kernel lost or that no node sent, what \
         partners counted, and whether the machine kept up; docs/live.md has its keys.",
    ),
    ("metrics.csv", "Every number of the tables by scheme, seed and key; keys are places in run.json."),
];

pub fn describe_json() -> Value {
    let mut value = column::dictionary_json(tables::ALL);
    let metric = |metric| {
        let facts = probe::facts(metric);
        json!({ "name": facts.name, "unit": facts.unit, "meaning": facts.meaning })
    };
    value["metrics"] = probe::METRICS.into_iter().map(metric).collect();
    value["numbers"] = NUMBERS.into_iter().map(|(name, meaning)| json!({ "name": name, "meaning": meaning })).collect();
    value
}
