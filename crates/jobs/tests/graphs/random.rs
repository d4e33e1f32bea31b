//! Random graphs against their longest paths, and against themselves unrolled.

use crate::ideal::{drive, job};
use std::sync::Arc;
use xoff_engine::{Rng, Span, Time, stream};
use xoff_jobs::{Activity, ActivityKind, Dag, Job, Lane, OpId, Resource, Via, Work, longest_path};

const LANES: [Lane; 3] = [
    Lane { via: Via::ScaleUp, channel: 0, queue_pair: 0 },
    Lane { via: Via::Nic(1), channel: 2, queue_pair: 0 },
    Lane { via: Via::Cross(0, 3), channel: 0, queue_pair: 1 },
];

/// What a message takes: any function does, if no wire is shared.
fn d(from: u32, to: u32, bytes: u64, lane: Lane) -> Span {
    let way = LANES.iter().position(|known| *known == lane).unwrap() as u64;
    Span::from_ps(bytes * (20 + way) + u64::from(from) * 1_001 + u64::from(to) * 317)
}

fn random(rng: &mut Rng) -> Dag {
    let ranks = 1 + rng.below(8) as u32;
    let mut dag = Dag::new(ranks);
    let name = dag.name("drawn");
    let ops = 1 + rng.below(80) as u32;
    for op in 0..ops {
        let rank = rng.below(u64::from(ranks)) as u32;
        // Some activities have several operations.
        let old = dag.activities.iter().rposition(|activity| activity.rank == rank).filter(|_| rng.below(3) == 0);
        let activity = old.map_or_else(
            || dag.activity(Activity { rank, kind: ActivityKind::Compute, name, group: op, bytes: 0 }),
            |old| old as u32,
        );
        let work = match rng.below(5) {
            0 => Work::Join,
            1 | 2 => Work::Compute(Span::from_ps(rng.below(4) * rng.below(100_000))),
            _ if ranks == 1 => Work::Join,
            _ => {
                let to = (rank + 1 + rng.below(u64::from(ranks) - 1) as u32) % ranks;
                Work::Send { to, bytes: 1 + rng.below(5_000), lane: LANES[rng.below(3) as usize] }
            }
        };
        dag.op(activity, work);
        for _ in 0..rng.below(4).min(u64::from(op)) {
            dag.need(rng.below(u64::from(op)) as OpId, op);
        }
    }
    dag
}

/// The graph so many times over: a rank's operations need all of its own, and all messages to it, of the time before.
fn unrolled(dag: &Dag, iterations: u32, late: &[Span], slow: &[f64]) -> Dag {
    let mut all = dag.clone();
    all.ops.clear();
    all.needs.clear();
    let gates = |all: &mut Dag, work: &dyn Fn(u32) -> Work| -> Vec<OpId> {
        (0..dag.ranks)
            .map(|rank| {
                let gate = Activity { rank, kind: ActivityKind::Compute, name: 0, group: 0, bytes: 0 };
                let gate = all.activity(gate);
                all.op(gate, work(rank))
            })
            .collect()
    };
    let mut open = gates(&mut all, &|rank| Work::Compute(late[rank as usize]));
    for _ in 0..iterations {
        let first = all.ops.len() as OpId;
        for (op, work) in dag.ops.iter().enumerate() {
            let rank = dag.rank(op as OpId) as usize;
            let new = match work.work {
                Work::Compute(span) => Work::Compute(Span::from_ps((span.ps() as f64 * slow[rank]).round() as u64)),
                same => same,
            };
            let new = all.op(work.activity, new);
            all.need(open[rank], new);
        }
        all.needs.extend(dag.needs.iter().map(|(before, after)| (first + before, first + after)));
        let next = gates(&mut all, &|_| Work::Join);
        for (op, work) in dag.ops.iter().enumerate() {
            all.need(first + op as OpId, next[dag.rank(op as OpId) as usize]);
            if let Work::Send { to, .. } = work.work {
                all.need(first + op as OpId, next[to as usize]);
            }
        }
        for (before, after) in open.iter().zip(&next) {
            all.need(*before, *after);
        }
        open = next;
    }
    all
}

