//! What the program tells its users: warnings, events, exit codes, and texts that fit the terminal.

mod common;

use common::{Bench, SMALL, changed, scenarios, stderr};
use serde_json::Value;

fn run_json(bench: &Bench) -> Value {
    serde_json::from_slice(&bench.read("out/run.json")).unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// A host floods its switch with PAUSE from 1 ms to 6 ms; the watchdog drops what waits for it. The
/// retransmission timer of 10 ms outlasts the run.
const STORM: &str = r#"name = "storm"
[run]
stop = "8ms"
[topology]
kind = "star"
hosts = 4
rate = "40Gbps"
[switch.watchdog]
poll = "100us"
detect = "200us"
restore = "200us"
[scheme]
name = "dcqcn"
[[traffic]]
kind = "burst"
sources = "h0"
destinations = "h3"
size = "20MB"
[[traffic]]
kind = "burst"
sources = "h1"
destinations = "h2"
size = "1MB"
[[fault]]
kind = "pause-storm"
host = "h3"
at = "1ms"
until = "6ms"
[output]
figures = false
"#;

#[test]
fn a_storm_and_its_watchdog_stand_in_the_terminal_and_the_report() {
    let bench = Bench::with("storm.toml", STORM);
    let output = bench.xoff(&["run", "storm.toml", "--out", "out"]);
    let page = text(output.stdout.clone());
    let row = |what: &str| -> Vec<String> {
        let line = page.lines().find(|line| line.trim_start().starts_with(what));
        line.unwrap_or_else(|| panic!("no {what} in\n{page}")).split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row("PAUSE storm")[2..8], ["h3", "3", "1.00", "ms", "6.00", "ms"]);
    let watchdog = row("watchdog");
    assert_eq!(watchdog[1..3], ["sw->h3", "3"]);
    assert_ne!(watchdog[7], "0", "packets were dropped: {watchdog:?}");
    assert_eq!(watchdog[8], "1", "one flow did not finish because of it: {watchdog:?}");
    assert!(page.contains("1 of 2 unfinished, 1 of them because of a storm"), "{page}");
    let html = text(bench.read("out/report.html"));
    assert!(html.contains("PAUSE storm") && html.contains("sw-&gt;h3"), "the report has them too");
    let summary = run_json(&bench);
    assert_eq!(summary["disruptions"][1]["what"], "watchdog");
    assert_eq!(summary["disruptions"][1]["place"], "sw->h3");
}

#[test]
fn flows_that_a_storm_left_unfinished_fail_the_run() {
    let bench = Bench::with("storm.toml", STORM);
    for args in [
        &["run", "storm.toml", "--quiet", "--no-out"][..],
        &["compare", "storm.toml", "--quiet", "--no-out", "--schemes", "none"],
    ] {
        let output = bench.xoff(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains("no finite flow left behind (1 of 2 unfinished"), "{}", stderr(&output));
    }
    // Long enough to send it all again.
    bench.ok(&["run", "storm.toml", "--quiet", "--no-out", "--set", "run.stop=80ms"]);
}

#[test]
fn flows_that_wait_for_a_storm_at_the_stop_fail_the_run() {
    let lasting = changed(
        &changed(STORM, "until = \"6ms\"\n", ""),
        "[switch.watchdog]\npoll = \"100us\"\ndetect = \"200us\"\nrestore = \"200us\"\n",
        "",
    );
    let bench = Bench::with("storm.toml", lasting);
    let output = bench.xoff(&["run", "storm.toml", "--no-out"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(output.stdout).contains("the end"), "the storm lasts");
}

#[test]
fn a_stop_that_the_scenario_sets_is_no_failure() {
    let bench = Bench::with("small.toml", SMALL);
    let page = bench.ok(&["run", "small.toml", "--out", "out", "--set", "run.stop=100us"]);
    assert!(!page.contains("check failed"), "{page}");
    let summary = run_json(&bench);
    assert!(summary["flows_completed"].as_u64() < summary["flows_total"].as_u64());
    let checks = summary["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "no finite flow left behind").unwrap();
    assert_eq!(check["held"], true);
    assert!(check["detail"].as_str().unwrap().contains("under way at the stop"), "{check}");
}

#[test]
fn drops_that_the_scenario_allows_are_told_and_no_failure() {
    let lossy = changed(SMALL, "xoff = \"60KB\"", "xoff = \"60KB\"\nheadroom = \"100B\"");
    let lossy = changed(&lossy, "stop = \"5ms\"", "stop = \"60ms\"\nallow_drops = true");
    let bench = Bench::with("lossy.toml", lossy);
    let page = bench.ok(&["run", "lossy.toml", "--out", "out"]);
    assert!(run_json(&bench)["drops_lossless"].as_u64() > Some(0), "the scenario must drop");
    assert!(page.contains("allowed: no drop in a lossless class"), "{page}");
}

/// A timer shorter than a pause: it runs out though nothing is lost.
const IMPATIENT: &str = r#"name = "impatient"
[topology]
kind = "star"
hosts = 3
rate = "10Gbps"
[host]
retransmit_timeout = "100us"
[scheme]
name = "none"
[[traffic]]
kind = "burst"
name = "fan"
sources = "h[0..1]"
destinations = "h2"
size = "500KB"
[[fault]]
kind = "pause-storm"
host = "h2"
at = "100us"
until = "2ms"
[output]
figures = false
"#;

#[test]
fn time_outs_without_a_loss_are_warned_of() {
    let bench = Bench::with("impatient.toml", IMPATIENT);
    let page = bench.ok(&["run", "impatient.toml", "--out", "out"]);
    let summary = run_json(&bench);
    assert_eq!(summary["drops"], 0);
    let warnings = summary["warnings"].as_array().unwrap();
    let warning = warnings.iter().find(|warning| warning["kind"] == "timeouts-without-loss").unwrap();
    assert!(warning["numbers"]["timeouts"].as_f64() > Some(0.0), "{warning}");
    let one_line = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains("of which no packet was lost, most") && one_line.contains("->h2 (fan)"), "{page}");
    assert!(one_line.contains("retransmit_timeout above the longest wait (100us now)"), "{page}");
    assert!(text(bench.read("out/report.html")).contains("of which no packet was lost"));
    let table = bench.ok(&["compare", "impatient.toml", "--schemes", "none,timely", "--no-out"]);
    let one_line = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains("time-outs in 2 flows of which no packet was lost"), "{table}");
    // The remedy is one.
    bench.ok(&["run", "impatient.toml", "--out", "out", "--set", "host.retransmit_timeout=10ms"]);
    let warnings = run_json(&bench)["warnings"].clone();
    assert!(!warnings.to_string().contains("timeouts-without-loss"), "{warnings}");
}

#[test]
fn marks_that_come_after_pause_are_warned_of_by_run() {
    let bench = Bench::with("small.toml", changed(SMALL, "name = \"dcqcn\"", "name = \"dcqcn\"\npreset = \"nic\""));
    let page = bench.ok(&["run", "small.toml", "--no-out"]);
    let one_line = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains("ECN acts after PFC: dcqcn marks from 400 KB on"), "{page}");
    assert!(one_line.contains("kmin below 60 KB") && one_line.contains("xoff above 400 KB"), "{page}");
    let check = bench.ok(&["check", "small.toml"]);
    assert!(check.split_whitespace().collect::<Vec<_>>().join(" ").contains("marks come first with kmin below 60 KB"));
}

