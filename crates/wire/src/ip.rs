//! IPv4 headers, read and changed.

use crate::cursor::Cursor;
use crate::headers::{IPV4_BYTES, fold, node, service, sum};
use crate::malformed::Malformed;
use std::ops::Range;
use xoff_fabric::packet::Ecn;

/// Who sent a packet and whom it is for, by node, as its IP header says. A packet against its flow (ACK, NAK, CNP) has
/// the flow's receiver as `src`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// The sender of the packet.
    pub src: u32,
    /// Its receiver.
    pub dst: u32,
}

/// What a header says.
pub(crate) struct Ip {
    pub ends: Ends,
    pub priority: u8,
    pub scheme: u8,
    pub ecn: Ecn,
    pub protocol: u8,
    /// The bytes of the frame behind it; what follows them is padding.
    pub payload: Range<usize>,
}

pub(crate) fn read(bytes: &[u8], at: usize) -> Result<Ip, Malformed> {
    let mut cursor = Cursor::new(bytes, at);
    let header: [u8; IPV4_BYTES] = cursor.array()?;
    let mut fields = Cursor::new(&header, 0);
    let (version, service, length) = (fields.u8()?, fields.u8()?, usize::from(fields.u16()?));
    let (_identification, fragment) = (fields.u16()?, fields.u16()?);
    let (_hops, protocol, _sum) = (fields.u8()?, fields.u8()?, fields.u16()?);
    // Version 4 and five words; neither more fragments nor a place among them.
    if version != 0x45 || fragment & 0x3fff != 0 {
        return Err(Malformed::IpHeader);
    }
    if fold(sum(&header)) != 0 {
        return Err(Malformed::IpSum);
    }
    let end = at + length;
    if end < cursor.at() || end > bytes.len() {
        return Err(Malformed::Short);
    }
    let mut address = || node(fields.array()?).ok_or(Malformed::Stranger);
    let ends = Ends { src: address()?, dst: address()? };
    Ok(Ip {
        ends,
        priority: service >> 5,
        scheme: service >> 2 & 0b111,
        ecn: ecn(service),
        protocol,
        payload: cursor.at()..end,
    })
}

/// Marks a packet as a switch does: the ECN field and the header's check sum, at the IP header that
/// [`decode`](crate::decode()) found. The invariant check sum does not cover either.
pub fn set_ecn(bytes: &mut [u8], ip_at: usize, ecn: Ecn) -> Result<(), Malformed> {
    let header = bytes.get_mut(ip_at..).and_then(<[u8]>::first_chunk_mut::<IPV4_BYTES>).ok_or(Malformed::Short)?;
    header[1] = service(0, 0, ecn) | header[1] & !0b11;
    header[10..12].fill(0);
    let check = fold(sum(header));
    header[10..12].copy_from_slice(&check.to_be_bytes());
    Ok(())
}

fn ecn(service: u8) -> Ecn {
    match service & 0b11 {
        0b00 => Ecn::NotCapable,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}
