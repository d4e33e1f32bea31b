//! RoCEv2 reliability: flows start, packets are acknowledged, losses go back N, flows end.

use crate::domain;
use crate::flow::{Ledger, Receiver, SendState, Sender, frames};
use crate::identity::Tag;
use crate::packet::{ASKS_ACK, BACKWARD, Ecn, Kind, NO_EXTRA, Packet, RESENT, TRANSIT};
use crate::plan::{AckClass, AckPath};
use crate::record::FlowRecord;
use crate::route::FlowKey;
use crate::scheme::{Acked, FlowFacts, Loss, NotificationPoint, ReactionPoint, Received, Scheme, TIMERS, Transport};
use crate::tcp::{self, AnyOrder};
use crate::timing;
use crate::traffic::{Action, FlowSpec};
use crate::world::{World, kind};
use xoff_engine::Time;

/// Delays of ACKs and of notifications are kept in lanes of their own, so each stays in order.
pub(crate) const ACK_LANE: u32 = 0;
const NOTIFY_LANE: u32 = 1;

impl<S: Scheme> World<S> {
    pub(crate) fn arm_source(&mut self, source: u32) {
        let due = &mut self.source_due[source as usize];
        let next = self.sources[source as usize].next().unwrap_or(Time::NEVER);
        if next == *due {
            return;
        }
        *due = next;
        if next != Time::NEVER {
            debug_assert!(next >= self.now, "a source wants to act in the past");
            self.push_source(next, source);
        }
    }

    fn push_source(&mut self, at: Time, source: u32) {
        let tie = self.source_names[source as usize].tie();
        self.queue.push_named(at, kind::SOURCE, tie, source);
    }

    pub(crate) fn on_source(&mut self, source: u32) {
        if self.source_due[source as usize] != self.now {
            return;
        }
        if self.eager && self.must_wait_its_turn(source) {
            return;
        }
        self.source_due[source as usize] = Time::NEVER;
        let mut actions = Vec::new();
        self.sources[source as usize].act(self.now, &mut actions);
        for action in actions {
            match action {
                Action::Start(spec) => self.start_flow(source, spec),
                Action::Offer { handle, bytes } => self.offer(source, handle, bytes),
                Action::Cap { handle, rate } => {
                    if let Some(&flow) = self.by_handle[source as usize].get(&handle) {
                        self.senders[flow].cap = rate;
                        let limits = self.senders[flow].rp.limits();
                        self.apply_limits(flow, limits);
                    }
                }
                Action::Stop { handle } => {
                    if let Some(&flow) = self.by_handle[source as usize].get(&handle) {
                        let port_id = self.hosts[self.senders[flow].host as usize].port;
                        self.end_flow(flow);
                        // A NIC that scans may have set no wake-up because of this flow.
                        if self.scans(port_id) {
                            self.serve_scan(port_id);
                        }
                    }
                }
            }
        }
        self.arm_source(source);
        self.pause_if_grown();
        if self.is_idle() {
            self.finish();
        }
    }

    /// Where the order of scheduling counts, opening a flow takes two turns of its own: it comes after
    /// all that was scheduled for this instant.
    fn must_wait_its_turn(&mut self, source: u32) -> bool {
        let waited = &mut self.source_waited[source as usize];
        *waited = (*waited + 1) % 3;
        let wait = *waited != 0;
        if wait {
            self.push_source(self.now, source);
        }
        wait
    }

    /// No flow is alive and no source will act again.
    pub(crate) fn is_idle(&self) -> bool {
        self.plan.run.stop_when_idle
            && self.by_handle.iter().all(|flows| flows.is_empty())
            && self.source_due.iter().all(|due| *due == Time::NEVER)
    }

