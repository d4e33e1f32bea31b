//! The corpus of `scripts/fuzz`, replayed without libFuzzer through the same functions: every seed, every
//! crasher that was mended, and some changes of each. `scripts/mutate` makes millions of changes; `scripts/fuzz`, which
//! needs a nightly toolchain, is led by what code an input reaches.

#[path = "../../../fuzz/src/lib.rs"]
#[allow(dead_code)]
mod targets;

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use xoff_engine::rng::{Rng, stream};
use xoff_scenario::dictionary;

/// Changed inputs per target, without `XOFF_FUZZ_CASES`.
const CASES: u64 = 100;
/// More of them for what people write by hand.
const CASES_BY_HAND: [(&str, u64); 4] = [("scenario", 1_500), ("set", 500), ("hpcc", 1_200), ("htsim", 300)];
/// Targets whose own seeds must all be accepted.
const WHOLE_SEEDS: [&str; 2] = ["scenario", "hpcc"];
/// A target that panics as often is not tried further.
const PANICS_TOLD: usize = 20;
/// An input that takes so long is one that hangs.
const HANGS: Duration = Duration::from_secs(120);
/// Limit of `scripts/fuzz`.
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

/// What is put into inputs.
struct Words {
    /// The words of `fuzz/words.dict`, and every key of a scenario with its path.
    all: Vec<Vec<u8>>,
    /// The number of words, at the beginning of `all`, that are values.
    values: usize,
}

impl Words {
    fn read() -> Words {
        let text = fs::read_to_string(root().join("fuzz/words.dict")).unwrap();
        let word = |line: &str| Some(unescaped(line.trim().strip_prefix('"')?.strip_suffix('"')?));
        let mut all: Vec<Vec<u8>> = text.lines().filter_map(word).collect();
        for section in dictionary::sections() {
            let index = if section.repeated { ".0" } else { "" };
            let dot = if section.path.is_empty() { "" } else { "." };
            let paths = section.keys.iter().map(|key| format!("{}{index}{dot}{}", section.path, key.name));
            all.extend(paths.map(String::into_bytes));
        }
        let params = xoff_schemes::all().iter().flat_map(|spec| spec.params);
        all.extend(params.map(|param| format!("scheme.{}", param.name).into_bytes()));
        all.sort_by_key(|word| word[0].is_ascii_alphabetic());
        let values = all.partition_point(|word| !word[0].is_ascii_alphabetic());
        Words { all, values }
    }

    /// Any word, or a value half of the time.
    fn pick(&self, rng: &mut Rng) -> &[u8] {
        let end = if rng.below(2) == 0 { self.values } else { self.all.len() };
        &self.all[below(rng, end)]
    }
}

/// A word of the dictionary as libFuzzer reads it: `\\`, `\"` and `\xNN` are escapes.
fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split('\\');
    let mut word = parts.next().unwrap_or_default().as_bytes().to_vec();
    while let Some(part) = parts.next() {
        match part.strip_prefix('x') {
            Some(hex) => {
                word.push(u8::from_str_radix(&hex[..2], 16).unwrap());
                word.extend(hex[2..].bytes());
            }
            // A backslash that is escaped ends one part and begins the next.
            None if part.is_empty() => word.extend([b"\\", parts.next().unwrap_or_default().as_bytes()].concat()),
            None => word.extend(part.bytes()),
        }
    }
    word
}

/// Words, quoted texts, comments, blanks and single signs, which together are the input again.
fn tokens(mut rest: &[u8]) -> Vec<&[u8]> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte) || !byte.is_ascii();
    let mut found = Vec::new();
    while let Some(first) = rest.first() {
        let end = match first {
            b'"' => rest.iter().skip(1).position(|byte| b"\"\n".contains(byte)).map(|at| at + 2),
            b'#' => rest.iter().position(|byte| *byte == b'\n'),
            byte if byte.is_ascii_whitespace() => rest.iter().position(|byte| !byte.is_ascii_whitespace()),
            byte if is_word(byte) => rest.iter().position(|byte| !is_word(byte)),
            _ => Some(1),
        };
        let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
        found.push(token);
        rest = after;
    }
    found
}

