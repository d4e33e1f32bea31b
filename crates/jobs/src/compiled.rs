//! A graph made ready to run many times: small operations, and for each those that need it.

use crate::dag::{Activity, Dag, Lane, Op, OpId, Resource, Work, successors};
use std::collections::HashMap;
use xoff_engine::Span;

/// A graph as it is run: 24 bytes an operation, 8 more for its place among the others, 4 for each need.
#[derive(Clone, PartialEq, Debug)]
pub struct Compiled {
    ranks: u32,
    activities: Vec<Activity>,
    names: Vec<String>,
    steps: Vec<Step>,
    lanes: Vec<Lane>,
    /// Those that need `op` are `after[first[op]..first[op + 1]]`.
    first: Vec<u32>,
    after: Vec<OpId>,
    /// How many each needs.
    needs: Vec<u32>,
    /// Those that need none, by rank: `roots[first_root[rank]..first_root[rank + 1]]`.
    first_root: Vec<u32>,
    roots: Vec<OpId>,
    /// Own operations and messages to it, by rank.
    shares: Vec<u32>,
    /// Operations by activity.
    parts: Vec<u32>,
    /// Different resources that ranks have.
    resources: u16,
}

/// An operation, small: graphs have millions.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Step {
    /// Picoseconds, or bytes.
    amount: u64,
    activity: u32,
    to: u32,
    /// Index into the lanes, or what is no message.
    lane: u32,
    takes: u16,
    frees: u16,
}

const JOIN: u32 = u32::MAX;
const COMPUTE: u32 = u32::MAX - 1;
const NONE: u16 = u16::MAX;

const _: () = assert!(size_of::<Step>() == 24);

impl Dag {
    /// Made ready to run. It must be sound ([`Dag::check`]): one that is not may never end.
    pub fn compile(self) -> Compiled {
        let Dag { ranks, activities, ops, needs: edges, names } = self;
        let mut needs = vec![0_u32; ops.len()];
        for &(_, op) in &edges {
            needs[op as usize] += 1;
        }
        let (first, after) = successors(ops.len(), &edges);
        drop(edges);
        let rank_of = |op: &Op| activities[op.activity as usize].rank as usize;
        let (mut shares, mut parts) = (vec![0; ranks as usize], vec![0; activities.len()]);
        let mut first_root = vec![0_u32; ranks as usize + 1];
        for (op, needs) in ops.iter().zip(&needs) {
            shares[rank_of(op)] += 1;
            parts[op.activity as usize] += 1;
            first_root[rank_of(op)] += u32::from(*needs == 0);
            if let Work::Send { to, .. } = op.work {
                shares[to as usize] += 1;
            }
        }
        let mut sum = 0;
        for count in &mut first_root {
            sum += *count;
            *count = sum;
        }
        let mut roots = vec![0; sum as usize];
        for (id, op) in ops.iter().enumerate().rev().filter(|(id, _)| needs[*id] == 0) {
            first_root[rank_of(op)] -= 1;
            roots[first_root[rank_of(op)] as usize] = id as OpId;
        }
        let mut steps = Steps::default();
        let steps_of = ops.iter().map(|op| steps.step(op)).collect();
        Compiled {
            ranks,
            activities,
            names,
            steps: steps_of,
            resources: steps.resources.len() as u16,
            lanes: steps.lanes,
            first,
            after,
            needs,
            first_root,
            roots,
            shares,
            parts,
        }
    }
}

/// Bytes of memory that it takes to make a graph of so many operations and needs ready to run: its operations stay until
/// all steps are there, its needs until each has its place.
pub(crate) fn memory_to_compile(ops: u64, needs: u64) -> u64 {
    let (op, step, id) = (size_of::<Op>() as u64, size_of::<Step>() as u64, size_of::<OpId>() as u64);
    let listed = ops.saturating_mul(op + 2 * id).saturating_add(needs.saturating_mul(3 * id));
    let stepped = ops.saturating_mul(op + step + 2 * id).saturating_add(needs.saturating_mul(id));
    listed.max(stepped)
}

