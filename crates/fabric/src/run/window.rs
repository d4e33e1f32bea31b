//! Conservative parallel simulation with barrier-synchronised windows. A window is at most the lookahead: the smallest
//! delay of a link between partitions, or of a host link if a source reacts. Packets cross partitions only between
//! windows; there are no null messages.
//!
//! A window also ends at the next global event (fault, probe, check), reclamation epoch or stop. Events of sources within
//! it are drawn ahead. Flow events and records are merged by key, so results equal those of one partition.

use crate::contract::packet::{Kind, Packet};
use crate::contract::record::{PauseRecord, PfcRecord};
use crate::contract::scheme::{Format, Scheme};
use crate::id::FlowStateId;
use crate::network::partition;
use crate::network::plan::{Link, Plan, Random, Ties};
use crate::part::{FlowEvent, Part, Pause, kind};
use crate::run::World;
use crate::run::foresee::Foresight;
use std::cmp::Reverse;
use std::sync::{Mutex, PoisonError};
use xoff_engine::event::LARGEST_INDEX;
use xoff_engine::{Key, Span, Time};

/// How far parts may run ahead, and how far they have come.
#[derive(Debug)]
pub(crate) struct Window {
    /// The shortest delay of a link between two parts.
    length: Span,
    /// The same, where the end of the run is near: no longer than the shortest link to a host, so that the
    /// ACKs that end it are seen before they arrive.
    last: Span,
    /// All parts have come so far.
    reached: Time,
    /// The act of a source that was drawn last.
    pub act: Option<Key>,
    /// Acts and orders in it so far, that parts may keep them in order.
    pub acts: u32,
    pub commands: u32,
    /// Windows so far.
    count: u64,
    /// A flow that kept the run going when its end was last looked for.
    lasting: Option<FlowStateId>,
    /// End of the last window: partitions have handled all events before it.
    pub ran_to: Key,
    pub foresight: Foresight,
}

impl Window {
    pub(crate) fn of(plan: &Plan, part_of: &[u16], formats: &[[Format; 2]]) -> Window {
        let part = |node: u32| part_of[node as usize];
        let cut = plan.links.iter().filter(|link| part(link.a) != part(link.b));
        assert!(!cut.clone().any(|link| plan.leads_to_host(link)), "a host is with its switch");
        assert!(cut.clone().count() == 0 || partition::takes_time(plan, part_of), "links between parts take time");
        let length = cut.map(Link::delay).min().unwrap_or(Span::ZERO);
        let to_hosts = plan.links.iter().filter(|link| plan.leads_to_host(link)).map(Link::delay).min();
        let last = to_hosts.map_or(length, |shortest| shortest.min(length));
        let parts = part_of.iter().max().map_or(1, |last| last + 1);
        Window {
            length,
            last,
            reached: Time::ZERO,
            act: None,
            acts: 0,
            commands: 0,
            count: 0,
            lasting: None,
            ran_to: Key::before(Time::ZERO),
            foresight: Foresight::new(usize::from(parts), formats),
        }
    }
}

/// Executes partitions, sequentially or on threads. The caller supplies it; this crate starts no thread.
pub trait Executor {
    /// Does `work` with each of so many parts, by number, in any order, and returns when all are done.
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync));
}

/// One part after the other.
pub struct Sequential;

impl Executor for Sequential {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..parts).for_each(work);
    }
}

/// Returns why the network of a run cannot be partitioned: insertion-order ties, a shared random stream, switches that
/// choose paths (`controlled`), or captured frames. The clause follows "because".
pub fn indivisible(plan: &Plan, controlled: bool, captured: bool) -> Option<&'static str> {
    if plan.model.ties == Ties::Scheduled {
        Some("simultaneous events are handled in insertion order")
    } else if plan.model.random != Random::Own {
        Some("all queues share one random stream")
    } else if controlled {
        Some("switches choose the paths of packets")
    } else if plan.model.forwarding.edge.is_some() {
        Some("edges know what packets tell each other of their paths")
    } else if captured {
        Some("frames are captured")
    } else {
        None
    }
}

impl<S: Scheme> World<S> {
    /// Makes windows shorter than they might be. Results do not depend on it, which is what it is for: tests.
    pub fn shorten_windows(&mut self, by: u64) {
        let shorter = |span: Span| Span::from_ps((span.ps() / by).max(1));
        (self.window.length, self.window.last) = (shorter(self.window.length), shorter(self.window.last));
    }

    /// Windows so far; none in one part.
    pub fn windows(&self) -> u64 {
        self.window.count
    }

