//! A loaded scenario on real packets, from its check to what is known at its end.

use crate::clock::{Clock, Kind};
use crate::gather::close;
use crate::lateness::Lateness;
use crate::network::Network;
use crate::partners::Partners;
use crate::run::{Parts, Run};
use crate::sampler::Sampler;
use crate::tap::Taps;
use crate::unsupported::{Objection, objections};
use crate::wires::Wires;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use xoff_catalogue::telemetry_multiplier;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::Plan;
use xoff_results::live_timing::{self, Frames, Ignored, LiveTiming, Slip, Verdict};
use xoff_run::RunEnd;
use xoff_run::cpu::thread_cpu;
use xoff_run::drive::{Jobs, Keep, Position, Sink, flows_expected, peak_rss_bytes, sources};
use xoff_scenario::Loaded;
use xoff_schemes::{Any, SchemeSet};
use xoff_wire::Encoder;

/// Real time between two looks at how far a run is.
const SLICE: Duration = Duration::from_millis(50);
/// An elastic clock lets nothing be later than this part of a frame's time.
const BOUND: f64 = 0.05;
/// The 99th percentile of lateness may be this part of a frame's time.
const LATE: f64 = 0.1;
/// Windows of `live.parquet`.
const WINDOWS: u64 = 200;

#[derive(Clone, Debug)]
pub struct Settings {
    pub clock: Kind,
    /// Times are multiplied by it, rates divided.
    pub k: f64,
    /// The largest slip that is accepted.
    pub slip_bound: f64,
    /// Nodes that this process runs; all, if none is named.
    pub own: Vec<u32>,
    /// How the thread goes before others, in words.
    pub scheduling: String,
}

/// A scenario that can run on real packets.
pub struct Stage<'a> {
    loaded: &'a Loaded,
    schemes: Vec<Any>,
    network: Network,
    /// By scheme: units of telemetry, where it sets them for all ports.
    multipliers: Vec<Option<u64>>,
}

