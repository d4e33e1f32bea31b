//! Selective acknowledgements as in Ultra Ethernet: packets are resent one by one, and reordering alone resends none.
//!
//! The receiver keeps packets in any order and reports a cumulative number, the packet that caused the answer and a
//! bitmap of 64 packets. The sender resends a packet that a switch trimmed, one whose own timer ran out, and what is
//! missing once so many packets arrived beyond it that they cannot be late (SLEEK). Rules are those of the UEC
//! specification 1.0 (3.5, 3.6) as its public simulator has them. Assumptions: headers are those of RoCEv2, a sender
//! of a scheme without a window counts with one and a half bandwidth-delay products, and there are no probes.

use super::{
    Ack, Answer, Arrival, Conditions, Echo, Outgoing, Progress, ReceiveSequence, ReceivedBitmap, RequesterRules,
    ResponderRules, Selective, SendSequence, Taken, TimedOut,
};
use crate::contract::packet::Ecn;
use crate::contract::scheme::{Format, Loss, Transport};
use crate::network::plan::{HostSettings, Recovery, Sack};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
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
    /// When it is held for lost.
    due: Time,
    /// Payload.
    bytes: u32,
    /// Copies that were sent.
    copies: u8,
    state: State,
}

/// What a sender knows of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    InFlight,
    /// The receiver has it.
    Received,
    /// To be sent again.
    Lost,
}

#[derive(Debug)]
pub(super) struct Requester {
    sent: Numbered<Sent>,
    in_flight_bytes: u64,
    /// Packets beyond `una` that the receiver has.
    received: u32,
    /// Packets to send again, and some that were received since.
    lost: BinaryHeap<Reverse<u32>>,
    /// No packet below was sent once only and is in flight. First copies leave in order, and so do their timers run out.
    first_copies: u32,
    /// Timers of later copies, and some that do not count any more.
    later_copies: BinaryHeap<Reverse<(Time, u32)>>,
    sleek: Option<Sleek>,
    /// PSN after the last packet that was sent with AckReq.
    asked: u32,
    max_window: u64,
    settings: Sack,
}

/// Recovery by count.
#[derive(Clone, Copy, Debug)]
struct Sleek {
    /// PSN after what was sent when it began: it lasts until all of that is acknowledged.
    end: u32,
    /// Packets below are held for lost already, if they are missing.
    next: u32,
}

/// Out of line: go-back-N, which most flows have, does not pay for them.
impl RequesterRules for Requester {
    fn new(conditions: &Conditions<'_>) -> Option<Requester> {
        let Recovery::Sack(settings) = conditions.recovery() else { return None };
        Some(Requester {
            sent: Numbered::default(),
            in_flight_bytes: 0,
            received: 0,
            lost: BinaryHeap::new(),
            first_copies: 0,
            later_copies: BinaryHeap::new(),
            sleek: None,
            asked: 0,
            max_window: conditions.max_bdp_bytes + conditions.max_bdp_bytes / 2,
            settings,
        })
    }

    fn in_flight_bytes(&self, _seq: &SendSequence) -> u64 {
        self.in_flight_bytes
    }

    #[inline(never)]
    fn retransmission(&self, seq: &SendSequence) -> Option<u32> {
        self.lost.peek().map(|Reverse(psn)| *psn).filter(|_| !seq.stranded)
    }

    #[inline(never)]
    fn may_send(&self, seq: &SendSequence) -> bool {
        let resends = !self.lost.is_empty() && !seq.stranded;
        let in_range = resends || seq.next - seq.una < RANGE_MOST;
        let within = seq.is_within_window(self.in_flight_bytes);
        in_range && (within || (resends && self.sleek.is_some()) || self.awaits_no_ack(seq))
    }

