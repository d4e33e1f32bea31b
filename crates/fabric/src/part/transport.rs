//! RoCEv2 reliability: packets are acknowledged, losses go back N, flows end.

use crate::contract::packet::{ASKS_ACK, BACKWARD, Ecn, Kind, Packet, RESENT, TRANSIT};
use crate::contract::scheme::{Acked, Loss, NotificationPoint, ReactionPoint, Received, Scheme, TIMERS};
use crate::contract::traffic::FlowSpec;
use crate::flow::ends::SendState;
use crate::id::{CardId, PortId, ReceiverId, SenderId};
use crate::network::route::FlowKey;
use crate::part::{News, Part, kind};
use xoff_engine::Time;

/// Delays of ACKs and of notifications are kept in lanes of their own, so each stays in order.
pub(crate) const ACK_LANE: u32 = 0;
const NOTIFY_LANE: u32 = 1;

impl<S: Scheme> Part<S> {
    /// What identifies a flow to the hash of a switch.
    pub(crate) fn flow_key(&self, spec: &FlowSpec, identity: u64, ephemeral: u16) -> FlowKey {
        FlowKey { seed: self.plan.seed, identity, from: spec.src, to: spec.dst, ports: spec.ports_or(ephemeral) }
    }

    /// A packet reaches its host.
    #[inline]
    pub(crate) fn host_receive(&mut self, port_id: PortId, packet: &Packet) {
        match packet.kind {
            Kind::Data => self.on_data(packet),
            Kind::Ack | Kind::Nak => self.on_ack(packet),
            Kind::Notification => self.on_notification(packet),
            Kind::Pfc | Kind::Neighbour => unreachable!("link-local frames end at the port {}", port_id.get()),
        }
    }

    #[inline]
    fn on_data(&mut self, packet: &Packet) {
        let now = self.now;
        let flow = self.cards[packet.flow].receiver;
        let gap = self.gap_bytes;
        let receiver = &mut self.receivers[flow];
        let host_id = receiver.host;
        let settings = &self.plan.hosts[self.hosts[host_id].profile as usize];
        if packet.psn != receiver.expected || receiver.special {
            self.on_unexpected(packet);
            return;
        }
        receiver.expected += 1;
        let last = receiver.expected >= receiver.edge;
        let payload = match last {
            // The last packet may be padded: count what the flow holds, not what the frame does.
            true => receiver.payload_until(receiver.expected) - receiver.delivered_bytes,
            false => u64::from(packet.frame_bytes - receiver.header_bytes),
        };
        receiver.delivered_bytes += payload;
        self.counters.delivered_bytes += payload;
        self.counters.data_packets_delivered += 1;
        if packet.ecn == Ecn::Ce {
            receiver.marked += 1;
        }
        if last && let Some(message) = receiver.arrived(now).filter(|_| receiver.tells) {
            self.news_ranks.extend(self.rank);
            self.news.push(News::Delivered(self.cards[packet.flow].presence, message));
            self.halted = self.rank.is_none();
        }
        if receiver.feeds_back_in_acks
            && let Some(int) = self.int.read(packet)
        {
            receiver.np.on_telemetry(now, int);
        }
        let feedback = receiver.np.on_data(&Received {
            now,
            wire_bytes: u32::from(packet.frame_bytes) + gap,
            payload_bytes: payload as u32,
            ecn: packet.ecn,
        });
        let ack = packet.flags & ASKS_ACK != 0;
        let np_timer = receiver.np.timer();
        if ack {
            let (delay, feeds_back_in_acks) = (settings.ack_delay, receiver.feeds_back_in_acks);
            let mut ack = self.reply(flow, packet, Kind::Ack);
            if feeds_back_in_acks {
                self.put_ack_feedback(flow, &mut ack);
            }
            self.counters.acks_sent += 1;
            self.emit(host_id, &ack, delay, ACK_LANE);
        } else {
            self.release_extra(packet);
        }
        if let Some(feedback) = feedback {
            self.notify(flow, feedback);
        }
        if let Some(at) = np_timer {
            self.arm_np_timer(flow, at);
        }
        if !ack {
            // With an ACK the data packet lives on in it; without, it ends here.
            self.packet_gone(packet.flow);
        }
    }

