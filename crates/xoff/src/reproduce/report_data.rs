//! What the program says about a paper: verdicts, figures and what they rest on. Reports are made of this alone.

use super::change::Change;
use super::results::Estimate;
use serde::Serialize;
use std::collections::BTreeMap;
use xoff_results::page::Figure;

/// Whether a claim holds in our runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// In direction and in magnitude, as far as it states either.
    Holds,
    /// The sign, rank or trend is right, the size is not.
    HoldsInDirection,
    DoesNotHold,
    /// Other seeds could say otherwise.
    Undecided,
    /// Not evaluated: needs runs that this scale leaves out.
    NotRunAtThisScale,
    /// No run of ours could tell: it needs a testbed, or a unit that the paper does not print.
    NotJudged,
}

impl Verdict {
    pub const ALL: [Verdict; 6] = [
        Verdict::Holds,
        Verdict::HoldsInDirection,
        Verdict::DoesNotHold,
        Verdict::Undecided,
        Verdict::NotRunAtThisScale,
        Verdict::NotJudged,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::HoldsInDirection => "holds in direction",
            Verdict::DoesNotHold => "does not hold",
            Verdict::Undecided => "undecided",
            Verdict::NotRunAtThisScale => "not run at this scale",
            Verdict::NotJudged => "not judged",
        }
    }
}

/// Whether a clause of a claim is true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    True,
    False,
    /// Other seeds could say otherwise.
    Open,
}

impl Answer {
    pub fn of(truth: bool) -> Answer {
        if truth { Answer::True } else { Answer::False }
    }

    pub fn words(self) -> &'static str {
        match self {
            Answer::True => "true",
            Answer::False => "false",
            Answer::Open => "undecided",
        }
    }
}

/// A claim beside what we measured.
#[derive(Clone, Debug)]
pub struct ClaimResult {
    pub id: String,
    pub experiment: String,
    /// The claim in our words.
    pub says: String,
    /// The paper's number with its unit; empty if it states none.
    pub paper: String,
    /// Ours, with unit and interval; empty if there is no number to show.
    pub ours: String,
    pub values: Vec<Estimate>,
    pub unit: String,
    pub verdict: Verdict,
    pub direction: Option<Answer>,
    pub in_range: Option<Answer>,
    pub range: Option<(f64, f64)>,
    /// How many seeds would decide it, as far as those there are can tell; `None` if it is decided.
    pub seeds_needed: Option<u64>,
    /// What the seeds say one by one; `None` if there is only one.
    pub seeds: Option<Seeds>,
    pub tolerance: String,
    /// Why it does not hold, or is not judged, where that is so.
    pub diagnosis: String,
    /// Why nothing could make it fail; empty for the claims that count.
    pub cannot_fail: String,
    /// Why the paper's own numbers exclude it; empty for all others.
    pub contradicted: String,
    /// The comparisons that show it.
    pub arithmetic: Vec<String>,
}

/// A claim's clauses, seed by seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seeds {
    pub count: usize,
    /// In how many the direction is true, if the claim has one.
    pub direction: Option<usize>,
    /// In how many every number is in the range, if the claim has one.
    pub in_range: Option<usize>,
}

/// A choice that the paper did not make for us, or that we made otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct Deviation {
    pub id: String,
    pub experiments: Vec<String>,
    /// `assumption`, `departure` or `alternative`.
    pub kind: String,
    pub topic: String,
    pub paper: String,
    pub ours: String,
    pub why: String,
    pub effect: String,
}

/// Something that the paper leaves open.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    pub name: String,
    pub title: String,
    /// What the paper says of it, and where.
    pub paper: String,
    /// The main one first.
    pub choices: Vec<Choice>,
}

/// One answer to it.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    pub name: String,
    pub what: String,
    /// Sentences, citations, equations, code of the same group.
    pub evidence: Vec<String>,
    pub against: Vec<String>,
    /// Names of the readings that take it.
    pub readings: Vec<String>,
    #[serde(skip)]
    pub(super) changes: Vec<Change>,
}

