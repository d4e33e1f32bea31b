//! `xoff compare-live`, with a simulated run whose records are distorted in place of a live one.

use crate::common::{self, Bench, SMALL, stderr};
use serde_json::Value;
use std::io;
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::record::{FlowRecord, Metric, PauseRecord, Sample};
use xoff_results::execute::execute_by;
use xoff_results::fixture;
use xoff_run::drive::{Keep, Sink, drive};
use xoff_scenario::measure::probe::facts;
use xoff_scenario::{Loaded, Options, Scenario};

/// Hands records on: flows take longer by a factor, queues are as much longer, rates as much lower. Neighbours among flows
/// start in the other order, and so have each other's number.
struct Distorted<'a> {
    sink: &'a mut dyn Sink,
    factor: f64,
}

impl Sink for Distorted<'_> {
    fn flows(&mut self, flows: &[FlowRecord]) -> io::Result<()> {
        let later = |flow: &FlowRecord, at: Time| {
            flow.start + Span::from_ps(((at - flow.start).ps() as f64 * self.factor).round() as u64)
        };
        let of = |flow: &FlowRecord| FlowRecord {
            delivered_at: flow.delivered_at.map(|at| later(flow, at)),
            id: flow.id ^ 1,
            ..flow.clone()
        };
        self.sink.flows(&flows.iter().map(of).collect::<Vec<_>>())
    }
    fn pauses(&mut self, pauses: &[PauseRecord]) -> io::Result<()> {
        self.sink.pauses(pauses)
    }
    fn samples(&mut self, samples: &[Sample]) -> io::Result<()> {
        let factor = |metric| if metric == Metric::QueueBytes { self.factor } else { 1.0 / self.factor };
        let entity = |of: &Sample| if facts(of.metric).of_flow { of.entity ^ 1 } else { of.entity };
        let of =
            |sample: &Sample| Sample { value: sample.value * factor(sample.metric), entity: entity(sample), ..*sample };
        self.sink.samples(&samples.iter().map(of).collect::<Vec<_>>())
    }
}

/// A run directory as a live run leaves it.
fn live(bench: &Bench, scenario: &str, name: &str, (factor, slip): (f64, f64)) {
    xoff_schemes::install_all();
    let loaded = Scenario::open(&bench.path.join(scenario)).unwrap().load(&Options::default()).unwrap();
    let driver = |loaded: &Loaded, keep: Keep, sink: &mut dyn Sink| {
        let mut end = drive(loaded, keep, &mut Distorted { sink, factor }, &mut |_| {})?;
        for port in Arc::make_mut(&mut end.ports) {
            port.pause_frames *= 2;
        }
        end.counters.pause_frames *= 2;
        Ok((end, fixture::live_timing(slip)))
    };
    execute_by(&loaded, Some(&bench.path.join(name)), driver).unwrap();
}

/// Throughput beside the queue.
fn bench() -> Bench {
    let probe = "[[probe]]\nwhat = \"throughput\"\nports = \"s0->s1\"\nevery = \"10us\"\n";
    Bench::with("small.toml", SMALL.to_owned() + probe)
}

fn number<'a>(json: &'a Value, about: &str, of: &str, statistic: &str) -> &'a Value {
    let wanted = |number: &&Value| number["about"] == about && number["of"] == of && number["statistic"] == statistic;
    json["numbers"]
        .as_array()
        .unwrap()
        .iter()
        .find(wanted)
        .unwrap_or_else(|| panic!("{about} {of} {statistic}: {json}"))
}

fn is_near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{value}"));
    assert!((value - expected).abs() < 1e-3, "{value}, not {expected}");
}

#[test]
fn distances_are_those_that_were_put_in() {
    let bench = bench();
    live(&bench, "small.toml", "one", (1.1, 0.0));
    live(&bench, "small.toml", "two", (1.2, 0.001));
    let json: Value =
        serde_json::from_str(&bench.ok(&["compare-live", "one", "two", "--json", "--out", "out"])).unwrap();
    for statistic in ["mean", "p50", "p95"] {
        is_near(&number(&json, "completion_time", "incast-1, 10-100 KB", statistic)["distance_percent"], 15.0);
    }
    is_near(&number(&json, "completion_time", "incast-1, 10-100 KB", "finished")["live"][0], 12.0);
    let queue = number(&json, "queue", "s0->s1", "mean");
    is_near(&queue["distance_percent"], 15.0);
    is_near(&(queue["live"][1].as_f64().unwrap() / queue["simulated"].as_f64().unwrap()).into(), 1.2);
    assert_eq!(queue["live_estimate"]["count"], 2);
    assert!(queue["live_estimate"]["half_width"].as_f64().unwrap() > 0.0);
    is_near(&number(&json, "throughput", "s0->s1", "mean")["distance_percent"], (1.0 / 1.1 + 1.0 / 1.2) * 50.0 - 100.0);
    is_near(&number(&json, "network", "PAUSE frames", "whole run")["distance_percent"], 100.0);
    is_near(&number(&json, "pause", "s0->h2", "PAUSE sent")["distance_percent"], 100.0);
    is_near(&number(&json, "pause", "h2->s0", "paused")["distance_percent"], 0.0);
    let over_time = json["over_time_percent"].as_array().unwrap();
    let queue = over_time.iter().find(|of| of["about"] == "queue").unwrap();
    is_near(&queue["live"][0], 10.0);
    is_near(&queue["live"][1], 20.0);
    assert_eq!(json["live"][1]["live_timing"]["slip"]["share"], 0.001);
    let file: Value = serde_json::from_slice(&bench.read("out/live-comparison.json")).unwrap();
    assert_eq!(file, json);
}

