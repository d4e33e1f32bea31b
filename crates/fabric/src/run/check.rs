//! Watching the run: deadlock, stall, and conservation of packets at the end.

use crate::contract::packet::Kind;
use crate::contract::record::{BlockedQueue, Failure, Holdings};
use crate::contract::scheme::{ReactionPoint, Scheme};
use crate::id::{FlowStateId, PortId, QueueId};
use crate::network::plan::peer;
use crate::node::host::Host;
use crate::node::port::{AT_HOST, Port, Queue};
use crate::part::{Part, kind};
use crate::run::World;
use std::collections::BTreeSet;
use xoff_engine::{Span, Time};

/// The index of the check whether only flows without a route are left.
pub(crate) const STRANDED: u32 = 1;
/// How often that is looked at while a flow has none.
const STRANDED_CHECK: Span = Span::from_us(100);

#[derive(Debug, Default)]
pub struct CheckState {
    pub faults_left: usize,
    every: Option<Span>,
    delivered: u64,
    progress_at: Time,
    /// Cycles already reported, so that a lasting deadlock counts once.
    reported: BTreeSet<(u32, u8)>,
    /// A check of stranded flows is scheduled.
    watches_stranded: bool,
}

impl<S: Scheme> World<S> {
    pub(crate) fn start_checks(&mut self) {
        self.checks.faults_left = self.state.plan.faults.len();
        let run = &self.state.plan.run;
        // A stall is noticed within a quarter of its length.
        self.checks.every = run.deadlock_check.into_iter().chain(run.stall_after.map(|after| after / 4)).min();
        if let Some(every) = self.checks.every {
            self.schedule(Time::ZERO + every, kind::CHECK, 0, 0);
        }
    }

    pub(crate) fn on_check(&mut self) {
        if let Some(every) = self.checks.every {
            self.schedule(self.state.now + every, kind::CHECK, 0, 0);
        }
        if self.state.plan.run.deadlock_check.is_some() {
            self.look_for_deadlock();
        }
        self.note_progress();
        // Bad luck is no stall: what is lost is sent again, and comes through in the end.
        let bad_luck_at = self.parts.iter().map(|part| part.watch.bad_luck_at).max();
        self.checks.progress_at = self.checks.progress_at.max(bad_luck_at.unwrap_or(Time::ZERO));
        if let Some(after) = self.state.plan.run.stall_after {
            let unfinished = self.unfinished();
            if unfinished == 0 && self.is_cut_off() {
                // Ranks that wait for each other, with nothing under way.
                self.stall(unfinished);
            } else if unfinished == 0 {
                self.checks.progress_at = self.state.now;
            } else if self.state.now - self.checks.progress_at >= after
                && self.checks.faults_left == 0
                && !self.parts.iter().any(|part| part.in_motion())
            {
                self.stall(unfinished);
            }
        }
    }

    fn stall(&mut self, unfinished: u64) {
        let mut blocked: Vec<BlockedQueue> = self.parts.iter().flat_map(|part| part.blocked_queues()).collect();
        blocked.sort_by_key(|queue| (queue.port, queue.class));
        let stranded = self.parts.iter().map(|part| part.stranded()).sum();
        let since = self.checks.progress_at;
        self.state.failure = Some(Failure::Stall { at: self.state.now, since, unfinished, stranded, blocked });
        self.finish();
    }

    /// A flow has lost its way whose source waits for it: from now on it is looked whether anything can still happen.
    pub(crate) fn watch_stranded(&mut self) {
        if !std::mem::replace(&mut self.checks.watches_stranded, true) {
            self.note_progress();
            self.schedule(self.state.now + STRANDED_CHECK, kind::CHECK, STRANDED, STRANDED);
        }
    }

    pub(crate) fn on_stranded_check(&mut self) {
        self.checks.watches_stranded = false;
        // What has just come may lead to more, and then it is known since when nothing has.
        if !self.note_progress() && self.is_cut_off() {
            self.stall(self.unfinished());
        } else if self.parts.iter().any(|part| part.stranded() > 0) {
            self.watch_stranded();
        }
    }

