//! Collectives as macro-flows: a channel of a ring, tree or chain is one, and so is an exchange of halving and doubling
//! and a batch of an all-to-all. What a phase waits for, all its ranks wait for.

use super::all_to_all;
use super::halving_doubling::halves;
use super::hierarchical;
use super::layer::Layer;
use super::options::Options;
use super::ring::Ring;
use super::tree::{self, Tree};
use super::visits::{Task, ring, usual_channels};
use super::{Way, chain, channels};
use crate::dag::{Collective, Lane, OpId, Pair, Via};
use crate::macro_flow::{Chunks, Edge, MacroFlow, Pace};

/// A phase: macro-flows that go at the same time.
type Phase = Vec<MacroFlow>;

impl Way {
    /// Whether it has a form of macro-flows. A barrier has hardly any bytes.
    pub(super) fn has_macro_flows(self) -> bool {
        !matches!(self, Way::Alone | Way::Barrier)
    }
}

/// Lays a collective as phases of macro-flows; `begins` and `ends` by member.
pub(super) fn generate(
    layer: &mut Layer,
    way: Way,
    task: &Task,
    begins: &[OpId],
    ends: &mut [Vec<OpId>],
) -> Result<(), String> {
    let phases = match way {
        Way::Ring => {
            let ring = Ring {
                what: task.what,
                visits: task.visits,
                at: 0,
                bytes: task.bytes,
                channels: channels(task.options),
            };
            vec![ring.macro_flows(layer, task.options)?]
        }
        Way::Tree => vec![of_trees(layer, task)?],
        Way::Chain => vec![of_chains(layer, task)?],
        Way::Hierarchical => of_hierarchy(layer, task)?,
        Way::HalvingDoubling => of_exchanges(layer, task),
        Way::AllToAll => all_to_all::macro_flows(layer, task)?,
        Way::Alone | Way::Barrier => Vec::new(),
    };
    let mut gate = layer.join(0, begins);
    for phase in phases {
        let flows: Vec<OpId> = phase.into_iter().map(|flow| layer.macro_flow(flow, gate)).collect();
        gate = layer.join(0, &flows);
    }
    ends.iter_mut().for_each(|end| end.push(gate));
    Ok(())
}

impl Ring<'_> {
    /// A macro-flow for each channel.
    pub(super) fn macro_flows(&self, layer: &Layer, options: &Options) -> Result<Phase, String> {
        if self.members() < 2 {
            return Ok(Phase::new());
        }
        let walk = self.walk(options)?;
        let flow = |(channel, (_, bytes)): (u16, (u64, u64))| {
            let places = ring(self.visits, channel);
            let next = places.iter().cycle().skip(1);
            let hops = places.iter().zip(next).map(|((from, via), (to, _))| (*from, *to, *via));
            let rounds = bytes.div_ceil(walk.loop_bytes());
            let rest = bytes - (rounds - 1) * walk.loop_bytes();
            let part = |(times, chunk_bytes): (u64, u64)| {
                let slice_bytes = walk.chunk.slice_of(chunk_bytes);
                let (chunks, slices) = (walk.steps().count() as u64, chunk_bytes.div_ceil(slice_bytes));
                let depth = match self.window(options) {
                    0 => slices,
                    window => slices.min(window),
                };
                Chunks { times, chunks, chunk_bytes, slice_bytes, depth: depth as u32 }
            };
            let parts = [(rounds - 1, walk.chunk_bytes(walk.loop_bytes())), (1, walk.chunk_bytes(rest))];
            let parts = parts.into_iter().filter(|(times, _)| *times > 0).map(part).collect();
            MacroFlow { edges: layer.edges(hops, channel), parts, pace: Pace::Ring }
        };
        Ok((0..).zip(self.parts(self.members())).map(flow).collect())
    }
}

/// A macro-flow for each channel: all edges of its tree, up and down.
fn of_trees(layer: &Layer, task: &Task) -> Result<Phase, String> {
    let Task { bytes, visits, options, .. } = *task;
    let channels = if options.channels == 0 { usual_channels(visits) } else { options.channels };
    let (chunk, half) = (options.chunk(tree::CHUNK_BYTES, 1)?, channels / 2);
    let flow = |(channel, bytes): (u16, u64)| {
        let tree = Tree::new(layer, visits, channel >= half, channel % half, channel);
        let (hops, path) = tree.hops();
        let edges = layer.edges(hops.into_iter(), channel);
        MacroFlow { edges, parts: chunk.parts(bytes, options.window(tree::OUTSTANDING)), pace: Pace::Path(path) }
    };
    let parts = super::options::shares(bytes, u64::from(channels));
    Ok((0..).zip(parts.into_iter().map(|(_, bytes)| bytes)).map(flow).collect())
}

