//! One scenario loaded, checked and run in memory, and what became of it.

use crate::invariants;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use xoff_fabric::record::{Failure, FlowRecord};
use xoff_fabric::simulation::Simulation;
use xoff_fabric::world::Progress;
use xoff_run::drive::{Sink, build};
use xoff_run::recorder::Recorder;
use xoff_scenario::check::Report;
use xoff_scenario::measure::Recording;
use xoff_scenario::{Loaded, Options, Scenario};

/// Events between two looks at the limit.
const SLICE: u64 = 1 << 14;
/// A scenario drawn to take some ten thousand events takes no more than this, or time does not advance.
const EVENTS_LARGEST: u64 = 20_000_000;

/// A scenario that ran to its end.
pub struct Trial {
    pub loaded: Loaded,
    pub report: Report,
    pub world: Box<dyn Simulation>,
    pub ports: Vec<xoff_fabric::record::PortReport>,
}

/// What became of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Finished,
    /// The simulated network failed, for this reason.
    Failed(&'static str),
    /// The scenario was refused, with this message.
    Refused(String),
    Panicked,
}

/// What became of it, and what is wrong with that.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub ending: Ending,
    pub violations: Vec<String>,
    pub packet_hops: u64,
    /// What of [`invariants::all_reaches`] it put to the test.
    pub reached: Vec<String>,
}

impl Verdict {
    fn without_a_run(ending: Ending, violations: Vec<String>) -> Verdict {
        Verdict { ending, violations, packet_hops: 0, reached: Vec::new() }
    }
}

/// Loads a text; its messages if it is refused.
pub fn load(text: &str) -> Result<Loaded, Vec<xoff_scenario::Diagnostic>> {
    xoff_schemes::install_all();
    Scenario::from_text("scenario.toml", text, Path::new(".")).load(&Options::default())
}

/// Runs a scenario to its end, however it ends; an error if it does not.
pub fn run(loaded: Loaded) -> Result<Trial, String> {
    let report = xoff_scenario::check::report(&loaded);
    let mut world = build(&loaded);
    world.capture(loaded.captures.iter().map(|request| request.capture.clone()).collect());
    while world.run(SLICE) == Progress::Running {
        if world.counters.events > EVENTS_LARGEST {
            return Err(format!("no end after {EVENTS_LARGEST} events, at {}", world.now));
        }
    }
    let ports = world.port_reports();
    Ok(Trial { loaded, report, world, ports })
}

impl Trial {
    /// The records of all flows, by name of their traffic and number within it.
    pub fn flows(&self) -> Vec<((&str, u32), &FlowRecord)> {
        let mut flows: Vec<&FlowRecord> = self.world.flows.iter().collect();
        flows.sort_by_key(|flow| (flow.source, flow.id));
        let mut number = 0;
        let mut last = u32::MAX;
        let mut named = Vec::with_capacity(flows.len());
        for flow in flows {
            number = if flow.source == last { number + 1 } else { 0 };
            last = flow.source;
            named.push(((self.loaded.traffic[flow.source as usize].name.as_str(), number), flow));
        }
        named.sort_by_key(|(name, _)| *name);
        named
    }

    /// What the scenario's own measures make of it.
    fn measured(&self) -> Result<usize, String> {
        let mut recorder = Recorder::new(self.loaded.measures.needs());
        let world = &self.world;
        let kept = [recorder.flows(&world.flows), recorder.pauses(&world.pauses), recorder.samples(&world.samples)];
        kept.into_iter().collect::<Result<Vec<()>, _>>().map_err(|error| error.to_string())?;
        let ports = self.ports.clone().into();
        let recording = Recording { ports, sim_end: world.now, counters: world.counters, ..recorder.so_far() };
        let measured = self.loaded.measures.take(&self.loaded.plan, &recording);
        Ok(measured.numbers.len() + measured.curves.len())
    }
}

/// Loads, runs and judges a text. A panic is a violation, too.
pub fn judge(text: &str) -> Verdict {
    catch_unwind(AssertUnwindSafe(|| judge_calmly(text))).unwrap_or_else(|_| {
        let violations = vec![format!("a panic: {}", SAID.with_borrow(String::clone))];
        Verdict::without_a_run(Ending::Panicked, violations)
    })
}

