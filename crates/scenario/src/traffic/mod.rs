//! Traffic: what hosts send to each other, and when.
//!
//! [`read()`] turns a `[[traffic]]` table into a [`TrafficPlan`], which builds the same
//! [`xoff_fabric::traffic::Source`] as often as it is asked. Each generator has a file of its own
//! and is made of typed settings; it does no parsing.

pub mod all_to_all;
pub mod batch;
pub mod cdf;
pub mod choose;
pub mod flow;
pub mod incast;
pub mod keys;
pub mod on_off;
pub mod plan;
pub mod poisson;
mod read;
pub mod reads;
pub mod sizes;
pub mod timetable;
pub mod workloads;

pub use plan::{Expected, TrafficPlan};
pub use read::{KINDS, read};
