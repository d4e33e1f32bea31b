//! The event queue: a bucket wheel whose width follows the traffic, ordered by what events are.
//!
//! Near events lie in a wheel of short buckets; a bucket is sorted only when its turn comes. Far
//! events (timers, mostly) wait in a heap and join the bucket they fall into. Bucket width and
//! count adapt to the events seen, which changes the speed and never the order: the order is
//! that of [`Key`], a function of the event alone.

use crate::event::{Event, Key};
use crate::sorting::{self, sorted};
use crate::ties::Ties;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Some events of a bucket, in two cache lines. What does not fit is in further chunks.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(128))]
struct Chunk {
    /// How many of them there are; the others are old.
    len: u32,
    /// The next chunk of the bucket, or of those that are free.
    next: u32,
    events: [Event; IN_CHUNK],
}

const IN_CHUNK: usize = sorting::MOST;
const _: () = assert!(size_of::<Chunk>() == 128, "a chunk is two cache lines");

const NIL: u32 = u32::MAX;
/// Events that there is always room for in the bucket being drained.
const SHORT: usize = 16;
/// Bits of a key for the place in one of two chunks, and the width of buckets from which on a key has no room for times.
const PLACE_BITS: u32 = 4;
/// The bit of a place that says the second chunk.
const SECOND: u32 = 1 << (PLACE_BITS - 1);
const WIDE: u32 = u32::BITS - PLACE_BITS;
const FIRST_BUCKETS: usize = 4096;
/// Buckets of a queue with few events, where a run has many queues.
const FEW_BUCKETS: usize = 256;
const MOST_BUCKETS: usize = 1 << 20;
/// 2^16 ps = 66 ns: a packet at 100 Gb/s. A guess that the first adaptation corrects.
const FIRST_SHIFT: u32 = 16;
/// Pending events beyond which [`EventQueue::is_large`] says so.
const LARGE: usize = 1 << 14;
/// Moves of a sort by insertion, after which another sort is quicker.
const MOST_MOVES: usize = 150;
/// Events in a bucket from which on it counts how many coincide.
const LONG: usize = 8;
/// Pops between two looks at whether the wheel still fits the traffic, at first and in the end.
const ADAPT_FIRST: u32 = 1 << 9;
const ADAPT_EVERY: u32 = 1 << 15;

/// A priority queue of [`Event`]s, earliest first. Pushing before the last popped time is a bug.
pub struct EventQueue {
    /// The bucket being drained: `left` events, latest first, so that the next one is the last of them. What lies
    /// behind is old.
    current: Vec<Event>,
    left: usize,
    /// Absolute number (time >> shift) of that bucket.
    cursor: u64,
    shift: u32,
    /// Buckets that it has at least.
    first: usize,
    /// The chunk of each bucket that is filled.
    heads: Vec<u32>,
    /// One bit per bucket that has events.
    occupied: Vec<u64>,
    chunks: Vec<Chunk>,
    free: u32,
    in_wheel: usize,
    far: BinaryHeap<Reverse<Event>>,
    /// When the first of the far events is; later than any if there is none.
    far_from: u64,
    ties: Ties,
    fresh: bool,
    watch: Watch,
    /// Pops until the wheel is looked at.
    patience: u32,
}

/// What the adaptation looks at, since the last look.
#[derive(Default)]
struct Watch {
    pops: u32,
    buckets: u32,
    into_current: u32,
    far_pushes: u32,
    /// Events in long buckets at the same time as their predecessor.
    ties: u32,
}

impl Default for EventQueue {
    fn default() -> Self {
        EventQueue::with_buckets(FIRST_BUCKETS)
    }
}

impl EventQueue {
    /// A queue that is one of many.
    pub fn small() -> EventQueue {
        EventQueue::with_buckets(FEW_BUCKETS)
    }

    fn with_buckets(first: usize) -> EventQueue {
        EventQueue {
            first,
            current: vec![Event::LAST; SHORT],
            left: 0,
            cursor: 0,
            shift: FIRST_SHIFT,
            heads: vec![NIL; first],
            occupied: vec![0; first / 64],
            chunks: Vec::new(),
            free: NIL,
            in_wheel: 0,
            far: BinaryHeap::new(),
            far_from: u64::MAX,
            ties: Ties::default(),
            fresh: false,
            watch: Watch::default(),
            patience: ADAPT_FIRST,
        }
    }

