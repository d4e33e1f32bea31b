//! What a run on real packets has beside its records: how well the machine kept up with the clock.

use super::grid::Grid;
use serde::{Deserialize, Serialize};
use xoff_engine::Time;
use xoff_scenario::number::{brief, bytes, microseconds, thousands};

/// What only a live run has. Times are in the scenario's own time unless they say "wall".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveTiming {
    /// What happens when the machine is late.
    pub clock: Clock,
    /// Times of the scenario are multiplied by it, rates divided: 1000 runs a microsecond in a millisecond.
    #[serde(rename = "time_dilation_factor", alias = "time_scale")]
    pub time_scale: f64,
    /// How long the clock stood still.
    pub slip: Slip,
    /// How late things were done that were due at an instant.
    pub lateness: Lateness,
    /// What became of frames between two software devices.
    pub frames: Frames,
    /// Frames that were not of this run, by why they were ignored.
    pub ignored: Vec<Ignored>,
    /// CPU time of the thread that runs the devices over wall time, 0 to 1.
    pub cpu_share: f64,
    /// Kernel and machine, in one line.
    pub machine: String,
    /// From the first event to the last.
    pub wall_seconds: f64,
    /// How the thread that runs the devices goes before others, in words.
    #[serde(default)]
    pub scheduling: String,
    /// What other processes counted, that ran the other nodes; none if this one ran all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partners: Option<Partners>,
    /// Whether the numbers can be trusted; see [`Verdict::of`].
    pub verdict: Verdict,
    /// Over time. They are in `live.parquet`, and not in `run.json`.
    #[serde(skip)]
    pub windows: Vec<Window>,
}

/// What the clock of a live run does when the machine is late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// Stands still until the machine has caught up.
    Elastic,
    /// Goes on, as the one on the wall.
    Wall,
}

impl Clock {
    /// As in `run.json`.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Elastic => "elastic",
            Clock::Wall => "wall",
        }
    }
}

/// Share of the wall time in which the clock stood still.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slip {
    /// 0 to 1.
    pub share: f64,
    /// The largest share that is accepted.
    pub bound: f64,
}

/// Nearest-rank percentiles of lateness, in nanoseconds of the scenario's time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    pub p50_ns: f64,
    pub p99_ns: f64,
    pub max_ns: f64,
    /// The largest 99th percentile that is accepted.
    pub bound_ns: f64,
}

/// Frames that crossed the kernel from one software device to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frames {
    /// Handed to the kernel.
    pub sent: u64,
    /// Taken from it.
    pub received: u64,
    /// Handed to it and never seen again.
    pub lost: u64,
    /// Received and believed, though no node of the run sent them.
    #[serde(default)]
    pub unaccounted: u64,
}

/// What all processes of a run counted together, each of which ran one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partners {
    /// Nodes whose counts did not come.
    pub missing: Vec<String>,
    /// Ports of this process by which nothing came, though their other ends sent.
    pub silent: Vec<String>,
    /// Frames that this process believed though the other end of their link sent fewer.
    pub unaccounted: u64,
    /// Payload that senders know to have arrived.
    pub acknowledged_bytes: u64,
    /// Payload that senders sent and know nothing of.
    pub open_bytes: u64,
    /// Payload that receivers took in.
    pub delivered_bytes: u64,
}

impl Partners {
    /// All counts came, and something by every link that was used.
    pub fn were_heard(&self) -> bool {
        self.missing.is_empty() && self.silent.is_empty()
    }

    /// Receivers have what was acknowledged, and no more than was sent.
    pub fn is_conserved(&self) -> bool {
        let most = self.acknowledged_bytes.saturating_add(self.open_bytes);
        (self.acknowledged_bytes..=most).contains(&self.delivered_bytes)
    }
}

/// Frames that arrived and were ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ignored {
    /// Why: `not of this run`, `malformed`.
    pub reason: String,
    pub frames: u64,
}

/// Whether the machine was fast enough for what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Slip and lateness are within their bounds.
    Kept,
    /// They are not: which, by how much, and what would help.
    TooSlow(String),
}

impl Verdict {
    /// Holds slip and lateness against their bounds.
    pub fn of(slip: &Slip, lateness: &Lateness) -> Verdict {
        // What is no number is above any bound.
        let within = |value: f64, bound: f64| value <= bound;
        let mut above = Vec::new();
        if !within(slip.share, slip.bound) {
            let (share, bound) = (share_text(slip.share), share_text(slip.bound));
            above.push(format!("the clock stood still for {share} of the time (bound {bound})"));
        }
        if !within(lateness.p99_ns, lateness.bound_ns) {
            let (p99, bound) = (nanoseconds(lateness.p99_ns), nanoseconds(lateness.bound_ns));
            above.push(format!("the 99th percentile of lateness is {p99} (bound {bound})"));
        }
        if above.is_empty() {
            return Verdict::Kept;
        }
        let what = above.join(", and ");
        Verdict::TooSlow(format!("{what}; raise the time scale, or leave the machine more idle"))
    }

    /// Why not, if the machine was too slow.
    pub fn too_slow(&self) -> Option<&str> {
        match self {
            Verdict::Kept => None,
            Verdict::TooSlow(why) => Some(why),
        }
    }
}

