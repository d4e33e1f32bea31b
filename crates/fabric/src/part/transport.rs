//! Drives transports: packets reach both ends of a flow, timers run out, flows end.

use crate::contract::packet::{
    ASKS_ACK, BACKWARD, Ecn, Kind, NO_EXTRA, Packet, RESENT, SELECTIVE, SPREAD, TRANSIT, TRIMMED_EARLY, TableRoute,
};
use crate::contract::record::RecoveryRecord;
use crate::contract::scheme::{Acked, Loss, NotificationPoint, ReactionPoint, Received, Resend, Scheme, TIMERS};
use crate::contract::traffic::FlowSpec;
use crate::flow::pacing::SendState;
use crate::flow::transport::{Ack, Answer, Arrival, Echo, Selective, Taken};
use crate::id::{FlowEntryId, PortId, ReceiverId, SenderId};
use crate::network::plan::Dialect;
use crate::network::route::FlowKey;
use crate::part::{FlowEvent, Part, kind};
use xoff_engine::Time;

/// Delays of ACKs and of notifications are kept in lanes of their own, so each stays in order.
const ACK_LANE: u32 = 0;
const NOTIFY_LANE: u32 = 1;

impl<S: Scheme> Part<S> {
    /// What identifies a flow to the hash of a switch.
    pub(crate) fn flow_key(&self, spec: &FlowSpec, identity: u64, ephemeral: u16) -> FlowKey {
        FlowKey {
            seed: self.plan.seed,
            identity,
            from: spec.src,
            to: spec.dst,
            ports: spec.ports_or(ephemeral),
            number: 0,
        }
    }

    #[inline]
    pub(crate) fn host_receive(&mut self, port_id: PortId, packet: &Packet) {
        match packet.kind {
            Kind::Data => self.on_data(packet),
            Kind::Trimmed => self.on_trimmed(packet),
            Kind::Ack | Kind::Nak => self.on_ack(packet),
            Kind::Notification => self.on_notification(packet),
            // Taken out by the last switch.
            Kind::Edge => self.discard(packet),
            Kind::Pfc | Kind::Neighbour => unreachable!("link-local frames end at the port {}", port_id.get()),
        }
    }

    #[inline]
    fn on_data(&mut self, packet: &Packet) {
        let flow = self.flows.entries[packet.flow].receiver;
        if packet.flags & SPREAD != 0 {
            self.note_order(flow, packet);
        }
        let responder = &mut self.flows.receivers[flow].responder;
        if responder.is_next(packet.psn) {
            let taken = responder.take_next(&arrival(packet));
            self.settle_data(flow, packet, taken);
        } else {
            self.on_unexpected(packet);
        }
    }

    /// A packet that is not simply the next in order.
    #[cold]
    #[inline(never)]
    fn on_unexpected(&mut self, packet: &Packet) {
        let flow = self.flows.entries[packet.flow].receiver;
        if self.compat.dialect != Dialect::Own {
            let taken = self.receive_foreign(flow, &arrival(packet));
            return self.settle_data(flow, packet, taken);
        }
        let receiver = &mut self.flows.receivers[flow];
        let mut late = RecoveryRecord::default();
        let counts = if receiver.delivered_at.is_none() { &mut receiver.recovery } else { &mut late };
        let taken = receiver.responder.receive(self.now, &arrival(packet), counts);
        if let Some(answer) = taken.earlier {
            self.acknowledge_earlier(flow, &answer);
        }
        self.settle_data(flow, packet, taken);
    }

    /// A packet without its payload.
    #[cold]
    #[inline(never)]
    fn on_trimmed(&mut self, packet: &Packet) {
        let flow = self.flows.entries[packet.flow].receiver;
        let receiver = &mut self.flows.receivers[flow];
        let Arrival { psn, echo, .. } = arrival(packet);
        let mut late = RecoveryRecord::default();
        let counts = if receiver.delivered_at.is_none() { &mut receiver.recovery } else { &mut late };
        match receiver.responder.on_trimmed(psn, echo, counts) {
            Some(answer) => self.send_answer(flow, packet, &answer),
            None => self.packet_gone(packet.flow),
        }
    }

