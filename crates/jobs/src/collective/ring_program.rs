//! A ring whose messages are made when they are due: a cursor for each connection is all its state, and the next
//! message follows by arithmetic. [`Ring::generate`](super::ring::Ring) lists the same messages as operations.
//!
//! A connection goes from a place of a channel's ring to the next. It sends message by message, in order; a message waits
//! for the one that it passes on, and for the window. So two counts for each connection, sent and arrived, are all that
//! is ever looked at.

use super::walk::Walk;
use crate::terms::{Collective, Lane, OpId, Via};

/// What is sent, by whom, to whom. The same for all iterations.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RingProgram {
    pub(super) walk: Walk,
    /// The buffer's size.
    pub(super) bytes: u64,
    /// Messages under way on a connection; zero: any number.
    pub(super) window: u32,
    pub(super) queue_pairs: u16,
    pub(super) channels: Vec<Channel>,
    pub(super) members: Vec<Member>,
    /// Messages of a place at a step, at most.
    pub(super) slices: u64,
    /// Numbers that [`Due::order`] has for a channel.
    pub(super) channel_orders: u64,
}

/// A member's rank, activity, and the operations that begin and end its part.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Member {
    pub(crate) rank: u32,
    pub(crate) activity: u32,
    pub(crate) begin: OpId,
    pub(crate) end: OpId,
}

/// A channel's ring, and its part of the buffer (of each member's block, if members have one).
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Channel {
    pub(super) at: u64,
    pub(super) bytes: u64,
    /// Times that it goes round with a chunk for each member.
    pub(super) rounds: u32,
    /// Length of the chunks of the last of these loops; in those before it chunks are whole.
    pub(super) last_chunk_bytes: u64,
    pub(super) ring: Vec<Place>,
    /// Each member's place in the ring.
    pub(super) place_of: Vec<u32>,
}

/// A member in a ring.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Place {
    pub(super) member: u32,
    /// How it reaches the next place.
    pub(super) via: Via,
}

/// Cursors of all connections in one iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct RingState {
    cursors: Vec<Cursor>,
    /// Members that have come to their begin.
    begun: Vec<bool>,
    /// Messages that have arrived, by connection and queue pair; empty if connections have one.
    by_queue_pair: Vec<u32>,
}

/// The next message of a connection, and what it waits for.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    sent: u32,
    /// All messages below this number have arrived.
    arrived: u32,
    /// Messages of the whole iteration.
    all: u32,
    round: u32,
    step: u32,
    /// Slices of this step's chunk, and which of them is next.
    slices: u32,
    slice: u32,
    /// `sent` when this loop began, and how many messages the connection before has in the loops before.
    base: u32,
    base_before: u32,
    /// Messages of this loop's first step, which pass nothing on.
    first: u32,
    /// Length of this step's chunk, and of its slices but for the last.
    chunk_bytes: u64,
    slice_bytes: u64,
}

/// A message that may go.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Due {
    pub(crate) bytes: u64,
    /// Among the messages of its connection.
    pub(crate) number: u32,
    /// Place in the order of all messages of the ring: channels, loops, steps, places, slices.
    pub(crate) order: u64,
}

/// What the arrival of a message means to the members.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Arrival {
    pub(crate) receiver_has_all: bool,
    /// The sender's window has let its last message go.
    pub(crate) sender_is_through: bool,
    /// The window was full, and may let another message go.
    pub(crate) opens_window: bool,
}

impl RingProgram {
    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Connections are numbered channel by channel, in each by the places of its ring.
    pub(crate) fn connections(&self) -> u32 {
        (self.channels.len() * self.members.len()) as u32
    }

    pub(crate) fn from(&self, connection: u32) -> &Member {
        let (channel, place) = self.place(connection);
        &self.members[self.channels[channel].ring[place].member as usize]
    }

    pub(crate) fn to(&self, connection: u32) -> &Member {
        self.from(self.next(connection))
    }

    /// The lane of its message of this number.
    pub(crate) fn lane(&self, connection: u32, number: u32) -> Lane {
        let (channel, place) = self.place(connection);
        let via = self.channels[channel].ring[place].via;
        Lane { via, channel: channel as u16, queue_pair: (number % u32::from(self.queue_pairs)) as u16 }
    }

    /// Lanes of each connection.
    pub(crate) fn queue_pairs(&self) -> u32 {
        self.queue_pairs.into()
    }

    /// The connection that passes on what this one brings.
    pub(crate) fn next(&self, connection: u32) -> u32 {
        let n = self.members.len() as u32;
        if connection % n == n - 1 { connection + 1 - n } else { connection + 1 }
    }

    fn before(&self, connection: u32) -> u32 {
        let n = self.members.len() as u32;
        if connection.is_multiple_of(n) { connection + n - 1 } else { connection - 1 }
    }

