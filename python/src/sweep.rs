//! A sweep from Python: the runs it has, one of them made anywhere, and the tables that they come to.

use crate::error;
use crate::run::patiently;
use crate::scenario::{open, options};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use xoff_results::files::Staging;
use xoff_results::files::workplace::Workplace;
use xoff_scenario::diagnostic::Source;
use xoff_scenario::{Attachment, Options, Scenario};
use xoff_sweep::axis::Axis;
use xoff_sweep::numbers::{Number, union};
use xoff_sweep::pool::Failed;
use xoff_sweep::record::{self, Record, Store};
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
    /// Fingerprints of its runs, in the order of the table.
    inputs: OnceLock<Vec<String>>,
}

/// Name and text of the scenario, the files it names, what is varied, the scenario's own name.
type Parts = ((String, String), Vec<(String, String)>, String, String);

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
    let mut sweep = Sweep::of(open(scenario)?.keeping());
    sweep.name_schemes(&schemes).map_err(|problem| error::of(py, &[problem]))?;
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
    Ok(SweepPlan { sweep, name, inputs: OnceLock::new() })
}

#[pymethods]
impl SweepPlan {
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// What [`sweep_again`] makes it from, in another process.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Parts)> {
        let scenario = &self.sweep.scenario;
        let more = || PyTypeError::new_err("a sweep over traces of ranks cannot be pickled: import them first");
        let files = scenario.files().taken().ok_or_else(more)?;
        let files = files.iter().map(|file| (file.name.clone(), file.source.text.clone())).collect();
        let source = (scenario.source().name.clone(), scenario.source().text.clone());
        let again = py.import("xoff._xoff")?.getattr("sweep_again")?;
        Ok((again, (source, files, self.sweep.spelled(), self.name.clone())))
    }

    /// Text of a file beside its scenario.
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
        let jobs: Vec<(String, Job)> = points
            .iter()
            .map(|point| job(&point.options))
            .collect::<Result<_, _>>()
            .map_err(|problems: Vec<_>| error::of(py, &problems))?;
        self.inputs.get_or_init(|| jobs.iter().map(|(inputs, _)| inputs.clone()).collect());
        Ok(jobs)
    }

    /// Finished runs in a directory, and the directory itself when all are there.
    fn store(&self, out: PathBuf, build: String) -> PyResult<SweepStore> {
        let workplace = Workplace::open(&out, RUNS)?;
        let store = Store::new(workplace.path().join(RUNS), build);
        Ok(SweepStore { workplace, store })
    }

    /// The table of runs as columns by name, from the records of all of them.
    fn columns<'py>(&self, py: Python<'py>, records: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
        let (sweeper, records) = (self.sweeper(py)?, self.read(py, &records)?);
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
        let (sweeper, records) = (self.sweeper(py)?, self.read(py, &records)?);
        let rows = sweeper.rows(&records).map_err(|problem| error::of(py, &[problem]))?;
        Study::of(&rows).map(|study| study.finding()).map_err(|problem| error::of(py, &[problem]))
    }

    /// The directory that `xoff sweep` would write.
    fn write(&self, py: Python<'_>, records: Vec<String>, out: PathBuf) -> PyResult<()> {
        let mut staging = Staging::create(&out)?;
        // Runs that another call kept there stay.
        if staging.target().join(RUNS).is_dir() {
            staging.keep_store(RUNS)?;
        }
        self.write_to(py, &records, staging)
    }
}

/// The folder of finished runs, as the command line calls it.
const RUNS: &str = "runs";

/// A directory that a sweep continues in.
#[pyclass(frozen, module = "xoff")]
pub struct SweepStore {
    workplace: Workplace,
    store: Store,
}

#[pymethods]
impl SweepStore {
    /// The record of a run that is finished.
    fn find(&self, inputs: &str) -> Option<String> {
        self.store.find(inputs).map(|record| record.json(self.store.build()).to_string())
    }

    /// Keeps the record of a run, unless this machine gave it up.
    fn keep(&self, record: &str) -> PyResult<()> {
        let record = one(record).ok_or_else(no_record)?;
        if record.gave_up { Ok(()) } else { Ok(self.store.keep(&record)?) }
    }

