//! What a NIC does with a frame for its host: data is counted and answered, from its bytes alone; what concerns a sender
//! is handed to it.

use crate::agenda::Event;
use crate::answer::unwrap_bytes;
use crate::context::{Context, FlowEvent};
use crate::egress::frame_bytes;
use crate::forwarding::{data_of, flow_of};
use crate::network::{FlowId, TIDY_FROM};
use crate::nic::{ACKS, NOTIFICATIONS, Nic};
use crate::receiver::{DataPacket, Receiver};
use xoff_engine::Time;
use xoff_fabric::capture::{Body, FlowName, Reply, SelectiveReply};
use xoff_fabric::packet::{Ecn, IntStack};
use xoff_fabric::record::RecoveryRecord;
use xoff_fabric::scheme::{NotificationPoint, Received, Scheme};
use xoff_fabric::transport::{Answer, Arrival, Echo, Responder, Selective, Stream, Taken};
use xoff_wire::{ENDLESS_BYTES, Roce, RoceKind, Seen, TCP_PUSH, Tcp, Unwrap, near, stamp_of, telemetry_of};

impl<S: Scheme> Nic<S> {
    /// A frame that is not PFC has come.
    pub(crate) fn take_in(&mut self, bytes: &[u8], seen: &Seen, schemes: &[S], context: &mut Context<'_>) {
        match seen {
            Seen::Roce(roce) if roce.ends.dst != self.node => context.log.ignore("for another host"),
            Seen::Tcp(tcp) if tcp.ends.dst != self.node => context.log.ignore("for another host"),
            Seen::Cnm(cnm) if cnm.to != self.node => context.log.ignore("for another host"),
            Seen::Roce(Roce { ends, .. }) if !context.network.is_host(ends.src) => {
                context.log.ignore("nobody's address")
            }
            Seen::Tcp(Tcp { ends, .. }) if !context.network.is_host(ends.src) => context.log.ignore("nobody's address"),
            Seen::Roce(roce) => match roce.what {
                RoceKind::Data { .. } => self.on_data(bytes, seen, schemes, context),
                RoceKind::Ack { echo, .. } => self.on_roce_reply(bytes, seen, roce, (false, echo), schemes, context),
                RoceKind::Nak { echo, .. } => self.on_roce_reply(bytes, seen, roce, (true, echo), schemes, context),
                RoceKind::Cnp => self.on_notification(flow_of(roce.queue_pair), bytes, seen, schemes, context),
            },
            Seen::Tcp(tcp) if tcp.payload_bytes > 0 => self.on_data(bytes, seen, schemes, context),
            Seen::Tcp(tcp) => self.on_tcp_reply(tcp, context),
            // Sixteen bits of the flow's number: the rest is what this host sends.
            Seen::Cnm(cnm) => {
                let named = |flow: &&u32| **flow as u16 == cnm.flow;
                match self.senders.keys().find(named).copied() {
                    Some(flow) => self.on_notification(flow, bytes, seen, schemes, context),
                    None => context.log.ignore("for a flow that is over"),
                }
            }
            Seen::Pfc(_) | Seen::Neighbour(_) => context.log.ignore("not for a host"),
        }
    }

    fn on_data(&mut self, bytes: &[u8], seen: &Seen, schemes: &[S], context: &mut Context<'_>) {
        let Some(name) = data_of(seen, context.network) else {
            return context.log.ignore("a priority without a class");
        };
        let id = context.network.flow_id(&name);
        if !self.receivers.contains_key(&id) {
            self.make_receiver(id, name, schemes, context);
        }
        let multiplier = self.multipliers[usize::from(id.scheme)];
        let Some(receiver) = self.receivers.get_mut(&id) else { return };
        receiver.heard_at = context.now;
        let before = std::mem::replace(&mut receiver.port, name.src_port);
        let packet = match seen {
            Seen::Roce(roce) => read_roce(bytes, roce, receiver, multiplier),
            Seen::Tcp(tcp) => read_tcp(tcp, receiver),
            _ => return,
        };
        // What schemes here read is whole; what goes back is what arrived.
        let whole = packet.int.map(|int| receiver.unwrap.widen(context.now, &int));
        receiver.learn(&packet);
        let mut late = RecoveryRecord::default();
        let counts = if receiver.delivered_at.is_none() { &mut receiver.recovery } else { &mut late };
        let taken = receiver.responder.receive(context.now, &packet.arrival, counts);
        if let Some(answer) = taken.earlier {
            receiver.port = before;
            self.reply(id, &answer, None, schemes, context);
        }
        if let Some(receiver) = self.receivers.get_mut(&id) {
            receiver.port = name.src_port;
        }
        let wire_bytes = frame_bytes(bytes) + context.network.gap_bytes;
        let feedback = self.count(id, &packet, &taken, (wire_bytes, whole), context);
        if let Some(answer) = taken.answer {
            self.reply(id, &answer, packet.int, schemes, context);
        }
        self.notify_of(id, feedback, schemes, context);
    }

