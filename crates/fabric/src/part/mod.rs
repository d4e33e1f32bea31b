//! A part of the network: its switches and hosts, all that belongs to them, and the loop that moves it
//! from event to event.
//!
//! This file has the loop and what all nodes need (transmission, service, routes, reports). What a switch
//! does is in `switch.rs`, what a NIC and the transport do in `nic.rs` and `transport.rs`; all of them are methods of
//! [`Part`]. What concerns the run as a whole is not here but in [`crate::run`].

pub mod agenda;
pub mod command;
pub(crate) mod compat;
mod dialect;
mod edge_routing;
pub(crate) mod flow_links;
mod forwarding;
pub(crate) mod htsim;
mod link;
mod nic;
mod pfc;
pub mod remote;
pub mod route_storage;
mod scan;
pub(crate) mod seen;
pub(crate) mod selective;
mod shaper;
pub(crate) mod state;
mod switch;
mod tap;
mod transport;
mod trimming;
mod voq;
mod watchdog;

use crate::buffer::{Buffer, Ingress};
use crate::contract::packet::{BACKWARD, HAS_HEADER, Kind, Packet, SELECTIVE};
use crate::contract::record::{ClassReport, Counters, PortReport};
use crate::contract::scheme::{Format, Scheme};
use crate::flow::ends::{Receiver, Sender};
use crate::id::{CpId, FlowEntryId, FlowStateId, HostId, PortId, QueueId, ReceiverId, SenderId, SwitchId};
use crate::network::plan::Plan;
use crate::node::host::Host;
use crate::node::port::{
    AT_HOST, BOUNDARY, CAPTURED, DOWN, EAGER, FREE_PENDING, FREE_RESERVED, HAS_VOQS, InFlight, LOSSY_LINK, Port, Queue,
    QueueHistory, REMOTE, TO_HOST,
};
use crate::node::switch::Switch;
use agenda::Agenda;
use command::Commands;
use compat::Compat;
use remote::RemoteQueues;
use state::{CongestionPoints, EgressQueues, Flows, Links, Paths, Records};
use std::sync::Arc;
use xoff_engine::{Event, Key, Pool, Ring, Span, Table, Time};

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
    /// A PFC frame takes effect, or a PAUSE runs out.
    pub const PAUSE_TIMER: u8 = 9;
    pub const PFC_REFRESH: u8 = 10;
    pub const WATCHDOG: u8 = 11;
    pub const CHECK: u8 = 12;
    pub const PROBE: u8 = 13;
    pub const SWITCH_TIMER: u8 = 14;
    /// After the probes, which thus see what has been there for a while.
    pub const SHAPER: u8 = 15;
    /// Packets of a flow that an edge holds back are let go.
    pub const FLUSH: u8 = 16;
    /// What happens under [`Dialect::Htsim`](crate::network::plan::Dialect::Htsim), whatever it is.
    pub const HTSIM: u8 = 17;
    const _: () = assert!(HTSIM < xoff_engine::event::KINDS, "18 of 32 kinds are used: 18 is the next");
}

/// Events whose state is fetched together in a large network: what a core can have under way.
const AHEAD: usize = 16;
/// Flows of a part whose state is larger than the nearest caches.
const CROWD: usize = 2_000;

/// The port that has a name, in a network of one part: there ports are numbered as in the network.
#[inline]
pub(crate) fn port_named(ports: &Table<PortId, Port>, name: u32) -> PortId {
    let port = PortId::new(name);
    debug_assert_eq!(ports[port].name, name, "there are other parts");
    port
}

/// Why [`Part::run`] came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pause {
    /// As many events as were asked for.
    Counted,
    /// What comes next is not before the limit.
    Limit,
    /// Nothing comes next.
    Empty,
    /// Something has happened that concerns the run: see [`Records::events`] and [`Part::failure`].
    Halted,
}

