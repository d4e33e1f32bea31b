//! The rules of `deny.toml` about versions, licences and sources, held without any tool: from
//! `Cargo.lock`, and from what cargo knows offline of the crates that this machine builds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::{Table, Value};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> Table {
    let text = fs::read_to_string(root().join(name)).unwrap();
    text.parse().unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("no `{key}` in {of}"))
}

fn list<'a>(rules: &'a Table, section: &str, key: &str) -> &'a Vec<Value> {
    rules[section][key].as_array().unwrap_or_else(|| panic!("{section}.{key} is no list"))
}

/// Name and versions of every package of `Cargo.lock`, whatever the platform.
fn locked() -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in read("Cargo.lock")["package"].as_array().unwrap() {
        found.entry(text(package, "name").to_owned()).or_default().push(text(package, "version").to_owned());
    }
    found
}

/// The numbers of a version, or of the part of one that a rule gives.
fn numbers(version: &str) -> Vec<u64> {
    let plain = version.split(['-', '+']).next().unwrap();
    plain.split('.').map(|part| part.parse().unwrap_or_else(|_| panic!("`{version}` is no version"))).collect()
}

/// Whether a rule such as `syn:<3` is about this version.
fn about(rule: &str, name: &str, version: &str) -> bool {
    match rule.split_once(":<") {
        Some((of, below)) => of == name && numbers(version) < numbers(below),
        None => rule == name,
    }
}

#[test]
fn a_crate_has_one_version_unless_explained() {
    let (rules, locked) = (read("deny.toml"), locked());
    let skip = list(&rules, "bans", "skip");
    let explained = |name: &str, version: &str| skip.iter().any(|rule| about(text(rule, "crate"), name, version));
    for (name, versions) in &locked {
        let left: Vec<&String> = versions.iter().filter(|version| !explained(name, version)).collect();
        assert!(left.len() <= 1, "{name} is here in the versions {left:?}: unite them, or say why not in deny.toml");
    }
    for rule in skip {
        let (of, why) = (text(rule, "crate"), text(rule, "reason"));
        let used = |(name, versions): (&String, &Vec<String>)| {
            versions.len() > 1 && versions.iter().any(|version| about(of, name, version))
        };
        assert!(why.len() > 20 && locked.iter().any(used), "deny.toml skips {of}, which is no duplicate any more");
    }
}

#[test]
fn what_was_sent_away_stays_away() {
    let (rules, locked) = (read("deny.toml"), locked());
    for rule in list(&rules, "bans", "deny") {
        let (of, why) = (text(rule, "crate"), text(rule, "reason"));
        assert!(!locked.contains_key(of), "{of} is back: {why}");
    }
}

#[test]
fn every_source_is_the_public_registry() {
    for package in read("Cargo.lock")["package"].as_array().unwrap() {
        let source = package.get("source").and_then(Value::as_str);
        let own = source.is_none() && text(package, "name").starts_with("xoff");
        let public = source == Some("registry+https://github.com/rust-lang/crates.io-index");
        assert!(own || public, "{} comes from {source:?}", text(package, "name"));
    }
}

/// Whether an SPDX expression can be met with licences that are allowed. `AND` binds tighter than `OR`;
/// older crates write `/` for `OR`.
fn allowed(expression: &str, allow: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ").replace(" WITH ", "-WITH-");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let met = alternatives(&words, &mut at, allow);
    assert_eq!(at, words.len(), "`{expression}` is no licence");
    met
}

fn alternatives(words: &[&str], at: &mut usize, allow: &dyn Fn(&str) -> bool) -> bool {
    let mut met = false;
    loop {
        let mut all = one(words, at, allow);
        while words.get(*at) == Some(&"AND") {
            *at += 1;
            all &= one(words, at, allow);
        }
        met |= all;
        if words.get(*at) != Some(&"OR") {
            return met;
        }
        *at += 1;
    }
}

fn one(words: &[&str], at: &mut usize, allow: &dyn Fn(&str) -> bool) -> bool {
    let word = words.get(*at).copied().unwrap_or_default();
    *at += 1;
    if word != "(" {
        return allow(word);
    }
    let met = alternatives(words, at, allow);
    assert_eq!(words.get(*at), Some(&")"), "a parenthesis is open");
    *at += 1;
    met
}

