//! A VOQ switch: virtual output queues, round-robin over inputs, gates, detours and
//! messages between neighbours.
//!
//! Input- and output-queued: an egress (port, class) has its FIFO, of limited size, as at any switch;
//! what finds it full or is held back waits before it, in one sub-queue per input and lane. Moving
//! from there to the FIFO takes no time (the crossbar is as fast as need be) and is round-robin
//! over inputs. The two together are the egress queue that congestion points and probes see. Only
//! what waits at an input counts in its ingress account, and so for PFC; the FIFOs have memory of
//! their own.

use crate::contract::control::{Lane, Lanes, Passing, PortFacts, SwitchControl, SwitchFacts};
use crate::contract::packet::{BACKWARD, Ecn, Kind, Packet, TableRoute};
use crate::contract::scheme::{Hooks, Scheme};
use crate::id::{FlowEntryId, PortId, QueueId, SwitchId};
use crate::node::port::{AT_HOST, DOWN, FREE_PENDING, HAS_SHAPED_WAITERS, HAS_VOQS};
use crate::node::voq::{View, VoqSwitch, VoqSwitches, Voqs};
use crate::part::switch::Admitted;
use crate::part::{Part, kind, port_named};
use xoff_engine::{Fifo, Time};

const LANES: [Lane; 2] = [Lane::Free, Lane::Held];

/// The control of a switch, its queues, and where what it asks for goes: borrowed apart from the rest.
macro_rules! parts {
    ($world:ident, $switch:expr) => {{
        let VoqSwitches { list, outbox, choices, .. } = &mut $world.voq_switches;
        let voq_switch = list[$switch].as_mut().expect("a VOQ switch has a control");
        let VoqSwitch { control, voqs, .. } = &mut **voq_switch;
        let view = View { voqs, buffer: &$world.switches[$switch].buffer };
        (control, view, outbox, choices)
    }};
}

/// Carries out what a control asked for in the hook just called; most often nothing.
macro_rules! after_control {
    ($world:ident, $switch:expr, $control:expr, $outbox:expr) => {
        match $control.take_changed() {
            None if $outbox.is_empty() => {}
            changed => $world.carry_out($switch, changed),
        }
    };
}

impl<S: Scheme> Part<S> {
    /// Gives every switch the control that the schemes of the run have for it, the first if several do.
    pub(crate) fn build_voq_switches(&mut self, mtu_wire_bytes: u32) {
        let Some(scheme) = self.schemes.iter().position(Scheme::controls_switches) else { return };
        for switch in &self.switches {
            let facts = |&port: &PortId| {
                let direction = self.plan.direction(self.links.ports[port].name);
                let to_switch = !self.links.ports[port.peer()].has(AT_HOST);
                PortFacts { rate: direction.rate, delay: direction.delay, to_switch }
            };
            let ports: Vec<PortFacts> = switch.ports.iter().map(facts).collect();
            let control = self.schemes[scheme].switch_control(&SwitchFacts {
                seed: self.plan.seed,
                switch: u64::from(switch.name),
                ports: &ports,
                classes: self.classes as u8,
                mtu_wire_bytes,
            });
            let voq_switch = control.map(|control| {
                Box::new(VoqSwitch {
                    output_bytes: control.output_queue_bytes(),
                    control,
                    voqs: Voqs::new(ports.len(), self.classes),
                    due: Time::NEVER,
                    unsent: vec![Fifo::default(); ports.len()],
                })
            });
            if voq_switch.is_some() {
                for &port in &switch.ports {
                    self.links.ports[port].flags |= HAS_VOQS;
                }
            }
            self.voq_switches.list.push(voq_switch);
        }
        for switch in self.switches.ids() {
            if self.voq_switches.list[switch].is_some() {
                self.arm_control(switch);
            }
        }
    }

    /// The control of a switch, for those who want to look inside.
    pub(crate) fn switch_control(&self, switch: SwitchId) -> Option<&S::Switch> {
        let voq_switch = self.voq_switches.list.get(switch)?.as_ref()?;
        Some(&voq_switch.control)
    }

