//! The world: all state of one run and the loop that moves it from event to event.
//!
//! This file builds the world, runs the loop and keeps what every part needs (transmission,
//! routes, records). What a switch does is in [`crate::switch`], what a NIC and the transport do
//! in [`crate::nic`] and [`crate::transport`]; faults, probes and checks have files of their own.

use crate::flow::{Ledger, Receiver, Sender};
use crate::packet::{BACKWARD, IntStack, Kind, Packet};
use crate::pfc;
use crate::plan::{NodeKind, Plan, Service, Signalling, Thresholds, peer};
use crate::port::{AT_HOST, Account, DOWN, FREE_PENDING, InFlight, LOSSY_WIRE, Port, Queue};
use crate::record::{ClassReport, Counters, Failure, FlowRecord, PauseRecord, PortReport, Sample};
use crate::route::Routes;
use crate::scheme::{CongestionPoint, Hooks, Notice, Overhead, QueueFacts, Scheme};
use crate::timing;
use crate::traffic::Source;
use xoff_engine::{EventQueue, Fifo, Key, LinkRate, Pool, Ring, Rng, Slab, Span, Time, stream};

/// Kinds of events, in the order in which they happen at one instant.
pub mod kind {
    pub const FAULT: u8 = 0;
    pub const ARRIVE: u8 = 1;
    pub const PORT_FREE: u8 = 2;
    pub const EMIT: u8 = 3;
    pub const WAKE: u8 = 4;
    pub const FLOW_TIMER: u8 = 5;
    pub const NP_TIMER: u8 = 6;
    pub const CP_TIMER: u8 = 7;
    pub const SOURCE: u8 = 8;
    pub const PAUSE_EXPIRY: u8 = 9;
    pub const PFC_REFRESH: u8 = 10;
    pub const WATCHDOG: u8 = 11;
    pub const CHECK: u8 = 12;
    pub const PROBE: u8 = 13;
}

/// A switch: its buffer and where its ingress accounts lie.
#[derive(Debug)]
pub struct Switch {
    pub node: u32,
    pub profile: u16,
    pub ports: Vec<u32>,
    /// First of `ports * classes` accounts, by local port number.
    pub accounts: u32,
    pub buffer_bytes: u64,
    pub used_bytes: u64,
    pub dynamic: bool,
    pub reserve_bytes: u64,
    pub resume_offset_bytes: u64,
    pub shared_bytes: u64,
    pub shared_used: u64,
    pub lossy_bytes: u64,
    pub lossy_used: u64,
    pub signalling: Signalling,
}

/// A host: its NIC's round-robin, pacing and delayed packets.
pub struct Host {
    pub node: u32,
    pub port: u32,
    pub profile: u16,
    /// Flows that may send now, per class.
    pub ready: Box<[Ring<u32>]>,
    /// The flow on the wire, if it may send again when the wire is free.
    pub last_served: u32,
    /// Flows waiting for their pacing time.
    pub paced: std::collections::BinaryHeap<std::cmp::Reverse<Key>>,
    /// The wake-up event that counts.
    pub wake_at: Time,
    /// ACKs and notifications waiting out their processing delay.
    pub delayed: [Ring<InFlight>; 2],
    /// Classes this host keeps paused (a storm).
    pub storm: u8,
}

/// Events whose state is fetched together in a large network: what a core can have under way.
const AHEAD: usize = 16;

/// How a call to [`World::run`] ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    Running,
    Done,
}

/// Everything of one run.
pub struct World<S: Scheme> {
    pub plan: Plan,
    pub now: Time,
    pub counters: Counters,
    /// Records since they were last taken.
    pub flows: Vec<FlowRecord>,
    pub pauses: Vec<PauseRecord>,
    pub samples: Vec<Sample>,
    /// Deadlocks found so far: time and cycle.
    pub deadlocks: Vec<(Time, Vec<crate::record::BlockedQueue>)>,
    pub failure: Option<Failure>,

