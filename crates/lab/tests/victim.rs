//! The victim of PFC, end to end: from a scenario file to the summary a user reads.

use std::path::Path;
use xoff_lab::scenario::{Options, Scenario};

#[test]
fn pfc_alone_makes_a_victim_for_as_long_as_the_burst_lasts() {
    // pcn-fig2: a congestion tree of about 3.1 ms, a burst of about 3 ms, and both long flows
    // suffer, the innocent one too (pfc section 7.6).
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/victim-flow.toml");
    let options = Options { sets: vec!["scheme.name=none".into(), "run.stop=40ms".into()], ..Options::default() };
    let loaded = Scenario::open(&path).unwrap().load(&options).unwrap();
    let outcome = xoff_lab::run::execute(&loaded, None, |_| {}).unwrap();
    let episode = outcome.summary.episode.unwrap();
    let tree_ms = episode.tree_us.unwrap() / 1e3;
    assert!((2.5..=3.8).contains(&tree_ms), "tree of {tree_ms} ms");
    assert_eq!(episode.flows.len(), 2);
    for flow in &episode.flows {
        let (before, during) = (flow.before_gbps.unwrap(), flow.during_gbps.unwrap());
        assert!((before - 18.5).abs() < 0.1 && during < 4.0, "{}: {before} to {during} Gb/s", flow.name);
    }
}
