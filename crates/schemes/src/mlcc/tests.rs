//! The worked numbers of `mlcc.md`, without a network.

use super::*;
use crate::testing::configured;
use xoff_fabric::packet::{Ecn, IntHop};

fn mlcc(texts: &[(&str, &str)]) -> Mlcc {
    configured("mlcc", texts)
}

/// 25G hosts, 22 us on either side and 6 ms end to end.
fn cross() -> FlowFacts {
    let line = BitRate::from_gbps(25);
    let short = Span::from_us(22);
    FlowFacts {
        inter_domain: Some(InterDomain { near_rtt: short, far_rtt: short, far_line_rate: line }),
        ..FlowFacts::at(line, Span::from_ms(6))
    }
}

fn bounds(rtt_d: Span) -> Bounds {
    Bounds { rtt_c: Span::from_ms(6), rtt_d, mtu_bytes: 1000, line_bps: 25e9, min_bps: 100e6 }
}

fn dqm(texts: &[(&str, &str)], rtt_d: Span) -> Dqm {
    Dqm::new(mlcc(texts).dqm, bounds(rtt_d))
}

fn hop(us: u64, tx_bytes: u64, queue_bytes: u64) -> IntHop {
    IntHop { rate: BitRate::from_gbps(100), at: Time::from_us(us), tx_bytes, queue_bytes }
}

fn stack(tag: u16, flow_queue_bytes: u32, hops: &[IntHop]) -> IntStack {
    let mut stack = IntStack::default();
    (stack.tag, stack.flow_queue_bytes) = (tag, flow_queue_bytes);
    hops.iter().for_each(|hop| stack.push(*hop));
    stack
}

fn near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-9, "{value}, expected {expected}");
}

#[test]
fn mlcc_10_1_equation_5() {
    let rtt_d = Span::from_us(22);
    for (queue, rate) in [(10_000_000, 8.75e9), (1_562_500, 12.5e9)] {
        // 273 slots of history at the credit rate, or none at all: the same.
        let past = vec![12.5e9; 273];
        for past in [&past[..], &[]] {
            let mut dqm = dqm(&[("missing_history", "credit")], rtt_d).with_past(past, &[]);
            dqm.on_match(12.5e9, queue, rtt_d);
            near(dqm.state().0, rate);
        }
    }
}

#[test]
fn mlcc_10_2_equations_2_to_5() {
    // n = 4: RTT_D is a quarter of RTT_C. The current rate is one of the five averaged.
    let rtt_d = Span::from_us(1500);
    let credits = [8e9, 9e9, 11e9, 12e9];
    for history in ["advertised", "raw"] {
        let fresh = || dqm(&[("history", history)], rtt_d);
        let mut dqm = fresh().with_past(&[12e9, 11e9, 10e9, 9e9], &credits);
        dqm.on_match(10e9, 3_000_000, rtt_d);
        // Q_pre 3.375 MB, D_pre 2.7 ms.
        near(dqm.state().0, 10e9 * (1.0 - 1.7 / 18.0));
        assert!((dqm.state().0 / 1e9 - 9.0556).abs() < 5e-5);
        let mut dqm = fresh().with_past(&[5e9; 4], &credits);
        dqm.on_match(10e9, 1_000_000, rtt_d);
        assert!((dqm.state().0 / 1e9 - 10.5556).abs() < 5e-5, "the predicted queue is empty, not negative");
    }
}

#[test]
fn mlcc_6_a_predicted_queue_may_be_negative_without_the_floor() {
    let rtt_d = Span::from_us(1500);
    let mut dqm = dqm(&[("floor_queue", "false")], rtt_d).with_past(&[5e9; 4], &[10e9; 4]);
    dqm.on_match(10e9, 1_000_000, rtt_d);
    // (5 - 10) G x 6 ms + 8 Mb = -22 Mb: -2.2 ms.
    near(dqm.state().0, 10e9 * (1.0 + 3.2 / 18.0));
}

