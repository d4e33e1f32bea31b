//! The sending end of a flow: what it has sent, what is acknowledged, and how fast it may go on.

use std::collections::VecDeque;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::ack_rule::AckRule;
use xoff_fabric::capture::FlowName;
use xoff_fabric::scheme::{Format, Transport};
use xoff_wire::Unwrap;

/// Where a flow stands with its NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Nothing to send now.
    Idle,
    /// In the NIC's round-robin of its class.
    Ready,
    /// Waits for its pacing time.
    Paced,
    /// Waits for its window to open.
    Blocked,
}

/// A packet that is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    sent_at: Time,
    resent: bool,
}

/// A sender.
#[derive(Debug)]
pub struct Sender<Rp> {
    /// Decides on rate and window.
    pub rp: Rp,
    /// What its packets say of it.
    pub flow: FlowName,
    /// Of its packets.
    pub format: Format,
    /// Next packet to send.
    pub next: u32,
    /// Oldest that is not acknowledged.
    pub una: u32,
    /// One past the highest ever sent.
    pub highest: u32,
    asked: u32,
    /// Packets per AckReq, as configured at the host.
    pub ack_every: u32,
    /// Packets per AckReq with the present window; at most `ack_every`.
    asks_every: u32,
    /// Packets of the whole flow; `u32::MAX` is endless.
    pub total: u32,
    /// Packets that may be sent so far; `u32::MAX` where nobody offers.
    pub offered: u32,
    /// The same in bytes.
    pub offered_bytes: u64,
    /// With its NIC.
    pub state: State,
    /// The oldest packet is to be sent again, before anything else.
    pub resend: bool,
    /// Payload of the whole flow; `None` is endless.
    pub size_bytes: Option<u64>,
    /// Payload of a full packet.
    pub mtu_bytes: u32,
    /// Frame bytes that are not payload.
    pub header_bytes: u32,
    /// Shorter frames are padded to it.
    pub min_frame_bytes: u32,
    /// When its next packet may go.
    pub next_avail: Time,
    /// Of the last packet sent.
    pub last_wire_bytes: u32,
    /// Pacing gap per wire byte; zero is line rate.
    pub ps_per_byte: f64,
    /// What the scheme asks for.
    pub asked_bps: f64,
    /// The same.
    pub asked_window: u64,
    /// What the NIC makes of it.
    pub window_bytes: u64,
    /// What the NIC's limit of bytes in flight counts as one bandwidth-delay product.
    pub bdp_bytes: u64,
    /// Limit of the application.
    pub cap: Option<BitRate>,
    /// Retransmission time-out.
    pub rto: Span,
    /// When it runs out.
    pub rto_at: Time,
    /// The timer event that counts.
    pub due: Time,
    /// Of its path on an idle network.
    pub base_rtt: Span,
    /// Makes telemetry whole.
    pub unwrap: Unwrap,
    outgoing: VecDeque<Outgoing>,
    /// What the record of the flow will say.
    pub tally: Tally,
}

/// What a sender counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Wire bytes of data packets.
    pub sent_wire_bytes: u64,
    /// Data packets.
    pub packets_sent: u64,
    /// Those that had been sent before.
    pub packets_retransmitted: u64,
    /// Retransmission timers that ran out.
    pub timeouts: u32,
    /// Notifications that came.
    pub notifications: u64,
    /// When the first did.
    pub first_notified: Option<Time>,
}

impl<Rp> Sender<Rp> {
    /// Whether its reaction point recovers losses.
    pub fn is_tcp(&self) -> bool {
        self.format.transport == Transport::Tcp
    }

    fn limit(&self) -> u32 {
        self.total.min(self.offered)
    }

    /// Whether it has something to send, its window aside.
    pub fn has_data(&self) -> bool {
        self.next < self.limit() || self.resend
    }

    /// Whether the window lets its next packet go.
    pub fn may_go(&self) -> bool {
        self.window_open() || self.resend || self.must_ask()
    }

    /// No packet under way asks for an ACK, so none would come: the window has closed over packets sent when it was
    /// wider. One more goes, and asks.
    fn must_ask(&self) -> bool {
        self.asked <= self.una && self.una < self.next && !self.is_tcp()
    }

    fn window_open(&self) -> bool {
        let in_flight = u64::from(self.next - self.una) * u64::from(self.mtu_bytes);
        // A window below one packet still lets a lone packet go.
        in_flight < self.window_bytes || in_flight == 0
    }

    /// Takes the bytes that its scheme lets be in the network, and asks for as many ACKs as that needs. Whether its
    /// window is wider than before.
    pub fn set_window(&mut self, window_bytes: u64) -> bool {
        let before = self.window_bytes;
        let rule = AckRule::new(self.format.transport, self.ack_every, window_bytes, self.mtu_bytes);
        (self.asks_every, self.window_bytes) = (rule.every, rule.window_bytes);
        self.window_bytes > before
    }

