//! Runs a scenario to its end and writes its run directory.

use crate::capture;
use crate::collect::Collected;
use crate::files::disk;
use crate::outcome::{Outcome, RunContext};
use crate::summary::MeasuredRow;
use crate::{RunWriter, warnings};
use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use xoff_fabric::activity::Activity;
use xoff_fabric::capture::Frame;
use xoff_fabric::record::{FlowRecord, PauseRecord, PfcRecord, Sample};
use xoff_run::RunEnd;
use xoff_run::drive::{Keep, Position, Sink, drive};
use xoff_run::recorder::Recorder;
use xoff_scenario::Loaded;
use xoff_scenario::measure::recording::Response;

/// Runs to the end. `out` is the directory to write; without one there is only the summary.
pub fn execute(loaded: &Loaded, out: Option<&Path>, mut watch: impl FnMut(Position<'_>)) -> io::Result<Outcome> {
    let mut watch = |at: Position<'_>| {
        watch(at);
        Ok(())
    };
    Ok(run(loaded, out, Keeping::Files, &mut watch)?.0)
}

/// The same for a program that wants the tables: all rows are kept in memory too. An error of `watch` ends the run
/// within a few milliseconds, and is what comes back.
pub fn collect(
    loaded: &Loaded,
    out: Option<&Path>,
    mut watch: impl FnMut(Position<'_>) -> io::Result<()>,
) -> io::Result<(Outcome, Vec<Collected>)> {
    run(loaded, out, Keeping::Memory, &mut watch)
}

/// The same, with the flows as the bytes of a Parquet file without their scheme: one part of a data set whose folders
/// are named by it.
pub fn with_flows(loaded: &Loaded) -> io::Result<(Outcome, Vec<u8>)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("xoff-flows-{}-{number}", std::process::id()));
    disk::create_dirs(&folder)?;
    let made = run(loaded, None, Keeping::Flows(&folder), &mut |_| Ok(()))
        .and_then(|(outcome, _)| Ok((outcome, std::fs::read(folder.join("flows.parquet"))?)));
    disk::remove_tree(&folder)?;
    made
}

/// Where tables are kept, if anywhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeping<'a> {
    Files,
    Memory,
    Flows(&'a Path),
}

fn run(
    loaded: &Loaded,
    out: Option<&Path>,
    keeping: Keeping<'_>,
    watch: &mut dyn FnMut(Position<'_>) -> io::Result<()>,
) -> io::Result<(Outcome, Vec<Collected>)> {
    let began = Instant::now();
    let labels: Vec<String> = loaded.traffic.iter().flat_map(|traffic| traffic.labels.iter().cloned()).collect();
    let mut writer = RunWriter::create(
        out,
        &RunContext {
            name: loaded.name.clone(),
            schemes: loaded.schemes.iter().map(|scheme| scheme.label.clone()).collect(),
            seed: loaded.plan.seed,
            plan: &loaded.plan,
            labels: labels.clone(),
            sources: loaded.traffic.iter().map(|traffic| traffic.name.clone()).collect(),
            scenario: loaded.resolved.clone(),
            attachments: loaded.attachments.clone(),
            csv: loaded.output.csv,
            collect: keeping == Keeping::Memory,
            flows: match keeping {
                Keeping::Flows(folder) => Some(folder.to_owned()),
                Keeping::Files | Keeping::Memory => None,
            },
            figures: loaded.output.figures,
            activity: loaded.output.activity,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            disturbance: None,
            warnings: warnings::of_scenario(loaded),
        },
    )?;
    let mut recorder = Recorder::new(loaded.measures.needs());
    let captures = writer.directory().map(|folder| capture::Writer::create(folder, loaded, labels)).transpose()?;
    let keep = Keep { frames: captures.is_some(), activity: writer.keeps_activity(), ..recorder.keep() };
    let pauses = loaded.plan.run.record_pauses;
    let stop = RefCell::new(Ok(()));
    let mut sinks = RunSinks { writer: &mut writer, recorder: &mut recorder, captures, pauses, stop: &stop };
    let end = drive(loaded, keep, &mut sinks, &mut |at| *stop.borrow_mut() = watch(at))?;
    let setup = began.elapsed().saturating_sub(end.wall);
    let captures = sinks.captures.map(|captures| captures.finish(end.sim_end, &end.missed_frames)).transpose()?;
    let measures = MeasuredRow::all(&loaded.measures, &loaded.plan, &recorder.finish(&end));
    writer.taken(measures, captures.unwrap_or_default());
    writer.complete(RunEnd { setup, ..end })
}

/// A run directory and the scenario's own measures, of the same run.
struct RunSinks<'a> {
    writer: &'a mut RunWriter,
    recorder: &'a mut Recorder,
    captures: Option<capture::Writer<'a>>,
    /// The directory has PAUSEs, whether or not a measure needs them.
    pauses: bool,
    /// What the watcher said last: an error ends the run.
    stop: &'a RefCell<io::Result<()>>,
}

impl Sink for RunSinks<'_> {
    fn flows(&mut self, flows: &[FlowRecord]) -> io::Result<()> {
        self.stop.replace(Ok(()))?;
        self.writer.flows(flows)?;
        self.recorder.flows(flows)
    }
    fn pauses(&mut self, pauses: &[PauseRecord]) -> io::Result<()> {
        if self.pauses {
            self.writer.pauses(pauses)?;
        }
        self.recorder.pauses(pauses)
    }
    fn pfc_frames(&mut self, frames: &[PfcRecord]) -> io::Result<()> {
        self.writer.pfc_frames(frames)
    }
    fn samples(&mut self, samples: &[Sample]) -> io::Result<()> {
        self.writer.samples(samples)?;
        self.recorder.samples(samples)
    }
    fn frames(&mut self, frames: &[Frame]) -> io::Result<()> {
        self.captures.as_mut().map_or(Ok(()), |captures| captures.frames(frames))
    }
    fn activity(&mut self, activity: &Activity) -> io::Result<()> {
        self.writer.activity(activity)
    }
    fn responses(&mut self, responses: &[Response]) -> io::Result<()> {
        self.recorder.responses(responses)
    }
}
