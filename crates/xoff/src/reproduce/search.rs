//! Every combination of choices at some open points of a paper, and how many of its claims hold under each: the grid
//! that a reading was chosen from.

use super::Reproduction;
use super::catalogue::Catalogue;
use super::experiment::Experiment;
use super::judge::By;
use super::reading::Readings;
use super::report::Totals;
use super::report_data::{ClaimResult, Point, Verdict};
use super::results::Results;
use super::runner::{self, RunOptions};
use super::scale::Scale;
use std::collections::BTreeMap;
use std::sync::Arc;
use xoff_results::figures::chart::{Axis, AxisUnit, Chart, Line};
use xoff_results::figures::colour;
use xoff_scenario::Diagnostic;
use xoff_sweep::plan;
use xoff_sweep::pool::{Failed, Progress};

/// More combinations than this are no search but a lottery.
const MOST: usize = 2000;

/// The grid of one paper.
pub struct Search {
    pub paper: String,
    /// The points that were varied.
    points: Vec<String>,
    claims: Vec<String>,
    /// Best first.
    tried: Vec<Tried>,
}

/// One combination.
struct Tried {
    /// Choice of each varied ambiguity.
    choices: Vec<String>,
    /// The readings of the paper that are this combination.
    readings: Vec<String>,
    totals: Totals,
    verdicts: Vec<Verdict>,
}

/// Name of the choice that the paper's file states.
pub const STATED: &str = "stated";

/// The combinations that naming some points asks for; `all` for every point.
fn combinations(readings: &Readings, wanted: &[String]) -> Result<(Vec<usize>, Vec<Vec<usize>>), Diagnostic> {
    let of = |name: &str| readings.points.iter().position(|point| point.name == name);
    let mut varied: Vec<usize> = Vec::new();
    for name in wanted {
        match of(name) {
            Some(index) => varied.push(index),
            None if name == STATED => varied.extend(&readings.searched),
            None if name == "all" => varied.extend(0..readings.points.len()),
            None => {
                let names = || readings.points.iter().map(|point| point.name.as_str());
                let error = Diagnostic::new(format!("`{}` leaves no point `{name}` open", readings.paper));
                let known = names().collect::<Vec<_>>().join(", ");
                return Err(error.label(format!("its points are {known}")).nearest(name, names()));
            }
        }
    }
    varied.sort_unstable();
    varied.dedup();
    let count: usize = varied.iter().map(|&point| readings.points[point].choices.len()).product();
    if count > MOST {
        let error = Diagnostic::new(format!("{count} combinations are more than {MOST}"));
        return Err(error.help("name the points that matter: --search POINT,POINT"));
    }
    let choices = |(index, point): (usize, &Point)| match varied.contains(&index) {
        true => (0..point.choices.len()).collect(),
        false => vec![0],
    };
    let all = plan::combinations(readings.points.iter().enumerate().map(choices));
    Ok((varied, all))
}

/// A search that is found in order, ready to run.
pub struct Prepared<'a> {
    catalogue: &'a Catalogue,
    readings: &'a Readings,
    /// The points that are varied, and the choices at all points of every combination.
    varied: Vec<usize>,
    combinations: Vec<Vec<usize>>,
    whole: Reproduction<'a>,
    forms: BTreeMap<FormKey, Experiment>,
}

