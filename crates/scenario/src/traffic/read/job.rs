//! Jobs: collectives, pipelines, and steps of both in any order.

use super::settings::Settings;
use super::{ReadGenerator, Scope, seats};
use crate::Table;
use crate::reader::{Result, Text};
use crate::traffic::job::seats::Seats;
use crate::traffic::job::{Completion, Connections, JobPlan};
use crate::traffic::plan::{Expected, Generator};
use std::collections::HashMap;
use std::sync::Arc;
use xoff_engine::Span;
use xoff_jobs::collective::{Algorithm, Ends, Options, PipelineOrder, Schedule, Servers, Skew, lay};
use xoff_jobs::{Activity, ActivityKind, Collective, Dag, Work};

/// No buffer of a GPU is larger.
const LARGEST_BUFFER: u64 = 1 << 40;
/// The most operations of one iteration: some gigabytes of memory.
const MOST_OPS: usize = 1 << 26;

/// What a step of `kind = "job"` may do; the same words are kinds of their own.
const COLLECTIVES: &[(&str, Collective)] = &[
    ("all-reduce", Collective::AllReduce),
    ("reduce-scatter", Collective::ReduceScatter),
    ("all-gather", Collective::AllGather),
    ("all-to-all", Collective::AllToAll),
    ("broadcast", Collective::Broadcast),
    ("reduce", Collective::Reduce),
    ("barrier", Collective::Barrier),
];

/// In how many ways there are to do some of them.
pub const ALGORITHMS: &[(&str, Algorithm)] = &[
    ("ring", Algorithm::Ring),
    ("tree", Algorithm::Tree),
    ("halving-doubling", Algorithm::HalvingDoubling),
    ("hierarchical", Algorithm::Hierarchical),
];

/// A graph in the making.
struct Draft<'a> {
    scope: &'a Scope<'a>,
    dag: Dag,
    seats: &'a Seats,
    servers: Servers,
    groups: u32,
}

/// One collective in each iteration, after some computing.
pub fn collective(
    table: &mut Table,
    scope: &Scope<'_>,
    settings: &Settings,
    kind: &'static str,
) -> Result<ReadGenerator> {
    let (seats, servers) = seats::read(table, scope)?;
    let mut draft = Draft::new(scope, &seats, servers);
    let compute = table.span_or("compute", Span::ZERO)?;
    let before = (compute > Span::ZERO).then(|| draft.compute("compute", compute));
    let parts = draft.collective(table, what(kind), kind)?;
    if let Some(before) = before {
        draft.chain(&before, &parts);
    }
    let dag = draft.dag;
    finish(table, settings, seats, dag)
}

fn what(kind: &str) -> Collective {
    COLLECTIVES.iter().find(|(name, _)| *name == kind).map_or(Collective::AllReduce, |(_, what)| *what)
}

/// `kind = "job"`: steps, each of which may come after any before it.
pub fn steps(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let (seats, servers) = seats::read(table, scope)?;
    let rows = table.tables("step")?;
    if rows.is_empty() {
        return Err(table.place().error("this job has no steps").label("add [[traffic.step]] with `do`"));
    }
    let mut draft = Draft::new(scope, &seats, servers);
    let mut named: HashMap<String, Vec<Ends>> = HashMap::new();
    let mut last: Option<Vec<Ends>> = None;
    for (number, mut row) in rows.into_iter().enumerate() {
        let step = row.text("do")?;
        let name = row.text_or("name", &format!("{}-{number}", step.value))?;
        crate::names::readable_name(&name)?;
        let parts = draft.step(&mut row, &step, &name.value)?;
        match row.take_texts("after")? {
            Some(earlier) => {
                for text in earlier {
                    let Some(before) = named.get(&text.value) else {
                        return Err(text
                            .error(format!("no step before this one is called `{}`", text.value))
                            .label("`after` names earlier steps"));
                    };
                    draft.chain(before, &parts);
                }
            }
            None => {
                if let Some(before) = &last {
                    draft.chain(before, &parts);
                }
            }
        }
        if named.insert(name.value.clone(), parts.clone()).is_some() {
            return Err(name.error(format!("two steps are called `{}`", name.value)));
        }
        last = Some(parts);
        row.finish()?;
    }
    let dag = draft.dag;
    finish(table, settings, seats, dag)
}