#[test]
fn expressions_of_licences_are_understood() {
    let allow = |name: &str| ["MIT", "Unicode-3.0"].contains(&name);
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("Unlicense/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("GPL-3.0 OR MIT AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND GPL-3.0", false),
        ("GPL-3.0 WITH Classpath-exception-2.0 OR MIT", true),
        ("GPL-3.0 WITH Classpath-exception-2.0", false),
    ] {
        assert_eq!(allowed(expression, &allow), expected, "{expression}");
    }
}

/// What this machine compiles, as cargo has it: crates of other platforms need not be here.
fn packages() -> Vec<serde_json::Value> {
    let version = Command::new(env!("CARGO")).arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names its host");
    let arguments = ["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", host];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(metadata["packages"].take()).unwrap()
}

#[test]
fn licences_are_known_and_allowed() {
    let rules = read("deny.toml");
    let known = list(&rules, "licenses", "allow").iter().map(|known| known.as_str().unwrap().replace(' ', "-"));
    let known: Vec<String> = known.collect();
    let allow = |name: &str| known.iter().any(|known| known == name);
    let packages = packages();
    assert!(packages.len() > 50, "only {} packages", packages.len());
    for package in packages {
        let (name, licence) = (&package["name"], package["license"].as_str());
        let licence = licence.unwrap_or_else(|| panic!("{name} states no licence"));
        assert!(allowed(licence, &allow), "{name} has the licence `{licence}`, which deny.toml does not allow");
    }
}

/// The level at which a profile of a manifest compiles a package; `others` where it has no line.
fn level(manifest: &Table, profile: &str, package: &str, others: i64) -> i64 {
    let of = manifest["profile"][profile].get("package").and_then(|packages| packages.get(package));
    of.and_then(|of| of.get("opt-level")).map_or(others, |level| level.as_integer().unwrap())
}

/// Python's package is as fast for its users as in tests.
#[test]
fn python_is_compiled_as_the_program_is() {
    let workspace = read("Cargo.toml");
    for package in workspace["profile"]["dev"]["package"].as_table().unwrap().keys() {
        let (tested, shipped) = (level(&workspace, "dev", package, 0), level(&workspace, "wheel", package, 0));
        assert!(tested <= shipped, "{package} is compiled at {tested} for tests and at {shipped} for Python's users");
    }
}

/// Names after a word, up to another.
fn names<'a>(page: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    let (_, after) = page.split_once(from).unwrap_or_else(|| panic!("there is no `{from}`"));
    after.split_once(to).unwrap().0.split_whitespace().collect()
}

/// Who compiles again when a scheme changes: what runs the code of schemes, and the program. Tests may.
#[test]
fn readers_and_writers_do_without_the_code_of_schemes() {
    let mut dependents = Vec::new();
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        let folder = folder.unwrap().file_name().into_string().unwrap();
        if read(&format!("crates/{folder}/Cargo.toml"))["dependencies"].get("xoff-schemes").is_some() {
            dependents.push(folder);
        }
    }
    dependents.sort();
    assert_eq!(dependents, ["live", "models", "swarm", "xoff"], "use xoff-catalogue (decision 0084)");
}

#[test]
fn crates_are_published_after_those_they_need() {
    let page = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let (release, package) = (page("docs/release.md"), page("scripts/package"));
    let order = names(&release, "for crate in", "; do");
    assert_eq!(order, names(&package, "\ncrates=(", ")"), "scripts/package and docs/release.md");
    let mut publishable = Vec::new();
    for folder in fs::read_dir(root().join("crates")).unwrap() {
        let folder = folder.unwrap().file_name().into_string().unwrap();
        let manifest = read(&format!("crates/{folder}/Cargo.toml"));
        if manifest["package"].get("publish").is_some_and(|publish| publish.as_bool() == Some(false)) {
            continue;
        }
        let name = text(&manifest["package"], "name").to_owned();
        let place =
            |of: &str| order.iter().position(|name| *name == of).unwrap_or_else(|| panic!("{of} is not listed"));
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let needed = manifest.get(table).and_then(Value::as_table).into_iter().flat_map(Table::keys);
            for needed in needed.filter(|needed| needed.starts_with("xoff")) {
                assert!(place(needed) < place(&name), "docs/release.md: {name} needs {needed}");
            }
        }
        publishable.push(name);
    }
    assert_eq!(publishable.len(), order.len(), "docs/release.md: {publishable:?}");
}
