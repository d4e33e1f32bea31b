//! What is typed beside a scenario: schemes with parameters of their own, tables by their names.

use crate::common::table::Table;
use crate::common::{Bench, stderr};
use serde_json::Value;

const SCENARIO: &str = r#"
name = "tiny"

[topology]
kind = "star"
hosts = 5
rate = "100Gbps"
delay = "1us"

[scheme]
name = "dcqcn"

[[traffic]]
kind = "poisson"
name = "mice"
sizes = "20KB"
load = 0.2
flows = 20

[[traffic]]
kind = "incast"
sources = "h[0..3]"
destinations = "h4"
degree = 2
sizes = "20KB"
period = "50us"
events = 2
"#;

fn refused(bench: &Bench, args: &[&str], parts: &[&str]) {
    let output = bench.xoff(args);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}\n{told}");
    for part in parts {
        assert!(told.contains(part), "{args:?}: `{part}` is missing from\n{told}");
    }
}

#[test]
fn schemes_have_parameters_of_their_own() {
    let bench = Bench::with("tiny.toml", SCENARIO);
    let schemes = "dcqcn,hpcc{eta=0.9},dcqcn{kmin=20KB, kmax=\"40KB\"},dcqcn:nic{kmin=10KB}";
    let text = bench.ok(&["compare", "tiny.toml", "--schemes", schemes, "--out", "out"]);
    let labels = ["dcqcn", "hpcc{eta=0.9}", "dcqcn{kmin=20KB,kmax=40KB}", "dcqcn:nic{kmin=10KB}"];
    assert!(labels.iter().all(|label| text.contains(label)), "{text}");
    let comparison: Value = serde_json::from_slice(&bench.read("out/comparison.json")).unwrap();
    let runs: Vec<&str> =
        comparison["runs"].as_array().unwrap().iter().map(|run| run["scheme"].as_str().unwrap()).collect();
    assert_eq!(runs, labels);
    for (folder, line) in [
        ("hpcc-eta-0.9", "eta = 0.9"),
        ("dcqcn-kmin-20KB-kmax-40KB", "kmin = \"20KB\""),
        ("dcqcn-nic-kmin-10KB", "kmin = \"10KB\""),
    ] {
        let resolved = String::from_utf8(bench.read(&format!("out/{folder}/scenario.toml"))).unwrap();
        assert!(resolved.contains(line), "{folder}: {line} is not in\n{resolved}");
    }
    for (schemes, parts) in [
        ("hpcc{etta=0.9}", &["`etta`", "did you mean `eta`?", "--schemes"][..]),
        ("hpcc{eta=0.9", &["`{` is not closed"]),
        ("hpcc{eta=9}", &["`eta`", "--schemes"]),
        ("hpcc{eta=0.9},hpcc{ eta = 0.9 }", &["names `hpcc{eta=0.9}` twice"]),
    ] {
        refused(&bench, &["compare", "tiny.toml", "--no-out", "--schemes", schemes], parts);
    }
}

#[test]
fn sweeps_take_them_too() {
    let bench = Bench::with("tiny.toml", SCENARIO);
    let axis = ["--axis", "traffic.mice.load=0.2,0.4"];
    let schemes = "hpcc{eta=0.9},hpcc{eta=0.8},dcqcn{kmin=20KB}";
    bench.ok(&[&["sweep", "tiny.toml", "--schemes", schemes, "--out", "out"][..], &axis].concat());
    let runs = Table::read(&bench.path.join("out/runs.parquet"));
    let labels =
        ["hpcc{eta=0.9}", "hpcc{eta=0.9}", "hpcc{eta=0.8}", "hpcc{eta=0.8}", "dcqcn{kmin=20KB}", "dcqcn{kmin=20KB}"];
    assert_eq!(runs.words("scheme"), labels);
    assert_eq!(runs.reals("load")[..2], [Some(0.2), Some(0.4)]);
    // The file that it leaves has the same runs.
    let again = bench.ok(&["sweep", "out/sweep.toml", "--json", "--out", "again"]);
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap()["runs"], 6);
    assert_eq!(bench.read("again/runs.parquet"), bench.read("out/runs.parquet"));
    let args = ["sweep", "tiny.toml", "--schemes", "dcqcn{kmin=20KB},hpcc", "--axis", "scheme.kmin=5KB,10KB"];
    refused(&bench, &args, &["`dcqcn{kmin=20KB}` sets `scheme.kmin` itself"]);
}

#[test]
fn tables_go_by_name_everywhere() {
    let bench = Bench::with("tiny.toml", SCENARIO);
    let json = |set: &str| -> Value {
        let text = bench.ok(&["run", "tiny.toml", "--no-out", "--json", "--set", set]);
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(json("traffic.mice.flows=7")["flows_total"], 11);
    assert_eq!(json("traffic.incast.degree=3")["flows_total"], 26);
    refused(
        &bench,
        &["check", "tiny.toml", "--set", "traffic.mcie.load=0.3"],
        &["no entry mcie", "did you mean `mice`?"],
    );
    // What is wrong with a value of an axis is said of the axis.
    for axis in ["traffic.mcie.load=0.3,0.5", "traffic.mice.load=0.3,none"] {
        let output = bench.xoff(&["sweep", "tiny.toml", "--axis", axis, "--dry-run"]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("--> --axis:1:") && !told.contains("--set:"), "{told}");
    }
    let twice = ["--axis", "traffic.mice.load=0.3,0.5", "--axis", "traffic.0.load=0.3,0.5"];
    refused(&bench, &[&["sweep", "tiny.toml"][..], &twice].concat(), &["two axes vary"]);
}
