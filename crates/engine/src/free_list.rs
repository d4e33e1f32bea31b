//! Values that are used again and again: by `u32` index, neither made nor destroyed in between.
//!
//! Unlike a [`crate::Slab`] it does not forget what a slot held, so taking one costs nothing however large the
//! values are; the caller that takes a value initialises it.

/// Values by `u32` index, of which some wait to be taken again.
#[derive(Debug)]
pub struct FreeList<T> {
    values: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for FreeList<T> {
    fn default() -> Self {
        FreeList { values: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy + Default> FreeList<T> {
    /// Takes an unused value, with its last content.
    #[inline]
    pub fn take(&mut self) -> (u32, &mut T) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.values.push(T::default());
            (self.values.len() - 1) as u32
        });
        (index, &mut self.values[index as usize])
    }

    /// A copy of `value`.
    pub fn insert(&mut self, value: &T) -> u32 {
        let (index, slot) = self.take();
        *slot = *value;
        index
    }

    /// The value stays as it is and is the next to be taken. Giving it back twice is a bug.
    #[inline]
    pub fn give_back(&mut self, index: u32) {
        debug_assert!((index as usize) < self.values.len() && self.free.len() < self.values.len(), "given back twice");
        self.free.push(index);
    }

    /// A value in use, or what is left of one given back; none beyond the largest index ever taken.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.values.get(index as usize)
    }

    /// Mutable [`FreeList::get`].
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.values.get_mut(index as usize)
    }
}

impl<T> std::ops::Index<u32> for FreeList<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.values[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_taken_first_and_as_it_was() {
        let mut list: FreeList<u64> = FreeList::default();
        let a = list.insert(&7);
        let b = list.insert(&8);
        assert_eq!((list[a], list[b], list.get(9)), (7, 8, None));
        list.give_back(a);
        let (again, value) = list.take();
        assert_eq!((again, *value), (a, 7));
        *value = 9;
        assert_eq!(list.get(a), Some(&9));
        assert_eq!(list.get_mut(b), Some(&mut 8));
        assert_eq!(list.take(), (2, &mut 0));
    }
}