    /// Events pending, near and far.
    pub fn len(&self) -> usize {
        self.left + self.in_wheel + self.far.len()
    }

    /// Whether nothing is pending, so that [`EventQueue::pop`] gives none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Constant time for what falls into the wheel; far events cost a heap's logarithm.
    #[inline(always)]
    pub fn push(&mut self, event: Event) {
        let bucket = event.time >> self.shift;
        // What lies before the bucket being drained is far ahead of it, too.
        let ahead = bucket.wrapping_sub(self.cursor);
        if ahead != 0 && ahead < self.heads.len() as u64 {
            self.link(bucket, event);
        } else {
            self.push_aside(bucket, event);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_aside(&mut self, bucket: u64, event: Event) {
        if bucket <= self.cursor {
            self.watch.into_current += 1;
            self.insert_current(event);
        } else {
            self.watch.far_pushes += 1;
            self.far_from = self.far_from.min(event.time);
            self.far.push(Reverse(event));
        }
    }

    /// The earliest event, taken out.
    pub fn pop(&mut self) -> Option<Event> {
        self.pop_before(Key::LAST)
    }

    /// The next event, if it comes before `limit`. What is pushed after it has said no is sorted in as cheaply
    /// as before.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Key) -> Option<Event> {
        let event = match self.front() {
            Some(event) => *event,
            None => {
                self.advance(limit);
                *self.front()?
            }
        };
        if event.time >= limit.time && event.key() >= limit {
            return None;
        }
        self.left -= 1;
        Some(event)
    }

    /// What comes next, which stays.
    pub fn peek(&mut self) -> Option<Key> {
        if self.left == 0 {
            self.advance(Key::LAST);
        }
        self.front().map(|event| event.key())
    }

    /// Nothing comes before it.
    pub fn bound(&self) -> Key {
        if let Some(event) = self.front() {
            return event.key();
        }
        let near = (self.in_wheel > 0).then(|| Key { time: self.next_occupied() << self.shift, order: 0 });
        let far = self.far.peek().map(|Reverse(event)| event.key());
        near.into_iter().chain(far).min().unwrap_or(Key::LAST)
    }

    /// Whether so much is pending that the state behind it cannot be in the cache.
    pub fn is_large(&self) -> bool {
        self.in_wheel > LARGE
    }

    /// A new bucket was begun since this was last asked.
    #[inline(always)]
    pub fn take_fresh(&mut self) -> bool {
        std::mem::take(&mut self.fresh)
    }

    /// What comes next: the rest of the bucket being drained, latest first.
    pub fn upcoming(&self) -> &[Event] {
        &self.current[..self.left]
    }

    /// The next event of the bucket being drained.
    #[inline(always)]
    pub fn front(&self) -> Option<&Event> {
        self.current.get(self.left.wrapping_sub(1))
    }

    fn insert_current(&mut self, event: Event) {
        // Most newcomers are later than what is left of the bucket, but the bucket is short.
        let mut at = self.left;
        while at > 0 && self.current[at - 1] < event {
            at -= 1;
        }
        if self.left == self.current.len() {
            self.current.push(event);
        }
        self.current.copy_within(at..self.left, at + 1);
        self.current[at] = event;
        self.left += 1;
    }

    #[inline(always)]
    fn link(&mut self, bucket: u64, event: Event) {
        let slot = bucket as usize & (self.heads.len() - 1);
        let head = self.heads[slot];
        self.in_wheel += 1;
        if let Some(chunk) = self.chunks.get_mut(head as usize)
            && let Some(place) = chunk.events.get_mut(chunk.len as usize)
        {
            *place = event;
            chunk.len += 1;
            return;
        }
        self.begin_chunk(slot, head, event);
    }

    /// The event is the first of a chunk of its bucket.
    #[inline(never)]
    fn begin_chunk(&mut self, slot: usize, next: u32, event: Event) {
        let index = self.free;
        let Some(chunk) = self.chunks.get_mut(index as usize) else { return self.add_chunk(slot, next, event) };
        self.free = chunk.next;
        chunk.events[0] = event;
        (chunk.len, chunk.next) = (1, next);
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.heads[slot] = index;
    }

    /// Adds a chunk for the first event of a chunk, where none is free.
    #[cold]
    #[inline(never)]
    fn add_chunk(&mut self, slot: usize, next: u32, event: Event) {
        self.free = self.chunks.len() as u32;
        if self.chunks.len() == self.chunks.capacity() {
            // A run may have hundreds of queues, and what they do not use adds up.
            self.chunks.reserve_exact((self.chunks.len() / 4).max(SHORT));
        }
        self.chunks.push(Chunk { events: [event; IN_CHUNK], len: 0, next: NIL });
        self.begin_chunk(slot, next, event);
    }

    /// Moves to the next bucket that holds anything, unless that begins after `limit`, and sorts it into `current`.
    #[inline(never)]
    fn advance(&mut self, limit: Key) {
        debug_assert_eq!(self.left, 0);
        if self.watch.pops >= self.patience {
            self.adapt();
            if self.left > 0 {
                return;
            }
        }
        let near = if self.in_wheel > 0 { self.next_occupied() } else { u64::MAX };
        let far = self.far_from >> self.shift;
        let bucket = near.min(far);
        if bucket > limit.time >> self.shift {
            return;
        }
        let ties = if near < far {
            self.cursor = bucket;
            self.take_near(bucket)
        } else if !self.far.is_empty() {
            self.cursor = bucket;
            self.take_far(bucket, near == far)
        } else {
            return;
        };
        self.fresh = true;
        self.watch.buckets += 1;
        self.watch.pops += self.left as u32;
        if ties > 0 {
            self.order_ties();
            if self.left > LONG {
                self.watch.ties += ties;
            }
        }
    }

    /// Takes a bucket's events into `current`, latest first. How many have the time of the one before.
    #[inline(always)]
    fn take_near(&mut self, bucket: u64) -> u32 {
        let slot = bucket as usize & (self.heads.len() - 1);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let head = std::mem::replace(&mut self.heads[slot], NIL);
        let chunk = &mut self.chunks[head as usize];
        if chunk.next != NIL || self.shift >= WIDE {
            return self.take_two(head);
        }
        chunk.next = self.free;
        self.free = head;
        self.left = chunk.len as usize;
        self.in_wheel -= self.left;
        let Some(places) = self.current.first_chunk_mut() else { return 0 };
        chunk.sort_into(self.shift, places)
    }

    /// Takes a bucket into which far events fall.
    #[cold]
    #[inline(never)]
    fn take_far(&mut self, bucket: u64, near_too: bool) -> u32 {
        if near_too {
            self.take_near(bucket);
        }
        self.current.truncate(self.left);
        while let Some(Reverse(event)) = self.far.peek() {
            if event.time >> self.shift != bucket {
                break;
            }
            self.current.push(*event);
            self.far.pop();
        }
        self.left = self.current.len();
        self.current.resize(self.left.max(SHORT), Event::LAST);
        self.far_from = self.far.peek().map_or(u64::MAX, |Reverse(event)| event.time);
        sort_by_time(&mut self.current[..self.left])
    }

    /// Takes the events of two chunks.
    #[inline(never)]
    fn take_two(&mut self, head: u32) -> u32 {
        let first = &self.chunks[head as usize];
        let Some(second) = self.chunks.get(first.next as usize).filter(|of| of.next == NIL && self.shift < WIDE) else {
            return self.take_many(head);
        };
        let mut keys = [0; 2 * IN_CHUNK];
        // The chunk that was begun first is full.
        let (full, more) = keys.split_at_mut(IN_CHUNK);
        full.copy_from_slice(&sorted(second.keys::<IN_CHUNK>(self.shift)));
        more.copy_from_slice(&first.keys::<IN_CHUNK>(self.shift).map(|key| key | SECOND));
        let keys = &mut keys[..IN_CHUNK + first.len as usize];
        for i in IN_CHUNK..keys.len() {
            insert(keys, i, |key, other| key > other);
        }
        let mut ties = 0;
        let mut before = u32::MAX;
        for (place, &key) in self.current.iter_mut().zip(&*keys) {
            let chunk = if key & SECOND == 0 { second } else { first };
            *place = chunk.events[chunk.place(key)];
            ties += u32::from((before ^ key) >> PLACE_BITS == 0);
            before = key;
        }
        self.left = keys.len();
        self.in_wheel -= self.left;
        let last = first.next as usize;
        self.chunks[last].next = self.free;
        self.free = head;
        ties
    }

    /// Takes the events of three chunks or more.
    #[inline(never)]
    fn take_many(&mut self, head: u32) -> u32 {
        self.current.clear();
        let mut index = head;
        loop {
            let chunk = &mut self.chunks[index as usize];
            self.current.extend_from_slice(&chunk.events[..chunk.len as usize]);
            if chunk.next == NIL {
                chunk.next = self.free;
                self.free = head;
                break;
            }
            index = chunk.next;
        }
        self.left = self.current.len();
        self.in_wheel -= self.left;
        self.current.resize(self.left.max(SHORT), Event::LAST);
        sort_by_time(&mut self.current[..self.left])
    }

    /// Orders events of one instant, which lie together.
    #[cold]
    #[inline(never)]
    fn order_ties(&mut self) {
        for alike in self.current[..self.left].chunk_by_mut(|a, b| a.time == b.time) {
            match alike {
                [_] => {}
                [a, b] => {
                    if a.key() < b.key() {
                        std::mem::swap(a, b);
                    }
                }
                _ => self.ties.order(alike),
            }
        }
    }

    /// The absolute number of the first occupied bucket after the cursor.
    /// One exists.
    fn next_occupied(&self) -> u64 {
        let buckets = self.heads.len();
        let start = (self.cursor as usize + 1) & (buckets - 1);
        let words = self.occupied.len();
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (!0 << (start % 64));
        while bits == 0 {
            word = if word + 1 == words { 0 } else { word + 1 };
            bits = self.occupied[word];
        }
        let slot = word * 64 + bits.trailing_zeros() as usize;
        let ahead = (slot + buckets - start) & (buckets - 1);
        self.cursor + 1 + ahead as u64
    }

    /// Makes buckets hold a few events each and the wheel reach as far as most events do.
    #[cold]
    fn adapt(&mut self) {
        let watch = std::mem::take(&mut self.watch);
        self.patience = (self.patience * 2).min(ADAPT_EVERY);
        let handled = watch.pops + watch.into_current;
        let per_bucket = f64::from(handled) / f64::from(watch.buckets.max(1));
        // Events that coincide share a bucket, however narrow it is.
        let apart = f64::from(handled - watch.ties) / f64::from(watch.buckets.max(1));
        // With many events pending their state is out of the cache; longer buckets let the event
        // loop prefetch more of it at once.
        let aim = if self.is_large() { 20.0 } else { 5.0 };
        let (mut shift, mut buckets) = (self.shift, self.heads.len());
        // More buckets than this would be empty. The reach is kept within it.
        let enough = (4 * self.len()).next_power_of_two().clamp(self.first, MOST_BUCKETS);
        if per_bucket > 2.0 * aim && apart > 2.0 {
            let steps = (apart.min(per_bucket / aim).log2() as u32).min(shift.saturating_sub(4));
            shift -= steps;
            buckets = (buckets << steps).min(enough.max(buckets));
        } else if per_bucket < 0.6 * aim && shift < 40 {
            shift += 1;
            buckets = (buckets / 2).max(self.first);
        }
        if watch.far_pushes > handled / 16 && buckets < 4 * enough {
            buckets = (2 * buckets).min(MOST_BUCKETS);
        }
        if shift != self.shift || buckets != self.heads.len() {
            self.rebuild(shift, buckets);
        }
    }

    fn rebuild(&mut self, shift: u32, buckets: usize) {
        let mut all: Vec<Event> = Vec::with_capacity(self.len());
        all.extend(&self.current[..self.left]);
        self.left = 0;
        for head in &self.heads {
            let mut index = *head;
            while index != NIL {
                let chunk = self.chunks[index as usize];
                all.extend(&chunk.events[..chunk.len as usize]);
                index = chunk.next;
            }
        }
        all.extend(self.far.drain().map(|Reverse(event)| event));
        self.far_from = u64::MAX;
        // Nothing earlier than the end of the drained bucket is left.
        let start = (self.cursor + 1) << self.shift;
        self.chunks.clear();
        self.free = NIL;
        self.in_wheel = 0;
        self.heads = vec![NIL; buckets];
        self.occupied = vec![0; buckets / 64];
        self.shift = shift;
        self.cursor = (start >> shift).saturating_sub(1);
        for event in all {
            self.push(event);
        }
        self.watch = Watch::default();
    }
}

impl Chunk {
    /// The events, latest first; those of one instant in any order. How many have the time of the one before.
    #[inline(always)]
    fn sort_into(&self, shift: u32, places: &mut [Event; IN_CHUNK]) -> u32 {
        match self.len {
            2 => self.sort::<2>(shift, places),
            3 => self.sort::<3>(shift, places),
            4 => self.sort::<4>(shift, places),
            5 => self.sort::<5>(shift, places),
            6 => self.sort::<6>(shift, places),
            7 => self.sort::<7>(shift, places),
            _ => {
                places[0] = self.events[0];
                0
            }
        }
    }

