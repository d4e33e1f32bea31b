//! Figures and tables of experiments, from `[[figure]]` and the runs' results.
//!
//! [`spec`] is what an experiment asks for, of `series` and `paper`; `pick` finds the runs, `build` makes the chart of
//! them, with `lines`, `bars` and `table`; `paper` puts the paper's own numbers beside ours, `style` gives every label
//! its look.

mod bars;
mod build;
mod builder;
mod lines;
pub mod paper;
mod pick;
mod series;
pub mod spec;
mod style;
mod table;
#[cfg(test)]
mod tests;

pub use build::draw;
pub use spec::{FigureSpec, file_part, read};

use super::report_data::TableShown;
use xoff_results::figures::chart::Chart;
use xoff_results::page::Figure;

/// What becomes of a `[[figure]]`.
#[derive(Clone, Debug)]
pub enum Shown {
    /// To be drawn with `results::figures::{svg, png}`.
    Chart(Box<Chart>),
    Table(TableShown),
}

/// The chart as reports take it.
pub fn drawn(chart: &Chart) -> Result<Figure, String> {
    Figure::of(chart).map_err(|why| format!("{}: {why}", chart.file))
}