/// Lanes and resources by small numbers, in the order in which they come.
#[derive(Default)]
struct Steps {
    lanes: Vec<Lane>,
    lane_of: HashMap<Lane, u32>,
    resources: HashMap<Resource, u16>,
}

impl Steps {
    fn step(&mut self, op: &Op) -> Step {
        let (amount, to, lane) = match op.work {
            Work::Join => (0, 0, JOIN),
            Work::Compute(span) => (span.ps(), 0, COMPUTE),
            Work::Send { to, bytes, lane } => (bytes, to, self.lane(lane)),
        };
        let (takes, frees) = (self.resource(op.takes), self.resource(op.frees));
        Step { amount, activity: op.activity, to, lane, takes, frees }
    }

    fn lane(&mut self, lane: Lane) -> u32 {
        *self.lane_of.entry(lane).or_insert_with(|| {
            self.lanes.push(lane);
            self.lanes.len() as u32 - 1
        })
    }

    fn resource(&mut self, resource: Option<Resource>) -> u16 {
        let next = self.resources.len() as u16;
        resource.map_or(NONE, |resource| *self.resources.entry(resource).or_insert(next))
    }
}

impl Compiled {
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    pub fn activities(&self) -> &[Activity] {
        &self.activities
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn name_of(&self, activity: &Activity) -> &str {
        self.names.get(activity.name as usize).map_or("", String::as_str)
    }

    pub fn ops(&self) -> u32 {
        self.steps.len() as u32
    }

    pub fn work(&self, op: OpId) -> Work {
        let step = &self.steps[op as usize];
        match step.lane {
            JOIN => Work::Join,
            COMPUTE => Work::Compute(Span::from_ps(step.amount)),
            lane => Work::Send { to: step.to, bytes: step.amount, lane: self.lanes[lane as usize] },
        }
    }

    pub fn activity_of(&self, op: OpId) -> u32 {
        self.steps[op as usize].activity
    }

    pub fn rank_of(&self, op: OpId) -> u32 {
        self.activities[self.activity_of(op) as usize].rank
    }

    /// Those that need it.
    pub fn after(&self, op: OpId) -> &[OpId] {
        &self.after[self.first[op as usize] as usize..self.first[op as usize + 1] as usize]
    }

    pub fn needs(&self, op: OpId) -> u32 {
        self.needs[op as usize]
    }

    /// Lanes that its messages take, each once.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// Bytes that graph, needs and one iteration's counters take in memory.
    pub fn memory_bytes(&self) -> usize {
        self.steps.len() * (size_of::<Step>() + 3 * size_of::<u32>())
            + self.after.len() * size_of::<OpId>()
            + self.activities.len() * (size_of::<Activity>() + 16)
    }

    pub(crate) fn all_needs(&self) -> &[u32] {
        &self.needs
    }

    pub(crate) fn roots(&self, rank: u32) -> &[OpId] {
        &self.roots[self.first_root[rank as usize] as usize..self.first_root[rank as usize + 1] as usize]
    }

    pub(crate) fn shares(&self) -> &[u32] {
        &self.shares
    }

    pub(crate) fn parts(&self) -> &[u32] {
        &self.parts
    }

    /// Places for what ranks may hold: [`Compiled::takes`] and [`Compiled::frees`] count in them.
    pub(crate) fn holds(&self) -> usize {
        self.ranks as usize * usize::from(self.resources)
    }

    pub(crate) fn takes(&self, op: OpId) -> Option<u32> {
        self.hold(op, self.steps[op as usize].takes)
    }

    pub(crate) fn frees(&self, op: OpId) -> Option<u32> {
        self.hold(op, self.steps[op as usize].frees)
    }

    fn hold(&self, op: OpId, resource: u16) -> Option<u32> {
        (resource != NONE).then(|| self.rank_of(op) * u32::from(self.resources) + u32::from(resource))
    }
}