/// How many events [`Part::run`] may still handle.
#[derive(Default)]
pub(crate) struct Pace {
    left: u64,
    /// What was left when it was halted.
    unused: u64,
    /// No event is handled until the run has looked at what happened.
    halted: bool,
    /// The run may look when nothing is left that comes before the acts of sources at this instant.
    patient: bool,
    /// Events to come whose state has been read ahead.
    looked_at: usize,
}

impl Pace {
    fn begin(&mut self, max_events: u64) {
        (self.left, self.unused) = (max_events, 0);
        if self.halted {
            self.halt();
        }
    }

    /// The event at hand is the last one.
    pub(crate) fn halt(&mut self) {
        self.halt_after_instant();
        self.patient = false;
    }

    /// The event at hand is the last one, or one of its instant that comes before the acts of sources.
    pub(crate) fn halt_after_instant(&mut self) {
        self.unused += std::mem::take(&mut self.left);
        self.patient |= !self.halted;
        self.halted = true;
    }
}

/// An event of a flow that concerns its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FlowEvent {
    /// A flow is over, for its sender.
    Ended(FlowStateId),
    /// All that was offered to a flow is acknowledged.
    Drained(FlowStateId),
    /// A message, or a flow with a size, has reached its receiver; only if its source wants to know.
    Delivered(FlowStateId, u32),
    /// The same is acknowledged.
    Acknowledged(FlowStateId, u32),
    /// A packet of a flow was lost.
    Lost(FlowStateId),
}

/// Everything of some switches and hosts.
pub struct Part<S: Scheme> {
    pub(crate) plan: Arc<Plan>,
    pub(crate) now: Time,
    pub(crate) counters: Counters,
    pub(crate) records: Records,
    /// Nothing happens here before it, if there are other parts.
    pub(crate) next: Key,
    /// What sources will do.
    pub(crate) commands: Commands,
    pub(crate) remote: RemoteQueues<S>,
    pub(crate) pace: Pace,
    pub(crate) queue: Agenda,
    pub(crate) compat: Compat,
    pub(crate) links: Links,
    pub(crate) egress: EgressQueues,
    pub(crate) switches: Table<SwitchId, Switch>,
    pub(crate) hosts: Table<HostId, Host>,
    pub(crate) classes: usize,
    pub(crate) schemes: Arc<Vec<S>>,
    /// Per scheme: within a domain, and between domains.
    pub(crate) formats: Arc<Vec<[Format; 2]>>,
    pub(crate) points: CongestionPoints<S>,
    pub(crate) flows: Flows<S>,
    pub(crate) voq_switches: crate::node::voq::VoqSwitches<S::Switch>,
    pub(crate) shapers: crate::node::shaper::Shapers<S::Transit>,
    pub(crate) paths: Paths,
    pub(crate) watch: crate::node::watch::Watch,
}

impl<S: Scheme> Part<S> {
    /// Handles events before `limit`, at most `max_events` of them; says how many, and why no more.
    pub(crate) fn run(&mut self, limit: Key, max_events: u64) -> (u64, Pause) {
        let large = self.is_large();
        let watched = large || self.records.rank.is_some() || self.compat.eager;
        self.pace.begin(max_events);
        let pause = loop {
            if self.pace.left == 0 && !self.goes_on(limit) {
                break if std::mem::take(&mut self.pace.halted) { Pause::Halted } else { Pause::Counted };
            }
            let Some(event) = self.queue.pop_before(limit) else {
                break if self.queue.is_empty() { Pause::Empty } else { Pause::Limit };
            };
            self.pace.left -= 1;
            if watched {
                if self.compat.eager {
                    self.queue.begin(event.key());
                }
                if let Some(rank) = &mut self.records.rank {
                    // An event that another one set for the same instant comes right after that one.
                    *rank = event.key().max(*rank);
                }
                if large && (self.queue.take_fresh() || self.pace.looked_at == 0) {
                    self.look_ahead();
                    self.pace.looked_at = AHEAD;
                }
                self.pace.looked_at -= usize::from(large);
            }
            debug_assert!(event.time() >= self.now, "time runs backwards");
            self.now = event.time();
            self.touch_next();
            self.handle(event);
        };
        let handled = max_events - self.pace.left - self.pace.unused;
        self.counters.events = self.counters.events.wrapping_add(handled);
        (handled, pause)
    }

