//! The papers' experiments, run from data, drawn, and their claims judged.
//!
//! Reading order: [`catalogue`] (the files), [`experiment`], [`claims`] and [`reading`] (what they state),
//! [`interpretation_set`] (which interpretations are run), [`runner`] (runs made once), [`results`] (what they yielded),
//! [`expression`] and `judge` (verdicts), `figure`, `tree` and `report` (what people see).

pub mod catalogue;
pub(crate) mod change;
pub mod claims;
pub mod cross;
pub mod experiment;
pub mod expression;
pub(crate) mod figure;
pub mod interpretation_set;
pub(crate) mod judge;
pub mod reading;
pub(crate) mod report;
pub(crate) mod report_data;
pub mod results;
pub mod runner;
pub mod scale;
pub(crate) mod search;
pub mod store;
pub mod tolerance;
pub(crate) mod tree;

use catalogue::Catalogue;
use claims::Claim;
use experiment::{Experiment, RunGroup, What};
use expression::Data;
use figure::Shown;
use judge::By;
use report_data::{ClaimResult, ExperimentPage, PaperPage, Report, Verdict};
use results::Results;
use runner::{Budget, RunOptions};
use scale::Scale;
use std::collections::BTreeMap;
use std::sync::Arc;
use xoff_results::figures::chart::Chart;
use xoff_scenario::Diagnostic;
use xoff_sweep::pool::{Failed, Progress};

/// A set of experiments under one reading of their papers, found in order, ready to run.
pub struct Reproduction<'a> {
    catalogue: &'a Catalogue,
    asked: Vec<&'a Experiment>,
    needed: Vec<&'a Experiment>,
    claims: Vec<&'a Claim>,
    scale: Scale,
}

/// What has been made: the pages, and the figures as files.
pub struct Reproduced {
    pub report: Report,
    pub charts: Vec<Chart>,
}

/// What became of the claims, and of which runs.
pub struct Judgement {
    results: Arc<BTreeMap<String, Results>>,
    pub(crate) judged: Vec<ClaimResult>,
}

/// Runs by their fingerprints: what several readings or figures share counts once. Of each its CPU seconds, and whether
/// it was found finished.
pub type Spent = BTreeMap<String, (f64, bool)>;

impl Judgement {
    /// What the runs yielded, by experiment.
    pub fn results(&self) -> &BTreeMap<String, Results> {
        &self.results
    }

    /// What its runs took, whenever they were made.
    pub fn spent(&self) -> Spent {
        let cells = self.results.values().flat_map(|results| &results.groups).flat_map(|group| &group.cells);
        cells.flat_map(|cell| &cell.seeds).map(|run| (run.inputs.clone(), (run.cpu_seconds, run.found))).collect()
    }
}

