//! The worked numbers of the specification's section 9, and the choices of its section 7.

use super::*;
use crate::stack::{Feedback, Stack};
use crate::testing::{dequeue, enqueue};
use xoff_engine::BitRate;
use xoff_fabric::packet::Ecn;

const FORTY: BitRate = BitRate::from_gbps(40);

fn values(text: &str, texts: &[(&str, &str)]) -> ParamValues {
    crate::select(text).unwrap().with(texts)
}

fn mercury(texts: &[(&str, &str)]) -> Mercury {
    Mercury::configure(&values("mercury", texts))
}

/// A queue around a congestion point, whose length is whatever the test says.
struct Queue {
    cp: Cp,
    now: Time,
    bytes: u64,
    paused: bool,
    notified: Vec<(u32, u32)>,
}

impl Queue {
    fn new(texts: &[(&str, &str)]) -> Queue {
        let facts = QueueFacts { max_base_rtt: Span::from_us(24), xoff_bytes: Some(320_000), ..QueueFacts::at(FORTY) };
        let cp = mercury(texts).congestion_point(&facts);
        Queue { cp, now: Time::ZERO, bytes: 0, paused: false, notified: Vec::new() }
    }
    fn view(&self) -> QueueView {
        QueueView { paused: self.paused, ..QueueView::at(FORTY, self.now, self.bytes) }
    }
    fn at(&mut self, us: u64) -> &mut Queue {
        self.now = Time::from_us(us);
        self
    }
    fn pause(&mut self, paused: bool) {
        self.paused = paused;
        let view = self.view();
        self.cp.on_pause_change(&view);
    }
    fn put(&mut self, flow: u32, bytes: u64) {
        self.put_as(flow, bytes, true);
    }
    fn put_as(&mut self, flow: u32, bytes: u64, own: bool) {
        for _ in 0..bytes / 1000 {
            self.put_packet(&PacketFacts { own, ..PacketFacts::of(flow, 1000) });
        }
    }
    fn put_packet(&mut self, packet: &PacketFacts) {
        let view = self.view();
        let (ecn, notified) = enqueue(&mut self.cp, &view, packet);
        self.notified.extend(notified.iter().map(|(flow, cnp)| (*flow, cnp.window_bytes)));
        self.bytes += 1000;
        assert_eq!(ecn, Ecn::Ect0, "no marks at Mercury's switches");
    }
    fn take(&mut self, flow: u32, bytes: u64) {
        for _ in 0..bytes / 1000 {
            self.bytes -= 1000;
            let view = self.view();
            dequeue(&mut self.cp, &view, &PacketFacts::of(flow, 1000));
        }
    }
    /// One departure that leaves this much behind.
    fn leave(&mut self, bytes: u64) -> State {
        self.bytes = bytes + 1000;
        self.take(1, 1000);
        self.cp.0.state
    }
    fn state(&self) -> State {
        self.cp.0.state
    }
}

/// Section 9.1 up to RESUME at 20 us: `arrivals` during the pause, `queue` at its end.
fn resumed(arrivals: u64, queue: u64) -> Queue {
    let mut port = Queue::new(&[]);
    assert_eq!(port.cp.0.threshold_bytes, 160_000);
    assert_eq!(port.state(), State::Determined, "initially");
    port.bytes = queue - arrivals;
    port.pause(true);
    assert_eq!(port.state(), State::Undetermined);
    port.at(10).put(1, arrivals);
    port.at(20).pause(false);
    assert_eq!(port.notified, [], "no CNP while paused");
    port
}

#[test]
fn mercury_9_1_backlog_of_a_pause_is_undetermined() {
    let mut port = resumed(80_000, 250_000);
    assert_eq!(port.state(), State::Undetermined, "80 of 100 KB");
    port.at(25).put(1, 1000);
    assert_eq!(port.notified, []);
    assert_eq!(port.at(29).leave(260_000), State::Undetermined, "not yet time to check");
    assert_eq!(port.at(30).leave(220_000), State::Undetermined, "shrinks");
    assert_eq!(port.at(40).leave(225_000), State::Determined, "does not shrink any more");
    port.put(1, 1000);
    assert_eq!(port.notified.len(), 1, "so its flows are congested");
}

