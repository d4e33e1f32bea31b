//! Closed forms of collectives on a network without contention, exact to the picosecond.

use crate::ideal::{Ideal, job, once};
use std::collections::BTreeSet;
use std::sync::Arc;
use xoff_engine::{Span, Time};
use xoff_jobs::collective::{Algorithm, Options, PipelineOrder, Schedule, Servers, explain, pipeline};
use xoff_jobs::{Collective, Dag, Via, Work};
use xoff_yardstick::every_case;

const FLAT: Servers = Servers { gpus: 1, nics: 1 };

/// One channel, messages as long as they are, nothing held back.
fn plain(algorithm: Algorithm) -> Options {
    Options { algorithm, channels: 1, outstanding: 0, ..Options::default() }
}

fn graph(what: Collective, n: u32, bytes: u64, servers: Servers, options: &Options) -> Dag {
    explain(what, &(0..n).collect::<Vec<_>>(), bytes, servers, options).unwrap().0
}

/// Picoseconds per byte of 100, 400 and 800 Gb/s.
const RATES: [u64; 3] = [80, 20, 10];

/// Form 1: (s − 1)·max(kτ, τ + L) + kτ + L.
#[test]
fn ring() {
    let sizes = (2..=64).filter(|n| every_case() || *n <= 12 || [15, 16, 17, 31, 64].contains(n));
    for (n, k) in sizes.flat_map(|n| (1..=8).map(move |k| (n, k))) {
        let slice = 4096;
        let (chunk_bytes, bytes) = (k * slice, u64::from(n) * k * slice);
        let options = Options { chunk_bytes, slice_bytes: slice, ..plain(Algorithm::Ring) };
        let kinds = [(Collective::AllReduce, 2), (Collective::AllGather, 1), (Collective::ReduceScatter, 1)];
        for (what, rounds) in if !(10..=62).contains(&n) { &kinds[..] } else { &kinds[..1] } {
            let dag = Arc::new(graph(*what, n, bytes, FLAT, &options).compile());
            let steps = rounds * (u64::from(n) - 1);
            let rates = RATES.into_iter().zip([3_000_000, 700_001, 40]).enumerate();
            for (which, (rate, latency)) in rates.filter(|(which, _)| n < 20 || (n as usize + which).is_multiple_of(3))
            {
                let tau = slice * rate;
                let form = (steps - 1) * (k * tau).max(tau + latency) + k * tau + latency;
                let (end, _) = Ideal::even(FLAT, rate, latency).run(job(Arc::clone(&dag), 1));
                assert_eq!(end.ps(), form, "{what} n {n} k {k}, rate {which}");
            }
        }
    }
}

/// A ring over servers is form 1, too, if inside and outside are alike.
#[test]
fn ring_over_servers() {
    for (gpus, nics, n) in [(8, 8, 32), (8, 4, 16), (4, 1, 12)] {
        let servers = Servers { gpus, nics };
        let channels = 2 * nics as u16;
        let (slice, k) = (4096, 2);
        let bytes = u64::from(channels) * u64::from(n) * k * slice;
        let options = Options { chunk_bytes: k * slice, slice_bytes: slice, outstanding: 0, ..Options::default() };
        let dag = graph(Collective::AllReduce, n, bytes, servers, &options);
        let by_nic = |nic: u16| {
            let sends = dag.ops.iter().filter_map(|op| match op.work {
                Work::Send { bytes, lane, .. } if lane.via == Via::Nic(nic) => Some((lane.channel, bytes)),
                _ => None,
            });
            sends.fold((0, BTreeSet::new()), |(sum, mut channels), (channel, bytes)| {
                channels.insert(channel);
                (sum + bytes, channels)
            })
        };
        // Channel c keeps to rail c; every rail carries the same: 2(n − 1)/n of its channels' share from each server.
        for nic in 0..nics as u16 {
            let (sum, used) = by_nic(nic);
            assert_eq!(used, [nic, nic + nics as u16].into());
            assert_eq!(sum, u64::from(n / gpus) * 2 * (u64::from(n) - 1) * bytes / u64::from(n) / u64::from(nics));
        }
        assert!(
            dag.ops.iter().all(|op| !matches!(op.work, Work::Send { lane, .. } if matches!(lane.via, Via::Cross(..))))
        );
        // Two channels share each NIC, so that no step is shorter than both on its wire.
        let (rate, latency) = (20, 0);
        let took = Ideal { up_ps_per_byte: 1, ..Ideal::even(servers, rate, latency) }.time(dag);
        let busy = 2 * (u64::from(n) - 1) * 2 * k * slice * rate;
        assert!(took.ps() >= busy && took.ps() < busy * 105 / 100, "{took} of {busy} ps");
    }
}

