//! What a job waits for, in words: where each chain of waits begins, and who is in it.

use super::{Due, Origin, Runner};
use crate::compiled::Pair;
use crate::dag::{OpId, Via};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Chains that are listed; the others are counted.
const CHAINS: usize = 5;
/// Ranks of a chain that are named.
const NAMED: usize = 6;

impl Runner {
    /// What the job waits for, at most a dozen lines: first the messages that have not arrived, the oldest first, each
    /// with the ranks that need it, directly or through others; if there are none, who computes, and who waits for a
    /// resource that is held. Empty if the job has ended.
    pub fn waits_for(&self, rank_name: &dyn Fn(u32) -> String) -> Vec<String> {
        let messages = self.messages_under_way();
        if !messages.is_empty() {
            return self.chains(&messages, rank_name);
        }
        if !self.events.is_empty() {
            return self.computing(rank_name);
        }
        let held: Vec<u32> = (0..self.holds.len() as u32).filter(|hold| self.is_asked_for(*hold)).collect();
        let words = held.iter().take(2 * CHAINS).map(|hold| self.held_words(*hold, rank_name));
        with_others(words.collect(), held.len(), "waits like these")
    }

    /// The oldest of those between each two ranks, the oldest of all first, and how many there are besides.
    fn messages_under_way(&self) -> Vec<(u32, usize)> {
        let mut open: Vec<u32> = (0..self.flights.all.len() as u32).filter(|id| self.flight(*id).is_some()).collect();
        open.sort_by_key(|id| (self.flights.all[*id as usize].since, self.flight(*id)));
        let (mut places, mut oldest) = (BTreeMap::new(), Vec::new());
        for id in open {
            let place = *places.entry(self.ways_of(id)).or_insert(oldest.len());
            match oldest.get_mut(place) {
                Some((_, behind)) => *behind += 1,
                None => oldest.push((id, 0)),
            }
        }
        oldest
    }

    /// From whom to whom, and how.
    fn ways_of(&self, id: u32) -> (u32, u32, Via) {
        let Pair { from, to, lane } = self.job.dag.pairs()[self.flights.all[id as usize].pair as usize];
        (from, to, lane.via)
    }

    /// Iteration and origin of a message under way.
    fn flight(&self, id: u32) -> Option<(u32, Origin)> {
        let flight = &self.flights.all[id as usize];
        flight.of.map(|of| (flight.iteration, of))
    }

    fn activity_of(&self, of: Origin) -> u32 {
        match of {
            Origin::Op(op) => self.job.dag.activity_of(op),
            Origin::Program { program, connection, .. } => {
                self.job.dag.programs()[program as usize].ring.from(connection).activity
            }
        }
    }

    fn chains(&self, messages: &[(u32, usize)], rank_name: &dyn Fn(u32) -> String) -> Vec<String> {
        let mut lines = Vec::new();
        for &(id, behind) in messages.iter().take(CHAINS) {
            lines.push(self.message_words(id, behind, rank_name));
            lines.extend(self.flight(id).and_then(|(_, of)| self.needed_by(of, rank_name)));
        }
        let others = messages.len().saturating_sub(CHAINS);
        lines.extend((others > 0).then(|| format!("and messages between {others} more pairs of ranks")));
        lines
    }

    fn message_words(&self, id: u32, behind: usize, rank_name: &dyn Fn(u32) -> String) -> String {
        let flight = &self.flights.all[id as usize];
        let Some(of) = flight.of else { return String::new() };
        let (from, to, via) = self.ways_of(id);
        let behind = if behind > 0 { format!(", nor have {behind} messages behind them") } else { String::new() };
        format!(
            "{}: {} bytes from {} to {} by {via}, sent at {}, have not arrived{behind}",
            self.activity_words(flight.iteration, self.activity_of(of)),
            flight.bytes,
            rank_name(from),
            rank_name(to),
            flight.since,
        )
    }

    fn op_words(&self, iteration: u32, op: OpId) -> String {
        self.activity_words(iteration, self.job.dag.activity_of(op))
    }

    fn activity_words(&self, iteration: u32, activity: u32) -> String {
        let dag = &self.job.dag;
        let activity = &dag.activities()[activity as usize];
        let of = if self.job.iterations > 1 { format!(", iteration {iteration}") } else { String::new() };
        format!("{} `{}`{of}", activity.kind, dag.name_of(activity))
    }

    /// Ranks that wait for a message, the nearest first.
    fn needed_by(&self, of: Origin, rank_name: &dyn Fn(u32) -> String) -> Option<String> {
        let ranks = match of {
            Origin::Op(op) => self.ranks_after(op),
            Origin::Program { program, connection, .. } => {
                let ring = &self.job.dag.programs()[program as usize].ring;
                ring.needed_by(connection).map(|member| member.rank).collect()
            }
        };
        let named: Vec<String> = ranks.iter().take(NAMED).map(|rank| rank_name(*rank)).collect();
        let others = ranks.len().saturating_sub(NAMED);
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        (!ranks.is_empty()).then(|| format!("  needed by {}{more}", named.join(", then ")))
    }

    /// Ranks whose operations need one, directly or through others.
    fn ranks_after(&self, op: OpId) -> Vec<u32> {
        let dag = &self.job.dag;
        let (mut seen, mut open) = (BTreeSet::from([op]), VecDeque::from([op]));
        let (mut ranks, mut known) = (Vec::new(), BTreeSet::from([dag.rank_of(op)]));
        while let Some(op) = open.pop_front() {
            for &next in dag.after(op) {
                if seen.insert(next) {
                    open.push_back(next);
                    if known.insert(dag.rank_of(next)) {
                        ranks.push(dag.rank_of(next));
                    }
                }
            }
        }
        ranks
    }

    fn computing(&self, rank_name: &dyn Fn(u32) -> String) -> Vec<String> {
        let mut events: Vec<_> = self.events.iter().map(|Reverse(event)| *event).collect();
        events.sort_unstable();
        let words = |(at, iteration, due): &_| match due {
            Due::Start(rank) => format!("{} starts at {at}", rank_name(*rank)),
            Due::Computed(op) => {
                let rank = self.job.dag.rank_of(*op);
                format!("{} of {} lasts until {at}", self.op_words(*iteration, *op), rank_name(rank))
            }
        };
        with_others(events.iter().take(2 * CHAINS).map(words).collect(), events.len(), "that start or compute")
    }

    fn is_asked_for(&self, hold: u32) -> bool {
        let hold = &self.holds[hold as usize];
        hold.by.is_some() && !hold.waiting.is_empty()
    }

    fn held_words(&self, hold: u32, rank_name: &dyn Fn(u32) -> String) -> String {
        let hold = &self.holds[hold as usize];
        let waiting = hold.waiting.peek().map(|Reverse(waiting)| *waiting).unwrap_or_default();
        let holder = hold.by.unwrap_or_default();
        format!(
            "{}: {} waits until {} is over, which holds what it needs",
            rank_name(self.job.dag.rank_of(waiting.1)),
            self.op_words(waiting.0, waiting.1),
            self.op_words(holder.0, holder.1)
        )
    }
}

/// Lines, and how many more there would be.
fn with_others(mut lines: Vec<String>, all: usize, what: &str) -> Vec<String> {
    let others = all - lines.len();
    lines.extend((others > 0).then(|| format!("and {others} more {what}")));
    lines
}
