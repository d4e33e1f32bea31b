//! TCP: receivers that keep packets out of order, senders whose reaction point recovers losses.
//!
//! Sequence numbers are packet numbers, as everywhere in the fabric. The receiver is of use without
//! the sender: RoCE flows whose packets take several paths ask for it by
//! [`Format::reorder`](crate::contract::scheme::Format::reorder).

use crate::contract::packet::{ASKS_ACK, Ecn, Kind, NO_EXTRA, Packet, RESENT};
use crate::contract::scheme::{NotificationPoint, Outstanding, ReactionPoint, Received, Resend, Scheme};
use crate::id::{ReceiverId, SenderId};
use crate::part::transport::ACK_LANE;
use crate::part::{News, Part};

impl<S: Scheme> Part<S> {
    /// A data packet at a receiver that takes any order.
    pub(crate) fn on_data_any_order(&mut self, packet: &Packet) {
        let now = self.now;
        let flow = self.cards[packet.flow].receiver;
        let Some(order) = &self.receivers[flow].any_order else { return };
        // An ACK speaks for packets of one mark only, so that the sender counts marks exactly.
        if order.waiting > 0 && (order.first.ecn == Ecn::Ce) != (packet.ecn == Ecn::Ce) {
            self.acknowledge_waiting(flow);
        }
        let receiver = &mut self.receivers[flow];
        let Some(order) = &mut receiver.any_order else { return };
        let before = receiver.expected;
        let missing = order.kept.count > 0;
        let fresh = match packet.psn {
            psn if psn == before => {
                receiver.expected = order.kept.run_from(before + 1);
                true
            }
            psn => psn > before && order.kept.insert(before, psn),
        };
        let last = fresh && receiver.expected >= receiver.edge;
        // At once whenever something was or is missing, so that the sender learns of it.
        let plain = packet.psn == before && !missing && !last;
        let waited = order.waiting > 0;
        order.waiting += u32::from(packet.psn == before);
        let asked = packet.flags & ASKS_ACK != 0 && !order.tcp;
        let ack = !plain || asked || order.waiting >= order.ack_every;
        let mut cause = *packet;
        if ack {
            if waited {
                cause.stamp = order.first.stamp;
                cause.flags |= order.first.flags & RESENT;
            }
            order.waiting = 0;
        } else if order.waiting == 1 {
            order.first = cause;
            order.ack_at = now + order.ack_timeout;
        }
        receiver.special = order.is_special();
        let wait_until = (!ack && order.waiting == 1).then_some(order.ack_at);

        let mut feedback = None;
        if fresh {
            let payload = receiver.payload_until(packet.psn + 1) - receiver.payload_until(packet.psn);
            let in_order = receiver.payload_until(receiver.expected) - receiver.payload_until(before);
            receiver.delivered_bytes += in_order;
            self.counters.delivered_bytes += in_order;
            self.counters.data_packets_delivered += 1;
            receiver.marked += u64::from(packet.ecn == Ecn::Ce);
            while last && let Some(message) = receiver.arrived(now) {
                if receiver.tells {
                    self.news_ranks.extend(self.rank);
                    self.news.push(News::Delivered(self.cards[packet.flow].presence, message));
                    self.halted = self.rank.is_none();
                }
            }
            if receiver.feeds_back_in_acks
                && let Some(int) = self.int.read(packet)
            {
                receiver.np.on_telemetry(now, int);
            }
            feedback = receiver.np.on_data(&Received {
                now,
                wire_bytes: u32::from(packet.frame_bytes) + self.gap_bytes,
                payload_bytes: payload as u32,
                ecn: packet.ecn,
            });
        } else {
            self.counters.data_packets_discarded += 1;
        }
        let np_timer = receiver.np.timer();
        if ack {
            self.send_ack(&cause);
        } else {
            self.release_extra(packet);
        }
        if let Some(feedback) = feedback {
            self.notify(flow, feedback);
        }
        for at in np_timer.into_iter().chain(wait_until) {
            self.arm_np_timer(flow, at);
        }
        if !ack {
            self.packet_gone(packet.flow);
        }
    }

    fn send_ack(&mut self, cause: &Packet) {
        let flow = self.cards[cause.flow].receiver;
        let receiver = &self.receivers[flow];
        let (host, feeds_back_in_acks) = (receiver.host, receiver.feeds_back_in_acks);
        let delay = self.plan.hosts[self.hosts[host].profile as usize].ack_delay;
        let mut ack = self.reply(flow, cause, Kind::Ack);
        if feeds_back_in_acks {
            self.put_ack_feedback(flow, &mut ack);
        }
        self.counters.acks_sent += 1;
        self.emit(host, &ack, delay, ACK_LANE);
    }

    /// Acknowledges what waits for it, with the mark that it came with.
    fn acknowledge_waiting(&mut self, flow: ReceiverId) {
        let Some(order) = &mut self.receivers[flow].any_order else { return };
        order.waiting = 0;
        // Its telemetry was let go when it began to wait.
        let cause = Packet { extra: NO_EXTRA, ..order.first };
        self.cards[cause.flow].live += 1;
        self.send_ack(&cause);
    }

    /// The receiver's timer: an ACK may have waited long enough.
    pub(crate) fn on_ack_timer(&mut self, flow: ReceiverId) {
        let Some(order) = &self.receivers[flow].any_order else { return };
        if order.waiting == 0 {
            return;
        }
        if order.ack_at <= self.now {
            self.acknowledge_waiting(flow);
        } else {
            self.arm_np_timer(flow, order.ack_at);
        }
    }

    /// An ACK that does not belong to a living RoCE flow.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_other_ack(&mut self, packet: &Packet) {
        let flow = self.cards[packet.flow].sender;
        let sender = &mut self.senders[flow];
        if sender.ended {
            self.discard(packet);
            return;
        }
        let before = sender.payload_until(sender.una);
        let duplicate = packet.psn == sender.una && sender.una < sender.highest;
        if packet.psn > sender.una {
            sender.una = packet.psn;
            sender.next = sender.next.max(sender.una);
            // What was to be sent again has arrived after all.
            sender.resend = false;
        }
        let moved = self.tell_of_ack(flow, packet, before, duplicate);
        self.release_extra(packet);
        self.after_ack(flow, moved);
        self.packet_gone(packet.flow);
    }

    /// Reads a TCP flow's wishes after any of its hooks: what to send again, limits, timer.
    #[cold]
    #[inline(never)]
    pub(crate) fn after_tcp_rp(&mut self, flow: SenderId) {
        let resend = self.ask_resend(flow);
        self.read_rp(flow);
        if resend {
            self.try_to_send(flow);
        }
    }

    /// Does what the reaction point wants sent again; whether it wants anything.
    fn ask_resend(&mut self, flow: SenderId) -> bool {
        let sender = &mut self.senders[flow];
        let outstanding = Outstanding {
            now: self.now,
            acked_bytes: sender.payload_until(sender.una),
            sent_bytes: sender.payload_until(sender.next),
            highest_bytes: sender.payload_until(sender.highest),
        };
        match sender.rp.resend(&outstanding) {
            Resend::Nothing => false,
            Resend::Oldest => {
                sender.resend = sender.una < sender.highest;
                sender.resend
            }
            Resend::All => {
                sender.next = sender.una;
                sender.resend = false;
                self.counters.timeouts += 1;
                self.details[flow].timeouts += 1;
                true
            }
        }
    }
}
