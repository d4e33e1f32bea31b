//! RoCE transport: windows, losses, go-back-N, ACK policies, timers, failures.

use crate::common::*;
use crate::scripted::{Scripted, World};
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::*;
use xoff_fabric::record::Failure;
use xoff_fabric::scheme::*;
use xoff_fabric::traffic::{Action, FlowSpec, Source};

#[test]
fn a_window_of_ten_packets_sends_ten_per_round_trip() {
    // roce-transport 5.3
    for (window, per_rtt) in [(10_000u64, 10u64), (5_000, 5), (9_001, 10), (1, 1)] {
        let mut net = Net::star(2, 100, Span::from_us(10));
        net.plan.run.stop = Time::from_ms(10);
        let scheme = Scripted::limits(vec![Limits { rate_bps: 100e9, window_bytes: window }]);
        let world = net.run_under(scheme, Script::flows(vec![(Time::ZERO, endless(0, 1, 2))]));
        // Data and ACK over two hops each.
        let rtt_us = 40.0 + 2.0 * (1082.0 + 86.0) * 80e-6;
        let rounds = 10_000.0 / rtt_us;
        let packets = world.counters.data_packets_delivered as f64;
        assert!((packets / rounds / per_rtt as f64 - 1.0).abs() < 0.01, "window {window}: {packets} packets");
    }
}

/// Loses everything on the first link between two instants.
fn with_loss(from: Time, until: Time, size: u64) -> World {
    let mut net = Net::star(2, 100, Span::from_us(1));
    net.plan.faults = vec![
        Fault { at: from, what: FaultKind::Loss { port: 0, loss: 1.0 } },
        Fault { at: until, what: FaultKind::Loss { port: 0, loss: 0.0 } },
    ];
    net.run(vec![(Time::ZERO, flow(0, 1, 2, size))])
}

#[test]
fn a_lost_packet_is_named_once_and_sent_again_with_all_behind_it() {
    // roce-transport 5.4: packet k = 5 of 20 reaches the switch at 1 us + (k + 1) * 86.56 ns.
    let arrival = |k: u64| Time::from_ps(1_000_000 + (k + 1) * 86_560);
    let world = with_loss(arrival(5), Time::from_ps(arrival(5).ps() + 1), 20_000);
    assert_eq!(world.counters.drops_fault, 1);
    assert_eq!(world.counters.naks_sent, 1, "one NAK for one gap");
    assert_eq!(world.counters.timeouts, 0);
    assert_eq!(world.counters.data_packets_delivered, 20);
    let record = &world.flows[0];
    assert_eq!(record.packets_sent, 20 + record.packets_retransmitted);
    assert_eq!(record.packets_retransmitted, 15, "all of 5..20 had left when the NAK came");
    assert_eq!(world.counters.data_packets_discarded, 15);
}

#[test]
fn a_lost_tail_is_found_by_the_timer() {
    let world = with_loss(Time::from_us(2), Time::from_us(3), 20_000);
    let record = &world.flows[0];
    assert!(record.delivered_at.is_some());
    assert!(record.recovery.timeouts >= 1, "nothing behind the loss could reveal it");
    assert!(record.delivered_at.unwrap() >= Time::from_ms(10));
}

#[test]
fn acks_may_come_per_n_packets_and_always_for_the_last() {
    let mut net = Net::star(2, 100, Span::from_us(1));
    net.plan.hosts[0].ack_every = 8;
    let world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 20_000))]);
    assert_eq!(world.counters.acks_sent, 3, "packets 8, 16 and 20");
    assert_eq!(world.counters.flows_completed, 1);
}

#[test]
fn a_window_below_what_an_ack_speaks_for_still_moves() {
    // Whatever N, a full window asks for its ACK: ten packets per round trip, or one.
    for (window, per_rtt, every) in [(1u64, 1u64, 16), (3_000, 3, 4), (10_000, 10, 64), (10_000, 10, 4)] {
        let mut net = Net::star(2, 100, Span::from_us(10));
        net.plan.hosts[0].ack_every = every;
        net.plan.run.stop = Time::from_ms(10);
        let scheme = Scripted::limits(vec![Limits { rate_bps: 100e9, window_bytes: window }]);
        let world = net.run_under(scheme, Script::flows(vec![(Time::ZERO, endless(0, 1, 2))]));
        let rounds = 10_000.0 / (40.0 + 2.0 * (1082.0 + 86.0) * 80e-6);
        let packets = world.counters.data_packets_delivered as f64;
        let at_least = if window == 10_000 { 0.85 } else { 0.99 };
        assert!(packets / rounds / per_rtt as f64 > at_least, "window {window}, N {every}: {packets} packets");
        assert_eq!(world.counters.timeouts, 0);
    }
}