#[test]
fn mercury_9_1_more_arrivals_than_the_link_carries() {
    let mut port = resumed(120_000, 250_000);
    assert_eq!(port.state(), State::Determined, "48 Gb/s");
    port.put(1, 1000);
    assert_eq!(port.notified.len(), 1);
}

#[test]
fn mercury_9_1_short_queue_is_determined_and_not_congested() {
    let mut port = resumed(80_000, 100_000);
    assert_eq!(port.state(), State::Determined);
    port.put(1, 1000);
    assert_eq!(port.notified, []);
}

#[test]
fn mercury_9_2_equality_is_undetermined() {
    assert_eq!(resumed(100_000, 250_000).state(), State::Undetermined);
    assert_eq!(resumed(101_000, 250_000).state(), State::Determined);
}

#[test]
fn mercury_4_a_queue_below_the_threshold_ends_the_doubt() {
    let mut port = resumed(80_000, 250_000);
    assert_eq!(port.at(30).leave(160_000), State::Determined);
    port.put(1, 0);
    assert_eq!(port.notified, []);
    // A new PAUSE starts over.
    port.pause(true);
    assert_eq!(port.state(), State::Undetermined);
    assert_eq!(port.cp.0.received_bytes, 0);
}

#[test]
fn mercury_4_only_what_arrives_in_the_pause_counts() {
    // Lines 2 to 5 and 7: 150 KB before the pause and 30 KB before a second one do not count, and T_pause is that of
    // the latest.
    let mut port = Queue::new(&[]);
    port.put(1, 150_000);
    assert_eq!(port.cp.0.received_bytes, 0);
    port.at(10).pause(true);
    port.at(12).put(1, 30_000);
    assert_eq!(port.cp.0.received_bytes, 30_000);
    port.at(15).pause(false);
    assert_eq!(port.state(), State::Determined, "30 KB in 5 us are 48 Gb/s");
    port.notified.clear();
    port.at(100).pause(true);
    port.at(110).put(1, 40_000);
    port.at(110).pause(false);
    assert_eq!(port.cp.0.received_bytes, 40_000);
    assert_eq!(port.state(), State::Undetermined, "40 of 50 KB");
    assert_eq!(port.notified, []);
    port.at(111).put(1, 20_000);
    assert_eq!(port.cp.0.received_bytes, 40_000, "the pause has ended");
}

#[test]
fn mercury_4_checks_come_with_departures_and_never_in_a_pause() {
    // Lines 15 to 20: T runs from RESUME, but only a departure looks at the queue.
    let mut port = resumed(80_000, 250_000);
    port.at(45).put(1, 1000);
    assert_eq!((port.state(), port.notified.len()), (State::Undetermined, 0), "nothing has left since 35 us");
    assert_eq!(port.at(46).leave(240_000), State::Undetermined, "shrinks since RESUME");
    assert_eq!(port.at(55).leave(245_000), State::Undetermined, "T runs from the last look");
    // The packet that was on its way when the PAUSE came does not look, whatever it leaves behind.
    port.at(57).pause(true);
    assert_eq!(port.at(58).leave(300_000), State::Undetermined);
    port.at(80).pause(false);
    assert_eq!(port.state(), State::Undetermined, "nothing arrived");
    assert_eq!(port.at(89).leave(320_000), State::Undetermined, "T anew from the second RESUME");
    assert_eq!(port.at(90).leave(300_000), State::Determined, "and the queue of that time: 300 KB");
}

#[test]
fn mercury_4_a_queue_at_the_threshold_is_not_above_it() {
    let mut port = Queue::new(&[]);
    port.put(1, 160_000);
    assert_eq!(port.notified, []);
    port.put(1, 1000);
    assert_eq!(port.notified, [(1, 120_000)]);
}

#[test]
fn mercury_6_the_window_is_in_the_first_reserved_bytes() {
    let content = mercury(&[]).frame_content(&Cnp { window_bytes: 60_000 });
    assert_eq!(content.carrier, Carrier::Cnp);
    assert_eq!(content.bytes, [0, 0, 0xea, 0x60]);
}

