//! The flow-level engine against closed forms: exact times, shares, loads of ACKs, faults.

#[path = "../../fabric/tests/common/mod.rs"]
mod common;

use common::*;
use std::sync::{Arc, Mutex};
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::*;
use xoff_fabric::record::Failure;
use xoff_fabric::scheme::Format;
use xoff_fabric::simulation::Simulation;
use xoff_fabric::traffic::{Action, FlowSpec, Source, Subscription};
use xoff_flow::{FlowWorld, SchemeFacts};

fn scheme() -> Vec<SchemeFacts> {
    let formats = [Format::default(); 2];
    vec![SchemeFacts { formats, first_limits: Box::new(|_| None), keeps_initial_rate: true }]
}

fn run(net: Net, sources: Vec<Box<dyn Source>>) -> FlowWorld {
    let mut world = FlowWorld::new(net.plan, scheme(), sources);
    world.run_to_end();
    assert_eq!(world.check_conservation(), Ok(()));
    world
}

fn run_flows(net: Net, flows: Vec<(Time, FlowSpec)>) -> FlowWorld {
    run(net, vec![Script::flows(flows)])
}

/// ACKs cost nothing: they are as short as can be, and come once in a million packets.
fn without_acks(mut net: Net) -> Net {
    for host in &mut net.plan.hosts {
        host.ack_every = 1_000_000_000;
    }
    net
}

fn fct(world: &FlowWorld, flow: usize) -> u64 {
    let record = &world.flows[flow];
    (record.delivered_at.expect("it is delivered") - record.start).ps()
}

/// Wire bytes of a flow: headers of 62 and gaps of 20 bytes, packets of 1000.
fn wire(size: u64) -> u64 {
    let packets = size.div_ceil(1000);
    (packets - 1) * 1082 + (size - (packets - 1) * 1000 + 62).max(64) + 20
}

#[test]
fn a_flow_alone_takes_its_ideal_time() {
    for rates in [vec![100], vec![100, 400, 400, 100], vec![25, 100, 10], vec![400, 10, 400], vec![7, 13, 3]] {
        for size in [1u64, 999, 1000, 1001, 64_001, 123_456_789] {
            let (net, src, dst) = Net::chain(&rates, Span::from_ns(700));
            let world = run_flows(net, vec![(Time::from_us(3), flow(0, src, dst, size))]);
            let record = &world.flows[0];
            assert_eq!(record.delivered_at.unwrap() - record.start, record.ideal, "{size} over {rates:?}");
            // The ACK: 86 bytes back over every hop.
            let serialise = |gbps: &u64| (86 * 8000u64).div_ceil(*gbps);
            let back: u64 = rates.iter().map(serialise).sum::<u64>() + rates.len() as u64 * 700_000;
            assert_eq!((record.acked_at.unwrap() - record.delivered_at.unwrap()).ps(), back);
            assert_eq!((record.delivered_bytes, record.packets_sent), (size, size.div_ceil(1000)));
        }
    }
}

#[test]
fn equal_flows_through_one_port_end_together() {
    for n in [2u64, 3, 8, 17] {
        let net = without_acks(Net::star(n as usize + 1, 100, Span::from_us(1)));
        let flows = (1..=n as u32).map(|host| (Time::ZERO, flow(host, host, n as u32 + 1, 2_000_000)));
        let world = run_flows(net, flows.collect());
        // n times the bytes at 80 ps each, and what a flow alone takes beyond its own.
        let alone = world.flows[0].ideal.ps() - wire(2_000_000) * 80;
        let expected = n * wire(2_000_000) * 80 + alone;
        for flow in 0..n as usize {
            // The share of a flow is a fraction: a picosecond of rounding up.
            assert!(fct(&world, flow).abs_diff(expected) <= 1, "{n} flows: {} not {expected}", fct(&world, flow));
        }
    }
}

/// A chain of switches with a host at each; links of 100 Gb/s.
fn parking_lot(hops: usize) -> (Net, Vec<u32>) {
    let mut net = Net::new();
    let switches: Vec<u32> = (0..=hops).map(|i| net.switch(&format!("s{i}"))).collect();
    switches.windows(2).for_each(|pair| {
        net.link(pair[0], pair[1], 100, Span::from_us(1));
    });
    // Hosts are faster than the links between switches, so they limit nothing.
    let hosts = switches.iter().enumerate();
    let hosts = hosts.flat_map(|(i, &switch)| [0, 1].map(|_| (i, switch))).collect::<Vec<_>>();
    let hosts =
        hosts.into_iter().map(|(i, switch)| net.host_at(&format!("h{i}"), switch, 400, Span::from_us(1)).0).collect();
    (without_acks(net), hosts)
}

