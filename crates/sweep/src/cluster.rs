//! A sweep for machines that share a folder: a plan that needs nothing else, tasks that take their part of it by
//! number, and the whole when they are done.
//!
//! There is no scheduler here. Tasks write finished runs under the fingerprint of what each was made from; one that is
//! retried, preempted or run twice finds or replaces the same bytes. What the rows of the table are called comes from
//! the sealed plan alone, and every point of it is loaded again: its fingerprint must be that of the run beside it.

use crate::batch::{Batch, sbatch};
use crate::plan::{Point, Sweep};
use crate::pool::{self, Failed, Job, Progress};
use crate::record::{Record, Store};
use crate::seal::{self, Fingerprint};
use crate::spelled::Spelled;
use crate::sweeper::{Sweeper, name_of, run_alone};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use xoff_results::files::whole::{self, Present};
use xoff_results::files::{Staging, refusal};
use xoff_scenario::diagnostic::Source;
use xoff_scenario::{Attachment, Diagnostic, Options, Scenario, read};

/// The folder of finished runs within a plan, a store.
pub const DONE: &str = "done";
const PLAN: &str = "plan.json";
/// The folder of the files that the scenario names.
const FILES: &str = "files";
const LARGEST_FILE: u64 = 1_000_000_000;

/// A plan that was written.
pub struct Plan {
    folder: PathBuf,
    content: Content,
}

/// What `plan.json` holds under its seal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: String,
    build: String,
    tasks: u64,
    at_once: Option<u64>,
    name: String,
    scenario: String,
    /// The files that it names, in the order of their copies: as it asks for them, as messages call them, and their
    /// fingerprints. Without them the scenario cannot be loaded from the plan alone.
    files: Option<Vec<(String, String, String)>>,
    sweep: Spelled,
    /// Files that are there for people, with their fingerprints: a change of them is no change of the plan.
    shown: Vec<(String, String)>,
    /// Fingerprint and name of every run, in the order of the table.
    runs: Vec<(String, String)>,
}

/// Resolves one point: all that a task needs to know of it.
struct Packing<'a> {
    sweep: &'a Sweep,
    point: &'a Point,
    folder: PathBuf,
}

impl Job for Packing<'_> {
    type Made = (String, String);

    fn name(&self) -> String {
        name_of(self.sweep, self.point, true)
    }

    fn run(&self) -> Result<((String, String), bool), Failed> {
        let loaded = self.sweep.scenario.load(&self.point.options)?;
        whole::write(&self.folder.join("scenario.toml"), loaded.resolved.as_bytes(), Present::Replace)?;
        for file in &loaded.attachments {
            whole::write(&self.folder.join(&file.name), file.source.text.as_bytes(), Present::Replace)?;
        }
        Ok(((Fingerprint::of(&loaded).text(), self.name()), true))
    }
}

fn print_of(text: &str) -> String {
    Fingerprint::start().with(text.as_bytes()).text()
}

impl Plan {
    /// Writes a plan to a directory in the making.
    pub fn write(sweeper: &Sweeper<'_>, staging: &mut Staging, batch: &Batch, build: &str) -> Result<(), Failed> {
        let first_seed = sweeper.points.first().map(|point| point.seed);
        let sweep = Sweep { first_seed, scenario: sweeper.sweep.scenario.keeping(), ..sweeper.sweep.clone() };
        let folder = staging.folder("runs")?;
        let pack = |(index, point)| Packing { sweep: &sweep, point, folder: folder.join(run_name(index)) };
        let packing: Vec<Packing<'_>> = sweeper.points.iter().enumerate().map(pack).collect();
        let runs = pool::run_all(&packing, pool::cores(), &|_| {})?;
        let text = &sweep.scenario.source().text;
        let shown = [("sweep.toml", sweep.text("scenario.toml")), ("scenario.toml", text.clone())];
        for (name, text) in &shown {
            staging.write(name, text.as_bytes())?;
        }
        let files = match sweep.scenario.files().taken() {
            Some(files) => Some(keep_files(&files, staging)?),
            None => None,
        };
        let content = Content {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: build.to_owned(),
            tasks: batch.tasks_for(runs.len()),
            at_once: batch.at_once,
            name: sweeper.name.clone(),
            scenario: text.clone(),
            files,
            sweep: Spelled::of(&sweep),
            shown: shown.iter().map(|(name, text)| ((*name).to_owned(), print_of(text))).collect(),
            runs,
        };
        let script = batch.script(content.runs.len(), staging.target())?;
        let content = serde_json::to_string(&content).map_err(io::Error::other)?;
        staging.write(PLAN, seal::sealed(&content).as_bytes())?;
        staging.write("array.sh", script.as_bytes())?;
        staging.keep_store(DONE)?;
        Ok(())
    }

