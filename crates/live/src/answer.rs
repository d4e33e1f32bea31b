//! What a sender hears: ACKs and NAKs move its window, notifications and feedback reach its reaction point.

use crate::context::{Context, FlowEvent};
use crate::forwarding::{flow_of, tcp_number};
use crate::nic::Nic;
use crate::sender::Sender;
use xoff_engine::Time;
use xoff_fabric::pacing::SendState;
use xoff_fabric::packet::{Ecn, IntStack};
use xoff_fabric::scheme::{Acked, ReactionPoint, Scheme};
use xoff_fabric::transport::{Ack, Selective};
use xoff_wire::{Echo, Roce, Seen, SelectiveAck, TCP_ECE, Tcp, content_of, near, stamp_of, telemetry_of};

/// The largest number of a byte that 32 bits of TCP's tell apart from its neighbours.
const SEQUENCE_WRAP: u64 = 1 << 32;

/// A reply as the sender reads it.
struct Answer {
    /// The packet that the receiver expects next.
    expected: u32,
    nak: bool,
    ecn: Ecn,
    /// What it says of packets beyond `expected`.
    selective: Option<Selective>,
    /// The packet that caused it left then, if the reply says so.
    stamp: Option<Time>,
    /// UDP source port, in which the entropy of its data may come back.
    port: u16,
}

impl<S: Scheme> Nic<S> {
    pub(crate) fn on_notification(
        &mut self,
        flow: u32,
        bytes: &[u8],
        seen: &Seen,
        schemes: &[S],
        context: &mut Context<'_>,
    ) {
        let Some(sender) = self.senders.get_mut(&flow) else { return };
        let scheme = &schemes[usize::from(sender.flow.scheme)];
        let Some(feedback) = scheme.read_content(&content_of(bytes, seen)) else {
            return context.log.ignore("content of another scheme");
        };
        sender.rp.on_feedback(context.now, &feedback);
        sender.tally.notifications += 1;
        sender.tally.first_notified.get_or_insert(context.now);
        self.read_limits(flow, context);
    }

    pub(crate) fn on_roce_reply(
        &mut self,
        bytes: &[u8],
        seen: &Seen,
        roce: &Roce,
        (nak, echo): (bool, Echo),
        schemes: &[S],
        context: &mut Context<'_>,
    ) {
        let flow = flow_of(roce.queue_pair);
        // Late ACKs of flows that are over are nothing unusual.
        let own = |sender: &&mut Sender<S::Rp>| {
            let same_port = sender.entropies.is_some() || sender.flow.src_port == roce.udp_source;
            sender.flow.dst == roce.ends.src && same_port
        };
        let Some(sender) = self.senders.get_mut(&flow).filter(own) else { return };
        let expected = near(roce.psn, sender.requester.seq.una).wrapping_add(u32::from(!nak));
        let stamp = stamp_of(bytes, roce);
        let scheme = &schemes[usize::from(sender.flow.scheme)];
        let multiplier = self.multipliers[usize::from(sender.flow.scheme)];
        let int = telemetry_of(bytes, roce, multiplier).map(|stack| sender.unwrap.widen(context.now, &stack));
        let selective = roce
            .selective
            .map(|SelectiveAck { psn, received }| Selective { psn: near(psn, sender.requester.seq.una), received });
        let ecn = echo.ecn(sender.format.ecn);
        let answer = Answer { expected, nak, ecn, selective, stamp, port: roce.udp_source };
        if roce.code != 0
            && let Some(feedback) = scheme.read_content(&content_of(bytes, seen))
        {
            sender.rp.on_feedback(context.now, &feedback);
        }
        self.on_answer(flow, &answer, int.as_ref(), context);
    }

    pub(crate) fn on_tcp_reply(&mut self, tcp: &Tcp, context: &mut Context<'_>) {
        let flow = self.tcp_flow(tcp.ends.src, tcp.destination_port);
        let Some(sender) = flow.and_then(|flow| self.senders.get(&flow)) else { return };
        // The first byte of a flow is number one.
        let near_bytes = sender.payload_until(sender.requester.seq.una);
        let acknowledged = unwrap_bytes(tcp.acknowledged.wrapping_sub(1), near_bytes);
        let ecn = if tcp.flags & TCP_ECE != 0 { Ecn::Ce } else { sender.format.ecn };
        let expected = acknowledged.div_ceil(u64::from(sender.requester.seq.stream.mtu_bytes)) as u32;
        let answer = Answer { expected, nak: false, ecn, selective: None, stamp: None, port: sender.flow.src_port };
        self.on_answer(sender.flow.id, &answer, None, context);
    }

    fn tcp_flow(&self, peer: u32, port: u16) -> Option<u32> {
        let flow = tcp_number(self.node, peer, port);
        self.senders.contains_key(&flow).then_some(flow)
    }

    /// An ACK or NAK moves the window and is told to the reaction point.
    fn on_answer(&mut self, flow: u32, answer: &Answer, int: Option<&IntStack>, context: &mut Context<'_>) {
        let now = context.now;
        let Some(sender) = self.senders.get_mut(&flow) else { return };
        let seq = &sender.requester.seq;
        if answer.expected > seq.highest || answer.selective.is_some_and(|selective| selective.psn >= seq.highest) {
            return context.log.ignore("acknowledges what was not sent");
        }
        // The packet that an ACK speaks for: the last in order, or for TCP the first that it is about.
        let by_time = sender.requester.asks_reaction_point();
        let last = answer.selective.map_or(answer.expected.saturating_sub(1), |selective| selective.psn);
        let psn = if by_time { seq.una } else { last };
        let memory = sender.sent.get(psn).or(sender.sent.oldest());
        let (sent_at, resent) = memory.map_or((now, false), |sent| (sent.sent_at, sent.resent));
        let ack = Ack { expected: answer.expected, selective: answer.selective, nak: answer.nak, resent };
        let progress = sender.requester.on_ack(now, &ack);
        sender.sent.forget_before(sender.requester.seq.una);
        let rtt = now.saturating_since(answer.stamp.unwrap_or(sent_at));
        sender.rp.on_ack(&Acked {
            now,
            bytes: progress.bytes,
            acked_bytes: progress.acked_bytes,
            sent_bytes: progress.sent_bytes,
            rtt,
            ecn: answer.ecn,
            int,
            duplicate: progress.duplicate,
            resent,
            path: 0,
            nak: ack.nak,
        });
        if let Some(loss) = progress.lost {
            sender.rp.on_loss(now, loss, progress.lost_bytes);
            sender.path_lost(now, sender.requester.seq.una, loss);
        }
        sender.path_answered(now, answer.port, answer.ecn, rtt);
        let seq = &mut sender.requester.seq;
        let drained = progress.bytes > 0 && seq.una == seq.offered;
        while let Some(message) = seq.complete_message(false) {
            if seq.stream.messages.is_none() {
                return self.end(flow, context);
            }
            context.log.events.push(FlowEvent::Acknowledged(flow, message));
        }
        let state = sender.pacing.state;
        self.read_limits(flow, context);
        if matches!(state, SendState::Blocked | SendState::Idle) {
            self.try_to_send(flow, context);
        }
        if drained {
            context.log.events.push(FlowEvent::Drained(flow));
        }
    }
}

/// The number of a byte of which 32 bits are given: the one nearest to `around`.
pub(crate) fn unwrap_bytes(low: u32, around: u64) -> u64 {
    let ahead = i64::from(low.wrapping_sub(around as u32) as i32);
    around.checked_add_signed(ahead).unwrap_or(u64::from(low) % SEQUENCE_WRAP)
}
