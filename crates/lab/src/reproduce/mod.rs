//! The papers' experiments, run from data, drawn, and their claims judged.

pub mod figure;
pub mod judged;
pub mod report;
pub mod results;

pub use report::book_markdown;
