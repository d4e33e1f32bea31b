//! Collectives as generators of graphs.

mod all_to_all;
mod barrier;
mod chain;
mod halving_doubling;
mod hierarchical;
mod layer;
mod options;
mod pipeline;
mod ring;
mod tree;
mod visits;

pub use layer::{Carried, Ends};
pub use options::{Algorithm, Options, Servers, Skew};
pub use pipeline::{PipelineOrder, Schedule, pipeline};
pub use tree::{Node, double_tree};

use crate::dag::Collective::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Reduce, ReduceScatter};
use crate::dag::{Collective, Dag};
use Algorithm::{Auto, HalvingDoubling, Hierarchical, Tree};
use layer::{Layer, activity};
use ring::Ring;
use std::collections::BTreeSet;
use visits::visits;

/// Adds a collective among `members`, ranks in the order of their ring. `bytes` is its size as nccl-tests defines it: the
/// buffer, or for all-gathers, reduce-scatters and all-to-alls the ranks' times the count of one.
///
/// `name` counts in the graph's names, `group` is what the members' activities have in common. Yields for each member the
/// operations that begin and end its part: they do nothing, and may take and free resources. What cannot be done is said
/// in one sentence.
#[expect(clippy::too_many_arguments, reason = "what, who, how much, where, how, and two labels")]
pub fn lay(
    dag: &mut Dag,
    what: Collective,
    members: &[u32],
    bytes: u64,
    servers: Servers,
    options: &Options,
    name: u32,
    group: u32,
) -> Result<Vec<Ends>, String> {
    check(dag, what, members, bytes, servers, options)?;
    let size = size(what, members.len(), bytes, options);
    let mut layer = Layer::new(dag, members, servers, options, activity(what, size, name, group), None);
    lay_on(&mut layer, what, bytes, options)
}

/// The same for a graph of its own, with what each message carries.
pub fn explain(
    what: Collective,
    members: &[u32],
    bytes: u64,
    servers: Servers,
    options: &Options,
) -> Result<(Dag, Vec<Ends>, Vec<Carried>), String> {
    let mut dag = Dag::new(members.iter().max().map_or(0, |rank| rank + 1));
    let (mut carried, name) = (Vec::new(), dag.name(what.word()));
    check(&dag, what, members, bytes, servers, options)?;
    let activity = activity(what, size(what, members.len(), bytes, options), name, 0);
    let mut layer = Layer::new(&mut dag, members, servers, options, activity, Some(&mut carried));
    let ends = lay_on(&mut layer, what, bytes, options)?;
    Ok((dag, ends, carried))
}

fn lay_on(layer: &mut Layer, what: Collective, bytes: u64, options: &Options) -> Result<Vec<Ends>, String> {
    let begins: Vec<_> = layer.ends.iter().map(|ends| ends.begin).collect();
    let mut ends = vec![Vec::new(); layer.members.len()];
    let visits = visits(layer.members, layer.servers);
    let channels = (options.channels > 0).then_some(options.channels);
    let alone = layer.members.len() == 1;
    match (what, options.algorithm) {
        _ if alone => {}
        (AllReduce | ReduceScatter | AllGather, Auto | Algorithm::Ring) => {
            Ring { what, visits: &visits, at: 0, bytes, channels }.lay(layer, options, &begins, &mut ends)?;
        }
        (AllReduce, Tree) => tree::lay(layer, &visits, bytes, options, &begins, &mut ends)?,
        (AllReduce, Hierarchical) => hierarchical::lay(layer, &visits, bytes, options, &begins, &mut ends)?,
        (AllReduce | ReduceScatter | AllGather, HalvingDoubling) => {
            halving_doubling::lay(layer, what, bytes, options, &begins, &mut ends)?;
        }
        (Broadcast | Reduce, Auto | Algorithm::Ring) => {
            chain::lay(layer, what, &visits, bytes, options, &begins, &mut ends)?;
        }
        (AllToAll, Auto) => all_to_all::lay(layer, &visits, bytes, options, &begins, &mut ends)?,
        (Barrier, Auto) => barrier::lay(layer, bytes, options, &begins, &mut ends)?,
        (what, algorithm) => {
            let which: Vec<&str> = algorithms(what).iter().map(|algorithm| algorithm.word()).collect();
            return Err(format!("{what} by `{}` is not known; there is {}", algorithm.word(), which.join(", ")));
        }
    }
    for (member, needs) in ends.iter().enumerate() {
        let end = layer.ends[member].end;
        layer.dag.needs.extend(needs.iter().map(|need| (*need, end)));
    }
    Ok(layer.ends.clone())
}

/// Ways in which a collective can be done; the first is the usual one.
pub fn algorithms(what: Collective) -> &'static [Algorithm] {
    match what {
        AllReduce => &[Auto, Algorithm::Ring, Tree, HalvingDoubling, Hierarchical],
        ReduceScatter | AllGather => &[Auto, Algorithm::Ring, HalvingDoubling],
        Broadcast | Reduce => &[Auto, Algorithm::Ring],
        AllToAll | Barrier => &[Auto],
    }
}

/// Size as it is reported: with a size for each pair, what the busiest sender has.
fn size(what: Collective, members: usize, bytes: u64, options: &Options) -> u64 {
    match &options.skew {
        Skew::Matrix(matrix) if what == AllToAll => {
            matrix.chunks(members).map(|row| row.iter().sum()).max().unwrap_or_default()
        }
        _ => bytes,
    }
}

fn check(
    dag: &Dag,
    what: Collective,
    members: &[u32],
    bytes: u64,
    servers: Servers,
    options: &Options,
) -> Result<(), String> {
    if servers.gpus == 0 {
        return Err("servers without GPUs have no ranks: give each one at least".to_owned());
    }
    if members.is_empty() {
        return Err(format!("{what} among no ranks: name one at least"));
    }
    if let Some(rank) = members.iter().find(|rank| **rank >= dag.ranks) {
        return Err(format!("{what}: rank {rank} does not exist, there are {}", dag.ranks));
    }
    let mut seen = BTreeSet::new();
    if let Some(rank) = members.iter().find(|rank| !seen.insert(**rank)) {
        return Err(format!("{what}: rank {rank} is a member twice"));
    }
    if bytes == 0 && what != Barrier && !matches!(options.skew, Skew::Matrix(_)) {
        return Err(format!("{what} of no bytes: the smallest has one"));
    }
    let server = servers.of(members[0]);
    if servers.nics == 0 && members.iter().any(|rank| servers.of(*rank) != server) {
        return Err(format!("{what} among several servers, which have no NICs: give each one at least"));
    }
    if options.queue_pairs == 0 {
        return Err("a connection needs a queue pair: give it one or more".to_owned());
    }
    Ok(())
}