    /// Words of what differs in the times of a bucket, and the place.
    #[inline(always)]
    fn keys<const N: usize>(&self, shift: u32) -> [u32; N] {
        let within = (1u64 << shift) - 1;
        let mut keys = [0; N];
        for (i, (key, event)) in keys.iter_mut().zip(&self.events).enumerate() {
            *key = ((event.time & within) as u32) << PLACE_BITS | i as u32;
        }
        keys
    }

    /// The place of a key.
    #[inline(always)]
    fn place(&self, key: u32) -> usize {
        // Smaller in any case; this is for the compiler.
        (key as usize & (SECOND as usize - 1)).min(IN_CHUNK - 1)
    }

    #[inline(always)]
    fn sort<const N: usize>(&self, shift: u32, places: &mut [Event; IN_CHUNK]) -> u32 {
        let keys = sorted(self.keys::<N>(shift));
        for (place, key) in places.iter_mut().zip(keys) {
            *place = self.events[self.place(key)];
        }
        let mut ties = 0;
        for i in 1..N {
            ties += u32::from((keys[i - 1] ^ keys[i]) >> PLACE_BITS == 0);
        }
        ties
    }
}

/// How many have the time of the one before.
#[inline(always)]
fn ties(events: &[Event]) -> u32 {
    events.windows(2).map(|pair| u32::from(pair[0].time == pair[1].time)).sum()
}

/// Latest first; those of one instant in any order. How many have the time of the one before.
#[inline(never)]
fn sort_by_time(events: &mut [Event]) -> u32 {
    match events.len() {
        0 | 1 => return 0,
        2..=24 => (1..events.len()).for_each(|i| {
            insert(events, i, later);
        }),
        _ => sort_long(events),
    }
    ties(events)
}

/// In a long one events coincide, and may be in order already. If not, a general sort takes over.
#[inline(never)]
fn sort_long(events: &mut [Event]) {
    let mut moves = 0;
    for i in 1..events.len() {
        moves += insert(events, i, later);
        if moves > MOST_MOVES {
            events.sort_unstable_by_key(|event| Reverse(event.time));
            return;
        }
    }
}

/// Moves an item to its place among those before it: ahead of all that it is later than; how far.
#[inline(always)]
fn insert<T: Copy>(items: &mut [T], from: usize, later: impl Fn(T, T) -> bool) -> usize {
    let item = items[from];
    let mut at = from;
    while at > 0 && later(item, items[at - 1]) {
        items[at] = items[at - 1];
        at -= 1;
    }
    items[at] = item;
    from - at
}

/// Whether an event is later than another.
#[inline(always)]
fn later(event: Event, other: Event) -> bool {
    event.time > other.time
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{KINDS, LARGEST_INDEX, LAST_SEQUENCE};
    use crate::rng::stream;
    use crate::units::Time;
    use proptest::prelude::*;

    /// Miri takes a thousand times as long; it looks for other faults.
    const fn rounds(all: usize) -> usize {
        if cfg!(miri) { all / 2_000 } else { all }
    }
    const KEYS: u64 = if cfg!(miri) { 50 } else { 500 };
    const MANY: usize = if cfg!(miri) { 40 } else { 300 };

    /// Pops everything from both, pushing `more` along the way, and compares.
    fn same_as_heap(first: &[Event], more: impl Fn(&mut crate::Rng, Event) -> Vec<Event>, pops: usize) {
        let mut rng = stream(9, "queue test", 0);
        let (mut queue, mut heap) = (EventQueue::default(), BinaryHeap::new());
        for event in first {
            queue.push(*event);
            heap.push(Reverse(event.key()));
        }
        for _ in 0..pops {
            let found = queue.pop();
            assert_eq!(found.map(Event::key), heap.pop().map(|Reverse(key)| key));
            let Some(event) = found else { break };
            for next in more(&mut rng, event) {
                queue.push(next);
                heap.push(Reverse(next.key()));
            }
            assert_eq!(queue.len(), heap.len());
        }
    }

    #[test]
    fn in_turn_the_first_scheduled_comes_first() {
        let at = Time::from_ns(7);
        let keys =
            [Event::sequenced(at, 1, 9, 5), Event::sequenced(at, 2, 0, 0), Event::sequenced(Time::from_ns(6), 3, 4, 1)];
        assert_eq!(keys.map(|key| (key.kind(), key.index())), [(9, 5), (0, 0), (4, 1)]);
        let mut queue = EventQueue::default();
        for key in [keys[1], keys[2], keys[0]] {
            queue.push(key);
        }
        let order: Vec<Event> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [keys[2], keys[0], keys[1]], "by time, then by sequence, whatever they are");
        let last = Event::sequenced(at, LAST_SEQUENCE, KINDS - 1, LARGEST_INDEX);
        assert_eq!((last.kind(), last.index()), (KINDS - 1, LARGEST_INDEX));
    }

