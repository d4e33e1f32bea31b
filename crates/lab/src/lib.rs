//! The workbench: scenarios, workloads, results and the command line.

pub mod scenario;
pub mod traffic;
