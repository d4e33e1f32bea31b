//! A software switch: takes frames in, forwards them by their headers, lets its congestion points mark them or write
//! to their sources, and paces every egress to the rate of its link.
//!
//! Frames are bytes throughout. What a congestion point changes is changed in them, and nothing else is known of a
//! packet at the next switch.

use crate::agenda::Event;
use crate::context::Context;
use crate::egress::{Egress, QueuedFrame, SentFrame, frame_bytes};
use crate::forwarding::{FlowTable, Forwarding, address_of};
use crate::network::Network;
use crate::point::Point;
use crate::shaper::Shapers;
use xoff_engine::Time;
use xoff_fabric::buffer::{Admission, Arrival, Buffer, Egress as EgressQueue, Release, drain_share};
use xoff_fabric::domain;
use xoff_fabric::pfc::{self, NetworkFacts, PauseLoop};
use xoff_fabric::plan::Signalling;
use xoff_fabric::record::{ClassReport, Failure, PortReport};
use xoff_fabric::scheme::{Hooks, Notice, Scheme};
use xoff_wire::{Roce, RoceKind, Seen, decode};

struct EgressNow<'a> {
    egresses: &'a [Egress],
    egress: usize,
    class: u8,
    held: &'a QueuedFrame,
}

impl EgressQueue for EgressNow<'_> {
    fn queue_bytes(&self) -> u64 {
        self.egresses[self.egress].queues[usize::from(self.class)].bytes
    }
    fn drain_share(&self) -> f64 {
        let egress = &self.egresses[self.egress];
        drain_share(egress.waiting(), egress.paused, self.class)
    }
    fn busy_queues(&self) -> u32 {
        self.egresses.iter().filter(|egress| egress.waiting() & 1 << self.class != 0).count() as u32
    }
    fn psn(&self) -> Option<u32> {
        // Its lower 24 bits, of which the upper are zero at the start of a flow.
        match &self.held.seen {
            Seen::Roce(Roce { what: RoceKind::Data { .. }, psn, .. }) => Some(*psn),
            _ => None,
        }
    }
}

pub struct Switch<S: Scheme> {
    pub node: u32,
    /// Its ports in the plan, by the numbers they have here.
    pub(crate) ports: Vec<u32>,
    pub(crate) egresses: Vec<Egress>,
    pub(crate) buffer: Buffer,
    /// By port, then class, then scheme.
    pub(crate) points: Vec<Point<S::Cp>>,
    /// What any of its congestion points listens to.
    pub(crate) hooks: Hooks,
    counts_passing: bool,
    pub(crate) signalling: Signalling,
    forwarding: Forwarding,
    pub(crate) flows: FlowTable,
    pub(crate) shapers: Shapers<S::Transit>,
    /// By scheme: units of telemetry, where it sets them for all ports.
    pub(crate) multipliers: Vec<Option<u64>>,
    /// Asked for and not sent yet, with the scheme that asks.
    pub(crate) notices: Vec<(u8, Notice<S::Feedback>)>,
    /// By port, then class: a repetition of its PAUSE is to come.
    pub(crate) refreshing: Vec<bool>,
}

impl<S: Scheme> Switch<S> {
    pub fn new(node: u32, network: &Network, schemes: &[S], multipliers: &[Option<u64>]) -> Switch<S> {
        let plan = &network.plan;
        let settings = &plan.switches[usize::from(plan.nodes[node as usize].profile)];
        let ports = network.ports_of(node);
        let facts = NetworkFacts { max_base_rtt: network.max_base_rtt, mtu_wire_bytes: network.mtu_wire_bytes };
        let buffer = pfc::buffer(plan, settings, ports.iter().copied(), facts);
        let pause = buffer.paused_alone();
        let points = Point::all(&ports, settings, pause, network, schemes);
        let hooks = points.iter().fold(Hooks::NONE, |hooks, point| hooks.with(point.hooks()));
        Switch {
            node,
            egresses: ports.iter().map(|&port| Egress::new(port, network.rate(port), &plan.classes)).collect(),
            refreshing: vec![false; ports.len() * plan.classes.list.len()],
            points,
            hooks,
            buffer,
            counts_passing: settings.count_passing,
            signalling: settings.pfc.signalling,
            forwarding: Forwarding::default(),
            flows: FlowTable::default(),
            shapers: Shapers::default(),
            multipliers: multipliers.to_vec(),
            notices: Vec::new(),
            ports,
        }
    }

