//! A run: the network, the sources that use it, and what concerns all of it at once.
//!
//! Faults, probes, checks and the acts of sources are events of the run. Between them the network moves
//! by itself (`part/`) up to the next of them.

mod activity;
mod build;
mod check;
mod fault;
mod flow_state;
mod foresee;
pub mod handles;
mod paths;
mod probe;
pub mod simulation;
mod sources;
mod start;
pub mod window;

use crate::contract::record::{
    BlockedQueue, Counters, DeadLink, Failure, FlowLink, FlowRecord, PauseRecord, PfcRecord, PortReport, Sample,
    StormRecord,
};
use crate::contract::scheme::{Format, Scheme};
use crate::contract::traffic::Action;
use crate::id::{FlowStateId, PortId, SourceId};
use crate::network::plan::Plan;
use crate::network::route::Convergence;
use crate::node::watch::Losses;
use crate::part::flow_links::FlowLinks;
use crate::part::{Part, Pause, kind};
use activity::Watched;
use build::Layout;
use check::CheckState;
use flow_state::FlowState;
use probe::ProbeState;
use sources::SourceState;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use window::{Executor, Sequential, Window};
use xoff_engine::{Key, Slab, Span, Table, Time};

/// More flows or samples than this in one call to [`World::run`] end it: they may take memory by the
/// gigabyte.
const FLOWS_AT_ONCE: u64 = 1 << 16;
const SAMPLES_AT_ONCE: usize = 1 << 20;

/// How a call to [`World::run`] ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// As many events as were asked for, or many records to take: call it again.
    Running,
    /// The run has ended, and its records are complete.
    Done,
}

/// What can be seen of a run from outside: what it was when [`World::run`] last returned.
pub struct RunState {
    /// As the run was built from; faults do not change it.
    pub plan: Arc<Plan>,
    /// Simulated time reached.
    pub now: Time,
    /// Since the start.
    pub counters: Counters,
    /// Records since they were last taken.
    pub flows: Vec<FlowRecord>,
    /// PAUSE and RESUME since they were last taken, if [`crate::network::plan::RunSettings::record_pauses`].
    pub pauses: Vec<PauseRecord>,
    /// Only if [`crate::network::plan::RunSettings::record_pfc_frames`].
    pub pfc_frames: Vec<PfcRecord>,
    /// Of all probes, since they were last taken.
    pub samples: Vec<Sample>,
    /// Deadlocks found so far: time and cycle.
    pub deadlocks: Vec<(Time, Vec<BlockedQueue>)>,
    /// Why it ended early, if it did.
    pub failure: Option<Failure>,
    /// What sources still waited for when the run ended, in their words ([`crate::contract::traffic::Source::waits_for`]).
    pub waits: Vec<String>,
}

impl RunState {
    /// Nothing has happened yet.
    pub fn new(plan: Arc<Plan>) -> RunState {
        RunState {
            plan,
            now: Time::ZERO,
            counters: Counters::default(),
            flows: Vec::new(),
            pauses: Vec::new(),
            pfc_frames: Vec::new(),
            samples: Vec::new(),
            deadlocks: Vec::new(),
            failure: None,
            waits: Vec::new(),
        }
    }
}

/// Everything of one run. It can be read and written as its [`RunState`].
pub struct World<S: Scheme> {
    pub(crate) state: RunState,
    pub(crate) parts: Vec<Part<S>>,
    pub(crate) layout: Layout,
    pub(crate) window: Window,
    pub(crate) flow_states: Slab<FlowStateId, FlowState>,
    /// Events of the run, earliest first: what sources do, and the rest.
    pub(crate) acts: BinaryHeap<Reverse<Key>>,
    pub(crate) agenda: BinaryHeap<Reverse<Key>>,
    /// Room for what a source asks for in an act.
    pub(crate) actions: Vec<Action>,
    /// What is counted here and not in a part.
    pub(crate) own: Counters,
    /// What switches know of links that failed.
    pub(crate) convergence: Convergence,
    pub(crate) sources: Table<SourceId, SourceState>,
    /// Flows that are over, of which there may be packets left.
    pub(crate) ended: Vec<FlowStateId>,
    /// What lies between the times at which they are forgotten.
    pub(crate) grid: Span,
    pub(crate) schemes: Arc<Vec<S>>,
    pub(crate) formats: Arc<Vec<[Format; 2]>>,
    pub(crate) max_base_rtt: Span,
    pub(crate) max_bdp_bytes: u64,
    /// Where round trips are those of payload.
    pub(crate) payload_paths: Option<crate::network::payload_paths::PayloadPaths>,
    pub(crate) probe_state: ProbeState,
    pub(crate) watched: Option<Box<Watched>>,
    pub(crate) checks: CheckState,
    pub(crate) done: bool,
    /// Nothing happens until whoever drives the run has looked: it is done, or its memory has grown.
    pub(crate) halted: bool,
    /// Flows started, from which on whoever drives the world is asked to look.
    pub(crate) flows_enough: u64,
    pub(crate) finished: bool,
}

