//! Small jobs step by step: order, resources, what a job that does not end waits for, what is refused.

use crate::ideal::{drive, job, once};
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_jobs::collective::{Algorithm, Form, Options, Servers, explain, generate};
use xoff_jobs::{Activity, ActivityKind, Collective, Dag, Lane, Op, OpId, Resource, Runner, Via, Work};

const LANE: Lane = Lane { via: Via::Nic(0), channel: 0, queue_pair: 0 };

fn compute(dag: &mut Dag, rank: u32, name: &str, us: u64) -> OpId {
    let name = dag.name(name);
    let activity = dag.activity(Activity { rank, kind: ActivityKind::Compute, name, group: 0, bytes: 0 });
    dag.op(activity, Work::Compute(Span::from_us(us)))
}

fn hold(op: &mut Op, resource: u16) {
    (op.takes, op.frees) = (Some(Resource(resource)), Some(Resource(resource)));
}

#[test]
fn the_first_in_the_graph_gets_a_resource() {
    let mut dag = Dag::new(2);
    let gate = compute(&mut dag, 0, "gate", 1);
    let ops: Vec<OpId> = (0..3).map(|k| compute(&mut dag, 0, &format!("work {k}"), 10)).collect();
    ops.iter().for_each(|op| hold(&mut dag.ops[*op as usize], 7));
    // The last is ready first and takes it; then the first, though it was ready after the second.
    dag.need(gate, ops[1]);
    let later = compute(&mut dag, 1, "later", 2);
    dag.need(later, ops[0]);
    let (end, intervals, _) = drive(once(dag), |_, now| now, |_, _| {});
    let order: Vec<(u32, u64)> = intervals.iter().map(|done| (done.activity, done.begin.ps() / 1_000_000)).collect();
    assert_eq!(order, [(0, 0), (4, 0), (3, 0), (1, 10), (2, 20)]);
    assert_eq!(end, Time::from_us(30));
}

#[test]
fn an_activity_lasts_from_its_first_to_its_last_operation() {
    let mut dag = Dag::new(1);
    let name = dag.name("two steps");
    let activity = dag.activity(Activity { rank: 0, kind: ActivityKind::Compute, name, group: 0, bytes: 0 });
    let wait = compute(&mut dag, 0, "wait", 3);
    let first = dag.op(activity, Work::Compute(Span::from_us(1)));
    let pause = compute(&mut dag, 0, "pause", 5);
    let last = dag.op(activity, Work::Compute(Span::from_us(1)));
    dag.needs = vec![(wait, first), (first, pause), (pause, last)];
    let dag = Arc::new(dag.compile());
    let mut runner = Runner::new(job(Arc::clone(&dag), 1));
    let (mut out, mut done) = (Vec::new(), Vec::new());
    for at in [0, 3, 4] {
        assert_eq!(runner.next(), Some(Time::from_us(at)));
        runner.advance(Time::from_us(at), &mut out);
    }
    let open = runner.unfinished();
    assert_eq!(
        open.iter().map(|open| (open.activity, open.begin, open.end)).collect::<Vec<_>>(),
        [(activity, Time::from_us(3), None), (2, Time::from_us(4), None)]
    );
    runner.advance(Time::from_us(9), &mut out);
    runner.advance(Time::from_us(10), &mut out);
    runner.drain_intervals(&mut done);
    let both = done.iter().find(|done| done.activity == activity).unwrap();
    assert_eq!((both.begin, both.end), (Time::from_us(3), Some(Time::from_us(10))));
    assert!(runner.is_over() && runner.next().is_none() && runner.unfinished().is_empty());
}

#[test]
fn no_iterations_and_no_work_are_over_at_once() {
    let mut dag = Dag::new(3);
    compute(&mut dag, 1, "work", 4);
    let dag = Arc::new(dag.compile());
    assert!(Runner::new(job(Arc::clone(&dag), 0)).is_over());
    // Ranks without work do not hold up the others.
    let (end, intervals, _) = drive(job(dag, 3), |_, now| now, |_, _| {});
    assert_eq!((end, intervals.len()), (Time::from_us(12), 3));
}

