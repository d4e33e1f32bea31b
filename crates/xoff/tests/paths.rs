//! Many paths with all schemes: shipped scenarios, what a stack settles at, and what a dead port of a NIC costs.

use std::path::Path;
use xoff_run::{Keep, Records, RunEnd, drive};
use xoff_scenario::{Loaded, Options, Scenario};

fn loaded(scenario: &Scenario) -> Loaded {
    xoff_schemes::install_all();
    scenario.load(&Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]))
}

fn run(loaded: &Loaded) -> (Records, RunEnd) {
    let mut records = Records::default();
    let end = drive(loaded, Keep::default(), &mut records, &mut |_| {}).unwrap();
    assert!(end.failure.is_none() && end.imbalance.is_none(), "{}: {:?} {:?}", loaded.name, end.failure, end.imbalance);
    (records, end)
}

fn run_text(text: &str) -> (Records, RunEnd) {
    run(&loaded(&Scenario::from_text("test.toml", text, Path::new("."))))
}

/// Every scenario of `scenarios/paths` ends, with all flows delivered and all jobs over.
#[test]
fn shipped_scenarios_of_many_paths_end() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/scenarios/paths");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    for path in files {
        let loaded = loaded(&Scenario::open(&path).unwrap());
        let (records, end) = run(&loaded);
        let unfinished = records.flows.iter().filter(|flow| flow.size_bytes.is_some() && flow.delivered_at.is_none());
        assert_eq!(unfinished.count(), 0, "{}", loaded.name);
        assert!(records.intervals.iter().all(|of| of.interval.end.is_some()), "{}", loaded.name);
        match loaded.name.as_str() {
            // Its last switch brings packets into order, so no receiver sends a NAK.
            "conweave" => assert_eq!((end.counters.naks_sent, end.counters.data_packets_retransmitted), (0, 0)),
            "dead-link" => assert!(end.dead_links[0].packets_lost > 0),
            _ => {}
        }
    }
}

/// Sixteen senders under NSCC keep a queue of its target delay, 0.75 T with trimming; T is 12 us of propagation and a
/// packet on two links.
#[test]
fn nscc_keeps_the_queue_of_its_target_delay() {
    let (records, end) = run_text(
        "stack = \"uec\"\n[run]\nstop = \"4ms\"\n[topology]\nkind = \"star\"\nhosts = 17\nrate = \"100Gbps\"\n\
         delay = \"3us\"\n[[traffic]]\nkind = \"long-lived\"\nsources = \"h[1..16]\"\ndestinations = \"h0\"\n\
         [[probe]]\nwhat = \"queue\"\nports = \"sw->h0\"\nevery = \"2us\"\n",
    );
    let late = |us: f64| us >= 1_000.0;
    let queue: Vec<f64> = records.samples.iter().filter(|of| late(of.at.as_us())).map(|of| of.value).collect();
    let mean = queue.iter().sum::<f64>() / queue.len() as f64;
    let target = 0.75 * 12.7e-6 * 100e9 / 8.0;
    assert!((mean / target - 1.0).abs() < 0.2, "{mean} bytes, {target} are the target");
    let (sent, resent) = (end.counters.data_packets_sent, end.counters.data_packets_retransmitted);
    assert!(resent * 10 < sent, "{resent} of {sent} packets resent");
}

/// A job over NICs of four ports, each in a plane of its own; twelve queue pairs cut every message.
fn planes(fault: &str) -> f64 {
    let (records, _) = run_text(&format!(
        "stack = \"mrc\"\n[run]\nstop = \"50ms\"\n[topology]\nkind = \"server-clos\"\nservers = 4\ngpus = 2\n\
         servers_per_tor = 1\nspines = 2\nports = 4\nplanes = 4\nnic_rate = \"100Gbps\"\n\
         [[traffic]]\nkind = \"all-reduce\"\ngroup = \"rail\"\nbytes = \"16MiB\"\nqueue_pairs = 12\nsplit = true\n{fault}"
    ));
    records.intervals.iter().map(|of| of.interval.end.expect("the job ends").as_us()).fold(0.0, f64::max)
}

/// What a dead port carried goes to the other three: three quarters of the rate are left, and all of what latency takes.
#[test]
fn a_dead_port_of_four_costs_a_quarter() {
    let whole = planes("");
    let dead = planes("[[fault]]\nkind = \"link-down\"\nat = \"0us\"\nlink = \"s0.n0.p0->*\"\n");
    let share = whole / dead;
    assert!((0.72..0.82).contains(&share), "{whole} us, {dead} us with a dead port: {share}");
}
