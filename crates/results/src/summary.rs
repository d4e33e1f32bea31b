//! What a run came to, in one value: printed as tables, written as JSON, compared with others.

use super::incident::{DeadLinkRow, Disruption, Episode, Warning};
use super::jobs::rows::JobRow;
use super::live_timing::LiveTiming;
use serde::{Deserialize, Serialize};
use xoff_fabric::plan::Plan;
use xoff_run::threads::Windows;
use xoff_scenario::measure::{Curve, CurveAxes, Measures, Recording};
use xoff_scenario::number::{brief, thousands};

/// The whole summary. Its JSON form is the program-facing result of `--json` and of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub version: String,
    /// Name of the scenario.
    pub name: String,
    /// All schemes of the run, joined by `+`.
    pub scheme: String,
    pub seed: u64,
    /// When the run ended, in simulated time.
    pub sim_time_us: f64,
    /// Results of flows: how many, how long they took, how fast they were.
    #[serde(flatten)]
    pub flows: FlowResults,
    /// Training jobs, in the order of their tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobRow>,
    /// From the first start of a job to the last end; `None` without jobs, or if one did not end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_time_us: Option<f64>,
    #[serde(flatten)]
    pub counts: Counts,
    /// The longest egress queue of a switch.
    pub worst_queue: Option<QueuePeak>,
    /// Ingresses that used most of their headroom, those that used none by what they held.
    pub nearest_xoff: Vec<IngressPeak>,
    /// PAUSE frames by who sends them to whom.
    pub pauses: Vec<LayerPauses>,
    /// At most five, by utilisation.
    pub busiest_links: Vec<LinkUse>,
    /// How packets were spread over equal-cost paths; `None` where no switch had several that were used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingResults>,
    /// What a disturbance did to long flows, where the run had both.
    pub episode: Option<Episode>,
    /// Storms and watchdogs, in order of time.
    #[serde(default)]
    pub disruptions: Vec<Disruption>,
    /// Links that failed, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dead_links: Vec<DeadLinkRow>,
    /// What to know before trusting the numbers.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// What the scenario measures itself, in its order.
    #[serde(default)]
    pub measures: Vec<MeasuredRow>,
    /// Files of captured frames, in the scenario's order.
    #[serde(default)]
    pub captures: Vec<CaptureRow>,
    /// What only a run on real packets has.
    #[serde(alias = "reality", default, skip_serializing_if = "Option::is_none")]
    pub live_timing: Option<LiveTiming>,
    /// Time, memory and threads that the run took; without its set-up unless it says so.
    #[serde(flatten)]
    pub cost: Cost,
    /// What must be so in every run.
    pub checks: Vec<Check>,
    /// What its traffic still waited for when it ended, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// Why the run ended early, in words.
    pub failure: Option<String>,
}

/// Results of flows: how many, how long they took, how fast they were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowResults {
    /// All that started, endless ones included.
    pub flows_total: u64,
    /// Finite flows whose every byte was delivered.
    pub flows_completed: u64,
    /// Flows without an end of their own; not counted as unfinished.
    pub flows_endless: u64,
    /// Completion times of finite flows that finished: from the start until the last byte had arrived.
    pub fct_us: Distribution,
    /// The same over what the flow would take alone on the idle network.
    pub slowdown: Distribution,
    /// The finite flows by size, in four classes that are always there.
    pub by_size: Vec<SizeClass>,
    /// Slowdowns by the definition of the HPCC authors' scripts, in runs by the rules of their simulator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowdown_hpcc: Vec<HpccClass>,
    /// The finite flows of each `[[traffic]]` table that had some.
    pub by_source: Vec<SourceFlows>,
    /// Endless flows by label.
    pub throughput: Vec<Throughput>,
    /// Payload over time, from the first start until flows with 90 % of all delivered payload were over: what those
    /// flows delivered. An unfinished flow counts at the end of the run.
    pub goodput90_gbps: f64,
    /// All payload over the simulated time: the last flow decides it.
    pub goodput_to_end_gbps: f64,
}

/// How packets were spread over equal-cost paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutingResults {
    /// Mode of `[routing]`.
    pub mode: String,
    /// Largest load over the mean load of equal-cost links: the mean over groups of links and windows, weighted by bytes.
    /// `None` where nothing was kept of windows.
    pub load_max_over_mean: Option<f64>,
    /// The largest of any group and window.
    pub load_max_over_mean_worst: Option<f64>,
    /// Flows whose packets took, or might have taken, several paths.
    pub flows_spread: u64,
    /// Paths that such a flow took, in the mean.
    pub paths_used: Option<f64>,
    /// Data packets of such flows that arrived after one with a higher PSN, over those that they sent for the first time.
    pub reordered_share: Option<f64>,
    /// Most packets by which one was late.
    pub reorder_extent_max: u64,
    /// Data packets of such flows that were sent again, over all that they sent.
    pub retransmitted_share: Option<f64>,
}