impl<S: Scheme> Deref for World<S> {
    type Target = RunState;
    fn deref(&self) -> &RunState {
        &self.state
    }
}

impl<S: Scheme> DerefMut for World<S> {
    fn deref_mut(&mut self) -> &mut RunState {
        &mut self.state
    }
}

impl<S: Scheme> World<S> {
    /// Sets the first events of the run.
    pub(crate) fn start(&mut self) {
        self.flows_enough = FLOWS_AT_ONCE;
        for index in 0..self.state.plan.faults.len() as u32 {
            self.schedule(self.state.plan.faults[index as usize].at, kind::FAULT, index, index);
        }
        self.window.foresight.needed =
            self.parts.len() > 1 && self.sources.iter().any(|source_state| source_state.source.reacts());
        for source in self.sources.ids() {
            self.arm_source(source);
        }
        self.start_probes();
        self.start_checks();
        for part in &mut self.parts {
            part.start_watch();
        }
        if self.is_idle() {
            self.finish();
        }
    }

    /// Adds an event of the run, of something that has a name besides its index.
    pub(crate) fn schedule(&mut self, at: Time, kind: u8, name: u32, index: u32) {
        let key = self.parts[0].queue.key(at, kind, name, index);
        self.agenda.push(Reverse(key));
    }

    /// Handles up to `max_events` events; fewer where single ones have started many flows or taken many
    /// samples, so that whoever drives the world hears of it in time.
    pub fn run(&mut self, max_events: u64) -> Progress {
        self.run_with(max_events, &Sequential)
    }

    /// [`World::run`] with an executor of parts. Results do not depend on it.
    pub fn run_with(&mut self, max_events: u64, executor: &dyn Executor) -> Progress {
        let progress = self.advance(max_events, executor);
        self.publish();
        progress
    }

    fn advance(&mut self, max_events: u64, executor: &dyn Executor) -> Progress {
        let stop = Key::after(self.state.plan.run.stop);
        let mut left = max_events;
        while left > 0 {
            if self.halted {
                return self.halt();
            }
            if self.parts.len() > 1 {
                match self.run_window(stop, executor) {
                    Some(handled) => left = left.saturating_sub(handled.max(1)),
                    None => return self.end(),
                }
                continue;
            }
            let next = self.next_event().map_or(stop, |key| stop.min(key));
            let line = self.next_line();
            let look = self.next_look();
            let (handled, pause) = self.parts[0].run(next.min(line).min(look), left);
            left -= handled;
            self.state.now = self.parts[0].now;
            match pause {
                Pause::Counted => {
                    self.drain_events();
                    break;
                }
                Pause::Halted => self.drain_events(),
                // Where nothing is left to happen the run ends, and is not looked at later than that.
                Pause::Limit | Pause::Empty
                    if look < next.min(line) && (pause == Pause::Limit || next < stop || line < next) =>
                {
                    self.look();
                }
                Pause::Limit | Pause::Empty if line < next => self.cross(line.time()),
                Pause::Limit | Pause::Empty if next < stop => {
                    left -= 1;
                    self.handle_next();
                }
                // Flows that are unfinished when nothing is left to happen are stuck.
                Pause::Empty if self.next_event().is_none() && self.unfinished() > 0 => return self.end(),
                Pause::Limit | Pause::Empty => {
                    self.set_now(self.state.plan.run.stop);
                    return self.end();
                }
            }
        }
        Progress::Running
    }

    fn next_event(&self) -> Option<Key> {
        let first = |heap: &BinaryHeap<Reverse<Key>>| heap.peek().map(|Reverse(key)| *key);
        first(&self.acts).into_iter().chain(first(&self.agenda)).min()
    }

