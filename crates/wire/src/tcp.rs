//! TCP segments, read.

use crate::cursor::Cursor;
use crate::headers::{TCP, TCP_BYTES, address, fold, sum};
use crate::ip::{Ends, Ip};
use crate::malformed::Malformed;
use xoff_fabric::packet::Ecn;

/// A TCP segment without options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tcp {
    /// Ends by the IP header.
    pub ends: Ends,
    /// Upper three bits of the DSCP.
    pub priority: u8,
    /// And the lower: the place of the flow's scheme among those of the run.
    pub scheme: u8,
    /// ECN field as received.
    pub ecn: Ecn,
    /// In data packets the flow's own.
    pub source_port: u16,
    /// In ACKs the flow's own.
    pub destination_port: u16,
    /// 32 bits of the byte's number, which is one for the first byte of a flow.
    pub sequence: u32,
    /// Sequence number of the byte that is expected.
    pub acknowledged: u32,
    /// [`TCP_ACK`](crate::TCP_ACK), [`TCP_PUSH`](crate::TCP_PUSH), [`TCP_ECE`](crate::TCP_ECE) and what else there is.
    pub flags: u8,
    /// Behind its header.
    pub payload_bytes: u32,
    /// The flow's number in its CN-tag, if it has one.
    pub tag: Option<u16>,
    /// Where the IPv4 header begins.
    pub ip_at: usize,
}

pub(crate) fn read(bytes: &[u8], ip: &Ip, ip_at: usize, tag: Option<u16>) -> Result<Tcp, Malformed> {
    let segment = bytes.get(ip.payload.clone()).ok_or(Malformed::Short)?;
    let mut cursor = Cursor::new(segment, 0);
    let (source_port, destination_port) = (cursor.u16()?, cursor.u16()?);
    let (sequence, acknowledged) = (cursor.u32()?, cursor.u32()?);
    let (length, flags) = (cursor.u8()?, cursor.u8()?);
    let payload_bytes = segment.len().checked_sub(TCP_BYTES).ok_or(Malformed::Short)?;
    if length != 5 << 4 {
        return Err(Malformed::TcpHeader);
    }
    let addresses = sum(&address(ip.ends.src)) + sum(&address(ip.ends.dst));
    if fold(addresses + u32::from(TCP) + segment.len() as u32 + sum(segment)) != 0 {
        return Err(Malformed::TcpSum);
    }
    Ok(Tcp {
        ends: ip.ends,
        priority: ip.priority,
        scheme: ip.scheme,
        ecn: ip.ecn,
        source_port,
        destination_port,
        sequence,
        acknowledged,
        flags,
        payload_bytes: payload_bytes as u32,
        tag,
        ip_at,
    })
}
