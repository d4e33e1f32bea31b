//! The worked numbers of the specification, and the reaction points against literal forms.

use super::spec::SPEC;
use super::*;
use crate::select;
use crate::testing::{self, configured, queue};

fn flow(gbps: u64) -> FlowFacts {
    FlowFacts { max_base_rtt: Span::from_us(12), ..testing::flow(gbps, 10) }
}

fn dcqcn(preset: &str, overrides: &[(&str, &str)]) -> Dcqcn {
    configured(&format!("dcqcn:{preset}"), overrides)
}

fn paper(scheme: &Dcqcn, gbps: u64) -> paper::Rp {
    match scheme.reaction_point(&flow(gbps)) {
        Rp::Paper(rp, _) => rp,
        Rp::Nic(..) => panic!("asked for the paper's variant"),
    }
}

fn nic(scheme: &Dcqcn, gbps: u64) -> nic::Rp {
    match scheme.reaction_point(&flow(gbps)) {
        Rp::Nic(rp, _) => rp,
        Rp::Paper(..) => panic!("asked for the NIC's variant"),
    }
}

fn gbps(bps: f64) -> f64 {
    bps / 1e9
}

#[test]
fn dcqcn_8_1_paper_variant() {
    let mut rp = paper(&dcqcn("paper", &[]), 40);
    let us = Time::from_us;
    rp.on_cnp(us(100));
    assert_eq!((gbps(rp.target_bps), gbps(rp.rate_bps), rp.alpha), (40.0, 20.0, 1.0));
    // One alpha time-out later, before the increase timer acts on the rate.
    Arc::make_mut(&mut rp.params).increase_timer = Span::from_ms(1);
    rp.on_cnp(us(155));
    assert_eq!(gbps(rp.target_bps), 20.0);
    assert_eq!(gbps(rp.rate_bps), 10.0390625);
    assert_eq!(rp.alpha, 0.9961090087890625);
    for expected in [15.01953125, 17.509765625, 18.7548828125, 19.37744140625, 19.688720703125] {
        rp.on_timer(us(1000));
        assert!((gbps(rp.rate_bps) - expected).abs() < 1e-12, "{}", gbps(rp.rate_bps));
    }
    rp.on_timer(us(1000));
    assert!((gbps(rp.target_bps) - 20.04).abs() < 1e-12);
    assert!((gbps(rp.rate_bps) - 19.8643603515625).abs() < 1e-12);
}

#[test]
fn dcqcn_8_2_original_simulator_order() {
    let mut rp = paper(&dcqcn("paper", &[("cut_order", "alpha-first"), ("alpha_initial", "0.5")]), 40);
    rp.on_cnp(Time::from_us(7));
    assert_eq!(rp.alpha, 0.501953125);
    assert_eq!(gbps(rp.rate_bps), 29.9609375);
}

/// Whether packets and ACKs without marks leave a reaction point as it is.
fn stays(rp: &mut Rp) -> bool {
    let before = format!("{rp:?}");
    for sent in 0..2_000 {
        rp.on_sent(Time::from_us(sent), 4_158);
        rp.on_ack(&Acked { now: Time::from_us(sent), bytes: 4_096, ..Acked::default() });
    }
    format!("{rp:?}") == before
}

#[test]
fn a_reaction_point_rests_where_packets_change_nothing() {
    for (preset, counts) in [("nic", false), ("vendor-100g", true), ("paper", true)] {
        let mut rp = dcqcn(preset, &[]).reaction_point(&flow(100));
        assert!(rp.rests() && stays(&mut rp), "{preset}: at line rate");
        rp.on_feedback(Time::ZERO, &Cnp);
        while let Some(at) = rp.timer().filter(|at| *at < Time::from_us(5)) {
            rp.on_timer(at);
        }
        assert!(rp.limits().rate_bps < 1e11, "{preset}: the notification cuts the rate");
        assert_eq!((rp.rests(), stays(&mut rp)), (!counts, !counts), "{preset}: bytes are counted after a cut");
    }
}

