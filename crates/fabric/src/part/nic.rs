//! The NIC: one link, control packets first, then round-robin over the flows that may send.
//!
//! A packet is built only at the moment it goes onto the wire. A flow is in exactly one place:
//! idle, in its class's round-robin, in the pacing heap, or blocked by its window.

use crate::contract::packet::{ASKS_ACK, Kind, NO_EXTRA, Packet, RESENT, SPREAD};
use crate::contract::scheme::{ReactionPoint, Scheme};
use crate::flow::pacing::SendState;
use crate::flow::transport::Outgoing;
use crate::id::{HostId, PortId, QueueId, SenderId};
use crate::node::port::{DOWN, EAGER, FREE_PENDING, InFlight};
use crate::part::{Part, kind};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use xoff_engine::{Key, Ring, Span, Time, TimeResolution};

impl<S: Scheme> Part<S> {
    /// The link of a NIC is free.
    #[inline]
    pub(crate) fn serve_host(&mut self, port_id: PortId) {
        if self.scans(port_id) { self.serve_scan(port_id) } else { self.serve_nic(port_id) }
    }

    /// The link of a NIC is free: the next packet goes, or the NIC sleeps until one may.
    fn serve_nic(&mut self, port_id: PortId) {
        let host_id = self.links.ports[port_id].host();
        if !self.is_up(port_id) {
            return;
        }
        self.release_paced(host_id, self.now);
        if self.sends_again(port_id, host_id) {
            self.plan_nic(port_id, host_id);
            return;
        }
        self.requeue_last(host_id);
        loop {
            if self.links.ports[port_id].pfc_due != 0 {
                self.send_pfc(port_id);
            }
            let port = &self.links.ports[port_id];
            if port.busy_until > self.now || port.has(FREE_PENDING) {
                break;
            }
            let eligible = port.waiting & !port.paused;
            if eligible == 0 {
                break;
            }
            let class = self.pick_class(port_id, eligible);
            let queue = &mut self.egress.queues[QueueId::of(port_id, class, self.classes)];
            if let Some(packet) = queue.pop(&mut self.egress.queued, self.now) {
                let empty = queue.packets.is_empty();
                self.settle_waiting(port_id, host_id, class, empty);
                self.charge(port_id, class, packet.frame_bytes);
                self.transmit(port_id, &packet);
                break;
            }
            let flow = self.hosts[host_id].ready[usize::from(class)].pop();
            self.settle_waiting(port_id, host_id, class, true);
            if let Some(flow) = flow
                && self.send_data(port_id, host_id, flow)
            {
                break;
            }
        }
        self.plan_nic(port_id, host_id);
    }

    /// Sends the next packet of the flow served last, past the round-robin, if nothing else waits.
    #[inline(always)]
    fn sends_again(&mut self, port_id: PortId, host_id: HostId) -> bool {
        let (port, host) = (&mut self.links.ports[port_id], &mut self.hosts[host_id]);
        let flow = host.last_served;
        let class = 7 - (port.waiting | 1).leading_zeros() as u8;
        let bit = 1 << class;
        let alone = flow != SenderId::NONE
            && port.waiting == bit
            && self.egress.strict & bit & !port.paused != 0
            && port.busy_until <= self.now
            && port.flags & FREE_PENDING == 0
            && port.pfc_due == 0
            && host.ready.get(usize::from(class)).is_some_and(Ring::is_empty)
            && self.egress.queues[QueueId::of(port_id, class, self.classes)].packets.is_empty();
        if !alone {
            return false;
        }
        host.last_served = SenderId::NONE;
        port.waiting = 0;
        self.flows.senders[flow].pacing.state = SendState::Ready;
        self.send_data(port_id, host_id, flow)
    }

    /// Keeps the waiting bit true to queue and round-robin.
    #[inline]
    fn settle_waiting(&mut self, port_id: PortId, host_id: HostId, class: u8, queue_empty: bool) {
        if queue_empty && self.hosts[host_id].ready[usize::from(class)].is_empty() {
            self.links.ports[port_id].waiting &= !(1 << class);
        }
    }

