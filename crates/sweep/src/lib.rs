//! Many runs of one scenario: over axes, schemes and seeds, on all cores or on a cluster's, none made twice.
//!
//! [`pool`] is the queue that every command with several runs goes through; [`seal`] tells inputs apart and keeps what
//! is finished.

#![warn(missing_docs)]

pub mod axis;
pub mod numbers;
pub mod plan;
pub mod pool;
pub mod record;
pub mod sample;
pub mod seal;
pub mod value;

pub use plan::{Point, Sweep};
