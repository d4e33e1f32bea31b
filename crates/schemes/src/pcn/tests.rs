//! The worked numbers of the specification's section 9, and the rules between them.

use super::*;
use crate::testing::{self, configured, dequeue, enqueue, queue};
use xoff_engine::BitRate;

fn pcn(texts: &[(&str, &str)]) -> Pcn {
    configured("pcn", texts)
}

fn flow() -> FlowFacts {
    testing::flow(40, 24)
}

/// A queue of packets around a congestion point.
struct Queue {
    cp: Cp,
    packets: u32,
    /// Packets of other kinds, which the congestion point does not see.
    acks: u32,
    paused: bool,
}

impl Queue {
    fn new() -> Queue {
        Queue { cp: pcn(&[]).congestion_point(&queue(40)), packets: 0, acks: 0, paused: false }
    }
    fn view(&self) -> QueueView {
        let bytes = 1062 * u64::from(self.packets) + 66 * u64::from(self.acks);
        QueueView {
            queue_packets: self.packets + self.acks,
            paused: self.paused,
            ..QueueView::at(BitRate::from_gbps(40), Time::ZERO, bytes)
        }
    }
    fn put(&mut self, packets: u32) {
        for _ in 0..packets {
            let view = self.view();
            let (ecn, _) = enqueue(&mut self.cp, &view, &PacketFacts::of(0, 1062));
            assert_eq!(ecn, Ecn::Ect0, "arrivals are not marked");
            self.packets += 1;
        }
    }
    fn pause(&mut self, paused: bool) {
        self.paused = paused;
        let view = self.view();
        self.cp.on_pause_change(&view);
    }
    fn take(&mut self, own: bool) -> bool {
        self.packets -= 1;
        let view = self.view();
        dequeue(&mut self.cp, &view, &PacketFacts { own, ..PacketFacts::of(0, 1062) }).0 == Ecn::Ce
    }
}

#[test]
fn pcn_9_1_paused_packets_leave_unmarked() {
    let mut queue = Queue::new();
    queue.pause(true);
    queue.put(5);
    queue.pause(false);
    assert_eq!(queue.cp.paused.left(), 5);
    queue.put(100);
    for n in 1..=5 {
        assert!(!queue.take(true), "packet {n} was paused");
    }
    for n in 6..=104 {
        assert!(queue.take(true), "packet {n} leaves others behind");
    }
    assert!(!queue.take(true), "nothing behind the last");
    // Five paused and nothing after: the sixth finds an empty queue.
    queue.pause(true);
    queue.put(5);
    queue.pause(false);
    assert!((0..5).all(|_| !queue.take(true)));
    queue.put(1);
    assert!(!queue.take(true));
}

#[test]
fn pcn_9_1_never_paused_marks_what_leaves_others_behind() {
    let mut queue = Queue::new();
    queue.put(2);
    assert!(queue.take(true) && !queue.take(true));
}

#[test]
fn pcn_2_a_second_pause_counts_old_and_new() {
    let mut queue = Queue::new();
    queue.pause(true);
    queue.put(4);
    queue.pause(false);
    assert!(!queue.take(true));
    queue.put(2);
    queue.pause(true);
    queue.put(1);
    assert_eq!(queue.cp.paused.left(), 3, "a PAUSE alone changes nothing");
    queue.pause(false);
    assert_eq!(queue.cp.paused.left(), 6);
}

#[test]
fn pcn_2_a_resume_after_the_time_of_the_pause_counts_again() {
    let mut queue = Queue::new();
    queue.pause(true);
    queue.put(3);
    queue.pause(false);
    assert!(!queue.take(true));
    queue.put(4);
    // The time had run out; the frame that says so comes now.
    queue.cp.on_resume_again(&queue.view());
    assert_eq!(queue.cp.paused.left(), 6);
    assert!((0..6).all(|_| !queue.take(true)));
    queue.put(2);
    assert!(queue.take(true));
}

#[test]
fn pcn_2_a_threshold_is_what_may_be_left_behind() {
    let cp = pcn(&[("mark_threshold", "2124B")]).congestion_point(&queue(40));
    let mut queue = Queue { cp, ..Queue::new() };
    queue.put(5);
    // 4, 3, 2, 1 and no packets of 1062 B remain.
    assert_eq!([0; 5].map(|_| queue.take(true)), [true, true, false, false, false]);
}

