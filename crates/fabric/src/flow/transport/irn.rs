//! IRN: packets are resent one by one, and at most one bandwidth-delay product is outstanding (Mittal et al.,
//! SIGCOMM 2018; rules of recovery as in the authors' hardware modules).
//!
//! The receiver keeps packets out of order and answers every packet: with an ACK, or with a NACK that carries the
//! number of a packet beyond the first one missing. The sender resends the first one missing, then every packet below
//! the highest acknowledged one that is missing too, each once per recovery.
//!
//! Two departures. A sender that has nothing else to send looks for the next missing packet at once; the authors' NIC
//! does at its next free slot. In a lossless class, where the paper has no timer, the timer of go-back-N runs.

use super::received_bitmap::KEPT_MOST;
use super::{
    Ack, Answer, Arrival, Conditions, Outgoing, Progress, ReceiveSequence, ReceivedBitmap, RequesterRules,
    ResponderRules, Selective, SendSequence, Taken, TimedOut,
};
use crate::contract::scheme::{Format, Loss, Transport};
use crate::network::plan::{HostSettings, Recovery};
use xoff_engine::{Span, Time};

/// With more packets outstanding, the long time-out counts.
const FEW_PACKETS: u32 = 3;

#[derive(Debug)]
pub(super) struct Requester {
    /// Packets beyond `una` that the receiver has.
    received: ReceivedBitmap,
    /// Packet to resend, or resent last.
    resend: u32,
    /// Packet `resend` is to be sent.
    pending: bool,
    /// The first packet missing was resent, and what was outstanding then is not acknowledged.
    recovering: bool,
    /// PSN after what was outstanding at the last resend.
    recovery_end: u32,
    /// The next missing packet is to be looked for.
    seeks: bool,
    /// Packets that may be outstanding.
    cap: u32,
    rto_low: Span,
    rto_high: Span,
    /// The timer has passed the short time-out and waits for the long one.
    prolonged: bool,
}

/// Out of line: go-back-N, which most flows have, does not pay for them.
impl RequesterRules for Requester {
    fn new(conditions: &Conditions<'_>) -> Option<Requester> {
        let Recovery::Irn(settings) = conditions.recovery() else { return None };
        let mtu_bytes = u64::from(conditions.sender.mtu_bytes);
        let cap = match settings.window_bytes {
            Some(bytes) => bytes.div_ceil(mtu_bytes),
            None => conditions.max_bdp_bytes.div_ceil(u64::from(conditions.full_wire_bytes)),
        };
        let [rto_low, rto_high] = conditions.irn_timeouts(&settings);
        Some(Requester {
            received: ReceivedBitmap::default(),
            resend: 0,
            pending: false,
            recovering: false,
            recovery_end: 0,
            seeks: false,
            cap: cap.clamp(1, KEPT_MOST.into()) as u32,
            rto_low,
            rto_high,
            prolonged: false,
        })
    }

    #[inline(never)]
    fn retransmission(&self, seq: &SendSequence) -> Option<u32> {
        (self.pending && self.resend >= seq.una && !seq.stranded).then_some(self.resend)
    }

    #[inline(never)]
    fn may_send(&self, seq: &SendSequence) -> bool {
        self.may_send_new(seq) || self.retransmission(seq).is_some()
    }

    #[inline(never)]
    fn next(&mut self, seq: &mut SendSequence, now: Time) -> Outgoing {
        let psn = match self.retransmission(seq) {
            Some(psn) => {
                self.recovering |= psn == seq.una;
                self.recovery_end = seq.next;
                (self.pending, self.seeks) = (false, true);
                self.restart_timer(seq, now);
                psn
            }
            None => {
                self.seeks &= !self.pending;
                self.pending = false;
                seq.next += 1;
                if seq.deadline == Time::NEVER {
                    self.restart_timer(seq, now);
                }
                seq.next - 1
            }
        };
        let outgoing = seq.send(psn, |_| true);
        self.seek(seq);
        // Every packet is answered.
        Outgoing { requests_ack: true, ..outgoing }
    }

