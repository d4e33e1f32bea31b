//! Events, and the order of all events: by time, then by what they are.

use crate::rng::mix;
use crate::units::Time;
use std::cmp::Ordering;

/// The place of an event in the order of all events.
///
/// Compared by time, then by kind, then by a hash of time and name, then by index. Two events at
/// the same instant are thus ordered by what they are, not by who pushed first; and because the
/// hash contains the time, no port wins every tie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    pub(crate) time: u64,
    /// What orders it (35 bits: kind and hash, or sequence number), its kind (5 bits), its index (24 bits).
    pub(crate) order: u64,
}

const INDEX_BITS: u32 = 24;
pub(crate) const KIND_BITS: u32 = 5;
/// Number of kinds that a key can tell apart.
pub const KINDS: u8 = 1 << KIND_BITS;
/// Bits of the hash that orders events of one kind at one instant.
pub(crate) const HASH_BITS: u32 = 64 - KIND_BITS - SHARED;
const _: () = assert!(HASH_BITS == 30, "fewer bits would make ties of equal hashes common");
/// Bits for kind and index, below those that order the event.
const SHARED: u32 = KIND_BITS + INDEX_BITS;
/// Largest index of a key: sixteen million ports, flows or queues.
pub const LARGEST_INDEX: u32 = (1 << INDEX_BITS) - 1;
/// Marks an [`Event`] that has a sequence number in place of a name.
const SEQUENCED: u64 = 1 << 63;
/// Largest sequence number of an event made by [`Event::sequenced`]: an hour of work.
pub const LAST_SEQUENCE: u64 = (SEQUENCED - 1) >> SHARED;
const _: () = assert!(SHARED + u32::BITS < 63, "kind, index and name are below the mark");

impl Key {
    /// The key of [`Event::named`].
    #[inline]
    pub fn named(time: Time, kind: u8, name: u32, index: u32) -> Key {
        Event::named(time, kind, name, index).key()
    }

    /// After every event.
    pub const LAST: Key = Key { time: u64::MAX, order: u64::MAX };

    /// This key with another index.
    pub fn with_index(self, index: u32) -> Key {
        Key { order: self.order >> INDEX_BITS << INDEX_BITS | u64::from(index & LARGEST_INDEX), ..self }
    }

    /// The smallest that is greater.
    pub fn next(self) -> Key {
        Key { order: self.order.saturating_add(1), ..self }
    }

    /// Before everything at `time` or later, and after everything else.
    pub fn before(time: Time) -> Key {
        Key { time: time.ps(), order: 0 }
    }

    /// Before everything later than `time`, and after everything else.
    pub fn after(time: Time) -> Key {
        match time.ps().checked_add(1) {
            Some(time) => Key { time, order: 0 },
            None => Key::LAST,
        }
    }

    /// Both words as one number: compared without a branch between them.
    #[inline(always)]
    fn whole(self) -> u128 {
        (u128::from(self.time) << 64) | u128::from(self.order)
    }

    /// When it happens.
    #[inline]
    pub fn time(self) -> Time {
        Time::from_ps(self.time)
    }

    /// Kind of the event, below [`KINDS`]; the caller defines its meaning.
    #[inline]
    pub fn kind(self) -> u8 {
        kind_of(self.order)
    }

    /// To whom it happens, up to [`LARGEST_INDEX`].
    #[inline]
    pub fn index(self) -> u32 {
        self.order as u32 & LARGEST_INDEX
    }
}

#[inline(always)]
fn kind_of(bits: u64) -> u8 {
    (bits as u32 >> INDEX_BITS) as u8 & (KINDS - 1)
}

impl PartialOrd for Key {
    #[inline(always)]
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
    #[inline(always)]
    fn lt(&self, other: &Key) -> bool {
        self.whole() < other.whole()
    }
}

impl Ord for Key {
    #[inline(always)]
    fn cmp(&self, other: &Key) -> Ordering {
        self.whole().cmp(&other.whole())
    }
}

/// An event as the queue holds it. Most have their instant for themselves, so the hash that orders those of one
/// instant is computed only where there are several ([`Event::key`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    pub(crate) time: u64,
    /// Index (24 bits), kind (5 bits), name (32 bits); or the mark [`SEQUENCED`] and a sequence number (34 bits).
    pub(crate) what: u64,
}

impl Event {
    /// An event of something whose index is its name: a port, a host, a switch.
    #[inline]
    pub fn new(time: Time, kind: u8, index: u32) -> Event {
        Event::named(time, kind, index, index)
    }