    /// The directory that `xoff sweep` would write, with the finished runs in it.
    fn write(&self, py: Python<'_>, plan: &SweepPlan, records: Vec<String>) -> PyResult<()> {
        let mut staging = Staging::create(self.workplace.path())?;
        staging.keep_store(RUNS)?;
        plan.write_to(py, &records, staging)
    }
}

impl SweepPlan {
    fn sweeper(&self, py: Python<'_>) -> PyResult<Sweeper<'_>> {
        Sweeper::planned(&self.sweep, &self.name).map_err(|failed| refused(py, failed))
    }

    /// Records, each beside the run that it is of.
    fn read(&self, py: Python<'_>, records: &[String]) -> PyResult<Vec<Record>> {
        let records: Option<Vec<Record>> = records.iter().map(|text| one(text)).collect();
        let records = records.ok_or_else(no_record)?;
        if self.inputs.get().is_none() {
            self.jobs(py)?;
        }
        let inputs = self.inputs.get().map_or(&[][..], Vec::as_slice);
        record::in_order(inputs, records).map_err(|problem| error::of(py, &[problem]))
    }

    fn write_to(&self, py: Python<'_>, records: &[String], staging: Staging) -> PyResult<()> {
        let (sweeper, records) = (self.sweeper(py)?, self.read(py, records)?);
        let rows = sweeper.rows(&records).map_err(|problem| error::of(py, &[problem]))?;
        let study = Study::of(&rows).map_err(|problem| error::of(py, &[problem]))?;
        sweeper.write(&rows, &study, &staging, "xoff.sweep(…).run()")?;
        staging.finish()?;
        Ok(())
    }
}

fn one(text: &str) -> Option<Record> {
    serde_json::from_str(text).ok().and_then(|value| Record::from_json(&value))
}

fn no_record() -> PyErr {
    PyValueError::new_err("this is no record of a run")
}

fn attached(files: Vec<(String, String)>) -> Vec<Attachment> {
    let attach = |(name, text): (String, String)| Attachment { source: Source::new(name.clone(), text), name };
    files.into_iter().map(attach).collect()
}

/// A sweep from another process.
#[pyfunction]
pub fn sweep_again(
    source: (String, String),
    files: Vec<(String, String)>,
    spelled: &str,
    of: String,
) -> PyResult<SweepPlan> {
    let (name, text) = source;
    let scenario = Scenario::from_text(name, text, Path::new(".")).with(attached(files), Vec::new()).keeping();
    let sweep = Sweep::of_spelled(scenario, spelled).map_err(PyValueError::new_err)?;
    Ok(SweepPlan { sweep: Arc::new(sweep), name: of, inputs: OnceLock::new() })
}

/// The sweep in a directory, with the records of all its runs.
#[pyfunction]
pub fn sweep_read(py: Python<'_>, directory: PathBuf) -> PyResult<(SweepPlan, Vec<String>)> {
    let path = directory.join("sweep.toml");
    let mut sweep = Sweep::open(&path).map_err(|problems| error::of(py, &problems))?;
    sweep.scenario = sweep.scenario.keeping();
    let first = sweep.scenario.load(&Options::default()).map_err(|problems| error::of(py, &problems))?;
    let plan = SweepPlan { sweep: Arc::new(sweep), name: first.name, inputs: OnceLock::new() };
    let store = Store::new(directory.join(RUNS), String::new());
    let mut records = Vec::new();
    for (inputs, _) in plan.jobs(py)? {
        let Some(record) = store.find_of_any_build(&inputs) else {
            let text = format!(
                "{} does not keep all runs of its sweep, as one that was joined from a plan or had runs given up; its \
                 table is runs.parquet",
                directory.display()
            );
            return Err(PyValueError::new_err(text));
        };
        records.push(record.json("").to_string());
    }
    Ok((plan, records))
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
        let scenario = Scenario::from_text("scenario.toml", text, Path::new(".")).with(attached(files), Vec::new());
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
