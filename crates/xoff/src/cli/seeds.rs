//! `--seeds N`: the same under several seeds, in parallel over the cores.

use super::progress::Bars;
use super::{ShowArgs, Stop};
use clap::Args;
use std::path::{Path, PathBuf};
use xoff_results::columns::Entry;
use xoff_results::execute::execute;
use xoff_results::outcome::Outcome;
use xoff_scenario::{Diagnostic, Loaded, Options, Scenario};
use xoff_sweep::pool::{self, Failed};

#[derive(Args, Clone)]
pub struct SeedArgs {
    /// Run under N seeds: that of the scenario or of --seed, and those that follow it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
}

/// A scheme that takes part, checked under its first seed.
pub struct Runner {
    pub scheme: String,
    pub options: Options,
    pub loaded: Loaded,
}

/// What is to be run.
pub struct Plan<'a> {
    pub scenario: &'a Scenario,
    pub runners: &'a [Runner],
    /// In the order of their results.
    pub seeds: Vec<u64>,
}

impl SeedArgs {
    pub fn several(&self) -> bool {
        self.seeds > 1
    }

    /// `first` and those that follow it.
    pub fn list(&self, first: u64) -> Result<Vec<u64>, Stop> {
        let last = first.checked_add(self.seeds - 1).filter(|last| *last <= i64::MAX as u64);
        let Some(last) = last else {
            let message = format!("--seeds {} from seed {first} on leaves the range of seeds", self.seeds);
            return Err(Diagnostic::new(message).help(format!("seeds end at {}", i64::MAX)).into());
        };
        Ok((first..=last).collect())
    }
}

impl Plan<'_> {
    /// Runs everything; results come in the order asked for, whatever ends first. `folder` says where a run
    /// goes within `out`.
    pub fn run(
        &self,
        out: Option<&Path>,
        folder: impl Fn(&Runner, u64) -> String + Sync,
        shown: &ShowArgs,
    ) -> Result<Vec<Entry>, Stop> {
        let bars = Bars::new(shown.json || shown.quiet);
        let several = self.seeds.len() > 1;
        let pairs = self.runners.iter().flat_map(|runner| self.seeds.iter().map(move |seed| (runner, *seed)));
        let jobs: Vec<OneRun<'_>> = pairs
            .map(|(runner, seed)| OneRun {
                scenario: self.scenario,
                runner,
                seed,
                title: if several { format!("{} #{seed}", runner.scheme) } else { runner.scheme.clone() },
                directory: out.map(|out| out.join(folder(runner, seed))),
                bars: &bars,
            })
            .collect();
        let outcomes = pool::run_all(&jobs, pool::cores(), &|_| {})?;
        let mut entries: Vec<Entry> = Vec::new();
        for (job, outcome) in jobs.iter().zip(outcomes) {
            let is = (outcome.summary.scheme.as_str(), outcome.summary.seed);
            assert_eq!(is, (job.runner.scheme.as_str(), job.seed), "a run is beside another one's job");
            match entries.last_mut().filter(|entry| entry.scheme == job.runner.scheme) {
                Some(entry) => entry.runs.push(outcome),
                None => entries.push(Entry { scheme: job.runner.scheme.clone(), runs: vec![outcome] }),
            }
        }
        Ok(entries)
    }
}

/// One scheme under one seed.
struct OneRun<'a> {
    scenario: &'a Scenario,
    runner: &'a Runner,
    seed: u64,
    title: String,
    directory: Option<PathBuf>,
    bars: &'a Bars,
}

impl pool::Job for OneRun<'_> {
    type Made = Outcome;

    fn name(&self) -> String {
        self.title.clone()
    }

    fn run(&self) -> Result<(Outcome, bool), Failed> {
        let Runner { scheme, options, loaded } = self.runner;
        let again;
        // All others are loaded when their turn comes: a network may be large.
        let loaded = if self.seed == loaded.plan.seed {
            loaded
        } else {
            again = self.scenario.load(&Options { seed: Some(self.seed), ..options.clone() })?;
            &again
        };
        let bar = self.bars.add(&self.title);
        let mut outcome = execute(loaded, self.directory.as_deref(), |at| bar.update(at))?;
        bar.finish();
        outcome.summary.scheme.clone_from(scheme);
        Ok((outcome, true))
    }
}

/// Why the runs that failed did.
pub fn failures(entries: &[Entry]) -> Result<(), Stop> {
    let mut failed = Vec::new();
    for entry in entries {
        for run in entry.summaries() {
            let seed = if entry.runs.len() > 1 { format!(", seed {}", run.seed) } else { String::new() };
            failed.extend(run.why_failed().map(|failure| format!("{}{seed}: {failure}", entry.scheme)));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Stop::RunFailed(failed.join("\n"))) }
}
