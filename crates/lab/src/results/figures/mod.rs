//! Figures of a run, a comparison or an experiment, as SVG and PNG from one drawing.
//!
//! [`chart`] is what a figure shows, [`layout`] where its parts go, [`draw`] and [`bars`] put it on
//! any backend, [`bitmap`] makes a file of pixels, [`ticks`] chooses the numbers at the axes, [`colour`]
//! the colours and dashes.

mod bars;
mod bitmap;
pub mod chart;
mod choose;
pub mod colour;
mod draw;
mod layout;
pub mod path;
pub mod ticks;

pub use choose::{of_comparison, of_run};
pub use draw::{png, svg};

use chart::Chart;
use std::io;
use std::path::Path;

/// Writes `NAME.svg` and `NAME.png` for each chart.
pub fn write_all(charts: &[Chart], dir: &Path) -> io::Result<()> {
    for chart in charts {
        let text = svg(chart).map_err(io::Error::other)?;
        std::fs::write(dir.join(format!("{}.svg", chart.file)), text)?;
        let bytes = png(chart).map_err(io::Error::other)?;
        std::fs::write(dir.join(format!("{}.png", chart.file)), bytes)?;
    }
    Ok(())
}
