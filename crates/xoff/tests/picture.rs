//! Congestion trees as pictures: `xoff view --picture`, and `[[tree]]` of experiments.

use crate::common::paper::{EXPERIMENT, toy};
use crate::common::{self, Bench, SMALL, changed, stderr};

#[test]
fn the_tree_of_a_run_is_drawn() {
    let bench = Bench::with("small.toml", SMALL);
    bench.ok(&["run", "small.toml", "--out", "out", "--quiet"]);
    let said = bench.ok(&["view", "out", "--picture", "tree.svg"]);
    assert!(said.contains("stopped; root"), "{said}");
    let first = bench.read("tree.svg");
    let text = String::from_utf8(first.clone()).unwrap();
    assert!(text.starts_with("<svg") && text.contains("PAUSE: points at the egress it stops"), "{text}");
    bench.ok(&["view", "out", "--picture", "tree.svg", "--force", "--quiet"]);
    assert!(bench.read("tree.svg") == first, "the same run is the same picture");
    bench.ok(&["view", "out", "--picture", "tree.png", "--at", "0us", "--json"]);
    assert!(bench.read("tree.png").starts_with(b"\x89PNG"));
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let bench = Bench::with("small.toml", SMALL);
    bench.ok(&["run", "small.toml", "--out", "out", "--quiet"]);
    bench.ok(&["run", "small.toml", "--out", "bare", "--quiet", "--set", "output.pauses=false"]);
    bench.ok(&["run", "small.toml", "--out", "calm", "--quiet", "--set", "switch.pfc.xoff=\"1MB\""]);
    bench.ok(&["compare", "small.toml", "--out", "both", "--quiet", "--schemes", "none,dcqcn"]);
    for (args, part) in [
        (&["out", "--picture", "tree.gif"][..], "must end in .svg or .png"),
        (&["out", "--picture", "tree.svg", "--at", "1s"], "the run ended at"),
        (&["out", "--picture", "tree.svg", "--at", "soon"], "--at"),
        (&["out", "--at", "1us"], "--picture"),
        (&["bare", "--picture", "tree.svg"], "kept no pauses"),
        (&["calm", "--picture", "tree.svg"], "no egress was ever stopped"),
        (&["both", "--picture", "tree.svg"], "name one with --runs: none, dcqcn"),
    ] {
        let output = bench.xoff(&[&["view"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(part), "{args:?}: `{part}` is missing from\n{}", stderr(&output));
    }
    assert!(!bench.path.join("tree.svg").exists());
    bench.ok(&["view", "both", "--runs", "none", "--picture", "tree.svg"]);
}

const TREE: &str = "[[tree]]\nname = \"t\"\ntitle = \"Paused egresses\"\nwhere = { scheme = \"PFC\", load = 0.6 }\n\
                    at = \"100us\"\n";

#[test]
fn an_experiment_shows_a_tree_and_makes_its_run_once() {
    let bench = toy();
    bench.write("experiments/toy/fig1.toml", format!("{EXPERIMENT}\n{TREE}"));
    std::fs::create_dir(bench.path.join("docs")).unwrap();
    let args = ["reproduce", "toy", "--out", "out", "--quiet", "--docs", "docs"];
    bench.ok(&args);
    let picture = bench.read("out/figures/toy-fig1-t.svg");
    assert!(bench.path.join("out/figures/toy-fig1-t.png").is_file());
    assert!(bench.read("docs/reproduction/figures/toy-fig1-t.svg") == picture);
    let page = String::from_utf8(bench.read("docs/reproduction/toy.md")).unwrap();
    assert!(
        page.contains("(figures/toy-fig1-t.svg)") && page.contains("PFC, 0.6, 100 us: no egress stopped"),
        "{page}"
    );
    assert!(String::from_utf8(bench.read("out/toy.html")).unwrap().contains("Paused egresses"));
    let runs = bench.path.join("out/runs/toy-fig1");
    let kept = common::entries(&runs).into_iter().find(|name| name.ends_with("-tree.json")).unwrap();
    let stamp = || std::fs::metadata(runs.join(&kept)).unwrap().modified().unwrap();
    let before = stamp();
    bench.ok(&args);
    assert_eq!((stamp(), common::entries(&runs).len()), (before, 9), "found, not made again");
}

#[test]
fn mistakes_in_a_tree_are_found_before_anything_runs() {
    for (from, to, part) in [
        ("name = \"t\"", "name = \"a\"", "is called `a` already"),
        ("name = \"t\"\n", "", "lacks `name`"),
        ("scheme = \"PFC\", ", "", "`where` lacks the axis `scheme`"),
        ("\"PFC\"", "\"PFT\"", "has no value `PFT`"),
        ("load = 0.6", "lode = 0.6", "have no axis `lode`"),
        ("title =", "runs = \"mine\"\ntitle =", "no runs `mine`"),
        ("100us", "100ms", "the run has no instant 100ms"),
        ("at = ", "flows = [\"F9\"]\nat = ", "no flow `F9`"),
        ("at = ", "until = ", "unknown key `until`"),
    ] {
        let bench = toy();
        bench.write("experiments/toy/fig1.toml", format!("{EXPERIMENT}\n{}", changed(TREE, from, to)));
        let output = bench.xoff(&["reproduce", "toy", "--out", "out"]);
        assert_eq!(output.status.code(), Some(2), "{to}");
        assert!(stderr(&output).contains(part), "`{part}` is missing from\n{}", stderr(&output));
        assert!(!bench.path.join("out").exists(), "{to}: something was written");
    }
}