    /// Counts a packet as its transport took it, calls the notification point and sends the answer.
    #[inline(always)]
    fn settle_data(&mut self, flow: ReceiverId, packet: &Packet, taken: Taken) {
        let now = self.now;
        let receiver = &mut self.flows.receivers[flow];
        let (mut feedback, mut np_timer) = (None, None);
        if taken.kept {
            self.counters.delivered_bytes += taken.delivered_bytes;
            self.counters.data_packets_delivered += 1;
            receiver.marked += u64::from(packet.ecn == Ecn::Ce);
            if receiver.feeds_back_in_acks
                && let Some(int) = self.flows.int.read(packet)
            {
                receiver.np.on_telemetry(now, int);
            }
            feedback = receiver.np.on_data(&Received {
                now,
                wire_bytes: u32::from(packet.frame_bytes) + self.links.gap_bytes,
                payload_bytes: taken.payload_bytes,
                ecn: packet.ecn,
            });
            np_timer = receiver.np.timer();
            if taken.completes {
                self.complete_messages(flow);
            }
        } else {
            self.counters.data_packets_discarded += 1;
        }
        match &taken.answer {
            // Its ACK takes over the data packet.
            Some(answer) => self.send_answer(flow, packet, answer),
            None => self.release_extra(packet),
        }
        if let Some(feedback) = feedback {
            self.notify(flow, feedback);
        }
        if let Some(at) = np_timer {
            self.arm_np_timer(flow, at);
        }
        if taken.answer.is_none() {
            self.arm_np_timer(flow, self.flows.receivers[flow].responder.deadline());
            self.packet_gone(packet.flow);
        }
    }

    /// A message has arrived as a whole, or the flow.
    #[cold]
    #[inline(never)]
    fn complete_messages(&mut self, flow: ReceiverId) {
        let flow_state = self.flows.entries[self.flows.receivers[flow].entry].flow_state;
        while let Some(message) = self.flows.receivers[flow].responder.complete_message() {
            let receiver = &mut self.flows.receivers[flow];
            if receiver.responder.seq.stream.messages.is_none() {
                receiver.delivered_at = Some(self.now);
            }
            if receiver.tells {
                self.tell(FlowEvent::Delivered(flow_state, message));
            }
        }
    }

    /// Sends an ACK or NAK caused by a packet; it takes over the packet's telemetry.
    #[inline(always)]
    fn send_answer(&mut self, flow: ReceiverId, data: &Packet, answer: &Answer) {
        let receiver = &self.flows.receivers[flow];
        let (host, feeds_back_in_acks) = (receiver.host, receiver.feeds_back_in_acks);
        let resent = if answer.ack.resent { RESENT } else { 0 };
        let early = if answer.ack.nak && data.kind == Kind::Trimmed { data.flags & TRIMMED_EARLY } else { 0 };
        let flags = data.flags & !(TRANSIT | ASKS_ACK | BACKWARD | RESENT) | early;
        let mut ack = Packet {
            stamp: answer.sent_at,
            flow: data.flow,
            psn: answer.ack.expected,
            // A flow whose answers have a way of their own has its ports.
            route: match data.flags & SPREAD {
                SPREAD if receiver.hops == 0 || TableRoute::of(data.route).is_none() => self.answer_route(data),
                _ => back_cursor(receiver.route, receiver.hops, receiver.backward),
            },
            extra: data.extra,
            frame_bytes: receiver.ack_frame,
            ingress: 0,
            kind: if answer.ack.nak { Kind::Nak } else { Kind::Ack },
            class: receiver.ack_class,
            // An ACK never is marked; the bits carry the echo of the data packet's mark.
            ecn: answer.ecn,
            flags: flags | resent | if receiver.backward { BACKWARD } else { 0 },
        };
        if feeds_back_in_acks {
            self.put_ack_feedback(flow, &mut ack);
        }
        if let Some(selective) = answer.ack.selective {
            self.pack_selective(&mut ack, selective);
        }
        if answer.ack.nak {
            self.counters.naks_sent += 1;
        } else {
            self.counters.acks_sent += 1;
        }
        let delay = self.plan.hosts[self.hosts[host].profile as usize].ack_delay;
        self.emit(host, &ack, delay, ACK_LANE);
    }