    pub(crate) queue: EventQueue,
    pub(crate) ports: Vec<Port>,
    /// What all queues and all wires hold.
    pub(crate) queued: Pool<Packet>,
    pub(crate) in_flight: Pool<InFlight>,
    /// `port * classes + class`
    pub(crate) queues: Vec<Queue>,
    pub(crate) accounts: Vec<Account>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) hosts: Vec<Host>,
    /// Per node: its number among hosts or switches.
    pub(crate) index_of: Vec<u32>,
    pub(crate) classes: usize,
    pub(crate) strict: u8,
    pub(crate) quantum: Vec<i64>,
    /// Deficit round-robin of ports with weighted classes: `port * classes + class`.
    pub(crate) deficit: Vec<i64>,
    pub(crate) drr_next: Vec<u8>,
    pub(crate) gap_bytes: u32,
    pub(crate) pfc_frame: u16,

    pub(crate) schemes: Vec<S>,
    pub(crate) overheads: Vec<Overhead>,
    pub(crate) cps: Vec<S::Cp>,
    pub(crate) cp_due: Vec<Time>,
    pub(crate) cp_owner: Vec<(u32, u8)>,
    pub(crate) notices: Vec<Notice<S::Feedback>>,
    pub(crate) senders: Slab<Sender<S::Rp>>,
    pub(crate) receivers: Slab<Receiver<S::Np>>,
    pub(crate) ledgers: Slab<Ledger>,
    pub(crate) int: Slab<IntStack>,
    pub(crate) feedback: Slab<S::Feedback>,

    pub(crate) routes: Routes,
    pub(crate) route_ports: Vec<u32>,
    pub(crate) route_free: Vec<Vec<u32>>,
    pub(crate) max_base_rtt: Span,
    pub(crate) loss: Vec<f64>,
    pub(crate) loss_rng: Vec<Rng>,

    pub(crate) sources: Vec<Box<dyn Source>>,
    pub(crate) source_due: Vec<Time>,
    /// Living flow of each (source, handle).
    pub(crate) by_handle: Vec<std::collections::HashMap<u32, u32>>,
    pub(crate) probe_state: crate::probe::ProbeState,
    pub(crate) checks: crate::check::CheckState,
    pub(crate) done: bool,
    finished: bool,
}

