//! The devices of live runs over wires in memory, with a clock that jumps to what is due: no rights are needed, no time
//! is lost, and two runs are the same. Held against the simulation of the same scenario, flow by flow.

mod agreement;
mod bench;
mod pacing;
mod refusals;
mod rules;
mod strangers;
mod wires;