    /// Sends an ACK whose data packets are gone, and their telemetry with them.
    fn acknowledge_earlier(&mut self, flow: ReceiverId, answer: &Answer) {
        let entry = self.flows.receivers[flow].entry;
        self.flows.entries[entry].live += 1;
        self.send_answer(flow, &Packet { flow: entry, extra: NO_EXTRA, ..Packet::default() }, answer);
    }

    /// Puts feedback of the notification point into an ACK or NAK, in the place of telemetry.
    fn put_ack_feedback(&mut self, receiver: ReceiverId, ack: &mut Packet) {
        let Some(feedback) = self.flows.receivers[receiver].np.ack_feedback(self.now) else { return };
        self.release_extra(ack);
        ack.extra = self.flows.feedback.insert(feedback);
        ack.flags |= TRANSIT;
    }

    fn arm_np_timer(&mut self, flow: ReceiverId, at: Time) {
        let receiver = &mut self.flows.receivers[flow];
        if at < receiver.due {
            receiver.due = at;
            let name = self.flows.entries[receiver.entry].name;
            self.queue.push_named(at.max(self.now), kind::NP_TIMER, name, flow.get());
        }
    }

    pub(crate) fn on_np_timer(&mut self, flow: ReceiverId) {
        let Some(receiver) = self.flows.receivers.get_mut(flow) else { return };
        if receiver.due != self.now {
            return;
        }
        receiver.due = Time::NEVER;
        // Nobody is to be told any more. (The sender may not know yet that all has arrived.)
        if receiver.responder.seq.is_closed() || receiver.delivered_at.is_some() {
            return;
        }
        let due = receiver.np.timer().is_some_and(|at| at <= self.now);
        let feedback = if due { receiver.np.on_timer(self.now) } else { None };
        let next = receiver.np.timer();
        if let Some(feedback) = feedback {
            self.notify(flow, feedback);
        }
        if let Some(at) = next {
            self.arm_np_timer(flow, at);
        }
        let responder = &mut self.flows.receivers[flow].responder;
        if responder.deadline() > self.now {
            let at = responder.deadline();
            self.arm_np_timer(flow, at);
        } else if let Some(answer) = responder.on_deadline() {
            self.acknowledge_earlier(flow, &answer);
        }
    }

    fn notify(&mut self, flow: ReceiverId, feedback: S::Feedback) {
        let receiver = &self.flows.receivers[flow];
        let host_id = receiver.host;
        let delay = self.plan.hosts[self.hosts[host_id].profile as usize].notify_delay;
        let entry = receiver.entry;
        let scheme = &self.schemes[usize::from(self.flows.entries[entry].scheme)];
        let frame_bytes = scheme.notification_bytes(&feedback).map_or(receiver.notification_frame, |b| b as u16);
        let packet = Packet {
            stamp: self.now,
            flow: entry,
            psn: 0,
            route: back_cursor(receiver.route, receiver.hops, receiver.backward),
            extra: self.flows.feedback.insert(feedback),
            frame_bytes,
            ingress: 0,
            kind: Kind::Notification,
            class: self.plan.classes.control,
            ecn: Ecn::NotCapable,
            flags: if receiver.backward { BACKWARD } else { 0 },
        };
        self.flows.entries[entry].live += 1;
        self.counters.notifications_sent += 1;
        if !self.records.taps.is_empty() {
            self.note_origin(&packet, None);
        }
        self.emit(host_id, &packet, delay, NOTIFY_LANE);
    }

