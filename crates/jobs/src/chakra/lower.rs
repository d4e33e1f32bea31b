//! From nodes that belong together to operations.

use super::checks::{deps, duration, place_of};
use super::error::{Fault, TraceError};
use super::findings::{Findings, NoteKind};
use super::match_collectives::MatchedCollective;
use super::match_messages::MatchedMessage;
use super::node::{Node, NodeKind, Trace};
use super::options::{Options, Resources};
use crate::collective::{self, Form, Servers, generate};
use crate::dag::{Activity, ActivityKind, Dag, Lane, Op, OpId, Resource, Via, Work};
use std::collections::{BTreeMap, HashMap};
use xoff_engine::Span;

/// A job of more operations is a mistake, or takes more memory than there is.
const MOST_OPS: usize = 200_000_000;

const CPU: Resource = Resource(0);
const GPU: Resource = Resource(1);
const COMMUNICATION: Resource = Resource(2);
const FIRST_STREAM: u16 = 3;

/// The operations with which a node begins and ends.
#[derive(Clone, Copy)]
struct Ends {
    first: OpId,
    last: OpId,
}

/// A graph under construction.
pub(super) struct Lowering<'a> {
    traces: &'a [Trace],
    options: &'a Options,
    dag: Dag,
    /// Ends of nodes, by rank and by place in its trace.
    ends: Vec<Vec<Ends>>,
    names: HashMap<&'a str, u32>,
    streams: BTreeMap<i64, Resource>,
    groups: u32,
}

