//! The lossless fabric: packets, links, ports, buffers, PFC, switches, routing, hosts, RoCE and
//! TCP transport. It runs any [`scheme::Scheme`] and names none.
//!
//! Reading order: [`plan`] (what is built), [`traffic`] (who sends what), [`scheme`] (the
//! congestion-control triad), [`world`] (the event loop), [`record`] (what comes out).

pub mod agenda;
pub mod build;
pub mod capture;
pub mod check;
pub mod control;
pub mod domain;
mod eager;
pub mod fault;
pub mod flow;
pub mod identity;
pub mod mail;
pub mod nic;
pub mod packet;
pub mod part;
pub mod partition;
pub mod pfc;
pub mod plan;
pub mod port;
pub mod presence;
pub mod probe;
pub mod record;
pub mod route;
pub mod scan;
pub mod scheme;
pub mod shaper;
pub mod sources;
pub mod start;
pub mod switch;
pub mod tcp;
pub mod timing;
pub mod topology;
pub mod traffic;
pub mod transport;
pub mod voq;
pub mod watchdog;
pub mod ways;
pub mod window;
pub mod world;
