//! Columns of the result tables, defined once: the Parquet schema, the CSV header and the data
//! dictionary are all made from these.

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Integer,
    Real,
    Text,
}

/// One column of one table.
#[derive(Debug)]
pub struct Column {
    /// Ends with its unit where it has one.
    pub name: &'static str,
    pub kind: Kind,
    /// Empty where nothing is measured.
    pub unit: &'static str,
    /// Whether a row may have no value here.
    pub nullable: bool,
    pub meaning: &'static str,
}

/// One table of a run directory: `NAME.parquet`, and `NAME.csv` on request.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    pub meaning: &'static str,
    pub columns: &'static [Column],
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Real => "real",
            Kind::Text => "text",
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Kind::Integer => DataType::Int64,
            Kind::Real => DataType::Float64,
            Kind::Text => DataType::Utf8,
        }
    }
}

impl Table {
    /// The Arrow schema; each field carries its unit and meaning as metadata.
    pub fn schema(&self) -> SchemaRef {
        let field = |column: &Column| {
            let mut notes = HashMap::from([("meaning".to_owned(), column.meaning.to_owned())]);
            if !column.unit.is_empty() {
                notes.insert("unit".to_owned(), column.unit.to_owned());
            }
            Field::new(column.name, column.kind.data_type(), column.nullable).with_metadata(notes)
        };
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }
}

/// The data dictionary as a text of at most 100 columns.
pub fn dictionary_text(tables: &[&Table]) -> String {
    let mut out = String::new();
    for table in tables {
        let _ = writeln!(out, "{}.parquet: {}", table.name, table.meaning);
        let name = table.columns.iter().map(|c| c.name.len()).max().unwrap_or(0);
        let unit = table.columns.iter().map(|c| c.unit.len()).max().unwrap_or(0);
        for column in table.columns {
            let kind = column.kind.name();
            let _ = write!(out, "  {:name$}  {kind:7}  {:unit$}  ", column.name, column.unit);
            let indent = 2 + name + 2 + 7 + 2 + unit + 2;
            let empty = if column.nullable { " May be empty." } else { "" };
            wrap(&mut out, &format!("{}{empty}", column.meaning), indent, 100);
        }
        out.push('\n');
    }
    out
}

/// The data dictionary as JSON: table, then columns in order.
pub fn dictionary_json(tables: &[&Table]) -> Value {
    let column = |c: &Column| json!({ "name": c.name, "type": c.kind.name(), "unit": c.unit, "nullable": c.nullable, "meaning": c.meaning });
    let table = |t: &&Table| json!({ "name": t.name, "meaning": t.meaning, "columns": t.columns.iter().map(column).collect::<Vec<_>>() });
    json!({ "tables": tables.iter().map(table).collect::<Vec<_>>() })
}

/// Appends `text` as lines of at most `width`, all indented.
pub fn wrap_paragraph(out: &mut String, text: &str, indent: usize, width: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
    wrap(out, text, indent, width);
}

/// Appends `text` broken at spaces, further lines indented; the first line starts at `indent`.
pub(super) fn wrap(out: &mut String, text: &str, indent: usize, width: usize) {
    let mut at = indent;
    for (index, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 && at + 1 + length > width {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        } else if index > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
    out.push('\n');
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
        assert_eq!(schema.fields().len(), flows.columns.len());
        let fct = schema.field_with_name("fct_us").unwrap();
        assert_eq!(fct.metadata().get("unit").map(|s| s.as_ref()), Some("us"));
        assert!(fct.is_nullable());
        let text = dictionary_text(ALL);
        assert!(text.lines().all(|line| line.chars().count() <= 100));
        for column in ALL.iter().flat_map(|t| t.columns) {
            assert!(text.contains(column.name));
        }
        assert_eq!(dictionary_json(ALL)["tables"][0]["columns"][0]["name"], "flow_id");
    }
}
