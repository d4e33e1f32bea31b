//! Runs a loaded scenario: [`mod@drive`] builds the network and lets it run, [`threads`] cuts it into parts and shares them
//! out among threads, [`memory`] watches how much it holds, [`recorder`] keeps what measures need.
//!
//! Writes nothing and prints nothing. Whole programs are in the folder `examples`: `plan` (a network in Rust), `sweep` (a
//! scenario under several values of a key) and `own_scheme` (a scheme in one file, on a [`World`] of its own).
//!
//! [`World`]: xoff_fabric::world::World
//!
//! ```
//! use std::path::Path;
//! use xoff_scenario::{Options, Scenario};
//!
//! // Before the first scenario is read.
//! xoff_schemes::install_all();
//! let text = r#"
//! name = "two"
//! topology = { kind = "star", hosts = 2, rate = "100Gbps", delay = "1us" }
//! scheme = { name = "none" }
//! traffic = [{ kind = "burst", sources = "h0", destinations = "h1", size = "1MB" }]
//! measure = [{ name = "fct", metric = "fct", stat = "max", unit = "us" }]
//! "#;
//! let loaded = Scenario::from_text("two.toml", text, Path::new(".")).load(&Options::default()).unwrap();
//! let recording = xoff_run::recorder::record(&loaded, &loaded.measures, |_| {})?;
//! let measured = loaded.measures.take(&loaded.plan, &recording);
//! // 1 MB in packets of 1000 B and 82 B of headers, at 100 Gb/s, and a few microseconds of wire.
//! assert!((86.0..92.0).contains(&measured.numbers["fct"]), "{measured:?}");
//! # Ok::<(), std::io::Error>(())
//! ```

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod cpu;
pub mod drive;
pub mod end;
pub mod estimate;
pub mod memory;
#[cfg(test)]
mod metric_tests;
mod pace;
pub mod recorder;
pub mod records;
pub mod threads;
pub mod time_limit;

pub use drive::{Keep, Position, Sink, build, drive};
pub use end::RunEnd;
pub use records::Records;
