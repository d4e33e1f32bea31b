//! Flow events of a window, foreseen before partitions run it.
//!
//! A source may react to a flow event at once and at any host. Every flow event is the arrival of a packet at a host, or
//! a stop by the source. A window is no longer than the shortest host link here, so each packet that arrives at a host
//! within it is on that link when it begins. The flow events of the window follow from these packets and from the
//! state of the flow's ends. Sources receive them, in order of key, while their events are drawn ahead.
//!
//! What a packet brings about is not always known: its link may lose it, or a receiver keeps packets out of order. The
//! window then ends after that packet. Partitions report what really happened; it must be what was foreseen.

use crate::contract::packet::{ASKS_ACK, Kind, Packet};
use crate::contract::scheme::{Format, Scheme, Transport};
use crate::id::{FlowEntryId, FlowStateId, PortId};
use crate::node::port::LOSSY_LINK;
use crate::part::{FlowEvent, Part, kind};
use crate::run::World;
use std::cmp::Reverse;
use std::collections::VecDeque;
use xoff_engine::Key;

/// Flow events that sources receive before partitions run the window.
#[derive(Debug, Default)]
pub(crate) struct Foresight {
    /// A source reacts to its flows.
    pub needed: bool,
    /// A link is down: a flow may have no route, and whether the run makes progress is read when it starts.
    pub stepwise: bool,
    /// An ACK may bring about a flow event: a flow has started that has a size or whose source subscribes to what ACKs
    /// bring about.
    pub acks: bool,
    /// The last packet of a message, or of a flow, need not have AckReq, or need not be the last to arrive.
    pub all_data: bool,
    /// Flow events of this window that sources have received and partitions have not reported yet, by partition, in
    /// order.
    received: Vec<VecDeque<FlowEvent>>,
    /// Flows that end within this window, as far as their sources know.
    pub ending: Vec<FlowStateId>,
    /// Flows that got more to send within this window, and whether as a message; only those of sources that subscribe to
    /// drained flows.
    fed: Vec<(FlowStateId, bool)>,
    /// Room for the flow events of a window.
    events: Vec<Foreseen>,
}

impl Foresight {
    /// Foresight for a run with so many partitions, whose schemes have these formats.
    pub fn new(parts: usize, formats: &[[Format; 2]]) -> Foresight {
        let keeps = |format: &Format| format.transport != Transport::Roce || format.reorder;
        Foresight {
            received: vec![VecDeque::new(); parts],
            all_data: formats.as_flattened().iter().any(keeps),
            ..Foresight::default()
        }
    }

    /// A window begins.
    pub fn clear(&mut self) {
        self.ending.clear();
        self.fed.clear();
    }

    pub fn feed(&mut self, flow: FlowStateId, message: bool) {
        if self.needed {
            self.fed.push((flow, message));
        }
    }

    /// Returns whether the source has received this event, which a partition now reports.
    pub fn confirms(&mut self, part: usize, event: FlowEvent) -> bool {
        let received = &mut self.received[part];
        let confirms = received.front() == Some(&event);
        if confirms {
            received.pop_front();
        }
        confirms
    }

    /// All of the window was reported.
    pub fn check(&self) {
        let all = self.received.iter().all(VecDeque::is_empty);
        assert!(all, "foreseen flow events did not happen: {:?}", self.received);
    }

    /// How `flow` was fed within this window: with a message, or with bytes.
    fn was_fed(&self, flow: FlowStateId) -> Option<bool> {
        self.fed.iter().find(|(fed, _)| *fed == flow).map(|(_, message)| *message)
    }
}

#[derive(Clone, Copy, Debug)]
struct Foreseen {
    key: Key,
    event: FlowEvent,
    part: u16,
    certain: bool,
}

/// Packets of a flow that arrive at one of its ends within a window, so far.
#[derive(Clone, Copy, Debug)]
struct Arriving {
    flow: FlowEntryId,
    data: bool,
    /// The end was looked at: `psn` is what it will have.
    known: bool,
    /// Nothing more follows from what arrives.
    settled: bool,
    /// First packet that arrives.
    first: u32,
    /// Next packet expected, or oldest unacknowledged; before the end is known, the packet after those that arrived
    /// without a gap.
    psn: u32,
    /// Messages that are complete by then; or packets, where the receiver keeps some out of order.
    over: u32,
}

