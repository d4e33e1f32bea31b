//! The program: commands ([`cli`]), the papers' experiments and their claims ([`reproduce`]), the papers' models
//! ([`models`]), and agreement with the HPCC authors' simulator ([`validate`]).
//!
//! What it computes is in the crates below: `xoff_scenario` reads, `xoff_run` runs, `xoff_results` writes.

// Macros that print panic when nobody listens; `cli::print` does not.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

/// Scenarios, experiments, claims, schema and dissector, as they come inside the program.
mod inside {
    include!(concat!(env!("OUT_DIR"), "/inside.rs"));
}

pub mod cli;
pub mod models;
pub mod reproduce;
mod schemes_text;
pub mod validate;