    /// Opens a plan; refuses one that another program made, or that makes no sense.
    pub fn open(folder: &Path, build: &str) -> Result<Plan, Failed> {
        let bad = |why: String| {
            Failed::BadInput(vec![Diagnostic::new(format!("{} is no plan of a sweep", folder.display())).label(why)])
        };
        let missing = || bad("there is no plan.json in it, or it has changed".to_owned());
        let value = seal::load(&folder.join(PLAN)).ok_or_else(missing)?;
        // The program first: what else is in it may have had another form then.
        let planned = value["build"].as_str().ok_or_else(|| bad("its plan.json names no program".to_owned()))?;
        if planned != build {
            let error = Diagnostic::new("this plan was made by another program, whose results might differ");
            let help = format!("the plan is of xoff {}, this is {}: use the same file", short(planned), short(build));
            return Err(Failed::BadInput(vec![error.help(help)]));
        }
        let content: Content =
            serde_json::from_value(value).map_err(|error| bad(format!("its plan.json is wrong: {error}")))?;
        match content.fault() {
            None => Ok(Plan { folder: folder.to_owned(), content }),
            Some(why) => Err(bad(format!("its plan.json is wrong: {why}"))),
        }
    }

    /// Tasks that share it.
    pub fn tasks(&self) -> u64 {
        self.content.tasks
    }

    pub fn name(&self) -> &str {
        &self.content.name
    }

    fn store(&self) -> Store {
        Store::new(self.folder.join(DONE), self.content.build.clone())
    }

    /// Makes the runs of one task, from 0 on. Those that an earlier one gave up are tried again.
    pub fn run_task(&self, task: u64, jobs: usize, watch: &(dyn Fn(Progress) + Sync)) -> Result<Vec<Record>, Failed> {
        let tasks = self.content.tasks;
        if task >= tasks {
            let error = Diagnostic::new(format!("this plan has tasks 0 to {}, and no task {task}", tasks - 1));
            return Err(Failed::BadInput(vec![error]));
        }
        let store = self.store();
        let mine = (0..self.content.runs.len()).filter(|index| *index as u64 % tasks == task);
        let all: Vec<TaskRun<'_>> = mine.map(|index| TaskRun { plan: self, store: &store, index }).collect();
        pool::run_all(&all, jobs, watch)
    }

    /// All runs of the planned sweep, if every task is done; else which are not. Refuses if a point of the sweep is not
    /// what the run in its place was made from.
    pub fn collect(&self, sweep: &Sweep) -> Result<Vec<Record>, Failed> {
        let store = self.store();
        let runs = &self.content.runs;
        let found: Vec<Option<Record>> = runs.iter().map(|(inputs, _)| store.find_given_up(inputs)).collect();
        let task = |(at, found): (usize, &Option<Record>)| found.is_none().then_some(at as u64 % self.content.tasks);
        let mut missing: Vec<u64> = found.iter().enumerate().filter_map(task).collect();
        let count = missing.len();
        if count > 0 {
            missing.sort_unstable();
            missing.dedup();
            let error = Diagnostic::new(format!("{count} of {} runs are not there yet", runs.len()));
            let commands = sbatch(&self.folder.join("array.sh"), &missing, self.content.at_once);
            let help = format!("run their tasks again: {}", commands.join("; "));
            return Err(Failed::BadInput(vec![error.help(help)]));
        }
        let points = sweep.points()?;
        if points.len() != runs.len() {
            let why = format!("its sweep has {} runs, and {} are planned", points.len(), runs.len());
            return Err(self.changed(&why));
        }
        let check = |(index, point)| Checking { plan: self, sweep, point, index };
        let checks: Vec<Checking<'_>> = points.iter().enumerate().map(check).collect();
        pool::run_all(&checks, pool::cores(), &|_| {})?;
        Ok(found.into_iter().flatten().collect())
    }

    /// What was planned. Refuses if what the plan shows of it to people says something else.
    pub fn sweep(&self) -> Result<Sweep, Failed> {
        for (name, known) in &self.content.shown {
            let path = self.folder.join(name);
            // The file itself is not needed.
            if !path.exists() {
                continue;
            }
            let text = read::text(&path, LARGEST_FILE).unwrap_or_default();
            if print_of(&text) != *known {
                return Err(self.changed(&format!("{name} is not as it was planned")));
            }
        }
        let scenario = Scenario::from_text("scenario.toml", self.content.scenario.as_str(), &self.folder.join(FILES));
        let scenario = scenario.with(self.files()?, Vec::new());
        let sweep = self.content.sweep.sweep(scenario);
        sweep.map_err(|why| self.changed(&format!("plan.json is wrong: {why}")))
    }

