//! DCTCP against its own analysis, and its rate form on a lossless fabric.

use crate::bench::*;
use crate::tcp_newreno::incast;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{ProbeTarget, Thresholds};
use xoff_fabric::record::Metric;

const PACKET: f64 = 1500.0;

/// Queue samples of a 10G port in packets under `n` endless flows once settled, their shares, and how
/// much of the wire they use.
fn settled(n: u32, texts: &[(&str, &str)]) -> (Vec<f64>, Vec<f64>, f64) {
    // 100 us there and back, 83 packets of 1500 bytes.
    let mut bench = Bench::into_one(n, 10, Span::from_ns(24_357), scheme("dctcp", texts));
    bench.net.plan.classes.list[0].lossless = false;
    bench.net.plan.hosts[0].mtu_bytes = 1442;
    bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(5), Time::from_ms(100));
    let outcome = bench.run(Time::from_ms(300));
    assert_eq!(outcome.world.counters.drops_lossy + outcome.world.counters.timeouts, 0);
    let mut queue: Vec<f64> = outcome.values(Metric::QueueBytes).iter().map(|bytes| bytes / PACKET).collect();
    queue.sort_by(f64::total_cmp);
    let utilisation = outcome.delivered().iter().sum::<f64>() * 8.0 / 0.3 / 10e9 * 1520.0 / 1442.0;
    (queue, outcome.delivered(), utilisation)
}

#[test]
fn dctcp_7_2_the_queue_oscillates_as_the_analysis_says() {
    // C RTT + K = 148 packets: between K + N - A and K + N, A = sqrt(2 N (C RTT + K)) / 2, for flows
    // in step with each other. Two flows are; more drift apart, so their band is only bounded.
    let amplitude = |n: u32| (2.0 * f64::from(n) * (83.0f64 + 65.0)).sqrt() / 2.0;
    assert!((amplitude(2) - 12.2).abs() < 0.05, "the worked example");
    for (n, amplitude) in [2, 5].map(|n| (n, amplitude(n))) {
        for texts in [&[][..], &[("delayed_ack", "true")]] {
            let (queue, shares, utilisation) = settled(n, texts);
            let at = |part: f64| queue[(part * (queue.len() - 1) as f64) as usize];
            let (low, high) = (at(0.01), at(0.99));
            let top = 65.0 + f64::from(n);
            assert!((high - top).abs() < 4.0, "{n} flows, {texts:?}: up to {high} packets, not {top}");
            assert!((high - low - amplitude).abs() < 4.0, "{n} flows, {texts:?}: {low} to {high}, not {amplitude}");
            assert!(utilisation > 0.995 && jain(&shares) > 0.99, "{utilisation}, {shares:?}");
        }
    }
}

#[test]
fn dctcp_3_incast_is_later_than_without_marks() {
    // Section 5's K at 1 Gb/s leaves 34 KB of the 64 KB buffer for bursts. Eight servers that start
    // from a window of two stay within it; NewReno has collapsed there (tcp-newreno, section 8.6).
    let goodput = incast(8, scheme("dctcp", &[]));
    assert!(goodput > 800.0, "{goodput} Mb/s");
}

#[test]
fn dctcp_4_rates_over_roce_hold_the_queue_at_the_step() {
    // 13 us there and back; without control four windows of a BDP would queue 480 KB.
    let mut bench = Bench::into_one(4, 100, Span::from_us(3), scheme("dctcp:rate", &[]));
    bench.net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 2_000_000, xon_bytes: 1_998_000 };
    bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(1), Time::from_ms(5));
    let outcome = bench.run(Time::from_ms(20));
    assert_eq!(outcome.world.counters.pause_frames, 0);
    let (mean, max) = (outcome.mean(Metric::QueueBytes), outcome.max(Metric::QueueBytes));
    // The step is at 3 KB per Gb/s.
    assert!((mean / 300e3 - 1.0).abs() < 0.1 && max < 1.1 * 300e3, "mean {mean}, at most {max} bytes");
    let shares = outcome.delivered();
    let utilisation = shares.iter().sum::<f64>() * 8.0 / 0.02 / 100e9 * 1082.0 / 1000.0;
    assert!(utilisation > 0.99 && jain(&shares) > 0.99, "{utilisation}, {shares:?}");
}
