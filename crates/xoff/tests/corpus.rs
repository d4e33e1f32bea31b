//! The corpus of `scripts/fuzz`, replayed without libFuzzer through the same functions: every seed, every
//! crasher that was mended, and some changes of each. The long hunt is `scripts/fuzz`.

#[path = "../../../fuzz/src/lib.rs"]
#[allow(dead_code)]
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use xoff_engine::rng::{Rng, stream};

/// Changed inputs per target; `XOFF_FUZZ_CASES` for more.
const CASES: u64 = 150;
/// As `scripts/fuzz` has it.
const LONGEST_BYTES: usize = 16_384;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Target and folders of `fuzz/targets.txt`.
fn listed() -> Vec<(String, Vec<PathBuf>)> {
    let text = fs::read_to_string(root().join("fuzz/targets.txt")).unwrap();
    let line = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        let name = words.next()?;
        let own = root().join("fuzz/seeds").join(&name);
        Some((name, std::iter::once(own).chain(words.map(|folder| root().join(folder))).collect()))
    };
    text.lines().filter(|text| !text.starts_with('#')).filter_map(line).collect()
}

/// Every file below some folders, in order.
fn inputs(folders: &[PathBuf]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = folders.to_vec();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found.into_iter().map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

fn below(rng: &mut Rng, end: usize) -> usize {
    rng.below(end as u64) as usize
}

/// A byte, a piece or a line is changed, removed, doubled or taken from another input.
fn change(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = below(rng, bytes.len() + 1);
    let length = below(rng, 24).min(bytes.len() - at);
    match rng.below(8) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, rng.below(256) as u8),
        2 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
        3 => drop(bytes.drain(at..at + length)),
        4 => drop(bytes.splice(at..at, bytes[at..at + length].to_vec())),
        5 if !other.is_empty() => {
            let from = below(rng, other.len());
            let piece = other[from..].iter().take(1 + below(rng, 60)).copied().collect::<Vec<u8>>();
            drop(bytes.splice(at..at + length, piece));
        }
        6 => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            if lines.len() > 1 {
                let (from, to) = (below(rng, lines.len()), below(rng, lines.len()));
                match rng.below(2) {
                    0 => _ = lines.remove(from),
                    _ => lines.insert(to, lines[from]),
                }
            }
            *bytes = lines.concat();
        }
        // A number becomes another.
        _ => {
            if let Some(digit) = (at..bytes.len()).find(|at| bytes[*at].is_ascii_digit()) {
                let numbers: [&[u8]; 6] = [b"0", b"-1", b"65536", b"4294967296", b"18446744073709551615", b"1e308"];
                let number = numbers[below(rng, numbers.len())].to_vec();
                drop(bytes.splice(digit..=digit, number));
            }
        }
    }
    bytes.truncate(LONGEST_BYTES);
}

/// Runs one input; a panic names it and keeps it where `scripts/fuzz` would.
fn answers(name: &str, run: fn(&[u8]) -> bool, from: &str, bytes: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| run(bytes))).unwrap_or_else(|_| {
        let folder = root().join("fuzz/artifacts").join(name);
        let kept = folder.join(format!("crash-{:08x}", crc32fast::hash(bytes)));
        let _ = fs::create_dir_all(&folder).and_then(|()| fs::write(&kept, bytes));
        panic!("target {name} panics on {from}, kept as {}", kept.display())
    })
}

/// One at a time: the bodies share a folder.
#[test]
fn the_corpus_and_changes_of_it_are_answered() {
    let cases = std::env::var("XOFF_FUZZ_CASES").map_or(CASES, |text| text.parse().expect("a number"));
    for (name, folders) in listed() {
        let (_, run) = *targets::TARGETS.iter().find(|target| target.0 == name).unwrap();
        let inputs = inputs(&folders);
        let mut accepted = 0;
        for (path, bytes) in &inputs {
            accepted += usize::from(answers(&name, run, &path.display().to_string(), bytes));
        }
        assert!(accepted > 0, "target {name} accepts none of its {} seeds: nothing is tried", inputs.len());
        let short: Vec<&Vec<u8>> =
            inputs.iter().map(|(_, bytes)| bytes).filter(|bytes| bytes.len() <= LONGEST_BYTES).collect();
        for number in 0..cases {
            let rng = &mut stream(1, &format!("corpus {name}"), number);
            let mut bytes = short[below(rng, short.len())].clone();
            for _ in 0..=rng.below(3) {
                let other = short[below(rng, short.len())];
                change(rng, &mut bytes, other);
            }
            answers(&name, run, &format!("change {number}"), &bytes);
        }
        println!("{name}: {accepted} of {} seeds accepted, {cases} changes answered", inputs.len());
    }
}

/// A target that is left out of one of the lists would never run.
#[test]
fn every_target_is_listed_everywhere() {
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    let mut listed: Vec<String> = listed().into_iter().map(|(name, _)| name).collect();
    for name in &listed {
        let file = root().join(format!("fuzz/fuzz_targets/{name}.rs"));
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(text.contains(&format!("\"{name}\"")), "{} runs another target", file.display());
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "fuzz/Cargo.toml has no `{name}`");
    }
    let mut known: Vec<&str> = targets::TARGETS.iter().map(|target| target.0).collect();
    known.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, known);
    assert_eq!(manifest.matches("[[bin]]").count(), known.len());
}