    /// A packet has come in, bound for `egress`, at a VOQ switch.
    #[inline(never)]
    pub(crate) fn voq_receive(&mut self, mut egress: PortId, packet: &mut Packet) {
        let switch = self.links.ports[egress].switch();
        if packet.kind != Kind::Data {
            // Controls see nothing of it.
            let (from, to) = (packet.ingress, self.local(egress));
            let room = self.has_room(switch, from, to, packet.class, Lane::Free);
            if room && self.is_passable(egress) {
                self.enter_output(switch, egress, packet);
            } else {
                self.wait_at_input(switch, egress, packet, Lane::Free);
                self.arm_control(switch);
            }
            return;
        }
        if self.voq_switches.at(switch).control.detours() {
            egress = self.detour(switch, egress, packet);
        }
        let passing = self.passing(egress, packet);
        let (control, view, outbox, _) = parts!(self, switch);
        control.on_arrival(&passing, &view, |port, message| outbox.push((port, message)));
        let lane = match control.take_changed() {
            None if outbox.is_empty() => control.lane(passing.egress, packet.class, passing.flow),
            changed => {
                self.carry_out(switch, changed);
                self.voq_switches.at(switch).control.lane(passing.egress, packet.class, passing.flow)
            }
        };
        if self.links.ports[egress].hooks.has(Hooks::ENQUEUE) {
            self.cp_enqueue(egress, packet);
        }
        if self.is_passable(egress) && self.pass(switch, &passing, lane) {
            self.enter_output(switch, egress, packet);
        } else {
            self.wait_at_input(switch, egress, packet, lane);
        }
        self.arm_control(switch);
    }

    /// A packet that may not pass waits at its input.
    #[inline(never)]
    fn wait_at_input(&mut self, switch: SwitchId, egress: PortId, packet: &Packet, mut lane: Lane) {
        if self.admit(egress, packet) != Admitted::Stored {
            self.lose(packet);
            return;
        }
        self.check_arrival(egress, packet);
        if packet.kind == Kind::Data {
            // The gate may have put the flow into another.
            let local = self.local(egress);
            let flow = self.flows.entries[packet.flow].id;
            lane = self.voq_switches.at(switch).control.lane(local, packet.class, flow);
        }
        self.voq_push(switch, egress, packet, lane);
        self.refill(switch, egress, packet.class);
    }

    #[inline]
    fn passing(&self, egress: PortId, packet: &Packet) -> Passing {
        Passing {
            now: self.now,
            ingress: packet.ingress,
            egress: self.local(egress),
            class: packet.class,
            flow: self.flows.entries[packet.flow].id,
            frame_bytes: u32::from(packet.frame_bytes),
        }
    }

    #[inline(always)]
    fn has_room(&self, switch: SwitchId, ingress: u16, egress: u16, class: u8, lane: Lane) -> bool {
        self.voq_switches.at(switch).has_room(&self.switches[switch].buffer, ingress, egress, class, lane)
    }

    /// Whether packets may go to an egress without asking the buffer.
    #[inline(always)]
    fn is_passable(&self, egress: PortId) -> bool {
        let port = &self.links.ports[egress];
        !port.has(DOWN) && self.switches[port.switch()].storms == 0
    }

    /// Whether a data packet that has just come in need not wait at its input: nothing of its lane
    /// does, the output queue has room, and the gate is open. If so, it moves.
    #[inline(always)]
    fn pass(&mut self, switch: SwitchId, packet: &Passing, lane: Lane) -> bool {
        let Passing { now, ingress, egress, class, .. } = *packet;
        if !self.has_room(switch, ingress, egress, class, lane) {
            return false;
        }
        let voq_switch = self.voq_switches.at(switch);
        let output = &voq_switch.voqs.outputs[voq_switch.voqs.output(egress, class)];
        let waiting = output.lanes().with(Lanes::of(lane));
        let (control, view, outbox, _) = parts!(self, switch);
        let open = control.gate(now, egress, class, waiting, &view).has(lane);
        match control.take_changed() {
            None if outbox.is_empty() => {
                if open {
                    control.on_transfer(packet, &view);
                    after_control!(self, switch, control, outbox);
                }
            }
            changed => {
                self.carry_out(switch, changed);
                if open {
                    self.transfer(switch, packet);
                }
            }
        }
        open
    }

