//! The sources of traffic: when each acts next, what its actions do, what it is told.

use crate::contract::scheme::Scheme;
use crate::contract::traffic::{Action, Source, Subscription};
use crate::flow::identity::SourceName;
use crate::id::{FlowStateId, SenderId, SourceId};
use crate::part::command::FlowCommand;
use crate::part::{FlowEvent, kind};
use crate::run::World;
use crate::run::flow_state::FlowState;
use crate::run::handles::Handles;
use std::cmp::Reverse;
use xoff_engine::{Key, Time};

/// Actions for which room is kept from one act to the next.
const MOST_ACTIONS: usize = 1 << 12;

/// A source and what is known of it.
pub(crate) struct SourceState {
    pub source: Box<dyn Source>,
    pub name: SourceName,
    /// Flows that it has started.
    pub started: u64,
    /// The event that counts.
    pub due: Time,
    /// It acts now: what it does has been carried out in part only.
    acting: bool,
    /// How often it was scheduled anew, being due.
    pub rescheduled: u8,
    /// Its living flows, by its own handles.
    pub flows: Handles<FlowStateId>,
    /// Flow events that it receives.
    pub subscription: Subscription,
}

impl SourceState {
    pub(crate) fn new(source: Box<dyn Source>, place: usize) -> SourceState {
        let name = SourceName::new(source.name(), place);
        let (subscription, flows) = (source.subscription(), Handles::default());
        SourceState { source, name, started: 0, due: Time::NEVER, acting: false, rescheduled: 0, flows, subscription }
    }
}

impl<S: Scheme> World<S> {
    pub(crate) fn arm_source(&mut self, source: SourceId) {
        let source_state = &mut self.sources[source];
        let next = source_state.source.next().unwrap_or(Time::NEVER);
        if next == source_state.due {
            return;
        }
        source_state.due = next;
        if next != Time::NEVER {
            debug_assert!(next >= self.state.now, "a source wants to act in the past");
            self.push_source(next, source);
        }
    }

    fn push_source(&mut self, at: Time, source: SourceId) {
        let tie = self.sources[source].name.tie();
        let key = self.parts[0].queue.key(at, kind::SOURCE, tie, source.get());
        self.acts.push(Reverse(key));
    }

    pub(crate) fn on_source(&mut self, source: SourceId) {
        if self.sources[source].due != self.state.now {
            return;
        }
        if self.parts[0].compat.eager && self.must_go_to_the_end(source) {
            return;
        }
        let source_state = &mut self.sources[source];
        source_state.due = Time::NEVER;
        let mut actions = std::mem::take(&mut self.actions);
        source_state.source.act(self.state.now, &mut actions);
        source_state.acting = true;
        for action in actions.drain(..) {
            self.carry_out(source, action);
        }
        if actions.capacity() <= MOST_ACTIONS {
            self.actions = actions;
        }
        self.sources[source].acting = false;
        self.arm_source(source);
        self.pause_if_grown();
        if self.is_idle() {
            self.finish();
        }
    }

    fn carry_out(&mut self, source: SourceId, action: Action) {
        match action {
            Action::Start(spec) => self.start_flow(source, spec),
            Action::Offer { handle, bytes } => {
                if let Some(flow_state) = self.sources[source].flows.get(handle) {
                    self.feed(source, flow_state, false);
                }
                self.command_sender(source, handle, |flow| FlowCommand::Offer(flow, bytes))
            }
            Action::Send { handle, bytes, message } => {
                if let Some(flow_state) = self.sources[source].flows.get(handle) {
                    self.feed(source, flow_state, true);
                    // The receiver knows of it before its first packet can be there.
                    let FlowState { sender, receiver, .. } = self.flow_states[flow_state];
                    let [from, to] = self.flow_states[flow_state].parts();
                    self.command(source, to, FlowCommand::Expect(receiver, bytes, message));
                    self.command(source, from, FlowCommand::Send(sender, bytes, message));
                }
            }
            Action::StartTogether(_) => debug_assert!(false, "a macro-flow at packet level"),
            Action::Cap { handle, rate } => self.command_sender(source, handle, |flow| FlowCommand::Cap(flow, rate)),
            Action::Stop { handle } => {
                if let Some(flow_state) = self.sources[source].flows.get(handle) {
                    let state = &mut self.flow_states[flow_state];
                    state.stops = self.window.act.unwrap_or(Key::LAST);
                    let ([_, part], receiver) = (state.parts(), state.receiver);
                    self.command(source, part, FlowCommand::Close(receiver));
                    self.command_sender(source, handle, FlowCommand::Stop);
                    if self.window.foresight.needed {
                        self.end_ahead(flow_state);
                    }
                }
                if self.parts.len() == 1 {
                    self.drain_events();
                }
            }
        }
    }

