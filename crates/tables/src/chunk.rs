//! The values of one column in some thousands of rows, as a column chunk of a Parquet file.
//!
//! Every different value gets a number when it first comes, and the rows are written as these numbers, in as few bits as
//! they need and in runs where they repeat: most columns of the results have few values, or the same one many times. The
//! library would look up every value in a table of its own, at several times the cost.

use crate::cell::{Cell, CellRun, TextList};
use crate::column::{Column, Kind};
use crate::runs;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::collections::HashMap;

/// One column of the rows that wait to be written.
pub(crate) struct Gathered {
    values: Values,
    /// The number of each row's value; rows without one are left out.
    codes: Vec<u32>,
    /// Whether each row has a value, in columns where it may have none: Parquet's definition levels.
    present: Option<Vec<u32>>,
}

/// Different values in the order in which they first came, and their numbers.
enum Values {
    Integers(Numbers),
    /// Bits of floating-point numbers.
    Reals(Numbers),
    Texts(Texts),
}

#[derive(Default)]
struct Numbers {
    list: Vec<u64>,
    /// A hash table of places in the list, at most half full; [`UNKNOWN`] where there is none.
    slots: Vec<u32>,
    /// Number of the value that came last, which is often the next one too.
    last: u32,
}

#[derive(Default)]
struct Texts {
    /// Each text after its length, which is how Parquet stores them.
    bytes: Vec<u8>,
    /// Where each text begins.
    begins: Vec<usize>,
    known: HashMap<Box<str>, u32>,
    last: u32,
    /// Numbers of the texts that come by their place in a list; [`u32::MAX`] for those that have not come.
    listed: Vec<u32>,
}

const UNKNOWN: u32 = u32::MAX;
const LENGTH_BYTES: usize = 4;

impl Numbers {
    #[inline]
    fn code(&mut self, bits: u64) -> u32 {
        if self.list.get(self.last as usize) != Some(&bits) {
            self.last = self.find(bits);
        }
        self.last
    }

    fn find(&mut self, bits: u64) -> u32 {
        if self.list.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mut slot = self.slot(bits);
        loop {
            let code = self.slots[slot];
            match self.list.get(code as usize) {
                Some(&known) if known == bits => return code,
                Some(_) => slot = (slot + 1) & (self.slots.len() - 1),
                None => break,
            }
        }
        self.slots[slot] = self.list.len() as u32;
        self.list.push(bits);
        self.slots[slot]
    }

