//! Modules use each other in one direction: no circle in any crate, but of a folder's `mod.rs` with what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const CRATES: [&str; 15] = [
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
    "live",
    "xoff",
];

/// The modules of a crate by path (`a::b`; empty is the root), with their code.
fn modules(source: &Path) -> BTreeMap<String, String> {
    fn walk(folder: &Path, path: &str, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let child = |stem: &str| if path.is_empty() { stem.to_owned() } else { format!("{path}::{stem}") };
            if entry.path().is_dir() {
                walk(&entry.path(), &child(&name), found);
            } else if let Some(stem) = name.strip_suffix(".rs").filter(|stem| !stem.contains("tests")) {
                let module = if ["lib", "main", "mod"].contains(&stem) { path.to_owned() } else { child(stem) };
                found.insert(module, code(&fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(source, "", &mut found);
    found
}

/// Without comments and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The paths that a use tree names: `a::{b, c::{d}}` as `a::b`, `a::c::d`.
fn spread(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((prefix, inner)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_owned()];
    };
    let inner = inner.strip_suffix('}').unwrap_or(inner);
    let (mut depth, mut from, mut all) = (0, 0, Vec::new());
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                all.extend(spread(&inner[from..at]).into_iter().filter(|path| !path.is_empty()));
                from = at + 1;
            }
            _ => {}
        }
    }
    all.into_iter().map(|path| format!("{}{path}", prefix.trim())).collect()
}

/// Use trees of a module; only those that are passed on, if asked.
fn uses(code: &str, passed_on: bool) -> Vec<String> {
    let starts = code.match_indices("use ").filter(|(at, _)| {
        let before = code[..*at].rsplit('\n').next().unwrap_or_default().trim();
        if passed_on { before.starts_with("pub") } else { before.is_empty() || before.starts_with("pub") }
    });
    starts.filter_map(|(at, found)| code[at + found.len()..].split(';').next()).flat_map(spread).collect()
}

/// The module and what is left of a path that is used in `of`.
fn resolve(path: &str, of: &str, modules: &BTreeMap<String, String>) -> Option<(String, Option<String>)> {
    let mut words: Vec<&str> = path.split("::").collect();
    let mut place: Vec<&str> = of.split("::").filter(|word| !word.is_empty()).collect();
    match words[0] {
        "crate" => place.clear(),
        "super" | "self" => {}
        first if modules.contains_key(&[place.clone(), vec![first]].concat().join("::")) => {}
        _ => return None,
    }
    while let Some(&word) = words.first().filter(|word| ["crate", "super", "self"].contains(*word)) {
        if word == "super" {
            place.pop();
        }
        words.remove(0);
    }
    while let Some(&word) = words.first() {
        if !modules.contains_key(&[place.clone(), vec![word]].concat().join("::")) {
            break;
        }
        place.push(words.remove(0));
    }
    Some((place.join("::"), words.first().map(|word| (*word).to_owned())))
}

/// Which modules each one uses, names that are passed on being those of where they come from.
fn graph(modules: &BTreeMap<String, String>) -> BTreeMap<String, BTreeSet<String>> {
    let mut passed_on = BTreeMap::new();
    for (module, code) in modules {
        for path in uses(code, true) {
            if let Some((from, Some(name))) = resolve(&path, module, modules) {
                passed_on.insert((module.clone(), name), from);
            }
        }
    }
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, code) in modules {
        let mut paths = uses(code, false);
        for start in ["crate::", "super::"] {
            let rest = code.match_indices(start).map(|(at, _)| &code[at..]);
            let path = |rest: &str| {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
                rest[..end.unwrap_or(rest.len())].trim_end_matches(':').to_owned()
            };
            paths.extend(rest.map(path));
        }
        let targets = paths.iter().filter_map(|path| resolve(path, module, modules)).map(|(target, name)| {
            name.and_then(|name| passed_on.get(&(target.clone(), name)).cloned()).unwrap_or(target)
        });
        let within = |target: &String| module.is_empty() || target.starts_with(&format!("{module}::"));
        let others = targets.filter(|target| target != module && !target.is_empty() && !within(target)).collect();
        graph.insert(module.clone(), others);
    }
    graph
}

/// What can be reached from a module.
fn reached(from: &str, graph: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(module) = open.pop() {
        for next in graph.get(&module).into_iter().flatten() {
            if seen.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    seen
}

#[test]
fn modules_have_a_direction() {
    let mut circles = Vec::new();
    for name in CRATES {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        let graph = graph(&modules(&source));
        let used: usize = graph.values().map(BTreeSet::len).sum();
        assert!(2 * used + 8 > graph.len(), "{name}: {used} uses among {} modules: are they still found?", graph.len());
        for module in graph.keys() {
            if reached(module, &graph).contains(module) {
                circles.push(format!("{name}: {module}"));
            }
        }
    }
    assert!(circles.is_empty(), "in a circle:\n{}", circles.join("\n"));
}

#[test]
fn circles_are_found() {
    let module = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let found = |modules: Vec<(String, String)>| {
        let graph = graph(&modules.into_iter().collect());
        graph.keys().filter(|module| reached(module, &graph).contains(*module)).cloned().collect::<Vec<_>>()
    };
    let root = || module("", "pub mod a; pub mod b;");
    assert_eq!(
        found(vec![root(), module("a", "use crate::b::{C, D};"), module("b", "fn f() { super::a::g() }")]),
        ["a", "b"]
    );
    assert!(found(vec![root(), module("a", "use crate::b::C;"), module("b", "use std::fmt;")]).is_empty());
    // A folder and what is in it; and a name that a folder passes on.
    let folder = module("a", "mod c;\npub use c::D;");
    assert!(found(vec![root(), folder.clone(), module("a::c", "use super::E;"), module("b", "")]).is_empty());
    assert_eq!(
        found(vec![root(), folder, module("a::c", "use crate::b::F;"), module("b", "use crate::a::D;")]),
        ["a::c", "b"]
    );
}
