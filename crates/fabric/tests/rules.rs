//! Rules of other simulators: time resolution, order of events, hashes, NICs that scan, caps in flight.

use crate::common::*;
use crate::scripted::{Scripted, World};
use xoff_engine::{BitRate, Span, Time, TimeResolution};
use xoff_fabric::plan::*;
use xoff_fabric::route::{FlowKey, Routes};
use xoff_fabric::traffic::FlowSpec;

/// All rules at once: small frames, whole nanoseconds, the order of scheduling, NICs that scan.
fn with_rules(mut net: Net) -> Net {
    net.plan.model = Model {
        resolution: TimeResolution::BinaryNanosecond,
        ties: Ties::Scheduled,
        ecmp: Ecmp::Murmur3,
        next_hops: NextHops::Descending,
        base_rtt: BaseRtt::Payload,
        ..Model::default()
    };
    let host = &mut net.plan.hosts[0];
    host.sizes = FrameSizes {
        data_header_bytes: 48,
        ack_bytes: 60,
        pfc_bytes: 43,
        gap_bytes: 0,
        min_frame_bytes: 1,
        ..FrameSizes::ROCE_V2
    };
    host.ack_class = AckClass::WithData;
    host.nic.scheduler = NicScheduler::Scan { acks_paused_by: None };
    net.plan.switches[0].count_passing = true;
    net
}

fn acked_ns(world: &World) -> Vec<u64> {
    let mut flows: Vec<_> = world.flows.iter().collect();
    flows.sort_by_key(|flow| flow.id);
    flows.iter().map(|flow| (flow.acked_at.unwrap() - flow.start).ps() / 1_000).collect()
}

#[test]
fn times_are_cut_to_whole_nanoseconds() {
    // Five packets of 1048 B over two links of 100G and 1 us: 83 ns each (83.84), then an ACK of 60 B,
    // 4 ns (4.8) per link.
    let net = with_rules(Net::star(2, 100, Span::from_us(1)));
    let world = net.run(vec![(Time::from_ns(122), flow(0, 1, 2, 5_000))]);
    assert_eq!(acked_ns(&world), [5 * 83 + 83 + 2_000 + 2 * 4 + 2_000]);
    // At 40G an ACK takes 12 ns, cut to 11: seconds have 64 binary digits.
    let net = with_rules(Net::star(2, 40, Span::from_us(1)));
    let world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 1_000))]);
    assert_eq!(acked_ns(&world), [2 * 209 + 2_000 + 2 * 11 + 2_000]);
}

#[test]
fn ties_go_in_the_order_of_scheduling() {
    // Everybody sends at once to one host: whoever was opened first is first in every round.
    let net = with_rules(Net::star(9, 100, Span::from_us(1)));
    let flows = (0..8).map(|i| (Time::ZERO, flow(i, 1 + i, 9, 20_000))).collect();
    let done = acked_ns(&net.run(flows));
    assert!(done.is_sorted(), "{done:?}");
    let mut net = with_rules(Net::star(9, 100, Span::from_us(1)));
    net.plan.model.ties = Ties::Hash;
    let flows = (0..8).map(|i| (Time::ZERO, flow(i, 1 + i, 9, 20_000))).collect();
    let done = acked_ns(&net.run(flows));
    assert!(!done.is_sorted(), "without bias: {done:?}");
}

#[test]
fn a_hash_of_addresses_and_ports_chooses() {
    // Two hosts, each under an edge switch; two spines between them.
    let mut net = with_rules(Net::new());
    let (a, b) = (net.host("a"), net.host("b"));
    let (left, right) = (net.switch("left"), net.switch("right"));
    let spines = [net.switch("x"), net.switch("y")];
    net.link(a, left, 100, Span::from_us(1));
    net.link(b, right, 100, Span::from_us(1));
    for spine in spines {
        net.link(left, spine, 100, Span::from_us(1));
        net.link(right, spine, 100, Span::from_us(1));
    }
    let routes = Routes::new(&net.plan, |_| true);
    assert_eq!(net.plan.node_of(routes.next_hops(left, b)[0] ^ 1), spines[1], "the highest number comes first");
    // Hashes by the mmh3 package of (11.0.0.1, 11.0.1.1, port | 100 << 16) with the seed 2, the number of
    // the left switch: 08f94696, 5a2d06dc, 549dbedf, .... Even ones take y, the first.
    for (port, taken) in (10_000..).zip("yyxyxxxy".chars()) {
        let key = FlowKey { seed: 1, identity: 0, from: a, to: b, ports: (port, 100), number: 0 };
        let mut path = Vec::new();
        assert!(routes.path(a, b, &key, &mut path));
        // The seed of the run and the number of the flow mean nothing to it.
        let (mut other, key) = (Vec::new(), FlowKey { seed: 9, identity: 7, ..key });
        assert!(routes.path(a, b, &key, &mut other));
        assert_eq!(path, other);
        assert_eq!(net.plan.nodes[net.plan.node_of(path[2]) as usize].name, taken.to_string(), "port {port}");
    }
}