#[test]
fn pcn_2_packets_of_others_count_but_are_not_marked() {
    let mut queue = Queue::new();
    queue.pause(true);
    queue.put(2);
    queue.pause(false);
    queue.put(3);
    assert!(!queue.take(false) && !queue.take(true), "the two paused ones");
    assert!(!queue.take(false), "not its own");
    assert!(queue.take(true));
}

#[test]
fn pcn_2_acks_in_the_queue_neither_swell_nor_use_up_pn() {
    let mut queue = Queue::new();
    queue.pause(true);
    queue.put(2);
    queue.acks = 10;
    queue.pause(false);
    assert_eq!(queue.cp.paused.left(), 2);
    queue.put(2);
    assert!(!queue.take(true));
    queue.acks = 3;
    assert!(!queue.take(true), "the second paused packet");
    assert!(queue.take(true));
    assert!(queue.take(true), "ACKs remain behind it");
}

#[test]
fn pcn_2_a_mark_of_an_earlier_hop_stays() {
    let mut queue = Queue::new();
    queue.pause(true);
    queue.put(1);
    queue.pause(false);
    queue.packets = 0;
    let (view, mut ecn) = (queue.view(), Ecn::Ce);
    let facts = PacketFacts::of(0, 1062);
    queue.cp.on_dequeue(&view, &facts, Mark { ecn: &mut ecn, int: None }, |_, _| {});
    assert_eq!(ecn, Ecn::Ce);
}

#[test]
fn pcn_2_a_flushed_queue_leaves_no_paused_packets_behind() {
    let mut queue = Queue::new();
    queue.pause(true);
    queue.put(50);
    queue.pause(false);
    queue.packets = 0;
    queue.put(3);
    assert!(queue.take(true) && queue.take(true) && !queue.take(true));
}

/// Feeds packets and returns what the end of the period says.
fn period(np: &mut Np, from: Time, sizes: &[(u32, bool)]) -> Option<Cnp> {
    for (i, (bytes, marked)) in sizes.iter().enumerate() {
        let ecn = if *marked { Ecn::Ce } else { Ecn::Ect0 };
        let now = from + Span::from_us(2) * i as u64;
        let none = np.on_data(&Received { now, wire_bytes: *bytes, payload_bytes: *bytes - 82, ecn });
        assert_eq!(none, None, "only the timer answers");
    }
    let at = np.timer()?;
    np.on_timer(at)
}

fn marks(all: usize, marked: usize) -> Vec<(u32, bool)> {
    (0..all).map(|i| (1250, i < marked)).collect()
}

#[test]
fn pcn_9_2_receiver_periods() {
    let congested = |mbps| Some(Cnp { congested: true, rec_rate_mbps: mbps });
    let free = Some(Cnp { congested: false, rec_rate_mbps: 0 });
    let np = || pcn(&[]).notification_point(&flow());
    let at = Time::from_us(7);
    assert_eq!(period(&mut np(), at, &marks(10, 10)), congested(2000));
    assert_eq!(period(&mut np(), at, &marks(10, 9)), free);
    assert_eq!(period(&mut np(), at, &marks(20, 19)), congested(4000), "0.95 exactly");
    let mut strict = pcn(&[("congested_rule", "exceeded")]).notification_point(&flow());
    assert_eq!(period(&mut strict, at, &marks(20, 19)), free);
    assert_eq!(period(&mut strict, Time::from_us(60), &marks(20, 20)), congested(4000));

    // One marked packet 200 us after the previous.
    let mut slow = np();
    assert_eq!(period(&mut slow, at, &marks(1, 1)), congested(200), "nothing to measure from: 1250 B in 50 us");
    let quiet = slow.timer().unwrap();
    assert_eq!(quiet, Time::from_us(107));
    assert_eq!(slow.on_timer(quiet), None, "no packet, no CNP");
    assert_eq!(slow.timer(), None, "and no timer");
    assert_eq!(period(&mut slow, at + Span::from_us(200), &marks(1, 1)), congested(50));
}

