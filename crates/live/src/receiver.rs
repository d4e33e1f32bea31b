//! The receiving end of a flow. It is made when the first packet of a queue pair comes, and knows what packets say.

use std::collections::BTreeSet;
use xoff_engine::Time;
use xoff_fabric::capture::FlowName;
use xoff_fabric::packet::{Ecn, IntStack};
use xoff_fabric::scheme::{Format, Transport};
use xoff_wire::Unwrap;

/// Packets beyond the one expected that are kept at most.
const KEPT_MOST: u32 = 1 << 20;

/// A receiver.
#[derive(Debug)]
pub struct Receiver<Np> {
    /// Turns what packets carry into feedback.
    pub np: Np,
    /// As its packets name it.
    pub flow: FlowName,
    /// Of its packets.
    pub format: Format,
    /// The next packet in order.
    pub expected: u32,
    /// Payload of a full packet.
    pub mtu_bytes: u32,
    /// Payload of the whole flow, once a packet has said so.
    pub size_bytes: Option<u64>,
    /// One past the last packet, once that has come.
    pub total: Option<u32>,
    /// Packets beyond the one expected, where any order is taken.
    pub kept: BTreeSet<u32>,
    /// In order.
    pub delivered_bytes: u64,
    /// When the last byte came.
    pub delivered_at: Option<Time>,
    /// Packets that came with a congestion mark.
    pub marked: u64,
    /// The packet that the last NAK was for, and when it was sent.
    pub last_nak: Option<(u32, Time)>,
    /// The timer event that counts.
    pub due: Time,
    /// ACKs that wait for more packets, where any order is taken.
    pub waiting: Option<Waiting>,
    /// One ACK for so many packets in order, where any order is taken.
    pub ack_every: u32,
    /// When a packet came last.
    pub heard_at: Time,
    /// The flow was stopped: what still comes counts no more.
    pub closed: bool,
    /// Makes telemetry whole.
    pub unwrap: Unwrap,
}

/// Packets in order that no ACK speaks for yet.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// How many.
    pub packets: u32,
    /// What the first of them said.
    pub first: Cause,
    /// When the ACK goes at the latest.
    pub until: Time,
}

/// What an ACK says of the packet that caused it.
#[derive(Clone, Copy, Debug)]
pub struct Cause {
    /// When that left its sender, where it says so.
    pub sent_at: Time,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its telemetry.
    pub int: Option<IntStack>,
}

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// It is the one expected, or is kept for later.
    Fresh {
        /// Payload that is in order now and was not before.
        in_order: u64,
        /// It is the one expected.
        expected: bool,
    },
    /// It came before.
    Again,
    /// One before it is missing, and this one is not kept.
    Ahead,
}

impl<Np> Receiver<Np> {
    /// Whether it takes packets in any order.
    pub fn takes_any(&self) -> bool {
        self.format.reorder || self.format.transport == Transport::Tcp
    }

    /// Counts a packet, which is the last of its flow or not, with `payload_bytes` in it.
    pub fn take(&mut self, psn: u32, last: bool, payload_bytes: u64) -> Taken {
        if last {
            self.total = Some(psn.saturating_add(1));
            let before = u64::from(psn) * u64::from(self.mtu_bytes);
            self.size_bytes.get_or_insert(before + payload_bytes);
        }
        if psn < self.expected || self.kept.contains(&psn) {
            return Taken::Again;
        }
        if psn > self.expected {
            if !self.takes_any() || psn - self.expected > KEPT_MOST {
                return Taken::Ahead;
            }
            self.kept.insert(psn);
            return Taken::Fresh { in_order: 0, expected: false };
        }
        let before = self.payload_until(self.expected);
        self.expected += 1;
        while self.kept.remove(&self.expected) {
            self.expected += 1;
        }
        let in_order = self.payload_until(self.expected) - before;
        self.delivered_bytes += in_order;
        Taken::Fresh { in_order, expected: true }
    }

    /// Whether it has every packet.
    pub fn is_complete(&self) -> bool {
        self.total == Some(self.expected)
    }

    /// Payload bytes of the first `packets` packets.
    pub fn payload_until(&self, packets: u32) -> u64 {
        let bytes = u64::from(packets) * u64::from(self.mtu_bytes);
        match self.size_bytes {
            Some(size) if self.total.is_some_and(|total| packets >= total) => size,
            Some(size) => bytes.min(size),
            None => bytes,
        }
    }
}
