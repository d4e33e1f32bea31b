//! The rules of the house, held by a test instead of by memory.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Rust file of a crate, with its text.
fn sources(crate_name: &str) -> Vec<(String, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join("crates").join(crate_name), &mut found);
    found.sort();
    assert!(!found.is_empty(), "{crate_name} has no sources");
    // This file spells out what it forbids.
    found.retain(|path| !path.ends_with("tests/tidy.rs"));
    found.into_iter().map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect()
}

const CRATES: [&str; 18] = [
    "engine",
    "jobs",
    "fabric",
    "flow",
    "catalogue",
    "schemes",
    "wire",
    "scenario",
    "models",
    "run",
    "tables",
    "results",
    "sweep",
    "view",
    "live",
    "xoff",
    "swarm",
    "yardstick",
];

fn forbid(crates: &[&str], words: &[&str], why: &str) {
    let mut wrong = Vec::new();
    for (path, text) in crates.iter().flat_map(|name| sources(name)) {
        for (number, line) in text.lines().enumerate() {
            // Prose may mention anything.
            let code = line.split("//").next().unwrap_or_default();
            wrong.extend(
                words.iter().filter(|word| code.contains(**word)).map(|word| format!("{path}:{}: {word}", number + 1)),
            );
        }
    }
    assert!(wrong.is_empty(), "{why}:\n{}", wrong.join("\n"));
}

#[test]
fn files_threads_and_the_terminal_belong_to_the_upper_crates() {
    let words = ["std::fs", "std::thread", "std::net", "std::process", "std::env"];
    forbid(
        &["engine/src", "fabric/src", "flow/src", "catalogue/src", "schemes/src", "wire/src"],
        &words,
        "they belong to crates above",
    );
    let words = ["println!", "eprintln!", "print!("];
    let folders = ["engine", "fabric", "flow", "catalogue", "schemes", "wire", "scenario", "run", "results", "live"]
        .map(|name| format!("{name}/src"));
    forbid(&folders.each_ref().map(String::as_str), &words, "printing belongs to the program");
}