    /// Handles one more event of an instant before the run looks at what happened, if it may.
    #[inline(never)]
    fn goes_on(&mut self, limit: Key) -> bool {
        let next = |event: &Event| event.time() == self.now && event.kind() < kind::SOURCE && event.key() < limit;
        let goes =
            self.pace.halted && self.pace.patient && self.pace.unused > 0 && self.queue.front().is_some_and(next);
        if goes {
            (self.pace.left, self.pace.unused) = (1, self.pace.unused - 1);
        }
        goes
    }

    /// Whether so much is pending, or so many flows are alive, that the state behind the next events cannot be in the cache.
    fn is_large(&self) -> bool {
        self.queue.is_large() || (self.flows.senders.peak() > CROWD && self.queue.is_named())
    }

    /// Reads what the next event needs first, while this one is handled: a link's head is two reads away, neither of
    /// which finds it in the nearest cache.
    #[inline(always)]
    fn touch_next(&mut self) {
        if let Some(next) = self.queue.front()
            && let Some(port) = self.links.ports.get(PortId::new(next.index()))
            && let Some(item) = self.links.in_flight.place_of_front(&port.in_flight)
        {
            self.links.touched ^= item.arrives.ps();
        }
    }

    #[inline(always)]
    fn handle(&mut self, event: Event) {
        // Nearly all are arrivals, so this branch is foreseen and a table of branches is not.
        if event.kind() == kind::ARRIVE {
            self.on_arrive(PortId::new(event.index()));
        } else {
            self.handle_rare(event);
        }
    }

    #[inline(never)]
    fn handle_rare(&mut self, event: Event) {
        let index = event.index();
        match event.kind() {
            kind::PORT_FREE => self.on_port_free(PortId::new(index)),
            kind::WAKE => self.on_wake(HostId::new(index)),
            kind::FLOW_TIMER => self.on_flow_timer(SenderId::new(index)),
            kind::NP_TIMER => self.on_np_timer(ReceiverId::new(index)),
            kind::CP_TIMER => self.on_cp_timer(CpId::new(index)),
            kind::EMIT => self.on_emit(HostId::new(index / 2), index % 2),
            kind::PAUSE_TIMER => self.on_pause_timer(QueueId::new(index)),
            kind::PFC_REFRESH => self.on_pfc_refresh(QueueId::new(index)),
            kind::WATCHDOG => self.on_watchdog(SwitchId::new(index)),
            kind::SWITCH_TIMER => self.on_switch_timer(SwitchId::new(index)),
            kind::SHAPER => self.on_shaper(FlowEntryId::new(index)),
            kind::SOURCE => self.on_commands(index),
            kind::FLUSH => self.on_flush(index),
            kind::HTSIM => self.on_htsim(index),
            other => unreachable!("event kind {other} in a part"),
        }
    }

