//! Halving and doubling: exchanges with ranks at distance 1, 2, 4 and so on, each half as long as the last; then back
//! (astra-sim: HalvingDoubling.cc). For an all-reduce of another number than a power of two, the ranks above the power
//! first hand all they have to one below, and get the sum back at the end.

use super::layer::{Connection, Layer, Piece};
use super::options::{share_bytes, shares};
use super::size::{Sends, each};
use super::visits::Task;
use crate::dag::{Collective, OpId};

const OUTSTANDING: u32 = 8;

/// An all-reduce, reduce-scatter or all-gather; `begins` and `ends` by member.
pub(super) fn generate(layer: &mut Layer, task: &Task, begins: &[OpId], ends: &mut [Vec<OpId>]) {
    let Task { what, bytes, options, .. } = *task;
    let n = layer.members.len();
    let core = 1 << n.ilog2();
    let channels = options.channels.max(1);
    layer.set_window(options.window(OUTSTANDING));
    let mut exchange = Exchange { channels, begins, come: begins.to_vec(), parts: vec![(0, bytes); n] };
    for extra in core..n {
        exchange.send(layer, &mut connect(layer, extra, extra - core, channels), (0, bytes), true);
    }
    exchange.generate(layer, core, what);
    for extra in core..n {
        exchange.send(layer, &mut connect(layer, extra - core, extra, channels), (0, bytes), false);
    }
    for (come, end) in exchange.come.iter().zip(ends) {
        end.push(*come);
    }
}

/// What it sends among `n` members: exchange by exchange, in lengths alone.
pub(super) fn sends(n: usize, task: &Task) -> Result<Sends, String> {
    let Task { what, bytes, options, .. } = *task;
    let core = 1 << n.ilog2();
    if core != n && what != Collective::AllReduce {
        return Err(format!(
            "{what} by halving and doubling needs a power-of-two number of ranks, got {n}; use the ring algorithm"
        ));
    }
    options.no_chunks("halving and doubling")?;
    let channels = u64::from(options.channels.max(1));
    let message = |bytes: u64| match bytes {
        0 => Sends::default(),
        _ => each(bytes, share_bytes(bytes, channels), |bytes| Sends::piece(bytes, options)).with(channels, 1),
    };
    let mut sends = message(bytes) * (2 * (n - core) as u64);
    let mut parts = vec![bytes; core];
    for bit in (0..core.ilog2()).map(|step| 1_usize << step) {
        for (a, part) in parts.iter_mut().enumerate() {
            let ((_, kept), (_, given)) = halves((0, *part), a & bit != 0);
            if what != Collective::AllGather {
                sends += message(given);
            }
            *part = kept;
        }
    }
    for bit in (0..core.ilog2()).rev().map(|step| 1_usize << step) {
        let before = parts.clone();
        for (a, part) in parts.iter_mut().enumerate() {
            if what != Collective::ReduceScatter {
                sends += message(before[a]);
            }
            *part = before[a & !bit] + before[a | bit];
        }
    }
    Ok(sends)
}

/// Connections of one member to another, one a channel.
fn connect(layer: &Layer, from: usize, to: usize, channels: u16) -> Vec<Connection> {
    (0..channels).map(|channel| layer.connect(from, to, layer.way(from, to), channel)).collect()
}

/// All exchanges. Each message is shared by the channels.
struct Exchange<'a> {
    channels: u16,
    begins: &'a [OpId],
    /// Operations that end when each member has all that was sent to it so far.
    come: Vec<OpId>,
    /// The part of the buffer that each member has to do with: where it begins, and its length.
    parts: Vec<(u64, u64)>,
}

impl Exchange<'_> {
    fn generate(&mut self, layer: &mut Layer, core: usize, what: Collective) {
        let partners = |bit: usize| (0..core).map(|a| connect(layer, a, a ^ bit, self.channels)).collect();
        let mut steps: Vec<(usize, Vec<Vec<Connection>>)> =
            (0..core.ilog2()).map(|step| (1 << step, partners(1 << step))).collect();
        for (bit, connections) in &mut steps {
            let halves: Vec<_> = (0..core).map(|a| halves(self.parts[a], a & *bit != 0)).collect();
            if what != Collective::AllGather {
                self.exchange(layer, connections, |a| halves[a].1, true);
            }
            for (part, (kept, _)) in self.parts.iter_mut().zip(halves) {
                *part = kept;
            }
        }
        for (bit, connections) in steps.iter_mut().rev() {
            let parts = self.parts.clone();
            if what != Collective::ReduceScatter {
                self.exchange(layer, connections, |a| parts[a], false);
            }
            for a in 0..core {
                let (low, high) = (parts[a & !*bit], parts[a | *bit]);
                self.parts[a] = (low.0, low.1 + high.1);
            }
        }
    }

    /// Every member sends to its partner, and waits only for what it had received before.
    fn exchange(
        &mut self,
        layer: &mut Layer,
        partners: &mut [Vec<Connection>],
        part: impl Fn(usize) -> (u64, u64),
        adds: bool,
    ) {
        let before = self.come.clone();
        for (member, connections) in partners.iter_mut().enumerate() {
            self.arrive(layer, connections, part(member), adds, before[member]);
        }
    }

    fn send(&mut self, layer: &mut Layer, connections: &mut [Connection], part: (u64, u64), adds: bool) {
        let come = self.come[connections[0].from];
        self.arrive(layer, connections, part, adds, come);
    }

    fn arrive(
        &mut self,
        layer: &mut Layer,
        connections: &mut [Connection],
        (at, bytes): (u64, u64),
        adds: bool,
        come: OpId,
    ) {
        if bytes == 0 {
            return;
        }
        let (from, to) = (connections[0].from, connections[0].to);
        let mut needs = vec![self.come[to]];
        for (connection, (offset, bytes)) in connections.iter_mut().zip(shares(bytes, u64::from(self.channels))) {
            let piece = Piece { at: at + offset, bytes, adds };
            let number = layer.send(connection, piece, self.begins[from], &[come]);
            layer.arrival(connection, number, &mut needs);
        }
        self.come[to] = layer.join(to, &needs);
    }
}

/// The half that a member keeps, and that which it gives away.
pub(super) fn halves((at, bytes): (u64, u64), upper: bool) -> ((u64, u64), (u64, u64)) {
    let low = bytes.div_ceil(2);
    let (low, high) = ((at, low), (at + low, bytes - low));
    if upper { (high, low) } else { (low, high) }
}
