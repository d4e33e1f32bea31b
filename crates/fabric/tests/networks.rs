//! Small networks, in one test binary and under one scheme type: each of them would compile the network anew.

mod common;

mod closed_forms;
mod control;
mod forwarding;
mod headroom;
mod messages;
mod paths;
mod recovery;
mod rules;
mod scripted;
mod seen;
mod shaper;
mod tcp;
mod transport;
mod triad;
