//! RoCEv2 packets, read: data, ACK, NAK, CNP.

use crate::cursor::Cursor;
use crate::headers::{self, ICRC_BYTES, ROCE_PORT};
use crate::ip::{Ends, Ip};
use crate::malformed::Malformed;
use crate::opcode;
use std::ops::Range;
use xoff_catalogue::frame_content::{CNP_BYTES, bytes_of, code};
use xoff_fabric::packet::Ecn;

/// A RoCEv2 packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roce {
    /// Ends by the IP header.
    pub ends: Ends,
    /// Upper three bits of the DSCP.
    pub priority: u8,
    /// And the lower: the place of the flow's scheme among those of the run.
    pub scheme: u8,
    /// ECN field as received.
    pub ecn: Ecn,
    /// The flow's, in both directions.
    pub udp_source: u16,
    /// The flow's, in both directions: see [`queue_pair`](crate::queue_pair).
    pub queue_pair: u32,
    /// 24 bits; [`near`](crate::near) gives the rest.
    pub psn: u32,
    /// Which packet it is.
    pub what: RoceKind,
    /// What a reply says of single packets, if it does.
    pub selective: Option<SelectiveAck>,
    /// What of a scheme it carries; zero is nothing.
    pub code: u8,
    /// Bytes of the content in the frame. In a CNP with the reserved bytes, in an ACK with all that follows the AETH.
    pub content: Range<usize>,
    /// Without headers, what schemes add, and padding. (The headers that begin a write take the place of some.)
    pub payload_bytes: u32,
    /// The flow's number in its CN-tag, if it has one.
    pub tag: Option<u16>,
    /// Where the IPv4 header begins.
    pub ip_at: usize,
}

/// Which packet it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoceKind {
    /// Payload of a flow, which is one message.
    Data {
        /// Whether the packet begins the flow.
        first: bool,
        /// Whether the packet ends the flow.
        last: bool,
        /// AckReq bit.
        ack_request: bool,
        /// Payload of the flow, where a write begins; 2^31 may be one without end.
        size_bytes: Option<u32>,
    },
    /// All up to its PSN has come.
    Ack {
        /// That is all of the flow.
        complete: bool,
        /// Echo of the acknowledged packet.
        echo: Echo,
    },
    /// The packet of its PSN is missing; with a selective acknowledgement it names another one.
    Nak {
        /// Whether all of the flow was received, as in an ACK.
        complete: bool,
        /// Echo of the packet that arrived out of order.
        echo: Echo,
    },
    /// A congestion notification, to the sender of a flow.
    Cnp,
}

/// What a reply says of single packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SelectiveAck {
    /// 24 bits of the PSN of the packet that caused the reply; [`near`](crate::near) gives the rest.
    pub psn: u32,
    /// Packets that have arrived, as [`received`](xoff_fabric::transport::Selective::received) counts them; zero for none.
    pub received: u64,
}

/// How the packet that a reply answers was marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Echo {
    /// ECN field as sent.
    Unmarked,
    /// Congestion experienced: BECN.
    Ce,
    /// With the other code of a scheme that gives both a meaning: FECN.
    Other,
}

impl Echo {
    /// The ECN field of the packet that is answered, which left its sender with `sent`.
    pub fn ecn(self, sent: Ecn) -> Ecn {
        match (self, sent) {
            (Echo::Unmarked, sent) => sent,
            (Echo::Ce, _) => Ecn::Ce,
            (Echo::Other, Ecn::Ect1) => Ecn::Ect0,
            (Echo::Other, _) => Ecn::Ect1,
        }
    }
}

pub(crate) fn read(bytes: &[u8], ip: &Ip, ip_at: usize, tag: Option<u16>) -> Result<Roce, Malformed> {
    let packet = bytes.get(..ip.payload.end).ok_or(Malformed::Short)?;
    let mut cursor = Cursor::new(packet, ip.payload.start);
    let (udp_source, port, length, _sum) = (cursor.u16()?, cursor.u16()?, cursor.u16()?, cursor.u16()?);
    if port != ROCE_PORT {
        return Err(Malformed::UdpPort);
    }
    if usize::from(length) < ip.payload.len() {
        return Err(Malformed::UdpLength);
    }
    let bth = Bth::read(&mut cursor)?;
    if usize::from(length) > ip.payload.len() {
        // Its check sum went with its payload, so that nothing says whether the rest is right.
        return Err(if opcode::part(bth.opcode).is_some() { Malformed::Trimmed } else { Malformed::UdpLength });
    }
    let (covered, icrc) = packet[ip_at..].split_last_chunk::<ICRC_BYTES>().ok_or(Malformed::Short)?;
    if headers::icrc(covered) != *icrc {
        return Err(Malformed::Icrc);
    }
    let what = bth.kind(&mut cursor)?;
    let selective = match what {
        RoceKind::Ack { .. } | RoceKind::Nak { .. } if bth.selective => Some(read_selective(&mut cursor)?),
        _ => None,
    };
    // Content, payload and padding are between the headers and the invariant check sum.
    let rest = (packet.len() - ICRC_BYTES).checked_sub(cursor.at()).ok_or(Malformed::Short)?;
    let content_bytes = content_bytes(what, bth.code, rest)?;
    let payload_bytes = (rest - content_bytes).checked_sub(usize::from(bth.pad)).ok_or(Malformed::Short)?;
    Ok(Roce {
        ends: ip.ends,
        priority: ip.priority,
        scheme: ip.scheme,
        ecn: ip.ecn,
        udp_source,
        queue_pair: bth.queue_pair,
        psn: bth.psn,
        what,
        selective,
        code: bth.code,
        content: cursor.at()..cursor.at() + content_bytes,
        payload_bytes: payload_bytes as u32,
        tag,
        ip_at,
    })
}

