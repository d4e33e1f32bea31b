//! A software NIC: queue pairs that send, paced and within their windows, one link, control packets first.
//!
//! A packet is made at the moment its first bit leaves. A flow is in one place: idle, in the round-robin of its class,
//! waiting for its pacing time, or blocked by its window.

use crate::agenda::Event;
use crate::context::{Context, FlowEvent};
use crate::egress::{Egress, QueuedFrame, SentFrame, frame_bytes};
use crate::network::{FlowId, Network};
use crate::receiver::Receiver;
use crate::sender::Sender;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use xoff_engine::{Span, Time};
use xoff_fabric::pacing::SendState;
use xoff_fabric::plan::NicSettings;
use xoff_fabric::record::{ClassReport, PortReport};
use xoff_fabric::scheme::{Limits, Loss, ReactionPoint, Resend, Scheme};
use xoff_wire::{Pfc, Seen, decode};

pub struct Nic<S: Scheme> {
    pub node: u32,
    pub(crate) egress: Egress,
    /// By flow.
    pub(crate) senders: HashMap<u32, Sender<S::Rp>>,
    pub(crate) receivers: HashMap<FlowId, Receiver<S::Np>>,
    /// Receivers by the number of their flow, for their timers.
    pub(crate) numbered: HashMap<u32, FlowId>,
    /// Receivers at which they are gone through for old ones.
    pub(crate) tidy_at: usize,
    /// By class.
    ready: Vec<VecDeque<u32>>,
    paced: BinaryHeap<Reverse<(Time, u32)>>,
    last_served: Option<u32>,
    wake_at: Time,
    /// ACKs and notifications that hosts hand down later.
    delayed: [VecDeque<(Time, u8, Vec<u8>)>; 2],
    settings: NicSettings,
    line_bps: f64,
    /// By scheme: units of telemetry, where it sets them for all ports.
    pub(crate) multipliers: Vec<Option<u64>>,
}

/// Lanes of [`Event::Emit`].
pub const ACKS: u8 = 0;
pub const NOTIFICATIONS: u8 = 1;

impl<S: Scheme> Nic<S> {
    pub fn new(node: u32, network: &Network, multipliers: &[Option<u64>]) -> Nic<S> {
        let (port, classes) = (network.host_port(node), &network.plan.classes);
        let rate = network.rate(port);
        Nic {
            node,
            egress: Egress::new(port, rate, classes),
            senders: HashMap::new(),
            receivers: HashMap::new(),
            numbered: HashMap::new(),
            tidy_at: 0,
            ready: classes.list.iter().map(|_| VecDeque::new()).collect(),
            paced: BinaryHeap::new(),
            last_served: None,
            wake_at: Time::NEVER,
            delayed: Default::default(),
            settings: network.plan.host(node).nic,
            line_bps: rate.rate().bps() as f64,
            multipliers: multipliers.to_vec(),
        }
    }

    pub fn report(&mut self, end: Time) -> PortReport {
        self.egress.report(end, |_| ClassReport::default())
    }

    pub fn line_bps(&self) -> f64 {
        self.line_bps
    }

    pub fn receive(&mut self, bytes: &[u8], schemes: &[S], context: &mut Context<'_>) {
        match decode(bytes) {
            Ok(Seen::Pfc(pfc)) => self.on_pfc(&pfc, context),
            Ok(seen) => self.take_in(bytes, &seen, schemes, context),
            Err(reason) => context.log.ignore(reason.name()),
        }
    }

    fn on_pfc(&mut self, pfc: &Pfc, context: &mut Context<'_>) {
        for (priority, quanta) in pfc.priorities() {
            if let Some(class) = self.egress.hear_pfc(priority, quanta, context) {
                self.obey(class, quanta, context);
            }
        }
    }

    pub fn obey(&mut self, class: u8, quanta: u16, context: &mut Context<'_>) {
        let pause = self.egress.obey(class, quanta, context);
        self.set_paused(class, pause, context);
    }

    /// A PAUSE that was to end at `due` runs out, unless it was prolonged.
    pub fn on_pause_over(&mut self, class: u8, due: Time, context: &mut Context<'_>) {
        if self.egress.queues[usize::from(class)].paused_until == due {
            self.set_paused(class, false, context);
        }
    }

    fn set_paused(&mut self, class: u8, pause: bool, context: &mut Context<'_>) {
        if self.egress.set_paused(class, pause, context.now) && !pause {
            self.serve(context.now, context);
        }
    }

    /// The last bit of the frame on the wire left at `at`; the next one follows it.
    pub fn sent(&mut self, at: Time, context: &mut Context<'_>) -> Option<SentFrame> {
        let gone = self.egress.finish();
        self.serve(at, context);
        gone
    }

    pub fn on_wake(&mut self, due: Time, context: &mut Context<'_>) {
        if self.wake_at == due {
            self.wake_at = Time::NEVER;
            self.serve(due, context);
        }
    }