    pub(crate) fn local(&self, port: u32) -> usize {
        self.ports.iter().position(|own| *own == port).expect("a port of this switch")
    }

    pub(crate) fn place(&self, local: usize, class: u8) -> usize {
        local * self.egresses[local].queues.len() + usize::from(class)
    }

    /// The congestion point of a scheme at a port and class.
    pub(crate) fn point_at(&self, local: usize, class: u8, slot: u8) -> usize {
        self.place(local, class) * self.multipliers.len() + usize::from(slot)
    }

    pub fn receive(&mut self, port: u32, bytes: Vec<u8>, schemes: &[S], context: &mut Context<'_>) {
        let ingress = self.local(port);
        let seen = match decode(&bytes) {
            Ok(Seen::Pfc(pfc)) => return self.on_pfc(ingress, &pfc, schemes, context),
            Ok(seen) => seen,
            Err(reason) => return context.log.ignore(reason.name()),
        };
        let Some(address) = address_of(&seen, context.network) else { return context.log.ignore("nobody's address") };
        let Some(egress) = self.forwarding.egress(port, &address, context.network) else {
            return context.log.ignore("no way to its address");
        };
        let egress = self.local(egress);
        let held = QueuedFrame { bytes, seen, ingress };
        if domain::is_long_haul(&context.network.plan, port) && self.shapes(&held, schemes, context) {
            return self.shape(egress, address.class, held, schemes, context);
        }
        if domain::is_long_haul(&context.network.plan, self.ports[egress]) {
            self.snoop_ack(&held, schemes, context);
        }
        self.pass_on(egress, address.class, held, schemes, context);
    }

    /// A frame that is bound for an egress, and has not been counted yet.
    pub(crate) fn pass_on(
        &mut self,
        egress: usize,
        class: u8,
        mut held: QueuedFrame,
        schemes: &[S],
        context: &mut Context<'_>,
    ) {
        let idle = self.egresses[egress].is_idle(class) && !self.counts_passing;
        self.before_queue(egress, class, &mut held, schemes, context);
        if idle && self.egresses[egress].is_idle(class) {
            self.depart(egress, class, held, context.now, schemes, context);
        } else if self.admit(egress, class, &held, context) {
            self.egresses[egress].push(class, held, context.now);
            self.serve(egress, context.now, schemes, context);
        }
    }

    /// A frame that has left its queue, or needed none: its congestion point looks at it, and it goes. Messages that
    /// this leads to follow it.
    pub(crate) fn depart(
        &mut self,
        egress: usize,
        class: u8,
        mut held: QueuedFrame,
        start: Time,
        schemes: &[S],
        context: &mut Context<'_>,
    ) {
        self.after_queue(egress, class, &mut held, context);
        context.log.counters.packet_hops += 1;
        self.egresses[egress].begin(Some(class), held.bytes, start, context);
        self.after_points(egress, class, schemes, context);
    }

    /// Takes a frame into the buffer, or drops it. Pauses the upstream when its ingress is full.
    pub(crate) fn admit(&mut self, egress: usize, class: u8, held: &QueuedFrame, context: &mut Context<'_>) -> bool {
        let queue = EgressNow { egresses: &self.egresses, egress, class, held };
        let arrival =
            Arrival { now: context.now, ingress: held.ingress, class, size_bytes: held.size(), egress: queue };
        match self.buffer.admit(&arrival) {
            Admission::Stored => true,
            Admission::AboveXoff { rises } => {
                self.ask_pause(held.ingress, class, rises, context);
                true
            }
            Admission::Dropped => {
                context.log.counters.drops_lossy += 1;
                self.egresses[egress].queues[usize::from(class)].drops += 1;
                context.log.lose(&held.seen, context.network);
                false
            }
            Admission::Refused => {
                self.refuse(class, held, context);
                context.log.lose(&held.seen, context.network);
                false
            }
        }
    }

