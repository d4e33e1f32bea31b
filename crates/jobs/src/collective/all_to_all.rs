//! All-to-all as NCCL's send and receive calls do it (nccl:src/init.cc `ncclP2pSchedule`, enqueue.cc, graph/paths.cc).
//!
//! Every rank meets the others in an order in which nobody is sent to twice at a time, some peers at once. By PXN what
//! goes to another rail is first passed inside the server to the rank that owns the receiver's NIC.

use super::layer::{Connection, Layer, Piece};
use super::options::{Chunk, Options, Skew, shares};
use super::visits::Visit;
use crate::dag::{OpId, Via};
use xoff_engine::stream;

/// Chunks by which NCCL sends between servers, and inside.
pub(super) const NET_CHUNK_BYTES: u64 = 128 << 10;
const SCALE_UP_CHUNK_BYTES: u64 = 512 << 10;
pub(super) const OUTSTANDING: u32 = 8;
/// NCCL groups ranks of a server by this many, if it can.
const GROUP: usize = 8;

/// An all-to-all; `begins` and `ends` by member.
pub(super) fn lay(
    layer: &mut Layer,
    visits: &[Visit],
    bytes: u64,
    options: &Options,
    begins: &[OpId],
    ends: &mut [Vec<OpId>],
) -> Result<(), String> {
    let n = layer.members.len();
    let matrix = matrix(n, bytes, &options.skew)?;
    options.chunk(NET_CHUNK_BYTES, 1)?;
    let messages = |bytes: &u64| bytes.div_ceil(chunk(options, Via::Nic(0), *bytes).bytes);
    layer.expect(matrix.iter().map(messages).sum::<u64>() * if options.pxn { 2 } else { 1 })?;
    layer.set_window(options.window(OUTSTANDING));
    let mut starts = vec![0; n * n];
    let mut sum = 0;
    for (start, bytes) in starts.iter_mut().zip(&matrix) {
        *start = sum;
        sum += bytes;
    }
    let rounds = rounds(n, group(visits));
    let batch = if options.peers == 0 { n } else { options.peers as usize };
    let mut come = begins.to_vec();
    for rounds in rounds.chunks(batch) {
        let mut needs: Vec<Vec<OpId>> = come.iter().map(|come| vec![*come]).collect();
        for round in rounds {
            for from in 0..n {
                let pair = from * n + round.peer(from);
                let piece = Piece { at: starts[pair], bytes: matrix[pair], adds: false };
                send(layer, (from, round.peer(from)), piece, options, (begins, &come), &mut needs);
            }
        }
        for (member, needs) in needs.iter().enumerate() {
            come[member] = layer.join(member, needs);
        }
    }
    for (come, end) in come.iter().zip(ends) {
        end.push(*come);
    }
    Ok(())
}

/// All that one member has for another. What both are done with when it is over is added to their `needs`.
fn send(
    layer: &mut Layer,
    (from, to): (usize, usize),
    piece: Piece,
    options: &Options,
    (begins, come): (&[OpId], &[OpId]),
    needs: &mut [Vec<OpId>],
) {
    if piece.bytes == 0 || from == to {
        return;
    }
    let via = layer.way(from, to);
    let relay = if options.pxn { relay(layer, from, to) } else { None };
    for (channel, (offset, bytes)) in (0..).zip(shares(piece.bytes, u64::from(options.channels.max(1)))) {
        let pieces = chunk(options, via, bytes).pieces(piece.at + offset, bytes);
        let pieces = pieces.map(|(at, bytes)| Piece { at, bytes, adds: false });
        let mut first = match relay {
            Some(relay) => layer.connect(from, relay, Via::ScaleUp, channel),
            None => layer.connect(from, to, via, channel),
        };
        let mut second = relay.map(|relay| layer.connect(relay, to, Via::Nic(layer.nic(to)), channel));
        for piece in pieces {
            let number = layer.send(&mut first, piece, come[from], &[]);
            if let Some(second) = &mut second {
                let mut arrived = Vec::new();
                layer.arrival(&first, number, &mut arrived);
                layer.send(second, piece, begins[second.from], &arrived);
            }
        }
        layer.last_arrival(&first, &mut needs[from]);
        let last: &Connection = second.as_ref().unwrap_or(&first);
        layer.last_arrival(last, &mut needs[to]);
    }
}

/// The member in the sender's server that owns the receiver's NIC, if the sender does not.
fn relay(layer: &Layer, from: usize, to: usize) -> Option<usize> {
    let owns = |member: usize| layer.servers.nics_of(layer.members[member]).contains(&layer.nic(to));
    if layer.together(from, to) || owns(from) {
        return None;
    }
    (0..layer.members.len()).find(|member| layer.together(from, *member) && owns(*member))
}

/// Small sizes go in smaller chunks, so that there are several.
fn chunk(options: &Options, via: Via, bytes: u64) -> Chunk {
    let most = if via == Via::ScaleUp { SCALE_UP_CHUNK_BYTES } else { NET_CHUNK_BYTES };
    let nccl = if bytes < most {
        most / 4
    } else if bytes < 8 * most {
        most / 2
    } else {
        most
    };
    options.chunk(nccl, 1).unwrap_or(Chunk { bytes: nccl, slices: 1, least_slice: 0 })
}

