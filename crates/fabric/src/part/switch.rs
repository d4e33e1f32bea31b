//! What a switch does with a packet: admit, queue, pause its upstream, mark, send, resume.
//!
//! Output-queued with a shared buffer. Congestion control sees egress queues; PFC sees ingresses (bytes buffered by the
//! port and class they came in by). A packet that finds
//! its egress free leaves at once and never enters either.

use crate::buffer::{Admission, Arrival, Egress, Release, drain_share};
use crate::contract::packet::{BACKWARD, Ecn, Kind, Packet, SPREAD, TRANSIT, TableRoute};
use crate::contract::record::Failure;
use crate::contract::scheme::{CongestionPoint, Hooks, Mark, Notice, PacketFacts, QueueView, Scheme};
use crate::flow::identity::FlowEntry;
use crate::id::{CpId, PortId, QueueId, SwitchId};
use crate::network::pfc::{PauseLoop, largest_wire_bytes};
use crate::node::port::{
    AT_HOST, CHECKS, COUNTS_PASSING, DOWN, EAGER, FOREIGN, FREE_PENDING, FREE_RESERVED, HAS_SHAPED_WAITERS, HAS_VOQS,
    LinkTypes, MARKED_OR_RESUMED, Port, Queue, Storm,
};
use crate::node::stacks::Departure;
use crate::node::switch::Switch;
use crate::part::{Part, kind};
use xoff_engine::{BitRate, Table, Time};

/// What becomes of a packet that asks for room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(crate) enum Admitted {
    Stored,
    /// Its payload is to be cut off.
    Trimmed,
    Lost,
}

/// Egress queue as the buffer of its switch sees it.
struct EgressNow<'a> {
    port: PortId,
    class: u8,
    packet: &'a Packet,
    queues: &'a Table<QueueId, Queue>,
    ports: &'a Table<PortId, Port>,
    link_types: &'a LinkTypes,
    classes: usize,
    switch_ports: &'a [PortId],
}

impl Egress for EgressNow<'_> {
    #[inline(always)]
    fn queue_bytes(&self) -> u64 {
        self.queues[QueueId::of(self.port, self.class, self.classes)].bytes
    }
    fn rate(&self) -> BitRate {
        self.link_types.of(&self.ports[self.port]).rate.rate()
    }
    fn drain_share(&self) -> f64 {
        let port = &self.ports[self.port];
        drain_share(port.waiting, port.paused, self.class)
    }
    fn busy_queues(&self) -> u32 {
        let busy = |port: &&PortId| self.ports[**port].waiting & (1 << self.class) != 0;
        self.switch_ports.iter().filter(busy).count() as u32
    }
    fn psn(&self) -> Option<u32> {
        (self.packet.kind == Kind::Data).then_some(self.packet.psn)
    }
}

impl<S: Scheme> Part<S> {
    /// A packet has come in by `ingress` and is bound for `egress` of the same switch.
    #[inline(always)]
    pub(crate) fn switch_receive(&mut self, ingress: PortId, egress: PortId, packet: &mut Packet) {
        if packet.flags & (TRANSIT | SPREAD) != 0 && self.look_at_flow(ingress, egress, packet) {
            return;
        }
        debug_assert_eq!(self.links.ports[ingress].owner, self.links.ports[egress].owner, "off its route");
        debug_assert!(!self.links.ports[egress].has(AT_HOST), "off its route");
        let class = packet.class;
        let barred = DOWN | COUNTS_PASSING | CHECKS;
        let out = &self.links.ports[egress];
        let (hooks, mut idle) = (out.hooks, out.is_idle(self.now, class, barred | HAS_VOQS | FREE_RESERVED));
        const LOOK: Hooks = Hooks::DEQUEUE.with(Hooks::ACKS).with(Hooks::STAMP);
        if idle && !hooks.has(LOOK.with(Hooks::ENQUEUE)) {
            // Nearly all come by here, with nothing between the look at the port and its use.
            self.transmit_here(egress, packet);
            return;
        }
        if !idle && out.flags & (HAS_VOQS | FREE_RESERVED) != 0 {
            if out.has(HAS_VOQS) {
                self.voq_receive(egress, packet);
                return;
            }
            self.settle_free(egress);
            idle = self.links.ports[egress].is_idle(self.now, class, barred);
        }
        if hooks.has(Hooks::ENQUEUE) && packet.kind == Kind::Data {
            self.cp_enqueue(egress, packet);
        }
        if idle {
            // Nothing of its class waits, and not every congestion point wants to see that.
            debug_assert_eq!(self.egress.queues[QueueId::of(egress, class, self.classes)].bytes, 0);
            if hooks.has(LOOK) {
                self.inspect_as(egress, packet, hooks);
            }
            self.transmit_here(egress, packet);
            return;
        }
        match self.admit(egress, packet) {
            Admitted::Stored => {}
            Admitted::Trimmed => return self.trim(ingress, egress, packet),
            Admitted::Lost => return self.lose(packet),
        }
        if self.links.ports[egress].flags & (EAGER | CHECKS) != 0 {
            self.take_in_order(egress, packet);
            self.check_arrival(egress, packet);
            return;
        }
        self.join_queue(egress, packet);
    }

