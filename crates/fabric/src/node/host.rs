//! A host: who may send at its NIC, and who waits.

use crate::id::{PortId, SenderId};
use crate::node::port::InFlight;
use crate::node::scan::Scan;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use xoff_engine::{Key, Ring, Time};

/// A host: its NIC's round-robin, pacing and delayed packets.
pub struct Host {
    /// Its number among the hosts of the network.
    pub name: u32,
    pub port: PortId,
    pub profile: u16,
    /// Flows that may send now, per class.
    pub ready: Box<[Ring<SenderId>]>,
    /// The flow on the wire, if it may send again when the link is free.
    pub last_served: SenderId,
    /// Flows waiting for their pacing time.
    pub paced: BinaryHeap<Reverse<Key>>,
    /// The wake-up event that counts.
    pub wake_at: Time,
    /// ACKs and notifications waiting out their processing delay.
    pub delayed: [Ring<InFlight>; 2],
    /// Classes this host keeps paused (a storm).
    pub storm: u8,
    /// Its flows, if it looks through them.
    pub scan: Option<Scan>,
}
