//! The worked numbers of the specification.

use super::*;
use crate::testing::{self, configured};
use xoff_engine::BitRate;
use xoff_fabric::packet::Ecn;

fn flow(gbps: u64) -> FlowFacts {
    FlowFacts { max_base_rtt: Span::from_us(12), ..testing::flow(gbps, 10) }
}

fn timely(preset: &str, texts: &[(&str, &str)]) -> Timely {
    configured(&format!("timely:{preset}"), texts)
}

fn patched(texts: &[(&str, &str)]) -> PatchedTimely {
    configured("patched-timely", texts)
}

/// At 5 Gb/s on a 10G line, with a previous sample of 60 us.
fn at_five(scheme: &impl Scheme<Rp = Rp>) -> Rp {
    let mut rp = scheme.reaction_point(&flow(10));
    rp.rate_bps = 5e9;
    rp.update(Time::from_us(1000), 60e6, 0);
    assert_eq!(rp.rate_bps, 5e9, "the first sample is only stored");
    rp
}

/// Rates in Gb/s after each of these round trips, in us, 100 us apart.
fn rates(rp: &mut Rp, samples: &[f64]) -> Vec<f64> {
    let start = rp.updated;
    let mut rates = Vec::new();
    for (i, us) in samples.iter().enumerate() {
        rp.update(start + Span::from_us(100) * (i as u64 + 1), us * 1e6, 0);
        rates.push(rp.rate_bps / 1e9);
    }
    rates
}

fn assert_close(rates: &[f64], expected: &[f64], tolerance: f64) {
    for (i, (rate, expected)) in rates.iter().zip(expected).enumerate() {
        assert!((rate - expected).abs() < tolerance, "sample {i}: {rate}, expected {expected}");
    }
}

const SAMPLES: [f64; 7] = [60.0, 70.0, 66.0, 62.0, 58.0, 600.0, 40.0];

#[test]
fn timely_8_1_seven_samples() {
    let mut rp = at_five(&timely("paper", &[]));
    let found = rates(&mut rp, &SAMPLES);
    assert_close(&found, &[5.01, 3.2565, 3.2665, 3.2765, 3.2865, 2.8483, 2.8583], 5e-5);
    assert_eq!(rp.increases(), 5);
    // The gradients of the second and third.
    let mut rp = at_five(&timely("paper", &[]));
    rates(&mut rp, &SAMPLES[..2]);
    assert!((rp.difference / 20e6 - 0.4375).abs() < 1e-12);
    rates(&mut rp, &SAMPLES[2..3]);
    assert!((rp.difference / 20e6 + 0.1203).abs() < 5e-5);
}

#[test]
fn timely_8_2_patched_seven_samples() {
    let mut rp = at_five(&patched(&[]));
    let found = rates(&mut rp, &SAMPLES);
    assert_close(&found, &[5.001, 4.9849968, 4.9890930, 4.9967451, 5.0050646, 4.9983912, 5.0083912], 5e-8);
}

#[test]
fn timely_8_3_patched_rests_at_its_fixed_point() {
    // Ten flows at 10G: each at 1 Gb/s, 112.5 us, a gradient of nothing.
    let mut rp = patched(&[]).reaction_point(&flow(10));
    rp.rate_bps = 1e9;
    rp.update(Time::ZERO, 112.5e6, 0);
    let found = rates(&mut rp, &[112.5; 20]);
    assert_close(&found, &[1.0; 20], 1e-12);
    // The original stays nowhere, and rises.
    let mut rp = timely("paper", &[]).reaction_point(&flow(10));
    rp.rate_bps = 1e9;
    rp.update(Time::ZERO, 112.5e6, 0);
    assert_close(&rates(&mut rp, &[112.5; 3]), &[1.01, 1.02, 1.03], 1e-12);
}

#[test]
fn timely_4_stages_of_the_paper_and_of_the_reference() {
    // Paper: the fifth increase by the gradient is the first of five delta.
    let mut rp = at_five(&timely("paper", &[]));
    assert_close(&rates(&mut rp, &[60.0; 6]), &[5.01, 5.02, 5.03, 5.04, 5.09, 5.14], 1e-12);
    // Round trips below T_low neither count nor gain.
    assert_close(&rates(&mut rp, &[40.0; 2]), &[5.15, 5.16], 1e-12);
    // A decrease ends the row, above T_high as by the gradient.
    rates(&mut rp, &[600.0]);
    assert_eq!(rp.stage, 0);
    // Reference: five increases of delta of any kind, then delta_HAI.
    let mut rp = at_five(&timely("reference", &[]));
    let samples = [60.0, 60.0, 40.0, 40.0, 40.0, 40.0, 40.0];
    assert_close(&rates(&mut rp, &samples), &[5.01, 5.02, 5.03, 5.04, 5.05, 5.10, 5.15], 1e-12);
    rates(&mut rp, &[70.0]);
    assert_eq!(rp.stage, 0);
}

