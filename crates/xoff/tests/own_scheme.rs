//! A scheme of one's own out of tree: written by the program, built on this checkout, beside all others.

/// The scheme itself, with its worked numbers: compiled here, they cost no second network.
#[allow(dead_code)]
#[path = "../templates/scheme/src/my_idea.rs"]
mod my_idea;

use crate::common::{self, Bench};
use std::path::Path;
use std::process::Command;

/// Runs a command that must succeed; its standard output.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn it_is_built_tested_compared_and_traced() {
    let bench = Bench::new();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    bench.ok(&["new", "scheme", "half-way", "--path", checkout.to_str().unwrap()]);
    let project = bench.path.join("half-way");

    // Beside the checkout's own, so that what both use is compiled once. Not optimised: compiling would take longer than
    // what is simulated here. `scripts/installed` builds one as its manifest says.
    let plain = ["", ".package.xoff-engine", ".package.xoff-fabric", ".package.xoff-schemes"];
    let plain = plain.map(|of| format!("profile.dev{of}.opt-level=0"));
    let target = Path::new(env!("CARGO_BIN_EXE_xoff")).ancestors().nth(2).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    output(
        cargo
            .args(["test", "--quiet", "--offline", "--test", "against_none"])
            .args(plain.iter().flat_map(|setting| ["--config", setting]))
            .current_dir(&project)
            .env("CARGO_TARGET_DIR", target),
    );

    let program = target.join("debug/half-way");
    let run = |args: &[&str]| output(Command::new(&program).args(args).current_dir(&project).env("COLUMNS", "100"));
    assert!(run(&["schemes"]).contains("half-way"));
    assert!(run(&["schemes", "half-way"]).contains("queue above which packets are marked"));
    let table = run(&["compare", "incast.toml", "--schemes", "none,half-way:hasty,dcqcn", "--out", "compared"]);
    assert!(table.contains("half-way:hasty") && table.contains("dcqcn"), "{table}");
    assert!(project.join("compared/report.html").is_file());
    run(&["run", "incast.toml", "--set", "scheme.threshold=50KB", "--out", "once", "--quiet"]);
    run(&["trace", "once"]);
    let scenario = std::fs::read_to_string(project.join("incast.toml")).unwrap();
    let capture = "[[capture]]\nname = \"all\"\nports = \"sw->h16\"\nuntil = \"100us\"\n";
    std::fs::write(project.join("captured.toml"), format!("{scenario}\n{capture}")).unwrap();
    run(&["run", "captured.toml", "--out", "captured", "--quiet"]);
    assert!(project.join("captured/captures/all.pcapng").is_file());
}

#[test]
fn what_cannot_be_a_scheme_is_refused() {
    let bench = Bench::new();
    for (args, why) in [
        (&["new", "scheme", "dcqcn"][..], "already"),
        (&["new", "scheme", "My Idea"], "no name for a scheme"),
        (&["new", "scheme", "mine", "--path", "nowhere"], "no checkout"),
    ] {
        let output = bench.xoff(args);
        let told = common::stderr(&output);
        assert!(output.status.code() == Some(2) && told.contains(why), "{args:?}: {told}");
    }
    assert!(bench.entries().is_empty());
    bench.ok(&["new", "scheme", "mine"]);
    let manifest = String::from_utf8(bench.read("mine/Cargo.toml")).unwrap();
    assert!(manifest.contains(concat!("xoff = \"", env!("CARGO_PKG_VERSION"), "\"")), "{manifest}");
    assert_eq!(bench.xoff(&["new", "scheme", "mine"]).status.code(), Some(3), "it is there");
}