    /// Decides what the NIC waits for: its own link, or the next pacing time.
    #[inline]
    fn plan_nic(&mut self, port_id: PortId, host_id: HostId) {
        let port = &self.links.ports[port_id];
        if port.waiting & !port.paused != 0 || port.pfc_due != 0 {
            self.expect_free(port_id);
            return;
        }
        let host = &mut self.hosts[host_id];
        if let Some(Reverse(next)) = host.paced.peek() {
            let at = next.time().max(port.busy_until);
            if at < host.wake_at || host.wake_at <= self.now {
                host.wake_at = at;
                self.queue.push_named(at, kind::WAKE, host.name, host_id.get());
            }
        }
    }

    pub(crate) fn on_wake(&mut self, host_id: HostId) {
        let host = &mut self.hosts[host_id];
        let moved = host.scan.as_mut().is_some_and(|scan| scan.take_moved(self.now));
        if host.wake_at != self.now || moved {
            return;
        }
        host.wake_at = Time::NEVER;
        let port_id = host.port;
        if self.scans(port_id) {
            self.serve_scan(port_id);
        } else if !self.sends_paced(port_id, host_id) {
            self.serve_nic_when_free(port_id);
        }
    }

    /// Sends the next packet of the flow whose pacing time has come, past the round-robin, if it is alone.
    fn sends_paced(&mut self, port_id: PortId, host_id: HostId) -> bool {
        let now = self.now;
        let (port, host) = (&self.links.ports[port_id], &mut self.hosts[host_id]);
        let free = port.waiting == 0 && port.flags & (FREE_PENDING | DOWN | EAGER) == 0 && port.pfc_due == 0;
        if !free || port.busy_until > now || host.last_served != SenderId::NONE {
            return false;
        }
        let due = |paced: &BinaryHeap<Reverse<Key>>| paced.peek().is_some_and(|Reverse(key)| key.time() <= now);
        if !due(&host.paced) {
            return false;
        }
        let Some(Reverse(key)) = host.paced.pop() else { return false };
        let others = due(&host.paced);
        if !self.is_paced_until(key, host_id) {
            return false;
        }
        let flow = SenderId::new(key.index());
        let class = self.flows.senders[flow].class;
        if others || self.links.ports[port_id].paused & 1 << class != 0 {
            self.make_ready(flow);
            return false;
        }
        self.flows.senders[flow].pacing.state = SendState::Ready;
        // Weighted classes count their turns.
        self.pick_class(port_id, 1 << class);
        self.send_data(port_id, host_id, flow);
        self.plan_nic(port_id, host_id);
        true
    }

    /// Returns whether an entry of a host's pacing heap is that of a flow's next packet; others are stale.
    #[inline(always)]
    fn is_paced_until(&self, key: Key, host_id: HostId) -> bool {
        self.flows.senders.get(SenderId::new(key.index())).is_some_and(|sender| {
            sender.pacing.state == SendState::Paced && sender.host == host_id && sender.pacing.next_avail == key.time()
        })
    }

    /// Something changed: serve the NIC now if its link is free, or once it is.
    pub(crate) fn serve_nic_when_free(&mut self, port_id: PortId) {
        let port = &self.links.ports[port_id];
        if port.has(FREE_PENDING) {
            return;
        }
        if port.busy_until <= self.now { self.serve_nic(port_id) } else { self.release_or_expect(port_id) }
    }

    fn release_or_expect(&mut self, port_id: PortId) {
        let (host_id, free_at) = {
            let port = &self.links.ports[port_id];
            (port.host(), port.busy_until)
        };
        self.release_paced(host_id, free_at);
        self.plan_nic(port_id, host_id);
    }

    /// Moves flows whose pacing time has come by `until` into the round-robin.
    #[inline]
    fn release_paced(&mut self, host_id: HostId, until: Time) {
        while let Some(Reverse(key)) = self.hosts[host_id].paced.peek() {
            let key = *key;
            if key.time() > until {
                break;
            }
            self.hosts[host_id].paced.pop();
            if self.is_paced_until(key, host_id) {
                self.make_ready(SenderId::new(key.index()));
            }
        }
    }