impl<'a> Stage<'a> {
    /// Checks it; what stands in the way, each with a hint.
    pub fn new(loaded: &'a Loaded, keep: Keep) -> Result<Stage<'a>, Vec<Objection>> {
        let mut plan = Arc::clone(&loaded.plan);
        if keep.pauses && !plan.run.record_pauses || keep.refreshes && !plan.run.record_refreshes {
            let run = &mut Arc::make_mut(&mut plan).run;
            run.record_pauses |= keep.pauses;
            run.record_refreshes |= keep.refreshes;
        }
        let mut schemes = Vec::new();
        for scheme in &loaded.schemes {
            let Some(scheme) = Any::configure(&scheme.values) else {
                let what = format!("`{}` is a scheme of another crate", scheme.label);
                return Err(vec![Objection { what, hint: "run it with `xoff run`".to_owned() }]);
            };
            schemes.push(scheme);
        }
        let network = Network::new(&plan, &schemes);
        let objections = objections(loaded, &network, &schemes);
        if !objections.is_empty() {
            return Err(objections);
        }
        let multipliers = loaded.schemes.iter().map(|scheme| telemetry_multiplier(&scheme.values)).collect();
        Ok(Stage { loaded, schemes, network, multipliers })
    }

    pub fn plan(&self) -> &Plan {
        &self.network.plan
    }

    /// The time that a full packet takes on the fastest link.
    fn frame_time(&self) -> Span {
        let ports = 0..self.plan().ports() as u32;
        let times = ports.map(|port| self.network.rate(port).serialise(self.network.mtu_wire_bytes));
        times.min().unwrap_or(Span::from_us(1))
    }

    fn bound(&self) -> Span {
        Span::from_ps((self.frame_time().ps() as f64 * BOUND) as u64)
    }

    /// Runs for at most so long of real time, without records; what it took.
    pub(crate) fn try_out(
        &self,
        kind: Kind,
        k: f64,
        own: &[u32],
        wires: &mut impl Wires,
        for_at_most: Duration,
    ) -> io::Result<Trial> {
        let encoder = Encoder::new(self.plan(), self.multipliers.clone());
        let parts = self.parts(&encoder, own);
        let clock = Clock::start(kind, k, self.bound());
        let every = Span::from_ps((self.plan().run.stop.ps() / WINDOWS).max(1));
        let lateness = Lateness::new(every);
        let (sampler, taps) = (Sampler::new(self.plan(), false), Taps::default());
        let mut run = Run::new(&parts, wires, sources(self.loaded), clock, sampler, taps, lateness);
        run.go_on(for_at_most)?;
        let wall = run.clock.wall();
        run.lateness.close(run.now, &run.clock);
        Ok(Trial {
            slip: run.clock.stopped().as_secs_f64() / wall.as_secs_f64().max(1e-9),
            windows: run.lateness.windows.iter().map(|window| (window.at, window.wall_seconds)).collect(),
        })
    }

    fn parts<'b>(&'b self, encoder: &'b Encoder<'b>, own: &'b [u32]) -> Parts<'b, Any> {
        Parts { network: &self.network, schemes: &self.schemes, encoder, multipliers: &self.multipliers, own }
    }

    /// Runs to the end, hands the records on, and says what only a live run has. Partners in other processes compare their
    /// counts at the end.
    pub fn drive(
        &self,
        settings: &Settings,
        wires: &mut impl Wires,
        partners: Option<&mut Partners>,
        keep: Keep,
        sink: &mut dyn Sink,
        watch: &mut dyn FnMut(Position<'_>),
    ) -> io::Result<(RunEnd, LiveTiming)> {
        let began = Instant::now();
        if let Some(why) = xoff_run::memory::refusal(self.loaded) {
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, why));
        }
        let encoder = Encoder::new(self.plan(), self.multipliers.clone());
        let parts = self.parts(&encoder, &settings.own);
        let jobs = Jobs::new(self.loaded);
        let captures = self.loaded.captures.iter().filter(|_| keep.frames).map(|request| request.capture.clone());
        let taps = Taps::new(captures);
        let sampler = Sampler::new(self.plan(), keep.activity);
        let every = Span::from_ps((self.plan().run.stop.ps() / WINDOWS).max(1));
        let lost_before = wires.lost()?;
        let clock = Clock::start(settings.clock, settings.k, self.bound());
        let (setup, cpu_start) = (began.elapsed(), thread_cpu());
        let sources = jobs.sources(self.loaded);
        let mut run = Run::new(&parts, &mut *wires, sources, clock, sampler, taps, Lateness::new(every));
        let expected = flows_expected(self.loaded);
        while run.go_on(SLICE)? {
            drain(&mut run, sink)?;
            jobs.hand_on(sink)?;
            let part = match expected {
                Some(flows) => run.log.counters.flows_completed as f64 / flows,
                None => run.now.ps() as f64 / self.plan().run.stop.ps().max(1) as f64,
            };
            let packet_hops = run.log.counters.packet_hops;
            watch(Position {
                now: run.now,
                stop: self.plan().run.stop,
                part: part.min(1.0),
                packet_hops,
                network: &run,
            });
        }
        let run_cpu = thread_cpu().saturating_sub(cpu_start);
        let wall = run.clock.wall();
        run.look();
        run.lateness.close(run.now, &run.clock);
        let ports = run.finish();
        drain(&mut run, sink)?;
        if let Some(activity) = run.sampler.activity.take() {
            sink.activity(&activity)?;
        }
        let lost = run.lost()? - lost_before;
        let mut live_timing = self.live_timing(settings, &run, wall, run_cpu, lost);
        let end = RunEnd {
            counters: run.log.counters,
            ports: ports.into(),
            sim_end: run.now,
            wall,
            run_cpu,
            setup,
            parts: 1,
            threads: 1,
            one_part_because: None,
            windows: None,
            peak_rss: peak_rss_bytes(),
            imbalance: None,
            macro_flow_bytes: 0,
            settled: Vec::new(),
            failure: run.log.failure.clone(),
            storms: Vec::new(),
            dead_links: Vec::new(),
            deadlock_at: None,
            missed_frames: run.taps.missed(),
            waits: run.waits(),
            apart: !settings.own.is_empty(),
        };
        let (own, counts) = (run.own_byte_counts(), std::mem::take(&mut run.counts));
        // Sources that are dropped note what was begun and has not ended.
        drop(run);
        jobs.hand_on(sink)?;
        if let Some(partners) = partners {
            let by = |port: u32| counts[port as usize];
            let told = close(partners, wires, own, &|port| by(port).sent, &|port| by(port).believed)?;
            live_timing.frames.unaccounted = told.unaccounted;
            live_timing.partners = Some(told);
        }
        Ok((end, live_timing))
    }

