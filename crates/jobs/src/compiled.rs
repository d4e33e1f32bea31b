//! A graph made ready to run many times: small operations, and for each those that need it.

use crate::collective::RingProgram;
use crate::dag::{Activity, Dag, Op, OpId, Placed, Resource, Work, successors};
use crate::macro_flow::MacroFlow;
pub use crate::terms::Pair;
use std::collections::HashMap;
use xoff_engine::Span;

/// A graph as it is run: 24 bytes an operation, 8 more for its place among the others, 4 for each need.
#[derive(Clone, PartialEq, Debug)]
pub struct Compiled {
    ranks: u32,
    activities: Vec<Activity>,
    names: Vec<String>,
    steps: Vec<Step>,
    /// Two ranks and a lane between them, each once: operations and messages have numbers of these.
    pairs: Vec<Pair>,
    programs: Vec<Program>,
    /// Each has a pair of its own, from `first_macro_pair` on.
    macro_flows: Vec<MacroFlow>,
    first_macro_pair: u32,
    /// Those that need `op` are `after[first[op]..first[op + 1]]`.
    first: Vec<u32>,
    after: Vec<OpId>,
    /// How many each needs.
    needs: Vec<u32>,
    /// Those that need none, by rank: `roots[first_root[rank]..first_root[rank + 1]]`.
    first_root: Vec<u32>,
    roots: Vec<OpId>,
    /// Own operations, own messages of programs and all messages to it, by rank.
    shares: Vec<u32>,
    /// Operations by activity, and messages of programs.
    parts: Vec<u32>,
    /// Operations and messages of programs.
    items: u64,
    /// Different resources that ranks have.
    resources: u16,
}

/// A collective that makes its messages when they are due.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Program {
    pub(crate) ring: RingProgram,
    /// Numbers of the pairs, by connection and queue pair.
    pairs: Vec<u32>,
    /// Its messages come before this operation and after those before it.
    at: OpId,
    /// Numbers that its messages, and those of the programs before it, have in the order of all.
    orders: u64,
}

/// An operation, small: graphs have millions.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Step {
    /// Picoseconds, or bytes; the number of the program that it begins, from one on.
    amount: u64,
    activity: u32,
    /// The member whose part of a program begins here.
    member: u32,
    /// Index into the pairs, or what is no message.
    pair: u32,
    takes: u16,
    frees: u16,
}

const JOIN: u32 = u32::MAX;
const COMPUTE: u32 = u32::MAX - 1;
/// A macro-flow, until it has its pair.
const MACRO: u32 = u32::MAX - 2;
const NONE: u16 = u16::MAX;

const _: () = assert!(size_of::<Step>() == 24);

