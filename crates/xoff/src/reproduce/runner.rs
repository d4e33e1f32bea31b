//! Runs what experiments ask for: every combination once, over the cores, and what is done already not at all.

use super::catalogue::Catalogue;
use super::experiment::{Experiment, RunGroup, What};
use super::results::{AxisValue, AxisValues, Cell, Group, Results, Run};
use super::scale::Scale;
use super::store::{self, Origin};
use crate::models;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;
use xoff_results::{failure, names};
use xoff_run::recorder::record;
use xoff_scenario::Loaded;
use xoff_scenario::diagnostic::Diagnostic;
use xoff_scenario::measure::{self, Measured};
use xoff_scenario::reader::Text;
use xoff_sweep::pool::{self, Failed, Job as _, Progress};
use xoff_sweep::seal::{Fingerprint, build_id};
use xoff_sweep::value::toml_text;

/// What is asked of the runs.
#[derive(Clone)]
pub struct RunOptions {
    pub scale: Scale,
    /// In place of the seeds of experiments that have several.
    pub seeds: Option<u64>,
    /// In place of the first of these seeds.
    pub first_seed: Option<u64>,
    pub jobs: usize,
    /// Where finished runs are kept.
    pub folder: PathBuf,
    /// Take finished runs of another build, if their inputs are otherwise the same.
    pub any_build: bool,
    /// Seeds by experiment, where its own number left claims undecided.
    pub more_seeds: BTreeMap<String, u64>,
    pub budget: Budget,
}

/// How far seeds are added for claims that are undecided.
#[derive(Clone, Copy)]
pub struct Budget {
    /// At most so many for an experiment; 0: none are added.
    pub max_seeds: u64,
    /// CPU seconds of all that is added.
    pub cpu_seconds: f64,
}

impl Budget {
    pub const NONE: Budget = Budget { max_seeds: 0, cpu_seconds: 0.0 };
}

impl RunOptions {
    pub(super) fn origin(&self, inputs: Fingerprint, build: &str) -> Origin {
        Origin { inputs: inputs.text(), build: build.to_owned(), any_build: self.any_build }
    }

    /// The seeds of a group. One seed means that nothing in it is random: it stays what it is.
    pub(super) fn seeds_of(&self, experiment: &Experiment, group: &RunGroup) -> std::ops::Range<u64> {
        let own = group.seeds[self.scale.index()];
        if own <= 1 {
            return group.first_seed..group.first_seed + own;
        }
        let first = self.first_seed.unwrap_or(group.first_seed);
        let count = self.seeds.unwrap_or(own);
        first..first + self.more_seeds.get(&experiment.id).map_or(count, |more| count.max(*more))
    }
}

/// One run to be made.
struct Job<'a> {
    experiment: &'a Experiment,
    group: &'a RunGroup,
    cell: Vec<usize>,
    seed: u64,
    cost: f64,
    options: &'a RunOptions,
    build: &'a str,
}

/// Loads every run of these experiments once, and reads its measures: what is wrong is found before anything runs.
/// Yields results that have every name and no measured value.
pub fn rehearse(experiments: &[&Experiment], scale: Scale) -> Result<BTreeMap<String, Results>, Vec<Diagnostic>> {
    let mut names = load_all(experiments, scale)?.into_iter();
    let mut all = BTreeMap::new();
    for experiment in experiments {
        let mut results = frame(experiment, scale);
        for group in &mut results.groups {
            if let Some(What::Model(name)) = experiment.group(&group.name).map(|group| &group.what) {
                group.announced = models::find(&name.value);
            }
        }
        for cell in results.groups.iter_mut().flat_map(|group| &mut group.cells) {
            let measured = names.next().unwrap_or_default();
            cell.seeds.push(Run { seed: 1, measured, ..Run::default() });
        }
        all.insert(experiment.id.clone(), results);
    }
    Ok(all)
}

