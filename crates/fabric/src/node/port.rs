//! Ports and egress queues: the state the hot path touches.

use crate::buffer::real;
use crate::contract::packet::Packet;
use crate::id::{HostId, SwitchId};
use crate::network::rates::{RateId, Rates};
use std::collections::HashMap;
use std::sync::Arc;
use xoff_engine::{Fifo, LinkRate, Pool, Span, Table, Time};

/// A packet in flight and when its last bit arrives.
#[derive(Clone, Copy, Default, Debug)]
pub struct InFlight {
    pub arrives: Time,
    pub packet: Packet,
}

/// One end of a link: the transmitter of a node towards its peer, and what it has in flight.
///
/// Bits in the masks are classes. A class waits when it has something to send: packets in its
/// queue, or at a NIC also flows that may send now. A port is one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub struct Port {
    pub busy_until: Time,
    /// What is in flight from it, in order; only its head is an event.
    pub in_flight: Fifo,
    pub tx_bytes: u64,
    pub queued_bytes: u64,
    /// Its number in the network: what orders its events among others.
    pub name: u32,
    /// Number of its owner among the hosts or switches of the part ([`Port::host`], [`Port::switch`]).
    pub owner: u32,
    /// Packets sent; when there is no more room it begins again ([`crate::part::Part`]'s `wraps`).
    pub tx_packets: u32,
    /// Which of the [`LinkTypes`] its link is.
    pub link_type: LinkTypeId,
    /// The number that the port at the other end of its link has at its switch: packets come in there by it.
    pub far_local: u16,
    pub waiting: u8,
    pub paused: u8,
    /// Classes about which a PFC frame is to be sent.
    pub pfc_due: u8,
    pub flags: u32,
    /// Union of the hooks of its congestion points.
    pub hooks: crate::contract::scheme::Hooks,
}

const _: () = assert!(size_of::<Port>() == 64, "the hot path is laid out around it");

xoff_engine::ids! {
    /// One of the [`LinkTypes`] of a part.
    LinkTypeId;
}

/// The rate and delay of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkType {
    pub rate: LinkRate,
    pub rate_id: RateId,
    pub delay: Span,
}

/// The rates and delays that there are: few differ.
#[derive(Debug)]
pub struct LinkTypes {
    rates: Arc<Rates>,
    list: Table<LinkTypeId, LinkType>,
    numbers: HashMap<(u64, u64), LinkTypeId>,
    /// The one asked for last: ports in a row are mostly alike.
    latest: Option<((u64, u64), LinkTypeId)>,
    /// Of those at which serialisation is laborious: times by frame size, those that were needed.
    known: Table<LinkTypeId, Vec<Span>>,
}

impl LinkTypes {
    pub fn new(rates: &Arc<Rates>) -> LinkTypes {
        LinkTypes {
            rates: Arc::clone(rates),
            list: Table::default(),
            numbers: HashMap::new(),
            latest: None,
            known: Table::default(),
        }
    }

    pub fn number(&mut self, rate: LinkRate, delay: Span) -> LinkTypeId {
        let what = (rate.rate().bps(), delay.ps());
        if let Some((_, number)) = self.latest.filter(|(of, _)| *of == what) {
            return number;
        }
        let link_type = || LinkType { rate, rate_id: self.rates.id(rate.rate()), delay };
        let number = *self.numbers.entry(what).or_insert_with(|| self.list.push(link_type()));
        self.latest = Some((what, number));
        number
    }

    /// How long `wire_bytes` take onto the link of a port, and along it.
    #[inline(always)]
    pub fn times(&mut self, port: &Port, wire_bytes: u32) -> (Span, Span) {
        let LinkType { rate, delay, .. } = self.list[port.link_type];
        let quick = rate.is_quick();
        (if quick { rate.serialise(wire_bytes) } else { self.look_up(port.link_type, wire_bytes) }, delay)
    }

    #[inline(never)]
    fn look_up(&mut self, link_type: LinkTypeId, wire_bytes: u32) -> Span {
        match self.known.get(link_type).and_then(|known| known.get(wire_bytes as usize)) {
            Some(&span) if span != Span::ZERO => span,
            _ => self.find_out(link_type, wire_bytes),
        }
    }

    #[cold]
    fn find_out(&mut self, link_type: LinkTypeId, wire_bytes: u32) -> Span {
        let (known, at) = (self.known.reach(link_type, Vec::new), wire_bytes as usize);
        if known.len() <= at {
            known.resize(at + 1, Span::ZERO);
        }
        known[at] = self.list[link_type].rate.serialise(wire_bytes);
        known[at]
    }

    #[inline(always)]
    pub fn of(&self, port: &Port) -> LinkType {
        self.list[port.link_type]
    }
}