#[test]
fn coalesced_acks_leave_a_window_of_one_round_trip_its_line() {
    // 400G, 4 us: some 51 packets of 4 KiB. Sixteen of them share an ACK.
    let delivered = |every: u32, window_bytes: u64| {
        let mut net = Net::star(2, 400, Span::from_us(1));
        (net.plan.hosts[0].mtu_bytes, net.plan.hosts[0].ack_every) = (4096, every);
        net.plan.run.stop = Time::from_us(500);
        let scheme = Scripted::limits(vec![Limits { rate_bps: 400e9, window_bytes }]);
        let world = net.run_under(scheme, Script::flows(vec![(Time::ZERO, endless(0, 1, 2))]));
        (world.counters.data_packets_delivered as f64, world.counters.acks_sent as f64)
    };
    let (all, acks) = delivered(1, 213_000);
    let (some, fewer) = delivered(16, 213_000);
    assert!(some / all > 0.99, "{some} packets of {all}");
    assert!((12.0..14.0).contains(&(acks / fewer)), "{acks} ACKs, {fewer} of them needed");
    // A window of seven packets asks for each, and holds as many as without.
    assert_eq!(delivered(16, 7 * 4096), delivered(1, 7 * 4096));
}

/// Bytes handed to an open connection, the next only when those before are acknowledged.
struct Bursts {
    left: u32,
    due: Option<Time>,
    open: bool,
}

impl Source for Bursts {
    fn next(&self) -> Option<Time> {
        self.due
    }
    fn act(&mut self, _: Time, out: &mut Vec<Action>) {
        self.due = None;
        self.left -= 1;
        out.push(match std::mem::replace(&mut self.open, true) {
            false => Action::Start(FlowSpec { offered_bytes: Some(8_000), ..endless(0, 1, 2) }),
            true => Action::Offer { handle: 0, bytes: 8_000 },
        });
    }
    fn on_drained(&mut self, now: Time, _: u32) {
        self.due = (self.left > 0).then_some(now);
    }
}

#[test]
fn what_was_offered_is_acknowledged_to_its_last_packet() {
    let mut net = Net::star(2, 25, Span::from_us(1));
    net.plan.hosts[0].ack_every = 16;
    net.plan.run.stop = Time::from_ms(2);
    let bursts = Bursts { left: 100, due: Some(Time::ZERO), open: false };
    let world = net.run_under(Scripted::uncontrolled(), Box::new(bursts));
    assert_eq!(world.flows[0].delivered_bytes, 800_000, "a hundred bursts of eight packets in 2 ms");
    assert_eq!((world.counters.timeouts, world.flows[0].packets_retransmitted, world.counters.acks_sent), (0, 0, 100));
}

#[test]
fn nic_delays_add_to_the_round_trip() {
    let run = |delay| {
        let mut net = Net::star(2, 100, Span::from_us(1));
        net.plan.hosts[0].ack_delay = delay;
        let world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 5_000))]);
        world.flows[0].acked_at.unwrap()
    };
    assert_eq!(run(Span::from_us(7)) - run(Span::ZERO), Span::from_us(7));
}

#[test]
fn rate_change_in_mid_gap_moves_the_next_packet() {
    // roce-transport 5.2: 10 to 5 Gb/s halfway through a gap of 884.8 ns moves it by 884.8 ns.
    let mut net = Net::star(2, 100, Span::from_us(1));
    net.plan.hosts[0].mtu_bytes = 1024;
    let spec = FlowSpec { rate_cap: Some(BitRate::from_gbps(10)), ..flow(0, 1, 2, 2048) };
    let half = Action::Cap { handle: 0, rate: Some(BitRate::from_gbps(5)) };
    let actions = vec![(Time::ZERO, Action::Start(spec)), (Time::from_ps(442_400), half)];
    let world = net.run_under(Scripted::uncontrolled(), Box::new(Script::new(actions)));
    let second_left = world.flows[0].delivered_at.unwrap().ps() - 2 * (1106 * 80 + 1_000_000);
    assert_eq!(second_left, 2 * 884_800);
}

