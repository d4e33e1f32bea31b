//! The built program from outside, in one test binary: each of them links all of the program.
//!
//! `house` runs these tests too; this binary is for the package of the crate, which has no `house`.

pub mod common;
pub mod perfetto;

mod bad_input;
mod capture;
mod cli;
mod cluster;
mod compare_live;
mod faults;
mod files;
mod import;
mod inside;
mod picture;
mod readings;
mod replay;
mod reproduce;
mod rows;
mod spelled;
mod statistics;
mod sweep;
mod trace;
mod validate;
mod variables;
mod words;
