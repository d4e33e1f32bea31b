//! The lossless fabric: packets, links, ports, buffers, PFC, switches, routing, hosts, RoCE and
//! TCP transport. It runs any [`scheme::Scheme`] and names none.
//!
//! Rooms, each of which knows only those before it: [`contract`] (what is agreed on with others), [`buffer`] (the shared
//! buffer of a switch, as a pure state machine), [`network`] (what
//! is planned, and never changes), `node` and `flow` (what switches, hosts, senders and receivers remember),
//! `part` (what they do, and the event loop), [`run`] (what concerns all of the network).
//!
//! Reading order: [`plan`] (what is built), [`traffic`] (who sends what), [`scheme`] (the
//! congestion-control triad), [`world`] (the event loop), [`record`] (what comes out). The examples `plan` and `own_scheme`
//! of the crate `xoff-run` are whole programs.

#![warn(missing_docs)]

pub mod buffer;
pub mod contract;
mod flow;
mod id;
pub mod network;
mod node;
mod part;
pub mod run;

pub use contract::{
    activity, capture, control, edge_routing, forwarding, frame_content, packet, precision, record, scheme, traffic,
};
pub use flow::ends::PacketSizes;
pub use flow::identity::{SourceName, ends};
pub use flow::{ack_rule, pacing, transport};
pub use network::{
    domain, extent, partition, payload_paths, pfc, pieces, plan, response, route, servers, timing, topology,
};
pub use node::tap;
pub use run as world;
pub use run::{simulation, window};
