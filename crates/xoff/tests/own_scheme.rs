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

/// Options of cargo that compile the new crate and those of the checkout without optimisation.
fn unoptimised(checkout: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(checkout.join("crates")).unwrap();
    let folders = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let crates = folders.map(|name| if name == "xoff" { name } else { format!("xoff-{name}") });
    let option = |name| ["--config".to_owned(), format!("profile.dev.package.{name}.opt-level=0")];
    crates.chain(["half-way".to_owned()]).flat_map(option).collect()
}

#[test]
fn it_is_built_tested_compared_and_traced() {
    let bench = Bench::new();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    // Without a word about where Xoff is: the program knows what it was built from.
    let told = bench.ok(&["new", "scheme", "half-way"]);
    assert!(told.contains(&format!("the checkout {}", checkout.display())), "{told}");
    let project = bench.path.join("half-way");

    // In the checkout's own target folder, where crates of others are found compiled. Cargo names a path outside of its
    // workspace in another way, so it compiles Xoff's crates again: without optimisation, which would take longer than what
    // is simulated here. `scripts/installed` builds a scheme as its manifest says.
    let target = Path::new(env!("CARGO_BIN_EXE_xoff")).ancestors().nth(2).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    output(
        cargo
            .args(["test", "--quiet", "--offline", "--test", "against_none"])
            .args(unoptimised(&checkout))
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
    assert_eq!(bench.xoff(&["new", "scheme", "mine"]).status.code(), Some(3), "it is there");
    let told = common::stderr(&bench.xoff(&["new", "scheme", "here/mine", "--in-tree"]));
    assert!(told.contains("--in-tree has one"), "{told}");
}

/// Cargo compiles nothing twice that is compiled in the same way in both: by the same profiles, at the same place.
#[test]
fn it_is_compiled_as_the_checkout_is() {
    let bench = Bench::new();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    bench.ok(&["new", "scheme", "mine", "--path", checkout.to_str().unwrap()]);
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    let table = |text: String| text.parse::<toml::Table>().unwrap();
    let (own, theirs) = (table(text(&bench.path.join("mine/Cargo.toml"))), table(text(&checkout.join("Cargo.toml"))));
    let path = own["dependencies"]["xoff"]["path"].as_str().unwrap();
    assert_eq!(Path::new(path), checkout.join("crates/xoff"));
    let mut profiles = own["profile"].as_table().unwrap().clone();
    for profile in ["release", "dev"] {
        let packages = profiles[profile]["package"].as_table_mut().unwrap();
        assert!(packages.remove("mine").is_some(), "{profile}");
    }
    assert_eq!(Some(&profiles), theirs["profile"].as_table());
    let config = table(text(&bench.path.join("mine/.cargo/config.toml")));
    assert_eq!(Path::new(config["build"]["target-dir"].as_str().unwrap()), checkout.join("target"));
    assert_eq!(text(&bench.path.join("mine/Cargo.lock")), text(&checkout.join("Cargo.lock")));

    // In the tree, of a checkout that is only as much as this looks at.
    std::fs::create_dir_all(bench.path.join("tree/crates/xoff")).unwrap();
    for file in ["Cargo.toml", "crates/xoff/Cargo.toml"] {
        bench.write(&format!("tree/{file}"), "");
    }
    bench.ok(&["new", "scheme", "mine", "--in-tree", "--path", "tree"]);
    let manifest = text(&bench.path.join("tree/crates/mine/Cargo.toml"));
    assert!(!manifest.contains("[profile"), "{manifest}");
    assert!(!bench.path.join("tree/crates/mine/.cargo").exists());
}