/// A "transmission done" event is pending.
pub const FREE_PENDING: u32 = 1 << 0;
pub const AT_HOST: u32 = 1 << 1;
pub const DOWN: u32 = 1 << 2;
pub const LOSSY_LINK: u32 = 1 << 3;
/// Its link leads into another domain.
pub const LONG_HAUL: u32 = 1 << 4;
/// Flows with shaped queues wait in line at it.
pub const HAS_SHAPED_WAITERS: u32 = 1 << 5;
/// It belongs to a VOQ switch: packets wait in virtual output queues.
pub const HAS_VOQS: u32 = 1 << 6;
/// Its frames are recorded.
pub const CAPTURED: u32 = 1 << 7;
/// Its switch counts packets that need not wait.
pub const COUNTS_PASSING: u32 = 1 << 8;
/// Its NIC looks through its flows.
pub const SCANS: u32 = 1 << 9;
/// The order of scheduling counts: see [`crate::run::World`]'s `eager`. All ports have it, or none.
pub const EAGER: u32 = 1 << 10;
/// Its link ends in another part.
pub const BOUNDARY: u32 = 1 << 11;
/// It belongs to another part; here is what is in flight from it.
pub const REMOTE: u32 = 1 << 12;
/// Its link ends at a host.
pub const TO_HOST: u32 = 1 << 13;
/// Its "transmission done" event has its sequence number but is not scheduled: nobody waits for it.
pub const FREE_RESERVED: u32 = 1 << 14;
/// Its switch looks at ingresses when packets arrive, not when they leave
/// ([`ResumeAt::Checks`](crate::network::plan::ResumeAt::Checks)).
pub const CHECKS: u32 = 1 << 15;
/// A packet was marked or a pause ended since activity was last sampled.
pub const MARKED_OR_RESUMED: u32 = 1 << 16;
/// Its switch has the buffer and the PFC of another simulator ([`Dialect`](crate::network::plan::Dialect)).
pub const FOREIGN: u32 = 1 << 17;
const _: () = assert!(FOREIGN == 1 << 17, "18 of 32 port flags are used: 1 << 18 is the next");

impl Port {
    #[inline]
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The host that it belongs to, if it does to one.
    #[inline]
    pub fn host(&self) -> HostId {
        debug_assert!(self.flags & (AT_HOST | REMOTE) == AT_HOST, "no host of this part");
        HostId::new(self.owner)
    }

    /// The switch that it belongs to, if it does to one.
    #[inline]
    pub fn switch(&self) -> SwitchId {
        debug_assert!(self.flags & (AT_HOST | REMOTE) == 0, "no switch of this part");
        SwitchId::new(self.owner)
    }

    /// How the end of a transmission is pending where the order of scheduling counts. At a switch it is an event only
    /// if somebody comes to wait for it: its number is kept until then.
    #[inline]
    pub fn pending_sequenced(&self) -> u32 {
        if self.flags & (AT_HOST | HAS_VOQS) == 0 { FREE_PENDING | FREE_RESERVED } else { FREE_PENDING }
    }

    /// Whether a packet of a class may leave at once, if none of the flags in `barred` is set: the port is free,
    /// nothing of the class is ahead, and nobody else waits who may go. (What waits while it is free is paused.)
    #[inline(always)]
    pub fn is_idle(&self, now: Time, class: u8, barred: u32) -> bool {
        self.busy_until <= now
            && (self.waiting | self.paused) & 1 << class == 0
            && self.flags & (FREE_PENDING | barred) == 0
            && self.pfc_due == 0
    }
}

/// One egress queue (port, class): what changes with every packet, in one cache line.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Queue {
    pub packets: Fifo,
    /// Packets of it that lie elsewhere: at the inputs of a VOQ switch.
    pub at_inputs: u32,
    pub bytes: u64,
    pub peak_bytes: u64,
    /// Byte-picoseconds, for the mean.
    pub area: f64,
    pub area_at: Time,
    /// Last time a packet left; what the watchdog and the deadlock check look at.
    pub moved_at: Time,
    pub marks: u64,
}

const _: () = assert!(size_of::<Queue>() == 64, "what is seldom read is in its `QueueHistory`");

/// Drops and pauses of an egress queue: most have none.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueHistory {
    pub drops: u64,
    pub paused_since: Time,
    pub paused_total: Span,
    /// Timed signalling: when the pause runs out.
    pub paused_until: Time,
    /// The watchdog has taken the queue out of PFC.
    pub storm: Storm,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Storm {
    #[default]
    No,
    Dropping,
    Forwarding,
}

impl Queue {
    /// Packets waiting, wherever they lie.
    #[inline]
    pub fn count(&self) -> u32 {
        self.packets.len() as u32 + self.at_inputs
    }

    #[inline]
    pub fn push(&mut self, pool: &mut Pool<Packet>, now: Time, packet: &Packet) {
        self.grow(now, packet.frame_bytes);
        pool.push(&mut self.packets, packet);
    }

    #[inline]
    pub fn pop(&mut self, pool: &mut Pool<Packet>, now: Time) -> Option<Packet> {
        let packet = pool.pop(&mut self.packets)?;
        self.shrink(now, packet.frame_bytes);
        Some(packet)
    }

    /// A packet has come in, wherever it lies.
    #[inline]
    pub fn grow(&mut self, now: Time, frame_bytes: u16) {
        self.settle(now);
        self.bytes += u64::from(frame_bytes);
        self.peak_bytes = self.peak_bytes.max(self.bytes);
    }

    /// A packet has come in and left at the same time.
    #[inline]
    pub fn pass(&mut self, now: Time, frame_bytes: u16) {
        self.settle(now);
        self.peak_bytes = self.peak_bytes.max(self.bytes + u64::from(frame_bytes));
        self.moved_at = now;
    }

    /// A packet has left.
    #[inline]
    pub fn shrink(&mut self, now: Time, frame_bytes: u16) {
        self.settle(now);
        self.bytes -= u64::from(frame_bytes);
        self.moved_at = now;
    }

    /// Accounts for the time since the last change.
    #[inline]
    pub fn settle(&mut self, now: Time) {
        if self.bytes != 0 {
            self.area += real(self.bytes) * real((now - self.area_at).ps());
        }
        self.area_at = now;
    }
}