/// A stretch of a live run; a row of `live.parquet`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its end, in the scenario's time.
    pub at: Time,
    /// Its end since the start of the run, on the wall.
    pub wall_seconds: f64,
    /// Share of the wall time until then in which the clock stood still.
    pub slip: f64,
    /// As [`Lateness::p99_ns`], in the window; none if nothing was due.
    pub lateness_p99_ns: Option<f64>,
    /// As [`Lateness::max_ns`], likewise.
    pub lateness_max_ns: Option<f64>,
    /// Frames handed to the kernel in the window.
    pub frames: u64,
}

impl LiveTiming {
    /// The numbers behind the verdict.
    pub(crate) fn detail(&self) -> String {
        match &self.verdict {
            Verdict::TooSlow(why) => why.clone(),
            Verdict::Kept => {
                format!("slip {}, lateness p99 {}", share_text(self.slip.share), nanoseconds(self.lateness.p99_ns))
            }
        }
    }

    /// What the terminal and the report show.
    pub(crate) fn grid(&self) -> Grid {
        let mut grid = Grid::new(["on real packets", "", "bound"]);
        let (slip, late, frames) = (&self.slip, &self.lateness, &self.frames);
        grid.row(["slip", &share_text(slip.share), &share_text(slip.bound)]);
        grid.row(["lateness p99", &nanoseconds(late.p99_ns), &nanoseconds(late.bound_ns)]);
        grid.row(["lateness p50", &nanoseconds(late.p50_ns), ""]);
        grid.row(["lateness max", &nanoseconds(late.max_ns), ""]);
        grid.row(["frames sent", &thousands(frames.sent), ""]);
        grid.row(["frames received", &thousands(frames.received), ""]);
        grid.row(["frames lost by the kernel", &thousands(frames.lost), ""]);
        grid.row(["frames that no node sent", &thousands(frames.unaccounted), "0"]);
        for of in &self.ignored {
            grid.row([&format!("frames ignored: {}", of.reason), &thousands(of.frames), ""]);
        }
        grid.row(["CPU of the loop thread", &share_text(self.cpu_share), ""]);
        grid.row(["scheduling", &self.scheduling, ""]);
        grid.row(["wall time", &format!("{} s", brief(self.wall_seconds)), ""]);
        if let Some(partners) = &self.partners {
            grid.row(["acknowledged, all partners", &bytes(partners.acknowledged_bytes), ""]);
            grid.row(["delivered, all partners", &bytes(partners.delivered_bytes), ""]);
        }
        grid
    }

    /// The clock and the machine, in one sentence.
    pub(crate) fn setting(&self) -> String {
        let scale = brief_scale(self.time_scale);
        format!("{} clock, times multiplied by {scale}, on {}", self.clock.name(), self.machine)
    }
}

/// With the unit that fits.
pub(crate) fn nanoseconds(ns: f64) -> String {
    microseconds(ns / 1e3)
}

/// `1,000`, `2.5`: what was asked for is exact.
fn brief_scale(scale: f64) -> String {
    if scale.fract() == 0.0 && (0.0..1e15).contains(&scale) { thousands(scale as u64) } else { scale.to_string() }
}

/// `0.52%`: three digits, since bounds are small.
pub(crate) fn share_text(share: f64) -> String {
    format!("{}%", brief(share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn what_is_above_a_bound_is_said_with_both_numbers() {
        let kept = fixture::live_timing(0.01);
        assert_eq!(kept.verdict, Verdict::Kept, "a bound is the largest that is accepted");
        let slow = fixture::live_timing(0.0123);
        let why = slow.verdict.too_slow().unwrap();
        assert!(why.contains("for 1.23% of the time (bound 1.00%); raise"), "{why}");
        let late = Lateness { p99_ns: 2_500.0, ..slow.lateness };
        let both = Verdict::of(&slow.slip, &late);
        assert!(
            both.too_slow().unwrap().contains("(bound 1.00%), and the 99th percentile of lateness is 2.50 us (bound")
        );
        assert!(Verdict::of(&Slip { share: f64::NAN, bound: 0.1 }, &kept.lateness).too_slow().is_some());
    }

    #[test]
    fn partners_conserve_what_was_acknowledged_and_no_more_than_was_sent() {
        let of = |acknowledged_bytes, open_bytes, delivered_bytes| {
            Partners { acknowledged_bytes, open_bytes, delivered_bytes, ..Partners::default() }.is_conserved()
        };
        assert!(of(0, 0, 0) && of(100, 0, 100) && of(100, 50, 120) && of(100, 50, 150));
        assert!(!of(100, 0, 0) && !of(0, 0, 100) && !of(100, 50, 99) && !of(100, 50, 151));
    }

    #[test]
    fn the_json_says_the_verdict_and_leaves_the_windows_to_the_table() {
        let value = serde_json::to_value(fixture::live_timing(0.5)).unwrap();
        assert!(value["verdict"]["too_slow"].as_str().unwrap().starts_with("the clock stood still"));
        assert_eq!((&value["clock"], value.get("windows")), (&serde_json::json!("elastic"), None));
        assert_eq!(serde_json::to_value(fixture::live_timing(0.0)).unwrap()["verdict"], "kept");
        let back: LiveTiming = serde_json::from_value(value).unwrap();
        assert_eq!(LiveTiming { windows: Vec::new(), ..fixture::live_timing(0.5) }, back);
    }
}
