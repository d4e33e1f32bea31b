//! Traffic: what hosts send to each other, and when.
//!
//! `read` turns a `[[traffic]]` table into a [`TrafficPlan`], which builds the same
//! [`xoff_fabric::traffic::Source`] as often as it is asked. Each generator has a file of its own
//! and is made of typed settings; it does no parsing.

pub(crate) mod all_to_all;
pub(crate) mod batch;
pub(crate) mod cdf;
pub(crate) mod choose;
pub(crate) mod flow;
pub(crate) mod incast;
pub(crate) mod job;
pub(crate) mod keys;
pub(crate) mod on_off;
pub(crate) mod plan;
pub(crate) mod poisson;
mod read;
pub(crate) mod reads;
pub(crate) mod sizes;
pub(crate) mod timetable;
pub mod workloads;

pub use job::JobPlan;
pub use job::log::{JobInterval, JobLog};
pub use plan::{Expected, TrafficPlan};
#[cfg(test)]
pub(crate) use read::tests::EXAMPLES;
pub(crate) use read::{LARGEST_FLOW_FILE, read};
pub use xoff_jobs::collective::Form;
pub use xoff_jobs::settle::Settled;