    #[test]
    fn hold_model_agrees_with_a_heap_at_every_width() {
        // Mean gaps from 50 ps to 50 us between events force the width both ways.
        for mean_ps in [50.0, 5e3, 5e5, 5e7, 5e9] {
            let first: Vec<Event> =
                (0..KEYS).map(|i| Event::new(Time::from_ps(i * 7), (i % 5) as u8, i as u32)).collect();
            same_as_heap(
                &first,
                |rng, key| {
                    let far = if rng.below(50) == 0 { 1e4 } else { 1.0 };
                    let ahead = rng.exponential(mean_ps * KEYS as f64 * far) as u64;
                    vec![Event::new(Time::from_ps(key.time().ps() + ahead), key.kind(), key.index())]
                },
                rounds(120_000),
            );
        }
    }

    #[test]
    fn changing_density_is_followed() {
        let first: Vec<Event> = (0..100).map(|i| Event::new(Time::from_ps(i), 0, i as u32)).collect();
        same_as_heap(
            &first,
            |rng, key| {
                // Dense for a millisecond, sparse for the next, and so on.
                let mean = if key.time().ps() / 1_000_000_000 % 2 == 0 { 2e6 } else { 9e8 };
                let ahead = rng.exponential(mean) as u64;
                vec![Event::new(Time::from_ps(key.time().ps() + ahead), 0, key.index())]
            },
            rounds(200_000),
        );
    }