    /// A lossless frame finds no room: the run is over, unless drops are allowed.
    fn refuse(&mut self, class: u8, held: &QueuedFrame, context: &mut Context<'_>) {
        let plan = &context.network.plan;
        context.log.counters.drops_lossless += 1;
        self.egresses[held.ingress].queues[usize::from(class)].drops += 1;
        if plan.run.allow_drops || context.log.failure.is_some() {
            return;
        }
        let port = self.ports[held.ingress];
        let required = PauseLoop::of(plan, port, context.network.mtu_wire_bytes).required();
        let place = (context.now, self.node, port);
        let drop = self.buffer.lossless_drop(place, (held.ingress, class), held.size() as u32, required);
        context.log.failure = Some(Failure::LosslessDrop(drop));
    }

    /// The last bit of the frame on a port's wire left at `at`; the next one follows it.
    pub fn sent(&mut self, port: u32, at: Time, schemes: &[S], context: &mut Context<'_>) -> Option<SentFrame> {
        let local = self.local(port);
        let gone = self.egresses[local].finish();
        self.serve(local, at, schemes, context);
        gone
    }

    /// Begins the next frame at an egress whose wire is free since `start`, if one may go.
    pub(crate) fn serve(&mut self, egress: usize, start: Time, schemes: &[S], context: &mut Context<'_>) {
        if self.egresses[egress].is_busy()
            || (self.egresses[egress].said.due != 0 && self.send_pfc(egress, start, context))
        {
            return;
        }
        let eligible = self.egresses[egress].eligible();
        if eligible == 0 {
            return;
        }
        let class = self.egresses[egress].pick(eligible);
        let Some(held) = self.egresses[egress].pop(class, context.now) else { return };
        self.release(&held, class, context);
        self.depart(egress, class, held, start, schemes, context);
        self.serve_round_robin(egress, schemes, context);
    }

    pub(crate) fn release(&mut self, held: &QueuedFrame, class: u8, context: &mut Context<'_>) {
        if self.buffer.release(held.ingress, class, held.size(), context.now) == Release::Resume {
            self.resume(held.ingress, class, context);
        }
    }

    /// A timer of the congestion point of a port, class and scheme, set for `due`.
    pub fn on_timer(
        &mut self,
        port: u32,
        (class, slot): (u8, u8),
        due: Time,
        schemes: &[S],
        context: &mut Context<'_>,
    ) {
        let local = self.local(port);
        let place = self.point_at(local, class, slot);
        if self.points[place].due != due {
            return;
        }
        self.points[place].due = Time::NEVER;
        let view = self.view(local, class, context.now);
        let notices = &mut self.notices;
        self.points[place].on_timer(&view, |flow, feedback| notices.push((slot, Notice { flow, feedback })));
        self.after_points(local, class, schemes, context);
    }

    pub fn reports(&mut self, end: Time) -> Vec<PortReport> {
        let mut reports = Vec::new();
        for (local, egress) in self.egresses.iter_mut().enumerate() {
            let of_class = |class: u8| {
                let mut row = ClassReport::default();
                self.buffer.report(local, class, &mut row);
                row
            };
            reports.push(egress.report(end, of_class));
        }
        reports
    }

    /// Makes the bytes of a message and sends it, as if it had come in by the port that saw the congestion.
    pub(crate) fn originate(
        &mut self,
        from: usize,
        egress: usize,
        class: u8,
        bytes: Vec<u8>,
        schemes: &[S],
        context: &mut Context<'_>,
    ) {
        match decode(&bytes) {
            Ok(seen) => self.pass_on(egress, class, QueuedFrame { bytes, seen, ingress: from }, schemes, context),
            Err(reason) => debug_assert!(false, "a frame of our own is {reason}, {} B", frame_bytes(&bytes)),
        }
    }

    /// Sets the timers of the congestion points of a port and class.
    pub(crate) fn arm(&mut self, local: usize, class: u8, context: &mut Context<'_>) {
        for slot in 0..self.multipliers.len() as u8 {
            let place = self.point_at(local, class, slot);
            if let Some(at) = self.points[place].wants(context.now) {
                context.agenda.add(at, Event::Queue(self.ports[local], class, slot));
            }
        }
    }
}
