//! From the bytes of a frame to what it is. Any bytes: nothing here trusts a length or an address.

use crate::cnm::{self, Cnm};
use crate::cursor::Cursor;
use crate::headers::{CN_TAG, ETHERTYPE_CNM, ETHERTYPE_EXPERIMENT, ETHERTYPE_IPV4, ETHERTYPE_MAC_CONTROL, TCP, UDP};
use crate::ip;
use crate::malformed::Malformed;
use crate::neighbour::{self, Neighbour};
use crate::pfc::{self, Pfc};
use crate::roce::{self, Roce};
use crate::tcp::{self, Tcp};

/// What a frame is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen {
    /// Data, ACK, NAK or CNP of a RoCE flow; or the CNP of any flow.
    Roce(Roce),
    /// Data or ACK of a TCP flow.
    Tcp(Tcp),
    /// From a congestion point to the source of a flow.
    Cnm(Cnm),
    /// To the other end of the link.
    Pfc(Pfc),
    /// From a switch's control to its neighbour's.
    Neighbour(Neighbour),
}

/// Reads a frame without its FCS. Every check sum in it is checked; padding behind it is not looked at.
pub fn decode(bytes: &[u8]) -> Result<Seen, Malformed> {
    let mut cursor = Cursor::new(bytes, 0);
    let (to, from, mut ethertype) = (cursor.array()?, cursor.array()?, cursor.u16()?);
    let mut tag = None;
    if ethertype == CN_TAG {
        (tag, ethertype) = (Some(cursor.u16()?), cursor.u16()?);
    }
    match (ethertype, tag) {
        (ETHERTYPE_IPV4, tag) => packet(bytes, cursor.at(), tag),
        (ETHERTYPE_CNM, tag) => cnm::read(to, tag, bytes, &mut cursor).map(Seen::Cnm),
        (ETHERTYPE_MAC_CONTROL, None) => pfc::read(to, &mut cursor).map(Seen::Pfc),
        (ETHERTYPE_EXPERIMENT, None) => neighbour::read(from, &mut cursor).map(Seen::Neighbour),
        _ => Err(Malformed::EtherType),
    }
}

fn packet(bytes: &[u8], ip_at: usize, tag: Option<u16>) -> Result<Seen, Malformed> {
    let ip = ip::read(bytes, ip_at)?;
    match ip.protocol {
        UDP => roce::read(bytes, &ip, ip_at, tag).map(Seen::Roce),
        TCP => tcp::read(bytes, &ip, ip_at, tag).map(Seen::Tcp),
        _ => Err(Malformed::Protocol),
    }
}