/// A lost message: what it is of, from whom to whom, and all that waits for it.
#[test]
fn a_job_that_stops_says_what_it_waits_for() {
    let servers = Servers { gpus: 2, nics: 2 };
    let options = Options { algorithm: Algorithm::Ring, channels: 1, ..Options::default() };
    let (dag, ..) = explain(Collective::AllReduce, &[0, 1, 2, 3], 64, servers, &options).unwrap();
    let lose = |message: &xoff_jobs::Message, now: Time| {
        if message.from == 1 && now > Time::ZERO { Time::NEVER } else { now + Span::from_us(1) }
    };
    let (_, _, stuck) = drive(once(dag), lose, |_, _| {});
    assert_eq!(
        stuck,
        [
            "all-reduce `all-reduce`: 16 bytes from r1 to r2 by NIC 0, sent at 1us, have not arrived, nor have 3 messages \
             behind them",
            "  needed by r2, then r3, then r0",
        ]
    );
    // However many there are, a dozen lines at most.
    let members: Vec<u32> = (0..64).collect();
    let (dag, ..) = explain(Collective::AllReduce, &members, 1 << 20, servers, &Options::default()).unwrap();
    let (_, _, stuck) = drive(job(Arc::new(dag.compile()), 2), |_, _| Time::NEVER, |_, _| {});
    assert!(stuck.len() <= 12, "{stuck:#?}");
    assert!(stuck[0].contains("iteration 0"), "{}", stuck[0]);
    assert!(stuck[1].ends_with("more"), "{}", stuck[1]);
    assert_eq!(stuck[10], "and messages between 123 more pairs of ranks");
}

#[test]
fn a_job_cut_short_says_who_computes_or_holds() {
    let mut dag = Dag::new(2);
    let op = compute(&mut dag, 1, "layer 3", 9);
    let other = compute(&mut dag, 1, "layer 4", 9);
    hold(&mut dag.ops[op as usize], 0);
    hold(&mut dag.ops[other as usize], 0);
    let dag = Arc::new(dag.compile());
    let mut runner = Runner::new(job(dag, 2));
    let words = |runner: &Runner| runner.waits_for(&|rank| format!("gpu{rank}"));
    assert_eq!(words(&runner), ["gpu1 starts at 0ps"]);
    runner.advance(Time::ZERO, &mut Vec::new());
    assert_eq!(words(&runner), ["compute `layer 3`, iteration 0 of gpu1 lasts until 9us"]);
    // Two that wait for each other's resources: no message, no computing.
    let mut dag = Dag::new(1);
    let ops: Vec<OpId> = ["a", "b"].iter().map(|name| compute(&mut dag, 0, name, 1)).collect();
    let thens: Vec<OpId> = ops.iter().map(|op| dag.op(*op, Work::Join)).collect();
    for (k, (op, then)) in ops.iter().zip(&thens).enumerate() {
        dag.need(*op, *then);
        dag.ops[*op as usize].takes = Some(Resource(k as u16));
        dag.ops[*then as usize].takes = Some(Resource(1 - k as u16));
    }
    let (_, _, stuck) = drive(job(Arc::new(dag.compile()), 1), |_, now| now, |_, _| {});
    assert_eq!(
        stuck,
        [
            "r0: compute `b` waits until compute `a` is over, which holds what it needs",
            "r0: compute `a` waits until compute `b` is over, which holds what it needs",
        ]
    );
}

#[test]
fn unsound_graphs_are_refused() {
    let two = |work: Work| {
        let mut dag = Dag::new(2);
        let op = compute(&mut dag, 0, "before", 1);
        let after = dag.op(0, work);
        dag.need(op, after);
        dag
    };
    let why = |dag: Dag| dag.check().unwrap_err();
    let send = |to, bytes| Work::Send { to, bytes, lane: LANE };
    assert!(two(send(1, 1)).check().is_ok());
    assert_eq!(why(two(send(2, 1))), "compute `before` of rank 0: a message to rank 2, but there are 2 ranks");
    assert_eq!(why(two(send(0, 1))), "compute `before` of rank 0: a message to itself");
    assert!(why(two(send(1, 0))).contains("no bytes to rank 1"));
    let mut circle = two(Work::Join);
    let third = compute(&mut circle, 1, "third", 1);
    circle.needs.extend([(1, third), (third, 0)]);
    let words = why(circle);
    assert!(words.starts_with("operations need each other in a circle: "), "{words}");
    assert!(words.contains("compute `third` of rank 1 needs compute `before` of rank 0"), "{words}");
    let mut itself = two(Work::Join);
    itself.need(1, 1);
    assert!(why(itself).contains("in a circle"));
    let mut unknown = two(Work::Join);
    unknown.need(9, 1);
    assert_eq!(why(unknown), "operation 1 needs 9, but there are 2 operations");
    let mut held = two(Work::Join);
    held.ops[0].takes = Some(Resource(4));
    assert!(why(held).starts_with("resource 4 of rank 0 is taken 1 times and freed 0 times"));
    let mut stranger = two(Work::Join);
    stranger.activities[0].rank = 5;
    assert_eq!(why(stranger), "an activity is of rank 5, but there are 2 ranks");
    let mut nameless = two(Work::Join);
    nameless.names.clear();
    assert!(why(nameless).contains("a name that does not exist"));
    let mut homeless = two(Work::Join);
    homeless.ops[1].activity = 3;
    assert_eq!(why(homeless), "operation 1 belongs to an activity that does not exist");
}

