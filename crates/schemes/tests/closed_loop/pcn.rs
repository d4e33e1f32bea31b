//! PCN against its fluid model, and in the scenario that it was made for.

use crate::bench::*;
use crate::fig2;
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::{ProbeTarget, Thresholds, peer};
use xoff_fabric::record::{Metric, Sample};
use xoff_fabric::traffic::FlowSpec;

const LINE: f64 = 40.0;
/// Rates are of wire bytes, deliveries of payload.
const WIRE_PER_PAYLOAD: f64 = 1082.0 / 1000.0;

/// `n` endless flows into one 40G port, links of 1 us, PFC out of reach.
fn into_one(n: u32, initial_gbps: f64, w_min: &str, period: &str) -> Bench {
    let scheme = scheme("pcn", &[("w_min", w_min), ("period", period)]);
    let mut bench = Bench::into_one(n, LINE as u64, Span::from_us(1), scheme);
    bench.net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 8_000_000, xon_bytes: 7_998_000 };
    for (_, flow) in &mut bench.flows {
        flow.initial_rate = Some(BitRate::from_bps((initial_gbps * 1e9) as u64));
    }
    bench
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The highest value in each stretch of `len` samples.
fn peaks(values: &[f64], len: usize) -> Vec<f64> {
    values.chunks_exact(len).map(|part| part.iter().copied().fold(0.0, f64::max)).collect()
}

/// Asked rates of one flow in Gb/s, sample by sample.
fn rates(outcome: &Outcome, label: u32) -> Vec<f64> {
    let of = |s: &&Sample| s.metric == Metric::FlowRate && s.label == label;
    outcome.world.samples.iter().filter(of).map(|s| s.value / 1e9).collect()
}

/// Steady queue peak per cycle, the median low and high rate, goodput as a share of what fits.
fn steady(n: u32, w_min: &str, period_us: u64) -> (f64, f64, f64, f64) {
    let mut bench = into_one(n, LINE / f64::from(n), w_min, &format!("{period_us}us"));
    let from = Time::from_us(40 * period_us);
    bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(1), from);
    bench.probe(ProbeTarget::Flows, Span::from_us(period_us / 10), from);
    let stop = Time::from_us(340 * period_us);
    let outcome = bench.run(stop);
    assert_eq!(outcome.world.counters.pause_frames, 0, "the loop needs no PFC");
    // One cycle is n periods (equations 12 and 13).
    let cycle = n as usize * period_us as usize;
    let queue = median(peaks(&outcome.values(Metric::QueueBytes), cycle));
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for label in 0..n {
        for part in rates(&outcome, label).chunks_exact(10 * n as usize) {
            low.push(part.iter().copied().fold(f64::MAX, f64::min));
            high.push(part.iter().copied().fold(0.0, f64::max));
        }
    }
    let delivered: f64 = outcome.delivered().iter().sum();
    let used = delivered * 8.0 * WIRE_PER_PAYLOAD / (stop - Time::ZERO).as_s() / 1e9 / LINE;
    (queue, median(low), median(high), used)
}

#[test]
fn pcn_9_6_steady_swing_of_queue_and_rate() {
    // Proposition 3 where its assumptions hold: the loop's delay (4 us) is far below 5 % of the
    // period, so that the first period with a queue is already one of nothing but marks.
    for (n, w_min, text) in [(4u32, 0.025, "0.025"), (10, 0.01, "0.01")] {
        let flows = f64::from(n);
        let (queue, low, high, used) = steady(n, text, 500);
        let delta_q = (flows - 2.0 + w_min) * w_min * LINE * 1e9 / 8.0 * 500e-6;
        // The receiving rate comes in steps of one packet per period, and a flow whose period
        // straddles the edge of the queue's makes up its own mind: less agreement, lower peaks.
        assert!(queue / delta_q > 0.75 && queue / delta_q < 1.05, "{n} flows: {queue} of {delta_q} bytes");
        let (low_model, high_model) = ((1.0 - w_min) * LINE / flows, (1.0 + (flows - 1.0) * w_min) * LINE / flows);
        assert!((low / low_model - 1.0).abs() < 0.06, "{n} flows: low {low}, expected {low_model}");
        // Equation 16 is the bound, equation 9 the value.
        let eq_9 = low * (1.0 - w_min) + w_min * LINE;
        assert!((high / eq_9 - 1.0).abs() < 0.02, "{n} flows: high {high}, expected {eq_9}");
        assert!(high < high_model && high - low < w_min * LINE, "{n} flows: {low} to {high}");
        assert!(used > 0.985, "{n} flows use {used}");
    }
}

