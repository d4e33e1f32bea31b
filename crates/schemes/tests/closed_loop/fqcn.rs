//! FQCN in the experiments of its paper, section VI, shortened.

use crate::bench::*;
use crate::qcn::{dumb_bell, queue, quiet, step, utilisation};
use xoff_engine::{BitRate, Span, Time, stream};
use xoff_fabric::record::Metric;
use xoff_fabric::traffic::{Action, FlowSpec};

const RTT_QUARTER: Span = Span::from_ns(12_500);

#[test]
fn fqcn_8_5_equal_shares_through_steps_of_the_service_rate() {
    // The paper's steps, at 0.6 and 1.2 s instead of 2 and 4 s.
    let ms = Time::from_ms;
    let mut bench = dumb_bell("fqcn", 4);
    step(&mut bench, ms(600), ms(1200));
    let outcome = bench.run(ms(1800));
    for (gbps, from, to) in [(10.0, 300, 600), (1.0, 900, 1200), (10.0, 1500, 1800)] {
        let shares = outcome.means(Metric::FlowSendRate, 4, ms(from), ms(to));
        // C / 4 each; the link is not quite full at 1 Gb/s, where samples are ten times rarer.
        assert_near(&shares, &[gbps * 1e9 / 4.0; 4], 0.05);
        assert!(jain(&shares) > 0.999, "{shares:?}");
        assert!(utilisation(&outcome, gbps, ms(from), ms(to)) > 0.95);
    }
    // Around Qeq = 33 KB while the port is fast. All culprits are cut at once, so the queue falls
    // deeper than QCN's between two cuts.
    let queue = queue(&outcome, ms(300), ms(600));
    assert!((18_000.0..40_000.0).contains(&queue), "{queue} bytes");
    assert_eq!(outcome.world.counters.pause_frames, 0);
}

#[test]
fn fqcn_8_5_smoother_than_af_qcn() {
    // Deviation of sending rates over 10 ms, once settled. The paper has 3 to 4 times as much under
    // AF-QCN; over eight seeds we measure 1.6 to 3.5, so three seeds are taken together.
    let (from, to) = (Time::from_ms(300), Time::from_ms(700));
    let deviation = |name| {
        let of_seed = |seed| {
            let mut bench = dumb_bell(name, 4);
            bench.net.plan.seed = seed;
            let outcome = bench.run(to);
            (0..4).map(|flow| deviation_of(&outcome.within(Metric::FlowSendRate, flow, from, to))).sum::<f64>() / 4.0
        };
        (1..=3).map(of_seed).sum::<f64>() / 3.0
    };
    let (af, fair) = (deviation("af-qcn"), deviation("fqcn"));
    assert!(af > 1.8 * fair, "AF-QCN {:.1} Mb/s, FQCN {:.1} Mb/s", af / 1e6, fair / 1e6);
    assert!(fair < 0.015 * 2.5e9, "{fair}");
}

