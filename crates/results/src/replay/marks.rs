//! What happened to a run, as marks in its time line: faults, bursts of flows, collectives of jobs.

use super::Replay;
use crate::congestion::end_of;
use crate::congestion::flows::Flows;
use crate::contract;
use crate::read::RunDirectory;
use crate::tables;
use std::collections::BTreeMap;
use xoff_engine::Time;
use xoff_fabric::plan::{Fault, FaultKind};
use xoff_scenario::Diagnostic;

/// Flows of one source that start at one instant are a burst from this number on.
const BURST: usize = 4;
/// A source with more bursts than this is a background of bursts: none of them is worth a mark.
const BURSTS: usize = 100;
/// Collectives of one name that are more than this are too many to mark.
const COLLECTIVES: usize = 100;

contract! {
    /// What happened, as far as a page tells it apart.
    pub enum MarkKind { Fault = "fault", Storm = "storm", Burst = "burst", Collective = "collective" }
}

contract! {
    /// Something worth a mark in the time line.
    pub struct Mark as Mark {
        pub at_us: f64,
        pub until_us: Option<f64>,
        pub text: String,
        pub kind: MarkKind,
    }
}

/// Faults, bursts and collectives, by time.
pub fn of(replay: &Replay) -> Result<Vec<Mark>, Diagnostic> {
    let Replay { run, loaded, .. } = replay;
    let end = end_of(run);
    let begun = loaded.plan.faults.iter().filter(|fault| fault.at <= end);
    let mut marks: Vec<Mark> = begun.filter_map(|fault| event(replay, fault)).collect();
    // What a job sends is told by its collectives.
    let of_job = |source: &str| run.summary.jobs.iter().any(|job| job.name == source);
    marks.extend(bursts(&replay.rest()?.flows, of_job, end));
    marks.extend(collectives(run)?);
    marks.sort_by(|a, b| a.at_us.total_cmp(&b.at_us));
    Ok(marks)
}

/// A fault of the plan that happened, and when what it began was over.
fn event(replay: &Replay, fault: &Fault) -> Option<Mark> {
    let names = &replay.network.names;
    let plan = &replay.loaded.plan;
    let later = |ends: &dyn Fn(&FaultKind) -> bool| {
        plan.faults.iter().find(|other| other.at > fault.at && ends(&other.what)).map(|other| other.at)
    };
    let (kind, text, until) = match fault.what {
        FaultKind::LinkDown { link } | FaultKind::LinkDead { link } => {
            let up = later(
                &|other| matches!(other, FaultKind::LinkUp { link: up } | FaultKind::LinkAlive { link: up } if *up == link),
            );
            (MarkKind::Fault, format!("link of {} down", names.port(2 * link)), up)
        }
        FaultKind::LinkUp { .. }
        | FaultKind::LinkAlive { .. }
        | FaultKind::Told { .. }
        | FaultKind::PauseStorm { on: false, .. } => return None,
        FaultKind::Rate { port, rate } => {
            (MarkKind::Fault, format!("{} at {} Gbps", names.port(port), rate.as_gbps()), None)
        }
        FaultKind::Loss { port, loss } => {
            (MarkKind::Fault, format!("{} loses {loss} of its frames", names.port(port)), None)
        }
        FaultKind::PauseStorm { host_port, .. } => {
            let over = later(
                &|other| matches!(other, FaultKind::PauseStorm { host_port: port, on: false, .. } if *port == host_port),
            );
            (MarkKind::Storm, format!("PAUSE storm by {}", names.node_name_of(host_port)), over)
        }
    };
    Some(Mark { at_us: fault.at.as_us(), until_us: until.map(Time::as_us), text, kind })
}

/// Flows of one source that start together, from the first start to the last delivery.
fn bursts(flows: &Flows, of_job: impl Fn(&str) -> bool, end: Time) -> Vec<Mark> {
    let source = |index: &usize| flows.list[*index].source;
    let mut order: Vec<usize> = (0..flows.list.len()).collect();
    // Stable: by source, then by start.
    order.sort_by_key(source);
    let mut marks = Vec::new();
    for of_source in order.chunk_by(|a, b| source(a) == source(b)) {
        if of_job(flows.word(source(&of_source[0]))) {
            continue;
        }
        let same = |a: &usize, b: &usize| flows.list[*a].start == flows.list[*b].start;
        let bursts = || of_source.chunk_by(same).filter(|group| group.len() >= BURST);
        if bursts().count() <= BURSTS {
            marks.extend(bursts().map(|group| burst(flows, group, end)));
        }
    }
    marks
}

fn burst(flows: &Flows, group: &[usize], end: Time) -> Mark {
    let first = &flows.list[group[0]];
    let until = group.iter().map(|&index| flows.list[index].network_end(end)).max().unwrap_or(end);
    let text = format!("{}: {} flows", flows.word(first.source), group.len());
    Mark { at_us: first.start.as_us(), until_us: Some(until.as_us()), text, kind: MarkKind::Burst }
}

/// The collectives of all jobs, where one name has few enough.
fn collectives(run: &RunDirectory) -> Result<Vec<Mark>, Diagnostic> {
    let mut of_name: BTreeMap<(String, String), Vec<Mark>> = BTreeMap::new();
    if run.summary.jobs.is_empty() {
        return Ok(Vec::new());
    }
    // A mark and its text.
    let row_bytes = 2 * size_of::<Mark>() as u64 + 64;
    let columns = ["job", "iteration", "name", "kind", "begin_us", "end_us"];
    for rows in run.rows_to_keep(&tables::COLLECTIVES, &columns, row_bytes)? {
        let rows = rows?;
        let (job, name, kind) = (rows.texts("job")?, rows.texts("name")?, rows.texts("kind")?);
        let (iteration, begin, end) = (rows.integers("iteration")?, rows.reals("begin_us")?, rows.reals("end_us")?);
        for row in (0..rows.len()).filter(|&row| kind.get(row) != Some("point-to-point")) {
            let (job, name) = (job.get(row).unwrap_or(""), name.get(row).unwrap_or(""));
            let of = if job == name { name.to_owned() } else { format!("{job}: {name}") };
            of_name.entry((job.to_owned(), name.to_owned())).or_default().push(Mark {
                at_us: begin.get(row).unwrap_or(0.0),
                until_us: Some(end.get(row).unwrap_or(run.summary.sim_time_us)),
                text: format!("{of}, iteration {}", iteration.get(row).unwrap_or(0)),
                kind: MarkKind::Collective,
            });
        }
    }
    Ok(of_name.into_values().filter(|marks| marks.len() <= COLLECTIVES).flatten().collect())
}
