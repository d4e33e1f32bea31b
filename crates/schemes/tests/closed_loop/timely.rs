//! TIMELY, which has no fixed point of its own, and patched TIMELY, which has one.

use crate::bench::*;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::{ProbeTarget, Thresholds};
use xoff_fabric::record::Metric;

/// What a run settles to after 100 ms.
struct Settled {
    /// Share of the bottleneck used, mean round trip and the longest, in microseconds.
    used: f64,
    rtt_us: f64,
    rtt_max_us: f64,
    /// Throughput of each flow, Gb/s.
    flows: Vec<f64>,
}

/// Flows that start at these rates (Gb/s), 137 us after one another, into one port.
fn settle(preset: &str, gbps: u64, start: &[u64], stop_ms: u64) -> Settled {
    let n = start.len();
    let mut bench = Bench::into_one(n as u32, gbps, Span::from_us(1), scheme(preset, &[]));
    bench.net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 4_000_000, xon_bytes: 3_998_000 };
    for (i, (at, flow)) in bench.flows.iter_mut().enumerate() {
        *at = Time::from_us(i as u64 * 137);
        flow.initial_rate = Some(BitRate::from_gbps(start[i]));
    }
    bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(10), Time::from_ms(100));
    bench.probe(ProbeTarget::Throughput { port: 1 }, Span::from_ms(1), Time::from_ms(100));
    bench.probe(ProbeTarget::Flows, Span::from_ms(stop_ms - 101), Time::from_ms(100));
    let outcome = bench.run(Time::from_ms(stop_ms));
    assert_eq!(outcome.world.counters.pause_frames, 0, "{preset}");
    // Propagation, and two packets and two ACKs in transmission; queues count frames, not gaps.
    let base_us = 4.0 + (2.0 * 1090.0 + 2.0 * 94.0) * 8e-3 / gbps as f64;
    let rtt_us = |queue_bytes: f64| base_us + queue_bytes * 1090.0 / 1070.0 * 8e-3 / gbps as f64;
    let used = &outcome.values(Metric::PortThroughput)[1..];
    let throughput = outcome.values(Metric::FlowThroughput);
    Settled {
        used: used.iter().sum::<f64>() / used.len() as f64 / (gbps as f64 * 1e9),
        rtt_us: rtt_us(outcome.mean(Metric::QueueBytes)),
        rtt_max_us: rtt_us(outcome.max(Metric::QueueBytes)),
        flows: throughput[throughput.len() - n..].iter().map(|bps| bps / 1e9).collect(),
    }
}

#[test]
fn timely_8_3_patched_settles_at_its_fixed_point() {
    // RTT* = T_low (1 + N delta / (beta C)); delta is C / 1000, so T_low (1 + N / 8). Ten flows start
    // at their share: beta is so small that ten line-rate starts take seconds to drain.
    for (gbps, start) in [(10, &[7, 3][..]), (10, &[1; 10]), (40, &[10; 4])] {
        let settled = settle("patched-timely", gbps, start, 300);
        let expected = 50.0 * (1.0 + start.len() as f64 / 8.0);
        let rtt = settled.rtt_us;
        assert!((rtt / expected - 1.0).abs() < 0.01, "{start:?} at {gbps}G: {rtt} us, {expected} expected");
        assert!(settled.used > 0.999, "{start:?} at {gbps}G: {}", settled.used);
        assert!(jain(&settled.flows) > 0.999, "{start:?} at {gbps}G: {:?}", settled.flows);
    }
}

#[test]
fn timely_8_3_the_original_has_no_fixed_point() {
    // Updates by segment come in proportion to the rate, and with them the increases: the flow
    // ahead stays ahead. The sum fills the link in every case.
    for (start, ahead) in [([30, 10], 0), ([10, 30], 1)] {
        let settled = settle("timely:pcn", 40, &start, 200);
        assert!(settled.used > 0.99, "{start:?}: {}", settled.used);
        assert!(settled.flows[ahead] > 2.0 * settled.flows[1 - ahead], "{start:?}: {:?}", settled.flows);
        // Round trips rise to T_low, where the gradient takes over, and stay in its band's reach.
        assert!((35.0..60.0).contains(&settled.rtt_us), "{start:?}: {} us", settled.rtt_us);
        assert!(settled.rtt_max_us < 500.0, "{start:?}: {} us", settled.rtt_max_us);
    }
}

#[test]
fn timely_3_once_per_round_trip_shares_equally_and_saws() {
    // One step per round trip for everyone makes equal flows, but five delta per round trip
    // overshoot, and a gradient of one cuts by 80 %: a saw of about nine tenths.
    for (gbps, start) in [(10, [10, 10]), (40, [30, 10])] {
        let settled = settle("timely", gbps, &start, 300);
        assert!((0.85..1.0).contains(&settled.used), "{gbps}G: {}", settled.used);
        assert!(jain(&settled.flows) > 0.99, "{gbps}G: {:?}", settled.flows);
        assert!(settled.rtt_max_us < 500.0, "{gbps}G: {} us", settled.rtt_max_us);
    }
}

#[test]
fn timely_2_bursts_of_segments() {
    let settled = settle("timely:paper", 10, &[7, 3], 300);
    assert!((0.88..1.0).contains(&settled.used), "{}", settled.used);
    assert!(jain(&settled.flows) > 0.9, "{:?}", settled.flows);
    assert!(settled.rtt_max_us < 500.0, "{} us", settled.rtt_max_us);
}
