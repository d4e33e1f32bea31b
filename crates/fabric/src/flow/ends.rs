//! The two ends of a flow: what its sender and its receiver remember.
//!
//! Created when the flow starts, freed when it has ended and its last packet is gone.

use crate::contract::packet::Ecn;
use crate::contract::record::RecoveryRecord;
use crate::contract::scheme::ReactionPoint;
use crate::contract::traffic::{FlowSpec, Subscription};
use crate::flow::pacing::Pacing;
use crate::flow::transport::messages::Cut;
use crate::flow::transport::{Requester, Responder, Stream};
use crate::id::{FlowEntryId, HostId, SourceId};
use crate::network::plan::HostSettings;
use xoff_engine::{Span, Time};

/// The one value of a field that tells a slot in use from an empty one: the slot needs no other mark, which might lie in a
/// cache line that is not read otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum InUse {
    Yes = 1,
}

/// Requester side: what every packet reads comes first, in as many bytes as three cache lines have.
#[derive(Debug)]
#[repr(C)]
pub struct Sender<Rp> {
    pub in_use: InUse,
    pub requester: Requester,
    pub entry: FlowEntryId,
    pub host: HostId,
    /// The timer event that counts; others are stale.
    pub due: Time,
    pub sent_wire_bytes: u64,
    pub packets_sent: u64,
    /// First entry of its route; `hops` ports.
    pub route: u32,
    pub full_frame: u16,
    pub last_frame: u16,
    pub hops: u8,
    pub class: u8,
    pub int: bool,
    /// Flags that all its packets have: [`TRANSIT`](crate::contract::packet::TRANSIT) if a switch on its way shapes it.
    pub packet_flags: u8,
    /// How its data packets leave.
    pub ecn: Ecn,
    pub ended: bool,
    /// Its reaction point need not be called: see [`ReactionPoint::rests`].
    pub rests: bool,
    pub pacing: Pacing,
    pub rp: Rp,
    /// Flow events that its source receives.
    pub subscription: Subscription,
}

const _: () = assert!(size_of::<Option<Sender<u64>>>() == size_of::<Sender<u64>>(), "an empty slot has no mark");
const _: () = assert!(std::mem::offset_of!(Sender<u64>, pacing) + Pacing::PER_PACKET == 3 * 64, "three cache lines");

impl<Rp> Sender<Rp> {
    /// Reads a word of each cache line that a packet needs, ahead of need.
    #[inline]
    pub fn touch(&self) -> u64 {
        u64::from(self.requester.seq.next) ^ u64::from(self.host.get()) ^ self.packets_sent
    }

    /// Returns whether packets are unsent or unacknowledged.
    pub fn is_unfinished(&self) -> bool {
        !self.ended && self.requester.seq.is_unfinished()
    }

    /// Returns whether a packet may leave, its pacing time aside.
    #[inline]
    pub fn may_send(&self) -> bool {
        self.requester.has_data() && self.requester.may_send()
    }

    #[inline]
    pub fn frame_bytes(&self, psn: u32) -> u16 {
        if self.requester.seq.is_full(psn) { self.full_frame } else { self.frame_beyond(psn) }
    }

    #[cold]
    fn frame_beyond(&self, psn: u32) -> u16 {
        self.requester.seq.stream.messages.as_ref().map_or(self.last_frame, |messages| messages.frame_of(psn))
    }

    pub fn send(&mut self, bytes: u64, name: u32, min_frame_bytes: u32) {
        let mtu_bytes = self.requester.seq.stream.mtu_bytes;
        let cut = Cut { mtu_bytes, header_bytes: u32::from(self.full_frame) - mtu_bytes, min_frame_bytes };
        self.requester.seq.add_message(bytes, name, cut);
    }

    /// When the next of its timers runs out, of the scheme or of the transport.
    #[inline(always)]
    pub fn next_timer(&self) -> Time
    where
        Rp: ReactionPoint,
    {
        self.rp.timer().unwrap_or(Time::NEVER).min(self.requester.seq.deadline)
    }

