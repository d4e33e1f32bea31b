//! Jobs: collectives, pipelines, and steps of both in any order.

use super::settings::Settings;
use super::{ReadGenerator, Scope, placement};
use crate::Table;
use crate::dictionary::words;
use crate::reader::{Result, Text};
use crate::traffic::job::placement::RankPlacement;
use crate::traffic::job::{Completion, Connections, JobPlan};
use crate::traffic::plan::{Expected, Generator};
use std::collections::HashMap;
use std::sync::Arc;
use xoff_engine::Span;
use xoff_fabric::plan::{Collectives, Fidelity};
use xoff_jobs::collective::{Algorithm, Form, Options, Schedule, Servers, Skew};
use xoff_jobs::{Collective, Graph, Part, Recipe, Step};

/// No buffer of a GPU is larger.
const LARGEST_BUFFER: u64 = 1 << 40;

/// At flow level, ranks from which on collectives are macro-flows.
const MACRO_RANKS: u64 = 512;

/// How collectives of a job of so many ranks are carried out, unless something excludes it.
fn form(scope: &Scope<'_>, ranks: u64) -> Form {
    let run = &scope.ctx.plan.run;
    let together = match run.collectives {
        Collectives::Auto => ranks >= MACRO_RANKS,
        Collectives::Macro => true,
        Collectives::Messages => false,
    };
    if run.fidelity == Fidelity::Flow && together { Form::MacroFlows } else { Form::Programs }
}

/// A job in the making.
struct Draft<'a> {
    scope: &'a Scope<'a>,
    recipe: Recipe,
    placement: &'a RankPlacement,
}

/// One collective in each iteration, after some computing.
pub fn collective(
    table: &mut Table,
    scope: &Scope<'_>,
    settings: &Settings,
    kind: &'static str,
) -> Result<ReadGenerator> {
    let (placement, servers) = placement::read(table, scope)?;
    let mut draft = Draft::new(scope, &placement, servers);
    let compute = table.span("compute")?;
    if compute > Span::ZERO {
        draft.add("compute", Step::Compute(compute), Vec::new());
    }
    let after = (0..draft.recipe.parts.len()).collect();
    let step = draft.collective(table, what(kind))?;
    draft.add(kind, step, after);
    let recipe = draft.recipe;
    finish_recipe(table, settings, scope, placement, recipe)
}

fn what(kind: &str) -> Collective {
    words::STEP.iter().find(|(name, _)| *name == kind).and_then(|(_, what)| *what).unwrap_or(Collective::AllReduce)
}

/// `kind = "job"`: steps, each of which may come after any before it.
pub fn steps(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let (placement, servers) = placement::read(table, scope)?;
    let rows = table.tables("step")?;
    if rows.is_empty() {
        return Err(table.place().error("this job has no steps").label("add [[traffic.step]] with `do`"));
    }
    let mut draft = Draft::new(scope, &placement, servers);
    let mut named: HashMap<String, usize> = HashMap::new();
    for (number, mut row) in rows.into_iter().enumerate() {
        let (step, what) = (row.word("do")?, row.choice("do", words::STEP)?);
        let name = row.text_or("name", &format!("{step}-{number}"))?;
        crate::names::readable_name(&name)?;
        let what = match what {
            None => Step::Compute(row.span("duration")?),
            Some(what) => draft.collective(&mut row, what)?,
        };
        let after = match row.take_texts("after")? {
            Some(earlier) => {
                let place = |text: &Text| match named.get(&text.value) {
                    Some(before) => Ok(*before),
                    None => Err(text
                        .error(format!("no step before this one is called `{}`", text.value))
                        .label("`after` names earlier steps")),
                };
                earlier.iter().map(place).collect::<Result<Vec<_>>>()?
            }
            None => number.checked_sub(1).into_iter().collect(),
        };
        if named.insert(name.value.clone(), number).is_some() {
            return Err(name.error(format!("two steps are called `{}`", name.value)));
        }
        draft.add(&name.value, what, after);
        // Where it stands, if it cannot be done.
        draft.recipe.part_size(&draft.recipe.parts[number]).map_err(|why| row.place().error(why))?;
        row.finish()?;
    }
    let recipe = draft.recipe;
    finish_recipe(table, settings, scope, placement, recipe)
}

