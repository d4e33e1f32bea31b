//! Makes the run of a tree, and draws it.
//!
//! Results of experiments are numbers and curves; who stopped whom is in the tables of a run. So that run is made once
//! more, with tables, and what the picture shows is kept beside the runs under a fingerprint of its own.

use super::spec::TreeSpec;
use crate::reproduce::experiment::{Experiment, RunGroup, What};
use crate::reproduce::report_data::Pictured;
use crate::reproduce::results::same_value;
use crate::reproduce::runner::RunOptions;
use crate::reproduce::scale::Scale;
use crate::reproduce::store;
use serde_json::json;
use std::io;
use xoff_engine::Time;
use xoff_engine::quantity::format_span;
use xoff_results::figures::tree;
use xoff_results::figures::tree::scene::Scene;
use xoff_results::replay::scene_of;
use xoff_scenario::diagnostic::Diagnostic;
use xoff_scenario::reader::list;
use xoff_scenario::{Loaded, Scenario};
use xoff_sweep::pool::{self, Failed};
use xoff_sweep::seal::{self, Fingerprint, build_id};

/// Finds the run of each tree that this scale does not leave out: what is wrong is known before anything runs.
pub fn check(experiment: &Experiment, scale: Scale) -> Result<(), Vec<Diagnostic>> {
    experiment.trees.iter().try_for_each(|spec| run(spec, experiment, scale, |group| group.first_seed).map(|_| ()))
}

/// The trees of an experiment, each made or found made.
pub fn draw(experiment: &Experiment, options: &RunOptions) -> Result<Vec<Pictured>, Failed> {
    if experiment.trees.is_empty() {
        return Ok(Vec::new());
    }
    let build = build_id()?;
    let mut jobs = Vec::new();
    for spec in &experiment.trees {
        let run = run(spec, experiment, options.scale, |group| options.seeds_of(experiment, group).start)?;
        jobs.extend(run.map(|run| Job { experiment, spec, run, options, build: &build }));
    }
    pool::run_all(&jobs, options.jobs, &|_| {})
}

/// The run that a tree is of.
struct TreeRun {
    /// The values of its axes, in words.
    name: String,
    loaded: Loaded,
}

/// The group and the cell that it is about; every axis has one value.
fn cell<'a>(
    spec: &TreeSpec,
    experiment: &'a Experiment,
) -> Result<(&'a RunGroup, &'a Scenario, Vec<usize>), Diagnostic> {
    let Some(group) = experiment.group(&spec.runs.value) else {
        let names = || experiment.groups.iter().map(|group| group.name.as_str());
        let error = spec.runs.error(format!("there are no runs `{}`", spec.runs.value));
        return Err(error.label(list(names())).nearest(&spec.runs.value, names()));
    };
    let What::Scenario(scenario) = &group.what else {
        let error = spec.runs.error(format!("the runs `{}` are of no scenario", spec.runs.value));
        return Err(error.label("a tree is drawn of runs that the experiment makes itself"));
    };
    if let Some((axis, _)) = spec.values.iter().find(|(axis, _)| group.axes.iter().all(|of| of.name != axis.value)) {
        let names = || group.axes.iter().map(|axis| axis.name.as_str());
        let error = axis.error(format!("the runs `{}` have no axis `{}`", group.name, axis.value));
        return Err(error.label(list(names())).nearest(&axis.value, names()));
    }
    let mut cell = Vec::new();
    for axis in &group.axes {
        let Some((at, value)) = spec.values.iter().find(|(name, _)| name.value == axis.name) else {
            let error = spec.place.error(format!("the tree `{}` does not say which run", spec.name));
            return Err(error.label(format!("`where` lacks the axis `{}`", axis.name)));
        };
        let names = || axis.values.iter().map(|value| value.name.as_str());
        let found = names().position(|name| same_value(name, value)).ok_or_else(|| {
            let error = at.error(format!("the axis `{}` has no value `{value}`", axis.name));
            error.label(list(names())).nearest(value, names())
        })?;
        cell.push(found);
    }
    Ok((group, scenario, cell))
}

