//! What a receiver that takes any order keeps beyond the next packet expected.

use crate::contract::packet::Packet;
use crate::contract::scheme::{Format, Transport};
use crate::network::plan::HostSettings;
use xoff_engine::{Span, Time};

/// Packets that a receiver keeps beyond the first one missing; what is further ahead is dropped.
const KEPT_MOST: u32 = 1 << 16;

/// A receiver's memory beyond the next packet expected.
#[derive(Debug)]
pub struct AnyOrder {
    pub(crate) kept: Kept,
    pub(crate) tcp: bool,
    pub(crate) ack_every: u32,
    pub(crate) ack_timeout: Span,
    /// Packets in order since the last ACK, and the first of them.
    pub(crate) waiting: u32,
    pub(crate) first: Packet,
    /// When they are acknowledged at the latest.
    pub(crate) ack_at: Time,
}

impl AnyOrder {
    pub(crate) fn new(format: &Format, host: &HostSettings) -> AnyOrder {
        AnyOrder {
            kept: Kept::default(),
            tcp: format.transport == Transport::Tcp,
            ack_every: ack_every(format, host).into(),
            ack_timeout: format.ack_timeout,
            waiting: 0,
            first: Packet::default(),
            ack_at: Time::NEVER,
        }
    }

    /// Whether the next packet in order is more than the next packet: it may close a gap, or wait for
    /// its ACK.
    pub(crate) fn is_special(&self) -> bool {
        self.kept.count > 0 || self.ack_every > 1
    }
}

/// Packets in order that one ACK speaks for. TCP has a rule of its own; how a NIC spares ACKs of RoCE is
/// nothing to it.
pub(crate) fn ack_every(format: &Format, host: &HostSettings) -> u16 {
    let every = match format.transport {
        Transport::Roce => format.ack_every.max(host.ack_every),
        Transport::Tcp => format.ack_every,
    };
    every.min(u16::MAX.into()) as u16
}

/// Which packets have come out of order: a ring of bits that exists only while one is missing.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    words: Vec<u64>,
    pub(crate) count: u32,
}

impl Kept {
    fn room(&self) -> u32 {
        self.words.len() as u32 * 64
    }

    fn place(&self, psn: u32) -> (usize, u64) {
        ((psn / 64) as usize & (self.words.len() - 1), 1 << (psn % 64))
    }

    /// Keeps `psn`, which is beyond `expected`; `false` if it is there already or too far ahead.
    pub(crate) fn insert(&mut self, expected: u32, psn: u32) -> bool {
        let ahead = psn - expected;
        if ahead >= KEPT_MOST {
            return false;
        }
        // One word of slack: the first word may also hold the last packets of the ring.
        if ahead + 64 >= self.room() {
            self.grow(expected, ahead);
        }
        let (word, bit) = self.place(psn);
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.count += u32::from(new);
        new
    }

    fn grow(&mut self, expected: u32, ahead: u32) {
        let words = (ahead / 64 + 2).next_power_of_two().max(2) as usize;
        let old = Kept { words: std::mem::replace(&mut self.words, vec![0; words]), count: 0 };
        for psn in expected..expected + old.room() {
            let (word, bit) = old.place(psn);
            if old.words[word] & bit != 0 {
                let (word, bit) = self.place(psn);
                self.words[word] |= bit;
            }
        }
    }

    /// Lets go of the packets that follow without a gap from `expected` on; returns the next missing.
    pub(crate) fn run_from(&mut self, mut expected: u32) -> u32 {
        while self.count > 0 {
            let (word, bit) = self.place(expected);
            if self.words[word] & bit == 0 {
                return expected;
            }
            self.words[word] &= !bit;
            self.count -= 1;
            expected += 1;
        }
        self.words = Vec::new();
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_kept_in_any_order_leave_in_order() {
        for start in [0, 63, 64, 1_000_003] {
            let mut kept = Kept::default();
            for psn in [3, 1, 130, 2, 700] {
                assert!(kept.insert(start, start + psn));
                assert!(!kept.insert(start, start + psn), "a second copy is no news");
            }
            assert_eq!(kept.count, 5);
            assert_eq!(kept.run_from(start + 1), start + 4, "1 to 3 are here, 4 is missing");
            for psn in (4..700).filter(|psn| *psn != 130) {
                assert!(kept.insert(start + 4, start + psn) || psn == 4);
            }
            assert_eq!(kept.run_from(start + 4), start + 701);
            assert!(kept.words.is_empty(), "no gap, no memory");
        }
    }

    #[test]
    fn what_is_too_far_ahead_is_not_kept() {
        let mut kept = Kept::default();
        assert!(!kept.insert(5, 5 + KEPT_MOST));
        assert!(kept.insert(5, 4 + KEPT_MOST));
        assert_eq!((kept.count, kept.run_from(6)), (1, 6));
    }
}
