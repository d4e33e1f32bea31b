//! Flows from their sources to their records.

use crate::desk::{Desk, News};
use crate::flow::Flow;
use crate::forwarding::tcp_number;
use crate::network::{FlowId, Network};
use crate::nic::Nic;
use crate::run::{Node, Run};
use crate::sender::{Sender, Tally};
use crate::wires::Wires;
use std::io;
use xoff_engine::{Span, Time};
use xoff_fabric::capture::FlowName;
use xoff_fabric::record::FlowRecord;
use xoff_fabric::scheme::{Scheme, Transport};
use xoff_fabric::timing;
use xoff_fabric::traffic::{Action, FlowSpec};
use xoff_wire::Unwrap;

impl<S: Scheme, W: Wires> Run<'_, S, W> {
    /// Reads when a source acts next.
    pub(crate) fn arm_source(&mut self, index: usize) {
        let feed = &mut self.feeds[index];
        let next = feed.source.next().unwrap_or(Time::NEVER);
        if next != feed.due {
            feed.due = next;
            self.agenda.add(next, crate::agenda::Event::Source(index as u32));
        }
    }

    /// A source acts.
    pub(crate) fn on_source(&mut self, index: usize, due: Time) -> io::Result<()> {
        if self.feeds[index].due != due {
            return Ok(());
        }
        self.feeds[index].due = Time::NEVER;
        let mut actions = Vec::new();
        // A source lives in the scenario's time, which has no lateness.
        self.feeds[index].source.act(due, &mut actions);
        for action in actions {
            match action {
                Action::Start(spec) => self.start_flow(index, spec, due),
                Action::Offer { handle, bytes } => self.with_sender(index, handle, |nic, flow, desk| {
                    nic.offer(flow, bytes, desk);
                }),
                Action::Cap { handle, rate } => self.with_sender(index, handle, |nic, flow, desk| {
                    nic.cap(flow, rate, desk);
                }),
                Action::Stop { handle } => self.stop_flow(index, handle),
                // Scenarios with such traffic are refused before they begin.
                Action::Send { .. } => return Err(io::Error::other("live queue pairs carry no messages")),
            }
        }
        self.arm_source(index);
        Ok(())
    }

    fn with_sender(&mut self, source: usize, handle: u32, act: impl FnOnce(&mut Nic<S>, u32, &mut Desk<'_>)) {
        let Some(&flow) = self.feeds[source].handles.get(&handle) else { return };
        let Some(src) = self.flows.get(&flow).map(|flow| flow.name.src) else { return };
        let (nodes, mut desk) = self.split();
        if let Some(Node::Host(nic)) = &mut nodes[src as usize] {
            act(nic, flow, &mut desk);
        }
    }

    fn stop_flow(&mut self, source: usize, handle: u32) {
        let Some(&flow) = self.feeds[source].handles.get(&handle) else { return };
        let Some(id) = self.flows.get(&flow).map(Flow::id) else { return };
        if let Some(Node::Host(nic)) = &mut self.nodes[id.dst as usize]
            && let Some(receiver) = nic.receivers.get_mut(&id)
        {
            receiver.closed = true;
        }
        self.with_sender(source, handle, |nic, flow, desk| nic.end(flow, desk));
    }

    /// A flow that a source wants from `start` on, which is now or a moment ago.
    fn start_flow(&mut self, source: usize, spec: FlowSpec, start: Time) {
        // Numbers are the same on all machines; what is counted is what starts here.
        let number = self.started;
        self.started += 1;
        let feed = &mut self.feeds[source];
        let in_source = feed.started;
        feed.started += 1;
        let ephemeral = feed.name.port(in_source);
        if self.nodes[spec.src as usize].is_none() {
            return; // Another machine's.
        }
        self.log.counters.flows_started += 1;
        let identity = feed.name.flow(in_source, &spec);
        let name = self.name_flow(number, &spec, ephemeral);
        let network = self.network;
        let id = FlowId::of(&name);
        let mut facts = network.facts(&id, identity, start);
        facts.initial_rate = spec.initial_rate.map_or(facts.line_rate, |rate| rate.min(facts.line_rate));
        let slot = usize::from(spec.scheme);
        let rp = self.schemes[slot].reaction_point(&facts);
        let mut sender = Sender::new(rp, name, network.format(&id), Unwrap::new(self.multipliers[slot]));
        fill_in(&mut sender, &spec, network, self.now);
        (sender.bdp_bytes, sender.base_rtt) = (facts.bdp_bytes, facts.base_rtt);
        // So that limits are read at once: the cap of the application, or of bytes in flight, may be all there is.
        sender.asked_bps = f64::NAN;
        let settings = network.plan.host(spec.src);
        // A round trip is not a loss, however long.
        sender.rto = settings.retransmit_timeout.max(facts.base_rtt * 4);
        let path = network.path(spec.src, spec.dst, (name.src_port, xoff_fabric::traffic::ROCE_PORT));
        let ideal = ideal(network, &path, &sender);
        self.feeds[source].handles.insert(spec.handle, name.id);
        let src = spec.src;
        let flow = Flow { number, source, in_source, spec, name, start, ideal, path, base_rtt: facts.base_rtt };
        self.flows.insert(name.id, flow);
        let (nodes, mut desk) = self.split();
        if let Some(Node::Host(nic)) = &mut nodes[src as usize] {
            nic.open(sender, &mut desk);
        }
    }

    /// What its packets say of a flow. TCP flows are known by their ports, so these must differ.
    fn name_flow(&self, number: u32, spec: &FlowSpec, ephemeral: u16) -> FlowName {
        let id = FlowId { src: spec.src, dst: spec.dst, port: ephemeral, queue_pair: 0, scheme: spec.scheme };
        let (format, full_frame) = (self.network.format(&id), self.network.full_frame_bytes(&id));
        let (mut src_port, dst_port) = (spec.ports_or(ephemeral).0, spec.ports.map(|(_, to)| to));
        let mut id = number & 0xff_ffff;
        if format.transport == Transport::Tcp {
            id = tcp_number(spec.src, spec.dst, src_port);
            while self.flows.contains_key(&id) {
                src_port = src_port.wrapping_add(1).max(1024);
                id = tcp_number(spec.src, spec.dst, src_port);
            }
        }
        FlowName {
            id,
            label: spec.label,
            src: spec.src,
            dst: spec.dst,
            class: spec.class,
            scheme: spec.scheme,
            transport: format.transport,
            src_port,
            dst_port,
            full_frame_bytes: full_frame as u16,
        }
    }

    /// Tells sources what has become of their flows.
    pub(crate) fn hear_news(&mut self) {
        while let Some(news) = self.log.news.pop() {
            let (flow, ended) = match news {
                News::Ended(flow) => (flow, true),
                News::Drained(flow) => (flow, false),
            };
            let Some((source, handle)) = self.flows.get(&flow).map(|flow| (flow.source, flow.spec.handle)) else {
                continue;
            };
            if ended {
                self.record(flow, Some(self.now));
                self.feeds[source].handles.remove(&handle);
                self.feeds[source].source.on_finished(self.now, handle);
            } else {
                self.feeds[source].source.on_drained(self.now, handle);
            }
            self.arm_source(source);
        }
    }

    /// Flows that the end of the run cuts off.
    pub(crate) fn cut_off(&mut self) {
        let mut left: Vec<(u32, u32)> = self.flows.iter().map(|(id, flow)| (flow.number, *id)).collect();
        left.sort_unstable();
        for (_, flow) in left {
            self.record(flow, None);
        }
    }

    /// A flow is over, or the run is.
    fn record(&mut self, id: u32, ended: Option<Time>) {
        let Some(flow) = self.flows.remove(&id) else { return };
        let sender = match &mut self.nodes[flow.name.src as usize] {
            Some(Node::Host(nic)) => nic.senders.remove(&id),
            _ => None,
        };
        let complete = sender.as_ref().is_some_and(|sender| sender.una >= sender.total);
        let known = sender.as_ref().map(|sender| sender.payload_until(sender.una));
        let sent = sender.as_ref().map_or(0, |sender| sender.payload_until(sender.highest));
        self.payload.0 += known.unwrap_or(0);
        self.payload.1 += sent.saturating_sub(known.unwrap_or(0));
        let tally = sender.map_or(Tally::default(), |sender| sender.tally);
        let acked_at = ended.filter(|_| complete);
        // Where the receiver is on another machine, its sender knows no more than ACKs say.
        let (delivered_bytes, delivered_at, marked) = match &self.nodes[flow.name.dst as usize] {
            Some(Node::Host(nic)) => nic
                .receivers
                .get(&flow.id())
                .map_or((0, None, 0), |receiver| (receiver.delivered_bytes, receiver.delivered_at, receiver.marked)),
            _ => (known.unwrap_or(0), acked_at, 0),
        };
        self.ended.push(FlowRecord {
            id: flow.number,
            number: flow.in_source,
            source: flow.source as u32,
            label: flow.spec.label,
            src: flow.spec.src,
            dst: flow.spec.dst,
            ports: (flow.name.src_port, flow.name.dst_port.unwrap_or(xoff_fabric::traffic::ROCE_PORT)),
            size_bytes: flow.spec.size_bytes,
            delivered_bytes,
            class: flow.spec.class,
            scheme: flow.spec.scheme,
            start: flow.start,
            delivered_at,
            acked_at,
            ideal: flow.ideal,
            base_rtt: flow.base_rtt,
            packets_sent: tally.packets_sent,
            packets_retransmitted: tally.packets_retransmitted,
            timeouts: tally.timeouts,
            lost: self.log.lost.remove(&id).unwrap_or(0),
            marked,
            notifications: tally.notifications,
            first_notified: tally.first_notified,
            detours: 0,
            path: flow.path.into(),
        });
    }
}

