//! Messages from a switch's control to its neighbour's, read.

use crate::cursor::Cursor;
use crate::headers::{Mac, TCP, UDP, node, node_of_mac};
use crate::ip::Ends;
use crate::malformed::Malformed;
use std::ops::Range;
use xoff_catalogue::frame_content::code;
use xoff_fabric::scheme::Transport;

/// Addresses, protocol and ports.
const FLOW_BYTES: usize = 13;

/// A message between neighbours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Neighbour {
    /// The switch that sent it, and there the port (from one on).
    pub from: (u32, u16),
    /// Which message it is.
    pub code: u8,
    /// Bytes of the content in the frame.
    pub content: Range<usize>,
    /// How many flows it says it is about; those that had ended when it was sent are not among them.
    pub flows: u16,
}

/// A flow as a message names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedFlow {
    /// Its sender and its receiver.
    pub ends: Ends,
    /// Transport by the IP protocol.
    pub transport: Transport,
    /// UDP or TCP source port of data packets.
    pub source_port: u16,
    /// UDP or TCP destination port of data packets.
    pub destination_port: u16,
}

impl Neighbour {
    /// The flows it is about, in the frame that it was read from.
    pub fn named<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = NamedFlow> + use<'a> {
        let listed = bytes.get(self.content.end..).unwrap_or_default();
        // What is padding names no node.
        listed.chunks_exact(FLOW_BYTES).take(usize::from(self.flows)).map_while(|bytes| named(bytes).ok())
    }
}

fn named(bytes: &[u8]) -> Result<NamedFlow, Malformed> {
    let mut cursor = Cursor::new(bytes, 0);
    let mut address = || node(cursor.array()?).ok_or(Malformed::Stranger);
    let ends = Ends { src: address()?, dst: address()? };
    let transport = match cursor.u8()? {
        UDP => Transport::Roce,
        TCP => Transport::Tcp,
        _ => return Err(Malformed::Protocol),
    };
    Ok(NamedFlow { ends, transport, source_port: cursor.u16()?, destination_port: cursor.u16()? })
}

/// Behind the Ethernet header.
pub(crate) fn read(from: Mac, cursor: &mut Cursor<'_>) -> Result<Neighbour, Malformed> {
    let start = cursor.at();
    let (_degree, _class, flows, message) = (cursor.u8()?, cursor.u8()?, cursor.u16()?, cursor.u16()?);
    if message != u16::from(code::REGION) {
        return Err(Malformed::Content);
    }
    let from = node_of_mac(from).ok_or(Malformed::Stranger)?;
    Ok(Neighbour { from, code: code::REGION, content: start..cursor.at(), flows })
}
