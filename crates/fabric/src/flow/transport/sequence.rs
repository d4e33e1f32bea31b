//! Sequence numbers of both ends, which all transports have.

use super::{Answer, Echo, Outgoing, Progress, ReceivedBitmap, Stream, Taken};
use crate::contract::scheme::Transport;
use crate::flow::ack_rule::AckRule;
use crate::flow::transport::messages::{Cut, Mark, Messages};
use xoff_engine::{Span, Time};

/// Packets sent and acknowledged.
#[derive(Debug)]
pub struct SendSequence {
    /// Next packet to send; below `highest` after going back.
    pub next: u32,
    /// Oldest unacknowledged packet.
    pub una: u32,
    /// PSN after the highest ever sent.
    pub highest: u32,
    /// PSN after the last packet sent with AckReq.
    pub(super) requested: u32,
    /// PSN after the message of the newest packet, as far as it is known: new packets below it, but for the last of them,
    /// are full and end no message.
    newest_end: u32,
    /// Packets of the whole flow; `u32::MAX` is endless.
    pub total: u32,
    /// Packets that may be sent so far (flows fed by offers or messages); `u32::MAX` otherwise.
    pub offered: u32,
    /// No route leads to the destination: nothing is sent.
    pub stranded: bool,
    /// Packets per AckReq, as configured at the host.
    ack_every: u16,
    /// Packets per AckReq with the present window ([`AckRule`]); at most `ack_every`.
    requests_every: u16,
    /// Bytes that may be in the network, as the scheme and the NIC allow.
    network_window: u64,
    /// Payload that may be unacknowledged.
    pub(super) window_bytes: u64,
    /// Retransmission time-out.
    pub(super) rto: Span,
    /// Deadline of the retransmission timer; `NEVER` while nothing is outstanding.
    pub deadline: Time,
    /// Sizes of the packets.
    pub stream: Stream,
}

impl SendSequence {
    pub(super) fn new(ack_every: u16, rto: Span, stream: Stream) -> SendSequence {
        SendSequence {
            next: 0,
            una: 0,
            highest: 0,
            requested: 0,
            newest_end: 0,
            total: stream.message_end,
            offered: u32::MAX,
            stranded: false,
            ack_every,
            requests_every: ack_every,
            network_window: u64::MAX,
            window_bytes: u64::MAX,
            rto,
            deadline: Time::NEVER,
            stream,
        }
    }

    /// PSN after the last packet that may be sent now.
    #[inline]
    pub(super) fn limit(&self) -> u32 {
        if self.stranded { 0 } else { self.total.min(self.offered) }
    }

    /// Returns whether packets are unsent or unacknowledged.
    pub fn is_unfinished(&self) -> bool {
        self.una < self.next || self.next < self.total.min(self.offered)
    }

    /// Lets whole packets of the first `bytes` be sent. A remainder waits for the next offer.
    pub fn offer(&mut self, bytes: u64) {
        self.offered = (bytes / u64::from(self.stream.mtu_bytes)).min(u64::from(u32::MAX - 1)) as u32;
    }

    /// Adds a message, which may be sent at once.
    pub fn add_message(&mut self, bytes: u64, name: u32, cut: Cut) {
        debug_assert!(self.stream.messages.is_some() || self.offered == 0, "a stream of bytes carries no messages");
        self.offered = self.stream.add_message(bytes, name, cut);
    }

    /// Payload of a packet.
    pub(super) fn payload_of(&self, psn: u32) -> u64 {
        self.stream.payload_until(psn + 1) - self.stream.payload_until(psn)
    }

    /// Returns whether a window admits one more packet over `in_flight` bytes.
    #[inline]
    pub(super) fn is_within_window(&self, in_flight: u64) -> bool {
        // A window below one packet still lets a lone packet go.
        in_flight < self.window_bytes || in_flight == 0
    }

    /// Returns whether the window admits one more packet, if all that is unacknowledged counts.
    #[inline]
    pub(super) fn window_is_open(&self) -> bool {
        let in_flight = u64::from(self.next - self.una) * u64::from(self.stream.mtu_bytes);
        self.is_within_window(in_flight)
            || (self.stream.messages.is_some() && self.unacknowledged_bytes() < self.window_bytes)
    }

    /// Payload that is sent and not acknowledged.
    #[cold]
    pub(super) fn unacknowledged_bytes(&self) -> u64 {
        self.stream.payload_until(self.next) - self.stream.payload_until(self.una)
    }

    /// Counts packet `psn`, which leaves now. AckReq is set on every n-th packet, on the last before the sender has to
    /// wait (its window is full, or it has nothing more to send), and on the last of a message.
    #[inline]
    pub(super) fn send(&mut self, psn: u32, window_is_open: impl FnOnce(&SendSequence) -> bool) -> Outgoing {
        let resent = psn < self.highest;
        let ends_message = !self.is_full(psn) && self.ends_message(psn);
        self.highest = self.highest.max(self.next);
        let requests_ack = psn + 1 >= self.requested + u32::from(self.requests_every)
            || self.next >= self.limit()
            || !window_is_open(self)
            || ends_message;
        if requests_ack {
            self.requested = psn + 1;
        }
        Outgoing { psn, resent, requests_ack }
    }

