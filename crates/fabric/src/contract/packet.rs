//! What travels: 32-byte packet records, their marks, and the telemetry some of them collect.

use crate::contract::precision::Precision;
pub use crate::contract::precision::{INT_HOPS, IntHop};
use xoff_engine::{Span, Time};

xoff_engine::ids! {
    /// The entry of a flow in the part where its packet is.
    FlowEntryId;
}

/// The IPv4 ECN field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Never marked: control packets.
    #[default]
    NotCapable = 0b00,
    /// Capable as well: for schemes that give the two codes meanings of their own.
    Ect1 = 0b01,
    /// How data packets leave their sender.
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// Marks a capable packet; leaves others alone, and never clears a mark.
    #[inline]
    pub fn mark(&mut self) {
        if *self != Ecn::NotCapable {
            *self = Ecn::Ce;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub(crate) enum Kind {
    #[default]
    Data,
    Ack,
    Nak,
    /// A congestion notification to a sender; its feedback lies in the world's arena.
    Notification,
    /// A data packet whose payload a switch has cut off, in the control class.
    Trimmed,
    /// From the last edge of a flow to the first, about its path; the content lies in the part's arena.
    Edge,
    /// See [`Packet::pfc`].
    Pfc,
    /// From a switch's control to its neighbour's, never forwarded; the content lies in the world's
    /// arena. This and PFC are the frames that belong to a link, not to a flow.
    Neighbour,
}

impl Kind {
    /// Ends at the other end of its link, whoever is there.
    #[inline]
    pub fn is_link_local(self) -> bool {
        self as u8 >= Kind::Pfc as u8
    }
}

/// One packet. Copied from queue to link to queue; nothing points at it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packet {
    /// When the packet (or the one it acknowledges) left its sender's NIC; see [`ECHO_BITS`].
    pub stamp: Time,
    /// Entry of its flow; entries are reused only after the flow's last packet is gone.
    pub flow: FlowEntryId,
    /// Data: packet number. ACK, NAK: the next packet expected.
    pub psn: u32,
    /// Cursor into the route memory, at the next egress port; or a [`TableRoute`] where switches choose.
    pub route: u32,
    /// Index of telemetry or feedback, or [`NO_EXTRA`].
    pub extra: u32,
    /// Frame bytes; the gap is added on the wire.
    pub frame_bytes: u16,
    /// Ingress port at the switch that holds it, as that switch numbers its ports.
    pub ingress: u16,
    pub kind: Kind,
    pub class: u8,
    pub ecn: Ecn,
    pub flags: u8,
}

impl Packet {
    /// A PFC frame: the mask of classes it is about, those of them that must stop, and how long (never: until
    /// resumed). It belongs to no flow: the masks stand in the place of one.
    pub fn pfc(due: u8, on: u8, lasts: Time, frame_bytes: u16) -> Packet {
        Packet {
            stamp: lasts,
            flow: FlowEntryId::new(u32::from(due)),
            psn: u32::from(on),
            extra: NO_EXTRA,
            frame_bytes,
            kind: Kind::Pfc,
            ..Packet::default()
        }
    }

    /// Classes that a PFC frame is about, and those of them that must stop.
    #[inline]
    pub fn pfc_classes(&self) -> (u8, u8) {
        debug_assert_eq!(self.kind, Kind::Pfc);
        (self.flow.get() as u8, self.psn as u8)
    }

    /// Time since the data packet left that an ACK or NAK answers.
    #[inline]
    pub fn echoed(&self, now: Time) -> Span {
        Span::from_ps(now.ps().wrapping_sub(self.stamp.ps()) & ((1 << ECHO_BITS) - 1))
    }

    /// An ACK or NAK whose `extra` is feedback.
    #[inline]
    pub fn carries_feedback(&self) -> bool {
        self.flags & (TRANSIT | SELECTIVE) == TRANSIT && self.kind != Kind::Data
    }

    /// Its `extra` is an INT stack. Data packets carry nothing else.
    #[inline]
    pub fn carries_int(&self) -> bool {
        let may = matches!(self.kind, Kind::Data | Kind::Ack | Kind::Nak);
        may && self.extra != NO_EXTRA && !self.carries_feedback() && self.flags & SELECTIVE == 0
    }
}

pub(crate) const NO_EXTRA: u32 = u32::MAX;

/// Walks its route backwards, each port standing for its peer.
pub(crate) const BACKWARD: u8 = 1;
/// A data packet that wants an ACK: the BTH's AckReq bit.
pub(crate) const ASKS_ACK: u8 = 2;
/// A packet that was trimmed before its last hop, or the NAK of one.
pub(crate) const TRIMMED_EARLY: u8 = 2;
/// The packet (or the one it acknowledges) had been sent before.
pub(crate) const RESENT: u8 = 4;
/// A data packet of a flow that a switch in mid-path shapes; an ACK or NAK whose `extra` is feedback.
pub(crate) const TRANSIT: u8 = 8;
/// A packet of a flow with several paths, or its ACK or NAK: the path has a number.
pub(crate) const SPREAD: u8 = 16;
/// An ACK or NAK whose `extra` is a selective acknowledgement, which has what else the packet carries.
pub(crate) const SELECTIVE: u8 = 32;
/// A data packet on its way from edge to edge: its `route` names its header ([`HeaderRoute`]).
pub(crate) const HAS_HEADER: u8 = 64;
/// Flags that are free.
const FREE_FLAGS: u8 = !(BACKWARD | ASKS_ACK | RESENT | TRANSIT | SPREAD | SELECTIVE | HAS_HEADER);

/// Bits of [`Packet::stamp`] that the echo of an ACK or NAK takes: 281 s of picoseconds. The upper 16 are free in ACKs
/// and NAKs, for a second number beside the cumulative one.
pub(crate) const ECHO_BITS: u32 = 48;

/// A destination in [`Packet::route`] instead of a cursor: every switch looks up the next hops to an edge and chooses
/// among them. Bit 31, the edge in 15 bits, the number of the path (its entropy) in 16.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TableRoute {
    pub edge: u16,
    pub path: u16,
}

