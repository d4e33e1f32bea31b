//! Selective acknowledgements as in Ultra Ethernet: packets are resent one by one, and reordering alone resends none.
//!
//! The receiver keeps packets in any order and reports a cumulative number, the packet that caused the answer and a
//! bitmap of 64 packets. The sender resends a packet that a switch trimmed, one whose own timer ran out, and what is
//! missing once so many packets arrived beyond it that they cannot be late (SLEEK). Rules are those of the UEC
//! specification 1.0 (3.5, 3.6) as its public simulator has them. Assumptions: headers are those of RoCEv2, a sender
//! of a scheme without a window counts with one and a half bandwidth-delay products, and there are no probes.

use super::{
    Ack, Answer, Arrival, Conditions, Echo, Outgoing, Progress, ReceiveSequence, ReceivedBitmap, RequesterRules,
    ResponderRules, Selective, SendSequence, Taken,
};
use crate::contract::packet::Ecn;
use crate::contract::scheme::{Format, Loss, Transport};
use crate::network::plan::{HostSettings, Recovery};
use std::collections::BTreeSet;
use xoff_engine::{Numbered, Span, Time};

/// Packets that may be outstanding: the largest range that a responder announces, 255 times 128.
const RANGE_MOST: u32 = 255 * 128;
/// SLEEK counts on no fewer packets than this.
const FEWEST_PACKETS: u64 = 5;
/// Longest time-out that doublings lead to, so that a run without luck does not look as if it had stalled.
const TIMEOUT_MOST: Span = Span::from_ms(20);

/// Packet that is not acknowledged in order.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// When it left last.
    at: Time,
    /// Copies that were sent.
    copies: u8,
}

#[derive(Debug)]
pub(super) struct Requester {
    /// Packets beyond `una` that the receiver has.
    received: ReceivedBitmap,
    /// Packets to send again.
    lost: BTreeSet<u32>,
    /// Payload from `una` until `next` that is received or to be sent again: it is not in flight.
    absent_bytes: u64,
    sent: Numbered<Sent>,
    /// PSN after what was sent when SLEEK began to resend; it does until all of that is acknowledged.
    sleek_end: Option<u32>,
    /// PSN after the last packet that was sent with AckReq.
    asked: u32,
    max_window: u64,
    ack_bytes: u64,
}

/// Out of line: go-back-N, which most flows have, does not pay for them.
impl RequesterRules for Requester {
    fn new(conditions: &Conditions<'_>) -> Option<Requester> {
        let Recovery::Sack(settings) = conditions.recovery() else { return None };
        Some(Requester {
            received: ReceivedBitmap::default(),
            lost: BTreeSet::new(),
            absent_bytes: 0,
            sent: Numbered::default(),
            sleek_end: None,
            asked: 0,
            max_window: conditions.max_bdp_bytes + conditions.max_bdp_bytes / 2,
            ack_bytes: settings.ack_bytes.into(),
        })
    }

    fn headers(&self) -> Transport {
        Transport::Roce
    }

    #[inline(never)]
    fn in_flight_bytes(&self, seq: &SendSequence) -> u64 {
        seq.unacknowledged_bytes() - self.absent_bytes
    }

    #[inline(never)]
    fn retransmission(&self, seq: &SendSequence) -> Option<u32> {
        self.lost.first().copied().filter(|_| !seq.stranded)
    }

    #[inline(never)]
    fn may_send(&self, seq: &SendSequence) -> bool {
        let resends = self.retransmission(seq).is_some();
        let in_range = resends || seq.next - seq.una < RANGE_MOST;
        let beyond = (resends && self.sleek_end.is_some()) || self.awaits_no_ack(seq);
        in_range && (beyond || seq.is_within_window(self.in_flight_bytes(seq)))
    }