/// At 5 Gb/s on a 10G line by the snippet, with a previous sample of 60 us.
fn snippet_at_five(texts: &[(&str, &str)]) -> Rp {
    let mut rp = timely("reference", &[&[("snippet", "true")], texts].concat()).reaction_point(&flow(10));
    rp.rate_bps = 5e9;
    rp.previous = Some(60e6);
    rp.updated = Time::from_us(1000);
    rp
}

/// Rates in Gb/s after each of these round trips, in us, `apart_us` after one another.
fn rates_apart(rp: &mut Rp, apart_us: u64, samples: &[f64]) -> Vec<f64> {
    samples
        .iter()
        .map(|us| {
            rp.update(rp.updated + Span::from_us(apart_us), us * 1e6, 0);
            rp.rate_bps / 1e9
        })
        .collect()
}

#[test]
fn timely_4_no_step_of_the_snippet_more_than_halves() {
    // A gradient of 17.5 would stop the flow; half remains.
    assert_close(&rates(&mut snippet_at_five(&[]), &[460.0]), &[2.5], 1e-12);
    // By the law itself the rate goes to its floor.
    assert_close(&rates(&mut at_five(&timely("reference", &[])), &[460.0]), &[0.01], 1e-12);
}

#[test]
fn timely_4_the_snippet_scales_increases_and_cuts_above_t_high_but_no_cut_by_the_gradient() {
    // Updates 5 us apart with a D_min of 20 us: a quarter of 10 Mb/s, by the gradient and below T_low.
    let mut rp = snippet_at_five(&[]);
    assert_close(&rates_apart(&mut rp, 5, &[60.0, 40.0]), &[5.0025, 5.005], 1e-12);
    // A quarter of 0.8 (1 - 500 / 600) above T_high.
    let mut rp = snippet_at_five(&[]);
    assert_close(&rates_apart(&mut rp, 5, &[600.0]), &[5.0 * (1.0 - 0.25 * 0.8 / 6.0)], 1e-12);
    // The whole of 0.8 x 0.4375 by the gradient, as 100 us apart.
    let mut rp = snippet_at_five(&[]);
    assert_close(&rates_apart(&mut rp, 5, &[70.0]), &[3.25], 1e-12);
    assert_close(&rates(&mut snippet_at_five(&[]), &[70.0]), &[3.25], 1e-12);
}

#[test]
fn timely_4_the_snippet_counts_round_trips_that_fall() {
    // The fifth in a row below the one before is the first of five delta; an equal one ends the row.
    let mut rp = snippet_at_five(&[]);
    let samples = [59.0, 58.0, 57.0, 56.0, 55.0, 54.0, 54.0, 53.0];
    assert_close(&rates(&mut rp, &samples), &[5.01, 5.02, 5.03, 5.04, 5.09, 5.14, 5.15, 5.16], 1e-12);
    // Steady round trips never count, though their gradient is none: the law itself would (5.09).
    assert_close(&rates(&mut snippet_at_five(&[]), &[60.0; 5]), &[5.01, 5.02, 5.03, 5.04, 5.05], 1e-12);
    // Falls count while the rate is still cut by the smoothed gradient, and below T_low, where the
    // step stays delta. With a gain of 0.02: 0.02 x 200 / 20 is a gradient of 0.2, then
    // 0.98 x 4 - 0.02 x 10 of 0.186, and so on.
    let mut rp = snippet_at_five(&[("gain", "0.02")]);
    let found = rates(&mut rp, &[260.0, 250.0, 240.0]);
    assert_close(&found, &[4.2, 4.2 * (1.0 - 0.8 * 0.186), 4.2 * (1.0 - 0.8 * 0.186) * (1.0 - 0.8 * 0.17228)], 1e-9);
    assert_eq!(rp.stage, 2);
    rp.rate_bps = 5e9;
    assert_close(&rates(&mut rp, &[49.0, 48.0, 47.0]), &[5.01, 5.02, 5.03], 1e-12);
    // The seventh in a row, within the band and with a falling gradient.
    rp.previous = Some(100e6);
    assert_close(&rates(&mut rp, &[60.0]), &[5.08], 1e-12);
}

#[test]
fn timely_4_the_snippet_takes_its_first_sample_for_a_difference_of_nothing() {
    let mut rp = timely("reference", &[("snippet", "true")]).reaction_point(&flow(10));
    rp.rate_bps = 5e9;
    rp.update(rp.updated + Span::from_us(1), 60e6, 0);
    assert_eq!(rp.rate_bps, 5.01e9);
}