impl<S: Scheme> World<S> {
    /// Builds the world of a plan. The plan is trusted: whoever made it has checked it.
    pub fn new(plan: Plan, schemes: Vec<S>, sources: Vec<Box<dyn Source>>) -> World<S> {
        assert!(!schemes.is_empty() && schemes.len() <= 16, "one to sixteen schemes per run");
        let classes = plan.classes.list.len();
        assert!((1..=8).contains(&classes));
        let routes = Routes::new(&plan, |_| true);
        let mut index_of = vec![0; plan.nodes.len()];
        let (mut hosts, mut switches) = (Vec::new(), Vec::new());
        for (node, spec) in plan.nodes.iter().enumerate() {
            match spec.kind {
                NodeKind::Host => {
                    index_of[node] = hosts.len() as u32;
                    hosts.push(Host {
                        node: node as u32,
                        port: routes.host_port(node as u32),
                        profile: spec.profile,
                        ready: (0..classes).map(|_| Ring::default()).collect(),
                        last_served: crate::nic::NO_FLOW,
                        paced: Default::default(),
                        wake_at: Time::NEVER,
                        delayed: Default::default(),
                        storm: 0,
                    });
                }
                NodeKind::Switch => {
                    index_of[node] = switches.len() as u32;
                    switches.push(new_switch(&plan, node as u32, spec.profile));
                }
            }
        }
        for port in 0..plan.ports() as u32 {
            let node = plan.node_of(port);
            if plan.nodes[node as usize].kind == NodeKind::Switch {
                switches[index_of[node as usize] as usize].ports.push(port);
            }
        }
        let overheads: Vec<Overhead> = schemes.iter().map(Scheme::overhead).collect();
        let mtu_wire = mtu_wire_bytes(&plan) + overheads.iter().map(|o| o.data_bytes).max().unwrap_or(0);
        let accounts = new_accounts(&plan, &mut switches, mtu_wire);
        let max_base_rtt = max_base_rtt(&plan, &routes);
        let mask =
            |test: &dyn Fn(usize) -> bool| (0..classes).filter(|&c| test(c)).fold(0u8, |mask, c| mask | (1 << c));
        let sizes = plan.hosts.first().map_or(crate::plan::FrameSizes::ROCE_V2, |host| host.sizes);
        let weighted = plan.classes.list.iter().any(|class| class.service != Service::Strict);
        let ports = plan.ports();

        let mut world = World {
            now: Time::ZERO,
            counters: Counters::default(),
            flows: Vec::new(),
            pauses: Vec::new(),
            samples: Vec::new(),
            deadlocks: Vec::new(),
            failure: None,
            queue: EventQueue::default(),
            ports: Vec::with_capacity(ports),
            queued: Pool::default(),
            in_flight: Pool::default(),
            queues: (0..ports * classes).map(|_| Queue::default()).collect(),
            accounts,
            switches,
            hosts,
            index_of,
            classes,
            strict: mask(&|c| plan.classes.list[c].service == Service::Strict),
            quantum: (plan.classes.list.iter())
                .map(|class| match class.service {
                    Service::Strict => 0,
                    Service::Weighted(quantum) => i64::from(quantum),
                })
                .collect(),
            deficit: if weighted { vec![0; ports * classes] } else { Vec::new() },
            drr_next: if weighted { vec![0; ports] } else { Vec::new() },
            gap_bytes: sizes.gap_bytes,
            pfc_frame: sizes.pfc_bytes as u16,
            overheads,
            schemes,
            cps: Vec::new(),
            cp_due: Vec::new(),
            cp_owner: Vec::new(),
            notices: Vec::new(),
            senders: Slab::default(),
            receivers: Slab::default(),
            ledgers: Slab::default(),
            int: Slab::default(),
            feedback: Slab::default(),
            routes,
            route_ports: Vec::new(),
            route_free: Vec::new(),
            max_base_rtt,
            loss: (0..ports as u32).map(|port| plan.direction(port).loss).collect(),
            loss_rng: Vec::new(),
            source_due: vec![Time::NEVER; sources.len()],
            by_handle: (0..sources.len()).map(|_| Default::default()).collect(),
            sources,
            probe_state: Default::default(),
            checks: Default::default(),
            done: false,
            finished: false,
            plan,
        };
        world.build_ports();
        world.start();
        world
    }

    fn build_ports(&mut self) {
        let slots = self.schemes.len();
        let mut local_of = vec![0u16; self.plan.ports()];
        for switch in &self.switches {
            for (local, &port) in switch.ports.iter().enumerate() {
                local_of[port as usize] = local as u16;
            }
        }
        for port in 0..self.plan.ports() as u32 {
            let node = self.plan.node_of(port);
            let direction = *self.plan.direction(port);
            let at_host = self.plan.nodes[node as usize].kind == NodeKind::Host;
            let cp_base = self.cps.len() as u32;
            let mut hooks = Hooks::NONE;
            let owner = self.index_of[node as usize];
            if !at_host {
                let xoff = match self.plan.switches[self.switches[owner as usize].profile as usize].pfc.thresholds {
                    Thresholds::Static { xoff_bytes, .. } => Some(xoff_bytes),
                    Thresholds::Dynamic { .. } => None,
                };
                for class in 0..self.classes {
                    for slot in 0..slots {
                        let cp = self.schemes[slot].congestion_point(&QueueFacts {
                            seed: self.plan.seed,
                            queue: (u64::from(port) * 8 + class as u64) * 16 + slot as u64,
                            rate: direction.rate,
                            max_base_rtt: self.max_base_rtt,
                            xoff_bytes: xoff,
                        });
                        hooks = hooks.with(cp.hooks());
                        self.cps.push(cp);
                        self.cp_owner.push((port, class as u8));
                    }
                }
            }
            let local = if at_host { 0 } else { local_of[port as usize] };
            self.ports.push(Port {
                busy_until: Time::ZERO,
                wire: Fifo::default(),
                rate: LinkRate::new(direction.rate),
                delay: direction.delay,
                tx_bytes: 0,
                tx_packets: 0,
                queued_bytes: 0,
                owner,
                cp_base,
                local,
                waiting: 0,
                paused: 0,
                pfc_due: 0,
                flags: if at_host { AT_HOST } else { 0 } | if direction.loss > 0.0 { LOSSY_WIRE } else { 0 },
                hooks,
            });
        }
        self.cp_due = vec![Time::NEVER; self.cps.len()];
        let lossy = self.loss.iter().any(|&loss| loss > 0.0)
            || self.plan.faults.iter().any(|fault| matches!(fault.what, crate::plan::FaultKind::Loss { .. }));
        if lossy {
            self.loss_rng =
                (0..self.ports.len() as u64).map(|port| stream(self.plan.seed, "wire loss", port)).collect();
        }
    }