    /// Whether a source waits for what cannot come: no source will act, no fault will change the network, and whatever
    /// is unfinished has no route and no packet under way.
    fn is_cut_off(&self) -> bool {
        let quiet =
            self.checks.faults_left == 0 && self.sources.iter().all(|source_state| source_state.due == Time::NEVER);
        let waits_in_vain = |flow_state: FlowStateId| {
            let sender = self.sender_of(flow_state).0;
            !sender.is_unfinished() || (sender.requester.seq.stranded && self.packets_alive(flow_state) == 0)
        };
        quiet
            && self.sources.iter().flat_map(|source_state| source_state.flows.values()).all(waits_in_vain)
            && !self.waits().is_empty()
    }

    /// Whether something was delivered since this was last asked.
    fn note_progress(&mut self) -> bool {
        let delivered = self.totals().delivered_bytes;
        let moved = delivered != self.checks.delivered;
        if moved {
            self.checks.delivered = delivered;
            self.checks.progress_at = self.state.now;
        }
        moved
    }

    fn look_for_deadlock(&mut self) {
        let stuck = self.stuck_queues();
        self.checks.reported.retain(|node| stuck.contains(node));
        if stuck.is_empty() || stuck.iter().all(|node| self.checks.reported.contains(node)) {
            return;
        }
        let cycle = self.cycle_in(&stuck);
        self.checks.reported = stuck;
        self.own.deadlocks += 1;
        self.state.deadlocks.push((self.state.now, cycle.clone()));
        if self.state.plan.run.stop_on_deadlock {
            self.state.failure = Some(Failure::Deadlock { at: self.state.now, cycle });
            self.finish();
        }
    }

    /// When the run ends on its own: unfinished flows with nothing left to happen are a stall.
    pub(crate) fn final_check(&mut self) {
        if self.state.counters.delivered_bytes != self.checks.delivered {
            self.checks.progress_at = self.state.now;
        }
        let idle = self.parts.iter().all(|part| part.queue.is_empty());
        let nothing_left =
            idle && self.agenda.is_empty() && self.acts.is_empty() && self.state.now < self.state.plan.run.stop;
        let unfinished = self.unfinished();
        let stuck = (nothing_left && unfinished > 0) || self.is_cut_off();
        if self.state.failure.is_none() && stuck && !self.done {
            self.stall(unfinished);
        }
        // Whoever drives the world reports it; a checked build stops at once.
        debug_assert_eq!(self.check_conservation(), Ok(()), "packets are not conserved");
    }

    /// Ends the run for a reason that the caller found; [`World::run`] then completes its records.
    pub fn fail(&mut self, failure: Failure) {
        self.state.failure.get_or_insert(failure);
        self.finish();
    }

    /// Flows that are alive.
    pub fn flows_alive(&self) -> u64 {
        self.flow_states.len() as u64
    }

    /// Counts what there is of everything that may grow.
    pub fn holdings(&self) -> Holdings {
        let by_source =
            self.sources.enumerate().map(|(source, source_state)| (source.get(), source_state.flows.len() as u64));
        Holdings {
            flows_alive: self.flows_alive(),
            packets_queued: self.all_queues().map(|queue| queue.packets.len() as u64).sum(),
            packets_in_flight: self.all_ports().map(|port| port.in_flight.len() as u64).sum(),
            // The first of equals, so that the message is always the same.
            greediest: by_source.filter(|(_, flows)| *flows > 0).min_by_key(|(_, flows)| std::cmp::Reverse(*flows)),
            longest: self.longest_queue(),
        }
    }

    /// Every data packet sent was delivered, dropped, discarded by its receiver, or is under way;
    /// every byte in a buffer is in exactly one queue and one ingress.
    pub fn check_conservation(&self) -> Result<(), String> {
        let under_way: u64 = self.parts.iter().map(|part| part.data_packets()).sum();
        let counters = &self.state.counters;
        let accounted = counters.data_packets_delivered + counters.data_packets_discarded + under_way;
        if counters.data_packets_sent != accounted {
            return Err(format!("{} data packets sent, {accounted} accounted for", counters.data_packets_sent));
        }
        self.parts.iter().try_for_each(|part| part.check_conservation())
    }

    pub(crate) fn unfinished(&self) -> u64 {
        self.parts.iter().map(|part| part.unfinished()).sum()
    }

    fn all_queues(&self) -> impl Iterator<Item = &Queue> {
        self.parts.iter().flat_map(|part| &part.egress.queues)
    }

    fn all_ports(&self) -> impl Iterator<Item = &Port> {
        self.parts.iter().flat_map(|part| &part.links.ports)
    }