#[test]
fn timely_6_the_snippet_has_constants_of_its_own() {
    // 40G, 30 us of base round trip.
    let of = FlowFacts::at(BitRate::from_gbps(40), Span::from_us(30));
    let mut rp = timely("snippet", &[]).reaction_point(&of);
    assert_eq!(rp.limits().rate_bps, 40e9);
    rp.rate_bps = 20e9;
    rp.previous = Some(100e6);
    rp.updated = Time::from_us(1000);
    // A rise by 30 us, of which 2 % count: a gradient of 0.02.
    assert_close(&rates_apart(&mut rp, 60, &[130.0]), &[20.0 * (1.0 - 0.8 * 0.02)], 1e-9);
    // Far below the paper's T_low, and still by the gradient: 0.98 x 0.6 - 0.02 x 10 = 0.388 us.
    let before = rp.rate_bps / 1e9;
    assert_close(&rates_apart(&mut rp, 60, &[120.0]), &[before * (1.0 - 0.8 * 0.388 / 30.0)], 1e-9);
    // Its comment has 10 Mb/s "for 10Gbps line rate", so 40 Mb/s here; half as long as the base round trip after the
    // last, half of it.
    rp.difference = -1e6;
    rp.rate_bps = 20e9;
    assert_close(&rates_apart(&mut rp, 15, &[31.0]), &[20.02], 1e-9);
    // The fifth fall in a row has five times as much, 200 Mb/s.
    rp.stage = 4;
    assert_close(&rates_apart(&mut rp, 60, &[30.0]), &[20.22], 1e-9);
    // Between the paper's T_high of 500 us and 1 ms only the gradient counts; above 1 ms the excess.
    rp.difference = -1e9;
    assert_close(&rates_apart(&mut rp, 60, &[900.0]), &[20.26], 1e-9);
    let before = rp.rate_bps / 1e9;
    assert_close(&rates_apart(&mut rp, 60, &[1250.0]), &[before * (1.0 - 0.8 * 0.2)], 1e-9);
    // Once per 64 KB, and each path has its own D_min.
    assert_eq!(rp.settings.segment_bytes, Some(64_000));
    let far = FlowFacts::at(BitRate::from_gbps(40), Span::from_us(500));
    assert_eq!(timely("snippet", &[]).reaction_point(&far).settings.times.d_min, Span::from_us(500));
}

#[test]
fn timely_6_round_trips_beyond_t_high_cut_to_the_floor() {
    // Between distant datacentres: 6 ms, so 1 - 0.8 (1 - 500 / 6000) = 0.2667 at every update.
    let mut rp = at_five(&timely("reference", &[]));
    let found = rates(&mut rp, &[6000.0; 6]);
    let expected: Vec<f64> = (1..=6).map(|i| (5.0 * (1.0f64 - 0.8 * 5.5 / 6.0).powi(i)).max(0.01)).collect();
    assert_close(&found, &expected, 1e-9);
    assert_eq!(found[5], 0.01, "starved");
    // Section 7: recovery from there is linear, of five steps and then larger ones.
    assert_close(&rates(&mut rp, &[40.0; 7]), &[0.02, 0.03, 0.04, 0.05, 0.06, 0.11, 0.16], 1e-12);
}

fn ack(us: u64, acked_bytes: u64, sent_bytes: u64, rtt_us: u64) -> Acked<'static> {
    Acked {
        now: Time::from_us(us),
        bytes: 1000,
        acked_bytes,
        sent_bytes,
        rtt: Span::from_us(rtt_us),
        ecn: Ecn::Ect0,
        ..Acked::default()
    }
}

#[test]
fn timely_3_updates_by_round_trip_and_by_segment() {
    let mut rp = timely("reference", &[]).reaction_point(&flow(10));
    rp.rate_bps = 5e9;
    rp.on_ack(&ack(60, 1_000, 40_000, 60));
    assert_eq!((rp.previous, rp.next_update_bytes), (Some(60e6), 40_000));
    rp.on_ack(&ack(61, 40_000, 60_000, 90));
    assert_eq!(rp.previous, Some(60e6), "the same round");
    rp.on_ack(&ack(120, 41_000, 80_000, 60));
    assert_eq!((rp.rate_bps, rp.next_update_bytes), (5.01e9, 80_000));

    let mut rp = timely("pcn", &[]).reaction_point(&flow(10));
    rp.rate_bps = 5e9;
    rp.on_ack(&ack(60, 63_000, 90_000, 60));
    assert_eq!(rp.previous, None, "the first segment is not complete");
    rp.on_ack(&ack(61, 64_000, 90_000, 60));
    rp.on_ack(&ack(90, 127_000, 190_000, 90));
    assert_eq!(rp.previous, Some(60e6));
    rp.on_ack(&ack(99, 130_000, 190_000, 60));
    assert_eq!((rp.rate_bps, rp.next_update_bytes), (5.01e9, 192_000));
}