    /// The ACK or NAK of a receiver to a data packet; takes over its telemetry.
    #[inline]
    pub(crate) fn reply(&self, receiver: ReceiverId, data: &Packet, kind: Kind) -> Packet {
        let receiver = &self.receivers[receiver];
        Packet {
            stamp: data.stamp,
            flow: data.flow,
            psn: receiver.expected,
            route: back_cursor(receiver.route, receiver.hops, receiver.backward),
            extra: data.extra,
            frame_bytes: receiver.ack_frame,
            ingress: 0,
            kind,
            class: receiver.ack_class,
            // An ACK never is marked; the bits carry the echo of the data packet's mark.
            ecn: data.ecn,
            flags: (if receiver.backward { data.flags | BACKWARD } else { data.flags & !BACKWARD })
                & !(TRANSIT | ASKS_ACK),
        }
    }

    /// Puts feedback of the notification point into an ACK or NAK, in the place of telemetry.
    pub(crate) fn put_ack_feedback(&mut self, receiver: ReceiverId, ack: &mut Packet) {
        let Some(feedback) = self.receivers[receiver].np.ack_feedback(self.now) else { return };
        self.release_extra(ack);
        ack.extra = self.feedback.insert(feedback);
        ack.flags |= TRANSIT;
    }

    /// Ahead of what is expected: drop, and say so now and then. Behind: acknowledge again. Some
    /// receivers take any order.
    #[cold]
    #[inline(never)]
    fn on_unexpected(&mut self, packet: &Packet) {
        let now = self.now;
        let flow = self.cards[packet.flow].receiver;
        let receiver = &mut self.receivers[flow];
        if receiver.any_order.is_some() && !receiver.closed {
            self.on_data_any_order(packet);
            return;
        }
        let host_id = receiver.host;
        let settings = &self.plan.hosts[self.hosts[host_id].profile as usize];
        let delay = settings.ack_delay;
        let behind = packet.psn < receiver.expected;
        let nak_is_recent =
            receiver.last_nak == receiver.expected && now.saturating_since(receiver.nak_at) < settings.nak_interval;
        if receiver.closed || (!behind && nak_is_recent) {
            self.discard(packet);
            return;
        }
        self.counters.data_packets_discarded += 1;
        if behind {
            self.counters.acks_sent += 1;
        } else {
            receiver.last_nak = receiver.expected;
            receiver.nak_at = now;
            self.counters.naks_sent += 1;
        }
        let feeds_back_in_acks = receiver.feeds_back_in_acks;
        let mut reply = self.reply(flow, packet, if behind { Kind::Ack } else { Kind::Nak });
        if feeds_back_in_acks {
            self.put_ack_feedback(flow, &mut reply);
        }
        self.emit(host_id, &reply, delay, ACK_LANE);
    }

    pub(crate) fn arm_np_timer(&mut self, flow: ReceiverId, at: Time) {
        let receiver = &mut self.receivers[flow];
        if at < receiver.due {
            receiver.due = at;
            let name = self.cards[receiver.card].name;
            self.queue.push_named(at.max(self.now), kind::NP_TIMER, name, flow.get());
        }
    }

