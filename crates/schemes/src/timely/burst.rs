//! Segments at line rate with gaps between them: how TIMELY's host software keeps a rate.

use xoff_engine::Time;

/// Where a flow is in its present segment.
///
/// The world spaces packets by a rate. Inside a segment that is line rate; the last packet's is such
/// that the next segment starts when the rate allows.
#[derive(Clone, Debug)]
pub struct Burst {
    pace_bps: f64,
    /// Start of the segment, and what of it is on the wire.
    start: Time,
    sent_bytes: u64,
    /// The last packet.
    last: Time,
    last_bytes: u32,
    packets: u32,
    packets_left: u32,
}

impl Burst {
    pub fn new(packets: u32, line_bps: f64) -> Burst {
        Burst {
            pace_bps: line_bps,
            start: Time::ZERO,
            sent_bytes: 0,
            last: Time::ZERO,
            last_bytes: 0,
            packets: packets.max(1),
            packets_left: 0,
        }
    }

    #[inline]
    pub fn pace_bps(&self) -> f64 {
        self.pace_bps
    }

    pub fn on_sent(&mut self, now: Time, wire_bytes: u32, rate_bps: f64, line_bps: f64) {
        if self.packets_left == 0 {
            (self.start, self.sent_bytes, self.packets_left) = (now, 0, self.packets);
        }
        self.packets_left -= 1;
        self.sent_bytes += u64::from(wire_bytes);
        (self.last, self.last_bytes) = (now, wire_bytes);
        self.pace_bps = line_bps;
        self.set_rate(rate_bps, line_bps);
    }

    /// A new rate moves the start of the next segment, if this one is out.
    pub fn set_rate(&mut self, rate_bps: f64, line_bps: f64) {
        if self.packets_left > 0 || self.last_bytes == 0 {
            return;
        }
        let next_ps = self.start.ps() as f64 + self.sent_bytes as f64 * 8e12 / rate_bps;
        let gap_ps = next_ps - self.last.ps() as f64;
        let wire_ps = f64::from(self.last_bytes) * 8e12;
        self.pace_bps = if gap_ps * line_bps > wire_ps { wire_ps / gap_ps } else { line_bps };
    }
}
