//! What a run came to, in one value: printed as tables, written as JSON, compared with others.

use super::incident::{Disruption, Episode, Warning};
use serde::{Deserialize, Serialize};
use xoff_fabric::plan::Plan;
use xoff_run::crew::Windows;
use xoff_scenario::measure::{Curve, Measures, Recording};
use xoff_scenario::number::{brief, thousands};

/// The whole summary. Its JSON form is the program-facing result of `--json` and of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of Xoff.
    pub version: String,
    /// Name of the scenario.
    pub name: String,
    /// All schemes of the run, joined by `+`.
    pub scheme: String,
    pub seed: u64,
    pub sim_time_us: f64,

    pub flows_total: u64,
    /// Finite flows whose every byte was delivered.
    pub flows_completed: u64,
    /// Flows without an end of their own; not counted as unfinished.
    pub flows_endless: u64,
    pub fct_us: Distribution,
    pub slowdown: Distribution,
    pub by_size: Vec<SizeClass>,
    /// The finite flows of each `[[traffic]]` table that had some.
    pub by_source: Vec<SourceFlows>,
    /// Endless flows by label.
    pub throughput: Vec<Throughput>,
    /// Payload over time, from the first start until 90 % of all delivered payload had arrived; each flow's
    /// counts as evenly delivered over its life.
    pub goodput90_gbps: f64,
    /// All payload over the simulated time: the last flow decides it.
    pub goodput_to_end_gbps: f64,

    pub packets_sent: u64,
    pub packets_delivered: u64,
    pub packets_retransmitted: u64,
    pub delivered_bytes: u64,
    pub packet_hops: u64,
    pub events: u64,
    pub marks: u64,
    pub notifications: u64,
    /// Notices that switches did not make, because their lossless class had no room for them.
    #[serde(default)]
    pub notices_refused: u64,
    pub acks: u64,
    pub naks: u64,
    pub timeouts: u64,
    /// All drops together.
    pub drops: u64,
    pub drops_lossless: u64,
    pub drops_lossy: u64,
    pub drops_fault: u64,
    pub pause_frames: u64,
    pub resume_frames: u64,
    pub refresh_frames: u64,
    pub deadlocks: u64,
    pub watchdog_storms: u64,

    /// The longest egress queue of a switch.
    pub worst_queue: Option<QueuePeak>,
    /// Ingress queues that came nearest to their XOFF threshold, nearest first.
    pub nearest_xoff: Vec<IngressPeak>,
    /// PAUSE frames by who sends them to whom.
    pub pauses: Vec<LayerPauses>,
    pub busiest_links: Vec<LinkUse>,

    /// What a disturbance did to long flows, where the run had both.
    pub episode: Option<Episode>,

    /// Storms and watchdogs, in order of time.
    #[serde(default)]
    pub disruptions: Vec<Disruption>,

    /// What to know before trusting the numbers.
    #[serde(default)]
    pub warnings: Vec<Warning>,

    /// What the scenario measures itself, in its order.
    #[serde(default)]
    pub measures: Vec<MeasuredRow>,

    /// Files of captured frames, in the scenario's order.
    #[serde(default)]
    pub captures: Vec<CaptureRow>,

    pub wall_seconds: f64,
    pub run_cpu_seconds: f64,
    pub setup_seconds: f64,
    pub packet_hops_per_cpu_second: Option<f64>,
    /// Parts of the network that ran by themselves, and on how many threads; results do not depend on either.
    #[serde(default = "one")]
    pub parts: usize,
    #[serde(default = "one")]
    pub threads: usize,
    /// What it cost that they wait for each other.
    #[serde(default)]
    pub windows: Option<Windows>,
    pub peak_rss_bytes: u64,

    pub checks: Vec<Check>,
    /// Why the run ended early, in words.
    pub failure: Option<String>,
}

fn one() -> usize {
    1
}

/// Mean and nearest-rank percentiles; empty when there was nothing to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    pub count: u64,
    pub mean: Option<f64>,
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    /// The 99.9th.
    pub p999: Option<f64>,
    pub max: Option<f64>,
}

/// The finite flows of one traffic source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceFlows {
    pub source: String,
    pub flows: u64,
    pub completed: u64,
    pub fct_us: Distribution,
    pub slowdown: Distribution,
    pub by_size: Vec<SizeClass>,
    /// Percentiles of the slowdown over sizes, in groups of equally many flows.
    pub slowdown_by_size: Vec<SlowdownGroup>,
    pub cdf: Cdf,
}

