//! The rate law that all short loops share (section 3): HPCC's, or PowerTCP's.

use crate::parts::hpcc_law::HpccLaw;
use crate::powertcp;
use xoff_fabric::packet::IntStack;
use xoff_fabric::scheme::ReactionPoint;

/// Telemetry in, window and rate out. The owner says when a round has passed.
#[derive(Clone, Debug)]
pub enum Law {
    Hpcc(HpccLaw),
    PowerTcp(powertcp::Rp),
}

impl Law {
    #[inline]
    pub(super) fn on_telemetry(&mut self, stack: &IntStack, update: bool) {
        match self {
            Law::Hpcc(law) => drop(law.on_telemetry(stack, update)),
            Law::PowerTcp(law) => law.on_telemetry(stack, update),
        }
    }

    #[inline]
    pub(super) fn rate_bps(&self) -> f64 {
        match self {
            Law::Hpcc(law) => law.rate_bps(),
            Law::PowerTcp(law) => law.limits().rate_bps,
        }
    }

    #[inline]
    pub(super) fn window_bytes(&self) -> u64 {
        match self {
            Law::Hpcc(law) => law.window_bytes() as u64,
            Law::PowerTcp(law) => law.limits().window_bytes,
        }
    }

    pub(super) fn increases(&self) -> u32 {
        match self {
            Law::Hpcc(law) => law.increases(),
            Law::PowerTcp(law) => law.increases(),
        }
    }
}