/// What became of the claims under one reading.
#[derive(Clone, Debug)]
pub struct ReadingPage {
    pub name: String,
    pub title: String,
    pub why: String,
    /// Whether it is the one that was chosen.
    pub main: bool,
    pub claims: Vec<ClaimResult>,
}

/// A table that an experiment asks for, as text.
#[derive(Clone, Debug, Serialize)]
pub struct TableShown {
    pub title: String,
    /// What a reader must know beside the headings; empty if nothing.
    pub note: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// The picture of a congestion tree.
#[derive(Clone, Debug)]
pub struct Pictured {
    /// The name of its files without ending.
    pub file: String,
    pub title: String,
    pub svg: String,
    pub png: Vec<u8>,
}

/// One experiment, with all there is to say.
#[derive(Clone, Debug, Default)]
pub struct ExperimentPage {
    pub id: String,
    pub title: String,
    /// Where in the paper.
    pub place: String,
    /// `simulation`, `testbed`, `theory`, `workload` or `design`.
    pub setting: String,
    pub shows: String,
    pub reads: String,
    pub checked_by: String,
    /// Whether it was run at full scale, whatever the scale of the others.
    pub at_full: bool,
    /// What is smaller than in the paper at this scale; empty if nothing.
    pub scaled: String,
    /// Shown before the figures.
    pub trees: Vec<Pictured>,
    pub figures: Vec<Figure>,
    pub tables: Vec<TableShown>,
    pub claims: Vec<ClaimResult>,
    /// The experiment whose runs these are, where it has none of its own; else empty.
    pub runs_from: String,
    pub runs: usize,
    pub cpu_seconds: f64,
    pub packet_hops: u64,
    /// Runs in which the simulated network failed: which, and why.
    pub failures: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Paper {
    /// `pcn`.
    pub id: String,
    pub title: String,
    pub authors: String,
    pub venue: String,
    pub year: u64,
    pub what: String,
}

#[derive(Clone, Debug, Default)]
pub struct PaperPage {
    pub about: Paper,
    /// The name of the reading that all of this page is about.
    pub reading: String,
    pub points: Vec<Point>,
    /// Every reading that was run, that of the page among them.
    pub readings: Vec<ReadingPage>,
    /// Whether the grid of a search is beside the page.
    pub searched: bool,
    pub experiments: Vec<ExperimentPage>,
    pub deviations: Vec<Deviation>,
}

/// Everything of one `xoff reproduce`.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub version: String,
    /// Commit of the checkout that the experiments were read from; empty if it is none.
    pub commit: String,
    /// Command as typed.
    pub command: String,
    pub scale: String,
    pub seeds: Option<u64>,
    pub jobs: usize,
    /// All that the experiments rest on, each counted once.
    pub runs: usize,
    /// Number of those that an earlier command had made.
    pub found: usize,
    /// Seconds of this command; runs found finished are not in it.
    pub wall_seconds: f64,
    /// CPU seconds of all runs, whenever they were made.
    pub cpu_seconds: f64,
    pub papers: Vec<PaperPage>,
}

impl Report {
    pub fn claims(&self) -> impl Iterator<Item = &ClaimResult> {
        self.papers.iter().flat_map(PaperPage::claims)
    }
}

impl PaperPage {
    /// Runs and their CPU seconds; what several experiments show is counted once.
    pub fn runs(&self) -> (usize, f64) {
        let key =
            |one: &'_ ExperimentPage| if one.runs_from.is_empty() { one.id.clone() } else { one.runs_from.clone() };
        let own: BTreeMap<String, (usize, f64)> =
            self.experiments.iter().map(|one| (key(one), (one.runs, one.cpu_seconds))).collect();
        own.values().fold((0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
    }

    pub fn claims(&self) -> impl Iterator<Item = &ClaimResult> {
        self.experiments.iter().flat_map(|experiment| &experiment.claims)
    }
}
