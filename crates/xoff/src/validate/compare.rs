//! Two runs of the same flows, held against each other: how near they are, and whether that is near enough.

use super::promised::Promised;
use super::theirs::{FlowKey, Theirs, key};
use serde::Serialize;
use std::collections::HashMap;
use xoff_results::export::hpcc::PfcLine;
use xoff_scenario::Diagnostic;
use xoff_scenario::measure::metrics::percentile;

/// A flow of our run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OurFlow {
    pub key: FlowKey,
    pub size_bytes: u64,
    pub start_ns: u64,
    /// To the sender's last ACK; `None` if that never came.
    pub fct_ns: Option<u64>,
}

/// What our run gave.
#[derive(Clone, Debug, Default)]
pub struct Ours {
    pub flows: Vec<OurFlow>,
    pub frames: Vec<PfcLine>,
    /// Why the run ended early.
    pub failure: Option<String>,
}

/// One number of both simulators.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Pair<T> {
    pub theirs: T,
    pub ours: T,
}

impl Pair<f64> {
    /// How far ours is above theirs, as a part of theirs.
    pub fn difference(&self) -> f64 {
        (self.ours - self.theirs) / self.theirs
    }
}

/// Flows of a range of sizes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SizeClass {
    pub name: &'static str,
    pub flows: usize,
    /// Slowdowns: completion time over their standalone time.
    pub p50: Pair<f64>,
    pub p95: Pair<f64>,
    pub p99: Pair<f64>,
}

/// Share of the flows that finished in both whose completion times are this near.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Near {
    pub equal: f64,
    pub within_0_1_percent: f64,
    pub within_1_percent: f64,
    pub within_5_percent: f64,
}

/// The flow whose completion times are farthest apart.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Farthest {
    pub src: u32,
    pub dst: u32,
    pub src_port: u16,
    pub dst_port: u16,
    pub size_bytes: u64,
    pub fct_ns: Pair<u64>,
    /// Difference as a part of theirs.
    pub difference: f64,
}

/// What is promised of a run, and what was found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Bound {
    pub what: String,
    /// Tolerance as a sentence: `at most 2% apart`.
    pub promised: String,
    pub found: String,
    pub held: bool,
}

/// How far two runs agree.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Agreement {
    /// Whether theirs drew random numbers that matter.
    pub random: bool,
    /// Flows of the run.
    pub flows: usize,
    pub finished: Pair<usize>,
    pub finished_in_both: usize,
    pub starts_equal: usize,
    /// With `all` as the last, if it is not the only one.
    pub sizes: Vec<SizeClass>,
    pub near: Near,
    pub farthest: Option<Farthest>,
    pub pauses: Pair<usize>,
    pub resumes: Pair<usize>,
    /// Frames of PFC that arrived at the same nanosecond at the same port and said the same.
    pub pfc_equal: usize,
    /// When the last flow that finished in both ended.
    pub last_end_ns: Pair<u64>,
    pub bounds: Vec<Bound>,
    /// Full sentences about what a reader should know.
    pub notes: Vec<String>,
}

impl Agreement {
    pub fn held(&self) -> bool {
        self.bounds.iter().all(|bound| bound.held)
    }
}

/// Name and largest size of each class.
const CLASSES: [(&str, u64); 3] = [("up to 100 KB", 100_000), ("up to 1 MB", 1_000_000), ("over 1 MB", u64::MAX)];

const ALL: &str = "all";

/// Fewer frames than this differ by a tenth when one of them does.
const PAUSES_JUDGED: usize = 10;

/// What is promised: see `docs/validation.md`.
mod promise {
    /// Without randomness: flows within a hundredth of each other.
    pub const NEAR_SHARE: f64 = 0.90;
    /// Without randomness: each percentile.
    pub const PERCENTILE: f64 = 0.02;
    /// With randomness: p50 and p95, and p99.
    pub const RANDOM: f64 = 0.05;
    pub const RANDOM_TAIL: f64 = 0.10;
    pub const PAUSES: f64 = 0.10;
}

