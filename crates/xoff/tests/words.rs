//! What the program tells its users: warnings, events, exit codes, and texts that fit the terminal.

use crate::common::{Bench, SMALL, changed, scenarios, stderr};
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
    let one_line = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains("1 of 2 unfinished, 1 of them because of a storm"), "{page}");
    let html = text(bench.read("out/report.html"));
    assert!(html.contains("PAUSE storm") && html.contains("sw-&gt;h3"), "the report has them too");
    let summary = run_json(&bench);
    assert_eq!(summary["disruptions"][1]["what"], "watchdog");
    assert_eq!(summary["disruptions"][1]["place"], "sw->h3");
}

#[test]
fn a_storm_holds_up_only_jobs_that_still_run() {
    let scenario = |storm: &str| {
        format!(
            r#"
[run]
stop = "8ms"
[topology]
kind = "star"
hosts = 4
rate = "40Gbps"
[scheme]
name = "none"
[[traffic]]
kind = "all-reduce"
name = "sum"
bytes = "1MiB"
[[traffic]]
kind = "burst"
name = "bulk"
sources = "h0"
destinations = "h3"
size = "20MB"
[[fault]]
kind = "pause-storm"
host = "h3"
{storm}
[output]
figures = false
"#
        )
    };
    // The job takes less than a millisecond, the burst more than four.
    for (storm, expected) in
        [("at = \"50us\"\nuntil = \"90us\"", vec!["sum", "bulk"]), ("at = \"2ms\"\nuntil = \"3ms\"", vec!["bulk"])]
    {
        let bench = Bench::with("storm.toml", scenario(storm));
        bench.ok(&["run", "storm.toml", "--out", "out", "--quiet"]);
        let held_up = run_json(&bench)["disruptions"][0]["affected_traffic"].clone();
        assert_eq!(held_up, serde_json::json!(expected), "{storm}");
    }
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

/// Columns that a line takes on a terminal: colours none, a letter one.
fn columns(line: &str) -> usize {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default();
    first.chars().count()
        + parts.map(|part| part.split_once('m').map_or(part, |of| of.1).chars().count()).sum::<usize>()
}

/// Runs the program in a terminal of 80 columns, and looks at every line it prints, on both streams. One excuse: a
/// path or address without a space cannot be broken.
fn at_80_columns(bench: &Bench, args: &[&str]) -> std::process::Output {
    let output = bench.command(args).env("COLUMNS", "80").output().unwrap();
    for page in [text(output.stdout.clone()), stderr(&output)] {
        for line in page.lines() {
            let rest = line.trim_start().trim_start_matches("report: ").trim_start_matches("--> ");
            let unbreakable = rest.contains('/') && !rest.contains(' ');
            assert!(columns(line) <= 80 || unbreakable, "{args:?}, {} columns: {line}", columns(line));
        }
    }
    output
}

/// Checks the lines of a command that prints something and succeeds.
fn fits(bench: &Bench, args: &[&str]) {
    let output = at_80_columns(bench, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}\n{}", stderr(&output));
    assert!(!text(output.stdout).trim().is_empty(), "{args:?}");
}

#[test]
fn no_line_of_what_is_explained_is_wider_than_the_terminal() {
    let bench = Bench::new();
    fits(&bench, &["--help"]);
    fits(&bench, &["-h"]);
    for command in [
        "run",
        "compare",
        "compare-live",
        "reproduce",
        "validate",
        "export",
        "trace",
        "check",
        "import",
        "schemes",
        "describe",
        "new",
        "completions",
        "man",
    ] {
        fits(&bench, &[command, "--help"]);
        fits(&bench, &[command, "-h"]);
    }
    for below in [["import", "hpcc"], ["import", "htsim"], ["import", "cdf"], ["new", "scenario"]] {
        fits(&bench, &[below[0], below[1], "--help"]);
    }
    for topic in ["results", "scenario", "models", "metrics", "workloads", "hpcc", "schemes", "run.json"] {
        fits(&bench, &["describe", topic]);
    }
    for topic in ["traffic", "topology", "switch.pfc", "kmin", "incast", "websearch", "fct", "flows", "dcqcn:nic"] {
        fits(&bench, &["describe", topic]);
    }
    fits(&bench, &["schemes"]);
    for scheme in ["none", "dcqcn", "hpcc", "mlcc", "rcm", "fqcn", "tcp-newreno"] {
        fits(&bench, &["schemes", scheme]);
    }
    for scenario in scenarios() {
        fits(&bench, &["check", scenario.to_str().unwrap()]);
    }
    fits(&bench, &["reproduce"]);
}

#[test]
fn no_line_of_a_result_is_wider_than_the_terminal() {
    let bench = Bench::with("small.toml", SMALL);
    // The demonstration, and a comparison of everything with everything that is shown of it.
    fits(&bench, &[]);
    fits(&bench, &["run", "small.toml", "--out", "out"]);
    fits(&bench, &["run", "small.toml", "--seeds", "3", "--no-out"]);
    fits(&bench, &["run", "small.toml", "--no-out", "--color", "always"]);
    fits(&bench, &["compare", "small.toml", "--schemes", "all", "--no-out"]);
    fits(&bench, &["compare", "small.toml", "--schemes", "none,dcqcn:paper", "--seeds", "3", "--no-out"]);
    fits(&bench, &["trace", "out"]);
    fits(&bench, &["new", "scenario", "mine"]);
    fits(&bench, &["man", "pages"]);
    fits(&bench, &["reproduce", "fqcn-fig1", "--out", "papers"]);
    bench.write("storm.toml", STORM);
    let failed = at_80_columns(&bench, &["run", "storm.toml", "--no-out"]);
    assert_eq!(failed.status.code(), Some(1));
    let failed = at_80_columns(&bench, &["run", "deadlock", "--no-out"]);
    assert_eq!(failed.status.code(), Some(1));
}

#[test]
fn no_line_of_a_message_is_wider_than_the_terminal() {
    let bench = Bench::with("small.toml", SMALL);
    bench.write("wide.toml", format!("{SMALL}[[fault]] # {}\nkind = \"lnk-down\"\n", "and so on ".repeat(20)));
    bench.write("long.toml", format!("name = \"{}\" \"x\"\n", "a".repeat(200)));
    for args in [
        &["run", "nosuch.toml"][..],
        &["run", "victim-flw"],
        &["run", "wide.toml"],
        &["run", "long.toml"],
        &["check", "small.toml", "--set", "topology.knd=1"],
        &["check", "small.toml", "--set", "traffic.0.bogus=1"],
        &["check", "small.toml", "--set", "scheme.name=foo"],
        &["check", "small.toml", "--set", "run.stop=5"],
        &["check", "small.toml", "--set", "run.stop=5", "--color", "always"],
        &["compare", "small.toml", "--schemes", "dcqcn,foo"],
        &["schemes", "foo"],
        &["describe", "qqqq"],
        &["describe", "switch.pfc.hedroom"],
        &["reproduce", "foo"],
        &["reproduce", "pcn-fig99"],
        &["trace", "nosuch"],
        &["export", "hpcc", "nosuch"],
        &["import", "hpcc", "nosuch"],
        &["--memory", "x"],
        &["run", "small.toml", "--threads", "a"],
        &["run", "small.toml", "--sed", "1", "--color", "always"],
        &["bogus"],
    ] {
        let output = at_80_columns(&bench, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}\n{}", stderr(&output));
    }
    // Who reads a file or a pipe has whole lines, to search in.
    let output = bench.command(&["schemes", "foo"]).env_remove("COLUMNS").output().unwrap();
    assert!(stderr(&output).lines().any(|line| columns(line) > 100), "{}", stderr(&output));
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
        (&["PFC"], "[switch.pfc]"),
        (&["scheme", "dcqcn"], "Zhu et al."),
        (&["DCQCN"], "Zhu et al."),
        (&["dcqcn:paper"], "Zhu et al."),
        (&["schemes"], "theta-powertcp"),
        (&["xoff"], "[switch.pfc]"),
        (&["switch.pfc.xoff"], "Pause an ingress"),
        (&["switch", "pfc", "xoff"], "Pause an ingress"),
        (&["switch_profile.pfc.xoff"], "Pause an ingress"),
        (&["traffic.0.load"], "[[traffic]]\n  load "),
        (&["hosts-per-leaf"], "[topology]\n  hosts_per_leaf"),
        (&["hosts", "per", "leaf"], "[topology]\n  hosts_per_leaf"),
        (&["kmin"], "parameter of dcqcn"),
        (&["scheme.kmin"], "parameter of dcqcn"),
        (&["dcqcn.kmin"], "parameter of dcqcn"),
        (&["poisson"], "[[traffic]] with kind = \"poisson\"\nKeys of this kind:\n"),
        (&["traffic.incast"], "\n  degree "),
        (&["probe.queue"], "[[probe]] with what = \"queue\""),
        (&["topology.clos"], "\n  pods "),
        (&["fattree"], "[topology] with kind = \"fat-tree\""),
        (&["websearch"], "sizes = \"websearch\""),
        (&["flows.parquet"], "fct_us"),
        (&["fct_us"], "column of flows.parquet (float, in us)"),
        (&["flows.fct_us"], "column of flows.parquet"),
        (&["port_throughput"], "metric of series.parquet, in Gbps"),
        (&["fct"], "Flow completion time"),
        (&["measure.fct"], "Flow completion time"),
        (&["p99"], "Nearest-rank percentiles"),
        (&["model", "qcn-sampler"], "qcn-sampler"),
        (&["ENABLE_QCN"], "key of the HPCC authors' simulator"),
        (&["traffic.size"], "[[traffic]]\n  size "),
        (&["traffic.size"], "[traffic.size] Sizes from a formula"),
        (&["mean"], "Also called so: "),
    ] {
        let args: Vec<&str> = std::iter::once("describe").chain(words.iter().copied()).collect();
        let told = bench.ok(&args);
        assert!(told.contains(part), "{words:?}\n{told}");
    }
    for (words, near) in [
        (&["trafic"][..], "did you mean `traffic`?"),
        (&["scheme", "dqcn"], "`scheme dcqcn`"),
        (&["poison"], "did you mean `poisson`"),
        (&["switch.pfc.hedroom"], "did you mean `switch.pfc.headroom`"),
        (&["scheme.kmni"], "did you mean `dcqcn.kmin`"),
        (&["flws.parquet"], "did you mean `flows`"),
        (&["ecn"], "`scheme dcqcn`"),
        (&["qqqq"], "whole topics: results"),
    ] {
        let args: Vec<&str> = std::iter::once("describe").chain(words.iter().copied()).collect();
        let output = bench.xoff(&args);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr(&output).contains(near), "{}", stderr(&output));
    }
}

#[test]
fn a_name_that_a_key_had_leads_to_the_one_it_has() {
    let bench = Bench::new();
    for name in ["resume_offset", "switch.pfc.resume_offset"] {
        let told = bench.ok(&["describe", name]);
        assert!(told.contains("`resume_offset` is called `xon_offset` now") && told.contains("[switch.pfc]"), "{told}");
    }
}
