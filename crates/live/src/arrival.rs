//! What a NIC does with a frame for its host: data is counted and answered, from its bytes alone; what concerns a sender
//! is handed to it.

use crate::agenda::Event;
use crate::answer::unwrap_bytes;
use crate::desk::Desk;
use crate::egress::frame_bytes;
use crate::forwarding::{data_of, flow_of};
use crate::network::{FlowId, TIDY_FROM};
use crate::nic::{ACKS, NOTIFICATIONS, Nic};
use crate::receiver::{Cause, Receiver, Taken, Waiting};
use std::collections::BTreeSet;
use xoff_engine::Time;
use xoff_fabric::capture::{Body, FlowName, Reply};
use xoff_fabric::packet::Ecn;
use xoff_fabric::scheme::{NotificationPoint, Received, Scheme, Transport};
use xoff_wire::{Roce, RoceKind, Seen, TCP_PUSH, Tcp, Unwrap, near, stamp_of, telemetry_of};

/// A data packet as its receiver reads it.
struct Packet {
    psn: u32,
    last: bool,
    asks_ack: bool,
    payload_bytes: u64,
    size_bytes: Option<u64>,
    cause: Cause,
}

impl<S: Scheme> Nic<S> {
    /// A frame that is not PFC has come.
    pub(crate) fn take_in(&mut self, bytes: &[u8], seen: &Seen, schemes: &[S], desk: &mut Desk<'_>) {
        match seen {
            Seen::Roce(roce) if roce.ends.dst != self.node => desk.log.ignore("for another host"),
            Seen::Tcp(tcp) if tcp.ends.dst != self.node => desk.log.ignore("for another host"),
            Seen::Cnm(cnm) if cnm.to != self.node => desk.log.ignore("for another host"),
            Seen::Roce(Roce { ends, .. }) if !desk.network.is_host(ends.src) => desk.log.ignore("nobody's address"),
            Seen::Tcp(Tcp { ends, .. }) if !desk.network.is_host(ends.src) => desk.log.ignore("nobody's address"),
            Seen::Roce(roce) => match roce.what {
                RoceKind::Data { .. } => self.on_data(bytes, seen, schemes, desk),
                RoceKind::Ack { echo, .. } => self.on_roce_reply(bytes, seen, roce, (false, echo), schemes, desk),
                RoceKind::Nak { echo, .. } => self.on_roce_reply(bytes, seen, roce, (true, echo), schemes, desk),
                RoceKind::Cnp => self.on_notification(flow_of(roce.queue_pair), bytes, seen, schemes, desk),
            },
            Seen::Tcp(tcp) if tcp.payload_bytes > 0 => self.on_data(bytes, seen, schemes, desk),
            Seen::Tcp(tcp) => self.on_tcp_reply(tcp, desk),
            // Sixteen bits of the flow's number: the rest is what this host sends.
            Seen::Cnm(cnm) => {
                let named = |flow: &&u32| **flow as u16 == cnm.flow;
                match self.senders.keys().find(named).copied() {
                    Some(flow) => self.on_notification(flow, bytes, seen, schemes, desk),
                    None => desk.log.ignore("for a flow that is over"),
                }
            }
            Seen::Pfc(_) | Seen::Neighbour(_) => desk.log.ignore("not for a host"),
        }
    }

    fn on_data(&mut self, bytes: &[u8], seen: &Seen, schemes: &[S], desk: &mut Desk<'_>) {
        let Some(name) = data_of(seen, desk.network) else {
            return desk.log.ignore("a priority without a class");
        };
        let id = FlowId::of(&name);
        if !self.receivers.contains_key(&id) {
            self.make_receiver(id, name, schemes, desk);
        }
        let multiplier = self.multipliers[usize::from(id.scheme)];
        let Some(receiver) = self.receivers.get_mut(&id) else { return };
        receiver.heard_at = desk.now;
        if receiver.closed {
            desk.log.counters.data_packets_discarded += 1;
            return;
        }
        let mut packet = match seen {
            Seen::Roce(roce) => read_roce(bytes, roce, receiver, multiplier),
            Seen::Tcp(tcp) => read_tcp(tcp, receiver),
            _ => return,
        };
        if let Some(int) = packet.cause.int {
            // What schemes here read is whole; what goes back is what came.
            let whole = receiver.unwrap.widen(desk.now, &int);
            if receiver.np.feeds_back_in_acks() && packet.psn == receiver.expected {
                receiver.np.on_telemetry(desk.now, &whole);
            }
        }
        if let Some(size) = packet.size_bytes.take() {
            receiver.size_bytes.get_or_insert(size);
        }
        if receiver.takes_any() {
            self.take_any_order(id, bytes, &packet, schemes, desk);
        } else {
            self.take_in_order(id, bytes, &packet, schemes, desk);
        }
    }