#[test]
fn timely_2_bursts_leave_at_line_rate_and_their_own_time_does_not_count() {
    // Segments of four packets at 2.5 of 10 Gb/s: packets of 1082 B take 865.6 ns each.
    let scheme = timely("paper", &[("segment", "4000B")]);
    let mut rp = scheme.reaction_point(&flow(10));
    rp.rate_bps = 2.5e9;
    let packet_ps = 865_600;
    for i in 0..3 {
        rp.on_sent(Time::from_ps(i * packet_ps), 1082);
        assert_eq!(rp.limits().rate_bps, 10e9, "packet {i}");
    }
    rp.on_sent(Time::from_ps(3 * packet_ps), 1082);
    // The next segment is due 16 packet times after the first began: 13 after the last did.
    assert!((rp.limits().rate_bps - 10e9 / 13.0).abs() < 1.0, "{}", rp.limits().rate_bps);
    // The sample is what is left of 70 us without one packet's serialisation.
    rp.on_ack(&ack(60, 4_000, 8_000, 70));
    assert_eq!(rp.previous, Some(70e6 - 865_600.0));
    // A higher rate in mid-gap shortens it.
    rp.rate_bps = 5e9;
    rp.on_ack(&ack(62, 8_000, 9_000, 70));
    let pace = 4.0 * 2.0 * 5.0 / 5.01 - 3.0;
    assert!((rp.limits().rate_bps / 1e9 - 10.0 / pace).abs() < 1e-6, "{}", rp.limits().rate_bps);
    rp.on_sent(Time::from_us(70), 1082);
    assert_eq!(rp.limits().rate_bps, 10e9);
}

#[test]
fn timely_6_steps_floors_and_windows_by_speed() {
    for (gbps, mbps) in [(10, 10.0), (25, 25.0), (40, 40.0), (100, 100.0)] {
        let rp = timely("reference", &[]).reaction_point(&flow(gbps));
        assert_eq!((rp.delta_bps, rp.hyper_bps), (mbps * 1e6, mbps * 5e6));
        assert_eq!(rp.min_bps, mbps * 1e6);
        assert_eq!(rp.limits(), Limits { rate_bps: gbps as f64 * 1e9, window_bytes: u64::MAX });
    }
    // 100G x 12 us at half the rate.
    let mut rp = timely("reference", &[("window", "variable")]).reaction_point(&flow(100));
    assert_eq!(rp.limits().window_bytes, 150_000);
    rp.rate_bps = 50e9;
    assert_eq!(rp.limits().window_bytes, 75_000);
}

#[test]
fn timely_objects_to_a_band_upside_down() {
    let values = crate::select("timely").unwrap().with(&[("t_low", "600us")]);
    assert!(Timely::validation_error(&values).is_some());
}

#[test]
fn flows_stay_small() {
    assert!(size_of::<Rp>() <= 136, "{}", size_of::<Rp>());
}

#[test]
fn timely_ns3_rates_to_the_bit() {
    // Computed apart from this program, in Python, from the rules in `docs/schemes/timely.md`.
    let scheme = timely("hpcc-ns3", &[]);
    assert_eq!((scheme.format().data_bytes, scheme.format().ack_bytes), (8, 0));
    let mut rp = scheme.reaction_point(&flow(100));
    for (round, (rtt_ns, bps)) in [
        (60_000, 100_000_000_000u64),
        (61_237, 95_670_500_000),
        (62_011, 92_561_029_367),
        (61_999, 92_223_854_123),
        // Above T_high, with a gradient and without.
        (601_003, 79_824_733_402),
        (580_111, 71_005_953_247),
        // Five additive steps, then two of 500 Mb/s, below T_low from the third on.
        (400_001, 71_105_953_247),
        (300_000, 71_205_953_247),
        (49_999, 71_305_953_247),
        (48_000, 71_405_953_247),
        (47_000, 71_505_953_247),
        (46_000, 72_005_953_247),
        (45_000, 72_505_953_247),
        (50_000, 60_201_011_864),
        (50_777, 57_286_760_691),
        (150_000, 1_000_000_000),
    ]
    .into_iter()
    .enumerate()
    {
        let acked_bytes = 1000 * (round as u64 + 1);
        rp.on_ack(&Acked { acked_bytes, sent_bytes: acked_bytes, rtt: Span::from_ns(rtt_ns), ..Acked::default() });
        assert_eq!(rp.limits(), Limits { rate_bps: bps as f64, window_bytes: u64::MAX }, "sample {round}");
    }
}
