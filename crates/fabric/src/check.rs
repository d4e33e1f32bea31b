//! Watching the run: deadlock, stall, and the books at the end.

use crate::packet::Kind;
use crate::part::{Host, Part, kind};
use crate::plan::peer;
use crate::port::{AT_HOST, Port, Queue};
use crate::record::{BlockedQueue, Counters, Failure, Holdings};
use crate::scheme::{ReactionPoint, Scheme};
use crate::world::World;
use std::collections::BTreeSet;
use xoff_engine::{Span, Time};

#[derive(Debug, Default)]
pub struct CheckState {
    pub faults_left: usize,
    every: Option<Span>,
    delivered: u64,
    progress_at: Time,
    /// Cycles already reported, so that a lasting deadlock counts once.
    reported: BTreeSet<(u32, u8)>,
}

impl<S: Scheme> World<S> {
    pub(crate) fn start_checks(&mut self) {
        self.checks.faults_left = self.plan.faults.len();
        let run = &self.plan.run;
        // A stall is noticed within a quarter of its length.
        self.checks.every = run.deadlock_check.into_iter().chain(run.stall_after.map(|after| after / 4)).min();
        if let Some(every) = self.checks.every {
            self.schedule(Time::ZERO + every, kind::CHECK, 0, 0);
        }
    }

    pub(crate) fn on_check(&mut self) {
        if let Some(every) = self.checks.every {
            self.schedule(self.now + every, kind::CHECK, 0, 0);
        }
        if self.plan.run.deadlock_check.is_some() {
            self.look_for_deadlock();
        }
        let delivered = self.part.counters.delivered_bytes;
        if delivered != self.checks.delivered {
            self.checks.delivered = delivered;
            self.checks.progress_at = self.now;
        }
        // Bad luck is no stall: what is lost is sent again, and comes through in the end.
        self.checks.progress_at = self.checks.progress_at.max(self.part.watch.bad_luck_at);
        if let Some(after) = self.plan.run.stall_after {
            let unfinished = self.part.unfinished();
            if unfinished == 0 {
                self.checks.progress_at = self.now;
            } else if self.now - self.checks.progress_at >= after
                && self.checks.faults_left == 0
                && !self.part.in_motion()
            {
                self.stall(unfinished);
            }
        }
    }

    fn stall(&mut self, unfinished: u64) {
        let blocked = self.part.blocked_queues();
        self.failure = Some(Failure::Stall { at: self.now, since: self.checks.progress_at, unfinished, blocked });
        self.finish();
    }

    fn look_for_deadlock(&mut self) {
        let stuck = self.part.stuck_queues();
        self.checks.reported.retain(|node| stuck.contains(node));
        if stuck.is_empty() || stuck.iter().all(|node| self.checks.reported.contains(node)) {
            return;
        }
        let cycle = self.part.cycle_in(&stuck);
        self.checks.reported = stuck;
        self.part.counters.deadlocks += 1;
        self.deadlocks.push((self.now, cycle.clone()));
        if self.plan.run.stop_on_deadlock {
            self.failure = Some(Failure::Deadlock { at: self.now, cycle });
            self.finish();
        }
    }

    /// When the run ends on its own: unfinished flows with nothing left to happen are a stall.
    pub(crate) fn final_check(&mut self) {
        if self.part.counters.delivered_bytes != self.checks.delivered {
            self.checks.progress_at = self.now;
        }
        let nothing_left = self.part.queue.is_empty() && self.agenda.is_empty() && self.now < self.plan.run.stop;
        let unfinished = self.part.unfinished();
        if self.failure.is_none() && nothing_left && unfinished > 0 && !self.done {
            self.stall(unfinished);
        }
        // Whoever drives the world reports it; a checked build stops at once.
        debug_assert_eq!(self.books(), Ok(()), "the books do not balance");
    }

