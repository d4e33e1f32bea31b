//! Shaped per-flow queues at gateways, and feedback that travels in ACKs.

use crate::common::*;
use crate::scripted::{Scripted, World};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::domain;
use xoff_fabric::packet::IntStack;
use xoff_fabric::plan::*;
use xoff_fabric::record::Metric;
use xoff_fabric::route::{FlowKey, Routes};
use xoff_fabric::scheme::*;
use xoff_fabric::topology::{LinkSpec, TwoDc, two_dc};
use xoff_fabric::traffic::{Action, FlowSpec};

#[derive(Default)]
struct Seen {
    /// Feedback heard at the gateway and at the sender.
    gateway: AtomicU64,
    sender: AtomicU64,
    /// Telemetry read by the receiver, and the longest flow queue it told of.
    telemetry: AtomicU64,
    longest: AtomicU64,
}

/// Shapes every flow between domains at one rate; receivers feed back a number that the gateway
/// writes into what follows.
#[derive(Clone)]
struct Shaping {
    seen: Arc<Seen>,
    gbps: f64,
    yields_at: u64,
}
pub struct Gate {
    scheme: Shaping,
    tag: u16,
}
struct Np(Option<Arc<Seen>>, u16);
struct Rp(Option<Arc<Seen>>, f64);

impl Transit for Gate {
    type Feedback = u64;
    fn on_release(&mut self, _: Time, queue_bytes: u64, int: Option<&mut IntStack>) {
        let int = int.expect("the scheme asks for telemetry");
        (int.tag, int.flow_queue_bytes) = (self.tag, queue_bytes as u32);
    }
    fn on_ack(&mut self, _: Time, feedback: &u64) {
        self.scheme.seen.gateway.fetch_add(1, Relaxed);
        self.tag = *feedback as u16;
    }
    fn rate_bps(&self) -> f64 {
        self.scheme.gbps * 1e9
    }
    fn yields_at(&self, _: BitRate) -> u64 {
        self.scheme.yields_at
    }
}
impl NotificationPoint for Np {
    type Feedback = u64;
    fn feeds_back_in_acks(&self) -> bool {
        self.0.is_some()
    }
    fn on_telemetry(&mut self, _: Time, int: &IntStack) {
        let seen = self.0.as_ref().expect("only those who feed back are called");
        assert!(int.tag <= self.1, "the gateway knows nothing newer than the receiver");
        seen.telemetry.fetch_add(1, Relaxed);
        seen.longest.fetch_max(u64::from(int.flow_queue_bytes), Relaxed);
    }
    fn ack_feedback(&mut self, _: Time) -> Option<u64> {
        self.1 = self.1.saturating_add(1);
        Some(u64::from(self.1))
    }
}
impl ReactionPoint for Rp {
    type Feedback = u64;
    fn limits(&self) -> Limits {
        Limits { rate_bps: self.1, window_bytes: u64::MAX }
    }
    fn on_feedback(&mut self, _: Time, _: &u64) {
        self.0.as_ref().expect("flows within a domain hear nothing").sender.fetch_add(1, Relaxed);
    }
    fn on_ack(&mut self, ack: &Acked<'_>) {
        assert_eq!(ack.int.is_some(), self.0.is_none(), "feedback comes in the place of telemetry");
    }
}
impl Shaping {
    fn scheme(&self) -> Scripted {
        let of = || self.clone();
        let (np, rp, gate) = (of(), of(), of());
        let format = Format { data_bytes: 42, ack_bytes: 42, int: true, ..Format::default() };
        let mut scripted =
            Scripted::with(move |of| Rp(of.inter_domain.map(|_| rp.seen.clone()), of.line_rate.bps() as f64))
                .np(move |of| Np(of.inter_domain.map(|_| np.seen.clone()), 0))
                .transit(move |of| {
                    assert!(of.inter_domain.is_some(), "asked only for flows between domains");
                    Gate { scheme: gate.clone(), tag: 0 }
                })
                .format(format);
        scripted.format_inter_domain = Some(Format { data_bytes: 44, ack_bytes: 10, ..format });
        scripted
    }
}

fn shaping(gbps: f64, yields_at: u64) -> Shaping {
    Shaping { seen: Arc::default(), gbps, yields_at }
}