/// Who sends to whom at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Round {
    n: usize,
    group: usize,
    /// Groups, and places in the group, by which the receiver is further than the sender.
    groups: usize,
    places: usize,
}

impl Round {
    fn peer(self, member: usize) -> usize {
        let groups = self.n / self.group;
        let group = (member / self.group + self.groups) % groups;
        group * self.group + (member + self.places) % self.group
    }
}

/// All rounds: near groups first, then at distances 1, 3, 6, 10 and so on.
fn rounds(n: usize, group: usize) -> Vec<Round> {
    let groups = n / group;
    let around = groups.next_power_of_two();
    let distances = (0..around).map(|x| (x * x + x) / 2 % around).filter(|distance| *distance < groups);
    distances.flat_map(|groups| (0..group).map(move |places| Round { n, group, groups, places })).collect()
}

/// Ranks of a group: as many as divide those of every server; all if there is one.
fn group(visits: &[Visit]) -> usize {
    if let [all] = visits {
        return all.members.len();
    }
    visits.iter().fold(GROUP, |group, visit| gcd(group, visit.members.len()))
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Bytes from each member to each, row by row.
pub(super) fn matrix(n: usize, bytes: u64, skew: &Skew) -> Result<Vec<u64>, String> {
    let even = || (0..n).map(|_| 1.0).collect::<Vec<f64>>();
    let weights = match skew {
        Skew::None => even(),
        Skew::Zipf { exponent, .. } if !(exponent.is_finite() && *exponent >= 0.0) => {
            return Err(format!("a Zipf exponent of {exponent} makes no sense: zero is even, 1 is usual"));
        }
        Skew::Zipf { exponent, seed } => {
            let mut weights: Vec<f64> = (1..=n).map(|k| libm::pow(k as f64, -exponent)).collect();
            stream(*seed, "all-to-all", n as u64).shuffle(&mut weights);
            weights
        }
        Skew::Matrix(matrix) if matrix.len() == n * n => return Ok(matrix.clone()),
        Skew::Matrix(matrix) => {
            return Err(format!("sizes for {n} ranks are {} numbers, row by row, not {}", n * n, matrix.len()));
        }
    };
    let all: f64 = weights.iter().sum();
    // Rounded sums, not rounded parts: a row is `bytes` to the last one.
    let (mut sum, mut before) = (0.0, 0);
    let mut row = Vec::with_capacity(n);
    for (k, weight) in weights.iter().enumerate() {
        sum += weight;
        let until = match skew {
            Skew::None => (u128::from(bytes) * (k as u128 + 1) / n as u128) as u64,
            _ if k + 1 == n => bytes,
            _ => ((bytes as f64 * (sum / all)) as u64).clamp(before, bytes),
        };
        row.push(until - before);
        before = until;
    }
    Ok(row.repeat(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_twice_in_a_round_and_everybody_is_met_once() {
        for (n, group) in [(1, 1), (6, 2), (8, 8), (12, 4), (24, 8), (40, 8), (7, 1)] {
            let rounds = rounds(n, group);
            assert_eq!(rounds.len(), n);
            for round in &rounds {
                let mut peers: Vec<usize> = (0..n).map(|member| round.peer(member)).collect();
                peers.sort_unstable();
                assert_eq!(peers, (0..n).collect::<Vec<_>>());
            }
            for member in 0..n {
                let mut peers: Vec<usize> = rounds.iter().map(|round| round.peer(member)).collect();
                assert_eq!(peers[0], member, "the first round is each rank's own");
                peers.sort_unstable();
                assert_eq!(peers, (0..n).collect::<Vec<_>>());
            }
        }
        // Groups of 4 at distances 0, 1, 3, 6 and so on, by triangular numbers modulo 8.
        let distances: Vec<usize> = rounds(24, 4).iter().step_by(4).map(|round| round.groups).collect();
        assert_eq!(distances, [0, 1, 3, 2, 5, 4]);
    }

    #[test]
    fn skewed_rows_keep_their_sum() {
        for exponent in [0.0, 0.7, 1.0, 2.5] {
            let matrix = matrix(16, 1_000_003, &Skew::Zipf { exponent, seed: 3 }).unwrap();
            for row in matrix.chunks(16) {
                assert_eq!(row.iter().sum::<u64>(), 1_000_003);
                assert_eq!(row, &matrix[..16], "everybody knows the popular ones");
            }
            let (most, least) = (matrix.iter().max().unwrap(), matrix.iter().min().unwrap());
            let ratio = *most as f64 / *least as f64;
            assert!((ratio / libm::pow(16.0, exponent) - 1.0).abs() < 0.01, "{exponent}: {ratio}");
        }
        assert_eq!(matrix(3, 10, &Skew::None).unwrap()[..3], [3, 3, 4]);
        let drawn = |seed| matrix(16, 1 << 20, &Skew::Zipf { exponent: 1.0, seed }).unwrap();
        assert_ne!(drawn(1), drawn(2));
        assert!(matrix(3, 10, &Skew::Matrix(vec![1; 8])).unwrap_err().contains("9 numbers"));
        assert!(matrix(3, 10, &Skew::Zipf { exponent: f64::NAN, seed: 0 }).is_err());
    }
}
