//! How a ring walks its buffer: steps of a loop, bytes of a loop, length of its chunks.

use super::options::Chunk;
use crate::terms::Collective;
use std::ops::RangeInclusive;

/// A channel goes round in loops of a chunk for each member.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Walk {
    pub(super) what: Collective,
    pub(super) members: usize,
    pub(super) chunk: Chunk,
}

impl Walk {
    /// Steps of a loop, by their numbers in an all-reduce: the first n - 1 reduce and scatter, the others gather.
    pub(super) fn steps(self) -> RangeInclusive<usize> {
        let n = self.members;
        match self.what {
            Collective::ReduceScatter => 1..=n - 1,
            Collective::AllGather => n..=2 * n - 2,
            _ => 1..=2 * n - 2,
        }
    }

    /// What a channel moves of its part in a loop.
    pub(super) fn loop_bytes(self) -> u64 {
        match self.what {
            Collective::AllReduce => self.members as u64 * self.chunk.bytes,
            _ => self.chunk.bytes,
        }
    }

    /// Length of the chunks of a loop before which `rest` bytes of the part are left; the end of the buffer cuts some.
    pub(super) fn chunk_bytes(self, rest: u64) -> u64 {
        match self.what {
            Collective::AllReduce if rest < self.loop_bytes() => {
                rest.div_ceil(self.members as u64).next_multiple_of(16)
            }
            _ => rest.min(self.chunk.bytes),
        }
    }

    /// Slices of any chunk of a part, at most.
    pub(super) fn most_slices(self, part: u64) -> u64 {
        let least = self.chunk.least_slice.max(16);
        self.chunk.slices.min(self.chunk_bytes(part).div_ceil(least))
    }
}