impl FlowEvent {
    fn flow(self) -> FlowStateId {
        match self {
            FlowEvent::Ended(flow) | FlowEvent::Drained(flow) | FlowEvent::Lost(flow) => flow,
            FlowEvent::Delivered(flow, _) | FlowEvent::Acknowledged(flow, _) => flow,
        }
    }
}

impl<S: Scheme> World<S> {
    /// Draws the events of sources before `limit`, in order with the flow events that they react to. Returns the last
    /// of them, and where the window ends: before `limit` if what comes next is not certain.
    pub(crate) fn draw_ahead(&mut self, limit: Key) -> (Option<Key>, Key) {
        // All that was drawn before has been done.
        debug_assert!(self.parts.iter().all(|part| part.commands.is_empty()));
        (self.window.acts, self.window.commands) = (0, 0);
        self.window.foresight.clear();
        let events = self.foresee(limit);
        let result = self.draw_with(&events, limit);
        self.window.foresight.events = events;
        result
    }

    fn draw_with(&mut self, events: &[Foreseen], mut limit: Key) -> (Option<Key>, Key) {
        let mut events = events.iter().peekable();
        let mut last = None;
        loop {
            let act = self.acts.peek().map(|Reverse(key)| *key).filter(|key| *key < limit);
            let next = events.next_if(|event| event.key < act.unwrap_or(limit));
            match (next, act) {
                (Some(foreseen), _) if self.is_void(foreseen) => {}
                (Some(foreseen), _) if self.is_open(foreseen) => return (last, foreseen.key.next()),
                (Some(foreseen), _) => {
                    self.state.now = foreseen.key.time();
                    self.window.foresight.received[usize::from(foreseen.part)].push_back(foreseen.event);
                    self.receive_ahead(foreseen.event);
                    if self.is_idle() {
                        return (last, limit);
                    }
                }
                // What the source reads of the network must be of that instant.
                (None, Some(key)) if self.window.foresight.stepwise && key > self.window.ran_to => return (last, key),
                (None, Some(key)) => {
                    self.state.now = key.time();
                    last = Some(key);
                    self.window.act = last;
                    self.window.acts += 1;
                    self.handle_act();
                    if self.done {
                        return (last, limit);
                    }
                    limit = self.agenda.peek().map_or(limit, |Reverse(event)| limit.min(*event));
                }
                (None, None) => return (last, limit),
            }
        }
    }

    /// Whether an event does not happen because of what its source did within the window.
    fn is_void(&self, foreseen: &Foreseen) -> bool {
        let flow = foreseen.event.flow();
        let stopped = self.flow_states[flow].stops < foreseen.key;
        // A message has a packet at least, and that is not acknowledged within the window.
        stopped
            || (matches!(foreseen.event, FlowEvent::Drained(_)) && self.window.foresight.was_fed(flow) == Some(true))
    }

    /// Whether it is not certain that an event happens.
    fn is_open(&self, foreseen: &Foreseen) -> bool {
        let fed = || self.window.foresight.was_fed(foreseen.event.flow()).is_some();
        !foreseen.certain || (matches!(foreseen.event, FlowEvent::Drained(_)) && fed())
    }

    fn receive_ahead(&mut self, event: FlowEvent) {
        match event {
            FlowEvent::Ended(flow) => self.end_ahead(flow),
            other => self.hear(other),
        }
    }

    /// A flow ends, for its source: its record follows when its partition has come so far.
    pub(crate) fn end_ahead(&mut self, flow: FlowStateId) {
        self.window.foresight.ending.push(flow);
        self.take_from_source(flow);
    }

    /// Returns the flow events of all arrivals at hosts before `limit`, in order.
    fn foresee(&mut self, limit: Key) -> Vec<Foreseen> {
        let mut events = std::mem::take(&mut self.window.foresight.events);
        events.clear();
        let Foresight { needed, acks, all_data, .. } = self.window.foresight;
        if needed {
            let mut arriving = Vec::new();
            for (number, part) in (0..).zip(&self.parts) {
                let mut look = Look { part, number, limit, acks, all_data, arriving: &mut arriving, out: &mut events };
                part.hosts.iter().for_each(|host| look.arrivals(host.port.peer()));
            }
        }
        // No two packets have one key; the events of a packet stay in order.
        events.sort_by_key(|event| event.key);
        events
    }
}

/// A look at what is on its way to the hosts of a partition.
struct Look<'a, S: Scheme> {
    part: &'a Part<S>,
    number: u16,
    limit: Key,
    acks: bool,
    all_data: bool,
    /// Room for what arrives by one link.
    arriving: &'a mut Vec<Arriving>,
    out: &'a mut Vec<Foreseen>,
}