thread_local! {
    /// Where the last panic of this thread was, and what it said.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Reports panics with their scenario from now on, not by themselves.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|panic| SAID.with_borrow_mut(|said| *said = panic.to_string())));
}

fn judge_calmly(text: &str) -> Verdict {
    let loaded = match load(text) {
        Ok(loaded) => loaded,
        Err(errors) => {
            let said = errors.first().map(|error| error.message.clone()).unwrap_or_default();
            let silent = said.is_empty() || errors.iter().any(|error| error.render(false).len() < 10);
            let violations = if silent { vec!["refused without a message".to_owned()] } else { Vec::new() };
            return Verdict::without_a_run(Ending::Refused(said), violations);
        }
    };
    let measures = loaded.measures.names().len();
    let trial = match run(loaded) {
        Ok(trial) => trial,
        Err(why) => return Verdict::without_a_run(Ending::Failed("endless"), vec![why]),
    };
    let mut violations = invariants::broken(&trial);
    if trial.measured() != Ok(measures) {
        violations.push("a measure gave nothing".to_owned());
    }
    let ending = match trial.world.failure {
        None => Ending::Finished,
        Some(Failure::LosslessDrop(_)) => Ending::Failed("lossless drop"),
        Some(Failure::Deadlock { .. }) => Ending::Failed("deadlock"),
        Some(Failure::Stall { .. }) => Ending::Failed("stall"),
        Some(Failure::Memory { .. }) => Ending::Failed("memory"),
        Some(Failure::Time { .. }) => Ending::Failed("time"),
        Some(Failure::Standstill { .. }) => Ending::Failed("standstill"),
    };
    let reached = invariants::reached(&trial).collect();
    Verdict { ending, violations, packet_hops: trial.world.counters.packet_hops, reached }
}

/// Runs a text twice: why the second run is not the first, if so.
pub fn differs_when_repeated(text: &str) -> Option<String> {
    let run = || catch_unwind(|| load(text).ok().and_then(|loaded| run(loaded).ok())).ok().flatten();
    let (mut a, mut b) = (run()?, run()?);
    difference(&mut *a.world, &mut *b.world)
}

/// Where two worlds that should be the same differ, at the end of a run.
pub fn difference(a: &mut dyn Simulation, b: &mut dyn Simulation) -> Option<String> {
    let mut differs = Vec::new();
    let mut compare = |what: &str, a: String, b: String| {
        if a != b {
            let at = a.bytes().zip(b.bytes()).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
            let near = |s: &str| s.chars().skip(at.saturating_sub(160)).take(320).collect::<String>();
            differs.push(format!("{what}:\n  one   {}\n  other {}", near(&a), near(&b)));
        }
    };
    compare("now", format!("{:?}", a.now), format!("{:?}", b.now));
    compare("failure", format!("{:?}", a.failure), format!("{:?}", b.failure));
    compare("waits", format!("{:?}", a.waits), format!("{:?}", b.waits));
    compare("flows", format!("{:?}", a.flows), format!("{:?}", b.flows));
    compare("pauses", format!("{:?}", a.pauses), format!("{:?}", b.pauses));
    compare("pfc frames", format!("{:?}", a.pfc_frames), format!("{:?}", b.pfc_frames));
    compare("samples", format!("{:?}", a.samples), format!("{:?}", b.samples));
    compare("deadlocks", format!("{:?}", a.deadlocks), format!("{:?}", b.deadlocks));
    compare("dead links", format!("{:?}", a.dead_links()), format!("{:?}", b.dead_links()));
    compare("storms", format!("{:?}", a.storm_records()), format!("{:?}", b.storm_records()));
    compare("counters", format!("{:?}", a.counters), format!("{:?}", b.counters));
    compare("ports", format!("{:?}", a.port_reports()), format!("{:?}", b.port_reports()));
    (!differs.is_empty()).then(|| differs.join("\n"))
}
