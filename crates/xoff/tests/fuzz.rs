//! The reader of scenarios against absurd texts: it must answer every one of them,
//! soon, and without a panic.
//!
//! Each case is a scenario of `scenarios/` or one of [`SEEDS`], changed at the level of bytes or of
//! tokens, with or without a few `--set`. What still loads must print its report, load again from
//! its resolved form to the same resolved form, and simulate a while with its books balanced. A case
//! is a function of its number, so a failure names all that is needed to repeat it.
//!
//! The test suite takes a few seconds' worth. A long run:
//! `XOFF_FUZZ_CASES=1000000 cargo test --release -p xoff --test runs fuzz:: -- --nocapture`;
//! `XOFF_FUZZ_FIRST=N` starts at another case.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use xoff_engine::rng::{Rng, stream};
use xoff_fabric::plan::Plan;
use xoff_run::drive::Sink;
use xoff_run::recorder::Recorder;
use xoff_scenario::measure::Recording;
use xoff_scenario::{Loaded, Options, Scenario, dictionary};

/// Enough for a glance at every mutation.
const CASES: u64 = 4_000;
/// No answer may take longer, on the slowest machine in the slowest build.
const SLOWEST: Duration = Duration::from_secs(60);
/// Networks above this are only loaded.
const SIMULATED_PORTS: usize = 2_000;
const SIMULATED_EVENTS: u64 = 3_000;

/// Small scenarios that between them use most keys.
const SEEDS: &[&str] = &[
    r#"
name = "small"
seed = 7
[run]
stop = "200us"
allow_drops = true
deadlock_check = "50us"
on_deadlock = "record"
stall_after = "off"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 3
host_rate = "100Gbps"
fabric_rate = "200Gbps"
host_delay = "500ns"
parallel = 2
[[topology.override]]
links = "leaf0->spine1#0"
rate = "50Gbps"
loss = 0.001
[[class]]
name = "data"
priority = 3
service = "weighted"
weight = 3
[[class]]
name = "bulk"
priority = 1
service = "weighted"
[[class]]
name = "control"
priority = 6
lossless = false
queue_limit = "100KB"
[switch]
buffer = "4MB"
[switch.pfc]
threshold = "dynamic"
alpha = "by-speed"
alpha_base = 0.25
signalling = "timed"
pause_time = "5us"
refresh = "2us"
[switch.watchdog]
poll = "20us"
detect = "40us"
restore = "40us"
action = "forward"
[[switch_profile]]
select = "spine*"
buffer = "8MB"
[host]
mtu = "4KB"
ack_every = 4
ack_class = "data"
ack_path = "symmetric"
[[host_profile]]
select = "@leaf1"
ack_every = 1
[groups]
left = ["@leaf0"]
[scheme]
name = "dcqcn"
[schemes.plain]
name = "none"
[[traffic]]
kind = "poisson"
sizes = { kind = "pareto", mean = "20KB", shape = 1.3 }
load = 0.4
flows = 40
class = "bulk"
[[traffic]]
kind = "on-off"
sources = "left"
destinations = "@leaf1"
burst = "10KB"
rate = "5Gbps"
stop = "150us"
scheme = "plain"
[[traffic]]
kind = "synchronised-reads"
clients = "h0"
servers = "h[1..5]"
unit = "8KB"
blocks = 3
[[traffic]]
kind = "flows"
[[traffic.flow]]
src = "h0"
dst = "h5"
size = "1B"
path = ["leaf0", "spine1#1", "leaf1#0"]
[[fault]]
kind = "link-down"
at = "50us"
until = "90us"
link = "leaf0->spine0#0"
[[fault]]
kind = "pause-storm"
at = "20us"
until = "60us"
host = "h3"
[[probe]]
what = "queue"
ports = "leaf0->spine0"
every = "5us"
[[probe]]
what = "flows"
every = "10us"
[[measure]]
name = "fct"
metric = "fct"
stat = ["mean", "p99"]
flows = "*"
dst = "h[3..5]"
up_to = "100KB"
unit = "us"
[[measure]]
name = "settled"
metric = "settling-time"
series = "queue"
of = "leaf0->spine0"
priority = 3
across = "each"
combine = "max"
window = "20us"
target = 10
within = 0.5
series_unit = "KB"
unit = "us"
[[measure]]
name = "pauses"
metric = "pause-rate"
toward = "hosts"
frames = "all"
from = "10us"
[output]
csv = true
"#,
    r#"
[run]
stop = "100us"
[topology]
kind = "chain"
switches = 3
hosts_per_switch = 2
rate = "1.6Tbps"
delay = "0ps"
[scheme]
name = "none"
[[traffic]]
kind = "all-to-all"
sizes = "10KB"
stagger = "5us"
[[traffic]]
kind = "permutation"
size = { kind = "uniform", min = "1B", max = "9KB" }
flows_per_pair = 3
[[traffic]]
kind = "hotspot"
sizes = "websearch"
rate_per_second = 100000.0
until = "80us"
hot = "h1"
hot_fraction = 0.5
[[traffic]]
kind = "incast"
sizes = "4KB"
degree = "2..4"
times = ["1us", "30us"]
[[traffic]]
kind = "long-lived"
sources = "h0"
destinations = "h[2..5]"
pairing = "all"
stop = "70us"
caps = [{ at = "10us", rate = "1Gbps" }, { at = "20us", rate = "none" }]
"#,
];

