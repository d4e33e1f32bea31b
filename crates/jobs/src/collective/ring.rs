//! Rings: all-reduce, reduce-scatter, all-gather (nccl:src/device/all_reduce.h, reduce_scatter.h, all_gather.h).
//!
//! Rank i sends only to i + 1. At step t it sends chunk i − t: what it has just received, with its own added during the
//! first n − 1 steps, which reduce and scatter; the others gather. There is no barrier between steps: a slice is passed
//! on when it has arrived.

use super::layer::{Connection, Layer, Piece};
use super::options::{Options, shares};
use super::ring_program::{Channel, Place, RingProgram};
use super::size::{Sends, each};
use super::visits::{Visit, ring, usual_channels};
use super::walk::Walk;
use crate::dag::{Collective, OpId, Via};

/// Buffer that NCCL moves at a time in a ring, and how it is cut.
const CHUNK_BYTES: u64 = 2 << 20;
const SLICES: u64 = 2;
const OUTSTANDING: u32 = 4;

/// A ring collective among some of the members, from their `begins`; yields for each what it ends with.
pub(super) struct Ring<'a> {
    pub(super) what: Collective,
    pub(super) visits: &'a [Visit],
    /// The buffer: where it begins, and its size as nccl-tests defines it.
    pub(super) at: u64,
    pub(super) bytes: u64,
    pub(super) channels: Option<u16>,
}

impl Ring<'_> {
    /// Lays it. `begins` counts by member; what each of them must have received is added to `ends`, likewise.
    pub(super) fn generate(
        &self,
        layer: &mut Layer,
        options: &Options,
        begins: &[OpId],
        ends: &mut [Vec<OpId>],
    ) -> Result<(), String> {
        let n = self.members();
        if n < 2 {
            return Ok(());
        }
        let chunk = options.chunk(CHUNK_BYTES, SLICES)?;
        let walk = Walk { what: self.what, members: n, chunk };
        layer.set_window(options.window(OUTSTANDING));
        for (channel, part) in (0..).zip(&self.parts(n)) {
            let ring = ring(self.visits, channel);
            let order: Vec<usize> = ring.iter().map(|(member, _)| *member).collect();
            let mut connections = connect(layer, &ring, channel);
            for chunks in self.loops(part, walk) {
                // In a reduce-scatter or all-gather the chunk at place c of the ring is that member's own.
                let place = |c: usize| if self.what == Collective::AllReduce { c } else { self.block(order[c]) };
                let chunks: Vec<(u64, u64)> = (0..n).map(|c| chunks[place(c)]).collect();
                go_round(layer, &mut connections, &chunks, walk, begins);
            }
            for connection in &connections {
                layer.close(connection, ends);
            }
        }
        Ok(())
    }

    /// Makes the program that sends these messages when they are due.
    pub(super) fn program(&self, layer: &Layer, options: &Options) -> Result<RingProgram, String> {
        let (n, chunk) = (self.members(), options.chunk(CHUNK_BYTES, SLICES)?);
        let walk = Walk { what: self.what, members: n, chunk };
        let channel = |(number, (at, bytes)): (u16, (u64, u64))| {
            // The ring has all members, so a member's block has its number.
            let place = |(member, via): (usize, Via)| Place { member: member as u32, via };
            let ring: Vec<Place> = ring(self.visits, number).into_iter().map(place).collect();
            let mut place_of = vec![0; n];
            ring.iter().zip(0..).for_each(|(place, at)| place_of[place.member as usize] = at);
            let rounds = bytes.div_ceil(walk.loop_bytes());
            let last_chunk_bytes = walk.chunk_bytes(bytes - rounds.saturating_sub(1) * walk.loop_bytes());
            Channel { at, bytes, rounds: rounds as u32, last_chunk_bytes, ring, place_of }
        };
        let channels: Vec<Channel> = (0..).zip(self.parts(n)).map(channel).collect();
        let rounds = channels.iter().map(|channel| channel.rounds).max().unwrap_or_default();
        let steps = walk.steps().count() as u64;
        let slices = channels.iter().map(|channel| walk.most_slices(channel.bytes)).max().unwrap_or_default();
        Ok(RingProgram {
            walk,
            bytes: self.bytes,
            window: options.window(OUTSTANDING) as u32,
            queue_pairs: options.queue_pairs,
            channels,
            members: layer.program_members(),
            slices,
            channel_orders: u64::from(rounds) * steps * n as u64 * slices,
        })
    }

    /// What it sends. Each step moves each chunk once.
    pub(super) fn sends(&self, options: &Options) -> Result<Sends, String> {
        let n = self.members();
        if n < 2 {
            return Ok(Sends::default());
        }
        let chunk = options.chunk(CHUNK_BYTES, SLICES)?;
        let (parts, walk) = (self.parts(n), Walk { what: self.what, members: n, chunk });
        let mut sends = Sends::default();
        for &(at, bytes) in &parts {
            sends += match self.what {
                Collective::AllReduce => each(bytes, walk.loop_bytes(), |rest| {
                    each(rest, walk.chunk_bytes(rest), |bytes| Sends::chunk(chunk, bytes, options))
                }),
                _ => {
                    // All blocks are whole but perhaps the last, and those after it are empty.
                    let block = self.bytes.div_ceil(n as u64);
                    let of_block = |bytes: u64| Sends::chunks(chunk, bytes, options);
                    let last = (self.bytes % block).saturating_sub(at).min(bytes);
                    of_block(bytes) * (self.bytes / block) + of_block(last)
                }
            };
        }
        Ok((sends * walk.steps().count() as u64).with(n as u64 * parts.len() as u64, 0))
    }

    /// How it walks its buffer.
    pub(super) fn walk(&self, options: &Options) -> Result<Walk, String> {
        let chunk = options.chunk(CHUNK_BYTES, SLICES)?;
        Ok(Walk { what: self.what, members: self.members(), chunk })
    }

    /// Messages under way on a connection; zero: any number.
    pub(super) fn window(&self, options: &Options) -> u64 {
        options.window(OUTSTANDING) as u64
    }

    pub(super) fn members(&self) -> usize {
        self.visits.iter().map(|visit| visit.members.len()).sum()
    }

    /// The place of a member's block among those of the ring's members: they keep the order of the group.
    fn block(&self, member: usize) -> usize {
        let members = self.visits.iter().flat_map(|visit| &visit.members);
        members.filter(|other| **other < member).count()
    }

    /// Each channel's part of the buffer; of each member's block if members have one.
    pub(super) fn parts(&self, n: usize) -> Vec<(u64, u64)> {
        let channels = u64::from(self.channels.unwrap_or_else(|| usual_channels(self.visits)));
        let bytes = if self.what == Collective::AllReduce { self.bytes } else { self.bytes.div_ceil(n as u64) };
        shares(bytes, channels)
    }

    /// How a channel walks its part: in loops of a chunk for each member. Yields where each chunk begins and its length,
    /// which may be zero at the end.
    fn loops(&self, &(at, bytes): &(u64, u64), walk: Walk) -> impl Iterator<Item = Vec<(u64, u64)>> {
        let (all_reduce, whole, start) = (self.what == Collective::AllReduce, self.bytes, self.at);
        let (n, step) = (walk.members as u64, walk.loop_bytes());
        let block = whole.div_ceil(n);
        (0..bytes.div_ceil(step)).map(move |k| {
            let length = walk.chunk_bytes(bytes - k * step);
            let (stride, end) = if all_reduce { (length, at + bytes) } else { (block, whole) };
            let clip = |from: u64| (start + from.min(end), length.min(end.saturating_sub(from)));
            (0..n).map(|c| clip(at + k * step + c * stride)).collect()
        })
    }
}

