//! VOQ switches: virtual output queues, gates, lanes, messages and detours.

use crate::common::*;
use crate::scripted::{Scripted, World};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{Fault, FaultKind, ProbeTarget, Thresholds};
use xoff_fabric::record::Metric;
use xoff_fabric::scheme::*;

/// What the control of a test does.
#[derive(Clone, Default)]
struct Script {
    output_bytes: u64,
    /// This flow is held, from the first time to the second.
    held: Option<(u32, Time, Time)>,
    /// At each of these the held flow moves from one lane to the other.
    toggles: Option<Span>,
    /// A message upstream for every so many packets.
    message_every: u64,
    /// Packets take the ports in turn.
    spray: bool,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    arrived: AtomicU64,
    transferred: AtomicU64,
    messages: AtomicU64,
    sum: AtomicU64,
    detoured: AtomicU64,
}

pub struct Control {
    script: Script,
    held: bool,
    changed: Vec<(u16, u8)>,
    ports: u16,
    next: Option<Time>,
    turn: usize,
}

impl SwitchControl for Control {
    type Message = u64;

    fn output_queue_bytes(&self) -> u64 {
        self.script.output_bytes
    }
    fn on_arrival(&mut self, packet: &Passing, queues: &impl Occupancy, mut send: impl FnMut(u16, u64)) {
        let count = self.script.seen.arrived.fetch_add(1, Relaxed) + 1;
        let voqs: u64 = (0..self.ports).map(|egress| queues.voq_bytes(packet.ingress, egress, packet.class)).sum();
        assert_eq!(voqs, queues.input_bytes(packet.ingress, packet.class), "an input is its virtual output queues");
        assert!(queues.output_bytes(packet.egress, packet.class) <= self.script.output_bytes.saturating_add(1062));
        if self.script.message_every > 0 && count.is_multiple_of(self.script.message_every) {
            send(packet.ingress, count);
        }
    }
    fn on_transfer(&mut self, packet: &Passing, _: &impl Occupancy) {
        self.script.seen.transferred.fetch_add(1, Relaxed);
        assert!(packet.ingress < self.ports && packet.egress < self.ports);
    }
    fn lane(&self, _: u16, _: u8, flow: u32) -> Lane {
        let held = self.held && self.script.held.is_some_and(|(held, ..)| held == flow);
        if held { Lane::Held } else { Lane::Free }
    }
    fn take_changed(&mut self) -> Option<(u16, u8)> {
        self.changed.pop()
    }
    fn gate(&mut self, now: Time, _: u16, _: u8, waiting: Lanes, _: &impl Occupancy) -> Lanes {
        assert_ne!(waiting, Lanes::NONE);
        let closed = self.script.held.is_some_and(|(_, from, to)| (from..to).contains(&now));
        if closed { Lanes::FREE } else { Lanes::BOTH }
    }
    fn detours(&self) -> bool {
        self.script.spray
    }
    fn choose(&mut self, packet: &Passing, candidates: &[u16], _: &impl Occupancy) -> u16 {
        self.turn += 1;
        let port = candidates[self.turn % candidates.len()];
        self.script.seen.detoured.fetch_add(u64::from(port != packet.egress), Relaxed);
        port
    }
    fn on_message(&mut self, _: Time, _: u16, message: &u64) {
        self.script.seen.messages.fetch_add(1, Relaxed);
        self.script.seen.sum.fetch_add(*message, Relaxed);
    }
    fn on_timer(&mut self, now: Time, _: &impl Occupancy) {
        self.held = self.script.toggles.is_none() || !self.held;
        self.changed.extend((0..self.ports).map(|port| (port, 0)));
        self.next = match self.script.toggles {
            Some(span) => Some(now + span).filter(|at| *at < Time::from_us(400)),
            None => self.script.held.map(|(.., to)| to).filter(|to| *to > now),
        };
    }
    fn timer(&self) -> Option<Time> {
        self.next
    }
}

impl Script {
    fn scheme(&self) -> Scripted {
        let script = self.clone();
        Scripted::uncontrolled().switch(move |at| {
            let next = script.held.map(|(_, from, _)| from).or(script.toggles.map(|span| Time::ZERO + span));
            let (script, ports) = (script.clone(), at.ports.len() as u16);
            Control { script, held: false, changed: Vec::new(), ports, next, turn: 0 }
        })
    }
}

/// Two senders into one receiver through one switch; PFC at 50 KB.
fn two_into_one() -> Net {
    let mut net = Net::star(3, 100, Span::from_us(1));
    net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 50_000, xon_bytes: 48_000 };
    net
}

