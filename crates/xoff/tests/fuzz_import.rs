//! The importers against absurd files: each gets an answer, soon and without a panic.
//!
//! Each case is a set of files that the test generates, valid at first, then changed at the level of
//! bytes, words or lines. What is refused must name a file and a line; what is accepted must load as a
//! scenario and simulate a while with its books balanced. A case is a function of its number.
//!
//! A long run: `XOFF_FUZZ_CASES=1000000 cargo test --release -p xoff --test runs fuzz_import -- --nocapture`;
//! `XOFF_FUZZ_FIRST=N` starts at another case.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use xoff_engine::rng::{Rng, stream};
use xoff_scenario::files::Files;
use xoff_scenario::import::{self, Imported, hpcc, htsim};
use xoff_scenario::{Attachment, Diagnostic, Options, Scenario, Source};

/// A second's worth, for every run of the tests.
const CASES: u64 = 3_000;
const SIMULATED_EVENTS: u64 = 2_000;

/// Words like slips of the keyboard and malice.
const EXTREMES: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "7",
    "8",
    "10",
    "255",
    "256",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999",
    "0.5",
    "1.0",
    "1e-300",
    "1e308",
    "1e400",
    "nan",
    "inf",
    "-0",
    "+1",
    "0x10",
    "1_000",
    "1Mbps",
    "0Gbps",
    "25Gbps",
    "10000Gbps",
    "1e9Gbps",
    "100GB/s",
    "0ns",
    "0.3ns",
    "1s",
    "9s",
    "100s",
    "1000",
    "#",
    "->",
    "0->0",
    "é",
    "\u{feff}",
    "\u{2003}",
    "\u{0}",
    "\"",
    "\\",
    "/dev/zero",
    ".",
    "..",
    "CC_MODE",
    "KMIN_MAP",
    "LINK_DOWN",
    "Nodes",
    "start",
    "size",
    "trigger",
];

fn pick<'a, T>(rng: &mut Rng, items: &'a [T]) -> &'a T {
    &items[rng.below(items.len() as u64) as usize]
}

/// A tree of switches in two layers, its ids in one of several orders.
fn topology(rng: &mut Rng) -> (String, Vec<u64>) {
    let (leaves, per_leaf) = (1 + rng.below(3), 1 + rng.below(3));
    let spines = if leaves > 1 { 1 + rng.below(2) } else { rng.below(2) };
    let (hosts, switches) = (leaves * per_leaf, leaves + spines);
    let hosts = if hosts < 2 { 2 } else { hosts };
    // Hosts first, switches first, or the switches in between.
    let first_switch = *pick(rng, &[hosts, 0, hosts / 2]);
    let host = |index: u64| if index < first_switch { index } else { index + switches };
    let switch = |index: u64| first_switch + index;
    let rate = *pick(rng, &["100Gbps", "25Gbps", "40Gbps"]);
    let delay = *pick(rng, &["1000ns", "0.001ms", "5us"]);
    let mut links = Vec::new();
    for index in 0..hosts {
        links.push(format!("{} {} {rate} {delay} 0.000000", host(index), switch(index % leaves)));
    }
    for leaf in 0..leaves {
        for spine in 0..spines {
            links.push(format!("{} {} 100Gbps {delay} 0", switch(leaf), switch(leaves + spine)));
        }
    }
    let ids: Vec<String> = (0..switches).map(|index| switch(index).to_string()).collect();
    let text =
        format!("{} {switches} {}\n{}\n{}\n\nlegend\n", hosts + switches, links.len(), ids.join(" "), links.join("\n"));
    (text, (0..hosts).map(host).collect())
}

fn flows(rng: &mut Rng, hosts: &[u64]) -> String {
    let count = 1 + rng.below(6);
    let mut out = format!("{count}\n");
    let mut start_ns = 2_000_000_000;
    for _ in 0..count {
        let src = rng.below(hosts.len() as u64);
        let dst = (src + 1 + rng.below(hosts.len() as u64 - 1)) % hosts.len() as u64;
        start_ns += rng.below(3_000);
        let (group, size) = (*pick(rng, &[3, 3, 3, 1]), 1 + rng.below(30_000));
        let (src, dst) = (hosts[src as usize], hosts[dst as usize]);
        let _ = writeln!(
            out,
            "{src} {dst} {group} 100 {size} {}.{:09}",
            start_ns / 1_000_000_000,
            start_ns % 1_000_000_000
        );
    }
    out
}

