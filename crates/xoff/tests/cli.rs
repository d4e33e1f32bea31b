//! The program as its users meet it: what it prints, what it writes, how it ends.

use crate::common::{self, Bench, SMALL, changed, scenarios, stderr};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The tables of a run; its other files hold figures that depend on the machine.
const TABLES: [&str; 4] = ["flows.parquet", "series.parquet", "pauses.parquet", "ports.parquet"];

fn tables(bench: &Bench, folder: &str) -> Vec<Vec<u8>> {
    TABLES.iter().map(|table| bench.read(&format!("{folder}/{table}"))).collect()
}

/// Exactly one JSON value, and nothing around it.
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

#[test]
fn threads_that_cannot_be_used_are_reported_with_the_reason() {
    let job = "topology = { kind = \"leaf-spine\", leaves = 2, spines = 2, hosts_per_leaf = 4, host_rate = \"100Gbps\", \
        fabric_rate = \"100Gbps\" }\n\
        scheme = { name = \"dcqcn\" }\n[[traffic]]\nkind = \"all-reduce\"\nbytes = \"64KB\"\n";
    let bench = Bench::with("job.toml", job);
    let run = |set: &str, threads: &str, out: &str| {
        let output = bench.xoff(&["run", "job.toml", "--json", "--set", set, "--threads", threads, "--out", out]);
        (json(&String::from_utf8_lossy(&output.stdout)), stderr(&output))
    };
    let ((one, _), (two, said)) = (run("seed=1", "1", "one"), run("seed=1", "2", "two"));
    assert_eq!((&one["parts"], one.get("one_part_because")), (&1.into(), None));
    assert_eq!((&two["threads"], two.get("one_part_because")), (&2.into(), None));
    assert!(two["parts"].as_u64() > Some(1) && !said.contains("--threads"), "{said}");
    for table in ["flows.parquet", "ports.parquet", "jobs.parquet"] {
        assert_eq!(bench.read(&format!("one/{table}")), bench.read(&format!("two/{table}")), "{table}");
    }
    for (set, why) in [
        ("model.ties=scheduled", "simultaneous events are handled in insertion order"),
        ("model.random=shared", "all queues share one random stream"),
        ("scheme.name=rcm", "switches choose the paths of packets"),
    ] {
        let (forced, said) = run(set, "2", "forced");
        let of = ["parts", "threads", "one_part_because"].map(|key| &forced[key]);
        assert_eq!(of, [&Value::from(1), &1.into(), &why.into()]);
        assert!(said.contains(why) && said.contains("--threads 2 has no effect"), "{said}");
        let text = bench.ok(&["run", "job.toml", "--no-out", "--set", set]);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(line.contains(&format!("1 partition, 1 thread ({why})")), "{text}");
        let check = bench.ok(&["check", "job.toml", "--set", set]);
        assert!(check.contains(&format!("\none partition, one thread: {why}\n")), "{check}");
    }
}

#[test]
fn a_run_prints_one_json_object() {
    let bench = Bench::with("small.toml", SMALL);
    let summary = json(&bench.ok(&["run", "small.toml", "--json", "--out", "out"]));
    for key in ["scheme", "name", "version"] {
        assert!(summary[key].is_string(), "{key}");
    }
    for key in [
        "seed",
        "sim_time_us",
        "flows_total",
        "flows_completed",
        "packets_delivered",
        "packet_hops",
        "events",
        "drops",
        "pause_frames",
        "wall_seconds",
        "run_cpu_seconds",
        "peak_rss_bytes",
    ] {
        assert!(summary[key].is_number(), "{key}");
    }
    for group in ["fct_us", "slowdown"] {
        for key in ["mean", "p50", "p95", "p99"] {
            assert!(summary[group][key].is_number(), "{group}.{key}");
        }
    }
    assert_eq!((&summary["flows_total"], &summary["flows_completed"]), (&72.into(), &72.into()));
    assert_eq!(summary["drops"], 0);
    assert!(summary["pause_frames"].as_u64() > Some(0), "the incasts must make PFC act");
    assert!(summary["slowdown"]["p50"].as_f64() >= Some(1.0));
    for check in summary["checks"].as_array().unwrap() {
        assert_eq!(check["held"], true, "{check}");
    }
    // The directory says the same.
    let kept: Value = serde_json::from_slice(&bench.read("out/run.json")).unwrap();
    assert_eq!(kept["flows_total"], summary["flows_total"]);
    let files = common::entries(&bench.path.join("out"));
    for file in TABLES.iter().chain(&["run.json", "scenario.toml", "report.html"]) {
        assert!(files.iter().any(|have| have == file), "{file} is missing from {files:?}");
    }
    let hidden: Vec<&String> = files.iter().filter(|file| file.starts_with('.')).collect();
    assert_eq!(hidden, [".xoff"]);
}