#[test]
fn dcqcn_8_3_nic_variant() {
    let mut rp = nic(&dcqcn("nic", &[]), 100);
    rp.on_cnp(Time::ZERO);
    assert_eq!(gbps(rp.rate_bps), 100.0, "no cut before the check");
    let check = Time::from_ps(4_001_000);
    assert_eq!(rp.timer(), Some(check));
    rp.on_timer(check);
    assert!((rp.alpha - 0.98446631).abs() < 5e-9, "{}", rp.alpha);
    assert!((gbps(rp.rate_bps) - 50.7766843).abs() < 5e-8, "{}", gbps(rp.rate_bps));
    assert_eq!(gbps(rp.target_bps), 100.0);
    for (i, expected) in [75.3883421, 87.6941711, 93.8470855].into_iter().enumerate() {
        let at = rp.timer().unwrap();
        assert_eq!(at, check + Span::from_us(300) * (i as u64 + 1));
        rp.on_timer(at);
        assert!((gbps(rp.rate_bps) - expected).abs() < 5e-8, "{}", gbps(rp.rate_bps));
    }
}

#[test]
fn dcqcn_8_4_alpha_half_life() {
    let mut rp = paper(&dcqcn("paper", &[]), 40);
    rp.on_cnp(Time::from_us(1));
    // 177 periods halve alpha to within one step.
    Arc::make_mut(&mut rp.params).increase_timer = Span::from_ms(1000);
    rp.on_cnp(Time::from_us(1) + Span::from_us(55) * 177);
    let before = (rp.alpha - SPEC_G) / (1.0 - SPEC_G);
    assert!((before - 0.5).abs() < 0.002, "{before}");
    let mut rp = nic(&dcqcn("nic", &[]), 100);
    rp.on_cnp(Time::ZERO);
    rp.on_timer(Time::from_ps(4_001_000));
    rp.on_cnp(Time::from_us(177));
    assert!((rp.alpha - 0.5).abs() < 0.002, "{}", rp.alpha);
}
const SPEC_G: f64 = 1.0 / 256.0;

#[test]
fn dcqcn_3_one_cnp_per_interval() {
    let mut np = dcqcn("paper", &[]).notification_point(&flow(40));
    let mut data = |us: u64, ecn| {
        np.on_data(&Received { now: Time::from_us(us), wire_bytes: 1082, payload_bytes: 1000, ecn }).is_some()
    };
    assert!(!data(0, Ecn::Ect0));
    assert!(data(1, Ecn::Ce), "the first mark is answered at once");
    assert!(!data(2, Ecn::Ce) && !data(50, Ecn::Ce));
    assert!(data(51, Ecn::Ce));
    assert!(!data(200, Ecn::Ect0));
}

#[test]
fn dcqcn_3_periodic_polls_on_a_grid() {
    let mut np = dcqcn("paper", &[("np", "periodic")]).notification_point(&flow(40));
    let data = |now| Received { now, wire_bytes: 1082, payload_bytes: 1000, ecn: Ecn::Ce };
    assert!(np.on_data(&data(Time::from_us(10))).is_none());
    assert_eq!(np.timer(), Some(Time::from_us(60)));
    assert!(np.on_timer(Time::from_us(60)).is_some());
    assert_eq!(np.timer(), None, "nothing to poll for");
    assert!(np.on_data(&data(Time::from_us(130))).is_none());
    assert_eq!(np.timer(), Some(Time::from_us(160)));
}

#[test]
fn polls_may_begin_with_the_first_packet() {
    let data = |us, ecn| Received { now: Time::from_us(us), wire_bytes: 1082, payload_bytes: 1000, ecn };
    for (from, first, answered, poll) in [
        // The first packet comes at 10 us, the first mark after it at 37 us.
        ("first-mark", Ecn::Ect0, false, 87),
        ("first-packet", Ecn::Ect0, false, 60),
        ("first-packet", Ecn::Ce, true, 60),
        ("after-first-packet", Ecn::Ce, false, 60),
    ] {
        let mut np = dcqcn("paper", &[("np", "periodic"), ("poll_from", from)]).notification_point(&flow(40));
        assert_eq!(np.on_data(&data(10, first)).is_some(), answered, "{from}");
        assert_eq!(np.timer(), None, "{from}: no poll without a mark");
        assert!(np.on_data(&data(20, Ecn::Ect0)).is_none());
        assert!(np.on_data(&data(37, Ecn::Ce)).is_none());
        assert_eq!(np.timer(), Some(Time::from_us(poll)), "{from}");
        assert!(np.on_timer(Time::from_us(poll)).is_some());
        // Silence keeps the grid.
        assert!(np.on_data(&data(poll + 120, Ecn::Ce)).is_none());
        assert_eq!(np.timer(), Some(Time::from_us(poll + 150)), "{from}");
    }
}

