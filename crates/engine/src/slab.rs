//! A recycling arena: values by id, freed slots reused, memory follows what is alive.

use crate::table::Id;

/// Slots from which on a slab grows by a quarter and not to double its size: there are many slabs, and what is not used
/// of them adds up.
const LARGE: usize = 64;

/// Values addressed by a stable id.
#[derive(Debug)]
pub struct Slab<I, T> {
    slots: Vec<Option<T>>,
    free: Vec<I>,
}

impl<I, T> Default for Slab<I, T> {
    fn default() -> Self {
        Slab { slots: Vec::new(), free: Vec::new() }
    }
}

impl<I: Id, T> Slab<I, T> {
    /// The id is that of the slot freed last, or a new one.
    pub fn insert(&mut self, value: T) -> I {
        match self.free.pop() {
            Some(id) => {
                self.slots[id.index()] = Some(value);
                id
            }
            None => {
                if self.slots.len() == self.slots.capacity() && self.slots.len() >= LARGE {
                    self.slots.reserve_exact(self.slots.len() / 4);
                }
                self.slots.push(Some(value));
                I::at(self.slots.len() - 1)
            }
        }
    }

    /// Frees the slot for the next value. Panics if the id is not alive.
    pub fn remove(&mut self, id: I) -> T {
        let value = self.slots[id.index()].take().expect("removed once only");
        self.free.push(id);
        value
    }

    /// How many values are alive.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether no value is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many slots were ever needed at once.
    pub fn peak(&self) -> usize {
        self.slots.len()
    }

    /// None once the value is removed; the id may then belong to another.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.slots.get(id.index())?.as_ref()
    }

    /// Mutable [`Slab::get`].
    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.slots.get_mut(id.index())?.as_mut()
    }

    /// Living values in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.slots.iter().enumerate().filter_map(|(i, slot)| slot.as_ref().map(|value| (I::at(i), value)))
    }
}

impl<I: Id, T> std::ops::Index<I> for Slab<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        self.slots[id.index()].as_ref().expect("id of a living value")
    }
}

impl<I: Id, T> std::ops::IndexMut<I> for Slab<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        self.slots[id.index()].as_mut().expect("id of a living value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn slots_are_reused() {
        let mut slab: Slab<u32, &str> = Slab::default();
        let a = slab.insert("a");
        let b = slab.insert("b");
        assert_eq!(slab.remove(a), "a");
        assert_eq!(slab.len(), 1);
        let c = slab.insert("c");
        assert_eq!(c, a);
        assert_eq!((slab[b], slab[c]), ("b", "c"));
        assert_eq!(slab.peak(), 2);
    }

    proptest! {
        /// Each operation inserts, removes the oldest index alive, or changes it.
        #[test]
        fn behaves_like_a_map(operations in proptest::collection::vec((0u8..3, any::<u16>()), 0..200)) {
            let (mut slab, mut reference) = (Slab::<u32, u16>::default(), BTreeMap::new());
            let mut peak = 0;
            for (operation, value) in operations {
                match (operation, reference.keys().next().copied()) {
                    (0, _) | (_, None) => {
                        let index = slab.insert(value);
                        prop_assert_eq!(reference.insert(index, value), None, "the slot was taken");
                    }
                    (1, Some(index)) => {
                        prop_assert_eq!(Some(slab.remove(index)), reference.remove(&index));
                        prop_assert_eq!(slab.get(index), None);
                        prop_assert_eq!(slab.get_mut(index), None);
                    }
                    (_, Some(index)) => {
                        slab[index] = value;
                        *slab.get_mut(index).unwrap() ^= 1;
                        reference.insert(index, value ^ 1);
                    }
                }
                peak = peak.max(reference.len());
                prop_assert_eq!((slab.len(), slab.is_empty(), slab.peak()), (reference.len(), reference.is_empty(), peak));
                prop_assert!(slab.iter().eq(reference.iter().map(|(index, value)| (*index, value))));
                prop_assert!(reference.iter().all(|(index, value)| slab.get(*index) == Some(value)));
            }
        }
    }
}