/// Nearest-rank percentiles at fixed percentages: completion times and slowdowns, each in its own order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cdf {
    pub percent: Vec<f64>,
    pub fct_us: Vec<f64>,
    pub slowdown: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeClass {
    pub name: String,
    pub flows: u64,
    pub completed: u64,
    pub fct_us: Distribution,
    pub slowdown: Distribution,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowdownGroup {
    pub smallest_bytes: u64,
    /// The median size stands for the group in figures.
    pub median_bytes: u64,
    pub largest_bytes: u64,
    pub flows: u64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

/// Endless flows of one label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    pub label: String,
    pub flows: u64,
    /// Mean per flow from its start to its end or the run's.
    pub mean_gbps: f64,
    pub min_gbps: f64,
    pub max_gbps: f64,
    /// Jain's index among them.
    pub fairness: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuePeak {
    pub port: String,
    pub priority: u8,
    pub peak_bytes: u64,
    pub mean_bytes: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IngressPeak {
    /// `leaf0 from h3`.
    pub ingress: String,
    pub priority: u8,
    pub peak_bytes: u64,
    /// The smallest threshold it was held against.
    pub xoff_bytes: u64,
    pub headroom_bytes: u64,
    /// Peak over threshold; above 1 it sent PAUSE.
    pub of_xoff: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerPauses {
    pub from: String,
    pub to: String,
    pub pause_frames: u64,
    pub resume_frames: u64,
    pub refresh_frames: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkUse {
    pub port: String,
    pub rate_gbps: f64,
    pub utilisation: f64,
    /// Share of the run in which its most paused priority was paused.
    pub paused: f64,
}

/// One number or curve of a `[[measure]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRow {
    pub name: String,
    /// Empty for a plain number.
    pub unit: String,
    /// `None` if it cannot be told, and for a curve.
    pub value: Option<f64>,
    /// What was waited for did not come within the run; there is no value.
    pub never: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<Curve>,
}

impl MeasuredRow {
    /// Takes every measure of a run, in the order of the tables.
    pub fn all(measures: &Measures, plan: &Plan, recording: &Recording) -> Vec<MeasuredRow> {
        let mut measured = measures.take(plan, recording);
        let row = |(name, unit): (String, String)| {
            let number = measured.numbers.get(&name).copied().unwrap_or(f64::NAN);
            MeasuredRow {
                unit,
                value: Some(number).filter(|number| number.is_finite()),
                never: number.is_infinite(),
                curve: measured.curves.remove(&name),
                name,
            }
        };
        measures.names_and_units().map(row).collect()
    }

    /// `3.08`, `never`, `-`, or how many points a curve has.
    pub fn text(&self) -> String {
        match (&self.curve, self.never) {
            (Some(curve), _) => format!("curve of {} points", curve.x.len()),
            (None, true) => "never".to_owned(),
            (None, false) => self.value.map_or_else(|| "-".to_owned(), MeasuredRow::show),
        }
    }

    /// Whole numbers in full, others briefly.
    pub fn show(value: f64) -> String {
        if value.fract() == 0.0 && (0.0..1e15).contains(&value) { thousands(value as u64) } else { brief(value) }
    }
}

/// One `[[capture]]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureRow {
    pub name: String,
    /// Within the run directory.
    pub file: String,
    pub frames: u64,
    /// Frames that came after the capture's limit.
    pub missed: u64,
}

/// One promise of the simulator, held against this run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub held: bool,
    /// It does not hold, and the scenario says that it need not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allowed: bool,
    pub detail: String,
}

impl Summary {
    /// One line of JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|e| format!("{{\"error\":\"{e}\"}}"))
    }

    /// The JSON of `run.json`, for people too.
    pub fn json_pretty(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_else(|e| format!("{{\"error\":\"{e}\"}}"));
        text.push('\n');
        text
    }

    /// Why the run counts as failed, if so: what ended it early, or the checks that did not hold and
    /// should have.
    pub fn why_failed(&self) -> Option<String> {
        if self.failure.is_some() {
            return self.failure.clone();
        }
        let broken = self.checks.iter().filter(|check| !check.held && !check.allowed);
        let failed: Vec<String> = broken.map(|check| format!("not so: {} ({})", check.name, check.detail)).collect();
        (!failed.is_empty()).then(|| failed.join("; "))
    }

    /// Every check held and nothing failed.
    pub fn sound(&self) -> bool {
        self.failure.is_none() && self.checks.iter().all(|check| check.held)
    }
}