#[test]
fn the_original_simulator_cuts_and_counts_so() {
    // Values of its traces: alpha 0.5 rises before each cut; the target is what the rate was.
    let mut rp = paper(&dcqcn("paper-sim", &[]), 40);
    for (us, bps) in [(50, 29_960_937_500.0), (100, 22_412_299_960.0), (150, 16_743_820_089.0)] {
        rp.on_cnp(Time::from_us(us));
        assert!((rp.rate_bps - bps).abs() < 2.0, "{} at {us} us", rp.rate_bps);
    }
    // Four recoveries, for it counts before it looks, then 40 Mb/s on the target.
    let cut = rp.target_bps;
    for step in 1..=5 {
        rp.on_timer(Time::from_us(150 + 55 * step));
        assert_eq!(rp.target_bps - cut, if step < 5 { 0.0 } else { 40e6 });
    }
    for _ in 0..100 {
        rp.on_cnp(Time::from_us(500));
    }
    assert_eq!(rp.rate_bps, 100e6, "its floor");
}

#[test]
fn dcqcn_4_hyper_increase_grows_by_stage() {
    let mut rp = paper(&dcqcn("paper", &[("byte_counter", "1082B")]), 40);
    rp.on_cnp(Time::from_us(1));
    rp.on_cnp(Time::from_us(2));
    // Both stages beyond F: byte events and timer events alternate.
    for _ in 0..6 {
        rp.on_timer(Time::from_us(3));
        rp.on_sent(1082);
    }
    assert_eq!((rp.timer_stage, rp.byte_stage), (6, 6));
    let before = rp.target_bps;
    rp.on_timer(Time::from_us(3));
    assert_eq!(rp.target_bps - before, 400e6, "i = min - F = 1");
    rp.on_sent(1082);
    assert_eq!(rp.target_bps - before, 800e6, "the smaller stage is still 6");
    rp.on_timer(Time::from_us(3));
    assert_eq!(rp.target_bps - before, 1600e6, "i = 2");
}

#[test]
fn dcqcn_4_a_flow_at_line_rate_has_no_timer() {
    let mut rp = dcqcn("nic", &[]).reaction_point(&flow(100));
    assert_eq!(rp.timer(), None);
    rp.on_feedback(Time::ZERO, &Cnp);
    let mut steps = 0;
    while let Some(at) = rp.timer() {
        rp.on_timer(at);
        steps += 1;
        assert!(steps < 100, "recovers in the end");
    }
    assert_eq!(rp.limits().rate_bps, 100e9);
}

#[test]
fn dcqcn_6_rates_scale() {
    // Section 6: 5/50 Mb/s at 25G, 20/200 at 100G.
    let params = Params::read(&select("dcqcn:nic").unwrap());
    for (line, ai, hai) in [(25, 5e6, 50e6), (40, 8e6, 80e6), (100, 20e6, 200e6)] {
        let line = BitRate::from_gbps(line);
        assert!((params.rate_ai.at(line) - ai).abs() < 1e-3);
        assert!((params.rate_hai.at(line) - hai).abs() < 1e-3);
    }
    assert_eq!(params.byte_counter, 0);
}

