//! What a row has in a column.

#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    Integer(u64),
    Real(f64),
    Text(&'a str),
    /// Nothing, in a column that may have none.
    Empty,
}

/// What some rows in a row have in a column: many are written much faster than one by one.
#[derive(Clone, Copy)]
pub enum CellRun<'a> {
    /// All of them this.
    Same(Cell<'a>),
    Integers(&'a [u64]),
    Reals(&'a [f64]),
    /// Places in a list of texts. All runs of a column have the same list.
    Listed(&'a [u32], &'a dyn TextList),
}

/// Texts that are known by their places.
pub trait TextList {
    /// The text at a place.
    fn text(&self, place: u32) -> &str;
}

impl<'a> CellRun<'a> {
    /// The cell of a row.
    pub fn cell(&self, row: usize) -> Cell<'a> {
        match self {
            CellRun::Same(cell) => *cell,
            CellRun::Integers(values) => Cell::Integer(values[row]),
            CellRun::Reals(values) => Cell::Real(values[row]),
            CellRun::Listed(places, list) => Cell::Text(list.text(places[row])),
        }
    }
}

impl From<u64> for Cell<'_> {
    fn from(value: u64) -> Self {
        Cell::Integer(value)
    }
}
impl From<u32> for Cell<'_> {
    fn from(value: u32) -> Self {
        Cell::Integer(u64::from(value))
    }
}
impl From<u16> for Cell<'_> {
    fn from(value: u16) -> Self {
        Cell::Integer(u64::from(value))
    }
}
impl From<u8> for Cell<'_> {
    fn from(value: u8) -> Self {
        Cell::Integer(u64::from(value))
    }
}
impl From<f64> for Cell<'_> {
    fn from(value: f64) -> Self {
        Cell::Real(value)
    }
}
impl<'a> From<&'a str> for Cell<'a> {
    fn from(value: &'a str) -> Self {
        Cell::Text(value)
    }
}
impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Empty, Into::into)
    }
}