impl TableRoute {
    const BIT: u32 = 1 << 31;
    /// Edges that a network may have.
    pub const EDGES_MOST: usize = 1 << 15;

    #[inline]
    pub fn word(self) -> u32 {
        TableRoute::BIT | u32::from(self.edge) << 16 | u32::from(self.path)
    }

    #[inline]
    pub fn of(route: u32) -> Option<TableRoute> {
        let edge = (route >> 16) as u16 & (TableRoute::EDGES_MOST - 1) as u16;
        (route & TableRoute::BIT != 0).then_some(TableRoute { edge, path: route as u16 })
    }
}

/// The place of a packet's header in [`Packet::route`], with [`HAS_HEADER`]: bit 31, so that it is no cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HeaderRoute(pub u32);

impl HeaderRoute {
    pub fn word(self) -> u32 {
        TableRoute::BIT | self.0
    }
    pub fn of(route: u32) -> HeaderRoute {
        HeaderRoute(route & !TableRoute::BIT)
    }
}

// The budget of a packet. A number of 16 bits for the path is in `route`, or in the route memory where a cursor ends.
const _: () = assert!(size_of::<Packet>() == 32, "the hot path is laid out around 32-byte packets");
const _: () = assert!(FREE_FLAGS.count_ones() == 1, "one of eight flags is free");
const _: () = assert!(u64::BITS - ECHO_BITS == 16, "an ACK has room for a second number of 16 bits");

/// Telemetry of a path, in path order, as schemes read and write it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct IntStack {
    /// When the packet left its sender's NIC.
    pub sent_at: Time,
    /// Bytes left in the flow's own queue where a switch keeps one.
    pub flow_queue_bytes: u32,
    /// What the switch that keeps the flow's queue wrote on the packet.
    pub tag: u16,
    /// How many hops there are, in four bits, and what [`IntStack::pass`] was told, in twelve.
    counted: u16,
    hops: [IntHop; INT_HOPS],
}

/// Bits of the identifier of a path.
pub(crate) const PATH_BITS: u32 = 12;
pub(crate) const PATH: u16 = (1 << PATH_BITS) - 1;

