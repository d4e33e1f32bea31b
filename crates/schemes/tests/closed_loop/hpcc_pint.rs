//! HPCC-PINT: as HPCC, with a few parts in a hundred for the noise of its digests.

use crate::bench::*;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{ProbeTarget, Thresholds};
use xoff_fabric::record::Metric;

#[test]
fn pint_flows_share_a_link_without_a_queue() {
    // HPCC has 95.1, 95.3 and 96.4 %. Rates are inversely proportional to what is decoded, so its spread costs.
    for (n, expected) in [(1, 0.928), (8, 0.940), (40, 0.959)] {
        let mut bench = Bench::into_one(n, 100, Span::from_us(2), scheme("hpcc-pint", &[]));
        let thresholds = Thresholds::Static { xoff_bytes: 2_000_000, xon_bytes: 1_998_000 };
        bench.net.plan.switches[0].pfc.thresholds = thresholds;
        bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(1), Time::from_ms(5));
        bench.probe(ProbeTarget::Throughput { port: 1 }, Span::from_ms(1), Time::from_ms(5));
        let outcome = bench.run(Time::from_ms(20));
        let used = outcome.values(Metric::PortThroughput)[1..].iter().sum::<f64>() / 15.0 / 100e9;
        assert!((used - expected).abs() < 0.015, "{n} flows: {used}");
        let queue = outcome.mean(Metric::QueueBytes);
        assert!(queue < 5_125.0, "{n} flows: {queue} bytes");
        let shares = outcome.delivered();
        assert!(jain(&shares) > 0.98, "{n} flows: {shares:?}");
        assert_eq!(outcome.world.counters.pause_frames, 0);
    }
}