    #[inline]
    fn make_ready(&mut self, flow: SenderId) {
        let sender = &mut self.flows.senders[flow];
        sender.pacing.state = SendState::Ready;
        let host = &mut self.hosts[sender.host];
        host.ready[usize::from(sender.class)].push(flow);
        self.links.ports[host.port].waiting |= 1 << sender.class;
    }

    /// The flow served last rejoins the round-robin behind those that came while it was served.
    #[inline]
    pub(crate) fn requeue_last(&mut self, host_id: HostId) {
        let flow = std::mem::replace(&mut self.hosts[host_id].last_served, SenderId::NONE);
        if flow != SenderId::NONE {
            self.make_ready(flow);
        }
    }

    /// Takes a flow that is over out of the round-robin, so that no trace of it outlives its slot.
    pub(crate) fn leave_nic(&mut self, flow: SenderId) {
        let sender = &mut self.flows.senders[flow];
        if sender.pacing.state == SendState::Scanned {
            self.close_scanned(flow);
            return;
        }
        let (host, class) = (&mut self.hosts[sender.host], usize::from(sender.class));
        if sender.pacing.state == SendState::Ready {
            if host.last_served == flow {
                host.last_served = SenderId::NONE;
            }
            let ring = &mut host.ready[class];
            for _ in 0..ring.len() {
                if let Some(other) = ring.pop().filter(|&other| other != flow) {
                    ring.push(other);
                }
            }
        }
        sender.pacing.state = SendState::Idle;
    }

    #[inline]
    pub(crate) fn place_flow(&mut self, flow: SenderId) {
        let now = self.now;
        let sender = &mut self.flows.senders[flow];
        if !sender.requester.has_data() || sender.ended {
            sender.pacing.state = SendState::Idle;
        } else if !sender.requester.may_send() {
            sender.pacing.state = SendState::Blocked;
        } else if sender.pacing.next_avail <= now {
            self.make_ready(flow);
        } else {
            sender.pacing.state = SendState::Paced;
            let key = Key::named(sender.pacing.next_avail, 0, self.flows.entries[sender.entry].name, flow.get());
            self.hosts[sender.host].paced.push(Reverse(key));
        }
    }

    /// A flow that was idle or blocked may have something to send.
    pub(crate) fn try_to_send(&mut self, flow: SenderId) {
        let sender = &self.flows.senders[flow];
        let port_id = self.hosts[sender.host].port;
        if sender.pacing.state == SendState::Scanned {
            self.serve_scan(port_id);
        } else if matches!(sender.pacing.state, SendState::Idle | SendState::Blocked) {
            if self.sends_alone(flow) {
                return;
            }
            self.place_flow(flow);
            if self.flows.senders[flow].pacing.state != SendState::Idle {
                self.serve_nic_when_free(port_id);
            }
        }
    }

    /// Sends the next packet of a flow at once, past the round-robin, if its NIC has nothing else to send.
    fn sends_alone(&mut self, flow: SenderId) -> bool {
        let sender = &mut self.flows.senders[flow];
        let (host_id, class) = (sender.host, sender.class);
        let host = &self.hosts[host_id];
        let port_id = host.port;
        let port = &self.links.ports[port_id];
        let alone = port.waiting == 0
            && port.is_idle(self.now, class, DOWN | EAGER)
            && host.last_served == SenderId::NONE
            && host.paced.is_empty();
        let may_send = !sender.ended && sender.pacing.next_avail <= self.now && sender.may_send();
        if !(alone && may_send) {
            return false;
        }
        sender.pacing.state = SendState::Ready;
        // Weighted classes count their turns.
        self.pick_class(port_id, 1 << class);
        self.send_data(port_id, host_id, flow);
        self.plan_nic(port_id, host_id);
        true
    }

