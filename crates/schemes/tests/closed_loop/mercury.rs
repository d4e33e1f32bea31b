//! Mercury in the two scenarios that its paper starts from.

use crate::bench::*;
use crate::fig2::{self, XOFF};
use xoff_engine::{Span, Time};
use xoff_fabric::plan::ProbeTarget;
use xoff_fabric::record::{Metric, Sample};
use xoff_fabric::traffic::FlowSpec;

#[test]
fn mercury_9_6_the_culprit_reacts_within_one_switch_to_host_delay() {
    // DCQCN in the paper's form cuts at the instant of a CNP, so that the time can be read off.
    let run = fig2::run(scheme("mercury+dcqcn:paper", &[]), XOFF);
    // The burst needs 4 us and a packet to S3, where eight hosts fill 160 KB in 4.3 us; the CNP crosses
    // three links of 4 us. End to end it would take at least another 8 us through R2.
    let first = run.first_cut(2).expect("F2 is congested").as_s() * 1e6;
    assert!(first > 20.0 && first < 22.5, "F2 reacts after {first} us");
    assert_eq!(run.flow(2).marked, 0, "no ECN at Mercury's switches");
    // DCQCN by itself: the marked packet continues to R2, and its CNP comes back the whole way.
    let plain = fig2::run(scheme("dcqcn:paper", &[]), XOFF).first_cut(2).expect("F2 is congested").as_s() * 1e6;
    assert!(plain > first + 8.0, "{first} and {plain} us");
}

#[test]
fn mercury_9_6_the_victim_never_hears_a_cnp() {
    // Bases without notifications of their own, so that every one counted is Mercury's.
    for base in ["dcqcn:nic", "dcqcn:paper", "dcqcn:paper-sim", "none", "timely", "hpcc", "powertcp"] {
        let name = format!("mercury+{base}");
        let run = fig2::run(scheme(&name, &[]), XOFF);
        assert_eq!(run.flow(1).notifications, 0, "{name}");
        assert!(run.flow(2).notifications > 0, "{name}");
        assert_eq!(run.pauses()[0], 0, "{name}: F2 is stopped before S3 must pause S2");
        // PFC blocks no flow, so F1 has all of its link, or what a base leaves free on purpose.
        let f1 = run.throughput(1, 0, 2000);
        assert!(f1 > 18.7, "{name}: F1 has {f1} Gb/s");

        // With PFC so early that PAUSE spreads in spite of Mercury.
        let run = fig2::run(scheme(&name, &[]), 30_000);
        let pauses = run.pauses();
        assert!(pauses[0] > 0 && pauses[1] > 0, "{name}: {pauses:?}");
        assert_eq!(run.flow(1).notifications, 0, "{name}");
        assert!(run.flow(2).notifications > 0, "{name}");
        if base.starts_with("dcqcn") {
            assert_eq!(run.lowest_rate(1), 20.0, "{name}: F1 keeps its rate");
            assert!(run.lowest_rate(2) < 10.0, "{name}: F2 does not");
            let f1 = run.throughput(1, 1000, 2000);
            assert!(f1 > 19.5, "{name}: F1 has {f1} Gb/s once PFC lets it");
        }
    }
}

/// Queues of P1 and P2 above Mercury's threshold of `threshold_bytes`: how many of the samples fall into a pause, and how
/// many between one and the next.
fn above(run: &fig2::Fig2, threshold_bytes: f64) -> [usize; 2] {
    let mut counts = [0; 2];
    for (port, pauser) in run.paused.into_iter().zip([run.pausers[1], run.pausers[0]]) {
        let of = |s: &&Sample| s.metric == Metric::QueueBytes && s.entity == port && s.value > threshold_bytes;
        for sample in run.outcome.world.samples.iter().filter(of) {
            // A frame of PFC takes 4 us to the port, behind a packet somewhat longer.
            let notified = |at: Time| at + Span::from_us(5) <= sample.at;
            let last = run.outcome.world.pauses.iter().rfind(|p| p.port == pauser && notified(p.at));
            if let Some(last) = last {
                counts[usize::from(!last.pause)] += 1;
            }
        }
    }
    counts
}

