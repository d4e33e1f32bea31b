//! A recycling arena: values by `u32` index, freed slots reused, memory follows what is alive.

/// Values addressed by a stable `u32`.
#[derive(Debug)]
pub struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub fn insert(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = Some(value);
                index
            }
            None => {
                self.slots.push(Some(value));
                (self.slots.len() - 1) as u32
            }
        }
    }

    pub fn remove(&mut self, index: u32) -> T {
        let value = self.slots[index as usize].take().expect("removed once only");
        self.free.push(index);
        value
    }

    /// How many values are alive.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many slots were ever needed at once.
    pub fn peak(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.slots.get(index as usize)?.as_ref()
    }

    #[inline]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.slots.get_mut(index as usize)?.as_mut()
    }

    /// Living values in index order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.slots.iter().enumerate().filter_map(|(i, slot)| slot.as_ref().map(|value| (i as u32, value)))
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        self.slots[index as usize].as_ref().expect("index of a living value")
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        self.slots[index as usize].as_mut().expect("index of a living value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn slots_are_reused() {
        let mut slab = Slab::default();
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
            let (mut slab, mut reference) = (Slab::default(), BTreeMap::new());
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