/// `kind = "pipeline"`: stages that pass micro-batches on and gradients back. A stage is a block of ranks that follow each
/// other; the first of each make up one pipeline, the second another, and so on.
pub fn pipeline(table: &mut Table, scope: &Scope<'_>, settings: &Settings) -> Result<ReadGenerator> {
    let (placement, servers) = placement::read(table, scope)?;
    let ranks = placement.ranks.len() as u64;
    let stages = table.count_or("stages", 2..=ranks, ranks)?;
    if !ranks.is_multiple_of(stages) {
        return Err(table.error("stages", format!("{ranks} ranks do not divide into {stages} stages")));
    }
    let schedule = Schedule {
        order: table.choice("schedule", words::SCHEDULE)?,
        micro_batches: table.count("micro_batches", 1..=1_000_000)? as u32,
        forward: table.span("forward")?,
        backward: table.span("backward")?,
        bytes: table.bytes("activation", 1..=LARGEST_BUFFER)?,
    };
    let options = options(table, scope, Collective::Broadcast)?;
    let width = (ranks / stages) as u32;
    let line = |first: u32| {
        let stages = (0..stages as u32).map(|stage| stage * width + first).collect();
        Part::Pipeline { stages, schedule, options: options.clone() }
    };
    let recipe =
        Recipe { ranks: ranks as u32, servers, parts: (0..width).map(line).collect(), form: form(scope, ranks) };
    finish_recipe(table, settings, scope, placement, recipe)
}

