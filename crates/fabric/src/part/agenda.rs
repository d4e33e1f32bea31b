//! What is to happen: the event queue, and the order of events at one instant.

use crate::id::PortId;
use crate::network::plan::Ties;
use crate::part::kind;
use xoff_engine::event::{LARGEST_INDEX, LAST_SEQUENCE};
use xoff_engine::{Event, EventQueue, Key, Table, Time};

/// The events of a run, in one of two orders ([`Ties`]).
pub struct Agenda {
    events: EventQueue,
    /// Events of one instant happen in the order of their scheduling; how many have been scheduled so far.
    by_sequence: bool,
    sequence: u64,
    /// By port: the end of its transmission, which has its number in the sequence and is not scheduled.
    reserved: Table<PortId, Event>,
    current: Key,
}

impl Agenda {
    /// `alone`: there are no other parts with queues of their own.
    pub fn new(ties: Ties, alone: bool) -> Agenda {
        let events = if alone { EventQueue::default() } else { EventQueue::small() };
        Agenda {
            events,
            by_sequence: ties == Ties::Scheduled,
            sequence: 0,
            reserved: Table::default(),
            current: Key::before(Time::ZERO),
        }
    }

    // Inlined by force: it is called for every event, and the rare order must not make it a call.
    #[inline(always)]
    pub fn push(&mut self, at: Time, kind: u8, index: u32) {
        self.push_named(at, kind, index, index);
    }

    /// Schedules an event of a flow or port whose index depends on what else is alive: its name orders it
    /// ([`Event::named`]).
    #[inline(always)]
    pub fn push_named(&mut self, at: Time, kind: u8, name: u32, index: u32) {
        if self.by_sequence {
            self.push_sequenced(at, kind, index);
        } else {
            self.events.push(Event::named(at, kind, name, index));
        }
    }

    /// The same where the order of scheduling does not count: for whoever knows that it does not.
    #[inline(always)]
    pub fn push_by_name(&mut self, at: Time, kind: u8, name: u32, index: u32) {
        debug_assert!(!self.by_sequence);
        self.events.push(Event::named(at, kind, name, index));
    }

    /// The same where the order of scheduling counts: for whoever knows that it does.
    #[inline]
    pub fn push_sequenced(&mut self, at: Time, kind: u8, index: u32) {
        let event = self.next_sequenced(at, kind, index);
        self.events.push(event);
    }

    /// The end of a transmission and its arrival, where the order of scheduling counts. The end may have its number
    /// and still not be `scheduled`: see [`Agenda::push_reserved`].
    #[inline(never)]
    pub fn push_transmission(&mut self, end: Time, arrives: Time, port: PortId, scheduled: bool) {
        let event = self.next_sequenced(end, kind::PORT_FREE, port.get());
        if scheduled {
            self.events.push(event);
        } else {
            *self.reserved.reach(port, || Event::LAST) = event;
        }
        self.push_sequenced(arrives, kind::ARRIVE, port.get());
    }

    /// Schedules the end of a transmission under the number it has; says no if that is over.
    pub fn push_reserved(&mut self, port: PortId) -> bool {
        let event = self.reserved[port];
        let to_come = event.key() > self.current;
        if to_come {
            self.events.push(event);
        }
        to_come
    }

    /// An event happens.
    #[inline(always)]
    pub fn begin(&mut self, key: Key) {
        self.current = key;
    }

    #[inline(always)]
    fn next_sequenced(&mut self, at: Time, kind: u8, index: u32) -> Event {
        self.sequence += 1;
        assert!(self.sequence <= LAST_SEQUENCE && index <= LARGEST_INDEX, "more events than sequence numbers");
        Event::sequenced(at, self.sequence, kind, index)
    }

    /// The key of an event that is kept elsewhere, in the order of those that are kept here.
    pub fn key(&mut self, at: Time, kind: u8, name: u32, index: u32) -> Key {
        if self.by_sequence { self.next_sequenced(at, kind, index).key() } else { Key::named(at, kind, name, index) }
    }

    pub fn peek(&mut self) -> Option<Key> {
        self.events.peek()
    }

    /// Nothing comes before it.
    pub fn bound(&self) -> Key {
        self.events.bound()
    }

    #[inline(always)]
    pub fn pop_before(&mut self, limit: Key) -> Option<Event> {
        self.events.pop_before(limit)
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether fetching ahead pays; only keys that are ordered by what they are can be read ahead.
    pub fn is_large(&self) -> bool {
        !self.by_sequence && self.events.is_large()
    }

    /// Whether events are ordered by what they are.
    pub fn is_named(&self) -> bool {
        !self.by_sequence
    }

    #[inline]
    pub fn take_fresh(&mut self) -> bool {
        self.events.take_fresh()
    }

    /// The next event, if it is of the current bucket.
    #[inline(always)]
    pub fn front(&self) -> Option<&Event> {
        self.events.front()
    }

    /// Events of the current bucket, the next one last.
    #[inline]
    pub fn upcoming(&self) -> &[Event] {
        self.events.upcoming()
    }
}