fn config(rng: &mut Rng) -> String {
    let mode = pick(rng, &["1", "3", "7", "8"]);
    let mut lines = vec![
        format!("CC_MODE {mode}"),
        "TOPOLOGY_FILE topology.txt".to_owned(),
        "FLOW_FILE flows.txt".to_owned(),
        "TRACE_FILE trace.txt".to_owned(),
        "SIMULATOR_STOP_TIME 2.05".to_owned(),
        "RP_TIMER 300".to_owned(),
        "RATE_AI 50Mb/s".to_owned(),
        "RATE_HAI 200Mb/s".to_owned(),
        "L2_ACK_INTERVAL 1".to_owned(),
        "KMAX_MAP 3 25000000000 400 40000000000 640 100000000000 1600".to_owned(),
        "KMIN_MAP 3 25000000000 100 40000000000 160 100000000000 400".to_owned(),
        "PMAX_MAP 3 25000000000 0.2 40000000000 0.2 100000000000 0.3".to_owned(),
    ];
    let others = [
        "EWMA_GAIN 0.00390625",
        "MIN_RATE 1000Mb/s",
        "BUFFER_SIZE 4",
        "VAR_WIN 1",
        "GLOBAL_T 0",
        "ACK_HIGH_PRIO 1",
        "RATE_BOUND 0",
        "ENABLE_QCN 0",
        "INT_MULTI 4",
        "MULTI_RATE 0",
        "MI_THRESH 0",
        "SAMPLE_FEEDBACK 1",
        "FAST_REACT 0",
        "LINK_DOWN 5 0 1",
        "ERROR_RATE_PER_LINK 0.001",
        "PACKET_PAYLOAD_SIZE 500",
        "FAST_RECOVERY_TIMES 1",
        "CLAMP_TARGET_RATE 1",
        "QLEN_MON_FILE q.txt",
    ];
    lines.extend(others.iter().filter(|_| rng.below(3) == 0).map(|line| (*line).to_owned()));
    lines.join("\n") + "\n"
}

fn matrix(rng: &mut Rng) -> String {
    let (nodes, count) = (2 + rng.below(4), 1 + rng.below(5));
    let mut out = format!("Nodes {nodes}\nConnections {count}\n# comment\n");
    for id in 1..=count {
        let src = rng.below(nodes);
        let dst = (src + 1 + rng.below(nodes - 1)) % nodes;
        let _ = writeln!(out, "{src}->{dst} id {id} start {} size {}", rng.below(2_000_000), rng.below(30_000));
    }
    out
}

/// Something of a text is changed.
fn mutate(rng: &mut Rng, text: &str) -> String {
    if rng.below(3) == 0 {
        return bytes(rng, text);
    }
    // Words and what is between them, which together are the text again.
    let mut parts: Vec<String> = Vec::new();
    for c in text.chars() {
        match parts.last_mut() {
            Some(last) if last.ends_with(char::is_whitespace) == c.is_whitespace() => last.push(c),
            _ => parts.push(c.to_string()),
        }
    }
    if parts.is_empty() {
        return pick(rng, EXTREMES).to_string();
    }
    let (at, other) = (rng.below(parts.len() as u64) as usize, rng.below(parts.len() as u64) as usize);
    match rng.below(7) {
        0 => {
            parts.remove(at);
        }
        1 => parts.swap(at, other),
        2 => parts[at] = parts[other].clone(),
        3 => {
            let mut lines: Vec<&str> = text.lines().collect();
            let line = lines[rng.below(lines.len() as u64) as usize];
            lines.insert(rng.below(lines.len() as u64) as usize, line);
            return lines.join("\n");
        }
        4 => {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.remove(rng.below(lines.len() as u64) as usize);
            return lines.join("\n");
        }
        _ => parts[at] = pick(rng, EXTREMES).to_string(),
    }
    parts.concat()
}