impl<'a> Draft<'a> {
    fn new(scope: &'a Scope<'a>, placement: &'a RankPlacement, servers: Servers) -> Draft<'a> {
        Draft {
            scope,
            recipe: Recipe {
                ranks: placement.ranks.len() as u32,
                servers,
                parts: Vec::new(),
                form: form(scope, placement.ranks.len() as u64),
            },
            placement,
        }
    }

    fn add(&mut self, name: &str, what: Step, after: Vec<usize>) {
        self.recipe.parts.push(Part::Step { name: name.to_owned(), what, after });
    }

    /// One collective, in every group of ranks at once.
    fn collective(&self, table: &mut Table, what: Collective) -> Result<Step> {
        let bytes = match what {
            Collective::Barrier => 1,
            _ => table.bytes("bytes", 1..=LARGEST_BUFFER)?,
        };
        let groups = self.members(table)?;
        Ok(Step::Collective { what, groups, bytes, options: options(table, self.scope, what)? })
    }

    fn members(&self, table: &mut Table) -> Result<Vec<Vec<u32>>> {
        let by_key = |key: &dyn Fn(u32) -> u32| {
            let mut groups: std::collections::BTreeMap<u32, Vec<u32>> = Default::default();
            for rank in 0..self.recipe.ranks {
                groups.entry(key(rank)).or_default().push(rank);
            }
            groups.into_values().collect::<Vec<_>>()
        };
        let gpus = self.recipe.servers.gpus;
        let groups = match table.word("group")? {
            "server" => by_key(&|rank| self.placement.ranks[rank as usize].server),
            "rail" => by_key(&|rank| rank % gpus),
            _ => by_key(&|_| 0),
        };
        if groups.iter().any(|members| members.len() < 2) {
            return Err(table.error("group", "a group would have one rank only").label("nobody to send to"));
        }
        Ok(groups)
    }
}

/// How a collective is carried out; what is not said is as NCCL does it.
pub fn options(table: &mut Table, scope: &Scope<'_>, what: Collective) -> Result<Options> {
    let default = Options::default();
    let algorithm = match what {
        Collective::AllReduce | Collective::ReduceScatter | Collective::AllGather => {
            let algorithm = table.choice("algorithm", words::ALGORITHM)?;
            tell_of_phases(table, algorithm);
            algorithm
        }
        _ => Algorithm::Auto,
    };
    let all_to_all = what == Collective::AllToAll;
    Ok(Options {
        algorithm,
        channels: table.take_count("channels", 1..=1024)?.map_or(default.channels, |count| count as u16),
        queue_pairs: table.count("queue_pairs", 1..=128)? as u16,
        split: table.flag("split")?,
        chunk_bytes: table.take_bytes("chunk", 16..=LARGEST_BUFFER)?.unwrap_or(default.chunk_bytes),
        slice_bytes: table.take_bytes("slice", 16..=LARGEST_BUFFER)?.unwrap_or(default.slice_bytes),
        outstanding: table.take_count("outstanding", 0..=1_000_000)?.map_or(default.outstanding, |count| count as u32),
        pxn: if all_to_all { table.flag("pxn")? } else { default.pxn },
        peers: if all_to_all { table.count("peers", 0..=1_000_000)? as u32 } else { default.peers },
        skew: if all_to_all { skew(table, scope)? } else { Skew::None },
        root: default.root,
    })
}

/// Phases that could overlap and do not are told of: they decide the bandwidth.
pub fn tell_of_phases(table: &mut Table, algorithm: Algorithm) {
    if algorithm == Algorithm::Hierarchical {
        let said = table.error("algorithm", "the three phases of a hierarchical all-reduce are serial");
        table.warn(said.label("inside the servers, on the rails, inside the servers: no phase overlaps another"));
    }
}

/// `skew = 1.2`: what each rank is sent follows Zipf's law with this exponent; who is popular is drawn.
fn skew(table: &mut Table, scope: &Scope<'_>) -> Result<Skew> {
    let exponent = table.number("skew", 0.0..=10.0)?;
    Ok(if exponent > 0.0 { Skew::Zipf { exponent, seed: scope.ctx.plan.seed } } else { Skew::None })
}

/// A job whose graph is made when it runs.
fn finish_recipe(
    table: &mut Table,
    settings: &Settings,
    scope: &Scope<'_>,
    placement: RankPlacement,
    recipe: Recipe,
) -> Result<ReadGenerator> {
    let graph = Graph::of(recipe).map_err(|why| table.place().error(why))?;
    finish(table, settings, scope, placement, graph)
}

/// The keys that all jobs share.
pub fn finish(
    table: &mut Table,
    settings: &Settings,
    scope: &Scope<'_>,
    placement: RankPlacement,
    graph: Graph,
) -> Result<ReadGenerator> {
    if let Some(path) = &settings.path {
        let _ = path;
        return Err(table.error("path", "the queue pairs of a job cannot be pinned to a path"));
    }
    let ranks = graph.ranks() as usize;
    let (late, slow) = stragglers(table, ranks)?;
    let iterations = table.count("iterations", 1..=1_000_000_000)? as u32;
    let connections = if table.is("connections", "fresh")? { Connections::Fresh } else { Connections::Persistent };
    let several_ports = placement.nics.iter().any(|server| server.iter().any(|nic| nic.len() > 1));
    let messages_because = match form(scope, ranks as u64) {
        Form::Listed | Form::Programs => None,
        Form::MacroFlows if connections == Connections::Fresh => Some("every message takes a path of its own"),
        Form::MacroFlows if several_ports && scope.ctx.links_fail => {
            Some("queue pairs move to other ports when a link fails")
        }
        Form::MacroFlows if graph.form().is_none() => Some("a trace lists its messages"),
        Form::MacroFlows => None,
    };
    // Messages with a flow each may overtake each other, which programs do not expect.
    let form = match connections {
        Connections::Fresh => Form::Listed,
        Connections::Persistent if messages_because.is_some() => Form::Programs,
        Connections::Persistent => graph.form().unwrap_or(Form::Listed),
    };
    let graph = graph.in_form(form).map_err(|why| table.place().error(why))?;
    let bytes = Some(graph.size().bytes as f64 * f64::from(iterations));
    let expected = Expected { flows: None, bytes, load: None, finite: true };
    let plan = JobPlan {
        graph: Arc::new(graph),
        iterations,
        start: settings.start,
        late: late.into(),
        slow: slow.into(),
        placement: Arc::new(placement),
        connections,
        completion: match table.is("completion", "acknowledged")? {
            true => Completion::Acknowledged,
            false => Completion::Delivered,
        },
        overhead: table.span("overhead")?,
        template: settings.template.clone(),
        messages_because,
        settle: scope.ctx.settle,
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
