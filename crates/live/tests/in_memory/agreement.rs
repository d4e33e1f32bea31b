//! Every scheme of the registry that software switches can run, in both worlds.
//!
//! Flows start at instants of their own: where two packets come at exactly the same time the two worlds need not take
//! the same one first, and some schemes then treat the two flows differently for the rest of their lives.

use crate::bench::{distance, live, loaded, simulated};
use xoff_scenario::Loaded;
use xoff_schemes::param::SchemeSpec;
use xoff_schemes::{all, controls_switches, select};

pub const UNCONGESTED: &str = r#"
name = "uncongested"
run = { stop = "5ms" }
topology = { kind = "star", hosts = 4, rate = "10Gbps", delay = "1us" }
[[traffic]]
kind = "flows"
flow = [
    { src = "h0", dst = "h1", size = "200KB" },
    { src = "h2", dst = "h3", size = "100001B", start = "3us" },
    { src = "h1", dst = "h0", size = "64B", start = "40us" },
    { src = "h3", dst = "h0", size = "1500B", start = "300us" },
]
"#;

pub const INCAST: &str = r#"
name = "incast"
run = { stop = "20ms" }
topology = { kind = "star", hosts = 7, rate = "10Gbps", delay = "1us" }
switch = { buffer = "2MB", pfc = { threshold = "static", xoff = "40KB", xon = "38KB" } }
[[traffic]]
kind = "flows"
flow = [
    { src = "h1", dst = "h0", size = "100KB", start = "5us" },
    { src = "h2", dst = "h0", size = "100KB", start = "5.137us" },
    { src = "h3", dst = "h0", size = "100KB", start = "5.311us" },
    { src = "h4", dst = "h0", size = "100KB", start = "5.433us" },
    { src = "h5", dst = "h0", size = "100KB", start = "5.569us" },
    { src = "h6", dst = "h0", size = "100KB", start = "5.707us" },
]
"#;

/// F0 shares S0->S1 with F1 and mice, but not their bottleneck. R0 has a faster link than S0->S1: where a frame comes
/// just as the one before it has left, the simulator takes the port for free and the software switch for busy.
pub const VICTIM: &str = r#"
name = "victim"
run = { stop = "20ms" }
switch = { buffer = "2MB", pfc = { threshold = "static", xoff = "60KB", xon = "58KB" } }
[topology]
kind = "custom"
hosts = ["H[0..6]", "R[0..1]"]
switches = ["S[0..1]"]
link = [
    { a = ["H0", "H1"], b = "S0", rate = "40Gbps", delay = "2us" },
    { a = "H6", b = "S0", rate = "10Gbps", delay = "2us" },
    { a = ["H[2..5]", "R1"], b = "S1", rate = "40Gbps", delay = "2us" },
    { a = "R0", b = "S1", rate = "100Gbps", delay = "2us" },
    { a = "S0", b = "S1", rate = "40Gbps", delay = "2us" },
]
[[traffic]]
kind = "flows"
initial_rate = "14Gbps"
rate_cap = "14Gbps"
flow = [
    { name = "victim F0", src = "H0", dst = "R0", size = "400KB" },
    { name = "culprit F1", src = "H1", dst = "R1", size = "400KB" },
]
[[traffic]]
kind = "flows"
name = "burst and mice"
scheme = "none"
flow = [
    { src = "H2", dst = "R1", size = "192KB", start = "50us" },
    { src = "H3", dst = "R1", size = "192KB", start = "50.037us" },
    { src = "H4", dst = "R1", size = "192KB", start = "50.071us" },
    { src = "H5", dst = "R1", size = "192KB", start = "50.113us" },
    { src = "H6", dst = "R1", size = "64KB", start = "50.151us" },
    { src = "H6", dst = "R1", size = "64KB", start = "50.173us" },
]
"#;

/// What frames have fewer bits for than the simulator's defaults, set in both worlds to what they hold.
const AS_IN_FRAMES: [(&str, &str); 2] = [("int_precision", "header"), ("psi_max", "63")];