    /// A data packet moves from its input to its output.
    #[inline(never)]
    fn transfer(&mut self, switch: SwitchId, packet: &Passing) {
        let (control, view, outbox, _) = parts!(self, switch);
        control.on_transfer(packet, &view);
        after_control!(self, switch, control, outbox);
    }

    /// A packet enters the output queue, and leaves it at once if nothing is ahead of it.
    #[inline(always)]
    fn enter_output(&mut self, switch: SwitchId, egress: PortId, packet: &mut Packet) {
        packet.ingress = u16::MAX;
        let (class, bit) = (packet.class, 1 << packet.class);
        if self.links.ports[egress].is_idle(self.now, class, DOWN) {
            self.depart(egress, packet);
            return;
        }
        self.egress.queues[QueueId::of(egress, class, self.classes)].push(&mut self.egress.queued, self.now, packet);
        let out = &mut self.links.ports[egress];
        out.queued_bytes += u64::from(packet.frame_bytes);
        out.waiting |= bit;
        let (local, paused) = (self.local(egress), self.links.ports[egress].paused & bit != 0);
        let voqs = &mut self.voq_switches.at_mut(switch).voqs;
        let output = voqs.output(local, class);
        voqs.outputs[output].queued_bytes += u64::from(packet.frame_bytes);
        if !paused {
            self.expect_free(egress);
        }
    }

    /// Moves packets from the inputs to an output queue while there are some that may and fit.
    #[inline]
    fn refill(&mut self, switch: SwitchId, egress: PortId, class: u8) {
        let local = self.local(egress);
        let voqs = &self.voq_switches.at(switch).voqs;
        if voqs.outputs[voqs.output(local, class)].waiting != [0, 0] {
            self.refill_waiting(switch, egress, class);
        }
    }

    #[inline(never)]
    fn refill_waiting(&mut self, switch: SwitchId, egress: PortId, class: u8) {
        let (local, now) = (self.local(egress), self.now);
        loop {
            let voq_switch = self.voq_switches.at(switch);
            let output = &voq_switch.voqs.outputs[voq_switch.voqs.output(local, class)];
            let waiting = output.lanes();
            if waiting == Lanes::NONE || output.queued_bytes >= voq_switch.output_bytes {
                return;
            }
            let (control, view, outbox, _) = parts!(self, switch);
            let lanes = control.gate(now, local, class, waiting, &view);
            after_control!(self, switch, control, outbox);
            let Some(mut packet) = self.voq_pop(egress, class, lanes) else { return };
            self.release(switch, &packet);
            if packet.kind == Kind::Data {
                self.transfer(switch, &self.passing(egress, &packet));
            }
            self.enter_output(switch, egress, &mut packet);
        }
    }

    fn voq_push(&mut self, switch: SwitchId, egress: PortId, packet: &Packet, lane: Lane) {
        let local = self.local(egress);
        let voqs = &mut self.voq_switches.at_mut(switch).voqs;
        let (sub, output) = (voqs.sub(packet.ingress, local, packet.class, lane), voqs.output(local, packet.class));
        self.egress.queued.push(&mut voqs.subs[sub].packets, packet);
        voqs.subs[sub].bytes += u64::from(packet.frame_bytes);
        voqs.outputs[output].waiting[lane as usize] += 1;
        let queue = &mut self.egress.queues[QueueId::of(egress, packet.class, self.classes)];
        queue.grow(self.now, packet.frame_bytes);
        queue.at_inputs += 1;
        self.links.ports[egress].queued_bytes += u64::from(packet.frame_bytes);
    }