    /// Reads what the next events will need, all of them before any is handled: in a large network
    /// nothing of it is in the cache, and misses that do not wait for each other overlap.
    #[inline(never)]
    fn look_ahead(&self) {
        let mut seen = 0u64;
        let next = || self.queue.upcoming().iter().rev().take(AHEAD);
        for key in next() {
            let port = PortId::new(key.index());
            if matches!(key.kind(), kind::ARRIVE | kind::PORT_FREE) {
                seen ^= self.links.ports[port].busy_until.ps() ^ self.links.ports[port.peer()].tx_bytes;
            }
        }
        let front = |event: &Event| match event.kind() {
            kind::ARRIVE => self
                .links
                .in_flight
                .front(&self.links.ports[PortId::new(event.index())].in_flight)
                .map(|item| &item.packet),
            kind::PORT_FREE => self.egress.queued.front(&self.queue(PortId::new(event.index()), 0).packets),
            _ => None,
        };
        for packet in next().filter_map(front) {
            seen ^= u64::from(packet.route);
        }
        for key in next().filter(|key| key.kind() == kind::PORT_FREE) {
            let port = &self.links.ports[PortId::new(key.index())];
            if port.has(AT_HOST) {
                let host = &self.hosts[port.host()];
                let class = 7 - (port.waiting | 1).leading_zeros() as usize;
                let first = host.ready.get(class).and_then(Ring::front).copied().unwrap_or(host.last_served);
                seen ^= self.flows.senders.get(first).map_or(0, Sender::touch);
            }
        }
        for key in next().filter(|key| key.kind() == kind::ARRIVE) {
            let Some(packet) = front(key) else { continue };
            if self.links.ports[PortId::new(key.index())].has(TO_HOST) {
                let Some(entry) = self.flows.entries.get(packet.flow) else { continue };
                seen ^= match packet.kind {
                    Kind::Data => self.flows.receivers.get(entry.receiver).map_or(0, Receiver::touch),
                    _ => self.flows.senders.get(entry.sender).map_or(0, Sender::touch),
                };
                continue;
            }
            let Some(&port) = self.paths.route_ports.get(packet.route as usize) else { continue };
            let port = PortId::new(port);
            let port = if packet.flags & BACKWARD == 0 { port } else { port.peer() };
            seen ^= self.links.ports[port].busy_until.ps();
            seen ^= self.queue(port, packet.class).bytes;
            seen ^= self.ingress(PortId::new(key.index()).peer(), packet.class).bytes;
        }
        std::hint::black_box(seen);
    }

    /// The last bit of the head of what `port` has in flight reaches the other end.
    #[inline]
    fn on_arrive(&mut self, port: PortId) {
        let sender = &mut self.links.ports[port];
        let Some(&InFlight { arrives, mut packet }) = self.links.in_flight.front(&sender.in_flight) else { return };
        if arrives != self.now {
            // The link was cut and used again: this event belonged to a packet that is gone.
            debug_assert!(arrives > self.now);
            return;
        }
        self.links.in_flight.drop_front(&mut sender.in_flight);
        if let Some(next) = self.links.in_flight.front(&sender.in_flight)
            && !sender.has(EAGER)
        {
            self.queue.push_by_name(next.arrives, kind::ARRIVE, sender.name, port.get());
        }
        let flags = sender.flags;
        packet.ingress = sender.far_local;
        let ingress = port.peer();
        if packet.kind.is_link_local() {
            if packet.kind == Kind::Pfc {
                self.on_pfc(ingress, &packet);
            } else {
                let lost = flags & LOSSY_LINK != 0 && self.lost_on_link(port);
                self.on_neighbour(ingress, &packet, lost);
            }
            return;
        }
        if flags & (LOSSY_LINK | TO_HOST) != 0 {
            if flags & LOSSY_LINK != 0 && self.lost_on_link(port) {
                self.lose_on_link(port, &packet);
                return;
            }
            if flags & TO_HOST != 0 {
                self.host_receive(ingress, &packet);
                return;
            }
        }
        match self.next_port(&mut packet) {
            Some(egress) => self.switch_receive(ingress, egress, &mut packet),
            None => self.forward_by_table(ingress, &mut packet),
        }
    }

    #[cold]
    fn lose_on_link(&mut self, port: PortId, packet: &Packet) {
        self.counters.drops_fault += 1;
        if self.links.loss[port] < 1.0 {
            // Bad luck is no stall: what is lost is sent again, and comes through in the end.
            self.watch.bad_luck_at = self.now;
        }
        self.lose(packet);
    }

    #[cold]
    fn lost_on_link(&mut self, port: PortId) -> bool {
        let loss = self.links.loss[port];
        loss > 0.0 && self.links.loss_rng[port].unit() < loss
    }