    #[inline(never)]
    fn next(&mut self, seq: &mut SendSequence, now: Time) -> Outgoing {
        let (psn, copies) = match self.retransmission(seq) {
            Some(psn) => {
                self.lost.pop();
                (psn, self.sent.get(psn).map_or(1, |sent| sent.copies.saturating_add(1)))
            }
            None => {
                seq.next += 1;
                (seq.next - 1, 1)
            }
        };
        let bytes = seq.payload_of(psn) as u32;
        let due = now + time_out(seq.rto, copies);
        self.sent.set(psn, Sent { due, bytes, copies, state: State::InFlight });
        self.in_flight_bytes += u64::from(bytes);
        if copies > 1 {
            self.later_copies.push(Reverse((due, psn)));
            self.drop_received();
        }
        seq.deadline = seq.deadline.min(due);
        let outgoing = seq.send(psn, |_| true);
        let room = seq.window_bytes.saturating_sub(self.in_flight_bytes);
        let waits = room < u64::from(seq.stream.mtu_bytes) || seq.window_bytes < u64::from(self.settings.ack_bytes);
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
        let mut bytes = self.advance(seq, ack.expected);
        let (mut lost, mut lost_bytes) = (None, 0);
        if let Some(Selective { psn, received }) = ack.selective {
            let (first, mut bits) = (Selective::first(ack.expected, psn), received);
            while bits != 0 {
                bytes += self.mark(seq, first + bits.trailing_zeros());
                bits &= bits - 1;
            }
            if ack.nak {
                lost_bytes = self.hold_lost(seq, psn);
                lost = (lost_bytes > 0).then_some(Loss::Trimmed);
            } else {
                bytes += self.mark(seq, psn);
            }
        }
        // With nothing received out of order no packet can be counted as lost.
        if self.received > 0 || self.sleek.is_some() {
            let counted = self.count_losses(seq);
            if counted > 0 {
                (lost, lost_bytes) = (lost.or(Some(Loss::Nak)), lost_bytes + counted);
            }
        }
        if !self.lost.is_empty() {
            self.drop_received();
        }
        if seq.una == seq.next {
            seq.deadline = Time::NEVER;
        }
        Progress { bytes, lost, lost_bytes, ..seq.progress(before, false) }
    }

    /// Every packet has a timer of its own; the deadline is not later than the first of them.
    #[inline(never)]
    fn on_timeout(&mut self, seq: &mut SendSequence, now: Time) -> Option<TimedOut> {
        let first = self.first_due(seq);
        let lost =
            first.filter(|(due, _)| *due <= now).map(|(_, psn)| TimedOut { psn, bytes: self.hold_lost(seq, psn) });
        let next = if lost.is_some() { self.first_due(seq) } else { first };
        seq.deadline = next.map_or(Time::NEVER, |(due, _)| due);
        lost
    }
}

/// How long a copy of a packet may be on its way.
fn time_out(rto: Span, copies: u8) -> Span {
    let doubled = rto * (1 << (copies - 1).min(16));
    doubled.min(TIMEOUT_MOST.max(rto))
}

impl Requester {
    /// Returns whether no packet with AckReq is in flight: the window shrank below the bytes in flight, or such a packet
    /// was trimmed. One more packet is then sent, with AckReq.
    fn awaits_no_ack(&self, seq: &SendSequence) -> bool {
        let asked = self.asked > seq.una && self.is_in_flight(self.asked - 1);
        !asked && self.in_flight_bytes > 0
    }

    fn is_in_flight(&self, psn: u32) -> bool {
        self.sent.get(psn).is_some_and(|sent| sent.state == State::InFlight)
    }

    /// Changes what is known of a packet. Returns its payload, and what was known before.
    fn change(&mut self, psn: u32, state: State) -> Option<(u64, State)> {
        let sent = self.sent.get(psn)?;
        let bytes = u64::from(sent.bytes);
        if sent.state == State::InFlight {
            self.in_flight_bytes -= bytes;
        }
        self.sent.set(psn, Sent { state, ..sent });
        Some((bytes, sent.state))
    }

    /// The receiver has all packets below `expected`. Returns the payload that it was not known to have.
    fn advance(&mut self, seq: &mut SendSequence, expected: u32) -> u64 {
        let una = seq.una;
        if !seq.acknowledge(expected) {
            return 0;
        }
        let mut bytes = 0;
        for psn in una..expected {
            let Some(Sent { bytes: new, state, .. }) = self.sent.get(psn) else { continue };
            let new = u64::from(new);
            match state {
                State::Received => self.received -= 1,
                State::InFlight => (bytes, self.in_flight_bytes) = (bytes + new, self.in_flight_bytes - new),
                State::Lost => bytes += new,
            }
        }
        self.sent.forget_before(seq.una);
        bytes
    }