    /// Calls [`Part::switch_receive`] for packets that are rare.
    #[cold]
    #[inline(never)]
    pub(crate) fn switch_receive_rare(&mut self, ingress: PortId, egress: PortId, packet: &mut Packet) {
        self.switch_receive(ingress, egress, packet);
    }

    /// A packet that was admitted goes on at once where the order of scheduling counts, if it can; else it waits.
    #[inline]
    pub(crate) fn take_in_order(&mut self, egress: PortId, packet: &mut Packet) {
        if self.links.ports[egress].has(EAGER) && self.passes_at_once(egress, packet.class) {
            self.pass_eagerly(egress, packet);
        } else {
            self.join_queue(egress, packet);
        }
    }

    /// A packet that was admitted waits.
    #[inline(always)]
    fn join_queue(&mut self, egress: PortId, packet: &Packet) {
        let (class, bit) = (packet.class, 1 << packet.class);
        let queue = &mut self.egress.queues[QueueId::of(egress, class, self.classes)];
        queue.push(&mut self.egress.queued, self.now, packet);
        let out = &mut self.links.ports[egress];
        out.queued_bytes += u64::from(packet.frame_bytes);
        out.waiting |= bit;
        if out.paused & bit == 0 && out.flags & (FREE_PENDING | EAGER) != FREE_PENDING {
            self.expect_free(egress);
        }
    }

    /// Takes a packet into the buffer, or not. Pauses the upstream of an ingress that is above XOFF.
    #[inline]
    pub(crate) fn admit(&mut self, egress: PortId, packet: &Packet) -> Admitted {
        let port = &self.links.ports[egress];
        let switch_id = port.switch();
        if port.flags & (DOWN | FOREIGN) != 0 || self.switches[switch_id].storms > 0 {
            if self.takes_nothing(egress, packet.class) {
                return Admitted::Lost;
            }
            if self.links.ports[egress].has(FOREIGN) {
                return self.admit_foreign(egress, packet);
            }
        }
        let Switch { buffer, ports, .. } = &mut self.switches[switch_id];
        let arrival = Arrival {
            now: self.now,
            ingress: usize::from(packet.ingress),
            class: packet.class,
            size_bytes: u64::from(packet.frame_bytes),
            egress: EgressNow {
                port: egress,
                class: packet.class,
                packet,
                queues: &self.egress.queues,
                ports: &self.links.ports,
                link_types: &self.links.link_types,
                classes: self.classes,
                switch_ports: ports,
            },
        };
        match buffer.admit(&arrival) {
            Admission::Stored => Admitted::Stored,
            Admission::AboveXoff { rises } => {
                let ingress = ports[usize::from(packet.ingress)];
                self.ask_pause(ingress, packet.class, rises);
                Admitted::Stored
            }
            Admission::Dropped => {
                if self.trimmed_bytes(egress, packet).is_some() {
                    return Admitted::Trimmed;
                }
                self.egress.history_mut(QueueId::of(egress, packet.class, self.classes)).drops += 1;
                self.counters.drops_lossy += 1;
                Admitted::Lost
            }
            Admission::Refused => {
                self.refuse(switch_id, packet);
                Admitted::Lost
            }
        }
    }

