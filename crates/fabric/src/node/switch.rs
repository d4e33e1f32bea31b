//! A switch: its ports, its shared buffer, and the timers of its PFC.

use crate::buffer::Buffer;
use crate::buffer::broadcom::Broadcom;
use crate::id::{PortId, QueueId};
use crate::network::plan::{ResumeAt, Signalling};
use xoff_engine::{SharedRandom, Time};

#[derive(Debug)]
pub struct Switch {
    pub node: u32,
    /// Number among the switches of the network.
    pub name: u32,
    /// Number of its first ingress (port, class) among those of the network.
    pub first_ingress: u32,
    pub profile: u16,
    /// Ports by their local number.
    pub ports: Vec<PortId>,
    pub buffer: Buffer,
    pub signalling: Signalling,
    /// Number of its queues that are in a storm now.
    pub storms: u32,
    /// Generator of the marks of its queues, where they share one.
    pub marks: Option<SharedRandom>,
    /// Buffer that takes the place of `buffer`, under [`Dialect::ConWeave`](crate::network::plan::Dialect::ConWeave).
    pub foreign: Option<Box<Broadcom>>,
    /// PFC checks to come, where each egress has timers of its own ([`ResumeAt::Checks`]).
    pub checks: Vec<PfcCheck>,
}

/// Pending PFC check of an ingress (port, class), scheduled by one egress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PfcCheck {
    pub ingress: QueueId,
    pub egress: PortId,
    pub at: Time,
}

impl Switch {
    /// Returns whether ingresses are checked at arrivals and by timers, and not when packets leave.
    #[inline]
    pub fn has_checks(&self) -> bool {
        matches!(self.signalling, Signalling::Timed { resume: ResumeAt::Checks, .. })
    }

    /// Name of an ingress: its number among those of the network.
    pub fn ingress_name(&self, local: u16, class: u8) -> u32 {
        self.first_ingress + self.buffer.place(usize::from(local), class) as u32
    }
}
