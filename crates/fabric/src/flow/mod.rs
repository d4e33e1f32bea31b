//! The two ends of a flow: what they remember. What they do is in [`crate::part`].

pub mod ack_rule;
pub mod any_order;
pub mod ends;
pub mod identity;
pub mod messages;