#[test]
fn a_link_that_fails_and_returns_loses_no_flow() {
    // Two equal paths; one is cut in mid-flow.
    let mut net = Net::new();
    let (a, b) = (net.host("a"), net.host("b"));
    let (left, right) = (net.switch("left"), net.switch("right"));
    let (up, down) = (net.switch("up"), net.switch("down"));
    net.link(a, left, 100, Span::from_us(1));
    net.link(b, right, 100, Span::from_us(1));
    let first = net.link(left, up, 100, Span::from_us(1));
    net.link(up, right, 100, Span::from_us(1));
    net.link(left, down, 100, Span::from_us(1));
    net.link(down, right, 100, Span::from_us(1));
    net.cut(first / 2, Time::from_us(100), Time::from_us(300));
    let flows = (0..16).map(|i| (Time::ZERO, flow(i, a, b, 500_000))).collect();
    let world = net.run(flows);
    assert_eq!(world.counters.flows_completed, 16, "{:?}", world.failure);
    assert!(world.counters.drops_fault > 0, "some were on the link that failed");
    assert!(world.flows.iter().any(|f| f.packets_retransmitted > 0));
}

#[test]
fn a_cut_off_flow_waits_for_its_link() {
    let mut net = Net::star(2, 100, Span::from_us(1));
    net.cut(1, Time::from_us(10), Time::from_ms(30));
    let world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 1_000_000)), (Time::from_ms(1), flow(1, 1, 2, 1000))]);
    assert_eq!(world.counters.flows_completed, 2, "{:?}", world.failure);
    assert!(world.flows.iter().all(|f| f.delivered_at.unwrap() > Time::from_ms(30)));
}

#[test]
fn a_cut_off_receiver_still_answers_what_was_past_the_cut() {
    // The flow loses its only path while packets stand before the slow last link. What is behind the
    // cut arrives, and is acknowledged towards it.
    let (mut net, h0, h1) = Net::chain(&[100, 100, 10], Span::from_us(1));
    net.cut(1, Time::from_us(20), Time::from_us(500));
    let world = net.run(vec![(Time::ZERO, flow(0, h0, h1, 200_000))]);
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!((world.counters.flows_completed, world.check_conservation()), (1, Ok(())));
    assert!(world.counters.acks_sent >= 200);
}

#[test]
fn a_host_goes_on_sending_when_its_own_link_returns() {
    // A flow at line rate keeps its place at the NIC from packet to packet; a cut in between must not
    // make it forget that it waits.
    for ns in (10_000..10_100).step_by(10) {
        let mut net = Net::star(2, 100, Span::from_us(1));
        net.cut(0, Time::from_ns(ns), Time::from_us(50));
        let world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 500_000))]);
        assert!(world.failure.is_none(), "{:?}", world.failure);
        assert_eq!((world.counters.flows_completed, world.check_conservation()), (1, Ok(())));
    }
}

#[test]
fn too_little_headroom_ends_the_run_with_a_diagnosis() {
    let run = |stop: Time, allow_drops: bool| {
        let mut net = Net::star(3, 100, Span::from_us(5));
        net.plan.switches[0].pfc.headroom = Headroom::Bytes(20_000);
        net.plan.run.stop = stop;
        net.plan.run.allow_drops = allow_drops;
        net.run(vec![(Time::ZERO, endless(0, 1, 3)), (Time::ZERO, endless(1, 2, 3))])
    };
    let world = run(Time::from_ms(5), false);
    let Some(Failure::LosslessDrop(drop)) = &world.failure else { panic!("{:?}", world.failure) };
    assert_eq!(drop.threshold_bytes, 320_000);
    assert_eq!(drop.headroom_bytes, 20_000);
    assert!(drop.headroom_required_bytes > 125_000 && drop.ingress_bytes <= 340_000);
    // Failures are looked for every few microseconds; one in the very last instant is found too.
    assert_eq!(run(drop.at, false).failure, world.failure);
    assert_eq!(run(Time::from_ps(drop.at.ps() - 1), false).failure, None);

    let world = run(Time::from_ms(5), true);
    assert!(world.failure.is_none() && world.counters.drops_lossless > 0);
}