    /// Ends the run for a reason that only whoever drives it can know; [`World::run`] then closes the books.
    pub fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
        self.finish();
    }

    /// Flows that are alive.
    pub fn flows_alive(&self) -> u64 {
        self.part.senders.len() as u64
    }

    /// Counts what there is of everything that may grow.
    pub fn holdings(&self) -> Holdings {
        let by_source = (0..).zip(&self.feeds).map(|(source, feed)| (source, feed.flows.len() as u64));
        Holdings {
            flows_alive: self.flows_alive(),
            packets_queued: self.part.queues.iter().map(|queue| queue.packets.len() as u64).sum(),
            packets_in_flight: self.part.ports.iter().map(|port| port.wire.len() as u64).sum(),
            // The first of equals, so that the message is always the same.
            greediest: by_source.filter(|(_, flows)| *flows > 0).min_by_key(|(_, flows)| std::cmp::Reverse(*flows)),
            longest: self.part.longest_queue(),
        }
    }

    /// Every data packet sent was delivered, dropped, discarded by its receiver, or is under way;
    /// every byte in a buffer is in exactly one queue and one account.
    pub fn books(&self) -> Result<(), String> {
        self.part.books(&self.counters)
    }
}

impl<S: Scheme> Part<S> {
    /// Flows that want to send or wait for an answer.
    fn unfinished(&self) -> u64 {
        let waits = |next: u32, una: u32, limit: u32| una < next || next < limit;
        self.senders.iter().filter(|(_, s)| !s.ended && waits(s.next, s.una, s.total.min(s.offered))).count() as u64
    }

    /// Whether something is on its way by itself: on a wire, or waiting out a delay, its pacing or its
    /// retransmission timer.
    /// What is not, and is not delivered either, waits for others.
    fn in_motion(&self) -> bool {
        let on_wire = |port: &Port| self.in_flight.iter(&port.wire).any(|item| !item.packet.kind.is_link_local());
        let at_host = |host: &Host| {
            let waits = host.scan.is_some() && host.wake_at != Time::NEVER;
            waits || !host.paced.is_empty() || host.delayed.iter().any(|lane| !lane.is_empty())
        };
        // A retransmission timer that backs off may outlast any limit: its flow will move by itself.
        let on_timer = self.senders.iter().any(|(_, s)| s.tcp && !s.ended && s.rp.timer().is_some());
        let moving = self.hosts.iter().any(at_host) || self.ports.iter().any(on_wire);
        on_timer || moving || self.shapers.in_motion()
    }

    fn blocked_queues(&self) -> Vec<BlockedQueue> {
        let mut blocked = Vec::new();
        for (id, queue) in self.queues.iter().enumerate() {
            let (port, class) = ((id / self.classes) as u32, (id % self.classes) as u8);
            let paused = self.ports[port as usize].paused & (1 << class) != 0;
            if queue.bytes > 0 || paused {
                blocked.push(BlockedQueue { port, class, bytes: queue.bytes, paused });
            }
        }
        blocked
    }

    /// The queues of an egress that wait behind one another for ever: paused by a switch,
    /// non-empty, and fed so that the pause cannot end while they all wait.
    fn stuck_queues(&self) -> BTreeSet<(u32, u8)> {
        let classes = self.classes;
        let mut stuck: BTreeSet<(u32, u8)> = BTreeSet::new();
        for (id, queue) in self.queues.iter().enumerate() {
            let (port, class) = ((id / classes) as u32, (id % classes) as u8);
            let owner = &self.ports[port as usize];
            let downstream = &self.ports[peer(port) as usize];
            let paused = owner.paused & (1 << class) != 0;
            if paused && queue.bytes > 0 && !owner.has(AT_HOST) && !downstream.has(AT_HOST) {
                stuck.insert((port, class));
            }
        }
        loop {
            let free: Vec<(u32, u8)> =
                stuck.iter().copied().filter(|&(port, class)| !self.held_for_ever(port, class, &stuck)).collect();
            if free.is_empty() {
                break;
            }
            for node in free {
                stuck.remove(&node);
            }
        }
        stuck
    }

    /// Whether what `port` feeds downstream stays above the resume threshold even after all that
    /// can drain there has drained.
    fn held_for_ever(&self, port: u32, class: u8, stuck: &BTreeSet<(u32, u8)>) -> bool {
        let ingress = &self.ports[peer(port) as usize];
        let switch = &self.switches[ingress.owner as usize];
        let behind: u64 = switch
            .ports
            .iter()
            .filter(|&&egress| stuck.contains(&(egress, class)))
            .map(|&egress| self.bytes_from(egress, class, ingress.local))
            .sum();
        if switch.dynamic {
            // The threshold moves, so bytes alone prove nothing: ask for a long silence too.
            let queue = &self.queues[port as usize * self.classes + usize::from(class)];
            return behind > 0 && self.now.saturating_since(queue.moved_at) >= Span::from_ms(10);
        }
        let account =
            &self.accounts[switch.accounts as usize + usize::from(ingress.local) * self.classes + usize::from(class)];
        behind > account.xon_bytes
    }

