//! Traces for Perfetto, judged by Perfetto's own trace processor: SQL over the file against the
//! tables of the run.

use crate::common::{self, Bench, SMALL, stderr};
use crate::perfetto::Perfetto;
use std::path::Path;
use xoff_yardstick::{every_case, found};

fn shipped(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/scenarios").join(name).display().to_string()
}

/// Runs a scenario into `out`, with CSV twins for the check, and writes its trace.
fn traced(bench: &Bench, scenario: &str, sets: &[&str]) -> String {
    let mut args = vec!["run", scenario, "--quiet", "--out", "out"];
    for set in ["output.csv=true", "output.figures=false"].iter().chain(sets) {
        args.extend(["--set", set]);
    }
    let ran = bench.xoff(&args);
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{}", stderr(&ran));
    bench.ok(&["trace", "out"])
}

#[test]
fn arrows_lead_from_the_root_of_the_congestion_tree_to_its_victim() {
    let Some(perfetto) = found(Perfetto::new()) else { return };
    for (sets, times) in [(&[][..], "decisions"), (&["output.pfc_frames=true"][..], "arrivals")] {
        let bench = Bench::new();
        let sets = [&["run.stop=21ms"][..], sets].concat();
        let output = traced(&bench, &shipped("victim-flow.toml"), &sets);
        assert!(output.contains("21 nodes, 250 flows") && output.contains(times), "{output}");
        let output = perfetto.check(&bench.path.join("out"), &["victim F0"]);
        // S1 stops S0, in which nothing is congested, and so S0 stops the victim's host.
        let chains: Vec<&str> = output.lines().filter(|line| line.starts_with("chain of")).collect();
        assert!(chains.len() == 1 && chains[0].starts_with("chain of victim F0: S0->S1 H0->S0 ("), "{output}");
        assert!(output.contains(&format!("times: {times}")), "{output}");
    }
}

#[test]
fn timed_pauses_are_as_long_as_the_egress_stood_still() {
    let Some(perfetto) = found(Perfetto::new()) else { return };
    let bench = Bench::new();
    let sets = ["run.stop=21ms", "output.pfc_frames=true", "switch.pfc.signalling=timed"];
    traced(&bench, &shipped("victim-flow.toml"), &sets);
    perfetto.check(&bench.path.join("out"), &["--timed"]);
}

#[test]
fn congestion_over_three_layers_and_parallel_links_is_told_as_it_happened() {
    let Some(perfetto) = found(Perfetto::new()) else { return };
    let bench = Bench::new();
    let stop = if every_case() { "run.stop=50ms" } else { "run.stop=8ms" };
    let output = traced(&bench, &shipped("deadlock.toml"), &["output.pfc_frames=true", stop]);
    let output = output + &perfetto.check(&bench.path.join("out"), &[]);
    assert!(output.contains("70 nodes"), "{output}");
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let bench = Bench::with("small.toml", SMALL);
    bench.ok(&["run", "small.toml", "--quiet", "--out", "a"]);
    bench.ok(&["run", "small.toml", "--quiet", "--out", "b"]);
    let output: serde_json::Value = serde_json::from_str(&bench.ok(&["trace", "a", "--json"])).unwrap();
    assert_eq!(output["size_bytes"], bench.read("a/trace.pftrace").len());
    assert_eq!(output["nodes"], 10);
    assert!(output["pauses"].as_u64().unwrap() > 0 && output["samples"].as_u64().unwrap() > 0, "{output}");
    assert_eq!(bench.ok(&["trace", "b", "-o", "there/b.pftrace", "--quiet"]), "");
    assert_eq!(bench.read("a/trace.pftrace"), bench.read("there/b.pftrace"));
    assert_eq!(common::entries(&bench.path.join("there")), ["b.pftrace"], "nothing half-written stays");
}

#[test]
fn what_cannot_be_traced_is_refused_and_nothing_written() {
    let bench = Bench::with("small.toml", SMALL);
    bench.ok(&["run", "small.toml", "--quiet", "--out", "a"]);
    let refused = |args: &[&str], code: i32| {
        let output = bench.xoff(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        stderr(&output)
    };
    assert!(refused(&["trace", "nowhere"], 2).contains("no such directory"));
    assert!(refused(&["trace", "a", "-o", "a"], 3).contains("is a directory"));
    // A table that was cut, and one of another run.
    let whole = bench.read("a/series.parquet");
    std::fs::write(bench.path.join("a/series.parquet"), &whole[..whole.len() / 2]).unwrap();
    assert!(refused(&["trace", "a"], 2).contains("series.parquet"));
    std::fs::write(bench.path.join("a/series.parquet"), &whole).unwrap();
    let scenario = String::from_utf8(bench.read("a/scenario.toml")).unwrap();
    std::fs::write(bench.path.join("a/scenario.toml"), common::changed(&scenario, "left = 4", "left = 5")).unwrap();
    let output = refused(&["trace", "a"], 2);
    assert!(output.contains("does not have"), "{output}");
    assert!(!bench.entries().iter().chain(&common::entries(&bench.path.join("a"))).any(|name| name.contains("trace")));
}

#[test]
fn ranks_of_a_job_have_tracks() {
    let scenario = "[run]\nstop = \"10ms\"\n[topology]\nkind = \"star\"\nhosts = 4\nrate = \"100Gbps\"\n\
        [[traffic]]\nkind = \"all-reduce\"\nname = \"sums\"\nbytes = \"1MB\"\ncompute = \"10us\"\niterations = 2\n";
    let bench = Bench::with("job.toml", scenario);
    let output = traced(&bench, "job.toml", &[]);
    // Each of four ranks computes and adds up, twice.
    assert!(output.contains("16 activities of jobs"), "{output}");
    let bytes = bench.read("out/trace.pftrace");
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for text in ["job sums", "h0: compute", "h3: communication", "all-reduce"] {
        assert!(has(text), "{text}");
    }
    assert!(!has("h0: communication (2)"), "one collective at a time");
    let json: serde_json::Value = serde_json::from_str(&bench.ok(&["trace", "out", "--force", "--json"])).unwrap();
    assert_eq!(json["activities"], 16);
    assert_eq!(bench.read("out/trace.pftrace"), bytes);
}