    /// Before the next time at which flows that are over are forgotten and a run that has failed ends; those
    /// are the same whatever the network is cut into.
    fn next_line(&self) -> Key {
        if self.has_business_at_lines() { self.line_after(self.state.now) } else { Key::LAST }
    }

    pub(crate) fn has_business_at_lines(&self) -> bool {
        !self.ended.is_empty() || self.parts.iter().any(|part| part.records.failure.is_some())
    }

    pub(crate) fn line_after(&self, now: Time) -> Key {
        let line = (now.ps() / self.grid.ps() + 1).saturating_mul(self.grid.ps());
        Key::before(Time::from_ps(line))
    }

    pub(crate) fn cross(&mut self, line: Time) {
        self.set_now(line);
        // What is told of a flow is heard before it is forgotten.
        self.drain_events();
        self.free_ended();
        if self.take_failure() {
            self.finish();
        }
    }

    /// Whether a part has failed; the first of several failures is that of the run.
    fn take_failure(&mut self) -> bool {
        let failures = self.parts.iter_mut().filter_map(|part| part.records.failure.take());
        let first = failures.min_by_key(|(rank, _)| *rank);
        if let Some((_, failure)) = first {
            self.state.failure.get_or_insert(failure);
            return true;
        }
        false
    }

    pub(crate) fn set_now(&mut self, now: Time) {
        self.state.now = now;
        for part in &mut self.parts {
            part.now = now;
        }
    }

    fn handle_next(&mut self) {
        let Some(next) = self.next_event() else { return };
        debug_assert!(next.time() >= self.state.now, "time runs backwards");
        self.set_now(next.time());
        self.parts[0].queue.begin(next);
        if self.acts.peek() == Some(&Reverse(next)) {
            self.handle_act();
        } else {
            self.handle_agenda();
        }
    }

    /// The source that is due acts.
    pub(crate) fn handle_act(&mut self) {
        let Some(Reverse(key)) = self.acts.pop() else { return };
        self.own.events += 1;
        self.on_source(SourceId::new(key.index()));
    }

    pub(crate) fn handle_agenda(&mut self) {
        let Some(Reverse(key)) = self.agenda.pop() else { return };
        self.own.events += 1;
        match key.kind() {
            kind::CHECK if key.index() == check::STRANDED => self.on_stranded_check(),
            kind::CHECK => self.on_check(),
            kind::PROBE => self.on_probe(key.index()),
            kind::FAULT => self.on_fault(key.index()),
            other => unreachable!("event kind {other} of a run"),
        }
    }

    /// Totals over the run and all parts.
    pub(crate) fn totals(&self) -> Counters {
        self.parts.iter().fold(self.own, |sum, part| sum.plus(&part.counters))
    }

    /// Makes what has happened visible.
    fn publish(&mut self) {
        self.state.counters = self.totals();
        if !self.finished {
            // Parts are ahead of the run where nothing but packets moves.
            self.state.now = self.parts.iter().fold(self.state.now, |latest, part| latest.max(part.now));
        }
        if let [part] = &mut self.parts[..] {
            self.state.pauses.append(&mut part.records.pauses);
            self.state.pfc_frames.append(&mut part.records.pfc_frames);
        } else {
            self.publish_merged();
        }
    }

    /// Runs to the end. For tests and small programs; others call [`World::run`] in slices.
    pub fn run_to_end(&mut self) {
        while self.run(1 << 20) == Progress::Running {}
    }

    pub(crate) fn finish(&mut self) {
        self.done = true;
        self.halted = true;
    }

    /// Hands control back where many flows or samples have come since it last did.
    pub(crate) fn pause_if_grown(&mut self) {
        let started = self.own.flows_started;
        if started > self.flows_enough {
            self.flows_enough = started + FLOWS_AT_ONCE;
            self.halted = true;
        }
        self.halted |= self.state.samples.len() > SAMPLES_AT_ONCE;
    }

    #[cold]
    fn halt(&mut self) -> Progress {
        if self.done {
            return self.end();
        }
        self.halted = false;
        Progress::Running
    }

