//! What happened in a run that a reader must know of: disruptions, the episode of a disturbance, warnings.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A time in which PFC did not work as it should.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disruption {
    pub what: What,
    /// The host that floods, or the egress that a watchdog took over.
    pub place: String,
    pub priority: u8,
    pub from_us: f64,
    /// `None`: it lasted when the run ended.
    pub until_us: Option<f64>,
    /// Packets that a watchdog dropped there.
    pub packets_dropped: u64,
    /// Finite flows that did not finish because of it.
    pub flows_unfinished: u64,
    /// Of a storm: the traffic whose flows had to go to the host while it lasted, each once.
    #[serde(default)]
    #[serde(alias = "held_up")]
    pub affected_traffic: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A host sends PAUSE without end.
    Storm,
    /// A switch no longer obeys PAUSE at a port, and drops or forwards.
    Watchdog,
}

impl What {
    pub fn name(self) -> &'static str {
        match self {
            What::Storm => "PAUSE storm",
            What::Watchdog => "watchdog",
        }
    }
}

/// A link that failed, and what was lost on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadLinkRow {
    /// By one of its ports.
    pub link: String,
    pub from_us: f64,
    /// `None`: it was down when the run ended.
    pub until_us: Option<f64>,
    /// Packets on it or in the queues of its ports when it failed, and those sent to it later.
    pub packets_lost: u64,
    /// From the failure to the last of these; `None` if nothing was lost.
    pub time_on_dead_path_us: Option<f64>,
}

/// A disturbance, and what it did to the long flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// The sources that disturbed.
    pub cause: String,
    pub start_us: f64,
    /// When the last flow of the cause was delivered; the end of the run if one was not.
    pub end_us: f64,
    /// PAUSE frames toward the hosts of the long flows since the disturbance; `None` if the run
    /// kept no pauses.
    pub pauses_toward_senders: Option<u64>,
    /// From the first to the last of these; zero without any.
    #[serde(alias = "tree_us")]
    pub congestion_tree_us: Option<f64>,
    pub flows: Vec<EpisodeFlow>,
}

/// A long flow before, during and after. Rates are payload delivered, in Gb/s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeFlow {
    pub name: String,
    /// Mean over the second half of the time between its start and the disturbance.
    pub before_gbps: Option<f64>,
    pub during_gbps: Option<f64>,
    pub after_gbps: Option<f64>,
    /// The lowest rate its scheme allowed it during the disturbance, in wire bits; the rest of what
    /// it lost is the network's doing. `None` if this was not probed.
    #[serde(alias = "cut_to_gbps")]
    pub min_allowed_gbps: Option<f64>,
    /// See [`recovery_time`](xoff_scenario::measure::metrics::recovery_time); `None` if it had not recovered when the run ended.
    pub recovery_us: Option<f64>,
}

/// Something about a run or its scenario that may mislead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// For programs: `timeouts-without-loss`, `marks-after-pause`, `tuned-for-slower-ports`, `few-flows`, `unended-traffic`.
    pub kind: String,
    /// A sentence without its full stop.
    pub what: String,
    /// What the sentence says, by name with unit.
    pub numbers: BTreeMap<String, f64>,
    /// What to do; another sentence.
    pub remedy: String,
}

impl Warning {
    pub fn new(kind: &str, what: String, remedy: String, numbers: &[(&str, f64)]) -> Warning {
        let numbers = numbers.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        Warning { kind: kind.to_owned(), what, numbers, remedy }
    }

    /// Both sentences.
    pub fn text(&self) -> String {
        format!("{}. {}.", self.what, self.remedy)
    }

    /// For terminals: `warning[KIND]: ...`, the kind as in run.json.
    pub fn line(&self) -> String {
        format!("warning[{}]: {}", self.kind, self.text())
    }

    /// For terminals, with the schemes that it concerns: `warning[KIND] SCHEMES: ...`.
    pub fn line_of(&self, schemes: &str) -> String {
        format!("warning[{}] {schemes}: {}", self.kind, self.text())
    }
}
