//! The network as it was planned: nothing here changes while a run goes on.

mod defaults;
pub mod domain;
pub mod edge_routing;
pub mod extent;
pub mod forwarding;
mod murmur3;
pub mod partition;
pub mod payload_paths;
pub mod pfc;
pub mod pieces;
pub mod plan;
pub(crate) mod probe;
pub(crate) mod rates;
mod recovery;
pub mod response;
pub mod route;
pub(crate) mod rows;
mod rules;
pub mod servers;
pub mod timing;
pub mod topology;
