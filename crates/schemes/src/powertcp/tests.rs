//! The worked numbers of the specification.

use super::*;
use crate::testing::{configured, flow};
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::packet::{Ecn, IntHop};

fn powertcp(preset: &str, texts: &[(&str, &str)]) -> PowerTcp {
    configured(&format!("powertcp:{preset}"), texts)
}

fn theta(preset: &str, texts: &[(&str, &str)]) -> ThetaPowerTcp {
    configured(&format!("theta-powertcp:{preset}"), texts)
}

/// Telemetry of one 100G hop: time in us, bytes sent, queue.
fn stack((us, tx_bytes, queue_bytes): (u64, u64, u64)) -> IntStack {
    let mut stack = IntStack::default();
    stack.push(IntHop { rate: BitRate::from_gbps(100), at: Time::from_us(us), tx_bytes, queue_bytes });
    stack
}

/// An ACK that ends a round, or one within.
fn ack<'a>(rp_round_ends: u64, round: bool, us: u64, rtt_us: u64, int: Option<&'a IntStack>) -> Acked<'a> {
    Acked {
        now: Time::from_us(us),
        bytes: 1000,
        acked_bytes: if round { rp_round_ends + 1 } else { rp_round_ends },
        sent_bytes: rp_round_ends + 100_000,
        rtt: Span::from_us(rtt_us),
        ecn: Ecn::Ect0,
        int,
        ..Acked::default()
    }
}

fn feed(rp: &mut Rp, records: (u64, u64, u64), round: bool) {
    let records = stack(records);
    rp.on_ack(&ack(rp.law.round_ends_bytes, round, 0, 0, Some(&records)));
}

fn close(value: f64, expected: f64, tolerance: f64) -> bool {
    (value - expected).abs() < tolerance
}

#[test]
fn powertcp_7_1_four_acknowledgements() {
    let mut rp = powertcp("paper", &[]).window(&flow(100, 10));
    assert_eq!((rp.law.cwnd_bytes, rp.law.beta_bytes), (125_000.0, 12_500.0));
    assert_eq!(rp.limits(), Limits { rate_bps: 100e9, window_bytes: 125_000 });
    feed(&mut rp, (0, 0, 0), true);
    assert_eq!(rp.limits().window_bytes, 125_000, "the first only stores");
    for (records, round, power, smoothed, cwnd) in [
        ((5, 62_500, 25_000), false, 1.68, 1.34, 107_705.22),
        ((10, 125_000, 50_000), true, 1.96, 1.65, 90_202.34),
        ((15, 187_500, 50_000), false, 1.40, 1.525, 73_504.40),
        ((20, 250_000, 30_000), true, 0.8432, 1.1841, 87_160.62),
    ] {
        let (measured, elapsed_ps) = rp.power(&stack(records)).unwrap();
        assert!(close(measured, power, 1e-12) && elapsed_ps == 5e6, "{records:?}: {measured}");
        let old = rp.law.old_bytes;
        feed(&mut rp, records, round);
        assert!(close(rp.law.smoothed, smoothed, 1e-12), "{records:?}: {}", rp.law.smoothed);
        assert!(close(rp.law.cwnd_bytes, cwnd, 0.005), "{records:?}: {}", rp.law.cwnd_bytes);
        assert_eq!(rp.law.old_bytes, if round { rp.law.cwnd_bytes } else { old });
    }
    assert!(close(rp.limits().rate_bps, 8.0 * 87_160.62 / 10e-6, 1e4));
}

#[test]
fn powertcp_7_2_theta() {
    let mut rp = theta("paper", &[]).window(&flow(100, 10));
    rp.on_ack(&ack(0, true, 100, 11, None));
    assert_eq!(rp.limits().window_bytes, 125_000, "the first only stores");
    let ends = rp.law.round_ends_bytes;
    rp.on_ack(&ack(ends, false, 102, 90, None));
    assert_eq!(rp.previous, Some((Time::from_us(100), Span::from_us(11))), "nothing within a round");
    rp.on_ack(&ack(ends, true, 105, 12, None));
    assert!(close(rp.law.smoothed, 1.22, 1e-12), "{}", rp.law.smoothed);
    assert!(close(rp.law.cwnd_bytes, 115_963.11, 0.005), "{}", rp.law.cwnd_bytes);
}

#[test]
fn powertcp_7_2_theta_may_measure_with_every_ack() {
    let mut rp = theta("paper", &[("measure", "ack")]).window(&flow(100, 10));
    rp.on_ack(&ack(0, true, 100, 11, None));
    let ends = rp.law.round_ends_bytes;
    rp.on_ack(&ack(ends, false, 105, 12, None));
    assert!(close(rp.law.smoothed, 1.22, 1e-12));
    assert_eq!(rp.limits().window_bytes, 125_000, "the window waits for the round");
    // Gamma 1.2: (1.22 x 5 + 1.2 x 5) / 10.
    rp.on_ack(&ack(ends, true, 110, 12, None));
    assert!(close(rp.law.smoothed, 1.21, 1e-12));
    assert!(close(rp.law.cwnd_bytes, 0.9 * (125_000.0 / 1.21 + 12_500.0) + 12_500.0, 1e-6));
}

