//! `xoff reproduce` from outside: a made-up paper run, resumed, judged and refused; and the real files read.

use crate::common::paper::{SCENARIO, toy};
use crate::common::{self, Bench, stderr};
use serde_json::Value;
use std::path::Path;
use xoff_yardstick::every_case;

fn verdicts(bench: &Bench, args: &[&str]) -> Vec<(String, String)> {
    let out = if args.contains(&"standard") { "standard" } else { "out" };
    let text = bench.ok(&[&["reproduce", "toy", "--out", out, "--json"], args].concat());
    let value: Value = serde_json::from_str(&text).unwrap();
    let claim =
        |claim: &Value| (claim["id"].as_str().unwrap().to_owned(), claim["verdict"].as_str().unwrap().to_owned());
    value["claims"].as_array().unwrap().iter().map(claim).collect()
}

#[test]
fn a_paper_is_run_drawn_and_judged() {
    let bench = toy();
    let found = verdicts(&bench, &[]);
    let expected = [("toy-c1", "holds in direction"), ("toy-c2", "not run at this scale"), ("toy-c3", "holds")];
    assert_eq!(found, expected.map(|(id, verdict)| (id.to_owned(), verdict.to_owned())));
    for file in [
        "report.html",
        "toy.html",
        "report.md",
        "toy.md",
        "claims.csv",
        "claims.json",
        "figures/toy-fig1-a.svg",
        "figures/toy-fig1-a.png",
        "figures/toy-fig1-a.pdf",
    ] {
        assert!(bench.path.join("out").join(file).is_file(), "{file}");
    }
    let standard = verdicts(&bench, &["--scale", "standard"]);
    assert_eq!(standard[1].1, "holds");
}

#[test]
fn what_is_finished_is_not_run_again() {
    let bench = toy();
    let runs = bench.path.join("out/runs/toy-fig1");
    let first = verdicts(&bench, &["--jobs", "1"]);
    let stamp = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
    let files: Vec<_> = common::entries(&runs).into_iter().map(|name| runs.join(name)).collect();
    assert_eq!(files.len(), 8);
    let before: Vec<_> = files.iter().map(|path| stamp(path)).collect();
    // As after a kill: one run is missing, one is torn, and there is no report.
    std::fs::remove_file(&files[0]).unwrap();
    std::fs::write(&files[1], "{\"inputs\": \"").unwrap();
    std::fs::remove_file(bench.path.join("out/report.html")).unwrap();
    assert_eq!(verdicts(&bench, &["--jobs", "2"]), first);
    let after: Vec<_> = files.iter().map(|path| stamp(path)).collect();
    assert_ne!(before[..2], after[..2]);
    assert_eq!(before[2..], after[2..]);
    // Another scenario: all of it again, under other fingerprints.
    bench.write("experiments/toy/scenarios/tiny.toml", SCENARIO.replace("400us", "300us"));
    verdicts(&bench, &[]);
    assert_eq!(common::entries(&runs).len(), 16);
}

