//! What is known when a run has ended.

use crate::threads::Windows;
use std::sync::Arc;
use std::time::Duration;
use xoff_engine::Time;
use xoff_fabric::record::{Counters, DeadLink, Failure, PortReport, StormRecord};
use xoff_scenario::traffic::Settled;

/// What is known when a run has ended.
pub struct RunEnd {
    /// Totals of the whole network.
    pub counters: Counters,
    /// A report per port, in the order of the plan's ports.
    pub ports: Arc<Vec<PortReport>>,
    /// Simulated time at which it ended: the last event, or the stop.
    pub sim_end: Time,
    /// Real time from the first event to the last, set-up not included.
    pub wall: Duration,
    /// Processor time of the same; with several threads, that of the whole process.
    pub run_cpu: Duration,
    /// Real time to build the world, before its first event.
    pub setup: Duration,
    /// Parts of the network that ran by themselves: one, unless the network was cut.
    pub parts: usize,
    /// Threads that ran the parts, the calling one included.
    pub threads: usize,
    /// Why the network could not be cut, as a clause after "because"; none if it was, or was left whole for speed.
    pub one_part_because: Option<&'static str>,
    /// What cutting into parts cost; none if there was one part.
    pub windows: Option<Windows>,
    /// Bytes: the most memory that the process held until then, not this run alone.
    pub peak_rss: u64,
    /// What is wrong if the world's own account of packets does not balance.
    pub imbalance: Option<String>,
    /// Bytes delivered that no record of a flow has: macro-flows carried them.
    pub macro_flow_bytes: u64,
    /// Jobs that stopped once the mean of their iterations was known, by their places among the scenario's traffic.
    pub settled: Vec<(u32, Settled)>,
    /// Why it ended early, if it did.
    pub failure: Option<Failure>,
    /// When the first deadlock was seen, whether or not it ended the run.
    pub deadlock_at: Option<Time>,
    /// What watchdogs did.
    pub storms: Vec<StormRecord>,
    /// Links that failed, and what was lost on them.
    pub dead_links: Vec<DeadLink>,
    /// What its traffic still waited for when it ended, a line each.
    pub waits: Vec<String>,
    /// Per capture: frames that came after its limit.
    pub missed_frames: Vec<u64>,
    /// Other processes ran nodes of the network: what its flows delivered was counted there.
    pub apart: bool,
}