/// A connection from each place of the ring to the next.
fn connect(layer: &Layer, ring: &[(usize, Via)], channel: u16) -> Vec<Connection> {
    let next = ring.iter().cycle().skip(1);
    ring.iter().zip(next).map(|((from, via), (to, _))| layer.connect(*from, *to, *via, channel)).collect()
}

/// One loop: `chunks` by place in the ring.
fn go_round(layer: &mut Layer, connections: &mut [Connection], chunks: &[(u64, u64)], walk: Walk, begins: &[OpId]) {
    let n = connections.len();
    let before = |i: usize| (i + n - 1) % n;
    // A rank is done with one loop before it begins the next: it has received the last of it.
    let mut tails = vec![Vec::new(); n];
    for (i, tail) in tails.iter_mut().enumerate() {
        layer.last_arrival(&connections[before(i)], tail);
    }
    // The number of each connection's first message of the step before.
    let mut numbers: Vec<usize> = Vec::new();
    let mut needs = Vec::new();
    for t in walk.steps() {
        let sent: Vec<usize> = connections.iter().map(Connection::sent).collect();
        for i in 0..n {
            let (at, bytes) = chunks[(i + 2 * n - t) % n];
            let begin = begins[connections[i].from];
            for (slice, (at, bytes)) in walk.chunk.cut(at, bytes).enumerate() {
                needs.clear();
                match numbers.get(before(i)) {
                    Some(first) => layer.arrival(&connections[before(i)], first + slice, &mut needs),
                    None => needs.extend_from_slice(&tails[i]),
                }
                layer.send(&mut connections[i], Piece { at, bytes, adds: t < n }, begin, &needs);
            }
        }
        numbers = sent;
    }
}
