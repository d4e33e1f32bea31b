//! Pipelines: stages that compute micro-batches and pass activations on and gradients back.

use super::all_to_all::{NET_CHUNK_BYTES, OUTSTANDING};
use super::layer::{Connection, Ends, Layer, Piece};
use super::options::{Options, Servers};
use super::size::{Sends, Size};
use crate::dag::{Activity, ActivityKind, Dag, OpId, Work};
use xoff_engine::Span;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PipelineOrder {
    /// All forward, then all backward.
    GPipe,
    /// A stage goes forward until the last could go backward, then by turns: fewer activations to keep.
    OneForwardOneBackward,
}

/// What the activities of a pipeline are called, and what they are.
pub const PIPELINE_NAMES: [(&str, ActivityKind); 5] = [
    ("forward", ActivityKind::Compute),
    ("backward", ActivityKind::Compute),
    ("activations", ActivityKind::PointToPoint),
    ("gradients", ActivityKind::PointToPoint),
    ("start", ActivityKind::Compute),
];

/// What stages do with each micro-batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    pub order: PipelineOrder,
    /// In an iteration.
    pub micro_batches: u32,
    pub forward: Span,
    pub backward: Span,
    /// Activations forward; gradients back are as large.
    pub bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Step {
    backward: bool,
    batch: u32,
}

/// Adds a pipeline through `stages`, one rank each. Its activities are called after what they are; every message is of a
/// group of its own, from `group` on, which is moved on. Yields for each stage the operations that begin and end its part.
pub fn pipeline(
    dag: &mut Dag,
    stages: &[u32],
    schedule: &Schedule,
    servers: Servers,
    options: &Options,
    group: &mut u32,
) -> Result<Vec<Ends>, String> {
    pipeline_size(dag.ranks, stages, schedule, servers, options)?.within_reason()?.reserve(dag);
    let names = PIPELINE_NAMES.map(|(name, _)| dag.name(name));
    let mut line = Line { stages, schedule, servers, options, names, computed: Vec::new(), waits: Vec::new() };
    let ends = (0..stages.len()).map(|stage| line.compute(dag, stage)).collect();
    for stage in 1..stages.len() {
        line.pass(dag, stage - 1, stage, false, group)?;
        line.pass(dag, stage, stage - 1, true, group)?;
    }
    Ok(ends)
}

/// What its graph holds, or why it cannot be done. Nothing is built.
pub fn pipeline_size(
    ranks: u32,
    stages: &[u32],
    schedule: &Schedule,
    servers: Servers,
    options: &Options,
) -> Result<Size, String> {
    if stages.is_empty() || schedule.micro_batches == 0 {
        return Err("a pipeline needs a stage and a micro-batch at least".to_owned());
    }
    if schedule.bytes == 0 && stages.len() > 1 {
        return Err("stages pass at least one byte on".to_owned());
    }
    if servers.gpus == 0 || options.queue_pairs == 0 {
        return Err("servers need a GPU, and connections a queue pair, at least".to_owned());
    }
    if let Some(rank) = stages.iter().find(|rank| **rank >= ranks) {
        return Err(format!("pipeline: rank {rank} does not exist, there are {ranks}"));
    }
    let together = stages.windows(2).all(|pair| servers.of(pair[0]) == servers.of(pair[1]));
    if servers.nics == 0 && !together {
        return Err("a pipeline among several servers, which have no NICs: give each one".to_owned());
    }
    let (passes, batches) = (2 * (stages.len() as u64 - 1), u64::from(schedule.micro_batches));
    let chunk = options.chunk(NET_CHUNK_BYTES, 1)?;
    let sends = Sends::chunks(chunk, schedule.bytes, options).with(0, 2) * (passes * batches);
    let computed = Size::of_others(2 * stages.len() as u64 * batches);
    Ok(Size::of_sends(sends, stages.len() as u64, options) + computed)
}

struct Line<'a> {
    stages: &'a [u32],
    schedule: &'a Schedule,
    servers: Servers,
    options: &'a Options,
    /// Names of forward, backward, activations, gradients, and what begins a stage.
    names: [u32; 5],
    /// Forward and backward of each micro-batch, by stage.
    computed: Vec<[Vec<OpId>; 2]>,
    /// What each of them comes after, at its own stage.
    waits: Vec<[Vec<Option<OpId>>; 2]>,
}