impl IntStack {
    /// Without a hop yet.
    pub fn new(sent_at: Time) -> IntStack {
        IntStack { sent_at, ..IntStack::default() }
    }
    /// Begins anew with so many hops, at most [`INT_HOPS`], whose records and names are given by place.
    #[inline(always)]
    pub(crate) fn fill(&mut self, len: usize, mut path: u16, record: impl Fn(usize) -> (IntHop, u16)) {
        for (place, hop) in self.hops[..len].iter_mut().enumerate() {
            let (record, name) = record(place);
            *hop = record;
            path ^= name;
        }
        self.counted = path & PATH | (len as u16) << PATH_BITS;
    }
    /// Ignored once full, as the header format prescribes.
    #[inline]
    pub fn push(&mut self, hop: IntHop) {
        self.write(hop, Precision::Exact);
    }
    /// The record of a hop in the precision that its scheme has; ignored once the header is full.
    #[inline]
    pub fn write(&mut self, hop: IntHop, precision: Precision) {
        let len = self.len();
        if len < precision.hops_most() {
            self.hops[len] = if precision == Precision::Exact { hop } else { precision.fit(&hop) };
            self.counted += 1 << PATH_BITS;
        }
    }
    #[inline]
    fn len(&self) -> usize {
        usize::from(self.counted >> PATH_BITS)
    }
    /// From the sender's side on; at most [`INT_HOPS`].
    #[inline]
    pub fn hops(&self) -> &[IntHop] {
        &self.hops[..self.len()]
    }
    /// Takes over the records of another, and no more than there are.
    #[inline]
    pub fn take_records(&mut self, other: &IntStack) {
        (self.counted, self.sent_at) = (other.counted, other.sent_at);
        (self.flow_queue_bytes, self.tag) = (other.flow_queue_bytes, other.tag);
        for (own, record) in self.hops.iter_mut().zip(other.hops()) {
            *own = *record;
        }
    }
    /// Adds a hop's name to the identifier of the path, the exclusive or of all of them (12 bits).
    #[inline]
    pub fn pass(&mut self, name: u16) {
        self.counted ^= name & PATH;
    }
    /// Differs between two paths, but for one in 4096.
    #[inline]
    pub fn path(&self) -> u16 {
        self.counted & PATH
    }
    /// Whether another stack has as many hops and the same path.
    #[inline]
    pub fn is_along(&self, other: &IntStack) -> bool {
        self.counted == other.counted
    }
    /// Forgets hops and path; the rest stays.
    pub fn clear(&mut self) {
        self.counted = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_only_grow() {
        let mut ecn = Ecn::Ect0;
        ecn.mark();
        assert_eq!(ecn, Ecn::Ce);
        ecn.mark();
        assert_eq!(ecn, Ecn::Ce);
        let mut control = Ecn::NotCapable;
        control.mark();
        assert_eq!(control, Ecn::NotCapable);
    }

    #[test]
    fn an_echo_leaves_the_upper_sixteen_bits_of_a_stamp_free() {
        let (sent, now) = (Time::from_ms(3_000), Time::from_ms(3_001));
        let second = Time::from_ps(sent.ps() | 0xabcd << ECHO_BITS);
        for stamp in [sent, second] {
            let ack = Packet { stamp, kind: Kind::Ack, ..Packet::default() };
            assert_eq!(ack.echoed(now), Span::from_ms(1));
        }
    }

    #[test]
    fn a_table_route_is_no_cursor() {
        let route = TableRoute { edge: 0x7fff, path: 0xabcd };
        assert_eq!(TableRoute::of(route.word()), Some(route));
        assert_eq!(route.word(), 0xffff_abcd);
        assert_eq!(TableRoute::of(0x7fff_ffff), None);
    }

    #[test]
    fn telemetry_stops_when_full() {
        let mut stack = IntStack::default();
        for i in 0..20 {
            stack.push(IntHop { tx_bytes: i, ..IntHop::default() });
        }
        assert_eq!(stack.hops().len(), INT_HOPS);
        assert_eq!(stack.hops()[7].tx_bytes, 7);
    }

    #[test]
    fn a_path_is_told_by_its_hops() {
        let mut stack = IntStack::default();
        stack.pass(0x123);
        stack.pass(0xf456);
        assert_eq!(stack.path(), 0x123 ^ 0x456, "twelve bits of each");
        stack.clear();
        assert_eq!(stack.path(), 0);
    }
}