/// A token is removed, put in, moved, doubled or replaced; most often it is a value of a scenario, which follows `=`.
fn change_token(rng: &mut Rng, bytes: &mut Vec<u8>, words: &Words) {
    let mut parts = tokens(bytes);
    if parts.is_empty() {
        return;
    }
    let (at, other) = (below(rng, parts.len()), below(rng, parts.len()));
    match rng.below(8) {
        0 => _ = parts.remove(at),
        1 => parts.insert(at, words.pick(rng)),
        2 => parts.swap(at, other),
        3 => parts[at] = parts[other],
        4 => {
            drop(parts.splice(at..at, parts[at.min(other)..at.max(other)].iter().take(60).copied().collect::<Vec<_>>()))
        }
        _ => {
            let is_blank = |token: &[u8]| token.iter().all(u8::is_ascii_whitespace);
            let is_value = |at: &usize| {
                let before = parts[..*at].iter().rfind(|token| !is_blank(token));
                !is_blank(parts[*at]) && before == Some(&&b"="[..])
            };
            let values: Vec<usize> = (0..parts.len()).filter(is_value).collect();
            let at = if values.is_empty() { at } else { values[below(rng, values.len())] };
            parts[at] = words.pick(rng);
        }
    }
    *bytes = parts.concat();
}

/// A byte, a piece, a token or a line is changed, removed, doubled or taken from another input.
fn change(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8], words: &Words) {
    let at = below(rng, bytes.len() + 1);
    let length = below(rng, 24).min(bytes.len() - at);
    match rng.below(18) {
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
        7 => drop(bytes.splice(at..at + length, words.pick(rng).iter().copied())),
        // A number becomes another.
        8 => {
            if let Some(digit) = (at..bytes.len()).find(|at| bytes[*at].is_ascii_digit()) {
                let numbers: [&[u8]; 6] = [b"0", b"-1", b"65536", b"4294967296", b"18446744073709551615", b"1e308"];
                let number = numbers[below(rng, numbers.len())].to_vec();
                drop(bytes.splice(digit..=digit, number));
            }
        }
        _ => change_token(rng, bytes, words),
    }
    bytes.truncate(LONGEST_BYTES);
}

/// One target, and what is tried on it.
struct Hunt<'a> {
    name: &'a str,
    run: fn(&[u8]) -> bool,
    /// Its own first, which are small and reach furthest, then files of the tree.
    seeds: Vec<(PathBuf, Vec<u8>)>,
    own: usize,
    words: &'a Words,
    /// Seed of all random choices.
    seed: u64,
}

/// What came of it.
#[derive(Default)]
struct Found {
    executions: AtomicU64,
    accepted: AtomicU64,
    panics: Mutex<Vec<String>>,
}

impl Hunt<'_> {
    /// The input of a number, which is the same on every machine.
    fn changed(&self, number: u64) -> Vec<u8> {
        let rng = &mut stream(self.seed, &format!("corpus {}", self.name), number);
        let short = |rng: &mut Rng| loop {
            let end = if rng.below(2) == 0 { self.own } else { self.seeds.len() };
            let (_, bytes) = &self.seeds[below(rng, end)];
            if bytes.len() <= LONGEST_BYTES {
                return bytes;
            }
        };
        let mut bytes = short(rng).clone();
        for _ in 0..=rng.below(3) {
            let other = short(rng);
            change(rng, &mut bytes, other, self.words);
        }
        bytes
    }

    /// Keeps an input where `scripts/fuzz` would.
    fn keep(&self, what: &str, bytes: &[u8]) -> PathBuf {
        let folder = root().join("fuzz/artifacts").join(self.name);
        let kept = folder.join(format!("{what}-{:08x}", crc32fast::hash(bytes)));
        let _ = fs::create_dir_all(&folder).and_then(|()| fs::write(&kept, bytes));
        kept
    }

    fn try_one(&self, from: &str, bytes: &[u8], found: &Found) -> bool {
        found.executions.fetch_add(1, Ordering::Relaxed);
        let answer = catch_unwind(AssertUnwindSafe(|| (self.run)(bytes)));
        let accepted = answer.unwrap_or_else(|why| {
            let why = why.downcast_ref::<String>().cloned().or(why.downcast_ref::<&str>().map(|why| (*why).to_owned()));
            let why: String = why.unwrap_or_default().chars().take(200).collect();
            let kept = self.keep("crash", bytes);
            found.panics.lock().unwrap().push(format!(
                "target {} panics on {from}, kept as {}: {why}",
                self.name,
                kept.display()
            ));
            false
        });
        found.accepted.fetch_add(u64::from(accepted), Ordering::Relaxed);
        accepted
    }

    /// Tries changes by their numbers on several threads, until all are tried or too many panic.
    fn try_changes(&self, numbers: std::ops::Range<u64>, threads: usize, found: &Found) {
        let (next, working) = (AtomicU64::new(numbers.start), AtomicUsize::new(threads));
        let at_work: Vec<Mutex<Option<(Instant, u64)>>> = (0..threads).map(|_| Mutex::new(None)).collect();
        std::thread::scope(|scope| {
            for (thread, slot) in at_work.iter().enumerate() {
                let (next, working) = (&next, &working);
                scope.spawn(move || {
                    // What ends the process tells nothing: here the number of its input is left.
                    let mut note = fs::File::create(note_of(thread)).unwrap();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= numbers.end || found.panics.lock().unwrap().len() >= PANICS_TOLD {
                            break;
                        }
                        *slot.lock().unwrap() = Some((Instant::now(), number));
                        note.seek(SeekFrom::Start(0)).unwrap();
                        note.write_all(format!("{} {number:<20}\n", self.name).as_bytes()).unwrap();
                        self.try_one(&format!("change {number}"), &self.changed(number), found);
                    }
                    *slot.lock().unwrap() = None;
                    working.fetch_sub(1, Ordering::Relaxed);
                });
            }
            while working.load(Ordering::Relaxed) > 0 {
                std::thread::sleep(Duration::from_millis(2));
                for slot in &at_work {
                    let slow = slot.lock().unwrap().filter(|(since, _)| since.elapsed() > HANGS);
                    if let Some((_, number)) = slow {
                        let kept = self.keep("hang", &self.changed(number));
                        eprintln!("target {} hangs at change {number}, kept as {}", self.name, kept.display());
                        std::process::exit(1);
                    }
                }
            }
        });
    }
}