/// Two racks of two hosts in each of two domains, 100G throughout, 100 us between them. Hosts 0 to 3
/// are here, 4 to 7 there.
fn net(spines: u32, xoff_bytes: u64) -> Net {
    let link = |us| LinkSpec { rate: BitRate::from_gbps(100), delay: Span::from_us(us) };
    let (leaves, hosts_per_leaf) = (2, 2);
    let (host, fabric, dci, long) = (link(1), link(2), link(2), link(100));
    let graph = two_dc(TwoDc { leaves, spines, hosts_per_leaf, host, fabric, dci, long, long_parallel: 1 });
    let mut net = Net::new();
    (net.plan.nodes, net.plan.links) = (graph.nodes, graph.links);
    let mut gateway = net.plan.switches[0].clone();
    gateway.pfc.thresholds = Thresholds::Static { xoff_bytes, xon_bytes: xoff_bytes - 2000 };
    net.plan.switches.push(gateway);
    net.plan.nodes.iter_mut().filter(|node| node.layer == "dci").for_each(|node| node.profile = 1);
    net
}

fn host(net: &Net, number: u32) -> u32 {
    net.plan.nodes.iter().position(|node| node.name == format!("h{number}")).unwrap() as u32
}

fn port(net: &Net, name: &str) -> u32 {
    (0..net.plan.ports() as u32).find(|&port| net.plan.port_name(port) == name).unwrap()
}

fn probe(net: &mut Net, what: ProbeTarget, every: Span) {
    net.plan.probes.push(Probe { what, every, from: Time::ZERO, until: Time::NEVER });
}

fn run(net: Net, scheme: &Shaping, flows: Vec<(Time, FlowSpec)>) -> World {
    let world = net.run_under(scheme.scheme(), Script::flows(flows));
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.check_conservation(), Ok(()));
    world
}

fn values(world: &World, metric: Metric) -> Vec<f64> {
    world.samples.iter().filter(|s| s.metric == metric).map(|s| s.value).collect()
}

fn longest(world: &World, metric: Metric) -> f64 {
    values(world, metric).into_iter().fold(0.0, f64::max)
}

#[test]
fn a_flow_between_domains_has_two_short_stretches() {
    let net = net(2, 1_000_000);
    let routes = Routes::new(&net.plan, |_| true);
    let path = |from, to| {
        let mut path = Vec::new();
        assert!(routes.path(host(&net, from), host(&net, to), &FlowKey::between(0, 1), &mut path));
        path
    };
    assert_eq!(
        domain::inter_domain(&net.plan, &path(0, 3), Default::default()),
        None,
        "leaf to leaf within one domain"
    );
    // Propagation alone: 2 (1 + 2 + 2) us on either side.
    let (short, far_line_rate) = (Span::from_us(10), BitRate::from_gbps(100));
    let expected = InterDomain { near_rtt: short, far_rtt: short, far_line_rate };
    assert_eq!(domain::inter_domain(&net.plan, &path(0, 4), Default::default()), Some(expected));
    assert_eq!(domain::inter_domain(&net.plan, &path(7, 1), Default::default()), Some(expected));
    let gates = (0..net.plan.ports() as u32).filter(|&port| domain::is_long_haul(&net.plan, port));
    assert_eq!(gates.map(|port| net.plan.port_name(port)).collect::<Vec<_>>(), ["dci0->dci1", "dci1->dci0"]);
}

#[test]
fn a_flow_leaves_its_gateway_at_its_own_rate() {
    let mut net = net(1, 10_000_000);
    let gate = port(&net, "dci1->spine1");
    probe(&mut net, ProbeTarget::Shaped { port: gate }, Span::from_us(1));
    probe(&mut net, ProbeTarget::Queue { port: gate, class: 0 }, Span::from_us(1));
    probe(&mut net, ProbeTarget::Flows, Span::from_us(1));
    let mut spec = flow(0, host(&net, 0), host(&net, 4), 5_000_000);
    spec.probed = true;
    let within = flow(1, host(&net, 1), host(&net, 2), 100_000);
    let scheme = shaping(10.0, u64::MAX);
    let world = run(net, &scheme, vec![(Time::ZERO, spec), (Time::ZERO, within)]);
    // 5000 packets of 1126 wire bytes at 10G.
    let cross = world.flows.iter().find(|flow| flow.size_bytes == Some(5_000_000)).unwrap();
    let shaped = 4999.0 * 1126.0 * 8.0 / 10e9;
    let taken = (cross.delivered_at.unwrap() - Time::ZERO).as_s() - 110e-6;
    assert!((taken / shaped - 1.0).abs() < 0.001, "{taken} s");
    // They came in at 100G, so nine tenths of them waited: in the flow's queue, not in the port's.
    let expected = 0.9 * 5000.0 * 1106.0;
    for metric in [Metric::ShapedBytes, Metric::FlowShapedBytes] {
        assert!((longest(&world, metric) / expected - 1.0).abs() < 0.01, "{metric:?} {}", longest(&world, metric));
    }
    assert_eq!(longest(&world, Metric::QueueBytes), 0.0);
    assert_eq!(values(&world, Metric::ShapedBytes).last(), Some(&0.0));
    let seen = &scheme.seen;
    assert!((seen.longest.load(Relaxed) as f64 / expected - 1.0).abs() < 0.01, "the packets tell of it");
    // Every packet's telemetry is read, and every ACK's feedback heard twice on its way.
    let heard = [&seen.telemetry, &seen.gateway, &seen.sender].map(|count| count.load(Relaxed));
    assert_eq!(heard, [5000, 5000, 5000]);
    assert_eq!(world.flows_in_flight(), 0, "every slot is free once its packets are gone");
}

