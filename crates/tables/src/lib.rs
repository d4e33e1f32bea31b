//! Tables as Parquet files: what a column is, [`Writer`] for rows, [`Reader`] for columns.
//!
//! What the Parquet library has generic is compiled here and nowhere else: builds that optimise little optimise this
//! crate, and tables are written and read fast in them too.

mod column;
mod guard;
mod read;
mod write;

pub use column::{Column, Kind, Table};
pub use parquet::errors::ParquetError;
pub use read::{Cells, Reader};
pub use write::{Cell, Writer};

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    const fn column(name: &'static str, kind: Kind, nullable: bool) -> Column<'static> {
        Column { name, kind, unit: "", nullable, meaning: "" }
    }

    static TABLE: Table = Table {
        name: "t",
        meaning: "",
        columns: &[
            column("id", Kind::Integer, false),
            column("at_us", Kind::Real, true),
            column("name", Kind::Text, true),
        ],
    };
    static OTHERS: [Column; 2] = [column("id", Kind::Real, false), column("at_us", Kind::Real, false)];

    /// More rows than a batch and than a row group.
    const ROWS: u64 = 70_000;

    #[test]
    fn rows_come_back_as_columns() {
        let path = std::env::temp_dir().join(format!("xoff-tables-{}.parquet", std::process::id()));
        let file = Box::new(File::create(&path).unwrap());
        let mut writer = Writer::new(file, &TABLE, "a test".to_owned(), ("about", "numbers".to_owned())).unwrap();
        let time = |id: u64| (!id.is_multiple_of(3)).then_some(id as f64 / 4.0);
        let name = |id: u64| (!id.is_multiple_of(5)).then(|| format!("n{}", id % 7));
        for id in 0..ROWS {
            writer.row(&[id.into(), time(id).into(), name(id).as_deref().into()]).unwrap();
        }
        writer.finish().unwrap();
        let mut reader = Reader::open(File::open(&path).unwrap()).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(reader.rows(), ROWS);
        // Of another kind, and one that is never empty: the file has neither.
        assert!(OTHERS.iter().all(|column| !reader.want(column)));
        assert!([2, 0, 1].iter().all(|&place| reader.want(&TABLE.columns[place])));
        assert!(reader.page_bytes() > 0);
        let mut id = 0;
        while let Some((len, columns)) = reader.batch().unwrap() {
            for row in 0..len {
                assert_eq!(columns[0].text(row), name(id).as_deref());
                assert!(matches!(columns[1].cell(row), Cell::Integer(found) if found == id));
                match (columns[2].cell(row), time(id)) {
                    (Cell::Real(found), Some(expected)) => assert_eq!(found, expected),
                    (found, expected) => assert!(matches!(found, Cell::Empty) && expected.is_none()),
                }
                id += 1;
            }
        }
        assert_eq!(id, ROWS);
    }

    #[test]
    #[should_panic(expected = "t.id cannot hold Empty")]
    fn a_cell_has_the_kind_of_its_column() {
        let about = ("about", String::new());
        let mut writer = Writer::new(Box::new(std::io::sink()), &TABLE, "a test".to_owned(), about).unwrap();
        let _ = writer.row(&[Cell::Empty, Cell::Empty, Cell::Empty]);
    }
}