/// Loads every cell of these experiments, in order, those that are alike once; yields the names of what each measures.
pub fn load_all(experiments: &[&Experiment], scale: Scale) -> Result<Vec<Measured>, Vec<Diagnostic>> {
    let mut cells: Vec<(Name, &Experiment, &RunGroup, Vec<usize>)> = Vec::new();
    for experiment in experiments {
        for group in own_groups(experiment) {
            let named = |cell: Vec<usize>| (name_of(experiment, group, &cell, scale, 0), *experiment, group, cell);
            cells.extend(group.cells(scale).into_iter().map(named));
        }
    }
    let mut seen: HashMap<&Name, usize> = HashMap::new();
    let mut different = Vec::new();
    for (name, experiment, group, cell) in &cells {
        seen.entry(name).or_insert_with(|| {
            different.push((*experiment, *group, cell));
            different.len() - 1
        });
    }
    let tried: Vec<Result<Measured, Vec<Diagnostic>>> =
        different.par_iter().map(|(experiment, group, cell)| rehearse_one(experiment, group, cell, scale)).collect();
    let mut problems: Vec<Diagnostic> = Vec::new();
    for problem in tried.iter().filter_map(|outcome| outcome.as_ref().err()).flatten() {
        // The same mistake shows in every cell; once is enough.
        if !problems.iter().any(|known| known.message == problem.message) {
            problems.push(problem.clone());
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let found = |name: &Name| tried[seen[name]].as_ref().ok().cloned().unwrap_or_default();
    Ok(cells.iter().map(|(name, ..)| found(name)).collect())
}

fn rehearse_one(
    experiment: &Experiment,
    group: &RunGroup,
    cell: &[usize],
    scale: Scale,
) -> Result<Measured, Vec<Diagnostic>> {
    let about = |problem: Diagnostic| {
        let which = match group.cell_name(cell) {
            name if name.is_empty() => format!("in the runs `{}` of {}", group.name, experiment.id),
            name => format!("in the runs `{}` of {} ({name})", group.name, experiment.id),
        };
        let help = if problem.help.is_empty() { which } else { format!("{}; {which}", problem.help) };
        Diagnostic { help, ..problem }
    };
    match &group.what {
        What::From(_) => Ok(Measured::default()),
        What::Model(name) => {
            let checked = parameters(group, cell, scale)
                .and_then(|parameters| models::check(&name.value, &parameters).map_err(|why| refused(name, why)));
            checked.map(|_| Measured::default()).map_err(|problem| vec![about(problem)])
        }
        What::Scenario(scenario) => {
            let load = || {
                let loaded = scenario.load(&group.options(scale, cell, group.first_seed))?;
                let measures = read_measures(experiment, group, &loaded).map_err(|problem| vec![problem])?;
                // Any number will do: this only shows which names there are.
                let mut measured = Measured::default();
                for name in measures.names() {
                    measured.numbers.insert(name.clone(), 1.0);
                    measured.curves.insert(name, measure::Curve { x: vec![1.0, 2.0], y: vec![1.0, 1.0] });
                }
                Ok(measured)
            };
            load().map_err(|problems: Vec<Diagnostic>| problems.into_iter().map(about).collect())
        }
    }
}

fn read_measures(experiment: &Experiment, group: &RunGroup, loaded: &Loaded) -> Result<measure::Measures, Diagnostic> {
    measure::read(measure::rows(&experiment.measures, &group.name, Path::new("."))?, &loaded.scope())
}

/// What a cell assigns to the parameters of its model.
fn parameters(group: &RunGroup, cell: &[usize], scale: Scale) -> Result<BTreeMap<String, toml::Value>, Diagnostic> {
    let mut parameters = BTreeMap::new();
    for set in group.sets(scale, cell) {
        let text = format!("v = {}", toml_text(&set.value));
        let table: toml::Table = toml::from_str(&text).map_err(|error| group.at.error(error.to_string()))?;
        parameters.extend(table.into_iter().map(|(_, value)| (set.key.clone(), value)));
    }
    Ok(parameters)
}

fn refused(name: &Text, why: String) -> Diagnostic {
    name.error(format!("the model `{}` cannot be run", name.value)).label(why)
}

/// The grid of an experiment without any run.
fn frame(experiment: &Experiment, scale: Scale) -> Results {
    let groups = experiment.groups.iter().filter(|group| !matches!(group.what, What::From(_))).map(|group| {
        let axes: Vec<AxisValues> = group
            .axes
            .iter()
            .map(|axis| AxisValues {
                name: axis.name.clone(),
                values: axis.at[scale.index()]
                    .iter()
                    .map(|&index| {
                        let choice = &axis.values[index];
                        let scheme =
                            choice.scheme.as_ref().map(|of| of.split([':', '+']).next().unwrap_or_default().to_owned());
                        AxisValue { name: choice.name.clone(), number: choice.number, scheme }
                    })
                    .collect(),
            })
            .collect();
        let cells = group.cells(scale).into_iter().map(|cell| {
            let place = |(axis, value): (usize, &usize)| {
                let known = group.axes[axis].at[scale.index()].iter().position(|index| index == value);
                known.expect("a cell has values of its axes")
            };
            Cell { at: cell.iter().enumerate().map(place).collect(), seeds: Vec::new() }
        });
        Group { name: group.name.clone(), axes, cells: cells.collect(), announced: None }
    });
    Results { groups: groups.collect() }
}

/// What a run is, before anything is loaded: experiment, group, what is set, seed. Several forms of an experiment have
/// most of their runs in common.
type Name = (String, String, Vec<String>, u64);

fn name_of(experiment: &Experiment, group: &RunGroup, cell: &[usize], scale: Scale, seed: u64) -> Name {
    (experiment.id.clone(), group.name.clone(), group.options(scale, cell, seed).sets, seed)
}

/// Runs that are made, from which the results of each experiment can be put together.
pub struct Finished<'a> {
    options: &'a RunOptions,
    runs: HashMap<Name, Run>,
}

impl Finished<'_> {
    /// All runs of an experiment that was among those run, in whatever form.
    pub fn results(&self, experiment: &Experiment) -> Results {
        let scale = self.options.scale;
        let mut results = frame(experiment, scale);
        for (group, own) in results.groups.iter_mut().zip(own_groups(experiment)) {
            assert_eq!(group.name, own.name, "the frame has the groups of its experiment");
            for (cell, at) in group.cells.iter_mut().zip(own.cells(scale)) {
                let seeds = self.options.seeds_of(experiment, own);
                let run = |seed| self.runs.get(&name_of(experiment, own, &at, scale, seed)).cloned();
                // All of them or none: what is compared seed by seed is found by its place.
                cell.seeds = seeds.map(run).collect::<Option<Vec<Run>>>().unwrap_or_default();
            }
        }
        results
    }
}