#[test]
fn powertcp_7_3_equilibrium() {
    // Ten flows of BDP / 10 + beta: the queue is ten beta, power 2, and nothing moves.
    let mut rp = powertcp("paper", &[]).window(&flow(100, 10));
    (rp.law.cwnd_bytes, rp.law.old_bytes, rp.law.smoothed) = (25_000.0, 25_000.0, 2.0);
    feed(&mut rp, (0, 0, 125_000), true);
    for round in 1..20 {
        feed(&mut rp, (10 * round, 125_000 * round, 125_000), true);
        assert!(close(rp.law.cwnd_bytes, 25_000.0, 1e-6), "{}", rp.law.cwnd_bytes);
    }
}

#[test]
fn powertcp_5_beta_by_speed() {
    for (gbps, bytes) in [(10, 1_500.0), (25, 3_750.0), (40, 6_000.0), (100, 15_000.0)] {
        let rp = powertcp("paper", &[]).window(&flow(gbps, 12));
        assert!(close(rp.law.beta_bytes, bytes, 1e-9));
        // 150 Mb/s x tau / 8.
        let compat = powertcp("compat", &[]).window(&flow(gbps, 12));
        assert!(close(compat.law.beta_bytes, 225.0, 1e-9));
    }
}

#[test]
fn powertcp_6_a_draining_queue_leaves_power_positive() {
    let mut rp = powertcp("paper", &[("floor", "power")]).window(&flow(100, 10));
    feed(&mut rp, (0, 0, 100_000), true);
    assert_eq!(rp.power(&stack((5, 10_000, 50_000))), Some((0.01, 5e6)));
    let mut rp = powertcp("paper", &[]).window(&flow(100, 10));
    feed(&mut rp, (0, 0, 100_000), true);
    // Half the rate, times queue and pipe of 175 000 over 125 000 bytes.
    assert_eq!(rp.power(&stack((5, 10_000, 50_000))), Some((0.7, 5e6)));
    assert_eq!(rp.power(&stack((0, 0, 100_000))), None, "records of one instant");
    let mut longer = stack((5, 0, 0));
    longer.push(IntHop { rate: BitRate::from_gbps(100), at: Time::from_us(6), tx_bytes: 0, queue_bytes: 0 });
    assert_eq!(rp.power(&longer), None, "another path");
    // And a hopeless queue leaves the least window.
    for us in 1..100 {
        feed(&mut rp, (us, 0, us * 10_000_000), true);
    }
    assert!(rp.limits().rate_bps >= 99.9e6 && rp.limits().window_bytes >= 124, "{:?}", rp.limits());
}

#[test]
fn powertcp_4_compat() {
    // 100G, tau 10 us: 150 Mb/s are 187.5 B. Current 0.2 counts as 0.5; Gs = (0.5 + 0.5 x 1.4) / 2.
    let mut rp = powertcp("compat", &[("int_precision", "exact")]).window(&flow(100, 10));
    feed(&mut rp, (0, 0, 50_000), true);
    feed(&mut rp, (5, 12_500, 50_000), false);
    assert!(close(rp.law.smoothed, 0.5 + 0.5 * 0.7, 1e-12), "{}", rp.law.smoothed);
    assert_eq!(rp.law.cwnd_bytes, 125_000.0);
    // Gs = 1.275: 0.9 (125 000 x 0.95 / 1.275 + 187.5) + 0.1 x 125 000, twice without a round between.
    for (us, tx) in [(10, 75_000), (15, 137_500)] {
        rp.law.smoothed = 1.15;
        feed(&mut rp, (us, tx, 50_000), false);
        assert!(close(rp.law.smoothed, 1.275, 1e-12), "{}", rp.law.smoothed);
        let expected = 0.9 * (125_000.0 * 0.95 / 1.275 + 187.5) + 12_500.0;
        assert!(close(rp.law.cwnd_bytes, expected, 1e-6), "{}", rp.law.cwnd_bytes);
    }
}

#[test]
fn powertcp_4_theta_compat() {
    let mut rp = theta("compat", &[]).window(&flow(100, 10));
    // The least round trip seen, 9 us, is the base, whatever the topology says.
    rp.on_ack(&ack(0, true, 100, 9, None));
    let ends = rp.law.round_ends_bytes;
    rp.on_ack(&ack(ends, false, 103, 12, None));
    let gamma = 2.0 * 12.0 / (1.05 * 9.0);
    let smoothed = (6.0 + gamma * 3.0) / 9.0;
    assert!(close(rp.law.smoothed, smoothed, 1e-12), "{}", rp.law.smoothed);
    let expected = 0.7 * (125_000.0 / smoothed + 187.5) + 0.3 * 125_000.0;
    assert!(close(rp.law.cwnd_bytes, expected, 1e-6), "applied at once: {}", rp.law.cwnd_bytes);
    // Falling by 3 us in 3 us: current 0, counted as 0.5.
    rp.on_ack(&ack(ends, false, 106, 9, None));
    let next = (smoothed * 6.0 + 0.5 / 1.05 * 3.0) / 9.0;
    assert!(close(rp.law.smoothed, next, 1e-12), "{}", rp.law.smoothed);
}

#[test]
fn flows_stay_small() {
    assert!(size_of::<Rp>() <= 120 && size_of::<theta::Rp>() <= 150, "{}", size_of::<theta::Rp>());
}
