//! The list is complete, and every example of it works.

use crate::recorder::record;
use std::path::Path;
use xoff_scenario::measure::keys::SECTIONS;
use xoff_scenario::measure::registry::*;
use xoff_scenario::{Loaded, Options, Scenario};

/// Four hosts send to one across a dumbbell; everything the examples ask for is probed.
const NETWORK: &str = r#"
[run]
stop = "1ms"
[topology]
kind = "dumbbell"
left = 4
right = 2
rate = "10Gbps"
[switch.pfc]
threshold = "static"
xoff = "20KB"
[scheme]
name = "pcn"
[[traffic]]
name = "all"
kind = "flows"
flow = [
    { src = "h0", dst = "h4", size = "50KB" },
    { src = "h1", dst = "h4", size = "50KB" },
    { src = "h2", dst = "h4", size = "200KB" },
    { src = "h3", dst = "h5", size = "100KB", start = "100us" },
]
[[traffic]]
name = "job"
kind = "all-reduce"
ranks = ["h0", "h1"]
bytes = "16KB"
start = "500us"
[[probe]]
what = "queue"
ports = ["s0->s1", "s1->h*"]
[[probe]]
what = "throughput"
ports = "s0->s1"
[[probe]]
what = "flows"
"#;

fn load(measure: &str) -> Result<Loaded, String> {
    let scenario = Scenario::from_text("t", format!("{NETWORK}\n{measure}"), Path::new("."));
    scenario.load(&Options::default()).map_err(|errors| errors[0].to_string())
}

fn table(spec: &MetricSpec, rest: &str) -> String {
    format!("[[measure]]\nname = \"m\"\nmetric = \"{}\"\n{rest}\n", spec.name)
}

#[test]
fn every_example_can_be_measured() {
    for spec in METRICS {
        let loaded = load(&table(spec, spec.example)).unwrap_or_else(|error| panic!("{}: {error}", spec.name));
        let scenario = Scenario::from_text("t", loaded.resolved.clone(), Path::new("."));
        let again = scenario.load(&Options::default()).unwrap_or_else(|errors| panic!("{}: {}", spec.name, errors[0]));
        assert_eq!(format!("{:?}", again.measures), format!("{:?}", loaded.measures), "{}", spec.name);
        let recording = record(&loaded, &loaded.measures, |_| {}).unwrap();
        let measured = loaded.measures.take(&loaded.plan, &recording);
        let names: Vec<String> = measured.numbers.keys().chain(measured.curves.keys()).cloned().collect();
        assert_eq!(names, loaded.measures.names(), "{}", spec.name);
        let curve = measured.curves.values().all(|curve| !curve.x.is_empty() && curve.x.len() == curve.y.len());
        let number = measured.numbers.values().all(|number| !number.is_nan());
        assert!(curve && number, "{}: {measured:?}", spec.name);
        assert_eq!(spec.gives.contains("curve"), !measured.curves.is_empty(), "{}", spec.name);
    }
}

#[test]
fn what_is_needed_is_needed_and_what_is_given_is_listed() {
    for spec in METRICS {
        let lines: Vec<&str> = spec.example.lines().collect();
        for line in &lines {
            let key = line.split(' ').next().unwrap();
            assert!(spec.keys().contains(&key), "{}: `{key}` is not listed", spec.name);
        }
        for key in spec.needs {
            let rest: Vec<&str> = lines.iter().copied().filter(|line| !line.starts_with(&format!("{key} ="))).collect();
            assert!(rest.len() < lines.len(), "{}: the example lacks `{key}`", spec.name);
            let error = load(&table(spec, &rest.join("\n"))).unwrap_err();
            assert!(error.contains(&format!("lacks `{key}`")), "{} without {key}: {error}", spec.name);
        }
    }
}

#[test]
fn every_key_is_in_the_dictionary_and_every_row_of_it_belongs_to_a_metric() {
    let known = |name: &str| SECTIONS[0].keys.iter().any(|key| key.name == name);
    for spec in METRICS {
        assert!(METRICS.iter().filter(|other| other.name == spec.name).count() == 1, "{} twice", spec.name);
        assert!(spec.keys().iter().all(|key| known(key)), "{}", spec.name);
    }
    for key in SECTIONS[0].keys.iter().filter(|key| !["name", "metric"].contains(&key.name)) {
        assert!(METRICS.iter().any(|spec| spec.keys().contains(&key.name)), "{}", key.name);
    }
}

#[test]
fn the_list_fits_the_terminal() {
    assert!(text(80).lines().all(|line| line.chars().count() <= 80));
    assert_eq!(json().as_array().unwrap().len(), METRICS.len());
}

#[test]
fn messages_of_a_pipeline_take_what_their_way_takes() {
    // Receivers wait while their peers compute. 4 MiB take 86 us of wire at 400 Gb/s, and a little on the way.
    let text = "[topology]\nkind = \"rail\"\nservers = 2\ngpus = 8\nspines = 8\n[host]\nmtu = \"4096B\"\nack_every = 16\n\
                [scheme]\nname = \"none\"\n[[traffic]]\nkind = \"pipeline\"\nstages = 2\nmicro_batches = 1\n\
                forward = \"100us\"\nbackward = \"200us\"\nactivation = \"4MiB\"\n\
                [[measure]]\nname = \"least\"\nmetric = \"algbw\"\nstat = \"min\"\n\
                [[measure]]\nname = \"back\"\nmetric = \"algbw\"\nstat = \"max\"\ncollectives = \"gradients\"\n";
    let loaded = Scenario::from_text("t", text, Path::new(".")).load(&Options::default()).unwrap();
    let recording = record(&loaded, &loaded.measures, |_| {}).unwrap();
    let measured = loaded.measures.take(&loaded.plan, &recording).numbers;
    for name in ["least", "back"] {
        assert!((48.0..49.0).contains(&measured[name]), "{measured:?}");
    }
}
