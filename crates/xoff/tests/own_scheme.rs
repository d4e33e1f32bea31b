//! A scheme of one's own: written by the program, built on this checkout, beside all others. What it writes is also an
//! example of this crate, so that it is compiled with everything else; `scripts/installed` builds it out of tree.

/// The scheme itself, with its worked numbers: compiled here, they cost no second network.
#[allow(dead_code)]
#[path = "../templates/scheme/src/my_idea.rs"]
mod my_idea;

use crate::common::{self, Bench};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Runs a command that must succeed; its standard output.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn it_is_written_for_the_checkout_that_the_program_is_of() {
    let bench = Bench::new();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    // Without a word about where Xoff is: the program knows what it was built from.
    let told = bench.ok(&["new", "scheme", "half-way"]);
    assert!(told.contains(&format!("the checkout {}", checkout.display())), "{told}");
    // Nothing has to be fetched, and nothing is resolved anew. A fresh machine lacks the crates of other platforms.
    let told = output(Command::new(env!("CARGO")).args(["--version", "--verbose"]));
    let platform = told.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names its platform");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--offline", "--format-version", "1", "--filter-platform", platform]);
    let graph = output(cargo.current_dir(bench.path.join("half-way")));
    let graph: serde_json::Value = serde_json::from_str(&graph).unwrap();
    let packages = graph["packages"].as_array().unwrap();
    let of =
        |name: &str| packages.iter().find(|package| package["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    let manifest = checkout.join("crates/xoff/Cargo.toml");
    let found = Path::new(of("xoff")["manifest_path"].as_str().unwrap()).canonicalize();
    assert_eq!(found.ok(), manifest.canonicalize().ok());
    // Cargo writes this package into the lock file, and takes out what it does not need.
    let locked = |folder: &Path| {
        let lock: toml::Table = std::fs::read_to_string(folder.join("Cargo.lock")).unwrap().parse().unwrap();
        let text = |package: &toml::Value| format!("{} {}", package["name"], package["version"]);
        lock["package"].as_array().unwrap().iter().map(text).collect::<BTreeSet<String>>()
    };
    let added = &locked(&bench.path.join("half-way")) - &locked(&checkout);
    assert_eq!(added.into_iter().collect::<Vec<_>>(), ["\"half-way\" \"0.1.0\""]);
}

#[test]
fn it_is_run_compared_and_traced() {
    let bench = Bench::new();
    bench.ok(&["new", "scheme", "my-idea"]);
    let project = bench.path.join("my-idea");
    let program = Path::new(env!("CARGO_BIN_EXE_xoff")).with_file_name("examples").join("my-idea");
    let run = |args: &[&str]| output(Command::new(&program).args(args).current_dir(&project).env("COLUMNS", "100"));
    assert!(run(&["schemes"]).contains("my-idea"));
    assert!(run(&["schemes", "my-idea"]).contains("queue above which packets are marked"));
    let table = run(&["compare", "incast.toml", "--schemes", "none,my-idea:hasty,dcqcn", "--out", "compared"]);
    assert!(table.contains("my-idea:hasty") && table.contains("dcqcn"), "{table}");
    assert!(project.join("compared/report.html").is_file());
    // As the project's own test has it.
    let told = |scheme: &str| {
        let set = format!("scheme.name={scheme}");
        let told = run(&["run", "incast.toml", "--set", &set, "--json", "--no-out"]);
        let run: serde_json::Value = serde_json::from_str(&told).unwrap();
        ["flows_completed", "drops", "pause_frames"].map(|name| run[name].as_u64().unwrap())
    };
    let (none, mine) = (told("none"), told("my-idea"));
    assert!(mine[..2] == none[..2] && mine[1] == 0 && mine[2] < none[2], "{mine:?}, without control {none:?}");
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
    // Each crate has the same place in the workspace, and takes the same from it.
    assert_eq!(own["dependencies"]["xoff"]["path"].as_str(), Some("crates/xoff"));
    assert_eq!(bench.path.join("mine/crates").canonicalize().unwrap(), checkout.join("crates"));
    for settings in ["resolver", "package", "dependencies", "lints"] {
        assert_eq!(own["workspace"][settings], theirs["workspace"][settings], "{settings}");
    }
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