    fn make_receiver(&mut self, id: FlowId, flow: FlowName, schemes: &[S], desk: &mut Desk<'_>) {
        let network = desk.network;
        if self.receivers.len() > self.tidy_at.max(TIDY_FROM) {
            let lasts = network.forgets_after();
            let idle = |receiver: &Receiver<S::Np>| desk.now.saturating_since(receiver.heard_at) > lasts;
            self.receivers.retain(|_, receiver| !(receiver.is_complete() && idle(receiver)));
            self.numbered.retain(|_, id| self.receivers.contains_key(id));
            self.tidy_at = self.receivers.len() * 2;
        }
        let facts = network.facts(&id, u64::from(flow.id), desk.now);
        let format = network.format(&id);
        let ack_every = match format.transport {
            Transport::Roce => format.ack_every.max(network.plan.host(id.dst).ack_every),
            Transport::Tcp => format.ack_every,
        };
        let receiver = Receiver {
            np: schemes[usize::from(id.scheme)].notification_point(&facts),
            flow,
            format,
            expected: 0,
            mtu_bytes: facts.mtu_bytes,
            size_bytes: None,
            total: None,
            kept: BTreeSet::new(),
            delivered_bytes: 0,
            delivered_at: None,
            marked: 0,
            last_nak: None,
            due: Time::NEVER,
            waiting: None,
            ack_every,
            heard_at: desk.now,
            closed: false,
            unwrap: Unwrap::new(self.multipliers[usize::from(id.scheme)]),
        };
        self.numbered.insert(flow.id, id);
        self.receivers.insert(id, receiver);
    }

    /// RoCE: what is not the next packet is dropped, and the sender is told.
    fn take_in_order(&mut self, id: FlowId, bytes: &[u8], packet: &Packet, schemes: &[S], desk: &mut Desk<'_>) {
        let Some(receiver) = self.receivers.get_mut(&id) else { return };
        let nak_interval = desk.network.plan.host(id.dst).nak_interval;
        match receiver.take(packet.psn, packet.last, packet.payload_bytes) {
            Taken::Fresh { in_order, .. } => {
                let feedback = self.count(id, bytes, packet, in_order, desk);
                if packet.asks_ack {
                    self.reply(id, &packet.cause, false, schemes, desk);
                }
                self.notify_of(id, feedback, schemes, desk);
            }
            Taken::Again => {
                desk.log.counters.data_packets_discarded += 1;
                self.reply(id, &packet.cause, false, schemes, desk);
            }
            Taken::Ahead => {
                desk.log.counters.data_packets_discarded += 1;
                let expected = receiver.expected;
                let recent = |(psn, at): (u32, Time)| psn == expected && desk.now.saturating_since(at) < nak_interval;
                if !receiver.last_nak.is_some_and(recent) {
                    receiver.last_nak = Some((expected, desk.now));
                    self.reply(id, &packet.cause, true, schemes, desk);
                }
            }
        }
    }