/// `kind = "pipeline"`: stages that pass micro-batches on and gradients back. A stage is a block of ranks that follow each
/// other; the first of each make up one pipeline, the second another, and so on.
pub fn pipeline(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let (seats, servers) = seats::read(table, scope)?;
    let ranks = seats.seats.len() as u64;
    let stages = table.count_or("stages", 2..=ranks, ranks)?;
    if !ranks.is_multiple_of(stages) {
        return Err(table.error("stages", format!("{ranks} ranks do not divide into {stages} stages")));
    }
    let orders = [("gpipe", PipelineOrder::GPipe), ("1f1b", PipelineOrder::OneForwardOneBackward)];
    let schedule = Schedule {
        order: table.choice_or("schedule", &orders, "1f1b")?,
        micro_batches: table.count("micro_batches", 1..=1_000_000)? as u32,
        forward: table.span("forward")?,
        backward: table.span("backward")?,
        bytes: table.bytes("activation", 1..=LARGEST_BUFFER)?,
    };
    let options = options(table, scope, Collective::Broadcast)?;
    let (mut dag, mut group) = (Dag::new(ranks as u32), 0);
    let width = (ranks / stages) as u32;
    for first in 0..width {
        let line: Vec<u32> = (0..stages as u32).map(|stage| stage * width + first).collect();
        xoff_jobs::collective::pipeline(&mut dag, &line, &schedule, servers, &options, &mut group)
            .map_err(|why| table.place().error(why))?;
        within_reason(table, &dag)?;
    }
    finish(table, settings, seats, dag)
}

/// Refuses graphs that would not fit.
fn within_reason(table: &Table, dag: &Dag) -> Result<()> {
    if dag.ops.len() <= MOST_OPS {
        return Ok(());
    }
    Err(table
        .place()
        .error(format!("this job would have more than {MOST_OPS} operations in one iteration"))
        .help("fewer `channels`, or larger chunks (`chunk`, `slice`)"))
}