    /// Begins the next frame, if the wire is free since `start` and one may go; else sleeps until one may.
    pub(crate) fn serve(&mut self, start: Time, context: &mut Context<'_>) {
        self.release_paced(context.now);
        if self.egress.is_busy() {
            return;
        }
        if let Some(flow) = self.last_served.take() {
            self.make_ready(flow);
        }
        while !self.egress.is_busy() {
            let ready = (0..).zip(&self.ready).filter(|(_, ring)| !ring.is_empty());
            let ready = ready.fold(0, |mask: u8, (class, _)| mask | 1 << class) & !self.egress.paused;
            let eligible = self.egress.eligible() | ready;
            if eligible == 0 {
                break;
            }
            let class = self.egress.pick(eligible);
            if let Some(held) = self.egress.pop(class, context.now) {
                context.log.counters.packet_hops += 1;
                self.egress.begin(Some(class), held.bytes, start, context);
            } else if let Some(flow) = self.ready[usize::from(class)].pop_front() {
                self.send_data(flow, start, context);
            }
        }
        if let Some(Reverse((at, _))) = self.paced.peek()
            && !self.egress.is_busy()
            && *at < self.wake_at
        {
            self.wake_at = (*at).max(context.now);
            context.agenda.add(self.wake_at, Event::Wake(self.node));
        }
    }

    fn release_paced(&mut self, until: Time) {
        while let Some(Reverse((at, flow))) = self.paced.peek().copied().filter(|Reverse((at, _))| *at <= until) {
            self.paced.pop();
            let waits =
                |sender: &Sender<S::Rp>| sender.pacing.state == SendState::Paced && sender.pacing.next_avail == at;
            if self.senders.get(&flow).is_some_and(waits) {
                self.make_ready(flow);
            }
        }
    }

    fn make_ready(&mut self, flow: u32) {
        if let Some(sender) = self.senders.get_mut(&flow) {
            sender.pacing.state = SendState::Ready;
            self.ready[usize::from(sender.flow.class)].push_back(flow);
        }
    }

    fn place(&mut self, flow: u32, now: Time) {
        let Some(sender) = self.senders.get_mut(&flow) else { return };
        if !sender.requester.has_data() {
            sender.pacing.state = SendState::Idle;
        } else if !sender.requester.may_send() {
            sender.pacing.state = SendState::Blocked;
        } else if sender.pacing.next_avail <= now {
            self.make_ready(flow);
        } else {
            sender.pacing.state = SendState::Paced;
            self.paced.push(Reverse((sender.pacing.next_avail, flow)));
        }
    }

    /// A flow that was idle or blocked may have something to send.
    pub(crate) fn try_to_send(&mut self, flow: u32, context: &mut Context<'_>) {
        let waits = |sender: &Sender<S::Rp>| matches!(sender.pacing.state, SendState::Idle | SendState::Blocked);
        if self.senders.get(&flow).is_some_and(waits) && self.last_served != Some(flow) {
            self.place(flow, context.now);
            self.serve(context.now, context);
        }
    }

    /// Sends the next packet of a flow whose turn it is, its first bit at `start`, if it may.
    fn send_data(&mut self, flow: u32, start: Time, context: &mut Context<'_>) {
        let Some(sender) = self.senders.get_mut(&flow).filter(|sender| sender.pacing.state == SendState::Ready) else {
            return;
        };
        if !sender.requester.has_data() || !sender.requester.may_send() || sender.pacing.next_avail > context.now {
            self.place(flow, context.now);
            return;
        }
        let packet = sender.next(context.now);
        let (frame, class, resent) = (sender.frame_bytes(packet.psn), sender.flow.class, packet.resent);
        let bytes =
            context.bytes_of(self.egress.port, frame, class, sender.format.ecn, sender.body(packet, context.now));
        let wire_bytes = frame_bytes(&bytes) + context.network.gap_bytes;
        sender.pacing.last_wire_bytes = wire_bytes;
        sender.tally.sent_wire_bytes += u64::from(wire_bytes);
        sender.tally.packets_sent += 1;
        sender.tally.packets_retransmitted += u64::from(resent);
        sender.rp.on_sent(context.now, wire_bytes);
        let counters = &mut context.log.counters;
        counters.data_packets_sent += 1;
        counters.data_packets_retransmitted += u64::from(resent);
        counters.packet_hops += 1;
        let ps_per_byte = sender.pacing.ps_per_byte;
        self.egress.begin(Some(class), bytes, start, context);
        let free_at = start + self.egress.rate.serialise(wire_bytes);
        let gap = Span::from_ps((f64::from(wire_bytes) * ps_per_byte) as u64);
        sender.pacing.next_avail = if ps_per_byte == 0.0 { free_at } else { start + gap };
        // While its packet is on the wire it is in no line; where it goes follows from its limits.
        sender.pacing.state = SendState::Idle;
        self.last_served = Some(flow);
        self.read_limits(flow, context);
        self.last_served = None;
        let Some(sender) = self.senders.get(&flow) else { return };
        if sender.requester.has_data() && sender.requester.may_send() && sender.pacing.next_avail <= free_at {
            // It may send again when the wire is free, behind those who come until then.
            self.last_served = Some(flow);
        } else {
            self.place(flow, context.now);
        }
    }