    /// Completes the records, once: an active flow gets its record too.
    fn end(&mut self) -> Progress {
        if !self.finished {
            self.finished = true;
            self.look_once_more(self.state.now);
            self.drain_events();
            // Of what went wrong after the last line too.
            self.take_failure();
            // What is in flight is counted.
            self.parts.iter_mut().for_each(Part::receive_remote);
            self.state.counters = self.totals();
            self.final_check();
            self.state.waits = self.waits();
            let alive = self.parts.iter().flat_map(|part| part.living_flows());
            let mut records: Vec<FlowRecord> = alive.map(|(_, flow)| self.flow_record(flow)).collect();
            records.sort_by_key(|record| record.id);
            self.state.flows.append(&mut records);
            self.free_ended();
        }
        Progress::Done
    }

    /// Frees the memory of all packets in flight and in queues, of a run that has ended.
    pub fn forget_packets(&mut self) {
        self.parts.iter_mut().for_each(Part::forget_packets);
    }

    /// What every port did, with queues settled to now.
    pub fn port_reports(&mut self) -> Vec<PortReport> {
        let mut reports = vec![PortReport::default(); self.state.plan.ports()];
        self.parts.iter_mut().for_each(|part| part.report_ports(&mut reports));
        reports
    }

    /// What watchdogs did so far; of a storm that has not ended, what it has cost until now.
    pub fn storm_records(&self) -> Vec<StormRecord> {
        let mut storms: Vec<(Option<Key>, StormRecord)> =
            self.parts.iter().flat_map(|part| part.storm_records()).collect();
        storms.sort_by_key(|(rank, _)| *rank);
        storms.into_iter().map(|(_, storm)| storm).collect()
    }

    /// Links that failed so far and what was lost on them, by the time of the failure.
    pub fn dead_links(&self) -> Vec<DeadLink> {
        let mut dead: BTreeMap<(Time, u32), Losses> = BTreeMap::new();
        for (link, from, losses) in self.parts.iter().flat_map(|part| part.watch.dead_links.iter()) {
            let all = dead.entry((from, link)).or_default();
            all.packets += losses.packets;
            all.last_at = all.last_at.max(losses.last_at);
        }
        let record =
            |((from, link), Losses { packets, last_at })| DeadLink { link, from, packets_lost: packets, last_at };
        dead.into_iter().map(record).collect()
    }

    /// What every port sent of every flow, by flow and port; only if
    /// [`crate::network::plan::RunSettings::record_flow_links`].
    pub fn flow_links(&self) -> Vec<FlowLink> {
        let counted = self.parts.iter().filter_map(|part| part.records.flow_links.as_ref());
        let mut rows: Vec<FlowLink> = counted.flat_map(FlowLinks::rows).collect();
        rows.sort_unstable_by_key(|row| (row.flow, row.port));
        rows
    }

    /// Flows alive now.
    pub fn flows_in_flight(&self) -> usize {
        self.flow_states.len()
    }

    /// Of all pairs of hosts, as schemes are told.
    pub fn max_base_rtt(&self) -> Span {
        self.max_base_rtt
    }

    /// Records frames from now on. Captures are numbered in order. Only for a network in one part.
    pub fn capture(&mut self, captures: Vec<crate::contract::capture::Capture>) {
        assert!(self.parts.len() == 1 || captures.is_empty(), "captures look at all of the network");
        self.parts[0].capture(captures);
    }

    /// What was captured.
    pub fn taps(&self) -> &crate::node::tap::Taps {
        &self.parts[0].records.taps
    }

    /// To take the frames that have come, and make room.
    pub fn taps_mut(&mut self) -> &mut crate::node::tap::Taps {
        &mut self.parts[0].records.taps
    }

    /// The control of a switch (by node), for those who want to look inside.
    pub fn switch_control(&self, node: u32) -> Option<&S::Switch> {
        let part = &self.parts[usize::from(self.layout.part_of(node))];
        part.switch_control(self.layout.switch_at(node))
    }

    /// The number that a port has at its switch, as controls name it.
    pub fn local_port(&self, port: u32) -> u16 {
        let (part, port) = self.place_of(port);
        self.parts[part].local(port)
    }

    /// Parts that the network is cut into.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The part of a port, and its number there.
    pub(crate) fn place_of(&self, port: u32) -> (usize, PortId) {
        let part = self.layout.part_of(self.state.plan.node_of(port));
        (usize::from(part), self.layout.port_at(port))
    }

    pub(crate) fn is_up(&self, port: u32) -> bool {
        let (part, port) = self.place_of(port);
        self.parts[part].is_up(port)
    }
}
