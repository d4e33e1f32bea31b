//! Congestion trees of runs at an instant, as pictures: `spec` is what an experiment asks for, `draw` makes it.

mod draw;
pub mod spec;

pub use draw::{check, draw};
