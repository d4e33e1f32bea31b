//! A run: the network, the sources that use it, and what concerns all of it at once.
//!
//! Faults, probes, checks and the acts of sources are events of the run. Between them the network moves
//! by itself ([`crate::part`]) up to the next of them.

use crate::build::Layout;
use crate::check::CheckState;
use crate::part::{Part, Pause, kind};
use crate::plan::Plan;
use crate::probe::ProbeState;
use crate::record::StormRecord;
use crate::record::{BlockedQueue, Counters, Failure, FlowRecord, PauseRecord, PfcRecord, PortReport, Sample};
use crate::scheme::{Format, Scheme};
use crate::sources::Feed;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use xoff_engine::{Key, Span, Time};

/// More flows or samples than this in one call to [`World::run`] end it: they may take memory by the
/// gigabyte.
const FLOWS_AT_ONCE: u64 = 1 << 16;
const SAMPLES_AT_ONCE: usize = 1 << 20;

/// How a call to [`World::run`] ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    Running,
    Done,
}

/// Everything of one run. What can be seen from outside is what it was when [`World::run`] last returned.
pub struct World<S: Scheme> {
    pub plan: Arc<Plan>,
    pub now: Time,
    pub counters: Counters,
    /// Records since they were last taken.
    pub flows: Vec<FlowRecord>,
    pub pauses: Vec<PauseRecord>,
    /// Only if [`crate::plan::RunSettings::record_pfc_frames`].
    pub pfc_frames: Vec<PfcRecord>,
    pub samples: Vec<Sample>,
    /// Deadlocks found so far: time and cycle.
    pub deadlocks: Vec<(Time, Vec<BlockedQueue>)>,
    pub failure: Option<Failure>,

    pub(crate) part: Part<S>,
    pub(crate) layout: Layout,
    /// Events of the run, earliest first.
    pub(crate) agenda: BinaryHeap<Reverse<Key>>,
    pub(crate) feeds: Vec<Feed>,
    /// Flows that are over, of which there may be packets left; by card.
    pub(crate) ended: Vec<u32>,
    /// What lies between the times at which they are forgotten.
    pub(crate) grid: Span,
    pub(crate) schemes: Arc<Vec<S>>,
    pub(crate) formats: Arc<Vec<[Format; 2]>>,
    pub(crate) max_base_rtt: Span,
    pub(crate) max_bdp_bytes: u64,
    /// Where round trips are those of payload.
    pub(crate) ways: Option<crate::ways::Ways>,
    pub(crate) probe_state: ProbeState,
    pub(crate) checks: CheckState,
    pub(crate) done: bool,
    /// Nothing happens until whoever drives the run has looked: it is done, or its memory has grown.
    pub(crate) halted: bool,
    /// Flows started, from which on whoever drives the world is asked to look.
    pub(crate) flows_enough: u64,
    pub(crate) finished: bool,
}

impl<S: Scheme> World<S> {
    /// Sets the first events of the run.
    pub(crate) fn start(&mut self) {
        self.flows_enough = FLOWS_AT_ONCE;
        for index in 0..self.plan.faults.len() as u32 {
            self.schedule(self.plan.faults[index as usize].at, kind::FAULT, index, index);
        }
        for source in 0..self.feeds.len() as u32 {
            self.arm_source(source);
        }
        self.start_probes();
        self.start_checks();
        self.part.start_watchdogs();
        if self.is_idle() {
            self.finish();
        }
    }

    /// Adds an event of the run, of something that has a name besides its index.
    pub(crate) fn schedule(&mut self, at: Time, kind: u8, name: u32, index: u32) {
        let key = self.part.queue.key(at, kind, name, index);
        self.agenda.push(Reverse(key));
    }

    /// Handles up to `max_events` events; fewer where single ones have started many flows or taken many
    /// samples, so that whoever drives the world hears of it in time.
    pub fn run(&mut self, max_events: u64) -> Progress {
        let progress = self.advance(max_events);
        self.publish();
        progress
    }

    fn advance(&mut self, max_events: u64) -> Progress {
        let stop = Key::after(self.plan.run.stop);
        let mut left = max_events;
        while left > 0 {
            if self.halted {
                return self.halt();
            }
            let next = self.agenda.peek().map_or(stop, |Reverse(key)| stop.min(*key));
            let line = self.next_line();
            let (handled, pause) = self.part.run(next.min(line), left);
            left -= handled;
            self.now = self.part.now;
            match pause {
                Pause::Counted => break,
                Pause::Halted => self.look(),
                Pause::Limit | Pause::Empty if line < next => self.cross(line.time()),
                Pause::Limit | Pause::Empty if next < stop => {
                    left -= 1;
                    self.handle_next();
                }
                Pause::Empty if self.agenda.is_empty() => return self.end(),
                Pause::Limit | Pause::Empty => {
                    self.set_now(self.plan.run.stop);
                    return self.end();
                }
            }
        }
        Progress::Running
    }

