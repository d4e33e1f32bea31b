//! The program in an empty folder: what it needs is inside, and what is on disk goes before that.

use crate::common::{self, Bench, stderr};

#[test]
fn scenarios_are_known_by_name() {
    let bench = Bench::new();
    let output = bench.ok(&["check", "victim-flow"]);
    assert!(output.contains("base round trip"), "{output}");
    let table = bench.ok(&["compare", "incast", "--schemes", "none,dcqcn", "--no-out", "--set", "traffic.0.events=2"]);
    assert!(table.contains("dcqcn"), "{table}");
    let refused = bench.xoff(&["run", "incats", "--no-out"]);
    assert!(refused.status.code() == Some(2) && stderr(&refused).contains("incast"), "{}", stderr(&refused));
}

#[test]
fn a_file_on_disk_goes_before_one_inside() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path.join("scenarios")).unwrap();
    std::fs::write(bench.path.join("scenarios/incast.toml"), common::SMALL).unwrap();
    let output = bench.ok(&["check", "incast"]);
    assert!(output.contains("small") && !output.contains("h32"), "{output}");
}

#[test]
fn the_papers_are_inside() {
    let bench = Bench::new();
    let output = bench.ok(&["reproduce"]);
    for experiment in ["pcn-fig2", "mercury-fig9", "fqcn-fig1", "mlcc-fig9", "rcm-fig7"] {
        assert!(output.contains(experiment), "{experiment}: {output}");
    }
}

#[test]
fn a_new_scenario_can_be_run_at_once() {
    let bench = Bench::new();
    let output = bench.ok(&["new", "scenario", "mine", "--kind", "victim"]);
    assert!(output.contains("xoff run mine.toml"), "{output}");
    assert!(bench.ok(&["check", "mine.toml"]).contains("mine"));
    let refused = bench.xoff(&["new", "scenario", "mine"]);
    assert!(refused.status.code() == Some(3) && stderr(&refused).contains("mine.toml"), "{}", stderr(&refused));
    bench.ok(&["new", "scenario", "mine", "--force"]);
    bench.ok(&["run", "mine.toml", "--no-out", "--quiet", "--set", "traffic.0.events=1"]);
}

#[test]
fn shells_and_man_know_every_command() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = bench.ok(&["completions", shell]);
        assert!(script.contains("reproduce") && script.contains("completions"), "{shell}");
    }
    bench.ok(&["man", "pages"]);
    for page in ["xoff.1", "xoff-run.1", "xoff-new-scenario.1"] {
        let text = std::fs::read_to_string(bench.path.join("pages").join(page)).unwrap();
        assert!(text.starts_with(".ie") && text.contains(".TH"), "{page}");
    }
}

#[test]
fn colours_come_when_they_are_asked_for() {
    let bench = Bench::with("bad.toml", "[topologi]\n");
    let coloured = |args: &[&str], no_color: &str| {
        let output = bench.command(args).env("NO_COLOR", no_color).output().unwrap();
        let all = [output.stdout.clone(), stderr(&output).into_bytes()].concat();
        (output.status.code(), all.contains(&0x1b))
    };
    let bad = Some(2);
    assert_eq!(coloured(&["check", "bad.toml"], ""), (bad, false), "not into a pipe");
    assert_eq!(coloured(&["check", "bad.toml", "--color", "auto"], ""), (bad, false));
    assert_eq!(coloured(&["check", "bad.toml", "--color", "always"], "1"), (bad, true), "what is asked for goes first");
    assert_eq!(coloured(&["--color=always", "check", "bad.toml"], ""), (bad, true));
    assert_eq!(coloured(&["check", "bad.toml", "--color", "never"], ""), (bad, false));
    // Wrong arguments and help are handled before anything is parsed.
    assert_eq!(coloured(&["bogus", "--color", "always"], ""), (bad, true));
    assert_eq!(coloured(&["bogus", "--color", "never"], ""), (bad, false));
    assert_eq!(coloured(&["run", "--help", "--color", "always"], ""), (Some(0), true));
    assert_eq!(coloured(&["run", "--help"], ""), (Some(0), false));
    let run = ["run", "incast", "--no-out", "--set", "run.stop=10us", "--color"];
    assert_eq!(coloured(&[&run[..], &["always"]].concat(), "1"), (Some(0), true));
    assert_eq!(coloured(&[&run[..], &["never"]].concat(), ""), (Some(0), false));
}
