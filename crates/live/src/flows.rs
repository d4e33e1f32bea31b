//! Flows from their sources to their records.

use crate::context::{Context, FlowEvent};
use crate::flow::Flow;
use crate::forwarding::tcp_number;
use crate::network::{FlowId, Network, Spraying};
use crate::nic::Nic;
use crate::run::{Node, Run};
use crate::sender::{Entropies, Sender, Tally};
use crate::wires::Wires;
use std::collections::{BTreeSet, VecDeque};
use xoff_engine::{Numbered, Span, Time};
use xoff_fabric::capture::FlowName;
use xoff_fabric::pacing::Pacing;
use xoff_fabric::record::{FlowRecord, Multipath, Paths, RecoveryRecord};
use xoff_fabric::scheme::{ReactionPoint, Scheme, Transport};
use xoff_fabric::timing;
use xoff_fabric::traffic::{Action, FlowSpec};
use xoff_fabric::transport::{Conditions, Requester, Stream};
use xoff_wire::Unwrap;

impl<S: Scheme, W: Wires> Run<'_, S, W> {
    /// Reads when a source acts next.
    pub(crate) fn arm_source(&mut self, index: usize) {
        let source_state = &mut self.sources[index];
        let next = source_state.source.next().unwrap_or(Time::NEVER);
        if next != source_state.due {
            source_state.due = next;
            self.agenda.add(next, crate::agenda::Event::Source(index as u32));
        }
    }

    /// The event of a source, unless the source acted in the meantime.
    pub(crate) fn on_source(&mut self, index: usize, due: Time) {
        if self.sources[index].due == due {
            self.act(index, due);
        }
    }

    /// Lets a source act at exactly the instant that it named: it acts in the scenario's time, which has no lag.
    fn act(&mut self, index: usize, due: Time) {
        self.sources[index].due = Time::NEVER;
        let mut actions = Vec::new();
        self.sources[index].source.act(due, &mut actions);
        for action in actions {
            match action {
                Action::Start(spec) => self.start_flow(index, spec, due),
                Action::Offer { handle, bytes } => self.with_sender(index, handle, |nic, flow, context| {
                    nic.offer(flow, bytes, context);
                }),
                Action::Cap { handle, rate } => self.with_sender(index, handle, |nic, flow, context| {
                    nic.cap(flow, rate, context);
                }),
                Action::Stop { handle } => self.stop_flow(index, handle),
                Action::StartTogether(_) => debug_assert!(false, "a macro-flow on real packets"),
                Action::Send { handle, bytes, message } => {
                    if let Some(flow) = self.sources[index].handles.get(&handle)
                        && let Some(flow) = self.flows.get_mut(flow)
                    {
                        flow.awaited.push_back(message);
                    }
                    self.with_sender(index, handle, |nic, flow, context| {
                        nic.send_message(flow, bytes, message, context)
                    });
                }
            }
        }
        self.arm_source(index);
    }

    fn with_sender(&mut self, source: usize, handle: u32, act: impl FnOnce(&mut Nic<S>, u32, &mut Context<'_>)) {
        let Some(&flow) = self.sources[source].handles.get(&handle) else { return };
        let Some(src) = self.flows.get(&flow).map(|flow| flow.name.src) else { return };
        let (nodes, mut context) = self.split();
        if let Some(Node::Host(nic)) = &mut nodes[src as usize] {
            act(nic, flow, &mut context);
        }
    }

    fn stop_flow(&mut self, source: usize, handle: u32) {
        let Some(&flow) = self.sources[source].handles.get(&handle) else { return };
        let Some(id) = self.flows.get(&flow).map(|flow| flow.id) else { return };
        if let Some(Node::Host(nic)) = &mut self.nodes[id.dst as usize]
            && let Some(receiver) = nic.receivers.get_mut(&id)
        {
            receiver.responder.close();
        }
        self.with_sender(source, handle, |nic, flow, context| nic.end(flow, context));
    }

    /// A flow that a source wants from `start` on, which is now or a moment ago.
    fn start_flow(&mut self, source: usize, spec: FlowSpec, start: Time) {
        // Numbers are the same on all machines; what is counted is what starts here.
        let number = self.started;
        self.started += 1;
        let source_state = &mut self.sources[source];
        let in_source = source_state.started;
        source_state.started += 1;
        let ephemeral = source_state.name.port(in_source);
        if self.nodes[spec.src as usize].is_none() {
            return; // Another machine's.
        }
        self.log.counters.flows_started += 1;
        let identity = source_state.name.flow(in_source, &spec);
        let name = self.name_flow(number, &spec, ephemeral);
        let network = self.network;
        let id = network.flow_id(&name);
        let mut facts = network.facts(&id, identity, start);
        facts.initial_rate = spec.initial_rate.map_or(facts.line_rate, |rate| rate.min(facts.line_rate));
        let slot = usize::from(spec.scheme);
        facts.spread &= spec.multipath;
        let choice = |of: Spraying| Entropies::new(&of, of.choice(network.plan.seed, identity));
        let entropies = network.spraying().filter(|_| facts.spread).map(choice);
        let rp = self.schemes[slot].reaction_point(&facts);
        let (settings, format) = (network.plan.host(spec.src), network.format(&id));
        let (packets, short_bytes) = Stream::packets(spec.size_bytes, settings.mtu_bytes);
        let stream = Stream::new(packets, settings.mtu_bytes, short_bytes);
        let conditions = Conditions {
            format: &format,
            sender: settings,
            receiver: network.plan.host(spec.dst),
            base_rtt: facts.base_rtt,
            max_bdp_bytes: network.max_bdp_bytes,
            full_wire_bytes: facts.mtu_wire_bytes,
            lossless: network.plan.classes.list[usize::from(spec.class)].lossless,
        };
        let mut requester = Requester::new(&conditions, stream);
        if let Some(bytes) = spec.offered_bytes {
            requester.seq.offer(bytes);
        }
        let (line_bps, wire_bytes) = (facts.line_rate.bps() as f64, facts.mtu_wire_bytes);
        let sender = Sender {
            rp,
            flow: name,
            format,
            requester,
            pacing: Pacing::new(self.now, line_bps, wire_bytes, facts.bdp_bytes, spec.rate_cap),
            sent: Numbered::default(),
            entropies,
            size_bytes: spec.size_bytes,
            offered_bytes: spec.offered_bytes.unwrap_or(0),
            header_bytes: network.header_bytes(&id),
            min_frame_bytes: settings.sizes.min_frame_bytes,
            due: Time::NEVER,
            base_rtt: facts.base_rtt,
            unwrap: Unwrap::new(self.multipliers[slot]),
            tally: Tally::default(),
        };
        let path = network.path(spec.src, spec.dst, (name.src_port, xoff_fabric::traffic::ROCE_PORT));
        let ideal = ideal(network, &path, &sender);
        self.sources[source].handles.insert(spec.handle, name.id);
        let src = spec.src;
        let flow = Flow {
            number,
            source,
            in_source,
            spec,
            name,
            id,
            start,
            ideal,
            path,
            base_rtt: facts.base_rtt,
            awaited: VecDeque::new(),
        };
        self.flows.insert(name.id, flow);
        let (nodes, mut context) = self.split();
        if let Some(Node::Host(nic)) = &mut nodes[src as usize] {
            nic.open(sender, &mut context);
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
    pub(crate) fn drain_events(&mut self) {
        while !self.log.events.is_empty() {
            for event in std::mem::take(&mut self.log.events) {
                self.hear(event);
            }
        }
    }

    fn hear(&mut self, event: FlowEvent) {
        let (FlowEvent::Ended(id) | FlowEvent::Drained(id) | FlowEvent::Delivered(id) | FlowEvent::Acknowledged(id, _)) =
            event;
        let now = self.now;
        // What the source was to do earlier comes first, however late.
        if let Some(source) = self.flows.get(&id).map(|flow| flow.source) {
            while self.sources[source].due < now {
                self.act(source, self.sources[source].due);
            }
        }
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let (source, handle) = (flow.source, flow.spec.handle);
        let delivered = if event == FlowEvent::Delivered(id) { flow.awaited.pop_front() } else { None };
        if event == FlowEvent::Ended(id) {
            self.record(id, Some(now));
            self.sources[source].handles.remove(&handle);
        }
        let listener = &mut self.sources[source].source;
        let subscription = listener.subscription();
        match event {
            FlowEvent::Ended(_) => listener.on_finished(now, handle),
            FlowEvent::Drained(_) if subscription.drained => listener.on_drained(now, handle),
            FlowEvent::Delivered(_) if subscription.delivered => {
                listener.on_delivered(now, handle, delivered.unwrap_or(0));
            }
            FlowEvent::Acknowledged(_, message) if subscription.acknowledged => {
                listener.on_acknowledged(now, handle, message);
            }
            _ => return,
        }
        self.arm_source(source);
    }

    /// What sources wait for, in words, if the run failed.
    pub(crate) fn waits(&self) -> Vec<String> {
        let failed = self.log.failure.is_some();
        self.sources.iter().filter(|_| failed).flat_map(|source_state| source_state.source.waits_for()).collect()
    }

    /// The paths of the entropies that a flow's packets had, or its one path.
    fn paths_of(&self, flow: &Flow, used: &BTreeSet<u16>) -> Paths {
        let port = flow.name.src_port;
        let path = |entropy: &u16| {
            let ports = (port.wrapping_add(*entropy), xoff_fabric::traffic::ROCE_PORT);
            self.network.path(flow.name.src, flow.name.dst, ports)
        };
        let mut paths: Vec<Vec<u32>> = used.iter().map(path).collect();
        paths.sort_unstable();
        paths.dedup();
        match paths.is_empty() {
            true => Paths::One(flow.path.clone().into()),
            false => Paths::of(paths.into_iter().map(Vec::into_boxed_slice).collect()),
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
        let seq = sender.as_ref().map(|sender| &sender.requester.seq);
        let complete = seq.is_some_and(|seq| seq.una >= seq.total);
        let known = seq.map(|seq| seq.stream.payload_until(seq.una));
        let sent = seq.map_or(0, |seq| seq.stream.payload_until(seq.highest));
        self.payload.0 += known.unwrap_or(0);
        self.payload.1 += sent.saturating_sub(known.unwrap_or(0));
        let tally = sender.as_ref().map_or(Tally::default(), |sender| sender.tally);
        let used = sender.and_then(|sender| sender.entropies).map(|entropies| entropies.used);
        let acked_at = ended.filter(|_| complete);
        // Where the receiver is on another machine, its sender knows no more than ACKs say.
        let none = RecoveryRecord::default();
        let (delivered_bytes, delivered_at, marked, recovery) = match &self.nodes[flow.name.dst as usize] {
            Some(Node::Host(nic)) => nic.receivers.get(&flow.id).map_or((0, None, 0, none), |receiver| {
                let delivered_at = receiver.delivered_at.filter(|_| flow.spec.size_bytes.is_some());
                (receiver.responder.seq.delivered_bytes, delivered_at, receiver.marked, receiver.recovery)
            }),
            _ => (known.unwrap_or(0), acked_at, 0, none),
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
            recovery: RecoveryRecord { timeouts: tally.timeouts, ..recovery },
            lost: self.log.lost.remove(&id).unwrap_or(0),
            marked,
            notifications: tally.notifications,
            first_notified: tally.first_notified,
            multipath: Multipath::default(),
            path: self.paths_of(&flow, &used.unwrap_or_default()),
        });
    }
}

impl<S: Scheme> Nic<S> {
    /// More bytes for a flow that sends what it is offered.
    fn offer(&mut self, flow: u32, bytes: u64, context: &mut Context<'_>) {
        let Some(sender) = self.senders.get_mut(&flow) else { return };
        sender.offered_bytes = sender.offered_bytes.saturating_add(bytes);
        sender.requester.seq.offer(sender.offered_bytes);
        self.try_to_send(flow, context);
    }

    fn send_message(&mut self, flow: u32, bytes: u64, message: u32, context: &mut Context<'_>) {
        let Some(sender) = self.senders.get_mut(&flow) else { return };
        sender.send(bytes, message);
        self.try_to_send(flow, context);
    }

    fn cap(&mut self, flow: u32, rate: Option<xoff_engine::BitRate>, context: &mut Context<'_>) {
        let Some(sender) = self.senders.get_mut(&flow) else { return };
        sender.pacing.cap = rate;
        let limits = sender.rp.limits();
        self.apply(flow, limits, context);
    }
}

/// Delivery time of the flow alone on an idle network.
fn ideal<Rp>(network: &Network, path: &[u32], sender: &Sender<Rp>) -> Span {
    let total = sender.requester.seq.total;
    if total == u32::MAX {
        return Span::ZERO;
    }
    let last = sender.frame_bytes(total - 1) + network.gap_bytes;
    let full = network.full_frame_bytes(&network.flow_id(&sender.flow)) + network.gap_bytes;
    timing::ideal_delivery(&network.plan, path, u64::from(total), full, last)
}
