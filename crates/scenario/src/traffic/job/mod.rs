//! A training job: sends what its graph allows, on queue pairs between the hosts of its ranks.

pub mod log;
mod pairs;
pub mod placement;
mod settling;
#[cfg(test)]
mod tests;
mod together;

use super::flow::Template;
use log::{JobInterval, JobLog};
use pairs::{Pairs, QueuePair};
use placement::RankPlacement;
use settling::Settling;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use together::Numbers;
use xoff_engine::{Span, Time};
use xoff_fabric::traffic::{Action, FlowSpec, MacroFlow, Source, Subscription};
use xoff_jobs::settle::Rule;
use xoff_jobs::{Graph, Interval, Job, Message, Pair, Runner};

/// A job as read from a scenario.
#[derive(Clone, Debug)]
pub struct JobPlan {
    /// What it does in one iteration.
    pub graph: Arc<Graph>,
    /// How often it does that.
    pub iterations: u32,
    /// When it starts.
    pub start: Time,
    /// By rank, how much later than that it comes; empty if nobody is late.
    pub late: Arc<[Span]>,
    /// By rank, by how much its computing takes longer; empty if nobody is slow.
    pub slow: Arc<[f64]>,
    pub(crate) placement: Arc<RankPlacement>,
    pub(crate) connections: Connections,
    pub(crate) completion: Completion,
    /// What software takes for a message before it is handed to the NIC.
    pub(crate) overhead: Span,
    pub(crate) template: Template,
    /// When its iterations need not be run any more.
    pub settle: Option<Rule>,
    /// Why its collectives are sent message by message at flow level, where they would be macro-flows.
    pub messages_because: Option<&'static str>,
}

/// What carries the messages of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connections {
    /// One queue pair for all of them, which keeps its rate and window.
    Persistent,
    /// A flow for each of them, which starts as flows do.
    Fresh,
}

/// When a message is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completion {
    /// Its last byte has arrived.
    Delivered,
    /// Its sender knows.
    Acknowledged,
}

impl JobPlan {
    /// Its ranks by name.
    pub fn rank_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.placement.ranks.iter().map(|placed| placed.name.as_str())
    }

    /// The server of a rank, by its place in the job.
    pub fn server_of(&self, rank: u32) -> u32 {
        self.placement.ranks[rank as usize].server
    }

    pub(crate) fn source(&self, log: Option<(u32, Arc<Mutex<JobLog>>)>) -> JobSource {
        let job = Job {
            dag: Arc::clone(self.graph.compiled()),
            iterations: self.iterations,
            start: self.start,
            late: self.late.to_vec(),
            slow: self.slow.to_vec(),
        };
        let settling = match (&log, self.settle.filter(|_| self.iterations > 1)) {
            (Some((number, log)), Some(rule)) => Some(Settling::new(*number, rule, log, self.start)),
            _ => None,
        };
        JobSource {
            settling,
            runner: Runner::new(job),
            pairs: Pairs::default(),
            numbers: Numbers::default(),
            held: VecDeque::new(),
            messages: Vec::new(),
            intervals: Vec::new(),
            due: None,
            log,
            of: self.clone(),
        }
    }
}

pub struct JobSource {
    of: JobPlan,
    runner: Runner,
    pairs: Pairs,
    numbers: Numbers,
    settling: Option<Settling>,
    /// Messages that software still works on. It takes the same time for each, so they leave as they came.
    held: VecDeque<(Time, Message)>,
    messages: Vec<Message>,
    intervals: Vec<Interval>,
    /// Something has happened at this instant.
    due: Option<Time>,
    log: Option<(u32, Arc<Mutex<JobLog>>)>,
}

impl JobSource {
    /// Hands a message to the queue pair of its lane, which is opened for the first; or to one of its own.
    fn send(&mut self, message: Message, out: &mut Vec<Action>) {
        if self.of.connections == Connections::Fresh {
            let pair = self.pair(&message);
            self.open(pair, Some(message), out);
            return;
        }
        let handle = match self.pairs.of(message.pair) {
            Some(handle) => handle,
            None => {
                let pair = self.pair(&message);
                self.open(pair, None, out)
            }
        };
        self.hand_over(handle, message, out);
    }

    fn pair(&self, first: &Message) -> QueuePair {
        let placement = &self.of.placement;
        if self.runner.job().dag.macro_flow(first.pair).is_some() {
            return QueuePair::new(first, 1, placement.nics[0].len());
        }
        QueuePair::new(first, placement.ports(first.from, first.lane), placement.nics[0].len())
    }

    /// Starts a flow: for a lone message, or for all that follow on this lane. Its handle.
    fn open(&mut self, pair: QueuePair, lone: Option<Message>, out: &mut Vec<Action>) -> u32 {
        if let Some(flow) = self.runner.job().dag.macro_flow(pair.number()) {
            let flow = together::macro_flow(flow, &self.of, &mut self.numbers);
            let handle = self.pairs.open(pair, true);
            let spec = FlowSpec { handle, ..flow.spec };
            out.push(Action::StartTogether(Box::new(MacroFlow { spec, ..flow })));
            return handle;
        }
        self.numbers.count();
        let Pair { from, to, lane } = pair.ends;
        let (src, dst) = self.of.placement.hosts(from, to, lane, pair.port());
        let handle = self.pairs.open(pair, lone.is_none());
        if let Some(message) = lone {
            self.pairs.hand_over(handle, message.id);
        }
        let spec = self.of.template.flow(handle, src, dst, lone.map(|message| message.bytes), 0);
        let offered_bytes = if lone.is_none() { Some(0) } else { None };
        out.push(Action::Start(FlowSpec { offered_bytes, ..spec }));
        handle
    }

