//! A simulation on a thread of its own: Python continues, receives its progress, and can stop it.

use crate::error;
use crate::scenario::{load, open, options};
use crate::table::Table;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use xoff_results::execute::collect;
use xoff_results::read::RunDirectory;
use xoff_results::{Outcome, Summary, tables};
use xoff_run::drive::Position;
use xoff_run::threads;

/// How long Python waits before it looks for Ctrl-C and tells of progress.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// Longest wait for a run that is being stopped; after that it ends by itself.
const LEAVE_AFTER: Duration = Duration::from_millis(50);

/// Stops runs that other threads wait for.
#[pyclass(frozen, module = "xoff")]
#[derive(Default)]
pub struct Stop(pub Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop::default()
    }

    /// From now on runs with this end within a few milliseconds.
    fn stop(&self) {
        self.0.store(true, Relaxed);
    }
}

/// How far a run is.
#[pyclass(frozen, get_all, module = "xoff")]
pub struct Progress {
    /// Part done, from 0 to 1.
    part: f64,
    /// Simulated time reached, in microseconds.
    now_us: f64,
    /// When the run ends at the latest, in simulated microseconds.
    stop_us: f64,
    /// Packets times links so far.
    packet_hops: u64,
}

impl Progress {
    fn at(position: Position<'_>) -> Progress {
        Progress {
            part: position.part,
            now_us: position.now.as_us(),
            stop_us: position.stop.as_us(),
            packet_hops: position.packet_hops,
        }
    }
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        format!("Progress(part={:.3}, now_us={}, packet_hops={})", self.part, self.now_us, self.packet_hops)
    }
}

/// Does `work` on a thread of its own, without the GIL. Looks for Ctrl-C and calls `look` every now and then; an error
/// of these sets `stop` and comes back at once.
pub fn patiently<T: Send + 'static>(
    py: Python<'_>,
    stop: &AtomicBool,
    look: &mut dyn FnMut() -> PyResult<()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (send, receive) = mpsc::channel();
    let receive = Mutex::new(receive);
    let wait = |time| receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time);
    let thread = std::thread::Builder::new().name("xoff".to_owned()).spawn(move || {
        // The receiver is gone if it was interrupted.
        let _ = send.send(work());
    })?;
    loop {
        match py.detach(|| wait(LOOK_EVERY)) {
            Ok(done) => return Ok(done),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(broken(thread.join().err())),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if let Err(error) = py.check_signals().and_then(|()| look()) {
            stop.store(true, Relaxed);
            let _ = py.detach(|| wait(LEAVE_AFTER));
            return Err(error);
        }
    }
}

/// A broken invariant: a bug of the simulator.
fn broken(panic: Option<Box<dyn std::any::Any + Send>>) -> PyErr {
    let text = panic.and_then(|panic| match panic.downcast::<String>() {
        Ok(text) => Some(*text),
        Err(panic) => panic.downcast::<&str>().ok().map(|text| (*text).to_owned()),
    });
    PyRuntimeError::new_err(format!("a bug of Xoff: {}", text.unwrap_or_default()))
}

/// A finished run, in memory or in a directory.
#[pyclass(frozen, module = "xoff")]
pub struct RunData {
    summary: Summary,
    /// Summary as text: numbers of a file are kept to the last digit.
    json: String,
    /// The resolved scenario.
    scenario: String,
    /// Outcome of a run of this process.
    pub outcome: Option<Outcome>,
    /// Tables of a directory are read when they are asked for.
    directory: Option<RunDirectory>,
    /// Where it was read from.
    path: Option<PathBuf>,
    tables: Mutex<Vec<Known>>,
}

/// What [`run_again`] makes a run from, in another process.
type Parts = (String, String, Option<PathBuf>, Vec<(String, Option<Py<Table>>)>);

/// A table by name; none if the run did not record it.
type Known = (&'static str, Option<Py<Table>>);

#[pymethods]
impl RunData {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Parts)> {
        let known = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let tables =
            known.iter().map(|(name, table)| ((*name).to_owned(), table.as_ref().map(|table| table.clone_ref(py))));
        let again = py.import("xoff._xoff")?.getattr("run_again")?;
        Ok((again, (self.json.clone(), self.scenario.clone(), self.path.clone(), tables.collect())))
    }

    /// Summary as in `run.json`.
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    #[getter]
    fn failure(&self) -> Option<String> {
        self.summary.why_failed()
    }

    #[getter]
    fn scenario(&self) -> &str {
        &self.scenario
    }

    /// The page that `xoff run` prints.
    fn text(&self, width: usize) -> String {
        xoff_results::text::summary(&self.summary, xoff_results::text::Style::Plain, width)
    }

    #[getter]
    fn directory(&self) -> Option<PathBuf> {
        self.outcome.as_ref().and_then(|outcome| outcome.directory.clone())
    }

    /// None if the run did not record it.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Option<Py<Table>>> {
        let mut known = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = known.iter().find(|(known, _)| *known == name) {
            return Ok(table.as_ref().map(|table| table.clone_ref(py)));
        }
        let (Some(directory), Some(about)) =
            (&self.directory, tables::ALL.iter().copied().find(|table| table.name == name))
        else {
            return Ok(None);
        };
        let table = if directory.has(about) {
            let read = py.detach(|| directory.collected(about)).map_err(|problem| error::of(py, &[problem]))?;
            Some(Py::new(py, Table::of(read)?)?)
        } else {
            None
        };
        known.push((about.name, table.as_ref().map(|table| table.clone_ref(py))));
        Ok(table)
    }
}

