//! What schemes put into frames, byte by byte: for captures.
//!
//! The papers name fields and sizes, seldom bits. Where they do not, the layout is ours (decision
//! 0037), and the dissector under `tools/` reads it. All fields are big-endian.

use xoff_engine::BitRate;
use xoff_fabric::frame_content::{Carrier, FrameContent};
use xoff_fabric::packet::{IntHop, IntStack};

/// What a frame carries beyond its protocol's own headers.
pub mod code {
    /// HPCC's telemetry header.
    pub const TELEMETRY: u8 = 1;
    /// The same and a credit (2 B): MLCC's packets between datacentres.
    pub const TELEMETRY_CREDIT: u8 = 2;
    /// When the packet left its sender: 8 B of nanoseconds.
    pub const STAMP: u8 = 3;
    /// Mercury's window in bytes (4 B).
    pub const WINDOW: u8 = 4;
    /// PCN's receiving rate in Mb/s (4 B).
    pub const RECEIVING_RATE: u8 = 5;
    /// RoCC's fair rate in Mb/s (4 B) and its congestion point (4 B).
    pub const FAIR_RATE: u8 = 6;
    /// TCD's kind of congestion (1 B): 1 is CE, 0 is UE.
    pub const KIND: u8 = 7;
    /// MLCC's telemetry of the near gateway, after the CNP's reserved bytes.
    pub const GATEWAY_TELEMETRY: u8 = 8;
    /// MLCC's feedback in an ACK: credit (2 B), rate of the credit loop and advertised rate (4 B each, Mb/s).
    pub const CREDIT: u8 = 9;
    /// RCM's notification to a neighbour.
    pub const REGION: u8 = 10;
}

/// HPCC's header: 2 B and five records of 8 B.
pub const TELEMETRY_BYTES: usize = 42;
const RECORDS: usize = 5;

/// A message in a plain CNP.
pub fn cnp(code: u8, bytes: &[u8], says: String) -> FrameContent {
    FrameContent { carrier: Carrier::Cnp, code, bytes: bytes.to_vec(), flows: Vec::new(), says }
}

/// The header as it stands in a frame: number of records (4 bits) and path (12 bits); per record the
/// line rate's code (3 bits), nanoseconds (24), bytes sent in units of 128 m (20), queue in units of
/// 80 m (17), with m the port's speed over 25 Gb/s. What does not fit wraps, but for the queue, which
/// stops at its most; a sixth record is left out.
pub fn telemetry(stack: &IntStack) -> [u8; TELEMETRY_BYTES] {
    telemetry_in(stack, None)
}

/// The same with one m for all ports, where a scheme sets it (`int_multiplier`): its queue wraps too.
pub fn telemetry_in(stack: &IntStack, multiplier: Option<u64>) -> [u8; TELEMETRY_BYTES] {
    let mut out = [0; TELEMETRY_BYTES];
    let hops = &stack.hops()[..stack.hops().len().min(RECORDS)];
    out[..2].copy_from_slice(&((hops.len() as u16) << 12 | stack.path() & 0xfff).to_be_bytes());
    for (hop, place) in hops.iter().zip(out[2..].chunks_exact_mut(8)) {
        place.copy_from_slice(&record(hop, multiplier).to_be_bytes());
    }
    out
}

fn record(hop: &IntHop, multiplier: Option<u64>) -> u64 {
    const QUEUE_MOST: u64 = 0x1_ffff;
    let m = multiplier.unwrap_or(hop.rate.bps() / 25_000_000_000).max(1);
    let nanoseconds = (hop.at.ps() / 1000) & 0xff_ffff;
    let sent = (hop.tx_bytes / (128 * m)) & 0xf_ffff;
    let units = hop.queue_bytes / (80 * m);
    let queue = if multiplier.is_some() { units & QUEUE_MOST } else { units.min(QUEUE_MOST) };
    rate_code(hop.rate) << 61 | nanoseconds << 37 | sent << 17 | queue
}

/// The five rates of the HPCC authors, then two more; 7 is any other.
fn rate_code(rate: BitRate) -> u64 {
    let known = [25, 50, 100, 200, 400, 10, 40].map(|gbps| gbps * 1_000_000_000);
    known.iter().position(|bps| *bps == rate.bps()).unwrap_or(7) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_engine::Time;

    #[test]
    fn telemetry_has_its_bits_where_the_header_has_them() {
        let mut stack = IntStack::default();
        assert_eq!(telemetry(&stack), [0; TELEMETRY_BYTES]);
        stack.pass(0xabc);
        let rate = BitRate::from_gbps(100);
        stack.push(IntHop { rate, at: Time::from_ns(0x1_000_007), tx_bytes: 5 * 512 + 511, queue_bytes: 3 * 320 });
        stack.push(IntHop { rate: BitRate::from_gbps(7), at: Time::ZERO, tx_bytes: 0, queue_bytes: 1 << 40 });
        let bytes = telemetry(&stack);
        assert_eq!(bytes[..2], [0x2a, 0xbc]);
        let first = u64::from_be_bytes(bytes[2..10].try_into().unwrap());
        // 100G is code 2; time wraps at 24 bits; m = 4.
        assert_eq!((first >> 61, first >> 37 & 0xff_ffff, first >> 17 & 0xf_ffff, first & 0x1_ffff), (2, 7, 5, 3));
        let second = u64::from_be_bytes(bytes[10..18].try_into().unwrap());
        assert_eq!((second >> 61, second & 0x1_ffff), (7, 0x1_ffff), "an unknown rate, a queue beyond the field");
        assert_eq!(bytes[18..], [0; 24]);
    }

    #[test]
    fn one_multiplier_for_all_ports_takes_the_place_of_their_speed() {
        let mut stack = IntStack::default();
        let rate = BitRate::from_gbps(100);
        let queue_bytes = 80 * ((1 << 17) + 3);
        stack.push(IntHop { rate, at: Time::ZERO, tx_bytes: 5 * 128 + 127, queue_bytes });
        let fields = |multiplier| {
            let bytes = telemetry_in(&stack, multiplier);
            let record = u64::from_be_bytes(bytes[2..10].try_into().unwrap());
            (record >> 17 & 0xf_ffff, record & 0x1_ffff)
        };
        assert_eq!(fields(Some(1)), (5, 3), "units of 128 and 80 bytes; the queue wraps as it does for the scheme");
        assert_eq!(fields(None), (1, 1 << 15), "100 Gb/s is m = 4");
    }
}
