//! Rows of different lengths in one vector: lists by number, without an allocation for each.

/// Rows, by their number.
#[derive(Debug)]
pub struct Rows<T> {
    /// Where each begins, and the last one ends.
    first: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Rows { first: vec![0], items: Vec::new() }
    }
}

impl<T: Copy + Default> Rows<T> {
    /// Items sorted into so many rows by their numbers; those of one row stay in order.
    pub fn grouped(rows: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> Rows<T> {
        let mut first = vec![0; rows + 1];
        for (row, _) in items.clone() {
            first[row as usize + 1] += 1;
        }
        for row in 0..rows {
            first[row + 1] += first[row];
        }
        let mut sorted = vec![T::default(); first[rows] as usize];
        let mut next = first.clone();
        for (row, item) in items {
            sorted[next[row as usize] as usize] = item;
            next[row as usize] += 1;
        }
        Rows { first, items: sorted }
    }
}

impl<T> Rows<T> {
    /// Adds a row; its number.
    pub fn push(&mut self, row: impl IntoIterator<Item = T>) -> u32 {
        self.items.extend(row);
        self.first.push(self.items.len() as u32);
        self.first.len() as u32 - 2
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    #[inline]
    fn range(&self, row: u32) -> std::ops::Range<usize> {
        self.first[row as usize] as usize..self.first[row as usize + 1] as usize
    }

    /// A row.
    #[inline]
    pub fn of(&self, row: u32) -> &[T] {
        &self.items[self.range(row)]
    }

    /// A row, to be sorted.
    pub fn of_mut(&mut self, row: u32) -> &mut [T] {
        let range = self.range(row);
        &mut self.items[range]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_in_order_within_their_row() {
        let mut rows = Rows::grouped(3, [(2, 'a'), (0, 'b'), (2, 'c')].into_iter());
        assert_eq!((rows.of(0), rows.of(1), rows.of(2)), (&['b'][..], &[][..], &['a', 'c'][..]));
        assert_eq!((rows.push("de".chars()), rows.len()), (3, 4));
        rows.of_mut(3).reverse();
        assert_eq!(rows.of(3), ['e', 'd']);
    }
}
