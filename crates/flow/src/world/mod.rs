//! The event loop: time goes from one event to the next, and rates hold in between.

mod fault;
mod probe;
mod records;
mod simulation;
mod sources;
mod start;
mod together;

use crate::completions::Completions;
use crate::event::{Event, Events, Kind};
use crate::queue_pair::{Leaving, Message, QueuePair, first_path};
use crate::shares::{Shares, Tolerance};
use probe::Probes;
use sources::SourceState;
use std::cmp::Reverse;
use std::sync::Arc;
use xoff_engine::{BitRate, Slab, Span, Time};
use xoff_fabric::extent;
use xoff_fabric::plan::Plan;
use xoff_fabric::record::Failure;
use xoff_fabric::route::{Convergence, Routes};
use xoff_fabric::scheme::{FlowFacts, Format, Limits};
use xoff_fabric::tap::Taps;
use xoff_fabric::timing;
use xoff_fabric::traffic::{Action, Source};
use xoff_fabric::world::{Progress, RunState};

/// Networks with at most so many ports are solved to the last bit.
const EXACT_PORTS: usize = 256;

/// Rate and window with which a flow of a scheme starts.
pub type FirstLimits = Box<dyn Fn(&FlowFacts) -> Option<Limits> + Send>;

/// What the engine must know of a scheme.
pub struct SchemeFacts {
    /// Packets within a domain, and between domains.
    pub formats: [Format; 2],
    /// With what its flows start, if it says so.
    pub first_limits: FirstLimits,
    /// A flow keeps the rate with which its source starts it.
    pub keeps_initial_rate: bool,
}

/// The network as it is now.
pub(crate) struct Network {
    pub routes: Arc<Routes>,
    pub convergence: Convergence,
    /// State of each link.
    pub up: Vec<bool>,
    /// Rate of each port; changed by faults.
    pub rates: Vec<BitRate>,
    pub max_base_rtt: Span,
    pub gap_bytes: u32,
}

/// What ends a run, or may.
#[derive(Default)]
pub(crate) struct Ending {
    pub done: bool,
    pub finished: bool,
    pub faults_left: usize,
    /// When something was last delivered.
    pub progress_at: Time,
    /// Flows with bytes to send or to be acknowledged.
    pub unfinished: u64,
    /// Bytes that macro-flows have delivered.
    pub macro_flow_bytes: u64,
}

/// Everything of one run at flow level. It can be read and written as its [`RunState`].
pub struct FlowWorld {
    pub(crate) state: RunState,
    pub(crate) schemes: Vec<SchemeFacts>,
    pub(crate) network: Network,
    pub(crate) shares: Shares,
    pub(crate) flows: Slab<u32, QueuePair>,
    pub(crate) completions: Completions,
    pub(crate) events: Events,
    pub(crate) sources: Vec<SourceState>,
    pub(crate) actions: Vec<Action>,
    pub(crate) probes: Probes,
    pub(crate) ending: Ending,
    pub(crate) moved: Vec<u32>,
    pub(crate) taps: Taps,
}

impl FlowWorld {
    /// Builds the run of a plan, as trusted as a packet-level world trusts it. `schemes` are those of the sources' flows.
    pub fn new(plan: impl Into<Arc<Plan>>, schemes: Vec<SchemeFacts>, sources: Vec<Box<dyn Source>>) -> FlowWorld {
        let plan = plan.into();
        let ports = plan.ports();
        let tolerance = if ports <= EXACT_PORTS { Tolerance::EXACT } else { Tolerance::COARSE };
        FlowWorld::with_tolerance(plan, schemes, sources, tolerance)
    }