/// One flow that finished in both.
struct Match {
    key: FlowKey,
    size_bytes: u64,
    start_ns: Pair<u64>,
    fct_ns: Pair<u64>,
    slowdown: Pair<f64>,
}

impl Match {
    fn difference(&self) -> f64 {
        Pair { theirs: self.fct_ns.theirs as f64, ours: self.fct_ns.ours as f64 }.difference()
    }
}

/// Compares flow by flow; `random`: theirs drew numbers that matter.
///
/// A flow of theirs that is not among ours, or has another size, is bad input.
pub fn compare(theirs: &Theirs, ours: &Ours, random: bool, promised: Promised) -> Result<Agreement, Diagnostic> {
    let matched = matched(theirs, ours)?;
    let count = |frames: &[PfcLine], pause| frames.iter().filter(|frame| frame.pause == pause).count();
    let both = |pause| Pair { theirs: count(&theirs.frames, pause), ours: count(&ours.frames, pause) };
    let last = |end: fn(&Match) -> u64| matched.iter().map(end).max().unwrap_or(0);
    let starts_equal = matched.iter().filter(|found| found.start_ns.theirs == found.start_ns.ours).count();
    let mut agreement = Agreement {
        random,
        flows: ours.flows.len(),
        finished: Pair {
            theirs: theirs.flows.len(),
            ours: ours.flows.iter().filter(|flow| flow.fct_ns.is_some()).count(),
        },
        finished_in_both: matched.len(),
        starts_equal,
        sizes: sizes(&matched),
        near: near(&matched),
        farthest: farthest(&matched),
        pauses: both(true),
        resumes: both(false),
        pfc_equal: common(&theirs.frames, &ours.frames),
        last_end_ns: Pair {
            theirs: last(|found| found.start_ns.theirs + found.fct_ns.theirs),
            ours: last(|found| found.start_ns.ours + found.fct_ns.ours),
        },
        bounds: Vec::new(),
        notes: notes(theirs, ours, matched.len() - starts_equal),
    };
    agreement.bounds = bounds(&agreement, ours.failure.as_deref(), promised);
    if promised == Promised::Nothing {
        agreement.notes.push(UNDEFINED.to_owned());
    }
    Ok(agreement)
}

/// The flows that finished in both, in the order of their file.
fn matched(theirs: &Theirs, ours: &Ours) -> Result<Vec<Match>, Diagnostic> {
    let index: HashMap<FlowKey, &OurFlow> = ours.flows.iter().map(|flow| (flow.key, flow)).collect();
    let mut matches = Vec::with_capacity(theirs.flows.len());
    for (line, their) in theirs.flows.iter().enumerate() {
        let Some(our) = index.get(&key(their)) else {
            let error = theirs.place(line).error("this flow is not in the run's list of flows");
            return Err(error.help("senders, receivers, ports and their order in the list of flows name a flow"));
        };
        if our.size_bytes != their.size_bytes {
            let error = theirs.place(line).error("this flow has another size in the run's list of flows");
            return Err(error.label(format!("{} B there", our.size_bytes)));
        }
        let Some(fct_ns) = our.fct_ns else { continue };
        let alone = their.standalone_ns as f64;
        matches.push(Match {
            key: our.key,
            size_bytes: their.size_bytes,
            start_ns: Pair { theirs: their.start_ns, ours: our.start_ns },
            fct_ns: Pair { theirs: their.fct_ns, ours: fct_ns },
            slowdown: Pair { theirs: their.fct_ns as f64 / alone, ours: fct_ns as f64 / alone },
        });
    }
    Ok(matches)
}

fn farthest(matches: &[Match]) -> Option<Farthest> {
    let far = matches.iter().max_by(|a, b| a.difference().abs().total_cmp(&b.difference().abs()))?;
    let ((src, dst, src_port, dst_port), difference) = (far.key, far.difference());
    let (size_bytes, fct_ns) = (far.size_bytes, far.fct_ns);
    (difference != 0.0).then_some(Farthest { src, dst, src_port, dst_port, size_bytes, fct_ns, difference })
}

