//! What sources do to flows: these begin, may send more, faster or slower, and are stopped.

use crate::contract::scheme::{ReactionPoint, Scheme};
use crate::id::{ReceiverId, SenderId};
use crate::part::{Part, kind};
use std::collections::VecDeque;
use xoff_engine::{BitRate, Key, Time};

/// What a source does to a flow, at the end of it that is in this part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FlowCommand {
    /// The sender begins.
    Open(SenderId),
    Offer(SenderId, u64),
    /// A message of so many bytes, by its name: the sender may send it, the receiver will see its end.
    Send(SenderId, u64, u32),
    Expect(ReceiverId, u64, u32),
    Cap(SenderId, Option<BitRate>),
    /// The sender stops, the receiver takes no more.
    Stop(SenderId),
    Close(ReceiverId),
}

/// A command, and when it is due: acts of sources and commands are numbered through within a window.
#[derive(Clone, Copy, Debug)]
struct Ordered {
    act: u32,
    number: u32,
    command: FlowCommand,
}

const _: () = assert!(size_of::<Ordered>() == 32, "two for every message");

/// Commands that sources have given and that are not carried out yet, in the order of their acts.
#[derive(Debug, Default)]
pub(crate) struct Commands(VecDeque<Ordered>);

impl Commands {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number and the command of an act that come next, if there are any.
    fn next_of(&mut self, act: u32) -> Option<(u32, FlowCommand)> {
        let next = *self.0.front().filter(|next| next.act == act)?;
        self.0.pop_front();
        Some((next.number, next.command))
    }
}

impl<S: Scheme> Part<S> {
    /// A source will act at `at`, in the order of its name. What one act wants is done together; acts and
    /// commands are numbered through.
    pub(crate) fn schedule_command(&mut self, at: Time, tie: u32, (act, number): (u32, u32), command: FlowCommand) {
        if self.commands.0.back().is_none_or(|last| last.act != act) {
            self.queue.push_named(at, kind::SOURCE, tie, act);
            self.next = self.next.min(Key::before(at));
        }
        self.commands.0.push_back(Ordered { act, number, command });
    }

    /// A source acts upon flows that begin or end here. It is no event of the part's own.
    pub(crate) fn on_commands(&mut self, index: u32) {
        // Counted when the loop ends.
        self.counters.events = self.counters.events.wrapping_sub(1);
        debug_assert!(self.commands.0.front().is_some_and(|next| next.act == index), "acts come in order");
        while let Some((number, command)) = self.commands.next_of(index) {
            self.records.rank = self.records.rank.map(|rank| rank.with_index(number));
            self.carry_out_command(command);
        }
    }

    pub(crate) fn carry_out_command(&mut self, command: FlowCommand) {
        match command {
            FlowCommand::Open(flow) => self.open_flow(flow),
            FlowCommand::Offer(flow, bytes) => self.offer(flow, bytes),
            FlowCommand::Send(flow, bytes, message) => self.send_message(flow, bytes, message),
            FlowCommand::Expect(receiver, bytes, message) => {
                self.flows.receivers[receiver].responder.seq.expect(bytes, message)
            }
            FlowCommand::Cap(flow, rate) => {
                self.flows.senders[flow].pacing.cap = rate;
                let limits = self.flows.senders[flow].rp.limits();
                self.apply_limits(flow, limits);
            }
            // It may have ended since the command was given.
            FlowCommand::Stop(flow) if self.flows.senders[flow].ended => {}
            FlowCommand::Stop(flow) => self.stop_flow(flow),
            FlowCommand::Close(receiver) => self.flows.receivers[receiver].responder.close(),
        }
    }

    /// A flow that was added begins.
    pub(crate) fn open_flow(&mut self, flow: SenderId) {
        if self.compat.htsim.is_some() {
            return self.open_htsim(flow);
        }
        let limits = self.flows.senders[flow].rp.limits();
        self.apply_limits(flow, limits);
        // The first packet waits for nothing, whatever rate the flow begins with.
        self.flows.senders[flow].pacing.next_avail = self.now;
        self.arm_flow_timer(flow);
        self.note_rest(flow);
        self.open_scanned(flow);
        self.try_to_send(flow);
    }

    /// More bytes may be sent by a flow that is fed by offers.
    pub(crate) fn offer(&mut self, flow: SenderId, bytes: u64) {
        let details = &mut self.flows.details[flow];
        let offered = details.spec.offered_bytes.unwrap_or(0).saturating_add(bytes);
        details.spec.offered_bytes = Some(offered);
        let seq = &mut self.flows.senders[flow].requester.seq;
        debug_assert!(seq.stream.messages.is_none(), "a queue pair of messages is offered nothing else");
        seq.offer(offered);
        self.try_to_send(flow);
    }

    fn send_message(&mut self, flow: SenderId, bytes: u64, message: u32) {
        let sender = &mut self.flows.senders[flow];
        let settings = &self.plan.hosts[self.hosts[sender.host].profile as usize];
        sender.send(bytes, message, settings.sizes.min_frame_bytes);
        self.try_to_send(flow);
    }

    pub(crate) fn stop_flow(&mut self, flow: SenderId) {
        let port_id = self.hosts[self.flows.senders[flow].host].port;
        self.end_flow(flow);
        // A NIC that scans may have set no wake-up because of this flow.
        if self.scans(port_id) {
            self.serve_scan(port_id);
        }
    }
}