#[test]
fn base_round_trips_of_payload() {
    // Two links of 1 us both ways, and 1000 B at 100G on each: 2 x 2000 + 2 x 80 ns; that many bytes at 100G.
    let mut net = with_rules(Net::star(2, 100, Span::from_us(1)));
    net.plan.hosts[0].nic.inflight_cap = Some(InflightCap { longest: true, at_line_rate: false, scales: false });
    let world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 5_000))]);
    assert_eq!(world.max_base_rtt(), Span::from_ns(4_160));
    assert_eq!(world.flows[0].base_rtt, Span::from_ns(4_160));
}

#[test]
fn the_cap_counts_one_bandwidth_delay_product() {
    // 4160 ns at 100G are 52 kB; a quarter of it at a quarter of the rate. With an ACK back after
    // 4.2 us a cap of 13 kB lets a flow of 25 Gb/s go on without stop, and 2 kB would not.
    let rate = |gbps: u64, ack_delay: Span, nic: &dyn Fn(&mut NicSettings)| {
        let mut net = with_rules(Net::star(2, 100, Span::from_us(1)));
        nic(&mut net.plan.hosts[0].nic);
        net.plan.hosts[0].ack_delay = ack_delay;
        net.plan.run.stop = Time::from_ms(1);
        let world = net.run_under(Scripted::rates(&[gbps]), Script::flows(vec![(Time::ZERO, endless(0, 1, 2))]));
        world.counters.delivered_bytes as f64 * 8.0 / 1e-3 / 1e9
    };
    let capped = |scales: bool, gbps: u64, ack_delay: Span| {
        let cap = InflightCap { longest: false, at_line_rate: false, scales };
        rate(gbps, ack_delay, &|nic| nic.inflight_cap = Some(cap))
    };
    // 52 packets per round trip of 4174 ns: 83 out on each of two links, 4 back on each, and 4 us.
    let full = capped(false, 100, Span::ZERO);
    assert!((full - 95.0).abs() < 2.0, "{full} Gb/s of payload");
    for scales in [false, true] {
        let quarter = capped(scales, 25, Span::ZERO);
        assert!((quarter - 25.0 * 1000.0 / 1048.0).abs() < 0.5, "{quarter} Gb/s of payload");
    }
    // At 10 us of ACK delay the cap bites: 52 packets, or 13 at a quarter of the rate, per 14.17 us.
    let delayed = |scales: bool| capped(scales, 25, Span::from_us(10));
    let per_round = |packets: f64| packets * 8_000.0 / 14.174e-6 / 1e9;
    assert!((delayed(false) - 25.0 * 1000.0 / 1048.0).abs() < 0.5, "52 packets do not bind: {}", delayed(false));
    assert!((delayed(true) - per_round(13.0)).abs() < 0.3, "{} for {}", delayed(true), per_round(13.0));
    let unpaced = rate(25, Span::ZERO, &|nic| nic.pace = false);
    assert!(unpaced > 90.0, "line rate, whatever the scheme says: {unpaced}");
}

/// A NIC that scans has one wake-up: a flow that starts while one is pending and sleeps after its first
/// packet waits for that wake-up, if it comes later than the flow's own time.
#[test]
fn a_nic_that_scans_has_one_wake_up() {
    let finish = |scheduler: NicScheduler| {
        let mut net = with_rules(Net::star(3, 100, Span::from_us(100)));
        net.plan.hosts[0].nic.scheduler = scheduler;
        // The first flow may send every 8.384 us, the second every 0.8384 us.
        let flows = vec![(Time::ZERO, flow(0, 1, 2, 10_000)), (Time::from_us(1), flow(1, 1, 3, 2_000))];
        let world = net.run_under(Scripted::rates(&[1, 10]), Script::flows(flows));
        acked_ns(&world)[1]
    };
    let apart = finish(NicScheduler::Ready);
    let scanned = finish(NicScheduler::Scan { acks_paused_by: None });
    // From the second flow's start: its second packet leaves 838 ns later, or with the first flow's
    // wake-up at 8384 ns.
    let rest = 83 + 83 + 400_000 + 2 * 4;
    assert_eq!(apart, 838 + rest);
    // At the wake-up the first flow comes first, for the second was served last.
    assert_eq!(scanned, 8_383 - 1_000 + 83 + rest, "8.384 us, cut in binary");
}

#[test]
fn classes_take_turns_packet_by_packet() {
    let mut net = Net::star(3, 100, Span::from_us(1));
    net.plan.classes.list[0].service = Service::RoundRobin;
    let other = Class { priority: 4, service: Service::RoundRobin, ..Class::default() };
    net.plan.classes.list.insert(1, other);
    net.plan.classes.control = 2;
    net.plan.run.stop = Time::from_ms(1);
    // Small packets are served as often as large ones.
    net.plan.hosts.push(HostSettings { mtu_bytes: 250, ..net.plan.hosts[0].clone() });
    net.plan.nodes[2].profile = 1;
    let flows = vec![(Time::ZERO, endless(0, 1, 3)), (Time::ZERO, FlowSpec { class: 1, ..endless(1, 2, 3) })];
    let world = net.run(flows);
    let packets = |id: u32| {
        let flow = world.flows.iter().find(|flow| flow.id == id).unwrap();
        flow.delivered_bytes as f64 / if id == 0 { 1000.0 } else { 250.0 }
    };
    assert!((packets(0) / packets(1) - 1.0).abs() < 0.02, "{} and {}", packets(0), packets(1));
}