    /// The receiver has a packet. Returns its payload if that was not known.
    fn mark(&mut self, seq: &SendSequence, psn: u32) -> u64 {
        if psn <= seq.una {
            return 0;
        }
        match self.change(psn, State::Received) {
            Some((bytes, before)) if before != State::Received => {
                self.received += 1;
                bytes
            }
            _ => 0,
        }
    }

    /// A packet is to be sent again. Returns its payload if it was in flight.
    fn hold_lost(&mut self, seq: &SendSequence, psn: u32) -> u64 {
        if psn < seq.una || !self.is_in_flight(psn) {
            return 0;
        }
        self.lost.push(Reverse(psn));
        self.change(psn, State::Lost).map_or(0, |(bytes, _)| bytes)
    }

    /// Keeps the first packet to send again one that is missing.
    fn drop_received(&mut self) {
        while let Some(Reverse(psn)) = self.lost.peek()
            && self.sent.get(*psn).is_none_or(|sent| sent.state != State::Lost)
        {
            self.lost.pop();
        }
    }

    /// The timer that runs out first, and its packet.
    fn first_due(&mut self, seq: &SendSequence) -> Option<(Time, u32)> {
        self.first_copies = self.first_copies.max(seq.una);
        let first_copy = loop {
            let Some(sent) = self.sent.get(self.first_copies) else { break None };
            if sent.copies == 1 && sent.state == State::InFlight {
                break Some((sent.due, self.first_copies));
            }
            self.first_copies += 1;
        };
        while let Some(Reverse((due, psn))) = self.later_copies.peek()
            && self.sent.get(*psn).is_none_or(|sent| sent.due != *due || sent.state != State::InFlight)
        {
            self.later_copies.pop();
        }
        let later_copy = self.later_copies.peek().map(|Reverse(first)| *first);
        first_copy.into_iter().chain(later_copy).min()
    }

    /// SLEEK: with a window of packets received beyond the first one missing, what is missing and was sent once is lost.
    /// Returns the payload that was found lost now.
    fn count_losses(&mut self, seq: &SendSequence) -> u64 {
        let mtu_bytes = u64::from(seq.stream.mtu_bytes);
        let window = seq.window_bytes.min(self.max_window);
        if self.sleek.is_some_and(|sleek| seq.una >= sleek.end) {
            self.sleek = None;
        }
        if self.sleek.is_none() && self.settings.sleek {
            let threshold = (window + window / 2).min(self.max_window).max(FEWEST_PACKETS * mtu_bytes);
            let begins = u64::from(self.received) >= threshold / mtu_bytes;
            self.sleek = begins.then_some(Sleek { end: seq.next, next: seq.una });
        }
        let Some(Sleek { end, next }) = self.sleek else { return 0 };
        let until = end.min(seq.una.saturating_add((window / mtu_bytes).max(1) as u32));
        let mut bytes = 0;
        for psn in next.max(seq.una)..until {
            if self.sent.get(psn).is_some_and(|sent| sent.copies == 1) {
                bytes += self.hold_lost(seq, psn);
            }
        }
        self.sleek = Some(Sleek { end, next: next.max(until) });
        bytes
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
    /// Payload that arrived since the last ACK that covered the newest packet.
    waiting_bytes: u32,
    /// Highest PSN that arrived.
    newest: u32,
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
            newest: 0,
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
        state.newest = state.newest.max(data.psn);
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
    /// An ACK whose bits end before the newest packet, since it answers one that was resent, leaves that one to be
    /// reported by the next: its sender would resend it.
    fn answer(&mut self, seq: &ReceiveSequence, psn: u32, echo: Echo) -> Answer {
        let first = Selective::first(seq.expected, psn);
        if self.newest < first + u64::BITS {
            self.waiting_bytes = 0;
        }
        let mut answer = Answer::new(seq.expected, false, echo);
        if !self.kept.is_empty() {
            let received = self.kept.word_from(first);
            answer.ack.selective = Some(Selective { psn, received });
        }
        answer
    }
}
