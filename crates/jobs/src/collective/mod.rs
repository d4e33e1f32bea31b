//! Collectives as generators of graphs.

mod all_to_all;
mod barrier;
mod chain;
mod halving_doubling;
mod hierarchical;
mod layer;
mod macros;
mod options;
mod pipeline;
mod ring;
mod ring_program;
mod size;
mod tree;
mod visits;
mod walk;

pub use layer::{Carried, Ends};
pub use options::{Algorithm, Options, Servers, Skew};
pub use pipeline::{PIPELINE_NAMES, PipelineOrder, Schedule, pipeline, pipeline_size};
pub(crate) use ring_program::{RingProgram, RingState};
pub use size::Size;
pub use tree::{Node, double_tree};

use crate::dag::Collective::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Reduce, ReduceScatter};
use crate::dag::{Collective, Dag, Placed};
use Algorithm::{Auto, HalvingDoubling, Hierarchical, Tree};
use layer::{Layer, activity};
use ring::Ring;
use size::Sends;
use std::collections::BTreeSet;
use visits::{Task, visits};

/// How the messages of a graph are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Listed, each as an operation.
    Listed,
    /// Programs make them when they are due, for collectives that have one: memory then follows connections. Messages,
    /// their times and their order are those of the list, if messages of a lane arrive in order.
    Programs,
    /// Channels and phases are macro-flows ([`crate::macro_flow`]), for a network at flow level.
    MacroFlows,
}

/// Adds a collective among `members`, ranks in the order of their ring. `bytes` is its size as nccl-tests defines it: the
/// buffer, or for all-gathers, reduce-scatters and all-to-alls the ranks' times the count of one.
///
/// `name` counts in the graph's names, `group` is what the members' activities have in common. Yields for each member the
/// operations that begin and end its part: they do nothing, and may take and free resources. What cannot be done is said
/// in one sentence.
#[expect(clippy::too_many_arguments, reason = "what, who, how much, where, how, and two labels")]
pub fn generate(
    dag: &mut Dag,
    what: Collective,
    members: &[u32],
    bytes: u64,
    servers: Servers,
    options: &Options,
    form: Form,
    name: u32,
    group: u32,
) -> Result<Vec<Ends>, String> {
    (size(dag.ranks, what, members, bytes, servers, options, form)? + Size::of_others(dag.ops.len() as u64))
        .within_reason()?
        .reserve(dag);
    let told = told_bytes(what, members.len(), bytes, options);
    let mut layer = Layer::new(dag, members, servers, options, activity(what, told, name, group), None);
    lay_on(&mut layer, what, bytes, options, form)
}

/// Generates a collective as a graph of its own, with what each message carries.
pub fn explain(
    what: Collective,
    members: &[u32],
    bytes: u64,
    servers: Servers,
    options: &Options,
) -> Result<(Dag, Vec<Ends>, Vec<Carried>), String> {
    let mut dag = Dag::new(members.iter().max().map_or(0, |rank| rank + 1));
    let (mut carried, name) = (Vec::new(), dag.name(what.word()));
    size(dag.ranks, what, members, bytes, servers, options, Form::Listed)?;
    let activity = activity(what, told_bytes(what, members.len(), bytes, options), name, 0);
    let mut layer = Layer::new(&mut dag, members, servers, options, activity, Some(&mut carried));
    let ends = lay_on(&mut layer, what, bytes, options, Form::Listed)?;
    Ok((dag, ends, carried))
}

/// What the graph of a collective holds, with the same arguments, in a job of so many ranks; or why it cannot be done.
/// Nothing is built.
pub fn size(
    ranks: u32,
    what: Collective,
    members: &[u32],
    bytes: u64,
    servers: Servers,
    options: &Options,
    form: Form,
) -> Result<Size, String> {
    check(ranks, what, members, bytes, servers, options)?;
    let (n, visits) = (members.len(), visits(members, servers));
    let task = Task { what, bytes, visits: &visits, options };
    let way = Way::of(what, options.algorithm, n)?;
    let sends = match way {
        Way::Alone => Sends::default(),
        Way::Ring => Ring { what, visits: &visits, at: 0, bytes, channels: channels(options) }.sends(options)?,
        Way::Tree => tree::sends(n, &task)?,
        Way::Hierarchical => hierarchical::sends(members, servers, &task)?,
        Way::HalvingDoubling => halving_doubling::sends(n, &task)?,
        Way::Chain => chain::sends(n, &task)?,
        Way::AllToAll => all_to_all::sends(members, servers, bytes, options)?,
        Way::Barrier => barrier::sends(n, bytes, options)?,
    };
    let size = if form == Form::MacroFlows && way.has_macro_flows() {
        Size::of_macro_flows(sends, n as u64, options)
    } else if way.has_program(options, form) {
        Size::of_program(sends, n as u64, options)
    } else {
        Size::of_sends(sends, n as u64, options)
    };
    size.within_reason()
}