    /// Builds and sends the next packet of a flow taken from the round-robin. `false` if the flow
    /// turned out not to be allowed to send.
    #[inline(always)]
    pub(crate) fn send_data(&mut self, port_id: PortId, host_id: HostId, flow: SenderId) -> bool {
        let now = self.now;
        let gap_bytes = self.links.gap_bytes;
        let Some(sender) = self.flows.senders.get_mut(flow).filter(|sender| sender.host == host_id) else {
            return false;
        };
        let scanned = sender.pacing.state == SendState::Scanned;
        if sender.pacing.state != SendState::Ready && !scanned {
            return false; // It has left the round-robin since; this was its old place.
        }
        // A NIC that scans has asked.
        if (!scanned && !sender.may_send()) || sender.pacing.next_avail > now || sender.ended {
            self.place_flow(flow);
            return false;
        }
        let Outgoing { psn, resent, requests_ack } = sender.requester.next(now);
        let frame_bytes = sender.frame_bytes(psn);
        let wire_bytes = u32::from(frame_bytes) + gap_bytes;
        sender.pacing.last_wire_bytes = wire_bytes;
        sender.sent_wire_bytes += u64::from(wire_bytes);
        sender.packets_sent += 1;
        let (int, entry) = (sender.int, sender.entry);
        let mut packet = Packet {
            stamp: now,
            flow: entry,
            psn,
            route: sender.route + 1,
            extra: NO_EXTRA,
            frame_bytes,
            ingress: 0,
            kind: Kind::Data,
            class: sender.class,
            ecn: sender.ecn,
            flags: sender.packet_flags | if resent { RESENT } else { 0 } | if requests_ack { ASKS_ACK } else { 0 },
        };
        let rests = sender.rests;
        if !rests {
            sender.rp.on_sent(now, wire_bytes);
        }
        let ps_per_byte = sender.pacing.ps_per_byte;
        if packet.flags & SPREAD != 0 {
            self.choose_path(flow, &mut packet);
        }
        if int {
            self.flows.int.begin(&mut packet);
        }
        self.flows.entries[entry].live += 1;
        self.counters.data_packets_sent += 1;
        if resent {
            self.flows.details[flow].packets_retransmitted += 1;
            self.counters.data_packets_retransmitted += 1;
        }
        self.charge(port_id, packet.class, frame_bytes);
        self.transmit(port_id, &packet);
        if scanned {
            let sender = &mut self.flows.senders[flow];
            sender.pacing.next_avail = now + self.plan.model.resolution.duration(wire_bytes, sender.pacing.gap_bps);
            self.after_rp(flow);
            return true;
        }
        let free_at = self.links.ports[port_id].busy_until;
        // The old rate spaces this packet; what the scheme just decided shifts it in apply_limits.
        self.flows.senders[flow].pacing.next_avail =
            if ps_per_byte == 0.0 { free_at } else { now + self.gap(wire_bytes, ps_per_byte) };
        if rests {
            self.at_rest(flow)
        } else {
            self.after_rp(flow)
        }
        let sender = &mut self.flows.senders[flow];
        if sender.may_send() && sender.pacing.next_avail <= free_at {
            // It may send again when the link is free; until then it keeps its place.
            sender.pacing.state = SendState::Ready;
            self.links.ports[port_id].waiting |= 1 << sender.class;
            self.hosts[host_id].last_served = flow;
        } else {
            self.place_flow(flow);
        }
        true
    }

    /// The time that spaces a packet from the next.
    #[inline]
    fn gap(&self, wire_bytes: u32, ps_per_byte: f64) -> Span {
        match self.plan.model.resolution {
            TimeResolution::Exact => Span::from_ps((f64::from(wire_bytes) * ps_per_byte) as u64),
            resolution => resolution.duration(wire_bytes, 8e12 / ps_per_byte),
        }
    }

    /// [`Part::after_rp`] where the reaction point rests: its limits and its timer are those read last.
    #[inline(always)]
    pub(crate) fn at_rest(&mut self, flow: SenderId) {
        let sender = &self.flows.senders[flow];
        debug_assert!(sender.rp.rests() && !sender.pacing.differs(&sender.rp.limits()), "it does not rest");
        debug_assert!(sender.rp.timer().is_none_or(|at| at >= sender.due), "its timer has no event");
        if sender.requester.seq.deadline < sender.due {
            self.arm_flow_timer(flow);
        }
    }

