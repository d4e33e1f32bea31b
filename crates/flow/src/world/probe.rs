//! Probes: loads of ports and rates of flows at a fixed interval. Queues, pauses and what a scheme remembers are not
//! known at flow level, and give no samples.

use crate::event::{Event, Kind};
use crate::queue_pair::QueuePair;
use crate::world::FlowWorld;
use xoff_engine::Time;
use xoff_fabric::plan::ProbeTarget;
use xoff_fabric::record::{Metric, Sample};

/// What rates are measured against: the values at the previous sample.
#[derive(Default)]
pub(crate) struct Probes {
    /// Time, and bytes that its port had sent, for each probe.
    last: Vec<(Time, u64)>,
    flows: Vec<Probed>,
}

struct Probed {
    slot: u32,
    at: Time,
    sent: f64,
    delivered: u64,
}

impl Probes {
    pub(crate) fn add(&mut self, slot: u32, flow: &QueuePair) {
        self.flows.push(Probed { slot, at: flow.start, sent: 0.0, delivered: 0 });
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        self.flows.retain(|probed| probed.slot != slot);
    }
}

impl FlowWorld {
    pub(crate) fn start_probes(&mut self) {
        self.probes.last = vec![(Time::ZERO, 0); self.state.plan.probes.len()];
        for index in 0..self.state.plan.probes.len() as u32 {
            self.schedule_probe(self.state.plan.probes[index as usize].from, index);
        }
    }

    fn schedule_probe(&mut self, at: Time, index: u32) {
        self.schedule(Event { at: at.ps(), kind: Kind::Probe, tie: index.into(), message: 0, index, flow: 0 });
    }

    pub(crate) fn on_probe(&mut self, index: u32) {
        let (probe, now) = (&self.state.plan.probes[index as usize], self.state.now);
        let (what, next) = (probe.what, now + probe.every);
        if next <= probe.until {
            self.schedule_probe(next, index);
        }
        match what {
            ProbeTarget::Throughput { port } => {
                let sent = self.shares.sent_bytes(port, now.ps());
                let (at, before) = std::mem::replace(&mut self.probes.last[index as usize], (now, sent));
                let seconds = now.saturating_since(at).as_s();
                let value = if seconds > 0.0 { (sent - before) as f64 * 8.0 / seconds } else { 0.0 };
                self.state.samples.push(Sample {
                    at: now,
                    metric: Metric::PortThroughput,
                    entity: port,
                    label: 0,
                    class: 0,
                    value,
                });
            }
            ProbeTarget::Flows => self.probe_flows(),
            ProbeTarget::Queue { .. }
            | ProbeTarget::Ingress { .. }
            | ProbeTarget::Paused { .. }
            | ProbeTarget::PauseRate { .. }
            | ProbeTarget::Shaped { .. }
            | ProbeTarget::Buffer { .. }
            | ProbeTarget::Scheme => {}
        }
    }

    fn probe_flows(&mut self) {
        let now = self.state.now;
        for probed in &mut self.probes.flows {
            let flow = &self.flows[probed.slot];
            let sent = flow.done.wire + flow.head_sent(now.ps());
            let delivered = flow.done.delivered_bytes + flow.partly_delivered(now.ps());
            let seconds = now.saturating_since(probed.at).as_s();
            let rate = |bytes: f64| if seconds > 0.0 { bytes * 8.0 / seconds } else { 0.0 };
            let values = [
                (Metric::FlowSendRate, rate(sent - probed.sent)),
                (Metric::FlowThroughput, rate(delivered.saturating_sub(probed.delivered) as f64)),
            ];
            (probed.at, probed.sent, probed.delivered) = (now, sent, delivered);
            let (entity, label, class) = (flow.id, flow.spec.label, flow.spec.class);
            let sample = |(metric, value)| Sample { at: now, metric, entity, label, class, value };
            self.state.samples.extend(values.map(sample));
        }
    }
}
