//! What schemes put into frames, byte by byte: for captures.
//!
//! The papers name fields and sizes, seldom bits. Where they do not, the layout is ours (decision
//! 0037), and the dissector under `tools/` reads it. All fields are big-endian.

use crate::int_header::{CREDITED_BYTES, TELEMETRY_BYTES};
use xoff_fabric::frame_content::{Carrier, FrameContent};

/// What a frame carries beyond its protocol's own headers.
pub mod code {
    /// HPCC's telemetry header.
    pub const TELEMETRY: u8 = 1;
    /// Telemetry with four records, a word in the place of the fifth (time of sending, or bytes in the flow's own
    /// queue) and a credit (2 B): MLCC's packets between datacentres.
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
    /// MLCC's telemetry of the near gateway, after the CNP's reserved bytes, which begin with the time of sending.
    pub const GATEWAY_TELEMETRY: u8 = 8;
    /// MLCC's feedback in an ACK: credit (2 B), rate of the credit loop and advertised rate (4 B each, Mb/s).
    pub const CREDIT: u8 = 9;
    /// RCM's notification to a neighbour.
    pub const REGION: u8 = 10;
    /// PINT's digest of the busiest hop (2 B).
    pub const DIGEST: u8 = 11;
}

/// The reserved bytes of a CNP, where messages begin.
pub const CNP_BYTES: usize = 16;

/// Bytes of a digest.
pub const DIGEST_BYTES: usize = 2;

/// Number of bytes of a code's content; `None` for codes that are not listed here.
pub fn bytes_of(code: u8) -> Option<usize> {
    match code {
        0 => Some(0),
        code::TELEMETRY => Some(TELEMETRY_BYTES),
        code::TELEMETRY_CREDIT => Some(CREDITED_BYTES),
        code::STAMP | code::FAIR_RATE => Some(8),
        code::WINDOW | code::RECEIVING_RATE => Some(4),
        code::KIND => Some(1),
        code::GATEWAY_TELEMETRY => Some(CNP_BYTES + TELEMETRY_BYTES),
        code::CREDIT => Some(10),
        code::REGION => Some(6),
        code::DIGEST => Some(DIGEST_BYTES),
        _ => None,
    }
}

/// A message in a plain CNP.
pub fn cnp(code: u8, bytes: &[u8], says: String) -> FrameContent {
    FrameContent { carrier: Carrier::Cnp, code, bytes: bytes.to_vec(), flows: Vec::new(), says }
}

/// The number that some bytes of a message are, if there are enough of them.
pub fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}