/// NCCL's chunks, slices and windows keep the NICs busy: 1 GiB over four servers of eight 400G NICs takes at most 1 %
/// longer than these need for their bytes.
#[test]
fn large_rings_fill_the_nics() {
    let servers = Servers { gpus: 8, nics: 8 };
    // In ninths of a picosecond: 400 and 2880 Gb/s, 3 us and 100 ns.
    let network =
        Ideal { servers, ps_per_byte: 180, up_ps_per_byte: 25, latency_ps: 27_000_000, up_latency_ps: 900_000 };
    let bytes = 1 << 30;
    let ring = network.time(graph(Collective::AllReduce, 32, bytes, servers, &Options::default())).ps();
    let busy = bytes / 8 * 180 * 2 * 31 / 32;
    assert!(ring >= busy && ring < busy + busy / 100, "{ring} of {busy} ps");
}

/// Form 2: 2·Σ d(S/2^i); half of it to reduce and scatter, or to gather.
#[test]
fn halving_and_doubling() {
    for (q, rate) in (1..=6).flat_map(|q| RATES.map(|rate| (q, rate))) {
        let (bytes, latency) = (64 * 12_345, 1_234_567);
        let once: u64 = (1..=q).map(|i| (bytes >> i) * rate + latency).sum();
        let kinds = [(Collective::AllReduce, 2), (Collective::AllGather, 1), (Collective::ReduceScatter, 1)];
        for (what, times) in kinds {
            let dag = graph(what, 1 << q, bytes, FLAT, &plain(Algorithm::HalvingDoubling));
            assert_eq!(Ideal::even(FLAT, rate, latency).time(dag).ps(), times * once, "{what} of {}", 1 << q);
        }
    }
    // Six ranks: two hand all to others, and get it back.
    let dag = graph(Collective::AllReduce, 6, 4096, FLAT, &plain(Algorithm::HalvingDoubling));
    let d = |bytes: u64| bytes * 20 + 1_000;
    assert_eq!(Ideal::even(FLAT, 20, 1_000).time(dag).ps(), 2 * (d(4096) + d(2048) + d(1024)));
}

/// Form 3: (n − 1)·wire(S/n) + L, if no rank waits for others; never less.
#[test]
fn all_to_all() {
    for n in 2..=64 {
        let (part, rate, latency) = (4096, RATES[n as usize % 3], 5_000_001);
        let form = (u64::from(n) - 1) * part * rate + latency;
        let options = Options { peers: 0, chunk_bytes: part, ..plain(Algorithm::Auto) };
        let network = Ideal::even(FLAT, rate, latency);
        let dag = graph(Collective::AllToAll, n, part * u64::from(n), FLAT, &options);
        assert_eq!(network.time(dag).ps(), form, "{n} ranks");
        let batches = graph(Collective::AllToAll, n, part * u64::from(n), FLAT, &Options { peers: 8, ..options });
        // Each rank's own part is the first of the first batch; between batches the wire is idle for L.
        assert_eq!(network.time(batches).ps(), form + u64::from((n - 1) / 8) * latency, "{n} ranks, eight at a time");
    }
}

/// Form 4: two ranks, one chunk: 2·d(S/2). More: at least wire(2S) + L, and not much more.
#[test]
fn tree() {
    let (rate, chunk) = (20, 4096);
    let tau = chunk * rate;
    for latency in [tau / 10, tau, 5 * tau] {
        let network = Ideal::even(FLAT, rate, latency);
        let options = Options { channels: 2, chunk_bytes: chunk, ..plain(Algorithm::Tree) };
        let two = graph(Collective::AllReduce, 2, 2 * chunk, FLAT, &options);
        assert_eq!(network.time(two).ps(), 2 * (tau + latency));
        for n in (4..=64_u32).step_by(2) {
            for chunks in [1, 2, 7, 16, 64] {
                let bytes = 2 * chunks * chunk;
                let took = network.time(graph(Collective::AllReduce, n, bytes, FLAT, &options)).ps();
                let least = 2 * bytes * rate + latency;
                let most = least + 2 * u64::from(n.next_power_of_two().ilog2()) * (latency + 3 * tau);
                assert!((least..=most).contains(&took), "n {n}, {chunks} chunks: {took} of {least} to {most}");
                if chunks == 64 && latency <= tau {
                    assert!(took as f64 <= 1.09 * least as f64, "n {n}: {took} of {least}");
                }
            }
        }
    }
}

