//! Live runs beside the simulation of the same scenario and traffic: how far they are apart, in numbers.
//!
//! Reading order: `curve` (a quantity over time, and the distance of two), `readings` (what is taken from a run),
//! `numbers` (what is compared), `tables` (the tables), `figures`.

mod curve;
mod figures;
mod numbers;
mod readings;
mod tables;

use crate::compare::Comparison;
use crate::figures as drawing;
use crate::files::Staging;
use crate::finding::Finding;
use crate::live_timing::LiveTiming;
use crate::names::scheme_label;
use crate::read::RunDirectory;
use crate::refusal::Refusal;
use crate::report;
use crate::settings::Differences;
use crate::summary::Summary;
use numbers::{GOODPUT, MEAN_FCT, Number, OverTime, PAUSE_FRAMES, Runs};
use readings::Readings;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use xoff_scenario::number::microseconds;
use xoff_scenario::{Diagnostic, read};

/// The file that has all numbers.
pub const FILE: &str = "live-comparison.json";
const LARGEST_SCENARIO_BYTES: u64 = 64_000_000;

/// Several live runs and the simulation, compared.
pub struct LiveComparison {
    /// As they were named.
    directories: Vec<String>,
    runs: Runs,
    numbers: Vec<Number>,
    over_time: Vec<OverTime>,
}

/// Opens what was named; all of it must be live runs of one scenario.
pub fn open(directories: &[PathBuf]) -> Result<Vec<RunDirectory>, Refusal> {
    let live = directories.iter().map(|path| RunDirectory::open(path)).collect::<Result<Vec<_>, _>>()?;
    check(&live)?;
    Ok(live)
}

/// Refuses what is no live run, and live runs of different scenarios.
fn check(live: &[RunDirectory]) -> Result<(), Diagnostic> {
    if let Some(run) = live.iter().find(|run| run.summary.live_timing.is_none()) {
        let error = Diagnostic::new(format!("`{}` is not a live run", run.path().display()));
        return Err(error.label("it was simulated").help("name directories that `xoff live` wrote"));
    }
    live.iter().skip(1).try_for_each(|other| same_scenario(&live[0], other))
}

/// Refuses two runs that were set differently.
fn same_scenario(one: &RunDirectory, other: &RunDirectory) -> Result<(), Diagnostic> {
    let text = |run: &RunDirectory| {
        let path = run.path().join("scenario.toml");
        read::text(&path, LARGEST_SCENARIO_BYTES)
            .map_err(|why| Diagnostic::new(format!("cannot read `{}`", path.display())).label(why.to_string()))
    };
    let (first, second) = (text(one)?, text(other)?);
    let differences = Differences::of(&[(String::new(), &first), (String::new(), &second)]);
    let keys = differences.rows.into_iter().map(|(key, _)| key);
    let own = differences.own.into_iter().flat_map(|(_, keys)| keys).map(|(key, _)| format!("scheme.{key}"));
    let mut keys: Vec<String> = keys.chain(own).collect();
    if one.summary.seed != other.summary.seed {
        keys.insert(0, "seed".to_owned());
    }
    if keys.is_empty() {
        return Ok(());
    }
    let (one, other) = (one.path().display(), other.path().display());
    let error = Diagnostic::new(format!("`{one}` and `{other}` are not of the same scenario and traffic"));
    Err(error.label(format!("they differ in {}", keys.join(", "))).help("compare each with its own simulation"))
}

impl LiveComparison {
    /// Live runs of one scenario beside `simulated`, a run of the same. Give at least one.
    pub fn of(live: &[RunDirectory], simulated: &RunDirectory) -> Result<LiveComparison, Diagnostic> {
        check(live)?;
        if simulated.summary.live_timing.is_some() {
            let error = Diagnostic::new(format!("`{}` is not a simulation", simulated.path().display()));
            return Err(error.label("it is a live run").help("without --simulation the scenario is simulated now"));
        }
        live.first().map_or(Ok(()), |first| same_scenario(first, simulated))?;
        let readings = live.iter().map(Readings::of).collect::<Result<_, _>>()?;
        let runs = Runs { live: readings, simulated: Readings::of(simulated)? };
        let directories = live.iter().map(|run| run.path().display().to_string()).collect();
        Ok(LiveComparison { directories, numbers: runs.numbers(), over_time: runs.over_time(), runs })
    }

    fn summary(&self) -> &Summary {
        &self.runs.simulated.summary
    }