    /// An event of something that has a name besides its index: a flow, whose slot depends on what
    /// else is alive. Equal hashes fall back on the index, once in 2^30 ties.
    #[inline(always)]
    pub fn named(time: Time, kind: u8, name: u32, index: u32) -> Event {
        Event { time: time.ps(), what: u64::from(name) << SHARED | Event::about(kind, index) }
    }

    /// An event ordered by `sequence` among those of its instant: the event scheduled first
    /// comes first. A queue holds events of one sort.
    #[inline]
    pub fn sequenced(time: Time, sequence: u64, kind: u8, index: u32) -> Event {
        debug_assert!(sequence <= LAST_SEQUENCE);
        Event { time: time.ps(), what: SEQUENCED | sequence << SHARED | Event::about(kind, index) }
    }

    #[inline(always)]
    fn about(kind: u8, index: u32) -> u64 {
        debug_assert!(kind < KINDS && index <= LARGEST_INDEX);
        u64::from(u32::from(kind) << INDEX_BITS | index)
    }

    /// After every other.
    pub const LAST: Event = Event { time: u64::MAX, what: u64::MAX };

    /// Its place in the order of all events.
    #[inline]
    pub fn key(self) -> Key {
        Key { time: self.time, order: self.order() }
    }

    /// Its place among events of its instant.
    #[inline]
    pub(crate) fn order(self) -> u64 {
        if self.is_sequenced() {
            return self.what;
        }
        let name = self.what >> SHARED;
        let hash = mix(self.time ^ name << 40 ^ name) >> (64 - HASH_BITS) << SHARED;
        u64::from(self.kind()) << (64 - KIND_BITS) | hash | self.what & ((1 << SHARED) - 1)
    }

    pub(crate) fn is_sequenced(self) -> bool {
        self.what & SEQUENCED != 0
    }

    /// When it happens.
    #[inline(always)]
    pub fn time(self) -> Time {
        Time::from_ps(self.time)
    }

    /// Its kind, below [`KINDS`]; the caller defines its meaning.
    #[inline(always)]
    pub fn kind(self) -> u8 {
        kind_of(self.what)
    }

    /// To whom it happens, up to [`LARGEST_INDEX`].
    #[inline(always)]
    pub fn index(self) -> u32 {
        self.what as u32 & LARGEST_INDEX
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    #[inline]
    fn cmp(&self, other: &Event) -> Ordering {
        let by_key = || self.key().cmp(&other.key()).then(self.what.cmp(&other.what));
        self.time.cmp(&other.time).then_with(by_key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    const PINNED: [u32; 6] = [2, 0, 3, 4, 1, 5];

    #[test]
    fn ties_have_no_favourite() {
        // Two ports whose events coincide 10 000 times: each goes first about half the time.
        let mut first = 0;
        for i in 0..10_000u64 {
            let at = Time::from_ps(i * 88_480);
            if Key::named(at, 1, 12, 12) < Key::named(at, 1, 13, 13) {
                first += 1;
            }
        }
        assert!((4_800..=5_200).contains(&first), "port 12 went first {first} times of 10000");
    }

    /// The order of ties is part of every result: it may not change unnoticed.
    #[test]
    fn the_order_of_ties_is_pinned() {
        let at = Time::from_ns(1234);
        let mut keys: Vec<Key> = (0..6).map(|name| Key::named(at, 3, name * 1_000_003, name)).collect();
        keys.sort();
        assert_eq!(keys.iter().map(|key| key.index()).collect::<Vec<u32>>(), PINNED);
        let key = Key::named(at, 3, 7, 9);
        assert_eq!((key.with_index(1).index(), key.with_index(1).kind(), key.with_index(1).time()), (1, 3, at));
        assert!(key.with_index(8) < key && key < key.next() && key.next() <= key.with_index(10));
        assert!(
            Key::before(at) <= key
                && key < Key::after(at)
                && Key::after(at) <= Key::named(at + Span::from_ps(1), 0, 0, 0)
        );
        assert!(Key::after(Time::NEVER) == Key::LAST);
    }

    #[test]
    fn kinds_come_in_order_at_one_instant() {
        let at = Time::from_us(3);
        for index in 0..100 {
            assert!(Event::new(at, 1, index).key() < Event::new(at, 2, 99 - index).key());
        }
        for kind in 1..KINDS {
            assert!(Event::new(at, kind - 1, 0) < Event::new(at, kind, LARGEST_INDEX));
            let event = Event::new(at, kind, 123_456);
            assert_eq!((event.time(), event.kind(), event.index()), (at, kind, 123_456));
            let key = event.key();
            assert_eq!((key.time(), key.kind(), key.index()), (at, kind, 123_456));
        }
    }
}
