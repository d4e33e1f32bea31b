//! Figures of a run, a comparison or an experiment, as SVG and PNG from one drawing.
//!
//! `choose` and `flows` say which figures there are, [`chart`] is what a figure shows, `layout` where
//! its parts go, `draw`, `bars` and `quoted` put it on any backend, `bitmap` makes a file of pixels, `ticks`
//! chooses the numbers at the axes, [`colour`] the colours and dashes.

mod bars;
mod bitmap;
mod canvas;
pub mod chart;
mod choose;
pub mod colour;
mod draw;
mod flows;
mod layout;
pub mod path;
mod quoted;
pub(crate) mod ticks;
pub mod tree;

pub use choose::{of_comparison, of_run};
pub use draw::{png, svg};

use crate::files::disk;
use chart::Chart;
use std::io::{self, Write};
use std::path::Path;

/// Writes `NAME.svg` and `NAME.png` for each chart.
pub fn write_all(charts: &[Chart], dir: &Path) -> io::Result<()> {
    for chart in charts {
        let text = svg(chart).map_err(io::Error::other)?;
        disk::create(&dir.join(format!("{}.svg", chart.file)))?.write_all(text.as_bytes())?;
        let bytes = png(chart).map_err(io::Error::other)?;
        disk::create(&dir.join(format!("{}.png", chart.file)))?.write_all(&bytes)?;
    }
    Ok(())
}