    fn start(&mut self) {
        for (i, fault) in self.plan.faults.iter().enumerate() {
            self.queue.push(Key::new(fault.at, kind::FAULT, i as u32));
        }
        for source in 0..self.sources.len() as u32 {
            self.arm_source(source);
        }
        self.start_probes();
        self.start_checks();
        self.done = self.is_idle();
    }

    /// Handles up to `max_events` events.
    pub fn run(&mut self, max_events: u64) -> Progress {
        let stop = self.plan.run.stop;
        let large = self.queue.is_large();
        let mut looked_at = 0;
        for _ in 0..max_events {
            if self.done {
                return self.end();
            }
            let Some(key) = self.queue.pop() else {
                return self.end();
            };
            if key.time() > stop {
                self.now = stop;
                return self.end();
            }
            if large {
                if self.queue.take_fresh() || looked_at == 0 {
                    self.look_ahead();
                    looked_at = AHEAD;
                }
                looked_at -= 1;
            }
            debug_assert!(key.time() >= self.now, "time runs backwards");
            self.now = key.time();
            self.counters.events += 1;
            let index = key.index();
            match key.kind() {
                kind::ARRIVE => self.on_arrive(index),
                kind::PORT_FREE => self.on_port_free(index),
                kind::WAKE => self.on_wake(index),
                kind::FLOW_TIMER => self.on_flow_timer(index),
                kind::NP_TIMER => self.on_np_timer(index),
                kind::CP_TIMER => self.on_cp_timer(index),
                kind::EMIT => self.on_emit(index),
                kind::SOURCE => self.on_source(index),
                kind::PAUSE_EXPIRY => self.on_pause_expiry(index),
                kind::PFC_REFRESH => self.on_pfc_refresh(index),
                kind::WATCHDOG => self.on_watchdog(index),
                kind::CHECK => self.on_check(),
                kind::PROBE => self.on_probe(index),
                kind::FAULT => self.on_fault(index),
                other => unreachable!("event kind {other}"),
            }
        }
        Progress::Running
    }

