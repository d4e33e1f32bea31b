//! Lays messages on connections: numbers them, cuts them, and lets each wait for what it must.

use super::options::{Options, Servers};
use super::ring_program::Member;
use super::size::part_bytes;
use crate::dag::{Activity, ActivityKind, Collective, Dag, Lane, OpId, Via, Work};
use crate::macro_flow::MacroFlow;

/// A rank's first and last operation in a collective, which do nothing themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// All that the rank does in it needs this.
    pub begin: OpId,
    /// Needs all that the rank must have received.
    pub end: OpId,
}

/// What a message carries: for tests, and for people who look at schedules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    pub op: OpId,
    /// Offset of its first byte in the collective's buffer; in an all-to-all, in that of all pairs, row by row.
    pub at: u64,
    pub bytes: u64,
    /// The receiver adds it to its own; else it replaces it.
    pub adds: bool,
}

/// A collective while it is generated. Members are named by their places among `members`.
pub(super) struct Layer<'a> {
    pub(super) dag: &'a mut Dag,
    pub(super) members: &'a [u32],
    pub(super) servers: Servers,
    pub(super) ends: Vec<Ends>,
    /// Activity of the first member; those of the others follow.
    activity: u32,
    pub(super) queue_pairs: usize,
    split: bool,
    /// Messages under way on a connection; zero: any number.
    window: usize,
    carried: Option<&'a mut Vec<Carried>>,
}

/// Messages from one member to another that stay in order.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) from: usize,
    pub(super) to: usize,
    via: Via,
    channel: u16,
    /// Operations that end when each message has arrived.
    arrived: Vec<OpId>,
}

/// A part of the buffer on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) at: u64,
    pub(super) bytes: u64,
    pub(super) adds: bool,
}

