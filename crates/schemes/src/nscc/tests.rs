//! Worked numbers of the constants and of the rules.

use super::*;
use crate::testing;
use xoff_engine::{BitRate, Span};
use xoff_fabric::packet::Ecn;

/// Three tiers at 100 Gb/s: six links of 1 us each way, packets of 4150 and ACKs of 64 bytes.
const T: Span = Span::from_ps(14_022_720);
const HTSIM: &[(&str, &str)] = &[("rules", "htsim")];

fn nscc(texts: &[(&str, &str)]) -> Nscc {
    testing::configured("nscc", texts)
}

fn flow(gbps: u64, rtt: Span) -> FlowFacts {
    let of = FlowFacts::at(BitRate::from_gbps(gbps), rtt);
    FlowFacts { mtu_bytes: 4086, mtu_wire_bytes: 4150, trims: true, ..of }
}

/// A sender whose window is 200,000 bytes, with so long a mean delay.
fn sender(mean_us: f64) -> Rp {
    let mut rp = nscc(HTSIM).reaction_point(&flow(100, T));
    (rp.window.cwnd, rp.window.mean_ps) = (200_000, mean_us * 1e6);
    rp
}

/// An answer at `us` to 16,600 wire bytes whose packet waited so long.
fn answer(us: u64, delay: Span, ecn: Ecn) -> Acked<'static> {
    Acked { now: Time::from_us(us), bytes: 4 * 4086, rtt: T + delay, ecn, ..Acked::default() }
}

fn near(value: f64, expected: f64, within: f64) {
    assert!((value - expected).abs() <= within, "{value}, not {expected}");
}

#[test]
fn nscc_5_1_constants_of_five_networks() {
    let row = |gbps, ps, trims, packet: &[(&str, &str)]| {
        let of = FlowFacts { trims, ..flow(gbps, Span::from_ps(ps)) };
        nscc(packet).reaction_point(&of).window
    };
    // Target in us, alpha in bytes per us, fi, eta and the largest window in bytes.
    for (gbps, ps, trims, [target, alpha, fi, eta, most]) in [
        (100, 14_022_720, true, [10.517_04, 1591.579, 23_873.68, 716.21, 262_926.0]),
        (100, 9_348_480, true, [7.011_36, 1061.052, 15_915.79, 477.47, 175_284.0]),
        (100, 9_348_480, false, [9.348_48, 1061.052, 15_915.79, 477.47, 175_284.0]),
        (400, 12_505_680, true, [9.379_26, 5677.579, 85_163.68, 2554.91, 937_926.0]),
        (100, 5_348_480, true, [4.011_36, 607.052, 9_105.79, 273.17, 100_284.0]),
    ] {
        let window = row(gbps, ps, trims, HTSIM);
        near(window.law.target_ps / 1e6, target, 1e-9);
        near(window.law.alpha * 1e6, alpha, 5e-4);
        near(window.law.fi, fi, 5e-3);
        near(window.law.eta, eta, 5e-3);
        near(window.bytes() as f64, most, 1.0);
    }
    // Whole packets instead of their payload.
    let spec = row(100, 14_022_720, true, &[]).law;
    near(spec.alpha * 1e6, 1616.508, 5e-4);
    near(spec.fi, 24_247.62, 5e-3);
    near(spec.eta, 727.43, 5e-3);
}

#[test]
fn nscc_5_3_increases() {
    // Delay below the target, above it, and none.
    let mut rp = sender(0.0);
    rp.window.follow(Time::from_us(1), 16_600.0, false, 2e6);
    near(rp.window.gains, 225_021_957.0, 1.0);
    near((rp.window.gains / 200_000.0).floor(), 1125.0, 0.0);
    let mut rp = sender(0.0);
    rp.window.follow(Time::from_us(1), 16_600.0, false, 12e6);
    near(rp.window.gains, 396_303_101.0, 1.0);
    near((rp.window.gains / 200_000.0).floor(), 1981.0, 0.0);
    let mut rp = sender(0.0);
    let mut windows = Vec::new();
    for _ in 0..13 {
        rp.window.follow(Time::from_us(1), 16_600.0, false, 0.5e6);
        windows.push(rp.window.cwnd);
    }
    // 13 x 16,600 bytes are more than the window.
    assert_eq!(windows[11..], [200_000, 204_849]);
}

#[test]
fn nscc_5_3_decreases_by_mean_delay_once_per_round_trip() {
    for (mean, factor, left) in
        [(12.0, 0.90114, 180_227), (15.0, 0.76091, 152_181), (20.0, 0.62068, 124_136), (30.0, 0.5, 100_000)]
    {
        let mut rp = sender(mean);
        rp.window.follow(Time::from_us(100), 16_600.0, true, 12e6);
        assert_eq!(rp.window.cwnd, left);
        near(rp.window.cwnd as f64 / 200_000.0, factor, 1e-5);
        rp.window.follow(Time::from_us(110), 16_600.0, true, 12e6);
        assert_eq!(rp.window.cwnd, left, "within a base round trip");
    }
    let mut rp = sender(12.0);
    rp.window.follow(Time::from_us(100), 16_600.0, true, 5e6);
    assert_eq!(rp.window.cwnd, 200_000, "a mark alone moves packets to other paths");
}