/// Makes all runs of these experiments that are not made yet. The same experiment may be there in several forms.
pub fn run_all<'a>(
    experiments: &[&Experiment],
    options: &'a RunOptions,
    watch: &(dyn Fn(Progress) + Sync),
) -> Result<Finished<'a>, Failed> {
    let build = build_id()?;
    let mut names = HashSet::new();
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for experiment in experiments {
        let own = jobs_of(experiment, options, &build);
        jobs.extend(own.into_iter().filter(|job| names.insert(job.identity())));
    }
    let runs = pool::run_all(&jobs, options.jobs, watch)?;
    Ok(Finished { options, runs: jobs.iter().map(Job::identity).zip(runs).collect() })
}

/// The most seeds of any cell of an experiment, if there are several, and the CPU seconds of the cells that have several.
pub fn seeds_and_cost(results: &Results) -> Option<(u64, f64)> {
    let cells = || results.groups.iter().flat_map(|group| &group.cells).filter(|cell| cell.seeds.len() > 1);
    let seeds = cells().map(|cell| cell.seeds.len() as u64).max()?;
    Some((seeds, cells().flat_map(|cell| &cell.seeds).map(|run| run.cpu_seconds).sum()))
}

/// The groups that an experiment runs itself.
fn own_groups(experiment: &Experiment) -> impl Iterator<Item = &RunGroup> {
    experiment.groups.iter().filter(|group| group.source().is_none())
}

/// The runs of an experiment, seed by seed.
fn jobs_of<'a>(experiment: &'a Experiment, options: &'a RunOptions, build: &'a str) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for group in own_groups(experiment) {
        for cell in group.cells(options.scale) {
            for seed in options.seeds_of(experiment, group) {
                jobs.push(Job { experiment, group, cell: cell.clone(), seed, cost: 0.0, options, build });
            }
        }
    }
    // An experiment that does not say what it costs counts a second for each run.
    let stated = experiment.cost[options.scale.index()];
    let each = if stated > 0.0 { stated / jobs.len().max(1) as f64 } else { 1.0 };
    jobs.iter_mut().for_each(|job| job.cost = each);
    jobs
}

