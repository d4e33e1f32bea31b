//! Runs a job: returns which messages may go, given which have arrived.
//!
//! A pure state machine. Time comes with each call; what happens at one instant happens in an order that depends on
//! the graph alone.

mod iteration;
mod waits;

use crate::compiled::{Compiled, Pair};
use crate::dag::{Lane, OpId, Work};
use crate::record::Interval;
use iteration::Iteration;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use xoff_engine::{Span, Time};

/// A graph, how often it is run, and ranks that are unlike others.
#[derive(Clone, Debug)]
pub struct Job {
    pub dag: Arc<Compiled>,
    pub iterations: u32,
    pub start: Time,
    /// How much later than that each rank starts its first iteration, by rank. Empty: no rank is late.
    pub late: Vec<Span>,
    /// What computing takes in multiples of the graph's, by rank. Empty: as long as the graph says.
    pub slow: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Unique among messages under way; used again once it has arrived.
    pub id: u32,
    pub from: u32,
    pub to: u32,
    /// At least one.
    pub bytes: u64,
    /// Messages of two ranks on one lane must arrive in the order in which they were handed out.
    pub lane: Lane,
    /// Number of the two ranks and the lane among [`Compiled::pairs`].
    pub pair: u32,
    pub iteration: u32,
    /// Place in the order of the graph.
    pub order: u64,
}

/// A job in its run.
///
/// A rank starts its next iteration when its own operations of the last, and all messages to it, have ended; ranks may be
/// iterations apart.
#[derive(Debug)]
pub struct Runner {
    job: Job,
    events: BinaryHeap<Reverse<(Time, u32, Due)>>,
    /// Those that any rank is in, the earliest first: its number is `oldest`.
    iterations: VecDeque<Iteration>,
    oldest: u32,
    /// Tables of iterations that have ended, for those to come.
    spare: Vec<Iteration>,
    /// Ranks that start an iteration now.
    starting: VecDeque<(u32, u32)>,
    /// Operations that may start now.
    ready: VecDeque<(u32, OpId)>,
    /// Connections of programs that may have something to send: iteration, program, connection.
    waking: Vec<(u32, u32, u32)>,
    /// Resources, by rank and number.
    holds: Vec<Hold>,
    /// Resources that were freed, or asked for.
    grants: VecDeque<u32>,
    flights: Flights,
    going: Going,
    finished: Vec<Interval>,
    /// Ranks that are not over.
    open_ranks: u32,
    now: Time,
}

/// What happens by itself, at a time known beforehand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Due {
    Start(u32),
    Computed(OpId),
}

#[derive(Clone, Debug, Default)]
struct Hold {
    by: Option<(u32, OpId)>,
    waiting: BinaryHeap<Reverse<(u32, OpId)>>,
}

/// Messages under way, by number.
#[derive(Debug, Default)]
struct Flights {
    all: Vec<Flight>,
    /// Numbers that are free.
    landed: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Flight {
    iteration: u32,
    since: Time,
    bytes: u64,
    order: u64,
    pair: u32,
    /// `None`: its number is free.
    of: Option<Origin>,
}

/// What sends a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Origin {
    Op(OpId),
    Program { program: u32, connection: u32, number: u32 },
}

impl Message {
    fn new(id: u32, Flight { iteration, bytes, order, pair, .. }: Flight, dag: &Compiled) -> Message {
        let Pair { from, to, lane } = dag.pairs()[pair as usize];
        Message { id, from, to, bytes, lane, pair, iteration, order }
    }
}

/// Messages that go at one instant.
#[derive(Debug, Default)]
struct Going {
    messages: Vec<Message>,
    /// Iteration, place in the order of the graph and place above of each, from the highest bits to the lowest.
    orders: Vec<u128>,
}

impl Going {
    fn add(&mut self, message: Message) {
        let place = self.messages.len() as u128;
        self.orders.push(u128::from(message.iteration) << 96 | u128::from(message.order) << 32 | place);
        self.messages.push(message);
    }

