//! Runs a scenario to its end and writes its run directory.

use crate::capture::{self, Origin};
use crate::collect::Collected;
use crate::files::scratch;
use crate::jobs::gather::JobFacts;
use crate::live_timing::LiveTiming;
use crate::outcome::{Outcome, RunContext};
use crate::summary::MeasuredRow;
use crate::{RunWriter, warnings};
use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use xoff_fabric::activity::Activity;
use xoff_fabric::capture::{Frame, RawFrame};
use xoff_fabric::record::{FlowLink, FlowRecord, PauseRecord, PfcRecord, Sample};
use xoff_run::RunEnd;
use xoff_run::drive::{Keep, Position, Sink, drive};
use xoff_run::recorder::Recorder;
use xoff_scenario::Loaded;
use xoff_scenario::measure::recording::Response;
use xoff_scenario::traffic::{JobInterval, TrafficPlan};

/// Runs to the end. `out` is the directory to write; without one there is only the summary.
pub fn execute(loaded: &Loaded, out: Option<&Path>, mut watch: impl FnMut(Position<'_>)) -> io::Result<Outcome> {
    let mut watch = |at: Position<'_>| {
        watch(at);
        Ok(())
    };
    Ok(simulate(loaded, out, TableOutput::Files, &mut watch)?.0)
}

/// Does the same with records that come from elsewhere: `driver` hands them to the sink, in the scenario's own time and
/// units, and says at the end what only a live run has. It should record what [`Keep`] asks for beside what the plan does;
/// captured frames come as [`Sink::raw_frames`], as many as each capture takes, and [`RunEnd::missed_frames`] counts the
/// rest.
pub fn execute_by(
    loaded: &Loaded,
    out: Option<&Path>,
    driver: impl FnOnce(&Loaded, Keep, &mut dyn Sink) -> io::Result<(RunEnd, LiveTiming)>,
) -> io::Result<Outcome> {
    let live = |keep, sinks: &mut RunSinks<'_>| {
        let (end, live_timing) = driver(loaded, keep, sinks)?;
        sinks.writer.live_timing(live_timing)?;
        Ok(end)
    };
    Ok(run(loaded, out, (TableOutput::Files, Origin::Live), live)?.0)
}

