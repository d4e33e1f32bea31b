//! Links that fail: how long packets are sent to them, by when switches learn of it.

use std::path::Path;
use xoff_engine::{Span, Time};
use xoff_fabric::record::DeadLink;
use xoff_run::drive::build;
use xoff_scenario::{Options, Scenario};

const FAILS: Time = Time::from_us(100);

/// What the link from spine0 to leaf1 lost from 100 us on, and the share of flows that were delivered.
fn fail(routing: &str, times: &str) -> (DeadLink, f64) {
    xoff_schemes::install_all();
    let text = format!(
        "[run]\nstop = \"30ms\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
         host_rate = \"100Gbps\"\nfabric_rate = \"400Gbps\"\nhost_delay = \"1us\"\nfabric_delay = \"1us\"\n\
         [host]\nrecovery = \"sack\"\n[routing]\n{routing}\n[scheme]\nname = \"none\"\n\
         [[traffic]]\nkind = \"burst\"\nsources = \"h[0..3]\"\ndestinations = \"h[4..7]\"\nsize = \"4MB\"\n\
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
    let delivered = world.flows.iter().filter(|flow| flow.delivered_at.is_some()).count();
    (dead[0], delivered as f64 / world.flows.len() as f64)
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
