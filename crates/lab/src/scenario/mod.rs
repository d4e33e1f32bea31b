//! Scenarios: from a TOML file to a checked plan.

pub mod diagnostic;
pub mod dictionary;
pub mod reader;
pub mod resolved;
pub mod tree;

pub use diagnostic::{Diagnostic, Place, Source};
pub use reader::{Table, Text};