    fn start_flow(&mut self, source: u32, spec: FlowSpec) {
        let id = self.counters.flows_started as u32;
        self.counters.flows_started += 1;
        let started = &mut self.source_started[source as usize];
        let number = std::mem::replace(started, *started + 1);
        let name = self.source_names[source as usize];
        let (identity, ephemeral) = (name.flow(number, &spec), name.port(number));
        let src = self.index_of[spec.src as usize];
        let dst = self.index_of[spec.dst as usize];
        let across = self.plan.nodes[spec.src as usize].domain != self.plan.nodes[spec.dst as usize].domain;
        let format = self.formats[usize::from(spec.scheme)][usize::from(across)];
        let settings = &self.plan.hosts[self.hosts[src as usize].profile as usize];
        let responder = &self.plan.hosts[self.hosts[dst as usize].profile as usize];
        let tcp = format.transport == Transport::Tcp;
        let (header_bytes, ack_frame) = match format.transport {
            Transport::Roce => (settings.sizes.data_header_bytes, responder.sizes.ack_bytes),
            Transport::Tcp => (settings.sizes.tcp_header_bytes, responder.sizes.tcp_ack_bytes),
        };
        let (header_bytes, ack_frame) = (header_bytes + format.data_bytes, ack_frame + format.ack_bytes);
        let (total, full_frame, last_frame) = frames(settings, header_bytes, spec.size_bytes);
        let mtu_bytes = settings.mtu_bytes;
        let notification_frame = responder.sizes.notification_bytes;
        let any_order = (tcp || format.reorder).then(|| Box::new(AnyOrder::new(&format, responder)));
        let (ack_delay, ack_every) = (responder.ack_delay, tcp::ack_every(&format, responder));
        let ack_class = match responder.ack_class {
            AckClass::Control => self.plan.classes.control,
            AckClass::WithData => spec.class,
        };

        let key = self.flow_key(&spec, identity, ephemeral);
        let (path, stranded) = self.resolve_path(&spec, &key);
        let (back, backward) = self.resolve_back(&spec, &key, &path);
        let settings = &self.plan.hosts[self.hosts[src as usize].profile as usize];
        let gap = self.gap_bytes;
        let full_wire = u32::from(full_frame) + gap;
        let exchange = timing::Exchange { data_wire: full_wire, ack_wire: ack_frame + gap };
        let way = self.ways.as_ref().and_then(|ways| ways.to(&self.plan, spec.dst, mtu_bytes)[spec.src as usize]);
        let base_rtt = way.map_or_else(|| timing::base_rtt(&self.plan, &path, exchange), |way| way.round_trip());
        let ideal = if total == u32::MAX {
            xoff_engine::Span::ZERO
        } else {
            timing::ideal_delivery(&self.plan, &path, u64::from(total), full_wire, u32::from(last_frame) + gap)
        };
        // A round trip is not a loss, however long: the timer never undercuts a few of them.
        let rto = settings.retransmit_timeout.max(base_rtt * 4);
        let line_rate = self.ports[self.hosts[src as usize].port as usize].rate.rate();
        let bdp_bytes = match settings.nic.inflight_cap {
            None => line_rate.bytes_in(self.max_base_rtt),
            Some(cap) if cap.longest => self.max_bdp_bytes,
            Some(_) => way.map_or_else(|| timing::bdp_bytes(&self.plan, &path, base_rtt), |way| way.bdp_bytes()),
        };
        let facts = FlowFacts {
            seed: self.plan.seed,
            flow: identity,
            line_rate,
            start: self.now,
            initial_rate: spec.initial_rate.map_or(line_rate, |rate| rate.min(line_rate)),
            base_rtt,
            max_base_rtt: self.max_base_rtt,
            bdp_bytes,
            mtu_bytes,
            mtu_wire_bytes: full_wire,
            weight: spec.weight,
            hops: path.len().saturating_sub(1) as u8,
            ack_delay,
            crossing: domain::crossing(&self.plan, &path, exchange),
        };
        let scheme = &self.schemes[usize::from(spec.scheme)];
        let (rp, np) = (scheme.reaction_point(&facts), scheme.notification_point(&facts));
        let transit = facts.crossing.and_then(|_| scheme.transit(&facts));
        let route = self.store_route(&path);
        let (back_route, back_hops) =
            if backward { (route, path.len() as u8) } else { (self.store_route(&back), back.len() as u8) };
        let limits = rp.limits();
        let sender = Sender {
            rp,
            host: src,
            next: 0,
            una: 0,
            highest: 0,
            asked: 0,
            ack_every,
            total,
            offered: spec.offered_bytes.map_or(u32::MAX, |bytes| (bytes / u64::from(mtu_bytes)) as u32),
            state: if self.hosts[src as usize].scan.is_some() { SendState::Scanned } else { SendState::Idle },
            class: spec.class,
            scheme: spec.scheme,
            int: format.int,
            transit: transit.is_some(),
            ecn: format.ecn,
            ended: false,
            tcp,
            resend: false,
            stranded,
            full_frame,
            last_frame,
            mtu_bytes,
            short_bytes: spec.size_bytes.map_or(0, |size| (u64::from(total) * u64::from(mtu_bytes) - size) as u32),
            last_wire: full_wire,
            next_avail: self.now,
            ps_per_byte: 0.0,
            asked_bps: line_rate.bps() as f64,
            gap_bps: line_rate.bps() as f64,
            window_bytes: u64::MAX,
            asked_window: u64::MAX,
            bdp_bytes,
            cap: spec.rate_cap,
            rto,
            rto_at: Time::NEVER,
            due: Time::NEVER,
            route,
            hops: path.len() as u8,
            live: 0,
            sent_wire_bytes: 0,
        };
        let receiver = Receiver {
            answers: np.answers(),
            np,
            host: dst,
            expected: 0,
            total,
            ack_frame: ack_frame as u16,
            notification_frame: notification_frame as u16,
            ack_class,
            header_bytes: header_bytes as u16,
            naked: u32::MAX,
            nak_at: Time::ZERO,
            due: Time::NEVER,
            route: back_route,
            hops: back_hops,
            backward,
            closed: false,
            special: any_order.as_ref().is_some_and(|order| order.is_special()),
            delivered_bytes: 0,
            delivered_at: None,
            marked: 0,
            any_order,
        };
        let (handle, probed) = (spec.handle, spec.probed);
        let tag = Tag { id, name: identity as u32, weight: spec.weight };
        let ledger = Ledger {
            id,
            number,
            identity,
            ephemeral,
            source,
            spec,
            start: self.now,
            acked_at: None,
            ideal,
            base_rtt,
            packets_sent: 0,
            packets_retransmitted: 0,
            timeouts: 0,
            lost: 0,
            notifications: 0,
            first_notified: None,
            old_routes: Vec::new(),
            detours: Vec::new(),
        };
        let flow = self.senders.insert(sender);
        let (receiver_slot, ledger_slot) = (self.receivers.insert(receiver), self.ledgers.insert(ledger));
        debug_assert!(flow == receiver_slot && flow == ledger_slot, "the three slabs move together");
        if self.tags.len() <= flow as usize {
            self.tags.resize(flow as usize + 1, Tag::default());
        }
        self.tags[flow as usize] = tag;
        self.living.insert(id, flow);
        self.by_handle[source as usize].insert(handle, flow);
        if let Some(machine) = transit {
            self.add_shaper(flow, machine);
        }
        if probed {
            self.probe_flow(flow);
        }
        self.apply_limits(flow, limits);
        // The first packet waits for nothing, whatever rate the flow begins with.
        self.senders[flow].next_avail = self.now;
        self.arm_flow_timer(flow);
        self.open_scanned(flow);
        self.stir_flow(flow);
    }

