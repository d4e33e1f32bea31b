//! Selective recovery in networks: IRN, selective acknowledgements, packet trimming, packets on several paths.

use crate::common::*;
use crate::scripted::{Scripted, World};
use xoff_engine::{Span, Time};
use xoff_fabric::forwarding::PathChoice;
use xoff_fabric::plan::*;
use xoff_fabric::scheme::{Format, Limits};
use xoff_fabric::traffic::FlowSpec;

const IRN: Recovery = Recovery::Irn(Irn::PAPER);

/// A lossy class for data, and hosts that recover so.
fn set_up(net: &mut Net, recovery: Recovery) {
    for class in &mut net.plan.classes.list {
        class.lossless = false;
    }
    net.plan.hosts[0].recovery = recovery;
}

/// Loses everything on the first link between two instants.
fn with_loss(recovery: Recovery, from: Time, until: Time) -> World {
    let mut net = Net::star(2, 100, Span::from_us(1));
    set_up(&mut net, recovery);
    net.plan.faults = vec![
        Fault { at: from, what: FaultKind::Loss { port: 0, loss: 1.0 } },
        Fault { at: until, what: FaultKind::Loss { port: 0, loss: 0.0 } },
    ];
    net.run(vec![(Time::ZERO, flow(0, 1, 2, 200_000))])
}

/// When packet `k` reaches the switch: 1 us + (k + 1) * 86.56 ns.
fn arrival(k: u64) -> Time {
    Time::from_ps(1_000_000 + (k + 1) * 86_560)
}

#[test]
fn one_lost_packet_is_resent_alone() {
    let world = with_loss(IRN, arrival(30), Time::from_ps(arrival(30).ps() + 1));
    let (record, counters) = (&world.flows[0], &world.counters);
    assert_eq!((counters.drops_fault, counters.timeouts, counters.data_packets_discarded), (1, 0, 1));
    assert_eq!((record.packets_sent, record.packets_retransmitted, record.recovery.duplicates), (201, 1, 0));
    // A round trip of 4.17 us and a packet hold what is sent meanwhile.
    assert_eq!(record.recovery.naks, record.recovery.held_packets_max);
    assert!((45..=52).contains(&record.recovery.naks), "{record:?}");
    // The next packet shows it: a round trip and a packet after the lost one left, it leaves again (paths.md 3.8).
    let round_trip = Span::from_ps(4_000_000 + 2 * 86_560 + 2 * 7_200);
    let late = record.delivered_at.unwrap() - (Time::ZERO + record.ideal);
    // The cap is one round trip, so that the line is idle for a packet at most.
    assert!(late < round_trip + Span::from_ps(86_560), "{late:?}");
}

#[test]
fn a_lost_tail_waits_for_the_short_timeout() {
    let world = with_loss(IRN, arrival(199), Time::from_us(30));
    let record = &world.flows[0];
    assert_eq!((record.packets_retransmitted, record.recovery.timeouts), (1, 1));
    let at = record.delivered_at.unwrap();
    assert!((Time::from_us(119)..Time::from_us(125)).contains(&at), "{at:?}");
}

#[test]
fn the_cap_limits_a_flow_to_its_window_per_round_trip() {
    // Twenty packets per round trip of 4.2 us are half of the line.
    let mut net = Net::star(2, 100, Span::from_us(1));
    set_up(&mut net, Recovery::Irn(Irn { window_bytes: Some(20_000), ..Irn::PAPER }));
    net.plan.run.stop = Time::from_ms(2);
    let world = net.run(vec![(Time::ZERO, endless(0, 1, 2))]);
    let rtt_us = 4.0 + 2.0 * (1082.0 + 86.0) * 80e-6;
    let rate = world.counters.data_packets_delivered as f64 / 2000.0 * rtt_us;
    assert!((rate / 20.0 - 1.0).abs() < 0.01, "{rate} packets per round trip");
    assert_eq!(world.counters.naks_sent + world.counters.data_packets_retransmitted, 0);
}

