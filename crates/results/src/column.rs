//! Columns of the result tables, defined once: the Parquet schema, the CSV header and the data
//! dictionary are all made from these.

use super::grid::Grid;
use serde_json::{Value, json};
use xoff_scenario::wrap;
pub use xoff_tables::{Column, Kind, Table};

/// A table with its columns, and a function that gives the cells of a row, in one list: the kind of a column (`maybe` if
/// it can be empty), its name, its unit, its cell, and its meaning. With `-> CellRun` it is a function of many rows, and
/// the cells are theirs.
macro_rules! table {
    (
        $vis:vis $TABLE:ident, $cells:ident($row:ident: $Row:ty) $(-> $Run:ident)? = $name:literal, $meaning:literal:
        $($($kind:ident)+ $column:literal $(in $unit:literal)? = $cell:expr, $text:literal;)*
    ) => {
        #[doc = $meaning]
        $vis static $TABLE: Table = Table {
            name: $name,
            meaning: $meaning,
            columns: &[$(Column {
                name: $column,
                kind: $crate::column::kind!($($kind)+),
                unit: concat!($($unit)?),
                nullable: $crate::column::nullable!($($kind)+),
                meaning: $text,
            }),*],
        };

        #[doc = concat!("One row of `", $name, "`, in the order of its columns.")]
        pub(crate) fn $cells<'a>($row: &'a $Row) -> [$crate::column::cell!('a $($Run)?); [$($column),*].len()] {
            [$(From::from($cell)),*]
        }
    };
}

macro_rules! cell {
    ($a:lifetime) => {
        Cell<$a>
    };
    ($a:lifetime $Run:ident) => {
        $Run<$a>
    };
}

macro_rules! kind {
    ($(maybe)? integer) => {
        Kind::Integer
    };
    ($(maybe)? real) => {
        Kind::Real
    };
    ($(maybe)? text) => {
        Kind::Text
    };
}

macro_rules! nullable {
    (maybe $kind:ident) => {
        true
    };
    ($kind:ident) => {
        false
    };
}

pub(crate) use {cell, kind, nullable, table};

/// The data dictionary of one table as a text of so many columns.
pub(crate) fn dictionary_text(table: &Table, width: usize) -> String {
    let mut out = String::new();
    wrap::item(&mut out, &format!("{}.parquet:", table.name), table.meaning, (0, 2), width);
    let mut grid = Grid::new(["column", "type", "unit", "meaning"]).left(&[1, 2, 3]);
    for column in table.columns {
        let empty = if column.nullable { " May be empty." } else { "" };
        let meaning = format!("{}{empty}", column.meaning);
        grid.row([column.name.to_owned(), column.kind.name().to_owned(), column.unit.to_owned(), meaning]);
    }
    out.push_str(&grid.text_in(width));
    out.push('\n');
    out
}

/// The data dictionary as JSON: table, then columns in order.
pub(crate) fn dictionary_json(tables: &[&Table]) -> Value {
    let column = |c: &Column| json!({ "name": c.name, "type": c.kind.name(), "unit": c.unit, "nullable": c.nullable, "meaning": c.meaning });
    let table = |t: &&Table| json!({ "name": t.name, "meaning": t.meaning, "columns": t.columns.iter().map(column).collect::<Vec<_>>() });
    json!({ "tables": tables.iter().map(table).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::super::tables::ALL;
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_carry_their_unit() {
        for table in ALL {
            let mut seen = HashSet::new();
            for column in table.columns {
                assert!(seen.insert(column.name), "{} twice in {}", column.name, table.name);
                assert!(column.meaning.ends_with('.'), "{} has no full sentence", column.name);
                let suffix = match column.unit {
                    "us" => "_us",
                    "bytes" => "_bytes",
                    "Gbps" => "_gbps",
                    _ => "",
                };
                assert!(
                    column.name.ends_with(suffix) || column.name.contains(&format!("{suffix}_")),
                    "{}",
                    column.name
                );
            }
        }
    }

    #[test]
    fn the_dictionary_follows_the_definitions() {
        let text: String = ALL.iter().map(|table| dictionary_text(table, 80)).collect();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for column in ALL.iter().flat_map(|t| t.columns) {
            assert!(text.contains(column.name));
        }
        assert_eq!(dictionary_json(ALL)["tables"][0]["columns"][0]["name"], "flow_id");
    }
}