    /// The connections that a member sends by.
    pub(crate) fn of_member(&self, member: u32) -> impl Iterator<Item = u32> {
        let n = self.members.len() as u32;
        self.channels.iter().zip(0..).map(move |(channel, at)| at * n + channel.place_of[member as usize])
    }

    /// Members that need a message of a connection, the nearest first.
    pub(crate) fn needed_by(&self, connection: u32) -> impl Iterator<Item = &Member> {
        let after = std::iter::successors(Some(self.next(connection)), |at| Some(self.next(*at)));
        after.take(self.members.len() - 1).map(|at| self.from(at))
    }

    /// All messages of a connection.
    pub(crate) fn messages(&self, connection: u32) -> u64 {
        let (channel, place) = self.place(connection);
        (0..self.channels[channel].rounds).map(|round| self.in_round(channel, round, place)).sum()
    }

    /// For how many arrivals a member's end waits, as [`Arrival`] tells of them.
    pub(crate) fn waits(&self, member: u32) -> u32 {
        let own = |connection: u32| self.window > 0 && self.messages(connection) > u64::from(self.window);
        let each = |connection| u32::from(own(connection)) + u32::from(self.messages(self.before(connection)) > 0);
        self.of_member(member).map(each).sum()
    }

    /// Numbers that [`Due::order`] stays below.
    pub(crate) fn orders(&self) -> u64 {
        self.channels.len() as u64 * self.channel_orders
    }

    /// Bytes of memory that program and state take.
    pub(super) fn memory_bytes(connections: u64, members: u64, queue_pairs: u64) -> u64 {
        let place = (size_of::<Place>() + size_of::<u32>() + size_of::<Cursor>()) as u64;
        connections * (place + 2 * size_of::<u32>() as u64 * queue_pairs) + members * size_of::<Member>() as u64
    }

    fn place(&self, connection: u32) -> (usize, usize) {
        let n = self.members.len() as u32;
        ((connection / n) as usize, (connection % n) as usize)
    }

    fn steps(&self) -> u32 {
        let steps = self.walk.steps();
        (steps.end() + 1 - steps.start()) as u32
    }

    /// The chunk that a place sends at a step: counted backwards from its own.
    fn chunk_at(&self, place: usize, step: u32) -> usize {
        let n = self.members.len();
        let mut chunk = place + 2 * n - (self.walk.steps().start() + step as usize);
        while chunk >= n {
            chunk -= n;
        }
        chunk
    }

    /// Length of a chunk: zero at the end of the buffer.
    fn chunk_bytes(&self, channel: usize, round: u32, chunk: usize) -> u64 {
        let of = &self.channels[channel];
        let done = u64::from(round) * self.walk.loop_bytes();
        let rest = of.bytes - done;
        let length = if round + 1 < of.rounds { self.walk.chunk.bytes } else { of.last_chunk_bytes };
        length.min(match self.walk.what {
            Collective::AllReduce => rest.saturating_sub(chunk as u64 * length),
            // Each member has a block of its own; the ring has all members, so they are numbered alike.
            _ => {
                let block = self.bytes.div_ceil(self.members.len() as u64);
                self.bytes.saturating_sub(of.at + done + u64::from(of.ring[chunk].member) * block)
            }
        })
    }

    fn slices(&self, bytes: u64) -> u32 {
        if bytes == 0 { 0 } else { bytes.div_ceil(self.walk.chunk.slice_of(bytes)) as u32 }
    }

    /// Messages of a place in one loop: a step moves every chunk once, and each place leaves out one or two.
    fn in_round(&self, channel: usize, round: u32, place: usize) -> u64 {
        let n = self.members.len();
        let slices = |chunk: usize| u64::from(self.slices(self.chunk_bytes(channel, round, chunk % n)));
        let all = self.in_step(channel, round);
        match self.walk.what {
            Collective::AllReduce => 2 * all - slices(place) - slices(place + 1),
            Collective::ReduceScatter => all - slices(place),
            _ => all - slices(place + 1),
        }
    }

    /// Messages of all places in one step: chunks are whole but for one, and those after it are empty.
    fn in_step(&self, channel: usize, round: u32) -> u64 {
        let (n, of) = (self.members.len() as u64, &self.channels[channel]);
        let done = u64::from(round) * self.walk.loop_bytes();
        let rest = of.bytes - done;
        let (length, slices) = (self.walk.chunk_bytes(rest), |bytes: u64| u64::from(self.slices(bytes)));
        if self.walk.what == Collective::AllReduce {
            let bytes = rest.min(self.walk.loop_bytes());
            bytes / length * slices(length) + slices(bytes % length)
        } else {
            let block = self.bytes.div_ceil(n);
            let last = (self.bytes % block).saturating_sub(of.at + done).min(length);
            self.bytes / block * slices(length) + slices(last)
        }
    }
}

