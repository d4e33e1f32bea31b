//! Congestion notification messages, read (IEEE 802.1Q, clause 33.4).

use crate::cursor::Cursor;
use crate::headers::{Mac, node_of_mac};
use crate::malformed::Malformed;

/// Queue lengths count in units of so many bytes.
pub(crate) const UNIT_BYTES: i64 = 64;

/// What a message says to the source of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cnm {
    /// The source, by the destination's MAC address.
    pub to: u32,
    /// Where the flow goes, by the MAC address in what its source had sent.
    pub flow_to: u32,
    /// The flow's number in its CN-tag: sixteen bits of it.
    pub flow: u16,
    /// Six bits.
    pub feedback: u8,
    /// Where the congestion point is.
    pub switch: u32,
    /// Its port there, from one on.
    pub port: u16,
    /// Priority of the sampled data.
    pub priority: u8,
    /// The queue's set point less its length, in whole units of 64 bytes.
    pub offset_bytes: i64,
    /// How much longer the queue is than at the sample before, likewise.
    pub delta_bytes: i64,
}

/// Behind the Ethernet header and the tag.
pub(crate) fn read(to: Mac, flow: Option<u16>, bytes: &[u8], cursor: &mut Cursor<'_>) -> Result<Cnm, Malformed> {
    let (head, switch, port) = (cursor.u16()?, cursor.array()?, cursor.u16()?);
    let (offset, delta) = (cursor.i16()?, cursor.i16()?);
    let (priority, flow_to, length) = (cursor.u16()?, cursor.array()?, usize::from(cursor.u16()?));
    if bytes.len() - cursor.at() < length {
        return Err(Malformed::Short);
    }
    let flow = flow.filter(|_| head >> 12 == 0).ok_or(Malformed::Cnm)?;
    let host = |mac: Mac| node_of_mac(mac).filter(|(_, port)| *port == 0).ok_or(Malformed::Stranger);
    Ok(Cnm {
        to: host(to)?.0,
        flow_to: host(flow_to)?.0,
        flow,
        feedback: (head & 0x3f) as u8,
        switch: host(switch)?.0,
        port: port >> 3,
        priority: (priority >> 13) as u8,
        offset_bytes: i64::from(offset) * UNIT_BYTES,
        delta_bytes: i64::from(delta) * UNIT_BYTES,
    })
}
