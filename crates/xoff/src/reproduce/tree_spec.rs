//! `[[tree]]` of an experiment: which picture of a congestion tree it asks for.

use super::change::value_name;
use super::figure::file_part;
use xoff_engine::Span;
use xoff_scenario::diagnostic::{Diagnostic, Place};
use xoff_scenario::reader::{Table, Text};

/// One picture that an experiment asks for.
#[derive(Clone)]
pub struct TreeSpec {
    /// Part of the name of its file.
    pub name: String,
    pub(super) title: String,
    /// The group of runs.
    pub(super) runs: Text,
    /// The value of each of its axes.
    pub(super) values: Vec<(Text, String)>,
    /// Default: the first instant at which most egresses stand still.
    pub(super) at: Option<Span>,
    /// Flows whose ways are drawn; none for a choice by what the run did.
    pub(super) flows: Vec<Text>,
    pub(super) place: Place,
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