    /// Before the next time at which flows that are over are forgotten and a run that has failed ends; those
    /// are the same whatever the network is cut into.
    fn next_line(&self) -> Key {
        if self.ended.is_empty() && self.part.failure.is_none() {
            return Key::LAST;
        }
        let line = (self.now.ps() / self.grid.ps() + 1).saturating_mul(self.grid.ps());
        Key::before(Time::from_ps(line))
    }

    fn cross(&mut self, line: Time) {
        self.set_now(line);
        self.free_ended();
        if let Some(failure) = self.part.failure.take() {
            self.failure.get_or_insert(failure);
            self.finish();
        }
    }

    /// The part has something to tell.
    fn look(&mut self) {
        self.hear_news();
    }

    fn set_now(&mut self, now: Time) {
        self.now = now;
        self.part.now = now;
    }

    /// The next event of the run.
    fn handle_next(&mut self) {
        let Some(Reverse(key)) = self.agenda.pop() else { return };
        debug_assert!(key.time() >= self.now, "time runs backwards");
        self.set_now(key.time());
        self.part.counters.events += 1;
        let (kind, index) = self.part.queue.parts(key);
        match kind {
            kind::SOURCE => self.on_source(index),
            kind::CHECK => self.on_check(),
            kind::PROBE => self.on_probe(index),
            kind::FAULT => self.on_fault(index),
            other => unreachable!("event kind {other} of a run"),
        }
    }

    /// Makes what has happened visible.
    fn publish(&mut self) {
        self.counters = self.part.counters;
        self.pauses.append(&mut self.part.pauses);
        self.pfc_frames.append(&mut self.part.pfc_frames);
    }

    /// Runs to the end. For tests and small programs; others call [`World::run`] in slices.
    pub fn run_to_end(&mut self) {
        while self.run(1 << 20) == Progress::Running {}
    }

    /// The run is over.
    pub(crate) fn finish(&mut self) {
        self.done = true;
        self.halted = true;
    }

    /// Hands control back where many flows or samples have come since it last did.
    pub(crate) fn pause_if_grown(&mut self) {
        let started = self.part.counters.flows_started;
        if started > self.flows_enough {
            self.flows_enough = started + FLOWS_AT_ONCE;
            self.halted = true;
        }
        self.halted |= self.samples.len() > SAMPLES_AT_ONCE;
    }

    #[cold]
    fn halt(&mut self) -> Progress {
        if self.done {
            return self.end();
        }
        self.halted = false;
        Progress::Running
    }

    /// Closes the books once: flows still alive get their records.
    fn end(&mut self) -> Progress {
        if !self.finished {
            self.finished = true;
            self.counters = self.part.counters;
            self.final_check();
            let part = &self.part;
            let mut records: Vec<FlowRecord> =
                part.living_cards().map(|card| part.flow_record(&part.cards[card])).collect();
            records.sort_by_key(|record| record.id);
            self.flows.append(&mut records);
            self.free_ended();
        }
        Progress::Done
    }

    /// What every port did, with queues settled to now.
    pub fn port_reports(&mut self) -> Vec<PortReport> {
        self.part.port_reports()
    }

    /// What watchdogs did so far; of a storm that has not ended, what it has cost until now.
    pub fn storm_records(&self) -> Vec<StormRecord> {
        self.part.storm_records()
    }

    /// Flows alive now.
    pub fn flows_in_flight(&self) -> usize {
        self.part.senders.len()
    }

    pub fn max_base_rtt(&self) -> Span {
        self.max_base_rtt
    }

    /// Records frames from now on. Captures are numbered in order.
    pub fn capture(&mut self, captures: Vec<crate::capture::Capture>) {
        self.part.capture(captures);
    }

    /// What was captured.
    pub fn taps(&self) -> &crate::capture::Taps {
        &self.part.taps
    }

    pub fn taps_mut(&mut self) -> &mut crate::capture::Taps {
        &mut self.part.taps
    }

    /// The control of a switch (by node), for those who want to look inside.
    pub fn switch_control(&self, node: u32) -> Option<&S::Switch> {
        self.part.switch_control(self.layout.index_of[node as usize])
    }

    /// The number that a port has at its switch, as controls name it.
    pub fn local_port(&self, port: u32) -> u16 {
        self.part.local_port(self.layout.port_at[port as usize])
    }
}