#[test]
fn pcn_3_one_packet_in_a_period_but_not_far_from_its_predecessor_is_measured_by_the_period() {
    let mut np = pcn(&[]).notification_point(&flow());
    period(&mut np, Time::ZERO, &marks(2, 2));
    // 49 us after the last, in the next period: 1250 B in 50 us, not in 49.
    np.on_data(&Received { now: Time::from_us(51), wire_bytes: 1250, payload_bytes: 1000, ecn: Ecn::Ce });
    assert_eq!(np.on_timer(Time::from_us(100)), Some(Cnp { congested: true, rec_rate_mbps: 200 }));
    // Two packets in a period, far from those before: bytes by period all the same.
    let late = [Time::from_us(260), Time::from_us(290)];
    np.on_timer(Time::from_us(150));
    for now in late {
        np.on_data(&Received { now, wire_bytes: 1250, payload_bytes: 1000, ecn: Ecn::Ce });
    }
    assert_eq!(np.on_timer(Time::from_us(300)), Some(Cnp { congested: true, rec_rate_mbps: 400 }));
}

#[test]
fn pcn_4_the_flag_is_in_the_ip_header_and_the_rate_in_the_reserved_bytes() {
    let scheme = pcn(&[]);
    let congested = Cnp { congested: true, rec_rate_mbps: 9500 };
    let content = scheme.frame_content(&congested);
    assert!(matches!(content.carrier, Carrier::MarkedCnp), "{content:?}");
    assert!(content.says.contains("9500"), "{}", content.says);
    let content = scheme.frame_content(&Cnp { congested: false, rec_rate_mbps: 0 });
    assert!(matches!(content.carrier, Carrier::Cnp), "{content:?}");
    assert_eq!(scheme.notification_bytes(&congested), None, "no longer than the plain one");
}

#[test]
fn pcn_3_periods_keep_their_grid() {
    let mut np = pcn(&[]).notification_point(&flow());
    period(&mut np, Time::from_us(10), &marks(3, 0));
    assert_eq!(np.timer(), Some(Time::from_us(110)), "the phase is the first packet's");
    np.on_timer(Time::from_us(110));
    assert_eq!(np.timer(), None);
    np.on_data(&Received { now: Time::from_us(473), wire_bytes: 1082, payload_bytes: 1000, ecn: Ecn::Ect0 });
    assert_eq!(np.timer(), Some(Time::from_us(510)));
    // After an idle retransmission timeout the flow is new: phase and distance start over.
    np.on_timer(Time::from_us(510));
    np.on_timer(Time::from_us(560));
    assert_eq!(np.timer(), None);
    let late = Time::from_us(473) + Span::from_ms(10) + Span::from_us(3);
    assert_eq!(period(&mut np, late, &marks(1, 1)), Some(Cnp { congested: true, rec_rate_mbps: 200 }));
    assert_eq!(np.timer(), Some(late + Span::from_us(100)));
}

#[test]
fn pcn_3_payload_may_count_and_the_period_may_be_the_round_trip() {
    let mut np = pcn(&[("count", "payload"), ("period_from", "max-rtt")]).notification_point(&flow());
    let sizes: Vec<_> = (0..6).map(|_| (1082, true)).collect();
    // 6000 B in 24 us.
    assert_eq!(period(&mut np, Time::ZERO, &sizes), Some(Cnp { congested: true, rec_rate_mbps: 2000 }));
}

#[test]
fn pcn_4_rates_are_whole_megabits_and_at_least_one() {
    let mut np = pcn(&[]).notification_point(&flow());
    period(&mut np, Time::ZERO, &marks(1, 1));
    np.on_timer(Time::from_us(100));
    // 102 B after 9.8 ms: 0.083 Mb/s.
    let cnp = period(&mut np, Time::from_us(9800), &[(102, true)]);
    assert_eq!(cnp, Some(Cnp { congested: true, rec_rate_mbps: 1 }));
    let mut np = pcn(&[]).notification_point(&flow());
    // 1082 B in 50 us: 173.12 Mb/s.
    let cnp = period(&mut np, Time::ZERO, &[(1082, true)]);
    assert_eq!(cnp, Some(Cnp { congested: true, rec_rate_mbps: 173 }));
}

fn cut(rp: &mut Rp, gbps: f64) -> f64 {
    rp.on_feedback(Time::ZERO, &Cnp { congested: true, rec_rate_mbps: (gbps * 1000.0).round() as u32 });
    rp.rate_bps / 1e9
}

fn raise(rp: &mut Rp) -> f64 {
    rp.on_feedback(Time::ZERO, &Cnp { congested: false, rec_rate_mbps: 0 });
    rp.rate_bps / 1e9
}