    /// Reads a flow's limits and timers after any of its hooks.
    pub(crate) fn read_limits(&mut self, flow: u32, context: &mut Context<'_>) {
        let Some(sender) = self.senders.get_mut(&flow) else { return };
        let mut resends = false;
        if sender.requester.asks_reaction_point() {
            let resend = sender.rp.resend(&sender.requester.outstanding(context.now));
            resends = sender.requester.recover(resend);
            let timeouts = u32::from(resend == Resend::All);
            sender.tally.timeouts += timeouts;
            context.log.counters.timeouts += u64::from(timeouts);
        }
        let limits = sender.rp.limits();
        if sender.pacing.differs(&limits) {
            self.apply(flow, limits, context);
        }
        self.arm(flow, context);
        if resends {
            self.try_to_send(flow, context);
        }
    }

    pub(crate) fn apply(&mut self, flow: u32, limits: Limits, context: &mut Context<'_>) {
        let Some(sender) = self.senders.get_mut(&flow) else { return };
        let (window_bytes, moved) = sender.pacing.apply(context.now, limits, self.line_bps, &self.settings);
        let wider = sender.requester.set_window(window_bytes);
        if moved && sender.pacing.state == SendState::Paced {
            self.paced.push(Reverse((sender.pacing.next_avail, flow)));
            self.serve(context.now, context);
        }
        if wider && self.senders.get(&flow).is_some_and(|sender| sender.pacing.state == SendState::Blocked) {
            self.try_to_send(flow, context);
        }
    }

    fn arm(&mut self, flow: u32, context: &mut Context<'_>) {
        let Some(sender) = self.senders.get_mut(&flow) else { return };
        let at = sender.rp.timer().unwrap_or(Time::NEVER).min(sender.requester.seq.deadline);
        if at < sender.due {
            sender.due = at.max(context.now);
            context.agenda.add(sender.due, Event::Sender(self.node, flow));
        }
    }

    pub fn on_sender(&mut self, flow: u32, due: Time, context: &mut Context<'_>) {
        let now = context.now;
        let Some(sender) = self.senders.get_mut(&flow).filter(|sender| sender.due == due) else { return };
        sender.due = Time::NEVER;
        if sender.rp.timer().is_some_and(|at| at <= now) {
            sender.rp.on_timer(now);
        }
        let runs_out = sender.requester.seq.deadline <= now;
        let (mut bytes, mut lost) = (0, false);
        while sender.requester.seq.deadline <= now {
            let timed_out = sender.requester.on_timeout(now);
            if let Some(packet) = timed_out {
                sender.path_lost(now, packet.psn, Loss::Timeout);
                bytes += packet.bytes;
                lost = true;
            }
        }
        if lost {
            sender.rp.on_loss(now, Loss::Timeout, bytes);
            sender.tally.timeouts += 1;
            context.log.counters.timeouts += 1;
        }
        self.read_limits(flow, context);
        if runs_out {
            self.try_to_send(flow, context);
        }
    }

    pub fn open(&mut self, sender: Sender<S::Rp>, context: &mut Context<'_>) {
        let (flow, limits) = (sender.flow.id, sender.rp.limits());
        self.senders.insert(flow, sender);
        // The cap of the application, or of bytes in flight, may be all there is.
        self.apply(flow, limits, context);
        self.arm(flow, context);
        self.try_to_send(flow, context);
    }

    /// A flow is over for its sender.
    pub(crate) fn end(&mut self, flow: u32, context: &mut Context<'_>) {
        context.log.counters.flows_completed += 1;
        self.last_served = self.last_served.filter(|served| *served != flow);
        for ring in &mut self.ready {
            ring.retain(|ready| *ready != flow);
        }
        context.log.events.push(FlowEvent::Ended(flow));
    }

    /// Hands a control packet to the link, after `delay` if there is one.
    pub(crate) fn emit(&mut self, class: u8, bytes: Vec<u8>, delay: Span, lane: u8, context: &mut Context<'_>) {
        if delay == Span::ZERO {
            return self.emit_now(class, bytes, context);
        }
        let at = context.now + delay;
        self.delayed[usize::from(lane)].push_back((at, class, bytes));
        context.agenda.add(at, Event::Emit(self.node, lane));
    }

    /// The delay of the oldest packet of a lane is over.
    pub fn on_emit(&mut self, lane: u8, context: &mut Context<'_>) {
        if let Some((_, class, bytes)) = self.delayed[usize::from(lane)].pop_front() {
            self.emit_now(class, bytes, context);
        }
    }

    fn emit_now(&mut self, class: u8, bytes: Vec<u8>, context: &mut Context<'_>) {
        let Ok(seen) = decode(&bytes) else {
            debug_assert!(false, "a frame of our own");
            return;
        };
        self.egress.push(class, QueuedFrame { bytes, seen, ingress: 0 }, context.now);
        self.serve(context.now, context);
    }
}