/// Values like slips of the keyboard and malice.
const EXTREMES: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "7",
    "8",
    "1000",
    "10000",
    "65536",
    "1000000",
    "4000000",
    "4294967296",
    "9223372036854775807",
    "99999999999999999999",
    "0x7fffffff",
    "1_000",
    "0.0",
    "-0.0",
    "1e-9",
    "0.999999",
    "1.0",
    "1e308",
    "1e400",
    "nan",
    "-nan",
    "inf",
    "-inf",
    "true",
    "false",
    "1979-05-27T07:32:00Z",
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    "\"\"",
    "\"0\"",
    "\"1\"",
    "\"1ps\"",
    "\"0ps\"",
    "\"1ns\"",
    "\"100000s\"",
    "\"100001s\"",
    "\"1e9s\"",
    "\"-1us\"",
    "\"nanus\"",
    "\"1bps\"",
    "\"1kbps\"",
    "\"10Tbps\"",
    "\"1e30Gbps\"",
    "\"0Gbps\"",
    "\"1.6Tbps\"",
    "\"1B\"",
    "\"0B\"",
    "\"9216B\"",
    "\"64B\"",
    "\"1TB\"",
    "\"1099511627776B\"",
    "\"18446744073709551615B\"",
    "\"1KiB\"",
    "\"*\"",
    "\"h*\"",
    "\"h[0..999999]\"",
    "\"h[0..4294967295]\"",
    "\"h[3..1]\"",
    "\"h[\"",
    "\"h[..]\"",
    "\"@s0\"",
    "\"@\"",
    "\"s0->s1\"",
    "\"s0<->s1\"",
    "\"->\"",
    "\"#\"",
    "\"s0->s1#9\"",
    "\"off\"",
    "\"auto\"",
    "\"by-speed\"",
    "\"none\"",
    "\"dcqcn\"",
    "\"é\"",
    "\"\\u0000\"",
    "\"../../../etc/passwd\"",
    "\"/dev/zero\"",
    "\".\"",
    "\"1..0\"",
    "\"1..4000000\"",
    "\"websearch\"",
    "\"nosuch.csv\"",
    "'''\n'''",
    "\"\\\"",
    "\u{feff}",
    "\u{202e}",
];

const KINDS: &[&str] = &[
    "\"star\"",
    "\"dumbbell\"",
    "\"parking-lot\"",
    "\"chain\"",
    "\"leaf-spine\"",
    "\"fat-tree\"",
    "\"clos\"",
    "\"two-dc\"",
    "\"custom\"",
    "\"flows\"",
    "\"flow-list\"",
    "\"long-lived\"",
    "\"burst\"",
    "\"permutation\"",
    "\"all-to-all\"",
    "\"poisson\"",
    "\"hotspot\"",
    "\"incast\"",
    "\"on-off\"",
    "\"synchronised-reads\"",
    "\"static\"",
    "\"dynamic\"",
    "\"timed\"",
    "\"weighted\"",
    "\"rate\"",
    "\"loss\"",
    "\"link-up\"",
    "\"pause-storm\"",
    "\"ingress\"",
    "\"throughput\"",
    "\"exponential\"",
    "\"symmetric\"",
    "\"data\"",
    "\"wire\"",
    "\"random\"",
    "\"one-to-one\"",
];

struct Fuzz {
    base: PathBuf,
    texts: Vec<String>,
    /// All tokens of all texts.
    tokens: Vec<String>,
    /// Dotted paths of all keys.
    paths: Vec<String>,
}

struct Case {
    text: String,
    sets: Vec<String>,
}

