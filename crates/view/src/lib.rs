//! Finished runs replayed in a browser.
//!
//! Reading order: [`collection`] (a run, or the runs of a comparison), [`page`] (what is embedded), [`server`] (hands
//! both out, on loopback only) over `connections` and `http`, [`export`] (both in one file).

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod collection;
mod connections;
pub mod export;
mod http;
pub mod page;
pub mod server;
