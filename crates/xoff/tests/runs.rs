//! Scenarios read and run in this process.

mod fuzz;
mod fuzz_import;
mod golden;
mod lossless;
mod traffic;
mod victim;