#[test]
fn lossy_classes_drop_at_their_limit_and_recover() {
    let mut net = Net::star(3, 10, Span::from_us(5));
    net.plan.classes.list[0].lossless = false;
    net.plan.classes.list[0].queue_limit_bytes = Some(64_000);
    let flows = (0..2).map(|i| (Time::ZERO, flow(i, 1 + i, 3, 500_000))).collect();
    let mut world = net.run(flows);
    assert_eq!(world.counters.flows_completed, 2);
    assert!(world.counters.drops_lossy > 0 && world.counters.pause_frames == 0);
    // Port 5 is the switch's towards host 3.
    assert!(world.port_reports()[5].classes[0].queue_bytes_peak <= 64_000);
}

#[test]
fn weighted_classes_share_by_weight_and_strict_ones_go_first() {
    let shares = |services: [Service; 2]| {
        let mut net = Net::star(3, 100, Span::from_us(1));
        let class = |priority, service| Class { priority, service, ..Class::default() };
        net.plan.classes.list = vec![class(2, services[0]), class(3, services[1]), net.plan.classes.list[1].clone()];
        net.plan.classes.control = 2;
        net.plan.run.stop = Time::from_ms(5);
        let low = endless(0, 1, 3);
        let high = FlowSpec { class: 1, ..endless(1, 2, 3) };
        let world = net.run(vec![(Time::ZERO, low), (Time::ZERO, high)]);
        let bytes: Vec<f64> = world.flows.iter().map(|f| f.delivered_bytes as f64).collect();
        bytes[1] / (bytes[0] + bytes[1])
    };
    let weighted = shares([Service::Weighted(2_000), Service::Weighted(6_000)]);
    assert!((weighted - 0.75).abs() < 0.02, "3 of 4 parts: {weighted}");
    let strict = shares([Service::Strict, Service::Strict]);
    assert!(strict > 0.99, "the higher class takes all: {strict}");
}

#[test]
fn weighted_shares_count_bytes_whatever_the_packet_size() {
    // Packets below the largest frame; weights 1 : 2.
    let mut net = Net::star(3, 100, Span::from_us(1));
    let class = |priority, quantum| Class { priority, service: Service::Weighted(quantum), ..Class::default() };
    net.plan.classes.list = vec![class(2, 1062), class(3, 2124), net.plan.classes.list[1].clone()];
    net.plan.classes.control = 2;
    net.plan.hosts[0].mtu_bytes = 700;
    net.plan.run.stop = Time::from_ms(5);
    let high = FlowSpec { class: 1, ..endless(1, 2, 3) };
    let world = net.run(vec![(Time::ZERO, endless(0, 1, 3)), (Time::ZERO, high)]);
    let bytes: Vec<f64> = world.flows.iter().map(|f| f.delivered_bytes as f64).collect();
    assert!((bytes[1] / bytes[0] - 2.0).abs() < 0.03, "{bytes:?}");
}

#[test]
fn each_switch_signals_in_its_own_way() {
    // s0 pauses its host on and off, s1 pauses s0 for a time and repeats it.
    let (mut net, src, dst) = Net::chain(&[100, 100, 10], Span::from_us(1));
    let mut timed = net.plan.switches[0].clone();
    timed.pfc.signalling = Signalling::Timed {
        pause: Span::from_us(5),
        refresh: Span::from_us(2),
        per_arrival: false,
        resume: ResumeAt::Departures,
    };
    net.plan.switches.push(timed);
    net.plan.nodes[2].profile = 1;
    net.plan.run.stop = Time::from_ms(5);
    net.plan.run.record_refreshes = true;
    let mut world = net.run(vec![(Time::ZERO, endless(0, src, dst))]);
    let refreshes = world.pauses.iter().filter(|pause| pause.refresh);
    assert!(refreshes.clone().all(|pause| pause.pause && pause.port == 3));
    let refreshes = refreshes.count() as u64;
    let reports = world.port_reports();
    let (to_host, to_s0) = (&reports[1], &reports[3]);
    assert!(to_host.pause_frames > 0 && to_host.refresh_frames == 0);
    assert!(to_s0.pause_frames > 0 && to_s0.refresh_frames > 0);
    assert_eq!(refreshes, to_s0.refresh_frames);
}