#[test]
fn fqcn_8_6_parking_lot_is_max_min_fair_after_each_start() {
    // Two bottlenecks in a row, A and B. Flows start one by one; shares are max-min fair.
    let mut net = Net::new();
    let switches = ["s0", "s1", "s2"].map(|name| net.switch(name));
    for pair in switches.windows(2) {
        net.link(pair[0], pair[1], 10, RTT_QUARTER);
    }
    let mut host = |name: String, switch: usize| net.host_at(&name, switches[switch], 10, RTT_QUARTER).0;
    // From switch, to switch: one flow over both, three more over A, two more over B.
    let flows = [(0, 2), (0, 1), (1, 2), (0, 1), (0, 1), (1, 2)];
    let ends: Vec<(u32, u32)> = flows
        .iter()
        .enumerate()
        .map(|(i, &(from, to))| (host(format!("a{i}"), from), host(format!("b{i}"), to)))
        .collect();
    let mut bench = Bench::new(net, scheme("fqcn", &[]));
    for (i, (src, dst)) in ends.into_iter().enumerate() {
        let spec = FlowSpec { probed: true, ..endless(i as u32, src, dst) };
        bench.start(Time::from_ms(200 * i as u64), spec);
    }
    quiet(&mut bench);
    let outcome = bench.run(Time::from_ms(1400));
    for (starts, expected) in [
        (2, &[5.0, 5.0][..]),
        (3, &[5.0, 5.0, 5.0]),
        (4, &[3.333, 3.333, 6.667, 3.333]),
        (5, &[2.5, 2.5, 7.5, 2.5, 2.5]),
        (6, &[2.5, 2.5, 3.75, 2.5, 2.5, 3.75]),
    ] {
        let end = if starts == 6 { 1400 } else { 200 * starts };
        let shares =
            outcome.means(Metric::FlowSendRate, expected.len() as u32, Time::from_ms(end - 60), Time::from_ms(end));
        let gbps: Vec<f64> = shares.iter().map(|bps| bps / 1e9).collect();
        assert_near(&gbps, expected, 0.08);
    }
}

/// A flow that is offered `bursts` of bytes, and when.
fn offered(handle: u32, src: u32, start: Time, bursts: impl Iterator<Item = (Time, u64)>) -> Vec<(Time, Action)> {
    let spec = FlowSpec { probed: true, offered_bytes: Some(0), ..endless(handle, src, 1) };
    let mut actions = vec![(start, Action::Start(spec))];
    actions.extend(bursts.map(|(at, bytes)| (at, Action::Offer { handle, bytes })));
    actions
}

#[test]
fn fqcn_8_6_static_and_on_off_flows() {
    // Three static flows; from 100 ms on two that offer bursts of 10 KB, 1 and 5 Gb/s on the
    // wire. The first is below its share and gets what it offers, the other four share the rest.
    let end = Time::from_ms(600);
    let mut bench = Bench::into_one(3, 10, RTT_QUARTER, scheme("fqcn", &[]));
    let hosts = [4, 5].map(|i| bench.net.host_at(&format!("h{i}"), 0, 10, RTT_QUARTER).0);
    for (handle, (src, gbps)) in hosts.into_iter().zip([1, 5]).enumerate() {
        // Ten packets of 1086 bytes on the wire.
        let gap = Span::from_ps(10 * 1086 * 8 * 1000 / gbps);
        // One after the other, so that flows are numbered in this order.
        let start = Time::from_ms(100) + Span::from_us(handle as u64);
        let bursts = (0..).map(|i| (start + gap * (i + 1), 10_000)).take_while(|(at, _)| *at < end);
        bench.sources.push(Script::boxed(offered(handle as u32, src, start, bursts)));
    }
    quiet(&mut bench);
    let outcome = bench.run(end);
    let shares = outcome.means(Metric::FlowSendRate, 5, Time::from_ms(300), end);
    assert_near(&shares[3..4], &[1e9], 0.02);
    assert_near(&shares, &[2.25e9, 2.25e9, 2.25e9, 1e9, 2.25e9], 0.05);
    assert!(utilisation(&outcome, 10.0, Time::from_ms(300), end) > 0.97);
}

