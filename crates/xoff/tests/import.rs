//! Files of other simulators, seen from outside.

use crate::common::{self, Bench, changed, stderr};
use serde_json::Value;

const CONFIG: &str = "CC_MODE 8\nTOPOLOGY_FILE topology.txt\nFLOW_FILE flows.txt\nFCT_OUTPUT_FILE fct.txt\n\
    SIMULATOR_STOP_TIME 2.1\nEWMA_GAIN 0.0625\nMIN_RATE 1000Mb/s\nL2_ACK_INTERVAL 1\nVAR_WIN 1\nBUFFER_SIZE 4\n\
    KMAX_MAP 1 40000000000 120\nKMIN_MAP 1 40000000000 120\nPMAX_MAP 1 40000000000 1.0\n";
const TOPOLOGY: &str = "6 2 5\n4 5\n0 4 40Gbps 5000ns 0.000000\n1 4 40Gbps 5000ns 0\n2 5 40Gbps 5000ns 0\n\
    3 5 40Gbps 5000ns 0\n4 5 40Gbps 5000ns 0\n";
const FLOWS: &str = "3\n0 2 3 100 500000 2.000000123\n1 3 3 100 500000 2.000001\n0 3 3 200 5000 2.000002\n";

fn bench() -> Bench {
    let bench = Bench::with("mine.txt", CONFIG);
    bench.write("topology.txt", TOPOLOGY);
    bench.write("flows.txt", FLOWS);
    bench
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

#[test]
fn written_or_in_memory_the_run_is_the_same() {
    let bench = bench();
    let said = json(&bench.ok(&["import", "hpcc", "mine.txt", "-o", "mine.toml", "--json"]));
    assert_eq!(
        (&said["hosts"], &said["switches"], &said["links"], &said["flows"]),
        (&4.into(), &2.into(), &5.into(), &3.into())
    );
    assert_eq!(said["files"], serde_json::json!(["mine.toml", "mine.flows.csv"]));
    assert_eq!(said["warnings"][0]["line"], 4, "a warning says that the output file's name has no effect");
    bench.ok(&["run", "mine.toml", "--quiet", "--out", "written"]);
    bench.ok(&["run", "mine.txt", "--quiet", "--out", "direct"]);
    assert_eq!(bench.read("written/flows.parquet"), bench.read("direct/flows.parquet"));
    // The run directory is complete in itself.
    bench.ok(&["run", "direct/scenario.toml", "--quiet", "--out", "again"]);
    assert_eq!(bench.read("again/flows.parquet"), bench.read("direct/flows.parquet"));
    let summary = json(&bench.ok(&["run", "mine.txt", "--json", "--no-out"]));
    assert_eq!((&summary["name"], &summary["flows_completed"]), (&"mine".into(), &3.into()));
}

#[test]
fn check_and_compare_take_a_configuration() {
    let bench = bench();
    assert!(bench.ok(&["check", "mine.txt"]).contains("mine"));
    let compared = json(&bench.ok(&["compare", "mine.txt", "--schemes", "dctcp,none", "--json", "--no-out"]));
    assert!(compared.to_string().contains("dctcp"));
}

/// What scripts for that simulator make of its `fct.txt`, whose ideal time counts a round trip, is beside ours.
#[test]
fn slowdowns_are_told_by_both_definitions() {
    let bench = bench();
    let text = bench.ok(&["run", "mine.txt", "--out", "out", "--set", "output.pfc_frames=true"]);
    assert!(text.contains("slowdown by HPCC's definition"), "{text}");
    bench.ok(&["export", "hpcc", "out"]);
    let lines = String::from_utf8(bench.read("out/hpcc/fct.txt")).unwrap();
    let mut theirs: Vec<f64> = lines
        .lines()
        .map(|line| {
            let numbers: Vec<f64> = line.split(' ').rev().take(2).map(|word| word.parse().unwrap()).collect();
            numbers[1] / numbers[0]
        })
        .collect();
    theirs.sort_by(f64::total_cmp);
    let run = json(&String::from_utf8(bench.read("out/run.json")).unwrap());
    let rows = run["slowdown_hpcc"].as_array().unwrap();
    let all = &rows.last().unwrap()["slowdown"];
    assert_eq!(all["count"], theirs.len());
    assert_eq!(all["max"].as_f64(), theirs.last().copied());
    assert_eq!(all["p50"].as_f64(), Some(theirs[theirs.len().div_ceil(2) - 1]));
    assert_ne!(all["p50"], run["slowdown"]["p50"]);
    // A scenario by our own rules has one definition.
    let own = json(&bench.ok(&["run", "incast", "--no-out", "--json", "--set", "traffic.incast.events=1"]));
    assert!(own.get("slowdown_hpcc").is_none());
}

#[test]
fn what_is_there_already_stays() {
    let bench = bench();
    bench.write("mine.flows.csv", "precious");
    let refused = bench.xoff(&["import", "hpcc", "mine.txt"]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(stderr(&refused).contains("mine.flows.csv is there already"), "{}", stderr(&refused));
    assert_eq!(bench.entries(), ["flows.txt", "mine.flows.csv", "mine.txt", "topology.txt"]);
    assert_eq!(bench.read("mine.flows.csv"), b"precious");
    let text = bench.ok(&["import", "hpcc", "mine.txt", "--force"]);
    assert!(text.contains("4 hosts, 2 switches, 5 links, 3 flows") && text.contains("xoff run mine.toml"), "{text}");
    assert!(bench.read("mine.flows.csv").starts_with(b"src,dst"));
}

#[test]
fn what_is_wrong_is_told_with_file_and_line() {
    for (file, text, expected) in [
        ("mine.txt", changed(CONFIG, "CC_MODE 8", "CC_MODE 9"), "mine.txt:1:9"),
        ("mine.txt", changed(CONFIG, "VAR_WIN 1", "VAR_WINN 1"), "did you mean `VAR_WIN`"),
        ("topology.txt", changed(TOPOLOGY, "6 2 5", "6 2 6"), "topology.txt:7"),
        ("topology.txt", changed(TOPOLOGY, "4 5 40Gbps", "4 5 100Gbps"), "topology.txt:7:5"),
        ("flows.txt", changed(FLOWS, "0 2 3", "0 4 3"), "flows.txt:2:3"),
        ("flows.txt", changed(FLOWS, "2.000002", "1.9"), "flows.txt:4:16"),
    ] {
        let bench = bench();
        bench.write(file, text);
        for command in [&["run", "mine.txt"][..], &["check", "mine.txt"], &["import", "hpcc", "mine.txt"]] {
            let output = bench.xoff(command);
            assert_eq!(output.status.code(), Some(2), "{command:?}");
            assert!(stderr(&output).contains(expected), "{expected} is missing from\n{}", stderr(&output));
        }
        assert_eq!(bench.entries(), ["flows.txt", "mine.txt", "topology.txt"], "nothing may be written");
    }
}

#[test]
fn a_matrix_on_the_network_of_a_scenario() {
    let bench = Bench::with(
        "perm.cm",
        "Nodes 4\nConnections 2\n0->3 id 1 start 0 size 20000\n1->2 id 2 start 1500000 size 20000\n",
    );
    bench.write("small.toml", common::SMALL);
    let text = bench.ok(&["import", "htsim", "perm.cm", "--topology", "small.toml", "-o", "out.toml"]);
    assert!(text.contains("8 hosts, 4 nodes used, 2 flows"), "{text}");
    let summary = json(&bench.ok(&["run", "out.toml", "--json", "--no-out"]));
    assert_eq!((&summary["name"], &summary["flows_completed"]), (&"perm".into(), &2.into()));
    let triggered = Bench::with(
        "perm.cm",
        "Nodes 4\nConnections 1\nTriggers 1\n0->3 id 1 trigger 1 size 5\ntrigger id 1 oneshot\n",
    );
    triggered.write("small.toml", common::SMALL);
    let output = triggered.xoff(&["import", "htsim", "perm.cm", "--topology", "small.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("perm.cm:3:10"), "{}", stderr(&output));
}

#[test]
fn distributions_in_percent() {
    let bench = Bench::with("sizes.txt", "0 0\n1000 40\n50000 100\n");
    let said = json(&bench.ok(&["import", "cdf", "sizes.txt", "-o", "sizes.csv", "--json"]));
    assert_eq!((&said["rows"], &said["largest_bytes"]), (&3.into(), &50_000.0.into()));
    assert_eq!(bench.read("sizes.csv"), b"size_bytes,cumulative_probability\n0,0\n1000,0.4\n50000,1\n");
    // A scenario takes either.
    let runs = ["sizes.txt", "sizes.csv"].map(|file| {
        bench.write("s.toml", changed(common::SMALL, "sizes = \"hadoop\"", &format!("sizes = \"{file}\"")));
        bench.ok(&["run", "s.toml", "--quiet", "--out", "out"]);
        bench.read("out/flows.parquet")
    });
    assert_eq!(runs[0], runs[1]);
    bench.write("bad.txt", "0 0\n1000 40\n900 60\n50000 100\n");
    let output = bench.xoff(&["import", "cdf", "bad.txt", "-o", "bad.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("bad.txt:3:1"), "{}", stderr(&output));
}

#[test]
fn keys_are_described() {
    let bench = Bench::new();
    assert!(bench.ok(&["describe", "hpcc"]).contains("BUFFER_SIZE [16]: mapped"));
    let keys = json(&bench.ok(&["describe", "hpcc", "--json"]));
    assert!(keys.as_array().unwrap().iter().any(|key| key["key"] == "RP_TIMER"));
}
