//! Flow-level engine: flows at max-min fair rates in place of packets.
//!
//! [`FlowWorld`] runs the plan and the sources of a packet-level run, on the same paths, and is driven as one
//! ([`Simulation`](xoff_fabric::simulation::Simulation)). Between events every flow has a rate ([`shares`]); an event is
//! the last byte of a message leaving its sender, its delivery, its acknowledgement, an act of a source, or a fault.
//! A message that leaves at `t` is delivered at `t + L`, where `L` is what the closed form of an idle network takes beyond
//! the serialisation at the slowest link: a message alone takes its ideal time to the picosecond.
//!
//! Not modelled, and not reported: queues, PFC, marks, losses, and how a scheme finds its rate
//! ([decision 0110](../../../docs/decisions/0110-flow-level-is-a-second-engine.md)).
//!
//! Reading order: [`shares`] (who gets what), [`filling`] (the same, exactly), [`world`] (the event loop).

#![warn(missing_docs)]

mod completions;
mod event;
pub mod filling;
mod macro_flow;
mod queue_pair;
pub mod shares;
pub mod world;

pub use world::{FlowWorld, SchemeFacts};