    /// A flow has more to send, which the source of drained flows must know within this window.
    fn feed(&mut self, source: SourceId, flow_state: FlowStateId, message: bool) {
        if self.sources[source].subscription.drained {
            self.window.foresight.feed(flow_state, message);
        }
    }

    fn command_sender(&mut self, source: SourceId, handle: u32, command: impl FnOnce(SenderId) -> FlowCommand) {
        if let Some(flow_state) = self.sources[source].flows.get(handle) {
            let state = &self.flow_states[flow_state];
            let ([part, _], sender) = (state.parts(), state.sender);
            self.command(source, part, command(sender));
        }
    }

    /// A part does what a source wants, now: at once, or when it gets there.
    pub(crate) fn command(&mut self, source: SourceId, part: usize, command: FlowCommand) {
        if self.parts.len() == 1 {
            self.parts[part].carry_out_command(command);
            return;
        }
        let tie = self.sources[source].name.tie();
        let window = &mut self.window;
        window.commands += 1;
        self.parts[part].schedule_command(self.state.now, tie, (window.acts, window.commands), command);
    }

    /// Where the order of scheduling counts, opening a flow takes two events of its own: it comes after
    /// all that was scheduled for this instant.
    fn must_go_to_the_end(&mut self, source: SourceId) -> bool {
        let rescheduled = &mut self.sources[source].rescheduled;
        *rescheduled = (*rescheduled + 1) % 3;
        let wait = *rescheduled != 0;
        if wait {
            self.push_source(self.state.now, source);
        }
        wait
    }

    /// Tells sources what has become of their flows.
    pub(crate) fn drain_events(&mut self) {
        let mut events = std::mem::take(&mut self.parts[0].records.events);
        for event in events.drain(..) {
            self.hear(event);
        }
        self.parts[0].records.events = events;
    }

    pub(crate) fn hear(&mut self, event: FlowEvent) {
        match event {
            FlowEvent::Ended(flow_state) => self.on_ended(flow_state),
            FlowEvent::Lost(flow_state) => {
                let (part, sender) = (self.origin(flow_state).0, self.flow_states[flow_state].sender);
                self.parts[part].flows.details[sender].lost += 1;
            }
            FlowEvent::Drained(flow_state) => {
                self.tell_source(flow_state, |source, now, handle| source.on_drained(now, handle))
            }
            FlowEvent::Delivered(flow_state, message) => {
                self.tell_source(flow_state, |source, now, handle| source.on_delivered(now, handle, message));
            }
            FlowEvent::Acknowledged(flow_state, message) => {
                self.tell_source(flow_state, |source, now, handle| source.on_acknowledged(now, handle, message));
            }
        }
    }

    /// Tells the source of a flow something that may change when it acts next.
    fn tell_source(&mut self, flow_state: FlowStateId, what: impl FnOnce(&mut dyn Source, Time, u32)) {
        let FlowState { source, handle, .. } = self.flow_states[flow_state];
        what(&mut *self.sources[source].source, self.state.now, handle);
        self.arm_source(source);
    }

    /// A flow has lost its way, or has one again.
    pub(crate) fn tell_stranded(&mut self, source: SourceId, handle: u32, cut: bool) {
        let source_state = &mut self.sources[source];
        source_state.source.on_stranded(self.state.now, handle, cut);
        let hears = source_state.subscription.of_messages();
        self.arm_source(source);
        if cut && hears {
            self.watch_stranded();
        }
    }

    /// What sources wait for, in their words.
    pub(crate) fn waits(&self) -> Vec<String> {
        self.sources.iter().flat_map(|source_state| source_state.source.waits_for()).collect()
    }

    /// A flow is over: it gets its record, and its source is told.
    fn on_ended(&mut self, flow_state: FlowStateId) {
        let record = self.flow_record(flow_state);
        self.state.flows.push(record);
        if self.flow_states[flow_state].probed {
            self.unprobe_flow(flow_state);
        }
        self.ended.push(flow_state);
        self.take_from_source(flow_state);
        if self.is_idle() {
            self.finish();
        }
    }

    /// Ends a flow for its source, unless the source has received the event already.
    pub(crate) fn take_from_source(&mut self, flow_state: FlowStateId) {
        let FlowState { source, handle, .. } = self.flow_states[flow_state];
        let source_state = &mut self.sources[source];
        // The source may have given the handle to another flow since.
        if source_state.flows.get(handle) == Some(flow_state) {
            source_state.flows.remove(handle);
            source_state.source.on_finished(self.state.now, handle);
            self.arm_source(source);
        }
    }

    /// No flow is alive and no source will act again. A source that stops its last flow may start another in the same act.
    pub(crate) fn is_idle(&self) -> bool {
        self.state.plan.run.stop_when_idle
            && self.sources.iter().all(|of| of.flows.is_empty() && of.due == Time::NEVER && !of.acting)
    }
}
