//! How collectives are done: algorithms, channels, chunks. What is not said is as NCCL does it.

use crate::macro_flow::Chunks;

/// Far beyond any buffer, and small enough for sums of chunks.
const MOST_CHUNK_BYTES: u64 = 1 << 40;

/// Servers of a job: ranks are their GPUs, numbered server by server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Servers {
    /// Per server.
    pub gpus: u32,
    /// Per server.
    pub nics: u32,
}

impl Default for Servers {
    /// A server for each rank.
    fn default() -> Servers {
        Servers { gpus: 1, nics: 1 }
    }
}

impl Servers {
    pub fn of(self, rank: u32) -> u32 {
        rank / self.gpus
    }

    /// The NICs that a rank owns, by number in its server. Where there are fewer NICs than GPUs several own the same.
    pub fn nics_of(self, rank: u32) -> std::ops::Range<u16> {
        let gpu = rank % self.gpus;
        let first = gpu * self.nics / self.gpus;
        let end = ((gpu + 1) * self.nics / self.gpus).max(first + 1).min(self.nics);
        first as u16..end as u16
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Algorithm {
    /// Rings; all-to-alls go straight to each peer, barriers by dissemination.
    #[default]
    Auto,
    /// Around a ring that enters and leaves each server by one NIC.
    Ring,
    /// Up and down two binary trees of servers.
    Tree,
    /// Exchanges with ever farther ranks.
    HalvingDoubling,
    /// Inside the servers, then by each rail, then inside the servers again.
    Hierarchical,
}

impl Algorithm {
    pub fn word(self) -> &'static str {
        match self {
            Algorithm::Auto => "auto",
            Algorithm::Ring => "ring",
            Algorithm::Tree => "tree",
            Algorithm::HalvingDoubling => "halving-doubling",
            Algorithm::Hierarchical => "hierarchical",
        }
    }
}

/// Which ranks are sent more than others in an all-to-all. Each sends the same in all.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Skew {
    /// Every rank gets the same.
    #[default]
    None,
    /// The k-th most popular receiver gets a share that falls with k to this power; who is popular is drawn.
    Zipf {
        /// Zero is even.
        exponent: f64,
        seed: u64,
    },
    /// Bytes from each member to each, row by row; the size of the collective is not used.
    Matrix(Vec<u64>),
}

/// How a collective is done. [`Options::default`] is NCCL's way (nccl:src/enqueue.cc, include/collectives.h, init.cc).
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    pub algorithm: Algorithm,
    /// Rings or trees that share the bytes; between two ranks, connections. Zero: two for each NIC in use for rings and
    /// trees (an even number for trees), else one.
    pub channels: u16,
    /// Queue pairs of each connection, each with a path of its own: message by message in turn, or by parts.
    pub queue_pairs: u16,
    /// Every message is cut into a part for each queue pair.
    pub split: bool,
    /// What a channel moves at a time. Zero: 2 MiB in rings, 512 KiB in trees, broadcasts and reductions, 128 KiB in
    /// all-to-alls and between pipeline stages; less for small sizes, as NCCL has it.
    pub chunk_bytes: u64,
    /// Messages: a chunk is cut into slices of the same size that are passed on one by one. Zero: 1 MiB in rings, else
    /// the chunk.
    pub slice_bytes: u64,
    /// Slices under way on one connection: another goes when one has arrived. Zero: as many as there are.
    /// [`Options::NCCL_OUTSTANDING`]: 4 in rings, else 8.
    pub outstanding: u32,
    /// In an all-to-all, what goes to another rail is first passed to the local rank that owns the receiver's NIC.
    pub pxn: bool,
    /// Peers that a rank of an all-to-all is busy with at a time. Zero: all of them. NCCL has eight on each of its
    /// channels for such traffic, of which a large machine may have several.
    pub peers: u32,
    pub skew: Skew,
    /// Place among the members of the one that broadcasts, or to which is reduced.
    pub root: u32,
}

impl Options {
    /// The buffer that NCCL has for a connection: 8 steps of 512 KiB.
    pub const NCCL_OUTSTANDING: u32 = u32::MAX;