fn near(a: f64, b: f64, by: f64) {
    assert!((a - b).abs() < by, "{a}, expected {b}");
}

#[test]
fn pcn_9_3_sender_sequence() {
    let mut rp = pcn(&[]).reaction_point(&flow());
    assert_eq!(rp.rate_bps, 40e9, "line 1");
    near(cut(&mut rp, 9.5), 9.42578125, 1e-12);
    near(cut(&mut rp, 9.6), 9.42578125, 1e-12);
    near(raise(&mut rp), 9.664642334, 5e-10);
    near(rp.w, 0.01165771, 5e-9);
    near(raise(&mut rp), 10.018283283, 5e-10);
    near(rp.w, 0.01735067, 5e-9);
    near(cut(&mut rp, 9.7), 9.62421875, 1e-12);
    assert_eq!(rp.w, 1.0 / 128.0);
    near(raise(&mut rp), 9.861529541, 5e-10);
    assert_eq!(rp.timer(), None);
    assert_eq!(rp.increases(), 3);
}

#[test]
fn pcn_9_4_gentle_then_aggressive() {
    let mut rp = pcn(&[]).reaction_point(&flow());
    rp.rate_bps = 0.0;
    let fractions: Vec<f64> = (0..20).map(|_| raise(&mut rp) / 40.0).collect();
    for (k, expected) in [(1, 0.00781), (5, 0.09679), (10, 0.53812), (15, 0.95840), (20, 0.99859)] {
        near(fractions[k - 1], expected, 5e-6);
    }
    let mut rp = pcn(&[]).reaction_point(&flow());
    raise(&mut rp);
    near(rp.w, 0.01166, 5e-6);
    for _ in 1..15 {
        raise(&mut rp);
    }
    near(rp.w, 0.4795, 5e-5);
}

#[test]
fn pcn_5_rates_stay_between_floor_and_line() {
    let mut rp = pcn(&[]).reaction_point(&flow());
    near(cut(&mut rp, 0.001), 0.004, 1e-12);
    for _ in 0..200 {
        raise(&mut rp);
        assert!(rp.rate_bps <= 40e9);
    }
    assert_eq!(rp.limits().rate_bps, 40e9, "unpaced in the end");
    let slow = testing::flow(1, 24);
    assert_eq!(pcn(&[]).reaction_point(&slow).floor_bps, 1e6, "the resolution of RecRate");
    let started = FlowFacts { initial_rate: BitRate::from_gbps(20), ..flow() };
    assert_eq!(pcn(&[]).reaction_point(&started).rate_bps, 20e9);
}

/// Equations 3 and 4 with the real senders in the place of equations 5 to 7: one step of `t_us`
/// microseconds. Returns the queue after it.
fn fluid(rps: &mut [Rp], queue: f64, c_gbps: f64, t_us: f64) -> f64 {
    let sum: f64 = rps.iter().map(|rp| rp.rate_bps / 1e9).sum();
    let next = (queue + (sum - c_gbps) * t_us * 1e3 / 8.0).max(0.0);
    // Rounding must not count as a queue.
    let next = if next < 1e-3 { 0.0 } else { next };
    for rp in rps {
        if next > 0.0 {
            let share = rp.rate_bps / 1e9 / sum * c_gbps;
            // The exact receiving rate, without the message's resolution.
            rp.rate_bps = rp.rate_bps.min(share * 1e9 * (1.0 - rp.w_min));
            rp.w = rp.w_min;
        } else {
            raise(rp);
        }
    }
    next
}

fn senders(rates: &[f64], w_min: &str) -> Vec<Rp> {
    let make = |gbps: &f64| Rp { rate_bps: gbps * 1e9, ..pcn(&[("w_min", w_min)]).reaction_point(&flow()) };
    rates.iter().map(make).collect()
}

#[test]
fn pcn_9_5_one_loop_to_capacity_then_the_queue_drains() {
    let mut rps = senders(&[40.0, 20.0, 10.0, 10.0], "0.025");
    let mut queue = fluid(&mut rps, 0.0, 40.0, 50.0);
    near(queue, 250_000.0, 1e-3);
    for (rp, expected) in rps.iter().zip([19.5, 9.75, 4.875, 4.875]) {
        near(rp.rate_bps / 1e9, expected, 1e-9);
    }
    let mut loops = 1;
    while queue > 0.0 {
        let next = fluid(&mut rps, queue, 40.0, 50.0);
        near(queue - next, 6250.0, 1e-2);
        queue = next;
        loops += 1;
    }
    // Proposition 1: 1 + (80 - 40) / (0.025 x 40).
    assert_eq!(loops, 41);
}

