//! The two ends of a flow: what they remember. What they do is in [`crate::part`].

pub mod ack_rule;
pub mod ends;
pub mod identity;
pub mod pacing;
pub mod transport;