#[test]
fn nscc_5_3_mean_delay() {
    for (ecn, mean) in [(Ecn::Ce, 12.1), (Ecn::Ect0, 11.893_82)] {
        let mut rp = sender(12.0);
        rp.on_ack(&answer(100, Span::from_us(20), ecn));
        near(rp.window.mean_ps / 1e6, mean, 5e-6);
    }
    let mut rp = sender(12.0);
    rp.on_loss(Time::from_us(100), Loss::Trimmed, 4086);
    near(rp.window.mean_ps / 1e6, 12.025_28, 5e-6);
}

#[test]
fn nscc_5_3_a_nack_takes_its_packet_off_the_window() {
    let mut rp = nscc(HTSIM).reaction_point(&flow(100, T));
    let mut windows = Vec::new();
    for us in [20, 21] {
        rp.on_sent(Time::ZERO, 4150);
        rp.on_ack(&Acked { nak: true, bytes: 0, ..answer(us, Span::ZERO, Ecn::Ect0) });
        rp.on_loss(Time::from_us(us), Loss::Trimmed, 4086);
        windows.push(rp.window.cwnd);
    }
    assert_eq!((windows, rp.window.base_ps()), (vec![258_776, 254_626], 14_022_720.0));
}

#[test]
fn nscc_5_3_quick_adapt_is_for_incasts_of_many() {
    // An interval of T and q* in which a share of the line arrived: the gate is an eighth of 262,926.
    for (achieved, cwnd) in [(20_450, 20_450), (32_864, 32_864), (32_865, 258_776), (153_373, 258_776)] {
        let mut rp = nscc(HTSIM).reaction_point(&flow(100, T));
        (rp.window.qa_end, rp.window.achieved) = (Time::from_us(30), achieved);
        rp.on_loss(Time::from_us(31), Loss::Trimmed, 4086);
        assert_eq!(rp.window.cwnd, cwnd, "{achieved}");
    }
    // The first answer begins the first interval, whatever arrived.
    let mut rp = nscc(HTSIM).reaction_point(&flow(100, T));
    rp.on_loss(Time::from_us(31), Loss::Trimmed, 4086);
    assert_eq!((rp.window.cwnd, rp.window.qa_end), (258_776, Time::from_us(31) + Span::from_ps(24_539_760)));
}

/// Marks of what was in flight at a quick adapt say nothing new.
#[test]
fn nscc_marks_are_ignored_for_a_flight_after_a_quick_adapt() {
    let mut rp = nscc(HTSIM).reaction_point(&flow(100, T));
    (0..10).for_each(|_| rp.on_sent(Time::ZERO, 4150));
    (rp.window.qa_end, rp.window.mean_ps) = (Time::from_us(30), 30e6);
    rp.on_loss(Time::from_us(31), Loss::Trimmed, 4086);
    assert_eq!((rp.window.cwnd, rp.window.to_ignore), (4150, 9 * 4150));
    rp.window.cwnd = 100_000;
    rp.on_ack(&answer(32, Span::from_us(20), Ecn::Ce));
    rp.on_ack(&answer(33, Span::from_us(20), Ecn::Ce));
    assert_eq!(rp.window.cwnd, 100_000, "8 of 9 packets: not even eta");
    rp.on_ack(&answer(34, Span::from_us(20), Ecn::Ce));
    assert!(rp.window.cwnd < 100_000);
}

/// The first ACK of a reference run of the simulator: 9.348 us, no trimming, 0.97488 us of delay.
#[test]
fn nscc_5_3_first_answer_of_a_reference_run() {
    let base = Span::from_ps(9_348_480);
    let mut rp = nscc(HTSIM).reaction_point(&FlowFacts { trims: false, ..flow(100, base) });
    rp.window.follow(Time::from_ps(10_655_360), 4150.0, false, 974_880.0);
    near(rp.window.gains, 36_872_040.0, 1.0);
    rp.window.adjust(Time::from_ps(10_655_360));
    assert_eq!(rp.window.cwnd, 175_971);
    rp.window.clamp();
    assert_eq!(rp.window.cwnd, 175_284);
    assert_eq!(rp.limits().window_bytes, 42 * 4086, "whole packets");
}

#[test]
fn nscc_4_marking_thresholds() {
    let at = |gbps, rtt| QueueFacts { max_base_rtt: rtt, mtu_wire_bytes: 4150, ..testing::queue(gbps) };
    assert_eq!(nscc(HTSIM).thresholds(&at(100, T)), (37_350, 145_250));
    assert_eq!(nscc(HTSIM).thresholds(&at(400, Span::from_ps(12_505_680))), (31 * 4150, 121 * 4150));
    assert_eq!(nscc(&[]).thresholds(&at(100, T)), (35_056, 140_227));
    let last = QueueFacts { last_hop: true, ..at(100, T) };
    assert!(nscc(&[]).congestion_point(&last).red.is_some());
    assert!(nscc(&[("mark_last_hop", "false")]).congestion_point(&last).red.is_none());
}

#[test]
fn a_sender_that_goes_back_has_nothing_in_flight() {
    let mut rp = nscc(&[]).reaction_point(&flow(100, T));
    (0..5).for_each(|_| rp.on_sent(Time::ZERO, 4150));
    let before = rp.window.cwnd;
    rp.on_loss(Time::from_us(20), Loss::Nak, 0);
    assert_eq!((rp.window.in_flight, before - rp.window.cwnd), (0, 4150));
}