    /// The queue with most bytes, the first of equals.
    fn longest_queue(&self) -> Option<BlockedQueue> {
        let queues = self.parts.iter().flat_map(|part| part.blocked_queues()).filter(|queue| queue.bytes > 0);
        queues.min_by_key(|queue| (std::cmp::Reverse(queue.bytes), queue.port, queue.class))
    }

    /// The queues of an egress that wait behind one another for ever: paused by a switch,
    /// non-empty, and fed so that the pause cannot end while they all wait.
    fn stuck_queues(&self) -> BTreeSet<(u32, u8)> {
        let mut stuck: BTreeSet<(u32, u8)> = self.parts.iter().flat_map(|part| part.held_queues()).collect();
        loop {
            let free: Vec<(u32, u8)> =
                stuck.iter().copied().filter(|&(port, class)| !self.held_for_ever(port, class, &stuck)).collect();
            if free.is_empty() {
                return stuck;
            }
            for node in free {
                stuck.remove(&node);
            }
        }
    }

    /// Whether what `port` feeds downstream stays above the resume threshold even after all that
    /// can drain there has drained.
    fn held_for_ever(&self, port: u32, class: u8, stuck: &BTreeSet<(u32, u8)>) -> bool {
        let ((up, own), (down, ingress)) = (self.place_of(port), self.place_of(peer(port)));
        let (up, down) = (&self.parts[up], &self.parts[down]);
        let switch = &down.switches[down.links.ports[ingress].switch()];
        let is_stuck = |egress: PortId| stuck.contains(&(down.links.ports[egress].name, class));
        let egresses = switch.ports.iter().filter(|&&egress| is_stuck(egress));
        let behind: u64 = egresses.map(|&egress| down.bytes_from(egress, class, down.local(ingress))).sum();
        if switch.buffer.is_pooled() {
            // The threshold moves, so bytes alone prove nothing: ask for a long silence too.
            let queue = up.queue(own, class);
            return behind > 0 && self.state.now.saturating_since(queue.moved_at) >= Span::from_ms(10);
        }
        behind > down.ingress(ingress, class).xon_bytes
    }

    /// One cycle among the stuck queues: follow what each waits for until a queue repeats.
    fn cycle_in(&self, stuck: &BTreeSet<(u32, u8)>) -> Vec<BlockedQueue> {
        let mut walk: Vec<(u32, u8)> = Vec::new();
        let mut at = *stuck.first().expect("someone is stuck");
        while !walk.contains(&at) {
            walk.push(at);
            let (part, ingress) = self.place_of(peer(at.0));
            let part = &self.parts[part];
            let waits = |egress: PortId| {
                let node = (part.links.ports[egress].name, at.1);
                (stuck.contains(&node) && part.bytes_from(egress, at.1, part.local(ingress)) > 0).then_some(node)
            };
            match part.switches[part.links.ports[ingress].switch()].ports.iter().find_map(|&egress| waits(egress)) {
                Some(node) => at = node,
                None => break,
            }
        }
        let start = walk.iter().position(|&node| node == at).unwrap_or(0);
        let queue = |&(name, class): &(u32, u8)| {
            let (part, port) = self.place_of(name);
            let part = &self.parts[part];
            let bytes = part.queue(port, class).bytes;
            BlockedQueue { port: name, class, bytes, paused: true }
        };
        walk[start..].iter().map(queue).collect()
    }
}

impl<S: Scheme> Part<S> {
    /// Flows that want to send or wait for an ACK.
    fn unfinished(&self) -> u64 {
        self.flows.senders.iter().filter(|(_, sender)| sender.is_unfinished()).count() as u64
    }

    /// Those of them to whose receivers no route leads.
    fn stranded(&self) -> u64 {
        self.flows.senders.iter().filter(|(_, sender)| sender.is_unfinished() && sender.requester.seq.stranded).count()
            as u64
    }

