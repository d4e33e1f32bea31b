//! What tests of rules give them.

use crate::contract::forwarding::{Candidate, Forwarded};
use xoff_engine::{BitRate, Time};

/// Next hops by ports 0, 1, ... with so many bytes queued.
pub fn candidates(queues: &[u64]) -> Vec<Candidate> {
    let candidate = |(port, &queue_bytes): (u16, &u64)| Candidate {
        port,
        queue_bytes,
        paused: false,
        rate: BitRate::from_gbps(100),
    };
    (0..).zip(queues).map(candidate).collect()
}

/// A packet of a flow, arriving at a time in microseconds.
pub fn packet(us: u64, flow: u32) -> Forwarded {
    Forwarded { now: Time::from_us(us), flow, host: 0, edge: 0, path: 0, class: 0 }
}