impl Line<'_> {
    /// What a stage computes, one after another.
    fn compute(&mut self, dag: &mut Dag, stage: usize) -> Ends {
        let batches = self.schedule.micro_batches as usize;
        let mut computed = [vec![0; batches], vec![0; batches]];
        let mut waits = [vec![None; batches], vec![None; batches]];
        let rank = self.stages[stage];
        let computing = |dag: &mut Dag, name: u32| {
            dag.activity(Activity { rank, kind: ActivityKind::Compute, name, group: 0, bytes: 0 })
        };
        // What begins the stage takes no time and is no part of its computing, which may have to wait.
        let first = computing(dag, self.names[4]);
        let begin = dag.op(first, Work::Join);
        let mut last = begin;
        for Step { backward, batch } in steps(self.schedule, self.stages.len(), stage) {
            let kind = usize::from(backward);
            let activity = computing(dag, self.names[kind]);
            let span = if backward { self.schedule.backward } else { self.schedule.forward };
            let op = dag.op(activity, Work::Compute(span));
            dag.need(last, op);
            waits[kind][batch as usize] = Some(last);
            computed[kind][batch as usize] = op;
            last = op;
        }
        let end = dag.op(dag.ops[last as usize].activity, Work::Join);
        dag.need(last, end);
        self.computed.push(computed);
        self.waits.push(waits);
        Ends { begin, end }
    }

    /// Messages from a stage to the next, or back: one for each micro-batch, in the order in which they are computed.
    fn pass(&self, dag: &mut Dag, from: usize, to: usize, back: bool, group: &mut u32) -> Result<(), String> {
        let ranks = [self.stages[from], self.stages[to]];
        let (kind, mut connection): (usize, Option<Connection>) = (usize::from(back), None);
        for batch in 0..self.schedule.micro_batches as usize {
            let name = self.names[2 + kind];
            let activity =
                Activity { rank: 0, kind: ActivityKind::PointToPoint, name, group: *group, bytes: self.schedule.bytes };
            *group += 1;
            let mut layer = Layer::between(dag, &ranks, self.servers, self.options, activity);
            layer.set_window(self.options.window(OUTSTANDING));
            let mut open = match connection.take() {
                Some(open) => open,
                None => layer.connect(0, 1, layer.way(0, 1), 0),
            };
            let ready = self.computed[from][kind][batch];
            let chunk = self.options.chunk(NET_CHUNK_BYTES, 1)?;
            for (at, bytes) in chunk.pieces(0, self.schedule.bytes) {
                layer.send(&mut open, Piece { at, bytes, adds: false }, ready, &[ready]);
            }
            // The receiver communicates from when it could compute to when it has what it needs for that.
            let mut needs = vec![layer.join(1, self.waits[to][kind][batch].as_slice())];
            layer.last_arrival(&open, &mut needs);
            let received = layer.join(1, &needs);
            dag.need(received, self.computed[to][kind][batch]);
            connection = Some(open);
        }
        Ok(())
    }
}

fn steps(schedule: &Schedule, stages: usize, stage: usize) -> Vec<Step> {
    let batches = schedule.micro_batches;
    let forward = |batch| Step { backward: false, batch };
    let backward = |batch| Step { backward: true, batch };
    let ahead = match schedule.order {
        PipelineOrder::GPipe => batches,
        PipelineOrder::OneForwardOneBackward => batches.min((stages - stage) as u32 - 1),
    };
    let mut steps: Vec<Step> = (0..ahead).map(forward).collect();
    steps.extend((ahead..batches).flat_map(|batch| [forward(batch), backward(batch - ahead)]));
    steps.extend((batches - ahead..batches).map(backward));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(order: PipelineOrder, stages: usize, stage: usize) -> String {
        let schedule =
            Schedule { order, micro_batches: 4, forward: Span::from_us(1), backward: Span::from_us(2), bytes: 1 };
        let word = |step: Step| format!("{}{}", if step.backward { 'B' } else { 'F' }, step.batch);
        steps(&schedule, stages, stage).into_iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn stages_compute_in_the_published_orders() {
        assert_eq!(words(PipelineOrder::GPipe, 3, 1), "F0 F1 F2 F3 B0 B1 B2 B3");
        assert_eq!(words(PipelineOrder::OneForwardOneBackward, 3, 2), "F0 B0 F1 B1 F2 B2 F3 B3");
        assert_eq!(words(PipelineOrder::OneForwardOneBackward, 3, 1), "F0 F1 B0 F2 B1 F3 B2 B3");
        assert_eq!(words(PipelineOrder::OneForwardOneBackward, 3, 0), "F0 F1 F2 B0 F3 B1 B2 B3");
        assert_eq!(words(PipelineOrder::OneForwardOneBackward, 9, 0), "F0 F1 F2 F3 B0 B1 B2 B3");
    }
}
