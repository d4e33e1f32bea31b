//! CONTRIBUTING and ARCHITECTURE name files, types and functions to search for: all of them exist. So do the sources that
//! the README and the pages of `docs/` name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const PAGES: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Everything of the tree but what is built and what git keeps, as paths from its root.
fn tree() -> Vec<String> {
    fn walk(folder: &Path, from: &str, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = if from.is_empty() { name.clone() } else { format!("{from}/{name}") };
            if entry.path().is_dir() && !["target", ".git", "results"].contains(&path.as_str()) {
                walk(&entry.path(), &path, found);
            }
            found.push(path);
        }
    }
    let mut found = Vec::new();
    walk(&root(), "", &mut found);
    found
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Texts between backticks in prose, with their lines; fenced code is left out.
fn spans(page: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(page.lines()) {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            found.extend(line.split('`').skip(1).step_by(2).map(|span| (number, span.to_owned())));
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|other| other == word)
}

/// The lines from each definition or `impl` of `owner` to the brace that closes it at the same depth.
fn bodies(source: &str, owner: &str) -> String {
    let mut body = String::new();
    let mut closing: Option<String> = None;
    for line in source.lines() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        if closing.is_none() {
            let bare = code.trim_start_matches("pub ").trim_start_matches("pub(crate) ").trim_start_matches("const ");
            let opens =
                ["struct ", "enum ", "trait ", "impl", "mod ", "type "].iter().any(|word| bare.starts_with(word));
            if opens && has_word(code, owner) && code.ends_with('{') {
                closing = Some(format!("{indent}}}"));
            }
        } else if closing.as_deref() == Some(line) {
            closing = None;
        } else {
            body.push_str(line);
            body.push('\n');
        }
    }
    body
}

/// Whether a body declares a function, field, constant, type or variant of that name.
fn declares(body: &str, name: &str) -> bool {
    body.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).any(|line| {
        let declared = ["fn ", "const ", "type ", "mod ", "struct "].iter().any(|word| {
            line.split_once(word)
                .is_some_and(|(_, rest)| rest.split(|c: char| !is_name(&c.to_string())).next() == Some(name))
        });
        let bare = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        let member = bare.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', ',', '(', ' ', '=']));
        declared || member
    })
}

/// `Owner::member`, of a type or of a module.
fn is_known(owner: &str, member: &str, sources: &[(String, String)], tree: &[String]) -> bool {
    let module = |path: &str| {
        let of = [format!("/{owner}.rs"), format!("/{owner}/mod.rs"), format!("/{owner}/src/lib.rs")];
        of.iter().any(|end| path.ends_with(end))
    };
    let inside = [format!("/{owner}/{member}.rs"), format!("/{owner}/src/{member}.rs"), format!("/{owner}/{member}")];
    tree.iter().any(|path| inside.iter().any(|end| path.ends_with(end)))
        || sources
            .iter()
            .any(|(path, text)| declares(&bodies(text, owner), member) || (module(path) && declares(text, member)))
}

#[test]
fn types_and_members_that_the_pages_name_exist() {
    let tree = tree();
    let rust = tree.iter().filter(|path| path.starts_with("crates/") && path.ends_with(".rs"));
    let sources: Vec<(String, String)> = rust.map(|path| (path.clone(), read(path))).collect();
    let mut wrong = BTreeSet::new();
    let mut looked_at = 0;
    for page in PAGES {
        for (number, span) in spans(&read(page)) {
            let bare = span.split('(').next().unwrap_or_default();
            let Some((owner, member)) = bare.split_once("::").filter(|(a, b)| is_name(a) && is_name(b)) else {
                continue;
            };
            looked_at += 1;
            if !is_known(owner, member, &sources, &tree) {
                wrong.insert(format!("{page}:{number}: `{span}`"));
            }
        }
    }
    assert!(looked_at > 10, "the pages name {looked_at} members: are they still read?");
    assert!(wrong.is_empty(), "these are not in the tree:\n{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
    assert!(!is_known("Scheme", "overhead", &sources, &tree), "the test would not notice a member that is gone");
}

#[test]
fn files_that_the_pages_name_exist() {
    let tree = tree();
    let mut wrong = BTreeSet::new();
    for page in PAGES {
        for (number, span) in spans(&read(page)) {
            let path = span.trim_end_matches('/');
            let file = [".rs", ".md", ".toml", ".lua", ".json"].iter().any(|end| path.ends_with(end));
            let plain = path.chars().all(|c| c.is_alphanumeric() || "/_.-".contains(c));
            let placeholder = ["NAME", "PAPER", "FIGURE"].iter().any(|word| path.contains(word));
            if !plain || placeholder || !(file || path.contains('/')) || WRITTEN.contains(&path) {
                continue;
            }
            let end = format!("/{path}");
            if !tree.iter().any(|known| known == path || known.ends_with(&end)) {
                wrong.insert(format!("{page}:{number}: `{span}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "these are not in the tree:\n{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
}

/// Pointers of the README and of `docs/` into the tree: files by their ending, and paths below its folders.
#[test]
fn sources_that_the_documentation_names_exist() {
    const ENDINGS: [&str; 3] = [".rs", ".lua", ".ts"];
    const FOLDERS: [&str; 6] = ["crates/", "fuzz/", "scripts/", "tools/", "web/", "python/"];
    let tree = tree();
    let pages = tree.iter().filter(|path| path.ends_with(".md") && (path.starts_with("docs/") || *path == "README.md"));
    let (mut looked_at, mut wrong) = (0, Vec::new());
    for page in pages {
        for (number, span) in spans(&read(page)) {
            let path = span.trim_end_matches('/');
            let plain = path.chars().all(|c| c.is_alphanumeric() || "/_.-".contains(c));
            let source =
                ENDINGS.iter().any(|end| path.ends_with(end)) || FOLDERS.iter().any(|top| path.starts_with(top));
            if !plain || !source || path.contains("NAME") {
                continue;
            }
            looked_at += 1;
            let end = format!("/{path}");
            if !tree.iter().any(|known| known == path || known.ends_with(&end)) {
                wrong.push(format!("{page}:{number}: `{span}`"));
            }
        }
    }
    assert!(looked_at > 100, "the pages name {looked_at} sources: are they still read?");
    assert!(wrong.is_empty(), "these are not in the tree:\n{}", wrong.join("\n"));
}

/// Files that the program writes.
const WRITTEN: [&str; 2] = ["scenario.toml", "run.json"];

/// Types, traits and macros that the pages name by one word (`World`, `params!`).
#[test]
fn types_that_the_pages_name_exist() {
    let tree = tree();
    let rust = tree.iter().filter(|path| path.starts_with("crates/") && path.ends_with(".rs"));
    let sources: String = rust.map(|path| read(path)).collect();
    let words: BTreeSet<&str> = sources.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let (mut looked_at, mut wrong) = (0, Vec::new());
    for page in PAGES {
        for (number, span) in spans(&read(page)) {
            let name = span.trim_end_matches('!');
            let camel = name.starts_with(|c: char| c.is_uppercase()) && name.contains(|c: char| c.is_lowercase());
            if !is_name(name) || !(camel || span.ends_with('!')) || name == "MyIdea" {
                continue;
            }
            looked_at += 1;
            if !words.contains(name) {
                wrong.push(format!("{page}:{number}: `{span}`"));
            }
        }
    }
    assert!(looked_at > 20, "the pages name {looked_at} types: are they still read?");
    assert!(wrong.is_empty(), "these are not in the tree:\n{}", wrong.join("\n"));
}