    #[inline(never)]
    fn next(&mut self, seq: &mut SendSequence, now: Time) -> Outgoing {
        let psn = match self.retransmission(seq) {
            Some(psn) => {
                self.lost.remove(&psn);
                self.absent_bytes -= size(seq, psn);
                psn
            }
            None => {
                seq.next += 1;
                seq.next - 1
            }
        };
        let copies = self.sent.get(psn).map_or(1, |sent| sent.copies.saturating_add(1));
        let sent = Sent { at: now, copies };
        self.sent.set(psn, sent);
        seq.deadline = seq.deadline.min(sent.due(seq.rto));
        let outgoing = seq.send(psn, |_| true);
        let room = seq.window_bytes.saturating_sub(self.in_flight_bytes(seq));
        let waits = room < u64::from(seq.stream.mtu_bytes) || seq.window_bytes < self.ack_bytes;
        let ends = seq.next >= seq.limit() || seq.stream.end_of(psn) == psn + 1;
        let requests_ack = waits || ends || outgoing.resent;
        if requests_ack {
            self.asked = psn + 1;
        }
        Outgoing { requests_ack, ..outgoing }
    }

    #[inline(never)]
    fn on_ack(&mut self, seq: &mut SendSequence, _now: Time, ack: &Ack) -> Progress {
        let before = seq.stream.payload_until(seq.una);
        self.advance(seq, ack.expected);
        let mut lost = None;
        if let Some(Selective { psn, received }) = ack.selective {
            let first = Selective::first(ack.expected, psn);
            (0..64).filter(|bit| received & 1 << bit != 0).for_each(|bit| self.mark(seq, first + bit));
            if ack.nak {
                lost = self.hold_lost(seq, psn).then_some(Loss::Trimmed);
            } else {
                self.mark(seq, psn);
            }
        }
        if self.counts_on_losses(seq) {
            lost = lost.or(Some(Loss::Nak));
        }
        if seq.una == seq.next {
            seq.deadline = Time::NEVER;
        }
        Progress { lost, ..seq.progress(before, false) }
    }

    /// Every packet has a timer of its own; the deadline is not later than the first of them.
    #[inline(never)]
    fn on_timeout(&mut self, seq: &mut SendSequence, now: Time) -> bool {
        seq.deadline = Time::NEVER;
        let mut any = false;
        for psn in seq.una..seq.next {
            let Some(sent) = self.sent.get(psn).filter(|_| self.is_in_flight(psn)) else { continue };
            let due = sent.due(seq.rto);
            if due <= now {
                any |= self.hold_lost(seq, psn);
            } else {
                seq.deadline = seq.deadline.min(due);
            }
        }
        any
    }
}

impl Sent {
    /// When it is held for lost.
    fn due(&self, rto: Span) -> Time {
        let doubled = rto * (1 << (self.copies - 1).min(16));
        self.at + doubled.min(TIMEOUT_MOST.max(rto))
    }
}

/// Payload of a packet.
fn size(seq: &SendSequence, psn: u32) -> u64 {
    seq.stream.payload_until(psn + 1) - seq.stream.payload_until(psn)
}

impl Requester {
    /// Returns whether no packet with AckReq is in flight: the window shrank below the bytes in flight, or such a packet
    /// was trimmed. One more packet is then sent, with AckReq.
    fn awaits_no_ack(&self, seq: &SendSequence) -> bool {
        let asked = self.asked > seq.una && self.is_in_flight(self.asked - 1);
        !asked && self.in_flight_bytes(seq) > 0
    }

    fn is_in_flight(&self, psn: u32) -> bool {
        !self.received.contains(psn) && !self.lost.contains(&psn)
    }

    /// The receiver has all packets below `expected`.
    fn advance(&mut self, seq: &mut SendSequence, expected: u32) {
        let una = seq.una;
        if self.absent_bytes > 0 {
            let absent = (una..expected.min(seq.next)).filter(|psn| !self.is_in_flight(*psn));
            self.absent_bytes -= absent.map(|psn| size(seq, psn)).sum::<u64>();
        }
        if seq.acknowledge(expected) {
            self.received.forget(una, seq.una);
            self.lost = self.lost.split_off(&seq.una);
            self.sent.forget_before(seq.una);
        }
    }

    /// The receiver has a packet.
    fn mark(&mut self, seq: &SendSequence, psn: u32) {
        if (seq.una + 1..seq.next).contains(&psn) && self.received.insert(seq.una, psn) && !self.lost.remove(&psn) {
            self.absent_bytes += size(seq, psn);
        }
    }

    /// A packet is to be sent again. Returns whether it was in flight.
    fn hold_lost(&mut self, seq: &SendSequence, psn: u32) -> bool {
        let was_in_flight = (seq.una..seq.next).contains(&psn) && self.is_in_flight(psn);
        if was_in_flight {
            self.lost.insert(psn);
            self.absent_bytes += size(seq, psn);
        }
        was_in_flight
    }