    /// The flow's egress ports: pinned, or by the hash of what identifies it.
    pub(crate) fn resolve_path(&self, spec: &FlowSpec, key: &FlowKey) -> (Vec<u32>, bool) {
        if let Some(path) = &spec.path {
            return (path.to_vec(), !path.iter().all(|&port| self.is_up(port)));
        }
        let mut path = Vec::with_capacity(8);
        let found = self.routes.path(spec.src, spec.dst, key, &mut path);
        if !found {
            path.truncate(1);
        }
        (path, !found)
    }

    /// The way back: the same links for pinned flows and symmetric fabrics, else a hash of its own.
    pub(crate) fn resolve_back(&self, spec: &FlowSpec, key: &FlowKey, path: &[u32]) -> (Vec<u32>, bool) {
        let mut back = Vec::with_capacity(8);
        if spec.path.is_some() || self.plan.ack_path == AckPath::Symmetric || path.len() < 2 {
            return (back, true);
        }
        self.routes.path(spec.dst, spec.src, &key.reversed(), &mut back);
        (back, false)
    }

    /// What identifies a flow to the hash of a switch.
    pub(crate) fn flow_key(&self, spec: &FlowSpec, identity: u64, ephemeral: u16) -> FlowKey {
        FlowKey { seed: self.plan.seed, identity, from: spec.src, to: spec.dst, ports: spec.ports_or(ephemeral) }
    }