/// Runs a scenario. `threads`: none lets the size of the network decide.
#[pyfunction]
#[pyo3(signature = (scenario, *, set=None, seed=None, scheme=None, threads=Some(1), progress=None, out=None, stop=None))]
#[allow(clippy::too_many_arguments)]
pub fn run(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyDict>>,
    seed: Option<u64>,
    scheme: Option<String>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    out: Option<PathBuf>,
    stop: Option<&Bound<'_, Stop>>,
) -> PyResult<RunData> {
    let stop = stop.map(|stop| stop.get().0.clone()).unwrap_or_default();
    let label = scheme.clone();
    let loaded = load(py, &open(scenario)?, &options(set, seed, scheme)?)?;
    threads::set_threads(match threads {
        None => threads::threads_for(&loaded.plan),
        Some(threads) => NonZeroUsize::new(threads).ok_or_else(|| PyValueError::new_err("threads begin at 1"))?,
    });
    let position = Arc::new(Mutex::new(None));
    let mut look = || match progress.zip(position.lock().unwrap_or_else(PoisonError::into_inner).take()) {
        Some((progress, at)) => progress.call1((at,)).map(drop),
        None => Ok(()),
    };
    let resolved = loaded.resolved.clone();
    let work = {
        let (stop, position) = (stop.clone(), position.clone());
        move || {
            collect(&loaded, out.as_deref(), |at| {
                *position.lock().unwrap_or_else(PoisonError::into_inner) = Some(Progress::at(at));
                match stop.load(Relaxed) {
                    true => Err(io::Error::new(io::ErrorKind::Interrupted, "the run was stopped")),
                    false => Ok(()),
                }
            })
        }
    };
    let (mut outcome, collected) = patiently(py, &stop, &mut look, work)??;
    // As in a comparison: what was asked for, presets and all.
    if let Some(label) = label {
        outcome.summary.scheme = label;
    }
    let mut tables = Vec::new();
    for collected in collected {
        tables.push((collected.table.name, Some(Py::new(py, Table::of(collected)?)?)));
    }
    if let Some(progress) = progress {
        let (us, packet_hops) = (outcome.summary.sim_time_us, outcome.summary.counts.packet_hops.unwrap_or(0));
        progress.call1((Progress { part: 1.0, now_us: us, stop_us: us, packet_hops },))?;
    }
    let (summary, tables) = (outcome.summary.clone(), Mutex::new(tables));
    Ok(RunData {
        json: summary.json(),
        summary,
        scenario: resolved,
        outcome: Some(outcome),
        directory: None,
        path: None,
        tables,
    })
}

/// Opens the directory of a finished run, which a comparison may call by another name of its scheme.
#[pyfunction]
#[pyo3(signature = (directory, scheme=None))]
pub fn read(py: Python<'_>, directory: PathBuf, scheme: Option<String>) -> PyResult<RunData> {
    let opened = RunDirectory::open(&directory).map_err(|problem| error::of(py, &[problem]))?;
    let text = |name| std::fs::read_to_string(directory.join(name));
    let (mut json, scenario) = (text("run.json")?, text("scenario.toml")?);
    let mut summary = opened.summary.clone();
    if let Some(scheme) = scheme.filter(|scheme| *scheme != summary.scheme) {
        summary.scheme = scheme;
        json = summary.json();
    }
    let directory = std::path::absolute(directory)?;
    let tables = Mutex::default();
    Ok(RunData { json, summary, scenario, outcome: None, directory: Some(opened), path: Some(directory), tables })
}

/// A run from another process.
#[pyfunction]
pub fn run_again(
    py: Python<'_>,
    json: String,
    scenario: String,
    path: Option<PathBuf>,
    tables: Vec<(String, Option<Py<Table>>)>,
) -> PyResult<RunData> {
    let broken = |why: serde_json::Error| PyValueError::new_err(format!("this is no run: {why}"));
    let summary: Summary = serde_json::from_str(&json).map_err(broken)?;
    // Of a directory the tables are read when they are asked for, here as there.
    let directory = path.as_deref().map(RunDirectory::open).transpose();
    let directory = directory.map_err(|problem| error::of(py, &[problem]))?;
    let name = |name: String| tables::ALL.iter().map(|table| table.name).find(|known| *known == name);
    let tables = tables.into_iter().filter_map(|(of, table)| Some((name(of)?, table))).collect();
    Ok(RunData { json, summary, scenario, outcome: None, directory, path, tables: Mutex::new(tables) })
}
