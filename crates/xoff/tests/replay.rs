//! The data of a replay against the tables of the run: sums, stops, roots, victims.

use crate::common::{self, Bench};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use xoff_results::replay::{Replay, Resource};
use xoff_view::collection::Collection;
use xoff_view::export::{self, Held};

fn victim_flow() -> (Bench, Replay) {
    let bench = Bench::new();
    bench.ok(&["run", "victim-flow", "--set", "scheme.name=none", "--set", "output.figures=false", "--out", "run"]);
    let replay = Replay::open(&bench.path.join("run")).unwrap_or_else(|errors| panic!("{errors:?}"));
    (bench, replay)
}

fn json(replay: &Replay, path: &str) -> Value {
    match replay.resource(path).unwrap() {
        Some(Resource::Json(text)) => serde_json::from_str(&text).unwrap(),
        other => panic!("{path}: {other:?}"),
    }
}

fn binary(replay: &Replay, path: &str) -> Vec<u8> {
    match replay.resource(path).unwrap() {
        Some(Resource::Binary(bytes)) => bytes,
        other => panic!("{path}: {other:?}"),
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn port_named(run: &Value, name: &str) -> u64 {
    let names = run["ports"]["name"].as_array().unwrap();
    names.iter().position(|port| port == name).unwrap() as u64
}

#[test]
fn tiles_of_every_resolution_add_up_to_the_ports_table() {
    let (_bench, replay) = victim_flow();
    let run = json(&replay, "run.json");
    let total: Vec<u64> =
        run["port_totals"]["tx_bytes"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
    let (mut windows, levels) = (run["windows"].as_u64().unwrap(), run["levels"].as_u64().unwrap());
    for level in 0..levels {
        let mut sent = vec![0u64; total.len()];
        for index in 0..windows.div_ceil(64) {
            let tile = words(&binary(&replay, &format!("tile/{level}/{index}")));
            let rows = tile[0] as usize;
            for row in 0..rows {
                sent[tile[1 + row] as usize] += u64::from(tile[1 + 2 * rows + row]);
                assert!(u64::from(tile[1 + rows + row]) / 64 == index, "a window of another tile");
            }
        }
        assert_eq!(sent, total, "level {level}");
        windows = windows.div_ceil(4);
    }
    // The panel of a port draws the same.
    let port = port_named(&run, "S0->S1");
    let curves = json(&replay, &format!("port/{port}.json"));
    let (time, gbps) = (curves["time_us"].as_array().unwrap(), curves["tx_gbps"].as_array().unwrap());
    let mut last = 0.0;
    let mut bytes = 0.0;
    for (time, gbps) in time.iter().zip(gbps) {
        bytes += gbps.as_f64().unwrap() * (time.as_f64().unwrap() - last) / 8e-3;
        last = time.as_f64().unwrap();
    }
    assert!((bytes - total[port as usize] as f64).abs() < 1.0, "{bytes}");
}

#[test]
fn the_victim_is_found_and_the_culprit_is_not() {
    let (_bench, replay) = victim_flow();
    let (run, flows, victims) = (json(&replay, "run.json"), json(&replay, "flows.json"), json(&replay, "victims.json"));
    let label = |flow: &Value| {
        let text = flows["label"][flow.as_u64().unwrap() as usize].as_u64().unwrap();
        flows["texts"][text as usize].as_str().unwrap().to_owned()
    };
    let found: Vec<String> = victims["victims"].as_array().unwrap().iter().map(|one| label(&one["flow"])).collect();
    assert_eq!(found, ["victim F0"]);
    let victim = &victims["victims"][0];
    assert_eq!(victim["root_port"], port_named(&run, "S1->R1"));
    // About 9 of 13 Gbps for 3 ms: what the comparison says it lost.
    let lost = victim["lost_bytes"].as_f64().unwrap();
    assert!((3e6..6e6).contains(&lost), "{lost} bytes");
    let held = json(&replay, &format!("flow/{}.json", victim["flow"]));
    let foreign = held["held"].as_array().unwrap().iter().filter(|hold| hold[3] == true).count();
    assert_eq!(foreign as u64, victim["stops"].as_u64().unwrap());
}

#[test]
fn every_stop_leads_to_a_root_before_it() {
    let (_bench, replay) = victim_flow();
    let bytes = binary(&replay, "stops.bin");
    let count = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let reals: Vec<f64> =
        bytes[8..8 + 16 * count].chunks_exact(8).map(|word| f64::from_le_bytes(word.try_into().unwrap())).collect();
    let numbers = words(&bytes[8 + 16 * count..]);
    let (from, until) = reals.split_at(count);
    assert_eq!(numbers.len(), 5 * count);
    assert!(count > 100 && from.windows(2).all(|pair| pair[0] <= pair[1]));
    let roots = json(&replay, "roots.json");
    let congested: BTreeMap<u64, &Value> = roots["stop"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stop| stop.as_u64().unwrap())
        .zip(roots["congested_port"].as_array().unwrap())
        .collect();
    let run = json(&replay, "run.json");
    let (receiver, shared) = (port_named(&run, "S1->R1"), port_named(&run, "S0->S1"));
    for stop in 0..count {
        let (root, cause, depth) = (numbers[2 * count + stop], numbers[3 * count + stop], numbers[4 * count + stop]);
        assert!(from[stop] <= until[stop]);
        assert_eq!(cause == u32::MAX, depth == 0);
        assert!(depth == 0 || cause < stop as u32);
        // All begins at the receiver; what waited at S0 meanwhile is a congestion of its own when that has ended.
        let queue = congested[&u64::from(root)].as_u64().unwrap();
        assert!(queue == receiver || queue == shared && from[stop] > 21_000.0, "stop {stop}: {queue}");
    }
}

#[test]
fn all_paths_of_a_file_to_send_lead_somewhere_and_others_nowhere() {
    let (_bench, replay) = victim_flow();
    let (paths, flows) = (replay.paths(), replay.flow_paths().unwrap());
    assert!(paths.iter().chain(&flows).all(|path| replay.resource(path).unwrap().is_some()));
    // Every flow once, the victim first.
    let table = json(&replay, "flows.json");
    let ids = table["id"].as_array().unwrap();
    assert_eq!(flows.iter().collect::<BTreeSet<_>>().len(), ids.len());
    let victim = &json(&replay, "victims.json")["victims"][0]["flow"];
    assert_eq!(flows[0], format!("flow/{victim}.json"));
    // What the list says of courses is so.
    for (index, windows) in table["windows"].as_array().unwrap().iter().enumerate() {
        let course = json(&replay, &format!("flow/{index}.json"));
        assert_eq!(course["time_us"].as_array().unwrap().is_empty(), windows == 0, "flow {index}");
    }
    for wrong in
        ["", "run", "tile/0", "tile/0/999999", "tile/9/0", "tile/-1/0", "port/99.json", "port/+1.json", "flow/x.json"]
    {
        assert_eq!(replay.resource(wrong).unwrap(), None, "{wrong}");
    }
}

/// Flows with a course in a file of at most so many bytes for them, and what is said of them.
fn exported(bench: &Bench, bytes: usize) -> (usize, Held) {
    let collection = Collection::open(&bench.path.join("run")).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut file = Vec::new();
    let held = export::write_within(&collection, bytes, &mut file).unwrap();
    (String::from_utf8(file).unwrap().matches("data-path=\"0/flow/").count(), held)
}

#[test]
fn a_file_to_send_holds_the_courses_of_all_flows_that_fit() {
    let bench = Bench::new();
    // More flows than any fixed number of them would be.
    let many = ["--set", "traffic.0.events=40", "--set", "output.figures=false"];
    bench.ok(&[&["run", "incast", "--out", "run"][..], &many].concat());
    let (flows, held) = exported(&bench, export::FLOW_BYTES);
    assert!(flows > 500, "{flows}");
    assert_eq!(held, Held { flows, of: flows });
    let (some, held) = exported(&bench, 20_000);
    assert!((1..flows).contains(&some));
    assert_eq!(held, Held { flows: some, of: flows });
    assert_eq!(exported(&bench, 0).0, 0);
}

#[test]
fn a_run_that_kept_nothing_for_it_is_refused_with_a_remedy() {
    let bench = Bench::new();
    let out = bench.path.join("run");
    bench.ok(&["run", "incast", "--set", "output.activity=false", "--set", "output.figures=false", "--out", "run"]);
    assert!(!out.join("port_activity.parquet").exists());
    let output = bench.xoff(&["view", "run"]);
    let said = common::stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot be replayed") && said.contains("output.activity=true"), "{said}");
}

/// A PAUSE storm under an all-reduce, small.
const JOB: &str = r#"
name = "job"
[topology]
kind = "rail"
servers = 4
gpus = 2
spines = 2
[scheme]
name = "none"
[[traffic]]
kind = "job"
name = "train"
iterations = 2
[[traffic.step]]
do = "compute"
name = "forward"
duration = "30us"
[[traffic.step]]
do = "all-reduce"
name = "gradients"
bytes = "8MiB"
[[fault]]
kind = "pause-storm"
at = "60us"
host = "s2.n1"
until = "260us"
"#;

fn job() -> (Bench, Replay) {
    let bench = Bench::new();
    bench.write("job.toml", JOB);
    bench.ok(&["run", "job.toml", "--set", "output.figures=false", "--out", "run"]);
    let replay = Replay::open(&bench.path.join("run")).unwrap_or_else(|errors| panic!("{errors:?}"));
    (bench, replay)
}

fn sum(values: &Value) -> f64 {
    values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).sum()
}

#[test]
fn what_ranks_did_adds_up_to_the_summary_of_their_job() {
    let (_bench, replay) = job();
    let (run, line, done) =
        (json(&replay, "run.json"), json(&replay, "timeline.json"), json(&replay, "activities.json"));
    let told = &run["jobs"][0];
    assert_eq!((told["name"].as_str(), done["ranks"][0].as_array().unwrap().len()), (Some("train"), 8));
    assert_eq!(done["ranks"][0][5], "s2.g1");
    // Two iterations of two activities on every rank.
    let (begin, end) = (done["begin_us"].as_array().unwrap(), done["end_us"].as_array().unwrap());
    assert_eq!((begin.len(), end.len()), (32, 32));
    assert!(begin.windows(2).all(|pair| pair[0].as_f64() <= pair[1].as_f64()));
    let exposed = sum(&line["exposed_ranks"]) * line["bin_us"].as_f64().unwrap() / 8.0;
    let expected = told["exposed_us"].as_f64().unwrap();
    assert!((exposed - expected).abs() < 1e-3 && expected > 100.0, "{exposed} of {expected} us");
    let marks = run["marks"].as_array().unwrap();
    let texts: Vec<&str> = marks.iter().map(|mark| mark["text"].as_str().unwrap()).collect();
    let collective = |number| format!("train: gradients, iteration {number}");
    assert_eq!(texts, [&collective(0), "PAUSE storm by s2.n1", &collective(1)]);
}

#[test]
fn a_storm_is_the_root_of_what_stands_still_because_of_it() {
    let (_bench, replay) = job();
    let run = json(&replay, "run.json");
    let bytes = binary(&replay, "stops.bin");
    let count = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let real = |at: usize| f64::from_le_bytes(bytes[8 + 8 * at..16 + 8 * at].try_into().unwrap());
    let numbers = words(&bytes[8 + 16 * count..]);
    let stopped = port_named(&run, "leaf1->s2.n1");
    let storm: Vec<usize> = (0..count).filter(|&stop| u64::from(numbers[stop]) == stopped).collect();
    assert_eq!(storm.len(), 1, "the host decides once");
    assert_eq!((real(storm[0]), real(count + storm[0])), (60.0, 260.0));
    assert_eq!(numbers[4 * count + storm[0]], 0, "a root");
}
