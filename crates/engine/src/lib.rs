//! Time, units, random streams and the event queue.
//!
//! This crate knows no packet. It has no clock, no thread, no file and no floating-point time:
//! an instant is a whole number of picoseconds, and everything random is derived from a seed, a
//! purpose and an entity.

#![warn(missing_docs)]

pub mod event;
pub mod fifo;
pub mod fnv;
pub mod free_list;
pub mod glibc_random;
pub mod mt19937;
pub mod numbered;
pub mod quantity;
pub mod queue;
pub mod ring;
pub mod rng;
pub mod shared_random;
pub mod slab;
mod sorting;
pub mod student;
pub mod table;
mod ties;
pub mod units;

pub use event::{Event, Key};
pub use fifo::{Fifo, Pool};
pub use free_list::FreeList;
pub use glibc_random::SharedGlibc;
pub use mt19937::SharedTwister;
pub use numbered::Numbered;
pub use queue::EventQueue;
pub use ring::Ring;
pub use rng::{Rng, stream};
pub use shared_random::SharedRandom;
pub use slab::Slab;
pub use table::{Id, Table};
pub use units::{BitRate, LinkRate, Span, Time, TimeResolution};