    /// The egress port at the cursor of a packet, which moves on; none if switches choose the packet's next hops.
    #[inline]
    fn next_port(&self, packet: &mut Packet) -> Option<PortId> {
        let port = PortId::new(*self.paths.route_ports.get(packet.route as usize)?);
        Some(if packet.flags & BACKWARD == 0 {
            packet.route += 1;
            port
        } else {
            packet.route = packet.route.wrapping_sub(1);
            port.peer()
        })
    }

    /// The port at a place in the memory of paths.
    #[inline]
    pub(crate) fn hop(&self, cursor: u32) -> PortId {
        PortId::new(self.paths.route_ports[cursor as usize])
    }

    /// Puts a packet on the wire now. The port must be free.
    #[inline(never)]
    pub(crate) fn transmit(&mut self, port_id: PortId, packet: &Packet) {
        self.transmit_here(port_id, packet);
    }

    /// The same, for where most packets come by.
    #[inline(always)]
    pub(crate) fn transmit_here(&mut self, port_id: PortId, packet: &Packet) {
        let port = &mut self.links.ports[port_id];
        debug_assert!(port.busy_until <= self.now);
        let wire_bytes = u32::from(packet.frame_bytes) + self.links.gap_bytes;
        let (onto, along) = self.links.link_types.times(port, wire_bytes);
        let end = self.now + onto;
        port.busy_until = end;
        port.tx_bytes += u64::from(wire_bytes);
        port.tx_packets = port.tx_packets.wrapping_add(1);
        if port.tx_packets == 0 {
            *self.links.wraps.entry(port_id).or_default() += 1;
        }
        self.counters.packet_hops += 1;
        let arrives = end + along;
        if port.flags & (EAGER | BOUNDARY | CAPTURED) != 0 {
            self.transmit_specially(port_id, packet, end, arrives);
            return;
        }
        if port.in_flight.is_empty() {
            self.queue.push_by_name(arrives, kind::ARRIVE, port.name, port_id.get());
        }
        self.links.in_flight.push_with(&mut port.in_flight, |item| {
            item.arrives = arrives;
            item.packet = *packet;
        });
    }

    /// The rest of a transmission into another part, of one that is captured, and where the order of scheduling counts.
    #[inline(never)]
    fn transmit_specially(&mut self, port_id: PortId, packet: &Packet, end: Time, arrives: Time) {
        if self.links.ports[port_id].has(CAPTURED) {
            self.note_flow_link(port_id, packet);
        }
        let port = &mut self.links.ports[port_id];
        if port.has(BOUNDARY) {
            self.send_remote(port_id, arrives, packet);
            return;
        }
        if port.has(EAGER) {
            port.flags |= port.pending_sequenced();
            self.queue.push_transmission(end, arrives, port_id, !port.has(FREE_RESERVED));
        } else if port.in_flight.is_empty() {
            self.queue.push_by_name(arrives, kind::ARRIVE, port.name, port_id.get());
        }
        self.links.in_flight.push_with(&mut port.in_flight, |item| {
            item.arrives = arrives;
            item.packet = *packet;
        });
        if self.links.ports[port_id].has(CAPTURED) {
            self.tap(port_id, packet);
        }
    }

    /// Puts a frame on the wire that belongs to the link and not to a flow: no packet-hop.
    pub(crate) fn transmit_link_local(&mut self, port_id: PortId, frame: &Packet) {
        debug_assert!(frame.kind.is_link_local());
        self.transmit(port_id, frame);
        self.counters.packet_hops -= 1;
    }

    /// Makes sure the port is served once it is free.
    #[inline]
    pub(crate) fn expect_free(&mut self, port_id: PortId) {
        let port = &mut self.links.ports[port_id];
        if port.flags & (FREE_PENDING | EAGER) != 0 {
            if port.has(EAGER) {
                self.expect_free_sequenced(port_id);
            }
            return;
        }
        port.flags |= FREE_PENDING;
        self.queue.push_by_name(port.busy_until.max(self.now), kind::PORT_FREE, port.name, port_id.get());
    }