impl<'a> Layer<'a> {
    /// With an activity for each member, begun and ended.
    pub(super) fn new(
        dag: &'a mut Dag,
        members: &'a [u32],
        servers: Servers,
        options: &Options,
        activity: Activity,
        carried: Option<&'a mut Vec<Carried>>,
    ) -> Layer<'a> {
        let first = dag.activities.len() as u32;
        dag.activities.extend(members.iter().map(|rank| Activity { rank: *rank, ..activity }));
        let mut ends = Vec::with_capacity(members.len());
        for activity in first..first + members.len() as u32 {
            let (begin, end) = (dag.op(activity, Work::Join), dag.op(activity, Work::Join));
            dag.need(begin, end);
            ends.push(Ends { begin, end });
        }
        let queue_pairs = usize::from(options.queue_pairs);
        Layer { dag, members, servers, ends, activity: first, queue_pairs, split: options.split, window: 0, carried }
    }

    /// A message's two ends, each with an activity that has no operations yet.
    pub(super) fn between(
        dag: &'a mut Dag,
        ranks: &'a [u32; 2],
        servers: Servers,
        options: &Options,
        activity: Activity,
    ) -> Layer<'a> {
        let first = dag.activities.len() as u32;
        dag.activities.extend(ranks.iter().map(|rank| Activity { rank: *rank, ..activity }));
        let queue_pairs = usize::from(options.queue_pairs);
        let (members, ends, split) = (&ranks[..], Vec::new(), options.split);
        Layer { dag, members, servers, ends, activity: first, queue_pairs, split, window: 0, carried: None }
    }

    /// All of some connections at once, when `need` has ended.
    pub(super) fn macro_flow(&mut self, flow: MacroFlow, need: OpId) -> OpId {
        let number = self.dag.macro_flows.len() as u32;
        self.dag.macro_flows.push(flow);
        let op = self.dag.op(self.activity, Work::Macro(number));
        self.dag.need(need, op);
        op
    }

    /// The members, for a program.
    pub(super) fn program_members(&self) -> Vec<Member> {
        let member = |((rank, ends), activity): ((&u32, &Ends), u32)| Member {
            rank: *rank,
            activity,
            begin: ends.begin,
            end: ends.end,
        };
        self.members.iter().zip(&self.ends).zip(self.activity..).map(member).collect()
    }

    /// How many messages may be under way on a connection from here on; zero: any number.
    pub(super) fn set_window(&mut self, window: usize) {
        self.window = window;
    }

    pub(super) fn together(&self, a: usize, b: usize) -> bool {
        self.servers.of(self.members[a]) == self.servers.of(self.members[b])
    }

    /// The first of a member's own NICs.
    pub(super) fn nic(&self, member: usize) -> u16 {
        self.servers.nics_of(self.members[member]).start
    }

    /// The way between two members by their own NICs.
    pub(super) fn way(&self, from: usize, to: usize) -> Via {
        if self.together(from, to) { Via::ScaleUp } else { by_nics(self.nic(from), self.nic(to)) }
    }

    pub(super) fn connect(&self, from: usize, to: usize, via: Via, channel: u16) -> Connection {
        Connection { from, to, via, channel, arrived: Vec::new() }
    }

    /// Something of a member that needs `needs` and does nothing.
    pub(super) fn join(&mut self, member: usize, needs: &[OpId]) -> OpId {
        let op = self.dag.op(self.activity + member as u32, Work::Join);
        self.needs(op, needs);
        op
    }

    /// The next message on a connection: goes when `needs` have ended, its sender has come to `begin`, and the window lets
    /// it. Yields its number.
    pub(super) fn send(&mut self, connection: &mut Connection, piece: Piece, begin: OpId, needs: &[OpId]) -> usize {
        let number = connection.arrived.len();
        let parts = if self.split { self.queue_pairs as u64 } else { 1 };
        let part = part_bytes(piece.bytes, parts);
        let first = self.dag.ops.len() as OpId;
        for k in 0..piece.bytes.div_ceil(part) {
            let queue_pair = if self.split { k as usize } else { number % self.queue_pairs };
            let bytes = part.min(piece.bytes - k * part);
            let lane = Lane { via: connection.via, channel: connection.channel, queue_pair: queue_pair as u16 };
            let work = Work::Send { to: self.members[connection.to], bytes, lane };
            let op = self.dag.op(self.activity + connection.from as u32, work);
            if let Some(carried) = &mut self.carried {
                carried.push(Carried { op, at: piece.at + k * part, bytes, adds: piece.adds });
            }
            self.needs(op, needs);
            // A message that waits for an earlier one of its sender comes after its sender's begin, as that one does.
            if self.window == 0 || number < self.window {
                self.dag.need(begin, op);
            } else {
                self.need_arrival(connection, number - self.window, op);
            }
        }
        let last = self.dag.ops.len() as OpId - 1;
        let mut parts: Vec<OpId> = (first..=last).collect();
        // A short message has no part on the last queue pairs, where the one before it may still be under way.
        if self.split && parts.len() < self.queue_pairs {
            parts.extend(connection.arrived.last());
        }
        let arrived = if parts.len() == 1 { first } else { self.join(connection.to, &parts) };
        connection.arrived.push(arrived);
        number
    }

    fn needs(&mut self, op: OpId, needs: &[OpId]) {
        self.dag.needs.extend(needs.iter().map(|before| (*before, op)));
    }

    fn need_arrival(&mut self, connection: &Connection, number: usize, op: OpId) {
        for back in 0..self.ways().min(number + 1) {
            self.dag.need(connection.arrived[number - back], op);
        }
    }

    /// Messages that may overtake each other on a connection.
    fn ways(&self) -> usize {
        if self.split { 1 } else { self.queue_pairs }
    }

    /// The operation that ends when message `number` and all before it have arrived.
    pub(super) fn arrival(&self, connection: &Connection, number: usize, needs: &mut Vec<OpId>) {
        needs.extend((0..self.ways().min(number + 1)).map(|back| connection.arrived[number - back]));
    }

    /// The operation that ends when all messages of a connection have arrived; none without messages.
    pub(super) fn last_arrival(&self, connection: &Connection, needs: &mut Vec<OpId>) {
        if let Some(last) = connection.sent().checked_sub(1) {
            self.arrival(connection, last, needs);
        }
    }

    /// No more messages on this connection: its receiver's end needs all of them, its sender's that the window has let
    /// them go. Both are added to what members end with.
    pub(super) fn close(&self, connection: &Connection, ends: &mut [Vec<OpId>]) {
        self.last_arrival(connection, &mut ends[connection.to]);
        if self.window > 0 && connection.sent() > self.window {
            self.arrival(connection, connection.sent() - 1 - self.window, &mut ends[connection.from]);
        }
    }
}

impl Connection {
    /// From, to, and by which way.
    pub(super) fn hop(&self) -> (usize, usize, Via) {
        (self.from, self.to, self.via)
    }

    pub(super) fn sent(&self) -> usize {
        self.arrived.len()
    }
}

/// Out by one NIC, in by another.
pub(super) fn by_nics(out: u16, into: u16) -> Via {
    if out == into { Via::Nic(out) } else { Via::Cross(out, into) }
}

/// What members of a collective do, as is reported.
pub(super) fn activity(what: Collective, bytes: u64, name: u32, group: u32) -> Activity {
    Activity { rank: 0, kind: ActivityKind::Collective(what), name, group, bytes }
}
