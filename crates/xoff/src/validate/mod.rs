//! Xoff against other simulators, on their own inputs: `xoff validate`.
//!
//! Reading order: [`theirs`] (what the other simulator wrote), [`promised`] (how near we must be), `compare` (how near
//! two runs are), [`queues`], [`times`], [`tcd`], [`conweave`] and [`htsim`] (what is different in these simulators),
//! `report`.

pub(crate) mod compare;
pub mod conweave;
pub mod htsim;
pub mod promised;
pub mod queues;
pub(crate) mod report;
pub mod tcd;
pub mod theirs;
pub mod times;

use compare::{Agreement, OurFlow, Ours, compare};
use promised::Promised;
use queues::{OurQueue, QueuesSeen, TheirQueue};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use theirs::{FlowKey, Theirs};
use times::Times;
use xoff_fabric::record::{FlowRecord, PauseRecord, PfcRecord, Sample};
use xoff_results::export::hpcc::PfcLine;
use xoff_results::names::Names;
use xoff_run::drive::{Keep, Position, Sink, drive};
use xoff_scenario::files::Files;
use xoff_scenario::import;
use xoff_scenario::import::hpcc::config::Config;
use xoff_scenario::import::hpcc::{self, keys};
use xoff_scenario::{Diagnostic, Loaded, Options, Scenario};

type Result<T> = std::result::Result<T, Vec<Diagnostic>>;

/// A run of theirs, read and checked, that can be run here.
#[derive(Debug)]
pub struct Case {
    pub name: String,
    loaded: Loaded,
    theirs: Theirs,
    queue: Option<TheirQueue>,
    /// Traces of the TCD authors' simulator.
    traces: Option<tcd::Traces>,
    /// What ConWeave's simulator prints at the end.
    totals: Option<conweave::Totals>,
    random: bool,
    promised: Promised,
    /// Ends of flows that are compared more exactly.
    ends: htsim::Ends,
}

/// A run of theirs and ours.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    pub name: String,
    pub scheme: String,
    #[serde(flatten)]
    pub agreement: Agreement,
    pub held: bool,
    /// Where theirs was sampled.
    pub queue: Option<QueuesSeen>,
    /// Comparison of rates and queues, where theirs were traced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub means: Vec<tcd::Mean>,
    /// Building the network included.
    pub wall_seconds_ours: f64,
    pub cpu_seconds_ours: f64,
    pub packet_hops: u64,
    /// Where the folder says it.
    pub seconds_theirs: Option<f64>,
}

/// Everything that was compared.
#[derive(Clone, Debug, Serialize)]
pub struct Validation {
    pub version: String,
    /// Commit of the checkout, where there is one.
    pub commit: String,
    /// Keys that were changed in every run, `KEY=VALUE`.
    pub sets: Vec<String>,
    /// Where the times of theirs are from; empty if there are none.
    pub times_from: String,
    pub runs: Vec<Compared>,
}

impl Validation {
    pub fn held(&self) -> bool {
        self.runs.iter().all(|run| run.held)
    }
}

