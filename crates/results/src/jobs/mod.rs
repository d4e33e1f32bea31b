//! Training jobs of a run: tables, rows of the summary and time lines, from the intervals of their activities.
//!
//! `rows` is what `run.json` has of them, [`timeline`] what the figure shows, [`gather`] makes both and writes the tables.

pub mod gather;
pub mod rows;
pub mod timeline;
