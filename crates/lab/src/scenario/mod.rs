//! Scenarios: from a TOML file to a checked plan.
//!
//! Reading order: [`tree`] (parsed text and `--set`), [`reader`] (the cursor that consumes keys),
//! [`topology`], [`settings`], [`schemes`], [`events`] (one section each), [`load`] (all of it).

pub mod budget;
pub mod captures;
pub mod context;
pub mod diagnostic;
pub mod dictionary;
pub mod events;
pub mod files;
pub mod grain;
pub mod load;
pub mod names;
pub mod reader;
pub mod resolved;
pub mod schemes;
pub mod settings;
pub mod topology;
pub mod tree;
pub mod values;

pub use context::TrafficContext;
pub use diagnostic::{Diagnostic, Place, Source};
pub use events::Output;
pub use load::{Loaded, Options, Scenario};
pub use names::Names;
pub use reader::{Table, Text};
pub use resolved::Attachment;
pub use schemes::NamedScheme;
