//! The two ends of a flow, and the transports between them.

pub mod ends;
pub mod identity;
pub mod tcp;
pub mod transport;