impl<'a> Lowering<'a> {
    pub fn new(traces: &'a [Trace], options: &'a Options) -> Lowering<'a> {
        let dag = Dag { ranks: traces.len() as u32, ..Dag::default() };
        let ends = traces.iter().map(|trace| Vec::with_capacity(trace.nodes.len())).collect();
        Lowering { traces, options, dag, ends, names: HashMap::new(), streams: BTreeMap::new(), groups: 0 }
    }

    /// Everything. Operations that wait for the same resource get it in the order of their numbers, so those of nodes
    /// come first and in the order of ids.
    pub fn lower(
        mut self,
        meetings: &[MatchedCollective],
        passages: &[MatchedMessage],
        findings: &mut Findings,
    ) -> Result<Dag, TraceError> {
        self.number_streams()?;
        for trace in self.traces {
            for node in &trace.nodes {
                let ends = self.node(trace.rank, node);
                self.ends[trace.rank as usize].push(ends);
            }
        }
        for trace in self.traces {
            self.needs_of(trace);
        }
        for passage in passages {
            self.pass(passage);
        }
        for meeting in meetings {
            self.meet(meeting, findings)?;
        }
        Ok(self.dag)
    }

    /// The streams of all ranks have one numbering.
    fn number_streams(&mut self) -> Result<(), TraceError> {
        if self.options.resources == Resources::Astra {
            return Ok(());
        }
        let streams = self.traces.iter().flat_map(|trace| &trace.nodes).filter_map(|node| node.more().stream);
        self.streams.extend(streams.map(|stream| (stream, GPU)));
        for (number, resource) in self.streams.values_mut().enumerate() {
            let number = u16::try_from(number + usize::from(FIRST_STREAM));
            let number =
                number.map_err(|_| TraceError::new(Fault::Unsupported, "more than 65532 different streams"))?;
            *resource = Resource(number);
        }
        Ok(())
    }

    /// What a node holds while it runs.
    fn resource(&self, node: &Node) -> Option<Resource> {
        if node.kind.computes() && node.on_cpu == Some(true) {
            return Some(CPU);
        }
        match (node.more().stream.and_then(|stream| self.streams.get(&stream)), node.kind) {
            (Some(stream), _) => Some(*stream),
            (None, NodeKind::Compute | NodeKind::Unknown(_)) => Some(GPU),
            (None, NodeKind::Send | NodeKind::Collective) => Some(COMMUNICATION),
            (None, _) => None,
        }
    }

    fn op(&mut self, work: Work, activity: u32, takes: Option<Resource>, frees: Option<Resource>) -> OpId {
        self.dag.ops.push(Op { work, activity, takes, frees });
        (self.dag.ops.len() - 1) as OpId
    }

    fn activity(&mut self, rank: u32, kind: ActivityKind, name: &'a str, bytes: u64) -> u32 {
        let name = self.name(name);
        self.dag.activities.push(Activity { rank, kind, name, group: 0, bytes });
        (self.dag.activities.len() - 1) as u32
    }

    fn name(&mut self, name: &'a str) -> u32 {
        let names = &mut self.dag.names;
        *self.names.entry(name).or_insert_with(|| {
            names.push(name.to_owned());
            (names.len() - 1) as u32
        })
    }

    /// The operations of a node by itself. What a collective does between its two comes later.
    fn node(&mut self, rank: u32, node: &'a Node) -> Ends {
        let resource = self.resource(node);
        match node.kind {
            NodeKind::Send => {
                let bytes = u64::try_from(node.more().bytes.unwrap_or(0)).unwrap_or(0);
                let activity = self.activity(rank, ActivityKind::PointToPoint, &node.name, bytes);
                // Its other end is known later.
                let op = self.op(Work::Join, activity, resource, resource);
                Ends { first: op, last: op }
            }
            NodeKind::Receive => {
                let bytes = u64::try_from(node.more().bytes.unwrap_or(0)).unwrap_or(0);
                let activity = self.activity(rank, ActivityKind::PointToPoint, &node.name, bytes);
                self.two(activity, resource)
            }
            // The activity is made with the collective.
            NodeKind::Collective => self.two(u32::MAX, resource),
            NodeKind::Compute | NodeKind::Unknown(_) => {
                // What is not known has no operations to count.
                let roofline = self.options.roofline.filter(|_| node.kind == NodeKind::Compute);
                let activity = self.activity(rank, ActivityKind::Compute, &node.name, 0);
                let op = self.op(Work::Compute(duration(node, roofline)), activity, resource, resource);
                Ends { first: op, last: op }
            }
            _ => {
                let activity = self.activity(rank, ActivityKind::Compute, &node.name, 0);
                let op = self.op(Work::Join, activity, None, None);
                Ends { first: op, last: op }
            }
        }
    }

    /// Takes a resource, and frees it when all in between has ended.
    fn two(&mut self, activity: u32, resource: Option<Resource>) -> Ends {
        let first = self.op(Work::Join, activity, resource, None);
        let last = self.op(Work::Join, activity, None, resource);
        self.dag.needs.push((first, last));
        Ends { first, last }
    }

    fn needs_of(&mut self, trace: &Trace) {
        let ends = &self.ends[trace.rank as usize];
        let mut needed: Vec<OpId> = Vec::new();
        for (node, Ends { first, .. }) in trace.nodes.iter().zip(ends) {
            needed.clear();
            needed.extend(deps(node, self.options.deps).filter_map(|id| place_of(trace, id)).map(|at| ends[at].last));
            // Both lists may name the same.
            needed.sort_unstable();
            needed.dedup();
            self.dag.needs.extend(needed.iter().map(|before| (*before, *first)));
        }
    }

    fn ends_of(&self, (rank, node): (u32, u32)) -> Ends {
        self.ends[rank as usize][node as usize]
    }

    fn group(&mut self) -> u32 {
        self.groups += 1;
        self.groups - 1
    }

    fn pass(&mut self, passage: &MatchedMessage) {
        let (sends, receives) = (self.ends_of(passage.send), self.ends_of(passage.receive));
        let (from, to) = (passage.send.0, passage.receive.0);
        let lane = direct(self.options.servers, from, to);
        self.dag.ops[sends.first as usize].work = Work::Send { to, bytes: passage.bytes, lane };
        self.dag.needs.push((sends.last, receives.last));
        let group = self.group();
        for op in [sends.first, receives.first] {
            let activity = self.dag.ops[op as usize].activity;
            self.dag.activities[activity as usize].group = group;
        }
    }

    fn meet(&mut self, meeting: &MatchedCollective, findings: &mut Findings) -> Result<(), TraceError> {
        let traces = self.traces;
        let first = &traces[meeting.members[0] as usize].nodes[meeting.nodes[0] as usize];
        let group = self.group();
        // An activity has to be called something.
        let name = if first.name.is_empty() { meeting.what.word() } else { &first.name };
        if meeting.members.len() == 1 {
            findings.note(NoteKind::Alone);
            let activity =
                self.activity(meeting.members[0], ActivityKind::Collective(meeting.what), name, meeting.bytes);
            self.dag.activities[activity as usize].group = group;
            self.adopt(meeting.members[0], meeting.nodes[0], activity);
            return Ok(());
        }
        let name = self.name(name);
        let MatchedCollective { what, bytes, members, root, .. } = meeting;
        let too_many = |rank: u32| {
            let what = format!("with this collective the job has more than {MOST_OPS} operations");
            first.error(Fault::Unsupported, rank, what).help("larger chunks and slices need fewer")
        };
        if self.dag.ops.len() as u64 + least_ops(meeting, self.options.of(*what)) > MOST_OPS as u64 {
            return Err(too_many(members[0]));
        }
        let options = collective::Options { root: *root, ..self.options.of(*what).clone() };
        let generated =
            generate(&mut self.dag, *what, members, *bytes, self.options.servers, &options, Form::Listed, name, group);
        let generated = generated.map_err(|why| first.error(Fault::Unsupported, meeting.members[0], why))?;
        for ((member, node), inner) in meeting.members.iter().zip(&meeting.nodes).zip(&generated) {
            let Ends { first, last } = self.ends_of((*member, *node));
            self.dag.needs.extend([(first, inner.begin), (inner.end, last)]);
            self.adopt(*member, *node, self.dag.ops[inner.begin as usize].activity);
        }
        if self.dag.ops.len() > MOST_OPS {
            return Err(too_many(members[0]));
        }
        Ok(())
    }

    /// A rank's part begins when it is issued.
    fn adopt(&mut self, rank: u32, node: u32, activity: u32) {
        let Ends { first, last } = self.ends_of((rank, node));
        for op in [first, last] {
            self.dag.ops[op as usize].activity = activity;
        }
    }
}