    /// Moves all parts through one window; the events it had, or `None` if nothing is left to happen.
    pub(crate) fn run_window(&mut self, stop: Key, executor: &dyn Executor) -> Option<u64> {
        let before = self.events();
        let next = self.parts.iter().map(|part| part.next).min();
        let act = self.acts.peek().map(|Reverse(key)| *key);
        let event = self.agenda.peek().map(|Reverse(key)| *key);
        let first = next.into_iter().chain(act).chain(event).min().unwrap_or(Key::LAST);
        let line = self.line_after(self.window.reached);
        // The run may end there, and flows are forgotten.
        let halting = if self.has_business_at_lines() { line } else { Key::LAST };
        if first >= stop && halting >= stop {
            // Flows that are unfinished when nothing is left to happen are stuck.
            let stuck = first == Key::LAST && self.unfinished() > 0;
            let latest = self.parts.iter().map(|part| part.now).max().unwrap_or(self.state.now);
            self.set_now(if stuck { latest.max(self.state.now) } else { self.state.plan.run.stop });
            return None;
        }
        while self.next_look() <= first && self.next_look() < halting {
            self.look();
        }
        if line <= first {
            // Nothing happens before it, nor at those between it and what comes next.
            self.cross_if_needed(line.time());
            let last = Time::from_ps(first.time().ps() / self.grid.ps() * self.grid.ps());
            self.window.reached = if first < stop { last } else { line.time() };
            return Some(0);
        }
        let start = first.time();
        let short = self.window.foresight.needed || self.may_end_by(start + self.window.length);
        let ahead = Key::before(start + if short { self.window.last } else { self.window.length });
        let limit = ahead.min(line).min(stop).min(event.unwrap_or(Key::LAST)).min(self.next_look());
        self.window.count += 1;
        let (last_act, limit) = self.draw_ahead(limit);
        let event = self.agenda.peek().map(|Reverse(key)| *key);
        let end = self.foresee_end(limit, last_act);
        match end {
            Some((key, part)) => self.run_to(key, part, executor),
            None => self.run_parts(limit, executor),
        }
        crate::part::remote::exchange(&mut self.parts);
        self.hear_all();
        if end.is_some() {
            // If what was foreseen did not come about (an ACK was lost), the run goes on from here.
            return Some(self.events() - before);
        }
        self.window.reached = limit.time().min(line.time());
        self.window.ran_to = limit;
        if Some(limit) == event {
            self.set_now(limit.time());
            self.set_rank(limit);
            // It may look at what is in flight on any link.
            self.open_all_mail(executor);
            self.handle_agenda();
            if limit.kind() == kind::FAULT {
                self.window.foresight.stepwise = (0..self.state.plan.ports() as u32).any(|port| !self.is_up(port));
            }
            self.look_at_all(executor);
            crate::part::remote::exchange(&mut self.parts);
            self.hear_all();
        } else if limit == line {
            self.cross_if_needed(line.time());
        }
        Some(self.events() - before)
    }

    /// Events so far, of the run and of all parts.
    fn events(&self) -> u64 {
        self.own.events + self.parts.iter().map(|part| part.counters.events).sum::<u64>()
    }

    /// Time passes a line.
    fn cross_if_needed(&mut self, line: Time) {
        if self.has_business_at_lines() {
            self.cross(line);
        }
    }

    /// Whether the run could end before `time` because nothing is left to do.
    fn may_end_by(&self, time: Time) -> bool {
        self.state.plan.run.stop_when_idle
            && self.sources.iter().all(|source_state| source_state.due == Time::NEVER || source_state.due < time)
    }

    /// The event that ends the run, and its part unless it is an act of a source, if that comes before `limit`:
    /// all flows are over but for those that are stopped by then and ACKs that are on their last link already.
    fn foresee_end(&mut self, limit: Key, last_act: Option<Key>) -> Option<(Key, Option<usize>)> {
        if !self.state.plan.run.stop_when_idle
            || self.sources.iter().any(|source_state| source_state.due != Time::NEVER)
        {
            return None;
        }
        // Most often the same flow is why the run goes on.
        if let Some(flow) = self.window.lasting.filter(|&flow| self.flow_states.get(flow).is_some())
            && !self.sender_of(flow).0.ended
            && self.foresee_flow(flow, limit).is_none()
        {
            return None;
        }
        let mut end = last_act.map(|key| (key, None));
        let ending = self.window.foresight.ending.iter().copied();
        for flow in self.sources.iter().flat_map(|source_state| source_state.flows.values()).chain(ending) {
            let Some(over) = self.foresee_flow(flow, limit) else {
                self.window.lasting = Some(flow);
                return None;
            };
            end = end.max(Some(over));
        }
        end
    }

    /// The event that ends a flow, if it is known and before `limit`.
    fn foresee_flow(&self, flow: FlowStateId, limit: Key) -> Option<(Key, Option<usize>)> {
        let acked = self.final_ack(flow).map(|(key, part)| (key, Some(part)));
        let stopped = (self.flow_states[flow].stops, None);
        acked.into_iter().chain([stopped]).min().filter(|(key, _)| *key < limit)
    }