/// Reads every run of some folders, or those of these names, with `sets` changed in each. Nothing runs before all is
/// in order.
pub fn read(folders: &[PathBuf], only: &[String], sets: &[String]) -> Result<Vec<Case>> {
    let (mut found, mut problems): (Vec<(PathBuf, String)>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for folder in folders {
        match names(folder) {
            Ok(names) => found.extend(names.into_iter().map(|name| (folder.join("runs").join(&name), name))),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    if let Some(unknown) = only.iter().find(|only| !found.iter().any(|(_, name)| name == *only)) {
        let places: Vec<String> = folders.iter().map(|folder| format!("`{}`", folder.display())).collect();
        let error = Diagnostic::new(format!("there is no run `{unknown}` in {}", places.join(", ")));
        return Err(vec![error.nearest(unknown, found.iter().map(|(_, name)| name.as_str()))]);
    }
    found.retain(|(_, name)| only.is_empty() || only.contains(name));
    let mut cases = Vec::new();
    for (folder, name) in found {
        match Case::read(&folder, name, sets) {
            Ok(case) => cases.push(case),
            Err(more) => problems.extend(more),
        }
    }
    // A key that is wrong in one run is wrong in all.
    let mut said = HashSet::new();
    problems.retain(|problem: &Diagnostic| said.insert(problem.render(false)));
    if problems.is_empty() { Ok(cases) } else { Err(problems) }
}

/// The runs of a folder, in order.
fn names(folder: &Path) -> std::result::Result<Vec<String>, Diagnostic> {
    let runs = folder.join("runs");
    let refuse = |why: String| {
        let error = Diagnostic::new(format!("`{}` is no folder of results", folder.display())).label(why);
        error.help("it needs runs/NAME/config.txt (args.txt of htsim) and runs/NAME/fct.txt")
    };
    let entries = fs::read_dir(&runs).map_err(|error| refuse(format!("{}: {error}", runs.display())))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| refuse(error.to_string()))?;
        if ["config.txt", "args.txt"].iter().any(|file| entry.path().join(file).is_file()) {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    if names.is_empty() {
        return Err(refuse(format!("{} holds no run", runs.display())));
    }
    Ok(names)
}

impl Case {
    fn read(folder: &Path, name: String, sets: &[String]) -> Result<Case> {
        if folder.join("args.txt").is_file() {
            return htsim::case(folder, name, sets);
        }
        let scenario = Scenario::open(&folder.join("config.txt")).map_err(|error| vec![error])?;
        let source = scenario.source();
        if xoff_scenario::import::tcd::recognise(&source.text) {
            return tcd::case(folder, name, sets);
        }
        let files = Files::in_folder(folder);
        if import::conweave::recognise(&source.text) {
            return Case::read_conweave(
                folder,
                name,
                &import::conweave::import(source, &files, None)?.scenario(),
                sets,
            );
        }
        let imported = hpcc::import(source, &files, None)?.scenario();
        let mut loaded = imported.load(&Options { sets: sets.to_vec(), ..Options::default() })?;
        let settings = &mut Arc::make_mut(&mut loaded.plan).run;
        (settings.record_pauses, settings.record_pfc_frames) = (false, true);
        let config = Config::read(source)?;
        let (dialect, _) = hpcc::dialect(&config, &files, &mut Vec::new()).map_err(|error| vec![error])?;
        let draws_in_order = config.mode().map_err(|error| vec![error])? == keys::PINT;
        let promised = Promised::of(&name, dialect, draws_in_order);
        let read = || -> std::result::Result<_, Diagnostic> {
            let window = ["QLEN_MON_START", "QLEN_MON_END"].map(|key| config.count(key, 0..=u64::MAX / 1000));
            let [from, until] = window;
            let queue = queues::read(folder, &loaded.plan, from?, until?)?;
            Ok((draws(&config, &loaded)?, Theirs::read(folder, &loaded.plan)?, queue))
        };
        let (random, theirs, queue) = read().map_err(|error| vec![error])?;
        if let Some(queue) = &queue {
            queue.probe(Arc::make_mut(&mut loaded.plan));
        }
        let ends = htsim::Ends::default();
        Ok(Case { name, loaded, theirs, queue, traces: None, totals: None, random, promised, ends })
    }

    /// Reads a run of ConWeave's simulator. Its draws are repeated one by one, so that nothing may differ.
    fn read_conweave(folder: &Path, name: String, imported: &Scenario, sets: &[String]) -> Result<Case> {
        let mut loaded = imported.load(&Options { sets: sets.to_vec(), ..Options::default() })?;
        let settings = &mut Arc::make_mut(&mut loaded.plan).run;
        (settings.record_pauses, settings.record_pfc_frames) = (false, true);
        let theirs = Theirs::read(folder, &loaded.plan).map_err(|error| vec![error])?;
        let (totals, promised) = (conweave::Totals::read(folder)?, Promised::Equal);
        let ends = htsim::Ends::default();
        Ok(Case { name, loaded, theirs, queue: None, traces: None, totals, random: false, promised, ends })
    }

    /// What it costs to run, for the order of runs only.
    fn cost(&self) -> u64 {
        self.theirs.flows.iter().fold(0, |sum: u64, flow| sum.saturating_add(flow.size_bytes))
    }

    /// Runs it here and compares.
    fn run(&self, times: &Times, watch: &mut dyn FnMut(Position)) -> Result<Compared> {
        let plan = &self.loaded.plan;
        let mut kept = Kept {
            names: Names::of(plan),
            ours: Ours::default(),
            queue: OurQueue::default(),
            traces: self.traces.as_ref().map(|_| tcd::OurTraces::default()),
            ends: HashMap::new(),
        };
        let end = drive(&self.loaded, Keep::default(), &mut kept, watch).map_err(|error| {
            vec![Diagnostic::new(format!("`{}` cannot be run", self.name)).label(error.to_string())]
        })?;
        kept.queue.count();
        let (mut ours, ends) = (kept.ours, kept.ends);
        ours.failure = end.failure.as_ref().map(|failure| xoff_results::failure::explain(failure, &kept.names));
        let mut agreement = compare(&self.theirs, &ours, self.random, self.promised).map_err(|error| vec![error])?;
        let means = match (&self.traces, &kept.traces) {
            (Some(theirs), Some(ours)) => theirs.compare(plan, ours),
            _ => Vec::new(),
        };
        agreement.bounds.extend(self.ends.bound(&ends));
        agreement.bounds.extend(means.iter().filter_map(tcd::Mean::bound));
        agreement.bounds.extend(self.totals.iter().flat_map(|totals| totals.bounds(&end.counters)));
        Ok(Compared {
            name: self.name.clone(),
            scheme: self.loaded.schemes.iter().map(|scheme| scheme.label.as_str()).collect::<Vec<_>>().join("+"),
            held: agreement.held(),
            agreement,
            queue: self.queue.as_ref().map(|queue| queue.compare(plan, &kept.queue)),
            means,
            wall_seconds_ours: (end.wall + end.setup).as_secs_f64(),
            cpu_seconds_ours: end.run_cpu.as_secs_f64(),
            packet_hops: end.counters.packet_hops,
            seconds_theirs: times.seconds.get(&self.name).copied(),
        })
    }
}

/// How to run.
pub struct ValidateOptions<'a> {
    /// Runs at the same time.
    pub jobs: usize,
    pub times: &'a Times,
}

/// Runs all, the longest first; `watch` receives the progress of each.
pub fn run<W: FnMut(Position)>(
    cases: &[Case],
    options: &ValidateOptions<'_>,
    watch: &(dyn Fn(&str) -> W + Sync),
) -> Result<Vec<Compared>> {
    let mut queue: Vec<usize> = (0..cases.len()).collect();
    queue.sort_by_key(|&index| std::cmp::Reverse(cases[index].cost()));
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, queue.len().max(1)) {
            scope.spawn(|| {
                while let Some(&index) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut watch = watch(&cases[index].name);
                    let run = cases[index].run(options.times, &mut watch);
                    if let Ok(mut found) = found.lock() {
                        found.push((index, run));
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by_key(|(index, _)| *index);
    let (mut compared, mut problems) = (Vec::new(), Vec::new());
    for (_, run) in found {
        match run {
            Ok(run) => compared.push(run),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(compared) } else { Err(problems) }
}

/// Whether their run drew random numbers that change its results: marks between two thresholds, for
/// a scheme that heeds them, or losses.
fn draws(config: &Config<'_>, loaded: &Loaded) -> std::result::Result<bool, Diagnostic> {
    let directions = || loaded.plan.links.iter().flat_map(|link| [&link.a_to_b, &link.b_to_a]);
    if directions().any(|direction| direction.loss > 0.0) {
        return Ok(true);
    }
    if !config.flag("ENABLE_QCN")? || !matches!(config.mode()?, keys::DCQCN | keys::DCTCP) {
        return Ok(false);
    }
    let (low, high) = (config.map("KMIN_MAP")?, config.map("KMAX_MAP")?);
    let at = |map: &[(u64, &str, _)], bps: u64| {
        let row = map.iter().find(|(rate, _, _)| *rate == bps)?;
        row.1.parse::<u64>().ok()
    };
    Ok(directions().any(|direction| at(&low, direction.rate.bps()) < at(&high, direction.rate.bps())))
}

/// Takes what is compared.
struct Kept {
    names: Names,
    ours: Ours,
    queue: OurQueue,
    /// Flows of such a run end where they are received.
    traces: Option<tcd::OurTraces>,
    /// When flows end for their senders, in picoseconds.
    ends: HashMap<FlowKey, u64>,
}

impl Sink for Kept {
    fn flows(&mut self, flows: &[FlowRecord]) -> io::Result<()> {
        if let Some(traces) = &mut self.traces {
            flows.iter().for_each(|flow| traces.know(flow));
        }
        let received = self.traces.is_some();
        let flow = |flow: &FlowRecord| OurFlow {
            key: (flow.src, flow.dst, flow.ports.0, flow.ports.1),
            size_bytes: flow.size_bytes.unwrap_or(0),
            start_ns: flow.start.ps() / 1000,
            fct_ns: if received { flow.delivered_at } else { flow.acked_at }
                .map(|at| at.saturating_since(flow.start).ps() / 1000),
        };
        self.ours.flows.extend(flows.iter().map(flow));
        let ends = flows.iter().filter_map(|flow| Some((flow, flow.acked_at?.ps())));
        self.ends.extend(ends.map(|(flow, end)| ((flow.src, flow.dst, flow.ports.0, flow.ports.1), end)));
        Ok(())
    }
    fn pauses(&mut self, _: &[PauseRecord]) -> io::Result<()> {
        Ok(())
    }
    fn samples(&mut self, samples: &[Sample]) -> io::Result<()> {
        match &mut self.traces {
            Some(traces) => traces.take(samples),
            None => self.queue.take(samples),
        }
        Ok(())
    }
    fn pfc_frames(&mut self, frames: &[PfcRecord]) -> io::Result<()> {
        let names = &self.names;
        let line = |frame: &PfcRecord| {
            let node = names.node_of(frame.port);
            PfcLine {
                at_ns: frame.at.ps() / 1000,
                node,
                is_switch: !names.is_host(node),
                port: names.number_of(frame.port),
                pause: frame.pause,
            }
        };
        self.ours.frames.extend(frames.iter().map(line));
        Ok(())
    }
}
