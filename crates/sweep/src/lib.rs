//! Many runs of one scenario: over axes, schemes and seeds, on all cores or on a cluster's, none made twice.
//!
//! [`pool`] is the queue that every command with several runs goes through; [`seal`] tells inputs apart and keeps what
//! is finished.

#![warn(missing_docs)]

pub mod pool;
pub mod seal;
