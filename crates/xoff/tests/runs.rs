//! Scenarios read and run in this process.

mod convergence;
mod golden;
mod lossless;
mod paths;
mod traffic;
mod victim;
