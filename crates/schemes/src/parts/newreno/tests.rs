//! The worked numbers of the specification, section 8, and each rule of section 4 by itself.

use super::*;
use crate::Configured;
use crate::tcp_newreno::TcpNewReno;
use xoff_engine::BitRate;

const SMSS: u64 = 1000;
const RTT: Span = Span::from_us(100);

static SPEC: crate::param::SchemeSpec = TcpNewReno::SPEC;

/// A sender and what it has under way, in segments; the test plays network and receiver.
struct Flow {
    tcp: NewReno,
    now: Time,
    una: u64,
    next: u64,
    highest: u64,
    resent: Vec<u64>,
    timeouts: u32,
}

impl Flow {
    fn new(texts: &[(&str, &str)]) -> Flow {
        let params = Arc::new(Params::read(&SPEC.values(None).with(texts)));
        let facts = FlowFacts::at(BitRate::from_gbps(1), RTT);
        let tcp = NewReno::new(&params, &facts);
        Flow { tcp, now: Time::ZERO, una: 0, next: 0, highest: 0, resent: Vec::new(), timeouts: 0 }
    }

    fn segments(&self) -> f64 {
        self.tcp.cwnd as f64 / SMSS as f64
    }

    /// Sends what the window allows; how many segments.
    fn send(&mut self) -> u64 {
        let before = self.next;
        while (self.next - self.una + 1) * SMSS <= self.tcp.limits().window_bytes {
            self.next += 1;
            self.highest = self.highest.max(self.next);
            self.tcp.on_sent(self.now);
            self.settle();
        }
        self.next - before
    }

    fn settle(&mut self) {
        let out = Outstanding {
            now: self.now,
            acked_bytes: self.una * SMSS,
            sent_bytes: self.next * SMSS,
            highest_bytes: self.highest * SMSS,
        };
        match self.tcp.resend(&out) {
            Resend::Nothing => {}
            Resend::Oldest => {
                self.resent.push(self.una);
                self.tcp.on_sent(self.now);
            }
            Resend::All => {
                self.next = self.una;
                self.timeouts += 1;
            }
        }
    }

    fn ack_with(&mut self, upto: u64, resent: bool, rtt: Span) {
        let duplicate = upto == self.una && self.una < self.highest;
        let bytes = upto.saturating_sub(self.una) * SMSS;
        self.una = self.una.max(upto);
        self.next = self.next.max(self.una);
        let ack = Acked {
            now: self.now,
            bytes,
            acked_bytes: self.una * SMSS,
            sent_bytes: self.next * SMSS,
            rtt,
            duplicate,
            resent,
            ..Acked::default()
        };
        self.tcp.on_ack(&ack, true);
        self.settle();
    }

    fn ack(&mut self, upto: u64) {
        self.ack_with(upto, false, RTT);
    }

    /// A loss-free round trip: every segment in flight is acknowledged on its own.
    fn round(&mut self) {
        self.send();
        self.now += RTT;
        for upto in self.una + 1..=self.next {
            self.ack(upto);
        }
    }

    /// Lets the timer run out; how long that took.
    fn expire(&mut self) -> Span {
        let at = self.tcp.timer().expect("something is outstanding");
        let waited = at - self.now;
        self.now = at;
        self.tcp.on_timer(at);
        self.settle();
        waited
    }
}

#[test]
fn tcp_newreno_8_1_doubles_then_adds_one_per_round_trip() {
    let mut flow = Flow::new(&[]);
    for expected in [2.0, 4.0, 8.0, 16.0, 32.0] {
        assert_eq!(flow.segments(), expected);
        flow.round();
    }
    let mut flow = Flow::new(&[("initial_ssthresh", "8KB")]);
    for expected in [2.0, 4.0, 8.0, 9.0, 10.0, 11.0] {
        // SMSS^2 / cwnd with a cwnd that grows meanwhile adds a little less than a segment.
        let cwnd = flow.segments();
        assert!(cwnd <= expected && cwnd > expected - 0.35, "{cwnd} instead of {expected}");
        // What the fraction leaves unsent in a round, the next ACKs make up for.
        flow.send();
        flow.now += RTT;
        for upto in flow.una + 1..=flow.una + expected as u64 {
            flow.send();
            flow.ack(upto.min(flow.next));
        }
    }
}

