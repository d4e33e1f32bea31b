//! QCN on one bottleneck, against the FQCN paper's account of it.

use crate::bench::*;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::{Fault, FaultKind, ProbeTarget, Thresholds};
use xoff_fabric::record::Metric;

/// `n` endless flows into one 10G port with a round trip of 50 us, as in the paper's dumb-bell. PFC
/// is out of the way, so that what is seen is the scheme's; probes from the start.
pub fn dumb_bell(name: &str, n: u32) -> Bench {
    let mut bench = Bench::into_one(n, 10, Span::from_ns(12_500), scheme(name, &[]));
    quiet(&mut bench);
    bench
}

/// PFC far away, and probes on the queue of port 1, its throughput and all flows.
pub fn quiet(bench: &mut Bench) {
    bench.net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 4_000_000, xon_bytes: 3_998_000 };
    bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(50), Time::ZERO);
    bench.probe(ProbeTarget::Throughput { port: 1 }, Span::from_ms(1), Time::ZERO);
    bench.probe(ProbeTarget::Flows, Span::from_ms(10), Time::ZERO);
}

/// The bottleneck falls to 1 Gb/s and comes back.
pub fn step(bench: &mut Bench, down: Time, up: Time) {
    let rate = |gbps| FaultKind::Rate { port: 1, rate: BitRate::from_gbps(gbps) };
    bench.net.plan.faults = vec![Fault { at: down, what: rate(1) }, Fault { at: up, what: rate(10) }];
}

pub fn queue(outcome: &Outcome, from: Time, to: Time) -> f64 {
    mean_of(&outcome.within(Metric::QueueBytes, 1, from, to))
}

/// Part of `gbps` that the bottleneck carried.
pub fn utilisation(outcome: &Outcome, gbps: f64, from: Time, to: Time) -> f64 {
    mean_of(&outcome.within(Metric::PortThroughput, 1, from, to)) / 1e9 / gbps
}

/// Jain's index of each 100 ms from `from` on, as the mean and the least.
pub fn fairness(outcome: &Outcome, n: u32, from: u64, to: u64) -> (f64, f64) {
    let window = |ms| jain(&outcome.means(Metric::FlowSendRate, n, Time::from_ms(ms), Time::from_ms(ms + 100)));
    let indices: Vec<f64> = (from..to).step_by(100).map(window).collect();
    (mean_of(&indices), indices.iter().copied().fold(1.0, f64::min))
}

#[test]
fn qcn_7_5_queue_around_qeq_full_link_unequal_shares() {
    for n in [2, 4, 10] {
        let (from, to) = (Time::from_ms(300), Time::from_ms(800));
        let outcome = dumb_bell("qcn", n).run(to);
        assert_eq!(outcome.world.counters.pause_frames, 0);
        // The queue oscillates around Qeq = 33 KB: the feedback is zero there only if nothing
        // changes, and what changes pulls the mean a little below.
        let queue = queue(&outcome, from, to);
        assert!((20_000.0..40_000.0).contains(&queue), "{n} flows: {queue} bytes");
        let utilisation = utilisation(&outcome, 10.0, from, to);
        assert!(utilisation > 0.95, "{n} flows: {utilisation}");
        // Shares differ widely (paper, Fig. 4): only the sampled source receives a CNM.
        let shares = outcome.means(Metric::FlowSendRate, n, from, to);
        let (least, most) = shares.iter().fold((f64::MAX, 0.0f64), |(l, m), &s| (l.min(s), m.max(s)));
        assert!(n == 2 || most > 1.3 * least, "{n} flows: {shares:?}");
        assert!(least > 0.2e9, "no flow starves: {shares:?}");
    }
}

#[test]
fn qcn_7_6_recovers_from_steps_of_the_service_rate() {
    let ms = Time::from_ms;
    let mut bench = dumb_bell("qcn", 4);
    step(&mut bench, ms(500), ms(1000));
    let outcome = bench.run(ms(1500));
    // The second half of each phase. At 1 Gb/s a sample comes every 0.8 ms and the queue swings
    // more, so its mean is further below.
    for (gbps, from, least, most) in [(10.0, 250, 25e3, 38e3), (1.0, 750, 10e3, 40e3), (10.0, 1250, 25e3, 38e3)] {
        let queue = queue(&outcome, ms(from), ms(from + 250));
        assert!((least..most).contains(&queue), "at {gbps} Gb/s: {queue} bytes");
        let utilisation = utilisation(&outcome, gbps, ms(from), ms(from + 250));
        assert!(utilisation > 0.95, "at {gbps} Gb/s: {utilisation}");
    }
    assert_eq!(outcome.world.counters.pause_frames, 0);
}

#[test]
fn qcn_3_the_standards_sampling_by_bytes_works_too() {
    let (from, to) = (Time::from_ms(300), Time::from_ms(600));
    let outcome = dumb_bell("qcn:standard", 4).run(to);
    let queue = queue(&outcome, from, to);
    assert!((15_000.0..45_000.0).contains(&queue), "{queue} bytes");
    assert!(utilisation(&outcome, 10.0, from, to) > 0.95);
}
