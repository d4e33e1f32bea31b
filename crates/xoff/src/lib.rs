//! The program: commands ([`cli`]), the papers' experiments and their claims (`reproduce`), and agreement with the HPCC authors' simulator (`validate`).
//!
//! What it computes is in the crates below, which are here by short names: [`scenario`] reads, [`run`] runs, [`results`]
//! writes. A program with a scheme of its own is [`cli::main_with`].

#![warn(missing_docs)]
// Macros that print panic on a closed pipe; `cli::print` does not.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

/// Scenarios, experiments, claims, schema and dissector, as they come inside the program.
mod inside {
    include!(concat!(env!("OUT_DIR"), "/inside.rs"));
}

pub use xoff_engine as engine;
pub use xoff_fabric as fabric;
pub use xoff_models as models;
pub use xoff_results as results;
pub use xoff_run as run;
pub use xoff_scenario as scenario;
pub use xoff_schemes as schemes;
pub use xoff_sweep as sweep;

pub mod cli;
pub mod embed;
mod schemes_text;

// Public only for the tests and fuzz targets of this repository.
#[doc(hidden)]
pub mod models_text;
#[doc(hidden)]
pub mod reproduce;
#[doc(hidden)]
pub mod validate;
