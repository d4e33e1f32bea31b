//! What the fabric agrees on with others: schemes and controls, traffic, packets, and what comes out.

pub mod activity;
pub mod capture;
pub mod control;
pub mod delegate;
pub mod edge_routing;
mod facts;
pub mod forwarding;
pub mod frame_content;
pub mod packet;
pub mod precision;
pub mod record;
pub mod rows;
pub mod scheme;
pub mod traffic;