#[test]
fn what_cannot_be_laid_is_refused() {
    let flat = Servers { gpus: 1, nics: 1 };
    let why = |what, members: &[u32], bytes, servers, options: &Options| {
        let mut dag = Dag::new(8);
        let name = dag.name("x");
        generate(&mut dag, what, members, bytes, servers, options, Form::Listed, name, 0).unwrap_err()
    };
    let usual = Options::default();
    let by = |algorithm| Options { algorithm, ..Options::default() };
    let all = [0, 1, 2];
    let reduce = Collective::AllReduce;
    assert_eq!(why(reduce, &[], 1, flat, &usual), "all-reduce among no ranks: name one at least");
    assert_eq!(why(reduce, &[0, 9], 1, flat, &usual), "all-reduce: rank 9 does not exist, there are 8");
    assert_eq!(why(reduce, &[0, 1, 0], 1, flat, &usual), "all-reduce: rank 0 is a member twice");
    assert_eq!(why(reduce, &all, 0, flat, &usual), "all-reduce of no bytes: the smallest has one");
    assert!(why(reduce, &all, 1, Servers { gpus: 0, nics: 1 }, &usual).contains("without GPUs"));
    assert!(why(reduce, &all, 1, Servers { gpus: 2, nics: 0 }, &usual).contains("no NICs"));
    assert!(why(reduce, &all, 1, flat, &Options { queue_pairs: 0, ..usual.clone() }).contains("queue pair"));
    let odd = Options { channels: 3, ..by(Algorithm::Tree) };
    assert_eq!(why(reduce, &all, 1, flat, &odd), "two trees share the channels: 3 is odd; use 4");
    let slices = Options { chunk_bytes: 10, slice_bytes: 11, ..usual.clone() };
    assert!(why(reduce, &all, 1, flat, &slices).contains("slices of 11 bytes do not fit in chunks of 10"));
    let gather = Collective::AllGather;
    assert!(
        why(gather, &all, 1, flat, &by(Algorithm::HalvingDoubling)).contains("power-of-two number of ranks, got 3")
    );
    assert_eq!(
        why(gather, &all, 1, flat, &by(Algorithm::Tree)),
        "all-gather by `tree` is not known; there is auto, ring, halving-doubling"
    );
    let chunks = Options { chunk_bytes: 10, ..by(Algorithm::HalvingDoubling) };
    assert!(why(reduce, &all, 1, flat, &chunks).contains("leave out the sizes of chunks"));
    let uneven = Servers { gpus: 2, nics: 2 };
    assert!(why(reduce, &all, 1, uneven, &by(Algorithm::Hierarchical)).contains("as many ranks in each server"));
    let root = Options { root: 3, ..usual.clone() };
    assert_eq!(
        why(Collective::Broadcast, &all, 1, flat, &root),
        "broadcast: the root is member 3, but the last of 3 is 2"
    );
    let tiny = Options { chunk_bytes: 1, slice_bytes: 1, ..usual.clone() };
    assert!(why(reduce, &all, 1 << 40, flat, &tiny).contains("fewer channels or larger chunks"));
    let barrier = Options { channels: 2, ..usual };
    assert!(why(Collective::Barrier, &all, 0, flat, &barrier).contains("one channel"));
}

/// Graphs of large jobs must fit in memory: 64 bytes an operation, all in.
#[test]
fn a_ring_of_many_ranks_is_small() {
    let members: Vec<u32> = (0..256).collect();
    let options = Options { channels: 2, ..Options::default() };
    let servers = Servers { gpus: 8, nics: 8 };
    let (dag, ..) = explain(Collective::AllReduce, &members, 16 << 20, servers, &options).unwrap();
    let ops = dag.ops.len();
    assert_eq!(ops, 2 * 256 * 510 + 2 * 256, "messages, begins and ends");
    let compiled = dag.compile();
    assert!(compiled.memory_bytes() <= 64 * ops, "{} bytes for {ops} operations", compiled.memory_bytes());
}
