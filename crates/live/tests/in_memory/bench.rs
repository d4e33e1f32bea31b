//! One scenario in both worlds, and how far they are apart.

use crate::wires::{Memory, Stranger};
use std::ops::Deref;
use std::path::Path;
use xoff_fabric::record::{Counters, Failure, FlowRecord};
use xoff_live::clock::Kind;
use xoff_live::drive::{Settings, Stage};
use xoff_results::live_timing::LiveTiming;
use xoff_run::{Keep, Records, RunEnd, drive};
use xoff_scenario::{Loaded, Options, Scenario};

/// Loads a scenario, with a scheme if it names none itself.
pub fn loaded(text: &str, scheme: Option<&str>) -> Loaded {
    xoff_schemes::install_all();
    let options = Options { scheme: scheme.map(str::to_owned), ..Options::default() };
    let loaded = Scenario::from_text("t", text, Path::new(".")).load(&options);
    loaded.unwrap_or_else(|errors| panic!("{scheme:?}: {}", errors[0]))
}

/// `text` with `from` replaced, which must be in it.
pub fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

/// What a run left: its records (`frames` of a simulation, `raw_frames` of a live run) and its end.
pub struct Kept {
    pub records: Records,
    pub counters: Counters,
    pub failure: Option<Failure>,
}

impl Deref for Kept {
    type Target = Records;

    fn deref(&self) -> &Records {
        &self.records
    }
}

const KEEP: Keep = Keep { pauses: true, refreshes: true, responses: false, frames: true, activity: false };

/// Over wires in memory to which nobody else writes.
pub fn live(loaded: &Loaded) -> Kept {
    live_among(loaded, &mut |_, _| Vec::new()).0
}

/// As [`live`], with frames that `stranger` writes too; also returns the timing of the live run.
pub fn live_among<'a>(loaded: &Loaded, stranger: &'a mut Stranger<'a>) -> (Kept, LiveTiming) {
    let stage = Stage::new(loaded, KEEP).unwrap_or_else(|objections| panic!("{objections:?}"));
    let settings = Settings { clock: Kind::Free, k: 1.0, slip_bound: 1.0, own: Vec::new(), scheduling: String::new() };
    let (mut wires, mut records) = (Memory::new(stage.plan(), stranger), Records::default());
    let (end, live_timing) = stage.drive(&settings, &mut wires, None, KEEP, &mut records, &mut |_| {}).unwrap();
    (Kept::new(records, end), live_timing)
}

pub fn simulated(loaded: &Loaded) -> Kept {
    let mut records = Records::default();
    let end = drive(loaded, KEEP, &mut records, &mut |_| {}).unwrap();
    Kept::new(records, end)
}

impl Kept {
    fn new(mut records: Records, end: RunEnd) -> Kept {
        records.flows.sort_by_key(|flow| (flow.source, flow.number));
        Kept { records, counters: end.counters, failure: end.failure }
    }

    /// All flows finished, and nothing that must not be dropped was.
    pub fn is_whole(&self, what: &str) {
        assert!(self.failure.is_none(), "{what}: {:?}", self.failure);
        assert_eq!(self.counters.drops_lossless, 0, "{what}");
        for flow in &self.flows {
            assert!(flow.acked_at.is_some(), "{what}: not finished: {flow:?}");
            assert_eq!(Some(flow.delivered_bytes), flow.size_bytes, "{what}: {flow:?}");
        }
    }
}

/// How far a live run is from its simulation.
#[derive(Debug)]
pub struct Distance {
    /// Of the completion times of flows, in parts of the simulated one.
    largest: f64,
    /// Live and simulated: PAUSE frames, marks, notifications, packets sent again.
    pub pauses: (u64, u64),
    marks: (u64, u64),
    notifications: (u64, u64),
    retransmitted: (u64, u64),
}

impl Distance {
    /// No completion time is farther off, and counts are equal or nearly so.
    pub fn is_below(&self, share: f64, what: &str) {
        assert!(self.largest <= share, "{what}: {self:?}");
        for (live, simulated) in [self.pauses, self.marks, self.notifications, self.retransmitted] {
            let allowed = (5.0 * share * simulated as f64) as u64;
            assert!(live.abs_diff(simulated) <= allowed, "{what}: {self:?}");
        }
    }
}

/// Both worlds, both whole.
pub fn distance(loaded: &Loaded, what: &str) -> Distance {
    let (live, simulated) = (live(loaded), simulated(loaded));
    live.is_whole(what);
    simulated.is_whole(what);
    apart(&live, &simulated)
}

/// Flow by flow: the same flows, by what they are.
pub fn apart(live: &Kept, simulated: &Kept) -> Distance {
    let identity = |flow: &FlowRecord| (flow.source, flow.number, flow.src, flow.dst, flow.ports, flow.size_bytes);
    let of = |kept: &Kept| kept.flows.iter().map(identity).collect::<Vec<_>>();
    assert_eq!(of(live), of(simulated));
    let took = |flow: &FlowRecord| flow.delivered_at.map_or(f64::NAN, |at| (at - flow.start).as_s());
    let pairs = live.flows.iter().zip(&simulated.flows);
    let distances: Vec<f64> = pairs.map(|(live, simulated)| (took(live) / took(simulated) - 1.0).abs()).collect();
    let both = |of: fn(&Counters) -> u64| (of(&live.counters), of(&simulated.counters));
    Distance {
        largest: distances.iter().copied().fold(0.0, f64::max),
        pauses: both(|counters| counters.pause_frames + counters.refresh_frames),
        marks: both(|counters| counters.marks),
        notifications: both(|counters| counters.notifications_sent),
        retransmitted: both(|counters| counters.data_packets_retransmitted),
    }
}
