//! Training jobs of a run: tables, rows of the summary and time lines, from the intervals of their activities.
//!
//! `rows` is what `run.json` has of them, [`timeline`] what the figure shows, [`gather`] makes both and writes the tables;
//! `activities` reads one of them back.

pub(crate) mod activities;
pub mod gather;
pub mod rows;
pub mod timeline;
