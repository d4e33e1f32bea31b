//! Chakra traces that `scripts/chakra` writes: read back, imported, run on the simulated network.

use crate::common::{Bench, stderr};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use xoff_jobs::chakra::{NodeKind, Trace, read};
use xoff_run::{Keep, Records, drive};
use xoff_scenario::{Options, Scenario};
use xoff_yardstick::{found, plain_python};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the script writes, in a directory of its own; `None` where there is no Python.
fn written(args: &[&str]) -> Option<Bench> {
    let python = found(plain_python())?;
    let bench = Bench::new();
    let script = root().join("scripts/chakra");
    let output = Command::new(python).arg(script).arg(&bench.path).args(args).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    Some(bench)
}

/// What the script writes for four ranks and the tree keeps, in a directory of its own.
fn kept() -> Bench {
    let (bench, tree) = (Bench::new(), root().join("crates/jobs/tests/chakra"));
    for file in files(&tree) {
        let copy = bench.path.join(file.strip_prefix(&tree).unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(file, copy).unwrap();
    }
    bench
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn traces(bench: &Bench, prefix: &str, ranks: u32) -> Vec<Trace> {
    let file = |rank: u32| fs::read(bench.path.join(format!("{prefix}.{rank}.et"))).unwrap();
    (0..ranks).map(|rank| read(rank, &file(rank)).unwrap_or_else(|defect| panic!("{defect}"))).collect()
}

#[test]
fn what_is_kept_in_the_tree_is_what_the_script_writes() {
    let Some(bench) = written(&["--ranks", "4"]) else { return };
    let kept = root().join("crates/jobs/tests/chakra");
    let names = |folder: &Path| -> Vec<PathBuf> {
        files(folder).iter().map(|path| path.strip_prefix(folder).unwrap().to_owned()).collect()
    };
    assert_eq!(names(&bench.path), names(&kept));
    for name in names(&kept) {
        assert_eq!(
            fs::read(bench.path.join(&name)).unwrap(),
            fs::read(kept.join(&name)).unwrap(),
            "{}",
            name.display()
        );
    }
}

#[test]
fn the_scripts_microbenchmarks_are_astra_sims() {
    let (Some(bench), Some(packed)) = (written(&[]), written(&["--gzip"])) else { return };
    for (kind, number) in [("all_reduce", 0), ("all_gather", 2), ("all_to_all", 6), ("reduce_scatter", 7)] {
        for ranks in [4, 8, 16] {
            let prefix = format!("{kind}/{ranks}npus_1MB/{kind}");
            let all = traces(&bench, &prefix, ranks);
            assert_eq!(all, traces(&packed, &prefix, ranks));
            for trace in &all {
                let [node] = &trace.nodes[..] else { panic!("{} nodes", trace.nodes.len()) };
                // Ids count on from rank to rank there.
                assert_eq!((node.id, node.kind, node.on_cpu), (trace.rank.into(), NodeKind::Collective, Some(false)));
                assert_eq!(&*node.name, format!("{kind}_{ranks}npus_1MB"));
                let more = node.more.as_ref().unwrap();
                assert_eq!((more.what, more.bytes), (Some(number), Some(1 << 20)));
            }
        }
    }
}

/// End of the job of a scenario, in picoseconds.
fn time(path: &Path) -> u64 {
    xoff_schemes::install_all();
    let scenario = Scenario::open(path).unwrap();
    let loaded = scenario.load(&Options::default()).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let mut sink = Records::default();
    let end = drive(&loaded, Keep::default(), &mut sink, &mut |_| {}).unwrap();
    assert!(end.failure.is_none(), "{:?}", end.failure);
    sink.intervals.iter().map(|of| of.interval.end.expect("the job ends").ps()).max().unwrap()
}

const PS_PER_BYTE: u64 = 20;
const PAYLOAD: u64 = 4096;
/// What a packet takes on the wire.
const PACKET: u64 = (PAYLOAD + 82) * PS_PER_BYTE;
/// From the last byte on the sender's wire to its arrival: two links, and a switch that stores and forwards.
const LATENCY: u64 = 2 * 500_000 + PACKET;

/// The wire time of these bytes in full packets.
fn wire(bytes: u64) -> u64 {
    bytes.div_ceil(PAYLOAD) * PACKET
}

/// The closed form of a ring whose chunks go in `k` slices: (s − 1)·max(kτ, τ + L) + kτ + L.
fn ring(steps: u64, part: u64, k: u64) -> u64 {
    let slice = wire(part / k);
    (steps - 1) * (k * slice).max(slice + LATENCY) + k * slice + LATENCY
}

#[test]
fn microbenchmarks_end_within_a_hundredth_of_the_closed_form() {
    let Some(bench) = written(&[]) else { return };
    for ranks in [4, 8, 16] {
        for (kind, steps, part) in [
            ("all_reduce", 2 * (ranks - 1), (1 << 20) / ranks),
            ("reduce_scatter", ranks - 1, (1 << 20) / ranks),
            ("all_gather", ranks - 1, 1 << 20),
        ] {
            let prefix = format!("{kind}/{ranks}npus_1MB/{kind}");
            bench.ok(&["import", "chakra", &prefix, "-o", "mine.toml", "--force"]);
            // ASTRA-sim's rings pass on whole parts: one channel, one slice.
            let text = fs::read_to_string(bench.path.join("mine.toml")).unwrap();
            bench.write("mine.toml", format!("{text}channels = 1\nchunk = \"1MiB\"\nslice = \"1MiB\"\n"));
            let (found, form) = (time(&bench.path.join("mine.toml")), ring(steps, part, 1));
            let error = found as f64 / form as f64 - 1.0;
            assert!(error.abs() < 0.01, "{prefix}: {found} ps, and the form says {form} ps: {:.2} %", 100.0 * error);
        }
        let prefix = format!("all_to_all/{ranks}npus_1MB/all_to_all");
        bench.ok(&["import", "chakra", &prefix, "-o", "mine.toml", "--force"]);
        // With all peers at once: at least what its bytes need, and little more.
        let text = fs::read_to_string(bench.path.join("mine.toml")).unwrap();
        bench.write("mine.toml", format!("{text}peers = 0\n"));
        let (found, form) = (time(&bench.path.join("mine.toml")), wire((1 << 20) / ranks) * (ranks - 1) + LATENCY);
        let error = found as f64 / form as f64 - 1.0;
        assert!((0.0..0.02).contains(&error), "{prefix}: {found} ps, at least {form} ps: {:.2} %", 100.0 * error);
    }
}

#[test]
fn a_pipeline_ends_when_gpipes_form_says() {
    let bench = kept();
    bench.ok(&["import", "chakra", "pipeline/pipeline", "-o", "mine.toml"]);
    let (forward, backward) = (100_000_000, 200_000_000);
    // m (tf + tb) + (p − 1)(tf + tb + 2 d(a)), of two micro-batches and two stages.
    let form = 3 * (forward + backward) + 2 * (wire(1 << 20) + LATENCY);
    let found = time(&bench.path.join("mine.toml"));
    assert!((found as f64 / form as f64 - 1.0).abs() < 0.01, "{found} ps, and the form says {form} ps");
}

#[test]
fn an_import_says_what_was_found_and_its_run_stands_alone() {
    let bench = kept();
    let said: Value = serde_json::from_str(&bench.ok(&[
        "import",
        "chakra",
        "all_gather/4npus_1MB/all_gather",
        "-o",
        "mine.toml",
        "--deps",
        "data",
        "--json",
    ]))
    .unwrap();
    assert_eq!((&said["ranks"], &said["nodes"], &said["parts_in_collectives"]), (&4.into(), &4.into(), &4.into()));
    assert_eq!(said["collectives"]["ALL_GATHER"], serde_json::json!({"parts": 4, "comm_size": 4 << 20}));
    assert_eq!(said["files"], serde_json::json!(["mine.toml", "mine.traces.json"]));
    assert!(said["warnings"][0]["message"].as_str().unwrap().starts_with("4 parts in all-gathers"), "{said}");
    let text = fs::read_to_string(bench.path.join("mine.toml")).unwrap();
    assert!(text.contains("deps = \"data\"\n") && !text.contains("resources"), "{text}");
    bench.ok(&["run", "mine.toml", "--quiet", "--out", "first"]);
    fs::remove_file(bench.path.join("mine.traces.json")).unwrap();
    bench.ok(&["run", "first/scenario.toml", "--quiet", "--out", "second"]);
    assert_eq!(bench.read("first/flows.parquet"), bench.read("second/flows.parquet"));
    let page = bench.ok(&["import", "chakra", "pipeline/pipeline", "-o", "pipeline.toml"]);
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("2 ranks, 16 nodes, 8 computing nodes, 4 sends, 4 receives"), "{page}");
}

#[test]
fn an_import_may_take_the_network_of_a_scenario_with_more_ranks() {
    let bench = kept();
    bench.write(
        "rails.toml",
        "[topology]\nkind = \"rail\"\nservers = 4\ngpus = 2\nspines = 2\n[[traffic]]\nkind = \"all-reduce\"\nbytes = \
         \"1MB\"\n",
    );
    bench.ok(&["import", "chakra", "all_reduce/4npus_1MB/all_reduce", "--topology", "rails.toml", "-o", "mine.toml"]);
    let text = fs::read_to_string(bench.path.join("mine.toml")).unwrap();
    assert!(text.contains("ranks = [\"s0.g0\", \"s0.g1\", \"s1.g0\", \"s1.g1\"]"), "{text}");
    bench.ok(&["run", "mine.toml", "--quiet", "--no-out"]);
}

#[test]
fn all_defects_are_listed_with_rank_and_node() {
    let bench = kept();
    let folder = bench.path.join("all_reduce/4npus_1MB");
    fs::remove_file(folder.join("all_reduce.1.et")).unwrap();
    let refused = bench.xoff(&["import", "chakra", "all_reduce/4npus_1MB/all_reduce"]);
    assert!(!refused.status.success());
    assert!(stderr(&refused).contains("rank 1: its trace is missing: there is one of rank 3"), "{}", stderr(&refused));
    // Another rank's file in its place: two ranks say that they are the sender.
    fs::copy(bench.path.join("pipeline/pipeline.0.et"), bench.path.join("pipeline/pipeline.1.et")).unwrap();
    let refused = bench.xoff(&["import", "chakra", "pipeline/pipeline"]);
    let text = stderr(&refused);
    assert_eq!(text.matches("and the trace is that of rank 1").count(), 4, "{text}");
    assert!(text.contains("rank 1, node 1 `send activations 0`: `comm_src` is 0"), "{text}");
    assert!(!bench.path.join("pipeline.toml").exists());
    let missing = bench.xoff(&["import", "chakra", "nothing"]);
    assert!(stderr(&missing).contains("no file is called nothing.RANK.et"), "{}", stderr(&missing));
}

/// Two collectives that two ranks begin in different orders: no trace is wrong, but one at a time neither gets on.
#[test]
fn ranks_that_wait_for_each_other_are_named_and_the_run_fails() {
    let bench = Bench::new();
    let part = |id: u32, group: u32| {
        let rest = r#""NodeType": 7, "is_cpu_op": false, "comm_type": 0, "comm_size": 65536"#;
        format!(r#"{{"Id": {id}, "Name": "sum {group}", "pg_name": "{group}", {rest}}}"#)
    };
    for (rank, groups) in [(0, [1, 2]), (1, [2, 1])] {
        let nodes = format!("{}, {}", part(1, groups[0]), part(2, groups[1]));
        bench.write(&format!("x.{rank}.json"), format!("{{\"workload_graph\": [{nodes}]}}"));
    }
    bench.write("groups.json", r#"{"1": [0, 1], "2": [0, 1]}"#);
    bench.ok(&["import", "chakra", "x", "--groups", "groups.json", "-o", "mine.toml"]);
    let output = bench.xoff(&["run", "mine.toml", "--no-out", "--json"]);
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(1), "{text}");
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(told["sim_time_us"].as_f64() < Some(100_000.0), "found when nothing can happen any more: {text}");
    for words in ["rank 0 (h0): all-reduce `sum 2` waits until", "rank 1 (h1): all-reduce `sum 1` waits until"] {
        assert!(text.contains(words), "{words} is missing from\n{text}");
    }
}