#[test]
fn tcp_newreno_8_2_one_loss_of_twenty() {
    for (rule, after) in [("conservative", 10.0), ("ssthresh", 10.0)] {
        let mut flow = Flow::new(&[("initial_window", "20"), ("full_ack", rule)]);
        assert_eq!(flow.send(), 20);
        flow.ack(0);
        flow.ack(0);
        assert_eq!((flow.segments(), flow.resent.len()), (20.0, 0));
        flow.ack(0);
        assert_eq!(flow.resent, [0], "the third duplicate sends the first segment again");
        assert_eq!((flow.tcp.ssthresh / SMSS, flow.segments()), (10, 13.0));
        let mut new = 0;
        for _ in 0..16 {
            flow.ack(0);
            new += flow.send();
        }
        assert_eq!((flow.segments(), new), (29.0, 9));
        flow.ack_with(20, true, RTT);
        assert!(!flow.tcp.in_recovery());
        assert_eq!(flow.segments(), after, "min(10, FlightSize + 1) with nine segments in flight");
        assert_eq!((flow.resent.len(), flow.timeouts), (1, 0));
    }
    // With nothing new in flight the two rules for the full ACK differ.
    for (rule, after) in [("conservative", 2.0), ("ssthresh", 10.0)] {
        let mut flow = Flow::new(&[("initial_window", "20"), ("full_ack", rule)]);
        flow.send();
        for _ in 0..19 {
            flow.ack(0);
        }
        flow.ack_with(20, true, RTT);
        assert_eq!(flow.segments(), after);
    }
}

#[test]
fn tcp_newreno_8_3_two_losses_take_one_round_trip_each() {
    // Segments 1 and 5 of 20 (0 and 4 here) are lost: 18 duplicates come.
    let mut flow = Flow::new(&[("initial_window", "20")]);
    flow.send();
    for _ in 0..18 {
        flow.ack(0);
        flow.send();
    }
    assert_eq!(flow.resent, [0]);
    let (before, timer) = (flow.segments(), flow.tcp.timer());
    flow.now += RTT;
    flow.ack_with(4, true, RTT);
    assert_eq!(flow.resent, [0, 4], "the partial ACK sends the next hole at once");
    assert!(flow.tcp.in_recovery());
    assert_eq!(flow.segments(), before - 4.0 + 1.0, "deflated by what was acknowledged, plus one");
    assert!(flow.tcp.timer() > timer, "the first partial ACK restarts the timer");
    flow.now += RTT;
    flow.ack_with(20, true, RTT);
    assert!(!flow.tcp.in_recovery());
    assert_eq!((flow.resent.len(), flow.timeouts), (2, 0));
}

#[test]
fn tcp_newreno_4_impatient_or_slow_but_steady() {
    for (impatient, moves) in [("true", false), ("false", true)] {
        let mut flow = Flow::new(&[("initial_window", "20"), ("impatient", impatient)]);
        flow.send();
        for _ in 0..16 {
            flow.ack(0);
        }
        flow.now += RTT;
        flow.ack_with(4, true, RTT);
        let first = flow.tcp.timer();
        flow.now += RTT;
        flow.ack_with(8, true, RTT);
        assert_eq!(flow.tcp.timer() > first, moves, "impatient = {impatient}");
    }
}

#[test]
fn tcp_newreno_8_4_estimator() {
    let us = |us: f64| Span::from_ps((us * 1e6) as u64);
    let mut flow = Flow::new(&[("rto_min", "0s"), ("granularity", "0s")]);
    assert_eq!(flow.tcp.rto(), Span::from_ms(1000), "before the first sample");
    for (sample, srtt, rttvar, rto) in
        [(100.0, 100.0, 50.0, 300.0), (120.0, 102.5, 42.5, 272.5), (90.0, 100.9375, 35.0, 240.9375)]
    {
        flow.tcp.sample(us(sample));
        assert_eq!((flow.tcp.srtt, flow.tcp.rttvar, flow.tcp.rto()), (us(srtt), us(rttvar), us(rto)));
    }
    let mut floored = Flow::new(&[]);
    floored.tcp.sample(us(100.0));
    assert_eq!(floored.tcp.rto(), Span::from_ms(200));
    let mut coarse = Flow::new(&[("rto_min", "0s"), ("granularity", "10ms")]);
    coarse.tcp.sample(us(100.0));
    assert_eq!(coarse.tcp.rto(), us(10_100.0), "G is the least margin");
}

#[test]
fn tcp_newreno_5_karn_takes_no_sample_from_retransmissions() {
    let mut flow = Flow::new(&[]);
    flow.round();
    let srtt = flow.tcp.srtt;
    flow.send();
    flow.ack_with(flow.una + 1, true, Span::from_ms(5));
    assert_eq!(flow.tcp.srtt, srtt);
    flow.ack_with(flow.una + 1, false, Span::from_ms(5));
    assert!(flow.tcp.srtt > srtt);
    let mut stamped = Flow::new(&[("timestamps", "true")]);
    stamped.send();
    stamped.ack_with(1, true, RTT);
    assert_eq!(stamped.tcp.srtt, RTT, "a time stamp says which copy is answered");
}