#[test]
fn the_same_bytes_whatever_the_threads() {
    let bench = Bench::with("small.toml", SMALL);
    for (out, threads) in [("a", "1"), ("b", "1"), ("c", "2")] {
        let mut command = bench.command(&["compare", "small.toml", "--quiet", "--out", out]);
        assert!(command.env("RAYON_NUM_THREADS", threads).status().unwrap().success());
    }
    for scheme in ["none", "dcqcn"] {
        let first = tables(&bench, &format!("a/{scheme}"));
        assert!(first == tables(&bench, &format!("b/{scheme}")), "{scheme} differs between two runs");
        assert!(first == tables(&bench, &format!("c/{scheme}")), "{scheme} differs with the number of threads");
        // A run of its own is the same run.
        let set = format!("scheme.name={scheme}");
        bench.ok(&["run", "small.toml", "--quiet", "--out", "alone", "--set", &set]);
        assert!(first == tables(&bench, "alone"), "{scheme} differs between compare and run");
    }
    assert!(tables(&bench, "a/none") != tables(&bench, "a/dcqcn"), "the schemes made no difference");
    bench.ok(&["run", "small.toml", "--quiet", "--out", "seed", "--seed", "2"]);
    assert!(tables(&bench, "a/dcqcn")[0] != tables(&bench, "seed")[0], "the seed made no difference");
}

#[test]
fn a_resolved_scenario_runs_to_the_same_bytes() {
    let bench = Bench::with("small.toml", changed(SMALL, "sizes = \"hadoop\"", "sizes = \"own sizes.csv\""));
    bench.write("own sizes.csv", "100,0\n100000,1\n");
    bench.ok(&["run", "small.toml", "--quiet", "--out", "first", "--seed", "9", "--set", "topology.delay=2us"]);
    bench.ok(&["run", "first/scenario.toml", "--quiet", "--out", "second"]);
    assert!(tables(&bench, "first") == tables(&bench, "second"));
    assert_eq!(bench.read("first/scenario.toml"), bench.read("second/scenario.toml"));
}

#[test]
fn compare_prints_a_table_or_one_json_object() {
    let bench = Bench::with("small.toml", SMALL);
    let table = bench.ok(&["compare", "small.toml", "--schemes", "none,dcqcn:paper", "--no-out"]);
    assert!(table.contains("PFC only") && table.contains("dcqcn:paper"), "{table}");
    assert_eq!(bench.entries(), ["small.toml"]);
    let object = json(&bench.ok(&["compare", "small.toml", "--json", "--out", "out", "--set", "run.stop=4ms"]));
    assert!(object.is_object() || object.is_array());
    assert!(common::entries(&bench.path.join("out")).contains(&"report.html".to_owned()));
    assert_eq!(bench.ok(&["run", "small.toml", "--quiet", "--no-out"]), "");
}

/// A run long enough to be caught in the middle.
fn endless() -> String {
    changed(&changed(SMALL, "flows = 60\n", ""), "stop = \"5ms\"", "stop = \"1000s\"")
}