impl pool::Job for Job<'_> {
    type Made = Run;

    fn name(&self) -> String {
        let cell = self.group.cell_name(&self.cell);
        let cell = if cell.is_empty() { String::new() } else { format!(" {cell}") };
        format!("{}{cell}, seed {}", self.experiment.id, self.seed)
    }

    fn cost(&self) -> f64 {
        self.cost
    }

    fn run(&self) -> Result<(Run, bool), Failed> {
        match &self.group.what {
            What::Scenario(scenario) => {
                let loaded = scenario.load(&self.group.options(self.options.scale, &self.cell, self.seed))?;
                let measures = self.experiment.measures_of(self.group);
                let inputs = measures.fold(Fingerprint::of(&loaded), |inputs, measure| {
                    inputs.with(toml_text(&measure.value).as_bytes())
                });
                self.find_or(inputs, || self.simulate(&loaded))
            }
            What::From(_) => Err(Failed::System(io::Error::other("runs that are taken from elsewhere are not made"))),
            What::Model(model) => {
                let inputs = Fingerprint::start().with(model.value.as_bytes());
                let sets = self.group.sets(self.options.scale, &self.cell);
                let inputs = sets
                    .iter()
                    .fold(inputs, |inputs, set| inputs.with(set.key.as_bytes()).with(toml_text(&set.value).as_bytes()));
                self.find_or(inputs, || self.evaluate(model))
            }
        }
    }
}

impl Job<'_> {
    fn identity(&self) -> Name {
        name_of(self.experiment, self.group, &self.cell, self.options.scale, self.seed)
    }

    /// The run of these inputs, found or made. It is kept as `runs/pcn-fig2/FINGERPRINT.json`: what several readings run
    /// alike is run once.
    fn find_or(&self, inputs: Fingerprint, make: impl FnOnce() -> Result<Run, Failed>) -> Result<(Run, bool), Failed> {
        let origin = self.options.origin(inputs, self.build);
        let folder = self.options.folder.join("runs").join(&self.experiment.id);
        let path = folder.join(format!("{}.json", origin.inputs));
        if let Some(run) = store::load(&path, &origin) {
            return Ok((run, false));
        }
        let run = Run { inputs: origin.inputs.clone(), seed: self.seed, ..make()? };
        store::save(&path, &origin, &run)?;
        Ok((run, true))
    }

    fn evaluate(&self, model: &Text) -> Result<Run, Failed> {
        let began = Instant::now();
        let measured = parameters(self.group, &self.cell, self.options.scale)
            .and_then(|of| models::run(&model.value, &of).map_err(|why| refused(model, why)))
            .map_err(|problem| Failed::BadInput(vec![problem]))?;
        Ok(Run { measured, cpu_seconds: began.elapsed().as_secs_f64(), ..Run::default() })
    }

    fn simulate(&self, loaded: &Loaded) -> Result<Run, Failed> {
        let measures =
            read_measures(self.experiment, self.group, loaded).map_err(|problem| Failed::BadInput(vec![problem]))?;
        let recording = record(loaded, &measures, |_| {})?;
        if let Some(why) = &recording.imbalance {
            // A fault of the simulator: no number of this run can be trusted.
            return Err(Failed::System(io::Error::other(format!("{}: {why}", self.name()))));
        }
        let explain = |of| failure::explain(of, &names::Names::of(&loaded.plan));
        Ok(Run {
            measured: measures.take(&loaded.plan, &recording),
            failure: recording.failure.as_ref().map(explain),
            cpu_seconds: recording.cpu_seconds,
            packet_hops: recording.counters.packet_hops,
            ..Run::default()
        })
    }
}

/// The experiments whose runs these need: their own, and those that they take runs from.
pub fn needed<'a>(catalogue: &'a Catalogue, asked: &[&'a Experiment], also: &[String]) -> Vec<&'a Experiment> {
    let mut ids: Vec<&str> = also.iter().map(String::as_str).collect();
    ids.extend(asked.iter().map(|experiment| experiment.id.as_str()));
    let mut at = 0;
    while let Some(id) = ids.get(at) {
        let groups = catalogue.experiment(id).map_or(&[][..], |experiment| &experiment.groups);
        ids.extend(groups.iter().filter_map(RunGroup::source));
        at += 1;
    }
    catalogue.experiments.iter().filter(|experiment| ids.contains(&experiment.id.as_str())).collect()
}

/// Gives experiments that take their runs from others those results under their own name.
pub fn share(catalogue: &Catalogue, results: &mut BTreeMap<String, Results>) {
    for experiment in &catalogue.experiments {
        for group in &experiment.groups {
            if let What::From(other) = &group.what
                && let Some(source) = results.get(&other.value).cloned()
            {
                let own = results.entry(experiment.id.clone()).or_default();
                own.groups.extend(source.groups);
            }
        }
    }
}