/// Two endless flows that share a label and not their rates.
const LONG: &str = r#"name = "long"
run = { stop = "200us" }
topology = { kind = "star", hosts = 4, rate = "100Gbps" }
scheme = { name = "none" }
probe = [{ what = "flows", every = "10us" }]
[[traffic]]
kind = "flows"
[[traffic.flow]]
name = "F"
src = "h0"
dst = "h2"
[[traffic.flow]]
name = "F"
src = "h1"
dst = "h3"
start = "100us"
"#;

#[test]
fn flows_are_matched_by_what_they_are_and_not_by_when_they_began() {
    let bench = Bench::with("long.toml", LONG);
    live(&bench, "long.toml", "one", (1.0, 0.0));
    let json: Value = serde_json::from_str(&bench.ok(&["compare-live", "one", "--json", "--out", "out"])).unwrap();
    let of = |name: &str| number(&json, "throughput", name, "mean");
    assert!(json["over_time_percent"].as_array().unwrap().len() == 2, "{json}");
    for name in ["F #0 of flows-0", "F #1 of flows-0"] {
        is_near(&of(name)["distance_percent"], 0.0);
    }
    for apart in json["over_time_percent"].as_array().unwrap() {
        is_near(&apart["live"][0], 0.0);
    }
}

#[test]
fn the_page_has_both_and_the_simulation_may_be_given() {
    let bench = bench();
    live(&bench, "small.toml", "one", (1.1, 0.0));
    bench.ok(&["run", "small.toml", "--quiet", "--out", "simulated"]);
    let text = bench.ok(&["compare-live", "one", "--simulation", "simulated", "--out", "given"]);
    assert!(text.contains("small under dcqcn: live and simulated") && text.contains("+10.0%"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!bench.path.join("given/simulation").exists());
    bench.ok(&["compare-live", "one", "--quiet"]);
    let own = "results/small-beside-live";
    assert!(bench.path.join(own).join("simulation/flows.parquet").is_file());
    let page = |folder: &str| String::from_utf8(bench.read(&format!("{folder}/report.html"))).unwrap();
    for part in
        ["One live run against the simulation: ", "Queue: s0-&gt;s1", "Distribution of the completion time, incast"]
    {
        assert!(page("given").contains(part) && page(own).contains(part), "{part}");
    }
    assert_eq!(bench.read("given/live-comparison.json"), bench.read(&format!("{own}/live-comparison.json")));
}

#[test]
fn a_machine_that_was_too_slow_is_told_and_fails() {
    let bench = bench();
    live(&bench, "small.toml", "slow", (1.0, 0.3));
    let output = bench.xoff(&["compare-live", "slow", "--quiet", "--out", "out"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("slow: not so: machine kept up (the clock stood still for 30.0%"),
        "{}",
        stderr(&output)
    );
    assert!(
        String::from_utf8(bench.read("out/report.html")).unwrap().contains("Warning: slow: not so: machine kept up")
    );
}

#[test]
fn what_cannot_be_compared_is_refused_and_nothing_written() {
    let bench = bench();
    bench.write("other.toml", common::changed(SMALL, "load = 0.7", "load = 0.6"));
    live(&bench, "small.toml", "one", (1.0, 0.0));
    live(&bench, "other.toml", "other", (1.0, 0.0));
    bench.ok(&["run", "small.toml", "--quiet", "--out", "simulated"]);
    bench.ok(&["run", "small.toml", "--quiet", "--seed", "2", "--out", "seed"]);
    for (args, why) in [
        (&["nowhere"][..], "no such directory"),
        (&["simulated"], "`simulated` is not a live run"),
        (&["one", "other"], "they differ in "),
        (&["one", "--simulation", "one"], "`one` is not a simulation"),
        (&["one", "--simulation", "seed"], "they differ in seed"),
    ] {
        let output = bench.xoff(&[&["compare-live", "--out", "out"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{args:?}: {}", stderr(&output));
        assert!(!bench.path.join("out").exists(), "{args:?}");
    }
}