#[test]
fn the_long_flow_of_a_parking_lot_has_half_of_every_hop() {
    for hops in [1, 2, 5] {
        let (net, hosts) = parking_lot(hops);
        let size = 10_000_000;
        let mut flows = vec![(Time::ZERO, flow(0, hosts[0], hosts[2 * hops], size))];
        flows.extend((0..hops).map(|i| (Time::ZERO, flow(1 + i as u32, hosts[2 * i + 1], hosts[2 * i + 3], size))));
        let world = run_flows(net, flows);
        for flow in &world.flows {
            let alone = flow.ideal.ps() - wire(size) * 80;
            assert_eq!((flow.delivered_at.unwrap() - flow.start).ps(), 2 * wire(size) * 80 + alone);
        }
    }
}

#[test]
fn what_a_flow_cannot_use_others_get() {
    // Three flows share the first hop, one of them the second with a fourth: a third, and two thirds.
    let (net, hosts) = parking_lot(2);
    let size = 30_000_000;
    let mut long = vec![(Time::ZERO, flow(0, hosts[0], hosts[4], size))];
    for handle in 1..3 {
        long.push((Time::ZERO, flow(handle, hosts[1], hosts[2], size)));
    }
    long.push((Time::ZERO, flow(3, hosts[3], hosts[5], 2 * size)));
    let world = run_flows(net, long);
    for flow in &world.flows {
        let bytes = flow.size_bytes.unwrap();
        let alone = flow.ideal.ps() as f64 - wire(bytes) as f64 * 80.0;
        let share = if bytes == size { 3.0 } else { 1.5 };
        let expected = wire(bytes) as f64 * 80.0 * share + alone;
        let took = (flow.delivered_at.unwrap() - flow.start).ps() as f64;
        assert!((took - expected).abs() <= 1.0, "{took} not {expected}");
    }
}

#[test]
fn acks_take_their_share_of_the_way_back() {
    // Two hosts that send to each other: 86 bytes of ACK for 1082 of data.
    let net = Net::star(2, 100, Span::from_us(1));
    let size = 100_000_000;
    let world = run_flows(net, vec![(Time::ZERO, flow(0, 1, 2, size)), (Time::ZERO, flow(1, 2, 1, size))]);
    let alone = world.flows[0].ideal.ps() as f64 - wire(size) as f64 * 80.0;
    let expected = wire(size) as f64 * 80.0 * (1.0 + 86.0 / 1082.0) + alone;
    for flow in 0..2 {
        assert!((fct(&world, flow) as f64 - expected).abs() <= 2.0, "{} not {expected}", fct(&world, flow));
    }
    // Each NIC has sent the data of one flow and the ACKs of the other, and nothing more.
    let sent = world.port_now_sent(0);
    let due = wire(size) as f64 * (1.0 + 86.0 / 1082.0);
    assert!((sent - due).abs() < 2.0, "{sent} not {due}");
}

trait Sent {
    fn port_now_sent(&self, port: u32) -> f64;
}

impl Sent for FlowWorld {
    fn port_now_sent(&self, port: u32) -> f64 {
        xoff_fabric::activity::PortsNow::port_now(self, port).tx_bytes as f64
    }
}

#[test]
fn a_slower_link_counts_from_the_fault_on() {
    let (mut net, src, dst) = Net::chain(&[100, 100], Span::from_us(1));
    let (size, at) = (10_000_000, Time::from_us(200));
    net.plan.faults.push(Fault { at, what: FaultKind::Rate { port: 2, rate: BitRate::from_gbps(50) } });
    let world = run_flows(without_acks(net), vec![(Time::ZERO, flow(0, src, dst, size))]);
    // 200 us at 80 ps per byte, the rest at 160.
    let before = 200_000_000 / 80;
    let alone = world.flows[0].ideal.ps() - wire(size) * 80;
    assert_eq!(fct(&world, 0), 200_000_000 + (wire(size) - before) * 160 + alone);
}

#[test]
fn a_cut_flow_waits_and_goes_on() {
    let (mut net, src, dst) = Net::chain(&[100, 100, 100], Span::from_us(1));
    net.cut(1, Time::from_us(100), Time::from_us(700));
    let size = 10_000_000;
    let world = run_flows(without_acks(net), vec![(Time::ZERO, flow(0, src, dst, size))]);
    assert_eq!(fct(&world, 0), world.flows[0].ideal.ps() + 600_000_000);
    // Without a way back the run says that it is stuck.
    let (mut net, src, dst) = Net::chain(&[100, 100, 100], Span::from_us(1));
    net.plan.faults.push(Fault { at: Time::from_us(100), what: FaultKind::LinkDown { link: 1 } });
    let world = run_flows(net, vec![(Time::ZERO, flow(0, src, dst, size))]);
    assert!(matches!(world.failure, Some(Failure::Stall { unfinished: 1, stranded: 1, .. })), "{:?}", world.failure);
}