/// Form 5: 2(g − 1)·d_up(S/g) + 2(H − 1)·d(S/(gH)).
#[test]
fn hierarchical() {
    for (gpus, count) in [(2, 2), (4, 3), (8, 4), (8, 8), (1, 5), (8, 1)] {
        let servers = Servers { gpus, nics: gpus };
        let (g, h) = (u64::from(gpus), u64::from(count));
        let bytes = g * h * 1_600;
        let network =
            Ideal { servers, ps_per_byte: 20, up_ps_per_byte: 3, latency_ps: 1_000_001, up_latency_ps: 90_007 };
        let dag = graph(Collective::AllReduce, gpus * count, bytes, servers, &plain_whole(Algorithm::Hierarchical));
        let form = 2 * (g - 1) * (bytes / g * 3 + 90_007) + 2 * (h - 1) * (bytes / (g * h) * 20 + 1_000_001);
        assert_eq!(network.time(dag).ps(), form, "{count} servers of {gpus}");
    }
}

/// Chunks are one message each.
fn plain_whole(algorithm: Algorithm) -> Options {
    Options { chunk_bytes: 1 << 30, slice_bytes: 1 << 30, ..plain(algorithm) }
}

/// Form 6: m(tf + tb) + (p − 1)(tf + tb + 2d(a)).
#[test]
fn gpipe() {
    for (stages, micro_batches) in [(1, 3), (2, 1), (4, 8), (8, 5), (16, 32)] {
        let (bytes, rate, latency) = (65_536, 20, 2_000_003);
        let (forward, backward) = (Span::from_us(5), Span::from_us(11));
        let order = PipelineOrder::GPipe;
        let schedule = Schedule { order, micro_batches, forward, backward, bytes };
        let (mut dag, mut group) = (Dag::new(stages), 0);
        let ranks: Vec<u32> = (0..stages).collect();
        pipeline(&mut dag, &ranks, &schedule, FLAT, &plain_whole(Algorithm::Auto), &mut group).unwrap();
        assert_eq!(group, 2 * (stages - 1) * micro_batches);
        let both = (forward + backward).ps();
        let d = bytes * rate + latency;
        let form = u64::from(micro_batches) * both + u64::from(stages - 1) * (both + 2 * d);
        assert_eq!(Ideal::even(FLAT, rate, latency).time(dag).ps(), form, "{stages} stages, {micro_batches} batches");
    }
}

/// Without time for messages both orders take (m + p − 1)(tf + tb), and 1F1B keeps p activations at most.
#[test]
fn one_forward_one_backward() {
    let (stages, micro_batches, span) = (4, 12, Span::from_us(7));
    let order = PipelineOrder::OneForwardOneBackward;
    let schedule = Schedule { order, micro_batches, forward: span, backward: span, bytes: 1 };
    let mut dag = Dag::new(stages);
    pipeline(&mut dag, &[0, 1, 2, 3], &schedule, FLAT, &Options::default(), &mut 0).unwrap();
    let names = dag.names.clone();
    let activities = dag.activities.clone();
    let (end, intervals) = Ideal::even(FLAT, 0, 0).run(once(dag));
    assert_eq!(end, Time::ZERO + span * (2 * u64::from(micro_batches + stages - 1)));
    for rank in 0..stages {
        let (mut kept, mut most) = (0, 0);
        for interval in &intervals {
            let activity = &activities[interval.activity as usize];
            if activity.rank == rank && interval.end > Some(interval.begin) {
                match names[activity.name as usize].as_str() {
                    "forward" => kept += 1,
                    "backward" => kept -= 1,
                    _ => {}
                }
            }
            most = most.max(kept);
        }
        assert_eq!((kept, most), (0, stages as i32 - rank as i32));
    }
}

/// A window of one: every message waits for the one before it to arrive.
#[test]
fn windows_hold_back() {
    let options = Options { chunk_bytes: 4096, slice_bytes: 512, outstanding: 1, ..plain(Algorithm::Ring) };
    let dag = graph(Collective::AllReduce, 2, 8192, FLAT, &options);
    // Two steps of eight slices, each on its way alone.
    assert_eq!(Ideal::even(FLAT, 10, 1_000).time(dag).ps(), 16 * (512 * 10 + 1_000));
    let dag = graph(Collective::AllReduce, 2, 8192, FLAT, &Options { outstanding: 4, ..options });
    // Four at a time: the wire is busy for 4τ of each τ + L with L = 5τ.
    let tau = 5_120;
    assert_eq!(Ideal::even(FLAT, 10, 5 * tau).time(dag).ps(), 4 * (6 * tau) + 3 * tau);
}