fn sizes(matches: &[Match]) -> Vec<SizeClass> {
    let class = |name, fits: &dyn Fn(u64) -> bool| {
        let slowdowns = |side: fn(&Pair<f64>) -> f64| {
            let fitting = matches.iter().filter(|found| fits(found.size_bytes));
            let mut slowdowns: Vec<f64> = fitting.map(|found| side(&found.slowdown)).collect();
            slowdowns.sort_unstable_by(f64::total_cmp);
            slowdowns
        };
        let (theirs, ours) = (slowdowns(|pair| pair.theirs), slowdowns(|pair| pair.ours));
        let at = |p| Some(Pair { theirs: percentile(&theirs, p)?, ours: percentile(&ours, p)? });
        Some(SizeClass { name, flows: theirs.len(), p50: at(50.0)?, p95: at(95.0)?, p99: at(99.0)? })
    };
    let mut above = 0;
    let mut classes = Vec::new();
    for (name, largest) in CLASSES {
        classes.extend(class(name, &|size| size > above && size <= largest));
        above = largest;
    }
    if classes.len() > 1 {
        classes.extend(class(ALL, &|_| true));
    }
    classes
}

fn near(matches: &[Match]) -> Near {
    let share = |fits: &dyn Fn(&Match) -> bool| {
        let fitting = matches.iter().filter(|found| fits(found)).count();
        if matches.is_empty() { 0.0 } else { fitting as f64 / matches.len() as f64 }
    };
    let within = |limit: f64| share(&|found| found.difference().abs() < limit);
    Near {
        equal: share(&|found| found.fct_ns.theirs == found.fct_ns.ours),
        within_0_1_percent: within(0.001),
        within_1_percent: within(0.01),
        within_5_percent: within(0.05),
    }
}

/// How many lines are in both, each counted as often as both have it.
fn common(theirs: &[PfcLine], ours: &[PfcLine]) -> usize {
    let sorted = |frames: &[PfcLine]| {
        let mut keys: Vec<_> = frames.iter().map(|f| (f.at_ns, f.node, f.port, f.pause)).collect();
        keys.sort_unstable();
        keys
    };
    let (theirs, ours) = (sorted(theirs), sorted(ours));
    let (mut a, mut b, mut both) = (0, 0, 0);
    while let (Some(x), Some(y)) = (theirs.get(a), ours.get(b)) {
        both += usize::from(x == y);
        a += usize::from(x <= y);
        b += usize::from(y <= x);
    }
    both
}

fn notes(theirs: &Theirs, ours: &Ours, starts_differ: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if starts_differ > 0 {
        notes.push(format!("{starts_differ} flows start at other times in theirs."));
    }
    let named: HashMap<FlowKey, ()> = theirs.flows.iter().map(|line| (key(line), ())).collect();
    let last = theirs.flows.iter().map(|line| line.end_ns()).max().unwrap_or(0);
    let missing = ours.flows.iter().filter(|flow| !named.contains_key(&flow.key));
    let ends: Vec<u64> = missing.filter_map(|flow| Some(flow.start_ns + flow.fct_ns?)).collect();
    if !ends.is_empty() {
        let later = ends.iter().filter(|end| **end > last).count();
        notes.push(format!(
            "Their fct.txt has {} of {} flows and ends at {:.6} s; ours finished {} of the others, {later} of them later. \
             The flows of the file are compared; it looks cut off.",
            theirs.flows.len(),
            ours.flows.len(),
            last as f64 / 1e9,
            ends.len(),
        ));
    }
    notes
}

const UNDEFINED: &str = "No time is promised: the first ACK of a flow is measured against memory that nothing has written \
                         there; here it is only recorded.";