/// A DQM whose R_DQM is `ratio` times its credit rate of 10G: the queue from equation 5 backwards.
fn at_ratio(ratio: f64, texts: &[(&str, &str)]) -> Dqm {
    let rtt_d = Span::from_ms(6);
    let mut dqm = dqm(&[texts, &[("missing_history", "credit")]].concat(), rtt_d);
    let delay_s = 1e-3 + (1.0 - ratio) * mlcc(texts).dqm.theta_s;
    dqm.on_match(10e9, (delay_s * 10e9 / 8.0).round() as u64, rtt_d);
    assert!((dqm.state().0 - ratio * 10e9).abs() < 1.0, "{}", dqm.state().0);
    dqm
}

#[test]
fn mlcc_10_3_tokens() {
    let windows = |mut dqm: Dqm| -> Vec<i64> {
        let walk = (0..9).map(|_| {
            dqm.on_ack();
            dqm.state().2
        });
        walk.collect()
    };
    // Ratio 1: the token is 0.5, 0, 0.5, 0, exactly.
    let mut even = at_ratio(1.0, &[]);
    let half = 1i64 << 31;
    for (token, window) in [(half, -1), (0, 0), (half, -1), (0, 0)] {
        even.on_ack();
        assert_eq!((even.state().1, even.state().2), (token, window));
    }
    assert_eq!(windows(at_ratio(0.7, &[])), [-1, -2, -1, -2, -3, -2, -3, -4, -3]);
    // With theta = 18 ms an empty queue gives 1 + 1/18 at most; 1.4 takes theta = 2.5 ms.
    assert_eq!(windows(at_ratio(1.4, &[("theta", "2.5ms")])), [-1, 0, 1, 0, 1, 2, 1, 2, 3]);
    // Equation 8 as printed: a token of exactly 1 is used up and leaves the window as it is, so that
    // equal rates drift apart.
    let printed = at_ratio(1.0, &[("token_rule", "printed")]);
    assert_eq!(windows(printed), [-1, -1, -2, -2, -3, -3, -4, -4, -5]);
    // Gain 1: every ACK widens.
    assert_eq!(windows(at_ratio(1.0, &[("alpha", "1")])), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn mlcc_10_3_one_step_is_1_33_mbps() {
    let mut dqm = at_ratio(1.0, &[]);
    let rates: Vec<f64> = (0..2).map(|_| dqm.on_ack()).collect();
    assert!((rates[1] - rates[0] - 8.0 * 1000.0 / 6e-3).abs() < 1e-3);
    assert_eq!(rates[1], 10e9);
}

/// Equation 5 prints no bound: with a predicted delay of D_t + 2 theta it asks for minus the credit rate.
#[test]
fn mlcc_eq_5_is_bounded_unless_the_scenario_says_no() {
    let queue_bytes = (10e9 / 8.0 * (1e-3 + 2.0 * 18e-3)) as u64;
    let raw_bps = |texts: &[(&str, &str)]| {
        let mut dqm = dqm(&[texts, &[("missing_history", "credit")]].concat(), Span::from_ms(6));
        dqm.on_match(10e9, queue_bytes, Span::from_ms(6));
        dqm.on_ack();
        dqm.state().0
    };
    assert_eq!(raw_bps(&[]), 0.0);
    near(raw_bps(&[("clamp_raw", "false")]), -10e9);
}

#[test]
fn mlcc_6_bounds_hold_the_window_too() {
    let narrow = |texts: &[(&str, &str)]| {
        let mut dqm = at_ratio(0.0, texts);
        let rates: Vec<f64> = (0..20_000).map(|_| dqm.on_ack()).collect();
        (rates[19_999], dqm.state().2)
    };
    // (0.1 - 10) G in steps of 4/3 Mb/s.
    assert_eq!(narrow(&[]), (100e6, -7425));
    assert_eq!(narrow(&[("clamp_window", "false")]), (100e6, -20_000));
    let mut dqm = at_ratio(1.0, &[("alpha", "1")]);
    let last = (0..20_000).map(|_| dqm.on_ack()).last();
    assert_eq!((last, dqm.state().2), (Some(25e9), 11_250), "line rate at most");
}

#[test]
fn mlcc_6_line_rate_is_advertised_before_the_first_match() {
    let mut dqm = dqm(&[], Span::from_us(22));
    for _ in 0..100 {
        assert_eq!(dqm.on_ack(), 25e9);
    }
    assert_eq!(dqm.state().2, 0);
}

/// Equations 1 to 5 on their own: one step per RTT_D, a constant credit rate of 12.5G, a sender at
/// 25G for its first RTT_C that obeys R_DQM one RTT_C late. The expected values were computed
/// independently of this code.
#[test]
fn mlcc_eqs_the_queue_settles_at_the_target_delay() {
    for (theta, before, settles_ms, least_gbps, peak) in [
        ("6ms", "line", 23.4, 1.98, 9.41e6),
        ("18ms", "line", 58.0, 8.99, 9.41e6),
        ("30ms", "line", 92.6, 10.40, 9.41e6),
        // Until its history is full DQM takes the pipe to hold less than it does: four milliseconds.
        ("6ms", "credit", 27.1, 5.34, 9.53e6),
        ("18ms", "credit", 61.7, 9.44, 9.45e6),
        ("30ms", "credit", 96.3, 10.57, 9.44e6),
    ] {
        let (rtt_c, rtt_d, n) = (Span::from_us(6024), Span::from_us(24), 251);
        let settings = mlcc(&[("theta", theta), ("history", "raw"), ("missing_history", before)]).dqm;
        let mut dqm = Dqm::new(settings, Bounds { rtt_c, ..bounds(rtt_d) });
        let mut issued = vec![25e9; n];
        let (mut queue, mut highest, mut least, mut above_ms) = (0.0f64, 0.0f64, 25e9f64, 0.0);
        for step in 0..12_500 {
            queue = (queue + (issued[step] - 12.5e9) * 24e-6 / 8.0).max(0.0);
            dqm.on_match(12.5e9, queue as u64, rtt_d);
            let raw = dqm.state().0;
            issued.push(raw);
            (highest, least) = (highest.max(queue), least.min(raw));
            if queue > 2e6 {
                above_ms = step as f64 * 0.024;
            }
        }
        let what = format!("theta {theta}, {before} before the first");
        assert!((highest / peak - 1.0).abs() < 0.002, "{what}: peak {highest}");
        assert!((queue / 1.5625e6 - 1.0).abs() < 0.005, "{what}: {queue} at the end, R_credit D_t expected");
        assert!((above_ms - settles_ms).abs() < 0.2, "{what}: below 2 MB after {above_ms} ms");
        assert!((least / 1e9 - least_gbps).abs() < 0.01, "{what}: {least}");
    }
}

#[test]
fn mlcc_6_the_window_counts_the_acks_of_one_long_round_trip() {
    // n = 4 slots of 100 ACKs each; with an empty queue and alpha = 1 every ACK widens.
    let rtt_d = Span::from_us(1500);
    for (span, expected) in [("rtt", [100, 200, 300, 400, 500, 500, 500]), ("all", [100, 200, 300, 400, 500, 600, 700])]
    {
        let texts = [("window_span", span), ("alpha", "1"), ("history", "raw"), ("missing_history", "credit")];
        let mut dqm = dqm(&texts, rtt_d);
        for window in expected {
            dqm.on_match(10e9, 0, rtt_d);
            for _ in 0..100 {
                dqm.on_ack();
            }
            // Four whole slots and the one under way.
            assert_eq!(dqm.state().2, window, "{span}");
        }
    }
}

/// What receivers feed back in 1 ms. Packets every microsecond; the gateway writes the credit it received 11
/// us ago, the ACK of a packet takes 11 us: a round trip of 22 us. ACKs may be `lost`.
fn credits(lost: impl Fn(u64) -> bool) -> Vec<u16> {
    let scheme = mlcc(&[]);
    let mut np = scheme.notification_point(&cross());
    assert!(np.feeds_back_in_acks());
    let mut pfq = scheme.transit(&cross()).unwrap();
    let (mut to_receiver, mut to_gateway) = (Vec::new(), Vec::new());
    let mut credits = Vec::new();
    for us in 0..1_000u64 {
        let now = Time::from_us(us);
        while to_gateway.first().is_some_and(|(at, _)| *at == us) {
            pfq.on_ack(now, &to_gateway.remove(0).1);
        }
        let mut int = stack(9999, 0, &[hop(us, us * 1000, 0)]);
        pfq.on_arrive(now, 0);
        pfq.on_release(now, 7, Some(&mut int));
        to_receiver.push((us + 11, int));
        while to_receiver.first().is_some_and(|(at, _)| *at == us) {
            np.on_telemetry(now, &to_receiver.remove(0).1);
            let Some(feedback @ Feedback::InAck(in_ack)) = np.ack_feedback(now) else { panic!("every ACK carries it") };
            credits.push(in_ack.credit);
            if !lost(us) {
                to_gateway.push((us + 11, feedback));
            }
        }
    }
    credits
}

#[test]
fn mlcc_10_4_credits_match_once_per_round_trip() {
    let credits = credits(|_| false);
    // 1 ms / 22 us = 45 increments, the first of them after the first round trip.
    assert_eq!(credits[0], 1, "C_D is 0 before the first ACK: no match");
    let last = *credits.last().unwrap();
    assert!((44..=46).contains(&(last - 1)), "{last}");
    assert!(credits.windows(2).all(|pair| pair[1] - pair[0] <= 1));
    for value in 2..last {
        assert_eq!(credits.iter().filter(|credit| **credit == value).count(), 22, "C_R = {value} for one round trip");
    }
}

#[test]
fn mlcc_5_a_lost_ack_does_not_stall_the_credits() {
    // All ACKs carry the latest credit: the next one tells it, 1 us later.
    let last = *credits(|us| us % 2 == 0).last().unwrap();
    assert!((42..=46).contains(&(last - 1)), "{last}");
    // A long gap costs no more than itself.
    let last = *credits(|us| (200..310).contains(&us)).last().unwrap();
    assert!((38..=41).contains(&(last - 1)), "{last}");
}

#[test]
fn mlcc_5_only_a_match_sets_the_credit_rate() {
    let scheme = mlcc(&[]);
    let law = scheme.law(BitRate::from_gbps(25), BitRate::from_gbps(25), Span::from_us(22));
    let rules = CreditRules { every_packet: true, ..MEASURED };
    let mut credit = Credit::new(law, 65_535, Span::from_us(22), rules);
    assert_eq!(credit.rate_bps, 25e9);
    let mut at = |us: u64, tag| credit.on_data(Time::from_us(us), &stack(tag, 5, &[hop(us, us * 12_500, 500_000)]));
    // A congested hop: U rises with every packet, R_credit waits for the match.
    assert_eq!((at(0, 0), at(5, 7), at(10, 7)), (None, None, None));
    let first = at(15, 65_535).unwrap();
    assert!(first.rate_bps < 15e9, "{}", first.rate_bps);
    assert_eq!((first.rtt_d, first.queue_bytes), (Span::from_us(22), 5), "from the topology, at first");
    assert_eq!(at(20, 65_535), None, "answered already");
    assert_eq!(at(30, 0), None, "16 bits wrap past zero, which says that there is no credit");
    let second = at(45, 1).unwrap();
    assert_eq!(second.rtt_d, Span::from_us(30), "measured from match to match");
    assert!(second.rate_bps < first.rate_bps);
    assert_eq!(credit.value, 2);
}

#[test]
fn mlcc_algorithm_1_only_a_match_updates_the_law() {
    let rate = |every_packet, between_bytes| {
        let law = mlcc(&[]).law(BitRate::from_gbps(25), BitRate::from_gbps(25), Span::from_us(22));
        let mut credit = Credit::new(law, 1, Span::from_us(22), CreditRules { every_packet, ..MEASURED });
        credit.on_data(Time::ZERO, &stack(1, 0, &[hop(0, 0, 0)]));
        credit.on_data(Time::from_us(11), &stack(1, 0, &[hop(11, 137_500, between_bytes)]));
        credit.on_data(Time::from_us(22), &stack(2, 0, &[hop(22, 275_000, 0)])).unwrap().rate_bps
    };
    // A queue that came and went between two matches.
    assert_eq!(rate(false, 500_000), rate(false, 0), "lines 9 to 12");
    assert!((rate(true, 500_000) / rate(true, 0) - 1.0).abs() < 1e-9, "HPCC takes the shorter of two queues");
    // The port was full from match to match: U = 1.
    near(rate(false, 0), 25e9 * 0.95 + 80.0 * 8.0 / 22e-6);
}

/// Rules configured without texts.
const MEASURED: CreditRules = CreditRules { measured: true, own_queue: false, every_packet: false };

#[test]
fn mlcc_3_2_2_a_new_queue_begins_anew_at_the_receiver_too() {
    for (restart, rate_mbps, credit) in [("receiver", 25_000, 1), ("gateway", 11_900, 3)] {
        let mut np = mlcc(&[("pfq_restart", restart)]).notification_point(&cross());
        let mut receive = |us: u64, tag| {
            np.on_telemetry(Time::from_us(us), &stack(tag, 0, &[hop(us, us * 12_500, 275_000)]));
            let Some(Feedback::InAck(in_ack)) = np.ack_feedback(Time::from_us(us)) else { panic!() };
            in_ack
        };
        assert_eq!(receive(0, 0).credit, 1, "before the first ACK there is no credit to match");
        receive(22, 1);
        let slow = receive(44, 2);
        assert!(slow.credit == 3 && slow.credit_mbps < 13_000, "{slow:?}");
        // Silence; the gateway's queue is a new one.
        let anew = receive(20_000, 0);
        assert_eq!(anew.credit, credit, "{restart}");
        assert!((f64::from(anew.credit_mbps) / f64::from(rate_mbps) - 1.0).abs() < 0.01, "{restart}: {anew:?}");
        assert_eq!(anew.advertised_mbps == 25_000, restart == "receiver", "line rate until the first match");
    }
}

#[test]
fn mlcc_eq_1_slots_count_by_their_time() {
    // RTT_C of 6 ms. Forty slots of 150 us at 20G; then 4 ms without a match, which 5G were advertised for.
    let short = Span::from_us(150);
    let mut dqm = dqm(&[("history", "raw"), ("floor_queue", "false")], short).with_past(&[20e9; 40], &[10e9; 5]);
    dqm.raw_bps = 20e9;
    dqm.on_match(10e9, 0, short);
    near(dqm.mean_enqueue(), 20e9);
    dqm.raw_bps = 5e9;
    dqm.on_match(10e9, 0, Span::from_ms(4));
    // One slot of 4 ms and thirteen of 150 us, 5.95 ms: RTT_C / RTT_D of the gap would be two slots.
    near(dqm.mean_enqueue(), (4000.0 * 5e9 + 13.0 * 150.0 * 20e9) / 5950.0);
    // A gap longer than RTT_C: what was advertised then is all that counts.
    dqm.raw_bps = 7e9;
    dqm.on_match(10e9, 0, Span::from_ms(30));
    near(dqm.mean_enqueue(), 7e9);
    // Nothing before the first: line rate.
    let fresh = Dqm::new(mlcc(&[]).dqm, bounds(short));
    near(fresh.mean_enqueue(), 25e9);
}

#[test]
fn mlcc_3_a_flow_does_not_count_its_own_queue() {
    // 20 MB wait in the flow's own queue, nothing in the port's.
    let rate = |own_queue| {
        let law = mlcc(&[]).law(BitRate::from_gbps(25), BitRate::from_gbps(10), Span::from_us(22));
        let mut credit =
            Credit::new(law, 1, Span::from_us(22), CreditRules { own_queue, every_packet: true, ..MEASURED });
        credit.on_data(Time::ZERO, &stack(0, 20_000_000, &[hop(0, 0, 0)]));
        credit.on_data(Time::from_us(22), &stack(1, 20_000_000, &[hop(22, 100_000, 0)])).unwrap().rate_bps
    };
    // 80 B more in 22 us.
    near(rate(false), 10e9 + 80.0 * 8.0 / 22e-6);
    assert!(rate(true) < 1e9, "{}", rate(true));
}

#[test]
fn mlcc_3_powertcp_is_an_option() {
    // The first ACK that PowerTCP's specification works out (section 7.1).
    let line = BitRate::from_gbps(100);
    let mut law = mlcc(&[("law", "powertcp")]).law(line, line, Span::from_us(10));
    law.on_telemetry(&stack(0, 0, &[hop(0, 0, 0)]), true);
    law.on_telemetry(&stack(0, 0, &[hop(5, 62_500, 25_000)]), false);
    assert_eq!(law.window_bytes(), 107_705);
    near(law.rate_bps(), (0.9 * (125_000.0 / 1.34 + 12_500.0) + 12_500.0) * 8.0 / 10e-6);
}

#[test]
fn mlcc_4_a_queue_idle_for_rtt_c_starts_anew() {
    let scheme = mlcc(&[]);
    let mut pfq = scheme.transit(&cross()).unwrap();
    assert_eq!(pfq.rate_bps(), 25e9, "line rate of the receiver");
    assert_eq!(pfq.yields_at(BitRate::from_gbps(100)), 275_000, "one RTT_D of the port");
    let tag = |ms: u64, idle: bool, pfq: &mut Pfq| {
        let mut int = IntStack::default();
        pfq.on_arrive(Time::from_ms(ms), if idle { 0 } else { 1106 });
        pfq.on_release(Time::from_ms(ms), 0, Some(&mut int));
        int.tag
    };
    assert_eq!(tag(1, true, &mut pfq), 0);
    pfq.on_ack(Time::from_ms(1), &Feedback::InAck(AckFeedback::new(3, 5.4e9, 9e9)));
    assert_eq!((tag(2, true, &mut pfq), pfq.rate_bps()), (3, 5.4e9));
    assert_eq!((tag(30, false, &mut pfq), pfq.rate_bps()), (3, 5.4e9), "it was not empty");
    assert_eq!((tag(36, true, &mut pfq), pfq.rate_bps()), (0, 25e9), "empty for 6 ms");
    let slow = mlcc(&[("pfq_rate", "line/5"), ("pfq_idle", "100")]).transit(&cross()).unwrap();
    assert_eq!(slow.rate_bps(), 5e9);
}

#[test]
fn mlcc_10_6_the_lower_rate_counts() {
    // Equation 10. A rate law that starts at 6G and has received nothing keeps it.
    let of = FlowFacts { initial_rate: BitRate::from_gbps(6), ..cross() };
    let scheme = mlcc(&[]);
    let mut rp = scheme.reaction_point(&of);
    near(rp.limits().rate_bps, 6e9);
    for (advertised, rate) in [(9e9, 6e9), (4e9, 4e9), (25e9, 6e9)] {
        rp.on_feedback(Time::ZERO, &Feedback::InAck(AckFeedback::new(1, 12.5e9, advertised)));
        near(rp.limits().rate_bps, rate);
        assert_eq!(rp.limits().window_bytes, u64::MAX, "no end-to-end window");
    }
    let mut capped = mlcc(&[("window_cross", "bdp")]).reaction_point(&cross());
    assert_eq!(capped.limits().window_bytes, 18_750_000);
    capped.on_feedback(Time::ZERO, &Feedback::InAck(AckFeedback::new(1, 12.5e9, 8e9)));
    assert_eq!(capped.limits().window_bytes, 6_000_000);
}

#[test]
fn mlcc_3_near_source_rounds_by_time_of_sending() {
    let scheme = mlcc(&[]);
    let mut rp = scheme.reaction_point(&cross());
    assert_eq!(rp.limits().rate_bps, 25e9, "R_NS starts at line rate");
    let mut receive = |now: u64, sent: u64, tx_bytes: u64| {
        let mut int = IntStack::new(Time::from_us(sent));
        int.push(hop(now - 5, tx_bytes, 400_000));
        rp.on_feedback(Time::from_us(now), &Feedback::SwitchInt(SwitchInt::wrap(&int)));
        rp.limits().rate_bps
    };
    assert_eq!(receive(22, 0, 0), 25e9, "the first only stores");
    // Packets sent before 22 us react from the same reference; from then on it is a new round.
    let within = [receive(33, 11, 137_500), receive(43, 21, 262_500)];
    let beyond = receive(44, 22, 275_000);
    assert!(within[0] > within[1] && within[1] > beyond, "U still rises: {within:?}, {beyond}");
    let Rp::Cross { near, .. } = &rp else { panic!() };
    assert!(near.increases() == 0);
    // W = W_init / (U / eta): without compounding at most by the measured utilisation of 2.45.
    assert!(beyond > 25e9 * 0.95 / 2.5, "{beyond}");
}

#[test]
fn mlcc_2_the_gateway_takes_the_telemetry_off() {
    let at = QueueFacts { leaves_domain: true, ..QueueFacts::at(BitRate::from_gbps(100)) };
    let view = QueueView { port_bytes: 77, tx_bytes: 1234, ..QueueView::at(at.rate, Time::from_us(9), 0) };
    let pass = |cp: &mut Cp, flow, int: &mut IntStack| {
        let mut sent = Vec::new();
        let facts = PacketFacts::of(flow, 1106);
        let mark = Mark { ecn: &mut Ecn::Ect0, int: Some(int) };
        let notify = |flow, feedback| sent.push((flow, feedback));
        match cp.hooks() {
            Hooks::ENQUEUE => cp.on_enqueue(&view, &facts, 1, mark, notify),
            _ => cp.on_dequeue(&view, &facts, mark, notify),
        }
        sent
    };
    for (texts, hops) in [(&[][..], 2), (&[("near_gateway", "false")][..], 1)] {
        let mut cp = mlcc(texts).congestion_point(&at);
        assert_eq!(cp.hooks(), Hooks::ENQUEUE, "read when it is received (section 3.2.1)");
        let mut int = stack(0, 0, &[hop(3, 0, 0)]);
        let sent = pass(&mut cp, 4, &mut int);
        let [(4, feedback @ Feedback::SwitchInt(switch_int))] = &sent[..] else { panic!("{sent:?}") };
        assert_eq!(switch_int.stack().hops().len(), hops);
        assert_eq!(mlcc(texts).notification_bytes(feedback), Some(120));
        assert!(int.hops().is_empty(), "erased");
        // At another gateway further on.
        assert!(pass(&mut cp, 4, &mut int).is_empty() && int.hops().is_empty());
    }
    // One per k packets of a flow, whatever others send.
    let mut cp = mlcc(&[("switch_int_every", "3")]).congestion_point(&at);
    let mut notified = [0; 2];
    for i in 0..30 {
        notified[i % 2] += pass(&mut cp, i as u32 % 2, &mut IntStack::default()).len();
    }
    assert_eq!(notified, [5, 5]);
    let late = mlcc(&[("near_read", "departure")]).congestion_point(&at);
    assert_eq!(late.hooks(), Hooks::DEQUEUE);
    // A port within the datacentre only writes, when packets leave.
    let mut inner = mlcc(&[]).congestion_point(&QueueFacts { leaves_domain: false, ..at });
    let mut int = IntStack::default();
    assert!(pass(&mut inner, 4, &mut int).is_empty());
    assert_eq!(int.hops().len(), 1);
}

#[test]
fn mlcc_7_sizes() {
    let scheme = mlcc(&[]);
    let (within, inter_domain) = (scheme.format(), scheme.format_inter_domain());
    assert_eq!((within.data_bytes, within.ack_bytes), (42, 42));
    // 66 + 10 = 76 B.
    assert_eq!((inter_domain.data_bytes, inter_domain.ack_bytes), (44, 10));
    assert_eq!(scheme.notification_bytes(&Feedback::InAck(AckFeedback::new(1, 0.0, 0.0))), None);
}

#[test]
fn mlcc_8_windows_by_speed() {
    for (gbps, full) in [(10, 27_500.0), (25, 68_750.0), (40, 110_000.0), (100, 275_000.0)] {
        let line = BitRate::from_gbps(gbps);
        for law in ["hpcc", "powertcp"] {
            assert_eq!(mlcc(&[("law", law)]).law(line, line, Span::from_us(22)).window_bytes() as f64, full);
        }
    }
    // W_AI at 25G and 22 us: 80 B, or 10 Mb/s, or a twentieth of the window over 78 flows.
    for (step, bytes) in [("bytes", 80.0), ("rate", 27.5), ("flows", 68_750.0 * 0.05 / 78.0)] {
        let scheme = mlcc(&[("step", step)]);
        let (line, half) = (BitRate::from_gbps(25), BitRate::from_bps(12_500_000_000));
        let mut law = scheme.law(line, half, Span::from_us(22));
        law.on_telemetry(&stack(0, 0, &[hop(0, 0, 0)]), true);
        law.on_telemetry(&stack(0, 0, &[hop(22, 0, 0)]), true);
        near(law.rate_bps() - 12.5e9, bytes * 8.0 / 22e-6);
    }
    assert!(Mlcc::validation_error(&crate::select("mlcc").unwrap().with(&[("theta", "0ms")])).is_some());
}

#[test]
fn mlcc_2_flows_within_a_datacentre_run_the_law_from_end_to_end() {
    let of = FlowFacts::at(BitRate::from_gbps(25), Span::from_us(24));
    let scheme = mlcc(&[]);
    assert!(scheme.transit(&of).is_none() && !scheme.notification_point(&of).feeds_back_in_acks());
    let mut rp = scheme.reaction_point(&of);
    assert_eq!(rp.limits(), Limits { rate_bps: 25e9, window_bytes: 75_000 });
    let ack = |us, tx, queue, acked_bytes, rp: &mut Rp| {
        let int = stack(0, 0, &[hop(us, tx, queue)]);
        let now = Time::from_us(us);
        let rtt = Span::from_us(24);
        rp.on_ack(&Acked {
            now,
            bytes: 1,
            acked_bytes,
            sent_bytes: 75_000,
            rtt,
            ecn: Ecn::Ect0,
            int: Some(&int),
            duplicate: false,
            resent: false,
            path: 0,
            nak: false,
        });
    };
    ack(24, 0, 300_000, 1_000, &mut rp);
    ack(48, 300_000, 300_000, 76_000, &mut rp);
    // A full port with one BDP of queue: U = 2.
    near(rp.limits().rate_bps, 25e9 * 0.95 / 2.0 + 80.0 * 8.0 / 24e-6);
    let paced = mlcc(&[("window_intra", "none")]).reaction_point(&of);
    assert_eq!(paced.limits().window_bytes, u64::MAX);
}

#[test]
fn state_stays_small() {
    assert!(size_of::<Rp>() <= 160, "{}", size_of::<Rp>());
    assert!(size_of::<Np>() == 8 && size_of::<Cp>() <= 16, "{}", size_of::<Cp>());
    assert!(size_of::<Pfq>() <= 64);
}

#[test]
fn mlcc_eq_4_what_is_missing_of_m_counts_as_the_current_rate() {
    let rtt_d = Span::from_ms(6);
    let mut dqm = dqm(&[("missing_history", "credit"), ("history", "raw")], rtt_d);
    // 10 Mb at 10G: D_pre = D_t.
    dqm.on_match(10e9, 1_250_000, rtt_d);
    near(dqm.state().0, 10e9);
    // (10 - 5) G x 6 ms = 30 Mb, over the mean of 10G and four times 5G: 5 ms.
    dqm.on_match(5e9, 0, rtt_d);
    near(dqm.state().0, 5e9 * (1.0 - 4.0 / 18.0));
}

#[test]
fn mlcc_eq_1_the_round_trip_of_the_idle_network_is_an_option() {
    let law = mlcc(&[]).law(BitRate::from_gbps(25), BitRate::from_gbps(25), Span::from_us(22));
    let rules = CreditRules { measured: false, ..MEASURED };
    let mut credit = Credit::new(law, 1, Span::from_us(22), rules);
    for (us, tag) in [(0, 1), (300, 2)] {
        let matched = credit.on_data(Time::from_us(us), &stack(tag, 0, &[hop(us, 0, 0)]));
        assert_eq!(matched.map(|matched| matched.rtt_d), Some(Span::from_us(22)));
    }
}

#[test]
fn mlcc_8_a_queue_drains_at_the_least_rate_at_least() {
    let mut pfq = mlcc(&[]).transit(&cross()).unwrap();
    pfq.on_ack(Time::ZERO, &Feedback::InAck(AckFeedback::new(2, 1e6, 1e6)));
    assert_eq!(pfq.rate_bps(), 100e6);
}
