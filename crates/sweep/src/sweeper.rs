//! Runs a sweep: checks every point first, makes what is missing, and writes what was found.

use crate::charts;
use crate::page;
use crate::plan::{Point, Sweep};
use crate::pool::{self, Failed, Job, Progress};
use crate::record::{PointJob, Record, Store};
use crate::seal::Fingerprint;
use crate::study::Study;
use crate::table::{Rows, column_name};
use std::io;
use std::num::NonZeroUsize;
use std::time::Duration;
use xoff_results::files::Staging;
use xoff_results::{execute::execute, figures};
use xoff_run::{threads, time_limit};
use xoff_scenario::{Diagnostic, Loaded, Scenario};

/// A sweep whose every point is known to load.
pub struct Sweeper<'a> {
    pub sweep: &'a Sweep,
    /// Its runs, in the order of the table.
    pub points: Vec<Point>,
    pub name: String,
    /// Whether the flows of all runs are kept, as one data set.
    pub flows: bool,
}

#[derive(Clone, Debug)]
pub struct Estimate {
    pub cpu_seconds: f64,
    /// The most memory of one of the runs that were tried.
    pub peak_bytes: u64,
    /// The point that would take longest, and how long.
    pub slowest: (String, f64),
    pub tried: usize,
}

/// A point's first seed, loaded and thrown away: what is wrong is found before anything runs.
struct Rehearsal<'a> {
    scenario: &'a Scenario,
    point: &'a Point,
    name: String,
}

impl Job for Rehearsal<'_> {
    type Made = String;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&self) -> Result<(String, bool), Failed> {
        let loaded = self.scenario.load(&self.point.options).map_err(|problems| {
            let which = if self.name.is_empty() { String::new() } else { format!("in the run {}", self.name) };
            let about = |problem: Diagnostic| match problem.help.is_empty() {
                true => Diagnostic { help: which.clone(), ..problem },
                false => Diagnostic { help: format!("{}; {which}", problem.help), ..problem },
            };
            problems.into_iter().map(about).collect::<Vec<_>>()
        })?;
        Ok((loaded.name, true))
    }
}