fn bounds(agreement: &Agreement, failure: Option<&str>, promised: Promised) -> Vec<Bound> {
    let mut bounds = Vec::new();
    if let Some(failure) = failure {
        bounds.push(Bound {
            what: "our run".to_owned(),
            promised: "ends as it should".to_owned(),
            found: failure.lines().next().unwrap_or_default().to_owned(),
            held: false,
        });
    }
    let lacking = agreement.finished.theirs - agreement.finished_in_both;
    bounds.push(Bound {
        what: "flows that finish in theirs".to_owned(),
        promised: "all finish in ours".to_owned(),
        found: if lacking == 0 { "all".to_owned() } else { format!("{lacking} do not") },
        held: lacking == 0,
    });
    match promised {
        Promised::Near => near_bounds(agreement, &mut bounds),
        Promised::Equal => equal_bounds(agreement, &mut bounds),
        Promised::Nothing => {}
    }
    bounds
}

fn equal_bounds(agreement: &Agreement, bounds: &mut Vec<Bound>) {
    bounds.push(Bound {
        what: "flows".to_owned(),
        promised: "all equal to the nanosecond".to_owned(),
        found: share(agreement.near.equal),
        held: agreement.near.equal == 1.0,
    });
    let all = |pair: Pair<usize>| pair.theirs.max(pair.ours);
    let frames = all(agreement.pauses) + all(agreement.resumes);
    bounds.push(Bound {
        what: "PFC frames".to_owned(),
        promised: "all at the same nanosecond".to_owned(),
        found: format!("{} of {frames}", agreement.pfc_equal),
        held: agreement.pfc_equal == frames,
    });
}

fn near_bounds(agreement: &Agreement, bounds: &mut Vec<Bound>) {
    if agreement.flows == 1 {
        bounds.push(Bound {
            what: "a flow alone".to_owned(),
            promised: "equal to the nanosecond".to_owned(),
            found: match agreement.farthest {
                Some(far) => format!("{} ns and {} ns", far.fct_ns.theirs, far.fct_ns.ours),
                None => "equal".to_owned(),
            },
            held: agreement.near.equal == 1.0,
        });
    }
    if !agreement.random {
        bounds.push(Bound {
            what: "flows within 1% of each other".to_owned(),
            promised: format!("at least {}", share(promise::NEAR_SHARE)),
            found: share(agreement.near.within_1_percent),
            held: agreement.near.within_1_percent >= promise::NEAR_SHARE,
        });
    }
    for class in &agreement.sizes {
        for (name, of) in [("p50", class.p50), ("p95", class.p95), ("p99", class.p99)] {
            let limit = match (agreement.random, name) {
                (false, _) => promise::PERCENTILE,
                (true, "p99") => promise::RANDOM_TAIL,
                (true, _) => promise::RANDOM,
            };
            bounds.push(apart(format!("{name} slowdown, {}", class.name), of.difference(), limit));
        }
    }
    let Pair { theirs, ours } = agreement.pauses;
    if theirs.max(ours) >= PAUSES_JUDGED {
        let difference = Pair { theirs: theirs as f64, ours: ours as f64 }.difference();
        let bound = apart("PAUSE frames".to_owned(), difference, promise::PAUSES);
        bounds.push(Bound { found: format!("{theirs} and {ours}"), ..bound });
    }
}

pub(super) fn apart(what: String, difference: f64, limit: f64) -> Bound {
    Bound {
        what,
        promised: format!("at most {} apart", share(limit)),
        found: signed(difference),
        // A twentieth is no number of a computer.
        held: difference.abs() <= limit + 1e-9,
    }
}

/// `90%`, `99.3%`; never 100% of what is not all.
pub fn share(part: f64) -> String {
    let tenths = (part * 1000.0 + 1e-9).floor();
    if tenths % 10.0 == 0.0 { format!("{}%", tenths / 10.0) } else { format!("{:.1}%", tenths / 10.0) }
}

/// `+0.25%`; `=` if there is no difference at all.
pub fn signed(difference: f64) -> String {
    if difference == 0.0 { "=".to_owned() } else { format!("{:+.2}%", difference * 100.0) }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