    /// Returns whether a queue drops what comes: its link is down, or its watchdog empties it.
    #[cold]
    #[inline(never)]
    fn takes_nothing(&mut self, egress: PortId, class: u8) -> bool {
        let down = self.links.ports[egress].has(DOWN);
        let drops = down || self.history(egress, class).storm == Storm::Dropping;
        if down {
            self.note_dead(egress);
        }
        if drops {
            self.egress.history_mut(QueueId::of(egress, class, self.classes)).drops += 1;
            self.counters.drops_fault += 1;
        }
        drops
    }

    /// A lossless packet finds no room: the run fails, unless drops are allowed.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, switch_id: SwitchId, packet: &Packet) {
        let switch = &self.switches[switch_id];
        let (local, class) = (usize::from(packet.ingress), packet.class);
        let port = switch.ports[local];
        self.counters.drops_lossless += 1;
        self.egress.history_mut(QueueId::of(port, class, self.classes)).drops += 1;
        if self.plan.run.allow_drops || self.records.failure.is_some() {
            return;
        }
        let largest = largest_wire_bytes(&self.plan, &self.formats);
        let name = self.links.ports[port].name;
        let required = PauseLoop::of(&self.plan, name, largest).required();
        let place = (self.now, switch.node, name);
        let drop = switch.buffer.lossless_drop(place, (local, class), u32::from(packet.frame_bytes), required);
        self.records.failure = Some((self.records.rank, Failure::LosslessDrop(drop)));
        if self.records.rank.is_none() {
            self.pace.halt();
        }
    }

    /// The port is free: the next frame goes.
    #[inline]
    pub(crate) fn serve_switch_port(&mut self, port_id: PortId) {
        let port = &self.links.ports[port_id];
        // A packet that was leaving when its notice led to a PAUSE by the same port has gone before it.
        if port.pfc_due != 0 && port.busy_until <= self.now {
            self.send_pfc(port_id);
        }
        let port = &self.links.ports[port_id];
        if port.busy_until <= self.now && !port.has(FREE_PENDING) {
            let eligible = port.waiting & !port.paused;
            if eligible == 0 {
                return;
            }
            let class = self.pick_class(port_id, eligible);
            let port = &mut self.links.ports[port_id];
            let queue = &mut self.egress.queues[QueueId::of(port_id, class, self.classes)];
            let mut packet = queue.pop(&mut self.egress.queued, self.now).expect("a waiting class has a packet");
            port.queued_bytes -= u64::from(packet.frame_bytes);
            if queue.packets.is_empty() {
                port.waiting &= !(1 << class);
            }
            let (eager, owner, hooks) = (port.has(EAGER), port.owner, port.hooks);
            self.charge(port_id, class, packet.frame_bytes);
            if eager {
                self.release_eagerly(port_id, &mut packet);
                self.transmit(port_id, &packet);
            } else {
                self.release(SwitchId::new(owner), &packet);
                self.inspect_as(port_id, &mut packet, hooks);
                self.transmit_here(port_id, &packet);
            }
            if self.links.ports[port_id].has(HAS_SHAPED_WAITERS) {
                self.serve_round_robin(port_id);
            }
        }
        let port = &self.links.ports[port_id];
        if port.waiting & !port.paused != 0 || port.pfc_due != 0 {
            self.expect_free(port_id);
        }
    }

    /// A packet has left the queue: its congestion point looks at it, and it goes.
    #[inline(always)]
    pub(crate) fn depart(&mut self, port_id: PortId, packet: &mut Packet) {
        self.inspect(port_id, packet);
        self.transmit(port_id, packet);
    }

    /// Telemetry of a packet that has left the queue.
    #[inline(always)]
    fn stamp(&mut self, port_id: PortId, packet: &mut Packet) {
        let port = &self.links.ports[port_id];
        let departure = Departure { at: self.now, tx_bytes: port.tx_bytes, queue_bytes: port.queued_bytes };
        let name = self.egress.names[QueueId::of(port_id, packet.class, self.classes)];
        self.flows.int.stamp(packet, &departure, self.links.link_types.of(port).rate_id, name);
    }

    /// The congestion point looks at a packet that has left the queue.
    #[inline(always)]
    pub(crate) fn inspect(&mut self, port_id: PortId, packet: &mut Packet) {
        self.inspect_as(port_id, packet, self.links.ports[port_id].hooks);
    }

    /// [`Part::inspect`] for a port whose hooks are known.
    #[inline(always)]
    fn inspect_as(&mut self, port_id: PortId, packet: &mut Packet, hooks: Hooks) {
        if hooks.has(Hooks::STAMP) && packet.kind == Kind::Data {
            self.stamp(port_id, packet);
        }
        if hooks.has(Hooks::DEQUEUE.with(Hooks::DEQUEUE_BUSY)) {
            if hooks.has(Hooks::ACKS) && packet.kind != Kind::Data {
                self.cp_ack_dequeue(port_id, packet);
            }
            let queue = self.queue(port_id, packet.class);
            if (queue.bytes > 0 || hooks.has(Hooks::DEQUEUE)) && packet.kind == Kind::Data {
                self.cp_dequeue(port_id, packet);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn cp_ack_dequeue(&mut self, port_id: PortId, packet: &Packet) {
        if matches!(packet.kind, Kind::Ack | Kind::Nak) {
            let view = self.view(port_id, packet.class);
            let cp = self.cp_id(port_id, packet.class, self.slot(packet));
            self.points.cps[cp].on_ack_dequeue(&view);
        }
    }

    /// Frees a packet's bytes in the buffer; resumes the upstream of an ingress that is at XON.
    #[inline]
    pub(crate) fn release(&mut self, switch_id: SwitchId, packet: &Packet) {
        let Switch { buffer, ports, .. } = &mut self.switches[switch_id];
        let local = usize::from(packet.ingress);
        if buffer.release(local, packet.class, u64::from(packet.frame_bytes), self.now) == Release::Resume {
            let ingress = ports[local];
            self.ask_resume(ingress, packet.class);
        }
    }

    /// The scheme of a packet, by its place among those of the run.
    fn slot(&self, packet: &Packet) -> usize {
        usize::from(self.flows.entries[packet.flow].scheme)
    }

    #[inline]
    fn cp_id(&self, port: PortId, class: u8, slot: usize) -> CpId {
        CpId::new(self.points.cp_bases[port].get() + u32::from(class) * self.schemes.len() as u32 + slot as u32)
    }

    /// The queue as it is, without the packet at hand.
    #[inline(always)]
    fn view(&self, port_id: PortId, class: u8) -> QueueView {
        let port = &self.links.ports[port_id];
        let queue = self.queue(port_id, class);
        QueueView {
            now: self.now,
            queue_bytes: queue.bytes,
            queue_packets: queue.count(),
            port_bytes: port.queued_bytes,
            tx_bytes: port.tx_bytes,
            rate: self.links.link_types.of(port).rate.rate(),
            paused: port.paused & (1 << class) != 0,
        }
    }

    pub(crate) fn cp_enqueue(&mut self, egress: PortId, packet: &mut Packet) {
        let view = self.view(egress, packet.class);
        let entry = &self.flows.entries[packet.flow];
        let cp = self.cp_id(egress, packet.class, usize::from(entry.scheme));
        let weight = entry.weight;
        let facts = packet_facts(packet, entry, true);
        let before = packet.ecn;
        let int = self.flows.int.open(packet);
        let notices = &mut self.points.notices;
        self.points.cps[cp].on_enqueue(&view, &facts, weight, Mark { ecn: &mut packet.ecn, int }, |flow, feedback| {
            notices.push(Notice { flow, feedback });
        });
        self.flows.int.close(packet);
        self.count_mark(egress, packet, before);
        self.after_cp(egress, cp);
        if self.schemes.len() > 1 && self.links.ports[egress].hooks.has(Hooks::EVERY) {
            self.show_others(egress, packet, &view, Some(weight));
        }
    }

    #[inline(never)]
    fn cp_dequeue(&mut self, egress: PortId, packet: &mut Packet) {
        let view = self.view(egress, packet.class);
        let entry = &self.flows.entries[packet.flow];
        let cp = self.cp_id(egress, packet.class, usize::from(entry.scheme));
        let facts = packet_facts(packet, entry, true);
        let before = packet.ecn;
        let int = self.flows.int.open(packet);
        let notices = &mut self.points.notices;
        self.points.cps[cp].on_dequeue(&view, &facts, Mark { ecn: &mut packet.ecn, int }, |flow, feedback| {
            notices.push(Notice { flow, feedback });
        });
        self.flows.int.close(packet);
        self.count_mark(egress, packet, before);
        self.after_cp(egress, cp);
        if self.schemes.len() > 1 && self.links.ports[egress].hooks.has(Hooks::EVERY) {
            self.show_others(egress, packet, &view, None);
        }
    }

    /// Shows a packet that comes (with its weight) or goes to the congestion points of other schemes
    /// at the same queue that count every one.
    #[cold]
    #[inline(never)]
    fn show_others(&mut self, egress: PortId, packet: &Packet, view: &QueueView, comes: Option<u16>) {
        let own = self.slot(packet);
        let facts = packet_facts(packet, &self.flows.entries[packet.flow], false);
        for slot in (0..self.schemes.len()).filter(|slot| *slot != own) {
            let cp = self.cp_id(egress, packet.class, slot);
            if !self.points.cps[cp].hooks().has(Hooks::EVERY) {
                continue;
            }
            let (notices, mut void) = (&mut self.points.notices, packet.ecn);
            let mark = Mark { ecn: &mut void, int: None };
            let notify = |flow, feedback| notices.push(Notice { flow, feedback });
            match comes {
                Some(weight) => self.points.cps[cp].on_enqueue(view, &facts, weight, mark, notify),
                None => self.points.cps[cp].on_dequeue(view, &facts, mark, notify),
            }
            self.after_cp(egress, cp);
        }
    }

    #[inline]
    fn count_mark(&mut self, egress: PortId, packet: &Packet, before: Ecn) {
        if packet.ecn != before {
            self.counters.marks += 1;
            self.egress.queues[QueueId::of(egress, packet.class, self.classes)].marks += 1;
            self.links.ports[egress].flags |= MARKED_OR_RESUMED;
            if !self.records.taps.is_empty() {
                self.note_mark(egress, packet);
            }
        }
    }

    #[cold]
    pub(crate) fn cp_pause_change(&mut self, port_id: PortId, class: u8) {
        self.for_each_cp(port_id, class, |cp, view| cp.on_pause_change(view));
    }

    #[cold]
    pub(crate) fn cp_resume_again(&mut self, port_id: PortId, class: u8) {
        self.for_each_cp(port_id, class, |cp, view| cp.on_resume_again(view));
    }

    fn for_each_cp(&mut self, port_id: PortId, class: u8, call: impl Fn(&mut S::Cp, &QueueView)) {
        let view = self.view(port_id, class);
        for slot in 0..self.schemes.len() {
            let cp = self.cp_id(port_id, class, slot);
            call(&mut self.points.cps[cp], &view);
            self.after_cp(port_id, cp);
        }
    }

    pub(crate) fn on_cp_timer(&mut self, cp: CpId) {
        let timer = &mut self.points.timers[cp];
        if timer.due != self.now {
            return;
        }
        timer.due = Time::NEVER;
        let (port, class) = (timer.port, timer.class);
        let view = self.view(port, class);
        let notices = &mut self.points.notices;
        self.points.cps[cp].on_timer(&view, |flow, feedback| notices.push(Notice { flow, feedback }));
        self.after_cp(port, cp);
    }

    /// Sends what a congestion point asked for and arms its timer.
    #[inline(always)]
    fn after_cp(&mut self, port_id: PortId, cp: CpId) {
        if !self.points.notices.is_empty() {
            self.send_notices(port_id, cp);
        }
        if self.links.ports[port_id].hooks.has(Hooks::TIMER) {
            self.arm_cp_timer(cp);
        }
    }

    #[cold]
    #[inline(never)]
    fn send_notices(&mut self, port_id: PortId, cp: CpId) {
        let slot = (cp.get() - self.points.cp_bases[port_id].get()) as usize % self.schemes.len();
        let mut notices = std::mem::take(&mut self.points.notices);
        for notice in notices.drain(..) {
            self.send_notice(port_id, slot, &notice);
        }
        self.points.notices = notices;
    }

    fn arm_cp_timer(&mut self, cp: CpId) {
        if let Some(at) = self.points.cps[cp].timer()
            && let Some(timer) = self.points.timers.get_mut(cp)
            && at < timer.due
        {
            timer.due = at;
            self.queue.push_named(at, kind::CP_TIMER, timer.name, cp.get());
        }
    }

    /// Returns whether the control class's ingress is above XOFF. Headroom is for frames in flight from upstream;
    /// notifications made by the switch must not use it.
    fn has_no_room_for_notices(&self, port_id: PortId) -> bool {
        self.buffer_of(port_id).is_full_to_xoff(usize::from(self.local(port_id)), self.plan.classes.control)
    }

    /// A switch-made notification goes back along the flow's own path. Flows of other schemes would
    /// not understand it.
    fn send_notice(&mut self, egress: PortId, slot: usize, notice: &Notice<S::Feedback>) {
        // Nobody is there to hear of a flow that is over and gone.
        let Some(&flow) = self.flows.flows_by_id.get(&notice.flow) else { return };
        let entry = &self.flows.entries[flow];
        if usize::from(entry.scheme) != slot {
            return;
        }
        // A flow that was moved off this port since hears nothing from it.
        let detours =
            self.flows.details.get(entry.sender).into_iter().flat_map(|details| details.detours.iter().copied());
        let way = self.flows.route_storage[flow].forward().chain(detours).find_map(|(route, hops)| {
            let path = &self.paths.route_ports[route as usize..route as usize + usize::from(hops)];
            let hop = path.iter().position(|&port| port == egress.get()).filter(|&hop| hop > 0)?;
            // The first port is taken here; the cursor is at the one after it.
            Some((self.hop(route + hop as u32 - 1).peer(), (route + hop as u32).wrapping_sub(2)))
        });
        let edges = self.flows.route_storage[flow].edges;
        if way.is_none() && edges.is_none() {
            return;
        }
        if self.has_no_room_for_notices(egress) {
            self.counters.notices_refused += 1;
            return;
        }
        let own_size = self.schemes[slot].notification_bytes(&notice.feedback);
        let frame_bytes = own_size.map_or(self.flows.entries[flow].notification_frame, |bytes| bytes as u16);
        self.flows.entries[flow].live += 1;
        let mut packet = Packet {
            stamp: self.now,
            flow,
            psn: 0,
            route: way.map_or_else(
                || TableRoute { edge: edges.map_or(0, |[edge, _]| edge), path: 0 }.word(),
                |(_, cursor)| cursor,
            ),
            extra: self.flows.feedback.insert(notice.feedback),
            frame_bytes,
            ingress: self.local(egress),
            kind: Kind::Notification,
            class: self.plan.classes.control,
            ecn: Ecn::NotCapable,
            flags: if way.is_some() { BACKWARD } else { 0 },
        };
        self.counters.notifications_sent += 1;
        if !self.records.taps.is_empty() {
            let class = self.flows.senders[self.flows.entries[flow].sender].class;
            self.note_origin(&packet, Some((egress, class)));
        }
        // It enters the switch as if it had come in by the port that saw the congestion.
        match way {
            Some((ingress, _)) => self.switch_receive_rare(egress, ingress, &mut packet),
            None => self.forward_by_table(egress, &mut packet),
        }
    }
}

/// What a congestion point is shown of a data packet.
#[inline]
fn packet_facts(packet: &Packet, entry: &FlowEntry, own: bool) -> PacketFacts {
    PacketFacts { flow: entry.id, name: entry.name, ends: entry.ends, frame_bytes: u32::from(packet.frame_bytes), own }
}
