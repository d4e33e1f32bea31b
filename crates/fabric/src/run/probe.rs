//! Probes: quantities sampled at a fixed interval, as they are at that instant.

use crate::contract::record::{Metric, Sample};
use crate::contract::scheme::{ReactionPoint, Scheme};
use crate::id::FlowStateId;
use crate::network::plan::ProbeTarget;
use crate::part::kind;
use crate::run::World;
use xoff_engine::{Span, Time};

/// What rates are measured against: the values at the previous sample.
#[derive(Debug, Default)]
pub struct ProbeState {
    last: Vec<Previous>,
    /// Probed flows alive, and per flow the previous counts.
    flows: Vec<ProbedFlow>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Previous {
    at: Time,
    /// What the port has sent, exactly.
    sent: u128,
    frames: u64,
    paused: Span,
}

#[derive(Clone, Copy, Debug)]
struct ProbedFlow {
    flow: FlowStateId,
    at: Time,
    sent_wire_bytes: u64,
    delivered_bytes: u64,
}

impl<S: Scheme> World<S> {
    pub(crate) fn start_probes(&mut self) {
        self.probe_state.last = vec![Previous::default(); self.state.plan.probes.len()];
        for index in 0..self.state.plan.probes.len() as u32 {
            self.schedule(self.state.plan.probes[index as usize].from, kind::PROBE, index, index);
        }
    }

    pub(crate) fn probe_flow(&mut self, flow: FlowStateId) {
        let at = self.state.now;
        self.probe_state.flows.push(ProbedFlow { flow, at, sent_wire_bytes: 0, delivered_bytes: 0 });
    }

    pub(crate) fn unprobe_flow(&mut self, flow: FlowStateId) {
        self.probe_state.flows.retain(|probed| probed.flow != flow);
    }

    pub(crate) fn on_probe(&mut self, index: u32) {
        let probe = &self.state.plan.probes[index as usize];
        let (what, next) = (probe.what, self.state.now + probe.every);
        if next <= probe.until {
            self.schedule(next, kind::PROBE, index, index);
        }
        let last = self.probe_state.last[index as usize];
        let mut current = Previous { at: self.state.now, ..last };
        match what {
            ProbeTarget::Flows => self.probe_flows(),
            ProbeTarget::Scheme => self.probe_variables(),
            ProbeTarget::Queue { port, class }
            | ProbeTarget::Ingress { port, class }
            | ProbeTarget::Paused { port, class } => self.probe_port(port, class, what, last, &mut current),
            ProbeTarget::Throughput { port }
            | ProbeTarget::PauseRate { port }
            | ProbeTarget::Shaped { port }
            | ProbeTarget::Buffer { port } => {
                self.probe_port(port, 0, what, last, &mut current);
            }
        }
        self.probe_state.last[index as usize] = current;
        self.pause_if_grown();
    }

    fn probe_port(&mut self, name: u32, class: u8, what: ProbeTarget, last: Previous, current: &mut Previous) {
        let (part, port) = self.place_of(name);
        let (part, now) = (&self.parts[part], self.state.now);
        let elapsed = now.saturating_since(last.at);
        // The first sample of a rate has nothing to be measured against.
        let per_second = |amount: f64| if elapsed == Span::ZERO { 0.0 } else { amount / elapsed.as_s() };
        let queue = part.queue(port, class);
        let owner = &part.links.ports[port];
        let (metric, value) = match what {
            ProbeTarget::Queue { .. } => (Metric::QueueBytes, queue.bytes as f64),
            ProbeTarget::Ingress { .. } if owner.has(crate::node::port::AT_HOST) => (Metric::IngressBytes, 0.0),
            ProbeTarget::Ingress { .. } => (Metric::IngressBytes, part.ingress(port, class).bytes as f64),
            ProbeTarget::Throughput { .. } => {
                current.sent = part.sent_exactly(port, now);
                let bits = current.sent.saturating_sub(last.sent) as f64;
                (Metric::PortThroughput, if elapsed == Span::ZERO { 0.0 } else { bits / elapsed.ps() as f64 })
            }
            ProbeTarget::Paused { .. } => {
                let paused = owner.paused & (1 << class) != 0;
                let history = part.history(port, class);
                current.paused = history.paused_total + if paused { now - history.paused_since } else { Span::ZERO };
                (Metric::PausedFraction, per_second((current.paused - last.paused).as_s()))
            }
            ProbeTarget::PauseRate { .. } => {
                let frames = part.watch.frames(port);
                current.frames = frames.pause + frames.refresh;
                (Metric::PauseRate, per_second((current.frames - last.frames) as f64))
            }
            ProbeTarget::Shaped { .. } => (Metric::ShapedBytes, part.shapers.bytes_for(port) as f64),
            ProbeTarget::Buffer { .. } => {
                (Metric::SwitchBytes, part.switches[owner.switch()].buffer.pools().used_bytes as f64)
            }
            ProbeTarget::Flows | ProbeTarget::Scheme => return,
        };
        self.state.samples.push(Sample { at: now, metric, entity: name, label: 0, class, value });
    }

    fn probe_flows(&mut self) {
        let now = self.state.now;
        let mut flows = std::mem::take(&mut self.probe_state.flows);
        for probed in &mut flows {
            let ((sender, details), receiver) = (self.sender_of(probed.flow), self.receiver_of(probed.flow));
            let seconds = now.saturating_since(probed.at).as_s();
            let rate = |new: u64, old: u64| if seconds == 0.0 { 0.0 } else { (new - old) as f64 * 8.0 / seconds };
            let (class, label, entity) = (details.spec.class, details.spec.label, details.id);
            let line_bps = self.line_rate(details.spec.src).bps() as f64;
            let values = [
                (Metric::FlowRate, Some(sender.allowed_bps(details.base_rtt, line_bps))),
                (Metric::FlowSendRate, Some(rate(sender.sent_wire_bytes, probed.sent_wire_bytes))),
                (Metric::FlowThroughput, Some(rate(receiver.responder.seq.delivered_bytes, probed.delivered_bytes))),
                (Metric::FlowShapedBytes, self.shaped_bytes(probed.flow).map(|bytes| bytes as f64)),
            ];
            *probed = ProbedFlow {
                flow: probed.flow,
                at: now,
                sent_wire_bytes: sender.sent_wire_bytes,
                delivered_bytes: receiver.responder.seq.delivered_bytes,
            };
            let taken = values.into_iter().filter_map(|(metric, value)| Some((metric, value?)));
            self.state.samples.extend(taken.map(|(metric, value)| Sample {
                at: now,
                metric,
                entity,
                label,
                class,
                value,
            }));
        }
        self.probe_state.flows = flows;
    }

    fn probe_variables(&mut self) {
        let at = self.state.now;
        let mut samples = Vec::new();
        for probed in &self.probe_state.flows {
            let (sender, details) = self.sender_of(probed.flow);
            let (class, label, entity) = (details.spec.class, details.spec.label, details.id);
            sender.rp.variables(at, &mut |variable, value| {
                samples.push(Sample { at, metric: Metric::Variable(variable), entity, label, class, value });
            });
        }
        self.state.samples.append(&mut samples);
    }

    /// What waits in the shaped queue of a flow, if it may have one.
    fn shaped_bytes(&self, flow: FlowStateId) -> Option<u64> {
        let (part, entry) = self.target(flow);
        self.parts[part].shapers.bytes_of(entry)
    }
}
