//! Tables whose rows are found by ids of a type of their own: the number of one thing finds no other.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The number of a row.
pub trait Id: Copy {
    /// The id of the row with this index, from 0.
    fn at(index: usize) -> Self;
    /// Place of its row, from 0.
    fn index(self) -> usize;
}

/// Plain numbers do where nothing else could be meant.
impl Id for u32 {
    #[inline]
    fn at(index: usize) -> u32 {
        debug_assert!(u32::try_from(index).is_ok(), "more rows than numbers");
        index as u32
    }

    #[inline]
    fn index(self) -> usize {
        self as usize
    }
}

/// Declares types of ids, each with a line that says what it numbers.
#[macro_export]
macro_rules! ids {
    ($($(#[$about:meta])* $name:ident;)+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(u32);

        impl $name {
            /// Marks an absent id; no table is that long.
            pub const NONE: $name = $name(u32::MAX);

            /// From a plain number; nothing checks that a row has it.
            #[inline]
            pub const fn new(number: u32) -> $name {
                $name(number)
            }

            /// The plain number, to compute with or to store.
            #[inline]
            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl $crate::Id for $name {
            #[inline]
            fn at(index: usize) -> $name {
                $name(<u32 as $crate::Id>::at(index))
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

/// Rows in the order in which they were added.
///
/// ```
/// # use xoff_engine::{Table, ids};
/// ids! { PortId; HostId; }
/// let ports: Table<PortId, &str> = vec!["left", "right"].into();
/// assert_eq!(ports[PortId::new(1)], "right");
/// ```
///
/// Another id finds nothing:
///
/// ```compile_fail
/// # use xoff_engine::{Table, ids};
/// ids! { PortId; HostId; }
/// let ports: Table<PortId, &str> = vec!["left", "right"].into();
/// assert_eq!(ports[HostId::new(1)], "right");
/// ```
#[derive(Clone, Debug)]
pub struct Table<I, T> {
    rows: Vec<T>,
    by: PhantomData<I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Table::from(Vec::new())
    }
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(rows: Vec<T>) -> Self {
        Table { rows, by: PhantomData }
    }
}

impl<I, T> FromIterator<T> for Table<I, T> {
    fn from_iter<R: IntoIterator<Item = T>>(rows: R) -> Self {
        Table::from(Vec::from_iter(rows))
    }
}

impl<I, T> Table<I, T> {
    /// Rows, which are also the ids that exist.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Rows in the order of their ids.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }

    /// Rows in the order of their ids.
    #[inline]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.rows.iter_mut()
    }
}

impl<I: Id, T> Table<I, T> {
    /// Adds a row; the id is the next number.
    #[inline]
    pub fn push(&mut self, row: T) -> I {
        self.rows.push(row);
        I::at(self.rows.len() - 1)
    }

    /// None beyond the last row, as for `NONE`.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.rows.get(id.index())
    }

    /// Mutable [`Table::get`].
    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.rows.get_mut(id.index())
    }

    /// In order. They borrow nothing, so the table may change meanwhile.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = I> + use<I, T> {
        (0..self.rows.len()).map(I::at)
    }

    /// All rows with their ids.
    pub fn enumerate(&self) -> impl ExactSizeIterator<Item = (I, &T)> {
        self.rows.iter().enumerate().map(|(index, row)| (I::at(index), row))
    }

    /// Rows that follow one another.
    #[inline]
    pub fn run(&self, first: I, len: usize) -> &[T] {
        &self.rows[first.index()..first.index() + len]
    }

    /// The row of an id; what is missing up to it is added.
    pub fn reach(&mut self, id: I, fill: impl FnMut() -> T) -> &mut T {
        if self.rows.len() <= id.index() {
            self.rows.resize_with(id.index() + 1, fill);
        }
        &mut self.rows[id.index()]
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.rows[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.rows[id.index()]
    }
}

impl<'a, I, T> IntoIterator for &'a Table<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut Table<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    ids! {
        /// A row of the tables below.
        RowId;
    }

    #[test]
    fn an_id_is_as_small_as_its_number() {
        assert_eq!(size_of::<RowId>(), 4);
        assert_eq!((RowId::new(7).get(), RowId::at(7).index(), RowId::default()), (7, 7, RowId::new(0)));
        assert_eq!(RowId::NONE.get(), u32::MAX);
    }

    #[test]
    fn rows_are_found_by_their_ids() {
        let mut table: Table<RowId, char> = Table::default();
        assert!(table.is_empty());
        let (a, b) = (table.push('a'), table.push('b'));
        table[b] = 'c';
        assert_eq!((table[a], table[b], table.len()), ('a', 'c', 2));
        assert_eq!((table.get(b), table.get(RowId::NONE)), (Some(&'c'), None));
        if let Some(row) = table.get_mut(a) {
            *row = 'd';
        }
        assert!(table.ids().eq([a, b]));
        assert!(table.enumerate().eq([(a, &'d'), (b, &'c')]));
        for row in &mut table {
            row.make_ascii_uppercase();
        }
        assert!(table.iter().eq(&['D', 'C']));
    }

    #[test]
    fn a_table_reaches_as_far_as_is_asked() {
        let mut table: Table<RowId, u8> = (0..3).collect();
        *table.reach(RowId::new(5), || 9) = 7;
        *table.reach(RowId::new(1), || 9) += 1;
        assert_eq!(table.run(RowId::new(1), 5), [2, 2, 9, 9, 7]);
        assert!(table.iter().eq(&[0, 2, 2, 9, 9, 7]));
    }
}
