//! Scenarios: from a TOML file to a checked plan. Writes nothing, prints nothing, starts no thread.
//!
//! Reading order: [`tree`] (parsed text and `--set`), [`reader`] (the cursor that consumes keys),
//! [`topology`], `settings`, `routing`, [`schemes`], `events` (one section each), [`load`] (all of it); [`traffic`] (who sends what),
//! [`measure`] (what is taken from a run), [`check`] (what can be said before), [`import`] (other simulators' files).
//!
//! ```
//! use std::path::Path;
//! use xoff_scenario::{Options, Scenario};
//!
//! xoff_schemes::install_all();
//! let text = "topology = { kind = \"star\", hosts = 2, rate = \"100Gbps\", dely = \"1us\" }";
//! let problems = Scenario::from_text("mine.toml", text, Path::new(".")).load(&Options::default()).unwrap_err();
//! assert!(problems.iter().any(|problem| problem.to_string().contains("dely")), "{problems:?}");
//! ```

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod budget;
pub mod captures;
pub mod check;
mod context;
pub mod diagnostic;
mod dialect;
pub mod dictionary;
mod events;
mod fidelity;
pub mod files;
pub mod import;
pub mod library;
pub mod load;
mod looks;
pub mod measure;
pub mod names;
pub mod number;
mod origin;
pub mod read;
pub mod reader;
mod recovery;
mod resolution;
pub mod resolved;
mod routing;
pub mod schemes;
mod servers;
mod settings;
pub mod spelled;
mod stacks;
pub mod topology;
mod topology_keys;
pub mod traces;
pub mod traffic;
pub mod tree;
pub mod values;
pub mod wrap;

pub use diagnostic::{Diagnostic, Place, Source};
pub use events::Output;
pub use load::{Loaded, Options, Scenario};
pub use looks::Looks;
pub use names::Names;
pub use reader::{Table, Text};
pub use resolved::Attachment;
pub use schemes::NamedScheme;

// Unit tests have the schemes of the crate that compiles them; a program installs its own.
#[cfg(not(test))]
use xoff_catalogue as catalogue;
#[cfg(test)]
use xoff_schemes as catalogue;
