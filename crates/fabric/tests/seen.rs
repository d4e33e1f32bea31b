//! What is seen of a run does not depend on who looks, and no port is seen to send faster than its link.

use crate::common::*;
use crate::scripted::{Scripted, World};
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::activity::PortWindow;
use xoff_fabric::plan::*;

/// Two hosts and one flow of 100 KB with nothing periodic, in one part or with a switch each in two.
fn idle_run(probe: Option<Span>, stop_when_idle: bool, parts: bool) -> World {
    let mut net = Net::new();
    let (a, b) = (net.switch("s0"), net.switch("s1"));
    let (src, dst) = (net.host("h0"), net.host("h1"));
    net.link(src, a, 100, Span::from_us(1));
    net.link(a, b, 100, Span::from_us(1));
    net.link(b, dst, 100, Span::from_us(1));
    let run = &mut net.plan.run;
    (run.stop, run.stop_when_idle) = (Time::from_ms(1), stop_when_idle);
    (run.deadlock_check, run.stall_after) = (None, None);
    net.plan.hosts[0].retransmit_timeout = Span::from_us(50);
    net.plan.probes = probe
        .map(|every| Probe {
            what: ProbeTarget::Queue { port: 3, class: 0 },
            every,
            from: Time::ZERO,
            until: Time::NEVER,
        })
        .into_iter()
        .collect();
    let flows = vec![Script::flows(vec![(Time::ZERO, flow(0, src, dst, 100_000))])];
    let mut world = match parts {
        true => World::in_parts(net.plan, vec![Scripted::uncontrolled()], flows, vec![0, 1, 0, 1]),
        false => World::new(net.plan, vec![Scripted::uncontrolled()], flows),
    };
    world.run_to_end();
    world
}

#[test]
fn a_run_that_does_not_stop_when_idle_goes_on_to_its_stop() {
    for parts in [false, true] {
        for probe in [None, Some(Span::from_us(7)), Some(Span::from_us(300))] {
            let world = idle_run(probe, false, parts);
            assert_eq!((world.now, &world.failure), (Time::from_ms(1), &None), "{probe:?}");
            let mut stopped = idle_run(probe, true, parts);
            assert!(stopped.now < Time::from_us(50), "{probe:?}: {:?}", stopped.now);
            assert_eq!(stopped.port_reports()[0].tx_wire_bytes, 108_200);
        }
    }
}

fn rate_fault(at: Time, port: u32, rate: u64) -> Fault {
    Fault { at, what: FaultKind::Rate { port, rate: BitRate::from_bps(rate) } }
}

/// A port of 1 Gb/s that sends 9 KB frames and becomes one of 100 Gb/s, or the reverse, amid a frame.
#[test]
fn what_is_left_of_a_frame_is_counted_at_the_rate_it_is_sent_with() {
    for (first, then) in [(GBPS, 100 * GBPS), (100 * GBPS, GBPS)] {
        let mut net = Net::star(2, 100, Span::from_us(1));
        net.plan.hosts[0].mtu_bytes = 9_000;
        net.plan.links[0].a_to_b.rate = BitRate::from_bps(first);
        // The first frame takes 72.656 us at 1 Gb/s and 0.72656 us at 100 Gb/s.
        let changes: &[u64] = if first == GBPS { &[20_300, 41_000] } else { &[300] };
        let rate = |place: usize| if place.is_multiple_of(2) { then } else { first };
        net.plan.faults =
            changes.iter().enumerate().map(|(place, &ns)| rate_fault(Time::from_ns(ns), 0, rate(place))).collect();
        net.plan.run.stop = Time::from_us(60);
        let mut world = World::new(
            net.plan,
            vec![Scripted::uncontrolled()],
            vec![Script::flows(vec![(Time::ZERO, endless(0, 1, 2))])],
        );
        world.watch_activity();
        world.run_to_end();
        let activity = world.take_activity().unwrap();
        let windows: Vec<PortWindow> = activity.ports.iter().filter(|row| row.port == 0).collect();
        assert_eq!(activity.every, Span::from_us(1));
        let sum: u64 = windows.iter().map(|row| row.tx_bytes).sum();
        assert_eq!(sum, world.port_reports()[0].tx_wire_bytes);
        if first == GBPS {
            // Amid the first frame to the end: 125 B in each microsecond.
            assert_eq!((windows.len(), sum), (60, 7_500));
        } else {
            // 300 ns and the rest of the first frame at 100 Gb/s, then a frame at 1 Gb/s.
            let expected = 9_082.0 + (60_000.0 - 726.56) / 8.0;
            assert!((sum as f64 - expected).abs() <= 1.0, "{sum} for {expected}");
            assert_eq!(windows.len(), 60);
        }
        let most = |row: &PortWindow| row.tx_bytes <= if row.window == 0 { 12_500 } else { 126 };
        assert!(windows.iter().all(most), "{windows:?}");
    }
}

#[test]
fn a_probe_sees_no_port_faster_than_its_link() {
    let mut net = Net::star(2, 1, Span::from_us(1));
    net.plan.hosts[0].mtu_bytes = 9_000;
    net.plan.run.stop = Time::from_ms(3);
    let (from, until) = (Time::from_us(100), Time::NEVER);
    net.plan.probes = vec![Probe { what: ProbeTarget::Throughput { port: 0 }, every: Span::from_us(50), from, until }];
    let world = net.run(vec![(Time::ZERO, endless(0, 1, 2))]);
    let values: Vec<f64> = world.samples.iter().map(|sample| sample.value).collect();
    assert_eq!(values.len(), 59);
    assert!(values.iter().all(|bps| (bps - 1e9).abs() < 1.0), "{values:?}");
}
