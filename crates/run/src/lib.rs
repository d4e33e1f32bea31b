//! Runs a loaded scenario: [`drive`] builds the network and lets it run, [`crew`] cuts it into parts and shares them
//! out among threads, [`memory`] watches how much it holds, [`recorder`] keeps what measures need.
//!
//! Writes nothing and prints nothing.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod crew;
pub mod drive;
pub mod end;
pub mod memory;
#[cfg(test)]
mod metric_tests;
pub mod recorder;

pub use drive::{Keep, Position, Sink, build, drive};
pub use end::RunEnd;