/// Where faults are injected nothing passes by: `files` alone changes the file system.
#[test]
fn only_one_module_changes_the_file_system() {
    let words = ["fs::write(", "fs::rename", "fs::remove", "fs::create_dir", "fs::copy", "File::create", "OpenOptions"];
    let mut wrong = Vec::new();
    for (path, text) in ["scenario/src", "run/src", "results/src", "xoff/src"].into_iter().flat_map(sources) {
        // Inputs are opened in one place, too.
        if path.contains("/files/") || path.ends_with("tests.rs") || path.ends_with("scenario/src/read.rs") {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let code = code.split("pub mod scratch {").next().unwrap_or_default();
        wrong.extend(words.iter().filter(|word| code.contains(**word)).map(|word| format!("{path}: {word}")));
    }
    assert!(wrong.is_empty(), "use xoff_results::files:\n{}", wrong.join("\n"));
}

#[test]
fn no_clock_but_the_simulated_one() {
    for name in ["engine", "jobs", "fabric", "flow", "catalogue", "schemes", "wire"] {
        let folder = format!("{name}/src");
        forbid(&[&folder], &["Instant::", "SystemTime", "RandomState"], "a result depends on the scenario alone");
    }
}

#[test]
fn nothing_is_left_to_do_or_switched_off() {
    forbid(&CRATES, &["todo!", "unimplemented!", "#[ignore", "dbg!("], "unfinished");
}

/// But for calls of the C library by which live runs reach the kernel, in one file, each with its reason.
#[test]
fn nothing_is_unsafe() {
    let others: Vec<&str> = CRATES.into_iter().filter(|name| *name != "live").collect();
    forbid(&others, &["unsafe "], "`unsafe` has no place here");
    let (mut calls, mut reasons) = (0, 0);
    for (path, text) in sources("live") {
        let found = text.lines().filter(|line| line.split("//").next().unwrap_or_default().contains("unsafe ")).count();
        assert!(found == 0 || path.ends_with("live/src/os.rs"), "{path}: `unsafe` belongs in os.rs");
        calls += found;
        reasons += text.matches("// SAFETY: ").count();
    }
    assert!(calls > 0 && calls == reasons, "{calls} calls, {reasons} reasons");
}

/// The fabric carries any scheme because it knows none.
#[test]
fn the_fabric_names_no_scheme() {
    let names: Vec<&str> = xoff_schemes::all().iter().map(|spec| spec.name).filter(|name| *name != "none").collect();
    let mut wrong = Vec::new();
    for (path, text) in ["engine", "fabric"].into_iter().flat_map(sources) {
        let text = text.to_lowercase();
        let words = |line: &str| line.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
        for (number, line) in text.lines().enumerate() {
            let words = words(line);
            let named = names.iter().filter(|name| words.iter().any(|word| word == *name));
            wrong.extend(named.map(|name| format!("{path}:{}: {name}", number + 1)));
        }
    }
    assert!(wrong.is_empty(), "schemes belong in their own crate:\n{}", wrong.join("\n"));
}

/// Rooms of the fabric, and those that each may use besides itself.
const ROOMS: [(&str, &[&str]); 7] = [
    ("contract", &[]),
    ("buffer", &["contract"]),
    ("network", &["contract", "buffer"]),
    ("node", &["contract", "buffer", "network", "id"]),
    ("flow", &["contract", "network", "id"]),
    ("part", &["contract", "buffer", "network", "id", "node", "flow"]),
    ("run", &["contract", "buffer", "network", "id", "node", "flow", "part"]),
];

#[test]
fn the_rooms_of_the_fabric_have_a_direction() {
    let mut wrong = Vec::new();
    let mut used = 0;
    for (path, text) in sources("fabric") {
        let Some((room, may)) = ROOMS.iter().find(|(room, _)| path.contains(&format!("/src/{room}/"))) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            // An exported macro belongs to no room.
            let code = line.split("//").next().unwrap_or_default().replace("$crate::", "");
            for other in code.split("crate::").skip(1).filter_map(|rest| rest.split("::").next()) {
                used += 1;
                if other != *room && !may.contains(&other) {
                    wrong.push(format!("{path}:{}: {room} uses {other}", number + 1));
                }
            }
        }
    }
    assert!(used > 100, "{used} uses between rooms: are they still found?");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_fit_a_screen() {
    let mut wrong = Vec::new();
    for (path, text) in CRATES.into_iter().flat_map(sources) {
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let head = code.trim_start_matches("pub ").trim_start_matches("pub(crate) ").trim_start_matches("const ");
            if head.starts_with("fn ") {
                let end = format!("{}}}", &line[..line.len() - code.len()]);
                let length = lines[number..].iter().position(|line| *line == end).unwrap_or(0) + 1;
                // A test may be one long list.
                if length > 100 && !path.ends_with("tests.rs") {
                    wrong.push(format!("{path}:{}: {length} lines", number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_stay_small_enough_to_read() {
    for (path, text) in CRATES.into_iter().flat_map(sources) {
        let lines = text.lines().count();
        assert!(lines < 800, "{path} has {lines} lines: does it hold one idea?");
    }
}

/// Most fields of a struct.
const FIELDS: usize = 25;

#[test]
fn structs_have_few_fields() {
    let is_field = |line: &str| {
        let name = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ").split(": ").next();
        name.is_some_and(|name| name.len() < line.len() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
    };
    let (mut wide, mut seen) = (Vec::new(), 0);
    for name in CRATES {
        for (path, text) in sources(name) {
            for part in format!("\n{text}").split("struct ").skip(1) {
                let Some((head, rest)) = part.split_once(" {\n").filter(|(head, _)| !head.contains('\n')) else {
                    continue;
                };
                let owner = head.split(['<', ' ']).next().unwrap_or_default();
                let body = rest.split("\n}").next().unwrap_or_default();
                let inner =
                    body.lines().filter_map(|line| line.strip_prefix("    ")).filter(|line| !line.starts_with(' '));
                let fields = inner.filter(|line| is_field(line)).count();
                seen += 1;
                if fields > FIELDS {
                    wide.push(format!("{path}: {owner} has {fields} fields, more than {FIELDS}"));
                }
            }
        }
    }
    assert!(seen > 500, "{seen} structs: are they still found?");
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// Where test files share a binary, one that is in none would never run.
#[test]
fn every_test_file_is_in_a_binary() {
    let mut shared = 0;
    for name in CRATES {
        let manifest = page(&format!("crates/{name}/Cargo.toml"));
        if !manifest.contains("\nautotests = false\n") {
            continue;
        }
        let listed = manifest.split("[[test]]\nname = \"").skip(1).filter_map(|rest| rest.split('"').next());
        let roots: Vec<&str> = listed.collect();
        let folder = format!("crates/{name}/tests");
        let texts: String = roots.iter().map(|root| page(&format!("{folder}/{root}.rs"))).collect();
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            let Some(stem) = file.strip_suffix(".rs") else { continue };
            let named = roots.contains(&stem) || texts.contains(&format!("\nmod {stem};\n"));
            assert!(named, "{folder}/{file} is in no test binary of {folder}/../Cargo.toml");
            shared += 1;
        }
    }
    assert!(shared > 10, "{shared} files share a binary: are they still found?");
}

#[test]
fn every_scheme_is_documented_and_sourced() {
    for spec in xoff_schemes::all() {
        let page = root().join("docs/schemes").join(format!("{}.md", spec.name));
        let text = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        assert!(text.len() > 500, "{} says too little", page.display());
        assert!(!spec.title.is_empty() && !spec.citation.is_empty(), "{}", spec.name);
        for preset in spec.presets {
            assert!(!preset.source.trim().is_empty(), "{}:{} names no source", spec.name, preset.name);
        }
        for param in spec.params {
            assert!(!param.meaning.is_empty() && !param.source.is_empty(), "{}.{}", spec.name, param.name);
        }
    }
}

/// A default may change; what a paper ran may not.
#[test]
fn experiments_and_scenarios_name_the_preset_of_dcqcn() {
    let mut folders = vec![root().join("experiments"), root().join("scenarios")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "toml") {
                let text = fs::read_to_string(&path).unwrap();
                let readings = path.ends_with("interpretations.toml");
                for (at, name) in text.match_indices("dcqcn\"") {
                    // A point of a reading may have this name; a scheme may not.
                    if readings && !text[..at].ends_with("scheme = \"") {
                        continue;
                    }
                    let rest = text[at + name.len()..].trim_start_matches([',', ' ', '\n']);
                    assert!(rest.starts_with("preset"), "{}: `dcqcn` without a preset", path.display());
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 10, "the search finds nothing");
}

/// What ships is understood where it lands: the schema is that of the program, workloads have sources.
#[test]
fn what_ships_is_current() {
    xoff_schemes::install_all();
    let schema = fs::read_to_string(root().join("schema/scenario.schema.json")).unwrap();
    let current = xoff_scenario::dictionary::schema::render();
    assert_eq!(schema.trim(), current.trim(), "write it anew: xoff describe schema > schema/scenario.schema.json");
    let readme = fs::read_to_string(root().join("workloads/README.md")).unwrap();
    for entry in fs::read_dir(root().join("workloads")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(stem) = name.strip_suffix(".csv") {
            assert!(readme.contains(stem), "workloads/README.md does not name the source of {name}");
        }
    }
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The oldest Rust and the version are in few places, which a release must not forget.
#[test]
fn versions_are_the_same_everywhere() {
    let (rust, version) = (env!("CARGO_PKG_RUST_VERSION"), env!("CARGO_PKG_VERSION"));
    let workspace = page("Cargo.toml");
    assert!(workspace.contains(&format!("\nrust-version = \"{rust}\"\n")), "rust-version of the workspace");
    for name in CRATES.map(|name| format!("crates/{name}")).iter().chain([&"python".to_owned()]) {
        let manifest = page(&format!("{name}/Cargo.toml"));
        for key in ["version", "rust-version", "edition", "license"] {
            assert!(manifest.contains(&format!("\n{key}.workspace = true\n")), "{name} has a {key} of its own");
        }
    }
    for name in ["README.md", "CONTRIBUTING.md"] {
        let text = page(name);
        let places = text.match_indices(" or newer").map(|(at, _)| &text[..at]);
        let stated: Vec<&str> = places.filter_map(|before| before.split_whitespace().last()).collect();
        assert_eq!(stated, [rust], "{name} states another Rust than Cargo.toml");
    }
    let own: Vec<&str> = workspace.lines().filter(|line| line.contains("path = \"crates/")).collect();
    assert_eq!(own.len(), CRATES.len() - 2, "{own:?}");
    assert!(own.iter().all(|line| line.contains(&format!("version = \"{version}\""))), "{own:?}");
    assert!(page("CITATION.cff").contains(&format!("\nversion: {version}\n")), "CITATION.cff has another version");
    let changes = page("CHANGELOG.md");
    let newest = changes.lines().filter_map(|line| line.strip_prefix("## ")).find(|heading| *heading != "Unreleased");
    assert_eq!(newest, Some(version), "the newest section of CHANGELOG.md");
}

/// What a workflow calls is there, and none of them has a version of Rust in it.
#[test]
fn workflows_call_what_exists() {
    let calls = [
        ("test", &["scripts/msrv", ".ci/run", "python/test"][..]),
        ("lint", &["scripts/msrv", ".ci/lint"]),
        ("docs", &[]),
        ("msrv", &["scripts/msrv"]),
        ("audit", &["scripts/audit"]),
        ("release", &["scripts/notes", "scripts/msrv", "scripts/release", "scripts/archive"]),
    ];
    for (name, expected) in calls {
        let text = page(&format!(".github/workflows/{name}.yml"));
        let words = text.split(|c: char| c.is_whitespace() || "\"'`()[],".contains(c));
        let called: Vec<&str> = words
            .filter(|word| ["scripts/", ".ci/", "python/"].iter().any(|folder| word.starts_with(folder)))
            .collect();
        for script in expected {
            assert!(called.contains(script), "{name}.yml does not call {script}");
        }
        for script in called {
            assert!(page(script).starts_with("#!"), "{name}.yml calls {script}, which is no script");
        }
        assert!(!text.contains(env!("CARGO_PKG_RUST_VERSION")), "{name}.yml: scripts/msrv knows the version of Rust");
    }
    let stated = std::process::Command::new(root().join("scripts/msrv")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&stated.stdout).trim(), env!("CARGO_PKG_RUST_VERSION"));
}