/// Three switches in a ring, every flow two hops clockwise: the textbook cyclic dependency.
fn ring() -> (Net, Vec<(Time, FlowSpec)>) {
    let mut net = Net::new();
    let switches: Vec<u32> = (0..3).map(|i| net.switch(&format!("s{i}"))).collect();
    let hosts: Vec<u32> = (0..3).map(|i| net.host(&format!("h{i}"))).collect();
    let mut up = Vec::new();
    for i in 0..3 {
        up.push(net.link(hosts[i], switches[i], 100, Span::from_us(1)));
    }
    let mut clockwise = Vec::new();
    for i in 0..3 {
        clockwise.push(net.link(switches[i], switches[(i + 1) % 3], 40, Span::from_us(1)));
    }
    let flows = (0..3)
        .map(|i| {
            let path = vec![up[i], clockwise[i], clockwise[(i + 1) % 3], up[(i + 2) % 3] ^ 1];
            let spec = FlowSpec { path: Some(path.into()), ..endless(i as u32, hosts[i], hosts[(i + 2) % 3]) };
            (Time::ZERO, spec)
        })
        .collect();
    (net, flows)
}

#[test]
fn a_ring_deadlocks_and_the_detector_names_the_cycle() {
    let (mut net, flows) = ring();
    net.plan.run.stop = Time::from_ms(50);
    let world = net.run(flows);
    let Some(Failure::Deadlock { at, cycle }) = &world.failure else { panic!("{:?}", world.failure) };
    assert!(*at <= Time::from_ms(20));
    assert_eq!(cycle.len(), 3, "{cycle:?}");
    assert!(cycle.iter().all(|queue| queue.paused && queue.bytes > 0));
}

#[test]
fn without_the_detector_a_deadlock_is_a_stall_with_its_queues() {
    let (mut net, flows) = ring();
    net.plan.run.deadlock_check = None;
    let world = net.run(flows);
    let Some(Failure::Stall { unfinished, blocked, .. }) = &world.failure else { panic!("{:?}", world.failure) };
    assert_eq!(*unfinished, 3);
    assert!(blocked.iter().filter(|queue| queue.paused).count() >= 3);
}

#[test]
fn bad_luck_on_a_lossy_wire_is_no_stall() {
    // Nine packets in ten are lost, and as many ACKs: a hundred time-outs of 10 ms for each that counts, of
    // which fifty in a row would be taken for a stall.
    let mut net = Net::star(2, 100, Span::from_us(1));
    net.plan.links[0].a_to_b.loss = 0.9;
    net.plan.links[0].b_to_a.loss = 0.9;
    net.plan.run.stop = Time::from_ms(100_000);
    let world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 3_000))]);
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.counters.flows_completed, 1);
    // Where nothing ever comes through, it is one.
    let mut net = Net::star(2, 100, Span::from_us(1));
    net.plan.links[0].a_to_b.loss = 1.0;
    let world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 3_000))]);
    assert!(matches!(world.failure, Some(Failure::Stall { .. })), "{:?}", world.failure);
}

#[test]
fn a_slow_network_is_no_stall() {
    // Longer on the wire, in the NIC or between two packets than a stall may last.
    let limit = Span::from_ms(5);
    let mut far = Net::star(2, 100, Span::from_ms(20));
    far.plan.run.stall_after = Some(limit);
    far.plan.switches[0].buffer_bytes = 4_000_000_000;
    let mut late = Net::star(2, 100, Span::from_us(1));
    late.plan.run.stall_after = Some(limit);
    late.plan.hosts[0].ack_delay = Span::from_ms(20);
    let mut slow = Net::star(2, 100, Span::from_us(1));
    slow.plan.run.stall_after = Some(limit);
    let paced = FlowSpec { rate_cap: Some(BitRate::from_bps(500_000)), ..flow(0, 1, 2, 5_000) };
    for (net, spec) in [(far, flow(0, 1, 2, 5_000)), (late, flow(0, 1, 2, 5_000)), (slow, paced)] {
        let world = net.run(vec![(Time::ZERO, spec)]);
        assert!(world.failure.is_none(), "{:?}", world.failure);
        assert_eq!(world.counters.flows_completed, 1);
    }
}