#[test]
fn dcqcn_6_by_default_every_port_marks_by_its_own_rate_and_before_pfc() {
    let thresholds = |name: &str, gbps, pause_bytes| {
        let params = Params::read(&select(name).unwrap());
        let queue = QueueFacts { pause_bytes, ..queue(gbps) };
        [params.kmin, params.kmax].map(|threshold| threshold.at_queue(&queue) / 1000)
    };
    // HPCC, section 5.1: 100 and 400 KB at 25G, in proportion.
    for (gbps, kmin_kb) in [(10, 40), (25, 100), (40, 160), (100, 400), (400, 1600)] {
        assert_eq!(thresholds("dcqcn", gbps, None), [kmin_kb, 4 * kmin_kb]);
    }
    // A switch of 12 MB with dynamic thresholds pauses an ingress at 1.276 MB, one with XOFF = 60 KB
    // there: marks begin at half of that, and are certain at twice.
    assert_eq!(thresholds("dcqcn", 100, Some(1_276_000)), [400, 1600]);
    assert_eq!(thresholds("dcqcn", 400, Some(1_276_000)), [638, 2552]);
    assert_eq!(thresholds("dcqcn", 100, Some(60_000)), [30, 120]);
    // The rest of the defaults is the paper's, whose own thresholds know no port.
    assert_eq!(thresholds("dcqcn:paper", 400, Some(60_000)), [5, 200]);
    assert_eq!(thresholds("dcqcn:paper-sim", 100, None), [5, 200]);
    let (usual, paper) = (select("dcqcn").unwrap(), select("dcqcn:paper").unwrap());
    let differ = SPEC.params.iter().filter(|param| usual.get(param.name) != paper.get(param.name));
    assert_eq!(differ.map(|param| param.name).collect::<Vec<_>>(), ["kmin", "kmax", "pmax"]);
}

#[test]
fn dcqcn_8_5_fixed_point_of_the_fluid_model() {
    // Rates in packets of 1 KB per second; R_AI = 40 Mb/s, B = 10 MB, T = tau' = 55 us.
    let (c, r_ai, b, t) = (40e9 / 8000.0, 40e6 / 8000.0, 10_000.0, 55e-6);
    let p = |n: f64| (r_ai * n * n / (t * c * c) * (1.0 / b + n / (t * c)).powi(2)).cbrt();
    let params = Params::read(&select("dcqcn:paper").unwrap());
    let red = params.red(&queue(40));
    for (n, percent, queue) in [(2.0, 0.0925, 23_000), (10.0, 0.785, 158_000)] {
        assert!((p(n) * 100.0 / percent - 1.0).abs() < 1e-3, "{n} flows: {}", p(n));
        assert!((red.probability(queue) / p(n) - 1.0).abs() < 3e-3, "{n} flows: {}", red.probability(queue));
    }
    assert!((p(64.0) - 0.093).abs() < 5e-4 && p(64.0) > params.pmax.at(BitRate::from_gbps(40)), "{}", p(64.0));
}

#[test]
fn dcqcn_4_target_clamp_after_increase() {
    let mut rp = paper(&dcqcn("paper", &[("target_clamp", "after-increase"), ("byte_counter", "1082B")]), 40);
    rp.on_cnp(Time::from_us(1));
    rp.on_cnp(Time::from_us(2));
    assert_eq!(gbps(rp.target_bps), 40.0, "nothing was sent between them");
    // A hold is as a cut here too (TCD, section 5).
    rp.on_hold(Time::from_us(3));
    assert_eq!(gbps(rp.target_bps), 40.0);
    rp.on_sent(1082);
    let rate = rp.rate_bps;
    rp.on_hold(Time::from_us(4));
    assert_eq!((rp.target_bps, rp.rate_bps), (rate, rate));
    let mut always = paper(&dcqcn("paper", &[]), 40);
    always.on_cnp(Time::from_us(1));
    always.on_cnp(Time::from_us(2));
    assert_eq!(gbps(always.target_bps), 20.0);
}

