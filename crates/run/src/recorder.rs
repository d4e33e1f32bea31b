//! Keeps in memory what the measures of a run may need.

use crate::drive::{self, Keep, Position, Sink};
use crate::end::RunEnd;
use std::io;
use std::sync::Arc;
use xoff_fabric::record::{FlowRecord, Paths, PauseRecord, Sample};
use xoff_scenario::Loaded;
use xoff_scenario::measure::Measures;
use xoff_scenario::measure::probe::facts;
use xoff_scenario::measure::recording::{Needs, Recording, Response, Series, SeriesKey};
use xoff_scenario::traffic::JobInterval;

/// Runs a scenario and keeps what the measures may need of it.
pub fn record(loaded: &Loaded, measures: &Measures, mut watch: impl FnMut(Position<'_>)) -> io::Result<Recording> {
    let mut recorder = Recorder::new(measures.needs());
    let end = drive::drive(loaded, recorder.keep(), &mut recorder, &mut watch)?;
    Ok(recorder.finish(&end))
}

/// A sink that keeps what is needed.
pub struct Recorder {
    needs: Needs,
    recording: Recording,
}

impl Recorder {
    /// With nothing recorded yet; `needs` come from [`Measures::needs`].
    pub fn new(needs: Needs) -> Recorder {
        Recorder { needs, recording: Recording::default() }
    }

    /// What [`drive()`](drive::drive) must keep for the recorder.
    pub fn keep(&self) -> Keep {
        Keep {
            pauses: self.needs.pauses,
            refreshes: self.needs.refreshes,
            responses: self.needs.responses,
            frames: false,
            activity: false,
        }
    }

    /// What was kept so far.
    pub fn so_far(&self) -> Recording {
        self.recording.clone()
    }

    /// What was kept, completed by what only the end of the run knows.
    pub fn finish(self, end: &RunEnd) -> Recording {
        Recording {
            ports: Arc::clone(&end.ports),
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
            let bare = |flow: &FlowRecord| FlowRecord { path: Paths::One(Box::default()), ..flow.clone() };
            self.recording.flows.extend(flows.iter().map(bare));
        }
        Ok(())
    }

    fn pauses(&mut self, pauses: &[PauseRecord]) -> io::Result<()> {
        if self.needs.pauses {
            self.recording.pauses.extend(pauses.iter().filter(|pause| pause.pause || self.needs.resumes));
        }
        Ok(())
    }

    fn responses(&mut self, responses: &[Response]) -> io::Result<()> {
        self.recording.responses.extend(responses);
        Ok(())
    }

    fn intervals(&mut self, intervals: &[JobInterval]) -> io::Result<()> {
        if self.needs.intervals {
            self.recording.intervals.extend(intervals);
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample]) -> io::Result<()> {
        if self.needs.ports.is_empty() && self.needs.labels.is_empty() {
            return Ok(());
        }
        for sample in samples {
            let key = SeriesKey { metric: sample.metric, entity: sample.entity, class: sample.class };
            let grid = match facts(sample.metric).of_flow {
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
