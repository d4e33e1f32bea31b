//! Readings of a paper from outside: run whole, side by side, searched, and refused where they say nothing.

use crate::common::paper::toy;
use crate::common::{self, Bench, stderr};
use serde_json::Value;

const READING: &str = r#"[[point]]
name = "rate"
title = "The rate of links"
paper = "Says nothing."

[[point.choice]]
name = "stated"
what = "as the scenario has it"
evidence = ["Nothing else is printed."]

[[point.choice]]
name = "slow"
what = "a tenth of it"
against = ["No such links exist."]
[[point.choice.change]]
at = { scheme = "PFC", load = [0.6] }
set = { "topology.rate" = "10Gbps" }

[[point]]
name = "baseline"
title = "Which baseline"
paper = "Says DCQCN."

[[point.choice]]
name = "nic"
what = "as cards have it"

[[point.choice]]
name = "paper"
what = "as its paper has it"
[[point.choice.change]]
experiments = ["toy-fig1"]
runs = ["main"]
at = { scheme = "DCQCN" }
scheme = "dcqcn:paper"

[[reading]]
name = "usual"
title = "The usual links"

[[reading]]
name = "slow"
title = "With slow links"
why = "To see."
choices = { rate = "slow" }
"#;

fn toy_read() -> Bench {
    let bench = toy();
    bench.write("experiments/toy/interpretations.toml", READING);
    bench
}

fn json(bench: &Bench, args: &[&str]) -> Value {
    serde_json::from_str(&bench.ok(&[&["reproduce", "toy", "--out", "out", "--json"], args].concat())).unwrap()
}

fn ratio(of: &Value) -> f64 {
    of["claims"][0]["values"][0]["mean"].as_f64().unwrap()
}

#[test]
fn a_reading_changes_the_runs_it_names_and_no_others() {
    let bench = toy_read();
    let usual = json(&bench, &[]);
    assert_eq!(usual["papers"][0]["reading"], "usual");
    let made = |bench: &Bench| common::entries(&bench.path.join("out/runs/toy-fig1")).len();
    assert_eq!(made(&bench), 8);
    let slow = json(&bench, &["--interpretation", "slow"]);
    assert_eq!(slow["papers"][0]["reading"], "slow");
    assert!(ratio(&slow) > 1.5 * ratio(&usual), "{} and {}", ratio(&slow), ratio(&usual));
    // PFC at a load of 0.6, with each of two seeds; the rest is the same run.
    assert_eq!(made(&bench), 10);
}

#[test]
fn readings_stand_side_by_side() {
    let bench = toy_read();
    let all = json(&bench, &["--interpretation", "all", "--docs", "docs"]);
    let readings = all["papers"][0]["readings"].as_array().unwrap();
    assert_eq!(readings.len(), 2);
    assert_eq!((&readings[0]["name"], &readings[0]["main"]), (&Value::from("usual"), &Value::from(true)));
    assert_ne!(readings[0]["claims"]["toy-c1"]["ours"], readings[1]["claims"]["toy-c1"]["ours"]);
    assert_eq!(all["runs"], 10, "what both run alike is one run");
    let page = String::from_utf8(bench.read("docs/reproduction/toy.md")).unwrap();
    for part in ["## How the paper is read", "| usual (chosen) |", "No such links exist.", "tried in the search only"] {
        assert!(page.contains(part), "{part} is missing from\n{page}");
    }
}

