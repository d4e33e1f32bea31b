//! Answers that run nothing, and what concerns several runs.

use crate::error;
use crate::run::{RunData, Stop, patiently};
use crate::scenario::{load, open, options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use xoff_results::columns::Entry;
use xoff_results::compare::{self, Skipped};
use xoff_results::figures::chart::RGBColor;
use xoff_results::figures::colour;
use xoff_results::interval::Estimate;
use xoff_results::titles;
use xoff_scenario::Looks;

/// What a scenario would build: as JSON, and as the page for people.
#[pyfunction]
#[pyo3(signature = (scenario, *, set=None, seed=None))]
pub fn check(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyDict>>,
    seed: Option<u64>,
) -> PyResult<(String, String)> {
    let loaded = load(py, &open(scenario)?, &options(set, seed, None)?)?;
    let report = py.detach(|| xoff_scenario::check::report(&loaded));
    Ok((report.json(), report.text()))
}

/// The schemes of a comparison, and why others are left out; the first seed.
#[pyfunction]
#[pyo3(signature = (scenario, schemes, *, set=None, seed=None))]
pub fn compared(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    schemes: Vec<String>,
    set: Option<&Bound<'_, PyDict>>,
    seed: Option<u64>,
) -> PyResult<(Vec<String>, BTreeMap<String, String>, u64)> {
    let (scenario, options) = (open(scenario)?, options(set, seed, None)?);
    let first = load(py, &scenario, &options)?.plan.seed;
    let found = py.detach(|| xoff::embed::compared(&scenario, &options, &schemes));
    let (names, skipped) = found.map_err(|problems| error::of(py, &problems))?;
    Ok((names, skipped.into_iter().map(|left| (left.scheme, left.reason)).collect(), first))
}

/// The page that `xoff compare` prints, of runs by scheme.
#[pyfunction]
pub fn comparison_text(
    runs: Vec<(String, Vec<Py<RunData>>)>,
    skipped: BTreeMap<String, String>,
    width: usize,
) -> PyResult<String> {
    let mut entries = Vec::new();
    for (scheme, runs) in runs {
        let runs: Option<Vec<_>> = runs.iter().map(|run| run.get().outcome.clone()).collect();
        let runs = runs.ok_or_else(|| PyValueError::new_err("runs read from directories have no page together"))?;
        entries.push(Entry { scheme, runs });
    }
    let skipped: Vec<Skipped> = skipped.into_iter().map(|(scheme, reason)| Skipped { scheme, reason }).collect();
    Ok(compare::comparison(&entries, &skipped).text(width))
}

/// Every scheme with its parameters and presets, as JSON.
#[pyfunction]
pub fn schemes() -> String {
    xoff::embed::schemes().to_string()
}

/// What a word means.
#[pyfunction]
#[pyo3(signature = (topic, *, width))]
pub fn describe(py: Python<'_>, topic: &str, width: usize) -> PyResult<String> {
    xoff::embed::describe(topic, width).map_err(|problems| error::of(py, &problems))
}

/// Another simulator's runs against ours: whether all hold, JSON, page.
#[pyfunction]
#[pyo3(signature = (directory, *, only, set=None))]
pub fn validate(
    py: Python<'_>,
    directory: PathBuf,
    only: Vec<String>,
    set: Option<&Bound<'_, PyDict>>,
) -> PyResult<(bool, String, String)> {
    let sets = options(set, None, None)?.sets;
    let stop = Stop::default().0;
    let stopped = stop.clone();
    let watch = move |_: xoff_run::drive::Position<'_>| {
        // It cannot be ended from here, so it waits.
        while stopped.load(Relaxed) {
            std::thread::park();
        }
    };
    let work = move || xoff::embed::validate(&directory, &only, &sets, &watch);
    let (held, json, text) =
        patiently(py, &stop, &mut || Ok(()), work)?.map_err(|problems| error::of(py, &problems))?;
    Ok((held, json.to_string(), text))
}

/// Colour, dashes and number of a marker; no dashes are an unbroken line.
type Style = (String, Option<(f64, f64)>, u8);

/// Those of each scheme, as in the figures of the program.
#[pyfunction]
pub fn styles(schemes: Vec<String>) -> Vec<Style> {
    let hex = |colour: RGBColor| format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2);
    let styles = colour::of_schemes(&schemes, &Looks::default()).into_iter();
    styles.map(|of| (hex(of.colour), of.dash.pattern(), of.marker.map_or(0, |marker| marker.number()))).collect()
}

/// What an axis calls a number of a run, by its column, and the name of a scenario's key.
#[pyfunction]
pub fn title(name: &str, of_key: bool) -> String {
    if of_key { titles::of_key(name) } else { titles::of_number(name) }
}

/// Mean over seeds and half its 95 % confidence interval (Student's t); the latter is missing for one seed.
#[pyfunction]
pub fn estimate(values: Vec<f64>) -> Option<(f64, Option<f64>)> {
    Estimate::of(&values).map(|estimate| (estimate.mean, estimate.half_width))
}
