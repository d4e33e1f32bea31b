//! Streams rows into a Parquet file and, on request, a CSV twin.

use super::column::{Table, dictionary_json};
use crate::files::disk::{self, Out};
use std::io::{self, BufWriter};
use std::path::Path;
use xoff_tables::Writer;
pub use xoff_tables::{Cell, CellRun};

pub struct TableWriter {
    parquet: Writer,
    csv: Option<csv::Writer<Out>>,
}

impl TableWriter {
    /// Creates `DIR/NAME.parquet` and with `csv` also `DIR/NAME.csv`.
    pub fn create(dir: &Path, table: &Table<'_>, version: &str, csv: bool) -> io::Result<TableWriter> {
        // What every column means travels with the file, as `xoff describe --json` has it.
        let dictionary = ("xoff.columns", dictionary_json(&[table]).to_string());
        let file = BufWriter::new(disk::create(&dir.join(format!("{}.parquet", table.name)))?);
        let parquet = Writer::new(Box::new(file), table, format!("xoff {version}"), dictionary)?;
        let csv = if csv {
            let mut writer = csv::Writer::from_writer(disk::create(&dir.join(format!("{}.csv", table.name)))?);
            writer.write_record(table.columns.iter().map(|c| c.name)).map_err(io::Error::other)?;
            Some(writer)
        } else {
            None
        };
        Ok(TableWriter { parquet, csv })
    }

    /// One cell per column, in the order of the definition.
    pub fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.parquet.row(cells)?;
        self.csv_row(cells.iter().copied())
    }

    /// So many rows: for each column, in the order of the definition, their cells.
    pub fn rows(&mut self, rows: usize, columns: &[CellRun<'_>]) -> io::Result<()> {
        self.parquet.rows(rows, columns)?;
        if self.csv.is_none() {
            return Ok(());
        }
        (0..rows).try_for_each(|row| self.csv_row(columns.iter().map(|cells| cells.cell(row))))
    }

    fn csv_row<'a>(&mut self, cells: impl Iterator<Item = Cell<'a>>) -> io::Result<()> {
        let Some(csv) = &mut self.csv else { return Ok(()) };
        for cell in cells {
            match cell {
                Cell::Integer(value) => csv.write_field(value.to_string()),
                Cell::Real(value) => csv.write_field(value.to_string()),
                Cell::Text(value) => csv.write_field(value),
                Cell::Empty => csv.write_field(""),
            }
            .map_err(io::Error::other)?;
        }
        csv.write_record(None::<&[u8]>).map_err(io::Error::other)
    }

    /// Writes the rest. The directory makes all its files durable when it is finished.
    pub fn finish(self) -> io::Result<()> {
        self.parquet.finish()?;
        match self.csv {
            Some(mut csv) => csv.flush(),
            None => Ok(()),
        }
    }
}
