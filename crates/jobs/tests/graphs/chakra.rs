//! Traces that `scripts/chakra` wrote, run to their end over an ideal network.

use crate::ideal::{Ideal, drive, once};
use std::path::Path;
use xoff_engine::{Span, Time};
use xoff_jobs::chakra::{Groups, More, Node, NodeKind, Options, Resources, Trace, read, to_dag};
use xoff_jobs::collective;
use xoff_jobs::{ActivityKind, Collective, Dag, Work};

const PS_PER_BYTE: u64 = 20;
const LATENCY: Span = Span::from_us(2);

fn traces(name: &str, ranks: u32) -> Vec<Trace> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chakra");
    let file = |rank: u32| std::fs::read(folder.join(format!("{name}.{rank}.et"))).unwrap();
    (0..ranks).map(|rank| read(rank, &file(rank)).unwrap()).collect()
}

fn options() -> Options {
    Options { collectives: collective::Options { channels: 1, ..Default::default() }, ..Options::default() }
}

fn dag(traces: &[Trace], options: &Options) -> Dag {
    let (dag, _) = to_dag(traces, options).unwrap_or_else(|defects| panic!("{}", defects[0]));
    dag.check().unwrap();
    dag
}

fn wire(bytes: u64) -> Span {
    Span::from_ps(bytes * PS_PER_BYTE)
}

fn ideal() -> Ideal {
    Ideal::even(options().servers, PS_PER_BYTE, LATENCY.ps())
}

fn run(dag: Dag) -> Time {
    ideal().run(once(dag)).0
}

/// The form of a ring of `steps` steps of `k` slices: (s − 1)·max(kτ, τ + L) + kτ + L.
fn ring(steps: u64, bytes: u64, k: u64) -> Time {
    let slice = wire(bytes / k);
    Time::ZERO + (slice * k).max(slice + LATENCY) * (steps - 1) + slice * k + LATENCY
}

/// Messages of rank 0.
fn messages(dag: &Dag) -> u64 {
    let sends =
        |op: &&xoff_jobs::Op| matches!(op.work, Work::Send { .. }) && dag.activities[op.activity as usize].rank == 0;
    dag.ops.iter().filter(sends).count() as u64
}

#[test]
fn rings_of_astra_sims_microbenchmarks_take_what_the_closed_form_says() {
    for (name, steps, part) in [("all_reduce", 6, 1 << 18), ("reduce_scatter", 3, 1 << 18), ("all_gather", 3, 1 << 20)]
    {
        let dag = dag(&traces(&format!("{name}/4npus_1MB/{name}"), 4), &options());
        let k = messages(&dag) / steps;
        assert!(k >= 1 && part % k == 0);
        assert_eq!(run(dag), ring(steps, part, k), "{name} of {k} slices a step");
    }
}

#[test]
fn an_all_to_all_takes_what_its_bytes_need() {
    let dag = dag(&traces("all_to_all/4npus_1MB/all_to_all", 4), &options());
    assert_eq!(dag.activities[0].kind, ActivityKind::Collective(Collective::AllToAll));
    assert_eq!(run(dag), Time::ZERO + wire(3 << 18) + LATENCY);
}

#[test]
fn an_endpoint_delay_comes_with_every_step() {
    let delay = Span::from_us(10);
    let traces = traces("all_reduce/4npus_1MB/all_reduce", 4);
    // One slice: each of the 6 steps is a message, and then the delay.
    let one = collective::Options { slice_bytes: 1 << 18, chunk_bytes: 1 << 18, ..options().collectives };
    let one = Options { collectives: one, ..options() };
    let without = run(dag(&traces, &one));
    assert_eq!(without, Time::ZERO + (wire(1 << 18) + LATENCY) * 6);
    let with = run(dag(&traces, &Options { endpoint_delay: delay, ..one }));
    assert_eq!(with, without + delay * 6);
}

#[test]
fn a_pipeline_takes_what_gpipes_form_says() {
    let pipeline = traces("pipeline/pipeline", 2);
    let (forward, backward) = (Span::from_us(100), Span::from_us(200));
    let arrives = wire(1 << 20) + LATENCY;
    // m (tf + tb) + (p − 1)(tf + tb + 2 d(a)), of two micro-batches and two stages.
    let form = Time::ZERO + (forward + backward) * 2 + forward + backward + arrives * 2;
    assert_eq!(run(dag(&pipeline, &options())), form);
    let delay = Span::from_us(7);
    assert_eq!(run(dag(&pipeline, &Options { endpoint_delay: delay, ..options() })), form + delay * 2);
}

#[test]
fn one_gpu_computes_one_thing_at_a_time_in_the_order_of_ids() {
    let node = |id: u64, micros: u64, data: &[u64]| Node {
        id,
        name: format!("n{id}").into(),
        kind: NodeKind::Compute,
        data: data.to_vec(),
        micros,
        on_cpu: Some(false),
        ..Node::default()
    };
    // 1, 2 and 3 can begin at once; 1 goes first, and lets 4 wait behind 2 and 3.
    let nodes = vec![node(1, 10, &[]), node(2, 20, &[]), node(3, 30, &[]), node(4, 5, &[1])];
    let trace = Trace { rank: 0, version: String::new(), nodes };
    let (_, ends) = ideal().run(once(dag(&[trace], &options())));
    let mut ends: Vec<(u64, u64)> =
        ends.iter().map(|interval| (interval.begin.ps() / 1_000_000, interval.end.unwrap().ps() / 1_000_000)).collect();
    ends.sort_unstable();
    assert_eq!(ends, [(0, 10), (10, 30), (30, 60), (60, 65)]);
}

/// What no check foresees: two ranks begin two collectives in different orders, and do one at a time.
#[test]
fn defect_8_what_waits_for_what_is_told_by_the_names_of_nodes() {
    let part = |id: u64, name: &str, group: &str| {
        let more = More { what: Some(0), bytes: Some(4096), group: Some(group.into()), ..More::default() };
        let kind = NodeKind::Collective;
        Node { id, name: name.into(), kind, on_cpu: Some(false), more: Some(Box::new(more)), ..Node::default() }
    };
    let trace = |rank: u32, nodes: [Node; 2]| Trace { rank, version: String::new(), nodes: nodes.into() };
    let traces = [
        trace(0, [part(1, "sum of A", "1"), part(2, "sum of B", "2")]),
        trace(1, [part(1, "sum of B", "2"), part(2, "sum of A", "1")]),
    ];
    let both = Groups::from([("1".to_owned(), vec![0, 1]), ("2".to_owned(), vec![0, 1])]);
    let options = Options { groups: Some(both), ..options() };
    let (_, _, stuck) = drive(once(dag(&traces, &options)), |_, now| now + LATENCY, |_, _| {});
    let told = stuck.join("\n");
    for words in ["r0", "r1", "`sum of B` waits until", "`sum of A` waits until"] {
        assert!(told.contains(words), "{words} is missing from\n{told}");
    }
    // With a stream for each there is nothing to wait for.
    let mut streamed = traces;
    for (node, stream) in streamed.iter_mut().flat_map(|trace| &mut trace.nodes).zip([1, 2, 2, 1]) {
        node.more.as_mut().unwrap().stream = Some(stream);
    }
    run(dag(&streamed, &Options { resources: Resources::Stream, ..options }));
}
