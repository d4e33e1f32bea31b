//! Traffic: what hosts send to each other, and when.

pub mod all_to_all;
pub mod batch;
pub mod cdf;
pub mod choose;
pub mod flow;
pub mod incast;
pub mod on_off;
pub mod poisson;
pub mod reads;
pub mod sizes;
pub mod timetable;
pub mod workloads;