#[test]
fn shaped_bytes_pause_the_long_link() {
    // The gateway takes 200 KB before it pauses, and what the link holds for a round trip.
    let mut net = net(1, 200_000);
    let (long, gate) = (port(&net, "dci1->dci0"), port(&net, "dci1->spine1"));
    probe(&mut net, ProbeTarget::Ingress { port: long, class: 0 }, Span::from_us(1));
    probe(&mut net, ProbeTarget::Shaped { port: gate }, Span::from_us(1));
    let spec = flow(0, host(&net, 0), host(&net, 4), 20_000_000);
    let world = run(net, &shaping(25.0, u64::MAX), vec![(Time::ZERO, spec)]);
    assert_eq!(world.counters.drops_lossless, 0);
    assert!(world.pauses.iter().any(|pause| pause.port == long && pause.pause));
    let most = longest(&world, Metric::IngressBytes);
    assert!((200_000.0..3_000_000.0).contains(&most), "{most}");
    assert_eq!(longest(&world, Metric::ShapedBytes), most, "all of it waits in the flow's queue");
}

#[test]
fn a_paused_egress_keeps_flows_in_their_queues() {
    let mut net = net(1, 40_000_000);
    let gate = port(&net, "dci1->spine1");
    let storm = FaultKind::PauseStorm { host_port: port(&net, "h4->leaf2"), class: 0, on: true };
    let calm = FaultKind::PauseStorm { host_port: port(&net, "h4->leaf2"), class: 0, on: false };
    net.plan.faults = vec![Fault { at: Time::from_us(200), what: storm }, Fault { at: Time::from_us(900), what: calm }];
    probe(&mut net, ProbeTarget::Queue { port: gate, class: 0 }, Span::from_us(1));
    probe(&mut net, ProbeTarget::Paused { port: gate, class: 0 }, Span::from_us(10));
    probe(&mut net, ProbeTarget::Shaped { port: gate }, Span::from_us(1));
    let spec = flow(0, host(&net, 0), host(&net, 4), 10_000_000);
    let world = run(net, &shaping(90.0, u64::MAX), vec![(Time::ZERO, spec)]);
    assert_eq!(longest(&world, Metric::PausedFraction), 1.0, "the storm reached the gateway");
    assert!(longest(&world, Metric::QueueBytes) <= 1106.0);
    // 700 us of 100G, less what the two switches below take before they pause.
    assert!(longest(&world, Metric::ShapedBytes) > 5_000_000.0, "{}", longest(&world, Metric::ShapedBytes));
    assert_eq!(world.counters.flows_completed, 1);
}

#[test]
fn flows_take_turns_at_a_full_egress() {
    // Three flows into one port, each allowed twice its fair share of it. The port is slow until
    // 800 us, so that all of them have a backlog; the first has a head start.
    let mut net = net(1, 40_000_000);
    let gate = port(&net, "dci1->spine1");
    probe(&mut net, ProbeTarget::Queue { port: gate, class: 0 }, Span::from_us(1));
    let rate = |us, gbps| Fault {
        at: Time::from_us(us),
        what: FaultKind::Rate { port: gate, rate: BitRate::from_gbps(gbps) },
    };
    net.plan.faults = vec![rate(350, 20), rate(800, 100)];
    net.plan.run.stop = Time::from_us(1_500);
    net.plan.run.stop_when_idle = false;
    let spec = |i: u32| FlowSpec { probed: true, label: i, ..endless(i, host(&net, i), host(&net, 4 + i)) };
    let flows = (0..3).map(|i| (Time::from_us(if i == 0 { 0 } else { 300 }), spec(i))).collect();
    probe(&mut net, ProbeTarget::Flows, Span::from_us(100));
    let world = run(net, &shaping(66.0, 5_000), flows);
    let queue = longest(&world, Metric::QueueBytes);
    assert!((1_106.0..5_000.0 + 1_106.0).contains(&queue), "{queue} bytes in the egress queue");
    // Equal shares of the port from 900 us on, whoever has how much of a backlog.
    let late = world.samples.iter().filter(|s| s.metric == Metric::FlowThroughput && s.at > Time::from_us(950));
    for sample in late {
        let share = 100e9 / 3.0 * 1000.0 / 1126.0;
        assert!((sample.value / share - 1.0).abs() < 0.01, "flow {} at {}: {}", sample.label, sample.at, sample.value);
    }
    let backlogs = values(&world, Metric::FlowShapedBytes);
    let [first, second, third] = backlogs[backlogs.len() - 3..] else { panic!() };
    assert!(first > 1.5 * second && second > 0.0 && third > 0.0, "{first} {second} {third}");
}