    /// SLEEK: with a window of packets received beyond the first one missing, what is missing is lost. Returns whether
    /// that was found now.
    fn counts_on_losses(&mut self, seq: &SendSequence) -> bool {
        let mtu_bytes = u64::from(seq.stream.mtu_bytes);
        let window = seq.window_bytes.min(self.max_window);
        if self.sleek_end.is_some_and(|end| seq.una >= end) {
            self.sleek_end = None;
        }
        let begins = self.sleek_end.is_none() && {
            let threshold = (window + window / 2).min(self.max_window).max(FEWEST_PACKETS * mtu_bytes);
            u64::from(self.received.count()) >= threshold / mtu_bytes
        };
        if begins {
            self.sleek_end = Some(seq.next);
        }
        if let Some(end) = self.sleek_end {
            let until = end.min(seq.una.saturating_add((window / mtu_bytes).max(1) as u32));
            for psn in seq.una..until {
                if self.sent.get(psn).is_some_and(|sent| sent.copies == 1) {
                    self.hold_lost(seq, psn);
                }
            }
        }
        begins
    }
}

/// Boxed: few flows have one, and every receiver has room for it.
#[derive(Debug)]
pub(super) struct Responder(Box<Reports>);

#[derive(Debug)]
struct Reports {
    kept: ReceivedBitmap,
    /// Payload from one ACK to the next.
    ack_bytes: u32,
    /// Payload that arrived since the last ACK.
    waiting_bytes: u32,
    /// The first packet has arrived.
    began: bool,
    /// A packet with AckReq arrived while another was missing.
    requested: bool,
}

impl ResponderRules for Responder {
    fn new(format: &Format, host: &HostSettings) -> Option<Responder> {
        let Recovery::Sack(settings) = host.recovery else { return None };
        let reports = Reports {
            kept: ReceivedBitmap::default(),
            ack_bytes: settings.ack_bytes,
            waiting_bytes: 0,
            began: false,
            requested: false,
        };
        (format.transport == Transport::Roce).then(|| Responder(Box::new(reports)))
    }

    /// Packets share ACKs.
    fn needs_slow_path(&self) -> bool {
        true
    }

    fn on_data(&mut self, seq: &mut ReceiveSequence, _now: Time, data: &Arrival) -> Taken {
        let Responder(state) = self;
        let (expected, missing) = (seq.expected, !state.kept.is_empty());
        let taken = seq.take(&mut state.kept, data.psn);
        state.waiting_bytes += taken.payload_bytes;
        let closes = missing && seq.expected > expected;
        let marked = data.echo.ecn == Ecn::Ce;
        let at_once = !taken.kept
            || !state.began
            || marked
            || data.requests_ack
            || state.waiting_bytes >= state.ack_bytes
            || (closes && state.requested);
        state.began = true;
        state.requested = (state.requested || data.requests_ack) && !state.kept.is_empty();
        let answer = at_once.then(|| state.answer(seq, data.psn, data.echo));
        Taken { answer, ..taken }
    }

    /// A packet arrived without its payload: its sender resends it at once.
    fn on_trimmed(&mut self, seq: &ReceiveSequence, psn: u32, echo: Echo) -> Option<Answer> {
        let Responder(state) = self;
        if psn < seq.expected || state.kept.contains(psn) {
            return Some(state.answer(seq, psn, echo));
        }
        let answer = state.answer(seq, psn, echo);
        let received = answer.ack.selective.map_or(0, |selective| selective.received);
        let ack = Ack { nak: true, selective: Some(Selective { psn, received }), ..answer.ack };
        Some(Answer { ack, ..answer })
    }

    fn kept(&self) -> Option<u32> {
        Some(self.0.kept.count())
    }
}

impl Reports {
    fn answer(&mut self, seq: &ReceiveSequence, psn: u32, echo: Echo) -> Answer {
        self.waiting_bytes = 0;
        let mut answer = Answer::new(seq.expected, false, echo);
        if !self.kept.is_empty() {
            let received = self.kept.word_from(Selective::first(seq.expected, psn));
            answer.ack.selective = Some(Selective { psn, received });
        }
        answer
    }
}