#[test]
fn strict_classes_go_first_and_weighted_ones_share() {
    let data = |priority, service| Class { priority, service, ..Classes::default().list[0].clone() };
    let mut control = Classes::default().list[1].clone();
    control.priority = 7;
    let cases = [
        // (services, share of the first and of the second class while both send)
        ([Service::Strict, Service::Strict], [0.0, 1.0]),
        ([Service::Weighted(3000), Service::Weighted(1000)], [0.75, 0.25]),
    ];
    for ([first, second], shares) in cases {
        let mut net = without_acks(Net::star(3, 100, Span::from_us(1)));
        net.plan.classes = Classes { list: vec![data(1, first), data(2, second), control.clone()], control: 2 };
        net.plan.run.stop = Time::from_us(800);
        // Three flows of the first class, one of the second: classes share, not flows.
        let mut flows: Vec<(Time, FlowSpec)> = (0..3).map(|handle| (Time::ZERO, endless(handle, 1, 3))).collect();
        flows.push((Time::ZERO, FlowSpec { class: 1, ..endless(3, 2, 3) }));
        let world = run_flows(net, flows);
        let bytes = |class: u8| -> f64 {
            world.flows.iter().filter(|flow| flow.class == class).map(|flow| flow.delivered_bytes as f64).sum()
        };
        let all = 800e-6 * 100e9 / 8.0 * 1000.0 / 1082.0;
        for class in 0..2 {
            let share = bytes(class) / all;
            assert!((share - shares[usize::from(class)]).abs() < 0.01, "class {class} of {first:?}: {share}");
        }
    }
}

/// Sends messages one after the other on one queue pair, and notes what becomes of them.
struct Messages {
    begun: bool,
    sizes: Vec<u64>,
    log: Arc<Mutex<Vec<(u64, char, u32)>>>,
}

impl Source for Messages {
    fn next(&self) -> Option<Time> {
        (!self.begun).then_some(Time::ZERO)
    }
    fn act(&mut self, _: Time, out: &mut Vec<Action>) {
        self.begun = true;
        out.push(Action::Start(FlowSpec { offered_bytes: Some(0), ..FlowSpec::new(0, 1, 2) }));
        let message = |(message, &bytes)| Action::Send { handle: 0, bytes, message };
        out.extend((0..).zip(&self.sizes).map(message));
    }
    fn subscription(&self) -> Subscription {
        Subscription::ALL
    }
    fn on_delivered(&mut self, now: Time, _: u32, message: u32) {
        self.log.lock().unwrap().push((now.ps(), 'd', message));
    }
    fn on_acknowledged(&mut self, now: Time, _: u32, message: u32) {
        self.log.lock().unwrap().push((now.ps(), 'a', message));
    }
    fn on_drained(&mut self, now: Time, _: u32) {
        self.log.lock().unwrap().push((now.ps(), 'e', 0));
    }
}

#[test]
fn messages_of_a_queue_pair_follow_each_other() {
    let mut net = Net::star(2, 100, Span::from_us(1));
    net.plan.run.stop = Time::from_ms(1);
    let log = Arc::default();
    let source = Messages { begun: false, sizes: vec![1_000_000, 500, 64_000], log: Arc::clone(&log) };
    run(net, vec![Box::new(source)]);
    let log = log.lock().unwrap().clone();
    // The last byte leaves when all before it have; its packet crosses one more link of 80 ps per byte, and 2 us of wire.
    // A short packet waits for the full one ahead of it.
    let left = [wire(1_000_000), wire(1_000_000) + wire(500), wire(1_000_000) + wire(500) + wire(64_000)];
    let delivered = [left[0] * 80 + 1082 * 80 + 2_000_000, left[1] * 80 + wire(500) * 80 + 2_000_000];
    assert_eq!((log[0].1, log[0].2), ('d', 0));
    assert_eq!(log[0].0, delivered[0]);
    assert!(log.contains(&(delivered[1], 'd', 1)), "{log:?}");
    assert!(log.contains(&(left[2] * 80 + 1082 * 80 + 2_000_000, 'd', 2)), "{log:?}");
    let back = 2 * (86 * 80 + 1_000_000);
    assert!(log.contains(&(delivered[0] + back, 'a', 0)), "{log:?}");
    assert_eq!(log.iter().filter(|of| of.1 == 'e').count(), 1, "{log:?}");
}

