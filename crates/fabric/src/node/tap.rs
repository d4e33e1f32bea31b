//! What is captured, how much of it has been, and where packets were marked.

use crate::contract::capture::{Capture, Frame, Place};
use xoff_engine::Time;
use xoff_engine::rng::mix;

/// Marks remembered, by a hash of the packet: enough for what is in flight in all but huge networks.
pub(crate) const MARKS: usize = 1 << 16;

/// All taps of a run.
#[derive(Debug, Default)]
pub struct Taps {
    /// Records since they were last taken.
    pub frames: Vec<Frame>,
    pub(crate) list: Vec<Tap>,
    /// Where packets were marked. Empty in runs without captures.
    pub(crate) marks: Vec<Option<(PacketName, Place)>>,
    /// By index of its feedback: which egress sent a notification.
    pub(crate) origins: Vec<Option<Place>>,
}

#[derive(Debug)]
pub(crate) struct Tap {
    pub(crate) capture: Capture,
    pub(crate) taken: u64,
    pub(crate) missed: u64,
}

/// One copy of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PacketName {
    pub(crate) flow: u32,
    pub(crate) psn: u32,
    pub(crate) sent_at: Time,
}

impl PacketName {
    pub(crate) fn slot(&self) -> usize {
        let flow = u64::from(self.flow) << 32 | u64::from(self.psn);
        mix(flow ^ mix(self.sent_at.ps())) as usize % MARKS
    }
}

impl Taps {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Frames of a capture that were recorded, and those that came after its limit.
    pub fn counts(&self, capture: usize) -> (u64, u64) {
        self.list.get(capture).map_or((0, 0), |tap| (tap.taken, tap.missed))
    }
}