/// Totals of the run; `None`: a run at flow level cannot know it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// `packet` or `flow`: whether packets were followed, or flows had fair rates.
    #[serde(default = "packet")]
    pub fidelity: String,
    /// Data packets that left their senders, retransmissions included.
    pub packets_sent: u64,
    pub packets_delivered: u64,
    pub packets_retransmitted: Option<u64>,
    /// Payload, each byte once.
    pub delivered_bytes: u64,
    /// Packets, data and control, times links; PFC frames apart.
    pub packet_hops: Option<u64>,
    pub events: u64,
    pub marks: Option<u64>,
    /// Congestion notifications of receivers and switches.
    pub notifications: Option<u64>,
    /// Notices that switches did not make, because their lossless class had no room for them.
    #[serde(default)]
    pub notices_refused: Option<u64>,
    pub acks: Option<u64>,
    pub naks: Option<u64>,
    /// Retransmission timers that ran out.
    pub timeouts: Option<u64>,
    pub drops: Option<u64>,
    /// Packets of lossless classes for which a switch had no room; there should be none.
    pub drops_lossless: Option<u64>,
    /// Packets of lossy classes for which a switch had no room.
    pub drops_lossy: Option<u64>,
    /// Data packets whose payload a switch has cut off, because their class had no room.
    #[serde(default)]
    pub packets_trimmed: Option<u64>,
    /// Lost on the wire at random, by a failed link or by a watchdog.
    pub drops_fault: Option<u64>,
    /// First PAUSEs; repetitions are `refresh_frames`.
    pub pause_frames: Option<u64>,
    /// PFC frames that let go on.
    pub resume_frames: Option<u64>,
    /// Repetitions of a PAUSE in timed signalling.
    pub refresh_frames: Option<u64>,
    /// Circles of buffers that were found to wait for each other.
    pub deadlocks: Option<u64>,
    /// How often a watchdog took a queue for the victim of a PFC storm.
    pub watchdog_storms: Option<u64>,
}

/// Time, memory and threads that the run took; without its set-up unless it says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Of the run, without its set-up.
    pub wall_seconds: f64,
    /// Of all its threads, without its set-up.
    pub run_cpu_seconds: f64,
    /// Wall time until the first event.
    pub setup_seconds: f64,
    /// The speed of the simulator; `None` where no time was measured.
    pub packet_hops_per_cpu_second: Option<f64>,
    /// Parts of the network that ran by themselves, and on how many threads; results do not depend on either.
    #[serde(default = "one")]
    pub parts: usize,
    #[serde(default = "one")]
    pub threads: usize,
    /// Why the network could not be divided into several parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_part_because: Option<String>,
    /// What it cost that they wait for each other.
    #[serde(default)]
    pub windows: Option<Windows>,
    /// The most memory that the process ever held, earlier runs included; 0 where the system does not tell.
    pub peak_rss_bytes: u64,
}

fn one() -> usize {
    1
}

fn packet() -> String {
    PACKET.to_owned()
}

/// Words of [`Summary::fidelity`].
pub const PACKET: &str = "packet";
pub const FLOW: &str = "flow";

/// Mean and nearest-rank percentiles; empty when there was nothing to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Values behind it.
    pub count: u64,
    pub mean: Option<f64>,
    pub p50: Option<f64>,
    /// The 95th; the maximum where there are fewer than 20 values.
    pub p95: Option<f64>,
    /// The 99th; the maximum where there are fewer than 100 values.
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: Option<f64>,
}

/// The finite flows of one traffic source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceFlows {
    /// Name of the table, with its number where two have the same.
    pub source: String,
    /// Finished or not.
    pub flows: u64,
    /// Those behind all the rest.
    pub completed: u64,
    pub fct_us: Distribution,
    pub slowdown: Distribution,
    pub by_size: Vec<SizeClass>,
    /// Percentiles of the slowdown over sizes, in groups of equally many flows.
    pub slowdown_by_size: Vec<SlowdownGroup>,
    /// The same in classes of size that are the same for every run, for means over several.
    #[serde(default)]
    pub slowdown_classes: Vec<SlowdownClass>,
    pub cdf: Cdf,
}

/// Nearest-rank percentiles at fixed percentages: completion times and slowdowns, each in its own order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cdf {
    /// 0 to 100; empty where no flow finished.
    pub percent: Vec<f64>,
    /// As many as `percent`.
    pub fct_us: Vec<f64>,
    /// As many as `percent`; not of the same flows as `fct_us`.
    pub slowdown: Vec<f64>,
}

/// Flows of a range of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeClass {
    /// `10-100 KB`: from the first on, below the second.
    pub name: String,
    /// Finished or not.
    pub flows: u64,
    /// Those behind the distributions.
    pub completed: u64,
    pub fct_us: Distribution,
    pub slowdown: Distribution,
}

/// Finished flows of a range of sizes: time until the last acknowledgement over HPCC's standalone time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HpccClass {
    /// As [`SizeClass::name`]; `all` for all of them.
    pub name: String,
    /// Of the flows whose last acknowledgement arrived.
    pub slowdown: Distribution,
}

/// Finished flows of similar sizes; flows of one size are in one group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowdownGroup {
    pub smallest_bytes: u64,
    /// The median size stands for the group in figures.
    pub median_bytes: u64,
    pub largest_bytes: u64,
    /// At least a twentieth of all, but for the last group.
    pub flows: u64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

