//! Tables as the row reader of parquet gives them; with Arrow, a build would take longer.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::collections::BTreeMap;
use std::path::Path;

/// Columns by name.
pub struct Table(BTreeMap<String, Vec<Field>>);

impl Table {
    pub fn read(path: &Path) -> Table {
        let reader = SerializedFileReader::try_from(path).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr();
        let mut columns: BTreeMap<_, _> =
            schema.columns().iter().map(|column| (column.name().to_owned(), Vec::new())).collect();
        for row in reader.get_row_iter(None).unwrap() {
            for (name, field) in row.unwrap().into_columns() {
                columns.get_mut(&name).unwrap().push(field);
            }
        }
        Table(columns)
    }

    pub fn rows(&self) -> usize {
        self.0.values().next().map_or(0, Vec::len)
    }

    pub fn columns(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    pub fn has(&self, column: &str) -> bool {
        self.0.contains_key(column)
    }

    fn column(&self, name: &str) -> &[Field] {
        self.0.get(name).unwrap_or_else(|| panic!("no {name}"))
    }

    pub fn reals(&self, column: &str) -> Vec<Option<f64>> {
        let real = |field: &Field| match field {
            Field::Null => None,
            Field::Double(real) => Some(*real),
            other => panic!("{column}: {other} is no real number"),
        };
        self.column(column).iter().map(real).collect()
    }

    /// A cell as a number, whatever kind of number it is; `None` if it is empty.
    pub fn number(&self, column: &str, row: usize) -> Option<f64> {
        match &self.column(column)[row] {
            Field::Null => None,
            Field::Double(real) => Some(*real),
            Field::Long(integer) => Some(*integer as f64),
            other => panic!("{column}: {other} is no number"),
        }
    }

    /// A cell as a text that no other value has.
    pub fn text(&self, column: &str, row: usize) -> String {
        self.column(column)[row].to_string()
    }

    pub fn integers(&self, column: &str) -> Vec<i64> {
        let integer = |field: &Field| match field {
            Field::Long(integer) => *integer,
            other => panic!("{column}: {other} is no integer"),
        };
        self.column(column).iter().map(integer).collect()
    }

    /// Empty where there is none.
    pub fn words(&self, column: &str) -> Vec<String> {
        let word = |field: &Field| match field {
            Field::Null => String::new(),
            Field::Str(word) => word.clone(),
            other => panic!("{column}: {other} is no text"),
        };
        self.column(column).iter().map(word).collect()
    }
}
