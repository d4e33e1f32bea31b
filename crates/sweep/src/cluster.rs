//! A sweep for machines that share a folder: a plan that needs nothing else, tasks that take their part of it by
//! number, and the whole when they are done.
//!
//! There is no scheduler here. Tasks write finished runs under the fingerprint of what each was made from; one that is
//! retried, preempted or run twice finds or replaces the same bytes.

use crate::plan::{Point, Sweep};
use crate::pool::{self, Failed, Job, Progress};
use crate::record::{Record, Store};
use crate::seal::{self, Fingerprint};
use crate::sweeper::{Sweeper, name_of, run_alone};
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};
use xoff_results::files::whole::{self, Present};
use xoff_results::files::{Staging, refusal};
use xoff_scenario::diagnostic::Source;
use xoff_scenario::{Diagnostic, Options, Scenario, read};

/// The folder of finished runs within a plan, a store.
pub const DONE: &str = "done";
const PLAN: &str = "plan.json";

/// A plan that was written.
pub struct Plan {
    folder: PathBuf,
    build: String,
    /// Tasks that share it.
    pub tasks: u64,
    /// Fingerprints of its runs, in the order of the table.
    inputs: Vec<String>,
    names: Vec<String>,
    /// Of the scenario.
    pub name: String,
}

/// Resolves one point: all that a task needs to know of it.
struct Packing<'a> {
    sweep: &'a Sweep,
    point: &'a Point,
    folder: PathBuf,
}

impl Job for Packing<'_> {
    type Made = String;

    fn name(&self) -> String {
        name_of(self.sweep, self.point, true)
    }

    fn run(&self) -> Result<(String, bool), Failed> {
        let loaded = self.sweep.scenario.load(&self.point.options)?;
        whole::write(&self.folder.join("scenario.toml"), loaded.resolved.as_bytes(), Present::Replace)?;
        for file in &loaded.attachments {
            whole::write(&self.folder.join(&file.name), file.source.text.as_bytes(), Present::Replace)?;
        }
        Ok((Fingerprint::of(&loaded).text(), true))
    }
}

impl Plan {
    /// Writes a plan for so many tasks to a directory in the making.
    pub fn write(sweeper: &Sweeper<'_>, staging: &mut Staging, tasks: u64, build: &str) -> Result<(), Failed> {
        let runs = staging.folder("runs")?;
        let pack = |(index, point)| Packing { sweep: sweeper.sweep, point, folder: runs.join(run_name(index)) };
        let packing: Vec<Packing<'_>> = sweeper.points.iter().enumerate().map(pack).collect();
        let inputs = pool::run_all(&packing, pool::cores(), &|_| {})?;
        let names: Vec<String> = packing.iter().map(Job::name).collect();
        let tasks = tasks.clamp(1, inputs.len().max(1) as u64);
        let first_seed = sweeper.points.first().map(|point| point.seed);
        let sweep = Sweep { first_seed, ..sweeper.sweep.clone() };
        staging.write("sweep.toml", sweep.text("scenario.toml").as_bytes())?;
        staging.write("scenario.toml", sweep.scenario.source().text.as_bytes())?;
        let plan = json!({
            "version": env!("CARGO_PKG_VERSION"), "build": build, "tasks": tasks, "name": sweeper.name,
            "inputs": inputs, "names": names,
        });
        staging.write(PLAN, seal::sealed(&plan.to_string()).as_bytes())?;
        staging.write("array.sh", array_script(tasks, staging.target())?.as_bytes())?;
        staging.keep_store(DONE)?;
        Ok(())
    }

    /// Opens a plan; refuses one that another program made.
    pub fn open(folder: &Path, build: &str) -> Result<Plan, Failed> {
        let bad = |why: &str| {
            Failed::BadInput(vec![Diagnostic::new(format!("{} is no plan of a sweep", folder.display())).label(why)])
        };
        let value =
            seal::load(&folder.join(PLAN)).ok_or_else(|| bad("there is no plan.json in it, or it has changed"))?;
        let text = |key: &str| value[key].as_str().map(str::to_owned).ok_or_else(|| bad("plan.json lacks something"));
        let texts = |key: &str| -> Option<Vec<String>> {
            value[key].as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        };
        let planned = text("build")?;
        if planned != build {
            let error = Diagnostic::new("this plan was made by another program, whose results might differ");
            let help = format!("the plan is of xoff {}, this is {}: use the same file", short(&planned), short(build));
            return Err(Failed::BadInput(vec![error.help(help)]));
        }
        Ok(Plan {
            folder: folder.to_owned(),
            build: planned,
            name: text("name")?,
            tasks: value["tasks"].as_u64().ok_or_else(|| bad("plan.json lacks `tasks`"))?,
            inputs: texts("inputs").ok_or_else(|| bad("plan.json lacks `inputs`"))?,
            names: texts("names").ok_or_else(|| bad("plan.json lacks `names`"))?,
        })
    }