#[test]
fn the_watchdog_ends_a_storm_either_way() {
    for action in [WatchdogAction::Drop, WatchdogAction::Forward] {
        let mut net = Net::star(3, 40, Span::from_us(1));
        net.plan.switches[0].watchdog =
            Some(Watchdog { poll: Span::from_ms(1), detect: Span::from_ms(2), restore: Span::from_ms(2), action });
        net.plan.run.stop = Time::from_ms(60);
        let storm = |on| FaultKind::PauseStorm { host_port: 2, class: 0, on };
        net.plan.faults = vec![
            Fault { at: Time::from_ms(1), what: storm(true) },
            Fault { at: Time::from_ms(20), what: storm(false) },
        ];
        // Host 2 floods; without the watchdog its queue would also block host 3's traffic.
        let world = net.run(vec![(Time::ZERO, endless(0, 1, 2)), (Time::ZERO, endless(1, 1, 3))]);
        assert_eq!(world.counters.watchdog_storms, 1, "one storm, however long");
        let free = world.flows[1].delivered_bytes as f64 * 8.0 / 60e-3 / 1e9;
        assert!(free > 15.0, "{action:?}: the other flow got {free} Gb/s");
        assert_eq!(world.counters.drops_lossless, 0);
        assert_eq!(world.counters.drops_fault > 0, action == WatchdogAction::Drop);
        let storms = world.storm_records();
        assert_eq!((storms.len(), storms[0].port, storms[0].class), (1, 3, 0), "at the switch, towards the host");
        assert_eq!(storms[0].drops, world.counters.drops_fault);
        // Seen by a poll after 2 ms of silence; over once no PAUSE came for 2 ms. The RESUME of 20 ms arrives a
        // microsecond after that poll.
        assert_eq!((storms[0].from, storms[0].until), (Time::from_ms(4), Some(Time::from_ms(21))), "{action:?}");
        assert_eq!(world.flows[0].lost, storms[0].drops, "all of them were the flow's");
        assert_eq!(world.flows[1].lost, 0);
    }
}

#[test]
fn rates_change_on_schedule() {
    let mut net = Net::star(2, 100, Span::from_us(1));
    net.plan.run.stop = Time::from_ms(2);
    net.plan.faults =
        vec![Fault { at: Time::from_ms(1), what: FaultKind::Rate { port: 3, rate: BitRate::from_gbps(10) } }];
    let world = net.run(vec![(Time::ZERO, endless(0, 1, 2))]);
    let gbps = world.flows[0].delivered_bytes as f64 * 1.082 * 8.0 / 2e-3 / 1e9;
    assert!((gbps - 55.0).abs() < 0.5, "half the time at 100, half at 10: {gbps}");
}

#[test]
fn headroom_stands_a_link_that_becomes_faster() {
    let mut net = Net::star(3, 10, Span::from_us(5));
    net.plan.faults = [0u32, 2, 4]
        .map(|port| Fault { at: Time::from_ms(1), what: FaultKind::Rate { port, rate: BitRate::from_gbps(100) } })
        .to_vec();
    net.plan.run.stop = Time::from_ms(5);
    let world = net.run(vec![(Time::ZERO, endless(0, 1, 3)), (Time::ZERO, endless(1, 2, 3))]);
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert!(world.counters.pause_frames > 0);
}

#[test]
fn a_flow_stopped_while_its_link_fails_leaves_no_trace() {
    // Stopped in mid-packet, its link cut at once: its slot is free long before the NIC sends again,
    // and by then another flow of the same host has it.
    let mut net = Net::star(3, 100, Span::from_us(1));
    net.cut(0, Time::from_ps(50_000_001), Time::from_us(200));
    let later = |handle, dst| (Time::from_us(100), Action::Start(flow(handle, 1, dst, 1_000_000)));
    let first = (Time::ZERO, Action::Start(endless(0, 1, 2)));
    let stop = (Time::from_us(50), Action::Stop { handle: 0 });
    let source = Script::new(vec![first, stop, later(1, 2), later(2, 3)]);
    let world = net.run_under(Scripted::uncontrolled(), Box::new(source));
    assert!(world.failure.is_none(), "{:?}", world.failure);
    let ends: Vec<u64> =
        world.flows.iter().filter(|f| f.size_bytes.is_some()).map(|f| f.delivered_at.unwrap().ps()).collect();
    assert_eq!(ends.len(), 2);
    assert_eq!(ends[0].abs_diff(ends[1]), 1082 * 80, "they still alternate strictly");
}
