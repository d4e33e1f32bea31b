//! Tables of a run in memory, column by column, for programs that embed the simulator.
//!
//! A column is one piece of memory, laid out as Apache Arrow lays out its arrays: whoever hands it to a data frame moves
//! it and copies nothing. There is no dependency on Arrow for that.

use super::column::{Column, Kind, Table};
use super::table_writer::Cell;
use super::tables;
use std::collections::HashMap;
use std::io;

/// All rows of one table.
#[derive(Debug)]
pub struct Collected {
    /// What its columns are called and mean.
    pub table: &'static Table<'static>,
    /// As many as each column has.
    pub rows: usize,
    /// In the order of the table.
    pub columns: Vec<CollectedColumn>,
}

#[derive(Debug)]
pub struct CollectedColumn {
    /// One for each row; an empty cell has a zero.
    pub values: Values,
    /// A bit for each row, lowest first, set where there is a value; none where every row has one.
    pub valid: Option<Vec<u8>>,
}

#[derive(Debug)]
pub enum Values {
    /// Counts and names that are numbers.
    Integers(Vec<i64>),
    /// Everything else that is measured.
    Reals(Vec<f64>),
    /// Words, each of them kept once: names and paths come again and again.
    Texts(Texts),
}

/// A column of words and the list of different words in it.
#[derive(Debug)]
pub struct Texts {
    /// By row the word, as a place in the list.
    pub codes: Vec<i32>,
    /// The words of the list, one after the other.
    pub bytes: Vec<u8>,
    /// Where each word begins in `bytes`, and where the last one ends.
    pub offsets: Vec<i32>,
    known: HashMap<Box<str>, i32>,
    /// The word of the row before, which is often the next one too.
    last: Option<i32>,
}

impl Texts {
    fn new() -> Texts {
        Texts { codes: Vec::new(), bytes: Vec::new(), offsets: vec![0], known: HashMap::new(), last: None }
    }