    fn files(&self) -> Result<Vec<Attachment>, Failed> {
        let mut files = Vec::new();
        for (index, (name, shown, known)) in self.content.files.iter().flatten().enumerate() {
            let path = self.folder.join(FILES).join(run_name(index));
            let text = read::text(&path, LARGEST_FILE)
                .map_err(|why| Failed::System(io::Error::other(format!("cannot read {}: {why}", path.display()))))?;
            if print_of(&text) != *known {
                return Err(self.changed(&format!("{FILES}/{} is not as it was planned", run_name(index))));
            }
            files.push(Attachment { name: name.clone(), source: Source::new(shown.as_str(), text) });
        }
        Ok(files)
    }

    /// The results would be called what they are not.
    fn changed(&self, why: &str) -> Failed {
        let error = Diagnostic::new(format!("{} has changed since it was planned", self.folder.display())).label(why);
        let help = "the tables of a plan are those of the sweep that was planned: undo the change, or write a plan of the \
                    changed sweep to another folder";
        Failed::BadInput(vec![error.help(help)])
    }
}

/// Writes the files of a scenario beside the plan.
fn keep_files(files: &[Attachment], staging: &Staging) -> io::Result<Vec<(String, String, String)>> {
    let folder = if files.is_empty() { None } else { Some(staging.folder(FILES)?) };
    for (index, file) in files.iter().enumerate() {
        if let Some(folder) = &folder {
            whole::write(&folder.join(run_name(index)), file.source.text.as_bytes(), Present::Replace)?;
        }
    }
    let entry = |file: &Attachment| (file.name.clone(), file.source.name.clone(), print_of(&file.source.text));
    Ok(files.iter().map(entry).collect())
}

impl Content {
    /// What no plan has that was written here.
    fn fault(&self) -> Option<String> {
        let runs = self.runs.len() as u64;
        if runs == 0 {
            return Some("it has no runs".to_owned());
        }
        if self.tasks == 0 || self.tasks > runs {
            return Some(format!("it has {} tasks for {runs} runs", self.tasks));
        }
        let strange = self.runs.iter().find(|(inputs, _)| !seal::is_fingerprint(inputs));
        strange.map(|(inputs, name)| format!("`{inputs}` is no fingerprint of a run ({name})"))
    }
}

/// Loads a point again, and compares with what was planned in its place.
struct Checking<'a> {
    plan: &'a Plan,
    sweep: &'a Sweep,
    point: &'a Point,
    index: usize,
}

impl Job for Checking<'_> {
    type Made = ();

    fn name(&self) -> String {
        name_of(self.sweep, self.point, true)
    }

    fn run(&self) -> Result<((), bool), Failed> {
        let (inputs, name) = &self.plan.content.runs[self.index];
        let other =
            || self.plan.changed(&format!("run {} is `{name}`, and the sweep has `{}`", self.index, self.name()));
        if *name != self.name() {
            return Err(other());
        }
        // Traces of ranks stay where they are, and a plan does without them.
        if self.plan.content.files.is_some() {
            let loaded = self.sweep.scenario.load(&self.point.options)?;
            if Fingerprint::of(&loaded).text() != *inputs {
                return Err(other());
            }
        }
        Ok(((), true))
    }
}

struct TaskRun<'a> {
    plan: &'a Plan,
    store: &'a Store,
    index: usize,
}

impl Job for TaskRun<'_> {
    type Made = Record;

    fn name(&self) -> String {
        self.plan.content.runs[self.index].1.clone()
    }

    fn run(&self) -> Result<(Record, bool), Failed> {
        let inputs = &self.plan.content.runs[self.index].0;
        if let Some(found) = self.store.find(inputs) {
            return Ok((found, false));
        }
        let path = self.plan.folder.join("runs").join(run_name(self.index)).join("scenario.toml");
        let scenario = Scenario::open(&path).map_err(|problem| vec![problem])?;
        let loaded = scenario.load(&Options::default())?;
        if Fingerprint::of(&loaded).text() != *inputs {
            return Err(Failed::System(refusal(&path, "is not what was planned")));
        }
        let record = run_alone(&loaded)?;
        // One that was given up is a row, too, unless a later task does better.
        if !record.gave_up || self.store.find(inputs).is_none() {
            self.store.keep(&record)?;
        }
        Ok((record, true))
    }
}

fn run_name(index: usize) -> String {
    format!("{index:06}")
}

/// Version and the beginning of the hash.
fn short(build: &str) -> String {
    let (version, hash) = build.split_once(' ').unwrap_or((build, ""));
    format!("{version} ({})", hash.get(..8).unwrap_or(hash))
}