    /// Of its window, what may be in the network.
    fn network_window(&self) -> u64 {
        let rule = AckRule { every: self.asks_every, window_bytes: self.window_bytes };
        rule.in_network(self.format.transport, self.mtu_bytes)
    }

    /// Whether packet `psn`, which is about to leave, asks for an ACK: every n-th does, and the last before the sender
    /// falls silent.
    pub fn asks(&mut self, psn: u32) -> bool {
        let asks = psn + 1 >= self.asked + self.asks_every || self.next >= self.limit() || !self.window_open();
        if asks {
            self.asked = psn + 1;
        }
        asks
    }

    /// Everything from the oldest unacknowledged packet on is sent again.
    pub fn go_back(&mut self) {
        self.next = self.una;
        self.asked = self.asked.min(self.una);
    }

    /// The packet that goes next, and whether it went before.
    pub fn take_packet(&mut self, now: Time) -> (u32, bool) {
        let psn = if std::mem::take(&mut self.resend) {
            self.una
        } else {
            self.next += 1;
            self.next - 1
        };
        let resent = psn < self.highest;
        self.highest = self.highest.max(self.next);
        let place = (psn - self.una) as usize;
        let outgoing = Outgoing { sent_at: now, resent };
        match self.outgoing.get_mut(place) {
            Some(known) => *known = outgoing,
            None => self.outgoing.push_back(outgoing),
        }
        (psn, resent)
    }

    /// When a packet was sent last, and whether it went more than once; `None` if that is acknowledged already.
    pub fn memory(&self, psn: u32) -> Option<(Time, bool)> {
        let place = psn.checked_sub(self.una)? as usize;
        self.outgoing.get(place).map(|outgoing| (outgoing.sent_at, outgoing.resent))
    }

    /// All before `expected` has come; whether that is news.
    pub fn acknowledge(&mut self, expected: u32) -> bool {
        if expected <= self.una || expected > self.highest {
            return false;
        }
        self.outgoing.drain(..((expected - self.una) as usize).min(self.outgoing.len()));
        self.una = expected;
        self.next = self.next.max(expected);
        true
    }

    /// Payload bytes of the first `packets` packets.
    pub fn payload_until(&self, packets: u32) -> u64 {
        let bytes = u64::from(packets) * u64::from(self.mtu_bytes);
        self.size_bytes.map_or(bytes, |size| bytes.min(size))
    }

    /// Frame bytes of a packet.
    pub fn frame_bytes(&self, psn: u32) -> u32 {
        let payload = match self.size_bytes {
            Some(_) => self.payload_until(psn + 1) - self.payload_until(psn),
            None => u64::from(self.mtu_bytes),
        };
        (self.header_bytes + payload as u32).max(self.min_frame_bytes)
    }

    /// What its scheme allows in wire bits per second: the stricter of its rate and of a window per base round trip.
    pub fn allowed_bps(&self, line_bps: f64) -> f64 {
        let window_bytes = self.network_window();
        if window_bytes == u64::MAX || self.base_rtt == Span::ZERO {
            return self.asked_bps;
        }
        let wire_per_payload = f64::from(self.header_bytes + self.mtu_bytes) / f64::from(self.mtu_bytes);
        let window_bps = window_bytes as f64 * 8.0 * wire_per_payload / self.base_rtt.as_s();
        self.asked_bps.min(window_bps).min(line_bps)
    }
}

/// Before anything is sent; the rest is for the NIC to fill in.
impl<Rp> Sender<Rp> {
    /// Of a flow with these packets.
    pub fn new(rp: Rp, flow: FlowName, format: Format, unwrap: Unwrap) -> Sender<Rp> {
        Sender {
            rp,
            flow,
            format,
            next: 0,
            una: 0,
            highest: 0,
            asked: 0,
            ack_every: 1,
            asks_every: 1,
            total: u32::MAX,
            offered: u32::MAX,
            offered_bytes: u64::MAX,
            state: State::Idle,
            resend: false,
            size_bytes: None,
            mtu_bytes: 1000,
            header_bytes: 0,
            min_frame_bytes: 0,
            next_avail: Time::ZERO,
            last_wire_bytes: 0,
            ps_per_byte: 0.0,
            asked_bps: 0.0,
            asked_window: u64::MAX,
            window_bytes: u64::MAX,
            bdp_bytes: 0,
            cap: None,
            rto: Span::MAX,
            rto_at: Time::NEVER,
            due: Time::NEVER,
            base_rtt: Span::ZERO,
            unwrap,
            outgoing: VecDeque::new(),
            tally: Tally::default(),
        }
    }
}