/// Schemes that need no special switch.
fn schemes() -> impl Iterator<Item = &'static SchemeSpec> {
    let special = |spec: &SchemeSpec| select(spec.name).is_ok_and(|values| controls_switches(&values));
    all().iter().copied().filter(move |spec| !special(spec))
}

/// A scenario under a scheme, with as much of its messages as frames hold.
pub fn under(text: &str, spec: &SchemeSpec) -> Loaded {
    let mut table = format!("[scheme]\nname = \"{}\"\n", spec.name);
    for (name, value) in AS_IN_FRAMES.iter().filter(|(name, _)| spec.param(name).is_some()) {
        let quote = if value.parse::<u32>().is_ok() { "" } else { "\"" };
        table += &format!("{name} = {quote}{value}{quote}\n");
    }
    loaded(&format!("{text}{table}"), None)
}

/// Every scheme: all flows finish in both worlds, at the same time but for stamps of whole nanoseconds, with the same
/// signals.
fn all_agree(text: &str) {
    for spec in schemes() {
        distance(&under(text, spec), spec.name).is_below(1e-4, spec.name);
    }
}

#[test]
fn every_scheme_without_congestion() {
    all_agree(UNCONGESTED);
}

#[test]
fn every_scheme_in_an_incast() {
    all_agree(INCAST);
}

#[test]
fn every_scheme_beside_a_victim() {
    all_agree(VICTIM);
}

const JOB: &str = r#"
name = "job"
run = { stop = "100ms" }
host = { ack_every = 4 }
topology = { kind = "star", hosts = 4, rate = "10Gbps", delay = "1us" }
[[traffic]]
kind = "all-reduce"
ranks = ["h0", "h1", "h2", "h3"]
bytes = "150001B"
compute = "20us"
iterations = 3
"#;

/// A ring all-reduce of three iterations: both worlds end every activity at the same time. Completion by ACK sees the
/// other end of the messages.
#[test]
fn a_training_job_takes_as_long_as_its_simulation() {
    let acknowledged = JOB.replace("compute", "completion = \"acknowledged\"\ncompute");
    for text in [JOB, &acknowledged] {
        for name in ["none", "dcqcn", "hpcc"] {
            let loaded = under(text, schemes().find(|spec| spec.name == name).unwrap());
            let (live, simulated) = (live(&loaded), simulated(&loaded));
            assert!(live.failure.is_none() && simulated.failure.is_none(), "{name}: {:?}", live.failure);
            assert_eq!(live.intervals.len(), simulated.intervals.len(), "{name}");
            assert!(live.intervals.len() >= 3, "{name}: {:?}", live.intervals);
            assert_eq!(live.counters.delivered_bytes, simulated.counters.delivered_bytes, "{name}");
            for (live, simulated) in live.intervals.iter().zip(&simulated.intervals) {
                let (live, simulated) = (&live.interval, &simulated.interval);
                assert_eq!((live.iteration, live.activity), (simulated.iteration, simulated.activity), "{name}");
                let ends = [live, simulated].map(|interval| interval.end.expect("the job ends").ps() as f64);
                assert!((ends[0] / ends[1] - 1.0).abs() < 1e-4, "{name}: {live:?} {simulated:?}");
            }
        }
    }
}

/// PFC alone and two schemes, where devices take their time to obey a PAUSE.
#[test]
fn a_pause_takes_effect_as_late_in_both_worlds() {
    let slow =
        INCAST.replace("switch = { ", "host = { pfc_response = \"ieee\" }\nswitch = { pfc_response = \"700ns\", ");
    for name in ["none", "dcqcn", "hpcc"] {
        let spec = schemes().find(|spec| spec.name == name).unwrap();
        let later = distance(&under(&slow, spec), name);
        later.is_below(1e-4, name);
        assert!(name != "none" || later.pauses.0 > 0, "nothing was paused");
    }
}