/// The same for a program that wants the tables: all rows are kept in memory too. An error of `watch` ends the run
/// within a few milliseconds, and is what comes back.
pub fn collect(
    loaded: &Loaded,
    out: Option<&Path>,
    mut watch: impl FnMut(Position<'_>) -> io::Result<()>,
) -> io::Result<(Outcome, Vec<Collected>)> {
    simulate(loaded, out, TableOutput::Memory, &mut watch)
}

/// The same, with the flows as the bytes of a Parquet file without their scheme: one part of a data set whose folders
/// are named by it.
pub fn with_flows(loaded: &Loaded) -> io::Result<(Outcome, Vec<u8>)> {
    scratch::with_folder("flows", |folder| {
        let (outcome, _) = simulate(loaded, None, TableOutput::Flows(folder), &mut |_| Ok(()))?;
        Ok((outcome, std::fs::read(folder.join("flows.parquet"))?))
    })
}

/// Where tables are kept, if anywhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TableOutput<'a> {
    Files,
    Memory,
    Flows(&'a Path),
}

fn simulate(
    loaded: &Loaded,
    out: Option<&Path>,
    output: TableOutput<'_>,
    watch: &mut dyn FnMut(Position<'_>) -> io::Result<()>,
) -> io::Result<(Outcome, Vec<Collected>)> {
    run(loaded, out, (output, Origin::Simulated), |keep, sinks| {
        let stop = sinks.stop;
        drive(loaded, keep, sinks, &mut |at| *stop.borrow_mut() = watch(at))
    })
}

fn run(
    loaded: &Loaded,
    out: Option<&Path>,
    (output, origin): (TableOutput<'_>, Origin),
    driver: impl FnOnce(Keep, &mut RunSinks<'_>) -> io::Result<RunEnd>,
) -> io::Result<(Outcome, Vec<Collected>)> {
    let began = Instant::now();
    if let Some(why) = xoff_run::memory::refusal(loaded) {
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, why));
    }
    let context = context(loaded, output, origin);
    let mut writer = RunWriter::create(out, &context)?;
    let mut recorder = Recorder::new(loaded.measures.needs());
    let folder = writer.directory();
    let captures = folder.map(|folder| capture::Writer::create(folder, loaded, context.labels, origin)).transpose()?;
    let keep = Keep { frames: captures.is_some(), activity: writer.keeps_activity(), ..recorder.keep() };
    let pauses = loaded.plan.run.record_pauses;
    let stop = RefCell::new(Ok(()));
    let mut sinks = RunSinks { writer: &mut writer, recorder: &mut recorder, captures, pauses, stop: &stop };
    let end = driver(keep, &mut sinks)?;
    let setup = began.elapsed().saturating_sub(end.wall);
    let captures = sinks.captures.map(|captures| captures.finish(end.sim_end, &end.missed_frames)).transpose()?;
    let measures = MeasuredRow::all(&loaded.measures, &loaded.plan, &recorder.finish(&end));
    writer.taken(measures, captures.unwrap_or_default());
    writer.complete(RunEnd { setup, ..end })
}

/// What is known of the run before it starts.
fn context<'a>(loaded: &'a Loaded, output: TableOutput<'_>, origin: Origin) -> RunContext<'a> {
    RunContext {
        name: loaded.name.clone(),
        schemes: loaded.schemes.iter().map(|scheme| scheme.label.clone()).collect(),
        seed: loaded.plan.seed,
        plan: &loaded.plan,
        routing: loaded.routing(),
        labels: loaded.traffic.iter().flat_map(|traffic| traffic.labels.iter().cloned()).collect(),
        sources: loaded.traffic.iter().map(|traffic| traffic.name.clone()).collect(),
        scenario: loaded.resolved.clone(),
        attachments: loaded.attachments.clone(),
        csv: loaded.output.csv,
        collect: output == TableOutput::Memory,
        flows: match output {
            TableOutput::Flows(folder) => Some(folder.to_owned()),
            TableOutput::Files | TableOutput::Memory => None,
        },
        figures: loaded.output.figures,
        activity: loaded.output.activity,
        jobs: jobs(loaded),
        live: origin == Origin::Live,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        disturbance: None,
        warnings: warnings::of_scenario(loaded),
    }
}

/// What is known of its jobs.
fn jobs(loaded: &Loaded) -> Vec<JobFacts> {
    let facts = |(source, traffic): (u32, &TrafficPlan)| {
        let job = traffic.job()?;
        Some(JobFacts {
            source,
            name: traffic.name.clone(),
            graph: Arc::clone(job.graph.compiled()),
            iterations: job.iterations,
            start: job.start,
            ranks: job.rank_names().map(str::to_owned).collect(),
            servers: (0..job.graph.ranks()).map(|rank| job.server_of(rank)).collect(),
        })
    };
    (0..).zip(&loaded.traffic).filter_map(facts).collect()
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
    fn raw_frames(&mut self, frames: &[RawFrame]) -> io::Result<()> {
        self.captures.as_mut().map_or(Ok(()), |captures| captures.raw_frames(frames))
    }
    fn activity(&mut self, activity: &Activity) -> io::Result<()> {
        self.writer.activity(activity)
    }
    fn flow_links(&mut self, links: &[FlowLink]) -> io::Result<()> {
        self.writer.flow_links(links)
    }
    fn responses(&mut self, responses: &[Response]) -> io::Result<()> {
        self.recorder.responses(responses)
    }
    fn intervals(&mut self, intervals: &[JobInterval]) -> io::Result<()> {
        self.writer.intervals(intervals);
        self.recorder.intervals(intervals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::scratch::Scratch;
    use crate::fixture;
    use std::fs;
    use xoff_engine::Time;
    use xoff_scenario::{Options, Scenario};

    const SCENARIO: &str = r#"
        name = "star"
        topology = { kind = "star", hosts = 3, rate = "100Gbps" }
        scheme = { name = "none" }
        traffic = [{ kind = "burst", sources = ["h0", "h1"], destinations = "h2", size = "20KB" }]
        probe = [{ what = "queue", ports = "sw->h2", every = "1us" }]
        capture = [{ name = "out", ports = "sw->h2", snap = "16B" }]
    "#;

    fn loaded() -> Loaded {
        xoff_schemes::install_all();
        Scenario::from_text("star.toml", SCENARIO, Path::new(".")).load(&Options::default()).unwrap()
    }

    /// The simulator stands in for a live run; of its frames only one is captured.
    fn live(loaded: &Loaded, out: &Path, slip: f64) -> Outcome {
        struct Tee<'a>(&'a mut dyn Sink);
        impl Sink for Tee<'_> {
            fn flows(&mut self, flows: &[FlowRecord]) -> io::Result<()> {
                self.0.flows(flows)
            }
            fn pauses(&mut self, pauses: &[PauseRecord]) -> io::Result<()> {
                self.0.pauses(pauses)
            }
            fn samples(&mut self, samples: &[Sample]) -> io::Result<()> {
                self.0.samples(samples)
            }
        }
        let driver = |loaded: &Loaded, keep: Keep, sink: &mut dyn Sink| {
            assert!(keep.frames, "captures go into the directory");
            let port = loaded.captures[0].capture.ports[0];
            let (at, bytes) = (Time::from_us(2), b"0123456789abcdefgh".to_vec());
            let frame = RawFrame { capture: 0, at, port, bytes, frame_bytes: 64, comment: "from a wire".into() };
            sink.raw_frames(&[frame])?;
            let end = drive(loaded, Keep { frames: false, ..keep }, &mut Tee(sink), &mut |_| {})?;
            Ok((RunEnd { missed_frames: Vec::new(), ..end }, fixture::live_timing(slip)))
        };
        execute_by(loaded, Some(out), driver).unwrap()
    }

    #[test]
    fn records_from_elsewhere_make_the_same_directory() {
        let (scratch, loaded) = (Scratch::new("by"), loaded());
        let (simulated, real) = (scratch.0.join("simulated"), scratch.0.join("live"));
        execute(&loaded, Some(&simulated), |_| {}).unwrap();
        let outcome = live(&loaded, &real, 0.0);
        assert_eq!(outcome.summary.why_failed(), None);
        for table in ["flows", "series", "pauses", "ports"] {
            let file = format!("{table}.parquet");
            assert!(fs::read(simulated.join(&file)).unwrap() == fs::read(real.join(&file)).unwrap(), "{file}");
        }
        assert!(real.join("live.parquet").is_file() && !simulated.join("live.parquet").exists());
        let json = |folder: &Path| fs::read_to_string(folder.join("run.json")).unwrap();
        assert!(json(&real).contains("\"live_timing\"") && !json(&simulated).contains("live_timing"));
    }

    #[test]
    fn captured_bytes_are_written_as_they_came() {
        let (scratch, loaded) = (Scratch::new("raw"), loaded());
        let (simulated, real) = (scratch.0.join("simulated"), scratch.0.join("live"));
        execute(&loaded, Some(&simulated), |_| {}).unwrap();
        let outcome = live(&loaded, &real, 0.0);
        assert_eq!((outcome.summary.captures[0].frames, outcome.summary.captures[0].missed), (1, 0));
        let file = |folder: &Path| fs::read(folder.join("captures/out.pcapng")).unwrap();
        let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        let bytes = file(&real);
        // Kept and whole length, then the bytes that the snap length leaves.
        let kept = [&16u32.to_le_bytes()[..], &60u32.to_le_bytes(), b"0123456789abcdef", &[1, 0]].concat();
        assert!(has(&bytes, &kept) && has(&bytes, b"from a wire") && !has(&bytes, b"Simulated"));
        assert!(has(&bytes, b"Frames of a live run") && has(&file(&simulated), b"Simulated frames"));
    }

    #[test]
    fn a_machine_that_was_too_slow_fails_the_run() {
        let (scratch, loaded) = (Scratch::new("slow"), loaded());
        let summary = live(&loaded, &scratch.0.join("live"), 0.2).summary;
        let why = summary.why_failed().unwrap();
        assert!(
            why.contains("machine kept up (the clock stood still for 20.0% of the time (bound 1.00%); raise"),
            "{why}"
        );
    }
}
