//! The two ends of a flow: what its sender and its receiver remember.
//!
//! Created when the flow starts, freed when it has ended and its last packet is gone.

use crate::contract::scheme::Transport;
use crate::contract::traffic::FlowSpec;
use crate::flow::ack_rule::AckRule;
use crate::flow::messages::{Cut, Messages};
use crate::id::{CardId, HostId, SourceId};
use crate::network::plan::HostSettings;
use xoff_engine::{BitRate, Span, Time};

/// Where a flow stands with its NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendState {
    /// Nothing to send now.
    Idle,
    /// In the NIC's round-robin of its class.
    Ready,
    /// Waits for its pacing time.
    Paced,
    /// Waits for its window to open.
    Blocked,
    /// Its NIC looks through its flows ([`NicScheduler::Scan`](crate::network::plan::NicScheduler::Scan)): it stands
    /// nowhere.
    Scanned,
}

/// Requester side.
#[derive(Debug)]
pub struct Sender<Rp> {
    pub rp: Rp,
    pub host: HostId,
    /// Its flow's card.
    pub card: CardId,
    /// Next packet to send, oldest unacknowledged, one past the highest ever sent.
    pub next: u32,
    pub una: u32,
    pub highest: u32,
    /// One past the last packet sent that asked for an ACK.
    pub asked: u32,
    /// Packets per AckReq, as configured at the host.
    pub ack_every: u16,
    /// Packets per AckReq with the present window ([`AckRule`]); at most `ack_every`.
    pub asks_every: u16,
    /// Packets of the whole flow; `u32::MAX` is endless.
    pub total: u32,
    /// Packets that may be sent so far (flows fed by offers or messages); `u32::MAX` otherwise.
    pub offered: u32,
    /// One past the next packet that is the last of something: of the flow, or of its oldest message that is not
    /// acknowledged. All packets before it and from `una` on are full.
    pub edge: u32,
    /// Up to here payload is a multiple of the MTU: `total`, and zero for a queue pair that carries messages.
    pub plain_until: u32,
    /// What it carries one after another; none if it is one stream of bytes.
    pub messages: Option<Box<Messages>>,
    pub state: SendState,
    pub class: u8,
    pub int: bool,
    /// Flags that all its packets have: [`TRANSIT`](crate::contract::packet::TRANSIT) if a switch on its way shapes it.
    pub packet_flags: u8,
    /// How its data packets leave.
    pub ecn: crate::contract::packet::Ecn,
    pub ended: bool,
    /// Its reaction point recovers losses.
    pub tcp: bool,
    /// The oldest unacknowledged packet is to be sent again, before anything else.
    pub resend: bool,
    /// No route leads to its destination: it waits for one.
    pub stranded: bool,
    pub full_frame: u16,
    pub last_frame: u16,
    pub mtu_bytes: u32,
    /// Payload bytes the last packet falls short of a full one.
    pub short_bytes: u32,
    /// Wire bytes of the last packet sent, for rate changes in mid-gap.
    pub last_wire_bytes: u32,
    pub next_avail: Time,
    /// Pacing gap per wire byte; zero paces at line rate.
    pub ps_per_byte: f64,
    /// What the scheme asks for.
    pub asked_bps: f64,
    /// What spaces its packets, at a NIC that scans.
    pub gap_bps: f64,
    pub window_bytes: u64,
    /// The window that the scheme asks for; `window_bytes` is what the NIC makes of it: payload that may be
    /// unacknowledged.
    pub asked_window: u64,
    /// What the NIC's limit of bytes in flight counts as one bandwidth-delay product.
    pub bdp_bytes: u64,
    pub cap: Option<BitRate>,
    pub rto: Span,
    /// Deadline of the retransmission timer; `NEVER` while nothing is outstanding.
    pub rto_at: Time,
    /// The timer event that counts; others are stale.
    pub due: Time,
    /// First entry of its route; `hops` ports.
    pub route: u32,
    pub hops: u8,
    pub sent_wire_bytes: u64,
    pub packets_sent: u64,
}

impl<Rp> Sender<Rp> {
    /// One past the last packet it may send now.
    #[inline]
    pub fn limit(&self) -> u32 {
        if self.stranded { 0 } else { self.total.min(self.offered) }
    }

    /// Whether it wants to send or waits for an ACK.
    pub fn is_unfinished(&self) -> bool {
        !self.ended && (self.una < self.next || self.next < self.total.min(self.offered))
    }

    /// Whether it has something to send, its window aside.
    #[inline]
    pub fn has_data(&self) -> bool {
        self.next < self.limit() || self.may_resend()
    }

    /// Whether the window lets its next packet go.
    #[inline]
    pub fn may_go(&self) -> bool {
        self.window_open() || self.may_resend() || self.must_ask()
    }

    /// Whether no packet under way asks for an ACK, so that none would come: the window has closed
    /// over packets sent when it was wider. One more goes, and asks.
    #[inline]
    fn must_ask(&self) -> bool {
        self.asked <= self.una && self.una < self.next && !self.tcp
    }

