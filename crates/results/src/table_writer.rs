//! Streams rows into a Parquet file and, on request, a CSV twin.

use super::column::{Column, Kind, Table, dictionary_json};
use crate::files::disk::{self, Out};
use bytes::Bytes;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use std::io::{self, BufWriter, Write};
use std::mem::take;
use std::path::Path;
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
    /// By row whether there is a value, in columns where there may be none: Parquet's definition levels.
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

pub struct TableWriter<'a> {
    table: &'a Table<'a>,
    columns: Vec<Gathered>,
    rows: usize,
    parquet: SerializedFileWriter<BufWriter<Out>>,
    csv: Option<csv::Writer<Out>>,
}

impl<'a> TableWriter<'a> {
    /// Creates `DIR/NAME.parquet` and with `csv` also `DIR/NAME.csv`.
    pub fn create(dir: &Path, table: &'a Table<'a>, version: &str, csv: bool) -> io::Result<TableWriter<'a>> {
        // What every column means travels with the file, as `xoff describe --json` has it.
        let dictionary = KeyValue::new("xoff.columns".to_owned(), dictionary_json(&[table]).to_string());
        let settings = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![dictionary]))
            .set_created_by(format!("xoff {version}"))
            .build();
        let file = BufWriter::new(disk::create(&dir.join(format!("{}.parquet", table.name)))?);
        let parquet = SerializedFileWriter::new(file, table.schema(), Arc::new(settings)).map_err(plain)?;
        let csv = if csv {
            let mut writer = csv::Writer::from_writer(disk::create(&dir.join(format!("{}.csv", table.name)))?);
            writer.write_record(table.columns.iter().map(|c| c.name)).map_err(io::Error::other)?;
            Some(writer)
        } else {
            None
        };
        let columns = table.columns.iter().map(Gathered::new).collect();
        Ok(TableWriter { table, columns, rows: 0, parquet, csv })
    }

    /// One cell per column, in the order of the definition.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        assert_eq!(cells.len(), self.columns.len(), "a row of {} has another number of columns", self.table.name);
        for ((gathered, column), cell) in self.columns.iter_mut().zip(self.table.columns).zip(cells) {
            assert!(gathered.push(*cell), "{}.{} cannot hold {cell:?}", self.table.name, column.name);
        }
        if let Some(csv) = &mut self.csv {
            for cell in cells {
                match cell {
                    Cell::Integer(value) => csv.write_field(value.to_string()),
                    Cell::Real(value) => csv.write_field(value.to_string()),
                    Cell::Text(value) => csv.write_field(value),
                    Cell::Empty => csv.write_field(""),
                }
                .map_err(io::Error::other)?;
            }
            csv.write_record(None::<&[u8]>).map_err(io::Error::other)?;
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

    /// Writes the rest. The directory makes all its files durable when it is finished.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush().map_err(plain)?;
        let mut file = self.parquet.into_inner().map_err(plain)?;
        file.flush()?;
        match self.csv {
            Some(mut csv) => csv.flush(),
            None => Ok(()),
        }
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
