//! The receiving end of a flow: it keeps packets in any order, and says which it has.

use super::{Frame, HEADER, Report, What};
use crate::contract::scheme::Scheme;
use crate::id::ReceiverId;
use crate::part::Part;
use std::collections::BTreeSet;

/// Bytes of whole packets after which an ACK is due.
const ACK_BYTES: u32 = 16_384;
/// Packets that an ACK tells of, beside what came in order.
const REPORTED: u32 = 64;

/// Receiver of one flow.
#[derive(Default)]
pub(super) struct Receiver {
    id: Option<ReceiverId>,
    /// Data packets that have not arrived.
    missing: u32,
    expected: u32,
    ahead: BTreeSet<u32>,
    received: u64,
    unanswered_bytes: u32,
    began: bool,
    /// A packet asked for an ACK, and another is due when no packet is missing before one that came.
    asked: bool,
}

impl Receiver {
    pub fn new(id: ReceiverId, packets: u32) -> Receiver {
        Receiver { id: Some(id), missing: packets, ..Receiver::default() }
    }

    fn has(&self, psn: u32) -> bool {
        psn < self.expected || self.ahead.contains(&psn)
    }

    /// Keeps a packet that is new. Whether it was the next.
    fn keep(&mut self, psn: u32) -> bool {
        if psn != self.expected {
            self.ahead.insert(psn);
            return false;
        }
        self.expected += 1;
        while self.ahead.remove(&self.expected) {
            self.expected += 1;
        }
        true
    }

    /// Takes a new data packet; whether it is answered.
    fn take(&mut self, data: &Frame) -> bool {
        let mut answers = !self.began || data.marked || data.asks;
        // A request that is resent is data without payload, and does not count as the first.
        self.began |= data.bytes > HEADER;
        self.received += u64::from(data.bytes);
        self.unanswered_bytes += u32::from(data.bytes);
        self.asked |= data.asks;
        if self.keep(data.psn) && self.asked && self.ahead.is_empty() {
            (answers, self.asked) = (true, false);
        }
        answers || self.unanswered_bytes >= ACK_BYTES
    }

    /// First packet that an ACK tells of.
    fn first(&self, psn: u32, at_it: bool) -> u32 {
        if at_it { psn } else { (psn.saturating_sub(REPORTED - 1)).max(self.expected + 1) }
    }

    fn report(&self, first: u32) -> Report {
        let told = self.ahead.range(first..first.saturating_add(REPORTED));
        let bits = told.fold(0, |bits, psn| bits | 1 << (psn - first));
        let (expected, received, ahead) = (self.expected, self.received, self.ahead.len() as u32);
        Report { expected, first, bits, received, ahead, ..Report::default() }
    }
}

impl<S: Scheme> Part<S> {
    fn htsim_receiver(&mut self, frame: &Frame) -> &mut Receiver {
        &mut self.dialect().receivers[frame.flow as usize]
    }

    /// Answers a packet of which an ACK tells from itself on, or from before.
    fn htsim_answer(&mut self, to: &Frame, what: What, at_it: bool) {
        let receiver = self.htsim_receiver(to);
        let mut report = receiver.report(receiver.first(to.psn, at_it));
        if what == What::Ack {
            report.of_probe = to.what == What::Probe;
            report.of_request = self.dialect().slips.take() | (to.what == What::Request);
        }
        let host = self.dialect().senders[to.flow as usize].to;
        match what {
            What::Nack => self.counters.naks_sent += 1,
            _ => self.counters.acks_sent += 1,
        }
        self.htsim_control(host, Frame { what, bytes: HEADER, asks: false, report, ..*to });
    }

    pub(super) fn htsim_data(&mut self, data: &Frame) {
        let receiver = self.htsim_receiver(data);
        if receiver.has(data.psn) {
            receiver.unanswered_bytes = 0;
            self.counters.data_packets_discarded += 1;
            return self.htsim_answer(data, What::Ack, data.marked);
        }
        let answers = receiver.take(data);
        if answers {
            receiver.unanswered_bytes = 0;
        }
        self.htsim_count_received(data);
        if answers {
            self.htsim_answer(data, What::Ack, data.marked || data.asks);
        }
    }

    /// Answers a probe, which counts for nothing else.
    pub(super) fn htsim_probe(&mut self, probe: &Frame) {
        self.htsim_answer(probe, What::Ack, false);
    }

    fn htsim_count_received(&mut self, data: &Frame) {
        let now = self.now;
        let receiver = self.htsim_receiver(data);
        receiver.missing = receiver.missing.saturating_sub(u32::from(data.bytes > HEADER));
        let (id, complete) = (receiver.id, receiver.missing == 0);
        self.counters.data_packets_delivered += 1;
        self.counters.delivered_bytes += u64::from(data.bytes.saturating_sub(HEADER));
        if let Some(of) = id.and_then(|id| self.flows.receivers.get_mut(id)) {
            of.marked += u64::from(data.marked);
            if complete && of.delivered_at.is_none() {
                of.delivered_at = Some(now);
            }
        }
    }

    /// A packet came without its payload.
    pub(super) fn htsim_trimmed(&mut self, frame: &Frame) {
        match self.htsim_receiver(frame).has(frame.psn) {
            true => self.htsim_answer(&Frame { marked: false, ..*frame }, What::Ack, false),
            false => self.htsim_answer(frame, What::Nack, false),
        }
    }

    /// Answers a request to send.
    pub(super) fn htsim_request(&mut self, frame: &Frame) {
        let receiver = self.htsim_receiver(frame);
        let old = receiver.has(frame.psn);
        if old {
            receiver.unanswered_bytes = 0;
        } else if receiver.keep(frame.psn) && receiver.ahead.is_empty() {
            receiver.asked = false;
        }
        self.htsim_answer(frame, What::Ack, !old);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(psn: u32, asks: bool, marked: bool) -> Frame {
        Frame { marked, asks, ..Frame::new(0, What::Data, (psn, 4150), 0) }
    }

    /// Takes packets that neither ask nor are marked, and says which were answered.
    fn answered(receiver: &mut Receiver, packets: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut answered = Vec::new();
        for psn in packets {
            if receiver.take(&packet(psn, false, false)) {
                receiver.unanswered_bytes = 0;
                answered.push(psn);
            }
        }
        answered
    }

    #[test]
    fn the_first_packet_and_every_fourth_are_answered() {
        let mut receiver = Receiver::default();
        assert_eq!(answered(&mut receiver, 0..10), [0, 4, 8]);
        assert!(receiver.take(&packet(10, false, true)), "a mark");
        assert!(receiver.take(&packet(12, true, false)), "a request");
        receiver.unanswered_bytes = 0;
        assert_eq!(answered(&mut receiver, [14, 11]), [] as [u32; 0], "13 is missing");
        assert_eq!(answered(&mut receiver, [13]), [13], "nothing is missing any more");
    }

    #[test]
    fn acks_tell_of_64_packets() {
        let mut receiver = Receiver::default();
        answered(&mut receiver, [0, 2, 3, 70, 130]);
        assert_eq!((receiver.first(70, false), receiver.first(70, true), receiver.first(130, false)), (7, 70, 67));
        assert_eq!(receiver.first(2, false), 2);
        let Report { expected, bits, received, .. } = receiver.report(7);
        assert_eq!((expected, bits, received), (1, 1 << 63, 5 * 4150));
        assert_eq!(receiver.report(2).bits, 0b11);
    }
}
