//! Runs a loaded scenario: builds the world, drives it in slices, hands its records on.

use crate::cpu::{process_cpu, thread_cpu};
use crate::end::RunEnd;
use crate::memory;
use crate::threads;
use crate::time_limit;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use xoff_catalogue::param::FlowForm;
use xoff_engine::Time;
use xoff_fabric::activity::{Activity, PortsNow};
use xoff_fabric::capture::{Frame, RawFrame};
use xoff_fabric::partition;
use xoff_fabric::plan::{Fidelity, Plan};
use xoff_fabric::record::{FlowLink, FlowRecord, PauseRecord, PfcRecord, Sample};
use xoff_fabric::simulation::Simulation;
use xoff_fabric::traffic::{Action, Source, Subscription};
use xoff_fabric::world::Progress;
use xoff_flow::{FlowWorld, SchemeFacts};
use xoff_scenario::Loaded;
use xoff_scenario::measure::recording::Response;
use xoff_scenario::schemes::NamedScheme;
use xoff_scenario::traffic::{Expected, JobInterval, JobLog, Settled};

/// Events between two looks at the clock: a few milliseconds of work.
const SLICE: u64 = 1 << 16;

/// Progress of a run, to be shown.
#[derive(Clone, Copy)]
pub struct Position<'a> {
    /// Simulated time reached.
    pub now: Time,
    /// When the run ends at the latest, in simulated time.
    pub stop: Time,
    /// Part done, from 0 to 1: of the payload where it is known, else of the flows, else of the time.
    pub part: f64,
    /// Packet-hops so far ([`xoff_fabric::record::Counters::packet_hops`]).
    pub packet_hops: u64,
    /// The network as it is now.
    pub network: &'a dyn PortsNow,
}

/// Takes the records of a run as they come.
pub trait Sink {
    /// Flows that ended since the last call; in the last one also those that the run's end cut off.
    fn flows(&mut self, flows: &[FlowRecord]) -> io::Result<()>;
    /// PAUSE and RESUME decisions, if the scenario or [`Keep::pauses`] asks for them.
    fn pauses(&mut self, pauses: &[PauseRecord]) -> io::Result<()>;
    /// What probes read since the last call.
    fn samples(&mut self, samples: &[Sample]) -> io::Result<()>;
    /// Only if the plan records them.
    fn pfc_frames(&mut self, _: &[PfcRecord]) -> io::Result<()> {
        Ok(())
    }
    /// Only if [`Keep::frames`].
    fn frames(&mut self, _: &[Frame]) -> io::Result<()> {
        Ok(())
    }
    /// Captured frames of a live network, which sends real bytes.
    fn raw_frames(&mut self, _: &[RawFrame]) -> io::Result<()> {
        Ok(())
    }
    /// Once, at the end, and only if [`Keep::activity`].
    fn activity(&mut self, _: &Activity) -> io::Result<()> {
        Ok(())
    }
    /// Once, at the end: what ports sent of flows. Only if the plan records it.
    fn flow_links(&mut self, _: &[FlowLink]) -> io::Result<()> {
        Ok(())
    }
    /// Only if [`Keep::responses`].
    fn responses(&mut self, _: &[Response]) -> io::Result<()> {
        Ok(())
    }
    /// What jobs did: activities that ended since the last call; in the last one also those that the run's end cut off.
    fn intervals(&mut self, _: &[JobInterval]) -> io::Result<()> {
        Ok(())
    }
}

/// Records that the caller needs although the scenario does not ask for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keep {
    /// Every PAUSE and RESUME, but refreshes.
    pub pauses: bool,
    /// PAUSEs that only prolong a timed one.
    pub refreshes: bool,
    /// Answers on connections that stay open.
    pub responses: bool,
    /// What the scenario captures.
    pub frames: bool,
    /// What ports and flows do, window by window.
    pub activity: bool,
}

