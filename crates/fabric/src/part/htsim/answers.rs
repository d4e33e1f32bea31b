//! What a sender does with ACKs and NACKs.

use super::{Frame, Part, Report};
use crate::contract::forwarding::{Loss, PathChoice};
use crate::contract::packet::Ecn;
use crate::contract::scheme::{OnWire, Scheme};
use crate::flow::pacing::SendState;
use xoff_engine::Span;

impl<S: Scheme> Part<S> {
    pub(super) fn htsim_ack(&mut self, ack: &Frame) {
        let (now, flow) = (self.now, ack.flow);
        let sender = self.htsim_sender(flow);
        if sender.over {
            return self.htsim_late_ack(ack);
        }
        let bytes = ack.report.received.saturating_sub(sender.reported);
        sender.reported += bytes;
        sender.in_flight -= bytes as i64;
        let rtt = sender.round_trip(now, ack);
        self.htsim_acknowledged(flow, &ack.report);
        self.htsim_tell_path(ack, rtt.span());
        self.htsim_tell(flow, &OnWire::Acked { bytes, rtt, marked: ack.marked });
        self.htsim_sleek(flow, ack);
        let sender = self.htsim_sender(flow);
        sender.answered = true;
        if ack.report.expected.saturating_sub(sender.requests) >= sender.packets {
            return self.htsim_finish(flow);
        }
        self.htsim_try(flow);
    }

    /// The path choice receives the path of what an ACK answers.
    fn htsim_tell_path(&mut self, ack: &Frame, rtt: Span) {
        let now = self.now;
        let entropies = &mut self.htsim_sender(ack.flow).entropies;
        let ecn = if ack.marked { Ecn::Ce } else { Ecn::NotCapable };
        entropies.machine.on_ack(now, ack.entropy & !entropies.upper, ecn, rtt);
    }

    fn htsim_finish(&mut self, flow: u32) {
        let window = self.htsim_window(flow);
        let sender = self.htsim_sender(flow);
        (sender.over, sender.last_window) = (true, window);
        sender.timers.stop();
        let id = sender.id;
        self.on_message_end(id, SendState::Idle);
    }

    /// An ACK of a flow that has ended. One that was overtaken knows of less than has arrived, and has the flow probe
    /// for the rest.
    fn htsim_late_ack(&mut self, ack: &Frame) {
        self.htsim_tell_path(ack, Span::ZERO);
        self.htsim_set_probe(ack.flow, ack.report.expected);
    }

    /// Packets have arrived.
    fn htsim_acknowledged(&mut self, flow: u32, report: &Report) {
        while let Some(bytes) = self.htsim_sender(flow).take_resend_below(report.expected) {
            self.htsim_not_lost(flow, bytes);
        }
        while let Some(psn) = self.htsim_sender(flow).first_sent(0, report.expected) {
            self.htsim_arrived(flow, psn);
        }
        let mut bits = report.bits;
        while bits != 0 {
            self.htsim_arrived(flow, report.first + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }

    /// A packet that was held for lost has arrived, and need not be sent again. The receiver's count takes its bytes out of
    /// what is in flight, and so had its loss.
    fn htsim_not_lost(&mut self, flow: u32, bytes: u16) {
        self.htsim_sender(flow).in_flight += i64::from(bytes);
        self.htsim_tell(flow, &OnWire::Sent(bytes.into()));
    }

    fn htsim_arrived(&mut self, flow: u32, psn: u32) {
        let sender = self.htsim_sender(flow);
        let Some(sent) = sender.forget(psn) else {
            if let Some(bytes) = sender.resend.remove(&psn) {
                self.htsim_not_lost(flow, bytes);
            }
            return;
        };
        if sender.timers.is_for(sent.at) {
            self.htsim_rearm(flow);
        }
    }

    /// A packet was trimmed: it is sent again first, and its path choice is called after that.
    pub(super) fn htsim_nack(&mut self, nack: &Frame) {
        let (now, flow) = (self.now, nack.flow);
        let sender = self.htsim_sender(flow);
        let Some(&sent) = sender.sent.get(&nack.psn).filter(|_| !sender.over) else { return };
        sender.in_flight -= i64::from(sent.bytes);
        self.htsim_tell(flow, &OnWire::Trimmed { bytes: sent.bytes.into(), rtt: now - sent.at });
        let sender = self.htsim_sender(flow);
        sender.forget(nack.psn);
        sender.resend.insert(nack.psn, sent.bytes);
        sender.answered = true;
        self.htsim_try(flow);
        if self.htsim_sender(flow).timers.is_for(sent.at) {
            self.htsim_rearm(flow);
        }
        let sender = self.htsim_sender(flow);
        let path = nack.entropy & !sender.entropies.upper;
        match (nack.last_hop, nack.marked) {
            (false, _) => sender.entropies.machine.on_loss(now, path, Loss::Trimmed),
            (true, true) => sender.entropies.machine.on_ack(now, path, Ecn::Ce, Span::ZERO),
            (true, false) => sender.entropies.machine.on_ack(now, path, Ecn::NotCapable, Span::ZERO),
        }
        self.htsim_try(flow);
    }
}