    fn hand_over(&mut self, handle: u32, message: Message, out: &mut Vec<Action>) {
        self.pairs.hand_over(handle, message.id);
        out.push(Action::Send { handle, bytes: message.bytes, message: message.id });
    }

    /// Queue pairs that have lost their way go on by the other port, and send again what has not arrived.
    fn move_stranded(&mut self, out: &mut Vec<Action>) {
        for handle in self.pairs.take_moving() {
            let unsent: Vec<Message> =
                self.pairs.under_way(handle).map(|message| self.runner.under_way(message)).collect();
            let moved = self.pairs[handle].moved();
            self.pairs.leave(handle);
            out.push(Action::Stop { handle });
            if self.of.connections == Connections::Fresh {
                for message in unsent {
                    self.open(moved.clone(), Some(message), out);
                }
                continue;
            }
            let handle = self.open(moved, None, out);
            for message in unsent {
                self.hand_over(handle, message, out);
            }
        }
    }

    fn over(&mut self, now: Time, handle: u32) {
        // A queue pair delivers in order.
        if let Some(message) = self.pairs.arrived(handle) {
            self.runner.delivered(now, message);
            self.due = Some(now);
        }
    }

    fn note(&self, intervals: impl IntoIterator<Item = Interval>) {
        // Nobody else holds it while the world runs.
        if let Some((job, log)) = &self.log
            && let Ok(mut log) = log.lock()
        {
            log.done.extend(intervals.into_iter().map(|interval| JobInterval { job: *job, interval }));
        }
    }

    /// Who is cut off from the network, a line for each NIC number.
    fn cut_off(&self) -> Vec<String> {
        const SHOWN: usize = 16;
        let placement = &self.of.placement;
        let mut by_nic: BTreeMap<u16, BTreeSet<u32>> = BTreeMap::new();
        for ((_, nic), ranks) in self.pairs.cut_off(|rank| placement.ranks[rank as usize].server) {
            by_nic.entry(nic).or_default().extend(ranks);
        }
        let line = |(nic, ranks): (u16, BTreeSet<u32>)| {
            let mut names: Vec<String> = ranks.iter().take(SHOWN).map(|rank| placement.name(*rank)).collect();
            if ranks.len() > SHOWN {
                names.push(format!("and {} more", ranks.len() - SHOWN));
            }
            format!("a way back to the network: cut off, by NIC {nic}, are {}", names.join(", "))
        };
        by_nic.into_iter().map(line).collect()
    }
}

impl Source for JobSource {
    fn subscription(&self) -> Subscription {
        let delivered = self.of.completion == Completion::Delivered;
        Subscription { drained: false, delivered, acknowledged: !delivered }
    }

    fn next(&self) -> Option<Time> {
        let held = self.held.front().map(|(at, _)| *at);
        [self.due, held, self.runner.next()].into_iter().flatten().min()
    }

    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        self.due = None;
        self.move_stranded(out);
        let mut messages = std::mem::take(&mut self.messages);
        self.runner.advance(now, &mut messages);
        for message in messages.drain(..) {
            if self.of.overhead == Span::ZERO || self.runner.job().dag.macro_flow(message.pair).is_some() {
                self.send(message, out);
            } else {
                self.held.push_back((now.saturating_add(self.of.overhead), message));
            }
        }
        self.messages = messages;
        while let Some((_, message)) = self.held.front().copied().filter(|(at, _)| *at <= now) {
            self.held.pop_front();
            self.send(message, out);
        }
        self.runner.drain_intervals(&mut self.intervals);
        let mut over = std::mem::take(&mut self.intervals);
        if !over.is_empty() {
            self.note(over.drain(..));
        }
        self.intervals = over;
        if let Some(settling) = &mut self.settling {
            settling.look(now, &mut self.runner);
        }
        if self.runner.is_over() {
            out.extend(self.pairs.close().into_iter().map(|handle| Action::Stop { handle }));
        }
    }

    fn on_delivered(&mut self, now: Time, handle: u32, _message: u32) {
        self.over(now, handle);
    }

    fn on_acknowledged(&mut self, now: Time, handle: u32, _message: u32) {
        self.over(now, handle);
    }

    fn on_finished(&mut self, _now: Time, handle: u32) {
        self.pairs.finished(handle);
    }

    fn on_stranded(&mut self, now: Time, handle: u32, cut: bool) {
        if self.pairs.stranded(handle, cut) {
            self.due = Some(now);
        }
    }

    fn waits_for(&self) -> Vec<String> {
        let name = |rank| self.of.placement.name(rank);
        let mut lines = self.cut_off();
        lines.extend(self.runner.waits_for(&name));
        lines
    }
}

impl Drop for JobSource {
    /// A run that ends before the job does leaves what was begun.
    fn drop(&mut self) {
        self.note(self.runner.unfinished());
    }
}