    #[inline]
    fn on_ack(&mut self, packet: &Packet) {
        if packet.flags & SELECTIVE != 0 {
            self.on_selective_ack(packet);
        } else {
            self.take_ack(packet, None);
        }
    }

    #[cold]
    #[inline(never)]
    fn on_selective_ack(&mut self, packet: &Packet) {
        let (selective, packet) = self.unpack_selective(packet);
        self.take_ack(&packet, Some(selective));
    }

    /// An ACK or NAK, and what it says of single packets.
    #[inline(always)]
    fn take_ack(&mut self, packet: &Packet, selective: Option<Selective>) {
        let now = self.now;
        let path = if packet.flags & SPREAD != 0 { self.answered_path(packet) } else { 0 };
        let flow = self.flows.entries[packet.flow].sender;
        let sender = &mut self.flows.senders[flow];
        if sender.ended {
            self.discard(packet);
            return;
        }
        let resent = packet.flags & RESENT != 0;
        let ack = Ack { expected: packet.psn, selective, nak: packet.kind == Kind::Nak, resent };
        let progress = sender.requester.on_ack(now, &ack);
        let plain = |ack: &Packet| ack.ecn != Ecn::Ce && ack.kind == Kind::Ack && !ack.carries_feedback();
        if !sender.rests || !plain(packet) {
            sender.rests = false;
            let int = if packet.carries_feedback() {
                sender.rp.on_feedback(now, &self.flows.feedback[packet.extra]);
                None
            } else {
                self.flows.int.read(packet)
            };
            sender.rp.on_ack(&Acked {
                now,
                bytes: progress.bytes,
                acked_bytes: progress.acked_bytes,
                sent_bytes: progress.sent_bytes,
                rtt: packet.echoed(now),
                ecn: packet.ecn,
                int,
                duplicate: progress.duplicate,
                resent,
                path,
                nak: ack.nak,
            });
        }
        if let Some(loss) = progress.lost {
            if loss == Loss::Trimmed {
                // A queue was full: as much as a notification says.
                sender.rp.on_congested(now);
            }
            sender.rp.on_loss(now, loss, progress.lost_bytes);
            if loss != Loss::Trimmed {
                let una = sender.requester.seq.una;
                self.path_lost(flow, una, loss);
            }
        }
        if packet.flags & SPREAD != 0 {
            self.path_answered(flow, packet, path);
        }
        self.release_extra(packet);
        self.after_ack(flow, progress.bytes > 0);
        self.packet_gone(packet.flow);
    }

    /// The end of a flow whose last packet is acknowledged, or what its limits now allow.
    #[inline(always)]
    fn after_ack(&mut self, flow: SenderId, moved: bool) {
        let sender = &self.flows.senders[flow];
        let (seq, state, rests) = (&sender.requester.seq, sender.pacing.state, sender.rests);
        // Flows without offers have no such number.
        let drained = seq.una == seq.offered && moved;
        if seq.una >= seq.stream.message_end && self.on_message_end(flow, state) {
            return;
        }
        if rests {
            self.at_rest(flow)
        } else {
            self.after_rp(flow)
        }
        match state {
            SendState::Blocked | SendState::Idle => self.try_to_send(flow),
            SendState::Scanned => {
                self.wake_sooner(flow);
                self.try_to_send(flow);
            }
            SendState::Ready | SendState::Paced => {}
        }
        if drained {
            self.on_drained(flow);
        }
    }

