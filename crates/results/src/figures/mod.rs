//! Figures of a run, a comparison or an experiment, as SVG, PNG and PDF from one drawing, and as data.
//!
//! `choose`, `flows`, `jobs`, `paths` and `live_timing` say which figures there are, [`chart`] is what a figure shows, `layout` where
//! its parts go, `draw`, `bars` and `quoted` put it on any backend, `bitmap` makes a file of pixels, `recorder`, `glyphs`
//! and `document` one of vectors, `data` says the same to scripts, `csv` to tables, `ticks` chooses the numbers at the axes, [`colour`] the
//! colours, dashes and [`marker`]s.

mod bars;
mod bitmap;
mod canvas;
pub mod chart;
mod choose;
pub mod colour;
mod csv;
mod data;
mod document;
mod draw;
mod flows;
mod glyphs;
mod jobs;
mod layout;
mod live_timing;
pub mod marker;
pub mod measures;
pub mod path;
mod paths;
mod quoted;
mod recorder;
pub mod ticks;
pub mod tree;

pub use choose::{of_comparison, of_run};
pub use data::json_text;
pub use draw::{pdf, png, svg};
pub use live_timing::of_live_timing;

use crate::files::disk;
use crate::names::scheme_label;
use chart::Chart;
use std::io::{self, Write};
use std::path::Path;
use xoff_scenario::Looks;

/// What figures call a scheme.
pub fn called(scheme: &str, looks: &Looks) -> String {
    looks.label(scheme).unwrap_or_else(|| scheme_label(scheme).to_owned())
}

/// Writes `NAME.svg`, `NAME.png`, `NAME.pdf` and `NAME.csv` for each chart, and `captions.txt` for all.
pub fn write_all(charts: &[Chart], dir: &Path) -> io::Result<()> {
    for chart in charts {
        let text = svg(chart).map_err(io::Error::other)?;
        disk::create(&dir.join(format!("{}.svg", chart.file)))?.write_all(text.as_bytes())?;
        let bytes = png(chart).map_err(io::Error::other)?;
        disk::create(&dir.join(format!("{}.png", chart.file)))?.write_all(&bytes)?;
        let bytes = pdf(chart).map_err(io::Error::other)?;
        disk::create(&dir.join(format!("{}.pdf", chart.file)))?.write_all(&bytes)?;
        disk::create(&dir.join(format!("{}.csv", chart.file)))?.write_all(&csv::csv(chart)?)?;
    }
    if !charts.is_empty() {
        disk::create(&dir.join("captions.txt"))?.write_all(csv::captions(charts).as_bytes())?;
    }
    Ok(())
}
