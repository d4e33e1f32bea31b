//! Values by consecutive numbers, such as packets by PSN, of which the oldest are forgotten first.

use std::collections::VecDeque;

/// Values by number, from the oldest that is stored on.
#[derive(Clone, Debug)]
pub struct Numbered<T> {
    oldest: u32,
    values: VecDeque<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { oldest: 0, values: VecDeque::new() }
    }
}

impl<T: Copy> Numbered<T> {
    /// Sets the value of a number that is stored, or of the number after the newest.
    pub fn set(&mut self, number: u32, value: T) {
        match self.values.get_mut((number - self.oldest) as usize) {
            Some(known) => *known = value,
            None => self.values.push_back(value),
        }
    }

    /// Returns the value of a number; `None` if it is forgotten or was never set.
    pub fn get(&self, number: u32) -> Option<T> {
        self.values.get(number.checked_sub(self.oldest)? as usize).copied()
    }

    /// Returns the value of the lowest number that is stored.
    pub fn oldest(&self) -> Option<T> {
        self.values.front().copied()
    }

    /// Forgets the values of all numbers below `number`.
    pub fn forget_before(&mut self, number: u32) {
        let count = (number.saturating_sub(self.oldest) as usize).min(self.values.len());
        // Most often few.
        for _ in 0..count {
            self.values.pop_front();
        }
        self.oldest = self.oldest.max(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_number_until_they_are_forgotten() {
        let mut numbered = Numbered::default();
        (0..4).for_each(|number| numbered.set(number, 10 * number));
        numbered.set(2, 7);
        numbered.forget_before(2);
        numbered.forget_before(1);
        assert_eq!([0, 1, 2, 3, 4].map(|number| numbered.get(number)), [None, None, Some(7), Some(30), None]);
        assert_eq!(numbered.oldest(), Some(7));
        numbered.forget_before(9);
        numbered.set(9, 1);
        assert_eq!((numbered.oldest(), numbered.get(9)), (Some(1), Some(1)));
    }
}
