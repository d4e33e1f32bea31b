//! A network without packets: every port sends message by message in the order in which they were handed to it, and
//! each arrives a fixed time after it has left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_jobs::collective::Servers;
use xoff_jobs::{Compiled, Dag, Interval, Job, Lane, Message, Runner, Via};

/// What a message costs on the wire and on its way.
pub struct Ideal {
    pub servers: Servers,
    pub ps_per_byte: u64,
    pub up_ps_per_byte: u64,
    pub latency_ps: u64,
    pub up_latency_ps: u64,
}

impl Ideal {
    /// Equal rates and latencies inside servers and between them.
    pub fn even(servers: Servers, ps_per_byte: u64, latency_ps: u64) -> Ideal {
        Ideal { servers, ps_per_byte, up_ps_per_byte: ps_per_byte, latency_ps, up_latency_ps: latency_ps }
    }

    pub fn wire(&self, lane: Lane, bytes: u64) -> u64 {
        bytes * if lane.via == Via::ScaleUp { self.up_ps_per_byte } else { self.ps_per_byte }
    }

    pub fn latency(&self, lane: Lane) -> u64 {
        if lane.via == Via::ScaleUp { self.up_latency_ps } else { self.latency_ps }
    }

    /// The wire by which a message leaves.
    fn port(&self, message: &Message) -> (u32, Option<u16>) {
        match message.lane.via {
            Via::ScaleUp => (message.from, None),
            Via::Nic(out) | Via::Cross(out, _) => (self.servers.of(message.from), Some(out)),
        }
    }

    /// Runs a job to its end; yields when that was, and what was done.
    pub fn run(&self, job: Job) -> (Time, Vec<Interval>) {
        let mut free: BTreeMap<(u32, Option<u16>), u64> = BTreeMap::new();
        let arrive = |message: &Message, now: Time| {
            let leaves = free.entry(self.port(message)).or_default();
            *leaves = (*leaves).max(now.ps()) + self.wire(message.lane, message.bytes);
            Time::from_ps(*leaves + self.latency(message.lane))
        };
        let (end, intervals, stuck) = drive(job, arrive, |_, _| {});
        assert!(stuck.is_empty(), "{stuck:?}");
        (end, intervals)
    }

    /// Runs a graph once from time zero; yields how long it took.
    pub fn time(&self, dag: Dag) -> Span {
        self.run(once(dag)).0 - Time::ZERO
    }
}

/// A graph that is run once from time zero.
pub fn once(dag: Dag) -> Job {
    dag.check().unwrap();
    job(Arc::new(dag.compile()), 1)
}

pub fn job(dag: Arc<Compiled>, iterations: u32) -> Job {
    Job { dag, iterations, start: Time::ZERO, late: Vec::new(), slow: Vec::new() }
}

/// What happens to a message, for those who look on.
pub enum Seen<'a> {
    Goes(&'a Message),
    Arrives(&'a Message),
    Over(&'a Interval),
}

/// Runs a job; `arrive` says when each message will. Yields when the last thing happened, what was done, and what the
/// job still waits for when nothing happens any more.
pub fn drive(
    job: Job,
    mut arrive: impl FnMut(&Message, Time) -> Time,
    mut look: impl FnMut(Time, Seen),
) -> (Time, Vec<Interval>, Vec<String>) {
    let mut runner = Runner::new(job);
    let mut under_way: BTreeMap<(Time, u64), Message> = BTreeMap::new();
    let (mut now, mut count) = (Time::ZERO, 0);
    let (mut out, mut intervals, mut ids) = (Vec::new(), Vec::new(), BTreeSet::new());
    loop {
        let first = under_way.keys().next().copied();
        now = match (runner.next(), first) {
            (None, None) => break,
            (at, first) => now.max(at.unwrap_or(Time::NEVER).min(first.map_or(Time::NEVER, |(at, _)| at))),
        };
        if let Some(message) = first.filter(|(at, _)| *at == now).and_then(|key| under_way.remove(&key)) {
            look(now, Seen::Arrives(&message));
            assert!(ids.remove(&message.id));
            runner.delivered(now, message.id);
        }
        runner.advance(now, &mut out);
        let done = intervals.len();
        runner.drain_intervals(&mut intervals);
        intervals[done..].iter().for_each(|interval| look(now, Seen::Over(interval)));
        for message in out.drain(..) {
            look(now, Seen::Goes(&message));
            assert!(ids.insert(message.id), "message {} twice under way", message.id);
            let at = arrive(&message, now);
            if at != Time::NEVER {
                under_way.insert((at, count), message);
                count += 1;
            }
        }
    }
    let stuck = runner.waits_for(&|rank| format!("r{rank}"));
    assert_eq!(runner.is_over(), stuck.is_empty(), "{stuck:?}");
    (now, intervals, stuck)
}
