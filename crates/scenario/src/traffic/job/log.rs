//! What jobs did, while they run: written by their sources, read by whoever drives the run.

use std::collections::BTreeMap;
use xoff_jobs::Interval;
use xoff_jobs::settle::Settled;

/// An activity of a job in one iteration, from its begin to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobInterval {
    /// The job, by the place of its table among the scenario's `[[traffic]]`.
    pub job: u32,
    /// Counts in the job's own graph.
    pub interval: Interval,
}

/// Where sources write and drivers read.
#[derive(Debug, Default)]
pub struct JobLog {
    /// In the order in which they ended; those that did not, last.
    pub done: Vec<JobInterval>,
    /// Jobs whose iterations are known well enough for now, and what is known.
    pub settled: BTreeMap<u32, Settled>,
    /// Jobs that must be so before any stops, less those that have ended.
    pub waiting: usize,
    /// All are: no further iteration begins.
    pub stopped: bool,
}
