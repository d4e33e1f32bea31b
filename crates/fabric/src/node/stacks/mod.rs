//! Telemetry on its way: the stacks of the packets of a part.
//!
//! Of all that is in flight they take most room, and a packet's stack is seldom in the cache when a switch writes into
//! it. So they are kept small, in whole cache lines, and become an [`IntStack`] only while a scheme looks at them. A
//! packet names its stack and counts the records in it, in one word: a switch adds a record without reading what is
//! there, and nobody has to wait for what is only written.

mod records;
mod words;

use crate::contract::packet::{IntHop, IntStack, NO_EXTRA, Packet};
use crate::contract::precision::Precision;
use crate::network::rates::{RateId, Rates};
use records::Records;
use std::sync::Arc;
use words::Words;
use xoff_engine::{FreeList, Time};

/// Of a packet's `extra`: the count of records.
const COUNT_BITS: u32 = 4;
const COUNT: u32 = (1 << COUNT_BITS) - 1;

/// The stacks of a part. All parts of a run keep them in the same form.
#[derive(Debug)]
pub struct Stacks {
    kept: Kept,
    /// The one that a scheme looks at.
    open: IntStack,
}

#[derive(Debug)]
enum Kept {
    Records(Pile<Records>),
    /// Records in the header's precision with one unit for all ports.
    Words(Pile<Words>),
}

/// Runs the same code for either form.
macro_rules! pile {
    ($kept:expr, $pile:ident => $run:expr) => {
        match $kept {
            Kept::Records($pile) => $run,
            Kept::Words($pile) => $run,
        }
    };
}

/// A stack between two parts.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a run has one of the two")]
pub enum RemoteRecords {
    Records(Stack<Records>),
    Words(Stack<Words>),
}

/// What a port writes of a packet that leaves it, besides its rate.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    pub at: Time,
    /// Bytes that the port had sent before.
    pub tx_bytes: u64,
    /// Bytes left in its queues.
    pub queue_bytes: u64,
}

/// Stacks of one form.
#[derive(Debug)]
struct Pile<F: Form> {
    list: FreeList<Stack<F>>,
    coding: F::Coding,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Stack<F> {
    head: Head,
    records: F,
}

/// What a stack has besides its records.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    flow_queue_bytes: u32,
    tag: u16,
    /// Of the names that stand with no record.
    path: u16,
}

/// How the records of a stack, each with its hop's name in that of the path, are kept.
trait Form: Copy + Default {
    /// What they are written and read by.
    type Coding;
    /// How many there can be.
    fn most(coding: &Self::Coding) -> usize;
    /// Of a port, in the precision of the run. There is room for it.
    fn stamp(&mut self, place: usize, departure: &Departure, rate: RateId, name: u16, coding: &Self::Coding);
    /// Of a scheme, as it is, and without a name.
    fn keep(&mut self, place: usize, hop: &IntHop, coding: &Self::Coding);
    fn hop(&self, place: usize, coding: &Self::Coding) -> IntHop;
    fn name(&self, place: usize) -> u16;
}

impl<F: Form> Pile<F> {
    fn new(coding: F::Coding) -> Pile<F> {
        Pile { list: FreeList::default(), coding }
    }

    #[inline(always)]
    fn begin(&mut self) -> u32 {
        let (index, stack) = self.list.take();
        stack.head = Head::default();
        index << COUNT_BITS
    }

    #[inline(always)]
    fn stamp(&mut self, packet: &mut Packet, departure: &Departure, rate: RateId, name: u16) {
        let (index, place) = (packet.extra >> COUNT_BITS, (packet.extra & COUNT) as usize);
        let Some(stack) = self.list.get_mut(index) else { return };
        if place < F::most(&self.coding) {
            // First, because stores are done in order: whoever copies the packet next would wait for the stack.
            packet.extra += 1;
            stack.records.stamp(place, departure, rate, name, &self.coding);
        } else {
            stack.head.path ^= name;
        }
    }

    #[inline(always)]
    fn open(&self, packet: &Packet, into: &mut IntStack) -> Option<()> {
        let (index, len) = (packet.extra >> COUNT_BITS, (packet.extra & COUNT) as usize);
        let Stack { head, records } = self.list.get(index)?;
        into.fill(len, head.path, |place| (records.hop(place, &self.coding), records.name(place)));
        (into.sent_at, into.flow_queue_bytes, into.tag) = (packet.stamp, head.flow_queue_bytes, head.tag);
        Some(())
    }

    fn close(&mut self, extra: u32, from: &IntStack) -> u32 {
        let index = extra >> COUNT_BITS;
        let Some(stack) = self.list.get_mut(index) else { return extra };
        stack.head = Head { flow_queue_bytes: from.flow_queue_bytes, tag: from.tag, path: from.path() };
        for (place, hop) in from.hops().iter().enumerate() {
            stack.records.keep(place, hop, &self.coding);
        }
        index << COUNT_BITS | from.hops().len() as u32
    }

