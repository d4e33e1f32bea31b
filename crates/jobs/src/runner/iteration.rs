//! What is left to do of one iteration.

use crate::collective::RingState;
use crate::compiled::Compiled;
use crate::dag::OpId;
use crate::record::Interval;
use xoff_engine::Time;

/// Counters of an iteration that ranks are in.
#[derive(Clone, Debug, Default)]
pub(super) struct Iteration {
    /// How many others each operation still needs.
    needs: Vec<u32>,
    /// Operations and messages that each rank still has before it.
    shares: Vec<u32>,
    started: Vec<bool>,
    /// Operations that need nothing more, of ranks that have not started.
    early: Vec<OpId>,
    /// Operations of each activity that are not over.
    parts: Vec<u32>,
    begun: Vec<Time>,
    /// Operations and messages of programs that are not over.
    open: u64,
    /// Where each program is.
    pub(super) rings: Vec<RingState>,
}

impl Iteration {
    /// Everything is still to do.
    pub(super) fn reset(&mut self, dag: &Compiled) {
        let copy = |to: &mut Vec<u32>, from: &[u32]| {
            to.clear();
            to.extend_from_slice(from);
        };
        copy(&mut self.needs, dag.all_needs());
        copy(&mut self.shares, dag.shares());
        copy(&mut self.parts, dag.parts());
        self.started.clear();
        self.started.resize(dag.ranks() as usize, false);
        self.begun.clear();
        self.begun.resize(dag.activities().len(), Time::NEVER);
        self.early.clear();
        self.open = dag.items();
        self.rings.resize_with(dag.programs().len(), RingState::default);
        self.rings.iter_mut().zip(dag.programs()).for_each(|(state, program)| state.reset(&program.ring));
    }

    /// A rank starts; yields those of its operations that waited for nothing else.
    pub(super) fn start(&mut self, rank: u32, dag: &Compiled) -> Vec<OpId> {
        self.started[rank as usize] = true;
        self.early.extract_if(.., |op| dag.rank_of(*op) == rank).collect()
    }

    /// Whether a rank has started and nothing is left of its part.
    pub(super) fn is_over(&self, rank: u32) -> bool {
        self.started[rank as usize] && self.shares[rank as usize] == 0
    }

    pub(super) fn is_all_over(&self) -> bool {
        self.open == 0
    }

    pub(super) fn begin(&mut self, activity: u32, now: Time) {
        let begun = &mut self.begun[activity as usize];
        *begun = (*begun).min(now);
    }

    /// An operation or message of it ends; yields when the activity began, if it was the last.
    pub(super) fn part_over(&mut self, activity: u32) -> Option<Time> {
        let left = &mut self.parts[activity as usize];
        *left -= 1;
        self.open -= 1;
        (*left == 0).then(|| self.begun[activity as usize])
    }

    /// One that the operation needs has ended; whether it was the last.
    pub(super) fn one_less(&mut self, op: OpId) -> bool {
        let needs = &mut self.needs[op as usize];
        *needs -= 1;
        *needs == 0
    }

    /// Whether its rank has started; if not, it waits for that.
    pub(super) fn may_start(&mut self, op: OpId, rank: u32) -> bool {
        let started = self.started[rank as usize];
        if !started {
            self.early.push(op);
        }
        started
    }

    /// An operation of the rank, or a message to it, ends; whether that ends the rank's part.
    pub(super) fn share_over(&mut self, rank: u32) -> bool {
        self.shares[rank as usize] -= 1;
        self.is_over(rank)
    }

    pub(super) fn unfinished(&self, number: u32) -> impl Iterator<Item = Interval> {
        let open = self.parts.iter().zip(&self.begun).enumerate();
        let open = open.filter(|(_, (left, begun))| **left > 0 && **begun != Time::NEVER);
        open.map(move |(activity, (_, begun))| Interval {
            iteration: number,
            activity: activity as u32,
            begin: *begun,
            end: None,
        })
    }
}
