//! A sweep from Python: the runs it has, one of them made anywhere, and the tables that they come to.

use crate::error;
use crate::run::patiently;
use crate::scenario::{open, options};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use xoff_results::files::Staging;
use xoff_scenario::diagnostic::Source;
use xoff_scenario::{Attachment, Options, Scenario};
use xoff_sweep::axis::Axis;
use xoff_sweep::numbers::{Number, union};
use xoff_sweep::pool::Failed;
use xoff_sweep::record::Record;
use xoff_sweep::sample::Sampler;
use xoff_sweep::seal::Fingerprint;
use xoff_sweep::study::Study;
use xoff_sweep::sweeper::run_alone;
use xoff_sweep::table::{column_name, status};
use xoff_sweep::{Sweep, Sweeper};

/// What a sweep varies, checked.
#[pyclass(frozen, module = "xoff")]
pub struct SweepPlan {
    sweep: Arc<Sweep>,
    name: String,
}

/// A scenario that needs no options, and the files it names.
type Job = (String, Vec<(String, String)>);

fn refused(py: Python<'_>, failed: Failed) -> PyErr {
    match failed {
        Failed::BadInput(problems) => error::of(py, &problems),
        Failed::System(error) => PyOSError::new_err(error.to_string()),
    }
}

/// Reads what is varied, and loads every point once.
#[pyfunction]
#[pyo3(signature = (scenario, *, schemes, axes, set=None, seeds=1, seed=None, sample=None, sampler="sobol", measures))]
#[allow(clippy::too_many_arguments)]
pub fn sweep_plan(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    schemes: Vec<String>,
    axes: Vec<String>,
    set: Option<&Bound<'_, PyDict>>,
    seeds: u64,
    seed: Option<u64>,
    sample: Option<u64>,
    sampler: &str,
    measures: Vec<String>,
) -> PyResult<SweepPlan> {
    let mut sweep = Sweep::of(open(scenario)?);
    sweep.schemes = schemes;
    sweep.sets = options(set, None, None)?.sets;
    (sweep.seeds, sweep.first_seed, sweep.sample, sweep.measures) = (seeds.max(1), seed, sample, measures);
    sweep.sampler = match sampler {
        "sobol" => Sampler::Sobol,
        "random" => Sampler::Random,
        other => {
            return Err(PyValueError::new_err(format!("samples are drawn by \"sobol\" or \"random\", not {other:?}")));
        }
    };
    for axis in axes {
        sweep.add(Axis::typed(&axis).map_err(|problem| error::of(py, &[problem]))?);
    }
    let sweep = Arc::new(sweep);
    let checked = sweep.clone();
    let work = move || Sweeper::check(&checked).map(|sweeper| sweeper.name);
    let name = patiently(py, &AtomicBool::new(false), &mut || Ok(()), work)?.map_err(|failed| refused(py, failed))?;
    Ok(SweepPlan { sweep, name })
}

#[pymethods]
impl SweepPlan {
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// As a file beside its scenario.
    fn text(&self) -> String {
        self.sweep.text("scenario.toml")
    }

    /// Every run: its fingerprint, and all that making it needs.
    fn jobs(&self, py: Python<'_>) -> PyResult<Vec<(String, Job)>> {
        let points = self.sweep.points().map_err(|problems| error::of(py, &problems))?;
        let job = |options: &Options| {
            let loaded = self.sweep.scenario.load(options)?;
            let files = loaded.attachments.iter().map(|file| (file.name.clone(), file.source.text.clone())).collect();
            Ok((Fingerprint::of(&loaded).text(), (loaded.resolved, files)))
        };
        points
            .iter()
            .map(|point| job(&point.options))
            .collect::<Result<_, _>>()
            .map_err(|problems: Vec<_>| error::of(py, &problems))
    }

