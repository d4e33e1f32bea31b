//! The lab: scenarios, workloads, results, figures and the command line.

pub mod results;
