//! What is known when a run has ended.

use crate::crew::Windows;
use std::time::Duration;
use xoff_engine::Time;
use xoff_fabric::record::{Counters, Failure, PortReport, StormRecord};

/// What is known when a run has ended.
pub struct RunEnd {
    pub counters: Counters,
    pub ports: Vec<PortReport>,
    pub sim_end: Time,
    pub wall: Duration,
    pub run_cpu: Duration,
    pub setup: Duration,
    /// Parts of the network that ran by themselves, and on how many threads.
    pub parts: usize,
    pub threads: usize,
    pub windows: Option<Windows>,
    pub peak_rss: u64,
    /// What is wrong if the world's own account of packets does not balance.
    pub imbalance: Option<String>,
    pub failure: Option<Failure>,
    /// When the first deadlock was seen, whether or not it ended the run.
    pub deadlock_at: Option<Time>,
    /// What watchdogs did.
    pub storms: Vec<StormRecord>,
    /// Per capture: frames that came after its limit.
    pub missed_frames: Vec<u64>,
}
