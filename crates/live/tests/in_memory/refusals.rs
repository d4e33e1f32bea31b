//! What cannot be on real packets is refused with what to do about it; what a hint says can be done.

use crate::agreement::INCAST;
use std::path::Path;
use xoff_live::drive::Stage;
use xoff_run::drive::Keep;
use xoff_scenario::{Loaded, Options, Scenario};

/// Two leaves with two spines between them: equal paths.
const CLOS: &str = r#"
run = { stop = "1ms" }
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2, host_rate = "10Gbps", fabric_rate = "10Gbps" }
scheme = { name = "dcqcn" }
traffic = [{ kind = "burst", sources = "h0", destinations = "h3", size = "10KB" }]
"#;

/// Four hosts, two by two, in datacentres with two gateways each.
const GATEWAYS: &str = r#"
run = { stop = "1ms" }
scheme = { name = "mlcc" }
traffic = [{ kind = "burst", sources = "a", destinations = "b", size = "10KB" }]
[topology]
kind = "custom"
hosts = ["a", "b"]
switches = ["s", "t", "u"]
link = [
    { a = "a", b = "s", rate = "25Gbps", delay = "1us" },
    { a = "s", b = ["t", "u"], rate = "25Gbps", delay = "20us" },
    { a = "t", b = "u", rate = "25Gbps", delay = "1us" },
    { a = "b", b = "t", rate = "25Gbps", delay = "1us" },
]
domain = [{ switches = "s" }, { switches = ["t", "u"] }]
"#;

fn load(text: &str, sets: &[&str]) -> Loaded {
    xoff_schemes::install_all();
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let options = Options { sets: sets.clone(), ..Options::default() };
    let loaded = Scenario::from_text("t", text, Path::new(".")).load(&options);
    loaded.unwrap_or_else(|errors| panic!("{sets:?}: {}", errors[0]))
}

fn objections(text: &str, sets: &[&str]) -> Vec<(String, String)> {
    match Stage::new(&load(text, sets), Keep::default()) {
        Ok(_) => Vec::new(),
        Err(objections) => objections.into_iter().map(|objection| (objection.what, objection.hint)).collect(),
    }
}

/// The one objection to a scenario under these settings.
fn is_refused(text: &str, sets: &[&str], what: &str, hint: &str) {
    let objections = objections(text, sets);
    let [(found, help)] = &objections[..] else { panic!("{sets:?}: {objections:?}") };
    assert!(found.contains(what), "{sets:?}: {found}");
    assert!(help.contains(hint), "{sets:?}: {help}");
}

#[test]
fn a_plain_scenario_is_not_refused() {
    assert_eq!(objections(INCAST, &["scheme.name=dcqcn"]), []);
    assert_eq!(objections(CLOS, &["model.ecmp=murmur3"]), []);
}

#[test]
fn rules_of_other_simulators_are_refused() {
    let refused =
        |set: &[&str], what: &str| is_refused(INCAST, &[&["scheme.name=dcqcn"], set].concat(), what, "leave it out");
    refused(&["model.time_resolution=1ns"], "`model.time_resolution`");
    refused(&["model.event_order=insertion"], "`model.event_order = \"insertion\"`");
    refused(&["model.random_streams=shared"], "`model.random_streams = \"shared\"`");
    refused(&["model.base_rtt=payload"], "`model.base_rtt = \"payload\"`");
    refused(&["host.scheduler=scan"], "`host.scheduler = \"scan\"`");
    refused(&["switch.pfc.signalling=timed", "switch.pfc.resume_at=checks"], "`pfc.resume_at = \"checks\"`");
    refused(&["switch.watchdog={poll=\"1ms\"}"], "`[switch.watchdog]`");
}

#[test]
fn faults_are_refused() {
    let fault = "fault=[{kind=\"link-down\",link=\"h0->sw\",at=\"1us\"}]";
    is_refused(INCAST, &["scheme.name=dcqcn", fault], "`[[fault]]`", "`xoff run`");
}

#[test]
fn schemes_that_control_switches_are_refused() {
    is_refused(INCAST, &["scheme.name=rcm"], "controls whole switches", "`xoff run`");
}

#[test]
fn more_schemes_than_a_dscp_can_name_are_refused() {
    let names = ["dcqcn", "pcn", "hpcc", "powertcp", "timely", "swift", "rocc", "none", "dctcp"];
    let source = |(host, name): (usize, &str)| {
        format!(
            "[[traffic]]\nkind=\"burst\"\nsources=\"h{}\"\ndestinations=\"h0\"\nsize=\"1KB\"\nscheme=\"{name}\"\n",
            host + 1
        )
    };
    let text = |most: usize| {
        let network = "[topology]\nkind=\"star\"\nhosts=11\nrate=\"10Gbps\"\ndelay=\"1us\"\n[scheme]\nname=\"dcqcn\"\n";
        format!("{network}{}", names.into_iter().take(most).enumerate().map(source).collect::<String>())
    };
    assert_eq!(objections(&text(8), &[]), []);
    is_refused(&text(9), &[], "more than eight schemes", "run some of them apart");
}

#[test]
fn equal_paths_need_a_hash_of_headers() {
    is_refused(CLOS, &[], "there are equal paths, and switches", "`--set model.ecmp=murmur3`");
    is_refused(CLOS, &["model.ecmp=murmur3", "host.ack_path=symmetric"], "ACKs cannot", "`--set host.ack_path=ecmp`");
    assert_eq!(objections(CLOS, &["model.ecmp=murmur3", "host.ack_path=ecmp"]), []);
}

#[test]
fn what_frames_do_not_say_is_refused() {
    let hashed = "model.ecmp=murmur3";
    is_refused(
        CLOS,
        &[hashed, "traffic.0.path=[\"leaf0\",\"spine1\",\"leaf1\"]"],
        "a path of its own",
        "leave `path` out",
    );
    is_refused(CLOS, &[hashed, "traffic.0.weight=2"], "a weight", "leave `weight` out");
}

#[test]
fn messages_need_packets_in_order() {
    let star = "[run]\nstop=\"1ms\"\n[topology]\nkind=\"star\"\nhosts=4\nrate=\"10Gbps\"\n[scheme]\nname=\"dcqcn\"\n";
    let job = format!("{star}[[traffic]]\nkind=\"all-reduce\"\nbytes=\"1MB\"\n");
    assert_eq!(objections(&job, &[]), []);
    is_refused(&job, &["scheme.name=tcp-newreno"], "a training job under TCP", "under another scheme");
}

#[test]
fn a_scheme_that_shapes_needs_one_gateway() {
    is_refused(GATEWAYS, &["model.ecmp=murmur3"], "several gateways", "give it one");
    assert_eq!(objections(GATEWAYS, &["model.ecmp=murmur3", "scheme.name=dcqcn"]), []);
}

#[test]
fn telemetry_needs_rates_that_have_codes() {
    let rate = "topology.rate=20Gbps";
    is_refused(INCAST, &["scheme.name=hpcc", rate], "telemetry has codes for", "give its links one of these");
    assert_eq!(objections(INCAST, &["scheme.name=dcqcn", rate]), []);
}
