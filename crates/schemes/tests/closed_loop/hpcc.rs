//! HPCC: high use of the link, hardly any queue, equal shares.

use crate::bench::*;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{ProbeTarget, Thresholds};
use xoff_fabric::record::Metric;

/// Payload over wire bytes of a full packet with the telemetry header.
const GOODPUT: f64 = 1000.0 / 1124.0;

/// `n` endless flows into one 100G port; T is 8.2 us, so W_init is 102.5 KB.
fn into_one(n: u32, preset: &str) -> Bench {
    let mut bench = Bench::into_one(n, 100, Span::from_us(2), scheme(preset, &[]));
    bench.net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 2_000_000, xon_bytes: 1_998_000 };
    bench
}

#[test]
fn hpcc_7_2_one_flow_settles_at_eta_without_a_queue() {
    for preset in ["hpcc", "hpcc:script"] {
        let mut bench = into_one(1, preset);
        bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(1), Time::from_ms(1));
        bench.probe(ProbeTarget::Throughput { port: 1 }, Span::from_us(100), Time::from_ms(1));
        let outcome = bench.run(Time::from_ms(3));
        let used = outcome.values(Metric::PortThroughput)[1..].iter().sum::<f64>() / 20.0 / 100e9;
        // eta W / (W - W_AI) is 0.9507; the window moves in steps of whole rounds around it.
        assert!((used - 0.95).abs() < 0.01, "{preset}: {used} of the line");
        let queue = outcome.max(Metric::QueueBytes);
        assert!(queue <= 1_104.0, "{preset}: {queue} bytes, more than a packet");
        let goodput = outcome.delivered()[0] * 8.0 / 3e-3 / 1e9;
        assert!((goodput / (95.0 * GOODPUT) - 1.0).abs() < 0.015, "{preset}: {goodput} Gb/s");
    }
}

#[test]
fn hpcc_7_3_many_flows_are_equal_and_queue_hardly_at_all() {
    for n in [8, 40] {
        let mut bench = into_one(n, "hpcc");
        bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(1), Time::from_ms(5));
        bench.probe(ProbeTarget::Throughput { port: 1 }, Span::from_ms(1), Time::from_ms(5));
        let outcome = bench.run(Time::from_ms(20));
        // U* = eta W / (W - W_AI) with W near W_init / n; packets of 1 KB blur windows of 2.6 KB.
        let window = 102_500.0 / f64::from(n);
        let expected = 0.95 * window / (window - 80.0);
        let used = outcome.values(Metric::PortThroughput)[1..].iter().sum::<f64>() / 15.0 / 100e9;
        assert!((used - expected).abs() < 0.02, "{n} flows: {used}, expected {expected}");
        // n W_AI is below W_init (1 - eta) = 5.1 KB, so the queue is a few packets, not a BDP.
        let queue = outcome.mean(Metric::QueueBytes);
        assert!(queue < 5_125.0, "{n} flows: {queue} bytes");
        let shares = outcome.delivered();
        assert!(jain(&shares) > 0.98, "{n} flows: {shares:?}");
        assert_eq!(outcome.world.counters.pause_frames, 0);
    }
}

/// See `docs/schemes/hpcc.md`, Interpretation: the file's "after one round trip" holds where telemetry shows the whole
/// backlog; behind a queue that is still building, the cut takes two round trips and overshoots.
#[test]
fn hpcc_7_4_two_flows_meet_at_line_rate() {
    let mut bench = into_one(2, "hpcc");
    bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(1), Time::ZERO);
    bench.probe(ProbeTarget::Flows, Span::from_us(1), Time::ZERO);
    let outcome = bench.run(Time::from_us(200));
    let queue = outcome.values(Metric::QueueBytes);
    let peak = outcome.max(Metric::QueueBytes);
    assert!((peak / 102_500.0 - 1.0).abs() < 0.15, "the peak is {peak} bytes, one BDP expected");
    assert!(queue[32..].iter().all(|&bytes| bytes <= 2_208.0), "drained after three round trips");
    // Rates, two flows per microsecond: before the end of the second round trip cut to the target
    // or below, and there to stay once six rounds of increase have made good the overshoot.
    let rates = outcome.values(Metric::FlowRate);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min) / 1e9;
    assert!((30.0..47.5).contains(&least), "the least rate is {least} Gb/s");
    for rate in &rates[2 * 90..] {
        assert!((rate / 47.5e9 - 1.0).abs() < 0.05, "{} Gb/s, 47.5 expected", rate / 1e9);
    }
}

