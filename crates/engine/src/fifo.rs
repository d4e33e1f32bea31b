//! Many queues in one arena: memory follows what is queued in all of them together.
//!
//! Items lie in short chunks of one flat array. A queue links the chunks it needs and gives each but its
//! last back as soon as it is used up, to be reused at once by whichever queue grows next: while it is still
//! in the cache. A queue that was long once keeps one chunk, a queue never used none.

const NIL: u32 = u32::MAX;
/// Items per chunk: a few cache lines.
const CHUNK: u32 = 8;

/// The storage of many [`Fifo`]s.
#[derive(Debug)]
pub struct Pool<T> {
    items: Vec<T>,
    /// Index of the next chunk of the same queue, or of the free list, per chunk.
    next: Vec<u32>,
    free: u32,
}

/// One first-in-first-out queue of a [`Pool`]. Always used with the same pool.
#[derive(Clone, Copy, Debug)]
pub struct Fifo {
    /// Where the oldest item lies, and where the next one goes: a chunk is there for it, unless there never was one.
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

    /// Whether nothing is queued; it may still own one chunk of its pool.
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
        let next = Vec::with_capacity(items / CHUNK as usize);
        Pool { items: Vec::with_capacity(items), next, free: NIL }
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
        match self.items.get_mut(fifo.end as usize) {
            Some(place) => write(place),
            None => write(self.begin(fifo)),
        }
        fifo.end += 1;
        fifo.len += 1;
        if fifo.end.is_multiple_of(CHUNK) {
            self.extend(fifo);
        }
    }

    /// The oldest item.
    #[inline]
    pub fn front(&self, fifo: &Fifo) -> Option<&T> {
        if fifo.len == 0 {
            return None;
        }
        self.items.get(fifo.first as usize)
    }

    /// Address of the oldest item, for prefetching; of a stale item if the queue is empty.
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
        if fifo.first.is_multiple_of(CHUNK) {
            self.retire(fifo);
        }
        if fifo.len == 0 {
            // It starts again in the chunk it has.
            fifo.first -= fifo.first % CHUNK;
            fifo.end = fifo.first;
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
            if at.is_multiple_of(CHUNK) {
                at = self.next[(at / CHUNK - 1) as usize];
            }
            item
        })
    }

    /// Forgets what is queued; all chunks but one go back to the pool.
    pub fn clear(&mut self, fifo: &mut Fifo) {
        while self.pop(fifo).is_some() {}
    }

    /// Items that would fit without asking the system for memory.
    pub fn capacity(&self) -> usize {
        self.items.len()
    }

    /// A place for the first item ever of a queue.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, fifo: &mut Fifo) -> &mut T {
        fifo.first = self.take_chunk();
        fifo.end = fifo.first;
        &mut self.items[fifo.first as usize]
    }

    /// The last chunk of a queue is full, and gets a successor.
    #[inline(never)]
    fn extend(&mut self, fifo: &mut Fifo) {
        let chunk = self.take_chunk();
        self.next[(fifo.end / CHUNK - 1) as usize] = chunk;
        fifo.end = chunk;
    }

    /// The first chunk of a queue is used up.
    #[inline(never)]
    fn retire(&mut self, fifo: &mut Fifo) {
        let used_up = fifo.first - CHUNK;
        let next = &mut self.next[(used_up / CHUNK) as usize];
        fifo.first = std::mem::replace(next, self.free);
        self.free = used_up;
    }

    /// Where a chunk begins that no queue has.
    fn take_chunk(&mut self) -> u32 {
        if self.free == NIL {
            let chunk = self.items.len() as u32;
            self.items.resize(self.items.len() + CHUNK as usize, T::default());
            self.next.push(NIL);
            return chunk;
        }
        let chunk = self.free;
        self.free = self.next[(chunk / CHUNK) as usize];
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
        fn several_queues_behave_like_deques(operations in proptest::collection::vec((0usize..3, proptest::option::of(any::<u16>())), 0..if cfg!(miri) { 40 } else { 600 })) {
            let mut pool = Pool::default();
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
        let most = 1000 + 101 * CHUNK as usize;
        assert!(pool.capacity() <= most, "one long queue at a time: room for {}", pool.capacity());
    }
}
