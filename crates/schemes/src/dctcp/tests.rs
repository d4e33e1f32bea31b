//! The worked numbers of the specification, section 7, and each form against its rules.

use super::*;
use crate::testing::{configured, dequeue, enqueue, flow, queue};
use xoff_engine::{BitRate, Span};
use xoff_fabric::packet::Ecn;

const SMSS: u64 = 1000;

fn window(texts: &[(&str, &str)]) -> window::Rp {
    match configured::<Dctcp>("dctcp", texts).reaction_point(&flow(10, 100)) {
        Rp::Window(rp) => rp,
        Rp::Rate(_) => panic!("asked for the window form"),
    }
}

fn rate(texts: &[(&str, &str)]) -> rate::Rp {
    match configured::<Dctcp>("dctcp:rate", texts).reaction_point(&flow(100, 13)) {
        Rp::Rate(rp) => rp,
        Rp::Window(_) => panic!("asked for the rate form"),
    }
}

/// An ACK up to `acked` segments while `sent` have been, that answers `of` segments.
fn ack(acked: u64, sent: u64, of: u64, marked: bool) -> Acked<'static> {
    Acked {
        now: Time::from_us(acked),
        bytes: of * SMSS,
        acked_bytes: acked * SMSS,
        sent_bytes: sent * SMSS,
        rtt: Span::from_us(100),
        ecn: if marked { Ecn::Ce } else { Ecn::Ect0 },
        ..Acked::default()
    }
}

#[test]
fn dctcp_7_1_alpha_and_cuts() {
    let mut rp = window(&[]);
    // Nothing acknowledged yet: the first window of data begins, 100 segments long.
    rp.on_ack(&ack(0, 100, 0, false));
    let expected =
        [(0, 0.9375, 53.125), (50, 0.91015625, 54.492), (100, 0.915771484375, 54.211), (0, 0.8585357666, 57.073)];
    for (i, (marked, alpha, cut)) in expected.into_iter().enumerate() {
        let end = (i as u64 + 1) * 100;
        if marked > 0 {
            rp.on_ack(&ack(end - 100 + marked, end, marked, true));
        }
        if marked < 100 {
            rp.on_ack(&ack(end, end + 100, 100 - marked, false));
        }
        // The window's last ACK may itself be the marked one, before it knows of the next window.
        rp.on_ack(&ack(end, end + 100, 0, false));
        assert!((rp.alpha - alpha).abs() < 5e-11, "{} instead of {alpha}", rp.alpha);
        let mut other = rp.clone();
        other.tcp.set_cwnd(100 * SMSS);
        other.cut_end = -1;
        other.on_ack(&ack(end, end + 100, 0, true));
        let cwnd = other.tcp.cwnd() as f64 / SMSS as f64;
        assert!((cwnd - cut).abs() < 6e-4, "100 segments become {cwnd} instead of {cut}");
    }
}

#[test]
fn dctcp_3_one_cut_per_window() {
    let mut rp = window(&[("initial_window", "100"), ("g", "0")]);
    rp.on_ack(&ack(1, 101, 1, true));
    assert_eq!(rp.tcp.cwnd(), 50 * SMSS, "alpha is 1: half, as after a loss");
    for acked in 2..=101 {
        rp.on_ack(&ack(acked, 101, 1, true));
        assert_eq!(rp.tcp.cwnd(), 50 * SMSS, "the same window");
    }
    rp.on_ack(&ack(102, 150, 1, true));
    assert_eq!(rp.tcp.cwnd(), 25 * SMSS);
}

#[test]
fn dctcp_7_3_all_marked_halves_and_none_marked_is_newreno() {
    let mut rp = window(&[("alpha_initial", "0"), ("initial_window", "10")]);
    for i in 1..=2000u64 {
        rp.on_ack(&ack(i, i + 10, 1, true));
    }
    assert!(rp.alpha > 0.9999, "{}", rp.alpha);
    assert_eq!(rp.tcp.cwnd(), 2 * SMSS, "the floor");
    let mut rp = window(&[("window_min", "1")]);
    for i in 1..=100u64 {
        rp.on_ack(&ack(i, i + 2, 1, true));
    }
    assert_eq!(rp.tcp.cwnd(), SMSS, "RFC 8257's floor");
    let mut rp = window(&[]);
    for i in 1..=64u64 {
        rp.on_ack(&ack(i, i + 1, 1, false));
        assert_eq!(rp.tcp.cwnd(), (2 + i) * SMSS, "slow start");
    }
    // Windows of one segment: each ACK ends one.
    assert!((rp.alpha - (15.0f64 / 16.0).powi(64)).abs() < 1e-12, "{}", rp.alpha);
}