    /// Does the same with another tolerance than the size of the network asks for.
    pub fn with_tolerance(
        plan: Arc<Plan>,
        schemes: Vec<SchemeFacts>,
        sources: Vec<Box<dyn Source>>,
        tolerance: Tolerance,
    ) -> FlowWorld {
        let routes = Arc::new(Routes::new(&plan, |_| true));
        let rates: Vec<BitRate> = (0..plan.ports() as u32).map(|port| plan.direction(port).rate).collect();
        let capacity: Vec<f64> = rates.iter().map(|rate| rate.bps() as f64).collect();
        let network = Network {
            max_base_rtt: extent::max_base_rtt(&plan, &routes),
            routes,
            convergence: Convergence::default(),
            up: vec![true; plan.links.len()],
            rates,
            gap_bytes: plan.hosts.first().map_or(0, |host| host.sizes.gap_bytes),
        };
        let shares = Shares::new(&capacity, &plan.classes, tolerance);
        let sources = sources.into_iter().enumerate().map(|(place, source)| SourceState::new(source, place)).collect();
        let ending = Ending { faults_left: plan.faults.len(), ..Ending::default() };
        let mut world = FlowWorld {
            state: RunState::new(plan),
            schemes,
            network,
            shares,
            flows: Slab::default(),
            completions: Completions::default(),
            events: Events::default(),
            sources,
            actions: Vec::new(),
            probes: Probes::default(),
            ending,
            moved: Vec::new(),
            taps: Taps::default(),
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        for index in 0..self.state.plan.faults.len() as u32 {
            let at = self.state.plan.faults[index as usize].at.ps();
            self.schedule(Event { at, kind: Kind::Fault, tie: index.into(), message: 0, index, flow: 0 });
        }
        for source in 0..self.sources.len() as u32 {
            self.arm_source(source);
        }
        self.start_probes();
        if self.is_idle() {
            self.ending.done = true;
        }
    }

    pub(crate) fn schedule(&mut self, event: Event) {
        debug_assert!(event.at >= self.state.now.ps(), "{event:?} lies in the past");
        self.events.push(Reverse(event));
    }

    /// When something happens next.
    fn next(&self) -> Option<u64> {
        let event = self.events.peek().map(|Reverse(event)| event.at);
        let completion = self.completions.first().map(|(at, _)| at);
        event.into_iter().chain(completion).min()
    }

    pub(crate) fn advance(&mut self, max_events: u64) -> Progress {
        let until = self.state.counters.events + max_events;
        let stop = self.state.plan.run.stop;
        while !self.ending.done {
            if self.state.counters.events >= until {
                return Progress::Running;
            }
            let Some(at) = self.next().filter(|&at| at <= stop.ps()) else {
                self.run_out(stop);
                break;
            };
            if self.stalls_before(at) {
                break;
            }
            self.handle_instant(at);
        }
        self.end();
        Progress::Done
    }

    /// Nothing is left to happen before the stop.
    fn run_out(&mut self, stop: Time) {
        let silent = self.next().is_none() && !self.moves();
        if silent && self.ending.unfinished > 0 && self.state.now < stop {
            self.stall(self.state.now);
        } else if !silent || !self.is_idle() {
            self.set_now(stop.ps());
        }
        self.ending.done = true;
    }

    /// All events of an instant, and the rates after it.
    fn handle_instant(&mut self, at: u64) {
        self.set_now(at);
        loop {
            if let Some((_, flow)) = self.completions.first().filter(|(when, _)| *when == at) {
                self.state.counters.events += 1;
                self.on_sent(flow);
            } else if let Some(Reverse(event)) = self.events.peek().copied().filter(|Reverse(event)| event.at == at) {
                self.events.pop();
                self.state.counters.events += 1;
                self.handle(event);
            } else {
                break;
            }
            if self.ending.done {
                return;
            }
        }
        self.share_out();
        if self.is_idle() {
            self.ending.done = true;
        }
    }

    fn handle(&mut self, event: Event) {
        let Event { kind, index, flow, .. } = event;
        let is_alive = |world: &FlowWorld| world.flows.get(index).is_some_and(|of| of.id == flow);
        match kind {
            Kind::Fault => self.on_fault(index),
            Kind::Source => self.on_source(index),
            Kind::Probe => self.on_probe(index),
            Kind::Delivered if is_alive(self) => self.on_delivered(index),
            Kind::Acknowledged if is_alive(self) => self.on_acknowledged(index),
            // The flow was stopped.
            Kind::Delivered | Kind::Acknowledged => {}
        }
    }

    pub(crate) fn set_now(&mut self, now: u64) {
        self.state.now = Time::from_ps(now);
        self.shares.set_now(now);
    }

    /// Gives all flows their rates, from now on.
    pub(crate) fn share_out(&mut self) {
        self.shares.update();
        let mut moved = std::mem::take(&mut self.moved);
        self.shares.take_moved(&mut moved);
        let now = self.state.now.ps();
        for &number in &moved {
            let Some(flow) = self.flows.get_mut(number) else { continue };
            flow.progress = flow.head_sent(now);
            (flow.updated, flow.rate) = (now, self.shares.rate(number));
            match flow.completion() {
                Some(at) => self.completions.set(number, at, flow.identity),
                None => self.completions.remove(number),
            }
        }
        moved.clear();
        self.moved = moved;
    }

    /// The last byte of a message has left its sender.
    fn on_sent(&mut self, number: u32) {
        let now = self.state.now.ps();
        self.completions.remove(number);
        let latency = self.latency(number);
        let flow = &mut self.flows[number];
        let Some(head) = flow.head.take() else { return };
        let after = flow.leaving.back().map_or(0, |last| last.delivered_at);
        let delivered_at = now.saturating_add_signed(latency).max(now).max(after);
        let Message { payload, name, told, .. } = head;
        flow.leaving.push_back(Leaving { payload, name, told, delivered_at });
        flow.done.wire += head.wire;
        flow.done.packets += flow.sizes.packets(head.payload).0;
        let message = flow.delivered + flow.leaving.len() as u32;
        let (tie, id) = (flow.identity, flow.id);
        flow.head = flow.waiting.pop_front();
        (flow.progress, flow.updated) = (0.0, now);
        self.state.counters.data_packets_sent += self.flows[number].sizes.packets(payload).0;
        self.schedule(Event { at: delivered_at, kind: Kind::Delivered, tie, message, index: number, flow: id });
        match self.flows[number].completion() {
            Some(at) => self.completions.set(number, at, tie),
            None if self.flows[number].head.is_none() => self.shares.deactivate(number),
            None => {}
        }
    }

    /// What a message takes beyond its serialisation at the slowest link of its path, on an idle network.
    fn latency(&mut self, number: u32) -> i64 {
        let flow = &self.flows[number];
        let Some(head) = flow.head else { return 0 };
        if let Some(together) = &flow.together {
            return together.whole.latency_ps as i64;
        }
        if flow.latency.0 == head.payload {
            return flow.latency.1;
        }
        let serialised = (head.wire * 8e12 / flow.way.slowest_bps as f64).ceil() as i64;
        let (packets, last) = flow.sizes.packets(head.payload);
        let (plan, full) = (&*self.state.plan, flow.sizes.full());
        let ideal = match &flow.way.spread {
            Some(hops) => timing::ideal_over_all(plan, hops, packets, full, last),
            None => timing::ideal_delivery(plan, first_path(&flow.way.path), packets, full, last),
        };
        let latency = ideal.ps() as i64 - serialised;
        self.flows[number].latency = (head.payload, latency);
        latency
    }

    /// The last byte of a message has reached its receiver.
    fn on_delivered(&mut self, number: u32) {
        let now = self.state.now;
        let flow = &mut self.flows[number];
        let Some(message) = flow.leaving.pop_front() else { return };
        flow.delivered += 1;
        flow.done.delivered_bytes += message.payload;
        let finite = flow.spec.size_bytes.is_some();
        if finite {
            flow.done.delivered_at = Some(now);
        }
        flow.unacknowledged.push_back((message.name, message.told));
        let at = now.ps() + flow.way.back_ps;
        let event = Event {
            at,
            kind: Kind::Acknowledged,
            tie: flow.identity,
            message: flow.delivered,
            index: number,
            flow: flow.id,
        };
        let (source, handle) = (flow.source, flow.spec.handle);
        self.ending.macro_flow_bytes += if flow.together.is_some() { message.payload } else { 0 };
        self.state.counters.delivered_bytes += message.payload;
        self.state.counters.data_packets_delivered += flow.sizes.packets(message.payload).0;
        self.ending.progress_at = now;
        self.schedule(event);
        if message.told && self.sources[source as usize].subscription.delivered {
            self.tell(source, |of| of.on_delivered(now, handle, message.name));
        }
    }

    /// The last byte of a message is acknowledged.
    fn on_acknowledged(&mut self, number: u32) {
        let now = self.state.now;
        let flow = &mut self.flows[number];
        let Some((name, told)) = flow.unacknowledged.pop_front() else { return };
        let (source, handle, finite) = (flow.source, flow.spec.handle, flow.spec.size_bytes.is_some());
        let drained = !flow.is_unfinished();
        let subscription = self.sources[source as usize].subscription;
        if drained {
            self.ending.unfinished -= 1;
        }
        if told && subscription.acknowledged {
            self.tell(source, |of| of.on_acknowledged(now, handle, name));
        }
        if finite {
            self.flows[number].done.acked_at = Some(now);
            self.end_flow(number);
        } else if drained && subscription.drained {
            self.tell(source, |of| of.on_drained(now, handle));
        }
    }

    /// Some flow is being sent, however slowly.
    fn moves(&self) -> bool {
        self.flows.iter().any(|(_, flow)| flow.head.is_some() && flow.rate > 0.0)
    }

    /// Nothing has moved for too long, and nothing will before `next`.
    fn stalls_before(&mut self, next: u64) -> bool {
        let Some(after) = self.state.plan.run.stall_after else { return false };
        let since = self.ending.progress_at.max(Time::ZERO);
        let at = since.saturating_add(after);
        let late = self.ending.unfinished > 0 && self.ending.faults_left == 0 && next > at.ps();
        // A look at all flows, only where nothing was delivered for so long.
        if !late {
            return false;
        }
        if self.moves() || self.flows.iter().any(|(_, flow)| !flow.leaving.is_empty()) {
            self.ending.progress_at = self.state.now;
            return false;
        }
        self.stall(at.max(self.state.now));
        true
    }

    fn stall(&mut self, at: Time) {
        self.set_now(at.ps());
        let stranded = self.flows.iter().filter(|(_, flow)| flow.way.stranded && flow.is_unfinished()).count() as u64;
        let (since, unfinished) = (self.ending.progress_at, self.ending.unfinished);
        self.state.failure.get_or_insert(Failure::Stall { at, since, unfinished, stranded, blocked: Vec::new() });
        self.ending.done = true;
    }

    /// No flow is alive and no source will act again.
    pub(crate) fn is_idle(&self) -> bool {
        self.state.plan.run.stop_when_idle && self.sources.iter().all(SourceState::is_idle)
    }
}