    fn word(&self, code: i32) -> &[u8] {
        let at = code as usize;
        &self.bytes[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    fn push(&mut self, text: &str) -> io::Result<()> {
        let code = match self.last.filter(|&last| self.word(last) == text.as_bytes()) {
            Some(last) => last,
            None => match self.known.get(text) {
                Some(&code) => code,
                None => self.learn(text)?,
            },
        };
        self.last = Some(code);
        self.codes.push(code);
        Ok(())
    }

    fn learn(&mut self, text: &str) -> io::Result<i32> {
        let full = |_| io::Error::other("a column of words is longer than 2 GB");
        let code = i32::try_from(self.offsets.len() - 1).map_err(full)?;
        let end = i32::try_from(self.bytes.len() + text.len()).map_err(full)?;
        self.bytes.extend_from_slice(text.as_bytes());
        self.offsets.push(end);
        self.known.insert(text.into(), code);
        Ok(code)
    }
}

impl CollectedColumn {
    fn new(column: &Column) -> CollectedColumn {
        let values = match column.kind {
            Kind::Integer => Values::Integers(Vec::new()),
            Kind::Real => Values::Reals(Vec::new()),
            Kind::Text => Values::Texts(Texts::new()),
        };
        CollectedColumn { values, valid: column.nullable.then(Vec::new) }
    }

    /// False if a cell of this kind has no place here.
    fn push(&mut self, cell: Cell<'_>, row: usize) -> io::Result<bool> {
        match (&mut self.values, cell) {
            // Counts beyond 2^63 cannot arise: the clock itself ends earlier.
            (Values::Integers(values), Cell::Integer(value)) => values.push(i64::try_from(value).unwrap_or(i64::MAX)),
            (Values::Reals(values), Cell::Real(value)) => values.push(value),
            (Values::Texts(texts), Cell::Text(text)) => texts.push(text)?,
            (_, Cell::Empty) if self.valid.is_none() => return Ok(false),
            (Values::Integers(values), Cell::Empty) => values.push(0),
            (Values::Reals(values), Cell::Empty) => values.push(0.0),
            (Values::Texts(texts), Cell::Empty) => texts.codes.push(0),
            _ => return Ok(false),
        }
        if let Some(valid) = &mut self.valid {
            if row.is_multiple_of(8) {
                valid.push(0);
            }
            if let Some(last) = valid.last_mut() {
                *last |= u8::from(!matches!(cell, Cell::Empty)) << (row % 8);
            }
        }
        Ok(true)
    }
}

impl Collected {
    pub(crate) fn new(table: &'static Table<'static>) -> Collected {
        Collected { table, rows: 0, columns: table.columns.iter().map(CollectedColumn::new).collect() }
    }

    /// One cell per column, in the order of the definition.
    pub(crate) fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        assert_eq!(cells.len(), self.columns.len(), "a row of {} has another number of columns", self.table.name);
        for ((collected, column), cell) in self.columns.iter_mut().zip(self.table.columns).zip(cells) {
            let fits = collected.push(*cell, self.rows)?;
            assert!(fits, "{}.{} cannot hold {cell:?}", self.table.name, column.name);
        }
        self.rows += 1;
        Ok(())
    }

    /// Flows that never were, to see how a large table travels; for tests.
    #[doc(hidden)]
    pub fn made_up_flows(rows: usize) -> Collected {
        let mut flows = Collected::new(&tables::FLOWS);
        for (index, column) in flows.columns.iter_mut().enumerate() {
            match &mut column.values {
                Values::Integers(values) => *values = (0..rows).map(|row| (row % (index + 1_000)) as i64).collect(),
                Values::Reals(values) => *values = (0..rows).map(|row| row as f64 / (index + 1) as f64).collect(),
                Values::Texts(texts) => {
                    (texts.bytes, texts.offsets) = (b"h0h1".to_vec(), vec![0, 2, 4]);
                    texts.codes = (0..rows).map(|row| (row % 2) as i32).collect();
                }
            }
            // Every eighth row is empty.
            column.valid = column.valid.take().map(|_| vec![0b0111_1111; rows.div_ceil(8)]);
        }
        Collected { rows, ..flows }
    }

    /// Gives back what only served to collect.
    pub(crate) fn finish(mut self) -> Collected {
        for column in &mut self.columns {
            if let Values::Texts(texts) = &mut column.values {
                texts.known = HashMap::new();
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let mut series = Collected::new(&tables::SERIES);
        for row in 0..20_u64 {
            let flow = row.is_multiple_of(3).then_some(row);
            let entity = if row < 10 { "S0->S1" } else { "F0" };
            series
                .row(&[0.5.into(), "queue".into(), entity.into(), flow.into(), Cell::Empty, 1.0.into(), "bytes".into()])
                .unwrap();
        }
        let series = series.finish();
        assert_eq!((series.rows, series.columns.len()), (20, tables::SERIES.columns.len()));
        let Values::Texts(entity) = &series.columns[2].values else { panic!("words") };
        assert_eq!((entity.bytes.as_slice(), entity.offsets.as_slice()), (&b"S0->S1F0"[..], &[0, 6, 8][..]));
        assert_eq!(entity.codes[8..12], [0, 0, 1, 1]);
        assert!(series.columns[2].valid.is_none());
        let Values::Integers(flow) = &series.columns[3].values else { panic!("numbers") };
        assert_eq!(flow[..7], [0, 0, 0, 3, 0, 0, 6]);
        assert_eq!(series.columns[3].valid.as_deref(), Some(&[0b0100_1001, 0b1001_0010, 0b0000_0100][..]));
        assert_eq!(series.columns[4].valid.as_deref(), Some(&[0, 0, 0][..]));
    }

    #[test]
    #[should_panic(expected = "series.time_us cannot hold Empty")]
    fn what_must_not_be_empty_is_not() {
        let cell = Cell::Empty;
        Collected::new(&tables::SERIES).row(&[cell; 7]).unwrap();
    }
}