    fn transport(&self) -> Transport {
        if self.tcp { Transport::Tcp } else { Transport::Roce }
    }

    /// Takes the bytes that its scheme lets be in the network, and asks for as many ACKs as that needs. Whether its
    /// window is wider than before.
    pub fn set_window(&mut self, window_bytes: u64) -> bool {
        let before = self.window_bytes;
        let rule = AckRule::new(self.transport(), self.ack_every.into(), window_bytes, self.mtu_bytes);
        // Never above `ack_every`, which fits.
        (self.asks_every, self.window_bytes) = (rule.every as u16, rule.window_bytes);
        self.window_bytes > before
    }

    /// Of its window, what may be in the network.
    pub fn network_window(&self) -> u64 {
        // A NIC that scans its flows takes the scheme's window as it is.
        if self.state == SendState::Scanned {
            return self.window_bytes;
        }
        let rule = AckRule { every: self.asks_every.into(), window_bytes: self.window_bytes };
        rule.in_network(self.transport(), self.mtu_bytes)
    }

    /// Whether packet `psn`, which is about to leave, asks for an ACK. Every n-th does, and the last
    /// one before the sender falls silent: its window is full, or it has nothing more to send. So does the last of a
    /// message, whose source waits for it.
    #[inline]
    pub fn asks(&mut self, psn: u32) -> bool {
        let asks = psn + 1 >= self.asked + u32::from(self.asks_every)
            || self.next >= self.limit()
            || !self.window_open()
            || (psn + 1 >= self.edge && self.ends_message(psn));
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

    /// Whether its next packet is one sent before, out of order.
    #[inline]
    pub fn may_resend(&self) -> bool {
        self.resend && !self.stranded
    }

    #[inline]
    pub fn window_open(&self) -> bool {
        let in_flight = u64::from(self.next - self.una) * u64::from(self.mtu_bytes);
        // A window below one packet still lets a lone packet go.
        in_flight < self.window_bytes || in_flight == 0 || (self.messages.is_some() && self.window_open_to_short())
    }

    /// The same where packets under way may be short.
    #[cold]
    fn window_open_to_short(&self) -> bool {
        self.payload_until(self.next) - self.payload_until(self.una) < self.window_bytes
    }

    /// Payload bytes of the first `packets` packets.
    #[inline]
    pub fn payload_until(&self, packets: u32) -> u64 {
        if packets < self.plain_until {
            return u64::from(packets) * u64::from(self.mtu_bytes);
        }
        payload_beyond(packets, self.messages.as_deref(), self.mtu_bytes, self.short_bytes)
    }

    /// Frame bytes of a packet that is not before the edge.
    #[cold]
    pub fn frame_beyond(&self, psn: u32) -> u16 {
        self.messages.as_ref().map_or(self.last_frame, |messages| messages.frame_of(psn))
    }

    #[cold]
    fn ends_message(&self, psn: u32) -> bool {
        self.messages.as_ref().is_some_and(|messages| messages.ends_with(psn))
    }

    /// One more message may be sent, after those before it.
    pub fn send(&mut self, bytes: u64, name: u32, min_frame_bytes: u32) {
        let header_bytes = u32::from(self.full_frame) - self.mtu_bytes;
        let cut = Cut { mtu_bytes: self.mtu_bytes, header_bytes, min_frame_bytes };
        debug_assert!(self.messages.is_some() || self.offered == 0, "a stream of bytes carries no messages");
        let messages = self.messages.get_or_insert_with(|| Box::new(Messages::new(cut)));
        messages.add(bytes, name);
        self.plain_until = 0;
        self.offered = messages.packets();
        self.edge = messages.next_end();
    }

    /// The `nth` message that the first `packets` packets would complete once acknowledged, or zero for a flow with a
    /// size.
    pub fn over_after(&self, packets: u32, nth: usize) -> Option<u32> {
        match &self.messages {
            Some(messages) => messages.over_after(packets, nth),
            None => (nth == 0 && packets >= self.edge).then_some(0),
        }
    }

    /// The oldest message, if it is acknowledged as a whole and was not before.
    pub fn pass_message(&mut self, keep: bool) -> Option<u32> {
        let messages = self.messages.as_mut()?;
        let name = messages.pass(self.una, keep);
        self.edge = messages.next_end();
        name
    }
}

/// Payload of so many packets where they are not all full: all of a flow, or some of a queue pair's messages.
#[cold]
fn payload_beyond(packets: u32, messages: Option<&Messages>, mtu_bytes: u32, short_bytes: u32) -> u64 {
    match messages {
        Some(messages) => messages.payload_until(packets),
        None => u64::from(packets) * u64::from(mtu_bytes) - u64::from(short_bytes),
    }
}

/// Responder side.
#[derive(Debug)]
pub struct Receiver<Np> {
    pub np: Np,
    pub host: HostId,
    /// Its flow's card.
    pub card: CardId,
    pub expected: u32,
    /// One past the last packet of the flow, or of the message that comes; `u32::MAX` if there is none.
    pub edge: u32,
    /// As [`Sender::plain_until`].
    pub plain_until: u32,
    pub mtu_bytes: u32,
    /// Payload bytes the last packet falls short of a full one.
    pub short_bytes: u32,
    /// As [`Sender::messages`]: those that have not arrived.
    pub messages: Option<Box<Messages>>,
    /// Its source wants to know of deliveries.
    pub tells: bool,
    pub ack_frame: u16,
    pub notification_frame: u16,
    pub ack_class: u8,
    /// Frame bytes that are not payload.
    pub header_bytes: u16,
    /// Its notification point feeds back in ACKs.
    pub feeds_back_in_acks: bool,
    pub last_nak: u32,
    pub nak_at: Time,
    pub due: Time,
    /// First entry of the route back, and whether it is the forward route read backwards.
    pub route: u32,
    pub hops: u8,
    pub backward: bool,
    /// The flow was stopped: what still arrives counts no more.
    pub closed: bool,
    /// The next packet in order is not simply taken and acknowledged by the host's rule: the flow is
    /// closed, packets beyond it are here already, or ACKs wait for more.
    pub special: bool,
    pub delivered_bytes: u64,
    pub delivered_at: Option<Time>,
    pub marked: u64,
    /// Takes packets in any order.
    pub any_order: Option<Box<crate::flow::any_order::AnyOrder>>,
}

impl<Np> Receiver<Np> {
    /// Payload bytes of the first `packets` packets.
    #[inline]
    pub fn payload_until(&self, packets: u32) -> u64 {
        if packets < self.plain_until {
            return u64::from(packets) * u64::from(self.mtu_bytes);
        }
        payload_beyond(packets, self.messages.as_deref(), self.mtu_bytes, self.short_bytes)
    }