#[test]
fn pcn_7_capacity_is_exceeded_within_ten_loops() {
    // From a hundredth of the link each: how many increases until the sum exceeds it. The paper reads
    // K_0 < 10 off its Figure 10, which holds from three flows on; two need exactly ten.
    let increases = |n: usize| {
        let mut rps = senders(&vec![0.4; n], "1/128");
        (0..).find(|_| fluid(&mut rps, 0.0, 40.0, 50.0) > 0.0).unwrap()
    };
    assert_eq!(increases(2), 10);
    for n in 3..20 {
        assert!(increases(n) < 10, "{n} flows: {}", increases(n));
    }
}

#[test]
fn pcn_9_6_steady_swing() {
    // N = 10, w_min = 0.01, C = 40 Gb/s, T = 50 us.
    let (n, w_min, c, t) = (10.0, 0.01, 40.0, 50.0);
    let delta_q = (n - 2.0 + w_min) * w_min * c * t * 1e3 / 8.0;
    near(delta_q, 20_025.0, 1e-6);
    near(w_min * c, 0.4, 1e-12);
    let mut rps = senders(&[4.0; 10], "0.01");
    let (mut queue, mut peak, mut low, mut high) = (0.0, 0.0f64, f64::MAX, 0.0f64);
    for step in 0..400 {
        queue = fluid(&mut rps, queue, c, t);
        if step > 100 {
            peak = peak.max(queue);
            low = low.min(rps[0].rate_bps / 1e9);
            high = high.max(rps[0].rate_bps / 1e9);
        }
    }
    near(peak, delta_q, 1.0);
    near(low, (1.0 - w_min) * c / n, 1e-6);
    // Proposition 3 bounds the receiving rate by w_min C; the sending rate rises from the discounted
    // share by w_min times what is left of the line.
    near(high, low * (1.0 - w_min) + c * w_min, 1e-6);
    near(high - low, w_min * c, 0.11 * w_min * c);
}

#[test]
fn pcn_9_6_shares_become_equal() {
    let w_min: f64 = 1.0 / 128.0;
    let base = (1.0 - w_min) * (1.0 - w_min);
    let (a, b) = (base / (base + 2.0 * w_min), w_min / (base + 2.0 * w_min));
    near(a, 0.984376, 5e-7);
    near(b, 0.0078120, 5e-8);
    // The machines follow equation 14 from cycle to cycle (N = 2: one increase, one decrease).
    let mut rps = senders(&[0.9 * 40.0 * (1.0 - w_min), 0.1 * 40.0 * (1.0 - w_min)], "1/128");
    let mut share = 0.9;
    let mut seen = Vec::new();
    let mut queue = 0.0;
    for _ in 0..600 {
        let before = rps[0].rate_bps;
        queue = fluid(&mut rps, queue, 40.0, 50.0);
        if rps[0].rate_bps < before || queue > 0.0 {
            share = a * share + b;
            seen.push((rps[0].rate_bps / (rps[0].rate_bps + rps[1].rate_bps), share));
        }
    }
    near(seen[0].1, 0.89375, 1e-5);
    near(seen[1].1, 0.88760, 1e-5);
    for (measured, predicted) in &seen {
        near(*measured, *predicted, 2e-3);
    }
    near(seen.last().unwrap().0, 0.5, 0.01);
}

#[test]
fn pcn_6_presets_and_objections() {
    let usual = crate::select("pcn").unwrap();
    let paper = Params::read(&usual);
    assert_eq!((paper.period, paper.mark_threshold), (Span::from_us(50), 0));
    assert_eq!((paper.w_min, paper.w_max, paper.congested_share), (1.0 / 128.0, 0.5, 0.95));
    let testbed = crate::select("pcn:testbed").unwrap();
    assert_eq!(Params::read(&testbed).period, Span::from_us(500));
    let wrong = usual.clone().with(&[("w_min", "0.5"), ("w_max", "0.1")]);
    assert!(Pcn::validation_error(&wrong).is_some());
    assert!(Pcn::validation_error(&usual.with(&[("period", "0us")])).is_some());
}