#[test]
fn dcqcn_4_options_of_the_original_simulator() {
    // Counting first, the fifth event is the first additive one, and both at five are hyper with i = 1.
    let mut rp = paper(&dcqcn("paper", &[("stage_order", "increment-first"), ("byte_counter", "1082B")]), 40);
    rp.on_cnp(Time::from_us(1));
    rp.on_cnp(Time::from_us(2));
    for _ in 0..4 {
        rp.on_timer(Time::from_us(3));
        assert_eq!(gbps(rp.target_bps), 20.0);
    }
    rp.on_timer(Time::from_us(3));
    assert_eq!(gbps(rp.target_bps), 20.04);
    for _ in 0..4 {
        rp.on_sent(1082);
    }
    let before = rp.target_bps;
    rp.on_sent(1082);
    assert_eq!(rp.target_bps - before, 400e6, "i = min - F + 1");
    // An eighth of a target beyond ten rates, once.
    for (decay, target) in [("true", 5.0), ("false", 40.0)] {
        let texts = [("target_decay", decay), ("target_clamp", "after-increase")];
        let mut rp = paper(&dcqcn("paper", &texts), 40);
        (0..4).for_each(|us| rp.on_cnp(Time::from_us(us)));
        rp.on_timer(Time::from_us(9));
        assert_eq!(gbps(rp.target_bps), target);
        rp.on_timer(Time::from_us(9));
        assert_eq!(gbps(rp.target_bps), target);
    }
    // Half the time, and half the bytes, between hyper increases.
    let mut rp = paper(&dcqcn("paper-sim", &[("byte_counter", "2164B"), ("rate_hai", "1Mbps")]), 40);
    rp.on_cnp(Time::from_us(1));
    for _ in 0..5 {
        rp.on_sent(2164);
    }
    for _ in 0..4 {
        rp.on_timer(Time::from_us(3));
        assert_eq!(rp.timer(), Some(Time::from_us(3 + 55)));
    }
    rp.on_timer(Time::from_us(3));
    assert_eq!(rp.timer(), Some(Time::from_us(3) + Span::from_ns(27_500)));
    rp.on_sent(2164);
    let stage = rp.byte_stage;
    rp.on_sent(1082);
    assert_eq!(rp.byte_stage, stage + 1);
}

#[test]
fn dcqcn_4_the_open_simulator_begins_hyper_increase_by_its_timer_alone() {
    let mut rp = paper(&dcqcn("open-sim", &[("byte_counter", "2164B")]), 40);
    rp.on_cnp(Time::from_us(1));
    rp.on_cnp(Time::from_us(2));
    let target = |rp: &paper::Rp| (rp.target_bps / 1e6).round() as u64;
    let start = target(&rp);
    for _ in 0..4 {
        rp.on_timer(Time::from_us(3));
    }
    assert_eq!(target(&rp), start, "four cycles of fast recovery");
    rp.on_timer(Time::from_us(3));
    // Six cycles of bytes: with the last two both stages are beyond five, and the steps stay additive.
    for _ in 0..6 {
        rp.on_sent(2164);
    }
    assert_eq!((rp.timer_stage, rp.byte_stage, target(&rp)), (5, 6, start + 7 * 40));
    // The timer's next is hyper, with i = 6 - 5 + 1; only the cycles after it are halved.
    rp.on_timer(Time::from_us(3));
    assert_eq!(target(&rp), start + 7 * 40 + 2 * 200);
    assert_eq!(rp.timer(), Some(Time::from_us(63)));
    rp.on_sent(2164);
    assert_eq!((rp.byte_stage, target(&rp)), (7, start + 7 * 40 + 4 * 200), "so are bytes now: min is still 6");
    rp.on_sent(1082);
    assert_eq!(rp.byte_stage, 8, "half as many");
    rp.on_timer(Time::from_us(63));
    assert_eq!(rp.timer(), Some(Time::from_us(93)), "half as long");
    // A CNP ends it.
    rp.on_cnp(Time::from_us(70));
    assert_eq!(rp.timer(), Some(Time::from_us(130)));
}

#[test]
fn dcqcn_6_the_open_simulator_has_values_of_its_own() {
    let params = Params::read(&select("dcqcn:open-sim").unwrap());
    // 40 and 1000 packets of 1030 B.
    assert_eq!([params.kmin.at_queue(&queue(40)), params.kmax.at_queue(&queue(40))], [41_200, 1_030_000]);
    assert_eq!((params.pmax.at(BitRate::from_gbps(40)), params.g, params.alpha_initial), (1.0, 1.0 / 256.0, 0.5));
    assert_eq!((params.byte_counter, params.increase_timer), (300_000, Span::from_us(60)));
    assert_eq!((params.cnp_interval, params.alpha_period), (Span::from_us(50), Span::from_us(55)));
    // Alpha first: 0.5 (1 - g) + g, so the first cut leaves 29.96 of 40 Gb/s.
    let mut rp = paper(&dcqcn("open-sim", &[]), 40);
    rp.on_cnp(Time::ZERO);
    assert_eq!(gbps(rp.rate_bps), 29.9609375);
}