    /// One more message will come, after those before it.
    pub fn expect(&mut self, bytes: u64, name: u32) {
        // It builds no frames.
        let cut = Cut { mtu_bytes: self.mtu_bytes, header_bytes: u32::from(self.header_bytes), min_frame_bytes: 0 };
        let messages = self.messages.get_or_insert_with(|| Box::new(Messages::new(cut)));
        messages.add(bytes, name);
        self.plain_until = 0;
        self.edge = messages.next_end();
    }

    /// The `nth` message that would have arrived with the first `packets` packets, or zero for a flow with a size.
    pub fn over_after(&self, packets: u32, nth: usize) -> Option<u32> {
        match &self.messages {
            Some(messages) => messages.over_after(packets, nth),
            None => (nth == 0 && packets >= self.edge && self.delivered_at.is_none()).then_some(0),
        }
    }

    /// The packets expected so far are all there, up to the edge or beyond: the next message that has arrived as a
    /// whole, or zero for a flow with a size.
    pub fn arrived(&mut self, now: Time) -> Option<u32> {
        match &mut self.messages {
            Some(messages) => {
                let name = messages.pass(self.expected, false);
                self.edge = messages.next_end();
                name
            }
            None => self.delivered_at.replace(now).is_none().then_some(0),
        }
    }
}

/// What a flow is, the paths it has, and what its record counts.
#[derive(Debug)]
pub struct FlowDetails {
    /// Its number in the run, and in its source.
    pub id: u32,
    pub number: u64,
    /// What it is ([`crate::flow::identity`]).
    pub identity: u64,
    /// The port it has if its traffic names none.
    pub ephemeral: u16,
    pub source: SourceId,
    pub spec: FlowSpec,
    /// Its source wants to know of acknowledgements.
    pub tells: bool,
    pub start: Time,
    pub acked_at: Option<Time>,
    pub ideal: Span,
    pub base_rtt: Span,
    pub packets_retransmitted: u64,
    pub timeouts: u32,
    pub notifications: u64,
    pub first_notified: Option<Time>,
    /// Egress ports from the sender's NIC on, by their numbers in the network.
    pub path: Box<[u32]>,
    /// Whole routes, first port and hops, that switches moved some of its packets to.
    pub detours: Vec<(u32, u8)>,
}

/// Packets of a flow, and the sizes of its full frames and of its last, under so many bytes of
/// headers.
pub fn frames(host: &HostSettings, header: u32, size_bytes: Option<u64>) -> (u32, u16, u16) {
    let full = header + host.mtu_bytes;
    let mtu = u64::from(host.mtu_bytes);
    match size_bytes {
        None => (u32::MAX, full as u16, full as u16),
        Some(size) => {
            let packets = size.div_ceil(mtu).max(1);
            let last = size - (packets - 1) * mtu;
            // A lone short packet is padded to the smallest frame.
            (packets as u32, full as u16, (header + last as u32).max(host.sizes.min_frame_bytes) as u16)
        }
    }
}
