//! The sources of traffic: when each acts next, and what its actions do.

use crate::event::{Event, Kind};
use crate::queue_pair::Message;
use crate::world::FlowWorld;
use xoff_engine::Time;
use xoff_fabric::SourceName;
use xoff_fabric::traffic::{Action, Source, Subscription};
use xoff_fabric::world::handles::Handles;

/// A source and what is known of it.
pub(crate) struct SourceState {
    pub source: Box<dyn Source>,
    pub name: SourceName,
    /// Flows that it has started.
    pub started: u64,
    /// The event that counts.
    due: Time,
    /// Its living flows, by its own handles.
    pub flows: Handles<u32>,
    pub subscription: Subscription,
}

impl SourceState {
    pub(crate) fn new(source: Box<dyn Source>, place: usize) -> SourceState {
        let (name, subscription) = (SourceName::new(source.name(), place), source.subscription());
        SourceState { source, name, started: 0, due: Time::NEVER, flows: Handles::default(), subscription }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.flows.is_empty() && self.due == Time::NEVER
    }
}

impl FlowWorld {
    pub(crate) fn arm_source(&mut self, index: u32) {
        let of = &mut self.sources[index as usize];
        let next = of.source.next().unwrap_or(Time::NEVER);
        if next == of.due {
            return;
        }
        of.due = next;
        if next != Time::NEVER {
            let tie = of.name.tie().into();
            self.schedule(Event { at: next.ps(), kind: Kind::Source, tie, message: 0, index, flow: 0 });
        }
    }

    /// Tells a source something that may change when it acts next.
    pub(crate) fn tell(&mut self, source: u32, what: impl FnOnce(&mut dyn Source)) {
        what(&mut *self.sources[source as usize].source);
        self.arm_source(source);
    }

    pub(crate) fn on_source(&mut self, index: u32) {
        let now = self.state.now;
        let of = &mut self.sources[index as usize];
        if of.due != now {
            return;
        }
        of.due = Time::NEVER;
        let mut actions = std::mem::take(&mut self.actions);
        of.source.act(now, &mut actions);
        for action in actions.drain(..) {
            self.carry_out(index, action);
        }
        self.actions = actions;
        self.arm_source(index);
    }

    fn carry_out(&mut self, source: u32, action: Action) {
        let flow_of = |world: &FlowWorld, handle| world.sources[source as usize].flows.get(handle);
        match action {
            Action::Start(spec) => self.start_flow(source, spec),
            Action::StartTogether(flow) => self.start_together(source, flow),
            Action::Offer { handle, bytes } => {
                if let Some(flow) = flow_of(self, handle) {
                    self.offer(flow, bytes);
                }
            }
            Action::Send { handle, bytes, message } => {
                if let Some(flow) = flow_of(self, handle) {
                    self.send(flow, bytes, message, true);
                }
            }
            Action::Cap { handle, rate } => {
                if let Some(flow) = flow_of(self, handle) {
                    self.flows[flow].spec.rate_cap = rate;
                    let limit = self.limit_of(flow);
                    self.shares.set_limit(flow, limit);
                }
            }
            Action::Stop { handle } => {
                if let Some(flow) = flow_of(self, handle) {
                    if self.flows[flow].is_unfinished() {
                        self.ending.unfinished -= 1;
                    }
                    self.end_flow(flow);
                }
            }
        }
    }

    /// More bytes of a flow that is fed by offers, of which only full packets leave.
    pub(crate) fn offer(&mut self, number: u32, bytes: u64) {
        let flow = &mut self.flows[number];
        let mtu = u64::from(flow.sizes.mtu);
        let all = flow.short_of_packet + bytes;
        flow.short_of_packet = all % mtu;
        flow.spec.offered_bytes = Some(flow.spec.offered_bytes.unwrap_or(0).saturating_add(bytes));
        if all >= mtu {
            self.send(number, all - all % mtu, 0, false);
        }
    }

    /// Puts a message behind those of its queue pair.
    pub(crate) fn send(&mut self, number: u32, payload: u64, name: u32, told: bool) {
        let now = self.state.now.ps();
        let flow = &mut self.flows[number];
        let together = flow.together.as_deref().map(|together| FlowWorld::message_together(together, payload, name));
        let message = together.unwrap_or(Message { payload, wire: flow.sizes.wire(payload) as f64, name, told });
        if !flow.is_unfinished() {
            self.ending.unfinished += 1;
            self.ending.progress_at = self.ending.progress_at.max(self.state.now);
        }
        if flow.head.is_some() {
            flow.waiting.push_back(message);
            return;
        }
        flow.head = Some(message);
        (flow.progress, flow.updated) = (0.0, now);
        if !flow.way.stranded {
            self.flows[number].rate = 0.0;
            self.shares.activate(number);
        }
    }
}