    /// TCP, and RoCE where the scheme wants it: any order is taken, and ACKs may wait for more packets.
    fn take_any_order(&mut self, id: FlowId, bytes: &[u8], packet: &Packet, schemes: &[S], desk: &mut Desk<'_>) {
        // An ACK speaks for packets of one mark only, so that the sender counts marks exactly.
        let other_mark = |waiting: Waiting| (waiting.first.ecn == Ecn::Ce) != (packet.cause.ecn == Ecn::Ce);
        if self.receivers.get(&id).and_then(|receiver| receiver.waiting).is_some_and(other_mark) {
            self.acknowledge_waiting(id, schemes, desk);
        }
        let Some(receiver) = self.receivers.get_mut(&id) else { return };
        let missing = !receiver.kept.is_empty();
        let taken = receiver.take(packet.psn, packet.last, packet.payload_bytes);
        let expected = matches!(taken, Taken::Fresh { expected: true, .. });
        // At once whenever something was or is missing, so that the sender learns of it.
        let plain = expected && !missing && !receiver.is_complete();
        let asked = packet.asks_ack && receiver.format.transport == Transport::Roce;
        let waiting = receiver.waiting.map_or(0, |waiting| waiting.packets) + u32::from(expected);
        let ack = !plain || asked || waiting >= receiver.ack_every;
        let mut cause = packet.cause;
        if ack {
            if let Some(waited) = receiver.waiting.take() {
                cause.sent_at = waited.first.sent_at;
            }
        } else if let Some(waits) = &mut receiver.waiting {
            waits.packets = waiting;
        } else {
            let until = desk.now + receiver.format.ack_timeout;
            receiver.waiting = Some(Waiting { packets: 1, first: Cause { int: None, ..cause }, until });
        }
        let mut feedback = None;
        if let Taken::Fresh { in_order, .. } = taken {
            feedback = self.count(id, bytes, packet, in_order, desk);
        } else {
            desk.log.counters.data_packets_discarded += 1;
        }
        if ack {
            self.reply(id, &cause, false, schemes, desk);
        }
        self.notify_of(id, feedback, schemes, desk);
    }

    /// Counts a packet that is kept; what the notification point makes of it.
    fn count(
        &mut self,
        id: FlowId,
        bytes: &[u8],
        packet: &Packet,
        in_order: u64,
        desk: &mut Desk<'_>,
    ) -> Option<S::Feedback> {
        let receiver = self.receivers.get_mut(&id)?;
        desk.log.counters.delivered_bytes += in_order;
        desk.log.counters.data_packets_delivered += 1;
        receiver.marked += u64::from(packet.cause.ecn == Ecn::Ce);
        if receiver.is_complete() {
            receiver.delivered_at.get_or_insert(desk.now);
        }
        let payload =
            receiver.payload_until(packet.psn.saturating_add(1)).saturating_sub(receiver.payload_until(packet.psn));
        receiver.np.on_data(&Received {
            now: desk.now,
            wire_bytes: frame_bytes(bytes) + desk.network.gap_bytes,
            payload_bytes: payload as u32,
            ecn: packet.cause.ecn,
        })
    }

    /// Sends the ACK or NAK that a packet caused.
    fn reply(&mut self, id: FlowId, cause: &Cause, nak: bool, schemes: &[S], desk: &mut Desk<'_>) {
        let Some(receiver) = self.receivers.get_mut(&id) else { return };
        let feedback = if receiver.np.feeds_back_in_acks() { receiver.np.ack_feedback(desk.now) } else { None };
        let class = desk.network.ack_class(id.dst, receiver.flow.class);
        let body = Body::Reply(Reply {
            flow: receiver.flow,
            nak,
            expected: receiver.expected,
            expected_byte: receiver.payload_until(receiver.expected),
            complete: receiver.is_complete(),
            sent_at: cause.sent_at,
            echoes_mark: cause.ecn != receiver.format.ecn,
            format: receiver.format,
            int: cause.int.filter(|_| feedback.is_none()).map(Box::new),
            content: feedback.map(|feedback| schemes[usize::from(id.scheme)].frame_content(&feedback)),
        });
        let bytes = desk.bytes_of(self.egress.port, desk.network.ack_bytes(&id), class, cause.ecn, body);
        let counters = &mut desk.log.counters;
        if nak {
            counters.naks_sent += 1;
        } else {
            counters.acks_sent += 1;
        }
        let delay = desk.network.plan.host(id.dst).ack_delay;
        self.emit(class, bytes, delay, ACKS, desk);
    }