#[test]
fn mercury_9_3_windows_share_the_link() {
    // F2 60 KB, b1 and b2 30 KB each, at 40G and 24 us.
    let mut port = Queue::new(&[("kmin", "119KB")]);
    port.put(2, 60_000);
    port.put(11, 30_000);
    port.put(12, 29_000);
    assert_eq!(port.notified, []);
    // One packet more crosses the threshold; the others are notified when they next arrive.
    port.put(12, 1000);
    assert_eq!(port.notified, [(12, 30_000)]);
    let egress = &port.cp.0;
    let window = |flow| egress.full_bytes * egress.table.get(flow).unwrap().bytes / egress.total_bytes;
    assert_eq!([2, 11, 12].map(window), [60_000, 30_000, 30_000]);
    assert_eq!(egress.full_bytes, 120_000);
    // With `all` every flow is notified at once.
    let mut port = Queue::new(&[("kmin", "119KB"), ("notify_flows", "all")]);
    port.put(2, 60_000);
    port.put_as(11, 30_000, false);
    port.put(12, 30_000);
    port.notified.sort();
    assert_eq!(port.notified, [(2, 60_000), (12, 30_000)], "flow 11 is under another scheme, but counts");
    port.at(30).put(12, 5000);
    port.at(30).put(2, 5000);
    assert_eq!(port.notified.len(), 2, "not more often than every 50 us");
    port.at(50).put(12, 1000);
    assert_eq!(port.notified.len(), 4);
}

#[test]
fn mercury_9_3_initial_windows() {
    let window = |gbps, rtt| {
        let flow = FlowFacts::at(BitRate::from_gbps(gbps), Span::from_us(rtt));
        mercury(&[]).reaction_point(&flow).limits().window_bytes
    };
    assert_eq!(window(40, 24), 120_000);
    assert_eq!(window(100, 12), 150_000);
    // Section 8, for 12 us.
    assert_eq!([10, 25, 40, 100].map(|gbps| window(gbps, 12)), [15_000, 37_500, 60_000, 150_000]);
    let large = Mercury::configure(&values("mercury:large", &[]));
    let flow = FlowFacts::at(BitRate::from_gbps(100), Span::from_us(7));
    assert_eq!(large.reaction_point(&flow).limits().window_bytes, 150_000);
}

#[test]
fn mercury_7_thresholds_by_rate_and_xoff() {
    let at = |gbps, xoff| {
        let facts = QueueFacts { xoff_bytes: xoff, ..QueueFacts::at(BitRate::from_gbps(gbps)) };
        mercury(&[]).congestion_point(&facts).0.threshold_bytes
    };
    assert_eq!([10, 25, 40, 100].map(|gbps| at(gbps, None)), [40_000, 100_000, 160_000, 400_000]);
    // The paper's two set-ups.
    assert_eq!(at(40, Some(320_000)), 160_000);
    assert_eq!(at(100, Some(620_000)), 310_000);
}

fn ack(us: u64) -> Acked<'static> {
    Acked { now: Time::from_us(us), rtt: Span::from_us(24), ..Acked::default() }
}

#[test]
fn mercury_9_4_sender_over_dcqcn() {
    let scheme = Stack::<Mercury>::configure(&values("mercury", &[]));
    let mut rp = scheme.reaction_point(&FlowFacts::at(FORTY, Span::from_us(24)));
    assert_eq!(rp.limits(), Limits { rate_bps: 40e9, window_bytes: 120_000 });
    assert_eq!(rp.timer(), None);
    rp.on_feedback(Time::from_us(100), &Feedback::Own(Cnp { window_bytes: 60_000 }));
    // At once, with 90 KB in flight nothing more leaves; the fabric holds the flow to it.
    assert_eq!(rp.limits().window_bytes, 60_000);
    // DCQCN cuts at its next check, and raises 300 us later: the window opens.
    let check = rp.timer().unwrap();
    assert!(check < Time::from_us(105));
    rp.on_timer(check);
    assert!(rp.limits().rate_bps < 21e9);
    rp.on_ack(&ack(200));
    assert_eq!(rp.limits().window_bytes, 60_000);
    let raise = rp.timer().unwrap();
    assert_eq!(raise, check + Span::from_us(300));
    rp.on_timer(raise);
    assert_eq!(rp.limits().window_bytes, 120_000);
}