    /// The last packet of a flow, or of a message, is acknowledged. Whether the flow is over.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_message_end(&mut self, flow: SenderId, state: SendState) -> bool {
        let flow_state = self.flows.entries[self.flows.senders[flow].entry].flow_state;
        let tells = self.flows.senders[flow].subscription.acknowledged;
        if self.flows.senders[flow].requester.seq.stream.messages.is_some() {
            // Captures may see its packets once more.
            let keep = !self.records.taps.is_empty();
            while let Some(message) = self.flows.senders[flow].requester.seq.complete_message(keep) {
                if tells {
                    self.tell(FlowEvent::Acknowledged(flow_state, message));
                }
            }
            return false;
        }
        let port_id = self.hosts[self.flows.senders[flow].host].port;
        if state == SendState::Scanned {
            self.read_rp(flow);
            self.wake_sooner(flow);
        }
        self.flows.details[flow].acked_at = Some(self.now);
        if tells {
            self.tell(FlowEvent::Acknowledged(flow_state, 0));
        }
        self.end_flow(flow);
        if state == SendState::Scanned {
            self.serve_scan(port_id);
        }
        true
    }

    /// All that was offered is acknowledged: its source may offer more.
    #[cold]
    fn on_drained(&mut self, flow: SenderId) {
        let sender = &self.flows.senders[flow];
        if sender.subscription.drained {
            self.tell(FlowEvent::Drained(self.flows.entries[sender.entry].flow_state));
        }
    }

    fn on_notification(&mut self, packet: &Packet) {
        let flow = self.flows.entries[packet.flow].sender;
        let feedback = self.flows.feedback.remove(packet.extra);
        let sender = &mut self.flows.senders[flow];
        if !sender.ended {
            sender.rests = false;
            sender.rp.on_feedback(self.now, &feedback);
            let details = &mut self.flows.details[flow];
            details.notifications += 1;
            details.first_notified.get_or_insert(self.now);
            self.after_rp(flow);
            self.note_rest(flow);
        }
        self.packet_gone(packet.flow);
    }

    #[inline]
    pub(crate) fn arm_flow_timer(&mut self, flow: SenderId) {
        if self.compat.eager {
            self.schedule_timers(flow);
            return;
        }
        let sender = &mut self.flows.senders[flow];
        let at = sender.next_timer();
        if at < sender.due {
            sender.due = at.max(self.now);
            self.queue.push_named(sender.due, kind::FLOW_TIMER, self.flows.entries[sender.entry].name, flow.get());
        }
    }

    /// Every timer of a flow that was set anew gets an event of its own.
    #[cold]
    #[inline(never)]
    fn schedule_timers(&mut self, flow: SenderId) {
        let timers = self.compat.timers.reach(flow, || [Time::NEVER; TIMERS]);
        let sender = &mut self.flows.senders[flow];
        for (set, wanted) in timers.iter_mut().zip(sender.rp.timers()) {
            let at = wanted.map_or(Time::NEVER, |at| at.max(self.now));
            if *set != at && at != Time::NEVER {
                self.queue.push(at, kind::FLOW_TIMER, flow.get());
            }
            *set = at;
        }
        if sender.requester.seq.deadline < sender.due {
            sender.due = sender.requester.seq.deadline;
            self.queue.push(sender.due, kind::FLOW_TIMER, flow.get());
        }
    }

    /// Whether an event of a flow's timers is one that still counts.
    fn is_due(&self, flow: SenderId, due: Time) -> bool {
        due == self.now || (self.compat.eager && self.compat.timers[flow].contains(&self.now))
    }

    pub(crate) fn on_flow_timer(&mut self, flow: SenderId) {
        let now = self.now;
        let Some(due) = self.flows.senders.get(flow).filter(|sender| !sender.ended).map(|sender| sender.due) else {
            return;
        };
        if !self.is_due(flow, due) {
            return;
        }
        let sender = &mut self.flows.senders[flow];
        sender.rests = false;
        if due == now {
            sender.due = Time::NEVER;
        }
        if sender.rp.timer().is_some_and(|at| at <= now) {
            sender.rp.on_timer(now);
        }
        if sender.requester.seq.deadline <= now {
            self.on_timeouts(flow);
            self.after_rp(flow);
            self.try_to_send(flow);
        } else {
            self.after_rp(flow);
        }
        self.note_rest(flow);
    }

    /// Holds for lost what is due. Packets with timers of their own may be due together.
    fn on_timeouts(&mut self, flow: SenderId) {
        let (mut bytes, mut lost) = (0, false);
        while self.flows.senders[flow].requester.seq.deadline <= self.now {
            if let Some(packet) = self.flows.senders[flow].requester.on_timeout(self.now) {
                self.path_lost(flow, packet.psn, Loss::Timeout);
                bytes += packet.bytes;
                lost = true;
            }
        }
        if lost {
            self.flows.senders[flow].rp.on_loss(self.now, Loss::Timeout, bytes);
            self.count_timeout(flow);
        }
    }

    /// The flow is over, for its sender: tell of it. The receiver hears nothing, as on a real network.
    pub(crate) fn end_flow(&mut self, flow: SenderId) {
        self.counters.flows_completed += 1;
        let sender = &mut self.flows.senders[flow];
        sender.ended = true;
        let flow_state = self.flows.entries[sender.entry].flow_state;
        self.flows.details[flow].ended_at = Some(self.now);
        self.leave_nic(flow);
        if self.compat.dialect != Dialect::Own {
            self.forget_receiver(flow);
        }
        self.tell(FlowEvent::Ended(flow_state));
    }

    /// Sends again what the reaction point of a flow names, after any of its hooks, and reads its limits.
    #[cold]
    #[inline(never)]
    pub(crate) fn recover(&mut self, flow: SenderId) {
        let sender = &mut self.flows.senders[flow];
        let resend = sender.rp.resend(&sender.requester.outstanding(self.now));
        let resends = sender.requester.recover(resend);
        if resend == Resend::All {
            self.count_timeout(flow);
        }
        self.read_rp(flow);
        if resends {
            let una = self.flows.senders[flow].requester.seq.una;
            self.path_lost(flow, una, if resend == Resend::All { Loss::Timeout } else { Loss::Nak });
            self.try_to_send(flow);
        }
    }

    fn count_timeout(&mut self, flow: SenderId) {
        self.counters.timeouts += 1;
        self.flows.details[flow].timeouts += 1;
    }

    pub(crate) fn note(&mut self, event: FlowEvent) {
        self.records.event_ranks.extend(self.records.rank);
        self.records.events.push(event);
    }

    pub(crate) fn tell(&mut self, event: FlowEvent) {
        self.note(event);
        // With other parts, it is heard when all have come so far.
        if self.records.rank.is_none() {
            // What a source does about it comes after all arrivals of the instant, where events are ordered by what they are.
            match event {
                FlowEvent::Ended(_) => self.pace.halt(),
                _ if self.queue.is_named() => self.pace.halt_after_instant(),
                _ => self.pace.halt(),
            }
        }
    }

    /// One packet of the flow exists no more.
    #[inline]
    pub(crate) fn packet_gone(&mut self, entry: FlowEntryId) {
        let of = &mut self.flows.entries[entry];
        of.live -= 1;
        debug_assert!(of.live >= 0 || self.records.rank.is_some(), "more packets gone than made");
    }
}

/// A data packet as its transport sees it.
#[inline]
fn arrival(packet: &Packet) -> Arrival {
    let (requests_ack, resent) = (packet.flags & ASKS_ACK != 0, packet.flags & RESENT != 0);
    Arrival { psn: packet.psn, requests_ack, echo: Echo { sent_at: packet.stamp, ecn: packet.ecn, resent } }
}

/// Where the cursor of a packet stands that leaves the receiver's NIC: past the NIC's own port.
#[inline]
fn back_cursor(route: u32, hops: u8, backward: bool) -> u32 {
    if backward { (route + u32::from(hops)).wrapping_sub(2) } else { route + 1 }
}