impl Dag {
    /// Made ready to run. It must be sound ([`Dag::check`]): one that is not may never end.
    pub fn compile(self) -> Compiled {
        let Dag { ranks, activities, ops, needs: edges, names, programs, macro_flows } = self;
        let mut needs = vec![0_u32; ops.len()];
        for &(_, op) in &edges {
            needs[op as usize] += 1;
        }
        let (first, after) = successors(ops.len(), &edges);
        drop(edges);
        // Before the roots are counted: what ends a member's part is none.
        for Placed { program, .. } in &programs {
            for (member, at) in program.members().iter().zip(0..) {
                needs[member.end as usize] += program.waits(at);
            }
        }
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
        let mut steps_of: Vec<Step> = ops.iter().map(|op| steps.step(op, rank_of(op) as u32)).collect();
        let (mut items, mut orders) = (ops.len() as u64, 0);
        let mut programs_of = Vec::with_capacity(programs.len());
        for (Placed { at, program: ring }, number) in programs.into_iter().zip(1..) {
            for (member, place) in ring.members().iter().zip(0..) {
                let begin = &mut steps_of[member.begin as usize];
                debug_assert!(begin.pair == JOIN && begin.amount == 0, "begins one program");
                (begin.amount, begin.member) = (number, place);
            }
            let mut pairs = Vec::with_capacity((ring.connections() * ring.queue_pairs()) as usize);
            for connection in 0..ring.connections() {
                let (from, to, messages) = (ring.from(connection), ring.to(connection), ring.messages(connection));
                items += messages;
                // As many as were counted before the graph was made.
                parts[from.activity as usize] += messages as u32;
                shares[from.rank as usize] += messages as u32;
                shares[to.rank as usize] += messages as u32;
                pairs.extend((0..ring.queue_pairs()).map(|number| {
                    steps.pair(Pair { from: from.rank, to: to.rank, lane: ring.lane(connection, number) })
                }));
            }
            orders += ring.orders();
            programs_of.push(Program { ring, pairs, at, orders });
        }
        let first_macro_pair = steps.add_macro_flows(&mut steps_of, &macro_flows);
        Compiled {
            macro_flows,
            first_macro_pair,
            ranks,
            activities,
            names,
            steps: steps_of,
            resources: steps.resources.len() as u16,
            pairs: steps.pairs,
            programs: programs_of,
            items,
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

/// Bytes of memory that tables of so many pairs of ranks take meanwhile: a hash table has up to twice the room.
pub(crate) fn memory_of_pairs(pairs: u64) -> u64 {
    let (pair, number) = (size_of::<Pair>() as u64, size_of::<u32>() as u64);
    pairs.saturating_mul(pair + 2 * (pair + number))
}

/// Pairs and resources by small numbers, in the order in which they come.
#[derive(Default)]
struct Steps {
    pairs: Vec<Pair>,
    pair_of: HashMap<Pair, u32>,
    resources: HashMap<Resource, u16>,
}

impl Steps {
    fn step(&mut self, op: &Op, from: u32) -> Step {
        let (amount, pair) = match op.work {
            Work::Join => (0, JOIN),
            Work::Compute(span) => (span.ps(), COMPUTE),
            Work::Macro(number) => (u64::from(number), MACRO),
            Work::Send { to, bytes, lane } => (bytes, self.pair(Pair { from, to, lane })),
        };
        let (takes, frees) = (self.resource(op.takes), self.resource(op.frees));
        Step { amount, activity: op.activity, member: 0, pair, takes, frees }
    }

    /// Pairs of the macro-flows, behind those of messages: their first connections. Returns the number of the first.
    fn add_macro_flows(&mut self, steps: &mut [Step], flows: &[MacroFlow]) -> u32 {
        let first = self.pairs.len() as u32;
        self.pairs.extend(flows.iter().map(|flow| flow.edges[0].pair));
        for step in steps.iter_mut().filter(|step| step.pair == MACRO) {
            let number = step.amount as u32;
            (step.pair, step.amount) = (first + number, flows[number as usize].bytes());
        }
        first
    }

    fn pair(&mut self, pair: Pair) -> u32 {
        *self.pair_of.entry(pair).or_insert_with(|| {
            self.pairs.push(pair);
            self.pairs.len() as u32 - 1
        })
    }

    fn resource(&mut self, resource: Option<Resource>) -> u16 {
        let next = self.resources.len() as u16;
        resource.map_or(NONE, |resource| *self.resources.entry(resource).or_insert(next))
    }
}

impl Program {
    /// The pair of a message.
    pub(crate) fn pair(&self, connection: u32, number: u32) -> u32 {
        let ways = self.ring.queue_pairs();
        self.pairs[(connection * ways + number % ways) as usize]
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

    /// Operations; messages of programs are none.
    pub fn ops(&self) -> u32 {
        self.steps.len() as u32
    }

    pub fn work(&self, op: OpId) -> Work {
        let step = &self.steps[op as usize];
        match step.pair {
            JOIN => Work::Join,
            COMPUTE => Work::Compute(Span::from_ps(step.amount)),
            pair if pair >= self.first_macro_pair => Work::Macro(pair - self.first_macro_pair),
            pair => {
                let Pair { to, lane, .. } = self.pairs[pair as usize];
                Work::Send { to, bytes: step.amount, lane }
            }
        }
    }

    /// What an operation sends.
    pub(crate) fn bytes_of(&self, op: OpId) -> u64 {
        self.steps[op as usize].amount
    }

    /// The macro-flow that has a pair for its own.
    pub fn macro_flow(&self, pair: u32) -> Option<&MacroFlow> {
        self.macro_flows.get(pair.checked_sub(self.first_macro_pair)? as usize)
    }

    /// The pair of an operation that sends.
    pub(crate) fn pair_of(&self, op: OpId) -> u32 {
        self.steps[op as usize].pair
    }

    /// Pairs of ranks that exchange messages, each once for each lane.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The program that an operation begins for a member, and the member.
    pub(crate) fn entered_by(&self, op: OpId) -> Option<(u32, u32)> {
        let step = &self.steps[op as usize];
        (step.pair == JOIN && step.amount > 0).then(|| (step.amount as u32 - 1, step.member))
    }

    pub(crate) fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// Operations, and messages of programs.
    pub(crate) fn items(&self) -> u64 {
        self.items
    }

    /// An operation's place in the order of all operations and messages of programs.
    pub(crate) fn order_of(&self, op: OpId) -> u64 {
        let before = self.programs.partition_point(|program| program.at <= op);
        u64::from(op) + before.checked_sub(1).map_or(0, |last| self.programs[last].orders)
    }

    /// The place there of a message of a program.
    pub(crate) fn order_in(&self, program: u32, order: u64) -> u64 {
        let program = &self.programs[program as usize];
        u64::from(program.at) + program.orders - program.ring.orders() + order
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
