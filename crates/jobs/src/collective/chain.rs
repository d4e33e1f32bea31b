//! Broadcast and reduce: a ring that is open at the root, piece after piece (nccl:src/device/broadcast.h, reduce.h).

use super::layer::{Connection, Layer, Piece};
use super::options::{share_bytes, shares};
use super::size::{Sends, each};
use super::visits::{Task, ring, usual_channels};
use crate::dag::{Collective, OpId, Via};

pub(super) const CHUNK_BYTES: u64 = 512 << 10;
pub(super) const OUTSTANDING: u32 = 8;

/// A broadcast from the root, or a reduction to it; `begins` and `ends` by member.
pub(super) fn generate(layer: &mut Layer, task: &Task, begins: &[OpId], ends: &mut [Vec<OpId>]) -> Result<(), String> {
    let Task { what, bytes, visits, options } = *task;
    let root = options.root as usize;
    let channels = if options.channels == 0 { usual_channels(visits) } else { options.channels };
    let chunk = options.chunk(CHUNK_BYTES, 1)?;
    let parts = shares(bytes, u64::from(channels));
    layer.set_window(options.window(OUTSTANDING));
    let adds = what == Collective::Reduce;
    for (channel, &(at, bytes)) in (0..).zip(&parts) {
        let mut chain = connect(layer, &ring(visits, channel), root, adds, channel);
        let mut needs = Vec::new();
        for (number, (at, bytes)) in chunk.pieces(at, bytes).enumerate() {
            for link in 0..chain.len() {
                needs.clear();
                if link > 0 {
                    layer.arrival(&chain[link - 1], number, &mut needs);
                }
                let begin = begins[chain[link].from];
                layer.send(&mut chain[link], Piece { at, bytes, adds }, begin, &needs);
            }
        }
        for connection in &chain {
            layer.close(connection, ends);
        }
    }
    Ok(())
}

/// What it sends among `n` members.
pub(super) fn sends(n: usize, task: &Task) -> Result<Sends, String> {
    let Task { what, bytes, visits, options } = *task;
    let root = options.root as usize;
    if root >= n {
        return Err(format!("{what}: the root is member {root}, but the last of {n} is {}", n - 1));
    }
    let channels = if options.channels == 0 { usual_channels(visits) } else { options.channels };
    let chunk = options.chunk(CHUNK_BYTES, 1)?;
    let link = |bytes| Sends::chunks(chunk, bytes, options).with(1, 0);
    Ok(each(bytes, share_bytes(bytes, channels.into()), link) * (n as u64 - 1))
}

/// From the root once round, or from the one after it round to the root.
fn connect(layer: &Layer, ring: &[(usize, Via)], root: usize, to_root: bool, channel: u16) -> Vec<Connection> {
    let hops = hops(ring, root, to_root);
    hops.into_iter().map(|(from, to, via)| layer.connect(from, to, via, channel)).collect()
}

/// From, to and the way of each of its connections.
pub(super) fn hops(ring: &[(usize, Via)], root: usize, to_root: bool) -> Vec<(usize, usize, Via)> {
    let n = ring.len();
    let start = ring.iter().position(|(member, _)| *member == root).unwrap_or_default() + usize::from(to_root);
    let hop = |at: usize| {
        let ((from, via), (to, _)) = (ring[(start + at) % n], ring[(start + at + 1) % n]);
        (from, to, via)
    };
    (0..n - 1).map(hop).collect()
}
