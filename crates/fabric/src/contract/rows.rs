//! Rows of windows, packed: what a port or a flow did takes some four bytes instead of forty.
//!
//! A run keeps its rows until its end, since two windows may still become one. Most values are zero or small, and rows
//! come by window and then by port or flow, so a row says only what differs from the one before it.

use std::fmt;
use std::marker::PhantomData;

/// Values of a row, beside its window and its port or flow.
pub(super) const VALUES: usize = 5;

/// A row that can be packed.
pub trait Row: Copy {
    /// Number of its window, and of its port or flow.
    fn place(&self) -> (u32, u32);
    /// All else, most often small; a row that has fewer values ends with zeros.
    fn values(&self) -> [u64; VALUES];
    /// What [`Row::place`] and [`Row::values`] were taken from.
    fn of(place: (u32, u32), values: [u64; VALUES]) -> Self;
}

/// Rows in the order in which they came.
#[derive(Clone)]
pub struct Rows<R> {
    words: Vec<u16>,
    len: usize,
    last: (u32, u32),
    row: PhantomData<R>,
}

impl<R: Row> Rows<R> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a row behind the others.
    pub fn push(&mut self, row: &R) {
        let (window, entity) = row.place();
        let values = row.values();
        let turns = window != self.last.0;
        let before = if turns { 0 } else { self.last.1 };
        let mut head = u64::from(entity.wrapping_sub(before)) << 1 | u64::from(turns);
        for value in values {
            head = head << 1 | u64::from(value != 0);
        }
        put(&mut self.words, head);
        if turns {
            put(&mut self.words, u64::from(window.wrapping_sub(self.last.0)));
        }
        for value in values.into_iter().filter(|value| *value != 0) {
            put(&mut self.words, value);
        }
        self.last = (window, entity);
        self.len += 1;
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = R> {
        let (mut rest, mut last) = (&self.words[..], (0_u32, 0_u32));
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let head = take(&mut rest);
            if head >> VALUES & 1 != 0 {
                last = (last.0.wrapping_add(take(&mut rest) as u32), 0);
            }
            last.1 = last.1.wrapping_add((head >> (VALUES + 1)) as u32);
            let mut values = [0; VALUES];
            for (place, value) in values.iter_mut().enumerate() {
                if head >> (VALUES - 1 - place) & 1 != 0 {
                    *value = take(&mut rest);
                }
            }
            Some(R::of(last, values))
        })
    }
}

impl<R> Default for Rows<R> {
    fn default() -> Rows<R> {
        Rows { words: Vec::new(), len: 0, last: (0, 0), row: PhantomData }
    }
}

/// Compares words, which are the same for the same rows.
impl<R> PartialEq for Rows<R> {
    fn eq(&self, other: &Rows<R>) -> bool {
        self.words == other.words
    }
}

impl<R: Row + fmt::Debug> fmt::Debug for Rows<R> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_list().entries(self.iter()).finish()
    }
}

/// Fifteen bits to a word, the lowest first; the highest bit says that more follow.
#[inline]
fn put(words: &mut Vec<u16>, mut value: u64) {
    while value >= 0x8000 {
        words.push(value as u16 | 0x8000);
        value >>= 15;
    }
    words.push(value as u16);
}

#[inline]
fn take(rest: &mut &[u16]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    while let Some((&word, after)) = rest.split_first() {
        *rest = after;
        value |= u64::from(word & 0x7fff) << shift;
        if word < 0x8000 {
            break;
        }
        shift += 15;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Any((u32, u32), [u64; VALUES]);

    impl Row for Any {
        fn place(&self) -> (u32, u32) {
            self.0
        }
        fn values(&self) -> [u64; VALUES] {
            self.1
        }
        fn of(place: (u32, u32), values: [u64; VALUES]) -> Any {
            Any(place, values)
        }
    }

    #[test]
    fn rows_come_back_in_any_order_of_flows() {
        let given = [
            Any((0, 0), [0; VALUES]),
            Any((0, 7), [12_500, 0, 0, 0, 1]),
            Any((0, 3), [u64::MAX, 1 << 63, 127, 128, 0]),
            Any((4, u32::MAX), [0, 0, 1, 0, 0]),
            Any((u32::MAX, 1), [1; VALUES]),
        ];
        let mut rows = Rows::default();
        assert!(rows.is_empty());
        given.iter().for_each(|row| rows.push(row));
        assert_eq!((rows.len(), rows.iter().collect::<Vec<_>>()), (5, given.to_vec()));
        assert!(rows == rows.clone() && rows != Rows::default());
    }
}