#[cfg(unix)]
#[test]
fn a_killed_run_leaves_nothing_that_looks_complete() {
    let bench = Bench::with("long.toml", endless());
    bench.write("small.toml", SMALL);
    bench.ok(&["run", "small.toml", "--quiet", "--out", "out"]);
    let before = tables(&bench, "out");
    let kill_in_the_middle = |out: &str| {
        let mut child = bench.command(&["run", "long.toml", "--quiet", "--out", out]).spawn().unwrap();
        let hidden = format!(".{out}.xoff-partial-{}-0", child.id());
        let began = Instant::now();
        while !bench.path.join(&hidden).join("flows.parquet").exists() {
            assert!(began.elapsed() < Duration::from_secs(600), "{:?}", bench.entries());
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(50));
        // SIGKILL on Unix.
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!bench.path.join(&hidden).join("run.json").exists());
        hidden
    };
    let first = kill_in_the_middle("out");
    assert!(tables(&bench, "out") == before, "the earlier result must be kept");
    kill_in_the_middle("new");
    assert!(!bench.path.join("new").exists());
    // What died more than a moment ago is cleared away by the next run of the same name.
    std::thread::sleep(Duration::from_millis(1100));
    bench.ok(&["run", "small.toml", "--quiet", "--out", "out"]);
    assert!(!bench.path.join(first).exists());
    bench.ok(&["run", "small.toml", "--quiet", "--out", "new"]);
    assert_eq!(bench.entries(), ["long.toml", "new", "out", "small.toml"]);
}

/// A failed run ends with code 1 and its diagnosis, in words and in the directory.
fn failed(bench: &Bench, args: &[&str], parts: &[&str]) {
    let output = bench.xoff(&[&["run"][..], args, &["--json", "--out", "out"]].concat());
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let summary = json(std::str::from_utf8(&output.stdout).unwrap());
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing from\n{text}");
        assert!(summary["failure"].as_str().is_some_and(|failure| failure.contains(part)), "{part}");
    }
    let kept: Value = serde_json::from_slice(&bench.read("out/run.json")).unwrap();
    assert_eq!(kept["failure"], summary["failure"]);
    assert!(kept["checks"].as_array().unwrap().iter().any(|check| check["held"] == false));
}

const BURST: &str = r#"[topology]
kind = "star"
hosts = 9
rate = "100Gbps"
[switch]
buffer = "2MB"
[switch.pfc]
threshold = "static"
xoff = "20KB"
headroom = "2KB"
[scheme]
name = "none"
[[traffic]]
kind = "burst"
sources = "h[0..7]"
destinations = "h8"
size = "200KB"
"#;

#[test]
fn a_lossless_drop_is_diagnosed() {
    let bench = Bench::with("burst.toml", BURST);
    let parts = [
        "lossless",
        "switch     sw",
        "from h",
        "priority   3",
        "occupancy",
        "threshold  20 KB",
        "headroom   2 KB",
        "needed",
    ];
    failed(&bench, &["burst.toml"], &parts);
    let counted = json(&bench.ok(&["run", "burst.toml", "--json", "--no-out", "--set", "run.allow_drops=true"]));
    assert!(counted["drops_lossless"].as_u64() > Some(0));
    assert_eq!(counted["flows_completed"], 8);
    let enough = json(&bench.ok(&["run", "burst.toml", "--json", "--no-out", "--set", "switch.pfc.headroom=auto"]));
    assert_eq!(enough["drops"], 0);
}

#[test]
fn a_deadlock_is_diagnosed() {
    let deadlock = scenarios().into_iter().find(|path| path.ends_with("deadlock.toml")).unwrap();
    let bench = Bench::new();
    let parts = ["deadlock at", "wait for each other in a cycle", "waits for", "paused"];
    failed(&bench, &[deadlock.to_str().unwrap(), "--set", "output.figures=false"], &parts);
    let check = bench.ok(&["check", deadlock.to_str().unwrap()]);
    assert!(check.contains("deadlock: POSSIBLE"), "{check}");
}