impl<'a> Reproduction<'a> {
    /// Checks everything that can be checked without running: scenarios, measures, expressions, figures.
    pub fn prepare(catalogue: &'a Catalogue, names: &[String], scale: Scale) -> Result<Reproduction<'a>, Failed> {
        let asked = catalogue.select(names).map_err(Failed::BadInput)?;
        let claims: Vec<&Claim> =
            catalogue.claims.iter().filter(|claim| asked.iter().any(|of| of.id == claim.experiment.value)).collect();
        let needed = runner::needed(catalogue, &asked, &elsewhere(&claims));
        let reproduction = Reproduction { catalogue, asked, needed, claims, scale };
        let mut rehearsed = runner::rehearse(&reproduction.needed, scale).map_err(Failed::BadInput)?;
        runner::share(catalogue, &mut rehearsed);
        let rehearsed = Arc::new(rehearsed);
        let data = reproduction.data(&rehearsed, true);
        reproduction.judge(&data, By::Intervals)?;
        reproduction.check_figures(&data)?;
        reproduction.asked.iter().try_for_each(|experiment| tree::check(experiment, scale))?;
        reproduction.draw(&rehearsed)?;
        Ok(reproduction)
    }

    /// Draws what was run, and puts it on pages.
    pub fn report(&self, options: &RunOptions, found: &Judgement) -> Result<Reproduced, Failed> {
        let shown = self.draw(&found.results)?;
        let papers = self.pages(options, &found.results, &found.judged, &shown)?;
        let report = Report {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scale: self.scale.name().to_owned(),
            seeds: options.seeds,
            jobs: options.jobs,
            papers,
            ..Report::default()
        };
        let chart = |(_, shown)| match shown {
            Shown::Chart(chart) => Some(*chart),
            Shown::Table(_) => None,
        };
        Ok(Reproduced { report, charts: shown.into_iter().filter_map(chart).collect() })
    }

    /// Makes what is not made yet, and judges; adds seeds for claims that are undecided, as far as the budget goes.
    pub fn verdicts(&self, options: &RunOptions, watch: &(dyn Fn(Progress) + Sync)) -> Result<Judgement, Failed> {
        let mut options = options.clone();
        loop {
            let found = self.verdicts_of(&options, watch)?;
            match self.more_seeds(&options, &found) {
                more if more.is_empty() => return Ok(found),
                more => options.more_seeds.extend(more),
            }
        }
    }

    /// The experiments whose claims are undecided, those that take the least time first, with twice their seeds.
    fn more_seeds(&self, options: &RunOptions, found: &Judgement) -> Vec<(String, u64)> {
        let Budget { max_seeds, cpu_seconds } = options.budget;
        let undecided = |claim: &&ClaimResult| claim.verdict == Verdict::Undecided && claim.contradicted.is_empty();
        // What far more seeds than there may be would not decide, once there are enough of them to tell.
        let hopeless = |claim: &ClaimResult| {
            claim.seeds.is_some_and(|seeds| seeds.count >= 8) && claim.seeds_needed.is_some_and(|n| n > 4 * max_seeds)
        };
        let open: Vec<&ClaimResult> = found.judged.iter().filter(undecided).filter(|claim| !hopeless(claim)).collect();
        let claims: Vec<&Claim> =
            self.claims.iter().copied().filter(|claim| open.iter().any(|of| of.id == claim.id.value)).collect();
        let own: Vec<&Experiment> = self
            .needed
            .iter()
            .copied()
            .filter(|of| claims.iter().any(|claim| claim.experiment.value == of.id))
            .collect();
        let mut growing = Vec::new();
        for experiment in runner::needed(self.catalogue, &own, &elsewhere(&claims)) {
            let Some((seeds, seconds)) = found.results.get(&experiment.id).and_then(runner::seeds_and_cost) else {
                continue;
            };
            let next = (2 * seeds).min(max_seeds);
            if experiment.groups.iter().any(|group| group.source().is_none()) && next > seeds {
                growing.push((seconds / seeds as f64 * (next - seeds) as f64, experiment.id.clone(), next));
            }
        }
        growing.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        let mut left = cpu_seconds - self.added_seconds(options, found);
        let afford = |(cost, id, next): (f64, String, u64)| {
            left -= cost;
            (left >= 0.0).then_some((id, next))
        };
        growing.into_iter().map_while(afford).collect()
    }

    /// CPU seconds of the seeds that were added so far.
    fn added_seconds(&self, options: &RunOptions, found: &Judgement) -> f64 {
        let added = |(id, &count): (&String, &u64)| {
            let experiment = self.needed.iter().find(|of| of.id == *id)?;
            let (_, seconds) = runner::seeds_and_cost(found.results.get(id)?)?;
            let own = experiment.groups.iter().map(|group| group.seeds[self.scale.index()]).max()?;
            let own = options.seeds.unwrap_or(own).min(count);
            Some(seconds * (1.0 - own as f64 / count as f64))
        };
        options.more_seeds.iter().filter_map(added).sum()
    }

    fn verdicts_of(&self, options: &RunOptions, watch: &(dyn Fn(Progress) + Sync)) -> Result<Judgement, Failed> {
        let finished = runner::run_all(&self.needed, options, watch)?;
        let mut results: BTreeMap<String, Results> =
            self.needed.iter().map(|experiment| (experiment.id.clone(), finished.results(experiment))).collect();
        runner::share(self.catalogue, &mut results);
        let results = Arc::new(results);
        let judged = self.judge(&self.data(&results, false), By::Intervals)?;
        Ok(Judgement { results, judged })
    }

    /// The runs this needs, whether made or not.
    pub fn expected_cpu_seconds(&self) -> f64 {
        self.needed.iter().map(|experiment| experiment.cost[self.scale.index()]).sum()
    }

    fn data(&self, results: &Arc<BTreeMap<String, Results>>, rehearsal: bool) -> Arc<Data> {
        let mut data = Data { results: results.clone(), known: Vec::new(), groups: Vec::new(), rehearsal };
        for experiment in &self.needed {
            for group in &experiment.groups {
                let source = match &group.what {
                    What::From(other) => self.catalogue.experiment(&other.value),
                    _ => Some(*experiment),
                };
                let groups = source.map(|source| &source.groups[..]).unwrap_or_default();
                let taken = matches!(group.what, What::From(_));
                for own in groups.iter().filter(|own| taken || own.name == group.name) {
                    data.groups.push((experiment.id.clone(), own.name.clone()));
                    for axis in &own.axes {
                        data.known.extend(axis.values.iter().map(|value| {
                            (experiment.id.clone(), own.name.clone(), axis.name.clone(), value.name.clone())
                        }));
                    }
                }
            }
        }
        Arc::new(data)
    }

    fn judge(&self, data: &Arc<Data>, by: By) -> Result<Vec<ClaimResult>, Failed> {
        let (mut judged, mut problems) = (Vec::new(), Vec::new());
        for claim in &self.claims {
            match judge::judge(claim, data, self.scale, by) {
                Ok(verdict) => judged.push(verdict),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(judged) } else { Err(Failed::BadInput(problems)) }
    }

    /// Drawing leaves out what a scale does not run; a value that no scale knows is a mistake.
    fn check_figures(&self, data: &Data) -> Result<(), Failed> {
        for experiment in &self.asked {
            let known = |axis: &str| {
                let own = data.known.iter().filter(|(id, _, of, _)| *id == experiment.id && of == axis);
                // Groups of runs have many values in common.
                let mut names: Vec<&str> = Vec::new();
                for (.., value) in own {
                    if !names.contains(&value.as_str()) {
                        names.push(value);
                    }
                }
                names
            };
            let series = || experiment.figures.iter().flat_map(|figure| &figure.series);
            let against = series().filter_map(|series| series.against.as_ref()).flat_map(|against| &against.at);
            let drawn = series().flat_map(|series| &series.only).chain(against);
            for (axis, value) in drawn.flat_map(|(axis, values)| values.iter().map(move |value| (axis, value))) {
                let known = known(axis);
                if !known.iter().any(|known| results::same_value(known, value)) {
                    let error = format!("a figure of `{}` draws {axis} `{value}`, which is never run", experiment.id);
                    return Err(Failed::BadInput(vec![Diagnostic::new(error).nearest(value, known)]));
                }
            }
            let quotes = experiment.figures.iter().flat_map(|figure| &figure.paper);
            for at in quotes.flat_map(|quote| &quote.at) {
                let known = known(&at.axis);
                if let Some(value) =
                    at.values.iter().find(|value| !known.iter().any(|known| results::same_value(known, value)))
                {
                    let error = figure::paper::unknown_value(at, value, known.iter().copied());
                    return Err(Failed::BadInput(vec![error]));
                }
            }
        }
        Ok(())
    }

    /// The figures and tables of the experiments asked for, each with its experiment.
    fn draw(&self, results: &BTreeMap<String, Results>) -> Result<Vec<(String, Shown)>, Failed> {
        let empty = Results::default();
        let mut drawn = Vec::new();
        for experiment in &self.asked {
            let own = results.get(&experiment.id).unwrap_or(&empty);
            for spec in &experiment.figures {
                let shown = figure::draw(spec, &experiment.id, own).map_err(|why| {
                    let error = Diagnostic::new(format!("a figure of `{}` cannot be drawn", experiment.id));
                    Failed::BadInput(vec![error.label(why)])
                })?;
                drawn.extend(shown.into_iter().map(|shown| (experiment.id.clone(), shown)));
            }
        }
        Ok(drawn)
    }

    fn pages(
        &self,
        options: &RunOptions,
        results: &BTreeMap<String, Results>,
        judged: &[ClaimResult],
        shown: &[(String, Shown)],
    ) -> Result<Vec<PaperPage>, Failed> {
        let mut papers = Vec::new();
        for paper in &self.catalogue.papers {
            let own: Vec<&&Experiment> = self.asked.iter().filter(|experiment| experiment.paper == paper.id).collect();
            if own.is_empty() {
                continue;
            }
            let mut experiments = Vec::new();
            for experiment in &own {
                let page = self.page(experiment, results, judged, shown)?;
                experiments.push(ExperimentPage { trees: tree::draw(experiment, options)?, ..page });
            }
            let deviations = self.catalogue.deviations.iter();
            let about = |ids: &[String]| own.iter().any(|experiment| ids.contains(&experiment.id));
            papers.push(PaperPage {
                about: paper.clone(),
                experiments,
                deviations: deviations.filter(|deviation| about(&deviation.experiments)).cloned().collect(),
                ..PaperPage::default()
            });
        }
        Ok(papers)
    }

    fn page(
        &self,
        experiment: &Experiment,
        results: &BTreeMap<String, Results>,
        judged: &[ClaimResult],
        shown: &[(String, Shown)],
    ) -> Result<ExperimentPage, Failed> {
        let mut page = ExperimentPage {
            id: experiment.id.clone(),
            title: experiment.title.clone(),
            place: experiment.place.clone(),
            setting: experiment.setting.to_owned(),
            shows: experiment.shows.clone(),
            reads: experiment.reads.clone(),
            checked_by: experiment.checked_by.clone(),
            scaled: experiment.scaled_text(self.scale),
            at_full: experiment.at_full,
            claims: judged.iter().filter(|claim| claim.experiment == experiment.id).cloned().collect(),
            runs_from: experiment.groups.iter().find_map(RunGroup::source).unwrap_or_default().to_owned(),
            ..ExperimentPage::default()
        };
        for (_, shown) in shown.iter().filter(|(id, _)| *id == experiment.id) {
            match shown {
                Shown::Chart(chart) => {
                    page.figures.push(figure::drawn(chart).map_err(|why| Failed::System(std::io::Error::other(why)))?);
                }
                Shown::Table(table) => page.tables.push(table.clone()),
            }
        }
        let Some(own) = results.get(&experiment.id) else { return Ok(page) };
        for group in &own.groups {
            for cell in &group.cells {
                let values = group.axes.iter().zip(&cell.at).map(|(axis, &value)| axis.values[value].name.as_str());
                let name = values.collect::<Vec<_>>().join(", ");
                for run in &cell.seeds {
                    page.runs += 1;
                    page.cpu_seconds += run.cpu_seconds;
                    page.packet_hops += run.packet_hops;
                    page.failures.extend(run.failure.as_ref().map(|why| format!("{name}, seed {}: {why}", run.seed)));
                }
            }
        }
        Ok(page)
    }
}

/// Experiments that claims name beside their own: `experiment='pcn-fig14'`.
fn elsewhere(claims: &[&Claim]) -> Vec<String> {
    let mut found = Vec::new();
    for text in claims.iter().flat_map(|claim| [&claim.value, &claim.direction]).flatten() {
        for rest in text.value.split("experiment").skip(1) {
            let rest = rest.trim_start().strip_prefix('=').unwrap_or("").trim_start();
            let Some(quote) = rest.chars().next().filter(|c| matches!(c, '\'' | '"')) else { continue };
            found.extend(rest[1..].split(quote).next().map(str::to_owned));
        }
    }
    found.sort();
    found.dedup();
    found
}