#[test]
fn mercury_9_4_the_switch_replaces_dcqcns_own_signals() {
    let facts = QueueFacts { xoff_bytes: Some(320_000), ..QueueFacts::at(FORTY) };
    for (text, replaced) in [("mercury+dcqcn:paper", true), ("mercury+pcn", false)] {
        let scheme = Stack::<Mercury>::configure(&values(text, &[]));
        let mut cp = scheme.congestion_point(&facts);
        let view = QueueView::at(FORTY, Time::ZERO, 1_000_000);
        let (ecn, _) = dequeue(&mut cp, &view, &PacketFacts::of(1, 1062));
        assert_eq!(ecn != Ecn::Ce, replaced, "{text}");
    }
}

#[test]
fn mercury_9_5_the_table_is_the_queue() {
    for texts in [&[("table", "exact")][..], &[("table", "hashed"), ("table_bits", "2")]] {
        let mut port = Queue::new(texts);
        let mut rng = xoff_engine::stream(1, "table", 0);
        let mut order = std::collections::VecDeque::new();
        for _ in 0..20_000 {
            if rng.below(2) == 0 {
                let flow = rng.below(20) as u32;
                order.push_back(flow);
                port.put(flow, 1000);
            } else if let Some(flow) = order.pop_front() {
                port.take(flow, 1000);
            }
            let egress = &port.cp.0;
            assert_eq!(egress.total_bytes, port.bytes);
            assert_eq!(egress.table.iter().map(|(_, entry)| entry.bytes).sum::<u64>(), port.bytes);
            assert!(egress.table.iter().all(|(_, entry)| entry.bytes > 0), "entries vanish at 0");
        }
        while let Some(flow) = order.pop_front() {
            port.take(flow, 1000);
        }
        assert!(port.cp.0.table.is_empty());
    }
}

#[test]
fn mercury_5_a_hashed_table_merges_flows() {
    let mut port = Queue::new(&[("kmin", "50KB"), ("table", "hashed"), ("table_bits", "1")]);
    for flow in 0..50 {
        port.put(flow, 1000);
    }
    assert_eq!(port.notified, []);
    port.put(50, 1000);
    let (flow, window) = port.notified[0];
    assert_eq!(flow, 50, "the flow itself is notified, with the share of all that hash like it");
    assert!(window > 40_000, "{window}");
    let wrong = values("mercury", &[("table", "hashed"), ("notify_flows", "all")]);
    assert!(crate::validation_error(&wrong).unwrap().contains("hashed"));
}

/// Puts a packet of queue pair `flow` between the hosts of pair `ends`.
fn put_between(port: &mut Queue, flow: u32, ends: u16) {
    port.put_packet(&PacketFacts { ends, ..PacketFacts::of(flow, 1000) });
}

#[test]
fn mercury_5_queue_pairs_of_two_hosts_are_one_flow_by_their_addresses() {
    // 60 KB of queue pairs 1 and 2 between the same hosts, 40 KB of 3 between others, and one packet more of each.
    for (flow_id, windows) in [("queue-pair", [36_300, 36_200, 48_100]), ("addresses", [72_400, 72_700, 48_100])] {
        for table in ["exact", "hashed"] {
            let mut port = Queue::new(&[("kmin", "100KB"), ("flow_id", flow_id), ("table", table)]);
            for (flow, ends, packets) in [(1, 7, 30), (2, 7, 30), (3, 9, 40)] {
                (0..packets).for_each(|_| put_between(&mut port, flow, ends));
            }
            assert_eq!(port.notified, []);
            for (flow, ends) in [(1, 7), (2, 7), (3, 9)] {
                put_between(&mut port, flow, ends);
            }
            // Each queue pair is notified separately, with the share of its entry.
            assert_eq!(
                port.notified.iter().map(|(flow, _)| *flow).collect::<Vec<_>>(),
                [1, 2, 3],
                "{flow_id}, {table}"
            );
            for ((_, window), expected) in port.notified.iter().zip(windows) {
                assert!(window.abs_diff(expected) < 700, "{flow_id}, {table}: {:?}", port.notified);
            }
        }
    }
    let wrong = values("mercury", &[("flow_id", "addresses"), ("notify_flows", "all")]);
    assert!(crate::validation_error(&wrong).unwrap().contains("queue pairs"));
}