#[test]
fn dcqcn_7_rates_stay_between_floor_and_line() {
    for preset in ["paper", "nic"] {
        for (text, floor) in [("200Mbps", 200e6), ("0bps", 1000.0)] {
            let scheme = dcqcn(preset, &[("rate_min", text)]);
            let mut rp = scheme.reaction_point(&FlowFacts { initial_rate: BitRate::from_bps(900), ..flow(40) });
            assert_eq!(rp.limits().rate_bps, floor, "a flow that starts below it");
            rp = scheme.reaction_point(&flow(40));
            for us in 0..400 {
                rp.on_feedback(Time::from_us(10 * us), &Cnp);
                rp.on_timer(Time::from_us(10 * us + 9));
                assert!((floor..=40e9).contains(&rp.limits().rate_bps));
            }
        }
    }
}

#[test]
fn dcqcn_odd_parameters_are_refused() {
    for (preset, name, text) in [
        ("paper", "increase_timer", "0us"),
        ("paper", "alpha_period", "0us"),
        ("nic", "decrease_period", "0us"),
        ("paper-sim", "cnp_interval", "0us"),
        ("paper", "kmax", "4KB"),
    ] {
        let values = select(&format!("dcqcn:{preset}")).unwrap().with(&[(name, text)]);
        assert!(Dcqcn::validation_error(&values).is_some_and(|why| why.contains(name)), "{name} = {text}");
    }
    // Every mark may be answered.
    assert_eq!(Dcqcn::validation_error(&select("dcqcn").unwrap().with(&[("cnp_interval", "0us")])), None);
    // As a base it is asked too.
    let mut values = select("pacc+dcqcn").unwrap();
    values.set_base(Some(select("dcqcn").unwrap().with(&[("increase_timer", "0us")])));
    assert!(crate::validation_error(&values).is_some_and(|why| why.contains("increase_timer")));
}

/// What happens to a flow at 100G with notifications at these nanoseconds: time, rate and target
/// after each of its timers that changed one of them. The same whether the clocks run or not.
fn ns3_timeline(texts: &[(&str, &str)], cnps: &[u64], end_ns: u64) -> Vec<(u64, u64, u64)> {
    let with = |clocks| ns3_changes(&[texts, &[("clocks", clocks)]].concat(), cnps, end_ns);
    let running = with("running");
    assert_eq!(running, with("worked-out"));
    running
}

fn ns3_changes(texts: &[(&str, &str)], cnps: &[u64], end_ns: u64) -> Vec<(u64, u64, u64)> {
    let mut rp = nic(&dcqcn("hpcc-ns3", texts), 100);
    let mut seen = Vec::new();
    let mut cnps = cnps.iter().map(|&ns| Time::from_ns(ns)).peekable();
    loop {
        let timer = rp.timer().unwrap_or(Time::NEVER);
        let cnp = cnps.peek().copied().unwrap_or(Time::NEVER);
        let now = timer.min(cnp);
        if now > Time::from_ns(end_ns) {
            return seen;
        } else if cnp < timer {
            rp.on_cnp(now);
            cnps.next();
        } else {
            let before = (rp.rate_bps, rp.target_bps);
            rp.on_timer(now);
            if before != (rp.rate_bps, rp.target_bps) {
                seen.push((now.ps() / 1000, rp.rate_bps as u64, rp.target_bps as u64));
            }
        }
    }
}