fn run(net: Net, script: &Script, flows: Vec<(Time, xoff_fabric::traffic::FlowSpec)>) -> World {
    let world = net.run_under(script.scheme(), crate::common::Script::flows(flows));
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.check_conservation(), Ok(()));
    world
}

#[test]
fn packets_wait_at_their_inputs_once_the_output_queue_is_full() {
    let script = Script { output_bytes: 20_000, ..Script::default() };
    let mut net = two_into_one();
    let probe = |what| xoff_fabric::plan::Probe {
        what,
        every: Span::from_us(1),
        from: Time::from_us(30),
        until: Time::from_us(300),
    };
    net.plan.probes =
        vec![probe(ProbeTarget::Ingress { port: 3, class: 0 }), probe(ProbeTarget::Queue { port: 1, class: 0 })];
    let flows = (0..2).map(|i| (Time::ZERO, flow(i, i + 2, 1, 2_000_000))).collect();
    let mut world = run(net, &script, flows);
    assert_eq!(script.seen.arrived.load(Relaxed), 4_000);
    assert_eq!(script.seen.transferred.load(Relaxed), 4_000);
    // Round-robin: both get half, and end within a packet or two of each other.
    let end = |i: usize| world.flows[i].delivered_at.expect("both end").ps();
    assert!(end(0).abs_diff(end(1)) < 300_000, "{} and {}", end(0), end(1));
    assert_eq!(world.counters.naks_sent, 0);
    // PFC holds each input at its threshold; the output queue comes on top, outside every account.
    assert!(world.counters.pause_frames > 10);
    let most = |metric| world.samples.iter().filter(|s| s.metric == metric).map(|s| s.value).fold(0.0, f64::max);
    let (input, output) = (most(Metric::IngressBytes), most(Metric::QueueBytes));
    assert!((48_000.0..90_000.0).contains(&input), "{input}");
    assert!((2.0 * 45_000.0 + 19_000.0..2.0 * 90_000.0 + 21_062.0).contains(&output), "{output}");
    let report = &world.port_reports()[1].classes[0];
    assert!(report.queue_bytes_peak as f64 >= output);
}

#[test]
fn without_limits_the_wire_is_as_busy_as_at_any_switch() {
    // An unlimited output queue and open gates: the same link times as without control.
    let flows = || (0..2).map(|i| (Time::ZERO, flow(i, i + 2, 1, 500_000))).collect::<Vec<_>>();
    let plain = two_into_one().run(flows());
    let script = Script { output_bytes: u64::MAX, ..Script::default() };
    let controlled = run(two_into_one(), &script, flows());
    let last = |flows: &[xoff_fabric::record::FlowRecord]| flows.iter().filter_map(|flow| flow.delivered_at).max();
    assert_eq!(last(&plain.flows), last(&controlled.flows));
}

#[test]
fn a_held_lane_blocks_nobody_else_and_opens_on_time() {
    // Flow 1 is held from 20 us to 120 us.
    let (from, to) = (Time::from_us(20), Time::from_us(120));
    let script = Script { output_bytes: 20_000, held: Some((1, from, to)), ..Script::default() };
    let flows = (0..2).map(|i| (Time::ZERO, flow(i, i + 2, 1, 600_000))).collect();
    let world = run(two_into_one(), &script, flows);
    let end = |id: u32| world.flows.iter().find(|flow| flow.id == id).and_then(|flow| flow.delivered_at);
    let (free, held) = (end(0).expect("it ends"), end(1).expect("it ends"));
    // 600 packets take 51.9 us alone. Of the first 18 us half went to the other flow, as did half of
    // what was in the output queue then (1.6 us); the last packet travels 1 us more.
    assert!(free > Time::from_us(63) && free < Time::from_us(65), "{free:?}");
    // The held flow has the wire again at 120 us and needs the other 42.2 us of it.
    assert!(held > Time::from_us(162) && held < Time::from_us(165), "{held:?}");
    assert_eq!(world.counters.naks_sent, 0, "every flow stays in order");
}

#[test]
fn flows_change_lanes_without_overtaking_themselves() {
    // Flow 1 enters and leaves the held lane every 7 us while that lane is open for half the time.
    let script = Script {
        output_bytes: 20_000,
        held: Some((1, Time::from_us(40), Time::from_us(90))),
        toggles: Some(Span::from_us(7)),
        ..Script::default()
    };
    let mut net = two_into_one();
    net.plan.links.push(net.plan.links[0].clone());
    let third = net.host("h3");
    let last = net.plan.links.len() - 1;
    (net.plan.links[last].a, net.plan.links[last].b) = (third, 0);
    let flows = [(0, 2), (1, 3), (2, third)].map(|(i, src)| (Time::ZERO, flow(i, src, 1, 700_000)));
    let world = run(net, &script, flows.to_vec());
    assert_eq!(world.counters.naks_sent, 0);
    assert_eq!(world.counters.data_packets_delivered, 2_100);
}