    /// When the last ACK of a flow arrives, and in which part, if it is in flight to its host.
    fn final_ack(&self, flow_state: FlowStateId) -> Option<(Key, usize)> {
        let (number, entry) = self.origin(flow_state);
        let part = &self.parts[number];
        let sender = &part.flows.senders[part.flows.entries[entry].sender];
        let port = part.hosts[sender.host].port.peer();
        let is_last = |packet: &Packet| {
            packet.kind == Kind::Ack && packet.flow == entry && packet.psn >= sender.requester.seq.total
        };
        let sending = &part.links.ports[port];
        let item = part.links.in_flight.iter(&sending.in_flight).find(|item| is_last(&item.packet))?;
        Some((Key::named(item.arrives, kind::ARRIVE, sending.name, port.get()), number))
    }

    /// Has the executor do `work` with every part. One thread at a time works on a part, so no lock is waited for.
    fn each_part(&mut self, executor: &dyn Executor, work: impl Fn(&mut Part<S>) + Sync) {
        let parts: Vec<Mutex<&mut Part<S>>> = self.parts.iter_mut().map(Mutex::new).collect();
        executor.each(parts.len(), &|number| work(&mut parts[number].lock().unwrap_or_else(PoisonError::into_inner)));
    }

    fn run_parts(&mut self, limit: Key, executor: &dyn Executor) {
        self.each_part(executor, |part| {
            // Most often this is all that need be known of a part where little happens.
            if part.next < limit {
                part.run_until(limit);
            }
        });
    }

    fn open_all_mail(&mut self, executor: &dyn Executor) {
        self.each_part(executor, Part::receive_remote);
    }

    /// After something that may have given any part something to do.
    fn look_at_all(&mut self, executor: &dyn Executor) {
        self.each_part(executor, Part::look_at_next);
    }

    /// Runs all parts up to an event, and one through it.
    fn run_to(&mut self, end: Key, of: Option<usize>, executor: &dyn Executor) {
        match of {
            Some(part) => {
                self.run_parts(end, executor);
                self.parts[part].run(end.next(), 1);
                self.parts[part].look_at_next();
            }
            None => {
                // What the source wants is done, and nothing that follows from it.
                let (first, last) = (end.with_index(0), end.with_index(LARGEST_INDEX));
                self.run_parts(first, executor);
                for part in &mut self.parts {
                    while part.queue.peek().is_some_and(|key| key >= first && key <= last) {
                        part.run(last.next(), 1);
                    }
                    part.look_at_next();
                }
            }
        }
        self.set_now(end.time());
        self.set_rank(end);
    }

    fn set_rank(&mut self, key: Key) {
        for part in &mut self.parts {
            part.records.rank = Some(key);
        }
    }

    /// Hears what the parts have to tell, in the order of one part.
    fn hear_all(&mut self) {
        let mut ranked: Vec<(Key, FlowEvent)> = Vec::new();
        let mut latest = self.state.now;
        for (number, part) in self.parts.iter_mut().enumerate() {
            let records = &mut part.records;
            latest = records.event_ranks.last().map_or(latest, |rank| latest.max(rank.time()));
            for (rank, event) in records.event_ranks.drain(..).zip(records.events.drain(..)) {
                // Sources have received what was foreseen; a flow that ends still gets its record.
                if !self.window.foresight.confirms(number, event) || matches!(event, FlowEvent::Ended(_)) {
                    ranked.push((rank, event));
                }
            }
        }
        // Those of one part stay in order.
        ranked.sort_by_key(|(rank, _)| *rank);
        for (rank, event) in ranked {
            self.state.now = rank.time();
            self.hear(event);
        }
        self.window.foresight.check();
        self.state.now = latest;
    }

    /// Records of all parts in the order of one.
    pub(crate) fn publish_merged(&mut self) {
        let mut pauses: Vec<(Key, PauseRecord)> = Vec::new();
        let mut frames: Vec<(Key, PfcRecord)> = Vec::new();
        for part in &mut self.parts {
            pauses.extend(part.records.pause_ranks.drain(..).zip(part.records.pauses.drain(..)));
            frames.extend(part.records.frame_ranks.drain(..).zip(part.records.pfc_frames.drain(..)));
        }
        pauses.sort_by_key(|(rank, _)| *rank);
        frames.sort_by_key(|(rank, _)| *rank);
        self.state.pauses.extend(pauses.into_iter().map(|(_, record)| record));
        self.state.pfc_frames.extend(frames.into_iter().map(|(_, record)| record));
    }
}

impl<S: Scheme> Part<S> {
    fn run_until(&mut self, limit: Key) {
        for end in self.stretches(self.next.time(), limit.time()) {
            self.receive_until(end);
            self.run(Key::before(end), u64::MAX);
        }
        self.receive_remote();
        let (_, pause) = self.run(limit, u64::MAX);
        debug_assert!(matches!(pause, Pause::Limit | Pause::Empty));
        self.look_at_next();
    }

    fn look_at_next(&mut self) {
        self.next = self.queue.bound();
    }
}
