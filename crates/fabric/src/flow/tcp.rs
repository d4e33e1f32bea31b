//! TCP: receivers that keep packets out of order, senders whose reaction point recovers losses.
//!
//! Sequence numbers are packet numbers, as everywhere in the fabric. The receiver is of use without
//! the sender: RoCE flows whose packets take several paths ask for it by
//! [`Format::reorder`].

use crate::contract::packet::{ASKS_ACK, Ecn, Kind, NO_EXTRA, Packet, RESENT};
use crate::contract::scheme::{
    Format, NotificationPoint, Outstanding, ReactionPoint, Received, Resend, Scheme, Transport,
};
use crate::flow::transport::ACK_LANE;
use crate::network::plan::HostSettings;
use crate::part::Part;
use crate::part::id::{ReceiverId, SenderId};
use xoff_engine::{Span, Time};

/// Packets that a receiver keeps beyond the first one missing; what is further ahead is dropped.
const KEPT_MOST: u32 = 1 << 16;

/// A receiver's memory beyond the next packet expected.
#[derive(Debug)]
pub struct AnyOrder {
    kept: Kept,
    tcp: bool,
    ack_every: u32,
    ack_timeout: Span,
    /// Packets in order since the last ACK, and the first of them.
    waiting: u32,
    first: Packet,
    /// When they are acknowledged at the latest.
    ack_at: Time,
}

impl AnyOrder {
    pub(crate) fn new(format: &Format, host: &HostSettings) -> AnyOrder {
        AnyOrder {
            kept: Kept::default(),
            tcp: format.transport == Transport::Tcp,
            ack_every: ack_every(format, host),
            ack_timeout: format.ack_timeout,
            waiting: 0,
            first: Packet::default(),
            ack_at: Time::NEVER,
        }
    }

    /// Whether the next packet in order is more than the next packet: it may close a gap, or wait for
    /// its ACK.
    pub(crate) fn is_special(&self) -> bool {
        self.kept.count > 0 || self.ack_every > 1
    }
}

/// Packets in order that one ACK speaks for. TCP has a rule of its own; how a NIC spares ACKs of RoCE is
/// nothing to it.
pub(crate) fn ack_every(format: &Format, host: &HostSettings) -> u32 {
    match format.transport {
        Transport::Roce => format.ack_every.max(host.ack_every),
        Transport::Tcp => format.ack_every,
    }
}

/// Which packets have come out of order: a ring of bits that exists only while one is missing.
#[derive(Debug, Default)]
struct Kept {
    words: Vec<u64>,
    count: u32,
}

impl Kept {
    fn room(&self) -> u32 {
        self.words.len() as u32 * 64
    }

    fn place(&self, psn: u32) -> (usize, u64) {
        ((psn / 64) as usize & (self.words.len() - 1), 1 << (psn % 64))
    }

    /// Keeps `psn`, which is beyond `expected`; `false` if it is there already or too far ahead.
    fn insert(&mut self, expected: u32, psn: u32) -> bool {
        let ahead = psn - expected;
        if ahead >= KEPT_MOST {
            return false;
        }
        // One word of slack: the first word may also hold the last packets of the ring.
        if ahead + 64 >= self.room() {
            self.grow(expected, ahead);
        }
        let (word, bit) = self.place(psn);
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.count += u32::from(new);
        new
    }

    fn grow(&mut self, expected: u32, ahead: u32) {
        let words = (ahead / 64 + 2).next_power_of_two().max(2) as usize;
        let old = Kept { words: std::mem::replace(&mut self.words, vec![0; words]), count: 0 };
        for psn in expected..expected + old.room() {
            let (word, bit) = old.place(psn);
            if old.words[word] & bit != 0 {
                let (word, bit) = self.place(psn);
                self.words[word] |= bit;
            }
        }
    }

    /// Lets go of the packets that follow without a gap from `expected` on; returns the next missing.
    fn run_from(&mut self, mut expected: u32) -> u32 {
        while self.count > 0 {
            let (word, bit) = self.place(expected);
            if self.words[word] & bit == 0 {
                return expected;
            }
            self.words[word] &= !bit;
            self.count -= 1;
            expected += 1;
        }
        self.words = Vec::new();
        expected
    }
}

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
        let last = fresh && receiver.expected == receiver.total;
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
            if last {
                receiver.delivered_at = Some(now);
            }
            if receiver.feeds_back_in_acks
                && let Some(int) = self.int.get(packet.extra)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_kept_in_any_order_leave_in_order() {
        for start in [0, 63, 64, 1_000_003] {
            let mut kept = Kept::default();
            for psn in [3, 1, 130, 2, 700] {
                assert!(kept.insert(start, start + psn));
                assert!(!kept.insert(start, start + psn), "a second copy is no news");
            }
            assert_eq!(kept.count, 5);
            assert_eq!(kept.run_from(start + 1), start + 4, "1 to 3 are here, 4 is missing");
            for psn in (4..700).filter(|psn| *psn != 130) {
                assert!(kept.insert(start + 4, start + psn) || psn == 4);
            }
            assert_eq!(kept.run_from(start + 4), start + 701);
            assert!(kept.words.is_empty(), "no gap, no memory");
        }
    }

    #[test]
    fn what_is_too_far_ahead_is_not_kept() {
        let mut kept = Kept::default();
        assert!(!kept.insert(5, 5 + KEPT_MOST));
        assert!(kept.insert(5, 4 + KEPT_MOST));
        assert_eq!((kept.count, kept.run_from(6)), (1, 6));
    }
}