    fn live(&self) -> Vec<(String, &Summary)> {
        self.directories.iter().cloned().zip(self.runs.live.iter().map(|run| &run.summary)).collect()
    }

    /// Why live runs are not to be trusted, and what is wrong with any run.
    pub fn failures(&self) -> Vec<String> {
        let simulated = ("simulation".to_owned(), self.summary());
        let runs = self.live().into_iter().chain([simulated]);
        runs.filter_map(|(name, run)| Some(format!("{name}: {}", run.why_failed()?))).collect()
    }

    /// The distances that matter most, in one sentence.
    fn finding(&self) -> String {
        let named = |name: &&str| {
            let number = self.numbers.iter().find(|number| number.of == **name)?;
            Some(format!("{name} {}", tables::signed_percent(number.distance_percent()?)))
        };
        let parts: Vec<String> = [GOODPUT, MEAN_FCT, PAUSE_FRAMES].iter().filter_map(named).collect();
        let runs = match self.runs.live.len() {
            1 => "One live run".to_owned(),
            several => format!("The mean of {several} live runs"),
        };
        format!("{runs} against the simulation: {}.", parts.join(", "))
    }

    /// The tables of the page, with notes.
    pub fn tables(&self) -> Comparison {
        let summary = self.summary();
        let mut tables = tables::tables(&self.numbers, &self.over_time);
        tables.push(tables::machine(&self.live()));
        let mut notes = vec![
            "distance: live less simulated, in per cent of simulated; - where the simulation has 0 and the live run has \
             not."
                .to_owned(),
            "over time: the area between both curves, in per cent of the area below the simulated one. Two curves with \
             the same mean are apart if one is late."
                .to_owned(),
        ];
        notes.push("A p95 of fewer than 20 finished flows is no more than the slowest of them.".to_owned());
        if self.runs.live.len() > 1 {
            let runs = self.runs.live.len();
            notes.push(format!(
                "a ± b: mean over {runs} live runs and half its 95 % confidence interval (Student's t)."
            ));
        }
        notes.push(format!("All numbers, those of each live run too, are in {FILE}."));
        notes.extend(self.failures().into_iter().map(|why| format!("{why}.")));
        let title = format!("{} under {}: live and simulated", summary.name, scheme_label(&summary.scheme));
        let finding = Finding { text: self.finding(), source: None };
        Comparison { title, tables, finding, notes }
    }

    pub fn json(&self) -> Value {
        let summary = self.summary();
        let live = |(directory, run): (String, &Summary)| json!({ "directory": directory, "live_timing": run.live_timing, "failure": run.why_failed() });
        json!({
            "version": summary.version, "name": summary.name, "scheme": summary.scheme, "seed": summary.seed,
            "finding": self.finding(),
            "live": self.live().into_iter().map(live).collect::<Vec<_>>(),
            "simulation": { "failure": summary.why_failed() },
            "numbers": self.numbers.iter().map(Number::json).collect::<Vec<_>>(),
            "over_time_percent": self.over_time.iter().map(OverTime::json).collect::<Vec<_>>(),
        })
    }

    /// Adds the page and the numbers to a directory, and gives it its final name. `command` is what makes it again.
    pub fn write(&self, staging: Staging, figures_as_files: bool, command: &str) -> io::Result<PathBuf> {
        let charts = figures::charts(&self.runs, &self.numbers);
        if figures_as_files {
            drawing::write_all(&charts, staging.path())?;
        }
        let html = report::of_live(self.tables(), self.facts(), self.failures(), &charts, command);
        let html = html.map_err(io::Error::other)?;
        staging.write("report.html", html.as_bytes())?;
        let text = serde_json::to_string_pretty(&self.json()).map_err(io::Error::other)?;
        staging.write(FILE, format!("{text}\n").as_bytes())?;
        staging.finish()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let summary = self.summary();
        let machine = self.runs.live.first().and_then(|run| run.summary.live_timing.as_ref()).map(LiveTiming::setting);
        vec![
            ("Scenario", summary.name.clone()),
            ("Scheme", summary.scheme.clone()),
            ("Seed", summary.seed.to_string()),
            ("Simulated", microseconds(summary.sim_time_us)),
            ("Live runs", self.runs.live.len().to_string()),
            ("Machine", machine.unwrap_or_default()),
            ("Xoff", summary.version.clone()),
        ]
    }
}
