//! Rows, gathered by column and written some thousands at a time.

use crate::cell::{Cell, CellRun};
use crate::chunk::Gathered;
use crate::column::Table;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows gathered before they are written, as a row group of their own: bounds memory.
const ROW_GROUP_ROWS: usize = 64 * 1024;

pub struct Writer {
    /// TABLE.COLUMN, for a message.
    names: Vec<String>,
    columns: Vec<Gathered>,
    rows: usize,
    snappy: snap::raw::Encoder,
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
            .set_key_value_metadata(Some(vec![KeyValue::new(key.to_owned(), text)]))
            .set_created_by(created_by)
            .build();
        let parquet = SerializedFileWriter::new(file, table.schema(), Arc::new(settings)).map_err(plain)?;
        let names = table.columns.iter().map(|column| format!("{}.{}", table.name, column.name)).collect();
        let columns = table.columns.iter().map(Gathered::new).collect();
        Ok(Writer { names, columns, rows: 0, snappy: snap::raw::Encoder::new(), parquet })
    }

    /// One cell per column, in the order of the table.
    ///
    /// # Panics
    ///
    /// If there are more or fewer, or a column cannot hold its cell.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        assert_eq!(cells.len(), self.columns.len(), "a row has another number of columns than {:?}", self.names);
        for ((gathered, name), cell) in self.columns.iter_mut().zip(&self.names).zip(cells) {
            assert!(gathered.push(*cell, 1), "{name} cannot hold {cell:?}");
        }
        self.added(1)
    }

    /// So many rows: for each column, in the order of the table, their cells.
    ///
    /// # Panics
    ///
    /// If there are more or fewer columns or cells, or a column cannot hold them.
    pub fn rows(&mut self, rows: usize, columns: &[CellRun<'_>]) -> io::Result<()> {
        if rows == 0 {
            return Ok(());
        }
        assert_eq!(columns.len(), self.columns.len(), "rows have another number of columns than {:?}", self.names);
        for ((gathered, name), cells) in self.columns.iter_mut().zip(&self.names).zip(columns) {
            assert!(gathered.push_all(cells, rows), "{name} cannot hold what {rows} rows have");
        }
        self.added(rows)
    }

    fn added(&mut self, rows: usize) -> io::Result<()> {
        self.rows += rows;
        if self.rows >= ROW_GROUP_ROWS {
            self.flush().map_err(plain)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let descriptors = self.parquet.schema_descr().columns().to_vec();
        let mut group = self.parquet.next_row_group()?;
        for (gathered, column) in self.columns.iter_mut().zip(descriptors) {
            let (bytes, closed) = gathered.take(column, self.rows, &mut self.snappy)?;
            group.append_column(&bytes, closed)?;
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
