//! Switches and NICs: their ports and queues, and what they do with a packet.

pub mod nic;
pub mod pause;
pub mod port;
pub mod scan;
pub mod shaper;
pub mod switch;
pub mod tap;
pub mod voq;
pub mod watchdog;