    /// Reads what the next events will need, all of them before any is handled: in a large network
    /// nothing of it is in the cache, and misses that do not wait for each other overlap.
    #[inline(never)]
    fn look_ahead(&self) {
        let classes = self.classes;
        let mut seen = 0u64;
        let next = || self.queue.upcoming().iter().rev().take(AHEAD);
        for key in next() {
            let port = key.index() as usize;
            if matches!(key.kind(), kind::ARRIVE | kind::PORT_FREE) {
                seen ^= self.ports[port].busy_until.ps() ^ self.ports[port ^ 1].tx_bytes;
            }
        }
        let front = |key: &Key| match key.kind() {
            kind::ARRIVE => self.in_flight.front(&self.ports[key.index() as usize].wire).map(|item| &item.packet),
            kind::PORT_FREE => {
                let first = key.index() as usize * classes;
                self.queued.front(&self.queues[first].packets)
            }
            _ => None,
        };
        for packet in next().filter_map(front) {
            seen ^= u64::from(packet.route);
        }
        for key in next().filter(|key| key.kind() == kind::PORT_FREE) {
            let port = &self.ports[key.index() as usize];
            if port.has(AT_HOST) {
                let flow = self.hosts[port.owner as usize].last_served;
                seen ^= self.senders.get(flow).map_or(0, |sender| u64::from(sender.next));
            }
        }
        for key in next().filter(|key| key.kind() == kind::ARRIVE) {
            let Some(packet) = front(key) else { continue };
            let to_host = self.ports[key.index() as usize ^ 1].has(AT_HOST);
            if to_host {
                seen ^= self.senders.get(packet.flow).map_or(0, |sender| u64::from(sender.next));
                seen ^= self.receivers.get(packet.flow).map_or(0, |receiver| u64::from(receiver.expected));
                continue;
            }
            let Some(&port) = self.route_ports.get(packet.route as usize) else { continue };
            let port = if packet.flags & BACKWARD == 0 { port } else { peer(port) };
            seen ^= self.ports[port as usize].busy_until.ps();
            seen ^= self.queues[port as usize * classes + usize::from(packet.class)].bytes;
            let ingress = &self.ports[key.index() as usize ^ 1];
            let account =
                self.switches[ingress.owner as usize].accounts as usize + usize::from(ingress.local) * classes;
            seen ^= self.accounts[account + usize::from(packet.class)].bytes;
        }
        std::hint::black_box(seen);
    }

    /// Runs to the end. For tests and small programs; others call [`World::run`] in slices.
    pub fn run_to_end(&mut self) {
        while self.run(1 << 20) == Progress::Running {}
    }

    /// Closes the books once: flows still alive get their records.
    fn end(&mut self) -> Progress {
        if !self.finished {
            self.finished = true;
            self.final_check();
            let alive: Vec<u32> =
                self.senders.iter().filter(|(_, sender)| !sender.ended).map(|(flow, _)| flow).collect();
            let mut records: Vec<FlowRecord> = alive.iter().map(|&flow| self.flow_record(flow)).collect();
            records.sort_by_key(|record| record.id);
            self.flows.append(&mut records);
        }
        Progress::Done
    }

    /// The last bit of the head of `port`'s wire reaches the other end.
    #[inline]
    fn on_arrive(&mut self, port: u32) {
        let sender = &mut self.ports[port as usize];
        let Some(&InFlight { arrives, mut packet }) = self.in_flight.front(&sender.wire) else { return };
        if arrives != self.now {
            // The wire was cut and used again: this event belonged to a packet that is gone.
            debug_assert!(arrives > self.now);
            return;
        }
        self.in_flight.drop_front(&mut sender.wire);
        if let Some(next) = self.in_flight.front(&sender.wire) {
            self.queue.push(Key::new(next.arrives, kind::ARRIVE, port));
        }
        let lossy = sender.has(LOSSY_WIRE);
        let ingress = peer(port);
        if packet.kind == Kind::Pfc {
            self.on_pfc(ingress, &packet);
            return;
        }
        if lossy && self.lost_on_wire(port) {
            self.counters.drops_fault += 1;
            self.discard(&packet);
            return;
        }
        if self.ports[ingress as usize].has(AT_HOST) {
            self.host_receive(ingress, &packet);
        } else {
            let egress = self.next_port(&mut packet);
            self.switch_receive(ingress, egress, &mut packet);
        }
    }

    #[cold]
    fn lost_on_wire(&mut self, port: u32) -> bool {
        let loss = self.loss[port as usize];
        loss > 0.0 && self.loss_rng[port as usize].unit() < loss
    }

    /// The egress port a packet takes next; moves its route cursor.
    #[inline]
    fn next_port(&self, packet: &mut Packet) -> u32 {
        let port = self.route_ports[packet.route as usize];
        if packet.flags & BACKWARD == 0 {
            packet.route += 1;
            port
        } else {
            packet.route = packet.route.wrapping_sub(1);
            peer(port)
        }
    }

