//! How a job's graph is made: what it will hold is known from the start, the graph itself is made when it is needed.

use crate::collective::{self, Ends, Form, Options, Schedule, Servers, Size};
use crate::dag::{Activity, ActivityKind, Collective, Dag, Work};
use crate::{Compiled, collective::generate};
use std::fmt;
use std::sync::{Arc, OnceLock};
use xoff_engine::Span;

/// What a job does once, before it is a graph.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Ranks are numbered from zero.
    pub ranks: u32,
    pub servers: Servers,
    /// In this order in the graph.
    pub parts: Vec<Part>,
    pub form: Form,
}

#[derive(Clone, Debug)]
pub enum Part {
    /// All ranks do this, each after its own part in some of the steps before.
    Step {
        name: String,
        what: Step,
        /// Which steps it comes after, by their places among the parts.
        after: Vec<usize>,
    },
    /// Stages, one rank each, after nothing else.
    Pipeline { stages: Vec<u32>, schedule: Schedule, options: Options },
}

#[derive(Clone, Debug)]
pub enum Step {
    /// Each computes for so long.
    Compute(Span),
    /// Each takes part in one collective.
    Collective {
        what: Collective,
        /// Who takes part together: every rank is in one of them.
        groups: Vec<Vec<u32>>,
        /// Size as nccl-tests defines it.
        bytes: u64,
        options: Options,
    },
}

impl Recipe {
    /// What its graph will hold, or why one of its parts cannot be done.
    pub fn size(&self) -> Result<Size, String> {
        let mut all = Size::default();
        for part in &self.parts {
            all = all + self.part_size(part)?;
        }
        all.within_reason()
    }

    pub fn part_size(&self, part: &Part) -> Result<Size, String> {
        match part {
            Part::Step { what: Step::Compute(_), .. } => Ok(Size::of_others(self.ranks.into())),
            Part::Step { what: Step::Collective { what, groups, bytes, options }, .. } => {
                let one = |members: &Vec<u32>| {
                    collective::size(self.ranks, *what, members, *bytes, self.servers, options, self.form)
                };
                groups.iter().try_fold(Size::default(), |all, members| Ok(all.beside(one(members)?)))
            }
            Part::Pipeline { stages, schedule, options } => {
                collective::pipeline_size(self.ranks, stages, schedule, self.servers, options)
            }
        }
    }

    /// Its graph. It can be made if [`Recipe::size`] says so.
    pub fn dag(&self) -> Result<Dag, String> {
        let mut dag = Dag::new(self.ranks);
        let (mut generated, mut group): (Vec<Vec<Ends>>, u32) = (Vec::new(), 0);
        for part in &self.parts {
            generated.push(match part {
                Part::Step { name, what, after } => {
                    let ends = self.step(&mut dag, name, what, &mut group)?;
                    for before in after {
                        let chained =
                            generated[*before].iter().zip(&ends).map(|(before, after)| (before.end, after.begin));
                        dag.needs.extend(chained);
                    }
                    ends
                }
                Part::Pipeline { stages, schedule, options } => {
                    collective::pipeline(&mut dag, stages, schedule, self.servers, options, &mut group)?
                }
            });
        }
        Ok(dag)
    }

    /// What begins and ends the step on each rank.
    fn step(&self, dag: &mut Dag, name: &str, what: &Step, next: &mut u32) -> Result<Vec<Ends>, String> {
        let name = dag.name(name);
        let mut group = || {
            *next += 1;
            *next - 1
        };
        match what {
            Step::Compute(duration) => {
                let group = group();
                let one = |rank: u32| {
                    let kind = ActivityKind::Compute;
                    let activity = dag.activity(Activity { rank, kind, name, group, bytes: 0 });
                    let op = dag.op(activity, Work::Compute(*duration));
                    Ends { begin: op, end: op }
                };
                Ok((0..self.ranks).map(one).collect())
            }
            Step::Collective { what, groups, bytes, options } => {
                let mut ends = vec![Ends { begin: 0, end: 0 }; self.ranks as usize];
                for members in groups {
                    let parts = generate(dag, *what, members, *bytes, self.servers, options, self.form, name, group())?;
                    for (member, parts) in members.iter().zip(parts) {
                        ends[*member as usize] = parts;
                    }
                }
                Ok(ends)
            }
        }
    }
}

/// A job's graph, built at its first use.
pub struct Graph {
    ranks: u32,
    size: Size,
    /// None if it was made from something else.
    recipe: Option<Recipe>,
    made: OnceLock<Arc<Compiled>>,
}

impl Graph {
    /// The graph of a recipe whose parts can all be done; else why not.
    pub fn of(recipe: Recipe) -> Result<Graph, String> {
        Ok(Graph { ranks: recipe.ranks, size: recipe.size()?, recipe: Some(recipe), made: OnceLock::new() })
    }

    /// How its messages are made, unless it lists them from the start.
    pub fn form(&self) -> Option<Form> {
        self.recipe.as_ref().map(|recipe| recipe.form)
    }

    /// Returns this graph in a form, or why it has none in that form.
    pub fn in_form(self, form: Form) -> Result<Graph, String> {
        match self.recipe {
            Some(recipe) if recipe.form != form => Graph::of(Recipe { form, ..recipe }),
            _ => Ok(self),
        }
    }

    /// A graph made before, which must be sound; else why it is not.
    pub fn ready(dag: Dag) -> Result<Graph, String> {
        dag.check()?;
        let (ranks, size) = (dag.ranks, Size::of(&dag));
        Ok(Graph { ranks, size, recipe: None, made: OnceLock::from(Arc::new(dag.compile())) })
    }

    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    pub fn size(&self) -> Size {
        self.size
    }

    /// Bytes of memory that are still to be taken for it.
    pub fn memory_to_come(&self) -> u64 {
        if self.made.get().is_some() { 0 } else { self.size.memory_bytes() }
    }

    /// What people call its activities, and what these are; nothing is made for it.
    pub fn activities(&self) -> Vec<(String, ActivityKind)> {
        let Some(recipe) = &self.recipe else {
            let (graph, mut known) = (self.compiled(), std::collections::HashSet::new());
            let fresh = graph.activities().iter().filter(|of| known.insert((of.name, of.kind)));
            return fresh.map(|of| (graph.name_of(of).to_owned(), of.kind)).collect();
        };
        let named = |part: &Part| match part {
            Part::Step { name, what: Step::Compute(_), .. } => vec![(name.clone(), ActivityKind::Compute)],
            Part::Step { name, what: Step::Collective { what, .. }, .. } => {
                vec![(name.clone(), ActivityKind::Collective(*what))]
            }
            Part::Pipeline { .. } => collective::PIPELINE_NAMES.map(|(name, kind)| (name.to_owned(), kind)).to_vec(),
        };
        recipe.parts.iter().flat_map(named).collect()
    }

    pub fn compiled(&self) -> &Arc<Compiled> {
        self.made.get_or_init(|| {
            let dag = self.recipe.as_ref().map_or_else(|| Ok(Dag::new(self.ranks)), Recipe::dag);
            let dag = dag.expect("what can be counted can be generated");
            debug_assert_eq!(dag.check(), Ok(()), "generators make sound graphs");
            Arc::new(dag.compile())
        })
    }
}

/// Prints the graph, which is made for it.
impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.compiled().fmt(f)
    }
}