/// Runs to the end and hands the records on; what is left to say is the result.
pub fn drive(
    loaded: &Loaded,
    keep: Keep,
    sink: &mut dyn Sink,
    watch: &mut dyn FnMut(Position<'_>),
) -> io::Result<RunEnd> {
    let began = Instant::now();
    if let Some(why) = memory::refusal(loaded) {
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, why));
    }
    let responses = keep.responses.then(Arc::<Mutex<ResponseLog>>::default);
    let mut plan = Arc::clone(&loaded.plan);
    if keep.pauses && !plan.run.record_pauses || keep.refreshes && !plan.run.record_refreshes {
        let settings = &mut Arc::make_mut(&mut plan).run;
        settings.record_pauses |= keep.pauses;
        settings.record_refreshes |= keep.refreshes;
    }
    let frames = keep.frames && !loaded.captures.is_empty();
    let jobs = Jobs::new(loaded);
    let sources = watched_sources(loaded, responses.as_ref(), jobs.0.as_ref());
    let mut one_part_because = indivisible(loaded, frames);
    let reacts = sources.iter().any(|source| source.reacts());
    let part_of = one_part_because.is_none().then(|| threads::cut(&plan, reacts));
    let mut world = world(loaded, plan, sources, part_of);
    if world.parts() == 1 && threads::is_asked_to_cut(&world.plan, reacts) {
        one_part_because = one_part_because.or_else(|| partition::obstacle(&world.plan));
    }
    if frames {
        world.capture(loaded.captures.iter().map(|request| request.capture.clone()).collect());
    }
    if keep.activity {
        world.watch_activity();
    }
    let mut guard = memory::Guard::new(memory::limit());
    let setup = began.elapsed();
    let (flows_expected, payload_expected) = (flows_expected(loaded), payload_expected(loaded));
    let mut executor = threads::Threads::new(world.parts());
    let cpu = if executor.count() > 1 { process_cpu } else { thread_cpu };
    let (wall_start, cpu_start) = (Instant::now(), cpu());
    while executor.run(&mut *world, SLICE) == Progress::Running {
        drain(&mut *world, sink)?;
        jobs.hand_on(sink)?;
        if let Some(failure) = guard.look(&*world).or_else(|| time_limit::look(wall_start, &*world)) {
            world.fail(failure);
        }
        let counters = &world.counters;
        let part = match (payload_expected, flows_expected) {
            (Some(bytes), _) => counters.delivered_bytes as f64 / bytes,
            (None, Some(flows)) => counters.flows_completed as f64 / flows,
            (None, None) => world.now.ps() as f64 / world.plan.run.stop.ps().max(1) as f64,
        };
        watch(Position {
            now: world.now,
            stop: world.plan.run.stop,
            part: part.min(1.0),
            packet_hops: counters.packet_hops,
            network: &*world,
        });
    }
    let (wall, run_cpu) = (wall_start.elapsed(), cpu().saturating_sub(cpu_start));
    drain(&mut *world, sink)?;
    world.take_activity().map_or(Ok(()), |activity| sink.activity(&activity))?;
    if world.plan.run.record_flow_links {
        sink.flow_links(&world.flow_links())?;
    }
    if let Some(responses) = responses {
        sink.responses(&responses.lock().map_err(|_| io::Error::other("a traffic source panicked"))?.take())?;
    }
    let imbalance = world.check_conservation().err();
    // Reports of all ports take as much room as packets did.
    world.forget_packets();
    let end = RunEnd {
        counters: world.counters,
        ports: world.port_reports().into(),
        sim_end: world.now,
        wall,
        run_cpu,
        setup,
        parts: world.parts(),
        threads: executor.count(),
        one_part_because,
        windows: executor.windows(world.windows(), wall),
        peak_rss: peak_rss_bytes(),
        imbalance,
        macro_flow_bytes: world.macro_flow_bytes(),
        settled: jobs.settled(),
        failure: world.failure.clone(),
        storms: world.storm_records(),
        dead_links: world.dead_links(),
        deadlock_at: world.deadlocks.first().map(|(at, _)| *at),
        waits: world.waits.clone(),
        apart: false,
        missed_frames: (0..loaded.captures.len()).map(|capture| world.taps().counts(capture).1).collect(),
    };
    // Sources that go write down what was begun and is not over.
    drop(world);
    jobs.hand_on(sink)?;
    Ok(end)
}

