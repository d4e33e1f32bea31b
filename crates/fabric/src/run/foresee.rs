//! Flow events of a window, foreseen before partitions run it.
//!
//! A source may react to a flow event at once and at any host. Every flow event is the arrival of a packet at a host, or
//! a stop by the source. A window is no longer than the shortest host link here, so each packet that arrives at a host
//! within it is on that link when it begins. The flow events of the window follow from these packets and from the
//! state of the flow's ends. Sources receive them, in order of key, while their events are drawn ahead.
//!
//! What a packet brings about is not always known: its link may lose it, or a receiver keeps packets out of order. The
//! window then ends after that packet. Partitions report what really happened; it must be what was foreseen.

use crate::contract::packet::{Kind, Packet};
use crate::contract::scheme::Scheme;
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
    /// Flow events of this window that sources have received and partitions have not reported yet, in order.
    received: VecDeque<FlowEvent>,
    /// Flows that end within this window, as far as their sources know.
    pub ending: Vec<FlowStateId>,
    /// Flows that got more to send within this window, and whether as a message.
    fed: Vec<(FlowStateId, bool)>,
}

impl Foresight {
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

    /// Whether the source has received this event, which a partition now reports.
    pub fn confirms(&mut self, event: FlowEvent) -> bool {
        let received = self.received.front() == Some(&event);
        if received {
            self.received.pop_front();
        }
        received
    }

    /// All of the window was reported.
    pub fn check(&self) {
        assert!(self.received.is_empty(), "foreseen flow events did not happen: {:?}", self.received);
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
    certain: bool,
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
        let mut flow_events = self.foresee(limit).into_iter().peekable();
        let (mut last, mut limit) = (None, limit);
        loop {
            let act = self.acts.peek().map(|Reverse(key)| *key).filter(|key| *key < limit);
            let next = flow_events.next_if(|event| event.key < act.unwrap_or(limit));
            match (next, act) {
                (Some(foreseen), _) if self.is_void(&foreseen) => {}
                (Some(foreseen), _) if self.is_open(&foreseen) => return (last, foreseen.key.next()),
                (Some(foreseen), _) => {
                    self.state.now = foreseen.key.time();
                    self.window.foresight.received.push_back(foreseen.event);
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
        let stopped = self.flow_states[flow].stops.is_some_and(|stop| stop < foreseen.key);
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

    /// The flow events of all arrivals at hosts before `limit`, in order.
    fn foresee(&self, limit: Key) -> Vec<Foreseen> {
        let mut events = Vec::new();
        if self.window.foresight.needed {
            self.parts.iter().for_each(|part| part.foresee(limit, &mut events));
        }
        events.sort_by_key(|event| event.key);
        events
    }
}

impl<S: Scheme> Part<S> {
    fn foresee(&self, limit: Key, out: &mut Vec<Foreseen>) {
        let mut known = Vec::new();
        for host in &self.hosts {
            let port = host.port.peer();
            known.clear();
            for (_, packet) in self.arrivals(port, limit) {
                let matters = match packet.kind {
                    Kind::Data => self.may_complete(packet),
                    Kind::Ack | Kind::Nak => self.may_acknowledge(packet),
                    Kind::Notification | Kind::Trimmed | Kind::Pfc | Kind::Neighbour => false,
                };
                if matters && !known.contains(&packet.flow) {
                    known.push(packet.flow);
                    match packet.kind {
                        Kind::Data => self.foresee_deliveries(port, packet.flow, limit, out),
                        _ => self.foresee_acknowledgements(port, packet.flow, limit, out),
                    }
                }
            }
        }
    }

    /// Packets that arrive from a port before `limit`, in order.
    fn arrivals(&self, port: PortId, limit: Key) -> impl Iterator<Item = (Key, &Packet)> {
        let sending = &self.links.ports[port];
        let items = self.links.in_flight.iter(&sending.in_flight);
        let keyed =
            items.map(move |item| (Key::named(item.arrives, kind::ARRIVE, sending.name, port.get()), &item.packet));
        keyed.take_while(move |(key, _)| *key < limit)
    }

    /// Whether a data packet may be the last one that a message, or a flow, waits for.
    fn may_complete(&self, packet: &Packet) -> bool {
        let receiver = &self.flows.receivers[self.flows.entries[packet.flow].receiver];
        let (seq, end) = (&receiver.responder.seq, receiver.responder.seq.stream.message_end);
        let reaches = packet.psn + 1 >= end || (receiver.responder.kept().is_some() && end != u32::MAX);
        receiver.tells && reaches && !seq.is_closed()
    }

    /// Whether an ACK may speak for the last packet of a message, of a flow, or of what it was offered.
    fn may_acknowledge(&self, packet: &Packet) -> bool {
        let sender = &self.flows.senders[self.flows.entries[packet.flow].sender];
        let seq = &sender.requester.seq;
        let reaches = packet.psn >= seq.stream.message_end || packet.psn == seq.offered;
        packet.psn > seq.una && reaches && !sender.ended
    }

    fn foresee_deliveries(&self, port: PortId, flow: FlowEntryId, limit: Key, out: &mut Vec<Foreseen>) {
        let entry = &self.flows.entries[flow];
        let responder = &self.flows.receivers[entry.receiver].responder;
        let seq = &responder.seq;
        let certain = !self.links.ports[port].has(LOSSY_LINK);
        let (mut expected, mut over) = (seq.expected, 0);
        let mut data =
            self.arrivals(port, limit).filter(|(_, packet)| packet.kind == Kind::Data && packet.flow == flow);
        if let Some(kept) = responder.kept() {
            // With this packet there may be enough.
            let missing = seq.stream.message_end.saturating_sub(seq.expected).saturating_sub(kept);
            let enough = data.nth(missing.saturating_sub(1) as usize);
            let event = FlowEvent::Delivered(entry.flow_state, 0);
            out.extend(enough.map(|(key, _)| Foreseen { key, event, certain: false }));
            return;
        }
        for (key, packet) in data {
            expected += u32::from(packet.psn == expected);
            while let Some(message) = seq.stream.complete_after(expected, over) {
                over += 1;
                out.push(Foreseen { key, event: FlowEvent::Delivered(entry.flow_state, message), certain });
            }
        }
    }

    fn foresee_acknowledgements(&self, port: PortId, flow: FlowEntryId, limit: Key, out: &mut Vec<Foreseen>) {
        let entry = &self.flows.entries[flow];
        let (sender, tells) = (&self.flows.senders[entry.sender], self.flows.details[entry.sender].tells);
        let certain = !self.links.ports[port].has(LOSSY_LINK);
        let seq = &sender.requester.seq;
        let (mut una, mut over) = (seq.una, 0);
        let acks = self
            .arrivals(port, limit)
            .filter(|(_, packet)| matches!(packet.kind, Kind::Ack | Kind::Nak) && packet.flow == flow);
        for (key, packet) in acks {
            if packet.psn <= una {
                continue;
            }
            una = packet.psn;
            let mut push = |event| out.push(Foreseen { key, event, certain });
            while let Some(message) = seq.stream.complete_after(una, over) {
                over += 1;
                if tells {
                    push(FlowEvent::Acknowledged(entry.flow_state, message));
                }
            }
            if seq.stream.messages.is_none() && over > 0 {
                push(FlowEvent::Ended(entry.flow_state));
                return;
            }
            if una == seq.offered {
                push(FlowEvent::Drained(entry.flow_state));
            }
        }
    }
}