    /// Bytes in an egress queue that came in by one ingress.
    fn bytes_from(&self, egress: u32, class: u8, ingress: u16) -> u64 {
        let queue = &self.queues[egress as usize * self.classes + usize::from(class)];
        let queued = self.queued.iter(&queue.packets).chain(self.awaiting(egress, class));
        let bytes: u64 = queued.filter(|p| p.ingress == ingress).map(|p| u64::from(p.frame_bytes)).sum();
        bytes + self.voq_bytes_from(egress, class, ingress)
    }

    /// One cycle among the stuck queues: follow what each waits for until a queue repeats.
    fn cycle_in(&self, stuck: &BTreeSet<(u32, u8)>) -> Vec<BlockedQueue> {
        let mut walk: Vec<(u32, u8)> = Vec::new();
        let mut at = *stuck.first().expect("someone is stuck");
        while !walk.contains(&at) {
            walk.push(at);
            let ingress = &self.ports[peer(at.0) as usize];
            let next = self.switches[ingress.owner as usize]
                .ports
                .iter()
                .map(|&egress| (egress, at.1))
                .find(|node| stuck.contains(node) && self.bytes_from(node.0, node.1, ingress.local) > 0);
            match next {
                Some(node) => at = node,
                None => break,
            }
        }
        let start = walk.iter().position(|&node| node == at).unwrap_or(0);
        walk[start..]
            .iter()
            .map(|&(port, class)| BlockedQueue {
                port,
                class,
                bytes: self.queues[port as usize * self.classes + usize::from(class)].bytes,
                paused: true,
            })
            .collect()
    }

    /// The queue with most bytes, the first of equals.
    fn longest_queue(&self) -> Option<BlockedQueue> {
        let queue = |(id, queue): (usize, &Queue)| BlockedQueue {
            port: (id / self.classes) as u32,
            class: (id % self.classes) as u8,
            bytes: queue.bytes,
            paused: self.ports[id / self.classes].paused & (1 << (id % self.classes)) != 0,
        };
        let queues = self.queues.iter().enumerate().map(queue).filter(|queue| queue.bytes > 0);
        queues.min_by_key(|queue| std::cmp::Reverse(queue.bytes))
    }

    fn books(&self, counters: &Counters) -> Result<(), String> {
        let data = |kind: Kind| u64::from(kind == Kind::Data);
        let on_wires: u64 =
            self.ports.iter().flat_map(|p| self.in_flight.iter(&p.wire)).map(|item| data(item.packet.kind)).sum();
        let in_queues = self.queues.iter().flat_map(|q| self.queued.iter(&q.packets)).chain(self.voq_packets());
        let queued: u64 = in_queues.map(|p| data(p.kind)).sum();
        let ended = counters.data_packets_delivered + counters.data_packets_discarded;
        let shaped = self.shapers.packets();
        let accounted = ended + on_wires + queued + shaped;
        if counters.data_packets_sent != accounted {
            return Err(format!("{} data packets sent, {accounted} accounted for", counters.data_packets_sent));
        }
        for (number, switch) in self.switches.iter().enumerate() {
            let queued: u64 = switch
                .ports
                .iter()
                .flat_map(|&p| (0..self.classes).map(move |c| p as usize * self.classes + c))
                .map(|id| self.queues[id].bytes)
                .sum::<u64>()
                + switch.ports.iter().map(|&port| self.shapers.bytes_for(port)).sum::<u64>()
                - self.output_queue_bytes(number);
            let first = switch.accounts as usize;
            let accounts: u64 =
                self.accounts[first..first + switch.ports.len() * self.classes].iter().map(|a| a.bytes).sum();
            if queued != accounts || queued != switch.used_bytes {
                return Err(format!(
                    "{}: {queued} bytes queued, {accounts} in ingress accounts, {} of the buffer used",
                    self.plan.nodes[switch.node as usize].name, switch.used_bytes
                ));
            }
        }
        Ok(())
    }
}
