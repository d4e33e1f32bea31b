//! Quantities sampled while a run goes on: what the scenario's probes ask for, and what every port and flow does,
//! window by window.

use crate::agenda::Event;
use crate::egress::Egress;
use crate::run::{Node, Run};
use crate::sampler::{FlowCounts, PortCounts, Previous};
use crate::wires::Wires;
use std::io;
use xoff_engine::{Span, Time};
use xoff_fabric::activity::{FlowWindow, PortWindow};
use xoff_fabric::plan::ProbeTarget;
use xoff_fabric::record::{Metric, Sample};
use xoff_fabric::scheme::{ReactionPoint, Scheme};

impl<S: Scheme, W: Wires> Run<'_, S, W> {
    pub(crate) fn on_probe(&mut self, index: usize, due: Time) -> io::Result<()> {
        let probe = &self.sampler.probes[index];
        let (what, next) = (probe.what, due + probe.every);
        if next <= probe.until {
            self.agenda.add(next, Event::Probe(index as u32));
        }
        match what {
            ProbeTarget::Flows => self.probe_flows(due),
            ProbeTarget::Scheme => self.probe_variables(due),
            ProbeTarget::Queue { port, class }
            | ProbeTarget::Ingress { port, class }
            | ProbeTarget::Paused { port, class } => self.probe_port(index, (port, class), what, due),
            ProbeTarget::Throughput { port }
            | ProbeTarget::PauseRate { port }
            | ProbeTarget::Shaped { port }
            | ProbeTarget::Buffer { port } => {
                self.probe_port(index, (port, 0), what, due);
            }
        }
        Ok(())
    }

    fn egress(&self, port: u32) -> Option<&Egress> {
        match self.nodes[self.network.node_of(port) as usize].as_ref()? {
            Node::Host(nic) => Some(&nic.egress),
            Node::Switch(switch) => switch.egresses.get(switch.local(port)),
        }
    }

    fn probe_port(&mut self, index: usize, (port, class): (u32, u8), what: ProbeTarget, at: Time) {
        let last = self.sampler.last[index];
        let elapsed = at.saturating_since(last.at).as_s();
        // The first sample of a rate has nothing to be measured against.
        let per_second = |amount: f64| if elapsed == 0.0 { 0.0 } else { amount / elapsed };
        let Some(egress) = self.egress(port) else { return };
        let queue = &egress.queues[usize::from(class)];
        let mut current = Previous { at, ..last };
        let (metric, value) = match what {
            ProbeTarget::Queue { .. } => (Metric::QueueBytes, queue.bytes as f64),
            ProbeTarget::Ingress { .. } => (Metric::IngressBytes, self.ingress_bytes(port, class) as f64),
            ProbeTarget::Throughput { .. } => {
                current.amount = egress.tx_bytes;
                (Metric::PortThroughput, per_second((current.amount - last.amount) as f64 * 8.0))
            }
            ProbeTarget::Paused { .. } => {
                current.paused = queue.paused(egress.paused & 1 << class != 0, self.now);
                let paused = current.paused.ps().saturating_sub(last.paused.ps());
                (Metric::PausedFraction, per_second(Span::from_ps(paused).as_s()).min(1.0))
            }
            ProbeTarget::PauseRate { .. } => {
                current.amount = egress.said.pause + egress.said.refresh;
                (Metric::PauseRate, per_second((current.amount - last.amount) as f64))
            }
            ProbeTarget::Shaped { .. } => (Metric::ShapedBytes, self.shaped_bytes(port) as f64),
            ProbeTarget::Buffer { .. } => (Metric::SwitchBytes, self.buffer_bytes(port) as f64),
            ProbeTarget::Flows | ProbeTarget::Scheme => return,
        };
        self.sampler.last[index] = current;
        self.sampler.samples.push(Sample { at, metric, entity: port, label: 0, class, value });
    }

    fn ingress_bytes(&self, port: u32, class: u8) -> u64 {
        match &self.nodes[self.network.node_of(port) as usize] {
            Some(Node::Switch(switch)) => switch.buffer.ingress(switch.local(port), class).bytes,
            _ => 0,
        }
    }

    fn buffer_bytes(&self, port: u32) -> u64 {
        match &self.nodes[self.network.node_of(port) as usize] {
            Some(Node::Switch(switch)) => switch.buffer.pools().used_bytes,
            _ => 0,
        }
    }

    fn shaped_bytes(&self, port: u32) -> u64 {
        match &self.nodes[self.network.node_of(port) as usize] {
            Some(Node::Switch(switch)) => switch.shapers.bytes_for(switch.local(port)),
            _ => 0,
        }
    }

    /// What a flow has done, and what its scheme allows it.
    fn counts_of(&self, id: u32) -> Option<(FlowCounts, f64)> {
        let flow = self.flows.get(&id)?;
        let Some(Node::Host(nic)) = &self.nodes[flow.name.src as usize] else { return None };
        let sender = nic.senders.get(&id)?;
        let (delivered_bytes, marked) = match &self.nodes[flow.name.dst as usize] {
            Some(Node::Host(far)) => far
                .receivers
                .get(&flow.id)
                .map_or((0, 0), |receiver| (receiver.responder.seq.delivered_bytes, receiver.marked)),
            _ => (sender.payload_until(sender.requester.seq.una), 0),
        };
        let counts = FlowCounts {
            at: self.now,
            sent_wire_bytes: sender.tally.sent_wire_bytes,
            delivered_bytes,
            notifications: sender.tally.notifications,
            marked,
        };
        Some((counts, sender.allowed_bps(nic.line_bps())))
    }

    /// Active flows in the order of their start.
    fn active(&self, probed: bool) -> Vec<u32> {
        let mut flows: Vec<(u32, u32)> = self
            .flows
            .iter()
            .filter(|(_, flow)| flow.is_probed() || !probed)
            .map(|(id, flow)| (flow.number, *id))
            .collect();
        flows.sort_unstable();
        flows.into_iter().map(|(_, id)| id).collect()
    }

    fn probe_flows(&mut self, at: Time) {
        let flows = self.active(true);
        self.sampler.flows.retain(|id, _| flows.contains(id));
        for id in flows {
            let (Some((counts, allowed)), Some(flow)) = (self.counts_of(id), self.flows.get(&id)) else { continue };
            let (entity, label, class, start) = (flow.number, flow.name.label, flow.name.class, flow.start);
            let shaped = self.shaped_bytes_of(id);
            let before = self.sampler.flows.insert(id, FlowCounts { at, ..counts });
            let before = before.unwrap_or(FlowCounts { at: start, ..FlowCounts::default() });
            let seconds = at.saturating_since(before.at).as_s();
            let rate = |new: u64, old: u64| if seconds == 0.0 { 0.0 } else { (new - old) as f64 * 8.0 / seconds };
            let values = [
                (Metric::FlowRate, Some(allowed)),
                (Metric::FlowSendRate, Some(rate(counts.sent_wire_bytes, before.sent_wire_bytes))),
                (Metric::FlowThroughput, Some(rate(counts.delivered_bytes, before.delivered_bytes))),
                (Metric::FlowShapedBytes, shaped.map(|bytes| bytes as f64)),
            ];
            for (metric, value) in values {
                if let Some(value) = value {
                    self.sampler.samples.push(Sample { at, metric, entity, label, class, value });
                }
            }
        }
    }

    fn probe_variables(&mut self, at: Time) {
        for id in self.active(true) {
            let Some(flow) = self.flows.get(&id) else { continue };
            let (entity, label, class) = (flow.number, flow.name.label, flow.name.class);
            let Some(Node::Host(nic)) = &self.nodes[flow.name.src as usize] else { continue };
            let Some(sender) = nic.senders.get(&id) else { continue };
            let samples = &mut self.sampler.samples;
            sender.rp.variables(self.now, &mut |variable, value| {
                samples.push(Sample { at, metric: Metric::Variable(variable), entity, label, class, value });
            });
        }
    }

    fn shaped_bytes_of(&self, flow: u32) -> Option<u64> {
        self.nodes.iter().flatten().find_map(|node| match node {
            Node::Switch(switch) => switch.shapers.bytes_of(flow),
            Node::Host(_) => None,
        })
    }

    /// The end of a window.
    pub(crate) fn on_look(&mut self, due: Time) -> io::Result<()> {
        self.look();
        if let Some(windows) = &self.sampler.activity {
            self.agenda.add(windows.end_of(self.sampler.window), Event::Look);
        }
        debug_assert!(due <= self.now, "windows end in order");
        // Frames of strangers wait at ports that nothing is sent to.
        self.take_from_all()
    }

    /// Writes down what ports and flows did since the last window.
    pub(crate) fn look(&mut self) {
        let Some(mut activity) = self.sampler.activity.take() else { return };
        let window = self.sampler.window;
        for port in 0..self.network.plan.ports() as u32 {
            let Some(egress) = self.egress(port) else { continue };
            let paused =
                (0..).zip(&egress.queues).map(|(class, queue)| queue.paused(egress.paused & 1 << class != 0, self.now));
            let counts = PortCounts {
                tx_bytes: egress.tx_bytes,
                paused: paused.max().unwrap_or(Span::ZERO),
                marks: egress.queues.iter().map(|queue| queue.marks).sum(),
            };
            let queue_bytes = egress.queued_bytes;
            let before = std::mem::replace(&mut self.sampler.ports_before[port as usize], counts);
            let row = PortWindow {
                window,
                port,
                tx_bytes: counts.tx_bytes - before.tx_bytes,
                queue_bytes,
                paused: Span::from_ps(counts.paused.ps().saturating_sub(before.paused.ps()).min(activity.every.ps())),
                marks: counts.marks - before.marks,
            };
            if row.tx_bytes + row.queue_bytes + row.paused.ps() + row.marks > 0 {
                activity.ports.push(&row);
            }
        }
        let before = std::mem::take(&mut self.sampler.flows_before);
        for id in self.active(false) {
            let (Some((counts, allowed_bps)), Some(flow)) = (self.counts_of(id), self.flows.get(&id)) else { continue };
            let last = before.get(&id).copied().unwrap_or_default();
            activity.flows.push(&FlowWindow {
                window,
                flow: flow.number,
                sent_wire_bytes: counts.sent_wire_bytes - last.sent_wire_bytes,
                delivered_bytes: counts.delivered_bytes - last.delivered_bytes,
                allowed_bps,
                notifications: counts.notifications - last.notifications,
                marked: counts.marked - last.marked,
            });
            self.sampler.flows_before.insert(id, counts);
        }
        activity.until = self.now;
        self.sampler.window += 1;
        self.sampler.activity = Some(activity);
    }
}
