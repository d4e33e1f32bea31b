//! `cargo bench`: the event queue, packet-hops per second under each scheme, and set-up time.
//!
//! These are wall-clock figures of a busy world: compare only runs made close together on one machine.
//! `scripts/instructions` counts instructions instead, which do not depend on the machine's mood.

mod common;

use common::load;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use xoff_engine::{Event, EventQueue, Time, stream};
use xoff_run::drive::build;

/// Pop the earliest, push it again a random while later: ns per pop and push.
fn hold_model(c: &mut Criterion) {
    let mut group = c.benchmark_group("event-queue-hold");
    for pending in [1_000u32, 100_000, 1_000_000] {
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::from_parameter(pending), |b| {
            let mut rng = stream(1, "hold", 0);
            let mut queue = EventQueue::default();
            // Network-like: most events a packet ahead, some a link's delay, few a timer's.
            let mut ahead = move || match rng.below(100) {
                0 => 50_000_000,
                1..=20 => 1_000_000 + rng.below(100_000),
                _ => 80_000 + rng.below(8_000),
            };
            for index in 0..pending {
                queue.push(Event::new(Time::from_ps(ahead()), 1, index));
            }
            for _ in 0..2 * pending {
                let key = queue.pop().expect("never empty");
                queue.push(Event::new(Time::from_ps(key.time().ps() + ahead()), 1, key.index()));
            }
            b.iter(|| {
                let key = queue.pop().expect("never empty");
                queue.push(Event::new(Time::from_ps(key.time().ps() + ahead()), 1, key.index()));
                black_box(key)
            });
        });
    }
    group.finish();
}

/// The 320-host fat tree under WebSearch at half load; the throughput is packet-hops.
fn packet_hops(c: &mut Criterion) {
    let mut group = c.benchmark_group("packet-hops");
    group.sample_size(10);
    for spec in xoff_schemes::all() {
        let loaded = load("fat-tree-websearch.toml", &["traffic.0.flows=60"], Some(spec.name));
        let mut probe = build(&loaded);
        probe.run_to_end();
        group.throughput(Throughput::Elements(probe.counters.packet_hops));
        group.bench_function(spec.name, |b| {
            b.iter_batched(|| build(&loaded), |mut world| world.run_to_end(), criterion::BatchSize::PerIteration);
        });
    }
    group.finish();
}

/// From a loaded scenario to a world ready to run.
fn set_up(c: &mut Criterion) {
    let mut group = c.benchmark_group("set-up");
    group.sample_size(10);
    for (name, sets) in [
        ("320-hosts", &[][..]),
        (
            "8192-hosts",
            &["topology.pods=32", "topology.tors_per_pod=16", "topology.aggs_per_pod=16", "topology.cores=256"][..],
        ),
    ] {
        let loaded = load("fat-tree-websearch.toml", sets, None);
        group.bench_function(name, |b| b.iter(|| black_box(build(&loaded).now)));
    }
    group.finish();
}

criterion_group!(benches, hold_model, packet_hops, set_up);
criterion_main!(benches);