    #[inline(never)]
    fn on_ack(&mut self, seq: &mut SendSequence, now: Time, ack: &Ack) -> Progress {
        let (before, una) = (seq.stream.payload_until(seq.una), seq.una);
        let moves = seq.acknowledge(ack.expected);
        self.received.forget(una, seq.una);
        if let Some(Selective { psn, .. }) = ack.selective.filter(|_| ack.nak)
            && (seq.una + 1..seq.highest).contains(&psn)
        {
            self.note_received(seq.una, psn);
        }
        if ack.expected >= self.recovery_end {
            (self.recovering, self.seeks, self.pending) = (false, false, false);
        }
        let mut lost = None;
        if moves {
            // A partial ACK: the first packet missing is another one.
            if self.recovering && (self.resend < seq.una || (self.resend == seq.una && self.pending)) {
                self.resend_first(seq);
            }
        } else if !self.recovering && ack.nak && seq.una < seq.next {
            lost = (!self.pending).then_some(Loss::Nak);
            self.resend_first(seq);
        }
        self.restart_timer(seq, now);
        if seq.next >= seq.limit() || !self.may_send_new(seq) {
            self.seek(seq);
        }
        Progress { lost, ..seq.progress(before, false) }
    }

    #[inline(never)]
    fn on_timeout(&mut self, seq: &mut SendSequence, _now: Time) -> Option<TimedOut> {
        if !self.prolonged && seq.next - seq.una > FEW_PACKETS && self.rto_high > self.rto_low {
            self.prolonged = true;
            seq.deadline += self.rto_high - self.rto_low;
            return None;
        }
        // The packet that is resent starts the timer.
        seq.deadline = Time::NEVER;
        if seq.una < seq.next {
            self.resend_first(seq);
        }
        Some(TimedOut { psn: seq.una, bytes: seq.payload_of(seq.una) })
    }
}

impl Requester {
    fn may_send_new(&self, seq: &SendSequence) -> bool {
        seq.next - seq.una < self.cap && seq.window_is_open()
    }

    fn restart_timer(&mut self, seq: &mut SendSequence, now: Time) {
        self.prolonged = false;
        seq.deadline = if seq.una == seq.next { Time::NEVER } else { now + self.rto_low };
    }

    fn resend_first(&mut self, seq: &SendSequence) {
        self.resend = seq.una;
        (self.pending, self.seeks) = (true, false);
    }

    /// The receiver has a packet beyond the first one missing.
    fn note_received(&mut self, una: u32, psn: u32) {
        self.received.insert(una, psn);
        if !self.recovering {
            return;
        }
        if self.pending && self.resend == psn {
            (self.pending, self.seeks) = (false, true);
        } else if !self.pending && self.received.highest() == Some(psn) {
            self.seeks = true;
        }
    }

    /// Finds the next packet to resend, if it is to be looked for.
    fn seek(&mut self, seq: &SendSequence) {
        if std::mem::take(&mut self.seeks) {
            let from = if self.resend >= seq.una { self.resend + 1 } else { seq.una };
            if let Some(missing) = self.received.first_missing(from) {
                (self.resend, self.pending) = (missing, true);
            }
        }
    }
}

/// Boxed: few flows have one, and every receiver has room for it.
#[derive(Debug)]
pub(super) struct Responder(Box<ReceivedBitmap>);

impl ResponderRules for Responder {
    fn new(format: &Format, host: &HostSettings) -> Option<Responder> {
        let irn = matches!(host.recovery, Recovery::Irn(_)) && format.transport == Transport::Roce;
        irn.then(|| Responder(Box::default()))
    }

    fn needs_slow_path(&self) -> bool {
        !self.0.is_empty()
    }

    fn on_data(&mut self, seq: &mut ReceiveSequence, _now: Time, data: &Arrival) -> Taken {
        let taken = seq.take(&mut self.0, data.psn);
        let ahead = data.psn > seq.expected;
        let mut answer = Answer::new(seq.expected, ahead, data.echo);
        answer.ack.selective = ahead.then_some(Selective { psn: data.psn, received: 0 });
        Taken { answer: Some(answer), ..taken }
    }

    fn kept(&self) -> Option<u32> {
        Some(self.0.count())
    }
}