    fn make_receiver(&mut self, id: FlowId, flow: FlowName, schemes: &[S], context: &mut Context<'_>) {
        let network = context.network;
        if self.receivers.len() > self.tidy_at.max(TIDY_FROM) {
            let lasts = network.forgets_after();
            let idle = |receiver: &Receiver<S::Np>| context.now.saturating_since(receiver.heard_at) > lasts;
            self.receivers.retain(|_, receiver| !(receiver.delivered_at.is_some() && idle(receiver)));
            self.numbered.retain(|_, id| self.receivers.contains_key(id));
            self.tidy_at = self.receivers.len() * 2;
        }
        let facts = network.facts(&id, u64::from(flow.id), context.now);
        let format = network.format(&id);
        let receiver = Receiver {
            np: schemes[usize::from(id.scheme)].notification_point(&facts),
            flow,
            format,
            responder: Responder::new(&format, network.plan.host(id.dst), Stream::new(u32::MAX, facts.mtu_bytes, 0)),
            delivered_at: None,
            marked: 0,
            recovery: RecoveryRecord::default(),
            due: Time::NEVER,
            heard_at: context.now,
            port: flow.src_port,
            unwrap: Unwrap::new(self.multipliers[usize::from(id.scheme)]),
        };
        self.numbered.insert(flow.id, id);
        self.receivers.insert(id, receiver);
    }

    /// Counts a packet as its transport took it. Returns the feedback of the notification point.
    fn count(
        &mut self,
        id: FlowId,
        packet: &DataPacket,
        taken: &Taken,
        (wire_bytes, int): (u32, Option<IntStack>),
        context: &mut Context<'_>,
    ) -> Option<S::Feedback> {
        let receiver = self.receivers.get_mut(&id)?;
        if !taken.kept {
            context.log.counters.data_packets_discarded += 1;
            return None;
        }
        context.log.counters.delivered_bytes += taken.delivered_bytes;
        context.log.counters.data_packets_delivered += 1;
        let ecn = packet.arrival.echo.ecn;
        receiver.marked += u64::from(ecn == Ecn::Ce);
        if taken.completes && receiver.responder.complete_message().is_some() {
            receiver.delivered_at = Some(context.now);
            context.log.events.push(FlowEvent::Delivered(receiver.flow.id));
        }
        if let Some(int) = int.filter(|_| receiver.np.feeds_back_in_acks()) {
            receiver.np.on_telemetry(context.now, &int);
        }
        receiver.np.on_data(&Received { now: context.now, wire_bytes, payload_bytes: taken.payload_bytes, ecn })
    }

    /// Sends an ACK or NAK, with the telemetry of the packet that caused it.
    fn reply(&mut self, id: FlowId, answer: &Answer, int: Option<IntStack>, schemes: &[S], context: &mut Context<'_>) {
        let Some(receiver) = self.receivers.get_mut(&id) else { return };
        let feedback = if receiver.np.feeds_back_in_acks() { receiver.np.ack_feedback(context.now) } else { None };
        let class = context.network.ack_class(id.dst, receiver.flow.class);
        let with_entropy = context.network.spraying().is_some_and(|of| of.ack_has_entropy);
        let src_port = if with_entropy { receiver.port } else { receiver.flow.src_port };
        let body = Body::Reply(Reply {
            flow: FlowName { src_port, ..receiver.flow },
            nak: answer.ack.nak,
            expected: answer.ack.expected,
            expected_byte: receiver.responder.seq.delivered_bytes,
            complete: receiver.delivered_at.is_some(),
            sent_at: answer.sent_at,
            echoes_mark: answer.ecn != receiver.format.ecn,
            format: receiver.format,
            int: int.filter(|_| feedback.is_none()).map(Box::new),
            content: feedback.map(|feedback| schemes[usize::from(id.scheme)].frame_content(&feedback)),
            selective: answer.ack.selective.map(|Selective { psn, received }| SelectiveReply { psn, received }),
        });
        let selective_bytes = answer.ack.selective.map_or(0, |selective| selective.frame_bytes());
        let frame_bytes = context.network.ack_bytes(&id) + u32::from(selective_bytes);
        let bytes = context.bytes_of(self.egress.port, frame_bytes, class, answer.ecn, body);
        let counters = &mut context.log.counters;
        if answer.ack.nak {
            counters.naks_sent += 1;
        } else {
            counters.acks_sent += 1;
        }
        let delay = context.network.plan.host(id.dst).ack_delay;
        self.emit(class, bytes, delay, ACKS, context);
    }