#[test]
fn hpcc_6_a_flow_shorter_than_a_bdp_is_never_controlled() {
    // One at a time over an idle path: line rate from the first byte to the last.
    let mut net = Net::star(2, 100, Span::from_us(2));
    net.plan.run.stop_when_idle = true;
    let mut bench = Bench::new(net, scheme("hpcc", &[]));
    bench.start(Time::ZERO, flow(0, 1, 2, 90_000));
    let outcome = bench.run(Time::from_ms(1));
    let record = &outcome.world.flows[0];
    assert_eq!(record.delivered_at.unwrap() - record.start, record.ideal);
}

#[test]
fn hpcc_6_windows_below_a_packet_are_paced() {
    // 300 flows have 342 B of window each: one packet in flight, the others by rate.
    let mut bench = into_one(300, "hpcc");
    bench.probe(ProbeTarget::Throughput { port: 1 }, Span::from_ms(1), Time::from_ms(5));
    bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(10), Time::from_ms(5));
    let outcome = bench.run(Time::from_ms(15));
    let used = outcome.values(Metric::PortThroughput)[1..].iter().sum::<f64>() / 10.0 / 100e9;
    assert!((0.95..1.0).contains(&used), "{used} of the line");
    // One packet of each in flight and no pacing would be 331 KB, of which the pipe holds 102 KB.
    let queue = outcome.mean(Metric::QueueBytes);
    assert!(queue < 90_000.0, "{queue} bytes");
    assert!(jain(&outcome.delivered()) > 0.99, "{:?}", outcome.delivered());
}

/// Nine to one at 40G: H1 has been sending for 600 us when eight hosts send 120 KB each, with the
/// round trip of 24 us that Mercury's topology has.
#[test]
fn hpcc_7_5_a_burst_starves_the_long_flow() {
    let mut net = Net::star(10, 40, Span::from_us(4));
    net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 2_000_000, xon_bytes: 1_998_000 };
    let texts = [("round_trip", "fixed"), ("base_rtt", "24us")];
    let mut bench = Bench::new(net, scheme("hpcc", &texts));
    bench.start(Time::ZERO, xoff_fabric::traffic::FlowSpec { probed: true, ..endless(0, 2, 1) });
    for i in 1..9 {
        bench.start(Time::from_us(600), flow(i, i + 2, 1, 120_000));
    }
    bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(1), Time::from_us(500));
    bench.probe(ProbeTarget::Flows, Span::from_us(20), Time::from_us(500));
    let outcome = bench.run(Time::from_ms(2));
    // Mercury reports more than 1000 KB and about nothing left of the long flow. All the bursts are
    // 1060 KB of frames, of which some leave while the others arrive.
    let peak = outcome.max(Metric::QueueBytes);
    assert!((850_000.0..1_100_000.0).contains(&peak), "{peak} bytes");
    let sent = outcome.values(Metric::FlowSendRate);
    let least = sent.iter().copied().fold(f64::INFINITY, f64::min) / 1e9;
    assert!(least < 1.0, "the long flow never fell below {least} Gb/s");
    let last = sent[sent.len() - 1] / 1e9;
    assert!((last / 38.0 - 1.0).abs() < 0.03, "{last} Gb/s in the end, eta of the line expected");
}