#[test]
fn the_same_numbers_in_any_number_of_threads() {
    let bench = toy();
    let read = |out: &str| {
        bench.ok(&["reproduce", "toy-fig1", "--out", out, "--quiet", "--jobs", if out == "a" { "1" } else { "3" }]);
        std::fs::read(bench.path.join(out).join("claims.csv")).unwrap()
    };
    assert!(read("a") == read("b"));
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    for (file, from, to, parts) in [
        ("claims/toy.toml", "load=0.6), m(", "load=0.7), m(", &["claims/toy.toml:5", "no value `0.7`"][..]),
        (
            "claims/toy.toml",
            "m('fct.mean', scheme='PFC', load=0.6) >",
            "m('fct.men', scheme='PFC', load=0.6) >",
            &["measures no `fct.men`"],
        ),
        ("claims/toy.toml", "toy-c2", "toy-c1", &["duplicate "]),
        ("claims/toy.toml", "experiment = \"toy-fig1\"", "experiment = \"toy-fig2\"", &["no experiment `toy-fig2`"]),
        ("claims/toy.toml", "range = [900, 1100]", "range = [1100, 900]", &["the low one first"]),
        ("claims/toy.toml", "diagnosis =", "diagnoses =", &["unknown key `diagnoses`", "did you mean `diagnosis`?"]),
        ("experiments/toy/fig1.toml", "metric = \"fct\"", "metric = \"fcd\"", &["fig1.toml:25", "did you mean"]),
        ("experiments/toy/fig1.toml", "traffic.0.load", "traffic.0.laod", &["laod"]),
        ("experiments/toy/fig1.toml", "dcqcn:nic", "dcqcm", &["dcqcm"]),
        ("experiments/toy/fig1.toml", "quick = [0.2, 0.6]", "quick = [0.2, \"x\"]", &["`load`"]),
        ("experiments/toy/fig1.toml", "scenarios/tiny.toml", "scenarios/none.toml", &["cannot read the scenario"]),
        ("experiments/toy/fig1.toml", "measure = \"fct.mean\"", "measure = \"fct.max\"", &["fct.max"]),
        ("experiments/toy/fig1.toml", "over = \"load\"", "over = \"lode\"", &["lode"]),
        ("experiments/toy/fig1.toml", "setting = \"simulation\"", "setting = \"dream\"", &["cannot be \"dream\""]),
        ("experiments/toy/paper.toml", "year = 2020", "year = 20", &["`year`"]),
    ] {
        let bench = toy();
        let text = String::from_utf8(bench.read(file)).unwrap();
        assert!(text.contains(from), "{file}: {from}");
        bench.write(file, text.replacen(from, to, 1));
        let output = bench.xoff(&["reproduce", "toy", "--out", "out"]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{to}: {message}");
        for part in parts {
            assert!(message.contains(part), "`{part}` is missing from\n{message}");
        }
        assert!(!bench.path.join("out").exists(), "{to}: something was written");
    }
    let bench = toy();
    let message = stderr(&bench.xoff(&["reproduce", "toy-fig9"]));
    assert!(message.contains("no paper or experiment `toy-fig9`") && message.contains("toy-fig1"), "{message}");
}

#[test]
fn pages_are_written_among_other_documents() {
    let bench = toy();
    std::fs::create_dir(bench.path.join("docs")).unwrap();
    bench.write("docs/mine.md", "# Mine\n");
    let args = ["reproduce", "toy", "--out", "out", "--quiet", "--docs", "docs"];
    bench.ok(&args);
    assert_eq!(common::entries(&bench.path.join("docs")), ["mine.md", "reproduction", "reproduction.md"]);
    assert_eq!(common::entries(&bench.path.join("docs/reproduction")), ["figures", "toy.json", "toy.md"]);
    assert_eq!(common::entries(&bench.path.join("docs/reproduction/figures")), ["toy-fig1-a.svg"]);
    let page = String::from_utf8(bench.read("docs/reproduction/toy.md")).unwrap();
    assert!(page.contains("(figures/toy-fig1-a.svg)") && page.contains("(../reproduction.md)"), "{page}");
    bench.ok(&args);
    bench.write("docs/reproduction/toy.md", "# About toys\n");
    let output = bench.xoff(&args);
    assert_eq!(output.status.code(), Some(3), "a page of another title belongs to another program");
}

#[test]
fn a_strange_folder_is_left_alone() {
    let bench = toy();
    std::fs::create_dir(bench.path.join("mine")).unwrap();
    bench.write("mine/thesis.tex", "years of work");
    let output = bench.xoff(&["reproduce", "toy", "--out", "mine"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("thesis.tex"), "{}", stderr(&output));
    assert_eq!(common::entries(&bench.path.join("mine")), ["thesis.tex"]);
}

#[test]
fn the_list_names_everything() {
    let bench = toy();
    let text = bench.ok(&["reproduce"]);
    assert!(text.contains("toy-fig1") && text.contains("Completion times"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

/// The papers' own files: every claim of the catalogue is there once.
#[test]
fn the_papers_are_complete() {
    xoff_schemes::install_all();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let catalogue = xoff::reproduce::catalogue::Catalogue::open(&root).unwrap_or_else(|problems| {
        let texts: Vec<String> = problems.iter().map(|problem| problem.render(false)).collect();
        panic!("{}", texts.join("\n"))
    });
    for (paper, claims, experiments) in
        [("fqcn", 54, 11), ("mercury", 58, 14), ("mlcc", 64, 17), ("pcn", 158, 24), ("rcm", 27, 9)]
    {
        let mut ids: Vec<&str> =
            catalogue.claims.iter().map(|claim| claim.id.value.as_str()).filter(|id| id.starts_with(paper)).collect();
        ids.dedup();
        assert_eq!(ids.len(), claims, "{paper}");
        let expected: Vec<String> = (1..=claims).map(|number| format!("{paper}-c{number:03}")).collect();
        assert_eq!(ids, expected);
        let own = catalogue.experiments.iter().filter(|of| of.paper == paper).count();
        assert_eq!(own, experiments, "{paper}");
    }
    for experiment in &catalogue.experiments {
        let judged = catalogue.claims.iter().any(|claim| claim.experiment.value == experiment.id);
        assert!(judged || experiment.setting == "design", "{} has no claim", experiment.id);
        assert!(experiment.setting == "design" || !experiment.figures.is_empty(), "{} has no figure", experiment.id);
    }
}

/// Scenarios, measures, expressions and figures of every experiment, at every scale and under every reading (those that
/// are not the main one at the smallest scale only, unless `XOFF_TESTS=all`), without
/// running any.
#[test]
fn every_experiment_is_in_order_at_every_scale() {
    xoff_schemes::install_all();
    use xoff::reproduce::{catalogue::Catalogue, interpretation_set::InterpretationSet, scale::Scale};
    use xoff::sweep::pool::Failed;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let Ok(catalogue) = Catalogue::open(&root) else { panic!("see the_papers_are_complete") };
    let all = ["all".to_owned()];
    let Ok(sets) = InterpretationSet::choose(&catalogue, &all, &all) else { panic!("there is a main reading") };
    let every_scale = every_case();
    let scales = |main: bool| if main || every_scale { &Scale::ALL[..] } else { &[Scale::Quick] };
    let cases = sets.iter().enumerate().flat_map(|(at, set)| scales(at == 0).iter().map(move |&scale| (set, scale)));
    for (set, scale) in cases {
        if let Err(Failed::BadInput(problems)) = set.prepare(scale) {
            let texts: Vec<String> = problems.iter().map(|problem| problem.render(false)).collect();
            panic!("{}, {}: {}", set.name(), scale.name(), texts.join("\n"));
        }
    }
}

/// The real file of all schemes on all papers' scenarios (at the smallest scale only, unless `XOFF_TESTS=all`), without
/// running any.
#[test]
fn all_schemes_can_be_run_on_the_scenarios_of_all_papers() {
    xoff_schemes::install_all();
    use xoff::reproduce::interpretation_set::InterpretationSet;
    use xoff::reproduce::{Reproduction, catalogue::Catalogue, cross::Cross, scale::Scale};
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let Ok(catalogue) = Catalogue::open(&root) else { panic!("see the_papers_are_complete") };
    let all = ["all".to_owned()];
    let Ok(sets) = InterpretationSet::choose(&catalogue, &all, &[]) else { panic!("there is a main reading") };
    let told = |problems: Vec<xoff_scenario::Diagnostic>| -> Cross {
        panic!("{}", problems.iter().map(|problem| problem.render(false)).collect::<Vec<_>>().join("\n"))
    };
    let cross = Cross::open(&root, sets[0].catalogue()).unwrap_or_else(told);
    let papers: Vec<&str> = cross.cases.iter().filter_map(|case| case.of.split('-').next()).collect();
    for paper in ["fqcn", "mercury", "mlcc", "pcn", "rcm"] {
        assert!(papers.contains(&paper), "no scenario of {paper}");
    }
    for &scale in if every_case() { &[Scale::Quick, Scale::Standard][..] } else { &[Scale::Quick] } {
        assert!(Reproduction::prepare(&cross.catalogue, &all, scale).is_ok(), "{}", scale.name());
    }
}

const CROSS: &str = r#"title = "All on one"
[[variant]]
name = "dcqcn (slow)"
scheme = "dcqcn:nic-slow"
[[case]]
name = "load"
experiment = "toy-fig1"
title = "A made-up load"
at = { load = 0.6 }
without = { tcp-newreno = "made up" }
[[case.measure]]
name = "open"
metric = "flow-count"
which = "unfinished"
up_to = "1KB"
[[case.compare]]
measure = "fct.mean"
title = "mean FCT"
unit = "us"
better = "lower"
unfinished = "open"
[[case.compare]]
measure = "fct.p99"
title = "p99 FCT"
unit = "us"
better = "lower"
[[sentence]]
id = "cross-s1"
experiment = "cross-load"
says = "times are positive"
value = "m('fct.mean', scheme='dcqcn (slow)')"
direction = "every(less(0, all('fct.mean')))"
"#;

#[test]
fn every_scheme_is_run_on_a_scenario_of_each_paper() {
    let bench = toy();
    bench.write("experiments/cross.toml", CROSS);
    let text = bench.ok(&["reproduce", "cross", "--out", "out", "--docs", "docs"]);
    assert!(text.contains("1. times are positive: ") && text.contains("A made-up load"), "{text}");
    let page = std::fs::read_to_string(bench.path.join("docs/cross.md")).unwrap();
    let rows = std::fs::read_to_string(bench.path.join("out/cross.csv")).unwrap();
    let own = rows.lines().skip(1).count();
    assert_eq!(own, 2 * xoff_schemes::all().len(), "every scheme but one, and one variant");
    assert_eq!(rows.lines().filter(|line| line.ends_with(",partial")).count(), own / 2, "{rows}");
    assert_eq!(rows.lines().filter(|line| line.ends_with(",best")).count(), 1, "{rows}");
    assert!(rows.contains(",dcqcn (slow),") && !rows.contains("tcp-newreno"), "{rows}");
    assert!(page.contains("Without tcp-newreno: made up.") && page.contains("| dcqcn (slow) |"), "{page}");
    for option in ["--interpretation=main", "--search"] {
        let said = stderr(&bench.xoff(&["reproduce", "cross", option]));
        assert!(said.contains("do not apply"), "{said}");
    }
    for (from, to, parts) in [
        ("load = 0.6", "load = 0.7", &["cross.toml:9", "no value `0.7`"][..]),
        ("toy-fig1", "toy-fig9", &["cross.toml:7", "no experiment `toy-fig9`"]),
        ("tcp-newreno =", "tcp-nereno =", &["did you mean `tcp-newreno`?"]),
        ("fct.mean', scheme", "fct.men', scheme", &["measures no `fct.men`"]),
    ] {
        bench.write("experiments/cross.toml", CROSS.replace(from, to));
        let output = bench.xoff(&["reproduce", "cross", "--out", "out"]);
        let said = stderr(&output);
        assert!(!output.status.success() && parts.iter().all(|part| said.contains(part)), "{said}");
    }
}

#[test]
fn some_experiments_are_run_at_full_scale_among_others() {
    let bench = toy();
    let cells = |args: &[&str]| {
        let text = bench.ok(&[&["reproduce", "toy", "--out", "out", "--json"], args].concat());
        let value: Value = serde_json::from_str(&text).unwrap();
        (value["runs"].as_u64().unwrap(), value["claims"][1]["verdict"].as_str().unwrap().to_owned())
    };
    assert_eq!(cells(&[]), (8, "not run at this scale".to_owned()));
    assert_eq!(cells(&["--full", "toy-fig1"]).0, 24, "two schemes, three loads, four seeds");
    let page = std::fs::read_to_string(bench.path.join("out/toy.md")).unwrap();
    assert!(page.contains("xoff reproduce toy --scale quick --full toy-fig1"), "{page}");
    assert!(page.contains("`xoff reproduce toy-fig1 --scale full`"), "{page}");
    let output = bench.xoff(&["reproduce", "toy", "--full", "toy-fig2"]);
    assert!(stderr(&output).contains("toy-fig1"), "{}", stderr(&output));
}

/// With the constants of its authors' snippet TIMELY loses throughput for as long as the PCN paper says: 60 ms (Fig. 2).
#[test]
fn timely_is_back_after_60_ms_in_fig_2_of_pcn() {
    let bench = Bench::new();
    let found: Value = serde_json::from_str(&bench.ok(&["reproduce", "pcn-fig2", "--json", "--out", "out"])).unwrap();
    let claim = found["claims"].as_array().unwrap().iter().find(|claim| claim["id"] == "pcn-c014").unwrap();
    let lost_ms = claim["values"][0]["mean"].as_f64().unwrap();
    assert!((54.0..=66.0).contains(&lost_ms), "{claim}");
}

/// Every choice of every open point that no reading takes; the others are run with their readings.
#[test]
fn every_choice_can_be_run() {
    xoff_schemes::install_all();
    use std::collections::BTreeMap;
    use xoff::reproduce::{catalogue::Catalogue, runner, scale::Scale};
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let Ok(catalogue) = Catalogue::open(&root) else { panic!("see the_papers_are_complete") };
    for readings in &catalogue.readings {
        for (index, point) in readings.points.iter().enumerate() {
            for (number, choice) in point.choices.iter().enumerate().skip(1) {
                if readings.all.iter().any(|reading| reading.choices[index] == number) {
                    continue;
                }
                let mut choices = vec![0; readings.points.len()];
                choices[index] = number;
                let under = catalogue.under(&BTreeMap::from([(readings.paper.clone(), choices)]));
                let own: Vec<_> = under.experiments.iter().filter(|of| of.paper == readings.paper).collect();
                let changed: Vec<_> = own.into_iter().filter(|of| readings.matters(index, of)).collect();
                let tried = runner::load_all(&changed, Scale::Quick);
                assert!(tried.is_ok(), "{} {} {}", readings.paper, point.name, choice.name);
            }
        }
    }
}
