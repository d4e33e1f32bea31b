//! Pacing of a flow: when its next packet may leave, from the limits of its scheme and of its NIC.

use crate::contract::scheme::Limits;
use crate::network::plan::NicSettings;
use xoff_engine::{BitRate, Span, Time};

/// State of a flow at its NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendState {
    /// Nothing to send now.
    Idle,
    /// In the NIC's round-robin of its class.
    Ready,
    /// Waits for its pacing time.
    Paced,
    /// Waits for its window to open.
    Blocked,
    /// In no queue: its NIC scans its flows ([`NicScheduler::Scan`](crate::network::plan::NicScheduler::Scan)).
    Scanned,
}

/// Pacing of a flow. What every packet reads comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Pacing {
    /// When its next packet may leave.
    pub next_avail: Time,
    /// Gap per wire byte in picoseconds; zero paces at line rate.
    pub ps_per_byte: f64,
    /// Wire bytes of the last packet sent, for rate changes in mid-gap.
    pub last_wire_bytes: u32,
    /// State at its NIC.
    pub state: SendState,
    /// Rate that the scheme asks for.
    pub asked_bps: f64,
    /// Window that the scheme asks for.
    pub asked_window: u64,
    /// Rate that spaces packets, at a NIC that scans.
    pub gap_bps: f64,
    /// Bandwidth-delay product that the NIC's limit of bytes in flight counts with.
    pub bdp_bytes: u64,
    /// Limit of the application.
    pub cap: Option<BitRate>,
}

impl Pacing {
    /// Bytes at the beginning that every packet reads.
    pub const PER_PACKET: usize = 24;

    /// Pacing at line rate from `now` on.
    pub fn new(now: Time, line_bps: f64, wire_bytes: u32, bdp_bytes: u64, cap: Option<BitRate>) -> Pacing {
        Pacing {
            state: SendState::Idle,
            next_avail: now,
            ps_per_byte: 0.0,
            last_wire_bytes: wire_bytes,
            asked_bps: line_bps,
            asked_window: u64::MAX,
            gap_bps: line_bps,
            bdp_bytes,
            cap,
        }
    }

    /// Returns whether these limits differ from those last applied.
    #[inline]
    pub fn differs(&self, limits: &Limits) -> bool {
        limits.rate_bps != self.asked_bps || limits.window_bytes != self.asked_window
    }

    /// Takes new limits. Returns the window, and whether the time of the next packet moved: in mid-gap it is as if the
    /// gap had been computed with the new rate.
    pub fn apply(&mut self, now: Time, limits: Limits, line_bps: f64, nic: &NicSettings) -> (u64, bool) {
        (self.asked_bps, self.asked_window) = (limits.rate_bps, limits.window_bytes);
        let cap = |cap: crate::network::plan::InflightCap| {
            inflight_cap(self.bdp_bytes, cap.scales, limits.rate_bps, line_bps)
        };
        let window_bytes = nic.inflight_cap.map_or(u64::MAX, cap).min(limits.window_bytes);
        let rate = self.cap.map_or(limits.rate_bps, |cap| limits.rate_bps.min(cap.bps() as f64));
        let new = if rate >= line_bps || !nic.pace { 0.0 } else { 8e12 / rate };
        let old = std::mem::replace(&mut self.ps_per_byte, new);
        let moves = new != old && self.next_avail > now && nic.follow_rate;
        if moves {
            let line_gap = 8e12 / line_bps;
            let per_byte = |gap: f64| if gap == 0.0 { line_gap } else { gap };
            let shift = f64::from(self.last_wire_bytes) * (per_byte(new) - per_byte(old));
            let at = (self.next_avail.ps() as f64 + shift).max(now.ps() as f64) as u64;
            self.next_avail = Time::from_ps(at);
        }
        (window_bytes, moves)
    }

    /// Wire bits per second that the scheme allows: the smaller of its rate and of a window per base round trip.
    pub fn allowed_bps(&self, window_bytes: u64, wire_per_payload: f64, base_rtt: Span, line_bps: f64) -> f64 {
        if window_bytes == u64::MAX || base_rtt == Span::ZERO {
            return self.asked_bps;
        }
        let window_bps = window_bytes as f64 * 8.0 * wire_per_payload / base_rtt.as_s();
        self.asked_bps.min(window_bps).min(line_bps)
    }
}

/// Payload bytes that may be in flight at `bps` of a line of `line_bps`.
pub fn inflight_cap(bdp_bytes: u64, scales: bool, bps: f64, line_bps: f64) -> u64 {
    if !scales {
        return bdp_bytes.max(1);
    }
    let (bps, line_bps) = (bps as u64, (line_bps as u64).max(1));
    // Products of all usual windows and rates fit.
    let cap = match bdp_bytes.checked_mul(bps) {
        Some(product) => product / line_bps,
        None => (u128::from(bdp_bytes) * u128::from(bps) / u128::from(line_bps)) as u64,
    };
    cap.max(1)
}