    /// Wire bits per second that the scheme allows.
    pub fn allowed_bps(&self, base_rtt: Span, line_bps: f64) -> f64 {
        let seq = &self.requester.seq;
        let wire_per_payload = f64::from(self.full_frame) / f64::from(seq.stream.mtu_bytes);
        self.pacing.allowed_bps(seq.network_window(), wire_per_payload, base_rtt, line_bps)
    }
}

/// Responder side: what every packet reads comes first, in as many bytes as two cache lines have, and the notification point.
#[derive(Debug)]
#[repr(C)]
pub struct Receiver<Np> {
    pub responder: Responder,
    pub in_use: InUse,
    pub due: Time,
    pub marked: u64,
    pub entry: FlowEntryId,
    pub host: HostId,
    /// First entry of the route back, and whether it is the forward route read backwards.
    pub route: u32,
    pub hops: u8,
    pub backward: bool,
    /// Its source receives deliveries.
    pub tells: bool,
    /// Its notification point feeds back in ACKs.
    pub feeds_back_in_acks: bool,
    pub ack_frame: u16,
    pub notification_frame: u16,
    pub ack_class: u8,
    pub np: Np,
    pub delivered_at: Option<Time>,
    /// Without timeouts, which the sender counts.
    pub recovery: RecoveryRecord,
}

const _: () = assert!(std::mem::offset_of!(Receiver<u64>, np) == 2 * 64, "two cache lines, and the notification point");

impl<Np> Receiver<Np> {
    /// Reads a word of each cache line that a packet needs, ahead of need, but for its notification point.
    #[inline]
    pub fn touch(&self) -> u64 {
        u64::from(self.responder.seq.expected) ^ self.marked
    }
}

/// What a flow is, the paths it has, and what its record counts.
#[derive(Debug)]
pub struct FlowDetails {
    /// Its number in the run, and in its source.
    pub id: u32,
    pub number: u64,
    pub identity: u64,
    /// The port it has if its traffic names none.
    pub ephemeral: u16,
    pub source: SourceId,
    pub spec: FlowSpec,
    pub start: Time,
    pub acked_at: Option<Time>,
    /// When it was acknowledged, or stopped by its source.
    pub ended_at: Option<Time>,
    pub ideal: Span,
    pub base_rtt: Span,
    pub packets_retransmitted: u64,
    pub timeouts: u32,
    /// See [`FlowRecord::lost`](crate::contract::record::FlowRecord::lost).
    pub lost: u64,
    pub notifications: u64,
    pub first_notified: Option<Time>,
    /// Egress ports from the sender's NIC on, by their numbers in the network.
    pub path: Box<[u32]>,
    /// Whole routes, first port and hops, that switches moved some of its packets to.
    pub detours: Vec<(u32, u8)>,
}

/// Frames of a flow's packets, from Ethernet header to FCS.
#[derive(Clone, Copy, Debug)]
pub struct PacketSizes {
    /// Packets of the flow; `u32::MAX` is endless.
    pub total: u32,
    /// Frame bytes of a full packet.
    pub full_frame: u16,
    /// Frame bytes of the last packet.
    pub last_frame: u16,
    /// Payload bytes by which the last packet is short.
    pub short_bytes: u32,
}

impl PacketSizes {
    /// Packets of `size_bytes` of payload, with so many bytes of headers each.
    pub fn new(host: &HostSettings, header: u32, size_bytes: Option<u64>) -> PacketSizes {
        let (total, short_bytes) = Stream::packets(size_bytes, host.mtu_bytes);
        let full = header + host.mtu_bytes;
        // A lone short packet is padded to the smallest frame.
        let last = if size_bytes.is_some() { (full - short_bytes).max(host.sizes.min_frame_bytes) } else { full };
        PacketSizes { total, full_frame: full as u16, last_frame: last as u16, short_bytes }
    }
}