fn at_80_columns(bench: &Bench, args: &[&str]) {
    let output = bench.command(args).env("COLUMNS", "80").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}\n{}", stderr(&output));
    let page = text(output.stdout);
    assert!(!page.trim().is_empty(), "{args:?}");
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "{args:?}, {} columns: {line}", line.chars().count());
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let bench = Bench::new();
    at_80_columns(&bench, &["--help"]);
    for command in
        ["run", "compare", "reproduce", "validate", "export", "trace", "check", "import", "schemes", "describe"]
    {
        at_80_columns(&bench, &[command, "--help"]);
    }
    for topic in ["results", "scenario", "models", "metrics", "hpcc", "traffic", "topology", "switch.pfc", "kmin"] {
        at_80_columns(&bench, &["describe", topic]);
    }
    at_80_columns(&bench, &["schemes"]);
    for scenario in scenarios() {
        at_80_columns(&bench, &["check", scenario.to_str().unwrap()]);
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    at_80_columns(&bench, &["reproduce", "--from", root.to_str().unwrap()]);
}

#[test]
fn describe_knows_every_natural_word() {
    let bench = Bench::new();
    for (words, part) in [
        (&["traffic"][..], "[[traffic]]"),
        (&["topology"], "hosts_per_leaf"),
        (&["[[probe]]"], "[[probe]]"),
        (&["faults"], "[[fault]]"),
        (&["switch", "pfc"], "[switch.pfc]"),
        (&["watchdog"], "[switch.watchdog]"),
        (&["scheme", "dcqcn"], "Zhu et al."),
        (&["dcqcn:paper"], "Zhu et al."),
        (&["schemes"], "theta-powertcp"),
        (&["xoff"], "[switch.pfc]"),
        (&["kmin"], "parameter of dcqcn"),
        (&["flows.parquet"], "fct_us"),
        (&["fct_us"], "flows.parquet"),
        (&["model", "qcn-sampler"], "qcn-sampler"),
    ] {
        let args: Vec<&str> = std::iter::once("describe").chain(words.iter().copied()).collect();
        assert!(bench.ok(&args).contains(part), "{words:?}");
    }
    for (words, near) in [
        (&["trafic"][..], "did you mean `traffic`?"),
        (&["scheme", "dcqn"], "did you mean `dcqcn`?"),
        (&["qqqq"], "whole topics: results"),
    ] {
        let args: Vec<&str> = std::iter::once("describe").chain(words.iter().copied()).collect();
        let output = bench.xoff(&args);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr(&output).contains(near), "{}", stderr(&output));
    }
}