#[test]
fn messages_cross_one_link_and_die_with_it() {
    // h1 - s1 - s2 - h2: the message upstream of s2 reaches s1; those of s1 go to a host, which does
    // not understand them.
    let net = || {
        let mut net = Net::new();
        let (h1, h2) = (net.host("h1"), net.host("h2"));
        let (s1, s2) = (net.switch("s1"), net.switch("s2"));
        for (a, b) in [(h1, s1), (s1, s2), (s2, h2)] {
            net.link(a, b, 100, Span::from_us(1));
        }
        net
    };
    let script = || Script { output_bytes: u64::MAX, message_every: 9, ..Script::default() };
    let one = script();
    let world = run(net(), &one, vec![(Time::ZERO, flow(0, 0, 1, 1_000_000))]);
    // 1000 packets arrive at each of two switches in turn, and every ninth arrival is a message of
    // one and then of the other.
    assert_eq!(world.counters.neighbour_messages, 222);
    let heard = one.seen.messages.load(Relaxed);
    assert!((105..=117).contains(&heard) && one.seen.sum.load(Relaxed) > 0, "{heard}");
    // A link that fails loses what it carries, and nothing is left over.
    let (two, mut broken) = (script(), net());
    broken.plan.faults = vec![
        Fault { at: Time::from_us(40), what: FaultKind::LinkDown { link: 1 } },
        Fault { at: Time::from_us(60), what: FaultKind::LinkUp { link: 1 } },
    ];
    let world = run(broken, &two, vec![(Time::ZERO, flow(0, 0, 1, 1_000_000))]);
    assert!(world.flows[0].delivered_at.is_some() && world.counters.drops_fault > 0);
}

#[test]
fn sprayed_packets_all_arrive_whatever_fails() {
    // Two leaves, three spines; every packet takes another way, and then a spine fails.
    let mut net = Net::new();
    let leaves = [net.switch("l0"), net.switch("l1")];
    let spines = [net.switch("s0"), net.switch("s1"), net.switch("s2")];
    let hosts: Vec<u32> = (0..4).map(|i| net.host(&format!("h{i}"))).collect();
    for (i, &host) in hosts.iter().enumerate() {
        net.link(host, leaves[i / 2], 100, Span::from_us(1));
    }
    let mut up = Vec::new();
    for leaf in leaves {
        up.extend(spines.map(|spine| net.link(leaf, spine, 100, Span::from_us(1))));
    }
    net.cut(up[0] / 2, Time::from_us(60), Time::from_us(150));
    let script = Script { output_bytes: 20_000, spray: true, ..Script::default() };
    let mut flows = vec![(Time::ZERO, flow(0, hosts[0], hosts[2], 700_000))];
    flows.push((Time::ZERO, flow(1, hosts[1], hosts[3], 700_000)));
    let mut world = run(net, &script, flows);
    assert!(script.seen.detoured.load(Relaxed) > 500);
    assert!(world.flows.iter().all(|flow| flow.delivered_bytes == 700_000 && flow.multipath.detours > 0));
    assert_eq!(world.flows_in_flight(), 0, "no flow outlives its packets");
    let reports = world.port_reports();
    assert!(up[..3].iter().all(|&port| reports[port as usize].tx_packets > 200), "every way is used");
}

#[test]
fn a_pinned_flow_is_never_detoured() {
    let mut net = Net::new();
    let (l0, l1, s0, s1) = (net.switch("l0"), net.switch("l1"), net.switch("s0"), net.switch("s1"));
    let (a, b) = (net.host("a"), net.host("b"));
    let first = net.link(a, l0, 100, Span::from_us(1));
    let (up, _) = (net.link(l0, s0, 100, Span::from_us(1)), net.link(l0, s1, 100, Span::from_us(1)));
    let (down, _) = (net.link(s0, l1, 100, Span::from_us(1)), net.link(s1, l1, 100, Span::from_us(1)));
    let last = net.link(l1, b, 100, Span::from_us(1));
    let script = Script { output_bytes: u64::MAX, spray: true, ..Script::default() };
    let mut spec = flow(0, a, b, 100_000);
    spec.path = Some([first, up, down, last].into());
    let mut world = run(net, &script, vec![(Time::ZERO, spec)]);
    assert_eq!(script.seen.detoured.load(Relaxed), 0);
    assert_eq!(world.flows[0].multipath.detours, 0);
    assert_eq!(world.port_reports()[up as usize].tx_packets, 100);
    assert_eq!(world.counters.naks_sent, 0);
}
