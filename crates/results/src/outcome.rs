//! What is known of a run before and after it.

use super::curves::Curves;
use super::incident::Warning;
use super::jobs::gather::JobFacts;
use super::jobs::timeline::Timeline;
use super::shared_links::SharedLinks;
use super::summary::Summary;
use std::path::PathBuf;
use xoff_engine::Time;
use xoff_fabric::plan::Plan;
use xoff_fabric::record::Failure;
use xoff_scenario::Attachment;

/// What is known before a run starts.
pub struct RunContext<'a> {
    pub(crate) name: String,
    /// Names of the schemes, by [`FlowRecord::scheme`](xoff_fabric::record::FlowRecord::scheme).
    pub(crate) schemes: Vec<String>,
    pub(crate) seed: u64,
    pub(crate) plan: &'a Plan,
    /// Mode of `[routing]`.
    pub(crate) routing: &'static str,
    /// By [`FlowRecord::label`](xoff_fabric::record::FlowRecord::label).
    pub(crate) labels: Vec<String>,
    /// By [`FlowRecord::source`](xoff_fabric::record::FlowRecord::source).
    pub(crate) sources: Vec<String>,
    /// The scenario with every default filled in, as it will stand in `scenario.toml`.
    pub(crate) scenario: String,
    /// Files it names, kept beside it so that the directory can be run again.
    pub(crate) attachments: Vec<Attachment>,
    /// CSV twins of the tables.
    pub(crate) csv: bool,
    /// All rows of the tables stay in memory, whether or not there are files.
    pub(crate) collect: bool,
    /// A folder for the flows alone, without their scheme.
    pub(crate) flows: Option<PathBuf>,
    /// Figures as files of their own; the report has them in any case.
    pub(crate) figures: bool,
    /// Tables of what ports and flows did, window by window.
    pub(crate) activity: bool,
    pub(crate) jobs: Vec<JobFacts>,
    /// The run is on real packets, and has a table of its own.
    pub(crate) live: bool,
    pub(crate) version: String,
    /// When something is meant to upset the network; `None` lets the results find it.
    pub(crate) disturbance: Option<Time>,
    /// What is to be said of the scenario itself.
    pub(crate) warnings: Vec<Warning>,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub summary: Summary,
    /// Why it ended early, as data.
    pub failure: Option<Failure>,
    pub(crate) curves: Curves,
    /// What the ranks of its jobs did.
    pub(crate) timelines: Vec<Timeline>,
    /// How links were shared by flows with several paths.
    pub(crate) shared: SharedLinks,
    pub(crate) scenario: String,
    /// The directory, if one was asked for.
    pub directory: Option<PathBuf>,
}

impl Outcome {
    /// Whether this machine ended it, for want of memory or time: it says nothing of the simulated network.
    pub fn gave_up(&self) -> bool {
        matches!(self.failure, Some(Failure::Memory { .. } | Failure::Time { .. }))
    }
}

/// What the runs in the directory of a comparison are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Schemes side by side, each under one seed or several.
    Schemes,
    /// One scenario under several seeds.
    Seeds,
}

impl Kind {
    /// The file that says all, and by which the directory is known as finished.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Kind::Schemes => "comparison.json",
            Kind::Seeds => "seeds.json",
        }
    }
}
