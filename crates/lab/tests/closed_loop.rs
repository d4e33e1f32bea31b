//! Schemes in a closed loop on a small network, held against their published fluid models.

use std::path::Path;
use xoff_fabric::record::Metric;
use xoff_lab::results::metrics::jain_index;
use xoff_lab::run::build;
use xoff_lab::scenario::{Options, Scenario};

/// `flows` endless flows into one 40G port; the mean queue of that port in bytes once settled, and
/// the bytes each flow got.
fn into_one_port(scheme: &str, flows: u32) -> (f64, Vec<f64>) {
    let text = format!(
        "[run]\nstop = \"250ms\"\n[topology]\nkind = \"star\"\nhosts = {}\nrate = \"40Gbps\"\ndelay = \"1us\"\n\
         [switch]\nbuffer = \"64MB\"\n[switch.pfc]\nthreshold = \"static\"\nxoff = \"2MB\"\n[host]\nmtu = \"1000B\"\n\
         [scheme]\n{scheme}\n[[traffic]]\nkind = \"long-lived\"\nsources = \"h[1..{flows}]\"\ndestinations = \"h0\"\n\
         [[probe]]\nwhat = \"queue\"\nports = \"sw->h0\"\nevery = \"10us\"\nfrom = \"100ms\"\n",
        flows + 1
    );
    let scenario = Scenario::from_text("test.toml", text, Path::new("."));
    let loaded = scenario.load(&Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let mut world = build(&loaded);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.counters.pause_frames, 0, "marks act before PFC here");
    let queue: Vec<f64> = world.samples.iter().filter(|s| s.metric == Metric::QueueBytes).map(|s| s.value).collect();
    let shares = world.flows.iter().map(|flow| flow.delivered_bytes as f64).collect();
    (queue.iter().sum::<f64>() / queue.len() as f64, shares)
}

#[test]
fn dcqcn_settles_at_the_fixed_point_of_its_fluid_model() {
    // dcqcn section 8.5: at 40G with the paper's parameters the fluid model's marking probability
    // puts the queue at 23.0 KB for two flows and 158 KB for ten. Packets add their own grain,
    // which weighs more in the short queue.
    let (queue, _) = into_one_port("name = \"dcqcn\"", 2);
    assert!((queue / 23_000.0 - 1.0).abs() < 0.35, "two flows: {queue} bytes");
    let (queue, shares) = into_one_port("name = \"dcqcn\"", 10);
    assert!((queue / 158_000.0 - 1.0).abs() < 0.15, "ten flows: {queue} bytes");
    // Section 8.6: equal flows end equal, and fill the link.
    assert!(jain_index(&shares).unwrap() > 0.98, "{shares:?}");
    let goodput = shares.iter().sum::<f64>() * 8.0 / 0.25 / 1e9;
    assert!(goodput > 0.97 * 40.0 * 1000.0 / 1082.0, "{goodput} Gb/s");
}

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
