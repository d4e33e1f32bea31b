//! What a run left in memory: only what its measures may need, since a large run has millions of
//! records.

use super::Measures;
use crate::results::RunEnd;
use crate::run::{self, Keep, Position, Sink, Unit};
use crate::scenario::Loaded;
use std::collections::{BTreeMap, HashMap};
use std::io;
use xoff_engine::{Span, Time};
use xoff_fabric::record::{Counters, Failure, FlowRecord, Metric, PauseRecord, PortReport, Sample};

/// Everything measures look at.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// In the order of their ends, without their paths.
    pub flows: Vec<FlowRecord>,
    pub pauses: Vec<PauseRecord>,
    /// Answers on connections that stay open.
    pub units: Vec<Unit>,
    pub series: BTreeMap<SeriesKey, Series>,
    pub ports: Vec<PortReport>,
    pub counters: Counters,
    pub sim_end: Time,
    pub failure: Option<Failure>,
    /// When the first deadlock was seen.
    pub deadlock_at: Option<Time>,
    /// The world's account of packets did not balance: a fault of the simulator.
    pub imbalance: Option<String>,
    pub cpu_seconds: f64,
}

/// One probed quantity of one port (and class) or of one flow, by [`FlowRecord::id`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SeriesKey {
    pub metric: Metric,
    pub entity: u32,
    pub class: u8,
}

/// The instants at which a probe samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    pub from: Time,
    pub step: Span,
    pub until: Time,
}

impl Grid {
    pub fn at(&self, index: u64) -> Time {
        Time::from_ps(self.from.ps() + index * self.step.ps())
    }

    /// How many instants there are up to `end`.
    pub fn instants(&self, end: Time) -> u64 {
        let end = end.min(self.until);
        if end < self.from { 0 } else { (end - self.from).ps() / self.step.ps() + 1 }
    }
}

/// Samples at consecutive instants of a grid.
#[derive(Clone, Debug)]
pub struct Series {
    /// Of the flow; zero for ports.
    pub label: u32,
    pub grid: Grid,
    /// Number of the first sample's instant.
    pub first: u64,
    pub values: Vec<f64>,
}

impl Series {
    fn push(&mut self, at: Time, value: f64) {
        let index = (at.saturating_since(self.grid.from).ps() / self.grid.step.ps()).saturating_sub(self.first);
        let known = self.values.len() as u64;
        if index < known {
            return;
        }
        // A quantity that was not there for a while, such as the queue of a shaper, was nothing.
        self.values.extend(std::iter::repeat_n(0.0, (index - known) as usize));
        self.values.push(value);
    }
}

/// What must be kept.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    pub flows: bool,
    pub pauses: bool,
    pub refreshes: bool,
    pub units: bool,
    /// By metric, port and class.
    pub ports: HashMap<SeriesKey, Grid>,
    /// By metric and label.
    pub labels: HashMap<(Metric, u32), Grid>,
}

/// Runs a scenario and keeps what the measures may need of it.
pub fn record(loaded: &Loaded, measures: &Measures, mut watch: impl FnMut(Position)) -> io::Result<Recording> {
    let mut recorder = Recorder::new(measures.needs());
    let end = run::drive(loaded, recorder.keep(), &mut recorder, &mut watch)?;
    Ok(recorder.finish(&end))
}

/// A sink that keeps what is needed.
pub struct Recorder {
    needs: Needs,
    recording: Recording,
}

impl Recorder {
    pub fn new(needs: Needs) -> Recorder {
        Recorder { needs, recording: Recording::default() }
    }

    pub fn keep(&self) -> Keep {
        Keep { pauses: self.needs.pauses, refreshes: self.needs.refreshes, units: self.needs.units, frames: false }
    }

    /// What was kept; the run goes on.
    pub fn so_far(&self) -> Recording {
        self.recording.clone()
    }

    pub fn finish(self, end: &RunEnd) -> Recording {
        Recording {
            ports: end.ports.clone(),
            counters: end.counters,
            sim_end: end.sim_end,
            failure: end.failure.clone(),
            deadlock_at: end.deadlock_at,
            imbalance: end.imbalance.clone(),
            cpu_seconds: end.run_cpu.as_secs_f64(),
            ..self.recording
        }
    }
}

impl Sink for Recorder {
    fn flows(&mut self, flows: &[FlowRecord]) -> io::Result<()> {
        if self.needs.flows {
            let bare = |flow: &FlowRecord| FlowRecord { path: Box::default(), ..flow.clone() };
            self.recording.flows.extend(flows.iter().map(bare));
        }
        Ok(())
    }

    fn pauses(&mut self, pauses: &[PauseRecord]) -> io::Result<()> {
        if self.needs.pauses {
            self.recording.pauses.extend(pauses.iter().filter(|pause| pause.pause));
        }
        Ok(())
    }

    fn units(&mut self, units: &[Unit]) -> io::Result<()> {
        self.recording.units.extend(units);
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample]) -> io::Result<()> {
        if self.needs.ports.is_empty() && self.needs.labels.is_empty() {
            return Ok(());
        }
        for sample in samples {
            let key = SeriesKey { metric: sample.metric, entity: sample.entity, class: sample.class };
            let grid = match crate::results::curves::facts(sample.metric).of_flow {
                true => self.needs.labels.get(&(sample.metric, sample.label)),
                false => self.needs.ports.get(&key),
            };
            let Some(&grid) = grid else { continue };
            let first = || sample.at.saturating_since(grid.from).ps() / grid.step.ps();
            let series = self.recording.series.entry(key);
            series
                .or_insert_with(|| Series { label: sample.label, grid, first: first(), values: Vec::new() })
                .push(sample.at, sample.value);
        }
        Ok(())
    }
}