fn bytes(rng: &mut Rng, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = rng.below(bytes.len() as u64 + 1) as usize;
    match rng.below(4) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, rng.below(256) as u8),
        2 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
        _ if at < bytes.len() => {
            bytes.remove(at);
        }
        _ => {}
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The files of a case, by name; the first is the one to open.
fn case(number: u64) -> Vec<(&'static str, String)> {
    let rng = &mut stream(1, "fuzz import", number);
    let mut files = match rng.below(5) {
        0 => vec![("matrix.cm", matrix(rng))],
        _ => {
            let config = config(rng);
            let (topology, hosts) = topology(rng);
            vec![("config.txt", config), ("topology.txt", topology), ("flows.txt", flows(rng, &hosts))]
        }
    };
    for _ in 0..rng.below(4) {
        let which = rng.below(files.len() as u64) as usize;
        files[which].1 = mutate(rng, &files[which].1);
    }
    files
}

const STAR: &str = "[run]\nstop = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 6\nrate = \"100Gbps\"\n[[traffic]]\nkind = \"permutation\"\n";

fn import(files: &[(&'static str, String)]) -> Result<Imported, Vec<Diagnostic>> {
    let sources: Vec<Attachment> = files
        .iter()
        .map(|(name, text)| Attachment { name: (*name).to_owned(), source: Source::new(*name, text.as_str()) })
        .collect();
    let first = sources[0].source.clone();
    if first.name == "matrix.cm" {
        let topology = Scenario::from_text("star.toml", STAR, Path::new("."));
        return htsim::import(&first, &topology, None);
    }
    hpcc::import(&first, &Files::in_folder(Path::new("/nonexistent")).with(sources), None)
}

/// Whether the case was accepted.
fn run(files: &[(&'static str, String)]) -> bool {
    let imported = match import(files) {
        Ok(imported) => imported,
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a reason");
            for error in &errors {
                let place = error.place.as_ref().unwrap_or_else(|| panic!("without a place: {error}"));
                assert!(files.iter().any(|(name, _)| *name == place.source.name), "{error}");
                assert!(error.line().is_some() && error.render(true).len() > 10, "{error}");
            }
            return false;
        }
    };
    imported.warnings.iter().for_each(|warning| assert!(!warning.render_warning_in(Some(80), true).is_empty()));
    let loaded = imported.scenario().load(&Options::default());
    let loaded = loaded.unwrap_or_else(|errors| panic!("the scenario is refused: {}\n{}", errors[0], imported.text));
    assert!(!xoff_scenario::check::report(&loaded).text().is_empty());
    let mut world = xoff_run::drive::build(&loaded);
    let _ = world.run(SIMULATED_EVENTS);
    if let Err(why) = world.books() {
        panic!("the books do not balance: {why}");
    }
    true
}

#[test]
fn no_file_panics_an_importer() {
    let setting = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
    };
    let (first, cases) = (setting("XOFF_FUZZ_FIRST", 0), setting("XOFF_FUZZ_CASES", CASES));
    let (mut accepted, mut failures) = (0, Vec::new());
    for number in first..first + cases {
        let files = case(number);
        match catch_unwind(AssertUnwindSafe(|| run(&files))) {
            Ok(was_accepted) => accepted += u64::from(was_accepted),
            Err(_) => {
                eprintln!("case {number} failed on");
                files.iter().for_each(|(name, text)| eprintln!("---- {name}\n{text}"));
                failures.push(number);
            }
        }
        if failures.len() >= 10 {
            break;
        }
    }
    println!("{cases} cases from {first}: {accepted} accepted");
    assert!(failures.is_empty(), "failed cases: {failures:?}");
    assert!(cases < 1000 || accepted > cases / 5, "only {accepted} were accepted: the mutations are too wild");
}

#[test]
fn unchanged_files_are_accepted() {
    let rng = &mut stream(2, "fuzz import", 0);
    for _ in 0..200 {
        let (topology, hosts) = topology(rng);
        let config = config(rng).replace("LINK_DOWN 5 0 1\n", "");
        // HPCC's telemetry knows no 40G.
        let topology = if config.contains("CC_MODE 3") { topology.replace("40Gbps", "50Gbps") } else { topology };
        let config =
            config.replace("40000000000", if config.contains("CC_MODE 3") { "50000000000" } else { "40000000000" });
        let flows = flows(rng, &hosts);
        let files = [("config.txt", config), ("topology.txt", topology), ("flows.txt", flows)];
        if let Err(errors) = import(&files) {
            panic!("{}\n{files:?}", errors[0]);
        }
        assert!(import::hpcc::config::recognise(&files[0].1));
    }
}