#[test]
fn dctcp_3_a_marked_ack_does_not_grow_the_window() {
    let mut rp = window(&[("alpha_initial", "0"), ("g", "0"), ("initial_window", "10")]);
    rp.on_ack(&ack(1, 11, 1, true));
    rp.on_ack(&ack(2, 12, 1, true));
    assert_eq!(rp.tcp.cwnd(), 10 * SMSS);
    rp.on_ack(&ack(3, 13, 1, false));
    assert!(rp.tcp.cwnd() > 10 * SMSS);
}

#[test]
fn dctcp_6_alpha_moves_with_windows_of_data_alone() {
    // Marked or not; between windows, and while nothing is sent, it rests.
    let mut rp = window(&[("initial_window", "10")]);
    rp.on_ack(&ack(0, 10, 0, false));
    for acked in 1..10 {
        rp.on_ack(&ack(acked, 10, 1, false));
        assert_eq!(rp.alpha, 1.0);
    }
    rp.on_ack(&ack(10, 10, 1, false));
    assert_eq!(rp.alpha, 15.0 / 16.0);
    let idle = Acked { now: Time::from_ms(900), ..ack(10, 10, 0, false) };
    rp.on_ack(&idle);
    assert_eq!(rp.alpha, 15.0 / 16.0, "nothing acknowledged, nothing to learn");
    // Marks of what was sent again count like others.
    rp.on_ack(&Acked { resent: true, ..ack(11, 12, 1, true) });
    assert_eq!(rp.alpha, (15.0 / 16.0) * (15.0 / 16.0) + 1.0 / 16.0);
}

#[test]
fn dctcp_3_loss_halves_whatever_alpha_is() {
    let mut rp = window(&[("alpha_initial", "0"), ("g", "0"), ("initial_window", "20")]);
    let duplicate = Acked { bytes: 0, duplicate: true, ..ack(0, 20, 0, true) };
    let out = Outstanding { now: Time::from_us(1), acked_bytes: 0, sent_bytes: 20 * SMSS, highest_bytes: 20 * SMSS };
    for _ in 0..3 {
        rp.on_ack(&duplicate);
    }
    assert_eq!(rp.resend(&out), Resend::Oldest);
    assert_eq!(rp.tcp.cwnd(), 13 * SMSS, "half of 20, and three");
    rp.on_ack(&duplicate);
    assert_eq!(rp.tcp.cwnd(), 14 * SMSS, "marks do not cut on top of it");
}

#[test]
fn dctcp_3_a_mark_never_raises_the_window() {
    // A time-out leaves one segment, which is below the floor of cuts by marks.
    let mut rp = window(&[("initial_window", "20")]);
    rp.on_sent(Time::ZERO, 1082);
    rp.on_timer(rp.timer().unwrap());
    let out = Outstanding { now: Time::from_ms(1), acked_bytes: 0, sent_bytes: 20 * SMSS, highest_bytes: 20 * SMSS };
    assert_eq!(rp.resend(&out), Resend::All);
    assert_eq!(rp.tcp.cwnd(), SMSS);
    rp.on_ack(&ack(1, 1, 1, true));
    assert_eq!(rp.tcp.cwnd(), SMSS, "not to the floor of two");
    rp.on_ack(&ack(2, 2, 1, false));
    assert_eq!(rp.tcp.cwnd(), 2 * SMSS, "slow start continues below the floor");
    rp.on_ack(&ack(3, 4, 1, false));
    assert_eq!(rp.tcp.cwnd(), 2 * SMSS + SMSS / 2, "and avoidance from there");
}

