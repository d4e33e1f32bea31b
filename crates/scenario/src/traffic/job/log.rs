//! What jobs did, while they run: written by their sources, read by whoever drives the run.

use xoff_engine::Time;
use xoff_jobs::Interval;

/// An activity of a job in one iteration, from its begin to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobInterval {
    /// The job, by the place of its table among the scenario's `[[traffic]]`.
    pub job: u32,
    /// From zero.
    pub iteration: u32,
    /// Index into the activities of the job's graph.
    pub activity: u32,
    /// When the first of its operations began.
    pub begin: Time,
    /// When the last was over; `None` if the run ended before.
    pub end: Option<Time>,
}

impl JobInterval {
    pub(crate) fn new(job: u32, interval: Interval) -> JobInterval {
        let Interval { iteration, activity, begin, end } = interval;
        JobInterval { job, iteration, activity, begin, end }
    }
}

/// Where sources write and drivers read.
#[derive(Debug, Default)]
pub struct JobLog {
    /// In the order in which they ended; those that did not, last.
    pub done: Vec<JobInterval>,
}