    fn live_timing<W: Wires>(
        &self,
        settings: &Settings,
        run: &Run<'_, Any, W>,
        wall: Duration,
        cpu: Duration,
        lost: u64,
    ) -> LiveTiming {
        let slip = Slip {
            share: run.clock.stopped().as_secs_f64() / wall.as_secs_f64().max(1e-9),
            bound: settings.slip_bound,
        };
        let of = |percent: f64| run.lateness.all.percentile_ns(percent).unwrap_or(0.0);
        let lateness = live_timing::Lateness {
            p50_ns: of(50.0),
            p99_ns: of(99.0),
            max_ns: run.lateness.all.max_ns(),
            bound_ns: self.frame_time().ps() as f64 / 1000.0 * LATE,
        };
        LiveTiming {
            clock: if settings.clock == Kind::Wall { live_timing::Clock::Wall } else { live_timing::Clock::Elastic },
            time_scale: settings.k,
            slip,
            lateness,
            frames: Frames { sent: run.frames.0, received: run.frames.1, lost, unaccounted: run.unaccounted() },
            ignored: run
                .log
                .ignored
                .iter()
                .map(|(reason, frames)| Ignored { reason: (*reason).to_owned(), frames: *frames })
                .collect(),
            cpu_share: cpu.as_secs_f64() / wall.as_secs_f64().max(1e-9),
            machine: machine(),
            wall_seconds: wall.as_secs_f64(),
            scheduling: settings.scheduling.clone(),
            partners: None,
            verdict: Verdict::of(&slip, &lateness),
            windows: run.lateness.windows.clone(),
        }
    }
}

pub(crate) struct Trial {
    /// Share of it in which the clock stood still.
    pub slip: f64,
    /// Ends of windows: scenario time, real seconds.
    pub windows: Vec<(Time, f64)>,
}

fn drain<W: Wires>(run: &mut Run<'_, Any, W>, sink: &mut dyn Sink) -> io::Result<()> {
    sink.flows(&run.ended)?;
    sink.pauses(&run.log.pauses)?;
    sink.pfc_frames(&run.log.pfc_frames)?;
    sink.samples(&run.sampler.samples)?;
    sink.raw_frames(&run.taps.frames)?;
    run.ended.clear();
    run.log.pauses.clear();
    run.log.pfc_frames.clear();
    run.sampler.samples.clear();
    run.taps.frames.clear();
    Ok(())
}

/// Kernel and processor, in one line.
fn machine() -> String {
    let system = rustix::system::uname();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name")).and_then(|line| line.split(':').nth(1));
    let processor = model.map_or_else(String::new, |model| format!(", {}", model.trim()));
    let plural = if cores == 1 { "" } else { "s" };
    format!(
        "{} {}, {cores} core{plural}{processor}",
        system.sysname().to_string_lossy(),
        system.release().to_string_lossy()
    )
}