#[test]
fn pcn_9_6_a_longer_loop_adds_one_increase() {
    // With T = 50 us the loop's delay of 4 us is more than 5 % of a period: the first period with a
    // queue is not yet congested by the 95 % rule, and a second increase with the grown weight
    // follows.
    let (n, w_min) = (4.0, 0.025);
    let (queue, _, _, used) = steady(4, "0.025", 50);
    let first = n * ((1.0 - w_min) * (1.0 - w_min) / n + w_min);
    let w = w_min * (1.0 - w_min) + 0.5 * w_min;
    let second = first * (1.0 - w) + n * w;
    let predicted = (first - 1.0 + second - 1.0) * LINE * 1e9 / 8.0 * 50e-6;
    // Some cycles do with one, so the median lies below; without the second it would be a quarter.
    assert!(queue / predicted > 0.6 && queue / predicted < 1.05, "{queue}, expected {predicted}");
    assert!(used > 0.985, "{used}");
}

#[test]
fn pcn_7_proposition_1_one_loop_to_capacity_then_the_queue_drains() {
    let (n, w_min, period) = (4.0, 0.025, 500e-6);
    let mut bench = into_one(4, LINE, "0.025", "500us");
    bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(10), Time::ZERO);
    bench.probe(ProbeTarget::Flows, Span::from_us(10), Time::ZERO);
    let outcome = bench.run(Time::from_ms(70));
    let queue = outcome.values(Metric::QueueBytes);
    // Equation 8 with k = 1. The loop adds its delay of 4 us to the first period.
    let excess = (n - 1.0) * LINE * 1e9 / 8.0;
    let peak = queue.iter().copied().fold(0.0, f64::max);
    assert!((peak / (excess * period) - 1.0).abs() < 0.02, "peak {peak}");
    // One loop later the sum is (1 - w_min) C, to within a packet per period and flow.
    let sum_at = |us: usize| (0..4).map(|label| rates(&outcome, label)[us / 10]).sum::<f64>();
    assert_eq!(sum_at(500), n * LINE);
    assert!((sum_at(520) / ((1.0 - w_min) * LINE) - 1.0).abs() < 0.005, "{} Gb/s", sum_at(520));
    // The queue is empty after 1 + (sum - C) / (w_min C) = 121 loops. Receiving rates are whole packets
    // per period and the sender keeps the smallest it received, so it drains somewhat sooner.
    let empty = queue.iter().skip(100).position(|q| *q == 0.0).expect("drains") + 100;
    let loops = empty as f64 * 10e-6 / period;
    assert!(loops > 0.85 * 121.0 && loops < 1.02 * 121.0, "empty after {loops} loops");
}

#[test]
fn pcn_7_proposition_2_shares_become_equal() {
    // Two flows, 36 and 4 Gb/s to begin with, default parameters.
    let mut bench = into_one(2, 36.0, "1/128", "50us");
    bench.flows[1].1.initial_rate = Some(BitRate::from_gbps(4));
    bench.probe(ProbeTarget::Flows, Span::from_us(50), Time::ZERO);
    let outcome = bench.run(Time::from_ms(60));
    let (one, two) = (rates(&outcome, 0), rates(&outcome, 1));
    // Equation 14: the distance from one half shrinks by `a` per cycle of two periods.
    let w_min: f64 = 1.0 / 128.0;
    let keep = (1.0 - w_min) * (1.0 - w_min);
    let a = keep / (keep + 2.0 * w_min);
    let mut offset = 0.4;
    for part in 0..11 {
        let mut model = 0.0;
        for _ in 0..50 {
            model += offset / 50.0;
            offset *= a;
        }
        let sum = |rates: &[f64]| rates[100 * part..100 * part + 100].iter().sum::<f64>();
        let share = sum(&one) / (sum(&one) + sum(&two));
        // Cycles are longer than two periods when increases need more than one (see above), and
        // unequal flows see unequal numbers of marks.
        assert!((share - 0.5 - model).abs() < 0.02, "after {part} x 5 ms: {share}, expected {}", 0.5 + model);
    }
}