    fn offer(&mut self, source: u32, handle: u32, bytes: u64) {
        let Some(&flow) = self.by_handle[source as usize].get(&handle) else { return };
        let ledger = &mut self.ledgers[flow];
        let offered = ledger.spec.offered_bytes.unwrap_or(0).saturating_add(bytes);
        ledger.spec.offered_bytes = Some(offered);
        let sender = &mut self.senders[flow];
        // Whole packets only: a remainder waits for the next offer.
        sender.offered = (offered / u64::from(sender.mtu_bytes)).min(u64::from(u32::MAX - 1)) as u32;
        self.stir_flow(flow);
    }

    /// A packet reaches its host.
    #[inline]
    pub(crate) fn host_receive(&mut self, port_id: u32, packet: &Packet) {
        match packet.kind {
            Kind::Data => self.on_data(packet),
            Kind::Ack | Kind::Nak => self.on_ack(packet),
            Kind::Notification => self.on_notification(packet),
            Kind::Pfc | Kind::Neighbour => unreachable!("link-local frames end at the port {port_id}"),
        }
    }

    #[inline]
    fn on_data(&mut self, packet: &Packet) {
        let now = self.now;
        let flow = packet.flow;
        let gap = self.gap_bytes;
        let receiver = &mut self.receivers[flow];
        let host_id = receiver.host;
        let settings = &self.plan.hosts[self.hosts[host_id as usize].profile as usize];
        if packet.psn != receiver.expected || receiver.special {
            self.on_unexpected(packet);
            return;
        }
        receiver.expected += 1;
        let last = receiver.expected == receiver.total;
        let payload = match last.then(|| self.ledgers[flow].spec.size_bytes).flatten() {
            // The last packet may be padded: count what the flow holds, not what the frame does.
            Some(size) => size - receiver.delivered_bytes,
            None => u64::from(packet.frame_bytes - receiver.header_bytes),
        };
        receiver.delivered_bytes += payload;
        self.counters.delivered_bytes += payload;
        self.counters.data_packets_delivered += 1;
        if packet.ecn == Ecn::Ce {
            receiver.marked += 1;
        }
        if last {
            receiver.delivered_at = Some(now);
        }
        if receiver.answers
            && let Some(int) = self.int.get(packet.extra)
        {
            receiver.np.on_telemetry(now, int);
        }
        let feedback = receiver.np.on_data(&Received {
            now,
            wire_bytes: u32::from(packet.frame_bytes) + gap,
            payload_bytes: payload as u32,
            ecn: packet.ecn,
        });
        let ack = packet.flags & ASKS_ACK != 0;
        let np_timer = receiver.np.timer();
        if ack {
            let (delay, answers) = (settings.ack_delay, receiver.answers);
            let mut ack = self.answer(packet, Kind::Ack);
            if answers {
                self.put_answer(&mut ack);
            }
            self.counters.acks_sent += 1;
            self.emit(host_id, &ack, delay, ACK_LANE);
        } else {
            self.release_extra(packet);
        }
        if let Some(feedback) = feedback {
            self.notify(flow, feedback);
        }
        if let Some(at) = np_timer {
            self.arm_np_timer(flow, at);
        }
        if !ack {
            // With an ACK the data packet lives on in it; without, it ends here.
            self.packet_gone(flow);
        }
    }

    /// The ACK or NAK to a data packet; takes over its telemetry.
    #[inline]
    pub(crate) fn answer(&self, data: &Packet, kind: Kind) -> Packet {
        let receiver = &self.receivers[data.flow];
        Packet {
            stamp: data.stamp,
            flow: data.flow,
            psn: receiver.expected,
            route: back_cursor(receiver.route, receiver.hops, receiver.backward),
            extra: data.extra,
            frame_bytes: receiver.ack_frame,
            ingress: 0,
            kind,
            class: receiver.ack_class,
            // An ACK never is marked; the bits carry the echo of the data packet's mark.
            ecn: data.ecn,
            flags: (if receiver.backward { data.flags | BACKWARD } else { data.flags & !BACKWARD })
                & !(TRANSIT | ASKS_ACK),
        }
    }

    /// Puts what the notification point answers into an ACK or NAK, in the place of telemetry.
    pub(crate) fn put_answer(&mut self, ack: &mut Packet) {
        let Some(feedback) = self.receivers[ack.flow].np.answer(self.now) else { return };
        self.release_extra(ack);
        ack.extra = self.feedback.insert(feedback);
        ack.flags |= TRANSIT;
    }

