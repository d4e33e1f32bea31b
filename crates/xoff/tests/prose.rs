//! Plain words: comments, strings and pages name the actor, and a doc comment makes sense alone. `prose.txt` counts the
//! exceptions that are left; counts may only fall. `XOFF_UPDATE=1 cargo test -p xoff --test house prose` renews it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that hide the actor, in place of the field's verb. CONTRIBUTING says what to write instead.
const BANNED: [&str; 27] = [
    "whoever",
    "nobody",
    "somebody",
    "everybody",
    "is told",
    "are told",
    "was told",
    "were told",
    "be told",
    "been told",
    "hear",
    "hears",
    "heard",
    "speak",
    "speaks",
    "stand",
    "stands",
    "lives",
    "go on",
    "goes on",
    "is over",
    "are over",
    "has business",
    "hang on",
    "hangs on",
    "would do",
    "by lot",
];

/// Openings of a doc comment that need another comment to be understood.
const OPENINGS: [&str; 8] = ["The same", "Of", "By", "As", "Likewise", "It", "Up to", "Every so"];

const LIST: &str = "crates/xoff/tests/prose.txt";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Banned words, and openings, of a folder of pages or of a crate.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Counts {
    words: usize,
    openings: usize,
}

fn banned(line: &str) -> usize {
    let plain = |c: char| if c.is_alphanumeric() || "_-'".contains(c) { c.to_ascii_lowercase() } else { ' ' };
    let words: Vec<String> = line.chars().map(plain).collect::<String>().split(' ').map(str::to_owned).collect();
    let line = format!(" {} ", words.iter().filter(|word| !word.is_empty()).cloned().collect::<Vec<_>>().join(" "));
    BANNED.iter().map(|word| line.matches(&format!(" {word} ")).count()).sum()
}

fn doc(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim_start)
}

fn opens(text: &str) -> bool {
    OPENINGS.iter().any(|words| {
        text.strip_prefix(words).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
    })
}

fn count(path: &str, text: &str, counts: &mut Counts, found: &mut Vec<String>) {
    let mut inside = false;
    for (number, line) in (1..).zip(text.lines()) {
        let words = banned(line);
        let comment = doc(line).filter(|_| path.ends_with(".rs"));
        let opening = !inside && comment.is_some_and(opens);
        inside = comment.is_some();
        counts.words += words;
        counts.openings += usize::from(opening);
        if words > 0 || opening {
            found.push(format!("{path}:{number}: {}", line.trim()));
        }
    }
}

/// Counts by crate, by folder of pages, and of each page at the top; and the lines.
fn counted() -> (BTreeMap<String, Counts>, Vec<String>) {
    fn walk(folder: &str, found: &mut Vec<String>) {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            // Links lead to folders that are read elsewhere.
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                walk(&path, found);
            } else if kind.is_file() && (path.ends_with(".rs") || path.ends_with(".md")) {
                found.push(path);
            }
        }
    }
    let mut files: Vec<String> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned).to_vec();
    walk("crates", &mut files);
    walk("docs", &mut files);
    files.sort();
    let (mut areas, mut lines) = (BTreeMap::<String, Counts>::new(), Vec::new());
    // This file spells out what it forbids.
    for path in files.iter().filter(|path| !path.ends_with("tests/prose.rs")) {
        let crate_name = path.strip_prefix("crates/").and_then(|rest| rest.split('/').next());
        let folder = path.rsplit_once('/').map_or(path.as_str(), |(folder, _)| folder);
        let area = crate_name.map_or(folder.to_owned(), |name| format!("crates/{name}"));
        let text = fs::read_to_string(root().join(path)).unwrap();
        count(path, &text, areas.entry(area).or_default(), &mut lines);
    }
    (areas, lines)
}

fn listed() -> BTreeMap<String, Counts> {
    let text = fs::read_to_string(root().join(LIST)).unwrap_or_default();
    let row = |line: &str| {
        let [area, words, openings] = line.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{LIST}: {line}") };
        (area.to_owned(), Counts { words: words.parse().unwrap(), openings: openings.parse().unwrap() })
    };
    text.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn write(areas: &BTreeMap<String, Counts>) {
    let head =
        "# Banned words, and doc comments with a banned opening, that are left (see prose.rs). Counts only fall.\n";
    let rows = areas.iter().filter(|(_, of)| **of != Counts::default());
    let rows = rows.map(|(area, of)| format!("{area} {} {}\n", of.words, of.openings));
    fs::write(root().join(LIST), rows.fold(head.to_owned(), |text, row| text + &row)).unwrap();
}

#[test]
fn no_crate_and_no_page_has_more_banned_words_than_listed() {
    let (areas, lines) = counted();
    assert!(areas.len() > 15, "{} areas: are they still read?", areas.len());
    let mut known = listed();
    let sum = |areas: &BTreeMap<String, Counts>| areas.values().map(|of| of.words + of.openings).sum::<usize>();
    if std::env::var_os("XOFF_UPDATE").is_some() {
        let (before, now) = (sum(&known), sum(&areas));
        assert!(known.is_empty() || now <= before, "{now} exceptions, {before} are listed: the list may only shrink");
        write(&areas);
        println!("{LIST}: {now} exceptions, {before} before");
        known = areas.clone();
    }
    let mut wrong = Vec::new();
    for (area, now) in &areas {
        let then = known.get(area).copied().unwrap_or_default();
        if now.words > then.words || now.openings > then.openings {
            let own = lines.iter().filter(|line| line.starts_with(area.as_str())).map(|line| format!("\n  {line}"));
            wrong.push(format!("{area}: {now:?}, listed {then:?}{}", own.collect::<String>()));
        }
    }
    assert!(wrong.is_empty(), "reword what is new (text moved to another crate: renew {LIST})\n{}", wrong.join("\n"));
}

#[test]
fn words_and_openings_are_found() {
    assert_eq!(banned("/// Whoever hears it: nobody. A stand-alone `nobody_listens` is fine."), 3);
    assert_eq!(banned("the sender is told what goes on"), 2);
    let found = |text: &str| {
        let mut counts = Counts::default();
        count("a.rs", text, &mut counts, &mut Vec::new());
        counts.openings
    };
    assert_eq!(found("/// The same for ports.\n/// As before.\nfn a() {}\n    /// By port.\n    a: u8,"), 2);
    assert_eq!(found("/// Asks for an ACK.\n// By the way.\n/// Item of a list."), 0);
}