/// Form 7: the makespan is the longest path, to the picosecond.
#[test]
fn runs_take_the_longest_path() {
    for seed in 0..2_000 {
        let rng = &mut stream(seed, "random graphs", 0);
        let dag = random(rng);
        dag.check().unwrap();
        let longest = longest_path(&dag.clone().compile(), d);
        let activities = dag.activities.len();
        let used = (0..activities).filter(|k| dag.ops.iter().any(|op| op.activity as usize == *k)).count();
        let arrive = |message: &xoff_jobs::Message, now| now + d(message.from, message.to, message.bytes, message.lane);
        let (end, intervals, stuck) = drive(job(Arc::new(dag.compile()), 1), arrive, |_, _| {});
        assert_eq!((end, stuck), (Time::ZERO + longest, Vec::new()), "seed {seed}");
        assert_eq!(intervals.len(), used, "seed {seed}");
        assert_eq!(intervals.iter().filter_map(|interval| interval.end).max(), Some(end), "seed {seed}");
    }
}

/// Iterations, late ranks and slow ranks: the longest path of the graph unrolled.
#[test]
fn iterations_follow_each_other_rank_by_rank() {
    let mut apart = 0;
    for seed in 0..1_000 {
        let rng = &mut stream(seed, "random iterations", 0);
        let dag = random(rng);
        let ranks = dag.ranks as usize;
        // A rank without anything to do or to receive does not start.
        let busy = |rank: u32| {
            let mut ops = dag.ops.iter().enumerate();
            ops.any(|(at, op)| dag.rank(at as OpId) == rank || matches!(op.work, Work::Send { to, .. } if to == rank))
        };
        let late: Vec<Span> = (0..ranks as u32)
            .map(|rank| Span::from_ps(if busy(rank) { rng.below(2) * rng.below(100_000) } else { 0 }))
            .collect();
        let slow: Vec<f64> = (0..ranks).map(|_| 0.5 + rng.unit()).collect();
        let iterations = 1 + rng.below(4) as u32;
        let longest = longest_path(&unrolled(&dag, iterations, &late, &slow).compile(), d);
        let arrive = |message: &xoff_jobs::Message, now| now + d(message.from, message.to, message.bytes, message.lane);
        let start = Time::from_us(3);
        let parts = dag.activities.len();
        let job = Job { start, late, slow, ..job(Arc::new(dag.compile()), iterations) };
        let (end, intervals, stuck) = drive(job, arrive, |_, _| {});
        assert_eq!((end, stuck), (start + longest, Vec::new()), "seed {seed}");
        assert!(intervals.len() <= parts * iterations as usize);
        // Over in another order than begun: ranks were in different iterations at a time.
        apart += usize::from(intervals.windows(2).any(|pair| pair[0].iteration > pair[1].iteration));
    }
    assert!(apart > 100, "{apart} graphs had ranks iterations apart");
}

/// No rank holds what another holds, nothing is idle that is asked for, and all ends.
#[test]
fn resources_are_held_by_one_at_a_time() {
    let mut waited = 0;
    for seed in 0..500 {
        let rng = &mut stream(seed, "random resources", 0);
        let mut dag = random(rng);
        let free = longest_path(&dag.clone().compile(), d);
        for op in 0..dag.ops.len() {
            // An activity of one operation, so that its interval is the time of the hold.
            let alone = dag.ops.iter().filter(|other| other.activity == dag.ops[op].activity).count() == 1;
            if alone && rng.below(2) == 0 {
                let resource = Some(Resource(rng.below(2) as u16 * 40_000));
                (dag.ops[op].takes, dag.ops[op].frees) = (resource, resource);
            }
        }
        dag.check().unwrap();
        let graph = dag.clone();
        let arrive = |message: &xoff_jobs::Message, now| now + d(message.from, message.to, message.bytes, message.lane);
        let (end, intervals, stuck) = drive(job(Arc::new(dag.compile()), 2), arrive, |_, _| {});
        assert!(stuck.is_empty(), "seed {seed}: {stuck:?}");
        waited += usize::from(end - Time::ZERO > free * 2);
        let mut held: Vec<(u32, u16, Time, Time)> = Vec::new();
        for interval in &intervals {
            let op = graph.ops.iter().find(|op| op.activity == interval.activity).unwrap();
            if let Some(Resource(which)) = op.takes {
                let rank = graph.activities[interval.activity as usize].rank;
                held.push((rank, which, interval.begin, interval.end.unwrap()));
            }
        }
        held.sort_unstable();
        for pair in held.windows(2).filter(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
            assert!(pair[0].3 <= pair[1].2, "seed {seed}: {pair:?}");
        }
    }
    assert!(waited > 50, "{waited} graphs had to wait for resources");
}