impl<S: Scheme> Look<'_, S> {
    /// Foresees what the packets bring about that arrive from a port.
    fn arrivals(&mut self, port: PortId) {
        self.arriving.clear();
        let links = &self.part.links;
        let sending = &links.ports[port];
        for item in links.in_flight.iter(&sending.in_flight) {
            let packet = &item.packet;
            let key = || Key::named(item.arrives, kind::ARRIVE, sending.name, port.get());
            if item.arrives >= self.limit.time() && (item.arrives > self.limit.time() || key() >= self.limit) {
                break;
            }
            match packet.kind {
                Kind::Data => self.data(packet, port, key),
                Kind::Ack | Kind::Nak if self.acks => self.ack(packet, port, key),
                _ => {}
            }
        }
    }

    /// The place of what arrives at an end of a flow, where `packet` comes next.
    fn place(&mut self, packet: &Packet, data: bool) -> usize {
        let (flow, psn) = (packet.flow, packet.psn);
        let known = self.arriving.iter().position(|of| of.flow == flow && of.data == data);
        known.unwrap_or_else(|| {
            let of = Arriving { flow, data, known: false, settled: false, first: psn, psn, over: 0 };
            self.arriving.push(of);
            self.arriving.len() - 1
        })
    }

    fn data(&mut self, packet: &Packet, port: PortId, key: impl Fn() -> Key) {
        let place = self.place(packet, true);
        let of = &mut self.arriving[place];
        if of.settled {
            return;
        }
        let (ends, next) = (self.all_data || packet.flags & ASKS_ACK != 0, packet.psn == of.psn);
        // Most often packets come in order, and the receiver need not be looked at before one may end a message.
        if !ends && (next || of.known) {
            of.psn += u32::from(next);
            return;
        }
        let entry = &self.part.flows.entries[of.flow];
        let receiver = &self.part.flows.receivers[entry.receiver];
        let seq = &receiver.responder.seq;
        if !of.known {
            (of.known, of.settled) = (true, !receiver.tells || seq.is_closed());
            of.psn = if of.first <= seq.expected { of.psn.max(seq.expected) } else { seq.expected };
        }
        of.psn += u32::from(packet.psn == of.psn);
        if of.settled || !ends {
            return;
        }
        let certain = !self.part.links.ports[port].has(LOSSY_LINK);
        let mut push = |message, certain| {
            let event = FlowEvent::Delivered(entry.flow_state, message);
            self.out.push(Foreseen { key: key(), event, part: self.number, certain });
        };
        if let Some(kept) = receiver.responder.kept() {
            // With this packet there may be enough.
            of.over += 1;
            let missing = seq.stream.message_end.saturating_sub(seq.expected).saturating_sub(kept);
            if seq.stream.message_end != u32::MAX && of.over >= missing.max(1) {
                of.settled = true;
                push(0, false);
            }
            return;
        }
        while let Some(message) = seq.stream.complete_after(of.psn, of.over as usize) {
            of.over += 1;
            push(message, certain);
        }
    }

    fn ack(&mut self, packet: &Packet, port: PortId, key: impl Fn() -> Key) {
        let place = self.place(packet, false);
        let of = &mut self.arriving[place];
        if of.settled {
            return;
        }
        let entry = &self.part.flows.entries[of.flow];
        let sender = &self.part.flows.senders[entry.sender];
        let seq = &sender.requester.seq;
        if !of.known {
            (of.known, of.settled, of.psn) = (true, sender.ended, seq.una);
        }
        if of.settled || packet.psn <= of.psn {
            return;
        }
        of.psn = packet.psn;
        let certain = !self.part.links.ports[port].has(LOSSY_LINK);
        let mut push = |event| self.out.push(Foreseen { key: key(), event, part: self.number, certain });
        while let Some(message) = seq.stream.complete_after(of.psn, of.over as usize) {
            of.over += 1;
            if sender.subscription.acknowledged {
                push(FlowEvent::Acknowledged(entry.flow_state, message));
            }
        }
        if seq.stream.messages.is_none() && of.over > 0 {
            of.settled = true;
            push(FlowEvent::Ended(entry.flow_state));
        } else if of.psn == seq.offered && sender.subscription.drained {
            push(FlowEvent::Drained(entry.flow_state));
        }
    }
}