#[test]
fn a_stall_is_diagnosed() {
    let bench = Bench::with("burst.toml", changed(BURST, "headroom = \"2KB\"\n", ""));
    let sets = [
        "--set",
        "run.stall_after=3ms",
        "--set",
        "run.stop=50ms",
        "--set",
        r#"fault=[{kind="pause-storm",at="20us",host="h8"}]"#,
    ];
    failed(&bench, &[&["burst.toml"][..], &sets].concat(), &["stall at", "unfinished", "sw->h8", "paused"]);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_failure() {
    let bench = Bench::with("small.toml", SMALL);
    for args in [
        &["describe", "scenario"][..],
        &["schemes", "dcqcn"],
        &["check", "small.toml"],
        &["run", "small.toml", "--no-out"],
        &["run", "small.toml", "--no-out", "--json"],
        &["compare", "small.toml", "--no-out"],
    ] {
        let mut child = bench.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_scenario_may_come_through_a_pipe() {
    use std::io::Write;
    let bench = Bench::with("small.toml", SMALL);
    let mut child = bench.command(&["run", "-", "--quiet", "--out", "piped"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(SMALL.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    bench.ok(&["run", "small.toml", "--quiet", "--out", "read"]);
    assert!(tables(&bench, "piped") == tables(&bench, "read"));
}

#[test]
fn what_explains_itself_parses() {
    let bench = Bench::new();
    let schemes = json(&bench.ok(&["schemes", "--json"]));
    let names: Vec<&str> = schemes.as_array().unwrap().iter().map(|scheme| scheme["name"].as_str().unwrap()).collect();
    assert_eq!(names, xoff_schemes::all().iter().map(|spec| spec.name).collect::<Vec<_>>());
    for name in names {
        assert!(bench.ok(&["schemes"]).contains(name));
        assert!(bench.ok(&["schemes", name]).contains(name));
    }
    json(&bench.ok(&["describe", "--json"]));
    let _: Value = serde_json::from_str(&bench.ok(&["describe", "schema"])).unwrap();
    let columns = bench.ok(&["describe"]);
    for column in ["fct_us", "size_bytes", "slowdown"] {
        assert!(columns.contains(column), "{column}");
    }
    assert!(bench.ok(&["describe", "scenario"]).contains("switch.pfc"));
    assert!(bench.ok(&["--help"]).contains("Exit codes"));
    assert!(bench.ok(&["--version"]).starts_with("xoff "));
}

#[test]
fn every_shipped_scenario_passes_its_check() {
    let bench = Bench::new();
    for path in scenarios() {
        let text = bench.ok(&["check", path.to_str().unwrap()]);
        assert!(text.contains("hosts") && text.contains("headroom"), "{}\n{text}", path.display());
        json(&bench.ok(&["check", path.to_str().unwrap(), "--json"]));
    }
    assert!(bench.entries().is_empty());
}

/// A Poisson load that the hosts' links carry and the link between the switches does not: flows pile up.
#[cfg(target_os = "linux")]
const PILE: &str = "[run]\nstop = \"100ms\"\nstall_after = \"off\"\n[topology]\nkind = \"dumbbell\"\nleft = 8\nright = 8\n\
    rate = \"100Gbps\"\ntrunk_rate = \"10Mbps\"\n[scheme]\nname = \"none\"\n[output]\nfigures = false\n\
    [[traffic]]\nname = \"mice\"\nkind = \"poisson\"\nsizes = \"1KB\"\nload = 0.9\n\
    sources = \"h[0..7]\"\ndestinations = \"h[8..15]\"\n";

// Elsewhere the system does not say how much a process holds.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_outgrows_its_memory_ends_with_a_diagnosis_and_its_results() {
    let bench = Bench::with("pile.toml", PILE);
    let output = bench.xoff(&["run", "pile.toml", "--memory", "200MB", "--out", "out"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["out of memory at", "the limit is 200 MB", "alive", "[[traffic]] number 0", "--memory"] {
        assert!(text.contains(part), "{part} is missing from:\n{text}");
    }
    let kept: Value = serde_json::from_slice(&bench.read("out/run.json")).unwrap();
    assert!(kept["failure"].as_str().unwrap().contains("out of memory"), "{}", kept["failure"]);
    assert!(kept["peak_rss_bytes"].as_u64() < Some(600_000_000), "{}", kept["peak_rss_bytes"]);
    // Side by side, only the run that holds most gives way.
    let output = bench.xoff(&["compare", "pile.toml", "--schemes", "none,dcqcn", "--memory", "300MB", "--no-out"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("out of memory"), "{}", stderr(&output));
    let output = bench.xoff(&["run", "pile.toml", "--memory", "much"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("such as 8GB"), "{}", stderr(&output));
}

#[test]
fn a_scheme_named_twice_is_refused() {
    let bench = Bench::with("small.toml", SMALL);
    let output = bench.xoff(&["compare", "small.toml", "--schemes", "dcqcn,none,dcqcn", "--no-out"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--schemes names `dcqcn` twice"), "{}", stderr(&output));
}
