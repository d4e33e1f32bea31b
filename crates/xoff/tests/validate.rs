//! `xoff export hpcc` and `xoff validate`, on runs that the program makes itself.

use crate::common::{self, Bench, changed, stderr};
use serde_json::Value;
use std::fs;

/// Six hosts, two switches, 40 Gb/s and 5 us.
const TOPOLOGY: &str = "8 2 7\n6 7\n\
    0 6 40Gbps 5000ns 0\n1 6 40Gbps 5000ns 0\n2 6 40Gbps 5000ns 0\n3 6 40Gbps 5000ns 0\n\
    4 7 40Gbps 5000ns 0\n5 7 40Gbps 5000ns 0\n6 7 40Gbps 5000ns 0\n";

/// Enough at once for a small buffer to send PAUSE.
const FLOWS: &str = "12\n\
    0 4 3 100 400000 2.0\n1 4 3 100 400000 2.0\n2 4 3 100 400000 2.0\n3 4 3 100 400000 2.0\n\
    0 5 3 100 400000 2.000001\n1 5 3 100 400000 2.000001\n2 5 3 100 1200000 2.000001\n3 5 3 100 1200000 2.000001\n\
    0 4 3 100 64000 2.0001\n1 4 3 100 5000 2.0001\n2 4 3 100 500 2.0001\n4 0 3 100 20000 2.0001\n";

const CONFIG: &str = "ENABLE_QCN 1\nPACKET_PAYLOAD_SIZE 1000\nTOPOLOGY_FILE ../../topology.txt\n\
    FLOW_FILE ../../flows.txt\nTRACE_FILE ../../trace.txt\nTRACE_OUTPUT_FILE mix.tr\nFCT_OUTPUT_FILE fct.txt\n\
    PFC_OUTPUT_FILE pfc.txt\nSIMULATOR_STOP_TIME 2.1\nCC_MODE 8\nEWMA_GAIN 0.0625\nRATE_AI 8Mb/s\nRATE_HAI 80Mb/s\n\
    MIN_RATE 1000Mb/s\nDCTCP_RATE_AI 615Mb/s\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\nRP_TIMER 300\n\
    FAST_RECOVERY_TIMES 1\nL2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nHAS_WIN 1\nGLOBAL_T 1\nVAR_WIN 1\nMULTI_RATE 0\n\
    MI_THRESH 0\nENABLE_TRACE 0\nKMAX_MAP 1 40000000000 120\nKMIN_MAP 1 40000000000 120\nPMAX_MAP 1 40000000000 1\n\
    BUFFER_SIZE 1\n";

const RUN: &str = "reference/runs/small";

/// A folder in which the results of the other simulator are our own.
fn folder() -> Bench {
    let bench = Bench::new();
    fs::create_dir_all(bench.path.join(RUN)).unwrap();
    bench.write("reference/topology.txt", TOPOLOGY);
    bench.write("reference/flows.txt", FLOWS);
    bench.write("reference/trace.txt", "0\n");
    bench.write(&format!("{RUN}/config.txt"), CONFIG);
    bench.ok(&["run", &format!("{RUN}/config.txt"), "--out", "out", "--quiet"]);
    bench.ok(&["export", "hpcc", "out", "--out", RUN, "--quiet"]);
    bench
}

fn text(bench: &Bench, name: &str) -> String {
    String::from_utf8(bench.read(name)).unwrap()
}

