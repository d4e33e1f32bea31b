//! DCQCN against its fluid model.

use crate::bench::*;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{Alpha, ProbeTarget, Rule, Thresholds};
use xoff_fabric::record::Metric;

/// Queue of a 40G port under `n` endless flows once settled, and the bytes each flow got.
fn into_one_port(n: u32) -> (Vec<f64>, Vec<f64>) {
    let mut bench = Bench::into_one(n, 40, Span::from_us(1), scheme("dcqcn:paper", &[]));
    bench.net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 2_000_000, xon_bytes: 1_998_000 };
    bench.probe(ProbeTarget::Queue { port: 1, class: 0 }, Span::from_us(10), Time::from_ms(100));
    let outcome = bench.run(Time::from_ms(250));
    assert_eq!(outcome.world.counters.pause_frames, 0, "marks act before PFC here");
    (outcome.values(Metric::QueueBytes), outcome.delivered())
}

#[test]
fn dcqcn_8_5_the_queue_is_at_the_fixed_point_of_the_fluid_model() {
    // At 40G with the paper's parameters the fluid model's marking probability puts the queue at
    // 23.0 KB for two flows and 158 KB for ten. Packets add their own granularity, which weighs more in
    // the short queue.
    let queue = mean_of(&into_one_port(2).0);
    assert!((queue / 23_000.0 - 1.0).abs() < 0.25, "two flows: {queue} bytes");
    let (queue, shares) = into_one_port(10);
    let queue = mean_of(&queue);
    assert!((queue / 158_000.0 - 1.0).abs() < 0.1, "ten flows: {queue} bytes");
    // Section 8.6: equal flows end equal, and fill the link.
    assert!(jain(&shares) > 0.995, "{shares:?}");
    let goodput = shares.iter().sum::<f64>() * 8.0 / 0.25 / 1e9;
    assert!(goodput > 0.98 * 40.0 * 1000.0 / 1082.0, "{goodput} Gb/s");
}

#[test]
fn dcqcn_8_5_many_flows_drive_the_queue_beyond_kmax() {
    // 64 flows need 9.3 % of marks, and up to Kmax = 200 KB there is 1 % at most. So the queue is
    // at Kmax, and beyond it, where every packet is marked, for as much of the time as is missing.
    let (queue, shares) = into_one_port(64);
    let mean = mean_of(&queue);
    assert!((mean / 200_000.0 - 1.0).abs() < 0.05, "{mean} bytes");
    let beyond = queue.iter().filter(|bytes| **bytes > 200_000.0).count() as f64 / queue.len() as f64;
    assert!((0.06..0.13).contains(&beyond), "{beyond} of the time");
    assert!(jain(&shares) > 0.995, "{shares:?}");
}

/// Two endless flows into one port of a switch of 12 MB, for 10 ms: part of the port used, marks and PAUSEs.
fn two_flows(name: &str, gbps: u64, thresholds: Option<Thresholds>) -> (f64, u64, u64) {
    let mut bench = Bench::into_one(2, gbps, Span::from_us(1), scheme(name, &[]));
    let switch = &mut bench.net.plan.switches[0];
    switch.buffer_bytes = 12_000_000;
    switch.pfc.thresholds = thresholds.unwrap_or(Thresholds::Dynamic {
        alpha: Alpha::Fixed(0.125),
        reserve_bytes: 4096,
        resume_offset_bytes: 3072,
        resume_below_bytes: 1,
        rule: Rule::Dynamic,
    });
    let outcome = bench.run(Time::from_ms(10));
    let goodput = outcome.delivered().iter().sum::<f64>() * 8.0 / 0.01;
    let counters = &outcome.world.counters;
    (goodput / (gbps as f64 * 1e9 * 1000.0 / 1082.0), counters.marks, counters.pause_frames)
}

#[test]
fn by_default_marks_act_before_pfc_at_every_speed_and_fill_the_port() {
    for gbps in [10, 25, 100, 400] {
        let (used, marks, pauses) = two_flows("dcqcn", gbps, None);
        assert!(marks > 0 && pauses == 0, "{gbps}G: {marks} marks, {pauses} PAUSEs");
        assert!(used > 0.95, "{gbps}G: {used} of the port");
    }
    // At 100G the thresholds of 40G leave part of the port idle, and those of its own do not.
    let used = |name| two_flows(name, 100, None).0;
    let (usual, paper) = (used("dcqcn"), used("dcqcn:paper"));
    assert!(usual > 0.99 && paper < 0.97, "{usual} and {paper} of the port");
}

#[test]
fn a_switch_that_pauses_early_is_marked_earlier_by_default() {
    let early = || Some(Thresholds::Static { xoff_bytes: 60_000, xon_bytes: 58_000 });
    let (_, marks, _) = two_flows("dcqcn", 100, early());
    assert!(marks > 0);
    // In proportion to the port alone marks would begin at 400 KB, which PFC never lets gather.
    assert_eq!(two_flows("dcqcn:nic", 100, early()).1, 0);
}