impl<S: Scheme> Nic<S> {
    /// More bytes for a flow that sends what it is offered.
    fn offer(&mut self, flow: u32, bytes: u64, desk: &mut Desk<'_>) {
        let Some(sender) = self.senders.get_mut(&flow) else { return };
        sender.offered_bytes = sender.offered_bytes.saturating_add(bytes);
        sender.offered = packets(sender.offered_bytes, sender.mtu_bytes);
        self.try_to_send(flow, desk);
    }

    /// A new limit of the application.
    fn cap(&mut self, flow: u32, rate: Option<xoff_engine::BitRate>, desk: &mut Desk<'_>) {
        let Some(sender) = self.senders.get_mut(&flow) else { return };
        sender.cap = rate;
        // So that limits are read again, though the scheme's are the same.
        sender.asked_bps = f64::NAN;
        self.read_limits(flow, desk);
    }
}

fn packets(bytes: u64, mtu_bytes: u32) -> u32 {
    u32::try_from(bytes / u64::from(mtu_bytes)).unwrap_or(u32::MAX)
}

/// What follows from the flow's size and its hosts.
fn fill_in<Rp>(sender: &mut Sender<Rp>, spec: &FlowSpec, network: &Network, now: Time) {
    let (settings, responder) = (network.plan.host(spec.src), network.plan.host(spec.dst));
    sender.mtu_bytes = settings.mtu_bytes;
    let id = FlowId::of(&sender.flow);
    sender.header_bytes = network.header_bytes(&id);
    sender.min_frame_bytes = settings.sizes.min_frame_bytes;
    sender.size_bytes = spec.size_bytes;
    if let Some(size) = spec.size_bytes {
        sender.total = size.div_ceil(u64::from(settings.mtu_bytes)).max(1) as u32;
    }
    if let Some(bytes) = spec.offered_bytes {
        (sender.offered_bytes, sender.offered) = (bytes, packets(bytes, settings.mtu_bytes));
    }
    sender.ack_every = match sender.format.transport {
        Transport::Roce => sender.format.ack_every.max(responder.ack_every),
        Transport::Tcp => sender.format.ack_every,
    };
    sender.set_window(u64::MAX);
    sender.cap = spec.rate_cap;
    sender.next_avail = now;
    sender.last_wire_bytes = network.full_frame_bytes(&id) + network.gap_bytes;
}

/// Delivery time of the flow alone on an idle network.
fn ideal<Rp>(network: &Network, path: &[u32], sender: &Sender<Rp>) -> Span {
    if sender.total == u32::MAX {
        return Span::ZERO;
    }
    let wire = |psn: u32| sender.frame_bytes(psn) + network.gap_bytes;
    let full = sender.header_bytes + sender.mtu_bytes + network.gap_bytes;
    timing::ideal_delivery(&network.plan, path, u64::from(sender.total), full, wire(sender.total - 1))
}
