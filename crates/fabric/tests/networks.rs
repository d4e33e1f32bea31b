//! Small networks, in one test binary: each of them compiles the network anew.

mod common;

mod closed_forms;
mod control;
mod headroom;
mod messages;
mod rules;
mod seen;
mod shaper;
mod swarm;
mod tcp;
mod transport;
mod triad;
