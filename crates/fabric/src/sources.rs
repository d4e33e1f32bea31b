//! The sources of traffic: when each acts next, what its actions do, what it is told.

use crate::identity::{Card, SourceName};
use crate::part::{News, kind};
use crate::scheme::{ReactionPoint, Scheme};
use crate::traffic::{Action, Source};
use crate::world::World;
use std::collections::HashMap;
use xoff_engine::Time;

/// A source and what is known of it.
pub(crate) struct Feed {
    pub source: Box<dyn Source>,
    pub name: SourceName,
    /// Flows that it has started.
    pub started: u64,
    /// The event that counts.
    pub due: Time,
    /// Turns that it has waited, being due.
    pub waited: u8,
    /// Cards of its living flows, by its own handles.
    pub flows: HashMap<u32, u32>,
}

impl Feed {
    pub(crate) fn new(source: Box<dyn Source>, place: usize) -> Feed {
        let name = SourceName::new(source.name(), place);
        Feed { source, name, started: 0, due: Time::NEVER, waited: 0, flows: HashMap::new() }
    }
}

impl<S: Scheme> World<S> {
    pub(crate) fn arm_source(&mut self, source: u32) {
        let feed = &mut self.feeds[source as usize];
        let next = feed.source.next().unwrap_or(Time::NEVER);
        if next == feed.due {
            return;
        }
        feed.due = next;
        if next != Time::NEVER {
            debug_assert!(next >= self.now, "a source wants to act in the past");
            self.push_source(next, source);
        }
    }

    fn push_source(&mut self, at: Time, source: u32) {
        let tie = self.feeds[source as usize].name.tie();
        self.schedule(at, kind::SOURCE, tie, source);
    }

    pub(crate) fn on_source(&mut self, source: u32) {
        if self.feeds[source as usize].due != self.now {
            return;
        }
        if self.part.eager && self.must_wait_its_turn(source) {
            return;
        }
        let feed = &mut self.feeds[source as usize];
        feed.due = Time::NEVER;
        let mut actions = Vec::new();
        feed.source.act(self.now, &mut actions);
        for action in actions {
            self.carry_out(source, action);
        }
        self.arm_source(source);
        self.pause_if_grown();
        if self.is_idle() {
            self.finish();
        }
    }

    fn carry_out(&mut self, source: u32, action: Action) {
        let flow = |handle: u32| self.feeds[source as usize].flows.get(&handle).copied();
        match action {
            Action::Start(spec) => self.start_flow(source, spec),
            Action::Offer { handle, bytes } => {
                if let Some(card) = flow(handle) {
                    self.part.offer(self.part.cards[card].sender, bytes);
                }
            }
            Action::Cap { handle, rate } => {
                if let Some(card) = flow(handle) {
                    let flow = self.part.cards[card].sender;
                    self.part.senders[flow].cap = rate;
                    let limits = self.part.senders[flow].rp.limits();
                    self.part.apply_limits(flow, limits);
                }
            }
            Action::Stop { handle } => {
                if let Some(card) = flow(handle) {
                    let Card { sender, receiver, .. } = self.part.cards[card];
                    self.part.close_receiver(receiver);
                    self.part.stop_flow(sender);
                    self.hear_news();
                }
            }
        }
    }

    /// Where the order of scheduling counts, opening a flow takes two turns of its own: it comes after
    /// all that was scheduled for this instant.
    fn must_wait_its_turn(&mut self, source: u32) -> bool {
        let waited = &mut self.feeds[source as usize].waited;
        *waited = (*waited + 1) % 3;
        let wait = *waited != 0;
        if wait {
            self.push_source(self.now, source);
        }
        wait
    }

    /// Tells sources what has become of their flows.
    pub(crate) fn hear_news(&mut self) {
        for news in std::mem::take(&mut self.part.news) {
            match news {
                News::Ended(card) => self.on_ended(card),
                News::Drained(flow) => {
                    let ledger = &self.part.ledgers[flow];
                    let (source, handle) = (ledger.source, ledger.spec.handle);
                    self.feeds[source as usize].source.on_drained(self.now, handle);
                    self.arm_source(source);
                }
            }
        }
    }

    /// A flow is over: it gets its record, and its source is told.
    fn on_ended(&mut self, card: u32) {
        let of = self.part.cards[card];
        self.flows.push(self.part.flow_record(&of));
        let ledger = &self.part.ledgers[of.sender];
        let (source, handle) = (ledger.source, ledger.spec.handle);
        self.unprobe_flow(card);
        self.ended.push(card);
        let feed = &mut self.feeds[source as usize];
        feed.flows.remove(&handle);
        feed.source.on_finished(self.now, handle);
        self.arm_source(source);
        if self.is_idle() {
            self.finish();
        }
    }

    /// Forgets the flows that are over and of which no packet is left. This happens at set times, a
    /// [`World::grid`] apart, so that it cannot be seen who asked.
    pub(crate) fn free_ended(&mut self) {
        let part = &mut self.part;
        self.ended.retain(|&card| {
            let gone = part.cards[card].live == 0;
            if gone {
                part.free_flow(card);
            }
            !gone
        });
    }

    /// No flow is alive and no source will act again.
    pub(crate) fn is_idle(&self) -> bool {
        self.plan.run.stop_when_idle && self.feeds.iter().all(|feed| feed.flows.is_empty() && feed.due == Time::NEVER)
    }
}
