//! Streams rows into a Parquet file and, on request, a CSV twin.

use super::column::{Kind, Table};
use crate::files::disk::{self, Out};
use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// Rows gathered before they go to the encoder: bounds memory, not the layout of the file.
const BATCH_ROWS: usize = 16 * 1024;
const ROW_GROUP_ROWS: usize = 128 * 1024;

/// One value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    Integer(u64),
    Real(f64),
    Text(&'a str),
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

enum Builder {
    Integer(Int64Builder),
    Real(Float64Builder),
    Text(StringBuilder),
}

impl Builder {
    fn push(&mut self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            // Counts beyond 2^63 cannot arise: the clock itself ends earlier.
            (Builder::Integer(b), Cell::Integer(value)) => b.append_value(i64::try_from(value).unwrap_or(i64::MAX)),
            (Builder::Integer(b), Cell::Empty) => b.append_null(),
            (Builder::Real(b), Cell::Real(value)) => b.append_value(value),
            (Builder::Real(b), Cell::Empty) => b.append_null(),
            (Builder::Text(b), Cell::Text(value)) => b.append_value(value),
            (Builder::Text(b), Cell::Empty) => b.append_null(),
            _ => return false,
        }
        true
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Integer(b) => Arc::new(b.finish()),
            Builder::Real(b) => Arc::new(b.finish()),
            Builder::Text(b) => Arc::new(b.finish()),
        }
    }
}

/// Writes one table.
pub struct TableWriter {
    table: &'static Table,
    schema: SchemaRef,
    builders: Vec<Builder>,
    rows: usize,
    parquet: ArrowWriter<BufWriter<Out>>,
    csv: Option<csv::Writer<Out>>,
}

impl TableWriter {
    /// Creates `DIR/NAME.parquet` and with `csv` also `DIR/NAME.csv`.
    pub fn create(dir: &Path, table: &'static Table, version: &str, csv: bool) -> io::Result<TableWriter> {
        let schema = table.schema();
        let settings = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_created_by(format!("xoff {version}"))
            .build();
        let file = BufWriter::new(disk::create(&dir.join(format!("{}.parquet", table.name)))?);
        let parquet = ArrowWriter::try_new(file, schema.clone(), Some(settings)).map_err(plain)?;
        let csv = if csv {
            let mut writer = csv::Writer::from_writer(disk::create(&dir.join(format!("{}.csv", table.name)))?);
            writer.write_record(table.columns.iter().map(|c| c.name)).map_err(io::Error::other)?;
            Some(writer)
        } else {
            None
        };
        let builders = table
            .columns
            .iter()
            .map(|column| match column.kind {
                Kind::Integer => Builder::Integer(Int64Builder::new()),
                Kind::Real => Builder::Real(Float64Builder::new()),
                Kind::Text => Builder::Text(StringBuilder::new()),
            })
            .collect();
        Ok(TableWriter { table, schema, builders, rows: 0, parquet, csv })
    }

    /// One cell per column, in the order of the definition.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        assert_eq!(cells.len(), self.builders.len(), "a row of {} has another number of columns", self.table.name);
        for ((builder, column), cell) in self.builders.iter_mut().zip(self.table.columns).zip(cells) {
            assert!(builder.push(*cell), "{}.{} cannot hold {cell:?}", self.table.name, column.name);
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
        if self.rows == BATCH_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.rows > 0 {
            let columns = self.builders.iter_mut().map(Builder::finish).collect();
            let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(io::Error::other)?;
            self.parquet.write(&batch).map_err(plain)?;
            self.rows = 0;
        }
        Ok(())
    }

    /// Writes the rest. The directory makes all its files durable when it is finished.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
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
