//! The lossless fabric: packets, links, ports, buffers, PFC, switches, routing, hosts and RoCE
//! transport. It runs any [`scheme::Scheme`] and names none.
//!
//! Reading order: [`plan`] (what is built), [`traffic`] (who sends what), [`scheme`] (the
//! congestion-control triad), [`world`] (the event loop), [`record`] (what comes out).

pub mod packet;
pub mod plan;
pub mod record;
pub mod scheme;
pub mod topology;
pub mod traffic;