    /// Returns whether a packet that leaves now is full and ends neither a message nor the flow, as far as that is known
    /// without a look at the messages.
    #[inline]
    pub fn is_full(&self, psn: u32) -> bool {
        psn + 1 < self.stream.message_end || (psn + 1 >= self.highest && psn + 1 < self.newest_end)
    }

    #[cold]
    fn ends_message(&mut self, psn: u32) -> bool {
        let end = self.stream.end_of(psn);
        if psn + 1 >= self.highest {
            self.newest_end = end;
        }
        psn + 1 == end
    }

    /// Moves on to `expected`, if that is further. Returns whether it is.
    #[inline]
    pub(super) fn acknowledge(&mut self, expected: u32) -> bool {
        let moves = expected > self.una;
        if moves {
            self.una = expected;
            self.next = self.next.max(expected);
        }
        moves
    }

    /// What has changed since `before` bytes were acknowledged.
    #[inline]
    pub(super) fn progress(&self, before: u64, duplicate: bool) -> Progress {
        let acked_bytes = self.stream.payload_until(self.una);
        let sent_bytes = self.stream.payload_until(self.next);
        Progress { bytes: acked_bytes - before, acked_bytes, sent_bytes, duplicate, lost: None, lost_bytes: 0 }
    }

    /// Returns the name of the oldest message if it is acknowledged as a whole and was not before.
    pub fn complete_message(&mut self, keep: bool) -> Option<u32> {
        self.stream.complete_message(self.una, keep)
    }

    /// Bytes that may be in the network.
    pub fn network_window(&self) -> u64 {
        self.network_window
    }

    pub(super) fn set_window(&mut self, headers: Transport, window_bytes: u64) -> bool {
        let rule = AckRule::new(headers, self.ack_every.into(), window_bytes, self.stream.mtu_bytes);
        let wider = rule.window_bytes > self.window_bytes;
        self.network_window = window_bytes;
        // Never above `ack_every`, which fits.
        (self.requests_every, self.window_bytes) = (rule.every as u16, rule.window_bytes);
        wider
    }

    /// Sets a window that bounds all that is unacknowledged, however rarely packets set AckReq.
    pub fn set_exact_window(&mut self, window_bytes: u64) {
        (self.network_window, self.window_bytes) = (window_bytes, window_bytes);
    }
}

/// Packets received in order.
#[derive(Debug)]
pub struct ReceiveSequence {
    /// Next packet in order.
    pub expected: u32,
    /// Flow closed, packets beyond a gap kept, or ACKs that may wait: the next packet needs the transport's rules.
    pub(super) slow_path: bool,
    pub(super) closed: bool,
    /// Payload received in order.
    pub delivered_bytes: u64,
    /// Sizes of the packets.
    pub stream: Stream,
}

impl ReceiveSequence {
    pub(super) fn new(stream: Stream) -> ReceiveSequence {
        ReceiveSequence { expected: 0, slow_path: false, closed: false, delivered_bytes: 0, stream }
    }

    /// Returns whether the flow was closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Takes a packet that is next, beyond a gap or a copy of what is there; `kept` has those beyond the gap.
    pub(super) fn take(&mut self, kept: &mut ReceivedBitmap, psn: u32) -> Taken {
        let before = self.expected;
        let is_new = if psn == before {
            self.expected = kept.run_from(before + 1);
            true
        } else {
            psn > before && kept.insert(before, psn)
        };
        if !is_new {
            return Taken::discarded(None);
        }
        let payload_until = |psn| self.stream.payload_until(psn);
        let payload_bytes = (payload_until(psn + 1) - payload_until(psn)) as u32;
        let delivered_bytes = match self.expected - before {
            0 => 0,
            1 => payload_bytes.into(),
            _ => payload_until(self.expected) - payload_until(before),
        };
        let completes = self.expected >= self.stream.message_end;
        self.delivered_bytes += delivered_bytes;
        Taken { kept: true, payload_bytes, delivered_bytes, completes, earlier: None, answer: None }
    }

    pub(super) fn answer(&self, nak: bool, echo: Echo) -> Answer {
        Answer::new(self.expected, nak, echo)
    }

    /// Adds a message that begins with the next packet expected, where no other is expected.
    pub fn begin_message(&mut self, bytes: u64, name: u32) {
        let cut = Cut { mtu_bytes: self.stream.mtu_bytes, header_bytes: 0, min_frame_bytes: 0 };
        let begin = Mark { packets: self.expected, bytes: self.delivered_bytes };
        (self.stream.messages, self.stream.message_end) =
            (Some(Box::new(Messages::beginning_at(cut, begin))), u32::MAX);
        self.stream.add_message(bytes, name, cut);
    }

    /// Adds a message that will arrive after those before it.
    pub fn expect(&mut self, bytes: u64, name: u32) {
        // A receiver builds no frames.
        let cut = Cut { mtu_bytes: self.stream.mtu_bytes, header_bytes: 0, min_frame_bytes: 0 };
        self.stream.add_message(bytes, name, cut);
    }
}