#[test]
fn nothing_is_faster_than_ideal_and_all_bytes_arrive() {
    for seed in 0..30 {
        let mut net = Net::star(12, 100, Span::from_us(1));
        net.plan.seed = seed;
        let draw = |flow: u64, what: u64| xoff_engine::rng::mix(seed * 1_000_003 + flow * 17 + what);
        let flows = (0..200u64).map(|i| {
            let (src, by) = (draw(i, 0) % 12, 1 + draw(i, 1) % 11);
            let spec = flow(i as u32, 1 + src as u32, 1 + ((src + by) % 12) as u32, 1 + draw(i, 2) % 3_000_000);
            (Time::from_ps(draw(i, 3) % 400_000_000), spec)
        });
        let world = run_flows(net, flows.collect());
        assert_eq!(world.flows.len(), 200);
        for flow in &world.flows {
            let took = flow.delivered_at.expect("it is delivered") - flow.start;
            assert!(took >= flow.ideal, "seed {seed}: {took} of {}", flow.ideal);
            assert_eq!(Some(flow.delivered_bytes), flow.size_bytes);
        }
        let sent: u64 = world.flows.iter().map(|flow| flow.delivered_bytes).sum();
        assert_eq!(sent, world.counters.delivered_bytes);
        assert_eq!(world.counters.data_packets_sent, world.counters.data_packets_delivered);
        let mut world = world;
        for report in world.port_reports() {
            let most = world.now.ps() as f64 / 80.0;
            assert!(report.tx_wire_bytes as f64 <= most * (1.0 + 1e-9), "port {}", report.port);
        }
    }
}

#[test]
fn the_order_of_sources_changes_nothing() {
    let flows_of = |source: u64| -> Box<dyn Source> {
        let draw = |flow: u64, what: u64| xoff_engine::rng::mix(source * 1_000_003 + flow * 17 + what);
        let flows = (0..40u64).map(|i| {
            let (src, by) = (draw(i, 0) % 8, 1 + draw(i, 1) % 7);
            let spec = flow(i as u32, 1 + src as u32, 1 + ((src + by) % 8) as u32, 1 + draw(i, 2) % 1_000_000);
            // Many start at one instant.
            (Time::from_us(10 * (draw(i, 3) % 5)), spec)
        });
        Box::new(Named(source, Script::new(flows.map(|(at, spec)| (at, Action::Start(spec))).collect())))
    };
    let ends = |order: [u64; 3]| {
        let net = Net::star(8, 100, Span::from_us(1));
        let world = run(net, order.into_iter().map(flows_of).collect());
        let mut ends: Vec<_> = world
            .flows
            .iter()
            .map(|flow| (order[flow.source as usize], flow.number, flow.delivered_at, flow.acked_at))
            .collect();
        ends.sort_unstable();
        ends
    };
    assert_eq!(ends([1, 2, 3]), ends([3, 1, 2]));
}

/// Flows among some hosts of a star, by a name that nothing else changes.
fn among(name: u64, first: u32, hosts: u64) -> Box<dyn Source> {
    let draw = |flow: u64, what: u64| xoff_engine::rng::mix(name * 1_000_003 + flow * 17 + what);
    let flows = (0..60u64).map(|i| {
        let (src, by) = (draw(i, 0) % hosts, 1 + draw(i, 1) % (hosts - 1));
        let (src, dst) = (first + src as u32, first + ((src + by) % hosts) as u32);
        (Time::from_us(5 * (draw(i, 3) % 20)), Action::Start(flow(i as u32, src, dst, 1 + draw(i, 2) % 2_000_000)))
    });
    Box::new(Named(name, Script::new(flows.collect())))
}

#[test]
fn far_traffic_changes_nothing() {
    // The larger star is solved with a tolerance.
    for hosts in [12, 140] {
        let ends = |sources: Vec<Box<dyn Source>>| {
            let near = sources.len() - 1;
            let world = run(Net::star(hosts, 100, Span::from_us(1)), sources);
            let near = world.flows.iter().filter(|flow| flow.source as usize == near);
            let mut ends: Vec<_> = near.map(|flow| (flow.number, flow.delivered_at, flow.acked_at)).collect();
            ends.sort_unstable();
            ends
        };
        let alone = ends(vec![among(1, 1, 5)]);
        assert_eq!(alone.len(), 60);
        assert_eq!(alone, ends(vec![among(2, 6, 6), among(1, 1, 5)]), "{hosts} hosts");
    }
}

/// A source with a name, by which its flows are known in any order of sources.
struct Named(u64, Script);

impl Source for Named {
    fn name(&self) -> Option<u64> {
        Some(self.0)
    }
    fn next(&self) -> Option<Time> {
        self.1.next()
    }
    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        self.1.act(now, out);
    }
}
