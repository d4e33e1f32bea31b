//! Traffic: what hosts send to each other, and when.

pub mod cdf;
pub mod sizes;
pub mod workloads;