/// Figure 1 of the paper: F0 and F1 share S0 to S1, fourteen hosts burst to F1's receiver.
struct Victim {
    outcome: Outcome,
    /// S0's ports to its two hosts.
    to_hosts: [u32; 2],
}

const BURST: Time = Time::from_ms(5);

fn victim(long: &str, burst: &str) -> Victim {
    let mut net = Net::new();
    let delay = Span::from_us(5);
    let (s0, s1) = (net.switch("S0"), net.switch("S1"));
    net.link(s0, s1, 40, delay);
    let mut host = |name: String, switch| net.host_at(&name, switch, 40, delay);
    let senders: Vec<_> = (0..16).map(|i| host(format!("H{i}"), if i < 2 { s0 } else { s1 })).collect();
    let receivers: Vec<_> = (0..2).map(|i| host(format!("R{i}"), s1)).collect();
    net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 512_000, xon_bytes: 510_000 };
    let mut bench = Bench::new(net, scheme(long, &[]));
    let own = bench.also(scheme(burst, &[]));
    for i in 0..2 {
        let initial_rate = Some(BitRate::from_gbps(20));
        let flow = endless(i, senders[i as usize].0, receivers[i as usize].0);
        bench.start(Time::ZERO, FlowSpec { probed: true, label: i, initial_rate, ..flow });
    }
    for (h, sender) in senders.iter().enumerate().skip(2) {
        for k in 0..16 {
            let handle = (h * 16 + k) as u32;
            bench.start(BURST, FlowSpec { scheme: own, label: 9, ..flow(handle, sender.0, receivers[1].0, 64_000) });
        }
    }
    bench.probe(ProbeTarget::Flows, Span::from_us(100), BURST);
    let outcome = bench.run(Time::from_ms(11));
    Victim { outcome, to_hosts: [peer(senders[0].1), peer(senders[1].1)] }
}

impl Victim {
    fn pauses(&self, port: u32) -> usize {
        self.outcome.world.pauses.iter().filter(|record| record.pause && record.port == port).count()
    }
    /// Wire throughput of a long flow between two times after the burst's start.
    fn throughput(&self, label: u32, from_us: u64, to_us: u64) -> f64 {
        let (from, to) = (BURST + Span::from_us(from_us), BURST + Span::from_us(to_us));
        self.outcome.mean_of_label(Metric::FlowThroughput, label, from, to) * WIRE_PER_PAYLOAD / 1e9
    }
}

#[test]
fn pcn_9_7_the_victim_recovers_while_the_burst_lasts() {
    // The burst's flows end before a scheme can slow them, or under PCN themselves.
    for burst in ["none", "pcn"] {
        let run = victim("pcn", burst);
        let last = run.outcome.world.flows.iter().filter(|f| f.label == 9).filter_map(|f| f.delivered_at).max();
        assert!(last.unwrap() > BURST + Span::from_us(2900), "14 x 16 x 64 KB take 3 ms");
        // From 20 Gb/s to what F1 leaves of the link: 37.5 Gb/s if F1 had its 16th of R1. First in, first
        // out gives a slowed flow less than that.
        let f0 = run.throughput(0, 1000, 2900);
        assert!(f0 > 37.5 && f0 < 40.0, "{burst}: F0 has {f0} Gb/s");
        let f1 = run.throughput(1, 200, 1200);
        assert!(f1 > 0.5 && f1 < 2.7, "{burst}: F1 has {f1} Gb/s");
        assert_eq!(run.to_hosts.map(|port| run.pauses(port)), [0, 0], "{burst}: PAUSE reaches S0's hosts");
    }
}

#[test]
fn pcn_1_a_paused_port_marks_some_and_cuts_no_victim() {
    // The Mercury paper's topology with PFC early enough to pause S2 and S1: F1's packets wait there
    // and go unmarked, those that arrive after a RESUME are marked, and never are they 95 %.
    let run = fig2::run(scheme("pcn", &[]), 160_000);
    assert!(run.pauses()[0] > 0 && run.pauses()[1] > 0, "{:?}", run.pauses());
    assert!(run.flow(1).marked > 0, "quasi-congestion");
    assert_eq!(run.lowest_rate(1), 20.0, "F1 is not cut");
    assert!(run.lowest_rate(2) < 5.0, "F2 is: {}", run.lowest_rate(2));
}