impl<'a> Draft<'a> {
    fn new(scope: &'a Scope<'a>, seats: &'a Seats, servers: Servers) -> Draft<'a> {
        let dag = Dag::new(seats.seats.len() as u32);
        Draft { scope, dag, seats, servers, groups: 0 }
    }

    /// Every rank computes.
    fn compute(&mut self, name: &str, duration: Span) -> Vec<Ends> {
        let (name, group) = (self.dag.name(name), self.groups);
        self.groups += 1;
        let mut parts = Vec::with_capacity(self.dag.ranks as usize);
        for rank in 0..self.dag.ranks {
            let activity = self.dag.activity(Activity { rank, kind: ActivityKind::Compute, name, group, bytes: 0 });
            let op = self.dag.op(activity, Work::Compute(duration));
            parts.push(Ends { begin: op, end: op });
        }
        parts
    }

    fn step(&mut self, row: &mut Table, step: &Text, name: &str) -> Result<Vec<Ends>> {
        if step.value == "compute" {
            let duration = row.span("duration")?;
            return Ok(self.compute(name, duration));
        }
        let names = || std::iter::once("compute").chain(COLLECTIVES.iter().map(|(name, _)| *name));
        let place = crate::names::position("step", step, names())?;
        self.collective(row, COLLECTIVES[place - 1].1, name)
    }

    /// One collective, in every group of ranks at once; the ends of each rank's part.
    fn collective(&mut self, table: &mut Table, what: Collective, name: &str) -> Result<Vec<Ends>> {
        let bytes = match what {
            Collective::Barrier => 1,
            _ => table.bytes("bytes", 1..=LARGEST_BUFFER)?,
        };
        let groups = self.members(table)?;
        let options = options(table, self.scope, what)?;
        let name = self.dag.name(name);
        let mut parts = vec![Ends { begin: 0, end: 0 }; self.dag.ranks as usize];
        for members in groups {
            let group = self.groups;
            self.groups += 1;
            let ends = lay(&mut self.dag, what, &members, bytes, self.servers, &options, name, group)
                .map_err(|why| table.place().error(why))?;
            for (member, ends) in members.iter().zip(ends) {
                parts[*member as usize] = ends;
            }
            within_reason(table, &self.dag)?;
        }
        Ok(parts)
    }

    /// `group`: who takes part together.
    fn members(&self, table: &mut Table) -> Result<Vec<Vec<u32>>> {
        let by_key = |key: &dyn Fn(u32) -> u32| {
            let mut groups: std::collections::BTreeMap<u32, Vec<u32>> = Default::default();
            for rank in 0..self.dag.ranks {
                groups.entry(key(rank)).or_default().push(rank);
            }
            groups.into_values().collect::<Vec<_>>()
        };
        let gpus = self.servers.gpus;
        let groups = match table.choice_or("group", &[("all", 0), ("server", 1), ("rail", 2)], "all")? {
            0 => by_key(&|_| 0),
            1 => by_key(&|rank| self.seats.seats[rank as usize].server),
            _ => by_key(&|rank| rank % gpus),
        };
        if groups.iter().any(|members| members.len() < 2) {
            return Err(table.error("group", "a group would have one rank only").label("nobody to send to"));
        }
        Ok(groups)
    }

    /// On every rank, the second comes after the first.
    fn chain(&mut self, before: &[Ends], after: &[Ends]) {
        self.dag.needs.extend(before.iter().zip(after).map(|(before, after)| (before.end, after.begin)));
    }
}

/// How a collective is carried out; what is not said is as NCCL does it.
pub fn options(table: &mut Table, scope: &Scope<'_>, what: Collective) -> Result<Options> {
    let default = Options::default();
    let algorithm = match what {
        Collective::AllReduce | Collective::ReduceScatter | Collective::AllGather => {
            table.choice_or("algorithm", ALGORITHMS, "ring")?
        }
        _ => Algorithm::Auto,
    };
    let all_to_all = what == Collective::AllToAll;
    Ok(Options {
        algorithm,
        channels: table.take_count("channels", 1..=1024)?.map_or(default.channels, |count| count as u16),
        queue_pairs: table.count_or("queue_pairs", 1..=128, default.queue_pairs.into())? as u16,
        split: table.flag_or("split", default.split)?,
        chunk_bytes: table.take_bytes("chunk", 16..=LARGEST_BUFFER)?.unwrap_or(default.chunk_bytes),
        slice_bytes: table.take_bytes("slice", 16..=LARGEST_BUFFER)?.unwrap_or(default.slice_bytes),
        outstanding: table.take_count("outstanding", 0..=1_000_000)?.map_or(default.outstanding, |count| count as u32),
        pxn: if all_to_all { table.flag_or("pxn", default.pxn)? } else { default.pxn },
        peers: if all_to_all {
            table.count_or("peers", 0..=1_000_000, default.peers.into())? as u32
        } else {
            default.peers
        },
        skew: if all_to_all { skew(table, scope)? } else { Skew::None },
        root: default.root,
    })
}

/// `skew = 1.2`: what each rank is sent follows Zipf's law with this exponent; who is popular is drawn.
fn skew(table: &mut Table, scope: &Scope<'_>) -> Result<Skew> {
    let exponent = table.number_or("skew", 0.0..=10.0, 0.0)?;
    Ok(if exponent > 0.0 { Skew::Zipf { exponent, seed: scope.ctx.plan.seed } } else { Skew::None })
}

/// The keys that all jobs share.
pub fn finish(table: &mut Table, settings: &Settings, seats: Seats, dag: Dag) -> Result<ReadGenerator> {
    if let Some(path) = &settings.path {
        let _ = path;
        return Err(table.error("path", "the queue pairs of a job cannot be pinned to a path"));
    }
    let ranks = dag.ranks as usize;
    let (late, slow) = stragglers(table, ranks)?;
    let iterations = table.count_or("iterations", 1..=1_000_000_000, 1)? as u32;
    let connections = [("persistent", Connections::Persistent), ("fresh", Connections::Fresh)];
    let completion = [("delivered", Completion::Delivered), ("acknowledged", Completion::Acknowledged)];
    dag.check().map_err(|why| table.place().error(why))?;
    let sent: u64 = dag.ops.iter().map(|op| if let Work::Send { bytes, .. } = op.work { bytes } else { 0 }).sum();
    let dag = dag.compile();
    let bytes = Some(sent as f64 * f64::from(iterations));
    let expected = Expected { flows: None, bytes, load: None, finite: true };
    let plan = JobPlan {
        dag: Arc::new(dag),
        iterations,
        start: settings.start,
        late: late.into(),
        slow: slow.into(),
        seats: Arc::new(seats),
        connections: table.choice_or("connections", &connections, "persistent")?,
        completion: table.choice_or("completion", &completion, "delivered")?,
        overhead: table.span_or("overhead", Span::ZERO)?,
        template: settings.template.clone(),
    };
    Ok(ReadGenerator { generator: Generator::Job(Arc::new(plan)), labels: vec![settings.name.clone()], expected })
}

/// `straggler = [{ ranks = [3], late = "1ms", slow = 1.5 }]`.
fn stragglers(table: &mut Table, ranks: usize) -> Result<(Vec<Span>, Vec<f64>)> {
    let rows = table.tables("straggler")?;
    if rows.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut late, mut slow) = (vec![Span::ZERO; ranks], vec![1.0; ranks]);
    for mut row in rows {
        let rank = row.count("rank", 0..=ranks as u64 - 1)? as usize;
        let (by, factor) = (row.take_span("late")?, row.take_number("slow", 0.001..=1000.0)?);
        if by.is_none() && factor.is_none() {
            return Err(row.place().error("this straggler is neither late nor slow").label("give `late` or `slow`"));
        }
        late[rank] = by.unwrap_or(late[rank]);
        slow[rank] = factor.unwrap_or(slow[rank]);
        row.finish()?;
    }
    Ok((late, slow))
}
