//! Switches and hosts: what they remember. What they do is in [`crate::part`].

pub mod edge_routing;
pub mod forwarding;
pub mod host;
pub mod order;
pub mod port;
pub mod scan;
pub mod shaper;
pub mod stacks;
pub mod switch;
pub mod tap;
pub mod voq;
pub mod watch;
