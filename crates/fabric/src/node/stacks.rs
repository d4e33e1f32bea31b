//! Telemetry on its way: the stacks of the packets of a part.
//!
//! A packet names its stack and counts the records in it, in one word. So a switch adds a record without looking at what
//! is there: stacks are seldom in the cache, and nobody has to wait for what is only written.

use crate::contract::packet::{IntHop, IntStack, NO_EXTRA, Packet};
use crate::contract::precision::Precision;
use xoff_engine::FreeList;

/// Of a packet's `extra`: the count of records.
const COUNT_BITS: u32 = 4;
const COUNT: u32 = (1 << COUNT_BITS) - 1;

#[derive(Debug)]
pub struct Stacks {
    list: FreeList<IntStack>,
    /// Of the records that switches write without a call, which they do for a single scheme.
    precision: Precision,
}

impl Stacks {
    pub fn new(precision: Precision) -> Stacks {
        Stacks { list: FreeList::default(), precision }
    }

    /// Gives a packet that leaves its sender a stack.
    #[inline]
    pub fn begin(&mut self, packet: &mut Packet) {
        let (index, stack) = self.list.take();
        stack.restart(packet.stamp);
        packet.extra = index << COUNT_BITS;
    }

    /// The stack of a packet that carries one, with the records that the packet counts.
    #[inline]
    pub fn of(&mut self, packet: &Packet) -> Option<&mut IntStack> {
        if packet.extra == NO_EXTRA {
            return None;
        }
        let stack = self.list.get_mut(packet.extra >> COUNT_BITS)?;
        stack.set_len((packet.extra & COUNT) as usize);
        Some(stack)
    }

    /// A scheme has had the stack: counts its records anew.
    #[inline]
    pub fn recount(&self, packet: &mut Packet) {
        if packet.extra != NO_EXTRA {
            let index = packet.extra >> COUNT_BITS;
            packet.extra = index << COUNT_BITS | self.list[index].len() as u32;
        }
    }

    /// Adds the record of a hop, and its name to that of the path.
    #[inline(always)]
    pub fn stamp(&mut self, packet: &mut Packet, record: &IntHop, name: u16) {
        if packet.extra == NO_EXTRA {
            return;
        }
        let place = (packet.extra & COUNT) as usize;
        let Some(stack) = self.list.get_mut(packet.extra >> COUNT_BITS) else { return };
        if place < self.precision.hops_most() {
            stack.put(place, record, self.precision, name);
            packet.extra += 1;
        } else {
            stack.pass(name);
        }
    }

    /// What a packet carried is no longer needed.
    #[inline]
    pub fn release(&mut self, packet: &Packet) {
        self.list.give_back(packet.extra >> COUNT_BITS);
    }

    /// A copy of a packet's stack.
    pub fn copy(&self, packet: &Packet) -> Option<IntStack> {
        let mut stack = *self.list.get(packet.extra >> COUNT_BITS)?;
        stack.set_len((packet.extra & COUNT) as usize);
        Some(stack)
    }

    /// Takes in a stack that has come from another part; what the packet's `extra` is here.
    pub fn insert(&mut self, stack: &IntStack) -> u32 {
        self.list.insert(stack) << COUNT_BITS | stack.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::{BitRate, Time};

    fn hop(us: u64) -> IntHop {
        IntHop { rate: BitRate::from_gbps(100), at: Time::from_us(us), tx_bytes: 1_024 * us, queue_bytes: 0 }
    }

    fn packet(stacks: &mut Stacks) -> Packet {
        let mut packet = Packet { extra: NO_EXTRA, ..Packet::default() };
        stacks.begin(&mut packet);
        packet
    }

    #[test]
    fn records_of_switches_and_of_schemes_are_those_of_one_stack() {
        let mut stacks = Stacks::new(Precision::Exact);
        let (mut first, mut second) = (packet(&mut stacks), packet(&mut stacks));
        stacks.stamp(&mut first, &hop(1), 0xabc);
        stacks.stamp(&mut second, &hop(7), 0x111);
        stacks.stamp(&mut first, &hop(2), 0x00f);
        let of_scheme = stacks.of(&first).unwrap();
        of_scheme.write(hop(3), Precision::Exact);
        of_scheme.pass(0x100);
        stacks.recount(&mut first);
        let stack = stacks.copy(&first).unwrap();
        assert_eq!((stack.hops(), stack.path()), (&[hop(1), hop(2), hop(3)][..], 0xabc ^ 0x00f ^ 0x100));
        // As a scheme that begins it anew leaves it.
        stacks.of(&first).unwrap().clear();
        stacks.recount(&mut first);
        stacks.stamp(&mut first, &hop(4), 0x001);
        let stack = stacks.copy(&first).unwrap();
        assert_eq!((stack.hops(), stack.path()), (&[hop(4)][..], 0x001));
        assert_eq!(stacks.of(&second).unwrap().hops(), [hop(7)]);
    }

    #[test]
    fn a_full_stack_still_knows_its_path() {
        for (precision, most) in [(Precision::Exact, 8), (Precision::Header, 5)] {
            let mut stacks = Stacks::new(precision);
            let mut packet = packet(&mut stacks);
            for name in 0..11 {
                stacks.stamp(&mut packet, &hop(1), 1 << name);
            }
            let stack = stacks.of(&packet).unwrap();
            assert_eq!((stack.hops().len(), stack.path()), (most, 0x7ff));
        }
    }

    #[test]
    fn a_stack_goes_with_its_packet_to_another_part() {
        let (mut here, mut there) = (Stacks::new(Precision::Exact), Stacks::new(Precision::Exact));
        let mut packet = packet(&mut here);
        here.stamp(&mut packet, &hop(1), 5);
        let stack = here.copy(&packet).unwrap();
        here.release(&packet);
        packet.extra = there.insert(&stack);
        there.stamp(&mut packet, &hop(2), 6);
        let stack = there.of(&packet).unwrap();
        assert_eq!((stack.hops(), stack.path()), (&[hop(1), hop(2)][..], 3));
        let none = Packet { extra: NO_EXTRA, ..Packet::default() };
        assert!(there.of(&none).is_none());
    }
}
