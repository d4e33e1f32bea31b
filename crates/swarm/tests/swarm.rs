//! A swarm small enough for every change; `cargo run --profile checked -p xoff-swarm` runs large ones.

use std::collections::BTreeSet;
use xoff_swarm::runner::{self, Request};
use xoff_swarm::{invariants, text, trial};

#[test]
fn no_random_scenario_breaks_a_law() {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let request = Request { first: 0, cases: 1_000, jobs, time: None };
    let hang = |seed: u64, why: &str| {
        eprintln!("seed {seed} {why}");
        std::process::abort();
    };
    let tally = runner::run(&request, |_| {}, hang);
    assert!(tally.violations.is_empty(), "{:#?}", tally.violations);
    assert_eq!(tally.cases, 1_000);
    assert!(tally.repeated > 30, "{} were run twice", tally.repeated);
    let finished = tally.endings["finished"];
    assert!(finished > 800, "only {finished} finished: {:#?}", tally.endings);
    // A law that is never put to the test protects nothing.
    let missed: Vec<String> = invariants::all_reaches().filter(|name| !tally.reached.contains(name)).collect();
    assert!(missed.is_empty(), "no scenario reaches: {missed:?}");
}

/// Seeds beyond the first 1,000 that broke a law once.
#[test]
fn scenarios_that_broke_a_law_once_do_not_again() {
    // A NIC that scans its flows, ACKs for several packets, a scheme with a window, and a probe of flows; a short last
    // packet that overtakes the full one on another path, with one switch between and with several.
    const SEEDS: &[u64] = &[5_859, 913_803, 921_384, 932_430, 956_566];
    for &seed in SEEDS {
        let request = Request { first: seed, cases: 1, jobs: 1, time: None };
        let tally = runner::run(&request, |_| {}, |seed, why| panic!("seed {seed} {why}"));
        assert!(tally.violations.is_empty(), "{:#?}", tally.violations);
    }
}

/// Every kind of network is drawn.
#[test]
fn the_swarm_draws_every_topology() {
    let kind = |seed| -> String {
        let root: toml::Table = text(seed).parse().unwrap();
        root["topology"]["kind"].as_str().unwrap().to_owned()
    };
    let kinds: BTreeSet<String> = (0..700).map(kind).collect();
    assert_eq!(kinds.len(), xoff_scenario::topology::KINDS.len());
}

#[test]
fn a_seed_is_a_scenario() {
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
}

/// The laws see what they are to see: a run that is tampered with breaks them.
#[test]
fn laws_can_be_broken() {
    let run = || (0..).find_map(|seed| trial::run(trial::load(&text(seed)).ok()?).ok().filter(completes)).unwrap();
    fn completes(trial: &trial::Trial) -> bool {
        let plan = &trial.world.plan;
        let flows = &trial.world.flows;
        // Packets that choose their paths may overtake each other.
        let whole = flows
            .iter()
            .all(|flow| flow.delivered_at.is_some() && flow.size_bytes > Some(1) && flow.multipath.spread.is_none());
        whole && plan.faults.is_empty() && !trial.world.flows.is_empty() && invariants::promises_no_drop(trial)
    }
    assert_eq!(invariants::broken(&run()), [""; 0]);
    type Tamper = fn(&mut trial::Trial);
    let tampers: [(Tamper, &str); 8] = [
        (|trial| trial.world.counters.data_packets_sent += 1, "accounted for"),
        (|trial| trial.world.flows[0].delivered_bytes -= 1, "do not add up"),
        (|trial| trial.world.flows[0].delivered_at = Some(trial.world.flows[0].start), "faster than alone"),
        (|trial| trial.world.flows[0].acked_at = Some(trial.world.flows[0].start), "acknowledged before"),
        (|trial| trial.world.counters.pause_frames += 1, "no port knows of"),
        (|trial| trial.world.counters.flows_completed += 1, "more flows completed"),
        (|trial| trial.world.counters.naks_sent += 1, "NAKs though nothing was lost"),
        (|trial| trial.ports[0].tx_wire_bytes += 1 << 40, "have time at"),
    ];
    for (tamper, expected) in tampers {
        let mut trial = run();
        tamper(&mut trial);
        let broken = invariants::broken(&trial);
        assert!(broken.iter().any(|law| law.contains(expected)), "{expected}: {broken:?}");
    }
}

/// What large swarms have found: bad luck on a lossy wire taken for a stall, and so a TCP flow that waits for its
/// timer where the order of scheduling counts; a PAUSE that left while a packet was leaving by the same port;
/// notices of a switch that ate the headroom of a lossless class; a NIC that scans and had set no wake-up because
/// of a flow that was then stopped.
#[test]
fn what_was_found_stays_mended() {
    for text in [
        include_str!("found/14971.toml"),
        include_str!("found/47108.toml"),
        include_str!("found/108623.toml"),
        include_str!("found/112310.toml"),
        include_str!("found/269292.toml"),
        include_str!("found/459557.toml"),
    ] {
        let verdict = trial::judge(text);
        assert!(verdict.violations.is_empty(), "{:?} {:?}\n{text}", verdict.ending, verdict.violations);
    }
}
