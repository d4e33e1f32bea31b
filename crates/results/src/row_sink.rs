//! Where the rows of one table go: into its files, into memory, or into both.

use super::collect::Collected;
use super::column::Table;
use super::table_writer::{Cell, CellRun, TableWriter};
use std::io;
use std::path::Path;

/// One table of a run while it grows.
pub(crate) struct RowSink {
    files: Option<TableWriter>,
    memory: Option<Collected>,
}

/// What is kept of the tables of a run, and where.
pub(crate) struct Destination<'a> {
    /// The directory being written, if there is one.
    pub(crate) folder: Option<&'a Path>,
    pub(crate) version: &'a str,
    /// CSV twins of the files.
    pub(crate) csv: bool,
    /// All rows stay in memory too.
    pub(crate) collect: bool,
}

impl RowSink {
    pub(crate) fn create(table: &'static Table<'static>, to: &Destination<'_>) -> io::Result<RowSink> {
        let files = to.folder.map(|folder| TableWriter::create(folder, table, to.version, to.csv)).transpose()?;
        Ok(RowSink { files, memory: to.collect.then(|| Collected::new(table)) })
    }

    /// One cell per column, in the order of the definition.
    pub(crate) fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        if let Some(files) = &mut self.files {
            files.row(cells)?;
        }
        if let Some(memory) = &mut self.memory {
            memory.row(cells)?;
        }
        Ok(())
    }

    /// So many rows: for each column, in the order of the definition, their cells.
    pub(crate) fn rows(&mut self, rows: usize, columns: &[CellRun<'_>]) -> io::Result<()> {
        if let Some(files) = &mut self.files {
            files.rows(rows, columns)?;
        }
        if let Some(memory) = &mut self.memory {
            for row in 0..rows {
                memory.row(&columns.iter().map(|cells| cells.cell(row)).collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }

    /// Completes the files; gives what was kept in memory.
    pub(crate) fn finish(self) -> io::Result<Option<Collected>> {
        if let Some(files) = self.files {
            files.finish()?;
        }
        Ok(self.memory.map(Collected::finish))
    }
}