#[test]
fn tcp_newreno_8_5_whole_window_lost() {
    let mut flow = Flow::new(&[]);
    for _ in 0..4 {
        flow.round();
    }
    assert_eq!(flow.send(), 32);
    assert_eq!(flow.expire(), Span::from_ms(200));
    assert_eq!((flow.tcp.ssthresh / SMSS, flow.segments(), flow.timeouts), (16, 1.0, 1));
    assert_eq!(flow.send(), 1, "it goes back, one segment at a time");
    assert_eq!(flow.expire(), Span::from_ms(400), "and waits twice as long the second time");
    assert_eq!(flow.tcp.ssthresh / SMSS, 16, "the threshold moves at the first time-out of a segment only");
    flow.send();
    flow.now += RTT;
    // The answer to a retransmission is no sample: the back-off stays (RFC 6298, section 5).
    flow.ack_with(flow.una + 1, true, RTT);
    assert_eq!(flow.segments(), 2.0, "slow start");
    flow.send();
    assert_eq!(flow.tcp.rto(), Span::from_ms(800));
    flow.ack(flow.una + 1);
    assert_eq!(flow.tcp.rto(), Span::from_ms(200));
}

#[test]
fn tcp_newreno_4_the_timeout_is_bounded() {
    let mut flow = Flow::new(&[]);
    flow.send();
    let waits: Vec<u64> = (0..8)
        .map(|_| {
            let wait = flow.expire().ps() / 1_000_000_000_000;
            flow.send();
            wait
        })
        .collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60], "seconds from the initial time-out on");
}

#[test]
fn tcp_newreno_4_no_second_fast_retransmit_after_a_timeout() {
    let mut flow = Flow::new(&[("initial_window", "20")]);
    flow.send();
    flow.expire();
    flow.send();
    // The copies that go-back-N sends of what arrived cause duplicates up to `recover`.
    flow.ack_with(5, true, RTT);
    for _ in 0..5 {
        flow.ack(5);
    }
    assert!(!flow.tcp.in_recovery() && flow.resent.is_empty());
    flow.ack(20);
    flow.send();
    for _ in 0..3 {
        flow.ack(20);
    }
    assert!(!flow.tcp.in_recovery(), "20 is `recover` itself, not beyond");
    flow.ack(21);
    for _ in 0..3 {
        flow.ack(21);
    }
    assert!(flow.tcp.in_recovery());
}

#[test]
fn tcp_newreno_4_limited_transmit() {
    let mut flow = Flow::new(&[("initial_window", "4"), ("limited_transmit", "true")]);
    assert_eq!(flow.send(), 4);
    flow.ack(0);
    assert_eq!(flow.send(), 1);
    flow.ack(0);
    assert_eq!(flow.send(), 1);
    flow.ack(0);
    assert_eq!(flow.resent, [0]);
    assert_eq!(flow.tcp.ssthresh / SMSS, 2, "half of the four that the window had let go");
}

#[test]
fn tcp_newreno_3_initial_windows() {
    assert_eq!(Flow::new(&[]).segments(), 2.0);
    assert_eq!(Flow::new(&[("initial_window", "10")]).segments(), 10.0);
    let params = Params::read(&SPEC.values(None).with(&[("initial_window_rule", "rfc5681")]));
    for (smss, segments) in [(1095, 4), (1096, 3), (2190, 3), (2191, 2)] {
        assert_eq!(params.initial_window(smss), segments * smss);
    }
}

#[test]
fn tcp_newreno_4_idle_longer_than_a_timeout_starts_again() {
    for (restart, after) in [("true", 2.0), ("false", 16.0)] {
        let mut flow = Flow::new(&[("idle_restart", restart)]);
        for _ in 0..3 {
            flow.round();
        }
        assert_eq!((flow.segments(), flow.tcp.timer()), (16.0, None), "nothing outstanding, no timer");
        flow.now += Span::from_us(199_900);
        flow.tcp.on_sent(flow.now);
        assert_eq!(flow.segments(), 16.0, "not longer than the time-out");
        flow.tcp.rto_at = Time::NEVER;
        flow.now += Span::from_ms(201);
        flow.tcp.on_sent(flow.now);
        assert_eq!(flow.segments(), after);
    }
}

#[test]
fn tcp_newreno_4_windows_are_whole_segments_and_within_the_receivers() {
    let mut flow = Flow::new(&[("receive_window", "10500B")]);
    for _ in 0..6 {
        flow.round();
    }
    assert_eq!(flow.tcp.limits().window_bytes, 10_000);
    assert!(flow.tcp.cwnd <= 10_500);
}

#[test]
fn tcp_newreno_a_flow_may_start_at_a_rate() {
    let params = Arc::new(Params::read(&SPEC.values(None)));
    let facts =
        FlowFacts { initial_rate: BitRate::from_mbps(500), ..FlowFacts::at(BitRate::from_gbps(1), Span::from_ms(1)) };
    let tcp = NewReno::new(&params, &facts);
    assert_eq!((tcp.cwnd, tcp.ssthresh), (62_500, 62_500), "its window, and no slow start");
}

#[test]
fn tcp_newreno_refuses_timers_that_contradict() {
    assert!(TcpNewReno::validation_error(&SPEC.values(None).with(&[("rto_max", "100ms")])).is_some());
}

#[test]
fn tcp_newreno_flow_state_is_small() {
    assert!(size_of::<NewReno>() <= 112, "{}", size_of::<NewReno>());
}