#[test]
fn mercury_7_one_cnp_per_flow_and_interval() {
    let mut port = Queue::new(&[]);
    port.put(1, 160_000);
    for us in 0..=100 {
        port.at(us).put(1, 1000);
        port.at(us).put_as(2, 1000, false);
    }
    assert_eq!(port.notified.len(), 3, "at 0, 50 and 100 us, none for the flow of another scheme");
    // Old entries do not pile up.
    for flow in 0..10_000 {
        port.at(200 + u64::from(flow)).put(flow, 1000);
        port.bytes -= 1000;
    }
    assert!(port.cp.0.last_cnp.len() < 200, "{}", port.cp.0.last_cnp.len());
}

#[test]
fn mercury_7_window_rules() {
    let flow = FlowFacts::at(FORTY, Span::from_us(24));
    let receive = |rp: &mut Rp, us, window_bytes| {
        rp.on_feedback(Time::from_us(us), &Cnp { window_bytes });
        rp.limits().window_bytes
    };
    let mut latest = mercury(&[]).reaction_point(&flow);
    assert_eq!(receive(&mut latest, 0, 30_000), 30_000);
    assert_eq!(receive(&mut latest, 1, 50_000), 50_000);
    assert_eq!(receive(&mut latest, 2, 10), 1000, "at least one packet");
    assert_eq!(receive(&mut latest, 3, 4_000_000), 120_000, "never more than the line carries");
    // The strict port notifies at 0 and 60 us, the lax one in between and after.
    let mut minimum = mercury(&[("window_rule", "minimum"), ("window_floor", "4")]).reaction_point(&flow);
    assert_eq!(receive(&mut minimum, 0, 30_000), 30_000);
    assert_eq!(receive(&mut minimum, 10, 50_000), 30_000);
    assert_eq!(receive(&mut minimum, 59, 50_000), 30_000, "the strict port may be silent for its interval");
    assert_eq!(receive(&mut minimum, 60, 30_000), 30_000);
    assert_eq!(receive(&mut minimum, 134, 50_000), 30_000);
    assert_eq!(receive(&mut minimum, 135, 50_000), 50_000, "silent for an interval and a round trip, it is content");
    assert_eq!(receive(&mut minimum, 136, 100), 4000);
}

#[test]
fn mercury_7_window_resets() {
    let flow = FlowFacts::at(FORTY, Span::from_us(24));
    let mut rp = mercury(&[]).reaction_point(&flow);
    rp.on_feedback(Time::from_us(100), &Cnp { window_bytes: 30_000 });
    Mercury::on_base_increase(&mut rp, Time::from_us(149));
    assert_eq!(rp.limits().window_bytes, 30_000, "another CNP may be under way");
    Mercury::on_base_increase(&mut rp, Time::from_us(150));
    assert_eq!((rp.limits().window_bytes, rp.timer()), (120_000, None));
    // Without increases, by time.
    for texts in [&[][..], &[("reset", "silence")]] {
        let mut rp = mercury(texts).reaction_point(&flow);
        rp.on_feedback(Time::from_us(100), &Cnp { window_bytes: 30_000 });
        if !texts.is_empty() {
            Mercury::on_base_increase(&mut rp, Time::from_us(900));
        }
        assert_eq!(rp.timer(), Some(Time::from_us(1100)));
        rp.on_timer(Time::from_us(1099));
        assert_eq!(rp.limits().window_bytes, 30_000);
        rp.on_timer(Time::from_us(1100));
        assert_eq!((rp.limits().window_bytes, rp.timer()), (120_000, None));
    }
}

#[test]
fn mercury_5_refused_packets_do_not_stay_in_the_table() {
    let mut port = Queue::new(&[]);
    port.put(1, 50_000);
    port.bytes = 0;
    port.put(2, 1000);
    let egress = &port.cp.0;
    assert_eq!((egress.total_bytes, egress.table.len()), (1000, 1));
}

#[test]
fn mercury_refuses_whatever_runs_on_tcp_and_nothing_else() {
    let tcp = |name: &str| crate::select(name).map(|_| ()).unwrap_err().contains("TCP");
    assert!(tcp("mercury+tcp-newreno"));
    assert!(tcp("mercury+dctcp"));
    // DCTCP's law at RDMA's pace is another matter, as is everything else.
    for base in ["dctcp:hpcc-ns3", "dcqcn", "timely", "hpcc", "swift", "none"] {
        assert!(crate::select(&format!("mercury+{base}")).is_ok(), "{base}");
    }
}
