//! Reads numbers of a frame one after the other, and never past its end.

use crate::malformed::Malformed;

/// A place in some bytes.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Cursor<'a> {
        Cursor { bytes, at }
    }

    /// Where the next byte is taken from.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let array = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk).ok_or(Malformed::Short)?;
        self.at += N;
        Ok(*array)
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_be_bytes)
    }

    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn i16(&mut self) -> Result<i16, Malformed> {
        self.array().map(i16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }
}