/// Lays what can be done, as [`size`] has found.
fn lay_on(layer: &mut Layer, what: Collective, bytes: u64, options: &Options, form: Form) -> Result<Vec<Ends>, String> {
    let begins: Vec<_> = layer.ends.iter().map(|ends| ends.begin).collect();
    let mut ends = vec![Vec::new(); layer.members.len()];
    let visits = visits(layer.members, layer.servers);
    let task = Task { what, bytes, visits: &visits, options };
    let way = Way::of(what, options.algorithm, layer.members.len())?;
    match way {
        Way::Alone => {}
        _ if form == Form::MacroFlows && way.has_macro_flows() => {
            macros::generate(layer, way, &task, &begins, &mut ends)?;
        }
        Way::Ring => {
            let ring = Ring { what, visits: &visits, at: 0, bytes, channels: channels(options) };
            if way.has_program(options, form) {
                let program = ring.program(layer, options)?;
                layer.dag.programs.push(Placed { at: layer.dag.ops.len() as u32, program });
            } else {
                ring.generate(layer, options, &begins, &mut ends)?;
            }
        }
        Way::Tree => tree::generate(layer, &task, &begins, &mut ends)?,
        Way::Hierarchical => hierarchical::generate(layer, &task, &begins, &mut ends)?,
        Way::HalvingDoubling => halving_doubling::generate(layer, &task, &begins, &mut ends),
        Way::Chain => chain::generate(layer, &task, &begins, &mut ends)?,
        Way::AllToAll => all_to_all::generate(layer, &task, &begins, &mut ends)?,
        Way::Barrier => barrier::generate(layer, bytes, &begins, &mut ends),
    }
    for (member, needs) in ends.iter().enumerate() {
        let end = layer.ends[member].end;
        layer.dag.needs.extend(needs.iter().map(|need| (*need, end)));
    }
    Ok(layer.ends.clone())
}

fn channels(options: &Options) -> Option<u16> {
    (options.channels > 0).then_some(options.channels)
}

/// Who knows how to do it.
#[derive(Clone, Copy)]
enum Way {
    /// No other member to send to.
    Alone,
    Ring,
    Tree,
    Hierarchical,
    HalvingDoubling,
    Chain,
    AllToAll,
    Barrier,
}

impl Way {
    /// Messages that are cut among queue pairs are listed: their parts are joined.
    fn has_program(self, options: &Options, form: Form) -> bool {
        form == Form::Programs && matches!(self, Way::Ring) && !options.split
    }

    fn of(what: Collective, algorithm: Algorithm, members: usize) -> Result<Way, String> {
        Ok(match (what, algorithm) {
            _ if members == 1 => Way::Alone,
            (AllReduce | ReduceScatter | AllGather, Auto | Algorithm::Ring) => Way::Ring,
            (AllReduce, Tree) => Way::Tree,
            (AllReduce, Hierarchical) => Way::Hierarchical,
            (AllReduce | ReduceScatter | AllGather, HalvingDoubling) => Way::HalvingDoubling,
            (Broadcast | Reduce, Auto | Algorithm::Ring) => Way::Chain,
            (AllToAll, Auto) => Way::AllToAll,
            (Barrier, Auto) => Way::Barrier,
            (what, algorithm) => {
                let which: Vec<&str> = algorithms(what).iter().map(|algorithm| algorithm.word()).collect();
                return Err(format!("{what} by `{}` is not known; there is {}", algorithm.word(), which.join(", ")));
            }
        })
    }
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
fn told_bytes(what: Collective, members: usize, bytes: u64, options: &Options) -> u64 {
    match &options.skew {
        Skew::Matrix(matrix) if what == AllToAll => {
            matrix.chunks(members).map(|row| row.iter().sum()).max().unwrap_or_default()
        }
        _ => bytes,
    }
}

fn check(
    ranks: u32,
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
    if let Some(rank) = members.iter().find(|rank| **rank >= ranks) {
        return Err(format!("{what}: rank {rank} does not exist, there are {ranks}"));
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