    /// Slices under way on one connection, where NCCL has `nccl`; zero: any number.
    pub(super) fn window(&self, nccl: u32) -> usize {
        (if self.outstanding == Options::NCCL_OUTSTANDING { nccl } else { self.outstanding }) as usize
    }

    /// Chunk, and slices in it, where NCCL has these.
    pub(super) fn chunk(&self, chunk: u64, slices: u64) -> Result<Chunk, String> {
        let bytes = if self.chunk_bytes == 0 { chunk } else { self.chunk_bytes };
        let slice = if self.slice_bytes == 0 { bytes.div_ceil(slices) } else { self.slice_bytes };
        if slice > bytes {
            return Err(format!("slices of {slice} bytes do not fit in chunks of {bytes}: slices are parts of chunks"));
        }
        if bytes > MOST_CHUNK_BYTES {
            return Err(format!(
                "chunks of {bytes} bytes are more than {MOST_CHUNK_BYTES}: no buffer of a connection is as large"
            ));
        }
        Ok(Chunk { bytes, slices: bytes.div_ceil(slice), least_slice: slice / 32 })
    }

    /// Refuses chunks where messages are as long as the algorithm makes them.
    pub(super) fn no_chunks(&self, algorithm: &str) -> Result<(), String> {
        if self.chunk_bytes != 0 || self.slice_bytes != 0 {
            return Err(format!("{algorithm} sends one message a step: leave out the sizes of chunks and slices"));
        }
        Ok(())
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            algorithm: Algorithm::Auto,
            channels: 0,
            queue_pairs: 1,
            split: false,
            chunk_bytes: 0,
            slice_bytes: 0,
            outstanding: Options::NCCL_OUTSTANDING,
            pxn: true,
            peers: 8,
            skew: Skew::None,
            root: 0,
        }
    }
}

/// How the bytes of a channel are cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chunk {
    pub(super) bytes: u64,
    pub(super) slices: u64,
    /// Small chunks have fewer slices (nccl:src/device/prims_simple.h: no slice under 1/32 of a full one).
    pub(super) least_slice: u64,
}

impl Chunk {
    /// The slices of all chunks of a part, in order.
    pub(super) fn pieces(self, at: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
        let chunk = move |k: u64| (at + k * self.bytes, self.bytes.min(bytes - k * self.bytes));
        (0..bytes.div_ceil(self.bytes)).map(chunk).flat_map(move |(at, bytes)| self.cut(at, bytes))
    }

    /// Chunk after chunk as a macro-flow has them, each in one message: whole ones, and the last.
    pub(super) fn parts(self, bytes: u64, window: usize) -> Vec<Chunks> {
        let part = |(chunks, chunk_bytes): (u64, u64)| Chunks {
            times: 1,
            chunks,
            chunk_bytes,
            slice_bytes: self.slice_of(chunk_bytes.max(1)).min(chunk_bytes),
            depth: window as u32,
        };
        let parts = [(bytes / self.bytes, self.bytes), (1, bytes % self.bytes)];
        parts.into_iter().filter(|(chunks, bytes)| chunks * bytes > 0).map(part).collect()
    }

    /// The length of the slices of a piece, but for the last.
    pub(super) fn slice_of(self, bytes: u64) -> u64 {
        bytes.div_ceil(self.slices).next_multiple_of(16).max(self.least_slice).max(1)
    }

    /// The slices of a piece: where each begins, and how long it is. They begin at multiples of 16 bytes.
    pub(super) fn cut(self, at: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
        let slice = self.slice_of(bytes);
        (0..bytes.div_ceil(slice)).map(move |k| (at + k * slice, slice.min(bytes - k * slice)))
    }
}

/// The length of each of so many even parts, but for the last.
pub(super) fn share_bytes(bytes: u64, parts: u64) -> u64 {
    bytes.div_ceil(parts.max(1)).next_multiple_of(16).max(16)
}

/// `bytes` in so many even parts that begin at multiples of 16: where each begins, and how long it is. Small sizes have
/// fewer parts.
pub(super) fn shares(bytes: u64, parts: u64) -> Vec<(u64, u64)> {
    let part = share_bytes(bytes, parts);
    (0..bytes.div_ceil(part)).map(|k| (k * part, part.min(bytes - k * part))).collect()
}
