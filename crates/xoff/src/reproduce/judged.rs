//! What the program says about a paper: verdicts, figures and what they rest on. Reports are made of this alone.

use super::results::Estimate;
use serde::Serialize;
use std::collections::BTreeMap;

/// Whether a claim holds in our runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// In direction and in magnitude, as far as it states either.
    Holds,
    /// The sign, rank or trend is right, the size is not.
    HoldsInDirection,
    DoesNotHold,
    /// It needs runs that this scale leaves out.
    NotRunAtThisScale,
}

impl Verdict {
    pub const ALL: [Verdict; 4] =
        [Verdict::Holds, Verdict::HoldsInDirection, Verdict::DoesNotHold, Verdict::NotRunAtThisScale];

    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::HoldsInDirection => "holds in direction",
            Verdict::DoesNotHold => "does not hold",
            Verdict::NotRunAtThisScale => "not run at this scale",
        }
    }
}

/// A claim beside what we measured.
#[derive(Clone, Debug)]
pub struct Judged {
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
    pub direction: Option<bool>,
    pub in_range: Option<bool>,
    pub range: Option<(f64, f64)>,
    /// In how many seeds the direction is true, of how many.
    pub seeds_agree: Option<(usize, usize)>,
    pub tolerance: String,
    /// Why it does not hold, where it does not.
    pub diagnosis: String,
    pub variants: Vec<JudgedVariant>,
}

/// The same claim under another reasonable assumption.
#[derive(Clone, Debug)]
pub struct JudgedVariant {
    pub under: String,
    pub ours: String,
    pub verdict: Verdict,
}

/// A choice that the paper did not make for us, or that we made otherwise.
#[derive(Clone, Debug)]
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

/// A figure that has been drawn.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// `pcn-fig2-a`: the name of its files without ending.
    pub file: String,
    pub title: String,
    pub note: String,
    pub svg: String,
}

/// A table that an experiment asks for, as text.
#[derive(Clone, Debug)]
pub struct TableShown {
    pub title: String,
    /// What a reader must know beside the headings; empty if nothing.
    pub note: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
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
    /// What is smaller than in the paper at this scale; empty if nothing.
    pub scaled: String,
    pub figures: Vec<Drawn>,
    pub tables: Vec<TableShown>,
    pub claims: Vec<Judged>,
    /// The experiment whose runs these are, where it has none of its own; else empty.
    pub runs_from: String,
    pub runs: usize,
    pub cpu_seconds: f64,
    pub packet_hops: u64,
    /// Runs in which the simulated network failed: which, and why.
    pub failures: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct PaperPage {
    /// `pcn`.
    pub id: String,
    pub title: String,
    pub authors: String,
    pub venue: String,
    pub year: u64,
    pub what: String,
    pub experiments: Vec<ExperimentPage>,
    pub deviations: Vec<Deviation>,
}

/// Everything of one `xoff reproduce`.
#[derive(Clone, Debug, Default)]
pub struct Book {
    pub version: String,
    /// Of the checkout that the experiments were read from; empty if it is none.
    pub commit: String,
    /// As typed.
    pub command: String,
    pub scale: String,
    pub seeds: Option<u64>,
    pub jobs: usize,
    /// All that the experiments rest on, each counted once.
    pub runs: usize,
    /// Seconds of this command; runs found finished are not in it.
    pub wall_seconds: f64,
    /// CPU seconds of all runs, whenever they were made.
    pub cpu_seconds: f64,
    pub papers: Vec<PaperPage>,
}

impl Book {
    pub fn claims(&self) -> impl Iterator<Item = &Judged> {
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

    pub fn claims(&self) -> impl Iterator<Item = &Judged> {
        self.experiments.iter().flat_map(|experiment| &experiment.claims)
    }
}
