//! What the rest of the program knows of schemes: parameters as data, what they put into frames, and which schemes the
//! program has.
//!
//! The code of the schemes, and the network that is compiled together with it, are in another crate. A program installs
//! them here, once, before it reads its first scenario. Readers and writers depend on this crate alone, so they are not
//! compiled again when a scheme changes.

#![warn(missing_docs)]

pub mod frame_content;
pub mod int_header;
pub mod param;
mod set;

pub use set::{
    Build, Set, all, bases, controls_switches, find, first_limits, formats, install, select, telemetry_multiplier,
    validation_error, world,
};