    #[test]
    fn what_is_looked_at_or_comes_too_late_stays() {
        let mut queue = EventQueue::default();
        assert!(queue.is_empty() && queue.peek().is_none() && queue.bound() == Key::LAST);
        let events = [3u64, 900, 30_000_000].map(|ns| Event::new(Time::from_ns(ns), 1, 5));
        let keys = events.map(Event::key);
        for event in events {
            queue.push(event);
        }
        assert!(!queue.is_empty() && queue.bound() <= keys[0]);
        assert_eq!((queue.peek(), queue.len()), (Some(keys[0]), 3));
        assert_eq!((queue.pop_before(keys[0]), queue.bound()), (None, keys[0]));
        assert_eq!(queue.pop_before(keys[0].next()), Some(events[0]));
        for limit in [Time::from_ns(4), Time::from_ns(300), Time::from_ns(900)] {
            assert_eq!(queue.pop_before(Key::before(limit)), None);
            assert!(queue.bound() <= keys[1] && queue.bound() > keys[0]);
        }
        // What is earlier than what comes too late still comes first.
        let between = Event::new(Time::from_ns(500), 0, 0);
        queue.push(between);
        assert_eq!(queue.pop_before(keys[2]), Some(between));
        assert_eq!(queue.pop_before(keys[2]), Some(events[1]));
        assert_eq!((queue.pop_before(keys[2]), queue.bound()), (None, keys[2]));
        assert_eq!([queue.pop(), queue.pop()], [Some(events[2]), None]);
        assert!(queue.is_empty());
    }

