//! Go-back-N, as RoCE has it: a receiver discards what is out of order and names the gap, a sender goes back to it.

use super::{
    Ack, Arrival, Conditions, Outgoing, Progress, ReceiveSequence, RequesterRules, ResponderRules, SendSequence, Taken,
    TimedOut,
};
use crate::contract::scheme::{Format, Loss};
use crate::network::plan::HostSettings;
use xoff_engine::{Span, Time};

#[derive(Debug)]
pub(super) struct Requester;

impl Requester {
    fn go_back(seq: &mut SendSequence) {
        seq.next = seq.una;
        seq.requested = seq.requested.min(seq.una);
        seq.deadline = Time::NEVER;
    }
}

impl RequesterRules for Requester {
    fn new(_conditions: &Conditions<'_>) -> Option<Requester> {
        Some(Requester)
    }

    /// No packet in flight may have AckReq set, if the window shrank below the bytes in flight. One more packet is then
    /// sent, with AckReq.
    #[inline]
    fn may_send(&self, seq: &SendSequence) -> bool {
        seq.window_is_open() || (seq.requested <= seq.una && seq.una < seq.next)
    }

    #[inline]
    fn next(&mut self, seq: &mut SendSequence, now: Time) -> Outgoing {
        seq.next += 1;
        if seq.deadline == Time::NEVER {
            seq.deadline = now + seq.rto;
        }
        seq.send(seq.next - 1, SendSequence::window_is_open)
    }

    #[inline]
    fn on_ack(&mut self, seq: &mut SendSequence, now: Time, ack: &Ack) -> Progress {
        let before = seq.stream.payload_until(seq.una);
        if seq.acknowledge(ack.expected) {
            // After going back nothing may be in flight; the next packet starts the timer.
            seq.deadline = if seq.una == seq.next { Time::NEVER } else { now + seq.rto };
        }
        let progress = seq.progress(before, false);
        if !ack.nak {
            return progress;
        }
        Requester::go_back(seq);
        Progress { lost: Some(Loss::Nak), ..progress }
    }

    fn on_timeout(&mut self, seq: &mut SendSequence, _now: Time) -> Option<TimedOut> {
        Requester::go_back(seq);
        Some(TimedOut { psn: seq.una, bytes: 0 })
    }
}

#[derive(Debug)]
pub(super) struct Responder {
    /// Packet that the last NAK named; `u32::MAX` before the first.
    last_nak: u32,
    nak_at: Time,
    /// Least time between two NAKs of one packet.
    nak_interval: Span,
}

impl ResponderRules for Responder {
    fn new(_format: &Format, host: &HostSettings) -> Option<Responder> {
        Some(Responder { last_nak: u32::MAX, nak_at: Time::ZERO, nak_interval: host.nak_interval })
    }

    fn needs_slow_path(&self) -> bool {
        false
    }

    /// Acknowledges a duplicate again. Discards what is ahead, and sends a NAK unless one was sent for this gap recently.
    fn on_data(&mut self, seq: &mut ReceiveSequence, now: Time, data: &Arrival) -> Taken {
        let ahead = data.psn > seq.expected;
        let recent = self.last_nak == seq.expected && now.saturating_since(self.nak_at) < self.nak_interval;
        if ahead && recent {
            return Taken::discarded(None);
        }
        if ahead {
            (self.last_nak, self.nak_at) = (seq.expected, now);
        }
        Taken::discarded(Some(seq.answer(ahead, data.echo)))
    }
}
