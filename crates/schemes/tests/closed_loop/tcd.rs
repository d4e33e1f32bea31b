//! TCD in the scenario of a victim behind a paused port.

use crate::bench::*;
use crate::fig2::{self, XOFF};

#[test]
fn tcd_8_4_the_victim_is_marked_undetermined_only() {
    // The authors' configuration of DCQCN, PFC as in the paper. F2 is slow to react there, so that
    // PAUSE spreads to S2 and S1.
    let plain = fig2::run(scheme("dcqcn:paper-sim", &[]), XOFF);
    let tcd = fig2::run(scheme("tcd+dcqcn:paper-sim", &[]), XOFF);
    for run in [&plain, &tcd] {
        let pauses = run.pauses();
        assert!(pauses[0] > 0 && pauses[1] > 0, "S2 and S1 are paused: {pauses:?}");
        assert!(run.lowest_rate(2) < 5.0, "F2 is congested: {}", run.lowest_rate(2));
        assert!(run.flow(2).marked > 0);
    }
    // Plain DCQCN marks and cuts F1, whose own path is free.
    assert!(plain.flow(1).marked > 0);
    assert!(plain.lowest_rate(1) < 10.0, "{}", plain.lowest_rate(1));
    // TCD: no CE for F1, but CNPs all the same, and they only hold its rate.
    assert_eq!(tcd.flow(1).marked, 0);
    assert!(tcd.flow(1).notifications > 0);
    assert_eq!(tcd.lowest_rate(1), 20.0);
    // After the burst F1 has its 20 Gb/s, where DCQCN still recovers.
    let (with, without) = (tcd.throughput(1, 1500, 2000), plain.throughput(1, 1500, 2000));
    assert!(with > 19.5 && without < 10.0, "{with} with TCD, {without} without");
}

#[test]
fn tcd_8_4_the_same_over_the_papers_dcqcn() {
    // It reacts in 40 us, so PAUSE spreads only if PFC acts early.
    let plain = fig2::run(scheme("dcqcn:paper", &[]), 60_000);
    let tcd = fig2::run(scheme("tcd", &[]), 60_000);
    assert!(plain.pauses()[1] > 0 && tcd.pauses()[1] > 0, "{:?}, {:?}", plain.pauses(), tcd.pauses());
    assert!(plain.lowest_rate(1) < 15.0, "{}", plain.lowest_rate(1));
    assert_eq!((tcd.flow(1).marked, tcd.lowest_rate(1)), (0, 20.0));
    assert!(tcd.flow(1).notifications > 0);
}

#[test]
fn tcd_7_a_port_that_is_never_paused_behaves_as_plain_ecn() {
    // The same random numbers, the same marks, the same rates.
    let run = |name| {
        let bench = Bench::into_one(4, 40, xoff_engine::Span::from_us(1), scheme(name, &[]));
        let outcome = bench.run(xoff_engine::Time::from_ms(20));
        assert_eq!(outcome.world.counters.pause_frames, 0);
        (outcome.delivered(), outcome.world.counters.marks)
    };
    assert_eq!(run("tcd"), run("dcqcn:paper"));
}
