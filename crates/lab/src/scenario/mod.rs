//! Scenarios: from a TOML file to a checked plan.

pub mod context;
pub mod diagnostic;
pub mod dictionary;
pub mod names;
pub mod reader;
pub mod resolved;
pub mod tree;

pub use context::TrafficContext;
pub use diagnostic::{Diagnostic, Place, Source};
pub use names::Names;
pub use reader::{Table, Text};
