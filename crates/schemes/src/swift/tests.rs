//! The worked numbers of the specification.

use super::*;
use crate::testing::{self, configured};
use xoff_engine::Span;

fn swift(texts: &[(&str, &str)]) -> Swift {
    configured("swift", texts)
}

/// 100G, three switches, 10 us.
fn flow() -> FlowFacts {
    FlowFacts { hops: 3, ..testing::flow(100, 10) }
}

fn ack(us: u64, delay_us: u64, bytes: u64) -> Acked<'static> {
    Acked { now: Time::from_us(us), bytes, rtt: Span::from_us(delay_us), ..Acked::default() }
}

#[test]
fn swift_7_1_targets() {
    let target = Target::new(&swift(&[]).params, &flow());
    assert!((target.a_ps / 1e6 - 40.81929).abs() < 5e-6 && (target.b_ps / 1e6 + 4.081929).abs() < 5e-7);
    for (cwnd, us) in [(0.1, 153.0), (1.0, 64.737), (4.0, 44.328), (10.0, 36.826), (100.0, 28.0), (500.0, 28.0)] {
        assert!((target.at(cwnd) / 1e6 - us).abs() < 6e-4, "cwnd {cwnd}: {} us", target.at(cwnd) / 1e6);
    }
    assert_eq!(target.at(0.001), target.at(0.1), "no more than the range");
}

#[test]
fn swift_7_2_six_acknowledgements() {
    let mut rp = swift(&[]).reaction_point(&flow());
    rp.fabric.cwnd = 10.0;
    for (us, delay, cwnd) in
        [(0, 30, 10.1), (10, 50, 7.9608), (40, 90, 7.9608), (120, 90, 4.3084), (600, 400, 2.1542), (1200, 30, 2.6184)]
    {
        rp.on_ack(&ack(us, delay, 1000));
        assert!((rp.fabric.cwnd - cwnd).abs() < 6e-5, "at {us} us: {}", rp.fabric.cwnd);
    }
    assert_eq!(rp.increases(), 2);
    // Whole packets in flight, unpaced.
    assert_eq!(rp.limits(), Limits { rate_bps: 100e9, window_bytes: 2_000 });
}

#[test]
fn swift_7_3_below_one_packet() {
    let mut rp = swift(&[]).reaction_point(&flow());
    rp.fabric.cwnd = 0.5;
    rp.rtt_ps = 40e6;
    // 1082 bytes of wire every 80 us, one packet in flight.
    assert_eq!(rp.limits().window_bytes, 1_000);
    assert!((rp.limits().rate_bps - 1082.0 * 8.0 / 80e-6).abs() < 1e-3);
    // Section 4: below one packet an ACK adds ai itself.
    rp.on_ack(&ack(100, 40, 1000));
    assert!((rp.fabric.cwnd - 1.5).abs() < 1e-12);
    // The least window is held above the floor of the pace.
    rp.fabric.cwnd = 0.001;
    assert_eq!(rp.limits().rate_bps, 1e6);
}

#[test]
fn swift_4_one_ack_for_several_packets() {
    let mut rp = swift(&[]).reaction_point(&flow());
    rp.fabric.cwnd = 10.0;
    rp.on_ack(&ack(0, 30, 4000));
    assert!((rp.fabric.cwnd - 10.4).abs() < 1e-12);
}

#[test]
fn swift_4_losses() {
    let mut rp = swift(&[]).reaction_point(&flow());
    rp.fabric.cwnd = 16.0;
    let us = Time::from_us;
    rp.on_loss(us(100), Loss::Nak, 0);
    assert_eq!(rp.fabric.cwnd, 8.0);
    rp.on_loss(us(105), Loss::Nak, 0);
    assert_eq!(rp.fabric.cwnd, 8.0, "once per round trip, which is 10 us");
    for i in 1..5 {
        rp.on_loss(us(100 + 20 * i), Loss::Timeout, 0);
    }
    assert_eq!(rp.fabric.cwnd, 0.5);
    rp.on_loss(us(181), Loss::Timeout, 0);
    assert_eq!(rp.fabric.cwnd, 0.001, "the fifth in a row, even within a round trip");
    rp.on_ack(&ack(300, 10, 1000));
    rp.on_loss(us(400), Loss::Timeout, 0);
    assert!(rp.fabric.cwnd > 0.5, "an ACK starts the count anew: {}", rp.fabric.cwnd);
}