#[test]
fn dcqcn_ns3_rates_to_the_bit() {
    // Computed apart from this program: a list of events in Python, in order of time and then of
    // scheduling, by the rules in `docs/schemes/dcqcn.md`.
    let line = 100_000_000_000;
    let cnps = [10_000, 11_234, 15_500, 16_200, 316_100, 640_123];
    assert_eq!(
        ns3_timeline(&[], &cnps, 1_600_000),
        [
            (14_001, 50_582_894_671, line),
            (18_001, 25_778_148_501, line),
            // The increase to 62_889_074_250 comes before the check at the same nanosecond, so that
            // the cut takes that for its target.
            (318_001, 53_235_013_255, 62_889_074_250),
            (618_001, 58_062_043_752, 62_889_074_250),
            (642_001, 55_441_261_452, 58_062_043_752),
            (942_001, 56_751_652_602, 58_062_043_752),
            (1_242_001, 57_416_848_177, 58_082_043_752),
            (1_542_001, 57_849_445_964, 58_282_043_752),
        ]
    );
    // With equal periods the check was scheduled first.
    assert_eq!(
        ns3_timeline(&[("increase_timer", "4us")], &[10_000, 17_100, 21_500], 30_000)[..4],
        [
            (14_001, 50_776_684_272, line),
            (18_001, 26_071_791_876, line),
            (22_001, 13_532_942_876, line),
            (26_001, 56_766_471_438, line),
        ]
    );
}

#[test]
fn dcqcn_ns3_whole_halves_stop_short_of_line_rate() {
    let line = 100_000_000_000;
    let seen = ns3_timeline(&[("rate_hai", "10Gbps")], &[10_000, 8_000_300], 9_000_000);
    assert_eq!(
        seen[seen.len() - 4..],
        [
            (8_002_001, 99_805_449_706, 99_999_999_266),
            (8_302_001, 99_902_724_486, 99_999_999_266),
            (8_602_001, 99_951_362_243, line),
            (8_902_001, 99_975_681_121, line),
        ]
    );
    // There it rests, and so does its timer; a cut then starts from where it is.
    let seen = ns3_timeline(&[("rate_hai", "10Gbps")], &[10_000, 50_000_000], 50_100_000);
    let (resting, cut) = (seen[seen.len() - 2], seen[seen.len() - 1]);
    assert_eq!((resting.1, resting.2), (line - 1, line));
    assert!(resting.0 < 13_000_000, "{}", resting.0);
    assert_eq!(cut.2, line - 1);
}

#[test]
fn dcqcn_ns3_probabilities_by_port_rate() {
    let texts = [
        ("kmin", "400KB@100Gbps, 1600KB@400Gbps"),
        ("kmax", "1600KB@100Gbps, 6400KB@400Gbps"),
        ("pmax", "0.2@100Gbps, 0.5@400Gbps"),
    ];
    let params = Params::read(&select("dcqcn:hpcc-ns3").unwrap().with(&texts));
    let at = |gbps, bytes| params.red(&queue(gbps)).probability(bytes);
    assert_eq!([at(100, 400_000), at(100, 1_000_000), at(100, 1_600_001)], [0.0, 0.1, 1.0]);
    assert_eq!([at(400, 1_600_000), at(400, 4_000_000), at(400, 6_400_001)], [0.0, 0.25, 1.0]);
    let never = dcqcn("hpcc-ns3", &[("mark_at", "never")]);
    assert_eq!(never.congestion_point(&queue(100)).hooks(), Hooks::NONE);
}

/// What the reaction point publishes at an instant.
fn published(rp: &Rp, now: Time) -> Vec<(&'static str, f64)> {
    let mut all = Vec::new();
    rp.variables(now, &mut |variable, value| all.push((variable.name, value)));
    all
}

#[test]
fn what_is_published_is_of_the_instant_and_looking_changes_nothing() {
    let us = Time::from_us;
    for preset in ["paper", "nic"] {
        let scheme = dcqcn(preset, &[("alpha_period", "55us"), ("g", "1/256")]);
        let mut rp = scheme.reaction_point(&flow(40));
        rp.on_feedback(us(100), &Cnp);
        let (first, last) = (published(&rp, us(100)), published(&rp, us(100 + 56 * 20)));
        assert_eq!((first[0], first[1].0), (("alpha", 1.0), "target_rate"), "{preset}");
        // Alpha was not needed meanwhile, so it was not computed: twenty periods without a notification.
        assert!((last[0].1 - (255.0_f64 / 256.0).powi(20)).abs() < 2.0 / 256.0, "{preset}: {last:?}");
        assert_eq!(published(&rp, us(100)), first, "{preset}");
    }
}
