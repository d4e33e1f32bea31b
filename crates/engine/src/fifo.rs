//! Many queues in one arena: memory follows what is queued in all of them together.
//!
//! Items lie in short chunks of one flat array. A queue links the chunks it needs and gives each back as soon as it is
//! used up, to be reused at once by whichever queue grows next: while it is still in the cache. An empty queue has at
//! most one.

/// Items per chunk, as a power of two: a few cache lines, and fewer where there are many pools.
const SHIFT: u32 = 3;
const FRUGAL_SHIFT: u32 = 1;
/// No chunk begins there, though one might.
const NIL: u32 = u32::MAX << SHIFT;

/// The storage of many [`Fifo`]s.
#[derive(Debug)]
pub struct Pool<T> {
    items: Vec<T>,
    /// First item of the next chunk of the same queue, or of the free list, per chunk.
    next: Vec<u32>,
    free: u32,
    /// Items per chunk, as a power of two, and less one.
    shift: u32,
    mask: u32,
    /// Whether an empty queue gives its last chunk back too.
    frugal: bool,
}

/// One first-in-first-out queue of a [`Pool`]. Always used with the same pool.
#[derive(Clone, Copy, Debug)]
pub struct Fifo {
    /// Where the oldest item lies, and the end of the newest: at the end of a chunk, the next item needs another.
    first: u32,
    end: u32,
    len: u32,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo { first: NIL, end: NIL, len: 0 }
    }
}

impl Fifo {
    /// Items queued now.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether nothing is queued.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool::with_room(0)
    }
}

impl<T> Pool<T> {
    /// A pool that need not move before it holds so many items. Room that is not used costs address space, no memory;
    /// and what has never moved has left no holes behind.
    pub fn with_room(items: usize) -> Pool<T> {
        Pool::new(items, SHIFT, false)
    }

    /// A pool with room for as many items that takes less memory and a few instructions more per item: one of many.
    pub fn frugal(items: usize) -> Pool<T> {
        Pool::new(items, FRUGAL_SHIFT, true)
    }

    fn new(items: usize, shift: u32, frugal: bool) -> Pool<T> {
        let (next, mask) = (Vec::with_capacity(items >> shift), (1 << shift) - 1);
        Pool { items: Vec::with_capacity(items), next, free: NIL, shift, mask, frugal }
    }
}

impl<T: Copy + Default> Pool<T> {
    /// At the back. The pool grows only when no chunk is free.
    #[inline]
    pub fn push(&mut self, fifo: &mut Fifo, item: &T) {
        self.push_with(fifo, |place| *place = *item);
    }

    /// Appends an item that is written in place. An item built elsewhere and copied is read back in other pieces than it
    /// was written in, and the processor then waits for its store buffer.
    #[inline(always)]
    pub fn push_with(&mut self, fifo: &mut Fifo, write: impl FnOnce(&mut T)) {
        if fifo.end & self.mask == 0 {
            self.extend(fifo);
        }
        write(&mut self.items[fifo.end as usize]);
        fifo.end += 1;
        fifo.len += 1;
    }

    /// The oldest item.
    #[inline]
    pub fn front(&self, fifo: &Fifo) -> Option<&T> {
        if fifo.len == 0 {
            return None;
        }
        self.items.get(fifo.first as usize)
    }

    /// Address of the oldest item, for prefetching.
    #[inline(always)]
    pub fn place_of_front(&self, fifo: &Fifo) -> Option<&T> {
        self.items.get(fifo.first as usize)
    }

    /// Forgets the oldest item, which must exist.
    #[inline]
    pub fn drop_front(&mut self, fifo: &mut Fifo) {
        debug_assert!(fifo.len > 0);
        fifo.first += 1;
        fifo.len -= 1;
        if fifo.first & self.mask == 0 || (self.frugal && fifo.len == 0) {
            self.retire(fifo);
        }
    }

    /// The oldest item, taken out.
    #[inline]
    pub fn pop(&mut self, fifo: &mut Fifo) -> Option<T> {
        let item = *self.front(fifo)?;
        self.drop_front(fifo);
        Some(item)
    }

    /// From the oldest to the newest.
    pub fn iter<'a>(&'a self, fifo: &Fifo) -> impl Iterator<Item = &'a T> + use<'a, T> {
        let mut at = fifo.first;
        (0..fifo.len).map(move |_| {
            let item = &self.items[at as usize];
            at += 1;
            if at & self.mask == 0 {
                at = self.next[(at >> self.shift) as usize - 1];
            }
            item
        })
    }

    /// Forgets what is queued.
    pub fn clear(&mut self, fifo: &mut Fifo) {
        while self.pop(fifo).is_some() {}
    }

    /// Items that would fit without asking the system for memory.
    pub fn capacity(&self) -> usize {
        self.items.len()
    }

    /// The last chunk of a queue is full, or it has none.
    #[inline(never)]
    fn extend(&mut self, fifo: &mut Fifo) {
        let chunk = self.take_chunk();
        match fifo.len {
            0 => fifo.first = chunk,
            _ => self.next[(fifo.end >> self.shift) as usize - 1] = chunk,
        }
        fifo.end = chunk;
    }

    /// The first chunk of a queue is used up.
    #[inline(never)]
    fn retire(&mut self, fifo: &mut Fifo) {
        let used_up = (fifo.first - 1) >> self.shift;
        let next = std::mem::replace(&mut self.next[used_up as usize], self.free);
        self.free = used_up << self.shift;
        if fifo.len == 0 {
            *fifo = Fifo::default();
        } else {
            fifo.first = next;
        }
    }

    /// Where a chunk begins that no queue has.
    fn take_chunk(&mut self) -> u32 {
        if self.free == NIL {
            let chunk = self.items.len() as u32;
            self.items.resize(self.items.len() + self.mask as usize + 1, T::default());
            self.next.push(NIL);
            return chunk;
        }
        let chunk = self.free;
        self.free = self.next[(chunk >> self.shift) as usize];
        chunk
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn several_queues_behave_like_deques(frugal: bool, operations in proptest::collection::vec((0usize..3, proptest::option::of(any::<u16>())), 0..if cfg!(miri) { 40 } else { 600 })) {
            let mut pool = if frugal { Pool::frugal(0) } else { Pool::default() };
            let mut fifos = [Fifo::default(); 3];
            let mut references: [VecDeque<u16>; 3] = Default::default();
            for (which, operation) in operations {
                let (fifo, reference) = (&mut fifos[which], &mut references[which]);
                match operation {
                    Some(value) => { pool.push(fifo, &value); reference.push_back(value); }
                    None => prop_assert_eq!(pool.pop(fifo), reference.pop_front()),
                }
                prop_assert_eq!(pool.front(fifo), reference.front());
                prop_assert_eq!((fifo.len(), fifo.is_empty()), (reference.len(), reference.is_empty()));
                prop_assert!(pool.iter(fifo).eq(reference.iter()));
            }
        }
    }

    #[test]
    fn memory_follows_what_is_queued_in_all() {
        let mut pool: Pool<u64> = Pool::default();
        let mut fifos = vec![Fifo::default(); if cfg!(miri) { 3 } else { 100 }];
        for fifo in &mut fifos {
            for i in 0..1000 {
                pool.push(fifo, &i);
            }
            pool.clear(fifo);
        }
        let most = 1000 + (101 << SHIFT);
        assert!(pool.capacity() <= most, "one long queue at a time: room for {}", pool.capacity());
    }
}