/// Its run, if this scale has it.
fn run(
    spec: &TreeSpec,
    experiment: &Experiment,
    scale: Scale,
    seed: impl Fn(&RunGroup) -> u64,
) -> Result<Option<TreeRun>, Vec<Diagnostic>> {
    let (group, scenario, cell) = cell(spec, experiment).map_err(|problem| vec![problem])?;
    if !group.cells(scale).contains(&cell) {
        return Ok(None);
    }
    let mut loaded = scenario.load(&group.options(scale, &cell, seed(group)))?;
    check_run(spec, &loaded).map_err(|problem| vec![problem])?;
    // What the picture is read from, whatever the scenario keeps.
    loaded.output.figures = false;
    loaded.output.activity = true;
    Ok(Some(TreeRun { name: group.cell_name(&cell), loaded }))
}

fn check_run(spec: &TreeSpec, loaded: &Loaded) -> Result<(), Diagnostic> {
    let span = loaded.plan.run.stop.saturating_since(Time::ZERO);
    if let Some(at) = spec.at.filter(|at| *at > span) {
        let error = spec.place.error(format!("the run has no instant {}", format_span(at)));
        return Err(error.label(format!("it stops at {}", format_span(span))));
    }
    let known = || loaded.traffic.iter().flat_map(|traffic| traffic.labels.iter().map(String::as_str));
    match spec.flows.iter().find(|flow| known().all(|label| label != flow.value)) {
        Some(flow) => {
            let error = flow.error(format!("the run has no flow `{}`", flow.value));
            Err(error.nearest(&flow.value, known()))
        }
        None => Ok(()),
    }
}

struct Job<'a> {
    experiment: &'a Experiment,
    spec: &'a TreeSpec,
    run: TreeRun,
    options: &'a RunOptions,
    build: &'a str,
}

impl pool::Job for Job<'_> {
    type Made = Pictured;

    fn name(&self) -> String {
        format!("{}, tree {}", self.experiment.id, self.spec.name)
    }

    fn run(&self) -> Result<(Pictured, bool), Failed> {
        let origin = self.options.origin(self.inputs(), self.build);
        let file = format!("{}-tree.json", origin.inputs);
        let path = self.options.folder.join("runs").join(&self.experiment.id).join(file);
        let found = store::find(&path, &origin).and_then(|value| serde_json::from_value(value["scene"].clone()).ok());
        let made = found.is_none();
        let mut scene = match found {
            Some(scene) => scene,
            None => {
                let scene = self.scene()?;
                seal::save(&path, &json!({ "inputs": origin.inputs, "build": origin.build, "scene": scene }))?;
                scene
            }
        };
        (scene.title, scene.scheme) = (self.spec.title.clone(), self.run.name.clone());
        Ok((self.pictured(&scene).map_err(io::Error::other)?, made))
    }
}

impl Job<'_> {
    fn inputs(&self) -> Fingerprint {
        let at = self.spec.at.map(format_span).unwrap_or_default();
        let own = Fingerprint::of(&self.run.loaded).with(b"tree").with(at.as_bytes());
        self.spec.flows.iter().fold(own, |own, flow| own.with(flow.value.as_bytes()))
    }

    fn scene(&self) -> Result<Scene, Failed> {
        let spec = self.spec;
        let names: Vec<String> = spec.flows.iter().map(|flow| flow.value.clone()).collect();
        let scene = scene_of(&self.run.loaded, spec.at.map(|at| Time::ZERO + at), &names)?;
        let about = |problems: Vec<Diagnostic>| {
            let why = problems.into_iter().map(|of| if of.label.is_empty() { of.message } else { of.label });
            let error = spec.place.error(format!("the tree `{}` cannot be drawn", spec.name));
            vec![error.label(why.collect::<Vec<_>>().join("; "))]
        };
        Ok(scene.map_err(about)?)
    }

    fn pictured(&self, scene: &Scene) -> Result<Pictured, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Pictured {
            file: format!("{}-{}", self.experiment.id, self.spec.name),
            title: format!("{}. {}", self.spec.title.trim_end_matches('.'), tree::caption(scene)),
            svg: tree::svg(scene)?,
            png: tree::png(scene)?,
        })
    }
}