impl<'a> Prepared<'a> {
    /// Loads every run of every combination. What is not run under all readings is left out.
    pub fn of(catalogue: &'a Catalogue, paper: &str, points: &[String], scale: Scale) -> Result<Prepared<'a>, Failed> {
        let bad = |problem| Failed::BadInput(vec![problem]);
        let readings = catalogue.readings.iter().find(|of| of.paper == paper).ok_or_else(|| {
            let error = Diagnostic::new(format!("`{paper}` is not a paper"));
            bad(error.help("a search is about whole papers: xoff reproduce pcn --search"))
        })?;
        let (varied, combinations) = combinations(readings, points).map_err(bad)?;
        let own = |one: &&Experiment| one.paper == paper && one.readings.is_empty();
        let names: Vec<String> = catalogue.experiments.iter().filter(own).map(|one| one.id.clone()).collect();
        let whole = Reproduction::prepare(catalogue, &names, scale)?;
        let forms = forms(readings, &whole.needed, &combinations);
        runner::load_all(&forms.values().collect::<Vec<_>>(), scale).map_err(Failed::BadInput)?;
        Ok(Prepared { catalogue, readings, varied, combinations, whole, forms })
    }

    pub fn paper(&self) -> &str {
        &self.readings.paper
    }

    /// Runs every combination, and judges all claims under each.
    pub fn run(&self, options: &RunOptions, watch: &(dyn Fn(Progress) + Sync)) -> Result<Search, Failed> {
        let finished = runner::run_all(&self.forms.values().collect::<Vec<_>>(), options, watch)?;
        let mut tried = Vec::new();
        for choices in &self.combinations {
            let mut results: BTreeMap<String, Results> = BTreeMap::new();
            for experiment in &self.whole.needed {
                let form = &self.forms[&key(self.readings, experiment, choices)];
                results.insert(experiment.id.clone(), finished.results(form));
            }
            runner::share(self.catalogue, &mut results);
            let judged = self.whole.judge(&self.whole.data(&Arc::new(results), false), By::Means)?;
            tried.push(Tried::new(self.readings, &self.varied, choices, &judged));
        }
        tried.sort_by_key(|of| std::cmp::Reverse((of.totals.holds + of.totals.in_direction, of.totals.holds)));
        let name = |&point: &usize| self.readings.points[point].name.clone();
        Ok(Search {
            paper: self.paper().to_owned(),
            points: self.varied.iter().map(name).collect(),
            claims: self.whole.claims.iter().map(|claim| claim.id.value.clone()).collect(),
            tried,
        })
    }
}

/// What tells the forms of an experiment apart: the choices that change anything in it.
type FormKey = (String, Vec<usize>);

fn key(readings: &Readings, experiment: &Experiment, choices: &[usize]) -> FormKey {
    let matters = |(point, _): &(usize, &usize)| readings.matters(*point, experiment);
    let own = choices.iter().enumerate().filter(matters).map(|(_, &choice)| choice).collect();
    (experiment.id.clone(), own)
}

/// Every experiment in all the forms that the combinations ask for.
fn forms(
    readings: &Readings,
    experiments: &[&Experiment],
    combinations: &[Vec<usize>],
) -> BTreeMap<FormKey, Experiment> {
    let mut forms = BTreeMap::new();
    for experiment in experiments {
        for choices in combinations {
            forms.entry(key(readings, experiment, choices)).or_insert_with(|| {
                // Nothing of it is drawn, and there may be many.
                Experiment { figures: Vec::new(), ..readings.apply(choices, experiment) }
            });
        }
    }
    forms
}

impl Tried {
    fn new(readings: &Readings, varied: &[usize], choices: &[usize], judged: &[ClaimResult]) -> Tried {
        let name = |&point: &usize| readings.points[point].choices[choices[point]].name.clone();
        let same = readings.all.iter().filter(|reading| reading.choices == choices);
        Tried {
            choices: varied.iter().map(name).collect(),
            readings: same.map(|reading| reading.name.clone()).collect(),
            totals: Totals::of(judged.iter()),
            verdicts: judged.iter().map(|claim| claim.verdict).collect(),
        }
    }

    /// Outright, and at least in direction, of the claims that were judged.
    fn shares(&self) -> (f64, f64) {
        let of = |count: usize| count as f64 / self.totals.judged().max(1) as f64;
        (of(self.totals.holds), of(self.totals.holds + self.totals.in_direction))
    }
}

impl Search {
    /// A row per combination: its choices, its counts, and the verdict of every claim.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Writing to memory cannot fail.
        let mut write = |row: Vec<String>| writer.write_record(row).expect("memory takes any row");
        let counts = ["reading", "judged", "hold", "in_direction", "do_not_hold"].map(str::to_owned);
        write([self.points.clone(), counts.to_vec(), self.claims.clone()].concat());
        for of in &self.tried {
            let totals = &of.totals;
            let counts = [totals.judged(), totals.holds, totals.in_direction, totals.does_not_hold];
            let verdicts = of.verdicts.iter().map(|verdict| verdict.words().to_owned()).collect();
            let counts = counts.map(|count| count.to_string()).to_vec();
            write([of.choices.clone(), vec![of.readings.join(" ")], counts, verdicts].concat());
        }
        let bytes = writer.into_inner().expect("memory takes any row");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The readings tried, best first, against the part of the claims that hold.
    pub fn chart(&self) -> Chart {
        let line = |name: &str, index: usize, share: &dyn Fn(&Tried) -> f64| {
            let points = self.tried.iter().enumerate().map(|(rank, of)| ((rank + 1) as f64, share(of))).collect();
            Line::new(name.to_owned(), colour::by_index(index), points).dotted()
        };
        let lines =
            vec![line("at least in direction", 0, &|of| of.shares().1), line("outright", 1, &|of| of.shares().0)];
        let mut y = Axis::new("claims that hold, of those judged", AxisUnit::Fraction, false, true);
        y.until = Some(1.0);
        let x = Axis::new("readings tried, best first", AxisUnit::Plain(String::new()), false, false);
        let title = format!("{}: every combination of {}", self.paper, self.points.join(", "));
        let mut chart = Chart::of_lines(format!("{}-search", self.paper), title, x, y, lines);
        let named = self.tried.iter().enumerate().filter(|(_, of)| !of.readings.is_empty());
        chart.marks = named.map(|(rank, of)| ((rank + 1) as f64, of.readings.join(", "))).collect();
        chart
    }

    /// The best and the named combinations, as words.
    pub fn rows(&self) -> Vec<Vec<String>> {
        const SHOWN: usize = 12;
        let shown = self.tried.iter().enumerate().filter(|(rank, of)| *rank < SHOWN || !of.readings.is_empty());
        let row = |(rank, of): (usize, &Tried)| {
            let [outright, direction] = of.totals.percents();
            let own = [(rank + 1).to_string(), of.choices.join(", "), of.readings.join(", ")];
            let counts = [of.totals.holds, of.totals.in_direction, of.totals.does_not_hold].map(|n| n.to_string());
            [own.to_vec(), counts.to_vec(), vec![outright, direction]].concat()
        };
        shown.map(row).collect()
    }

    pub fn count(&self) -> usize {
        self.tried.len()
    }
}