    fn store(&self) -> Store {
        Store::new(self.folder.join(DONE), self.build.clone())
    }

    /// Makes the runs of one task, from 0 on. Those that an earlier one gave up are tried again.
    pub fn run_task(&self, task: u64, jobs: usize, watch: &(dyn Fn(Progress) + Sync)) -> Result<Vec<Record>, Failed> {
        if task >= self.tasks {
            let error = Diagnostic::new(format!("this plan has tasks 0 to {}, and no task {task}", self.tasks - 1));
            return Err(Failed::BadInput(vec![error]));
        }
        let store = self.store();
        let mine = (0..self.inputs.len()).filter(|index| *index as u64 % self.tasks == task);
        let all: Vec<TaskRun<'_>> = mine.map(|index| TaskRun { plan: self, store: &store, index }).collect();
        pool::run_all(&all, jobs, watch)
    }

    /// All runs, if every task is done; else which are not.
    pub fn collect(&self) -> Result<Vec<Record>, Failed> {
        let store = self.store();
        let found: Vec<Option<Record>> = self.inputs.iter().map(|inputs| store.find_given_up(inputs)).collect();
        let mut missing: Vec<u64> = found
            .iter()
            .enumerate()
            .filter(|(_, found)| found.is_none())
            .map(|(at, _)| at as u64 % self.tasks)
            .collect();
        let count = missing.len();
        if count == 0 {
            return Ok(found.into_iter().flatten().collect());
        }
        missing.sort_unstable();
        missing.dedup();
        let error = Diagnostic::new(format!("{count} of {} runs are not there yet", self.inputs.len()));
        let script = quoted(&self.folder.join("array.sh"));
        let help = format!("run their tasks again: sbatch --array={} {script}", ranges(&missing));
        Err(Failed::BadInput(vec![error.help(help)]))
    }

    /// What was planned, to be read again.
    pub fn sweep(&self) -> Result<Sweep, Failed> {
        let path = self.folder.join("sweep.toml");
        let text = read::text(&path, 16_000_000).map_err(io::Error::other)?;
        let source = Source::new(path.display().to_string(), text);
        Sweep::read(&source, &self.folder).map_err(|problem| Failed::BadInput(vec![problem]))
    }
}

/// One run of a task.
struct TaskRun<'a> {
    plan: &'a Plan,
    store: &'a Store,
    index: usize,
}

impl Job for TaskRun<'_> {
    type Made = Record;

    fn name(&self) -> String {
        self.plan.names[self.index].clone()
    }

    fn run(&self) -> Result<(Record, bool), Failed> {
        let inputs = &self.plan.inputs[self.index];
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
    format!("{version} ({})", &hash[..hash.len().min(8)])
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Numbers in their order as Slurm takes them: `0-3,7`. A list of a thousand would be too long for it.
fn ranges(numbers: &[u64]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(u64::to_string).collect(),
    });
    text.collect::<Vec<_>>().join(",")
}

/// A job array for Slurm. Other engines need its last line with a number of theirs.
fn array_script(tasks: u64, plan: &Path) -> io::Result<String> {
    let (last, plan, program) = (tasks - 1, quoted(plan), quoted(&std::env::current_exe()?));
    Ok(format!(
        "#!/bin/sh\n\
         #SBATCH --job-name=xoff-sweep\n\
         #SBATCH --array=0-{last}\n\
         #SBATCH --requeue\n\
         # Add --cpus-per-task, --time, --mem and --partition as the cluster wants them. Where folder or program have\n\
         # another path on its nodes, XOFF_PLAN and XOFF say so; the program must be the very file that made the plan.\n\
         set -eu\n\
         plan=${{XOFF_PLAN:-{plan}}}\n\
         xoff=${{XOFF:-{program}}}\n\
         exec \"$xoff\" sweep --task \"$SLURM_ARRAY_TASK_ID\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\" --quiet \"$plan\"\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn missing_tasks_are_named_as_slurm_takes_them() {
        assert_eq!(ranges(&[4]), "4");
        assert_eq!(ranges(&[0, 1]), "0-1");
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0-3,7,9-10");
    }

    #[test]
    fn a_shell_takes_any_path_for_what_it_is() {
        for path in ["/data/plan", "/my data/it's $HOME", "a\"b\\c", "~x", "/größe", "*"] {
            let script = format!("printf %s {}", quoted(Path::new(path)));
            let output = Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), path, "{script}");
        }
    }
}