fn read_selective(cursor: &mut Cursor<'_>) -> Result<SelectiveAck, Malformed> {
    let word = cursor.u32()?;
    let received = match (word >> 24) as u8 {
        0 => 0,
        opcode::SELECTIVE_BITMAP => u64::from_be_bytes(cursor.array()?),
        _ => return Err(Malformed::Content),
    };
    Ok(SelectiveAck { psn: word & 0xff_ffff, received })
}

/// How many of the bytes behind the headers are a scheme's. Data packets have payload behind what the encoder knows;
/// nothing else follows what is in a reply or a CNP, where a scheme may have a code of its own.
fn content_bytes(what: RoceKind, content: u8, rest: usize) -> Result<usize, Malformed> {
    let known = bytes_of(content);
    let held = match what {
        RoceKind::Data { .. } => match content {
            0 | code::TELEMETRY | code::TELEMETRY_CREDIT | code::STAMP | code::DIGEST => known,
            _ => None,
        },
        RoceKind::Ack { .. } | RoceKind::Nak { .. } => Some(rest.max(known.unwrap_or(0))),
        RoceKind::Cnp => Some(rest.max(known.unwrap_or(0)).max(CNP_BYTES)),
    };
    held.filter(|held| *held <= rest).ok_or(Malformed::Content)
}

/// The base transport header.
struct Bth {
    opcode: u8,
    pad: u8,
    fecn: bool,
    becn: bool,
    selective: bool,
    queue_pair: u32,
    ack_request: bool,
    code: u8,
    psn: u32,
}

impl Bth {
    fn read(cursor: &mut Cursor<'_>) -> Result<Bth, Malformed> {
        let (opcode, flags, _partition) = (cursor.u8()?, cursor.u8()?, cursor.u16()?);
        let (destination, sequence) = (cursor.u32()?, cursor.u32()?);
        if flags & 0x0f != 0 {
            return Err(Malformed::BthVersion);
        }
        Ok(Bth {
            opcode,
            pad: flags >> 4 & 0b11,
            fecn: destination >> 31 == 1,
            becn: destination >> 30 & 1 == 1,
            selective: destination >> 29 & 1 == 1,
            queue_pair: destination & 0xff_ffff,
            ack_request: sequence >> 31 == 1,
            code: (sequence >> 24) as u8 & 0x7f,
            psn: sequence & 0xff_ffff,
        })
    }

    /// Which packet it is, with the header that follows this one, if one does.
    fn kind(&self, cursor: &mut Cursor<'_>) -> Result<RoceKind, Malformed> {
        match self.opcode {
            opcode::ACKNOWLEDGE => self.reply(cursor.u32()?),
            opcode::CNP => Ok(RoceKind::Cnp),
            _ => {
                let part = opcode::part(self.opcode).ok_or(Malformed::Opcode)?;
                let size_bytes = match part.write && part.first {
                    // Behind the address and the key of the region.
                    true => Some((cursor.array::<12>()?, cursor.u32()?).1),
                    false => None,
                };
                Ok(RoceKind::Data { first: part.first, last: part.last, ack_request: self.ack_request, size_bytes })
            }
        }
    }

    fn reply(&self, extended: u32) -> Result<RoceKind, Malformed> {
        let complete = extended & 0xff_ffff != 0;
        let echo = match (self.becn, self.fecn) {
            (true, _) => Echo::Ce,
            (false, true) => Echo::Other,
            (false, false) => Echo::Unmarked,
        };
        match (extended >> 24) as u8 {
            opcode::SYNDROME_ACK => Ok(RoceKind::Ack { complete, echo }),
            opcode::SYNDROME_NAK => Ok(RoceKind::Nak { complete, echo }),
            _ => Err(Malformed::Syndrome),
        }
    }
}
