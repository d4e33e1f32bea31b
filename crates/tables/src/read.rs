//! Columns of a table, some thousands of rows at a time.

use crate::cell::Cell;
use crate::column::Column;
use crate::guard::guarded;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use std::fs::File;

/// Rows handed out at a time: bounds memory, whatever the length of a table.
const BATCH_ROWS: usize = 16 * 1024;

/// Some columns of one file. A damaged file is an error, whatever the library makes of it.
pub struct Reader {
    reader: SerializedFileReader<File>,
    /// Columns, and where the file has them.
    wanted: Vec<(&'static Column<'static>, usize)>,
    /// The row group that comes next; of the one before, the columns that are being read and the rows left.
    group: usize,
    open: Vec<ColumnReader>,
    left: usize,
}

impl Reader {
    /// Reads no column yet.
    pub fn open(file: File) -> Result<Reader, ParquetError> {
        let reader = guarded(|| SerializedFileReader::new(file))?;
        Ok(Reader { reader, wanted: Vec::new(), group: 0, open: Vec::new(), left: 0 })
    }

    /// Reads this column too; false if the file has none of this name and kind.
    pub fn want(&mut self, column: &'static Column<'static>) -> bool {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let place = schema.columns().iter().position(|found| {
            found.name() == column.name
                && found.physical_type() == column.kind.stored()
                && (found.max_def_level() > 0) == column.nullable
        });
        self.wanted.extend(place.map(|place| (column, place)));
        place.is_some()
    }

    /// Rows of the table, as the file says.
    pub fn rows(&self) -> u64 {
        self.reader.metadata().file_metadata().num_rows().unsigned_abs()
    }

    /// The most that a batch takes: a page is read whole, and may be as long as its column of a group.
    pub fn page_bytes(&self) -> u64 {
        let groups = self.reader.metadata().row_groups();
        let column = |place: usize| groups.iter().map(move |group| group.column(place).uncompressed_size()).max();
        self.wanted.iter().filter_map(|(_, place)| column(*place)).map(i64::unsigned_abs).sum()
    }

    /// The next batch, its length and its columns in the order in which they were wanted; `None` at the end. What follows
    /// a damaged page is not read.
    pub fn batch(&mut self) -> Result<Option<(usize, Vec<Cells>)>, ParquetError> {
        let batch = guarded(|| self.read());
        if batch.is_err() {
            self.end();
        }
        batch
    }

    /// Reads nothing more.
    pub fn end(&mut self) {
        (self.left, self.group) = (0, self.reader.num_row_groups());
    }

    fn read(&mut self) -> Result<Option<(usize, Vec<Cells>)>, ParquetError> {
        while self.left == 0 {
            if self.group == self.reader.num_row_groups() {
                return Ok(None);
            }
            let group = self.reader.get_row_group(self.group)?;
            self.open =
                self.wanted.iter().map(|(_, place)| group.get_column_reader(*place)).collect::<Result<_, _>>()?;
            self.left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            self.group += 1;
        }
        let len = self.left.min(BATCH_ROWS);
        self.left -= len;
        let columns = self.wanted.iter().zip(&mut self.open);
        let columns = columns.map(|((column, _), reader)| Cells::read(reader, column.nullable, len));
        Ok(Some((len, columns.collect::<Result<_, _>>()?)))
    }
}

/// Some rows of one column; empty cells are `None`.
pub enum Cells {
    Integers(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    /// Checked to be UTF-8. They share the memory of the page they came from: names come again and again.
    Texts(Vec<Option<ByteArray>>),
}

impl Cells {
    fn read(reader: &mut ColumnReader, nullable: bool, len: usize) -> Result<Cells, ParquetError> {
        Ok(match reader {
            ColumnReader::Int64ColumnReader(reader) => Cells::Integers(cells(reader, nullable, len)?),
            ColumnReader::DoubleColumnReader(reader) => Cells::Reals(cells(reader, nullable, len)?),
            ColumnReader::ByteArrayColumnReader(reader) => {
                let texts = cells(reader, nullable, len)?;
                texts.iter().flatten().try_for_each(|text| text.as_utf8().map(|_| ()))?;
                Cells::Texts(texts)
            }
            _ => return Err(ParquetError::General("a column of an unknown kind".to_owned())),
        })
    }

    pub fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            // The writer puts nothing negative here.
            Cells::Integers(cells) => cells[row].map(i64::unsigned_abs).into(),
            Cells::Reals(cells) => cells[row].into(),
            Cells::Texts(_) => self.text(row).into(),
        }
    }

    /// The text of a row; none in a column of something else.
    pub fn text(&self, row: usize) -> Option<&str> {
        match self {
            Cells::Texts(cells) => cells[row].as_ref().and_then(|text| text.as_utf8().ok()),
            Cells::Integers(_) | Cells::Reals(_) => None,
        }
    }
}

/// The next cells of a column, values in their places.
fn cells<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    nullable: bool,
    len: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let (mut values, mut present, mut rows) = (Vec::new(), Vec::new(), 0);
    while rows < len {
        let levels = nullable.then_some(&mut present);
        let (records, ..) = reader.read_records(len - rows, levels, None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::EOF("the column ends before its rows do".to_owned()));
        }
        rows += records;
    }
    let mut values = values.into_iter();
    Ok(match nullable {
        true => present.iter().map(|&level| if level > 0 { values.next() } else { None }).collect(),
        false => values.map(Some).collect(),
    })
}