/// Finished flows of a range of sizes whose ends are 1, 2 or 5 times a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowdownClass {
    pub from_bytes: u64,
    pub until_bytes: u64,
    /// At least one.
    pub flows: u64,
    pub p50: f64,
    pub p95: f64,
    /// Of the slowdowns; of fewer than 100 flows it is the largest.
    pub p99: f64,
}

impl SlowdownClass {
    /// Where it stands on a logarithmic axis: in the middle.
    pub fn place(&self) -> f64 {
        (self.from_bytes.max(1) as f64 * self.until_bytes as f64).sqrt()
    }
}

/// Endless flows of one label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    pub label: String,
    /// At least one.
    pub flows: u64,
    /// Mean per flow from its start to its end or the run's.
    pub mean_gbps: f64,
    pub min_gbps: f64,
    pub max_gbps: f64,
    /// Jain's index among them.
    pub fairness: Option<f64>,
}

/// An egress queue at its longest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuePeak {
    /// `leaf0->h3`.
    pub port: String,
    pub priority: u8,
    /// Frames, without gaps.
    pub peak_bytes: u64,
    /// Over the time of the whole run.
    pub mean_bytes: f64,
}

/// What PFC counts at an ingress, at its fullest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IngressPeak {
    /// `leaf0 from h3`.
    pub ingress: String,
    pub priority: u8,
    /// Frames, without gaps; headroom included.
    pub peak_bytes: u64,
    /// The smallest threshold it was held against.
    pub xoff_bytes: u64,
    /// What it may take beyond the threshold.
    pub headroom_bytes: u64,
    /// The most that it took of that at once.
    #[serde(default)]
    pub headroom_used_peak_bytes: u64,
}

/// PFC frames from one layer to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerPauses {
    /// Layer of the nodes that send them: `leaf`.
    pub from: String,
    /// Layer of the nodes that must stop: `host`.
    pub to: String,
    /// Without repetitions.
    pub pause_frames: u64,
    /// Frames that let go on.
    pub resume_frames: u64,
    /// Repetitions in timed signalling.
    pub refresh_frames: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkUse {
    /// `leaf0->h3`.
    pub port: String,
    /// At the beginning of the run.
    pub rate_gbps: f64,
    /// Share of the run in which it sent, 0 to 1, gaps and PFC frames included.
    pub utilisation: f64,
    /// Share of the run in which its most paused priority was paused; `None` at flow level.
    pub paused: Option<f64>,
}

/// One number or curve of a `[[measure]]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRow {
    /// As the scenario gave it, with a suffix where a measure has several statistics.
    pub name: String,
    /// Empty for a plain number.
    pub unit: String,
    /// `None` if it cannot be told, and for a curve.
    pub value: Option<f64>,
    /// What was waited for did not come within the run; there is no value.
    pub never: bool,
    /// In place of a number, with measures that give one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<Curve>,
    /// What the axes of the curve are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axes: Option<CurveAxes>,
}

impl MeasuredRow {
    /// Takes every measure of a run, in the order of the tables.
    pub fn all(measures: &Measures, plan: &Plan, recording: &Recording) -> Vec<MeasuredRow> {
        let mut measured = measures.take(plan, recording);
        let mut axes = measures.axes();
        let row = |(name, unit): (String, String)| {
            let number = measured.numbers.get(&name).copied().unwrap_or(f64::NAN);
            MeasuredRow {
                unit,
                value: Some(number).filter(|number| number.is_finite()),
                never: number.is_infinite(),
                curve: measured.curves.remove(&name),
                axes: axes.remove(&name),
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
    /// What should be so: `no deadlock`.
    pub name: String,
    pub held: bool,
    /// It does not hold, and the scenario says that it need not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allowed: bool,
    /// With numbers, whether it held or not.
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

    /// Whether flows had fair rates, and no packet was followed.
    pub fn is_at_flow_level(&self) -> bool {
        self.counts.fidelity == FLOW
    }

    /// Takes out what a run at flow level cannot know.
    pub(crate) fn forget_packets(&mut self) {
        self.counts = Counts {
            fidelity: FLOW.to_owned(),
            packets_sent: self.counts.packets_sent,
            packets_delivered: self.counts.packets_delivered,
            delivered_bytes: self.counts.delivered_bytes,
            events: self.counts.events,
            ..Counts::default()
        };
        (self.worst_queue, self.routing, self.cost.packet_hops_per_cpu_second) = (None, None, None);
        (self.nearest_xoff, self.pauses) = (Vec::new(), Vec::new());
        self.busiest_links.iter_mut().for_each(|link| link.paused = None);
    }

    /// Throughput of the endless flows that are traffic of their own: queue pairs of jobs are not.
    pub(crate) fn long_flows(&self) -> impl Iterator<Item = &Throughput> {
        self.flows.throughput.iter().filter(|of| !self.jobs.iter().any(|job| job.name == of.label))
    }

    /// Every check held and nothing failed.
    pub fn sound(&self) -> bool {
        self.failure.is_none() && self.checks.iter().all(|check| check.held)
    }
}
