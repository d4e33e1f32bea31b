//! What a job does once: operations of ranks, and which of them need others to be over.

use crate::collective::RingProgram;
use crate::macro_flow::MacroFlow;
pub use crate::terms::{Collective, Lane, OpId, Pair, Via};
use std::collections::HashMap;
use std::fmt;
use xoff_engine::Span;

/// A rank's resource that one activity holds at a time, such as its compute or its communication stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Resource(pub u16);

/// Operations and their order. Operations that need each other in a circle never start: generators make none.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Dag {
    /// Ranks are numbered from zero.
    pub ranks: u32,
    /// What is reported: each operation belongs to one.
    pub activities: Vec<Activity>,
    /// Operations, by [`OpId`].
    pub ops: Vec<Op>,
    /// `(before, after)`: the second starts when the first has ended.
    pub needs: Vec<(OpId, OpId)>,
    /// What people call activities: [`Activity::name`] counts in it.
    pub names: Vec<String>,
    /// Collectives whose messages are not among the operations, in their order.
    pub(crate) programs: Vec<Placed>,
    /// Macro-flows: [`Work::Macro`] counts in them.
    pub macro_flows: Vec<MacroFlow>,
}

/// A collective that makes its messages when they are due.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Placed {
    /// Its messages come before this operation and after those before it.
    pub(crate) at: OpId,
    pub(crate) program: RingProgram,
}

/// Computing, or a rank's part in a collective: it begins with the first of its operations and ends with the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Activity {
    pub rank: u32,
    pub kind: ActivityKind,
    /// Index into [`Dag::names`].
    pub name: u32,
    /// Number that all ranks of one collective share, or the two ends of a message.
    pub group: u32,
    /// Size as nccl-tests defines it; zero for computing.
    pub bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ActivityKind {
    Compute,
    Collective(Collective),
    PointToPoint,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// What is done. It belongs to [`Activity::rank`]; a message is its sender's.
    pub work: Work,
    /// Index into [`Dag::activities`].
    pub activity: u32,
    /// Held from here on; the operation waits for it.
    pub takes: Option<Resource>,
    /// Free again when this ends.
    pub frees: Option<Resource>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Nothing: joins others, or takes and frees a resource.
    Join,
    Compute(Span),
    /// A message to another rank; over when it has arrived.
    Send {
        /// Another rank.
        to: u32,
        /// At least one.
        bytes: u64,
        lane: Lane,
    },
    /// All messages of a macro-flow, by its number; over when the last has arrived.
    Macro(u32),
}

impl Dag {
    /// For ranks `0..ranks`, with nothing to do yet.
    pub fn new(ranks: u32) -> Dag {
        Dag { ranks, ..Dag::default() }
    }

    pub fn name(&mut self, name: impl Into<String>) -> u32 {
        self.names.push(name.into());
        place(self.names.len())
    }

    /// Another activity; operations name it by the number returned.
    pub fn activity(&mut self, activity: Activity) -> u32 {
        self.activities.push(activity);
        place(self.activities.len())
    }

    /// Another operation, which holds no resource.
    pub fn op(&mut self, activity: u32, work: Work) -> OpId {
        self.ops.push(Op { work, activity, takes: None, frees: None });
        place(self.ops.len())
    }

    /// `after` starts when `before` has ended.
    pub fn need(&mut self, before: OpId, after: OpId) {
        self.needs.push((before, after));
    }

    pub fn rank(&self, op: OpId) -> u32 {
        self.activities[self.ops[op as usize].activity as usize].rank
    }

    /// An operation in words, for messages.
    fn words(&self, op: OpId) -> String {
        let activity = &self.activities[self.ops[op as usize].activity as usize];
        let name = self.names.get(activity.name as usize).map_or("", String::as_str);
        format!("{} `{name}` of rank {}", activity.kind, activity.rank)
    }

    /// Whether it can be run: numbers count in their tables, messages go to others, what is taken is freed, and no
    /// operations need each other in a circle. What is wrong is said in one sentence.
    pub fn check(&self) -> Result<(), String> {
        self.check_numbers()?;
        self.check_resources()?;
        self.check_circles()
    }

    fn check_numbers(&self) -> Result<(), String> {
        for activity in &self.activities {
            if activity.rank >= self.ranks {
                return Err(format!("an activity is of rank {}, but there are {} ranks", activity.rank, self.ranks));
            }
            if activity.name as usize >= self.names.len() {
                return Err(format!("an activity of rank {} has a name that does not exist", activity.rank));
            }
        }
        if let Some(op) = self.ops.iter().position(|op| op.activity as usize >= self.activities.len()) {
            return Err(format!("operation {op} belongs to an activity that does not exist"));
        }
        for (op, Op { work, .. }) in self.ops.iter().enumerate() {
            let Work::Send { to, bytes, .. } = *work else { continue };
            let wrong = if to >= self.ranks {
                format!("a message to rank {to}, but there are {} ranks", self.ranks)
            } else if to == self.rank(op as OpId) {
                "a message to itself".to_owned()
            } else if bytes == 0 {
                format!("a message of no bytes to rank {to}; the shortest has one")
            } else {
                continue;
            };
            return Err(format!("{}: {wrong}", self.words(op as OpId)));
        }
        let last = self.ops.len();
        match self.needs.iter().find(|(before, after)| *before as usize >= last || *after as usize >= last) {
            Some((before, after)) => Err(format!("operation {after} needs {before}, but there are {last} operations")),
            None => Ok(()),
        }
    }