    /// The next packet for an egress among `lanes`: round-robin over inputs, and at one input the
    /// lane whose packet is older.
    fn voq_pop(&mut self, egress: PortId, class: u8, lanes: Lanes) -> Option<Packet> {
        let (switch, local) = (self.links.ports[egress].switch(), self.local(egress));
        let voqs = &mut self.voq_switches.at_mut(switch).voqs;
        let output = voqs.output(local, class);
        if voqs.outputs[output].lanes().and(lanes) == Lanes::NONE {
            return None;
        }
        let first = usize::from(voqs.outputs[output].next_input);
        for ingress in (first..voqs.ports).chain(0..first) {
            let first = (output * voqs.ports + ingress) * 2;
            let has = |lane: Lane| lanes.has(lane) && !voqs.subs[first + lane as usize].packets.is_empty();
            let lane = match (has(Lane::Free), has(Lane::Held)) {
                (false, false) => continue,
                (true, false) => Lane::Free,
                (false, true) => Lane::Held,
                (true, true) => {
                    let head = |lane: Lane| self.egress.queued.front(&voqs.subs[first + lane as usize].packets);
                    let stamp = |lane| head(lane).map(|packet| packet.stamp);
                    if stamp(Lane::Held) < stamp(Lane::Free) { Lane::Held } else { Lane::Free }
                }
            };
            let sub = &mut voqs.subs[first + lane as usize];
            let packet = self.egress.queued.pop(&mut sub.packets)?;
            sub.bytes -= u64::from(packet.frame_bytes);
            voqs.outputs[output].waiting[lane as usize] -= 1;
            voqs.outputs[output].next_input = if ingress + 1 < voqs.ports { ingress as u16 + 1 } else { 0 };
            let queue = &mut self.egress.queues[QueueId::of(egress, class, self.classes)];
            queue.shrink(self.now, packet.frame_bytes);
            queue.at_inputs -= 1;
            self.links.ports[egress].queued_bytes -= u64::from(packet.frame_bytes);
            return Some(packet);
        }
        None
    }

    /// The oldest packet in the FIFO of an egress.
    fn output_pop(&mut self, egress: PortId, class: u8) -> Option<Packet> {
        let (switch, local) = (self.links.ports[egress].switch(), self.local(egress));
        let queue = &mut self.egress.queues[QueueId::of(egress, class, self.classes)];
        let packet = queue.pop(&mut self.egress.queued, self.now)?;
        let empty = queue.packets.is_empty();
        let port = &mut self.links.ports[egress];
        port.queued_bytes -= u64::from(packet.frame_bytes);
        if empty {
            port.waiting &= !(1 << class);
        }
        let voqs = &mut self.voq_switches.at_mut(switch).voqs;
        let output = voqs.output(local, class);
        voqs.outputs[output].queued_bytes -= u64::from(packet.frame_bytes);
        Some(packet)
    }

    /// Takes any packet of an egress of a controlled switch out of the buffer, for whoever empties it.
    pub(crate) fn take_from_voqs(&mut self, egress: PortId, class: u8) -> Option<Packet> {
        if let Some(packet) = self.output_pop(egress, class) {
            return Some(packet);
        }
        let packet = self.voq_pop(egress, class, Lanes::BOTH)?;
        self.release(self.links.ports[egress].switch(), &packet);
        Some(packet)
    }

    /// A port of a controlled switch is free: a message goes, or the next packet.
    #[inline(never)]
    pub(crate) fn serve_voq_port(&mut self, port_id: PortId) {
        if self.links.ports[port_id].pfc_due != 0 && self.links.ports[port_id].busy_until <= self.now {
            self.send_pfc(port_id);
        }
        let (switch, local) = (self.links.ports[port_id].switch(), self.local(port_id));
        let port = &self.links.ports[port_id];
        let eligible = port.waiting & !port.paused;
        if port.busy_until <= self.now && !port.has(FREE_PENDING) {
            // Like PFC frames, messages go before all queues and are never paused.
            let voq_switch = self.voq_switches.at_mut(switch);
            if let Some(message) = self.egress.queued.pop(&mut voq_switch.unsent[usize::from(local)]) {
                self.transmit_link_local(port_id, &message);
            } else if eligible != 0 {
                let class = self.pick_class(port_id, eligible);
                let mut packet = self.output_pop(port_id, class).expect("a waiting class has a packet");
                self.charge(port_id, class, packet.frame_bytes);
                self.depart(port_id, &mut packet);
                self.refill(switch, port_id, class);
                if self.links.ports[port_id].has(HAS_SHAPED_WAITERS) {
                    self.serve_round_robin(port_id);
                }
            }
        }
        let voq_switch = self.voq_switches.at(switch);
        let unsent = !voq_switch.unsent[usize::from(local)].is_empty();
        let port = &self.links.ports[port_id];
        if port.waiting & !port.paused != 0 || unsent || port.pfc_due != 0 {
            self.expect_free(port_id);
        }
        self.arm_control(switch);
    }