    fn take_away(&mut self, extra: u32) -> Stack<F> {
        let index = extra >> COUNT_BITS;
        self.list.give_back(index);
        self.list[index]
    }

    fn insert(&mut self, stack: &Stack<F>, extra: u32) -> u32 {
        self.list.insert(stack) << COUNT_BITS | extra & COUNT
    }
}

impl Stacks {
    /// For packets whose records have this precision, written by ports of these rates.
    pub fn new(precision: Precision, rates: &Arc<Rates>) -> Stacks {
        let kept = match precision {
            Precision::Coded(m) => Kept::Words(Pile::new(words::Coding::new(m, rates))),
            Precision::Exact | Precision::Header => Kept::Records(Pile::new(records::Coding::new(precision, rates))),
        };
        Stacks { kept, open: IntStack::default() }
    }

    /// Gives a packet that leaves its sender a stack.
    #[inline]
    pub fn begin(&mut self, packet: &mut Packet) {
        packet.extra = pile!(&mut self.kept, pile => pile.begin());
    }

    /// Adds the record of a hop, and its name to that of the path.
    #[inline(always)]
    pub fn stamp(&mut self, packet: &mut Packet, departure: &Departure, rate: RateId, name: u16) {
        if packet.extra != NO_EXTRA {
            pile!(&mut self.kept, pile => pile.stamp(packet, departure, rate, name));
        }
    }

    /// What the stack of a packet says, if it carries one.
    #[inline(always)]
    pub fn read(&mut self, packet: &Packet) -> Option<&IntStack> {
        self.open(packet).map(|stack| &*stack)
    }

    /// The same for a scheme that may change it; then it must be closed.
    #[inline(always)]
    pub fn open(&mut self, packet: &Packet) -> Option<&mut IntStack> {
        if packet.extra == NO_EXTRA { None } else { self.unpack(packet) }
    }

    #[inline(never)]
    fn unpack(&mut self, packet: &Packet) -> Option<&mut IntStack> {
        pile!(&self.kept, pile => pile.open(packet, &mut self.open))?;
        Some(&mut self.open)
    }

    /// The packet, if it carries a stack, takes over what a scheme made of it.
    #[inline(always)]
    pub fn close(&mut self, packet: &mut Packet) {
        if packet.extra != NO_EXTRA {
            packet.extra = self.pack(packet.extra);
        }
    }

    #[inline(never)]
    fn pack(&mut self, extra: u32) -> u32 {
        pile!(&mut self.kept, pile => pile.close(extra, &self.open))
    }

    /// What a packet carried is no longer needed.
    #[inline]
    pub fn release(&mut self, packet: &Packet) {
        pile!(&mut self.kept, pile => pile.list.give_back(packet.extra >> COUNT_BITS));
    }

    /// A copy of a packet's stack.
    pub fn copy(&self, packet: &Packet) -> Option<IntStack> {
        let mut stack = IntStack::default();
        pile!(&self.kept, pile => pile.open(packet, &mut stack))?;
        Some(stack)
    }

    /// The stack of a packet that leaves for another part.
    pub fn take_away(&mut self, packet: &Packet) -> RemoteRecords {
        match &mut self.kept {
            Kept::Records(pile) => RemoteRecords::Records(pile.take_away(packet.extra)),
            Kept::Words(pile) => RemoteRecords::Words(pile.take_away(packet.extra)),
        }
    }

