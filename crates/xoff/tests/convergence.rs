//! Links that fail: how long packets are sent to them, by when switches learn of it.

use std::path::Path;
use xoff_engine::{Span, Time};
use xoff_fabric::record::DeadLink;
use xoff_fabric::simulation::Simulation;
use xoff_run::drive::build;
use xoff_scenario::{Options, Scenario};

const FAILS: Time = Time::from_us(100);

/// What the link from spine0 to leaf1 lost from 100 us on, and the share of flows that were delivered.
fn fail(routing: &str, times: &str) -> (DeadLink, f64) {
    let (world, dead) = failed([routing, ""], times, 2, "4MB");
    let delivered = world.flows.iter().filter(|flow| flow.delivered_at.is_some()).count();
    (dead, delivered as f64 / world.flows.len() as f64)
}

/// A run in which the link from spine0 to leaf1 fails after 100 us, and what the link lost.
fn failed([routing, host]: [&str; 2], times: &str, spines: u32, size: &str) -> (Box<dyn Simulation>, DeadLink) {
    xoff_schemes::install_all();
    let text = format!(
        "[run]\nstop = \"30ms\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = {spines}\nhosts_per_leaf = 4\n\
         host_rate = \"100Gbps\"\nfabric_rate = \"400Gbps\"\nhost_delay = \"1us\"\nfabric_delay = \"1us\"\n\
         [routing]\n{routing}\n[host]\nrecovery = \"sack\"\n{host}[scheme]\nname = \"none\"\n\
         [[traffic]]\nkind = \"burst\"\nsources = \"h[0..3]\"\ndestinations = \"h[4..7]\"\nsize = \"{size}\"\n\
         [[fault]]\nkind = \"link-down\"\nlink = \"spine0->leaf1\"\nat = \"100us\"\n{times}\n"
    );
    let scenario = Scenario::from_text("test.toml", &text, Path::new("."));
    let loaded = scenario.load(&Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let mut world = build(&loaded);
    world.run_to_end();
    assert_eq!(world.check_conservation(), Ok(()));
    let dead = world.dead_links();
    assert_eq!((dead.len(), dead[0].from), (1, FAILS));
    assert!(dead[0].packets_lost <= world.counters.drops_fault);
    (world, dead[0])
}

/// Time from the failure to the last packet that was lost.
fn lasted(dead: &DeadLink) -> Span {
    dead.last_at.unwrap().saturating_since(FAILS)
}

#[test]
fn packets_go_to_a_dead_link_until_its_neighbours_know() {
    // spine0 has no other way to leaf1; leaf0 is one hop from it, and what leaf0 sent before needs 1 us and its queue.
    let under_way = Span::from_us(15);
    for routing in ["mode = \"ecmp\"", "mode = \"spray\"\nspray_at = \"switch\""] {
        for (times, us) in [
            ("", 0),
            ("detect = \"50us\"", 50),
            ("detect = \"50us\"\nfib = \"7us\"\nconverge = \"20us\"", 77),
            ("detect = \"10us\"\nconverge = \"100us\"", 110),
        ] {
            let (dead, delivered) = fail(routing, times);
            let (least, took) = (Span::from_us(us), lasted(&dead));
            assert!(took + Span::from_us(1) >= least && took <= least + under_way, "{routing} {times}: {took}");
            assert_eq!(delivered, 1.0, "{routing} {times}: what was lost is sent again by the other spine");
        }
    }
}

#[test]
fn a_failure_that_is_over_before_it_is_detected_changes_no_route() {
    let (dead, delivered) = fail("mode = \"ecmp\"", "until = \"130us\"\ndetect = \"50us\"\nconverge = \"10us\"");
    assert!(lasted(&dead) <= Span::from_us(30) && delivered == 1.0);
}

/// Routes that never change: what a sender learns from timeouts is all that keeps packets off one of four paths.
#[test]
fn senders_leave_a_dead_path_as_their_rules_say() {
    let run = |mode: &str, size: &str| {
        let routing = format!("mode = \"{mode}\"\nentropies = 4\nentropy_map = \"path\"");
        let host = "ack_path = \"entropy\"\nretransmit_timeout = \"100us\"\n";
        let (world, dead) = failed([&routing, host], "detect = \"1s\"", 4, size);
        assert!(world.flows.iter().all(|flow| flow.delivered_at.is_some()), "{mode}");
        let sent: u64 = world.flows.iter().map(|flow| flow.packets_sent).sum();
        (dead.packets_lost as f64 / sent as f64, lasted(&dead).as_us())
    };
    // Spray and rounds lose one packet in four until the end, resent packets among them. Of 12,000 packets some 7,500
    // leave after the failure: 7,500/4 + 7,500/16 + ... are 2,500 losses among 14,500 that are sent.
    for mode in ["spray", "oblivious"] {
        let (share, us) = run(mode, "3MB");
        assert!((0.16..0.19).contains(&share) && us > 500.0, "{mode}: {share} for {us} us");
    }
    // REPS draws at random until the first timeout. Then it keeps to numbers that were acknowledged: none of the dead path
    // is left after a round trip and eight acknowledgements, until it thaws after 10 ms.
    let (share, us) = run("reps", "12MB");
    assert!((100.0..120.0).contains(&us) && share < 0.05, "reps: {share} for {us} us");
    // Rounds that pass over a number for a while after each timeout come back to it: what was lost in 100 us times out in
    // the 100 us that follow, and keeps the dead path unused for as long. One packet in eight is lost.
    let (share, us) = run("bitmap", "12MB");
    assert!((0.11..0.14).contains(&share) && us > 500.0, "bitmap: {share} for {us} us");
}
