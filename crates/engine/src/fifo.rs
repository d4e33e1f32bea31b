//! Many queues in one arena: memory follows what is queued in all of them together.
//!
//! Items lie in short chunks. A queue links the chunks it needs and gives each but its last back as
//! soon as it is used up, to be reused at once by whichever queue grows next: while it is still in
//! the cache. A queue that was long once keeps one chunk, a queue never used none.

const NIL: u32 = u32::MAX;
/// Items per chunk: a few cache lines.
const CHUNK: usize = 8;

/// The storage of many [`Fifo`]s.
#[derive(Debug)]
pub struct Pool<T> {
    chunks: Vec<Chunk<T>>,
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Chunk<T> {
    items: [T; CHUNK],
    next: u32,
}

/// One first-in-first-out queue of a [`Pool`]. Always used with the same pool.
#[derive(Clone, Copy, Debug)]
pub struct Fifo {
    head: u32,
    tail: u32,
    len: u32,
    /// Where the first item lies in its chunk, and where the next one goes in the last.
    first: u8,
    end: u8,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo { head: NIL, tail: NIL, len: 0, first: 0, end: 0 }
    }
}

impl Fifo {
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { chunks: Vec::new(), free: NIL }
    }
}

impl<T> Pool<T> {
    /// A pool that need not move before it holds so many items. Room that is not used costs address space, no memory;
    /// and what has never moved has left no holes behind.
    pub fn with_room(items: usize) -> Pool<T> {
        Pool { chunks: Vec::with_capacity(items / CHUNK), free: NIL }
    }
}

impl<T: Copy + Default> Pool<T> {
    #[inline]
    pub fn push(&mut self, fifo: &mut Fifo, item: &T) {
        if fifo.tail == NIL || usize::from(fifo.end) == CHUNK {
            self.extend(fifo);
        }
        self.chunks[fifo.tail as usize].items[usize::from(fifo.end) % CHUNK] = *item;
        fifo.end += 1;
        fifo.len += 1;
    }

    /// The oldest item.
    #[inline]
    pub fn front(&self, fifo: &Fifo) -> Option<&T> {
        if fifo.len == 0 {
            return None;
        }
        Some(&self.chunks[fifo.head as usize].items[usize::from(fifo.first) % CHUNK])
    }

    /// Where the oldest item lies, if there is one; otherwise perhaps what lay there. For whoever wants it fetched.
    #[inline(always)]
    pub fn place_of_front(&self, fifo: &Fifo) -> Option<&T> {
        Some(&self.chunks.get(fifo.head as usize)?.items[usize::from(fifo.first) % CHUNK])
    }

    /// Forgets the oldest item, which must exist.
    #[inline]
    pub fn drop_front(&mut self, fifo: &mut Fifo) {
        debug_assert!(fifo.len > 0);
        fifo.first += 1;
        fifo.len -= 1;
        if fifo.len == 0 {
            // It starts again in the chunk it has.
            fifo.first = 0;
            fifo.end = 0;
        } else if usize::from(fifo.first) == CHUNK {
            self.retire(fifo);
        }
    }

    /// Forgets the oldest item, which must exist, and shows the one behind it.
    #[inline(always)]
    pub fn next_front(&mut self, fifo: &mut Fifo) -> Option<&T> {
        debug_assert!(fifo.len > 0);
        fifo.len -= 1;
        if fifo.len == 0 {
            // It starts again in the chunk it has.
            (fifo.first, fifo.end) = (0, 0);
            return None;
        }
        fifo.first += 1;
        if usize::from(fifo.first) == CHUNK {
            self.retire(fifo);
        }
        Some(&self.chunks[fifo.head as usize].items[usize::from(fifo.first) % CHUNK])
    }

    #[inline]
    pub fn pop(&mut self, fifo: &mut Fifo) -> Option<T> {
        let item = *self.front(fifo)?;
        self.drop_front(fifo);
        Some(item)
    }

    /// From the oldest to the newest.
    pub fn iter<'a>(&'a self, fifo: &Fifo) -> impl Iterator<Item = &'a T> + use<'a, T> {
        let (mut chunk, mut at) = (fifo.head, usize::from(fifo.first));
        (0..fifo.len).map(move |_| {
            if at == CHUNK {
                (chunk, at) = (self.chunks[chunk as usize].next, 0);
            }
            at += 1;
            &self.chunks[chunk as usize].items[at - 1]
        })
    }

    pub fn clear(&mut self, fifo: &mut Fifo) {
        while self.pop(fifo).is_some() {}
    }

    /// Items that would fit without asking the system for memory.
    pub fn capacity(&self) -> usize {
        self.chunks.len() * CHUNK
    }

    /// A further chunk at the end of a queue.
    #[cold]
    #[inline(never)]
    fn extend(&mut self, fifo: &mut Fifo) {
        let index = if self.free == NIL {
            self.chunks.push(Chunk { items: [T::default(); CHUNK], next: NIL });
            (self.chunks.len() - 1) as u32
        } else {
            let index = self.free;
            self.free = self.chunks[index as usize].next;
            self.chunks[index as usize].next = NIL;
            index
        };
        if fifo.tail == NIL {
            fifo.head = index;
            fifo.first = 0;
        } else {
            self.chunks[fifo.tail as usize].next = index;
        }
        fifo.tail = index;
        fifo.end = 0;
    }

    /// The first chunk of a queue is used up.
    #[inline(never)]
    fn retire(&mut self, fifo: &mut Fifo) {
        let index = fifo.head;
        fifo.head = self.chunks[index as usize].next;
        fifo.first = 0;
        self.chunks[index as usize].next = self.free;
        self.free = index;
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
        let most = 1000 + 101 * CHUNK;
        assert!(pool.capacity() <= most, "one long queue at a time: room for {}", pool.capacity());
    }
}