    /// Gives a packet that has come from another part its stack.
    pub fn insert(&mut self, parcel: &RemoteRecords, packet: &mut Packet) {
        packet.extra = match (&mut self.kept, parcel) {
            (Kept::Records(pile), RemoteRecords::Records(stack)) => pile.insert(stack, packet.extra),
            (Kept::Words(pile), RemoteRecords::Words(stack)) => pile.insert(stack, packet.extra),
            _ => unreachable!("parts that keep stacks in other forms"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::precision::CODED_GBPS;
    use proptest::prelude::*;
    use xoff_engine::BitRate;

    const GBPS: [u64; 4] = [7, 25, 100, 400];

    fn rates() -> Arc<Rates> {
        Arc::new(Rates::new(GBPS.into_iter().map(BitRate::from_gbps)))
    }

    fn stacks(precision: Precision) -> Stacks {
        Stacks::new(precision, &rates())
    }

    fn packet(stacks: &mut Stacks) -> Packet {
        let mut packet = Packet { extra: NO_EXTRA, stamp: Time::from_us(1), ..Packet::default() };
        stacks.begin(&mut packet);
        packet
    }

    fn hop(us: u64) -> IntHop {
        IntHop { rate: BitRate::from_gbps(100), at: Time::from_us(us), tx_bytes: 1_024 * us, queue_bytes: 0 }
    }

    fn stamp(stacks: &mut Stacks, packet: &mut Packet, hop: &IntHop, name: u16) {
        let departure = Departure { at: hop.at, tx_bytes: hop.tx_bytes, queue_bytes: hop.queue_bytes };
        stacks.stamp(packet, &departure, rates().id(hop.rate), name);
    }

    #[test]
    fn records_of_switches_and_of_schemes_are_those_of_one_stack() {
        let mut stacks = stacks(Precision::Exact);
        let (mut first, mut second) = (packet(&mut stacks), packet(&mut stacks));
        stamp(&mut stacks, &mut first, &hop(1), 0xabc);
        stamp(&mut stacks, &mut second, &hop(7), 0x111);
        stamp(&mut stacks, &mut first, &hop(2), 0x00f);
        let of_scheme = stacks.open(&first).unwrap();
        of_scheme.write(hop(3), Precision::Exact);
        of_scheme.pass(0x100);
        (of_scheme.tag, of_scheme.flow_queue_bytes) = (5, 6);
        stacks.close(&mut first);
        let stack = stacks.copy(&first).unwrap();
        assert_eq!((stack.hops(), stack.path()), (&[hop(1), hop(2), hop(3)][..], 0xabc ^ 0x00f ^ 0x100));
        assert_eq!((stack.tag, stack.flow_queue_bytes, stack.sent_at), (5, 6, Time::from_us(1)));
        // As a scheme that begins it anew leaves it.
        stacks.open(&first).unwrap().clear();
        stacks.close(&mut first);
        stamp(&mut stacks, &mut first, &hop(4), 0x001);
        let stack = stacks.copy(&first).unwrap();
        assert_eq!((stack.hops(), stack.path()), (&[hop(4)][..], 0x001));
        assert_eq!(stacks.read(&second).unwrap().hops(), [hop(7)]);
        // Nothing of an earlier packet is left in a stack that is used again.
        stacks.release(&first);
        let mut again = packet(&mut stacks);
        assert_eq!(stacks.copy(&again), Some(IntStack::new(Time::from_us(1))));
        again.extra = NO_EXTRA;
        assert!(stacks.read(&again).is_none());
    }

    #[test]
    fn a_full_stack_still_knows_its_path() {
        for (precision, most) in [(Precision::Exact, 8), (Precision::Header, 5), (Precision::Coded(4), 5)] {
            let mut stacks = stacks(precision);
            let mut packet = packet(&mut stacks);
            for name in 0..11 {
                stamp(&mut stacks, &mut packet, &hop(1), 1 << name);
            }
            let stack = stacks.read(&packet).unwrap();
            assert_eq!((stack.hops().len(), stack.path()), (most, 0x7ff));
        }
    }

    #[test]
    fn a_stack_goes_with_its_packet_to_another_part() {
        for precision in [Precision::Exact, Precision::Coded(1)] {
            let (mut here, mut there) = (stacks(precision), stacks(precision));
            let mut packet = packet(&mut here);
            stamp(&mut here, &mut packet, &hop(1), 5);
            let parcel = here.take_away(&packet);
            there.insert(&parcel, &mut packet);
            stamp(&mut there, &mut packet, &hop(2), 6);
            let stack = there.read(&packet).unwrap();
            assert_eq!((stack.hops(), stack.path()), (&[hop(1), hop(2)][..], 3));
        }
    }

    proptest! {
        /// Whatever a port writes is what the precision leaves of it, and stays so when a scheme has looked at it.
        #[test]
        fn a_record_is_what_its_precision_says(
            gbps in 0usize..4, ps in 0u64..1 << 60, tx_bytes in 0u64..1 << 52, queue_bytes in 0u64..1 << 40, m in 1u8..=32,
        ) {
            let hop = IntHop { rate: BitRate::from_gbps(GBPS[gbps]), at: Time::from_ps(ps), tx_bytes, queue_bytes };
            let coded = CODED_GBPS.contains(&GBPS[gbps]);
            for (precision, expected) in [
                (Precision::Exact, hop),
                (Precision::Header, Precision::Header.fit(&hop)),
                (Precision::Coded(m), Precision::Coded(m).fit(&hop)),
            ] {
                let mut stacks = stacks(precision);
                let mut packet = packet(&mut stacks);
                stamp(&mut stacks, &mut packet, &hop, 3);
                prop_assert_eq!(stacks.read(&packet).unwrap().hops(), [expected]);
                stacks.close(&mut packet);
                prop_assert_eq!(stacks.read(&packet).unwrap().hops(), [expected]);
                prop_assert!(coded || precision == Precision::Exact || expected.rate.bps() <= 25_000_000_000);
            }
        }
    }
}
