//! What concerns all of the network at once: sources, faults, probes, checks, windows, and where flows are.

pub mod build;
pub mod check;
pub mod fault;
pub mod presence;
pub mod probe;
pub mod sources;
pub mod start;
pub mod window;
pub mod world;
