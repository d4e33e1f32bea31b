//! `[[tree]]` of an experiment.

use crate::reproduce::change::value_name;
use crate::reproduce::figure::file_part;
use xoff_engine::Span;
use xoff_scenario::diagnostic::{Diagnostic, Place};
use xoff_scenario::reader::{Table, Text};

/// One picture that an experiment asks for.
#[derive(Clone)]
pub struct TreeSpec {
    /// Part of the name of its file.
    pub name: String,
    pub title: String,
    /// The group of runs.
    pub runs: Text,
    /// The value of each of its axes.
    pub values: Vec<(Text, String)>,
    /// Default: the first instant at which most egresses are paused.
    pub at: Option<Span>,
    /// Flows whose ways are drawn; none for a choice by what the run did.
    pub flows: Vec<Text>,
    pub place: Place,
}

impl TreeSpec {
    /// Reads one `[[tree]]`.
    pub fn read(mut table: Table) -> Result<TreeSpec, Diagnostic> {
        let place = table.place().clone();
        let name = file_part(&mut table)?;
        if name.is_empty() {
            return Err(place.error("the tree lacks `name`").label("it becomes part of a file name"));
        }
        let values = table.table("where")?.into_items().into_iter();
        let spec = TreeSpec {
            name,
            title: table.text("title")?.value,
            runs: table.text_or("runs", "main")?,
            values: values.map(|(axis, item)| (axis, value_name(&item.value))).collect(),
            at: table.take_span("at")?,
            flows: table.take_texts("flows")?.unwrap_or_default(),
            place,
        };
        table.finish()?;
        Ok(spec)
    }
}
