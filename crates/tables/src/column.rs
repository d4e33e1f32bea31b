//! What a table and its columns are.

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

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
    /// The name of its file, without ending.
    pub name: &'a str,
    /// What a row of it is.
    pub meaning: &'a str,
    /// In the order of the file.
    pub columns: &'a [Column<'a>],
}

impl Kind {
    pub fn name(self) -> &'static str {
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

    pub fn column(&self, name: &str) -> Option<&'a Column<'a>> {
        self.columns.iter().find(|column| column.name == name)
    }
}
