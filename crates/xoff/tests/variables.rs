//! What schemes publish, as probes see it.

use crate::common::table::Table;
use crate::common::{Bench, SMALL, stderr};
use std::collections::BTreeSet;
use xoff_results::replay::Replay;
use xoff_scenario::measure::probe;

const SCHEME_PROBE: &str = "[[probe]]\nwhat = \"scheme\"\nevery = \"7us\"\n";

/// Names of the variables in the data of a flow.
fn names(flow: &[u8]) -> Vec<String> {
    let flow: serde_json::Value = serde_json::from_slice(flow).unwrap();
    let all = flow["variables"].as_array().unwrap().iter();
    all.map(|of| of["name"].as_str().unwrap().to_owned()).collect()
}

fn probed(scenario: &str) -> String {
    scenario.replacen("load = 0.7", "load = 0.7\nprobe = true", 1)
}

#[test]
fn every_variable_that_a_scheme_names_is_sampled_and_no_other() {
    let bench = Bench::with("plain.toml", probed(SMALL));
    bench.write("probed.toml", probed(SMALL) + SCHEME_PROBE);
    let publishing: Vec<_> = xoff_schemes::all().iter().filter(|spec| !spec.variables.is_empty()).collect();
    for name in ["dcqcn", "hpcc", "swift", "timely", "patched-timely"] {
        assert!(publishing.iter().any(|spec| spec.name == name), "{name}");
    }
    for spec in publishing {
        let name = format!("scheme.name={}", spec.name);
        bench.ok(&["run", "probed.toml", "--set", &name, "--quiet", "--out", "with"]);
        let series = Table::read(&bench.path.join("with/series.parquet"));
        let rows = series.words("metric").into_iter().zip(series.words("unit")).zip(series.reals("value"));
        let of_scheme: Vec<_> = rows.filter(|((metric, _), _)| metric != "queue").collect();
        let found: BTreeSet<(String, String)> = of_scheme.iter().map(|(of, _)| of.clone()).collect();
        let named = spec.variables.iter().map(|of| (of.name.to_owned(), of.unit.to_owned()));
        assert_eq!(found, named.collect(), "{}", spec.name);
        assert!(of_scheme.iter().all(|(_, value)| value.is_some_and(f64::is_finite)), "{}", spec.name);
        // Looking changes nothing.
        bench.ok(&["run", "plain.toml", "--set", &name, "--quiet", "--out", "without"]);
        assert_eq!(bench.read("with/flows.parquet"), bench.read("without/flows.parquet"), "{}", spec.name);
        // The replay has them with the flow.
        let replay = Replay::open(&bench.path.join("with")).unwrap_or_else(|errors| panic!("{errors:?}"));
        let flows = replay.flow_paths().unwrap();
        let shown = flows.iter().map(|path| replay.resource(path).unwrap().unwrap());
        let shown: BTreeSet<String> = shown.flat_map(|flow| names(flow.bytes())).collect();
        assert_eq!(shown, spec.variables.iter().map(|of| of.name.to_owned()).collect(), "{}", spec.name);
        // They are counters of a trace.
        bench.ok(&["trace", "with", "--out", "with.pftrace", "--force", "--quiet"]);
        let trace = bench.read("with.pftrace");
        for of in spec.variables {
            assert!(trace.windows(of.name.len()).any(|bytes| bytes == of.name.as_bytes()), "{}", of.name);
        }
    }
}

#[test]
fn variables_have_names_of_their_own() {
    let metrics: BTreeSet<&str> = probe::METRICS.into_iter().map(|metric| probe::facts(metric).name).collect();
    for spec in xoff_schemes::all() {
        let own: BTreeSet<&str> = spec.variables.iter().map(|of| of.name).collect();
        assert_eq!(own.len(), spec.variables.len(), "{}", spec.name);
        assert!(own.is_disjoint(&metrics), "{}: {own:?}", spec.name);
    }
}

#[test]
fn a_probe_of_schemes_takes_no_ports_and_is_described() {
    let bench = Bench::with("s.toml", SMALL.to_owned() + SCHEME_PROBE + "ports = \"s0->s1\"\n");
    let output = bench.xoff(&["check", "s.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("unless what = \"flows\" or \"scheme\""), "{}", stderr(&output));
    assert!(bench.ok(&["schemes", "dcqcn"]).contains("target_rate"));
    assert!(bench.ok(&["describe", "dcqcn.target_rate"]).contains("Gbps"));
}