    /// Adds them to `out` in the order of the graph.
    fn hand_out(&mut self, out: &mut Vec<Message>) {
        self.orders.sort_unstable();
        out.extend(self.orders.drain(..).map(|order| self.messages[order as u32 as usize]));
        self.messages.clear();
    }
}

impl Flights {
    /// A message goes.
    fn take_off(&mut self, flight: Flight, dag: &Compiled) -> Message {
        let id = match self.landed.pop() {
            Some(id) => {
                self.all[id as usize] = flight;
                id
            }
            None => {
                self.all.push(flight);
                self.all.len() as u32 - 1
            }
        };
        Message::new(id, flight, dag)
    }

    /// A message arrives: its iteration and what sent it, unless it has arrived before.
    fn land(&mut self, id: u32) -> Option<(u32, Origin)> {
        let flight = &mut self.all[id as usize];
        let of = flight.of.take()?;
        self.landed.push(id);
        Some((flight.iteration, of))
    }
}

impl Runner {
    /// Before its start. `late` and `slow` are empty or have an entry for each rank.
    pub fn new(job: Job) -> Runner {
        let (ranks, dag) = (job.dag.ranks(), &job.dag);
        assert!(job.late.is_empty() || job.late.len() == ranks as usize, "{} late ranks of {ranks}", job.late.len());
        assert!(job.slow.is_empty() || job.slow.len() == ranks as usize, "{} slow ranks of {ranks}", job.slow.len());
        let busy: Vec<u32> = (0..ranks).filter(|rank| dag.shares()[*rank as usize] > 0).collect();
        let busy = if job.iterations == 0 { Vec::new() } else { busy };
        let late = |rank: u32| job.late.get(rank as usize).copied().unwrap_or_default();
        let events = busy.iter().map(|rank| Reverse((job.start + late(*rank), 0, Due::Start(*rank)))).collect();
        Runner {
            events,
            iterations: VecDeque::new(),
            oldest: 0,
            spare: Vec::new(),
            starting: VecDeque::new(),
            ready: VecDeque::new(),
            waking: Vec::new(),
            holds: vec![Hold::default(); dag.holds()],
            grants: VecDeque::new(),
            flights: Flights::default(),
            going: Going::default(),
            finished: Vec::new(),
            open_ranks: busy.len() as u32,
            now: Time::ZERO,
            job,
        }
    }

    pub fn job(&self) -> &Job {
        &self.job
    }