    /// Whether something is on its way by itself: in flight, or waiting out a delay, its pacing or its
    /// retransmission timer.
    /// What is not, and is not delivered either, waits for others.
    fn in_motion(&self) -> bool {
        let in_flight =
            |port: &Port| self.links.in_flight.iter(&port.in_flight).any(|item| !item.packet.kind.is_link_local());
        let at_host = |host: &Host| {
            let waits = host.scan.is_some() && host.wake_at != Time::NEVER;
            waits || !host.paced.is_empty() || host.delayed.iter().any(|lane| !lane.is_empty())
        };
        // A retransmission timer that backs off may outlast any limit: its flow will move by itself.
        let on_timer = self
            .flows
            .senders
            .iter()
            .any(|(_, s)| s.requester.asks_reaction_point() && !s.ended && s.rp.timer().is_some());
        let moving = self.hosts.iter().any(at_host) || self.links.ports.iter().any(in_flight);
        on_timer || moving || self.shapers.in_motion()
    }

    /// Queues that hold packets or are paused, by the names of their ports.
    fn blocked_queues(&self) -> Vec<BlockedQueue> {
        self.waiting_queues().map(|(_, queue)| queue).collect()
    }

    /// The same, each with its port.
    fn waiting_queues(&self) -> impl Iterator<Item = (PortId, BlockedQueue)> {
        let queues = self.egress.queues.enumerate().map(|(id, queue)| {
            let (port, class) = id.port_and_class(self.classes);
            let Port { name, paused, .. } = self.links.ports[port];
            (port, BlockedQueue { port: name, class, bytes: queue.bytes, paused: paused & (1 << class) != 0 })
        });
        queues.filter(|(_, queue)| queue.bytes > 0 || queue.paused)
    }

    /// Egress queues between switches that are paused and hold packets, by the names of their ports.
    fn held_queues(&self) -> Vec<(u32, u8)> {
        let between = |(port, queue): (PortId, BlockedQueue)| {
            let at_host = |port: PortId| self.links.ports[port].has(AT_HOST);
            let held = queue.paused && queue.bytes > 0 && !at_host(port) && !at_host(port.peer());
            held.then_some((queue.port, queue.class))
        };
        self.waiting_queues().filter_map(between).collect()
    }

    /// Bytes in an egress queue that came in by one ingress.
    fn bytes_from(&self, egress: PortId, class: u8, ingress: u16) -> u64 {
        let queue = self.queue(egress, class);
        let queued = self.egress.queued.iter(&queue.packets).chain(self.awaiting(egress, class));
        let bytes: u64 = queued.filter(|p| p.ingress == ingress).map(|p| u64::from(p.frame_bytes)).sum();
        bytes + self.voq_bytes_from(egress, class, ingress)
    }

    /// Data packets on links and in queues.
    fn data_packets(&self) -> u64 {
        let data = |kind: Kind| u64::from(kind == Kind::Data);
        let in_flight: u64 = self
            .links
            .ports
            .iter()
            .flat_map(|p| self.links.in_flight.iter(&p.in_flight))
            .map(|item| data(item.packet.kind))
            .sum();
        let in_queues =
            self.egress.queues.iter().flat_map(|q| self.egress.queued.iter(&q.packets)).chain(self.voq_packets());
        let queued: u64 = in_queues.map(|p| data(p.kind)).sum();
        let held: u64 = self.held_back().map(|(_, packet)| data(packet.kind)).sum();
        let by_dialect = self.compat.htsim.as_ref().map_or(0, |htsim| htsim.data_packets());
        in_flight + queued + held + self.shapers.packets() + by_dialect
    }

    /// Whether every byte in a buffer is in one queue and one ingress.
    fn check_conservation(&self) -> Result<(), String> {
        for (id, switch) in self.switches.enumerate() {
            if let Some(buffer) = &switch.foreign {
                self.check_foreign(switch, buffer)?;
                continue;
            }
            let queued: u64 = switch
                .ports
                .iter()
                .flat_map(|&port| self.egress.queues.run(QueueId::of(port, 0, self.classes), self.classes))
                .map(|queue| queue.bytes)
                .sum::<u64>()
                + switch.ports.iter().map(|&port| self.shapers.bytes_for(port)).sum::<u64>()
                + self.held_bytes(id)
                - self.output_queue_bytes(id);
            let ingresses: u64 = switch.buffer.ingresses().iter().map(|ingress| ingress.bytes).sum();
            let used = switch.buffer.pools().used_bytes;
            if queued != ingresses || queued != used {
                let name = &self.plan.nodes[switch.node as usize].name;
                return Err(format!(
                    "{name}: {queued} bytes queued, {ingresses} at ingresses, {used} of the buffer used"
                ));
            }
        }
        Ok(())
    }
}