    /// Sorts the lanes of an output that has changed, and of those after it, and sends messages.
    #[cold]
    #[inline(never)]
    fn carry_out(&mut self, switch: SwitchId, mut changed: Option<(u16, u8)>) {
        while let Some((egress, class)) = changed {
            self.sort_lanes(switch, egress, class);
            changed = self.voq_switches.at_mut(switch).control.take_changed();
        }
        if !self.voq_switches.outbox.is_empty() {
            self.send_messages(switch);
        }
    }

    /// Wakes the control when it asks for it.
    #[inline(always)]
    fn arm_control(&mut self, switch: SwitchId) {
        let voq_switch = self.voq_switches.at(switch);
        if let Some(at) = voq_switch.control.timer()
            && at < voq_switch.due
        {
            self.wake_control(switch, at);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_control(&mut self, switch: SwitchId, at: Time) {
        let due = at.max(self.now);
        self.voq_switches.at_mut(switch).due = due;
        self.queue.push_named(due, kind::SWITCH_TIMER, self.switches[switch].name, switch.get());
    }

    pub(crate) fn on_switch_timer(&mut self, switch: SwitchId) {
        let now = self.now;
        let voq_switch = self.voq_switches.at_mut(switch);
        if voq_switch.due != now {
            return;
        }
        voq_switch.due = Time::NEVER;
        if voq_switch.control.timer().is_some_and(|at| at <= now) {
            let (control, view, outbox, _) = parts!(self, switch);
            control.on_timer(now, &view);
            after_control!(self, switch, control, outbox);
            self.open_gates(switch);
        }
        self.arm_control(switch);
    }

    /// Gates may have opened: whoever waits asks again.
    fn open_gates(&mut self, switch: SwitchId) {
        for at in 0..self.switches[switch].ports.len() {
            for class in 0..self.classes as u8 {
                self.refill(switch, self.switches[switch].ports[at], class);
            }
        }
    }

    /// Puts every packet of an egress into the lane its flow is in now. All packets of a flow lie in
    /// one lane before and after, so appending what moves keeps each flow in order.
    ///
    /// Controls may change their mind with every packet, and most often about flows of which nothing
    /// waits, or at one input: the others are looked through and left as they are.
    #[cold]
    #[inline(never)]
    fn sort_lanes(&mut self, switch: SwitchId, egress: u16, class: u8) {
        let VoqSwitch { control, voqs, .. } = self.voq_switches.at_mut(switch);
        let output = voqs.output(egress, class);
        if voqs.outputs[output].waiting == [0, 0] {
            return;
        }
        let lane_of = |packet: &Packet| control.lane(egress, class, self.flows.entries[packet.flow].id);
        for ingress in 0..voqs.ports as u16 {
            let mut seen = None;
            let moves = LANES.into_iter().any(|from| {
                let mut packets = self.egress.queued.iter(&voqs.subs[voqs.sub(ingress, egress, class, from)].packets);
                packets.any(|packet| {
                    // Packets of a flow come in trains: one look for each.
                    if packet.kind != Kind::Data || seen == Some(packet.flow) {
                        return false;
                    }
                    seen = Some(packet.flow);
                    lane_of(packet) != from
                })
            });
            if !moves {
                continue;
            }
            let before = LANES.map(|lane| voqs.subs[voqs.sub(ingress, egress, class, lane)].packets.len());
            for from in LANES {
                for _ in 0..before[from as usize] {
                    let sub = voqs.sub(ingress, egress, class, from);
                    let packet = self.egress.queued.pop(&mut voqs.subs[sub].packets).expect("counted");
                    let size = u64::from(packet.frame_bytes);
                    voqs.subs[sub].bytes -= size;
                    voqs.outputs[output].waiting[from as usize] -= 1;
                    let to = match packet.kind {
                        Kind::Data => lane_of(&packet),
                        _ => from,
                    };
                    let sub = voqs.sub(ingress, egress, class, to);
                    self.egress.queued.push(&mut voqs.subs[sub].packets, &packet);
                    voqs.subs[sub].bytes += size;
                    voqs.outputs[output].waiting[to as usize] += 1;
                }
            }
        }
    }

    /// The egress of a data packet: the one of its route, or another if the control says so. Flows
    /// with a pinned path keep it.
    fn detour(&mut self, switch: SwitchId, egress: PortId, packet: &mut Packet) -> PortId {
        if packet.flags & BACKWARD != 0
            || self.flows.details[self.flows.entries[packet.flow].sender].spec.path.is_some()
        {
            return egress;
        }
        self.choose_egress(switch, egress, packet)
    }

    #[cold]
    #[inline(never)]
    fn choose_egress(&mut self, switch: SwitchId, egress: PortId, packet: &mut Packet) -> PortId {
        let node = self.switches[switch].node;
        let passing = self.passing(egress, packet);
        let equals =
            self.paths.routes.next_hops(node, self.flows.details[self.flows.entries[packet.flow].sender].spec.dst);
        let ports = &self.links.ports;
        let (control, view, _, choices) = parts!(self, switch);
        choices.clear();
        choices.extend(equals.iter().map(|&name| ports[port_named(ports, name).peer()].far_local));
        if choices.len() < 2 || !choices.contains(&passing.egress) {
            return egress;
        }
        let chosen = control.choose(&passing, choices, &view);
        if chosen == passing.egress || !choices.contains(&chosen) {
            return egress;
        }
        let chosen = self.switches[switch].ports[usize::from(chosen)];
        let follows = TableRoute::of(packet.route).is_some() || self.redirect(packet, chosen);
        if follows { chosen } else { egress }
    }

    /// Lets a packet, whose cursor stands behind the egress of this switch, go on by `egress` and
    /// from there by a route of its own. Such routes are kept with the flow.
    fn redirect(&mut self, packet: &mut Packet, egress: PortId) -> bool {
        let flow = self.flows.entries[packet.flow].sender;
        let (sender, details) = (&self.flows.senders[flow], &self.flows.details[flow]);
        let mut known = std::iter::once((sender.route, sender.hops)).chain(details.detours.iter().copied());
        let holds = |&(route, hops): &(u32, u8)| (route + 1..=route + u32::from(hops)).contains(&packet.route);
        // A route that a failure has replaced since: the packet stays on it.
        let Some((route, _)) = known.find(holds) else { return false };
        let hop = (packet.route - 1 - route) as usize;
        let done = &self.paths.route_ports[route as usize..route as usize + hop];
        let same = |&(other, hops): &(u32, u8)| {
            usize::from(hops) > hop
                && self.paths.route_ports[other as usize..other as usize + hop] == *done
                && self.paths.route_ports[other as usize + hop] == egress.get()
        };
        let kept = std::iter::once((sender.route, sender.hops)).chain(details.detours.iter().copied()).find(same);
        let route = match kept {
            Some((route, _)) => route,
            None => {
                let done = done.iter().map(|&port| PortId::new(port));
                let mut path: Vec<u32> = done.chain([egress]).map(|port| self.links.ports[port].name).collect();
                let key = self.flow_key(&details.spec, details.identity, details.ephemeral);
                if !self.paths.routes.extend(details.spec.dst, &key, &mut path) || path.len() > usize::from(u8::MAX) {
                    return false;
                }
                let route = self.store_route(&path);
                self.flows.details[flow].detours.push((route, path.len() as u8));
                route
            }
        };
        packet.route = route + hop as u32 + 1;
        true
    }

    #[cold]
    #[inline(never)]
    fn send_messages(&mut self, switch: SwitchId) {
        let mut outbox = std::mem::take(&mut self.voq_switches.outbox);
        for (local, message) in outbox.drain(..) {
            let port_id = self.switches[switch].ports[usize::from(local)];
            if self.links.ports[port_id].has(DOWN) {
                continue;
            }
            let frame_bytes = self.voq_switches.at(switch).control.message_bytes(&message) as u16;
            let packet = Packet {
                stamp: self.now,
                flow: FlowEntryId::NONE,
                extra: self.voq_switches.messages.insert(message),
                frame_bytes,
                kind: Kind::Neighbour,
                class: self.plan.classes.control,
                ecn: Ecn::NotCapable,
                ..Packet::default()
            };
            let voq_switch = self.voq_switches.at_mut(switch);
            self.egress.queued.push(&mut voq_switch.unsent[usize::from(local)], &packet);
            self.counters.neighbour_messages += 1;
            self.expect_free(port_id);
        }
        self.voq_switches.outbox = outbox;
    }

    /// How a message of a switch looks in its frame.
    pub(crate) fn message_content(
        &self,
        switch: SwitchId,
        message: u32,
    ) -> crate::contract::frame_content::FrameContent {
        self.voq_switches.at(switch).control.frame_content(&self.voq_switches.messages[message])
    }

    /// A message has reached `ingress`; it ends there.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_neighbour(&mut self, ingress: PortId, packet: &Packet, lost: bool) {
        let message = self.voq_switches.messages.remove(packet.extra);
        if lost {
            self.counters.drops_fault += 1;
        } else if self.links.ports[ingress].has(HAS_VOQS) {
            let (switch, local) = (self.links.ports[ingress].switch(), self.local(ingress));
            let now = self.now;
            let (control, _, outbox, _) = parts!(self, switch);
            control.on_message(now, local, &message);
            after_control!(self, switch, control, outbox);
            self.open_gates(switch);
            self.arm_control(switch);
        }
    }

    /// Messages on or for a link that was cut are lost.
    pub(crate) fn cut_messages(&mut self, port: PortId, in_flight: &[Packet]) {
        let mut lost: Vec<u32> = in_flight.iter().filter(|p| p.kind == Kind::Neighbour).map(|p| p.extra).collect();
        if self.links.ports[port].has(HAS_VOQS) {
            let (switch, local) = (self.links.ports[port].switch(), self.local(port));
            let voq_switch = self.voq_switches.at_mut(switch);
            while let Some(packet) = self.egress.queued.pop(&mut voq_switch.unsent[usize::from(local)]) {
                lost.push(packet.extra);
            }
        }
        for message in lost {
            self.voq_switches.messages.remove(message);
            self.counters.drops_fault += 1;
        }
    }

    /// Bytes in the FIFOs of a VOQ switch, which are in no account.
    pub(crate) fn output_queue_bytes(&self, switch: SwitchId) -> u64 {
        let voq_switch = self.voq_switches.list.get(switch).and_then(Option::as_ref);
        voq_switch.map_or(0, |voq_switch| voq_switch.voqs.outputs.iter().map(|output| output.queued_bytes).sum())
    }

    /// Bytes for an egress that wait at an input of a VOQ switch; none elsewhere.
    pub(crate) fn voq_bytes_from(&self, egress: PortId, class: u8, ingress: u16) -> u64 {
        let port = &self.links.ports[egress];
        if !port.has(HAS_VOQS) {
            return 0;
        }
        self.voq_switches.at(port.switch()).voqs.bytes(ingress, self.local(egress), class)
    }

    /// Every packet in the virtual output queues of the network.
    pub(crate) fn voq_packets(&self) -> impl Iterator<Item = &Packet> {
        let subs = self.voq_switches.list.iter().flatten().flat_map(|voq_switch| &voq_switch.voqs.subs);
        subs.flat_map(|sub| self.egress.queued.iter(&sub.packets))
    }
}