/// What the jobs of a scenario did and is not handed on yet.
pub struct Jobs(Option<Arc<Mutex<JobLog>>>);

impl Jobs {
    /// Nothing yet.
    pub fn new(loaded: &Loaded) -> Jobs {
        Jobs(loaded.traffic.iter().any(|traffic| traffic.job().is_some()).then(Default::default))
    }

    /// Sources of the scenario, in order. What their jobs do is noted here.
    pub fn sources(&self, loaded: &Loaded) -> Vec<Box<dyn Source>> {
        watched_sources(loaded, None, self.0.as_ref())
    }

    /// Jobs that have stopped early, and what is known of their iterations.
    pub fn settled(&self) -> Vec<(u32, Settled)> {
        let log = self.0.as_ref().and_then(|log| log.lock().ok());
        let stopped = log.filter(|log| log.stopped);
        stopped.map_or_else(Vec::new, |log| log.settled.iter().map(|(&job, &settled)| (job, settled)).collect())
    }

    /// Hands on what jobs have done since the last time.
    pub fn hand_on(&self, sink: &mut dyn Sink) -> io::Result<()> {
        let Some(log) = &self.0 else { return Ok(()) };
        let done = std::mem::take(&mut log.lock().map_err(|_| io::Error::other("a traffic source panicked"))?.done);
        if done.is_empty() { Ok(()) } else { sink.intervals(&done) }
    }
}

/// The world of a loaded scenario, ready to run.
pub fn build(loaded: &Loaded) -> Box<dyn Simulation> {
    world(loaded, Arc::clone(&loaded.plan), sources(loaded), None)
}

/// [`build`] in parts, by the part of every node; the reason if it cannot be cut. Its jobs write to `jobs`.
pub fn build_in_parts(
    loaded: &Loaded,
    part_of: Vec<u16>,
    jobs: Option<&Arc<Mutex<JobLog>>>,
) -> Result<Box<dyn Simulation>, &'static str> {
    match indivisible(loaded, false) {
        Some(why) => Err(why),
        None => Ok(world(loaded, Arc::clone(&loaded.plan), watched_sources(loaded, None, jobs), Some(part_of))),
    }
}

/// Returns why the network of a scenario is one part whatever the threads, as a clause after "because". `frames`: what
/// the scenario captures is kept.
pub fn one_part_because(loaded: &Loaded, frames: bool) -> Option<&'static str> {
    indivisible(loaded, frames).or_else(|| partition::obstacle(&loaded.plan))
}

fn indivisible(loaded: &Loaded, frames: bool) -> Option<&'static str> {
    match loaded.plan.run.fidelity {
        Fidelity::Flow => Some("rates of flows depend on each other"),
        Fidelity::Packet => loaded.indivisible(frames),
    }
}

fn world(
    loaded: &Loaded,
    plan: Arc<Plan>,
    sources: Vec<Box<dyn Source>>,
    part_of: Option<Vec<u16>>,
) -> Box<dyn Simulation> {
    if plan.run.fidelity == Fidelity::Flow {
        return Box::new(FlowWorld::new(plan, loaded.schemes.iter().map(scheme_facts).collect(), sources));
    }
    let schemes: Vec<_> = loaded.schemes.iter().map(|scheme| &scheme.values).collect();
    xoff_catalogue::world(plan, &schemes, sources, part_of)
}

/// What the flow-level engine must know of a scheme.
fn scheme_facts(scheme: &NamedScheme) -> SchemeFacts {
    let values = scheme.values.clone();
    SchemeFacts {
        formats: xoff_catalogue::formats(&values),
        keeps_initial_rate: values.spec().flow_form == FlowForm::Uncontrolled,
        first_limits: Box::new(move |facts| xoff_catalogue::first_limits(&values, facts)),
    }
}

/// The sources of a scenario, in order.
pub fn sources(loaded: &Loaded) -> Vec<Box<dyn Source>> {
    watched_sources(loaded, None, None)
}