    /// Puts a packet on the wire now. The port must be free.
    #[inline]
    pub(crate) fn transmit(&mut self, port_id: u32, packet: &Packet) {
        let port = &mut self.ports[port_id as usize];
        debug_assert!(port.busy_until <= self.now && !port.has(FREE_PENDING));
        let wire_bytes = u32::from(packet.frame_bytes) + self.gap_bytes;
        let end = self.now + port.rate.serialise(wire_bytes);
        port.busy_until = end;
        port.tx_bytes += u64::from(wire_bytes);
        port.tx_packets += 1;
        if packet.kind != Kind::Pfc {
            self.counters.packet_hops += 1;
        }
        let arrives = end + port.delay;
        if port.wire.is_empty() {
            self.queue.push(Key::new(arrives, kind::ARRIVE, port_id));
        }
        self.in_flight.push(&mut port.wire, &InFlight { arrives, packet: *packet });
    }

    /// Makes sure the port is served once it is free.
    #[inline]
    pub(crate) fn expect_free(&mut self, port_id: u32) {
        let port = &mut self.ports[port_id as usize];
        if !port.has(FREE_PENDING) {
            port.flags |= FREE_PENDING;
            self.queue.push(Key::new(port.busy_until.max(self.now), kind::PORT_FREE, port_id));
        }
    }

    #[inline]
    fn on_port_free(&mut self, port_id: u32) {
        let port = &mut self.ports[port_id as usize];
        port.flags &= !FREE_PENDING;
        if port.has(AT_HOST) {
            self.serve_nic(port_id);
        } else {
            self.serve_switch_port(port_id);
        }
    }

    /// The class to serve among `eligible` (not zero): strict by priority, then deficit
    /// round-robin.
    #[inline]
    pub(crate) fn pick_class(&mut self, port: u32, eligible: u8) -> u8 {
        debug_assert!(eligible != 0);
        let strict = eligible & self.strict;
        if strict != 0 { 7 - strict.leading_zeros() as u8 } else { self.pick_weighted(port, eligible) }
    }

    #[cold]
    fn pick_weighted(&mut self, port: u32, eligible: u8) -> u8 {
        let base = port as usize * self.classes;
        loop {
            let class = self.drr_next[port as usize] as usize % self.classes;
            if eligible & (1 << class) == 0 {
                // Nothing to send, nothing saved up; a debt stays.
                self.deficit[base + class] = self.deficit[base + class].min(0);
            } else if self.deficit[base + class] > 0 {
                return class as u8;
            } else {
                self.deficit[base + class] += self.quantum[class];
                if self.deficit[base + class] > 0 {
                    return class as u8;
                }
            }
            self.drr_next[port as usize] = ((class + 1) % self.classes) as u8;
        }
    }

    /// Charges a weighted class for what it sent; moves on when its share is used up.
    #[inline]
    pub(crate) fn charge(&mut self, port: u32, class: u8, bytes: u16) {
        if self.strict & (1 << class) == 0 {
            let deficit = &mut self.deficit[port as usize * self.classes + class as usize];
            // What it sent beyond its share is taken off its next.
            *deficit -= i64::from(bytes);
            if *deficit <= 0 {
                self.drr_next[port as usize] = ((usize::from(class) + 1) % self.classes) as u8;
            }
        }
    }

    /// A packet ends here, undelivered.
    pub(crate) fn discard(&mut self, packet: &Packet) {
        self.counters.data_packets_discarded += u64::from(packet.kind == Kind::Data);
        self.release_extra(packet);
        self.packet_gone(packet.flow);
    }

    /// Frees what a packet carried beside itself.
    #[inline]
    pub(crate) fn release_extra(&mut self, packet: &Packet) {
        if packet.extra != crate::packet::NO_EXTRA {
            if packet.kind == Kind::Notification {
                self.feedback.remove(packet.extra);
            } else {
                self.int.remove(packet.extra);
            }
        }
    }