/// Section 7.2 without a path: a flow alone sees marks in rounds that begin with more than W* = 74
/// segments under way, so that alpha follows sqrt(2 / W*).
#[test]
fn dctcp_7_2_alpha_settles_at_the_root_of_two_over_w() {
    let mut rp = window(&[]);
    let (mut acked, mut sent) = (0, rp.limits().window_bytes / SMSS);
    let (mut sum, mut rounds, mut peak) = (0.0, 0.0, 0);
    for round in 0..4000 {
        let end = sent;
        let marked = end - acked > 74;
        while acked < end {
            acked += 1;
            rp.on_ack(&ack(acked, sent, 1, marked));
            sent = sent.max(acked + rp.limits().window_bytes / SMSS);
        }
        if round >= 1000 {
            (sum, rounds) = (sum + rp.alpha, rounds + 1.0);
            peak = peak.max(sent - acked);
        }
    }
    let (alpha, expected) = (sum / rounds, (2.0f64 / 74.0).sqrt());
    assert!((expected - 0.164).abs() < 5e-4, "the worked example");
    assert!((alpha / expected - 1.0).abs() < 0.15, "{alpha} instead of {expected}");
    assert!((75..=77).contains(&peak), "{peak} segments at most, W* + 1 expected");
}

#[test]
fn dctcp_4_a_flow_starts_within_its_bounds_and_going_back_is_no_underflow() {
    let of = FlowFacts { initial_rate: BitRate::from_bps(1_000_000), ..flow(100, 13) };
    let Rp::Rate(mut rp) = configured::<Dctcp>("dctcp:rate", &[]).reaction_point(&of) else {
        panic!("asked for the rate form")
    };
    assert_eq!(rp.rate_bps, 100e6, "R_min");
    rp.on_ack(&ack(1, 50, 1, false));
    // The sender has gone back to what is acknowledged.
    rp.on_ack(&ack(51, 51, 50, false));
    rp.on_ack(&ack(52, 51, 1, false));
    assert!(rp.rate_bps > 100e6 && rp.increases() > 0);
}

#[test]
fn dctcp_4_room_at_line_rate_counts_as_an_increase() {
    let mut rp = rate(&[]);
    for i in 1..=3u64 {
        rp.on_ack(&ack(i * 50 + 1, i * 50 + 50, 1, false));
    }
    assert_eq!((rp.rate_bps, rp.increases()), (100e9, 3));
}

#[test]
fn dctcp_4_the_rate_form_step_by_step() {
    let mut rp = rate(&[]);
    // First batch: 50 packets sent when the first ACK comes; alpha stays, the rate is at the line.
    rp.on_ack(&ack(1, 50, 1, false));
    assert_eq!((rp.rate_bps, rp.alpha), (100e9, 1.0));
    // A mark within the batch cuts by alpha = 1.
    rp.on_ack(&ack(2, 51, 1, true));
    assert_eq!(rp.rate_bps, 50e9);
    for acked in 3..=50 {
        rp.on_ack(&ack(acked, 51, 1, true));
    }
    assert_eq!((rp.rate_bps, rp.alpha), (50e9, 1.0), "one cut until more than 51 are acknowledged");
    // 51 > 50: a new batch; 50 marks of a batch of 51.
    rp.on_ack(&ack(51, 60, 1, true));
    let alpha = 15.0 / 16.0 + 50.0 / 51.0 / 16.0;
    assert!((rp.alpha - alpha).abs() < 1e-15);
    assert_eq!(rp.rate_bps, 50e9, "51 is not beyond 51: still reduced, so neither cut nor raised");
    rp.on_ack(&ack(52, 60, 1, false));
    assert_eq!(rp.rate_bps, 50e9, "free again, but in mid-batch");
    rp.on_ack(&ack(61, 80, 9, false));
    assert!((rp.rate_bps - 50e9 - 8000.0 / 13e-6).abs() < 1.0, "one packet per round trip: 615 Mb/s");
    assert_eq!(rp.increases(), 2, "the first batch found room too");
}

#[test]
fn dctcp_4_rates_stay_within_bounds() {
    let mut rp = rate(&[]);
    for i in 0..200u64 {
        rp.on_ack(&ack(i * 10 + 1, i * 10 + 5, 1, true));
    }
    assert_eq!(rp.rate_bps, 100e6);
    // BDP 162.5 KB times R / line.
    assert_eq!(rp.limits().window_bytes, 162);
    for i in 200..1000u64 {
        rp.on_ack(&ack(i * 10 + 1, i * 10 + 5, 1, false));
    }
    assert_eq!((rp.rate_bps, rp.limits().window_bytes), (100e9, 162_500));
}