    /// A resource that stays held would stop the next iteration; one that is not held cannot be freed.
    fn check_resources(&self) -> Result<(), String> {
        let mut held: Vec<(u32, Resource, bool, OpId)> = Vec::new();
        for (op, Op { takes, frees, .. }) in self.ops.iter().enumerate() {
            let rank = self.rank(op as OpId);
            held.extend(takes.map(|resource| (rank, resource, true, op as OpId)));
            held.extend(frees.map(|resource| (rank, resource, false, op as OpId)));
        }
        held.sort_unstable();
        for same in held.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (rank, resource, _, op) = same[0];
            let taken = same.iter().filter(|(_, _, takes, _)| *takes).count();
            if 2 * taken != same.len() {
                let freed = same.len() - taken;
                return Err(format!(
                    "resource {} of rank {rank} is taken {taken} times and freed {freed} times, as by {}",
                    resource.0,
                    self.words(op)
                ));
            }
        }
        Ok(())
    }

    fn check_circles(&self) -> Result<(), String> {
        let (first, after) = successors(self.ops.len(), &self.needs);
        let mut waits = vec![0_u32; self.ops.len()];
        for &(_, op) in &self.needs {
            waits[op as usize] += 1;
        }
        // What ends a part of a program needs all that begins one: a message has passed all members in between.
        let mut to_begin: Vec<usize> = self.programs.iter().map(|placed| placed.program.members().len()).collect();
        let mut begins = HashMap::new();
        for (program, placed) in self.programs.iter().enumerate() {
            for member in placed.program.members() {
                begins.insert(member.begin, program);
                waits[member.end as usize] += 1;
            }
        }
        let mut open: Vec<OpId> = (0..self.ops.len() as OpId).filter(|op| waits[*op as usize] == 0).collect();
        let mut over = 0;
        while let Some(op) = open.pop() {
            over += 1;
            if let Some(program) = begins.get(&op) {
                to_begin[*program] -= 1;
                if to_begin[*program] == 0 {
                    for member in self.programs[*program].program.members() {
                        waits[member.end as usize] -= 1;
                        open.extend((waits[member.end as usize] == 0).then_some(member.end));
                    }
                }
            }
            for &next in &after[first[op as usize] as usize..first[op as usize + 1] as usize] {
                waits[next as usize] -= 1;
                if waits[next as usize] == 0 {
                    open.push(next);
                }
            }
        }
        if over == self.ops.len() { Ok(()) } else { Err(self.circle(&waits)) }
    }

    /// Each operation that still waits has one before it that does, too: going back from any, one comes round.
    fn circle(&self, waits: &[u32]) -> String {
        let mut before: Vec<Option<OpId>> = vec![None; self.ops.len()];
        for placed in &self.programs {
            let members = placed.program.members();
            let begin = members.iter().map(|member| member.begin).find(|begin| waits[*begin as usize] > 0);
            members.iter().for_each(|member| before[member.end as usize] = begin);
        }
        for &(op, after) in self.needs.iter().filter(|(op, _)| waits[*op as usize] > 0) {
            before[after as usize] = Some(op);
        }
        let mut seen = vec![false; self.ops.len()];
        let mut at = before.iter().position(Option::is_some).unwrap_or_default();
        while !seen[at] {
            seen[at] = true;
            at = before[at].map_or(at, |op| op as usize);
        }
        let (start, mut round) = (at, vec![self.words(at as OpId)]);
        loop {
            at = before[at].map_or(start, |op| op as usize);
            round.push(self.words(at as OpId));
            if at == start || round.len() > 8 {
                break;
            }
        }
        let dots = if at == start { "" } else { ", and so on" };
        format!("operations need each other in a circle: {}{dots}", round.join(" needs "))
    }
}

/// The number of the last of so many.
fn place(len: usize) -> u32 {
    u32::try_from(len - 1).expect("a graph has at most 2^32 operations, activities and names")
}

/// For each operation those that need it: `after[first[op]..first[op + 1]]`, in the order of `needs`.
pub(crate) fn successors(ops: usize, needs: &[(OpId, OpId)]) -> (Vec<u32>, Vec<OpId>) {
    let mut first = vec![0_u32; ops + 1];
    for (before, _) in needs {
        first[*before as usize] += 1;
    }
    // From counts to where each list ends; filling from the back moves the ends to the starts.
    let mut sum = 0;
    for count in &mut first {
        sum += *count;
        *count = sum;
    }
    let mut after = vec![0; needs.len()];
    for &(before, op) in needs.iter().rev() {
        first[before as usize] -= 1;
        after[first[before as usize] as usize] = op;
    }
    (first, after)
}

impl ActivityKind {
    /// Its name in tables.
    pub fn word(self) -> &'static str {
        match self {
            ActivityKind::Compute => "compute",
            ActivityKind::Collective(collective) => collective.word(),
            ActivityKind::PointToPoint => "point-to-point",
        }
    }
}

impl fmt::Display for ActivityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
