//! All-to-all as NCCL's send and receive calls do it (nccl:src/init.cc `ncclP2pSchedule`, enqueue.cc, graph/paths.cc).
//!
//! Every rank meets the others in an order in which none receives twice at a time, some peers at once. By PXN what
//! goes to another rail is first passed inside the server to the rank that owns the receiver's NIC.

use super::layer::{Connection, Layer, Piece};
use super::options::{Chunk, Options, Servers, Skew, share_bytes, shares};
use super::size::{Sends, each};
use super::visits::{Task, Visit};
use crate::dag::{OpId, Via};
use crate::macro_flow::{Edge, MacroFlow, Pace};
use std::collections::BTreeMap;
use xoff_engine::stream;

/// Chunks by which NCCL sends between servers, and inside.
pub(super) const NET_CHUNK_BYTES: u64 = 128 << 10;
const SCALE_UP_CHUNK_BYTES: u64 = 512 << 10;
pub(super) const OUTSTANDING: u32 = 8;
/// NCCL groups ranks of a server by this many, if it can.
const GROUP: usize = 8;

/// An all-to-all; `begins` and `ends` by member.
pub(super) fn generate(layer: &mut Layer, task: &Task, begins: &[OpId], ends: &mut [Vec<OpId>]) -> Result<(), String> {
    let Task { bytes, visits, options, .. } = *task;
    let n = layer.members.len();
    let pairs = Pairs::new(n, bytes, &options.skew)?;
    layer.set_window(options.window(OUTSTANDING));
    let relays = Relays::new(layer.members, layer.servers);
    let rounds = rounds(n, group(visits));
    let batch = if options.peers == 0 { n } else { options.peers as usize };
    let mut come = begins.to_vec();
    for rounds in rounds.chunks(batch) {
        let mut needs: Vec<Vec<OpId>> = come.iter().map(|come| vec![*come]).collect();
        for round in rounds {
            for from in 0..n {
                let to = round.peer(from);
                let (at, bytes) = pairs.part(from, to);
                let relay = if options.pxn { relays.between(from, to) } else { None };
                let piece = Piece { at, bytes, adds: false };
                send(layer, (from, to, relay), piece, options, (begins, &come), &mut needs);
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

/// A phase for each batch of peers: one macro-flow for what goes straight, one for what goes by relays.
pub(super) fn macro_flows(layer: &Layer, task: &Task) -> Result<Vec<Vec<MacroFlow>>, String> {
    let Task { bytes, visits, options, .. } = *task;
    let n = layer.members.len();
    let pairs = Pairs::new(n, bytes, &options.skew)?;
    let relays = Relays::new(layer.members, layer.servers);
    let rounds = rounds(n, group(visits));
    let batch = if options.peers == 0 { n } else { options.peers as usize };
    let channels = options.channels.max(1);
    let phase = |rounds: &[Round]| {
        let met = || rounds.iter().flat_map(|round| (0..n).map(|from| (from, round.peer(from))));
        let most = met().filter(|(from, to)| from != to).map(|(from, to)| pairs.part(from, to).1).max().unwrap_or(0);
        let chunk = chunk(options, Via::Nic(0), share_bytes(most, channels.into()));
        let parts = chunk.parts(share_bytes(most, channels.into()).min(most), options.window(OUTSTANDING));
        let mut ways: [Vec<Edge>; 2] = Default::default();
        for (from, to) in met().filter(|(from, to)| from != to) {
            let (_, bytes) = pairs.part(from, to);
            let relay = if options.pxn { relays.between(from, to) } else { None };
            let hops = match relay {
                Some(relay) => vec![(from, relay, Via::ScaleUp), (relay, to, Via::Nic(layer.nic(to)))],
                None => vec![(from, to, layer.way(from, to))],
            };
            for channel in (0..channels).filter(|_| bytes > 0) {
                let share = (bytes as f64 / most as f64) as f32;
                let edges = layer.edges(hops.iter().copied(), channel).into_iter();
                ways[usize::from(relay.is_some())].extend(edges.map(|edge| Edge { share: edge.share * share, ..edge }));
            }
        }
        // The two connections of a relayed pair follow each other.
        let paces = [Pace::Free, Pace::Path(vec![0, options.queue_pairs.into()])];
        let flows = ways.into_iter().zip(paces).filter(|(edges, _)| !edges.is_empty());
        flows.map(|(edges, pace)| MacroFlow { edges, parts: parts.clone(), pace }).collect()
    };
    Ok(rounds.chunks(batch).map(phase).filter(|phase: &Vec<_>| !phase.is_empty()).collect())
}

/// All that one member has for another. The operation that completes it is added to the `needs` of both.
fn send(
    layer: &mut Layer,
    (from, to, relay): (usize, usize, Option<usize>),
    piece: Piece,
    options: &Options,
    (begins, come): (&[OpId], &[OpId]),
    needs: &mut [Vec<OpId>],
) {
    if piece.bytes == 0 || from == to {
        return;
    }
    let via = layer.way(from, to);
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

/// What it sends. A pair sends by what its receiver gets, and by whether it shares a server, a NIC or neither.
pub(super) fn sends(members: &[u32], servers: Servers, bytes: u64, options: &Options) -> Result<Sends, String> {
    options.chunk(NET_CHUNK_BYTES, 1)?;
    let n = members.len();
    let channels = u64::from(options.channels.max(1));
    let pair = |via: Via, bytes: u64| match bytes {
        0 => Sends::default(),
        _ => each(bytes, share_bytes(bytes, channels), |bytes| {
            Sends::chunks(chunk(options, via, bytes), bytes, options).with(1, 0)
        }),
    };
    let (pairs, relays) = (Pairs::new(n, bytes, &options.skew)?, Relays::new(members, servers));
    let mut sends = Sends::default();
    match &pairs {
        Pairs::Alike { row, .. } => {
            for (to, bytes) in row.iter().enumerate() {
                let [together, direct, relayed] = relays.senders_to(to, options.pxn);
                let by_nic = pair(Via::Nic(0), *bytes);
                sends += pair(Via::ScaleUp, *bytes) * together + by_nic * (direct + 2 * relayed);
            }
        }
        Pairs::Each { .. } => {
            for (from, to) in (0..n).flat_map(|from| (0..n).map(move |to| (from, to))).filter(|(from, to)| from != to) {
                let (_, bytes) = pairs.part(from, to);
                let via = if relays.together(from, to) { Via::ScaleUp } else { Via::Nic(0) };
                let relay = options.pxn && relays.between(from, to).is_some();
                sends += pair(via, bytes) * if relay { 2 } else { 1 };
            }
        }
    }
    let batches = if options.peers == 0 { 1 } else { n.div_ceil(options.peers as usize) };
    Ok(sends.with(0, (n * batches) as u64))
}

/// Who owns which NIC.
struct Relays<'a> {
    members: &'a [u32],
    servers: Servers,
    /// The first member in a server that owns a NIC, and how many do.
    owners: BTreeMap<(u32, u16), (usize, u64)>,
    /// Members by server.
    sizes: BTreeMap<u32, u64>,
    /// Members by NIC, over all servers: members that own it, and members of servers where one does.
    all: BTreeMap<u16, [u64; 2]>,
}

impl Relays<'_> {
    fn new(members: &[u32], servers: Servers) -> Relays<'_> {
        let (mut owners, mut sizes) = (BTreeMap::new(), BTreeMap::new());
        for (member, rank) in members.iter().enumerate() {
            *sizes.entry(servers.of(*rank)).or_insert(0) += 1;
            for nic in servers.nics_of(*rank) {
                owners.entry((servers.of(*rank), nic)).or_insert((member, 0)).1 += 1;
            }
        }
        let mut all: BTreeMap<u16, [u64; 2]> = BTreeMap::new();
        for ((server, nic), (_, count)) in &owners {
            let of = all.entry(*nic).or_default();
            of[0] += count;
            of[1] += sizes[server];
        }
        Relays { members, servers, owners, sizes, all }
    }

    fn server(&self, member: usize) -> u32 {
        self.servers.of(self.members[member])
    }

    fn together(&self, a: usize, b: usize) -> bool {
        self.server(a) == self.server(b)
    }

    /// The first of a member's own NICs.
    fn nic(&self, member: usize) -> u16 {
        self.servers.nics_of(self.members[member]).start
    }

    /// The member in the sender's server that owns the receiver's NIC, if the sender does not.
    fn between(&self, from: usize, to: usize) -> Option<usize> {
        let nic = self.nic(to);
        if self.together(from, to) || self.servers.nics_of(self.members[from]).contains(&nic) {
            return None;
        }
        self.owners.get(&(self.server(from), nic)).map(|(member, _)| *member)
    }

    /// How many send to a member inside its server, straight by NICs, and by a relay.
    fn senders_to(&self, to: usize, pxn: bool) -> [u64; 3] {
        let (server, nic) = (self.server(to), self.nic(to));
        let here = self.sizes[&server];
        let away = self.members.len() as u64 - here;
        let own = self.owners.get(&(server, nic)).map_or([0, 0], |(_, count)| [*count, here]);
        let [owning, beside] = self.all.get(&nic).copied().unwrap_or_default();
        let relayed = if pxn { (beside - own[1]) - (owning - own[0]) } else { 0 };
        [here - 1, away - relayed, relayed]
    }
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

/// Bytes from each member to each, and where they are in the buffer of all pairs, row by row.
enum Pairs<'a> {
    /// All send the same to a receiver: by receiver, how much, and where it begins in the sender's row.
    Alike { row: Vec<u64>, starts: Vec<u64>, sum: u64 },
    /// Bytes by pair.
    Each { n: usize, matrix: &'a [u64], starts: Vec<u64> },
}

impl Pairs<'_> {
    fn new(n: usize, bytes: u64, skew: &Skew) -> Result<Pairs<'_>, String> {
        let starts = |sizes: &[u64]| {
            let before = sizes.iter().scan(0, |sum, bytes| {
                *sum += bytes;
                Some(*sum - bytes)
            });
            before.collect()
        };
        Ok(match skew {
            Skew::Matrix(matrix) if matrix.len() == n * n => Pairs::Each { n, matrix, starts: starts(matrix) },
            Skew::Matrix(matrix) => {
                return Err(format!("sizes for {n} ranks are {} numbers, row by row, not {}", n * n, matrix.len()));
            }
            _ => {
                let row = row(n, bytes, skew)?;
                Pairs::Alike { starts: starts(&row), sum: row.iter().sum(), row }
            }
        })
    }

    /// Where the part of a pair begins, and how long it is.
    fn part(&self, from: usize, to: usize) -> (u64, u64) {
        match self {
            Pairs::Alike { row, starts, sum } => (from as u64 * sum + starts[to], row[to]),
            Pairs::Each { n, matrix, starts } => (starts[from * n + to], matrix[from * n + to]),
        }
    }
}

/// Bytes from any member to each, where all send alike.
fn row(n: usize, bytes: u64, skew: &Skew) -> Result<Vec<u64>, String> {
    let weights = match skew {
        Skew::None | Skew::Matrix(_) => vec![1.0; n],
        Skew::Zipf { exponent, .. } if !(exponent.is_finite() && *exponent >= 0.0) => {
            return Err(format!("a Zipf exponent of {exponent} makes no sense: zero is even, 1 is usual"));
        }
        Skew::Zipf { exponent, seed } => {
            let mut weights: Vec<f64> = (1..=n).map(|k| libm::pow(k as f64, -exponent)).collect();
            stream(*seed, "all-to-all", n as u64).shuffle(&mut weights);
            weights
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
    Ok(row)
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
            let row = row(16, 1_000_003, &Skew::Zipf { exponent, seed: 3 }).unwrap();
            assert_eq!(row.iter().sum::<u64>(), 1_000_003);
            let (most, least) = (row.iter().max().unwrap(), row.iter().min().unwrap());
            let ratio = *most as f64 / *least as f64;
            assert!((ratio / libm::pow(16.0, exponent) - 1.0).abs() < 0.01, "{exponent}: {ratio}");
        }
        assert_eq!(row(3, 10, &Skew::None).unwrap(), [3, 3, 4]);
        let drawn = |seed| row(16, 1 << 20, &Skew::Zipf { exponent: 1.0, seed }).unwrap();
        assert_ne!(drawn(1), drawn(2));
        let eight = Skew::Matrix(vec![1; 8]);
        assert!(Pairs::new(3, 10, &eight).map(|_| ()).unwrap_err().contains("9 numbers"));
        assert!(Pairs::new(3, 10, &Skew::Zipf { exponent: f64::NAN, seed: 0 }).is_err());
    }
}
