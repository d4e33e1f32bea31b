//! Packets that are sent and not acknowledged, where packets do not carry their departure back.

use std::collections::VecDeque;
use xoff_engine::Time;

/// Packet that is not acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentPacket {
    /// Time of its last transmission.
    pub sent_at: Time,
    /// Sent more than once.
    pub resent: bool,
}

/// Sent packets by PSN, from the oldest unacknowledged on.
#[derive(Debug, Default)]
pub struct SentPackets {
    una: u32,
    list: VecDeque<SentPacket>,
}

impl SentPackets {
    /// Stores a packet that leaves. It follows those stored, or is one of them.
    pub fn insert(&mut self, psn: u32, packet: SentPacket) {
        match self.list.get_mut((psn - self.una) as usize) {
            Some(known) => *known = packet,
            None => self.list.push_back(packet),
        }
    }

    /// Returns packet `psn`, or the oldest one if that is acknowledged already.
    pub fn at_or_oldest(&self, psn: u32) -> Option<SentPacket> {
        self.list.get(psn.saturating_sub(self.una) as usize).or(self.list.front()).copied()
    }

    /// Forgets the packets below `una`.
    pub fn acknowledge(&mut self, una: u32) {
        let count = (una.saturating_sub(self.una) as usize).min(self.list.len());
        self.list.drain(..count);
        self.una = self.una.max(una);
    }
}