    /// Where a value is looked for first: the highest bits of a product, which depend on all of its bits.
    #[inline]
    fn slot(&self, bits: u64) -> usize {
        let product = (bits ^ bits >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (product >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    #[cold]
    fn grow(&mut self) {
        self.slots = vec![UNKNOWN; (self.slots.len() * 2).max(64)];
        for (code, &bits) in (0..).zip(&self.list) {
            let mut slot = self.slot(bits);
            while self.slots[slot] != UNKNOWN {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = code;
        }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.slots.fill(UNKNOWN);
    }
}

impl Texts {
    fn text(&self, code: u32) -> Option<&[u8]> {
        let begin = self.begins.get(code as usize)? + LENGTH_BYTES;
        let end = self.begins.get(code as usize + 1).copied().unwrap_or(self.bytes.len());
        Some(&self.bytes[begin..end])
    }

    fn code(&mut self, text: &str) -> u32 {
        if self.text(self.last) == Some(text.as_bytes()) {
            return self.last;
        }
        self.last = match self.known.get(text) {
            Some(&code) => code,
            None => {
                let code = self.begins.len() as u32;
                self.begins.push(self.bytes.len());
                self.bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
                self.bytes.extend_from_slice(text.as_bytes());
                self.known.insert(text.into(), code);
                code
            }
        };
        self.last
    }

    fn listed_code(&mut self, place: u32, list: &dyn TextList) -> u32 {
        let at = place as usize;
        if at >= self.listed.len() {
            self.listed.resize(at + 1, UNKNOWN);
        }
        if self.listed[at] == UNKNOWN {
            self.listed[at] = self.code(list.text(place));
        }
        self.listed[at]
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.begins.clear();
        self.known.clear();
        self.listed.clear();
    }
}

impl Gathered {
    pub(crate) fn new(column: &Column) -> Gathered {
        let values = match column.kind {
            Kind::Integer => Values::Integers(Numbers::default()),
            Kind::Real => Values::Reals(Numbers::default()),
            Kind::Text => Values::Texts(Texts::default()),
        };
        Gathered { values, codes: Vec::new(), present: column.nullable.then(Vec::new) }
    }

    /// Adds the same cell to so many rows. False if a cell of this kind has no place here.
    pub(crate) fn push(&mut self, cell: Cell<'_>, rows: usize) -> bool {
        let code = match (&mut self.values, cell) {
            (Values::Integers(numbers), Cell::Integer(value)) => Some(numbers.code(stored(value))),
            (Values::Reals(numbers), Cell::Real(value)) => Some(numbers.code(value.to_bits())),
            (Values::Texts(texts), Cell::Text(value)) => Some(texts.code(value)),
            (_, Cell::Empty) if self.present.is_some() => None,
            _ => return false,
        };
        if let Some(code) = code {
            self.codes.resize(self.codes.len() + rows, code);
        }
        if let Some(present) = &mut self.present {
            present.resize(present.len() + rows, u32::from(code.is_some()));
        }
        true
    }

    /// Adds a cell to each of so many rows. False if they have no place here, or are fewer or more.
    pub(crate) fn push_all(&mut self, cells: &CellRun<'_>, rows: usize) -> bool {
        let before = self.codes.len();
        match (&mut self.values, cells) {
            (_, CellRun::Same(cell)) => return self.push(*cell, rows),
            (Values::Integers(numbers), CellRun::Integers(values)) => {
                self.codes.extend(values.iter().map(|&value| numbers.code(stored(value))));
            }
            (Values::Reals(numbers), CellRun::Reals(values)) => {
                self.codes.extend(values.iter().map(|value| numbers.code(value.to_bits())));
            }
            (Values::Texts(texts), CellRun::Listed(places, list)) => {
                self.codes.extend(places.iter().map(|&place| texts.listed_code(place, *list)));
            }
            _ => return false,
        }
        if let Some(present) = &mut self.present {
            present.resize(present.len() + rows, 1);
        }
        self.codes.len() - before == rows
    }

    /// Hands everything over as a chunk of `rows` rows, and is empty again.
    pub(crate) fn take(
        &mut self,
        column: ColumnDescPtr,
        rows: usize,
        snappy: &mut snap::raw::Encoder,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let mut file = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut file);
        let different = self.values.len();
        // Where most rows have a value of their own, numbers would only be in the way.
        let by_number = different > 0 && different * 2 <= self.codes.len();
        let mut data = Vec::new();
        if let Some(present) = &self.present {
            data.resize(LENGTH_BYTES, 0);
            runs::write(present, 1, &mut data);
            let length = (data.len() - LENGTH_BYTES) as u32;
            data[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
        }
        let (mut dictionary_bytes, mut uncompressed) = (None, 0);
        if by_number {
            let list = self.values.plain();
            let page = |buf| Page::DictionaryPage {
                buf,
                num_values: different as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let written = pages.write_page(compressed(&list, snappy, page)?)?;
            (dictionary_bytes, uncompressed) = (Some(written.bytes_written), written.uncompressed_size);
            let width = usize::BITS - (different - 1).leading_zeros();
            data.push(width as u8);
            runs::write(&self.codes, width, &mut data);
        } else {
            self.values.plain_by(&self.codes, &mut data);
        }
        let encoding = if by_number { Encoding::RLE_DICTIONARY } else { Encoding::PLAIN };
        let page = |buf| Page::DataPage {
            buf,
            num_values: rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let written = pages.write_page(compressed(&data, snappy, page)?)?;
        uncompressed += written.uncompressed_size;
        let bytes = Bytes::from(file.into_inner()?);
        let metadata = ColumnChunkMetaData::builder(column)
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, encoding])
            .set_compression(Compression::SNAPPY)
            .set_num_values(rows as i64)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(uncompressed as i64)
            .set_dictionary_page_offset(dictionary_bytes.map(|_| 0))
            .set_data_page_offset(dictionary_bytes.unwrap_or(0) as i64)
            .set_statistics(self.values.statistics((rows - self.codes.len()) as u64))
            .build()?;
        self.clear();
        let closed = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes, closed))
    }

    fn clear(&mut self) {
        match &mut self.values {
            Values::Integers(numbers) | Values::Reals(numbers) => numbers.clear(),
            Values::Texts(texts) => texts.clear(),
        }
        self.codes.clear();
        if let Some(present) = &mut self.present {
            present.clear();
        }
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Integers(numbers) | Values::Reals(numbers) => numbers.list.len(),
            Values::Texts(texts) => texts.begins.len(),
        }
    }

    /// Each value once, as Parquet stores it.
    fn plain(&self) -> Vec<u8> {
        match self {
            Values::Integers(numbers) | Values::Reals(numbers) => {
                numbers.list.iter().flat_map(|bits| bits.to_le_bytes()).collect()
            }
            Values::Texts(texts) => texts.bytes.clone(),
        }
    }

    /// The values of all rows, as Parquet stores them.
    fn plain_by(&self, codes: &[u32], out: &mut Vec<u8>) {
        match self {
            Values::Integers(numbers) | Values::Reals(numbers) => {
                out.extend(codes.iter().flat_map(|&code| numbers.list[code as usize].to_le_bytes()));
            }
            Values::Texts(texts) => {
                for text in codes.iter().filter_map(|&code| texts.text(code)) {
                    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
                    out.extend_from_slice(text);
                }
            }
        }
    }

    /// The least and the most of the numbers; readers skip chunks by it.
    fn statistics(&self, empty: u64) -> Statistics {
        match self {
            Values::Integers(numbers) => {
                let values = || numbers.list.iter().map(|&bits| bits as i64);
                Statistics::int64(values().min(), values().max(), None, Some(empty), false)
            }
            Values::Reals(numbers) => {
                let values = || numbers.list.iter().map(|&bits| f64::from_bits(bits));
                let ordered = !values().any(f64::is_nan);
                // A zero is both of them, as the format demands.
                let least = values().reduce(f64::min).map(|least| if least == 0.0 { -0.0 } else { least });
                let most = values().reduce(f64::max).map(|most| if most == 0.0 { 0.0 } else { most });
                Statistics::double(least.filter(|_| ordered), most.filter(|_| ordered), None, Some(empty), false)
            }
            Values::Texts(_) => Statistics::byte_array(None, None, None, Some(empty), false),
        }
    }
}

/// Counts beyond 2^63 cannot arise: the clock itself ends earlier.
#[inline]
fn stored(value: u64) -> u64 {
    value.min(i64::MAX as u64)
}

fn compressed(
    bytes: &[u8],
    snappy: &mut snap::raw::Encoder,
    page: impl Fn(Bytes) -> Page,
) -> Result<CompressedPage, ParquetError> {
    let small = snappy.compress_vec(bytes).map_err(|error| ParquetError::External(Box::new(error)))?;
    Ok(CompressedPage::new(page(small.into()), bytes.len()))
}