    proptest! {
        /// Windows of any length, with pushes between them, give the order of a heap.
        #[test]
        fn windows_agree_with_a_heap(windows in proptest::collection::vec((1u64..1 << 22, proptest::collection::vec((0u64..1 << 24, 0u32..50), 0..6)), 0..MANY)) {
            let (mut queue, mut heap, mut now) = (EventQueue::small(), BinaryHeap::new(), 0);
            for (length, more) in windows {
                for (ahead, index) in more {
                    let event = Event::new(Time::from_ps(now + ahead), 1, index);
                    queue.push(event);
                    heap.push(Reverse(event.key()));
                }
                now += length;
                let limit = Key::before(Time::from_ps(now));
                while let Some(event) = queue.pop_before(limit) {
                    prop_assert_eq!(Some(Reverse(event.key())), heap.pop());
                }
                prop_assert!(heap.peek().is_none_or(|Reverse(key)| *key >= limit && queue.bound() <= *key));
                prop_assert_eq!(queue.len(), heap.len());
            }
        }
    }

    /// The wheel follows the traffic; without that a run is slow, and no other test fails.
    #[test]
    #[cfg_attr(miri, ignore = "needs many events")]
    fn the_wheel_adapts() {
        let mut queue = EventQueue::default();
        let first = queue.shift;
        for gap_ps in [50, 50_000_000] {
            let start = queue.peek().map_or(0, |key| key.time().ps());
            while queue.pop().is_some() {}
            for i in 0..100u64 {
                queue.push(Event::new(Time::from_ps(start + i * gap_ps), 0, i as u32));
            }
            for _ in 0..40 * ADAPT_EVERY {
                let key = queue.pop().unwrap();
                queue.push(Event::new(Time::from_ps(key.time().ps() + 100 * gap_ps), 0, key.index()));
            }
            let per_bucket = (1u64 << queue.shift) / gap_ps;
            assert!((2..=16).contains(&per_bucket), "{per_bucket} events in a bucket of 2^{} ps", queue.shift);
        }
        assert_ne!(queue.shift, first);
    }

    /// Many events of few instants, as of ranks that move in step.
    #[test]
    fn events_of_one_instant_agree_with_a_heap() {
        let first: Vec<Event> = (0..KEYS as u32).map(|i| Event::new(Time::from_ns(5), 1, i)).collect();
        let step = |rng: &mut crate::Rng, event: Event| {
            let at = Time::from_ps(event.time().ps() + 1_000 * (1 + rng.below(2)));
            vec![Event::named(at, (rng.below(3)) as u8, event.index().wrapping_mul(0x9e37_79b9), event.index())]
        };
        same_as_heap(&first, step, rounds(100_000));
    }

    proptest! {
        #[test]
        fn any_sequence_agrees_with_a_heap(times in proptest::collection::vec((0u64..1 << 40, 0u8..8, 0u32..50), 0..MANY)) {
            let events: Vec<Event> = times.iter().map(|(t, k, i)| Event::new(Time::from_ps(*t), *k, *i)).collect();
            same_as_heap(&events, |_, _| Vec::new(), events.len() + 1);
        }
    }
}