    /// Ahead of what is expected: drop, and say so now and then. Behind: acknowledge again. Some
    /// receivers take any order.
    #[cold]
    #[inline(never)]
    fn on_unexpected(&mut self, packet: &Packet) {
        let now = self.now;
        let receiver = &mut self.receivers[packet.flow];
        if receiver.any_order.is_some() && !receiver.closed {
            self.on_data_any_order(packet);
            return;
        }
        let host_id = receiver.host;
        let settings = &self.plan.hosts[self.hosts[host_id as usize].profile as usize];
        let delay = settings.ack_delay;
        let behind = packet.psn < receiver.expected;
        let told = receiver.naked == receiver.expected && now.saturating_since(receiver.nak_at) < settings.nak_interval;
        if receiver.closed || (!behind && told) {
            self.discard(packet);
            return;
        }
        self.counters.data_packets_discarded += 1;
        if behind {
            self.counters.acks_sent += 1;
        } else {
            receiver.naked = receiver.expected;
            receiver.nak_at = now;
            self.counters.naks_sent += 1;
        }
        let answers = receiver.answers;
        let mut answer = self.answer(packet, if behind { Kind::Ack } else { Kind::Nak });
        if answers {
            self.put_answer(&mut answer);
        }
        self.emit(host_id, &answer, delay, ACK_LANE);
    }

    pub(crate) fn arm_np_timer(&mut self, flow: u32, at: Time) {
        let receiver = &mut self.receivers[flow];
        if at < receiver.due {
            receiver.due = at;
            self.queue.push_named(at.max(self.now), kind::NP_TIMER, self.tags[flow as usize].name, flow);
        }
    }

    pub(crate) fn on_np_timer(&mut self, flow: u32) {
        let Some(receiver) = self.receivers.get_mut(flow) else { return };
        if receiver.due != self.now {
            return;
        }
        receiver.due = Time::NEVER;
        if self.senders[flow].ended {
            return;
        }
        let due = receiver.np.timer().is_some_and(|at| at <= self.now);
        let feedback = if due { receiver.np.on_timer(self.now) } else { None };
        let next = receiver.np.timer();
        if let Some(feedback) = feedback {
            self.notify(flow, feedback);
        }
        if let Some(at) = next {
            self.arm_np_timer(flow, at);
        }
        self.on_ack_timer(flow);
    }

    /// The receiver sends a notification to the sender.
    pub(crate) fn notify(&mut self, flow: u32, feedback: S::Feedback) {
        let receiver = &self.receivers[flow];
        let host_id = receiver.host;
        let delay = self.plan.hosts[self.hosts[host_id as usize].profile as usize].notify_delay;
        let scheme = &self.schemes[usize::from(self.senders[flow].scheme)];
        let frame_bytes = scheme.notification_bytes(&feedback).map_or(receiver.notification_frame, |b| b as u16);
        let packet = Packet {
            stamp: self.now,
            flow,
            psn: 0,
            route: back_cursor(receiver.route, receiver.hops, receiver.backward),
            extra: self.feedback.insert(feedback),
            frame_bytes,
            ingress: 0,
            kind: Kind::Notification,
            class: self.plan.classes.control,
            ecn: Ecn::NotCapable,
            flags: if receiver.backward { BACKWARD } else { 0 },
        };
        self.senders[flow].live += 1;
        self.counters.notifications_sent += 1;
        if !self.taps.is_empty() {
            self.note_origin(&packet, None);
        }
        self.emit(host_id, &packet, delay, NOTIFY_LANE);
    }

    #[inline]
    fn on_ack(&mut self, packet: &Packet) {
        let now = self.now;
        let flow = packet.flow;
        let sender = &mut self.senders[flow];
        if sender.ended || sender.tcp {
            self.on_other_ack(packet);
            return;
        }
        let before = sender.payload_until(sender.una);
        if packet.psn > sender.una {
            sender.una = packet.psn;
            sender.next = sender.next.max(sender.una);
            // After going back there may be nothing under way; the next packet starts the timer.
            sender.rto_at = if sender.una == sender.next { Time::NEVER } else { now + sender.rto };
        }
        let moved = self.tell_of_ack(packet, before, false);
        if packet.kind == Kind::Nak {
            let sender = &mut self.senders[flow];
            sender.go_back();
            sender.rto_at = Time::NEVER;
            sender.rp.on_loss(now, Loss::Nak);
        }
        self.release_extra(packet);
        self.after_ack(flow, moved);
        self.packet_gone(flow);
    }