    #[inline]
    pub(crate) fn on_port_free(&mut self, port_id: PortId) {
        let port = &mut self.links.ports[port_id];
        port.flags &= !FREE_PENDING;
        if port.has(AT_HOST) {
            self.serve_host(port_id);
        } else if port.has(HAS_VOQS) {
            self.serve_voq_port(port_id);
        } else {
            self.serve_switch_port(port_id);
        }
    }

    /// The class to serve among `eligible` (not zero): strict by priority, then deficit
    /// round-robin.
    #[inline]
    pub(crate) fn pick_class(&mut self, port: PortId, eligible: u8) -> u8 {
        debug_assert!(eligible != 0);
        let strict = eligible & self.egress.strict;
        if strict != 0 { 7 - strict.leading_zeros() as u8 } else { self.pick_weighted(port, eligible) }
    }

    #[cold]
    fn pick_weighted(&mut self, port: PortId, eligible: u8) -> u8 {
        if self.egress.round_robin {
            // The first after the one that was served last.
            let next = u32::from(self.egress.drr_next[port]);
            let turned = (u32::from(eligible) | u32::from(eligible) << self.classes) >> next;
            let class = next + turned.trailing_zeros();
            let classes = self.classes as u32;
            return (if class >= classes { class - classes } else { class }) as u8;
        }
        loop {
            let classes = self.classes as u8;
            let class = self.egress.drr_next[port] % classes;
            let deficit = &mut self.egress.deficit[QueueId::of(port, class, self.classes)];
            if eligible & (1 << class) == 0 {
                // Nothing to send, nothing saved up; a debt stays.
                *deficit = (*deficit).min(0);
            } else if *deficit > 0 {
                return class;
            } else {
                *deficit += self.egress.quantum[usize::from(class)];
                if *deficit > 0 {
                    return class;
                }
            }
            self.egress.drr_next[port] = (class + 1) % classes;
        }
    }

    /// Charges a weighted class for what it sent; moves on when its share is used up.
    #[inline]
    pub(crate) fn charge(&mut self, port: PortId, class: u8, bytes: u16) {
        if self.egress.strict & (1 << class) == 0 {
            let deficit = &mut self.egress.deficit[QueueId::of(port, class, self.classes)];
            // What it sent beyond its share is taken off its next; in a round-robin, all of it is.
            *deficit -= i64::from(bytes);
            if *deficit <= 0 {
                let next = usize::from(class) + 1;
                self.egress.drr_next[port] = if next == self.classes { 0 } else { next as u8 };
            }
        }
    }

    /// The network drops a packet of a flow.
    #[cold]
    pub(crate) fn lose(&mut self, packet: &Packet) {
        if !matches!(packet.kind, Kind::Notification | Kind::Edge) {
            // Nobody need look at once.
            self.note(FlowEvent::Lost(self.flows.entries[packet.flow].flow_state));
        }
        self.discard(packet);
    }

    /// A packet ends here, undelivered.
    pub(crate) fn discard(&mut self, packet: &Packet) {
        self.counters.data_packets_discarded += u64::from(packet.kind == Kind::Data);
        if packet.flags & HAS_HEADER != 0 {
            self.drop_header(packet);
        }
        self.release_extra(packet);
        self.packet_gone(packet.flow);
    }

    /// Frees what a packet carried beside itself.
    #[inline(always)]
    pub(crate) fn release_extra(&mut self, packet: &Packet) {
        if packet.extra != crate::contract::packet::NO_EXTRA {
            self.release_cargo(packet);
        }
    }

    #[inline(never)]
    fn release_cargo(&mut self, packet: &Packet) {
        if packet.flags & SELECTIVE != 0 {
            let (_, inner) = self.unpack_selective(packet);
            self.release_extra(&inner);
        } else if packet.kind == Kind::Edge {
            self.take_message(packet.extra);
        } else if packet.kind == Kind::Notification || packet.carries_feedback() {
            self.flows.feedback.remove(packet.extra);
        } else {
            self.flows.int.release(packet);
        }
    }

