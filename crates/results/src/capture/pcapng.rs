//! A pcapng file: section header, an interface per port, packets with comments, statistics.
//!
//! Written here and not by a library (decision 0037 says why): four kinds of blocks, each a length, a
//! body and options. Little-endian throughout.

use std::io::{self, Write};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;

const ORDER: u32 = 0x1a2b_3c4d;
const ETHERNET: u16 = 1;
/// No limit to the bytes kept of a frame.
pub const WHOLE: u32 = 0;

/// The option every block may have.
const COMMENT: u16 = 1;

/// A file being written; blocks go out as they come.
pub struct Pcapng<W> {
    out: W,
    block: Vec<u8>,
}

/// An interface, as its block describes it.
pub struct Interface<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub bits_per_second: u64,
    /// Bytes kept of a frame, or [`WHOLE`].
    pub snap_bytes: u32,
}

/// A packet and what is known of it.
pub struct Packet<'a> {
    pub interface: u32,
    pub nanoseconds: u64,
    /// All of the frame, or its first bytes.
    pub bytes: &'a [u8],
    /// Bytes of the whole frame.
    pub length: usize,
    /// Bytes to keep of it, or [`WHOLE`].
    pub snap_bytes: u32,
    pub comment: &'a str,
}

impl<W: Write> Pcapng<W> {
    pub fn new(out: W, application: &str, comment: &str) -> io::Result<Pcapng<W>> {
        let mut file = Pcapng { out, block: Vec::new() };
        file.word(ORDER);
        file.half(1);
        file.half(0);
        // Length of the section: not known beforehand.
        file.block.extend(u64::MAX.to_le_bytes());
        file.option(COMMENT, comment.as_bytes());
        file.option(4, application.as_bytes());
        file.end(SECTION)?;
        Ok(file)
    }

    /// Interfaces are numbered in order.
    pub fn interface(&mut self, of: &Interface<'_>) -> io::Result<()> {
        self.half(ETHERNET);
        self.half(0);
        self.word(of.snap_bytes);
        self.option(2, of.name.as_bytes());
        self.option(3, of.description.as_bytes());
        self.option(8, &of.bits_per_second.to_le_bytes());
        // Time stamps count 10^-9 s.
        self.option(9, &[9]);
        // Frames have no check sequence at their end.
        self.option(13, &[0]);
        self.end(INTERFACE)
    }

    pub fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let held = packet.bytes.len();
        let kept = if packet.snap_bytes == WHOLE { held } else { held.min(packet.snap_bytes as usize) };
        self.word(packet.interface);
        self.time(packet.nanoseconds);
        self.word(kept as u32);
        self.word(packet.length.max(held) as u32);
        self.block.extend_from_slice(&packet.bytes[..kept]);
        self.align();
        self.option(COMMENT, packet.comment.as_bytes());
        self.end(PACKET)
    }

    /// How many frames an interface has in the file.
    pub fn statistics(&mut self, interface: u32, nanoseconds: u64, seen: u64) -> io::Result<()> {
        self.word(interface);
        self.time(nanoseconds);
        self.option(4, &seen.to_le_bytes());
        self.end(STATISTICS)
    }

    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn half(&mut self, value: u16) {
        self.block.extend(value.to_le_bytes());
    }

    fn word(&mut self, value: u32) {
        self.block.extend(value.to_le_bytes());
    }

    fn time(&mut self, value: u64) {
        self.word((value >> 32) as u32);
        self.word(value as u32);
    }

    fn align(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        // A length has 16 bits; a text longer than that is cut.
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        if value.is_empty() {
            return;
        }
        self.half(code);
        self.half(value.len() as u16);
        self.block.extend_from_slice(value);
        self.align();
    }

    /// Closes the options and writes the block: type, length, body, length again.
    fn end(&mut self, kind: u32) -> io::Result<()> {
        self.word(0);
        let length = self.block.len() as u32 + 12;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length.to_le_bytes())?;
        self.block.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// Every block's type and body.
    fn blocks(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let length = word(bytes, 4) as usize;
            assert_eq!(length % 4, 0);
            assert_eq!(word(bytes, length - 4) as usize, length, "a block says its length twice");
            found.push((word(bytes, 0), &bytes[8..length - 4]));
            bytes = &bytes[length..];
        }
        found
    }

    #[test]
    fn blocks_are_whole_and_aligned() {
        let mut file = Pcapng::new(Vec::new(), "xoff", "seed 1").unwrap();
        let interface = Interface { name: "a->b", description: "", bits_per_second: 1 << 40, snap_bytes: 4 };
        file.interface(&interface).unwrap();
        let packet = Packet {
            interface: 0,
            nanoseconds: 0x1_0000_0002,
            bytes: &[1, 2, 3, 4, 5],
            length: 5,
            snap_bytes: 4,
            comment: "hello",
        };
        file.packet(&packet).unwrap();
        file.packet(&Packet { snap_bytes: WHOLE, comment: "", ..packet }).unwrap();
        file.statistics(0, 7, 3).unwrap();
        let bytes = file.finish().unwrap();
        let blocks = blocks(&bytes);
        assert_eq!(
            blocks.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
            [SECTION, INTERFACE, PACKET, PACKET, STATISTICS]
        );
        assert_eq!(word(blocks[0].1, 0), ORDER);
        let cut = blocks[2].1;
        assert_eq!([4, 8, 12, 16].map(|at| word(cut, at)), [1, 2, 4, 5], "time high, time low, kept, length");
        assert_eq!(cut[20..24], [1, 2, 3, 4]);
        assert_eq!(cut[24..36], [1, 0, 5, 0, b'h', b'e', b'l', b'l', b'o', 0, 0, 0]);
        assert_eq!(blocks[3].1[20..28], [1, 2, 3, 4, 5, 0, 0, 0]);
        assert_eq!(blocks[3].1.len(), 32, "no comment, no option");
    }
}
