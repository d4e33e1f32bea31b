//! Swift: the round trip hovers at its target, for windows of many packets and of less than one.

use crate::bench::*;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{ProbeTarget, Thresholds};
use xoff_fabric::record::Metric;

/// Where target(cwnd) meets the round trip of `n` flows with windows of cwnd packets of 1090 B, in
/// microseconds: one switch, base 25 us, 1 us per hop.
fn target_us(n: f64, gbps: f64) -> f64 {
    let mut rtt_us: f64 = 50.0;
    for _ in 0..100 {
        let cwnd = gbps * 1e3 * rtt_us / (n * 1090.0 * 8.0);
        rtt_us = (rtt_us + 26.0 + (40.81929 / cwnd.sqrt() - 4.081929).clamp(0.0, 125.0)) / 2.0;
    }
    rtt_us
}

#[test]
fn swift_7_4_the_delay_hovers_at_its_target() {
    // Windows are whole packets, so the fewer of them there are the further off is the delay.
    for (n, gbps, tolerance) in [(4, 100, 0.05), (10, 100, 0.05), (10, 10, 0.08), (50, 10, 0.16), (100, 10, 0.16)] {
        let mut bench = Bench::into_one(n, gbps, Span::from_us(4), scheme("swift", &[]));
        bench.net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 400_000, xon_bytes: 398_000 };
        bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(10), Time::from_ms(25));
        bench.probe(ProbeTarget::Throughput { port: 1 }, Span::from_ms(1), Time::from_ms(25));
        let outcome = bench.run(Time::from_ms(75));
        // Propagation, and two packets and two ACKs in transmission; queues count frames, not gaps.
        let base_us = 16.0 + (2.0 * 1090.0 + 2.0 * 94.0) * 8e-3 / gbps as f64;
        let rtt_us = base_us + outcome.mean(Metric::QueueBytes) * 1090.0 / 1070.0 * 8e-3 / gbps as f64;
        let expected = target_us(f64::from(n), gbps as f64);
        assert!((rtt_us / expected - 1.0).abs() < tolerance, "{n} at {gbps}G: {rtt_us} us, {expected} expected");
        let used = outcome.values(Metric::PortThroughput)[1..].iter().copied().fold(f64::INFINITY, f64::min);
        assert!(used > 0.998 * gbps as f64 * 1e9, "{n} at {gbps}G: {used} bit/s in some ms");
        assert!(jain(&outcome.delivered()) > 0.995, "{n} at {gbps}G: {:?}", outcome.delivered());
        assert_eq!(outcome.world.counters.pause_frames, 0, "{n} at {gbps}G");
    }
}

#[test]
fn swift_5_a_lone_flow_fills_the_link_without_a_queue() {
    // Two BDP of window at most: 25 us are not reached, and the NIC is the bottleneck.
    let mut bench = Bench::into_one(1, 100, Span::from_us(4), scheme("swift", &[]));
    bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(1), Time::from_ms(1));
    let outcome = bench.run(Time::from_ms(5));
    assert!(outcome.max(Metric::QueueBytes) <= 1_070.0);
    let goodput = outcome.delivered()[0] * 8.0 / 5e-3 / 1e9;
    assert!(goodput > 0.99 * 100.0 * 1000.0 / 1090.0, "{goodput} Gb/s");
}
