//! The workbench: scenarios, workloads, results and the command line.

pub mod check;
pub mod scenario;
pub mod traffic;
