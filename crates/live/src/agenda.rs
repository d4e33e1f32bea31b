//! What is to happen, and when. Times are the scenario's own; the clock says when they have come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use xoff_engine::{Key, Time};
use xoff_fabric::plan::peer;
use xoff_fabric::scheme::queue_number;

/// Something that is due. Numbers name ports, nodes and flows of the plan; an event that was overtaken recognises
/// itself by its time, which is no longer the one expected.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Event {
    /// A frame that was received at a port has travelled its link.
    Arrive(u32),
    /// The last bit of the frame on the wire has left a port.
    Sent(u32),
    /// A host hands a delayed ACK (0) or notification (1) to its NIC.
    Emit(u32, u8),
    /// A flow of a host may send again.
    Wake(u32),
    /// A timer of the sender of a flow, at a host.
    Sender(u32, u32),
    /// A timer of the receiver of a flow, at a host.
    Receiver(u32, u32),
    /// A timer of the congestion point of a port, class and scheme.
    Queue(u32, u8, u8),
    Source(u32),
    /// A PFC frame that a port received takes effect for a class, with these quanta.
    Obey(u32, u8, u16),
    /// A PAUSE of a port and class runs out.
    PauseOver(u32, u8),
    /// The PAUSE that a port sent for a class is to be repeated.
    Refresh(u32, u8),
    /// The shaped queue of a flow at a switch.
    Shaper(u32, u32),
    Probe(u32),
    /// A window of time is over: what ports and flows did in it is written down.
    Look,
    Stop,
}

impl Event {
    /// Its place among those of the same instant: by kind, then by a hash that favours nobody, as in a simulation.
    fn key(self, at: Time) -> Key {
        let (kind, name) = match self {
            // Of the port that sent it.
            Event::Arrive(port) => (1, peer(port)),
            Event::Sent(port) => (2, port),
            Event::Emit(host, _) => (3, host),
            Event::Wake(host) => (4, host),
            Event::Sender(_, flow) => (5, flow),
            Event::Receiver(_, flow) => (6, flow),
            Event::Queue(port, class, slot) => (7, queue_number(port, class, slot.into()) as u32),
            Event::Source(source) => (8, source),
            Event::Obey(port, ..) | Event::PauseOver(port, _) => (9, port),
            Event::Refresh(port, _) => (10, port),
            Event::Probe(_) => (13, 0),
            Event::Look => (14, 0),
            Event::Shaper(_, flow) => (15, flow),
            Event::Stop => (15, u32::MAX),
        };
        Key::named(at, kind, name, 0)
    }
}

/// Events by time; those of one instant by what they are, and then in the order in which they were added.
#[derive(Debug, Default)]
pub struct Agenda {
    heap: BinaryHeap<Reverse<(Key, u64, Event)>>,
    added: u64,
}

impl Agenda {
    pub fn add(&mut self, at: Time, event: Event) {
        if at != Time::NEVER {
            self.added += 1;
            self.heap.push(Reverse((event.key(at), self.added, event)));
        }
    }

    pub fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((key, ..))| key.time())
    }

    pub fn take(&mut self) -> Option<(Time, Event)> {
        self.heap.pop().map(|Reverse((key, _, event))| (key.time(), event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_by_kind() {
        let mut agenda = Agenda::default();
        agenda.add(Time::from_us(2), Event::Sent(1));
        agenda.add(Time::from_us(1), Event::Wake(7));
        agenda.add(Time::from_us(1), Event::Arrive(3));
        agenda.add(Time::NEVER, Event::Stop);
        assert_eq!(agenda.next(), Some(Time::from_us(1)));
        let taken: Vec<Event> = std::iter::from_fn(|| agenda.take()).map(|(_, event)| event).collect();
        assert_eq!(taken, [Event::Arrive(3), Event::Wake(7), Event::Sent(1)]);
    }
}