#[test]
fn dctcp_5_parameters() {
    let params = |preset| Params::read(&crate::select(&format!("dctcp:{preset}")).unwrap());
    let k = |preset, gbps| params(preset).k.at(BitRate::from_gbps(gbps));
    assert_eq!([k("paper", 1), k("paper", 10)], [20 * 1500, 65 * 1500]);
    assert_eq!([10, 25, 40, 100].map(|gbps| k("rate", gbps)), [30_000, 75_000, 120_000, 300_000]);
    let fixed = rate(&[("increase", "fixed")]);
    assert_eq!(fixed.rate_bps, 100e9);
    assert_eq!(params("paper").rto_min, Span::from_ms(10));
    assert!(size_of::<Rp>() <= 160, "{}", size_of::<Rp>());
}

#[test]
fn dctcp_1_the_step() {
    let scheme: Dctcp = configured("dctcp", &[]);
    let mut cp = scheme.congestion_point(&queue(10));
    for (queue_bytes, expected) in [(97_500, Ecn::Ect0), (97_501, Ecn::Ce)] {
        let view = QueueView::at(BitRate::from_gbps(10), Time::ZERO, queue_bytes);
        assert_eq!(enqueue(&mut cp, &view, &PacketFacts::of(0, 1518)).0, expected);
    }
    assert_eq!(scheme.format().transport, Transport::Tcp);
    assert_eq!(configured::<Dctcp>("dctcp:rate", &[]).format().transport, Transport::Roce);
}

#[test]
fn dctcp_ns3_rates_to_the_bit() {
    // Computed apart from this program, in Python, from the rules in `docs/schemes/dctcp.md`.
    let scheme: Dctcp = configured("dctcp:hpcc-ns3", &[]);
    let mut rp = scheme.reaction_point(&FlowFacts::at(BitRate::from_gbps(100), Span::from_ns(12_240)));
    for (acked_bytes, sent_bytes, marked, bps) in [
        (1_000, 150_000, false, 100_000_000_000u64),
        (2_000, 151_000, true, 50_000_000_000),
        (3_000, 152_000, true, 50_000_000_000),
        (151_000, 200_000, false, 50_000_000_000),
        (152_000, 201_000, false, 50_000_000_000),
        (153_000, 202_000, true, 26_541_804_635),
        (201_000, 240_000, false, 26_541_804_635),
        (203_000, 240_000, false, 26_541_804_635),
        (241_000, 280_000, true, 15_560_974_929),
        (281_000, 300_000, false, 16_175_974_929),
        (282_000, 301_000, false, 16_175_974_929),
        (301_000, 330_000, false, 16_790_974_929),
        (331_000, 360_000, false, 17_405_974_929),
    ] {
        let ecn = if marked { Ecn::Ce } else { Ecn::Ect0 };
        rp.on_ack(&Acked { acked_bytes, sent_bytes, ecn, ..Acked::default() });
        assert_eq!(rp.limits(), Limits { rate_bps: bps as f64, window_bytes: u64::MAX }, "ACK {acked_bytes}");
    }
}

#[test]
fn dctcp_ns3_thresholds_by_port_rate() {
    let texts = [
        ("kmin", "300KB@100Gbps, 1200KB@400Gbps"),
        ("kmax", "300KB@100Gbps, 1200KB@400Gbps"),
        ("pmax", "1@100Gbps, 1@400Gbps"),
    ];
    let scheme: Dctcp = configured("dctcp:hpcc-ns3", &texts);
    for (gbps, k) in [(100, 300_000), (400, 1_200_000)] {
        let mut cp = scheme.congestion_point(&queue(gbps));
        let mut marked = |queue_bytes| {
            let view = QueueView::at(BitRate::from_gbps(gbps), Time::ZERO, queue_bytes);
            dequeue(&mut cp, &view, &PacketFacts::of(1, 1048)).0 == Ecn::Ce
        };
        assert!(!marked(k) && marked(k + 1), "{gbps}G");
    }
    let never: Dctcp = configured("dctcp:hpcc-ns3", &[("mark_at", "never")]);
    assert_eq!(never.congestion_point(&queue(100)).hooks(), Hooks::NONE);
    let inverted = crate::select("dctcp:hpcc-ns3").unwrap().with(&[("kmax", "1KB")]);
    assert!(Dctcp::validation_error(&inverted).is_some_and(|why| why.contains("kmin")));
}