    /// The table of runs as columns by name, from the records of all of them.
    fn columns<'py>(&self, py: Python<'py>, records: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
        let (sweeper, records) = (self.sweeper(py)?, read(&records)?);
        let dict = PyDict::new(py);
        for (at, axis) in self.sweep.axes.iter().enumerate() {
            let values = sweeper.points.iter().map(|point| point.values[at].as_ref().map(|value| &value[0]));
            match axis.unit() {
                Some(_) => dict.set_item(column_name(axis), values.map(|value| value?.number()).collect::<Vec<_>>())?,
                None => {
                    let names = values.map(|value| value.map(|value| value.name.clone())).collect::<Vec<_>>();
                    dict.set_item(column_name(axis), names)?;
                }
            }
        }
        let scheme = |(point, record): (&xoff_sweep::Point, &Record)| {
            point.scheme.clone().unwrap_or_else(|| record.scheme.clone())
        };
        dict.set_item("scheme", sweeper.points.iter().zip(&records).map(scheme).collect::<Vec<_>>())?;
        dict.set_item("seed", sweeper.points.iter().map(|point| point.seed).collect::<Vec<_>>())?;
        dict.set_item("status", records.iter().map(status).collect::<Vec<_>>())?;
        dict.set_item("failure", records.iter().map(|record| record.failure.clone()).collect::<Vec<_>>())?;
        for Number { name, whole, .. } in union(records.iter().map(|record| record.network.as_slice())) {
            let values = records.iter().map(|record| record.number(name));
            match whole {
                true => dict.set_item(name, values.map(|value| value.map(|value| value as u64)).collect::<Vec<_>>())?,
                false => dict.set_item(name, values.collect::<Vec<_>>())?,
            }
        }
        Ok(dict)
    }

    /// The sentence that says what was found.
    fn finding(&self, py: Python<'_>, records: Vec<String>) -> PyResult<String> {
        let (sweeper, records) = (self.sweeper(py)?, read(&records)?);
        let rows = sweeper.rows(&records);
        Study::of(&rows).map(|study| study.finding()).map_err(|problem| error::of(py, &[problem]))
    }

    /// The directory that `xoff sweep` would write.
    fn write(&self, py: Python<'_>, records: Vec<String>, out: PathBuf) -> PyResult<()> {
        let (sweeper, records) = (self.sweeper(py)?, read(&records)?);
        let (rows, staging) = (sweeper.rows(&records), Staging::create(&out)?);
        let study = Study::of(&rows).map_err(|problem| error::of(py, &[problem]))?;
        sweeper.write(&rows, &study, &staging, "xoff.sweep(…).run()")?;
        staging.finish()?;
        Ok(())
    }
}

impl SweepPlan {
    fn sweeper(&self, py: Python<'_>) -> PyResult<Sweeper<'_>> {
        Sweeper::planned(&self.sweep, &self.name).map_err(|failed| refused(py, failed))
    }
}

fn read(records: &[String]) -> PyResult<Vec<Record>> {
    let one = |text: &String| serde_json::from_str(text).ok().and_then(|value| Record::from_json(&value));
    let all: Option<Vec<Record>> = records.iter().map(one).collect();
    all.ok_or_else(|| PyValueError::new_err("this is no record of a run"))
}

/// Makes one run of a sweep, wherever it is; a program other than `build` refuses.
#[pyfunction]
pub fn sweep_run(py: Python<'_>, job: Job, build: String) -> PyResult<String> {
    let own = build_id(py)?;
    if own != build {
        let text = format!(
            "this run belongs to another build of Xoff ({build}), whose results might differ from those of {own}"
        );
        return Err(PyRuntimeError::new_err(text));
    }
    let (text, files) = job;
    let work = move || {
        let attach = |(name, text): (String, String)| Attachment { source: Source::new(name.clone(), text), name };
        let scenario = Scenario::from_text("scenario.toml", text, Path::new("."))
            .with(files.into_iter().map(attach).collect(), Vec::new());
        let loaded = scenario.load(&Options::default()).map_err(Failed::BadInput)?;
        let record = run_alone(&loaded).map_err(Failed::System)?;
        Ok(record.json(&build).to_string())
    };
    patiently(py, &AtomicBool::new(false), &mut || Ok(()), work)?.map_err(|failed| refused(py, failed))
}

/// What identifies this build: its version and the bytes of the extension.
#[pyfunction]
pub fn build_id(py: Python<'_>) -> PyResult<String> {
    let path: PathBuf = py.import("xoff._xoff")?.getattr("__file__")?.extract()?;
    let hash = Fingerprint::start().with(&std::fs::read(path)?).text();
    Ok(format!("{} {hash}", env!("CARGO_PKG_VERSION")))
}
