//! How a RoCE sender spares ACKs without starving its window ([decision 0066](../../../../docs/decisions/0066-windows-and-coalesced-acks.md)).
//!
//! With one ACK for `n` packets up to `n - 1` packets have arrived and are not acknowledged yet. A window that counts
//! them as in flight is too small by as much. So a sender sets AckReq several times in a window, and its window bounds
//! what may be in the network: packets that share an ACK with one that may still be on its way do not count twice.

use crate::contract::scheme::Transport;

/// A window has at least this many packets that ask for an ACK, however rarely its host asks.
pub const ACKS_PER_WINDOW: u64 = 4;

/// How often a sender asks, and how much it may have sent without an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckRule {
    /// Every so many packets one asks for an ACK.
    pub every: u32,
    /// Payload bytes that may be unacknowledged; `u64::MAX`: any number.
    pub window_bytes: u64,
}

impl AckRule {
    /// For a scheme's window at a host that asks for an ACK every `ack_every` packets. TCP has a rule of its own.
    #[inline]
    pub fn new(transport: Transport, ack_every: u32, window_bytes: u64, mtu_bytes: u32) -> AckRule {
        if ack_every <= 1 || window_bytes == u64::MAX || transport == Transport::Tcp {
            return AckRule { every: ack_every, window_bytes };
        }
        let mtu = u64::from(mtu_bytes);
        let every = (window_bytes / (ACKS_PER_WINDOW * mtu)).clamp(1, u64::from(ack_every));
        AckRule { every: every as u32, window_bytes: window_bytes.saturating_add((every - 1) * mtu) }
    }
}

/// The share of its line that a window of one bandwidth-delay product fills if one ACK comes for `every` packets and
/// nothing makes up for those that have arrived without one.
pub fn share_of_line(every: u32, window_bytes: u64, mtu_bytes: u32) -> f64 {
    let unacknowledged = u64::from(every.saturating_sub(1)) * u64::from(mtu_bytes);
    window_bytes as f64 / (window_bytes as f64 + unacknowledged as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_asks_four_times_and_counts_what_shares_an_ack_once() {
        let rule = |every, window| AckRule::new(Transport::Roce, every, window, 4096);
        // 213 KB are 52 packets: a quarter of them is 13, of which 12 may have arrived.
        assert_eq!(rule(16, 213_000), AckRule { every: 13, window_bytes: 213_000 + 12 * 4096 });
        assert_eq!(rule(16, 1_000_000), AckRule { every: 16, window_bytes: 1_000_000 + 15 * 4096 });
        // Small windows ask for every packet, and are as they were.
        assert_eq!(rule(16, 20_000), AckRule { every: 1, window_bytes: 20_000 });
        assert_eq!(rule(1, 213_000), AckRule { every: 1, window_bytes: 213_000 });
        assert_eq!(rule(16, u64::MAX), AckRule { every: 16, window_bytes: u64::MAX });
        // A delayed ACK of TCP changes no window.
        let tcp = AckRule::new(Transport::Tcp, 2, 213_000, 1460);
        assert_eq!((tcp.every, tcp.window_bytes), (2, 213_000));
    }

    #[test]
    fn what_is_not_acknowledged_is_missing_from_the_line() {
        assert!((share_of_line(16, 213_000, 4096) - 0.776).abs() < 0.001);
        assert_eq!(share_of_line(1, 213_000, 4096), 1.0);
    }
}