    /// Tells a reaction point of an ACK or NAK that has moved the sender on from `before` bytes, or
    /// has not; which of both.
    #[inline(always)]
    pub(crate) fn tell_of_ack(&mut self, packet: &Packet, before: u64, duplicate: bool) -> bool {
        let now = self.now;
        let sender = &mut self.senders[packet.flow];
        let acked_bytes = sender.payload_until(sender.una);
        let mut int = if packet.extra == NO_EXTRA { None } else { self.int.get(packet.extra) };
        if packet.carries_feedback() {
            int = None;
            sender.rp.on_feedback(now, &self.feedback[packet.extra]);
        }
        sender.rp.on_ack(&Acked {
            now,
            bytes: acked_bytes - before,
            acked_bytes,
            sent_bytes: sender.payload_until(sender.next),
            rtt: now - packet.stamp,
            ecn: packet.ecn,
            int,
            duplicate,
            resent: packet.flags & RESENT != 0,
        });
        acked_bytes > before
    }

    /// The end of a flow whose last packet is acknowledged, or what its limits now allow.
    #[inline(always)]
    pub(crate) fn after_ack(&mut self, flow: u32, moved: bool) {
        let sender = &self.senders[flow];
        let (complete, state) = (sender.una >= sender.total, sender.state);
        // Flows without offers have no such number.
        let drained = sender.una == sender.offered && moved;
        if complete {
            let port_id = self.hosts[sender.host as usize].port;
            if state == SendState::Scanned {
                self.read_rp(flow);
                self.hasten(flow);
            }
            self.ledgers[flow].acked_at = Some(self.now);
            self.end_flow(flow);
            if state == SendState::Scanned {
                self.serve_scan(port_id);
            }
            return;
        }
        self.after_rp(flow);
        match state {
            SendState::Blocked | SendState::Idle => self.stir_flow(flow),
            SendState::Scanned => {
                self.hasten(flow);
                self.stir_flow(flow);
            }
            SendState::Ready | SendState::Paced => {}
        }
        if drained {
            self.on_drained(flow);
        }
    }

    /// All that was offered is acknowledged: its source may offer more.
    #[cold]
    fn on_drained(&mut self, flow: u32) {
        let (source, handle) = (self.ledgers[flow].source, self.ledgers[flow].spec.handle);
        self.sources[source as usize].on_drained(self.now, handle);
        self.arm_source(source);
    }

    fn on_notification(&mut self, packet: &Packet) {
        let flow = packet.flow;
        let feedback = self.feedback.remove(packet.extra);
        let sender = &mut self.senders[flow];
        if !sender.ended {
            sender.rp.on_feedback(self.now, &feedback);
            let ledger = &mut self.ledgers[flow];
            ledger.notifications += 1;
            ledger.first_notified.get_or_insert(self.now);
            self.after_rp(flow);
        }
        self.packet_gone(flow);
    }

    #[inline]
    pub(crate) fn arm_flow_timer(&mut self, flow: u32) {
        if self.eager {
            self.schedule_timers(flow);
            return;
        }
        let sender = &mut self.senders[flow];
        let at = sender.rp.timer().unwrap_or(Time::NEVER).min(sender.rto_at);
        if at < sender.due {
            sender.due = at.max(self.now);
            self.queue.push_named(sender.due, kind::FLOW_TIMER, self.tags[flow as usize].name, flow);
        }
    }

    /// Every timer of a flow that was set anew gets an event of its own.
    #[cold]
    #[inline(never)]
    fn schedule_timers(&mut self, flow: u32) {
        if self.timers.len() <= flow as usize {
            self.timers.resize(flow as usize + 1, [Time::NEVER; TIMERS]);
        }
        let sender = &mut self.senders[flow];
        for (set, wanted) in self.timers[flow as usize].iter_mut().zip(sender.rp.timers()) {
            let at = wanted.map_or(Time::NEVER, |at| at.max(self.now));
            if *set != at && at != Time::NEVER {
                self.queue.push(at, kind::FLOW_TIMER, flow);
            }
            *set = at;
        }
        if sender.rto_at < sender.due {
            sender.due = sender.rto_at;
            self.queue.push(sender.due, kind::FLOW_TIMER, flow);
        }
    }

    /// Whether an event of a flow's timers is one that still counts.
    fn is_due(&self, flow: u32, due: Time) -> bool {
        due == self.now || (self.eager && self.timers[flow as usize].contains(&self.now))
    }

