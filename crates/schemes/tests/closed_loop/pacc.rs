//! PACC over DCQCN's reaction point.

use crate::bench::*;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{ProbeTarget, Thresholds};
use xoff_fabric::record::Metric;
use xoff_fabric::traffic::FlowSpec;

fn into_one(name: &str, n: u32) -> Bench {
    let mut bench = Bench::into_one(n, 40, Span::from_us(1), scheme(name, &[]));
    bench.net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 4_000_000, xon_bytes: 3_998_000 };
    bench.net.plan.switches[0].buffer_bytes = 400_000_000;
    bench
}

#[test]
fn pacc_7_2_the_queue_settles_at_its_reference() {
    for n in [2, 4, 8, 16, 32] {
        let mut bench = into_one("pacc", n);
        let (from, to) = (Time::from_ms(50), Time::from_ms(100));
        bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(10), Time::ZERO);
        bench.probe(ProbeTarget::Throughput { port: 1 }, Span::from_ms(1), Time::ZERO);
        let outcome = bench.run(to);
        // Integral action: the mean is at q_ref = 160 KB, whatever the number of flows. A CNP every
        // 80 us is coarse, so the queue swings the more the more flows are notified at once.
        let queue = mean_of(&outcome.within(Metric::QueueBytes, 1, from, to));
        assert!((queue / 160e3 - 1.0).abs() < 0.1, "{n} flows: {queue} bytes");
        let throughput = mean_of(&outcome.within(Metric::PortThroughput, 1, from, to));
        assert!(throughput > 0.98 * 40e9, "{n} flows: {throughput}");
        let shares = outcome.delivered();
        assert!(jain(&shares) > 0.99, "{shares:?}");
    }
}

#[test]
fn pacc_7_2_cnps_per_packet_are_near_dcqcns_marking_probability() {
    // With the paper's reaction point the fluid model of DCQCN has its fixed point at 0.092 % for two
    // flows and 0.785 % for ten (dcqcn section 8.5).
    for (n, expected) in [(2, 0.000_92), (10, 0.007_85)] {
        let sent = |ms| {
            let outcome = into_one("pacc+dcqcn:paper", n).run(Time::from_ms(ms));
            let counters = &outcome.world.counters;
            (counters.notifications_sent as f64, counters.data_packets_sent as f64)
        };
        let (before, after) = (sent(40), sent(100));
        let p = (after.0 - before.0) / (after.1 - before.1);
        assert!((0.65..1.5).contains(&(p / expected)), "{n} flows: {p}");
    }
}

#[test]
fn pacc_7_3_feedback_within_a_period() {
    // Two flows collide at a different phase of the 80 us period each time. The paper's reaction
    // point shows a CNP at once, as a rate below line rate.
    for phase in [0, 7, 20, 33, 46, 59, 72, 79] {
        let start = Time::from_us(800 + phase);
        let mut bench = into_one("pacc+dcqcn:paper", 2);
        for (at, _) in &mut bench.flows {
            *at = start;
        }
        bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_ns(200), start);
        bench.probe(ProbeTarget::Flows, Span::from_ns(200), start);
        let outcome = bench.run(start + Span::from_us(300));
        let first = |metric, wanted: &dyn Fn(f64) -> bool| {
            let sample = outcome.world.samples.iter().find(|s| s.metric == metric && wanted(s.value));
            sample.expect("it happens").at
        };
        // Congestion begins when the queue passes what the controller aims at, 160 KB.
        let onset = first(Metric::QueueBytes, &|bytes| bytes > 160e3);
        let cut = first(Metric::FlowRate, &|bps| bps < 40e9);
        // One period and the way of a 98-byte CNP from the switch: 1 us and 20 ns.
        let delay = cut.as_us() - onset.as_us();
        assert!(delay < 80.0 + 1.02 + 0.4, "phase {phase}: {delay} us");
        assert!(cut > start + Span::from_us(2), "nothing is known before the first packet arrives");
        let tick = (cut.as_us() - 1.02) % 80.0;
        assert!(!(0.4..=79.6).contains(&tick), "CNPs leave at the end of a period: {tick}");
    }
}

#[test]
fn pacc_7_4_victims_of_pfc_are_cut_too() {
    // F0 goes through a shared link into a port where four others collide; F1 shares only the link,
    // which PFC pauses. PACC sees a long queue there and cannot tell that F1 is not its cause.
    let mut net = Net::new();
    let (s0, s1) = (net.switch("s0"), net.switch("s1"));
    let delay = Span::from_us(1);
    net.link(s0, s1, 40, delay);
    let mut host = |name: &str, at: u32| net.host_at(name, at, 40, delay).0;
    let [src0, src1, dst0, dst1] =
        [("src0", s0), ("src1", s0), ("dst0", s1), ("dst1", s1)].map(|(name, at)| host(name, at));
    let burst: Vec<u32> = (0..4).map(|i| host(&format!("b{i}"), s1)).collect();
    let mut bench = Bench::new(net, scheme("pacc", &[]));
    bench.start(Time::ZERO, endless(0, src0, dst0));
    bench.start(Time::ZERO, FlowSpec { probed: true, ..endless(1, src1, dst1) });
    for (i, src) in burst.into_iter().enumerate() {
        // Uncontrolled and endless, so that the port stays congested whatever F0 does.
        let spec = FlowSpec { scheme: 1, ..endless(i as u32 + 2, src, dst0) };
        bench.start(Time::from_us(500), spec);
    }
    bench.also(scheme("none", &[]));
    let outcome = bench.run(Time::from_ms(5));
    assert!(outcome.world.counters.pause_frames > 0);
    let victim = outcome.world.flows.iter().find(|flow| flow.id == 1).unwrap();
    assert!(victim.notifications > 5, "{} CNPs", victim.notifications);
}