/// Words, quoted texts, numbers, blanks and single signs, which together are the text again.
fn tokens(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut found = Vec::new();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let length = match first {
            '"' => rest[1..].find(['"', '\n']).map_or(rest.len(), |end| end + 2),
            '#' => rest.find('\n').unwrap_or(rest.len()),
            c if c.is_whitespace() => rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()),
            c if word(c) => rest.find(|c: char| !word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length.min(rest.len()));
        found.push(token);
        rest = after;
    }
    found
}

fn pick<'a, T>(rng: &mut Rng, items: &'a [T]) -> &'a T {
    &items[rng.below(items.len() as u64) as usize]
}

impl Fuzz {
    fn new() -> Fuzz {
        let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/scenarios");
        let mut files: Vec<PathBuf> = std::fs::read_dir(&base).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        files.sort();
        let mut texts: Vec<String> = SEEDS.iter().map(|text| (*text).to_owned()).collect();
        texts.extend(files.iter().map(|path| std::fs::read_to_string(path).unwrap()));
        let mut all: Vec<String> = texts.iter().flat_map(|text| tokens(text)).map(str::to_owned).collect();
        all.retain(|token| !token.starts_with('#') && !token.trim().is_empty());
        all.extend(EXTREMES.iter().chain(KINDS).map(|token| (*token).to_owned()));
        let mut paths = Vec::new();
        for section in dictionary::sections() {
            for key in section.keys {
                let index = if section.repeated { ".0" } else { "" };
                let dot = if section.path.is_empty() { "" } else { "." };
                paths.push(format!("{}{index}{dot}{}", section.path, key.name));
                all.push(key.name.to_owned());
            }
        }
        for spec in xoff_schemes::all() {
            paths.extend(spec.params.iter().map(|param| format!("scheme.{}", param.name)));
        }
        all.sort();
        all.dedup();
        Fuzz { base, texts, tokens: all, paths }
    }

    fn case(&self, number: u64) -> Case {
        let rng = &mut stream(1, "fuzz", number);
        // The small ones half of the time: they reach furthest.
        let text = if rng.below(2) == 0 {
            &self.texts[rng.below(SEEDS.len() as u64) as usize]
        } else {
            pick(rng, &self.texts)
        };
        let mut text = text.clone();
        for _ in 0..rng.below(4) {
            text = if rng.below(4) == 0 { self.bytes(rng, text) } else { self.token(rng, text) };
        }
        let sets = (0..rng.below(6).saturating_sub(2)).map(|_| self.set(rng)).collect();
        Case { text, sets }
    }

    fn value(&self, rng: &mut Rng) -> String {
        match rng.below(3) {
            0 => pick(rng, EXTREMES).to_string(),
            1 => pick(rng, KINDS).to_string(),
            _ => pick(rng, &self.tokens).clone(),
        }
    }

    fn set(&self, rng: &mut Rng) -> String {
        let (path, value) = (pick(rng, &self.paths).clone(), self.value(rng));
        match rng.below(12) {
            0 => self.bytes(rng, format!("{path}={value}")),
            1 => format!("{path}{value}"),
            2 => format!("{path}.0.{}={value}", pick(rng, &self.paths)),
            _ => format!("{path}={value}"),
        }
    }

    fn token(&self, rng: &mut Rng, text: String) -> String {
        let mut parts: Vec<String> = tokens(&text).into_iter().map(str::to_owned).collect();
        if parts.is_empty() {
            return self.value(rng);
        }
        let at = rng.below(parts.len() as u64) as usize;
        let other = rng.below(parts.len() as u64) as usize;
        match rng.below(8) {
            0 => {
                parts.remove(at);
            }
            1 => parts.insert(at, self.value(rng)),
            2 => parts.swap(at, other),
            3 => {
                let piece: Vec<String> = parts[at.min(other)..at.max(other)].iter().take(60).cloned().collect();
                parts.splice(at..at, piece);
            }
            // Values follow "= ".
            _ => {
                let values: Vec<usize> = (2..parts.len()).filter(|index| parts[index - 2] == "=").collect();
                let at = if values.is_empty() { at } else { *pick(rng, &values) };
                parts[at] = self.value(rng);
            }
        }
        parts.concat()
    }