impl<'a> Sweeper<'a> {
    /// Finds the runs, and loads each point once.
    pub fn check(sweep: &'a Sweep) -> Result<Sweeper<'a>, Failed> {
        let points = sweep.points()?;
        let firsts = points.iter().step_by(sweep.seeds as usize);
        let rehearsals: Vec<Rehearsal<'_>> = firsts
            .map(|point| Rehearsal { scenario: &sweep.scenario, point, name: name_of(sweep, point, false) })
            .collect();
        let names = pool::run_all(&rehearsals, pool::cores(), &|_| {})?;
        let name = names.into_iter().next().unwrap_or_default();
        Ok(Sweeper { sweep, points, name, flows: false })
    }

    /// Sweeper of a sweep that was checked when it was planned.
    pub fn planned(sweep: &'a Sweep, name: &str) -> Result<Sweeper<'a>, Failed> {
        Ok(Sweeper { sweep, points: sweep.points()?, name: name.to_owned(), flows: false })
    }

    /// What the points would take, from runs of a moment each.
    pub fn estimate(&self) -> Result<Estimate, Failed> {
        const TRIED: usize = 12;
        const MOMENT: Duration = Duration::from_millis(400);
        let firsts: Vec<&Point> = self.points.iter().step_by(self.sweep.seeds as usize).collect();
        let step = firsts.len().div_ceil(TRIED).max(1);
        let tried: Vec<&&Point> = firsts.iter().step_by(step).collect();
        let mut seconds = Vec::new();
        time_limit::set(Some(MOMENT));
        for point in &tried {
            let loaded = self.sweep.scenario.load(&point.options)?;
            let mut part = 0.0_f64;
            let outcome = execute(&loaded, None, |at| part = part.max(at.part))?;
            // The network is built once, however long the run is.
            let seen = if outcome.gave_up() { part.max(1e-6) } else { 1.0 };
            let whole = outcome.summary.cost.setup_seconds + outcome.summary.cost.run_cpu_seconds / seen;
            seconds.push((name_of(self.sweep, point, false), whole));
        }
        time_limit::set(None);
        let mean = seconds.iter().map(|(_, seconds)| seconds).sum::<f64>() / seconds.len().max(1) as f64;
        let slowest = seconds.iter().max_by(|a, b| a.1.total_cmp(&b.1)).cloned().unwrap_or_default();
        Ok(Estimate {
            cpu_seconds: mean * self.points.len() as f64,
            peak_bytes: xoff_run::drive::peak_rss_bytes(),
            slowest,
            tried: tried.len(),
        })
    }

    /// Makes every run that the store does not have. Whole runs side by side come first; cores that are left share
    /// the networks out among themselves.
    pub fn run(
        &self,
        store: Option<&Store>,
        jobs: usize,
        watch: &(dyn Fn(Progress) + Sync),
    ) -> Result<Vec<Record>, Failed> {
        let threads = (jobs / self.points.len().max(1)).max(1);
        threads::set_threads(NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN));
        let job = |point| PointJob {
            scenario: &self.sweep.scenario,
            point,
            store,
            name: name_of(self.sweep, point, true),
            flows: self.flows,
        };
        let all: Vec<PointJob<'_>> = self.points.iter().map(job).collect();
        pool::run_all(&all, jobs, watch)
    }

    /// The runs with what they came to; refuses other than one record for each, in their order.
    pub fn rows<'b>(&'b self, records: &'b [Record]) -> Result<Rows<'b>, Diagnostic> {
        Rows::of(self.sweep, &self.points, records)
    }

    /// Adds the flows of all runs to a directory in the making, as one data set whose folders say what was varied.
    pub fn write_flows(&self, rows: &Rows<'_>, store: &Store, staging: &Staging) -> io::Result<()> {
        let kept = |(_, record): &(&Point, &Record)| self.flows && record.flows.is_some();
        for (point, record) in rows.each().filter(kept) {
            staging.link(&store.flows_of(record), &part_of_data_set(self.sweep, point, record))?;
        }
        Ok(())
    }

    /// Adds tables, figures and report to a directory in the making.
    pub fn write(&self, rows: &Rows<'_>, study: &Study<'_>, staging: &Staging, command: &str) -> io::Result<()> {
        rows.write(staging.path(), false)?;
        rows.write_curves(staging.path())?;
        let charts = charts::of(study);
        // An empty folder would not be recognised as ours.
        if !charts.is_empty() {
            figures::write_all(&charts, &staging.folder("figures")?)?;
        }
        staging.write("report.html", page::html(study, &charts, &self.name, command)?.as_bytes())?;
        // With its seed, so that it is the same sweep whatever becomes of the scenario.
        let sweep = Sweep { first_seed: self.points.first().map(|point| point.seed), ..self.sweep.clone() };
        staging.write("sweep.toml", sweep.text("scenario.toml").as_bytes())?;
        staging.write("scenario.toml", self.sweep.scenario.source().text.as_bytes())
    }
}

/// One part of a data set of flows: `flows/load=0.5/scheme=hpcc/seed=3/flows.parquet`.
fn part_of_data_set(sweep: &Sweep, point: &Point, record: &Record) -> String {
    let mut path = String::from("flows");
    let mut folder = |name: &str, value: &str| {
        path.push_str(&format!("/{}={}", encoded(name), encoded(value)));
    };
    for (axis, value) in sweep.axes.iter().zip(&point.values) {
        let text = value.as_ref().map(|value| match (axis.unit(), value[0].number()) {
            (Some(_), Some(number)) => number.to_string(),
            _ => value[0].name.clone(),
        });
        // Not Hive's own word for no value, at which pandas stumbles.
        folder(&column_name(axis), text.as_deref().unwrap_or("none"));
    }
    folder("scheme", point.scheme.as_deref().unwrap_or(&record.scheme));
    folder("seed", &point.seed.to_string());
    path + "/flows.parquet"
}

/// Encodes a text for the name of a folder, as readers of such folders decode it.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// `hpcc, traffic.0.load 0.5, seed 3`.
pub(crate) fn name_of(sweep: &Sweep, point: &Point, with_seed: bool) -> String {
    let setting = Some(sweep.setting(&point.values, &[])).filter(|setting| !setting.is_empty());
    let seed = (with_seed && sweep.seeds > 1).then(|| format!("seed {}", point.seed));
    point.scheme.clone().into_iter().chain(setting).chain(seed).collect::<Vec<_>>().join(", ")
}

/// Makes one run of a scenario that needs no options, wherever it is.
pub fn run_alone(loaded: &Loaded) -> io::Result<Record> {
    let outcome = execute(loaded, None, |_| {})?;
    Ok(Record::of(Fingerprint::of(loaded).text(), &outcome))
}
