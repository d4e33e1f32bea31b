//! What `run.json` says of jobs.

use crate::contract;
use serde::Deserialize;

contract! {
    /// One job.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    pub struct JobRow as Job {
        /// Of its `[[traffic]]` table.
        pub name: String,
        /// GPUs that take part.
        pub ranks: u32,
        /// That it was to do.
        pub iterations: u32,
        /// How many of them were run: fewer where it settled before.
        pub iterations_run: u32,
        /// Mean time of an iteration, where it settled.
        pub iteration_us: Option<f64>,
        /// Half-width of the 95 % interval of that mean.
        pub iteration_half_width_us: Option<f64>,
        /// When it started.
        pub start_us: f64,
        /// When its last activity was over, or would have been, where it settled; `None` if it did not end within the run.
        pub end_us: Option<f64>,
        /// Job completion time: from start to end.
        pub jct_us: Option<f64>,
        /// Half-width that the iterations that were not run give that, where it settled.
        pub jct_half_width_us: Option<f64>,
        /// Mean over the ranks of the time in which each computed.
        pub compute_us: f64,
        /// Mean over the ranks of the time in which each took part in a collective or a message.
        pub communication_us: f64,
        /// Mean over the ranks of the communication time that the rank's own computing does not cover.
        pub exposed_us: f64,
        /// `exposed_us` over `jct_us`.
        pub exposed_share: Option<f64>,
        /// Collectives and messages of one name and size, over all iterations.
        pub collectives: Vec<CollectiveRow>,
    }
}

contract! {
    /// Collectives of one name and size.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    pub struct CollectiveRow as JobCollective {
        /// As the job calls it.
        pub name: String,
        /// `all-reduce`, `point-to-point` and so on.
        pub kind: String,
        /// That take part in one.
        pub ranks: u32,
        /// Size as nccl-tests defines it.
        pub bytes: u64,
        /// How many came to their end.
        pub completed: u64,
        /// How many began and did not.
        pub unfinished: u64,
        /// Mean time, from the first rank's begin to the last one's end.
        pub time_us: Option<f64>,
        /// The shortest.
        pub min_us: Option<f64>,
        /// The longest.
        pub max_us: Option<f64>,
        /// Algorithm bandwidth of the mean time, as nccl-tests reports it, in 10^9 bytes per second.
        pub algbw_gb_per_s: Option<f64>,
        /// Bus bandwidth, likewise.
        pub busbw_gb_per_s: Option<f64>,
        /// The rank that ended last most often, by name.
        pub slowest: String,
    }
}

impl JobRow {
    /// Whether it ended within the run.
    pub fn finished(&self) -> bool {
        self.jct_us.is_some()
    }

    /// Whether iterations are extrapolated.
    pub fn settled(&self) -> bool {
        self.iteration_us.is_some()
    }

    /// What became of it.
    pub fn state(&self) -> &'static str {
        match (self.settled(), self.finished()) {
            (true, _) => "settled",
            (false, true) => "finished",
            (false, false) => "unfinished",
        }
    }
}

/// From the first start to the last end; `None` without jobs, or if one did not end.
pub(crate) fn time_us(jobs: &[JobRow]) -> Option<f64> {
    let start = jobs.iter().map(|job| job.start_us).reduce(f64::min)?;
    let ends: Option<Vec<f64>> = jobs.iter().map(|job| job.end_us).collect();
    Some(ends?.into_iter().fold(start, f64::max) - start)
}
