//! A generator as read from a scenario: makes the same source again and again.

use super::all_to_all::AllToAll;
use super::batch::Batch;
use super::flow::Template;
use super::incast::Incast;
use super::job::JobPlan;
use super::job::log::JobLog;
use super::on_off::OnOff;
use super::poisson::Poisson;
use super::reads::Reads;
use super::timetable::{Planned, Timetable};
use std::sync::{Arc, Mutex};
use xoff_engine::rng::{mix, name_hash, stream};
use xoff_fabric::traffic::Source;

/// One `[[traffic]]` table, checked. Cheap to clone: every run of a comparison builds its own
/// source from it, and all of them do the same.
#[derive(Clone, Debug)]
pub struct TrafficPlan {
    /// The key `name`; two tables may have the same.
    pub name: String,
    /// How many generators before it have the same name.
    pub(crate) namesake: u64,
    /// The key `kind`.
    pub kind: &'static str,
    /// What [`xoff_fabric::traffic::FlowSpec::label`] of its flows counts in.
    pub labels: Arc<[String]>,
    /// Until the end of the run.
    pub expected: Expected,
    pub(crate) generator: Generator,
}

/// What can be told before anything runs.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Expected {
    /// How many flows start until the end of the run.
    pub flows: Option<f64>,
    /// The payload they carry.
    pub bytes: Option<f64>,
    /// Payload offered, as a part of what the senders' links can carry.
    pub(crate) load: Option<f64>,
    /// It ends by itself: at some time all its flows have started, and none of them is endless.
    pub finite: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Generator {
    Listed(Arc<[Planned]>),
    Batch(Batch),
    Poisson(Poisson),
    Incast(Incast),
    AllToAll(AllToAll),
    OnOff(OnOff),
    Reads(Reads),
    Job(Arc<JobPlan>),
}

impl TrafficPlan {
    /// Whether flows of one of its labels are followed by a probe of flows.
    pub(crate) fn probed(&self, label: u32) -> bool {
        match &self.generator {
            Generator::Listed(flows) => flows.iter().any(|flow| flow.spec.probed && flow.spec.label == label),
            _ => self.template().is_some_and(|template| template.probed),
        }
    }

    /// Whether a flow of it has a path of its own.
    pub fn pins_paths(&self) -> bool {
        match &self.generator {
            Generator::Listed(flows) => flows.iter().any(|flow| flow.spec.path.is_some()),
            _ => self.template().is_some_and(|template| template.path.is_some()),
        }
    }

    /// Whether a flow of it deserves another share than others.
    pub fn has_weights(&self) -> bool {
        match &self.generator {
            Generator::Listed(flows) => flows.iter().any(|flow| flow.spec.weight != 1),
            _ => self.template().is_some_and(|template| template.weight != 1),
        }
    }

    /// What all its flows share; `None` where they are listed one by one.
    pub(crate) fn template(&self) -> Option<&Template> {
        match &self.generator {
            Generator::Listed(_) => None,
            Generator::Batch(of) => Some(&of.template),
            Generator::Poisson(of) => Some(&of.template),
            Generator::Incast(of) => Some(&of.template),
            Generator::AllToAll(of) => Some(&of.template),
            Generator::OnOff(of) => Some(&of.template),
            Generator::Reads(of) => Some(&of.template),
            Generator::Job(of) => Some(&of.template),
        }
    }

    /// What its random streams and the identity of its flows hang on: its name, wherever it stands.
    pub fn key(&self) -> u64 {
        mix(name_hash(&self.name)).wrapping_add(self.namesake)
    }

    /// The source for a run with this seed.
    pub fn build(&self, seed: u64) -> Box<dyn Source> {
        let key = self.key();
        match &self.generator {
            Generator::Listed(flows) => Box::new(Timetable::new(flows.clone())),
            Generator::Batch(batch) => Box::new(Timetable::new(batch.plan(&mut stream(seed, "traffic", key)))),
            Generator::Poisson(poisson) => Box::new(poisson.source(seed, key)),
            Generator::Incast(incast) => Box::new(incast.source(seed, key)),
            Generator::AllToAll(all) => Box::new(all.source(seed, key)),
            Generator::OnOff(on_off) => Box::new(on_off.source(seed, key)),
            Generator::Reads(reads) => Box::new(reads.source(seed, key)),
            Generator::Job(job) => Box::new(job.source(None)),
        }
    }

    /// The job that it is, if it is one.
    pub fn job(&self) -> Option<&Arc<JobPlan>> {
        match &self.generator {
            Generator::Job(job) => Some(job),
            _ => None,
        }
    }

    /// The same source, which writes down what its job does; `index` is its place among the scenario's traffic.
    pub fn build_logged(&self, seed: u64, index: u32, log: &Arc<Mutex<JobLog>>) -> Box<dyn Source> {
        match &self.generator {
            Generator::Job(job) => Box::new(job.source(Some((index, Arc::clone(log))))),
            _ => self.build(seed),
        }
    }
}
