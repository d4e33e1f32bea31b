//! Rows, gathered by column and written some thousands at a time.

use crate::column::{Column, Kind, Table};
use bytes::Bytes;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use std::io::{self, Write};
use std::mem::take;
use std::sync::Arc;

/// Rows gathered before they are written, as a row group of their own: bounds memory.
const ROW_GROUP_ROWS: usize = 64 * 1024;

#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    Integer(u64),
    Real(f64),
    Text(&'a str),
    /// Nothing, in a column that may have none.
    Empty,
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

/// Values of one column that wait to be written. Empty cells have none.
enum Values {
    Integer(Vec<i64>),
    Real(Vec<f64>),
    /// One text after the other, and where each ends.
    Text(Vec<u8>, Vec<usize>),
}

/// One column of the rows that wait.
struct Gathered {
    values: Values,
    /// Whether each row has a value, in columns where it may have none: Parquet's definition levels.
    present: Option<Vec<i16>>,
}

impl Gathered {
    fn new(column: &Column) -> Gathered {
        let values = match column.kind {
            Kind::Integer => Values::Integer(Vec::new()),
            Kind::Real => Values::Real(Vec::new()),
            Kind::Text => Values::Text(Vec::new(), Vec::new()),
        };
        Gathered { values, present: column.nullable.then(Vec::new) }
    }

    fn push(&mut self, cell: Cell<'_>) -> bool {
        match (&mut self.values, cell) {
            // Counts beyond 2^63 cannot arise: the clock itself ends earlier.
            (Values::Integer(values), Cell::Integer(value)) => values.push(i64::try_from(value).unwrap_or(i64::MAX)),
            (Values::Real(values), Cell::Real(value)) => values.push(value),
            (Values::Text(bytes, ends), Cell::Text(value)) => {
                bytes.extend_from_slice(value.as_bytes());
                ends.push(bytes.len());
            }
            (_, Cell::Empty) if self.present.is_some() => {}
            _ => return false,
        }
        if let Some(present) = &mut self.present {
            present.push(i16::from(!matches!(cell, Cell::Empty)));
        }
        true
    }

    /// Hands everything over, and is empty again.
    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let present = self.present.as_deref();
        match &mut self.values {
            Values::Integer(values) => {
                column.typed::<Int64Type>().write_batch(values, present, None)?;
                values.clear();
            }
            Values::Real(values) => {
                column.typed::<DoubleType>().write_batch(values, present, None)?;
                values.clear();
            }
            Values::Text(bytes, ends) => {
                let all = Bytes::from(take(bytes));
                let starts = [0].into_iter().chain(ends.iter().copied());
                let texts = starts.zip(ends.iter()).map(|(start, &end)| ByteArray::from(all.slice(start..end)));
                column.typed::<ByteArrayType>().write_batch(&texts.collect::<Vec<_>>(), present, None)?;
                ends.clear();
            }
        }
        if let Some(present) = &mut self.present {
            present.clear();
        }
        Ok(())
    }
}

pub struct Writer {
    /// TABLE.COLUMN, for a message.
    names: Vec<String>,
    columns: Vec<Gathered>,
    rows: usize,
    parquet: SerializedFileWriter<Box<dyn Write + Send>>,
}

impl Writer {
    /// Writes to `file`, which should gather what it is given; `about` is a key and its text, kept in the file.
    pub fn new(
        file: Box<dyn Write + Send>,
        table: &Table<'_>,
        created_by: String,
        (key, text): (&str, String),
    ) -> io::Result<Writer> {
        let settings = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![KeyValue::new(key.to_owned(), text)]))
            .set_created_by(created_by)
            .build();
        let parquet = SerializedFileWriter::new(file, table.schema(), Arc::new(settings)).map_err(plain)?;
        let names = table.columns.iter().map(|column| format!("{}.{}", table.name, column.name)).collect();
        Ok(Writer { names, columns: table.columns.iter().map(Gathered::new).collect(), rows: 0, parquet })
    }

    /// One cell per column, in the order of the table.
    ///
    /// # Panics
    ///
    /// If there are more or fewer, or a column cannot hold its cell.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        assert_eq!(cells.len(), self.columns.len(), "a row has another number of columns than {:?}", self.names);
        for ((gathered, name), cell) in self.columns.iter_mut().zip(&self.names).zip(cells) {
            assert!(gathered.push(*cell), "{name} cannot hold {cell:?}");
        }
        self.rows += 1;
        if self.rows == ROW_GROUP_ROWS {
            self.flush().map_err(plain)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.parquet.next_row_group()?;
        for gathered in &mut self.columns {
            let mut column = group.next_column()?.expect("the schema has the table's columns");
            gathered.write(&mut column)?;
            column.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Writes the rest.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush().map_err(plain)?;
        self.parquet.into_inner().map_err(plain)?.flush()
    }
}

/// The error of the file below, which names it, rather than the encoder's words around it.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}