    fn bytes(&self, rng: &mut Rng, text: String) -> String {
        let mut bytes = text.into_bytes();
        let at = rng.below(bytes.len() as u64 + 1) as usize;
        match rng.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, rng.below(256) as u8),
            2 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            3 if at < bytes.len() => {
                bytes.remove(at);
            }
            _ => {
                let piece: Vec<u8> = bytes[at..].iter().take(rng.below(40) as usize).copied().collect();
                bytes.splice(at..at, piece);
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Whether the case was accepted.
    fn run(&self, case: &Case) -> bool {
        let load = |text: &str, sets: &[String]| {
            let options = Options { sets: sets.to_vec(), ..Options::default() };
            Scenario::from_text("case.toml", text, &self.base).load(&options)
        };
        let loaded = match load(&case.text, &case.sets) {
            Ok(loaded) => loaded,
            Err(errors) => {
                assert!(!errors.is_empty(), "refused without a reason");
                assert!(errors.iter().all(|error| error.render(false).len() > 10), "refused without a message");
                return false;
            }
        };
        loaded.warnings.iter().for_each(|warning| assert!(!warning.render_warning_in(Some(80), true).is_empty()));
        if ports(&loaded.plan) > SIMULATED_PORTS {
            return true;
        }
        assert!(!xoff_scenario::check::report(&loaded).text().is_empty());
        if loaded.attachments.is_empty() {
            match load(&loaded.resolved, &[]) {
                Ok(again) => assert_eq!(again.resolved, loaded.resolved, "the resolved form resolves to another"),
                Err(errors) => panic!("the resolved form is refused: {}\n{}", errors[0].render(false), loaded.resolved),
            }
        }
        simulate(&loaded);
        true
    }
}

fn ports(plan: &Plan) -> usize {
    plan.links.len() * 2
}

fn simulate(loaded: &Loaded) {
    let flows: f64 = loaded.traffic.iter().map(|traffic| traffic.expected.flows.unwrap_or(0.0)).sum();
    if flows > 1e6 {
        return;
    }
    let mut world = xoff_run::drive::build(loaded);
    let _ = world.run(SIMULATED_EVENTS);
    let mut recorder = Recorder::new(loaded.measures.needs());
    recorder.flows(&world.flows).unwrap();
    recorder.pauses(&world.pauses).unwrap();
    recorder.samples(&world.samples).unwrap();
    let ports = world.port_reports();
    let recording = Recording { ports, sim_end: world.now, counters: world.counters, ..recorder.so_far() };
    let measured = loaded.measures.take(&loaded.plan, &recording);
    assert_eq!(measured.numbers.len() + measured.curves.len(), loaded.measures.names().len());
    if let Err(why) = world.books() {
        panic!("the books do not balance: {why}");
    }
}

#[test]
fn no_text_panics_or_hangs() {
    let setting = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
    };
    let (first, cases) = (setting("XOFF_FUZZ_FIRST", 0), setting("XOFF_FUZZ_CASES", CASES));
    let fuzz = Fuzz::new();
    let current: Mutex<(u64, Instant)> = Mutex::new((first, Instant::now()));
    let done = AtomicBool::new(false);
    let mut failures = Vec::new();
    let (mut accepted, mut slowest) = (0, (Duration::ZERO, first));
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| watch(&fuzz, &current, &done));
        for number in first..first + cases {
            let start = Instant::now();
            *current.lock().unwrap() = (number, start);
            let case = fuzz.case(number);
            match catch_unwind(AssertUnwindSafe(|| fuzz.run(&case))) {
                Ok(was_accepted) => accepted += u64::from(was_accepted),
                Err(_) => {
                    eprintln!("case {number} failed with {:?} on\n{}\n----", case.sets, case.text);
                    failures.push(number);
                }
            }
            slowest = slowest.max((start.elapsed(), number));
            if failures.len() >= 20 {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    println!(
        "{cases} cases from {first} in {:.1} s: {accepted} accepted, the slowest was {} with {:.2} s",
        began.elapsed().as_secs_f64(),
        slowest.1,
        slowest.0.as_secs_f64()
    );
    assert!(failures.is_empty(), "failed cases: {failures:?}");
    assert!(cases < 1000 || accepted > cases / 100, "only {accepted} were accepted: the mutations are too wild");
}

/// A hanging case cannot be interrupted; this ends the process, naming it.
fn watch(fuzz: &Fuzz, current: &Mutex<(u64, Instant)>, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
        let (number, since) = *current.lock().unwrap();
        if since.elapsed() > SLOWEST {
            let case = fuzz.case(number);
            eprintln!("case {number} hangs with {:?} on\n{}", case.sets, case.text);
            std::process::abort();
        }
    }
}
