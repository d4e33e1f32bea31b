//! Golden runs: what came out of some forty scenarios, to the last bit (`fingerprints.txt`) and in words
//! (`summaries.txt`, so that a diff says what has changed). A change of results is seen here, and is a decision: record
//! it under docs/decisions, name it in CHANGELOG.md, and renew both files.
//!
//!     XOFF_GOLDEN=renew cargo test -p xoff --test runs golden

use std::collections::BTreeSet;
use std::fmt::{Display, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use xoff_engine::Span;
use xoff_fabric::record::{Counters, FlowRecord, PauseRecord, PfcRecord, PortReport, Sample};
use xoff_fabric::simulation::Simulation;
use xoff_fabric::world::Progress;
use xoff_scenario::measure::probe::METRICS;
use xoff_scenario::{Options, Scenario};

const RENEW: &str = "XOFF_GOLDEN=renew cargo test -p xoff --test runs golden";
const COLUMNS: [&str; 10] =
    ["run", "end_ps", "events", "hops", "flows", "pauses", "frames", "samples", "ports", "counters"];

/// A row of `golden/runs.toml`.
struct Golden {
    name: String,
    scenario: PathBuf,
    options: Options,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn golden_runs() -> Vec<Golden> {
    let text = std::fs::read_to_string(folder().join("runs.toml")).unwrap();
    let root: toml::Table = text.parse().unwrap();
    let rows = root["run"].as_array().unwrap().iter().map(|row| {
        let row = row.as_table().unwrap();
        for key in row.keys() {
            assert!(["name", "scenario", "scheme", "set"].contains(&key.as_str()), "{key}");
        }
        let word = |key: &str| row.get(key).map(|value| value.as_str().unwrap().to_owned());
        let sets = row.get("set").map_or(&[][..], |sets| sets.as_array().unwrap());
        let scenario = word("scenario").unwrap();
        let shown = scenario.strip_prefix("scenarios/").map(|name| folder().join("../../data/scenarios").join(name));
        Golden {
            name: word("name").unwrap(),
            scenario: shown.unwrap_or_else(|| folder().join(&scenario)),
            options: Options {
                sets: sets.iter().map(|set| set.as_str().unwrap().to_owned()).collect(),
                scheme: word("scheme"),
                ..Options::default()
            },
        }
    });
    rows.collect()
}

fn run(golden: &Golden) -> (Box<dyn Simulation>, Vec<&'static str>) {
    xoff_schemes::install_all();
    let loaded = Scenario::open(&golden.scenario).map_err(|error| vec![error]);
    let loaded = loaded.and_then(|scenario| scenario.load(&golden.options));
    let loaded = loaded.unwrap_or_else(|errors| panic!("{}: {}", golden.name, errors[0].render(false)));
    let mut world = xoff_run::drive::build(&loaded);
    while world.run(1 << 20) == Progress::Running {}
    (world, loaded.schemes.iter().map(|scheme| scheme.values.spec().name).collect())
}

/// A hash of the values of records, spelled out: names of fields may change, values may not.
#[derive(Default)]
struct Digest {
    text: String,
}

impl Digest {
    fn row(&mut self, values: &[&dyn Display]) {
        for value in values {
            write!(self.text, "{value} ").unwrap();
        }
        self.text.push('\n');
    }

    fn hash(&self) -> String {
        format!("{:016x}", xoff_engine::rng::name_hash(&self.text))
    }
}

/// Times as numbers; those that never came as -1.
fn ps(at: Option<xoff_engine::Time>) -> i128 {
    at.map_or(-1, |at| i128::from(at.ps()))
}

fn flows(flows: &[FlowRecord]) -> String {
    let mut digest = Digest::default();
    for f in flows {
        digest.row(&[&f.id, &f.number, &f.source, &f.label, &f.src, &f.dst, &f.ports.0, &f.ports.1]);
        digest.row(&[&f.size_bytes.map_or(-1, i128::from), &f.delivered_bytes, &f.class, &f.scheme, &f.start.ps()]);
        digest.row(&[&ps(f.delivered_at), &ps(f.acked_at), &f.ideal.ps(), &f.base_rtt.ps(), &f.packets_sent]);
        digest.row(&[&f.packets_retransmitted, &f.recovery.timeouts, &f.lost, &f.marked, &f.notifications]);
        digest.row(&[&ps(f.first_notified), &f.multipath.detours]);
        for port in f.path.iter().flatten() {
            digest.row(&[port]);
        }
    }
    digest.hash()
}

fn pauses(pauses: &[PauseRecord]) -> String {
    let mut digest = Digest::default();
    for p in pauses {
        digest.row(&[&p.at.ps(), &p.port, &p.class, &p.pause, &p.refresh, &p.ingress_bytes]);
    }
    digest.hash()
}

fn frames(frames: &[PfcRecord]) -> String {
    let mut digest = Digest::default();
    for f in frames {
        digest.row(&[&f.at.ps(), &f.port, &f.class, &f.pause]);
    }
    digest.hash()
}

fn samples(samples: &[Sample]) -> String {
    let mut digest = Digest::default();
    for s in samples {
        let metric =
            METRICS.iter().position(|metric| *metric == s.metric).expect("no golden run looks into schemes") as u8;
        digest.row(&[&s.at.ps(), &metric, &s.entity, &s.label, &s.class, &s.value.to_bits()]);
    }
    digest.hash()
}

fn ports(ports: &[PortReport]) -> String {
    let mut digest = Digest::default();
    for p in ports {
        digest.row(&[&p.port, &p.tx_packets, &p.tx_wire_bytes, &p.pause_frames, &p.resume_frames, &p.refresh_frames]);
        for c in &p.classes {
            digest.row(&[&c.queue_bytes_peak, &c.queue_bytes_mean.to_bits(), &c.ingress_bytes_peak]);
            digest.row(&[&c.xoff_bytes.map_or(-1, i128::from), &c.headroom_bytes, &c.paused.ps(), &c.marks, &c.drops]);
        }
    }
    digest.hash()
}

fn counters(c: &Counters) -> String {
    let mut digest = Digest::default();
    digest.row(&[&c.flows_started, &c.flows_completed, &c.data_packets_sent, &c.data_packets_delivered]);
    digest.row(&[&c.data_packets_retransmitted, &c.data_packets_discarded, &c.delivered_bytes, &c.acks_sent]);
    digest.row(&[&c.naks_sent, &c.notifications_sent, &c.notices_refused, &c.marks, &c.neighbour_messages]);
    digest.row(&[&c.pause_frames, &c.resume_frames, &c.refresh_frames, &c.drops_lossless, &c.drops_lossy]);
    digest.row(&[&c.drops_fault, &c.timeouts, &c.deadlocks, &c.watchdog_storms]);
    digest.hash()
}

/// Results of one run.
struct Outcome {
    fingerprint: String,
    summary: String,
    schemes: Vec<&'static str>,
    counters: Counters,
    pfc_frames: usize,
    detours: u32,
    failed: bool,
}

/// All golden runs, each run once.
static OUTCOMES: LazyLock<Vec<Outcome>> = LazyLock::new(|| golden_runs().iter().map(outcome).collect());

fn outcome(golden: &Golden) -> Outcome {
    let (mut world, schemes) = run(golden);
    let reports = world.port_reports();
    let c = &world.counters;
    let fingerprint = [
        golden.name.clone(),
        world.now.ps().to_string(),
        c.events.to_string(),
        c.packet_hops.to_string(),
        flows(&world.flows),
        pauses(&world.pauses),
        frames(&world.pfc_frames),
        samples(&world.samples),
        ports(&reports),
        counters(c),
    ];
    Outcome {
        fingerprint: line(&fingerprint),
        summary: format!("{}\n{}", golden.name, summary(&*world, &reports)),
        schemes,
        counters: *c,
        pfc_frames: world.pfc_frames.len(),
        detours: world.flows.iter().map(|flow| flow.multipath.detours).sum(),
        failed: world.failure.is_some(),
    }
}

/// Ten lines for people, in integers and fixed digits.
fn summary(world: &dyn Simulation, reports: &[PortReport]) -> String {
    let c = &world.counters;
    let took = |flow: &FlowRecord| flow.delivered_at.map(|at| at - flow.start);
    let slowdown = |flow: &FlowRecord| took(flow).map(|span| span.ps() as f64 / flow.ideal.ps() as f64);
    let fct = quantiles(world.flows.iter().filter_map(|flow| took(flow).map(|span| span.ps() as f64 / 1e6)).collect());
    let slowdown = quantiles(world.flows.iter().filter_map(slowdown).collect());
    let classes = || reports.iter().flat_map(|port| &port.classes);
    let paused: u64 = classes().map(|class| class.paused.ps() / Span::from_us(1).ps()).sum();
    let queue = classes().map(|class| class.queue_bytes_peak).max().unwrap_or(0);
    let ingress = classes().map(|class| class.ingress_bytes_peak).max().unwrap_or(0);
    let lines = [
        format!("end        {:.3} us, {} events, {} packet-hops", world.now.ps() as f64 / 1e6, c.events, c.packet_hops),
        format!("flows      {} started, {} completed", c.flows_started, c.flows_completed),
        format!("FCT        {fct} us"),
        format!("slowdown   {slowdown}"),
        format!("delivered  {} bytes in {} packets", c.delivered_bytes, c.data_packets_delivered),
        format!(
            "sent       {} packets, {} retransmitted, {} discarded",
            c.data_packets_sent, c.data_packets_retransmitted, c.data_packets_discarded
        ),
        format!("answers    {} ACKs, {} NAKs, {} notifications", c.acks_sent, c.naks_sent, c.notifications_sent),
        format!(
            "PFC        {} PAUSE, {} RESUME, {} refreshes, {paused} us paused",
            c.pause_frames, c.resume_frames, c.refresh_frames
        ),
        format!("buffers    {queue} bytes in the longest queue, {ingress} bytes of one ingress, {} marks", c.marks),
        format!(
            "mishaps    {} lossless, {} lossy and {} faulty drops, {} timeouts, {} deadlocks, {} storms",
            c.drops_lossless, c.drops_lossy, c.drops_fault, c.timeouts, c.deadlocks, c.watchdog_storms
        ),
    ];
    lines.map(|line| format!("  {line}\n")).concat()
}

fn quantiles(mut values: Vec<f64>) -> String {
    if values.is_empty() {
        return "none".to_owned();
    }
    values.sort_by(f64::total_cmp);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let at = |percent: usize| values[(values.len() * percent).div_ceil(100) - 1];
    format!("mean {mean:.3}, p50 {:.3}, p99 {:.3}, max {:.3}", at(50), at(99), at(100))
}

fn line(cells: &[String]) -> String {
    let widths = [18, 13, 9, 9, 16, 16, 16, 16, 16, 16];
    let padded: Vec<String> = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
    padded.join(" ").trim_end().to_owned()
}

/// What differs between a line that was kept and one of today, by the names of its columns.
fn difference(kept: Option<&str>, today: &str) -> Option<String> {
    let name = today.split_whitespace().next().unwrap();
    let Some(kept) = kept else { return Some(format!("{name}: not kept yet")) };
    let cells = kept.split_whitespace().zip(today.split_whitespace()).zip(COLUMNS);
    let changed: Vec<&str> = cells.filter(|((kept, today), _)| kept != today).map(|(_, column)| column).collect();
    (!changed.is_empty()).then(|| format!("{name}: {}", changed.join(", ")))
}

#[test]
fn results_are_those_of_the_golden_runs() {
    let (path, told) = (folder().join("fingerprints.txt"), folder().join("summaries.txt"));
    let mut today = vec![line(&COLUMNS.map(str::to_owned))];
    today.extend(OUTCOMES.iter().map(|outcome| outcome.fingerprint.clone()));
    let summaries = OUTCOMES.iter().map(|outcome| outcome.summary.as_str()).collect::<Vec<_>>().join("\n");
    if std::env::var("XOFF_GOLDEN").as_deref() == Ok("renew") {
        std::fs::write(&path, today.join("\n") + "\n").unwrap();
        std::fs::write(&told, summaries).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    let find = |name: &str| kept.lines().find(|line| line.split_whitespace().next() == Some(name));
    let mut changed: Vec<String> =
        today.iter().filter_map(|line| difference(find(line.split_whitespace().next().unwrap()), line)).collect();
    let told = std::fs::read_to_string(&told).unwrap_or_default();
    let differ = told.lines().zip(summaries.lines()).filter(|(kept, today)| kept != today);
    changed.extend(differ.take(20).map(|(kept, today)| format!("- {kept}\n  + {today}")));
    assert!(
        changed.is_empty(),
        "results have changed:\n  {}\nIf that is meant, record why under docs/decisions, say so in CHANGELOG.md, and: {RENEW}",
        changed.join("\n  ")
    );
    assert_eq!(kept.lines().count(), today.len(), "fingerprints of runs that are no more: {RENEW}");
    assert_eq!(told.lines().count(), summaries.lines().count(), "summaries of other runs: {RENEW}");
}

/// A golden run in which nothing happens protects nothing.
#[test]
fn golden_runs_reach_every_scheme_and_rule() {
    let (mut schemes, mut total) = (BTreeSet::new(), Counters::default());
    let (mut pfc, mut detours, mut failures) = (0, 0, 0);
    for outcome in OUTCOMES.iter() {
        schemes.extend(outcome.schemes.iter().copied());
        let c = &outcome.counters;
        assert!(c.packet_hops > 1_000, "{}: {} packet-hops", outcome.fingerprint, c.packet_hops);
        total.naks_sent += c.naks_sent;
        total.notifications_sent += c.notifications_sent;
        total.marks += c.marks;
        total.neighbour_messages += c.neighbour_messages;
        total.pause_frames += c.pause_frames;
        total.refresh_frames += c.refresh_frames;
        total.drops_lossy += c.drops_lossy;
        total.drops_fault += c.drops_fault;
        total.timeouts += c.timeouts;
        total.deadlocks += c.deadlocks;
        total.watchdog_storms += c.watchdog_storms;
        pfc += outcome.pfc_frames;
        detours += outcome.detours;
        failures += u32::from(outcome.failed);
    }
    let reached =
        [total.naks_sent, total.notifications_sent, total.marks, total.neighbour_messages, total.pause_frames];
    assert!(reached.iter().all(|count| *count > 0), "{total:?}");
    let reached = [total.refresh_frames, total.drops_lossy, total.drops_fault, total.timeouts, total.watchdog_storms];
    assert!(reached.iter().all(|count| *count > 0), "{total:?}");
    assert!(total.deadlocks > 0 && pfc > 0 && detours > 0 && failures > 0, "{pfc} {detours} {failures}");
}