fn note_of(thread: usize) -> PathBuf {
    std::env::temp_dir().join(format!("xoff-mutate-{}-{thread}", std::process::id()))
}

/// A number that the environment sets.
fn asked(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

/// `scripts/mutate` sets how many changes there are, which targets, the seed, the first number, and how many threads.
#[test]
fn the_corpus_and_changes_of_it_are_answered() {
    let seed = asked("XOFF_FUZZ_SEED", 1);
    let (from, threads) = (asked("XOFF_FUZZ_FROM", 0), asked("XOFF_FUZZ_JOBS", 1).max(1) as usize);
    let only = std::env::var("XOFF_FUZZ_TARGETS").unwrap_or_default();
    let only: Vec<&str> = only.split_whitespace().collect();
    let words = Words::read();
    println!("the input at work, by target and number: {}", note_of(0).display());
    let (mut panics, mut executions) = (Vec::new(), 0);
    for (name, folders) in listed().into_iter().filter(|(name, _)| only.is_empty() || only.contains(&name.as_str())) {
        let (_, run) = *targets::TARGETS.iter().find(|target| target.0 == name).unwrap();
        let mut seeds = inputs(&folders[..1]);
        let own = seeds.len();
        seeds.extend(inputs(&folders[1..]));
        let hunt = Hunt { name: &name, run, seeds, own, words: &words, seed };
        let (found, started) = (Found::default(), Instant::now());
        for (at, (path, bytes)) in hunt.seeds.iter().enumerate() {
            let accepted = hunt.try_one(&path.display().to_string(), bytes, &found);
            let must = at < own && WHOLE_SEEDS.contains(&name.as_str());
            assert!(accepted || !must, "target {name} refuses {}", path.display());
        }
        let seeds_accepted = found.accepted.load(Ordering::Relaxed);
        assert!(seeds_accepted > 0, "target {name} accepts none of its {} seeds: nothing is tried", hunt.seeds.len());
        let by_hand = CASES_BY_HAND.iter().find(|of| of.0 == name).map_or(CASES, |of| of.1);
        let cases = asked("XOFF_FUZZ_CASES", by_hand);
        hunt.try_changes(from..from + cases, threads, &found);
        let accepted = found.accepted.load(Ordering::Relaxed);
        let of_changes = accepted - seeds_accepted;
        assert!(cases < 500 || of_changes > cases / 200, "{name} accepts {of_changes} changes: they are too wild");
        let done = found.executions.load(Ordering::Relaxed);
        let found_panics = found.panics.into_inner().unwrap();
        println!(
            "{name:<12} {done:>9} executions, {accepted:>9} accepted, {:>3} panics, {:>7.1} s",
            found_panics.len(),
            started.elapsed().as_secs_f64()
        );
        executions += done;
        panics.extend(found_panics);
    }
    (0..threads).for_each(|thread| drop(fs::remove_file(note_of(thread))));
    let _ = fs::remove_dir_all(std::env::temp_dir().join(format!("xoff-fuzz-{}", std::process::id())));
    println!("{:<12} {executions:>9} executions, {:>3} panics", "all", panics.len());
    assert!(panics.is_empty(), "{}", panics.join("\n"));
    assert!(executions > 0, "there is no target of these names: {only:?}");
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
