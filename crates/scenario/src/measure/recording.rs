//! What a run left in memory: only what its measures may need, since a large run has millions of
//! records.

use crate::traffic::JobInterval;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_fabric::record::{Counters, Failure, FlowRecord, Metric, PauseRecord, PortReport};

/// One response on a connection that stays open: such a flow is endless, so its record tells nothing of
/// the responses it carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    /// See [`FlowRecord::source`].
    pub source: u32,
    /// See [`FlowRecord::label`].
    pub label: u32,
    /// The node that answers.
    pub src: u32,
    /// The node that asked.
    pub dst: u32,
    /// Class of the connection.
    pub class: u8,
    /// Time at which the source requested it.
    pub asked: Time,
    /// The sender knows that all of it has arrived.
    pub done: Option<Time>,
}

/// Everything measures look at.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// In the order of their ends, without their paths.
    pub flows: Vec<FlowRecord>,
    /// PAUSE frames; RESUMEs too if a measure looks at them.
    pub pauses: Vec<PauseRecord>,
    /// Responses on connections that stay open.
    pub responses: Vec<Response>,
    /// What jobs did.
    pub intervals: Vec<JobInterval>,
    /// Only those that some measure needs.
    pub series: BTreeMap<SeriesKey, Series>,
    /// One per port of the network.
    pub ports: Arc<Vec<PortReport>>,
    /// Counters of the whole run.
    pub counters: Counters,
    /// The simulated time at which the run ended.
    pub sim_end: Time,
    /// Why the run ended early.
    pub failure: Option<Failure>,
    /// When the first deadlock was seen.
    pub deadlock_at: Option<Time>,
    /// The world's account of packets did not balance: a fault of the simulator.
    pub imbalance: Option<String>,
    /// CPU time of the run without its set-up.
    pub cpu_seconds: f64,
}

/// One probed quantity of one port (and class) or of one flow, by [`FlowRecord::id`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SeriesKey {
    /// What is probed.
    pub metric: Metric,
    /// A port, or a flow where [`Metric`] is of flows.
    pub entity: u32,
    /// Zero where the metric has no classes.
    pub class: u8,
}

/// The instants at which a probe samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The first of them.
    pub from: Time,
    /// Between two of them; above zero.
    pub step: Span,
    /// The last possible one.
    pub until: Time,
}

impl Grid {
    pub(crate) fn at(&self, index: u64) -> Time {
        Time::from_ps(self.from.ps() + index * self.step.ps())
    }

    /// How many instants there are up to `end`.
    pub fn instants(&self, end: Time) -> u64 {
        let end = end.min(self.until);
        if end < self.from { 0 } else { (end - self.from).ps() / self.step.ps() + 1 }
    }
}

/// Samples at consecutive instants of a grid.
#[derive(Clone, Debug)]
pub struct Series {
    /// Label of the flow; zero for ports.
    pub label: u32,
    /// Sampling times of its probe.
    pub grid: Grid,
    /// Number of the first sample's instant.
    pub first: u64,
    /// Without gaps, in the unit of the world.
    pub values: Vec<f64>,
}

impl Series {
    /// Samples come in order of time; one that is there already stays, and a gap is filled with zeros.
    pub fn push(&mut self, at: Time, value: f64) {
        let index = (at.saturating_since(self.grid.from).ps() / self.grid.step.ps()).saturating_sub(self.first);
        let known = self.values.len() as u64;
        if index < known {
            return;
        }
        // A quantity that was not there for a while, such as the queue of a shaper, was nothing.
        self.values.extend(std::iter::repeat_n(0.0, (index - known) as usize));
        self.values.push(value);
    }
}

/// What must be kept.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Records of flows.
    pub flows: bool,
    /// Records of PAUSE frames.
    pub pauses: bool,
    /// RESUMEs among the pauses.
    pub resumes: bool,
    /// Repetitions of timed signalling among the pauses.
    pub refreshes: bool,
    /// Responses on connections that stay open.
    pub responses: bool,
    /// What jobs did.
    pub intervals: bool,
    /// Sampling times by metric, port and class.
    pub ports: HashMap<SeriesKey, Grid>,
    /// Sampling times by metric and label.
    pub labels: HashMap<(Metric, u32), Grid>,
}
