//! Tables as Parquet files: what a column is, [`Writer`] for rows, [`Reader`] for columns.
//!
//! What the Parquet library has generic is compiled here and nowhere else: builds that optimise little optimise this
//! crate, and tables are written and read fast in them too.

mod cell;
mod chunk;
mod column;
mod guard;
mod read;
mod runs;
mod write;

pub use cell::{Cell, CellRun, TextList};
pub use column::{Column, Kind, Table};
pub use parquet::errors::ParquetError;
pub use read::{Cells, Reader};
pub use write::Writer;

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

    struct Names;

    impl TextList for Names {
        fn text(&self, place: u32) -> &str {
            ["a", "bc", "", "d"][place as usize]
        }
    }

    #[test]
    fn runs_of_rows_are_rows() {
        let path = std::env::temp_dir().join(format!("xoff-tables-runs-{}.parquet", std::process::id()));
        let file = Box::new(File::create(&path).unwrap());
        let mut writer = Writer::new(file, &TABLE, "a test".to_owned(), ("about", String::new())).unwrap();
        // A run in each of two row groups, and rows between them.
        let (ids, times) = ([u64::MAX, 7, 7], [0.5, -0.0, f64::NAN]);
        let runs = [CellRun::Integers(&ids), CellRun::Reals(&times), CellRun::Listed(&[3, 1, 3], &Names)];
        for _ in 0..2 {
            writer.rows(3, &runs).unwrap();
            (0..ROWS).for_each(|id| writer.row(&[id.into(), Cell::Empty, "bc".into()]).unwrap());
            writer.rows(2, &[5_u64.into(), 2.5.into(), Cell::Empty].map(CellRun::Same)).unwrap();
        }
        writer.finish().unwrap();
        let mut reader = Reader::open(File::open(&path).unwrap()).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(TABLE.columns.iter().all(|column| reader.want(column)));
        let mut rows = Vec::new();
        while let Some((len, columns)) = reader.batch().unwrap() {
            rows.extend((0..len).map(|row| format!("{:?}", [0, 1, 2].map(|column| columns[column].cell(row)))));
        }
        let half = rows.len() / 2;
        assert_eq!((half as u64, &rows[..half]), (ROWS + 5, &rows[half..]));
        assert_eq!(
            rows[..3],
            [0, 1, 2].map(|row| {
                let id = if row == 0 { i64::MAX as u64 } else { 7 };
                format!("{:?}", [Cell::Integer(id), Cell::Real(times[row]), Cell::Text(["d", "bc", "d"][row])])
            })
        );
        assert_eq!(rows[half - 1], format!("{:?}", [Cell::Integer(5), Cell::Real(2.5), Cell::Empty]));
    }

    #[test]
    #[should_panic(expected = "t.id cannot hold Empty")]
    fn a_cell_has_the_kind_of_its_column() {
        let about = ("about", String::new());
        let mut writer = Writer::new(Box::new(std::io::sink()), &TABLE, "a test".to_owned(), about).unwrap();
        let _ = writer.row(&[Cell::Empty, Cell::Empty, Cell::Empty]);
    }
}
