//! A growable FIFO of plain values: one allocation, power-of-two capacity, no per-item cost.

/// First in, first out. Empty rings own no memory, so a million idle queues are cheap.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    items: Vec<T>,
    head: u32,
    len: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring { items: Vec::new(), head: 0, len: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    /// Items queued now.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether nothing is queued; memory once needed is kept.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// At the back. A full ring doubles, from 4 items on.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.len as usize == self.items.len() {
            self.grow();
        }
        let mask = self.items.len() - 1;
        self.items[(self.head as usize + self.len as usize) & mask] = item;
        self.len += 1;
    }

    /// The oldest item, taken out.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let mask = self.items.len() - 1;
        let item = self.items[self.head as usize & mask];
        self.head = (self.head + 1) & mask as u32;
        self.len -= 1;
        Some(item)
    }

    /// Forgets the front, which must exist.
    #[inline]
    pub fn drop_front(&mut self) {
        debug_assert!(self.len > 0);
        self.head = (self.head + 1) & (self.items.len() - 1) as u32;
        self.len -= 1;
    }

    /// The oldest item, which stays.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.items.get(self.head as usize) }
    }

    /// From the oldest to the newest.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mask = self.items.len().wrapping_sub(1);
        (0..self.len as usize).map(move |i| &self.items[(self.head as usize + i) & mask])
    }

    /// Forgets all items and keeps the memory.
    pub fn clear(&mut self) {
        self.head = 0;
        self.len = 0;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let capacity = (self.items.len() * 2).max(4);
        let mut items = Vec::with_capacity(capacity);
        items.extend(self.iter().copied());
        items.resize(capacity, T::default());
        self.items = items;
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn behaves_like_a_deque(operations in proptest::collection::vec(proptest::option::of(any::<u16>()), 0..400)) {
            prop_assert!(Ring::<u16>::default().is_empty());
            let (mut ring, mut reference) = (Ring::default(), VecDeque::new());
            for operation in operations {
                match operation {
                    Some(value) => { ring.push(value); reference.push_back(value); }
                    None => prop_assert_eq!(ring.pop(), reference.pop_front()),
                }
                prop_assert_eq!(ring.front(), reference.front());
                prop_assert_eq!((ring.len(), ring.is_empty()), (reference.len(), reference.is_empty()));
            }
            prop_assert!(ring.iter().eq(reference.iter()));
            for _ in 0..reference.len() / 2 {
                ring.drop_front();
                reference.pop_front();
            }
            prop_assert!(ring.iter().eq(reference.iter()));
            ring.clear();
            prop_assert_eq!((ring.len(), ring.pop()), (0, None));
            prop_assert_eq!(ring.front(), None);
            ring.push(7);
            prop_assert_eq!(ring.front(), Some(&7));
        }
    }
}
