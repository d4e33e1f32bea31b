//! Scenarios, traffic, experiments, results and the command line of Xoff.

pub mod traffic;