fn watched_sources(
    loaded: &Loaded,
    responses: Option<&Arc<Mutex<ResponseLog>>>,
    jobs: Option<&Arc<Mutex<JobLog>>>,
) -> Vec<Box<dyn Source>> {
    let mut first_label = 0;
    let mut sources: Vec<Box<dyn Source>> = Vec::with_capacity(loaded.traffic.len());
    for (index, traffic) in (0..).zip(&loaded.traffic) {
        let inner = match jobs {
            Some(log) => traffic.build_logged(loaded.plan.seed, index, log),
            None => traffic.build(loaded.plan.seed),
        };
        let relabelled = Relabelled { inner, name: traffic.key(), first_label, waiting: Vec::new() };
        sources.push(match responses {
            Some(log) => Box::new(Watched { inner: relabelled, source: index, log: log.clone() }),
            None => Box::new(relabelled),
        });
        first_label += traffic.labels.len() as u32;
    }
    sources
}

/// How many flows will run, if every source knows and none is endless.
pub fn flows_expected(loaded: &Loaded) -> Option<f64> {
    expected(loaded, |of| of.flows)
}

/// The payload that all flows carry, if all of them end by themselves.
fn payload_expected(loaded: &Loaded) -> Option<f64> {
    expected(loaded, |of| of.bytes)
}

fn expected(loaded: &Loaded, of: impl Fn(&Expected) -> Option<f64>) -> Option<f64> {
    let mut sum = 0.0;
    for traffic in &loaded.traffic {
        if !traffic.expected.finite {
            return None;
        }
        sum += of(&traffic.expected)?;
    }
    (sum > 0.0).then_some(sum)
}

fn drain(world: &mut dyn Simulation, sink: &mut dyn Sink) -> io::Result<()> {
    sink.flows(&world.flows)?;
    sink.pauses(&world.pauses)?;
    sink.pfc_frames(&world.pfc_frames)?;
    sink.samples(&world.samples)?;
    sink.frames(&world.taps().frames)?;
    world.flows.clear();
    world.pauses.clear();
    world.pfc_frames.clear();
    world.samples.clear();
    world.taps_mut().frames.clear();
    Ok(())
}

/// A source asks for at most this many things at a time; what is more follows at the same instant, so that
/// memory is looked at in between.
const ACTIONS_AT_ONCE: usize = 1 << 17;

/// A source that has a name, and whose labels count on from those of the sources before it.
struct Relabelled {
    inner: Box<dyn Source>,
    name: u64,
    first_label: u32,
    /// Asked for at this instant and not passed on yet, last first.
    waiting: Vec<(Time, Action)>,
}

/// Hands the hooks of [`Source`] that a wrapper does not change on to its `inner`.
macro_rules! delegate_source {
    ($($hook:ident($($of:ident: $kind:ty),*) $(-> $answer:ty)?;)+) => {
        $(delegate_source!(@ $hook($($of: $kind),*) $(-> $answer)?);)+
    };
    (@ $hook:ident() -> $answer:ty) => {
        fn $hook(&self) -> $answer {
            self.inner.$hook()
        }
    };
    (@ $hook:ident($($of:ident: $kind:ty),+)) => {
        fn $hook(&mut self, $($of: $kind),+) {
            self.inner.$hook($($of),+);
        }
    };
}

#[deny(clippy::missing_trait_methods)]
impl Source for Relabelled {
    fn name(&self) -> Option<u64> {
        Some(self.name)
    }
    fn next(&self) -> Option<Time> {
        self.waiting.last().map(|(at, _)| *at).or_else(|| self.inner.next())
    }
    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        let from = out.len();
        if self.waiting.is_empty() {
            self.inner.act(now, out);
            for action in &mut out[from..] {
                let spec = match action {
                    Action::Start(spec) => Some(spec),
                    Action::StartTogether(flow) => Some(&mut flow.spec),
                    _ => None,
                };
                if let Some(spec) = spec {
                    spec.label += self.first_label;
                }
            }
            let later = out.drain((from + ACTIONS_AT_ONCE).min(out.len())..).rev();
            self.waiting.extend(later.map(|action| (now, action)));
        } else {
            let first = self.waiting.len().saturating_sub(ACTIONS_AT_ONCE);
            out.extend(self.waiting.drain(first..).rev().map(|(_, action)| action));
        }
    }
    delegate_source! {
        reacts() -> bool;
        subscription() -> Subscription;
        waits_for() -> Vec<String>;
        on_finished(now: Time, handle: u32);
        on_drained(now: Time, handle: u32);
        on_delivered(now: Time, handle: u32, message: u32);
        on_acknowledged(now: Time, handle: u32, message: u32);
        on_stranded(now: Time, handle: u32, cut: bool);
    }
}

