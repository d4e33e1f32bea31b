//! Collectives that make their messages when they are due send what their listed graphs send, at the same instants and in
//! the same order.

use crate::ideal::{Seen, drive};
use std::collections::BTreeMap;
use std::sync::Arc;
use xoff_engine::{Span, Time, stream};
use xoff_jobs::collective::{Form, Options, Servers};
use xoff_jobs::{Collective, Graph, Interval, Job, Lane, Part, Recipe, Step};

/// What can be seen of a message from outside: everything but its number.
type Sent = (Time, u32, u32, u64, Lane, u32);

/// Runs a recipe in one form on a network with random delays, in order on each lane.
fn run(recipe: Recipe, iterations: u32, seed: u64) -> (Graph, Vec<Sent>, Vec<Interval>, Time) {
    let ranks = recipe.ranks as usize;
    let graph = Graph::of(recipe).unwrap();
    let mut draw = stream(seed, "programs", 1);
    let late = (0..ranks).map(|_| Span::from_ps(draw.below(4) * 700)).collect();
    let dag = Arc::clone(graph.compiled());
    let job = Job { dag, iterations, start: Time::ZERO, late, slow: Vec::new() };
    let mut last: BTreeMap<(u32, u32, Lane), (u64, Time)> = BTreeMap::new();
    let arrive = |message: &xoff_jobs::Message, now: Time| {
        let (count, free) = last.entry((message.from, message.to, message.lane)).or_default();
        // Delays follow from the message, not from when it is asked about. A third of them are alike: arrivals coincide.
        let lane = u64::from(message.from) << 32 | u64::from(message.to) << 8 | u64::from(message.lane.channel);
        let drawn = stream(seed ^ lane, "delays", *count).below(1200);
        *count += 1;
        *free = (*free).max(now + Span::from_ps(if drawn < 400 { 300 } else { drawn }));
        *free
    };
    let mut sent = Vec::new();
    let (end, intervals, stuck) = drive(job, arrive, |now, seen| {
        if let Seen::Goes(message) = seen {
            sent.push((now, message.from, message.to, message.bytes, message.lane, message.iteration));
        }
    });
    assert!(stuck.is_empty(), "{stuck:?}");
    (graph, sent, intervals, end)
}

fn drawn(seed: u64) -> Recipe {
    let mut draw = stream(seed, "programs", 0);
    let mut pick = |of: &[u64]| of[draw.below(of.len() as u64) as usize];
    let gpus = pick(&[1, 2, 4, 8]) as u32;
    let servers = Servers { gpus, nics: pick(&[1, 2, 4]).min(u64::from(gpus)) as u32 };
    let ranks = gpus * pick(&[2, 3, 5, 8]) as u32;
    let mut step = |after: Vec<usize>| {
        let what = [Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter][pick(&[0, 1, 2]) as usize];
        let chunk_bytes = pick(&[0, 64, 100, 4096, 65536]);
        let options = Options {
            channels: pick(&[0, 1, 2, 3]) as u16,
            queue_pairs: pick(&[1, 1, 2, 3]) as u16,
            chunk_bytes,
            slice_bytes: if chunk_bytes > 0 { pick(&[0, chunk_bytes / 2, chunk_bytes / 3 + 1]) } else { 0 },
            outstanding: pick(&[0, 1, 2, 4, u64::from(Options::NCCL_OUTSTANDING)]) as u32,
            ..Options::default()
        };
        let most = if chunk_bytes == 0 { 8 << 20 } else { 90 * chunk_bytes * u64::from(ranks) / 8 };
        let bytes = (pick(&[1, 15, 1000, 12_345, 1 << 20, most / 3, most])).clamp(1, most);
        // All ranks, those of half of them each, or all of them backwards.
        let all: Vec<u32> = (0..ranks).collect();
        let groups = match pick(&[0, 1, 2]) {
            0 => vec![all],
            1 if ranks.is_multiple_of(2) && ranks > 2 => all.chunks(ranks as usize / 2).map(<[u32]>::to_vec).collect(),
            _ => vec![all.into_iter().rev().collect()],
        };
        Part::Step { name: "ring".to_owned(), what: Step::Collective { what, groups, bytes, options }, after }
    };
    let compute = Part::Step { name: "compute".to_owned(), what: Step::Compute(Span::from_ps(2_500)), after: vec![0] };
    let parts = vec![step(vec![]), compute, step(vec![1]), step(vec![])];
    Recipe { ranks, servers, parts, form: Form::Listed }
}

#[test]
fn rings_send_what_their_listed_graphs_send() {
    let cases: u64 = std::env::var("XOFF_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(16);
    for seed in 0..cases {
        let listed = drawn(seed);
        let due = Recipe { form: Form::Programs, ..listed.clone() };
        let (listed, due) = (run(listed, 2, seed), run(due, 2, seed));
        let (of_listed, of_due) = (listed.0.size(), due.0.size());
        assert_eq!((of_listed.messages, of_listed.bytes), (of_due.messages, of_due.bytes), "seed {seed}");
        assert_eq!(of_due.messages * 2, due.1.len() as u64, "seed {seed}");
        if let Some(at) = listed.1.iter().zip(&due.1).position(|(a, b)| a != b) {
            panic!("seed {seed}, message {at}: {:?} is listed, {:?} was sent", listed.1[at], due.1[at]);
        }
        assert_eq!((listed.1.len(), listed.3), (due.1.len(), due.3), "seed {seed}");
        assert_eq!(listed.2, due.2, "seed {seed}");
    }
}

/// A ring whose messages would not fit in memory is counted at once, and is small.
#[test]
fn memory_follows_connections() {
    let recipe = ring_of(8192, 1 << 30, Options::default());
    assert!(Graph::of(Recipe { form: Form::Listed, ..recipe.clone() }).unwrap_err().contains("messages are more than"));
    let graph = Graph::of(recipe).unwrap();
    assert_eq!(graph.size().messages, 2 * 8191 * 8192 * 16);
    assert!(graph.memory_to_come() < 40_000_000, "{} bytes", graph.memory_to_come());
}

/// A ring that would send for a year is refused, and no count of it overflows.
#[test]
fn absurd_rings_are_refused() {
    let small = |chunk_bytes, slice_bytes| Options { chunk_bytes, slice_bytes, ..Options::default() };
    for (bytes, options, says) in [
        (1 << 40, small(16, 16), "messages of a rank are more than"),
        (1 << 55, Options::default(), "messages of a rank are more than"),
        (1 << 30, small(1 << 63, 1), "chunks of 9223372036854775808 bytes are more than"),
    ] {
        let refused = Graph::of(ring_of(64, bytes, options)).unwrap_err();
        assert!(refused.contains(says), "{refused}");
    }
    // Slices far smaller than a message can be take no more numbers than messages.
    let graph = Graph::of(ring_of(64, 1 << 10, small(1 << 40, 1))).unwrap();
    assert_eq!(graph.size().messages, 2 * 63 * 64);
}

fn ring_of(ranks: u32, bytes: u64, options: Options) -> Recipe {
    let what = Step::Collective { what: Collective::AllReduce, groups: vec![(0..ranks).collect()], bytes, options };
    let parts = vec![Part::Step { name: "gradients".to_owned(), what, after: Vec::new() }];
    Recipe { ranks, servers: Servers { gpus: 8, nics: 8 }, parts, form: Form::Programs }
}
