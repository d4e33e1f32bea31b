//! Columns of the result tables, defined once: the Parquet schema, the CSV header and the data
//! dictionary are all made from these.

use super::grid::Grid;
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::schema::types::{Type, TypePtr};
use serde_json::{Value, json};
use std::sync::Arc;
use xoff_scenario::wrap;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Integer,
    Real,
    Text,
}

#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Ends with its unit where it has one.
    pub name: &'a str,
    pub kind: Kind,
    /// Empty where nothing is measured.
    pub unit: &'a str,
    /// Whether a row may have no value here.
    pub nullable: bool,
    /// What the data dictionary says of it.
    pub meaning: &'a str,
}

/// One table of a run directory: `NAME.parquet`, and `NAME.csv` on request.
#[derive(Debug)]
pub struct Table<'a> {
    /// Of its file, without ending.
    pub name: &'a str,
    /// What a row of it is.
    pub meaning: &'a str,
    /// In the order of the file.
    pub columns: &'a [Column<'a>],
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Real => "float",
            Kind::Text => "string",
        }
    }

    /// How Parquet stores it.
    pub(crate) fn stored(self) -> PhysicalType {
        match self {
            Kind::Integer => PhysicalType::INT64,
            Kind::Real => PhysicalType::DOUBLE,
            Kind::Text => PhysicalType::BYTE_ARRAY,
        }
    }
}

impl<'a> Table<'a> {
    pub(crate) fn schema(&self) -> TypePtr {
        let field = |column: &Column| {
            let builder = Type::primitive_type_builder(column.name, column.kind.stored())
                .with_repetition(if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED })
                .with_logical_type((column.kind == Kind::Text).then_some(LogicalType::String));
            Arc::new(builder.build().expect("three kinds that Parquet knows"))
        };
        let fields = self.columns.iter().map(field).collect();
        Arc::new(Type::group_type_builder(self.name).with_fields(fields).build().expect("columns have names"))
    }

    pub(crate) fn column(&self, name: &str) -> Option<&'a Column<'a>> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// A table with its columns, and a function that gives the cells of a row, in one list: the kind of a column (`maybe` if
/// it can be empty), its name, its unit, its cell, and its meaning.
macro_rules! table {
    (
        $vis:vis $TABLE:ident, $cells:ident($row:ident: $Row:ty) = $name:literal, $meaning:literal:
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
        pub(crate) fn $cells<'a>($row: &'a $Row) -> [Cell<'a>; [$($column),*].len()] {
            [$(Cell::from($cell)),*]
        }
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

pub(crate) use {kind, nullable, table};

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
    fn schema_and_dictionary_follow_the_definitions() {
        let flows = ALL[0];
        let schema = flows.schema();
        assert_eq!(schema.get_fields().len(), flows.columns.len());
        let fct = schema.get_fields().iter().find(|field| field.name() == "fct_us").unwrap();
        assert_eq!((fct.get_physical_type(), fct.is_optional()), (PhysicalType::DOUBLE, true));
        let text: String = ALL.iter().map(|table| dictionary_text(table, 80)).collect();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for column in ALL.iter().flat_map(|t| t.columns) {
            assert!(text.contains(column.name));
        }
        assert_eq!(dictionary_json(ALL)["tables"][0]["columns"][0]["name"], "flow_id");
    }
}
