//! What is sampled of a run, and what was.

use crate::agenda::Event;
use std::collections::HashMap;
use xoff_engine::{Span, Time};
use xoff_fabric::activity::Activity;
use xoff_fabric::plan::{Plan, Probe};
use xoff_fabric::record::Sample;

/// Windows that a run is cut into at most.
const WINDOWS: u64 = 2000;

/// What rates are measured against.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Previous {
    pub(crate) at: Time,
    pub(crate) amount: u64,
    pub(crate) paused: Span,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowCounts {
    pub(crate) at: Time,
    pub(crate) sent_wire_bytes: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) notifications: u64,
    pub(crate) marked: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PortCounts {
    pub(crate) tx_bytes: u64,
    pub(crate) paused: Span,
    pub(crate) marks: u64,
}

/// What is sampled, and what was.
#[derive(Debug)]
pub struct Sampler {
    pub(crate) probes: Vec<Probe>,
    pub(crate) last: Vec<Previous>,
    pub(crate) flows: HashMap<u32, FlowCounts>,
    /// Samples that nobody has taken yet.
    pub samples: Vec<Sample>,
    /// Windows of ports and flows, if somebody wants them.
    pub activity: Option<Activity>,
    pub(crate) window: u32,
    pub(crate) ports_before: Vec<PortCounts>,
    pub(crate) flows_before: HashMap<u32, FlowCounts>,
}

impl Sampler {
    /// Of a plan; with windows of ports and flows if `activity`.
    pub fn new(plan: &Plan, activity: bool) -> Sampler {
        // Whole microseconds, and two windows make one of a coarser run.
        let shortest = (plan.run.stop.ps() / 1_000_000 / WINDOWS).max(1).next_power_of_two();
        Sampler {
            probes: plan.probes.clone(),
            last: vec![Previous::default(); plan.probes.len()],
            flows: HashMap::new(),
            samples: Vec::new(),
            activity: activity.then(|| Activity::new(Span::from_us(shortest))),
            window: 0,
            ports_before: vec![PortCounts::default(); plan.ports()],
            flows_before: HashMap::new(),
        }
    }

    pub fn first(&self) -> Vec<(Time, Event)> {
        let probes = (0..).zip(&self.probes).map(|(index, probe)| (probe.from, Event::Probe(index)));
        let look = self.activity.as_ref().map(|windows| (windows.end_of(0), Event::Look));
        probes.chain(look).collect()
    }
}