    pub(crate) fn on_flow_timer(&mut self, flow: u32) {
        let now = self.now;
        let Some(due) = self.senders.get(flow).filter(|sender| !sender.ended).map(|sender| sender.due) else { return };
        if !self.is_due(flow, due) {
            return;
        }
        let sender = &mut self.senders[flow];
        if due == now {
            sender.due = Time::NEVER;
        }
        if sender.rp.timer().is_some_and(|at| at <= now) {
            sender.rp.on_timer(now);
        }
        if sender.rto_at <= now {
            sender.go_back();
            sender.rto_at = Time::NEVER;
            sender.rp.on_loss(now, Loss::Timeout);
            self.counters.timeouts += 1;
            self.ledgers[flow].timeouts += 1;
            self.after_rp(flow);
            self.stir_flow(flow);
        } else {
            self.after_rp(flow);
        }
    }

    /// The flow is over: write its record, tell its source, free it once its packets are gone.
    fn end_flow(&mut self, flow: u32) {
        let record = self.flow_record(flow);
        self.flows.push(record);
        self.counters.flows_completed += 1;
        self.receivers[flow].closed = true;
        self.receivers[flow].special = true;
        self.senders[flow].ended = true;
        self.leave_nic(flow);
        let (source, handle) = (self.ledgers[flow].source, self.ledgers[flow].spec.handle);
        self.by_handle[source as usize].remove(&handle);
        self.unprobe_flow(flow);
        if self.senders[flow].live == 0 {
            self.free_flow(flow);
        }
        self.sources[source as usize].on_finished(self.now, handle);
        self.arm_source(source);
        if self.is_idle() {
            self.finish();
        }
    }

    /// One packet of the flow exists no more.
    #[inline]
    pub(crate) fn packet_gone(&mut self, flow: u32) {
        let sender = &mut self.senders[flow];
        sender.live -= 1;
        debug_assert!(sender.live >= 0, "more packets gone than made");
        if sender.live == 0 && sender.ended {
            self.free_flow(flow);
        }
    }

    #[cold]
    fn free_flow(&mut self, flow: u32) {
        if let Some(timers) = self.timers.get_mut(flow as usize) {
            *timers = [Time::NEVER; TIMERS];
        }
        let sender = self.senders.remove(flow);
        let receiver = self.receivers.remove(flow);
        let ledger = self.ledgers.remove(flow);
        self.living.remove(&ledger.id);
        self.free_route(sender.route, sender.hops);
        if sender.transit {
            self.remove_shaper(flow);
        }
        if !receiver.backward {
            self.free_route(receiver.route, receiver.hops);
        }
        for (route, hops) in ledger.old_routes.into_iter().chain(ledger.detours) {
            self.free_route(route, hops);
        }
    }

    pub(crate) fn flow_record(&self, flow: u32) -> FlowRecord {
        let (sender, receiver, ledger) = (&self.senders[flow], &self.receivers[flow], &self.ledgers[flow]);
        let route = sender.route as usize;
        FlowRecord {
            id: ledger.id,
            number: ledger.number,
            source: ledger.source,
            label: ledger.spec.label,
            src: ledger.spec.src,
            dst: ledger.spec.dst,
            ports: ledger.spec.ports_or(ledger.ephemeral),
            size_bytes: ledger.spec.size_bytes,
            delivered_bytes: receiver.delivered_bytes,
            class: ledger.spec.class,
            scheme: ledger.spec.scheme,
            start: ledger.start,
            delivered_at: receiver.delivered_at,
            acked_at: ledger.acked_at,
            ideal: ledger.ideal,
            base_rtt: ledger.base_rtt,
            packets_sent: ledger.packets_sent,
            packets_retransmitted: ledger.packets_retransmitted,
            timeouts: ledger.timeouts,
            lost: ledger.lost,
            marked: receiver.marked,
            notifications: ledger.notifications,
            first_notified: ledger.first_notified,
            detours: ledger.detours.len() as u32,
            path: self.route_ports[route..route + usize::from(sender.hops)].into(),
        }
    }
}

/// Where the cursor of a packet stands that leaves the receiver's NIC: past the NIC's own port.
#[inline]
fn back_cursor(route: u32, hops: u8, backward: bool) -> u32 {
    if backward { (route + u32::from(hops)).wrapping_sub(2) } else { route + 1 }
}
