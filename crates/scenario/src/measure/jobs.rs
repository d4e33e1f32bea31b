//! Measures of training jobs: completion times, exposed communication, bandwidth of collectives.

use super::Value;
use super::recording::{Needs, Recording};
use super::scope::Scope;
use super::stat::{self, Stats};
use super::unit::{self, Dimension, Unit};
use crate::Table;
use crate::names::Pattern;
use crate::reader::Result;
use crate::traffic::JobPlan;
use std::sync::Arc;
use xoff_jobs::Interval;
use xoff_jobs::bandwidth::{Account, Exchange};

#[derive(Clone, Debug)]
pub struct JobMeasure {
    /// Jobs with their index among the scenario's traffic.
    jobs: Vec<(u32, Arc<JobPlan>)>,
    what: Of,
}

#[derive(Clone, Debug)]
enum Of {
    CompletionTime(Unit),
    Exposed(Unit),
    /// Bandwidth of collectives whose names or kinds fit.
    Bandwidth(Bandwidth, Option<Vec<Pattern>>, Stats),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bandwidth {
    Algorithm,
    Bus,
}

/// Reads the keys of a metric of this family. Gives the unit, too.
pub fn read(metric: &str, row: &mut Table, scope: &Scope<'_>) -> Result<(JobMeasure, &'static str)> {
    let jobs = chosen(row, scope)?;
    let (what, unit) = match metric {
        "jct" => {
            let unit = unit::read(row, "unit", Dimension::Time)?;
            (Of::CompletionTime(unit), unit.0)
        }
        "exposed" => {
            let unit = unit::read(row, "unit", Dimension::Time)?;
            (Of::Exposed(unit), unit.0)
        }
        _ => {
            let of = if metric == "algbw" { Bandwidth::Algorithm } else { Bandwidth::Bus };
            let patterns = collectives(row, &jobs)?;
            (Of::Bandwidth(of, patterns, stat::read_or(row, "mean")?), "GB/s")
        }
    };
    Ok((JobMeasure { jobs, what }, unit))
}

/// The jobs that `jobs` names, or all.
fn chosen(row: &mut Table, scope: &Scope<'_>) -> Result<Vec<(u32, Arc<JobPlan>)>> {
    let all: Vec<(u32, &str, Arc<JobPlan>)> = (0..)
        .zip(scope.traffic)
        .filter_map(|(place, traffic)| Some((place, traffic.name.as_str(), Arc::clone(traffic.job()?))))
        .collect();
    if all.is_empty() {
        return Err(row.error("metric", "the scenario has no training job").label("no [[traffic]] here is one"));
    }
    let Some(texts) = row.take_texts("jobs")? else {
        return Ok(all.into_iter().map(|(place, _, job)| (place, job)).collect());
    };
    let mut found = vec![false; all.len()];
    for text in &texts {
        let pattern = Pattern::parse(&text.value).map_err(|why| text.error(why))?;
        let fits: Vec<bool> = all.iter().map(|(_, name, _)| *name == text.value || pattern.matches(name)).collect();
        if !fits.contains(&true) {
            let names: Vec<&str> = all.iter().map(|(_, name, _)| *name).collect();
            let error = text.error(format!("no job is called `{}`", text.value));
            return Err(error.label(format!("there are {}", names.join(", "))).nearest(&text.value, names));
        }
        found.iter_mut().zip(fits).for_each(|(found, fits)| *found |= fits);
    }
    let kept = all.into_iter().zip(found).filter(|(_, found)| *found);
    Ok(kept.map(|((place, _, job), _)| (place, job)).collect())
}

/// Which collectives count; each pattern must fit one.
fn collectives(row: &mut Table, jobs: &[(u32, Arc<JobPlan>)]) -> Result<Option<Vec<Pattern>>> {
    let Some(texts) = row.take_texts("collectives")? else { return Ok(None) };
    let mut patterns = Vec::with_capacity(texts.len());
    for text in &texts {
        let pattern = Pattern::parse(&text.value).map_err(|why| text.error(why))?;
        let fits = |job: &JobPlan| {
            let mut activities = job.graph.activities().into_iter();
            activities.any(|(name, kind)| pattern.matches(&name) || pattern.matches(kind.word()))
        };
        if !jobs.iter().any(|(_, job)| fits(job)) {
            let error = text.error(format!("no collective is called `{}`, nor is of such a kind", text.value));
            return Err(error.label("names of the job's collectives, or kinds such as \"all-reduce\""));
        }
        patterns.push(pattern);
    }
    Ok(Some(patterns))
}

impl JobMeasure {
    pub(crate) fn stats(&self) -> Option<&Stats> {
        match &self.what {
            Of::Bandwidth(_, _, stats) => Some(stats),
            Of::CompletionTime(_) | Of::Exposed(_) => None,
        }
    }

    pub(crate) fn needs(&self, needs: &mut Needs) {
        needs.intervals = true;
    }

    pub(super) fn take(&self, recording: &Recording) -> Value {
        let accounts: Vec<(&JobPlan, Account)> =
            self.jobs.iter().map(|(place, job)| (&**job, account(*place, job, recording))).collect();
        match &self.what {
            Of::CompletionTime(unit) => {
                let time = |(job, account): &(&JobPlan, Account)| {
                    let end = account.end.filter(|_| account.finished);
                    end.map_or(f64::INFINITY, |end| unit::time(end.saturating_since(job.start), *unit))
                };
                Value::Number(accounts.iter().map(time).fold(0.0, f64::max))
            }
            Of::Exposed(unit) => {
                let ranks: u32 = accounts.iter().map(|(job, _)| job.graph.ranks()).sum();
                let exposed = |(job, account): &(&JobPlan, Account)| {
                    unit::time(account.mean(job.graph.ranks(), |share| share.exposed), *unit)
                        * f64::from(job.graph.ranks())
                };
                Value::Number(accounts.iter().map(exposed).sum::<f64>() / f64::from(ranks.max(1)))
            }
            Of::Bandwidth(of, patterns, stats) => {
                let fits = |job: &JobPlan, exchange: &Exchange| {
                    let name = &job.graph.compiled().names()[exchange.name as usize];
                    let fits = |pattern: &Pattern| pattern.matches(name) || pattern.matches(exchange.kind.word());
                    patterns.as_ref().is_none_or(|patterns| patterns.iter().any(fits))
                };
                let read = |exchange: &Exchange| match of {
                    Bandwidth::Algorithm => exchange.algorithm_bandwidth(),
                    Bandwidth::Bus => exchange.bus_bandwidth(),
                };
                let of_job = |(job, account): &(&JobPlan, Account)| {
                    account.exchanges.iter().filter(|of| fits(job, of)).filter_map(read).collect::<Vec<f64>>()
                };
                stats.of(accounts.iter().flat_map(of_job).collect())
            }
        }
    }
}

fn account(place: u32, job: &JobPlan, recording: &Recording) -> Account {
    let own = recording.intervals.iter().filter(|of| of.job == place);
    let intervals: Vec<Interval> = own.map(|of| of.interval).collect();
    Account::of(job.graph.compiled(), job.iterations, &intervals, recording.sim_end)
}