    /// Stores a route, given by the names of its ports, in a network of one part; its first index.
    pub(crate) fn store_route(&mut self, path: &[u32]) -> u32 {
        let at = self.take_block(path.len());
        let words: Vec<u32> = path.iter().map(|&name| port_named(&self.links.ports, name).get()).collect();
        self.fill_block(at, &words);
        at
    }

    /// Frees the memory of packets. What ports did can still be read.
    pub(crate) fn forget_packets(&mut self) {
        (self.links.in_flight, self.egress.queued) = (Pool::default(), Pool::default());
        self.remote.forget_packets();
    }

    /// Writes the reports of its ports to their places among those of the network.
    pub(crate) fn report_ports(&mut self, reports: &mut [PortReport]) {
        let now = self.now;
        let length = now.ps().max(1) as f64;
        for port_id in self.links.ports.ids() {
            let port = &self.links.ports[port_id];
            if port.has(REMOTE) {
                continue;
            }
            let at_host = port.has(AT_HOST);
            let paused = port.paused;
            let pfc = self.watch.frames(port_id);
            let wraps = self.links.wraps.get(&port_id).copied().unwrap_or(0);
            let mut report = PortReport {
                port: port.name,
                tx_packets: u64::from(wraps) << 32 | u64::from(port.tx_packets),
                tx_wire_bytes: self.sent_bytes(port_id, now),
                pause_frames: pfc.pause,
                resume_frames: pfc.resume,
                refresh_frames: pfc.refresh,
                classes: Vec::with_capacity(self.classes),
            };
            for class in 0..self.classes as u8 {
                let queue_id = QueueId::of(port_id, class, self.classes);
                let queue = &mut self.egress.queues[queue_id];
                queue.settle(now);
                let history = self.egress.histories.get(queue_id).copied().unwrap_or_default();
                let open = if paused & (1 << class) != 0 { now - history.paused_since } else { Span::ZERO };
                let mut row = ClassReport {
                    queue_bytes_peak: queue.peak_bytes,
                    queue_bytes_mean: queue.area / length,
                    paused: history.paused_total + open,
                    marks: queue.marks,
                    drops: history.drops,
                    ..ClassReport::default()
                };
                if !at_host {
                    self.buffer_of(port_id).report(usize::from(self.local(port_id)), class, &mut row);
                }
                report.classes.push(row);
            }
            let place = report.port as usize;
            reports[place] = report;
        }
    }

    /// Flows that have not ended, with their numbers, where their senders are.
    pub(crate) fn living_flows(&self) -> impl Iterator<Item = (u32, FlowStateId)> {
        let living = self.flows.senders.iter().filter(|(_, sender)| !sender.ended);
        living.map(|(id, sender)| (self.flows.details[id].id, self.flows.entries[sender.entry].flow_state))
    }

    /// The number that a port has at its switch.
    pub(crate) fn local(&self, port: PortId) -> u16 {
        self.links.ports[port.peer()].far_local
    }

    #[inline(always)]
    pub(crate) fn queue(&self, port: PortId, class: u8) -> &Queue {
        &self.egress.queues[QueueId::of(port, class, self.classes)]
    }

    pub(crate) fn history(&self, port: PortId, class: u8) -> QueueHistory {
        self.egress.history(QueueId::of(port, class, self.classes))
    }

    pub(crate) fn buffer_of(&self, port: PortId) -> &Buffer {
        &self.switches[self.links.ports[port].switch()].buffer
    }

    /// Returns the ingress of a class at a port of a switch.
    pub(crate) fn ingress(&self, port: PortId, class: u8) -> &Ingress {
        self.buffer_of(port).ingress(usize::from(self.local(port)), class)
    }

    pub(crate) fn is_up(&self, port: PortId) -> bool {
        !self.links.ports[port].has(DOWN)
    }
}