/// No algorithm needs much fewer, so that what would not fit into memory is not begun.
fn least_ops(meeting: &MatchedCollective, options: &collective::Options) -> u64 {
    let largest_message = [options.slice_bytes, options.chunk_bytes, 1 << 20].into_iter().find(|bytes| *bytes > 0);
    let messages = meeting.bytes / largest_message.unwrap_or(1);
    messages.saturating_mul(meeting.members.len() as u64 - 1)
}

/// Out by the first NIC of the sender, in by the first of the receiver.
fn direct(servers: Servers, from: u32, to: u32) -> Lane {
    let (out, into) = (servers.nics_of(from).start, servers.nics_of(to).start);
    let via = match (servers.of(from) == servers.of(to), out == into) {
        (true, _) => Via::ScaleUp,
        (false, true) => Via::Nic(out),
        (false, false) => Via::Cross(out, into),
    };
    Lane { via, channel: 0, queue_pair: 0 }
}

/// What a receiver does with a message comes so much later than the message.
pub(super) fn delay_receipts(dag: &mut Dag, delay: Span) {
    if delay == Span::ZERO {
        return;
    }
    let receiver = |dag: &Dag, op: OpId| match dag.ops[op as usize].work {
        Work::Send { to, .. } => Some(to),
        _ => None,
    };
    let rank = |dag: &Dag, op: OpId| dag.activities[dag.ops[op as usize].activity as usize].rank;
    let mut waits: HashMap<OpId, OpId> = HashMap::new();
    for at in 0..dag.needs.len() {
        let (before, after) = dag.needs[at];
        // A sender that waits for the way to be free does not handle the message.
        if receiver(dag, before) != Some(rank(dag, after)) {
            continue;
        }
        let wait = *waits.entry(before).or_insert_with(|| {
            let activity = dag.ops[after as usize].activity;
            dag.ops.push(Op { work: Work::Compute(delay), activity, takes: None, frees: None });
            dag.needs.push((before, (dag.ops.len() - 1) as OpId));
            (dag.ops.len() - 1) as OpId
        });
        dag.needs[at].0 = wait;
    }
}