/// A macro-flow for each channel: from the root to the last, or back.
fn of_chains(layer: &Layer, task: &Task) -> Result<Phase, String> {
    let Task { what, bytes, visits, options } = *task;
    let channels = if options.channels == 0 { usual_channels(visits) } else { options.channels };
    let chunk = options.chunk(chain::CHUNK_BYTES, 1)?;
    let flow = |(channel, bytes): (u16, u64)| {
        let hops = chain::hops(&ring(visits, channel), options.root as usize, what == Collective::Reduce);
        let path = (0..hops.len() as u32).collect();
        let parts = chunk.parts(bytes, options.window(chain::OUTSTANDING));
        MacroFlow { edges: layer.edges(hops.into_iter(), channel), parts, pace: Pace::Path(path) }
    };
    let parts = super::options::shares(bytes, u64::from(channels));
    Ok((0..).zip(parts.into_iter().map(|(_, bytes)| bytes)).map(flow).collect())
}

/// Rings in all servers, on all rails, and in all servers again. Servers are alike: a channel of all is one macro-flow.
fn of_hierarchy(layer: &Layer, task: &Task) -> Result<Vec<Phase>, String> {
    let Task { bytes, visits: servers, options, .. } = *task;
    let channels = channels(options);
    let inside = |what: Collective| {
        let mut all = Phase::new();
        for server in servers {
            let visits = std::slice::from_ref(server);
            let flows = Ring { what, visits, at: 0, bytes, channels }.macro_flows(layer, options)?;
            if all.is_empty() {
                all = flows;
                continue;
            }
            all.iter_mut().zip(flows).for_each(|(all, flow)| all.edges.extend(flow.edges));
        }
        Ok::<_, String>(all)
    };
    let mut rails = Phase::new();
    for (gpu, at, bytes) in hierarchical::blocks(servers[0].members.len(), bytes) {
        let rail: Vec<usize> = servers.iter().map(|visit| visit.members[gpu]).collect();
        let visits = hierarchical::of_members(layer.members, layer.servers, &rail);
        let ring = Ring { what: Collective::AllReduce, visits: &visits, at, bytes, channels };
        rails.extend(ring.macro_flows(layer, options)?);
    }
    Ok(vec![inside(Collective::ReduceScatter)?, rails, inside(Collective::AllGather)?])
}

/// A macro-flow for each exchange.
fn of_exchanges(layer: &Layer, task: &Task) -> Vec<Phase> {
    let Task { what, bytes, options, .. } = *task;
    let n = layer.members.len();
    let (core, channels) = (1 << n.ilog2(), options.channels.max(1));
    let exchange = |pairs: Vec<(usize, usize)>, bytes: u64| -> Phase {
        let hops: Vec<_> = pairs.iter().map(|&(from, to)| (from, to, layer.way(from, to))).collect();
        let edges = (0..channels).flat_map(|channel| layer.edges(hops.iter().copied(), channel)).collect();
        let share = super::options::share_bytes(bytes, channels.into()).min(bytes);
        let part = Chunks { times: 1, chunks: 1, chunk_bytes: share, slice_bytes: share, depth: 0 };
        let flow = MacroFlow { edges, parts: vec![part], pace: Pace::Free };
        if pairs.is_empty() || bytes == 0 { Phase::new() } else { vec![flow] }
    };
    let mut phases = vec![exchange((core..n).map(|extra| (extra, extra - core)).collect(), bytes)];
    let with = |bit: usize| (0..core).map(|member| (member, member ^ bit)).collect();
    // The longest parts count.
    let (mut part, mut back) = (bytes, Vec::new());
    for bit in (0..core.ilog2()).map(|step| 1_usize << step) {
        let ((_, kept), _) = halves((0, part), false);
        if what != Collective::AllGather {
            phases.push(exchange(with(bit), kept));
        }
        if what != Collective::ReduceScatter {
            back.push(exchange(with(bit), kept));
        }
        part = kept;
    }
    phases.extend(back.into_iter().rev());
    phases.push(exchange((core..n).map(|extra| (extra - core, extra)).collect(), bytes));
    phases.retain(|phase| !phase.is_empty());
    phases
}

impl Layer<'_> {
    /// Connections between members, each with its queue pairs.
    pub(super) fn edges(&self, hops: impl Iterator<Item = (usize, usize, Via)>, channel: u16) -> Vec<Edge> {
        let ways = self.queue_pairs as u16;
        let one = |(from, to, via): (usize, usize, Via)| {
            let (from, to) = (self.members[from], self.members[to]);
            let lane = move |queue_pair| Lane { via, channel, queue_pair };
            (0..ways).map(move |queue_pair| Edge {
                pair: Pair { from, to, lane: lane(queue_pair) },
                share: 1.0 / f32::from(ways),
            })
        };
        hops.flat_map(one).collect()
    }
}