#[test]
fn headroom_in_bandwidth_delay_products_is_set_aside_once_per_port() {
    // 100G and 1 us hold 12500 B, three times of which are headroom, beside a reserve of 4096 B: two
    // ports leave the rest to share, whatever the number of classes.
    for (set_aside, times) in [(SetAside::Port, 1), (SetAside::Class, 2), (SetAside::Nothing, 0)] {
        let mut net = Net::star(2, 100, Span::from_us(1));
        let other = Class { priority: 4, ..Class::default() };
        net.plan.classes.list.insert(1, other);
        net.plan.classes.control = 2;
        let (thresholds, headroom) = (Thresholds::dynamic(1.0), Headroom::Bdps(3));
        net.plan.switches[0].pfc = PfcSettings { thresholds, headroom, set_aside, ..PfcSettings::default() };
        net.plan.switches[0].buffer_bytes = 1_000_000;
        // Fill the switch: the receiver's link is slower than the sender's.
        net.plan.links[1].b_to_a.rate = BitRate::from_gbps(10);
        let mut world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 3_000_000))]);
        let report = world.port_reports();
        let row = &report[1].classes[0];
        assert_eq!(row.headroom_bytes, 37_500);
        let shared = 1_000_000 - 2 * times * (37_500 + 4096);
        // Alpha 1: an ingress may use half of the pool, for what it uses is no longer free.
        let paused_at = row.ingress_bytes_peak as f64;
        let expected = shared as f64 / 2.0 + 4096.0;
        assert!(paused_at > expected && paused_at < expected + 37_500.0, "{paused_at} for {expected}");
    }
}

/// A PFC frame that takes no time at all still takes its place on the wire.
#[test]
fn frames_shorter_than_a_grain_are_sent_one_by_one() {
    for scheduler in [NicScheduler::Ready, NicScheduler::Scan { acks_paused_by: Some(3) }] {
        let mut net = with_rules(Net::star(9, 800, Span::from_us(1)));
        net.plan.hosts[0].nic.scheduler = scheduler;
        net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 30_000, xon_bytes: 28_000 };
        // The first sender keeps its switch paused for a while, beside the PFC of the incast.
        let storm = |on| FaultKind::PauseStorm { host_port: 0, class: 0, on };
        net.plan.faults = vec![
            Fault { at: Time::from_us(3), what: storm(true) },
            Fault { at: Time::from_us(30), what: storm(false) },
        ];
        let flows = (0..8).map(|i| (Time::ZERO, flow(i, 1 + i, 9, 200_000))).collect();
        let world = net.run(flows);
        assert_eq!(world.failure.as_ref().map(|failure| format!("{failure:?}")), None);
        assert_eq!(world.counters.flows_completed, 8);
        assert!(world.counters.pause_frames > 0);
    }
}

#[test]
fn next_hops_come_as_a_search_from_the_destination_meets_them() {
    // A ring: from node 2 the search meets 4 before 3, so 5 before 6, which both lead from 7.
    let mut net = with_rules(Net::new());
    let (a, b) = (net.host("a"), net.host("b"));
    let ring: Vec<u32> = (2..8).map(|i| net.switch(&format!("s{i}"))).collect();
    let at = |number: usize| ring[number - 2];
    net.link(a, at(2), 100, Span::from_us(1));
    net.link(b, at(7), 100, Span::from_us(1));
    for (x, y) in [(2, 3), (2, 4), (4, 5), (3, 6), (5, 7), (6, 7)] {
        net.link(at(x), at(y), 100, Span::from_us(1));
    }
    let routes = Routes::new(&net.plan, |_| true);
    let hops: Vec<u32> = routes.next_hops(at(7), a).iter().map(|port| net.plan.node_of(port ^ 1)).collect();
    assert_eq!(hops, [at(5), at(6)]);
}

#[test]
fn the_largest_product_need_not_be_that_of_the_longest_round_trip() {
    // Hosts of 25G, 100G and 100G on one switch: 4400 ns at 25G are 13.75 kB, 4160 ns at 100G 52 kB.
    let mut net = with_rules(Net::new());
    let switch = net.switch("s");
    for (i, gbps) in [25, 100, 100].into_iter().enumerate() {
        net.host_at(&format!("h{i}"), switch, gbps, Span::from_us(1));
    }
    net.plan.hosts[0].nic.inflight_cap = Some(InflightCap { longest: true, at_line_rate: false, scales: false });
    let world = net.run(vec![(Time::ZERO, flow(0, 2, 3, 300_000))]);
    assert_eq!(world.max_base_rtt(), Span::from_ns(4_400));
    // 300 packets back to back, and a round trip.
    assert!(acked_ns(&world)[0] < 300 * 83 + 4_300, "{:?}", acked_ns(&world));
}