#[test]
fn pcn_8_the_receiving_rate_is_where_pause_begins() {
    // The paper's section 4.2, without end-to-end control: three hosts at line rate and F1 share R1. S1
    // pauses S0 if and only if F1 sends more than it receives, a quarter of the link.
    for (gbps, pauses) in [(8, false), (9, false), (11, true), (20, true)] {
        let mut net = Net::new();
        let delay = Span::from_us(5);
        let (s0, s1) = (net.switch("S0"), net.switch("S1"));
        let trunk = net.link(s0, s1, 40, delay);
        let mut host = |name: &str, switch| net.host_at(name, switch, 40, delay).0;
        let (h0, h1, r0, r1) = (host("H0", s0), host("H1", s0), host("R0", s1), host("R1", s1));
        let others = ["H2", "H3", "H4"].map(|name| host(name, s1));
        net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 512_000, xon_bytes: 510_000 };
        let mut bench = Bench::new(net, scheme("none", &[]));
        let at = |gbps| Some(BitRate::from_gbps(gbps));
        bench.start(Time::ZERO, FlowSpec { initial_rate: at(20), ..endless(0, h0, r0) });
        bench.start(Time::ZERO, FlowSpec { initial_rate: at(gbps), ..endless(1, h1, r1) });
        for (i, other) in others.into_iter().enumerate() {
            bench.start(Time::ZERO, endless(2 + i as u32, other, r1));
        }
        let outcome = bench.run(Time::from_ms(20));
        let paused = outcome.world.pauses.iter().any(|record| record.pause && record.port == peer(trunk));
        assert_eq!(paused, pauses, "F1 at {gbps} Gb/s");
    }
}

#[test]
fn pcn_8_parking_lot_is_proportionally_fair() {
    // F0 crosses n bottlenecks with one other flow each: 1 / (n + 1) of the link for F0.
    for n in [2u32, 4] {
        let mut net = Net::new();
        let delay = Span::from_us(1);
        let switches: Vec<u32> = (0..=n).map(|i| net.switch(&format!("S{i}"))).collect();
        for pair in switches.windows(2) {
            net.link(pair[0], pair[1], 40, delay);
        }
        let mut host = |name: String, switch| net.host_at(&name, switch, 40, delay).0;
        let ends = [host("A".into(), switches[0]), host("B".into(), switches[n as usize])];
        let pairs: Vec<[u32; 2]> = (0..n as usize)
            .map(|i| [host(format!("C{i}"), switches[i]), host(format!("D{i}"), switches[i + 1])])
            .collect();
        let mut bench = Bench::new(net, scheme("pcn", &[]));
        bench.start(Time::ZERO, FlowSpec { probed: true, label: 0, ..endless(0, ends[0], ends[1]) });
        for (i, [from, to]) in pairs.iter().enumerate() {
            let label = i as u32 + 1;
            bench.start(Time::ZERO, FlowSpec { probed: true, label, ..endless(label, *from, *to) });
        }
        bench.probe(ProbeTarget::Flows, Span::from_ms(20), Time::from_ms(20));
        let outcome = bench.run(Time::from_ms(80));
        // The first sample covers the start.
        let mean = |label: u32| {
            let bps = outcome.mean_of_label(Metric::FlowThroughput, label, Time::from_ms(20), Time::NEVER);
            bps * WIRE_PER_PAYLOAD / 1e9
        };
        let f0 = mean(0);
        let others: Vec<f64> = (1..=n).map(mean).collect();
        let fair = LINE / f64::from(n + 1);
        // F0 is cut when any of its bottlenecks says so, and they do not notify in unison: the more there
        // are, the further it stays below.
        assert!(f0 / fair > 0.78 && f0 / fair < 1.05, "{n} bottlenecks: {f0}, expected {fair} Gb/s");
        for other in others {
            assert!((f0 + other) / LINE > 0.98, "{n} bottlenecks: {} of the link in use", (f0 + other) / LINE);
        }
    }
}