    /// When [`Runner::advance`] is due: at the next start or end of computing, or at once after a delivery. `None`: not
    /// before a message arrives, or never again.
    pub fn next(&self) -> Option<Time> {
        let idle = self.starting.is_empty() && self.ready.is_empty() && self.waking.is_empty();
        if !(idle && self.grants.is_empty()) {
            return Some(self.now);
        }
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// Does all that is due at `now`. Messages that may go now are added to `out`, in the order of the graph.
    pub fn advance(&mut self, now: Time, out: &mut Vec<Message>) {
        debug_assert!(now >= self.now, "time goes back from {} to {now}", self.now);
        self.now = now;
        loop {
            // What asks for a resource does so when all that may ask at this instant has done so: the first in the
            // graph gets it, not the first that happened to arrive.
            if let Some((at, iteration, due)) = self.due() {
                debug_assert!(at == now, "what was due at {at} is done at {now}");
                match due {
                    Due::Start(rank) => self.starting.push_back((iteration, rank)),
                    Due::Computed(op) => self.complete(iteration, op),
                }
            } else if let Some((iteration, rank)) = self.starting.pop_front() {
                self.start(iteration, rank);
            } else if !self.waking.is_empty() {
                while let Some((iteration, program, connection)) = self.waking.pop() {
                    self.send_all(iteration, program, connection);
                }
            } else if let Some((iteration, op)) = self.ready.pop_front() {
                match self.job.dag.takes(op) {
                    Some(hold) => {
                        self.holds[hold as usize].waiting.push(Reverse((iteration, op)));
                        self.grants.push_back(hold);
                    }
                    None => self.begin(iteration, op),
                }
            } else if let Some(hold) = self.grants.pop_front() {
                self.grant(hold);
            } else {
                break;
            }
        }
        self.going.hand_out(out);
    }

    /// The message of this number has arrived. [`Runner::advance`] must follow, at the same instant.
    pub fn delivered(&mut self, now: Time, id: u32) {
        debug_assert!(now >= self.now, "time goes back from {} to {now}", self.now);
        self.now = now;
        let Some((iteration, of)) = self.flights.land(id) else {
            debug_assert!(false, "message {id} arrives twice");
            return;
        };
        match of {
            Origin::Op(op) => self.complete(iteration, op),
            Origin::Program { program, connection, number } => self.pass_on(iteration, program, connection, number),
        }
    }

    /// Returns a message that has not arrived.
    pub fn under_way(&self, id: u32) -> Message {
        Message::new(id, self.flights.all[id as usize], &self.job.dag)
    }

    /// Iterations that all ranks have ended.
    pub fn iterations_over(&self) -> u32 {
        self.oldest
    }

    /// Begins no iteration that no rank has begun. Returns how many there will have been.
    pub fn stop_early(&mut self) -> u32 {
        let queued = self.starting.iter().map(|(iteration, _)| iteration + 1).max().unwrap_or(0);
        let begun = queued.max(self.oldest + self.iterations.len() as u32);
        self.job.iterations = self.job.iterations.min(begun);
        self.job.iterations
    }

    pub fn is_over(&self) -> bool {
        self.open_ranks == 0
    }

    /// Activities that were over since the last call, in the order in which they were.
    pub fn drain_intervals(&mut self, out: &mut Vec<Interval>) {
        out.append(&mut self.finished);
    }

    pub fn unfinished(&self) -> Vec<Interval> {
        let numbered = self.iterations.iter().zip(self.oldest..);
        numbered.flat_map(|(iteration, number)| iteration.unfinished(number)).collect()
    }

    fn due(&mut self) -> Option<(Time, u32, Due)> {
        let due = self.events.peek().is_some_and(|Reverse((at, ..))| *at <= self.now);
        if due { self.events.pop().map(|Reverse(event)| event) } else { None }
    }

    /// The tables of an iteration, made when the first rank enters it.
    fn iteration(&mut self, number: u32) -> &mut Iteration {
        while self.oldest + self.iterations.len() as u32 <= number {
            let mut next = self.spare.pop().unwrap_or_default();
            next.reset(&self.job.dag);
            self.iterations.push_back(next);
        }
        &mut self.iterations[(number - self.oldest) as usize]
    }

    fn start(&mut self, number: u32, rank: u32) {
        let dag = Arc::clone(&self.job.dag);
        let iteration = self.iteration(number);
        let early = iteration.start(rank, &dag);
        let nothing_left = iteration.is_over(rank);
        self.ready.extend(dag.roots(rank).iter().chain(&early).map(|op| (number, *op)));
        if nothing_left {
            self.leave(number, rank);
        }
    }

    /// A rank has done its part of an iteration.
    fn leave(&mut self, iteration: u32, rank: u32) {
        if iteration + 1 < self.job.iterations {
            self.starting.push_back((iteration + 1, rank));
        } else {
            self.open_ranks -= 1;
        }
    }

    /// What needs nothing more, and has what it takes, starts.
    fn begin(&mut self, iteration: u32, op: OpId) {
        let (now, activity) = (self.now, self.job.dag.activity_of(op));
        self.iteration(iteration).begin(activity, now);
        match self.job.dag.work(op) {
            Work::Join => self.complete(iteration, op),
            Work::Compute(span) => {
                let slow = self.job.slow.get(self.job.dag.rank_of(op) as usize);
                let span = slow.map_or(span, |factor| Span::from_ps((span.ps() as f64 * factor).round() as u64));
                self.events.push(Reverse((now + span, iteration, Due::Computed(op))));
            }
            Work::Send { .. } | Work::Macro(_) => {
                let bytes = self.job.dag.bytes_of(op);
                let (pair, order) = (self.job.dag.pair_of(op), self.job.dag.order_of(op));
                let flight = Flight { iteration, since: now, bytes, order, pair, of: Some(Origin::Op(op)) };
                self.going.add(self.flights.take_off(flight, &self.job.dag));
            }
        }
    }

    /// Sends all that a connection of a program may send now.
    fn send_all(&mut self, iteration: u32, program: u32, connection: u32) {
        let Runner { job, iterations, flights, going, now: since, .. } = self;
        let of = &job.dag.programs()[program as usize];
        let ring = &mut iterations[(iteration - self.oldest) as usize].rings[program as usize];
        while let Some(due) = ring.take(&of.ring, connection) {
            let number = due.number;
            let origin = Origin::Program { program, connection, number };
            let (pair, order) = (of.pair(connection, number), job.dag.order_in(program, due.order));
            let flight = Flight { iteration, since: *since, bytes: due.bytes, order, pair, of: Some(origin) };
            going.add(flights.take_off(flight, &job.dag));
        }
    }

    /// A message of a program has arrived.
    fn pass_on(&mut self, number: u32, program: u32, connection: u32, message: u32) {
        let Runner { job, iterations, ready, waking, .. } = self;
        let ring = &job.dag.programs()[program as usize].ring;
        let place = (number - self.oldest) as usize;
        let iteration = &mut iterations[place];
        let arrival = iteration.rings[program as usize].arrived(ring, connection, message);
        let next = ring.next(connection);
        let (from, to) = (ring.from(connection), ring.from(next));
        for (through, end) in [(arrival.receiver_has_all, to.end), (arrival.sender_is_through, from.end)] {
            if through && iteration.one_less(end) && iteration.may_start(end, job.dag.rank_of(end)) {
                ready.push_back((number, end));
            }
        }
        // The next passes it on; a window that was full lets the same send again.
        waking.extend(arrival.opens_window.then_some((number, program, connection)));
        waking.push((number, program, next));
        let (activity, ranks) = (from.activity, [from.rank, to.rank]);
        self.part_over(place, number, activity);
        self.shares_over(place, number, ranks);
    }

    fn grant(&mut self, hold: u32) {
        let hold = &mut self.holds[hold as usize];
        if hold.by.is_some() {
            return;
        }
        if let Some(Reverse((iteration, op))) = hold.waiting.pop() {
            hold.by = Some((iteration, op));
            self.begin(iteration, op);
        }
    }

    fn complete(&mut self, number: u32, op: OpId) {
        let Runner { job, iterations, ready, waking, holds, grants, .. } = self;
        let dag = &*job.dag;
        if let Some(hold) = dag.frees(op) {
            holds[hold as usize].by = None;
            grants.push_back(hold);
        }
        let place = (number - self.oldest) as usize;
        let iteration = &mut iterations[place];
        for &next in dag.after(op) {
            if iteration.one_less(next) && iteration.may_start(next, dag.rank_of(next)) {
                ready.push_back((number, next));
            }
        }
        if let Some((program, member)) = dag.entered_by(op) {
            let ring = &dag.programs()[program as usize].ring;
            iteration.rings[program as usize].begin(member);
            waking.extend(ring.of_member(member).map(|connection| (number, program, connection)));
        }
        let receiver = if let Work::Send { to, .. } = dag.work(op) { Some(to) } else { None };
        let (rank, activity) = (dag.rank_of(op), dag.activity_of(op));
        self.part_over(place, number, activity);
        self.shares_over(place, number, [Some(rank), receiver].into_iter().flatten());
    }

    /// An operation or message of an activity has ended; the activity ends with its last.
    fn part_over(&mut self, place: usize, number: u32, activity: u32) {
        if let Some(begin) = self.iterations[place].part_over(activity) {
            self.finished.push(Interval { iteration: number, activity, begin, end: Some(self.now) });
        }
    }

    /// An operation of these ranks, or a message from or to them, has ended.
    fn shares_over(&mut self, place: usize, number: u32, ranks: impl IntoIterator<Item = u32>) {
        for rank in ranks {
            if self.iterations[place].share_over(rank) {
                self.leave(number, rank);
            }
        }
        // Ranks pass iterations in order, so that they end in order.
        while self.iterations.front().is_some_and(Iteration::is_all_over) {
            self.spare.extend(self.iterations.pop_front());
            self.oldest += 1;
        }
    }
}