/// A source whose open connections are watched.
struct Watched {
    inner: Relabelled,
    source: u32,
    log: Arc<Mutex<ResponseLog>>,
}

impl Watched {
    fn log(&self, note: impl FnOnce(&mut ResponseLog)) {
        // The world holds the only other reference while it runs.
        if let Ok(mut log) = self.log.lock() {
            note(&mut log);
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Source for Watched {
    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        let from = out.len();
        self.inner.act(now, out);
        for action in &out[from..] {
            match action {
                // A queue pair that waits for messages asks for nothing.
                Action::Start(spec) if spec.offered_bytes.is_some_and(|bytes| bytes > 0) => {
                    let (label, src, dst, class) = (spec.label, spec.src, spec.dst, spec.class);
                    let unit = Response { source: self.source, label, src, dst, class, asked: now, done: None };
                    self.log(|log| log.ask(spec.handle, unit));
                }
                Action::Offer { handle, .. } => self.log(|log| log.ask_again(self.source, *handle, now)),
                _ => {}
            }
        }
    }
    fn on_drained(&mut self, now: Time, handle: u32) {
        self.log(|log| log.done(self.source, handle, now));
        self.inner.on_drained(now, handle);
    }
    delegate_source! {
        name() -> Option<u64>;
        next() -> Option<Time>;
        reacts() -> bool;
        subscription() -> Subscription;
        waits_for() -> Vec<String>;
        on_finished(now: Time, handle: u32);
        on_delivered(now: Time, handle: u32, message: u32);
        on_acknowledged(now: Time, handle: u32, message: u32);
        on_stranded(now: Time, handle: u32, cut: bool);
    }
}

/// The answers of all sources, by source and handle while they are under way.
#[derive(Default)]
struct ResponseLog {
    latest: BTreeMap<(u32, u32), Response>,
    done: Vec<Response>,
}

impl ResponseLog {
    fn ask(&mut self, handle: u32, unit: Response) {
        self.latest.insert((unit.source, handle), unit);
    }

    fn ask_again(&mut self, source: u32, handle: u32, now: Time) {
        if let Some(latest) = self.latest.get_mut(&(source, handle)) {
            *latest = Response { asked: now, done: None, ..*latest };
        }
    }

    fn done(&mut self, source: u32, handle: u32, now: Time) {
        if let Some(latest) = self.latest.get_mut(&(source, handle)).filter(|latest| latest.done.is_none()) {
            latest.done = Some(now);
            self.done.push(*latest);
        }
    }

    /// All of them, those still under way last.
    fn take(&mut self) -> Vec<Response> {
        let under_way = self.latest.values().filter(|unit| unit.done.is_none());
        let mut all = std::mem::take(&mut self.done);
        all.extend(under_way);
        all
    }
}

/// Most memory this process ever held; zero where the system does not say.
pub fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job has no number of flows, and ends long before the run would.
    #[test]
    fn a_job_is_as_far_as_its_payload() {
        xoff_schemes::install_all();
        let text = "run.stop = \"10s\"\n\
            topology = { kind = \"star\", hosts = 4, rate = \"100Gbps\" }\n\
            [[traffic]]\nkind = \"all-reduce\"\nranks = [\"h0\", \"h1\", \"h2\", \"h3\"]\nbytes = \"20MB\"\n";
        let scenario = xoff_scenario::Scenario::from_text("t", text, std::path::Path::new("."));
        let loaded = scenario.load(&xoff_scenario::Options::default()).unwrap();
        let mut parts = Vec::new();
        drive(&loaded, Keep::default(), &mut crate::Records::default(), &mut |at| parts.push(at.part)).unwrap();
        assert!(parts.len() > 2 && parts.is_sorted(), "{parts:?}");
        let last = parts.last().copied().unwrap_or_default();
        assert!(last > 0.5 && parts[0] < 0.6, "{parts:?}");
    }

    struct Received(Arc<Mutex<Vec<(&'static str, u32)>>>);

    impl Source for Received {
        fn next(&self) -> Option<Time> {
            None
        }
        fn act(&mut self, _: Time, _: &mut Vec<Action>) {}
        fn on_finished(&mut self, _: Time, handle: u32) {
            self.0.lock().unwrap().push(("finished", handle));
        }
        fn on_drained(&mut self, _: Time, handle: u32) {
            self.0.lock().unwrap().push(("drained", handle));
        }
        fn on_delivered(&mut self, _: Time, handle: u32, message: u32) {
            self.0.lock().unwrap().push(("delivered", handle + message));
        }
        fn on_acknowledged(&mut self, _: Time, handle: u32, message: u32) {
            self.0.lock().unwrap().push(("acknowledged", handle + message));
        }
        fn subscription(&self) -> Subscription {
            Subscription::ALL
        }
        fn on_stranded(&mut self, _: Time, handle: u32, cut: bool) {
            self.0.lock().unwrap().push((if cut { "cut" } else { "back" }, handle));
        }
        fn waits_for(&self) -> Vec<String> {
            vec!["a miracle".to_owned()]
        }
    }

    fn relabelled(inner: impl Source + 'static, first_label: u32) -> Relabelled {
        Relabelled { inner: Box::new(inner), name: 0, first_label, waiting: Vec::new() }
    }

    /// Stops a great many flows at 1 us.
    struct Crowd(Option<Time>);

    impl Source for Crowd {
        fn next(&self) -> Option<Time> {
            self.0
        }
        fn act(&mut self, _: Time, out: &mut Vec<Action>) {
            self.0 = None;
            out.extend((0..300_000).map(|handle| Action::Stop { handle }));
        }
    }

    #[test]
    fn a_crowd_comes_in_parts_and_in_order() {
        let at = Time::from_us(1);
        let mut source = relabelled(Crowd(Some(at)), 0);
        let (mut handles, mut parts) = (Vec::new(), Vec::new());
        while source.next() == Some(at) {
            let mut out = Vec::new();
            source.act(at, &mut out);
            parts.push(out.len());
            handles.extend(out.iter().map(|action| match action {
                Action::Stop { handle } => *handle,
                _ => unreachable!("only stops"),
            }));
        }
        assert_eq!(parts, [1 << 17, 1 << 17, 300_000 - (1 << 18)]);
        assert!(handles.iter().copied().eq(0..300_000));
        assert_eq!(source.next(), None);
    }

    #[test]
    fn wrapped_sources_receive_the_events_of_their_flows() {
        let received = Arc::default();
        let relabelled = || relabelled(Received(Arc::clone(&received)), 3);
        let sources: [Box<dyn Source>; 2] =
            [Box::new(relabelled()), Box::new(Watched { inner: relabelled(), source: 0, log: Arc::default() })];
        for mut source in sources {
            source.on_drained(Time::ZERO, 1);
            source.on_finished(Time::ZERO, 2);
            source.on_delivered(Time::ZERO, 3, 30);
            source.on_acknowledged(Time::ZERO, 4, 40);
            source.on_stranded(Time::ZERO, 5, true);
            source.on_stranded(Time::ZERO, 6, false);
            let events = std::mem::take(&mut *received.lock().unwrap());
            let of_flows = [("drained", 1), ("finished", 2), ("delivered", 33), ("acknowledged", 44)];
            assert_eq!(events, [&of_flows[..], &[("cut", 5), ("back", 6)]].concat());
            assert_eq!(source.subscription(), Subscription::ALL);
            assert_eq!(source.waits_for(), ["a miracle"]);
        }
    }
}
