//! TCP: the reaction point finds losses and names what is sent again; a receiver keeps packets out of order and delays
//! ACKs (RFC 5681, 4.2).
//!
//! Sequence numbers are packet numbers, as everywhere in the fabric. The responder also serves RoCE flows whose packets
//! take several paths ([`Format::reorder`]); they have AckReq.

use super::{
    Ack, Answer, Arrival, Conditions, Echo, Outgoing, Progress, ReceiveSequence, ReceivedBitmap, RequesterRules,
    ResponderRules, SendSequence, Taken, TimedOut, ack_every,
};
use crate::contract::packet::Ecn;
use crate::contract::scheme::{Format, Resend, Transport};
use crate::network::plan::HostSettings;
use xoff_engine::{Span, Time};

#[derive(Debug)]
pub(super) struct Requester {
    /// Packet to send again before anything else.
    retransmit: Option<u32>,
}

impl RequesterRules for Requester {
    fn new(conditions: &Conditions<'_>) -> Option<Requester> {
        (conditions.format.transport == Transport::Tcp).then_some(Requester { retransmit: None })
    }

    fn headers(&self) -> Transport {
        Transport::Tcp
    }

    fn asks_reaction_point(&self) -> bool {
        true
    }

    fn retransmission(&self, seq: &SendSequence) -> Option<u32> {
        self.retransmit.filter(|_| !seq.stranded)
    }

    fn may_send(&self, seq: &SendSequence) -> bool {
        seq.window_is_open() || self.retransmission(seq).is_some()
    }

    fn next(&mut self, seq: &mut SendSequence, _now: Time) -> Outgoing {
        let psn = self.retransmit.take().unwrap_or_else(|| {
            seq.next += 1;
            seq.next - 1
        });
        seq.send(psn, SendSequence::window_is_open)
    }

    fn on_ack(&mut self, seq: &mut SendSequence, _now: Time, ack: &Ack) -> Progress {
        let before = seq.stream.payload_until(seq.una);
        let duplicate = ack.expected == seq.una && seq.una < seq.highest;
        if seq.acknowledge(ack.expected) {
            // What was to be sent again has arrived after all.
            self.retransmit = None;
        }
        seq.progress(before, duplicate)
    }

    /// The reaction point has timers of its own.
    fn on_timeout(&mut self, _seq: &mut SendSequence, _now: Time) -> Option<TimedOut> {
        None
    }

    fn recover(&mut self, seq: &mut SendSequence, resend: Resend) -> bool {
        match resend {
            Resend::Nothing => false,
            Resend::Oldest => {
                self.retransmit = (seq.una < seq.highest).then_some(seq.una);
                self.retransmit.is_some()
            }
            Resend::All => {
                seq.next = seq.una;
                self.retransmit = None;
                true
            }
        }
    }
}

/// Boxed: few flows have one, and every receiver has room for it.
#[derive(Debug)]
pub(super) struct Responder(Box<Delayed>);

#[derive(Debug)]
struct Delayed {
    kept: ReceivedBitmap,
    /// AckReq counts.
    heeds_requests: bool,
    ack_every: u32,
    ack_timeout: Span,
    /// Packets in order since the last ACK.
    waiting: u32,
    /// Echo of the first of them.
    first: Echo,
    /// When they are acknowledged at the latest.
    ack_at: Time,
}

impl ResponderRules for Responder {
    fn new(format: &Format, host: &HostSettings) -> Option<Responder> {
        let tcp = format.transport == Transport::Tcp;
        (tcp || format.reorder).then(|| {
            Responder(Box::new(Delayed {
                kept: ReceivedBitmap::default(),
                heeds_requests: !tcp,
                ack_every: ack_every(format, host).into(),
                ack_timeout: format.ack_timeout,
                waiting: 0,
                first: Echo { sent_at: Time::ZERO, ecn: Ecn::NotCapable, resent: false },
                ack_at: Time::NEVER,
            }))
        })
    }

    fn needs_slow_path(&self) -> bool {
        !self.0.kept.is_empty() || self.0.ack_every > 1
    }

    fn on_data(&mut self, seq: &mut ReceiveSequence, now: Time, data: &Arrival) -> Taken {
        let Responder(state) = self;
        // An ACK acknowledges packets of one mark only, so that the sender counts marks exactly.
        let other_mark = state.waiting > 0 && (state.first.ecn == Ecn::Ce) != (data.echo.ecn == Ecn::Ce);
        let earlier = other_mark.then(|| state.acknowledge(seq));
        let missing = !state.kept.is_empty();
        let is_next = data.psn == seq.expected;
        let taken = seq.take(&mut state.kept, data.psn);
        // At once whenever something was or is missing, so that the sender learns of it.
        let may_wait = is_next && !missing && !taken.completes;
        let answer = state.answer(seq, now, data, may_wait);
        Taken { earlier, answer, ..taken }
    }

    fn deadline(&self) -> Time {
        if self.0.waiting == 0 { Time::NEVER } else { self.0.ack_at }
    }

    fn on_deadline(&mut self, seq: &ReceiveSequence) -> Option<Answer> {
        (self.0.waiting > 0).then(|| self.0.acknowledge(seq))
    }

    fn kept(&self) -> Option<u32> {
        Some(self.0.kept.count())
    }
}

impl Delayed {
    /// Acknowledges what waits, with the mark that it came with.
    fn acknowledge(&mut self, seq: &ReceiveSequence) -> Answer {
        self.waiting = 0;
        seq.answer(false, self.first)
    }

    /// Returns the ACK of a packet, unless it may wait for more packets.
    fn answer(&mut self, seq: &ReceiveSequence, now: Time, data: &Arrival, may_wait: bool) -> Option<Answer> {
        let waited = self.waiting > 0;
        let requested = data.requests_ack && self.heeds_requests;
        if may_wait && !requested && self.waiting + 1 < self.ack_every {
            if !waited {
                self.first = data.echo;
                self.ack_at = now + self.ack_timeout;
            }
            self.waiting += 1;
            return None;
        }
        self.waiting = 0;
        let mut echo = data.echo;
        if waited {
            echo.sent_at = self.first.sent_at;
            echo.resent |= self.first.resent;
        }
        Some(seq.answer(false, echo))
    }
}