    /// Sends a notification, if the notification point wants one, and sets the receiver's timer.
    fn notify_of(&mut self, id: FlowId, feedback: Option<S::Feedback>, schemes: &[S], desk: &mut Desk<'_>) {
        let Some(receiver) = self.receivers.get_mut(&id) else { return };
        let waits = receiver.waiting.map_or(Time::NEVER, |waiting| waiting.until);
        let at = receiver.np.timer().unwrap_or(Time::NEVER).min(waits);
        if at < receiver.due {
            receiver.due = at.max(desk.now);
            desk.agenda.add(receiver.due, Event::Receiver(self.node, receiver.flow.id));
        }
        let (flow, settings) = (receiver.flow, desk.network.plan.host(id.dst));
        let (Some(feedback), scheme) = (feedback, &schemes[usize::from(id.scheme)]) else { return };
        let control = desk.network.plan.classes.control;
        let body = Body::Notification { flow, content: scheme.frame_content(&feedback), origin: None };
        let frame_bytes = scheme.notification_bytes(&feedback).unwrap_or(settings.sizes.notification_bytes);
        let bytes = desk.bytes_of(self.egress.port, frame_bytes, control, Ecn::NotCapable, body);
        desk.log.counters.notifications_sent += 1;
        self.emit(control, bytes, settings.notify_delay, NOTIFICATIONS, desk);
    }

    fn acknowledge_waiting(&mut self, id: FlowId, schemes: &[S], desk: &mut Desk<'_>) {
        if let Some(waiting) = self.receivers.get_mut(&id).and_then(|receiver| receiver.waiting.take()) {
            self.reply(id, &waiting.first, false, schemes, desk);
        }
    }

    /// A timer of the receiver of a flow, set for `due`.
    pub fn on_receiver(&mut self, flow: u32, due: Time, schemes: &[S], desk: &mut Desk<'_>) {
        let Some(&id) = self.numbered.get(&flow) else { return };
        let Some(receiver) = self.receivers.get_mut(&id).filter(|receiver| receiver.due == due) else { return };
        receiver.due = Time::NEVER;
        // Nobody is to be told any more.
        if receiver.closed || receiver.delivered_at.is_some() {
            return;
        }
        let now = desk.now;
        let comes = receiver.np.timer().is_some_and(|at| at <= now);
        let feedback = if comes { receiver.np.on_timer(now) } else { None };
        let waited = receiver.waiting.is_some_and(|waiting| waiting.until <= now);
        if waited {
            self.acknowledge_waiting(id, schemes, desk);
        }
        self.notify_of(id, feedback, schemes, desk);
    }
}

fn read_roce<Np>(bytes: &[u8], roce: &Roce, receiver: &Receiver<Np>, multiplier: Option<u64>) -> Packet {
    let (last, asks_ack, size_bytes) = match roce.what {
        RoceKind::Data { last, ack_request, size_bytes, .. } => (last, ack_request, size_bytes),
        _ => (false, false, None),
    };
    let stamp = stamp_of(bytes, roce);
    Packet {
        psn: near(roce.psn, receiver.expected),
        last,
        asks_ack,
        payload_bytes: u64::from(roce.payload_bytes),
        size_bytes: size_bytes.map(u64::from),
        cause: Cause {
            sent_at: stamp.unwrap_or(Time::ZERO),
            ecn: roce.ecn,
            int: telemetry_of(bytes, roce, multiplier),
        },
    }
}

fn read_tcp<Np>(tcp: &Tcp, receiver: &Receiver<Np>) -> Packet {
    let mtu = u64::from(receiver.mtu_bytes.max(1));
    let offset = unwrap_bytes(tcp.sequence.wrapping_sub(1), receiver.delivered_bytes);
    Packet {
        psn: (offset / mtu) as u32,
        last: tcp.flags & TCP_PUSH != 0,
        asks_ack: false,
        payload_bytes: u64::from(tcp.payload_bytes),
        size_bytes: None,
        cause: Cause { sent_at: Time::ZERO, ecn: tcp.ecn, int: None },
    }
}