    pub(crate) fn on_np_timer(&mut self, flow: ReceiverId) {
        let Some(receiver) = self.receivers.get_mut(flow) else { return };
        if receiver.due != self.now {
            return;
        }
        receiver.due = Time::NEVER;
        // Nobody is to be told any more. (The sender may not know yet that all has arrived.)
        if receiver.closed || receiver.delivered_at.is_some() {
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
        self.on_ack_timer(flow);
    }

    /// The receiver sends a notification to the sender.
    pub(crate) fn notify(&mut self, flow: ReceiverId, feedback: S::Feedback) {
        let receiver = &self.receivers[flow];
        let host_id = receiver.host;
        let delay = self.plan.hosts[self.hosts[host_id].profile as usize].notify_delay;
        let card = receiver.card;
        let scheme = &self.schemes[usize::from(self.cards[card].scheme)];
        let frame_bytes = scheme.notification_bytes(&feedback).map_or(receiver.notification_frame, |b| b as u16);
        let packet = Packet {
            stamp: self.now,
            flow: card,
            psn: 0,
            route: back_cursor(receiver.route, receiver.hops, receiver.backward),
            extra: self.feedback.insert(feedback),
            frame_bytes,
            ingress: 0,
            kind: Kind::Notification,
            class: self.plan.classes.control,
            ecn: Ecn::NotCapable,
            flags: if receiver.backward { BACKWARD } else { 0 },
        };
        self.cards[card].live += 1;
        self.counters.notifications_sent += 1;
        if !self.taps.is_empty() {
            self.note_origin(&packet, None);
        }
        self.emit(host_id, &packet, delay, NOTIFY_LANE);
    }

    #[inline]
    fn on_ack(&mut self, packet: &Packet) {
        let now = self.now;
        let flow = self.cards[packet.flow].sender;
        let sender = &mut self.senders[flow];
        if sender.ended || sender.tcp {
            self.on_other_ack(packet);
            return;
        }
        let before = sender.payload_until(sender.una);
        if packet.psn > sender.una {
            sender.una = packet.psn;
            sender.next = sender.next.max(sender.una);
            // After going back there may be nothing under way; the next packet starts the timer.
            sender.rto_at = if sender.una == sender.next { Time::NEVER } else { now + sender.rto };
        }
        let moved = self.tell_of_ack(flow, packet, before, false);
        if packet.kind == Kind::Nak {
            let sender = &mut self.senders[flow];
            sender.go_back();
            sender.rto_at = Time::NEVER;
            sender.rp.on_loss(now, Loss::Nak);
        }
        self.release_extra(packet);
        self.after_ack(flow, moved);
        self.packet_gone(packet.flow);
    }

    /// Tells a reaction point of an ACK or NAK that has moved the sender on from `before` bytes, or
    /// has not; which of both.
    #[inline(always)]
    pub(crate) fn tell_of_ack(&mut self, flow: SenderId, packet: &Packet, before: u64, duplicate: bool) -> bool {
        let now = self.now;
        let sender = &mut self.senders[flow];
        let acked_bytes = sender.payload_until(sender.una);
        let int = if packet.carries_feedback() {
            sender.rp.on_feedback(now, &self.feedback[packet.extra]);
            None
        } else {
            self.int.read(packet)
        };
        sender.rp.on_ack(&Acked {
            now,
            bytes: acked_bytes - before,
            acked_bytes,
            sent_bytes: sender.payload_until(sender.next),
            rtt: packet.echoed(now),
            ecn: packet.ecn,
            int,
            duplicate,
            resent: packet.flags & RESENT != 0,
        });
        acked_bytes > before
    }

    /// The end of a flow whose last packet is acknowledged, or what its limits now allow.
    #[inline(always)]
    pub(crate) fn after_ack(&mut self, flow: SenderId, moved: bool) {
        let sender = &self.senders[flow];
        let (at_edge, state) = (sender.una >= sender.edge, sender.state);
        // Flows without offers have no such number.
        let drained = sender.una == sender.offered && moved;
        if at_edge && self.on_edge(flow, state) {
            return;
        }
        self.after_rp(flow);
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
    fn on_edge(&mut self, flow: SenderId, state: SendState) -> bool {
        let presence = self.cards[self.senders[flow].card].presence;
        let tells = self.details[flow].tells;
        if self.senders[flow].messages.is_some() {
            // Captures may see its packets once more.
            let keep = !self.taps.is_empty();
            while let Some(message) = self.senders[flow].pass_message(keep) {
                if tells {
                    self.tell(News::Acknowledged(presence, message));
                }
            }
            return false;
        }
        let port_id = self.hosts[self.senders[flow].host].port;
        if state == SendState::Scanned {
            self.read_rp(flow);
            self.wake_sooner(flow);
        }
        self.details[flow].acked_at = Some(self.now);
        if tells {
            self.tell(News::Acknowledged(presence, 0));
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
        self.tell(News::Drained(self.cards[self.senders[flow].card].presence));
    }

    fn on_notification(&mut self, packet: &Packet) {
        let flow = self.cards[packet.flow].sender;
        let feedback = self.feedback.remove(packet.extra);
        let sender = &mut self.senders[flow];
        if !sender.ended {
            sender.rp.on_feedback(self.now, &feedback);
            let details = &mut self.details[flow];
            details.notifications += 1;
            details.first_notified.get_or_insert(self.now);
            self.after_rp(flow);
        }
        self.packet_gone(packet.flow);
    }

    #[inline]
    pub(crate) fn arm_flow_timer(&mut self, flow: SenderId) {
        if self.eager {
            self.schedule_timers(flow);
            return;
        }
        let sender = &mut self.senders[flow];
        let at = sender.rp.timer().unwrap_or(Time::NEVER).min(sender.rto_at);
        if at < sender.due {
            sender.due = at.max(self.now);
            self.queue.push_named(sender.due, kind::FLOW_TIMER, self.cards[sender.card].name, flow.get());
        }
    }

    /// Every timer of a flow that was set anew gets an event of its own.
    #[cold]
    #[inline(never)]
    fn schedule_timers(&mut self, flow: SenderId) {
        let timers = self.timers.reach(flow, || [Time::NEVER; TIMERS]);
        let sender = &mut self.senders[flow];
        for (set, wanted) in timers.iter_mut().zip(sender.rp.timers()) {
            let at = wanted.map_or(Time::NEVER, |at| at.max(self.now));
            if *set != at && at != Time::NEVER {
                self.queue.push(at, kind::FLOW_TIMER, flow.get());
            }
            *set = at;
        }
        if sender.rto_at < sender.due {
            sender.due = sender.rto_at;
            self.queue.push(sender.due, kind::FLOW_TIMER, flow.get());
        }
    }

    /// Whether an event of a flow's timers is one that still counts.
    fn is_due(&self, flow: SenderId, due: Time) -> bool {
        due == self.now || (self.eager && self.timers[flow].contains(&self.now))
    }

    pub(crate) fn on_flow_timer(&mut self, flow: SenderId) {
        let now = self.now;
        let Some(due) = self.senders.get(flow).filter(|sender| !sender.ended).map(|sender| sender.due) else { return };
        if !self.is_due(flow, due) {
            return;
        }
        let sender = &mut self.senders[flow];
        if due == now {
            sender.due = Time::NEVER;
        }
        if sender.rp.timer().is_some_and(|at| at <= now) {
            sender.rp.on_timer(now);
        }
        if sender.rto_at <= now {
            sender.go_back();
            sender.rto_at = Time::NEVER;
            sender.rp.on_loss(now, Loss::Timeout);
            self.counters.timeouts += 1;
            self.details[flow].timeouts += 1;
            self.after_rp(flow);
            self.try_to_send(flow);
        } else {
            self.after_rp(flow);
        }
    }

    /// The flow is over, for its sender: tell of it. The receiver hears nothing, as on a real network.
    pub(crate) fn end_flow(&mut self, flow: SenderId) {
        self.counters.flows_completed += 1;
        let sender = &mut self.senders[flow];
        sender.ended = true;
        let presence = self.cards[sender.card].presence;
        self.leave_nic(flow);
        self.tell(News::Ended(presence));
    }

    /// The flow was stopped: what still arrives counts no more.
    pub(crate) fn close_receiver(&mut self, receiver: ReceiverId) {
        let receiver = &mut self.receivers[receiver];
        receiver.closed = true;
        receiver.special = true;
    }

    pub(crate) fn note(&mut self, news: News) {
        self.news_ranks.extend(self.rank);
        self.news.push(news);
    }

    pub(crate) fn tell(&mut self, news: News) {
        self.note(news);
        // With other parts, it is heard when all have come so far.
        self.halted = self.rank.is_none();
    }

    /// One packet of the flow exists no more.
    #[inline]
    pub(crate) fn packet_gone(&mut self, card: CardId) {
        let of = &mut self.cards[card];
        of.live -= 1;
        debug_assert!(of.live >= 0 || self.rank.is_some(), "more packets gone than made");
    }
}

/// Where the cursor of a packet stands that leaves the receiver's NIC: past the NIC's own port.
#[inline]
fn back_cursor(route: u32, hops: u8, backward: bool) -> u32 {
    if backward { (route + u32::from(hops)).wrapping_sub(2) } else { route + 1 }
}