#[test]
fn a_failed_link_takes_what_was_bound_for_it() {
    // Two spines; the link to the one the flow uses fails while megabytes wait for it.
    let mut net = net(2, 40_000_000);
    let links = ["dci1->spine2", "dci1->spine3"].map(|name| port(&net, name) / 2);
    net.plan.faults = vec![
        Fault { at: Time::from_us(400), what: FaultKind::LinkDown { link: links[0] } },
        Fault { at: Time::from_us(800), what: FaultKind::LinkUp { link: links[0] } },
        Fault { at: Time::from_us(900), what: FaultKind::LinkDown { link: links[1] } },
        Fault { at: Time::from_us(1300), what: FaultKind::LinkUp { link: links[1] } },
    ];
    // Flows end before the last copies of what they sent again have left their queues.
    (net.plan.run.stop, net.plan.run.stop_when_idle) = (Time::from_ms(100), false);
    let flows = (0..4).map(|i| (Time::ZERO, flow(i, host(&net, i), host(&net, 4 + i), 3_000_000))).collect();
    let world = run(net, &shaping(8.0, 20_000), flows);
    assert!(world.counters.drops_fault > 0);
    assert_eq!(world.counters.flows_completed, 4);
    assert_eq!(world.flows_in_flight(), 0);
}

/// A connection between domains is stopped with its queue full, and others start after it: they take over its slot when
/// its last packet has left.
#[test]
fn a_flow_may_end_while_its_packets_wait() {
    let mut net = net(1, 40_000_000);
    (net.plan.run.stop, net.plan.run.stop_when_idle) = (Time::from_ms(20), false);
    let gate = port(&net, "dci1->spine1");
    probe(&mut net, ProbeTarget::Shaped { port: gate }, Span::from_us(10));
    let spec = |handle| endless(handle, host(&net, 0), host(&net, 4));
    let ms = Time::from_ms;
    let mut steps = vec![(Time::ZERO, Action::Start(spec(0))), (Time::from_us(300), Action::Stop { handle: 0 })];
    for i in 1..9 {
        let sized = FlowSpec { size_bytes: Some(100_000), ..spec(i) };
        steps.push((ms(2 * u64::from(i)), Action::Start(sized)));
    }
    let scheme = shaping(20.0, 20_000);
    let world = net.run_under(scheme.scheme(), Box::new(Script::new(steps)));
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.check_conservation(), Ok(()));
    assert!(longest(&world, Metric::ShapedBytes) > 1_000_000.0, "the queue was full when the flow ended");
    assert_eq!(values(&world, Metric::ShapedBytes).last(), Some(&0.0));
    assert_eq!((world.counters.flows_completed, world.flows_in_flight()), (9, 0));
}

#[test]
fn a_watchdog_sees_what_stands_in_line_at_a_paused_egress() {
    // Nothing is in the egress queue itself: the gateway keeps all of it in the flow's own.
    let mut net = net(1, 40_000_000);
    (net.plan.run.stop, net.plan.run.stop_when_idle) = (Time::from_ms(60), false);
    let (poll, detect, restore) = (Span::from_us(20), Span::from_us(200), Span::from_us(200));
    net.plan.switches[1].watchdog = Some(Watchdog { poll, detect, restore, action: WatchdogAction::Drop });
    let storm = |on| FaultKind::PauseStorm { host_port: port(&net, "h4->leaf2"), class: 0, on };
    net.plan.faults =
        vec![Fault { at: Time::from_us(200), what: storm(true) }, Fault { at: Time::from_us(900), what: storm(false) }];
    let spec = flow(0, host(&net, 0), host(&net, 4), 10_000_000);
    let world = run(net, &shaping(90.0, u64::MAX), vec![(Time::ZERO, spec)]);
    assert!(world.counters.watchdog_storms > 0);
    assert!(world.counters.drops_fault > 1000, "{}", world.counters.drops_fault);
    assert_eq!((world.counters.flows_completed, world.flows_in_flight()), (1, 0));
}