/// Eight hosts at two switches that lose one frame in a hundred, in one part and in two.
fn lossy(recovery: Recovery, format: Format, window_bytes: u64, parts: usize) -> World {
    let mut net = Net::new();
    let switches = [net.switch("s0"), net.switch("s1")];
    let link = net.link(switches[0], switches[1], 100, Span::from_us(1));
    let hosts: Vec<u32> =
        (0..8).map(|i| net.host_at(&format!("h{i}"), switches[i % 2], 25, Span::from_us(1)).0).collect();
    set_up(&mut net, recovery);
    net.plan.hosts[0].retransmit_timeout = Span::from_us(200);
    let trunk = &mut net.plan.links[link as usize];
    (trunk.a_to_b.loss, trunk.b_to_a.loss) = (0.01, 0.01);
    net.plan.run.stall_after = None;
    let specs: Vec<(Time, FlowSpec)> = (0..8)
        .map(|i| (Time::from_us(i), flow(i as u32, hosts[i as usize], hosts[(i as usize + 1) % 8], 900_000)))
        .collect();
    let part_of = net.plan.nodes.iter().map(|node| u16::from(parts == 2 && node.name.ends_with(['1', '3', '5', '7'])));
    let part_of = part_of.collect();
    let scheme = Scripted::limits(vec![Limits { rate_bps: 25e9, window_bytes }; 8]).format(format);
    let mut world = World::in_parts(net.plan, vec![scheme], vec![Script::flows(specs)], part_of);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!((world.parts(), world.check_conservation()), (parts, Ok(())));
    assert_eq!(world.counters.delivered_bytes, 8 * 900_000);
    world
}

const REWIND: Recovery = Recovery::IrnRewind(Irn::PAPER);
const SACK: Recovery = Recovery::Sack(Sack::UEC);

#[test]
fn random_losses_are_resent_the_same_in_any_number_of_parts() {
    let int = Format { int: true, data_bytes: 42, ack_bytes: 42, ..Format::default() };
    for recovery in [IRN, REWIND, SACK] {
        for (format, window_bytes) in [(Format::default(), u64::MAX), (int, 40_000), (Format::default(), 1)] {
            let [one, two] = [1, 2].map(|parts| lossy(recovery, format, window_bytes, parts));
            assert_eq!((&one.flows, one.counters), (&two.flows, two.counters));
            // Each copy that was lost, or came too late, was sent again.
            assert_eq!(one.counters.data_packets_discarded, one.counters.data_packets_retransmitted);
            let naks: u32 = one.flows.iter().map(|flow| flow.recovery.naks).sum();
            assert_eq!(u64::from(naks), one.counters.naks_sent);
            assert_eq!(naks > 0, recovery != SACK && window_bytes > 1, "{recovery:?} {window_bytes}");
        }
    }
}

/// Seven hosts send 300 kB each to the eighth, whose queue holds 60 kB. Three of them are at another switch.
fn incast(trim_bytes: Option<u16>, parts: usize) -> World {
    let bound = |class: &mut Class| class.queue_limit_bytes = Some(60_000);
    incast_with(trim_bytes, parts, 60_000, bound)
}

/// Such an incast with another window, and another bound of the queue.
fn incast_with(trim_bytes: Option<u16>, parts: usize, window_bytes: u64, bound: impl Fn(&mut Class)) -> World {
    let mut net = Net::new();
    let switches = [net.switch("s0"), net.switch("s1")];
    net.link(switches[0], switches[1], 400, Span::from_us(1));
    let host = |i: usize| net.host_at(&format!("h{i}"), switches[i / 5], 100, Span::from_us(1)).0;
    let hosts: Vec<u32> = (0..8).map(host).collect();
    set_up(&mut net, SACK);
    net.plan.hosts[0].retransmit_timeout = Span::from_us(300);
    net.plan.switches[0].trim_bytes = trim_bytes;
    let control = usize::from(net.plan.classes.control);
    for (number, class) in net.plan.classes.list.iter_mut().enumerate() {
        if number != control {
            bound(class);
        }
    }
    let specs = (1..8).map(|i| (Time::from_ns(i * 37), flow(i as u32, hosts[i as usize], hosts[0], 300_000))).collect();
    let far = |name: &str| ["s1", "h5", "h6", "h7"].contains(&name);
    let part_of = net.plan.nodes.iter().map(|node| u16::from(parts == 2 && far(&node.name))).collect();
    let scheme = Scripted::limits(vec![Limits { rate_bps: 100e9, window_bytes }; 7]);
    let mut world = World::in_parts(net.plan, vec![scheme], vec![Script::flows(specs)], part_of);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!((world.parts(), world.check_conservation()), (parts, Ok(())));
    assert_eq!(world.counters.delivered_bytes, 7 * 300_000);
    world
}