#[test]
fn fqcn_8_7_static_and_poisson_sources() {
    // Four static sources and four that offer Poisson arrivals of Pareto sizes (mean 10 KB, shape
    // 1.1), 2, 1, 0.5 and 0.25 Gb/s. The light ones get their load, the others share the rest.
    let end = Time::from_ms(600);
    let mut bench = Bench::into_one(4, 10, RTT_QUARTER, scheme("fqcn", &[]));
    let from = Time::from_ms(150);
    let mut offered_bps = Vec::new();
    for (i, gbps) in [2.0, 1.0, 0.5, 0.25].into_iter().enumerate() {
        let (src, _) = bench.net.host_at(&format!("p{i}"), 0, 10, RTT_QUARTER);
        let mut rng = stream(1, "poisson test", i as u64);
        let (mut at, mut bursts) = (0.0, Vec::new());
        while at < end.as_s() {
            at += rng.exponential(10_000.0 * 8.0 / (gbps * 1e9));
            bursts.push((Time::from_ps((at * 1e12) as u64), rng.pareto(10_000.0 * 0.1 / 1.1, 1.1).min(1e6)));
        }
        // So heavy a tail does not reach its mean in half a second: scale to the load meant.
        let wire_bytes: f64 = bursts.iter().map(|(_, bytes)| bytes * 1.086).sum();
        let scale = gbps * 1e9 / 8.0 * end.as_s() / wire_bytes;
        let bursts: Vec<_> = bursts.into_iter().map(|(at, bytes)| (at, (bytes * scale) as u64)).collect();
        let late = bursts.iter().filter(|(at, _)| *at > from).map(|(_, bytes)| *bytes as f64 * 1.086 * 8.0);
        offered_bps.push(late.sum::<f64>() / (end - from).as_s());
        bench.sources.push(Script::boxed(offered(i as u32, src, Time::from_ns(i as u64 + 1), bursts.into_iter())));
    }
    quiet(&mut bench);
    let outcome = bench.run(end);
    // The order of start is by source: the static ones first.
    let shares = outcome.means(Metric::FlowSendRate, 8, from, end);
    // Below the 1.65 Gb/s of a full link (paper: 1.6): here messages leave at line rate, and each
    // large one cuts every flow.
    assert_near(&shares[..5], &[1.5e9; 5], 0.11);
    assert_near(&shares[5..], &offered_bps[1..], 0.03);
    assert!(jain(&shares[..5]) > 0.998, "{shares:?}");
}

#[test]
fn fqcn_8_8_weights_and_a_flow_that_cannot_use_its_share() {
    // Weights 4:3:2:1; the application of the first is limited to 1 Gb/s from 500 ms on.
    let ms = Time::from_ms;
    let mut bench = dumb_bell("fqcn", 4);
    let mut actions: Vec<(Time, Action)> = Vec::new();
    for (i, (at, mut spec)) in std::mem::take(&mut bench.flows).into_iter().enumerate() {
        spec.weight = 4 - i as u16;
        actions.push((at, Action::Start(spec)));
    }
    actions.push((ms(500), Action::Cap { handle: 1, rate: Some(BitRate::from_gbps(1)) }));
    bench.sources.push(Script::boxed(actions));
    let outcome = bench.run(ms(1000));
    // The smallest flow has three to ten packets in a sampling interval. One more puts it well above
    // its share, so it is blamed too often (section 7: fairness is only statistical).
    let shares = outcome.means(Metric::FlowSendRate, 4, ms(200), ms(500));
    assert_near(&shares[..3], &[4e9, 3e9, 2e9], 0.04);
    assert_near(&shares[3..], &[0.9e9], 0.12);
    let shares = outcome.means(Metric::FlowSendRate, 4, ms(700), ms(1000));
    assert_near(&shares, &[1e9, 4.5e9, 3e9, 1.5e9], 0.05);
}

#[test]
fn fqcn_4_flows_below_their_share_hear_nothing() {
    let mut bench = dumb_bell("fqcn", 4);
    bench.flows[3].1.rate_cap = Some(BitRate::from_gbps(1));
    let outcome = bench.run(Time::from_ms(500));
    let mut flows: Vec<_> = outcome.world.flows.iter().collect();
    flows.sort_by_key(|flow| flow.id);
    let notified: Vec<u64> = flows.iter().map(|flow| flow.notifications).collect();
    assert!(notified[3] * 20 < notified[0], "{notified:?}");
    let shares = outcome.means(Metric::FlowSendRate, 4, Time::from_ms(200), Time::from_ms(500));
    assert_near(&shares, &[3e9, 3e9, 3e9, 1e9], 0.05);
}
