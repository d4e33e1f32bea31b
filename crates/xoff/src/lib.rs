//! The program: commands ([`cli`]), the papers' experiments and their claims ([`reproduce`]), the papers' models
//! ([`models`]), and agreement with the HPCC authors' simulator ([`validate`]).
//!
//! What it computes is in the crates below, which are here by short names: [`scenario`] reads, [`run`] runs, [`results`]
//! writes. A program with a scheme of its own is [`cli::main_with`].

// Macros that print panic when nobody listens; `cli::print` does not.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

/// Scenarios, experiments, claims, schema and dissector, as they come inside the program.
mod inside {
    include!(concat!(env!("OUT_DIR"), "/inside.rs"));
}

pub use xoff_engine as engine;
pub use xoff_fabric as fabric;
pub use xoff_results as results;
pub use xoff_run as run;
pub use xoff_scenario as scenario;
pub use xoff_schemes as schemes;

pub mod cli;
pub mod models;
pub mod reproduce;
mod schemes_text;
pub mod validate;
