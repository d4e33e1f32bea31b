//! The lossless fabric: packets, links, ports, buffers, PFC, switches, routing, hosts, RoCE and
//! TCP transport. It runs any [`scheme::Scheme`] and names none.
//!
//! Rooms by owner: [`network`] (what is planned, and never changes), [`contract`] (what is agreed on with others),
//! [`node`] (switches and NICs), [`flow`] (senders and receivers), [`part`] (some nodes and the event loop), [`run`]
//! (what concerns all of the network), `compat` (rules of other simulators).
//!
//! Reading order: [`plan`] (what is built), [`traffic`] (who sends what), [`scheme`] (the
//! congestion-control triad), [`world`] (the event loop), [`record`] (what comes out). The examples `plan` and `own_scheme`
//! of the crate `xoff-run` are whole programs.

mod compat;
pub mod contract;
pub mod flow;
pub mod network;
pub mod node;
pub mod part;
pub mod run;

pub use contract::{capture, control, frame_content, packet, record, scheme, traffic};
pub use network::{domain, extent, partition, payload_paths, pfc, plan, route, timing, topology};
pub use run as world;
pub use run::{simulation, window};
