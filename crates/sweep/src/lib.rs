//! Many runs of one scenario: over axes, schemes and seeds, on all cores or on a cluster's, none made twice.
//!
//! A [`Sweep`] says what is varied, a [`Sweeper`] runs it and writes what was found, a [`cluster::Plan`] is the same for
//! machines that share a folder. [`pool`] is the queue that every command with several runs goes through; [`seal`] tells
//! inputs apart and keeps what is finished.

pub mod axis;
pub mod batch;
pub mod charts;
pub mod cluster;
mod finding;
pub mod home;
pub mod numbers;
pub mod page;
pub mod plan;
pub mod pool;
pub mod record;
pub mod sample;
pub mod seal;
mod spelled;
pub mod study;
pub mod sweeper;
pub mod table;
pub mod value;
pub mod verify;

pub use plan::{Point, Sweep};
pub use sweeper::Sweeper;