#[test]
fn mercury_4_the_undetermined_state_is_what_spares_the_victim() {
    // XOFF so low that S3 and S2 pause in spite of Mercury, and its threshold at half of it. Queues of the paused ports,
    // which F1 crosses, are above the threshold in pauses and between them: by their length alone, F1 would be notified
    // by each. Lines 2 to 5 keep it from that in pauses, lines 10 and 15 to 20 after them.
    for base in ["dcqcn:nic", "dcqcn:paper-sim", "none"] {
        let run = fig2::run(scheme(&format!("mercury+{base}"), &[]), 30_000);
        let [paused, between] = above(&run, 15_000.0);
        assert!(paused > 50 && between > 0, "mercury+{base}: {paused} and {between} samples");
        assert_eq!(run.flow(1).notifications, 0, "mercury+{base}");
        assert!(run.flow(2).notifications > 0, "mercury+{base}: P3 is determined");
    }
}

#[test]
fn mercury_1_a_delay_based_base_is_spared_the_spreading() {
    // TIMELY is slow here: PAUSE spreads, F1's delay grows, and TIMELY takes its rate. Mercury's window
    // stops F2 so soon that none of this happens.
    let (plain, with) = (fig2::run(scheme("timely", &[]), XOFF), fig2::run(scheme("mercury+timely", &[]), XOFF));
    assert!(plain.pauses()[1] > 0 && with.pauses()[1] == 0, "{:?}, {:?}", plain.pauses(), with.pauses());
    assert!(plain.lowest_rate(1) < 5.0 && with.lowest_rate(1) > 19.0);
}

/// Section 8: nine hosts behind one switch; H1 sends for 600 us when the eight others send 120 KB
/// each to the same receiver. The longest queue, and H1's throughput over the time of the burst.
fn feedback_speed(name: &str) -> (f64, f64, f64) {
    let mut net = Net::new();
    let delay = Span::from_us(4);
    let switches = ["S1", "S2", "S3"].map(|name| net.switch(name));
    let p1 = net.link(switches[0], switches[1], 40, delay);
    net.link(switches[1], switches[2], 40, delay);
    let mut host = |name: String, switch| net.host_at(&name, switch, 40, delay).0;
    let hosts: Vec<u32> = (1..=9).map(|i| host(format!("H{i}"), switches[0])).collect();
    let receiver = host("R1".into(), switches[2]);
    let mut bench = Bench::new(net, scheme(name, &[]));
    bench.start(Time::ZERO, FlowSpec { probed: true, ..endless(0, hosts[0], receiver) });
    for (i, host) in hosts.iter().enumerate().skip(1) {
        bench.start(Time::from_us(600), FlowSpec { label: 9, ..flow(i as u32, *host, receiver, 120_000) });
    }
    bench.probe(ProbeTarget::Queue { port: p1, class: 0 }, Span::from_us(1), Time::from_us(500));
    bench.probe(ProbeTarget::Flows, Span::from_us(20), Time::from_us(640));
    let outcome = bench.run(Time::from_us(1300));
    let throughput = outcome.values(Metric::FlowThroughput);
    // The first sample covers the time before the burst; ten cover it, ten what follows.
    let mean = |range: std::ops::Range<usize>| throughput[range].iter().sum::<f64>() / 10.0 * 1.082 / 1e9;
    (outcome.max(Metric::QueueBytes), mean(1..11), mean(17..27))
}

#[test]
fn mercury_8_feedback_speed_halves_the_queue_and_spares_the_long_flow() {
    for base in ["dcqcn:nic", "dcqcn:paper"] {
        let (queue, _, after) = feedback_speed(base);
        // The paper: above 1000 KB, and the long flow goes to almost nothing.
        assert!(queue > 1_000_000.0, "{base}: {queue} bytes");
        assert!(after < 2.0, "{base}: {after} Gb/s");
        let (queue, during, after) = feedback_speed(&format!("mercury+{base}"));
        assert!(queue < 550_000.0, "mercury+{base}: {queue} bytes");
        // A ninth of the link while nine flows share it, more as soon as they are gone. The paper's
        // figure has 6 Gb/s as the lowest.
        assert!(during > 4.2, "mercury+{base}: {during} Gb/s");
        assert!(after > 10.0, "mercury+{base}: {after} Gb/s");
    }
}