    /// Stores a route and returns its first index.
    pub(crate) fn store_route(&mut self, path: &[u32]) -> u32 {
        if self.route_free.len() <= path.len() {
            self.route_free.resize(path.len() + 1, Vec::new());
        }
        match self.route_free[path.len()].pop() {
            Some(at) => {
                self.route_ports[at as usize..at as usize + path.len()].copy_from_slice(path);
                at
            }
            None => {
                let at = self.route_ports.len() as u32;
                self.route_ports.extend_from_slice(path);
                at
            }
        }
    }

    pub(crate) fn free_route(&mut self, at: u32, len: u8) {
        self.route_free[len as usize].push(at);
    }

    /// What every port did, with queues settled to now.
    pub fn port_reports(&mut self) -> Vec<PortReport> {
        let now = self.now;
        let length = now.ps().max(1) as f64;
        let mut reports = Vec::with_capacity(self.ports.len());
        for port_id in 0..self.ports.len() {
            let port = &self.ports[port_id];
            let at_host = port.has(AT_HOST);
            let (paused, owner, local) = (port.paused, port.owner as usize, port.local as usize);
            let pfc = &self.checks.frames[port_id];
            let mut report = PortReport {
                port: port_id as u32,
                tx_packets: port.tx_packets,
                tx_wire_bytes: port.tx_bytes,
                pause_frames: pfc.pause,
                resume_frames: pfc.resume,
                refresh_frames: pfc.refresh,
                classes: Vec::with_capacity(self.classes),
            };
            for class in 0..self.classes {
                let queue = &mut self.queues[port_id * self.classes + class];
                queue.settle(now);
                let open = if paused & (1 << class) != 0 { now - queue.paused_since } else { Span::ZERO };
                let mut row = ClassReport {
                    queue_bytes_peak: queue.peak_bytes,
                    queue_bytes_mean: queue.area / length,
                    paused: queue.paused_total + open,
                    marks: queue.marks,
                    drops: queue.drops,
                    ..ClassReport::default()
                };
                if !at_host {
                    let switch = &self.switches[owner];
                    let account = &self.accounts[switch.accounts as usize + local * self.classes + class];
                    row.ingress_bytes_peak = account.peak_bytes;
                    row.headroom_bytes = account.headroom_bytes;
                    if account.lossless {
                        row.xoff_bytes = Some(if switch.dynamic { account.lowest_xoff } else { account.xoff_bytes });
                    }
                }
                report.classes.push(row);
            }
            reports.push(report);
        }
        reports
    }

    /// Flows alive now.
    pub fn flows_in_flight(&self) -> usize {
        self.senders.len()
    }

    pub fn max_base_rtt(&self) -> Span {
        self.max_base_rtt
    }

    /// Whether the port's link is up.
    pub(crate) fn is_up(&self, port: u32) -> bool {
        !self.ports[port as usize].has(DOWN)
    }
}

fn new_switch(plan: &Plan, node: u32, profile: u16) -> Switch {
    let settings = &plan.switches[profile as usize];
    let (dynamic, reserve_bytes, resume_offset_bytes) = match settings.pfc.thresholds {
        Thresholds::Static { .. } => (false, 0, 0),
        Thresholds::Dynamic { reserve_bytes, resume_offset_bytes, .. } => (true, reserve_bytes, resume_offset_bytes),
    };
    Switch {
        node,
        profile,
        ports: Vec::new(),
        accounts: 0,
        buffer_bytes: settings.buffer_bytes,
        used_bytes: 0,
        dynamic,
        reserve_bytes,
        resume_offset_bytes,
        shared_bytes: 0,
        shared_used: 0,
        lossy_bytes: 0,
        lossy_used: 0,
        signalling: settings.pfc.signalling,
    }
}