#[test]
fn swift_5_base_bounds_and_start() {
    // 100G x 10 us are 125 packets, doubled at most.
    let rp = swift(&[]).reaction_point(&flow());
    assert_eq!((rp.fabric.cwnd, rp.max_cwnd), (125.0, 250.0));
    assert_eq!(swift(&[("initial", "packets")]).reaction_point(&flow()).fabric.cwnd, 12.0);
    // Slower than the base target: base_RTT + 10 us.
    let far = FlowFacts { max_base_rtt: Span::from_us(40), hops: 0, ..flow() };
    assert_eq!(Target::new(&swift(&[]).params, &far).fixed_ps, 50e6);
}

#[test]
fn swift_1_the_receivers_delay_has_its_own_window() {
    let scheme = swift(&[("endpoint", "true")]);
    assert_eq!((scheme.format().data_bytes, scheme.format().ack_bytes), (8, 16));
    // Without a delay it never binds.
    let mut rp = scheme.reaction_point(&flow());
    rp.fabric.cwnd = 10.0;
    rp.on_ack(&ack(0, 30, 1000));
    assert!(rp.endpoint.as_ref().unwrap().window.cwnd > 125.0 && rp.cwnd() == rp.fabric.cwnd);
    // 200 us at the receiver are not the fabric's: 230 - 200 = 30 us raise fcwnd. They cut ecwnd:
    // 1 - 0.8 x (200 - 100) / 200 = 0.6.
    let slow = FlowFacts { ack_delay: Span::from_us(200), ..flow() };
    let mut rp = scheme.reaction_point(&slow);
    rp.fabric.cwnd = 10.0;
    rp.on_ack(&ack(0, 230, 1000));
    assert!((rp.fabric.cwnd - 10.1).abs() < 1e-12);
    assert!((rp.endpoint.as_ref().unwrap().window.cwnd - 75.0).abs() < 1e-9);
    rp.endpoint.as_mut().unwrap().window.cwnd = 5.0;
    assert_eq!(rp.limits().window_bytes, 5_000);
}

#[test]
fn swift_4_smoothed_round_trips_and_pacing_throughout() {
    let mut rp = swift(&[("rtt_gain", "0.125"), ("pacing", "always")]).reaction_point(&flow());
    rp.fabric.cwnd = 10.0;
    rp.on_ack(&ack(0, 26, 0));
    assert!((rp.rtt_ps - 12e6).abs() < 1e-6);
    assert!((rp.limits().rate_bps - 10.0 * 1082.0 * 8.0 / 12e-6).abs() < 1.0);
}

#[test]
fn swift_5_htsims_values() {
    let values = crate::select("swift:htsim").unwrap();
    let rp = Swift::configure(&values).reaction_point(&flow());
    // 20 us and three times 20 / 6.55.
    assert!((rp.target.fixed_ps / 1e6 - 29.15).abs() < 0.02, "{}", rp.target.fixed_ps);
    assert_eq!((rp.fabric.cwnd, rp.params.rtt_gain), (12.0, 0.125));
}

#[test]
fn swift_4_room_at_the_largest_window_counts_as_an_increase() {
    let mut rp = swift(&[]).reaction_point(&flow());
    rp.fabric.cwnd = rp.max_cwnd;
    rp.on_ack(&ack(0, 20, 1000));
    assert_eq!((rp.fabric.cwnd, rp.increases()), (rp.max_cwnd, 1));
    rp.on_ack(&ack(1, 90, 1000));
    assert_eq!(rp.increases(), 1);
}

#[test]
fn swift_4_at_most_one_decrease_per_round_trip() {
    // Section 6, with ACKs every microsecond at 90 us: the second cut comes 90 us after the first.
    let mut rp = swift(&[]).reaction_point(&flow());
    rp.fabric.cwnd = 100.0;
    let mut cuts = Vec::new();
    for us in 0..200 {
        let before = rp.fabric.cwnd;
        rp.on_ack(&ack(us, 90, 1000));
        if rp.fabric.cwnd < before {
            cuts.push(us);
        }
    }
    assert_eq!(cuts, [0, 90, 180]);
}

#[test]
fn flows_stay_small() {
    assert!(size_of::<Rp>() <= 152, "{}", size_of::<Rp>());
}