#[test]
fn a_trimmed_packet_is_resent_without_a_timer() {
    let [one, two] = [1, 2].map(|parts| incast(Some(64), parts));
    assert_eq!((&one.flows, one.counters), (&two.flows, two.counters));
    let of = one.counters;
    assert!(of.packets_trimmed > 100, "{of:?}");
    assert_eq!((of.drops_lossy, of.timeouts, of.drops_fault), (0, 0, 0));
    // Every trimmed packet has a NACK, every NACK a resend, and nothing is sent twice without need.
    let sum = |count: fn(&xoff_fabric::record::RecoveryRecord) -> u32| -> u64 {
        one.flows.iter().map(|flow| u64::from(count(&flow.recovery))).sum()
    };
    let counted = [of.naks_sent, sum(|of| of.trimmed), sum(|of| of.naks), of.data_packets_retransmitted];
    assert_eq!(counted, [of.packets_trimmed; 4]);
    assert_eq!(sum(|of| of.duplicates), 0);
    // The line of the receiver is busy to the end: all packets, all headers of trimmed ones, and two round trips.
    let last = one.flows.iter().filter_map(|flow| flow.delivered_at).max().unwrap();
    let wire_bytes = 2100 * 1082 + of.packets_trimmed * 84;
    assert!(last < Time::from_ps(wire_bytes * 80) + Span::from_us(15), "{last:?}, {} trimmed", of.packets_trimmed);
    // Without trimming, timers find the losses.
    let dropped = incast(None, 1);
    assert!(dropped.counters.drops_lossy > 100 && dropped.counters.timeouts > 0);
    assert!(dropped.flows.iter().filter_map(|flow| flow.delivered_at).max().unwrap() > Time::from_us(300));
}

/// Every packet in flight has a timer: what they cost does not grow with what is in flight.
#[test]
fn a_flow_without_a_window_recovers_from_a_short_queue() {
    let [one, two] =
        [1, 2].map(|parts| incast_with(None, parts, u64::MAX, |class| class.queue_limit_bytes = Some(20_000)));
    assert_eq!((&one.flows, one.counters), (&two.flows, two.counters));
    assert!(one.counters.drops_lossy > 1000 && one.counters.timeouts > 0, "{:?}", one.counters);
}

#[test]
fn queues_are_bounded_by_the_time_their_port_takes() {
    // 4.8 us at 100 Gb/s are 60 kB.
    let [bytes, time] = [false, true].map(|by_time| {
        incast_with(Some(64), 1, 60_000, |class| match by_time {
            true => class.queue_time = Some(Span::from_ns(4800)),
            false => class.queue_limit_bytes = Some(60_000),
        })
    });
    assert_eq!((&bytes.flows, bytes.counters), (&time.flows, time.counters));
    assert!(bytes.counters.packets_trimmed > 100);
}

/// Paths one after the other.
struct RoundRobin;
impl PathChoice for RoundRobin {
    fn pick(&mut self, _: Time, psn: u32, paths: u16) -> u16 {
        (psn % u32::from(paths)) as u16
    }
}

/// One flow of 10 MB over four spines, of which one is 2 us farther away.
fn sprayed(recovery: Recovery) -> World {
    let mut net = Net::new();
    for name in ["leaf0", "leaf1", "spine0", "spine1", "spine2", "spine3"] {
        net.switch(name);
    }
    let ends = [net.host("h0"), net.host("h1")];
    for leaf in 0..2 {
        for spine in 0..4 {
            net.link(leaf, 2 + spine, 100, Span::from_us(if spine == 3 { 2 } else { 1 }));
        }
    }
    for (leaf, host) in (0..).zip(ends) {
        net.link(host, leaf, 100, Span::from_us(1));
    }
    set_up(&mut net, recovery);
    net.plan.model.forwarding =
        Forwarding { paths: 64, choice: PathRule::Own(|_| Box::new(RoundRobin)), ..Forwarding::default() };
    net.run(vec![(Time::ZERO, flow(0, ends[0], ends[1], 10_000_000))])
}

#[test]
fn spraying_resends_nothing_with_selective_acknowledgements() {
    let sack = sprayed(SACK);
    let record = &sack.flows[0];
    assert_eq!((record.packets_retransmitted, record.recovery.duplicates, record.recovery.timeouts), (0, 0, 0));
    // What 2 us hold of packets of 86.56 ns, and the one that comes last.
    let most = (2_000_000u32).div_ceil(86_560) + 1;
    assert!((10..=most).contains(&record.recovery.held_packets_max), "{record:?}");
    // IRN takes what is late for lost.
    let irn = sprayed(IRN);
    assert!(irn.flows[0].packets_retransmitted > 500, "{:?}", irn.flows[0]);
    assert!(irn.flows[0].recovery.duplicates > 500);
}
