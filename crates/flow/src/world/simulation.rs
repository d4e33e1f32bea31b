//! A run at flow level, driven as one at packet level.

use crate::world::FlowWorld;
use std::ops::{Deref, DerefMut};
use xoff_fabric::activity::{Activity, PortNow, PortsNow};
use xoff_fabric::capture::Capture;
use xoff_fabric::record::{ClassReport, DeadLink, Failure, FlowLink, Holdings, PortReport, StormRecord};
use xoff_fabric::simulation::Simulation;
use xoff_fabric::tap::Taps;
use xoff_fabric::window::Executor;
use xoff_fabric::world::{Progress, RunState};

impl Deref for FlowWorld {
    type Target = RunState;
    fn deref(&self) -> &RunState {
        &self.state
    }
}

impl DerefMut for FlowWorld {
    fn deref_mut(&mut self) -> &mut RunState {
        &mut self.state
    }
}

impl PortsNow for FlowWorld {
    fn port_now(&self, port: u32) -> PortNow {
        let tx_bytes = self.shares.sent_bytes(port, self.state.now.ps());
        PortNow { tx_bytes, queue_bytes: 0, paused: false }
    }
}

impl Simulation for FlowWorld {
    fn run_with(&mut self, max_events: u64, _: &dyn Executor) -> Progress {
        self.advance(max_events)
    }

    fn fail(&mut self, failure: Failure) {
        self.state.failure.get_or_insert(failure);
        self.ending.done = true;
    }

    fn capture(&mut self, captures: Vec<Capture>) {
        debug_assert!(captures.is_empty(), "there is no frame to capture");
    }

    fn macro_flow_bytes(&self) -> u64 {
        self.ending.macro_flow_bytes
    }

    /// Windows of activity have queues and pauses, which are not known here.
    fn watch_activity(&mut self) {}

    fn take_activity(&mut self) -> Option<Activity> {
        None
    }

    fn taps_mut(&mut self) -> &mut Taps {
        &mut self.taps
    }

    fn port_reports(&mut self) -> Vec<PortReport> {
        let classes = self.state.plan.classes.list.len();
        let report = |port| PortReport {
            port,
            tx_wire_bytes: self.shares.sent_bytes(port, self.state.now.ps()),
            classes: vec![ClassReport::default(); classes],
            ..PortReport::default()
        };
        (0..self.state.plan.ports() as u32).map(report).collect()
    }

    fn shorten_windows(&mut self, _: u64) {}

    fn taps(&self) -> &Taps {
        &self.taps
    }

    fn storm_records(&self) -> Vec<StormRecord> {
        Vec::new()
    }

    fn dead_links(&self) -> Vec<DeadLink> {
        Vec::new()
    }

    /// None: no packet passes a port, and a scenario that asks for them is refused.
    fn flow_links(&self) -> Vec<FlowLink> {
        Vec::new()
    }

    /// There are none.
    fn forget_packets(&mut self) {}

    fn check_conservation(&self) -> Result<(), String> {
        let counters = &self.state.counters;
        if counters.data_packets_delivered > counters.data_packets_sent {
            let (sent, delivered) = (counters.data_packets_sent, counters.data_packets_delivered);
            return Err(format!("{sent} data packets sent, {delivered} delivered"));
        }
        self.shares.check()
    }

    fn flows_in_flight(&self) -> usize {
        self.flows.len()
    }

    fn flows_alive(&self) -> u64 {
        self.flows.len() as u64
    }

    fn holdings(&self) -> Holdings {
        let by_source = self.sources.iter().zip(0..).map(|(of, source)| (source, of.flows.len() as u64));
        Holdings {
            flows_alive: self.flows.len() as u64,
            greediest: by_source.filter(|(_, flows)| *flows > 0).min_by_key(|(_, flows)| std::cmp::Reverse(*flows)),
            ..Holdings::default()
        }
    }

    fn parts(&self) -> usize {
        1
    }

    fn windows(&self) -> u64 {
        0
    }
}