#[test]
fn a_search_tries_every_combination() {
    let bench = toy_read();
    let args = ["reproduce", "toy", "--search=all", "--seeds", "1", "--first-seed", "7", "--out", "out"];
    let page = bench.ok(&[&args[..], &["--docs", "docs"]].concat());
    assert!(page.contains("4 readings tried") && page.contains("usual"), "{page}");
    let csv = String::from_utf8(bench.read("out/toy-search.csv")).unwrap();
    assert_eq!(
        csv.lines().next().unwrap(),
        "rate,baseline,reading,judged,hold,in_direction,do_not_hold,toy-c1,toy-c2,toy-c3"
    );
    assert_eq!(csv.lines().count(), 5);
    assert!(csv.lines().any(|line| line.starts_with("stated,paper,,2,")), "{csv}");
    // Two loads of PFC, one of them at two rates, and two loads of two forms of DCQCN.
    assert_eq!(common::entries(&bench.path.join("out/runs/toy-fig1")).len(), 7);
    assert_eq!(bench.read("docs/reproduction/toy-search.csv"), csv.as_bytes());
    assert!(bench.path.join("docs/reproduction/figures/toy-search.svg").is_file());
    assert!(bench.path.join("out/figures/toy-search.svg").is_file());
    bench.ok(&["reproduce", "toy", "--out", "other", "--quiet", "--docs", "docs"]);
    let page = String::from_utf8(bench.read("docs/reproduction/toy.md")).unwrap();
    assert!(page.contains("(figures/toy-search.svg)"), "{page}");
}

#[test]
fn what_is_long_is_run_under_some_readings() {
    let bench = toy_read();
    let text = String::from_utf8(bench.read("experiments/toy/fig1.toml")).unwrap();
    let only = |names: &str| bench.write("experiments/toy/fig1.toml", format!("readings = {names}\n{text}"));
    for (names, why) in [("[\"usual\", \"slwo\"]", "no reading `slwo`"), ("\"slow\"", "not among these")] {
        only(names);
        let said = stderr(&bench.xoff(&["reproduce", "toy"]));
        assert!(said.contains(why), "{said}");
    }
    only("\"usual\"");
    let both = json(&bench, &["--interpretation", "all"]);
    let readings = &both["papers"][0]["readings"];
    let judged = |index: usize| readings[index]["claims"].as_object().unwrap().len();
    assert!(judged(0) > 0 && judged(1) == 0, "{readings}");
    bench.ok(&["reproduce", "toy", "--out", "out", "--quiet", "--docs", "docs"]);
    let page = String::from_utf8(bench.read("docs/reproduction/toy.md")).unwrap();
    assert!(page.contains("run under these readings only: usual"), "{page}");
}

#[test]
fn a_verdict_needs_seeds_that_decide_it() {
    let bench = toy();
    let claims = r#"[[claim]]
id = "toy-c1"
experiment = "toy-fig1"
says = "the seeds differ"
value = "m('fct.mean', scheme='PFC', load=0.2)"
range = [LOW, HIGH]
tolerance = "around one of two"
POOLED
"#;
    let verdict = |low: f64, high: f64, pooled: &str| {
        let text = claims.replace("LOW", &low.to_string()).replace("HIGH", &high.to_string());
        bench.write("claims/toy.toml", text.replace("POOLED", pooled));
        json(&bench, &[])["claims"][0].clone()
    };
    let wide = verdict(-1e9, 1e9, "");
    assert_eq!((&wide["verdict"], &wide["seeds"]["in_range"]), (&Value::from("holds"), &Value::from(2)));
    let mean = wide["values"][0]["mean"].as_f64().unwrap();
    let half = wide["values"][0]["half_width"].as_f64().unwrap();
    assert!(half > 1e-3, "the seeds must differ for this test");
    // Around the mean, without either seed: both are off by the same, and their interval is far wider than the range.
    let narrow = verdict(mean - half * 1e-3, mean + half * 1e-3, "");
    assert_eq!((&narrow["verdict"], &narrow["seeds"]["in_range"]), (&Value::from("undecided"), &Value::from(0)));
    assert_eq!(narrow["in_range"], "undecided");
    assert!(narrow["seeds_needed"].as_u64().unwrap() > 100_000, "{narrow}");
    // Beyond the interval, and all of it.
    assert_eq!(verdict(mean + 1.1 * half, mean + 2.0 * half, "")["verdict"], "does not hold");
    // The jackknife of a mean is its interval; seeds by themselves do not count then.
    let sum = verdict(mean - 1.1 * half, mean + 1.1 * half, "over_seeds = \"sum\"");
    assert_eq!((&sum["verdict"], &sum["seeds"]), (&Value::from("holds"), &Value::Null));
    assert_eq!(verdict(mean - 0.9 * half, mean + half, "over_seeds = \"sum\"")["verdict"], "undecided");
    // A median of two has no interval.
    let median = verdict(mean - half, mean + half, "over_seeds = \"median\"");
    assert_eq!((&median["verdict"], &median["seeds_needed"]), (&Value::from("undecided"), &Value::from(6)));
    // Seeds are added until it is decided, or there are as many as may be.
    let added = |most: &str| json(&bench, &["--max-seeds", most])["claims"][0]["values"][0]["seeds"].clone();
    assert_eq!((added("5"), added("0"), added("50")), (5.into(), 2.into(), 8.into()));
}

