//! The list is complete, and every example of it works.

use crate::recorder::record;
use std::path::Path;
use xoff_engine::{Span, Time};
use xoff_fabric::record::{Metric, PauseRecord};
use xoff_scenario::measure::Measured;
use xoff_scenario::measure::keys::SECTIONS;
use xoff_scenario::measure::page::{json, text};
use xoff_scenario::measure::recording::{Grid, Recording, Series, SeriesKey};
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
ports = ["s0->s1", "s1->s0"]
[[probe]]
what = "buffer"
ports = "s*->*"
[[probe]]
what = "flows"
"#;

fn load(measure: &str) -> Result<Loaded, String> {
    xoff_schemes::install_all();
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

/// What a measure is of what was recorded by hand.
fn measured(measure: &str, recording: impl Fn(&Loaded) -> Recording) -> Measured {
    let loaded = load(&format!("[[measure]]\nname = \"m\"\n{measure}\n")).unwrap();
    loaded.measures.take(&loaded.plan, &recording(&loaded))
}

fn port(loaded: &Loaded, name: &str) -> u32 {
    (0..loaded.plan.ports() as u32).find(|port| loaded.plan.port_name(*port) == name).unwrap()
}

#[test]
fn pauses_last_from_pause_to_resume() {
    let pauses = |loaded: &Loaded| {
        let record = |us: u64, name: &str, pause: bool, refresh: bool| PauseRecord {
            at: Time::from_us(us),
            port: port(loaded, name),
            class: 0,
            pause,
            refresh,
            ingress_bytes: 0,
        };
        let (one, other) = ("s0->h0", "s0->h1");
        let pauses = vec![
            record(10, one, true, false),
            record(12, other, true, false),
            record(14, one, true, true),
            record(20, one, false, false),
            record(22, other, false, false),
            // Its link fails after that, and comes up again before the next.
            record(30, one, true, false),
            record(50, one, true, false),
            record(55, one, false, false),
            record(90, other, true, false),
        ];
        Recording { pauses, sim_end: Time::from_us(100), ..Recording::default() }
    };
    let of = |rest: &str| {
        let numbers = measured(&format!("metric = \"pause-duration\"\nunit = \"us\"\n{rest}"), pauses).numbers;
        numbers.values().copied().collect::<Vec<f64>>()
    };
    // 10, 10, 5, and 10 to the end of the run.
    assert_eq!(of("stat = [\"max\", \"min\"]"), [10.0, 5.0]);
    assert_eq!(of("stat = \"sum\""), [35.0]);
    assert_eq!(of("stat = \"sum\"\nby = \"s0->h0\""), [15.0]);
    assert_eq!(of("stat = \"sum\"\nfrom = \"15us\"\nuntil = \"60us\""), [5.0]);
    let curve = measured("metric = \"pause-duration-cdf\"\nunit = \"us\"", pauses).curves.remove("m").unwrap();
    assert_eq!((curve.x, curve.y), (vec![5.0, 10.0], vec![0.25, 1.0]));
    let error = load("[[measure]]\nname = \"m\"\nmetric = \"pause-duration-cdf\"\nunit = \"us\"\nframes = \"all\"");
    assert!(error.unwrap_err().contains("no effect"));
}

#[test]
fn a_distribution_over_time_and_the_buffer_of_a_switch() {
    let recording = |loaded: &Loaded| {
        let grid = Grid { from: Time::ZERO, step: Span::from_us(10), until: Time::NEVER };
        let series = |metric, name: &str, values: &[f64]| {
            let key = SeriesKey { metric, entity: port(loaded, name), class: 0 };
            (key, Series { label: 0, grid, first: 0, values: values.to_vec() })
        };
        let series = [
            series(Metric::QueueBytes, "s1->h4", &[0.0, 4e3, 4e3, 8e3]),
            series(Metric::QueueBytes, "s1->h5", &[0.0, 0.0, 2e3, 0.0]),
            series(Metric::SwitchBytes, "s0->h0", &[1e3, 2e3, 3e3, 2e3]),
        ];
        Recording { series: series.into_iter().collect(), sim_end: Time::from_us(40), ..Recording::default() }
    };
    let curve = |rest: &str| {
        let curve = measured(&format!("metric = \"time-cdf\"\nunit = \"KB\"\n{rest}"), recording).curves.remove("m");
        curve.map(|curve| (curve.x, curve.y)).unwrap()
    };
    assert_eq!(curve("series = \"queue\"\nof = \"s1->h4\""), (vec![0.0, 4.0, 8.0], vec![0.25, 0.75, 1.0]));
    // All samples of both, and the sum of both instant by instant.
    let each = (vec![0.0, 2.0, 4.0, 8.0], vec![0.5, 0.625, 0.875, 1.0]);
    assert_eq!(curve("series = \"queue\"\nof = \"s1->h*\"\nacross = \"each\""), each);
    let sum = (vec![0.0, 4.0, 6.0, 8.0], vec![0.25, 0.5, 0.75, 1.0]);
    assert_eq!(curve("series = \"queue\"\nof = \"s1->h*\""), sum);
    // Whichever of its ports is named.
    for of in ["s0->s1", "s0->h*"] {
        let whole = (vec![1.0, 2.0, 3.0], vec![0.25, 0.75, 1.0]);
        assert_eq!(curve(&format!("series = \"buffer\"\nof = \"{of}\"")), whole);
    }
}

#[test]
fn links_of_which_one_is_idle_are_as_unequal_as_can_be() {
    let measure = |rest: &str| format!("series = \"port_throughput\"\nof = [\"s0->s1\", \"s1->s0\"]\n{rest}");
    let loaded = load(&format!("[[measure]]\nname = \"m\"\nmetric = \"imbalance\"\n{}", measure("window = \"50us\"")));
    let loaded = loaded.unwrap();
    let recording = record(&loaded, &loaded.measures, |_| {}).unwrap();
    let found = loaded.measures.take(&loaded.plan, &recording).numbers["m"];
    // Data one way, ACKs the other, except in the all-reduce.
    assert!((1.0..=2.0).contains(&found) && found > 1.5, "{found}");
    let error = |rest: &str| {
        load(&format!("[[measure]]\nname = \"m\"\nmetric = \"imbalance\"\n{}", measure(rest))).unwrap_err()
    };
    assert!(error("").contains("too short"), "{}", error(""));
    assert!(error("window = \"50us\"\nacross = \"max\"").contains("no effect"));
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
    xoff_schemes::install_all();
    let loaded = Scenario::from_text("t", text, Path::new(".")).load(&Options::default()).unwrap();
    let recording = record(&loaded, &loaded.measures, |_| {}).unwrap();
    let measured = loaded.measures.take(&loaded.plan, &recording).numbers;
    for name in ["least", "back"] {
        assert!((48.0..49.0).contains(&measured[name]), "{measured:?}");
    }
}