    /// Looks whether the hooks of a flow's reaction point may be left out, after one that may have put it to rest.
    pub(crate) fn note_rest(&mut self, flow: SenderId) {
        let Some(sender) = self.flows.senders.get_mut(flow) else { return };
        let plain = !self.compat.eager && sender.pacing.state != SendState::Scanned;
        sender.rests = plain && !sender.requester.asks_reaction_point() && sender.rp.rests();
    }

    /// Reads a flow's limits and timer after any of its hooks.
    #[inline]
    pub(crate) fn after_rp(&mut self, flow: SenderId) {
        if self.flows.senders[flow].requester.asks_reaction_point() {
            self.recover(flow);
        } else {
            self.read_rp(flow);
        }
    }

    #[inline]
    pub(crate) fn read_rp(&mut self, flow: SenderId) {
        let sender = &self.flows.senders[flow];
        let limits = sender.rp.limits();
        if sender.pacing.differs(&limits) {
            self.apply_limits(flow, limits);
        } else if !self.compat.eager && sender.next_timer() >= sender.due {
            // Most often: what its timers wait for has an event already.
            return;
        }
        self.arm_flow_timer(flow);
    }

    pub(crate) fn apply_limits(&mut self, flow: SenderId, limits: crate::contract::scheme::Limits) {
        let now = self.now;
        let sender = &mut self.flows.senders[flow];
        debug_assert!(limits.rate_bps.is_finite() && limits.rate_bps > 0.0, "rate {}", limits.rate_bps);
        if sender.pacing.state == SendState::Scanned {
            self.limit_scanned(flow, limits);
            return;
        }
        let host = &self.hosts[sender.host];
        let port_id = host.port;
        let line_bps = self.links.link_types.of(&self.links.ports[port_id]).rate.rate().bps() as f64;
        let nic = &self.plan.hosts[host.profile as usize].nic;
        let (window_bytes, moved) = sender.pacing.apply(now, limits, line_bps, nic);
        let wider = sender.requester.set_window(window_bytes);
        if moved && sender.pacing.state == SendState::Paced {
            let key = Key::named(sender.pacing.next_avail, 0, self.flows.entries[sender.entry].name, flow.get());
            let host = sender.host;
            self.hosts[host].paced.push(Reverse(key));
            self.serve_nic_when_free(port_id);
        }
        if wider && self.flows.senders[flow].pacing.state == SendState::Blocked {
            self.try_to_send(flow);
        }
    }

    /// Hands a control packet to the NIC, after `delay` if there is one.
    pub(crate) fn emit(&mut self, host_id: HostId, packet: &Packet, delay: Span, lane: u32) {
        if delay == Span::ZERO {
            self.emit_now(host_id, packet);
            return;
        }
        let arrives = self.now + delay;
        let host = &mut self.hosts[host_id];
        let ring = &mut host.delayed[lane as usize];
        if ring.is_empty() {
            self.queue.push_named(arrives, kind::EMIT, host.name * 2 + lane, host_id.get() * 2 + lane);
        }
        ring.push(InFlight { arrives, packet: *packet });
    }

    pub(crate) fn on_emit(&mut self, host_id: HostId, lane: u32) {
        let host = &mut self.hosts[host_id];
        let ring = &mut host.delayed[lane as usize];
        let Some(due) = ring.pop() else { return };
        if let Some(next) = ring.front() {
            self.queue.push_named(next.arrives, kind::EMIT, host.name * 2 + lane, host_id.get() * 2 + lane);
        }
        self.emit_now(host_id, &due.packet);
    }

    #[inline]
    fn emit_now(&mut self, host_id: HostId, packet: &Packet) {
        let port_id = self.hosts[host_id].port;
        if self.scans(port_id) {
            self.emit_scanned(host_id, packet);
            return;
        }
        let class = packet.class;
        let bit = 1 << class;
        if self.links.ports[port_id].is_idle(self.now, class, DOWN) {
            self.transmit(port_id, packet);
            self.plan_nic(port_id, host_id);
            return;
        }
        self.egress.queues[QueueId::of(port_id, class, self.classes)].push(&mut self.egress.queued, self.now, packet);
        let port = &mut self.links.ports[port_id];
        port.waiting |= bit;
        if port.paused & bit == 0 {
            self.expect_free(port_id);
        }
    }
}