/// Ingress accounts of every switch, and what of its buffer is left to share.
fn new_accounts(plan: &Plan, switches: &mut [Switch], mtu_wire: u32) -> Vec<Account> {
    let mut accounts = Vec::new();
    for switch in switches {
        switch.accounts = accounts.len() as u32;
        let settings = &plan.switches[switch.profile as usize].pfc;
        let mut reserved = 0;
        for &port in &switch.ports {
            let outgoing = plan.direction(port);
            let incoming = plan.direction(peer(port));
            let sizes = plan.hosts.first().map_or(crate::plan::FrameSizes::ROCE_V2, |host| host.sizes);
            let headroom = match settings.headroom {
                crate::plan::Headroom::Auto => pfc::required_headroom(incoming, outgoing, mtu_wire, &sizes),
                crate::plan::Headroom::Bytes(bytes) => bytes,
            };
            for (class, spec) in plan.classes.list.iter().enumerate() {
                let (xoff, xon, alpha) = match settings.thresholds {
                    Thresholds::Static { xoff_bytes, xon_bytes } => (xoff_bytes, xon_bytes, 0.0),
                    Thresholds::Dynamic { alpha, .. } => (0, 0, pfc::alpha_at(alpha, incoming.rate)),
                };
                if spec.lossless {
                    reserved += headroom + if switch.dynamic { switch.reserve_bytes } else { xoff };
                }
                accounts.push(Account {
                    bytes: 0,
                    peak_bytes: 0,
                    xoff_bytes: xoff,
                    xon_bytes: xon,
                    headroom_bytes: if spec.lossless { headroom } else { 0 },
                    in_headroom: 0,
                    alpha,
                    lowest_xoff: u64::MAX,
                    port,
                    class: class as u8,
                    lossless: spec.lossless,
                    pausing: false,
                    refresh_pending: false,
                });
            }
        }
        switch.shared_bytes = switch.buffer_bytes.saturating_sub(reserved);
        // Lossy traffic may never take what lossless classes were promised; where the promise
        // already exceeds the buffer, control packets still need somewhere to be.
        switch.lossy_bytes = switch.shared_bytes.max(switch.buffer_bytes / 16);
    }
    accounts
}

/// Wire bytes of the largest data packet any host sends, before what a scheme adds.
pub fn mtu_wire_bytes(plan: &Plan) -> u32 {
    plan.hosts.iter().map(|h| h.mtu_bytes + h.sizes.data_header_bytes + h.sizes.gap_bytes).max().unwrap_or(1106)
}

/// The longest base round trip between two hosts. Hosts of one edge differ only in their own
/// link, so the slowest (two, for a pair under one edge) stand for all.
pub fn max_base_rtt(plan: &Plan, routes: &Routes) -> Span {
    let data_wire = mtu_wire_bytes(plan);
    let ack_wire = plan.hosts.iter().map(|h| h.sizes.ack_bytes + h.sizes.gap_bytes).max().unwrap_or(86);
    let own = |host: u32| timing::base_rtt(plan, &[routes.host_port(host)], data_wire, ack_wire);
    let mut by_edge: std::collections::BTreeMap<u32, Vec<u32>> = Default::default();
    for (node, spec) in plan.nodes.iter().enumerate() {
        if spec.kind == NodeKind::Host {
            by_edge.entry(plan.node_of(peer(routes.host_port(node as u32)))).or_default().push(node as u32);
        }
    }
    for hosts in by_edge.values_mut() {
        hosts.sort_by_cached_key(|&host| std::cmp::Reverse(own(host)));
    }
    let mut pairs: Vec<(u32, u32)> = by_edge.values().filter(|h| h.len() > 1).map(|h| (h[0], h[1])).collect();
    for a in by_edge.values() {
        pairs.extend(by_edge.values().filter(|b| b[0] != a[0]).map(|b| (a[0], b[0])));
    }
    let mut path = Vec::new();
    let mut longest = Span::ZERO;
    for (a, b) in pairs {
        if routes.path(a, b, 0, &mut path) {
            longest = longest.max(timing::base_rtt(plan, &path, data_wire, ack_wire));
        }
    }
    longest
}
