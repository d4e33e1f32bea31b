//! RoCC: equal rates by construction, and a queue at its reference.

use crate::bench::*;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::{ProbeTarget, Thresholds};
use xoff_fabric::record::Metric;
use xoff_fabric::traffic::{Action, FlowSpec};

fn quiet(bench: &mut Bench, queue: u32) {
    // A congested ingress holds the whole queue until rates arrive: PFC must not be what stops it.
    bench.net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 4_000_000, xon_bytes: 3_998_000 };
    bench.net.plan.switches[0].buffer_bytes = 400_000_000;
    bench.probe(ProbeTarget::Queue { port: queue, class: 0 }, Span::from_us(10), Time::ZERO);
    bench.probe(ProbeTarget::Throughput { port: queue }, Span::from_ms(1), Time::ZERO);
    bench.probe(ProbeTarget::Flows, Span::from_ms(1), Time::ZERO);
}

#[test]
fn rocc_7_4_every_flow_gets_its_share_and_the_queue_is_at_its_reference() {
    for (gbps, n, q_ref) in [(40, 2, 150e3), (40, 8, 150e3), (40, 32, 150e3), (10, 8, 75e3), (100, 8, 300e3)] {
        let mut bench = Bench::into_one(n, gbps, Span::from_us(1), scheme("rocc", &[]));
        quiet(&mut bench, 1);
        let (from, to) = (Time::from_ms(25), Time::from_ms(45));
        let outcome = bench.run(to);
        // The same rate for all: what differs is the packets under way when the interval ends.
        let shares = outcome.means(Metric::FlowSendRate, n, from, to);
        let share = gbps as f64 * 1e9 / f64::from(n);
        assert_near(&shares, &vec![share; n as usize], 0.01);
        let asked: Vec<f64> = (0..n).map(|flow| mean_of(&outcome.within(Metric::FlowRate, flow, from, to))).collect();
        assert!(jain(&asked) > 0.999_99, "{asked:?}");
        // Rates come in steps of 10 Mb/s; times the number of flows, that is how exactly the link can
        // be filled, and the queue hunts accordingly.
        let queue = mean_of(&outcome.within(Metric::QueueBytes, 1, from, to));
        let tolerance = if n <= 8 { 0.06 } else { 0.15 };
        assert!((queue / q_ref - 1.0).abs() < tolerance, "{n} flows at {gbps}G: {queue} bytes");
        let throughput = mean_of(&outcome.within(Metric::PortThroughput, 1, from, to));
        assert!(throughput > 0.995 * gbps as f64 * 1e9, "{throughput}");
    }
}

#[test]
fn rocc_6_a_flow_below_the_fair_rate_is_left_alone_and_the_rest_is_shared() {
    let mut bench = Bench::into_one(4, 40, Span::from_us(1), scheme("rocc", &[]));
    bench.flows[3].1.rate_cap = Some(BitRate::from_gbps(4));
    quiet(&mut bench, 1);
    let (from, to) = (Time::from_ms(25), Time::from_ms(45));
    let outcome = bench.run(to);
    assert_near(&outcome.means(Metric::FlowSendRate, 4, from, to), &[12e9, 12e9, 12e9, 4e9], 0.01);
}

#[test]
fn rocc_4_the_smallest_rate_of_two_bottlenecks_counts() {
    // One flow over both links, two more over the first and one more over the second.
    let mut net = Net::new();
    let switches = ["s0", "s1", "s2"].map(|name| net.switch(name));
    for pair in switches.windows(2) {
        net.link(pair[0], pair[1], 40, Span::from_us(1));
    }
    let mut ends = Vec::new();
    for (from, to) in [(0, 2), (0, 1), (0, 1), (1, 2)] {
        ends.push([from, to].map(|switch: usize| {
            let name = format!("h{}", net.plan.nodes.len());
            net.host_at(&name, switches[switch], 40, Span::from_us(1)).0
        }));
    }
    let mut bench = Bench::new(net, scheme("rocc", &[]));
    for (i, [src, dst]) in ends.into_iter().enumerate() {
        bench.start(Time::ZERO, FlowSpec { probed: true, ..endless(i as u32, src, dst) });
    }
    quiet(&mut bench, 0);
    let (from, to) = (Time::from_ms(30), Time::from_ms(50));
    let outcome = bench.run(to);
    let share = 40e9 / 3.0;
    assert_near(&outcome.means(Metric::FlowSendRate, 4, from, to), &[share, share, share, 2.0 * share], 0.02);
}

#[test]
fn rocc_4_fast_recovery_when_the_others_leave() {
    // Seven of eight flows stop at 20 ms. The eighth has 5 Gb/s and the line free for it.
    let mut bench = Bench::into_one(8, 40, Span::from_us(1), scheme("rocc", &[]));
    let starts = std::mem::take(&mut bench.flows).into_iter().map(|(at, spec)| (at, Action::Start(spec)));
    let stops = (2..=8).map(|handle| (Time::from_ms(20), Action::Stop { handle }));
    bench.sources.push(Script::boxed(starts.chain(stops).collect()));
    quiet(&mut bench, 1);
    let outcome = bench.run(Time::from_ms(24));
    let before = mean_of(&outcome.within(Metric::FlowSendRate, 0, Time::from_ms(15), Time::from_ms(20)));
    assert_near(&[before], &[5e9], 0.02);
    // The queue's own controller raises the rate, then falls silent: line rate within 3 ms.
    let after = mean_of(&outcome.within(Metric::FlowSendRate, 0, Time::from_ms(23), Time::from_ms(24)));
    assert_near(&[after], &[40e9], 0.02);
}