/// The only run of `--json`, and the exit code.
fn validate(bench: &Bench) -> (Value, Option<i32>) {
    let output = bench.xoff(&["validate", "reference", "--json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    assert_eq!(value["runs"].as_array().unwrap().len(), 1);
    (value["runs"][0].clone(), output.status.code())
}

#[test]
fn our_own_results_agree_with_themselves() {
    let bench = folder();
    let fct = text(&bench, &format!("{RUN}/fct.txt"));
    assert_eq!(fct.lines().count(), 12);
    assert!(fct.contains("0b000001 0b000401 10000 100 400000 2000000000 "), "{fct}");
    // The second flow of the pair; rtt 30600 ns and 67072 B at 40 Gb/s.
    assert!(fct.lines().any(|line| line.starts_with("0b000001 0b000401 10001 100 64000 ") && line.ends_with(" 44014")));
    let ends: Vec<u64> = fct
        .lines()
        .map(|line| line.split(' ').skip(5).take(2).map(|word| word.parse::<u64>().unwrap()).sum())
        .collect();
    assert!(ends.is_sorted(), "{fct}");
    let pfc = text(&bench, &format!("{RUN}/pfc.txt"));
    assert!(pfc.lines().count() >= 20, "too few PFC frames to be judged: {pfc}");

    let (run, code) = validate(&bench);
    assert_eq!((code, run["held"].as_bool()), (Some(0), Some(true)), "{run:#}");
    assert_eq!((run["finished_in_both"].as_u64(), run["near"]["equal"].as_f64()), (Some(12), Some(1.0)));
    assert_eq!(run["random"].as_bool(), Some(false));
    assert_eq!(run["pfc_equal"].as_u64(), Some(pfc.lines().count() as u64));
    assert!(run["seconds_theirs"].is_null());
    let shown = bench.ok(&["validate", "reference", "--docs", "book"]);
    assert!(shown.contains("1 of 1 runs are within tolerance."), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    let page = text(&bench, "book/validation.md");
    assert!(page.contains("| small | 12 | 100% |") && !page.contains("reference/"), "{page}");
}

#[test]
fn what_differs_changes_the_verdict() {
    let bench = folder();
    let name = format!("{RUN}/fct.txt");
    let fct = text(&bench, &name);
    // Two of twelve flows take a third longer in theirs: fewer than nine in ten are near.
    let slower = |line: &str| {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        words[6] = (words[6].parse::<u64>().unwrap() * 4 / 3).to_string();
        words.join(" ")
    };
    let lines: Vec<&str> = fct.lines().collect();
    let perturbed = changed(&changed(&fct, lines[0], &slower(lines[0])), lines[1], &slower(lines[1]));
    bench.write(&name, &perturbed);
    let (run, code) = validate(&bench);
    assert_eq!((code, run["held"].as_bool()), (Some(1), Some(false)));
    assert!((run["farthest"]["difference"].as_f64().unwrap() + 0.25).abs() < 1e-4, "{run:#}");
    let missed: Vec<&str> = run["bounds"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|bound| !bound["held"].as_bool().unwrap())
        .map(|bound| bound["what"].as_str().unwrap())
        .collect();
    assert!(missed.contains(&"flows within 1% of each other"), "{missed:?}");
    let output = bench.xoff(&["validate", "reference"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("outside tolerance: small"));

    // A fifth of the PFC frames is missing.
    bench.write(&name, &fct);
    let name = format!("{RUN}/pfc.txt");
    let pfc = text(&bench, &name);
    let fewer: String =
        pfc.lines().enumerate().filter(|(n, _)| n % 5 != 0).map(|(_, line)| format!("{line}\n")).collect();
    bench.write(&name, fewer);
    let (run, code) = validate(&bench);
    assert_eq!(code, Some(1), "{run:#}");
    assert_eq!(run["near"]["equal"].as_f64(), Some(1.0));
}

/// DCQCN, which marks at random between 20 and 120 KB.
fn with_draws() -> Bench {
    let bench = folder();
    let config = changed(CONFIG, "CC_MODE 8", "CC_MODE 1");
    let config = changed(&config, "KMIN_MAP 1 40000000000 120", "KMIN_MAP 1 40000000000 20");
    bench.write(&format!("{RUN}/config.txt"), config);
    bench.ok(&["run", &format!("{RUN}/config.txt"), "--out", "out", "--quiet"]);
    let again = ["export", "hpcc", "out", "--out", RUN, "--quiet"];
    let refused = bench.xoff(&again);
    assert_eq!(refused.status.code(), Some(3));
    assert!(stderr(&refused).contains("fct.txt is there already; --force"), "{}", stderr(&refused));
    bench.ok(&[&again[..], &["--force"]].concat());
    bench
}

#[test]
fn random_draws_are_judged_on_one_run() {
    let bench = with_draws();
    bench.write("reference/times.csv", "run,seconds\nsmall,2.5\n");
    let output = bench.xoff(&["validate", "reference", "--json", "--only", "small"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let run = &value["runs"][0];
    assert_eq!((run["random"].as_bool(), run["held"].as_bool()), (Some(true), Some(true)));
    // The same draws as in the run that was exported.
    assert_eq!((run["near"]["equal"].as_f64(), run["seconds_theirs"].as_f64()), (Some(1.0), Some(2.5)));
    assert_eq!((&value["times_from"], &value["sets"]), (&"times.csv".into(), &Value::Array(Vec::new())));
}

#[test]
fn a_rule_can_be_changed_to_see_what_it_is_worth() {
    let bench = with_draws();
    for (set, equal) in
        [("model.event_order=insertion", true), ("model.first_stream=7", false), ("host.gap=20B", false)]
    {
        let output = bench.xoff(&["validate", "reference", "--json", "--set", set]);
        let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
        assert_eq!(value["sets"], Value::from(vec![set]));
        let run = &value["runs"][0];
        assert_eq!(run["near"]["equal"].as_f64() == Some(1.0), equal, "{set}: {run:#}");
        assert_eq!(output.status.code() == Some(0), run["held"].as_bool().unwrap());
    }
    let shown = bench.xoff(&["validate", "reference", "--set", "model.event_order=hash", "--set", "host.gap=20B"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.starts_with("With model.event_order=hash and host.gap=20B in every run.\n"), "{shown}");
    refused(
        &bench,
        &["validate", "reference", "--set", "model.event_ordre=hash"],
        &["event_ordre", "did you mean `event_order`?"],
    );
    // Once, however many runs there are.
    fs::create_dir_all(bench.path.join("reference/runs/twin")).unwrap();
    for name in ["config.txt", "fct.txt"] {
        bench.write(&format!("reference/runs/twin/{name}"), text(&bench, &format!("{RUN}/{name}")));
    }
    let output = bench.xoff(&["validate", "reference", "--set", "model.tiez=hash"]);
    assert_eq!(stderr(&output).matches("unknown key `tiez`").count(), 1, "{}", stderr(&output));
    // As for a run: nothing that was imported is left without effect in silence.
    refused(
        &bench,
        &["validate", "reference", "--set", "model.random_streams=per-queue"],
        &["`first_stream` has no effect here"],
    );
}

/// What must be refused with exit code 2, and what is said then.
fn refused(bench: &Bench, args: &[&str], parts: &[&str]) {
    let output = bench.xoff(args);
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}\n{error}");
    assert!(output.stdout.is_empty());
    for part in parts {
        assert!(error.contains(part), "`{part}` is missing from\n{error}");
    }
}

#[test]
fn bad_input_is_refused_with_file_and_line() {
    let bench = folder();
    let name = format!("{RUN}/fct.txt");
    let fct = text(&bench, &name);
    let all = ["validate", "reference"];
    bench.write(&name, &fct[..fct.len() - 20]);
    refused(&bench, &all, &["fct.txt:12:", "fields are needed"]);
    bench.write(&name, fct.replacen(" 10000 ", " ten ", 1));
    refused(&bench, &all, &["fct.txt:1:", "`ten` is not a port"]);
    bench.write(&name, fct.replacen(" 10000 ", " 10007 ", 1));
    refused(&bench, &all, &["fct.txt:1:", "not in the run's list of flows"]);
    bench.write(&name, "");
    refused(&bench, &all, &["fct.txt", "has no flows"]);
    bench.write(&name, &fct);
    let pfc = text(&bench, &format!("{RUN}/pfc.txt"));
    bench.write(&format!("{RUN}/pfc.txt"), format!("{pfc}2000000000 99 1 1 1\n"));
    refused(&bench, &all, &["pfc.txt:", "`99` is not a node here"]);
    bench.write(&format!("{RUN}/pfc.txt"), pfc);
    refused(&bench, &["validate", "reference", "--only", "smal"], &["no run `smal`", "did you mean `small`?"]);
    refused(&bench, &["validate", "out"], &["is no folder of results"]);
    bench.write("reference/topology.txt", changed(TOPOLOGY, "8 2 7", "8 2 9"));
    refused(&bench, &all, &["topology.txt"]);
    fs::remove_file(bench.path.join(&name)).unwrap();
    bench.write("reference/topology.txt", TOPOLOGY);
    refused(&bench, &all, &["cannot read", "fct.txt"]);
}

#[test]
fn only_finished_runs_with_their_frames_are_exported() {
    let bench = Bench::with("small.toml", common::SMALL);
    bench.ok(&["run", "small.toml", "--out", "out", "--quiet"]);
    refused(&bench, &["export", "hpcc", "out"], &["no record of PFC frames", "--set output.pfc_frames=true"]);
    refused(&bench, &["export", "hpcc", "nowhere"], &["is not a finished run", "no such directory"]);
    refused(&bench, &["export", "hpcc", "."], &["is not a finished run", "run.json"]);
    assert!(!bench.path.join("out/hpcc").exists());
    bench.ok(&["run", "small.toml", "--out", "out", "--quiet", "--set", "output.pfc_frames=true"]);
    let made: Value = serde_json::from_str(&bench.ok(&["export", "hpcc", "out", "--json"])).unwrap();
    // Of any scenario, and twice the same.
    let fct = text(&bench, "out/hpcc/fct.txt");
    assert_eq!(made["flows"].as_u64(), Some(fct.lines().count() as u64));
    assert_eq!(made["flows"].as_u64().unwrap() + made["flows_left_out"].as_u64().unwrap(), 72);
    assert!(made["pfc_frames"].as_u64().unwrap() > 0);
    let shown = bench.ok(&["export", "hpcc", "out", "--out", "other"]);
    assert!(shown.contains("other/fct.txt"), "{shown}");
    assert_eq!(text(&bench, "other/fct.txt"), fct);
}
