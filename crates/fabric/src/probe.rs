//! Probes: quantities sampled at a fixed interval, as they are at that instant.

use crate::part::kind;
use crate::plan::ProbeTarget;
use crate::record::{Metric, Sample};
use crate::scheme::Scheme;
use crate::world::World;
use xoff_engine::{Span, Time};

/// What rates are measured against: the values at the previous sample.
#[derive(Debug, Default)]
pub struct ProbeState {
    last: Vec<Last>,
    /// Probed flows alive, by card, and per flow the previous counts.
    flows: Vec<ProbedFlow>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Last {
    at: Time,
    bytes: u64,
    paused: Span,
}

#[derive(Clone, Copy, Debug)]
struct ProbedFlow {
    flow: u32,
    at: Time,
    sent_wire_bytes: u64,
    delivered_bytes: u64,
}

impl<S: Scheme> World<S> {
    pub(crate) fn start_probes(&mut self) {
        self.probe_state.last = vec![Last::default(); self.plan.probes.len()];
        for index in 0..self.plan.probes.len() as u32 {
            self.schedule(self.plan.probes[index as usize].from, kind::PROBE, index, index);
        }
    }

    pub(crate) fn probe_flow(&mut self, flow: u32) {
        let at = self.now;
        self.probe_state.flows.push(ProbedFlow { flow, at, sent_wire_bytes: 0, delivered_bytes: 0 });
    }

    pub(crate) fn unprobe_flow(&mut self, flow: u32) {
        self.probe_state.flows.retain(|probed| probed.flow != flow);
    }

    pub(crate) fn on_probe(&mut self, index: u32) {
        let probe = &self.plan.probes[index as usize];
        let (what, next) = (probe.what, self.now + probe.every);
        if next <= probe.until {
            self.schedule(next, kind::PROBE, index, index);
        }
        let (now, part) = (self.now, &self.part);
        let last = self.probe_state.last[index as usize];
        let elapsed = now.saturating_since(last.at);
        let mut current = Last { at: now, ..last };
        let mut sample = |metric, entity, label, class, value| {
            self.samples.push(Sample { at: now, metric, entity, label, class, value });
        };
        let mut push = |metric, port, class, value| sample(metric, port, 0, class, value);
        // The first sample of a rate has nothing to be measured against.
        let per_second = |amount: f64| if elapsed == Span::ZERO { 0.0 } else { amount / elapsed.as_s() };
        match what {
            ProbeTarget::Queue { port, class } => {
                let queue = &part.queues[port as usize * part.classes + usize::from(class)];
                push(Metric::QueueBytes, port, class, queue.bytes as f64);
            }
            ProbeTarget::Ingress { port, class } => {
                let owner = &part.ports[port as usize];
                let bytes = if owner.has(crate::port::AT_HOST) {
                    0
                } else {
                    let first = part.switches[owner.owner as usize].accounts as usize;
                    part.accounts[first + usize::from(owner.local) * part.classes + usize::from(class)].bytes
                };
                push(Metric::IngressBytes, port, class, bytes as f64);
            }
            ProbeTarget::Throughput { port } => {
                current.bytes = part.ports[port as usize].tx_bytes;
                push(Metric::PortThroughput, port, 0, per_second((current.bytes - last.bytes) as f64 * 8.0));
            }
            ProbeTarget::Paused { port, class } => {
                let queue = &part.queues[port as usize * part.classes + usize::from(class)];
                let paused = part.ports[port as usize].paused & (1 << class) != 0;
                current.paused = queue.paused_total + if paused { now - queue.paused_since } else { Span::ZERO };
                let share = per_second((current.paused - last.paused).as_s());
                push(Metric::PausedFraction, port, class, share);
            }
            ProbeTarget::PauseRate { port } => {
                let frames = &part.watch.frames[port as usize];
                current.bytes = frames.pause + frames.refresh;
                push(Metric::PauseRate, port, 0, per_second((current.bytes - last.bytes) as f64));
            }
            ProbeTarget::Shaped { port } => push(Metric::ShapedBytes, port, 0, part.shapers.bytes_for(port) as f64),
            ProbeTarget::Flows => {
                for probed in &mut self.probe_state.flows {
                    let card = &part.cards[probed.flow];
                    let (sender, receiver) = (&part.senders[card.sender], &part.receivers[card.receiver]);
                    let ledger = &part.ledgers[card.sender];
                    let seconds = now.saturating_since(probed.at).as_s();
                    let rate =
                        |new: u64, old: u64| if seconds == 0.0 { 0.0 } else { (new - old) as f64 * 8.0 / seconds };
                    let (class, label) = (ledger.spec.class, ledger.spec.label);
                    let line_bps = part.ports[part.hosts[sender.host as usize].port as usize].rate.rate().bps() as f64;
                    sample(Metric::FlowRate, ledger.id, label, class, allowed_bps(sender, ledger.base_rtt, line_bps));
                    let sent = rate(sender.sent_wire_bytes, probed.sent_wire_bytes);
                    sample(Metric::FlowSendRate, ledger.id, label, class, sent);
                    let delivered = rate(receiver.delivered_bytes, probed.delivered_bytes);
                    sample(Metric::FlowThroughput, ledger.id, label, class, delivered);
                    if let Some(bytes) = part.shapers.bytes_of(probed.flow) {
                        sample(Metric::FlowShapedBytes, ledger.id, label, class, bytes as f64);
                    }
                    *probed = ProbedFlow {
                        flow: probed.flow,
                        at: now,
                        sent_wire_bytes: sender.sent_wire_bytes,
                        delivered_bytes: receiver.delivered_bytes,
                    };
                }
            }
        }
        self.probe_state.last[index as usize] = current;
        self.pause_if_grown();
    }
}

/// What a scheme allows a flow in wire bits per second: the stricter of its rate and of a window per
/// base round trip.
fn allowed_bps<Rp>(sender: &crate::flow::Sender<Rp>, base_rtt: Span, line_bps: f64) -> f64 {
    if sender.window_bytes == u64::MAX || base_rtt == Span::ZERO {
        return sender.asked_bps;
    }
    let wire_per_payload = f64::from(sender.full_frame) / f64::from(sender.mtu_bytes);
    let window_bps = sender.window_bytes as f64 * 8.0 * wire_per_payload / base_rtt.as_s();
    sender.asked_bps.min(window_bps).min(line_bps)
}
