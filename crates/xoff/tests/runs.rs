//! Scenarios read and run in this process.

mod golden;
mod lossless;
mod traffic;
mod victim;
