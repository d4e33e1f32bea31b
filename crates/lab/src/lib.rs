//! The lab: scenarios, workloads, results, figures and the command line.
//!
//! The only crate that reads files, prints or spawns threads. Reading order: [`scenario`] (what is
//! asked for), [`traffic`] (who sends what), [`run`] (the world driven to its end), [`results`]
//! (what becomes of it), [`cli`] (how people get there).

// Macros that print panic when nobody listens; `cli::print` does not.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod capture;
pub mod check;
pub mod cli;
pub mod crew;
pub mod execute;
pub mod export;
pub mod files;
#[cfg(test)]
mod fresh;
pub mod import;
pub mod measure;
pub mod memory;
pub mod models;
pub mod number;
pub mod recorder;
pub mod reproduce;
pub mod results;
pub mod run;
pub mod scenario;
mod schemes_text;
pub mod trace;
pub mod traffic;
pub mod validate;
pub mod wrap;