impl RingState {
    /// An iteration in which nothing has happened yet.
    pub(crate) fn reset(&mut self, program: &RingProgram) {
        self.cursors.clear();
        self.cursors.resize(program.connections() as usize, Cursor::default());
        self.begun.clear();
        self.begun.resize(program.members.len(), false);
        self.by_queue_pair.clear();
        if program.queue_pairs > 1 {
            self.by_queue_pair.resize(self.cursors.len() * usize::from(program.queue_pairs), 0);
        }
        for connection in 0..program.connections() {
            let (channel, place) = program.place(connection);
            let cursor = &mut self.cursors[connection as usize];
            cursor.all = program.messages(connection) as u32;
            cursor.enter(program, channel, place, 0);
        }
    }

    /// A member comes to its begin: its connections may send.
    pub(crate) fn begin(&mut self, member: u32) {
        self.begun[member as usize] = true;
    }

    /// The next message of a connection, if it may go; it is on its way then.
    pub(crate) fn take(&mut self, program: &RingProgram, connection: u32) -> Option<Due> {
        let (channel, place) = program.place(connection);
        let cursor = &self.cursors[connection as usize];
        if cursor.round == program.channels[channel].rounds {
            return None;
        }
        if program.window > 0 && cursor.sent - cursor.arrived >= program.window {
            return None;
        }
        // A place is through with one loop before it begins the next.
        let needs = cursor.base_before + (cursor.sent - cursor.base + 1).saturating_sub(cursor.first);
        if self.cursors[program.before(connection) as usize].arrived < needs {
            return None;
        }
        if !self.begun[program.channels[channel].ring[place].member as usize] {
            return None;
        }
        let cursor = &mut self.cursors[connection as usize];
        let n = program.members.len() as u64;
        let step = u64::from(cursor.round) * u64::from(program.steps()) + u64::from(cursor.step);
        let order = (step * n + place as u64) * program.slices + u64::from(cursor.slice);
        let due = Due {
            bytes: cursor.slice_bytes.min(cursor.chunk_bytes - u64::from(cursor.slice) * cursor.slice_bytes),
            number: cursor.sent,
            order: channel as u64 * program.channel_orders + order,
        };
        cursor.sent += 1;
        cursor.slice += 1;
        if cursor.slice == cursor.slices {
            cursor.step += 1;
            cursor.seek(program, channel, place);
        }
        Some(due)
    }

    /// A message of a connection has arrived. Messages of one queue pair arrive in order.
    pub(crate) fn arrived(&mut self, program: &RingProgram, connection: u32, number: u32) -> Arrival {
        let at = connection as usize;
        let before = self.cursors[at].arrived;
        let arrived = if program.queue_pairs == 1 {
            debug_assert_eq!(before, number, "messages of a lane arrive in order");
            before + 1
        } else {
            let ways = u32::from(program.queue_pairs);
            let counts = &mut self.by_queue_pair[at * ways as usize..][..ways as usize];
            counts[(number % ways) as usize] += 1;
            counts.iter().zip(0..).map(|(count, way)| count * ways + way).min().unwrap_or_default()
        };
        self.cursors[at].arrived = arrived;
        let Cursor { all, sent, .. } = self.cursors[at];
        // The sender is through when the window has let its last message go: at the arrival of the one that opened it.
        let opened = program.window > 0 && all > program.window;
        let through = |arrived: u32| opened && arrived + program.window >= all;
        Arrival {
            receiver_has_all: arrived == all && before < all,
            sender_is_through: through(arrived) && !through(before),
            opens_window: program.window > 0 && sent - before >= program.window,
        }
    }
}

impl Cursor {
    /// Begins a loop.
    fn enter(&mut self, program: &RingProgram, channel: usize, place: usize, round: u32) {
        (self.round, self.step, self.base) = (round, 0, self.sent);
        if round < program.channels[channel].rounds {
            let first = program.chunk_bytes(channel, round, program.chunk_at(place, 0));
            self.first = program.slices(first);
            self.seek(program, channel, place);
        }
    }

    /// Goes to the next step that has a message, from this one on.
    fn seek(&mut self, program: &RingProgram, channel: usize, place: usize) {
        self.slice = 0;
        while self.step < program.steps() {
            let chunk_bytes = program.chunk_bytes(channel, self.round, program.chunk_at(place, self.step));
            // Chunks are alike but for the last.
            if chunk_bytes != self.chunk_bytes {
                (self.chunk_bytes, self.slices) = (chunk_bytes, program.slices(chunk_bytes));
                self.slice_bytes = program.walk.chunk.slice_of(chunk_bytes);
            }
            if self.slices > 0 {
                return;
            }
            self.step += 1;
        }
        let before = (place + program.members.len() - 1) % program.members.len();
        self.base_before += program.in_round(channel, self.round, before) as u32;
        self.enter(program, channel, place, self.round + 1);
    }
}
