//! The victim of PFC, end to end: from a scenario file to the summary a user reads.

use std::path::Path;
use xoff_scenario::{Options, Scenario};

#[test]
fn pfc_alone_makes_a_victim_for_as_long_as_the_burst_lasts() {
    xoff_schemes::install_all();
    // pcn-fig2: a congestion tree of about 3.1 ms, a burst of about 3 ms, and both long flows
    // suffer, the innocent one too (pfc section 7.6).
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/scenarios/victim-flow-fig2.toml");
    let options = Options { sets: vec!["scheme.name=none".into(), "run.stop=40ms".into()], ..Options::default() };
    let loaded = Scenario::open(&path).unwrap().load(&options).unwrap();
    let outcome = xoff_results::execute::execute(&loaded, None, |_| {}).unwrap();
    let episode = outcome.summary.episode.unwrap();
    let tree_ms = episode.congestion_tree_us.unwrap() / 1e3;
    assert!((2.5..=3.8).contains(&tree_ms), "tree of {tree_ms} ms");
    assert_eq!(episode.flows.len(), 2);
    for flow in &episode.flows {
        let (before, during) = (flow.before_gbps.unwrap(), flow.during_gbps.unwrap());
        assert!((before - 18.5).abs() < 0.1 && during < 4.0, "{}: {before} to {during} Gb/s", flow.name);
    }
}

/// The lowest rate that the scheme allowed the victim during the burst, in Gb/s.
fn victim_cut_to(scheme: &str) -> f64 {
    xoff_schemes::install_all();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/scenarios/victim-flow.toml");
    let options = Options { sets: vec!["run.stop=25ms".into()], scheme: Some(scheme.to_owned()), ..Options::default() };
    let loaded = Scenario::open(&path).unwrap().load(&options).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let outcome = xoff_results::execute::execute(&loaded, None, |_| {}).unwrap();
    let episode = outcome.summary.episode.unwrap();
    let victim = episode.flows.iter().find(|flow| flow.name == "victim F0").unwrap();
    assert!((victim.before_gbps.unwrap() - 12.7).abs() < 0.3, "{scheme}: nothing limits it before");
    victim.min_allowed_gbps.unwrap()
}

#[test]
fn who_tells_a_victim_from_a_culprit() {
    // What the papers say of the victim (PCN, section 2; Mercury, section 2 and Fig. 9). F0 wants
    // 14 Gb/s and crosses no congested port.
    for scheme in ["mercury", "pcn", "tcd"] {
        let cut_to = victim_cut_to(scheme);
        assert!(cut_to >= 14.0, "{scheme} cuts the victim to {cut_to} Gb/s");
    }
    for scheme in ["dcqcn", "timely", "qcn", "hpcc", "pacc"] {
        let cut_to = victim_cut_to(scheme);
        assert!(cut_to < 7.0, "{scheme} leaves the victim {cut_to} Gb/s");
    }
}
