//! Scenarios, `--set`, quantities, and the files that scenarios name.

use super::text;
use std::path::Path;
use xoff_engine::quantity::{format_bytes, format_rate, format_span, parse_bytes, parse_rate, parse_span};
use xoff_run::drive::Sink;
use xoff_run::recorder::Recorder;
use xoff_scenario::import;
use xoff_scenario::measure::Recording;
use xoff_scenario::{Attachment, Diagnostic, Loaded, Options, Scenario, Source};

/// Networks above this are only loaded: the time is better spent on other inputs.
const SIMULATED_PORTS: usize = 2_000;
const SIMULATED_FLOWS: f64 = 1e6;
const SIMULATED_EVENTS: u64 = 3_000;

/// A folder with nothing in it, so that what a case does depends on its bytes alone.
pub const NOWHERE: &str = "/nonexistent";

/// Load, report, resolve, simulate a while.
pub fn scenario(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    whole(&Scenario::from_text("case.toml", text, Path::new(NOWHERE)), &[])
}

const SMALL: &str = include_str!("../seeds/scenario/small.toml");

/// Each line is one `--set`.
pub fn set(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let sets: Vec<String> = text.lines().take(8).map(str::to_owned).collect();
    whole(&Scenario::from_text("case.toml", SMALL, Path::new(NOWHERE)), &sets)
}

/// What is read is written, and read again as the same.
pub fn quantity(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let (span, rate, size) = (parse_span(text), parse_rate(text), parse_bytes(text));
    let accepted = span.is_ok() || rate.is_ok() || size.is_ok();
    if let Ok(span) = span {
        assert_eq!(parse_span(&format_span(span)), Ok(span), "{text}");
    }
    if let Ok(rate) = rate {
        assert_eq!(parse_rate(&format_rate(rate)), Ok(rate), "{text}");
    }
    if let Ok(size) = size {
        assert_eq!(parse_bytes(&format_bytes(size)), Ok(size), "{text}");
    }
    accepted
}

const LISTED: &str = r#"
[run]
stop = "1ms"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_rate = "100Gbps"
fabric_rate = "100Gbps"
[[class]]
name = "data"
priority = 3
[[class]]
name = "bulk"
priority = 1
[[class]]
name = "control"
priority = 6
lossless = false
control = true
[[traffic]]
kind = "flow-list"
file = "flows.csv"
"#;

/// The file of a `flow-list`.
pub fn flow_list(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let file = Attachment { name: "flows.csv".to_owned(), source: Source::new("flows.csv", text) };
    whole(&Scenario::from_text("case.toml", LISTED, Path::new(NOWHERE)).with(vec![file], Vec::new()), &[])
}

/// A distribution of sizes: read, written, read again as the same curve; its numbers are sane.
pub fn cdf(bytes: &[u8]) -> bool {
    let Some(text) = text(bytes) else { return false };
    let source = Source::new("sizes.csv", text);
    let cdf = match import::cdf::read(&source) {
        Ok(cdf) => cdf,
        Err(error) => return refused(&[error]),
    };
    let again = import::cdf::read(&Source::new("again.csv", import::cdf::csv(&cdf)));
    assert_eq!(again.as_ref().ok(), Some(&cdf), "written: {}", import::cdf::csv(&cdf));
    let (mean, largest) = (cdf.mean_bytes(), cdf.largest_bytes());
    assert!(mean >= 0.0 && mean <= largest, "a mean of {mean} bytes, the largest has {largest}");
    let packets = cdf.mean_packets(1000.0);
    assert!(packets.is_finite() && packets >= 0.0, "{packets} packets");
    let mut before = 0.0;
    for step in 0..=20 {
        let size = cdf.invert(f64::from(step) / 20.0);
        assert!(size >= before && size <= largest, "{size} bytes after {before}, the largest has {largest}");
        before = size;
    }
    true
}

/// A refusal has a message that can be shown. Always false, for callers to return.
pub fn refused(errors: &[Diagnostic]) -> bool {
    assert!(!errors.is_empty(), "refused without a reason");
    for error in errors {
        assert!(error.render(false).len() > 10 && error.render(true).len() > 10, "refused without a message");
    }
    false
}

/// Everything that can be done with a scenario without writing a file.
pub fn whole(scenario: &Scenario, sets: &[String]) -> bool {
    let loaded = match scenario.load(&Options { sets: sets.to_vec(), ..Options::default() }) {
        Ok(loaded) => loaded,
        Err(errors) => return refused(&errors),
    };
    for warning in &loaded.warnings {
        assert!(!warning.render_warning_in(Some(80), true).is_empty());
    }
    if loaded.plan.links.len() * 2 > SIMULATED_PORTS {
        return true;
    }
    assert!(!xoff_scenario::check::report(&loaded).text().is_empty());
    if loaded.attachments.is_empty() {
        let again =
            Scenario::from_text("resolved.toml", &*loaded.resolved, Path::new(NOWHERE)).load(&Options::default());
        match again {
            Ok(again) => assert_eq!(again.resolved, loaded.resolved, "the resolved form resolves to another"),
            Err(errors) => panic!("the resolved form is refused: {}\n{}", errors[0].render(false), loaded.resolved),
        }
    }
    simulate(&loaded);
    true
}

fn simulate(loaded: &Loaded) {
    let flows: f64 = loaded.traffic.iter().map(|traffic| traffic.expected.flows.unwrap_or(0.0)).sum();
    if flows > SIMULATED_FLOWS {
        return;
    }
    let mut world = xoff_run::drive::build(loaded);
    // A simulated mishap is an answer.
    let _ = world.run(SIMULATED_EVENTS);
    let mut recorder = Recorder::new(loaded.measures.needs());
    recorder.flows(&world.flows).expect("memory");
    recorder.pauses(&world.pauses).expect("memory");
    recorder.samples(&world.samples).expect("memory");
    let ports = world.port_reports();
    let recording =
        Recording { ports: ports.into(), sim_end: world.now, counters: world.counters, ..recorder.so_far() };
    let measured = loaded.measures.take(&loaded.plan, &recording);
    assert_eq!(measured.numbers.len() + measured.curves.len(), loaded.measures.names().len());
    if let Err(why) = world.check_conservation() {
        panic!("the books do not balance: {why}");
    }
}