    /// Sends a notification, if the notification point wants one, and sets the receiver's timer.
    fn notify_of(&mut self, id: FlowId, feedback: Option<S::Feedback>, schemes: &[S], context: &mut Context<'_>) {
        let Some(receiver) = self.receivers.get_mut(&id) else { return };
        let at = receiver.np.timer().unwrap_or(Time::NEVER).min(receiver.responder.deadline());
        if at < receiver.due {
            receiver.due = at.max(context.now);
            context.agenda.add(receiver.due, Event::Receiver(self.node, receiver.flow.id));
        }
        let (flow, settings) = (receiver.flow, context.network.plan.host(id.dst));
        let (Some(feedback), scheme) = (feedback, &schemes[usize::from(id.scheme)]) else { return };
        let control = context.network.plan.classes.control;
        let body = Body::Notification { flow, content: scheme.frame_content(&feedback), origin: None };
        let frame_bytes = scheme.notification_bytes(&feedback).unwrap_or(settings.sizes.notification_bytes);
        let bytes = context.bytes_of(self.egress.port, frame_bytes, control, Ecn::NotCapable, body);
        context.log.counters.notifications_sent += 1;
        self.emit(control, bytes, settings.notify_delay, NOTIFICATIONS, context);
    }

    /// A timer of the receiver of a flow, set for `due`.
    pub fn on_receiver(&mut self, flow: u32, due: Time, schemes: &[S], context: &mut Context<'_>) {
        let Some(&id) = self.numbered.get(&flow) else { return };
        let Some(receiver) = self.receivers.get_mut(&id).filter(|receiver| receiver.due == due) else { return };
        receiver.due = Time::NEVER;
        // No sender waits for feedback any more.
        if receiver.responder.seq.is_closed() || receiver.delivered_at.is_some() {
            return;
        }
        let now = context.now;
        let comes = receiver.np.timer().is_some_and(|at| at <= now);
        let feedback = if comes { receiver.np.on_timer(now) } else { None };
        if receiver.responder.deadline() <= now
            && let Some(answer) = receiver.responder.on_deadline()
        {
            self.reply(id, &answer, None, schemes, context);
        }
        self.notify_of(id, feedback, schemes, context);
    }
}

fn read_roce<Np>(bytes: &[u8], roce: &Roce, receiver: &Receiver<Np>, multiplier: Option<u64>) -> DataPacket {
    let (first, last, requests_ack, size_bytes) = match roce.what {
        RoceKind::Data { first, last, ack_request, size_bytes } => (first, last, ack_request, size_bytes),
        _ => (false, false, false, None),
    };
    let sent_at = stamp_of(bytes, roce).unwrap_or(Time::ZERO);
    let psn = near(roce.psn, receiver.responder.seq.expected);
    DataPacket {
        arrival: Arrival { psn, requests_ack, echo: Echo { sent_at, ecn: roce.ecn, resent: false } },
        first,
        last,
        payload_bytes: u64::from(roce.payload_bytes),
        // A flow without end says so by a size that no message here has.
        size_bytes: size_bytes.filter(|size| *size != ENDLESS_BYTES).map(u64::from),
        int: telemetry_of(bytes, roce, multiplier),
    }
}

fn read_tcp<Np>(tcp: &Tcp, receiver: &Receiver<Np>) -> DataPacket {
    let seq = &receiver.responder.seq;
    let offset = unwrap_bytes(tcp.sequence.wrapping_sub(1), seq.delivered_bytes);
    let psn = (offset / u64::from(seq.stream.mtu_bytes.max(1))) as u32;
    let echo = Echo { sent_at: Time::ZERO, ecn: tcp.ecn, resent: false };
    DataPacket {
        // Every segment is acknowledged, at once or with others.
        arrival: Arrival { psn, requests_ack: true, echo },
        first: false,
        last: tcp.flags & TCP_PUSH != 0,
        payload_bytes: u64::from(tcp.payload_bytes),
        size_bytes: None,
        int: None,
    }
}
