//! Measures of PAUSE frames.

use super::Value;
use super::recording::{Needs, Recording};
use super::scope::Scope;
use super::stat::{self, Stats};
use super::unit::{self, Dimension, Unit};
use crate::Table;
use crate::measure::metrics::{pause_rate, tree_lifetime};
use crate::reader::Result;
use std::collections::BTreeMap;
use xoff_engine::Time;
use xoff_fabric::record::PauseRecord;

#[derive(Clone, Debug)]
pub struct PauseMeasure {
    /// Whether frames that a port sends count, by port.
    senders: Vec<bool>,
    class: Option<u8>,
    /// Repetitions count, too.
    repeated: bool,
    from: Time,
    until: Time,
    what: Of,
}

#[derive(Clone, Debug)]
enum Of {
    Count,
    Rate,
    TreeLifetime(Unit),
    First(Unit),
    Last(Unit),
    Duration(Unit, Stats),
    DurationCdf(Unit),
}

/// Reads the keys of a metric of this family. Gives the unit, too.
pub fn read(metric: &str, row: &mut Table, scope: &Scope<'_>) -> Result<(PauseMeasure, &'static str)> {
    let senders = scope.senders(row)?;
    let class = scope.class(row)?;
    let lasting = metric.starts_with("pause-duration");
    if lasting && row.has("frames") {
        return Err(row.key_error("frames", "`frames` has no effect here").label("a refresh is part of its pause"));
    }
    let repeated = !lasting && row.is("frames", "all")?;
    let (from, until) = scope.window(row)?;
    let time = |of: fn(Unit) -> Of, row: &mut Table| {
        let unit = unit::read(row, "unit", Dimension::Time)?;
        Ok((of(unit), unit.0))
    };
    let (what, unit) = match metric {
        "pause-count" => (Of::Count, ""),
        "pause-rate" => (Of::Rate, ""),
        "tree-lifetime" => time(Of::TreeLifetime, row)?,
        "first-pause" => time(Of::First, row)?,
        "pause-duration" => {
            let (unit, stats) = (unit::read(row, "unit", Dimension::Time)?, stat::read(row)?);
            (Of::Duration(unit, stats), unit.0)
        }
        "pause-duration-cdf" => time(Of::DurationCdf, row)?,
        _ => time(Of::Last, row)?,
    };
    Ok((PauseMeasure { senders, class, repeated, from, until, what }, unit))
}

impl PauseMeasure {
    /// Totals of whole ports are counted by the ports themselves; all else needs the frames.
    fn counted_by_ports(&self) -> bool {
        let totals = matches!(self.what, Of::Count | Of::Rate);
        totals && self.class.is_none() && self.from == Time::ZERO && self.until == Time::NEVER
    }

    pub fn needs(&self, needs: &mut Needs) {
        if !self.counted_by_ports() {
            needs.pauses = true;
            needs.refreshes |= self.repeated;
            needs.resumes |= matches!(self.what, Of::Duration(..) | Of::DurationCdf(_));
        }
    }

    pub(super) fn stats(&self) -> Option<&Stats> {
        if let Of::Duration(_, stats) = &self.what { Some(stats) } else { None }
    }

    fn fits(&self, pause: &PauseRecord) -> bool {
        pause.pause
            && self.senders[pause.port as usize]
            && (self.repeated || !pause.refresh)
            && self.class.is_none_or(|class| class == pause.class)
            && (self.from..=self.until).contains(&pause.at)
    }

    fn count(&self, recording: &Recording) -> u64 {
        if self.counted_by_ports() {
            let own = recording.ports.iter().filter(|report| self.senders[report.port as usize]);
            return own.map(|port| port.pause_frames + if self.repeated { port.refresh_frames } else { 0 }).sum();
        }
        recording.pauses.iter().filter(|pause| self.fits(pause)).count() as u64
    }

    pub(super) fn take(&self, recording: &Recording) -> Value {
        let times = || recording.pauses.iter().filter(|pause| self.fits(pause)).map(|pause| pause.at);
        Value::Number(match &self.what {
            Of::Count => self.count(recording) as f64,
            Of::Rate => {
                let over = self.until.min(recording.sim_end).saturating_since(self.from);
                pause_rate(self.count(recording), over).unwrap_or(f64::NAN)
            }
            Of::TreeLifetime(unit) => tree_lifetime(times()).map_or(0.0, |span| unit::time(span, *unit)),
            Of::First(unit) => self.since(times().min(), *unit),
            Of::Last(unit) => self.since(times().max(), *unit),
            Of::Duration(unit, stats) => return stats.of(self.durations(recording, *unit)),
            Of::DurationCdf(unit) => return Value::Curve(stat::cdf(self.durations(recording, *unit))),
        })
    }

    /// From each PAUSE to its RESUME; of one that lasts, to the end of the run. A second PAUSE without a RESUME before it
    /// means that the link failed in between: the first is left out, since nothing tells when it ended.
    fn durations(&self, recording: &Recording, unit: Unit) -> Vec<f64> {
        let mut open: BTreeMap<(u32, u8), Time> = BTreeMap::new();
        let mut found = Vec::new();
        let since = |from: Time, until: Time| unit::time(until.saturating_since(from), unit);
        for record in recording.pauses.iter().filter(|record| !record.refresh) {
            let place = (record.port, record.class);
            if record.pause {
                open.remove(&place);
                if self.fits(record) {
                    open.insert(place, record.at);
                }
            } else if let Some(from) = open.remove(&place) {
                found.push(since(from, record.at));
            }
        }
        found.extend(open.into_values().map(|from| since(from, recording.sim_end)));
        found
    }

    /// Since the start of the run; never if there is none.
    fn since(&self, at: Option<Time>, unit: Unit) -> f64 {
        at.map_or(f64::INFINITY, |at| unit::time(at - Time::ZERO, unit))
    }
}