#[test]
fn claims_that_count_in_no_percentage_say_why() {
    let bench = toy();
    let claims = String::from_utf8(bench.read("claims/toy.toml")).unwrap();
    let claims = claims.replace(
        "says = \"times are positive\"",
        "says = \"times are positive\"\ncannot_fail = \"no time is negative\"",
    );
    let more = "\n[[claim]]\nid = \"toy-c4\"\nexperiment = \"toy-fig1\"\nsays = \"cards are warm\"\nnot_judged = \"needs a testbed\"\n";
    bench.write("claims/toy.toml", claims + more);
    let found = json(&bench, &[]);
    assert_eq!(found["totals"]["cannot_fail"], 1);
    assert_eq!(found["totals"]["not_judged"], 1);
    assert_eq!(found["totals"]["holds"], 0);
    assert_eq!(found["claims"][3]["diagnosis"], "needs a testbed");
}

#[test]
fn a_reading_that_says_nothing_is_refused() {
    for (from, to, parts) in [
        ("load = [0.6]", "load = [0.7]", &["interpretations.toml:15", "changes nothing"][..]),
        ("runs = [\"main\"]", "runs = [\"mine\"]", &["changes nothing", "toy-fig1"]),
        ("experiments = [\"toy-fig1\"]", "experiments = [\"toy-fig2\"]", &["no experiment `toy-fig2`", "toy-fig1"]),
        ("scheme = \"dcqcn:paper\"", "scheme = \"dcqcn:papr\"", &["papr"]),
        ("\"topology.rate\"", "\"topology.rat\"", &["rat"]),
        ("choices = { rate = \"slow\" }", "choices = { rate = \"fast\" }", &["no choice `fast`"]),
        ("choices = { rate = \"slow\" }", "choices = { rat = \"slow\" }", &["no point `rat`", "did you mean `rate`?"]),
        ("why = \"To see.\"\n", "wy = \"To see.\"\n", &["unknown key `wy`"]),
        ("name = \"slow\"\ntitle", "name = \"usual\"\ntitle", &["duplicate "]),
    ] {
        let bench = toy_read();
        assert!(READING.contains(from), "{from}");
        bench.write("experiments/toy/interpretations.toml", READING.replacen(from, to, 1));
        let output = bench.xoff(&["reproduce", "toy", "--interpretation", "all", "--out", "r"]);
        let output = match output.status.code() {
            // What only the search runs is checked by the search.
            Some(0) => bench.xoff(&["reproduce", "toy", "--search=all", "--out", "s"]),
            _ => output,
        };
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{to}: {message}");
        for part in parts {
            assert!(message.contains(part), "`{part}` is missing from\n{message}");
        }
    }
    let bench = toy_read();
    let message = stderr(&bench.xoff(&["reproduce", "toy", "--interpretation", "slwo"]));
    assert!(message.contains("no paper of these has a reading `slwo`") && message.contains("`slow`"), "{message}");
    let message = stderr(&bench.xoff(&["reproduce", "toy", "--search=rates"]));
    assert!(message.contains("no point `rates`") && message.contains("`rate`"), "{message}");
}
