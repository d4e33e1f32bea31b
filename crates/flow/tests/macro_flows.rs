//! Macro-flows: many connections at one rate, worked out by hand.

#[path = "../../fabric/tests/common/mod.rs"]
mod common;

use common::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::*;
use xoff_fabric::scheme::Format;
use xoff_fabric::simulation::Simulation;
use xoff_fabric::traffic::{Action, Edge, FlowSpec, MacroFlow, MacroPart, Pace, Source, Subscription};
use xoff_flow::{FlowWorld, SchemeFacts};

/// Starts macro-flows and sends once over each; notes when each is delivered, by its handle.
struct Rings {
    flows: Vec<MacroFlow>,
    done: Arc<Mutex<BTreeMap<u32, u64>>>,
}

impl Source for Rings {
    fn next(&self) -> Option<Time> {
        (!self.flows.is_empty()).then_some(Time::ZERO)
    }
    fn act(&mut self, _: Time, out: &mut Vec<Action>) {
        for flow in self.flows.drain(..) {
            let handle = flow.spec.handle;
            let bytes = flow.parts.iter().map(|part| part.times * part.chunks * part.chunk_bytes).sum();
            out.push(Action::StartTogether(Box::new(flow)));
            out.push(Action::Send { handle, bytes, message: handle });
        }
    }
    fn subscription(&self) -> Subscription {
        Subscription { drained: false, delivered: true, acknowledged: false }
    }
    fn on_delivered(&mut self, now: Time, handle: u32, _: u32) {
        self.done.lock().unwrap().insert(handle, now.ps());
    }
}

const GIB: u64 = 1 << 30;

/// A ring all-reduce of 1 GiB in two channels, of which this is one.
fn ring(handle: u32, hosts: [u32; 4]) -> MacroFlow {
    let edge =
        |at: usize| Edge { src: hosts[at], dst: hosts[(at + 1) % 4], number: 4 * handle + at as u32, share: 1.0 };
    let part = MacroPart { times: 1, chunks: 6, chunk_bytes: GIB / 2 / 4, slice_bytes: 1 << 20, depth: 4 };
    MacroFlow {
        spec: FlowSpec { offered_bytes: Some(0), ..FlowSpec::new(handle, hosts[0], hosts[1]) },
        edges: (0..4).map(edge).collect(),
        parts: vec![part],
        pace: Pace::Ring,
        overhead: Span::ZERO,
        acknowledged: false,
    }
}

/// Two switches with a link of 400G, and four hosts of 400G at each.
fn two_switches() -> (Net, [u32; 4], [u32; 4]) {
    let mut net = Net::new();
    let switches = ["s0", "s1"].map(|name| net.switch(name));
    net.link(switches[0], switches[1], 400, Span::from_us(1));
    let mut hosts = |switch: usize| {
        [0, 1, 2, 3].map(|host| net.host_at(&format!("h{switch}{host}"), switches[switch], 400, Span::from_us(1)).0)
    };
    let (near, far) = (hosts(0), hosts(1));
    for host in &mut net.plan.hosts {
        (host.mtu_bytes, host.ack_every) = (4096, 1_000_000_000);
    }
    (net, near, far)
}

fn run(net: Net, flows: Vec<MacroFlow>) -> (BTreeMap<u32, u64>, FlowWorld) {
    let done = Arc::default();
    let schemes = vec![SchemeFacts {
        formats: [Format::default(); 2],
        first_limits: Box::new(|_| None),
        keeps_initial_rate: true,
    }];
    let mut world = FlowWorld::new(net.plan, schemes, vec![Box::new(Rings { flows, done: Arc::clone(&done) })]);
    world.run_to_end();
    assert_eq!((world.check_conservation(), world.failure.clone()), (Ok(()), None));
    let done = done.lock().unwrap().clone();
    (done, world)
}

/// Milliseconds of 2 (4 - 1) / 4 of half a GiB, as packets of 4,178 bytes for 4,096.
fn ms_at(gbps: u64) -> f64 {
    (GIB as f64 * 3.0 / 4.0 * 4178.0 / 4096.0) * 8.0 / gbps as f64 / 1e6
}

#[test]
fn rings_that_collide_share_the_link_and_slow_down_as_wholes() {
    // One edge of each ring goes to the other switch: 200G each, everywhere.
    let (net, near, far) = two_switches();
    let rings = [0usize, 1].map(|k| ring(k as u32, [near[2 * k], near[2 * k + 1], far[2 * k], far[2 * k + 1]]));
    let (done, world) = run(net, rings.to_vec());
    assert!((ms_at(200) - 32.86).abs() < 0.005, "821.4 MB at 200G: {}", ms_at(200));
    for (ring, ps) in &done {
        let ms = *ps as f64 / 1e9;
        assert!((ms - ms_at(200)).abs() < 0.025, "ring {ring}: {ms} ms, not {}", ms_at(200));
    }
    assert_eq!(world.macro_flow_bytes(), world.counters.delivered_bytes);
    assert_eq!(world.macro_flow_bytes(), 8 * 6 * (GIB / 8), "eight connections, six chunks each");
    assert_eq!(world.counters.flows_started, 8);
}

#[test]
fn a_ring_that_collides_with_itself_slows_nobody_else() {
    let (net, near, far) = two_switches();
    let twice = ring(0, [near[0], far[0], near[1], far[1]]);
    let local = ring(1, [near[2], near[3], near[2], near[3]]);
    let (done, _) = run(net, vec![twice, local.clone()]);
    let ms = |ring: u32| done[&ring] as f64 / 1e9;
    assert!((ms(0) - ms_at(200)).abs() < 0.025, "twice over one link: {} ms", ms(0));
    // Two edges of this one leave each of two hosts: half the rate there too.
    assert!((ms(1) - ms_at(200)).abs() < 0.025, "{} ms", ms(1));
    let (net, near, _) = two_switches();
    let (done, _) = run(net, vec![ring(0, near)]);
    let alone = done[&0] as f64 / 1e9;
    assert!((alone - ms_at(400)).abs() < 0.025, "alone: {alone} ms, not {}", ms_at(400));
}

#[test]
fn a_slower_link_counts_from_the_fault_on() {
    let (mut net, near, _) = two_switches();
    let at = Time::from_ms(4);
    // The port of the first host halves its rate.
    let port = (0..net.plan.ports() as u32).find(|&port| net.plan.node_of(port) == near[0]).unwrap();
    let what = FaultKind::Rate { port, rate: BitRate::from_gbps(200) };
    net.plan.faults.push(Fault { at, what });
    let (done, _) = run(net, vec![ring(0, near)]);
    let expected = 4.0 + (ms_at(400) - 4.0) * 2.0;
    let ms = done[&0] as f64 / 1e9;
    assert!((ms - expected).abs() < 0.05, "{ms} ms, not {expected}");
}

#[test]
fn a_cut_macro_flow_waits_until_the_link_is_back() {
    let (mut net, near, far) = two_switches();
    for (ms, what) in [(5, FaultKind::LinkDown { link: 0 }), (9, FaultKind::LinkUp { link: 0 })] {
        net.plan.faults.push(Fault { at: Time::from_ms(ms), what });
    }
    let (done, _) = run(net, vec![ring(0, [near[0], near[1], far[0], far[1]])]);
    let (ms, expected) = (done[&0] as f64 / 1e9, ms_at(400) + 4.0);
    assert!((ms - expected).abs() < 0.05, "{ms} ms, not {expected}");
}

#[test]
fn macro_flows_share_with_flows() {
    // A flow without end over the same link: half for each.
    struct Both(Rings, bool);
    impl Source for Both {
        fn next(&self) -> Option<Time> {
            self.0.next()
        }
        fn act(&mut self, now: Time, out: &mut Vec<Action>) {
            if !std::mem::replace(&mut self.1, true) {
                let (near, far) = (self.0.flows[0].edges[1].src, self.0.flows[0].edges[1].dst);
                out.push(Action::Start(FlowSpec::new(7, near + 1, far + 1)));
            }
            self.0.act(now, out);
        }
        fn subscription(&self) -> Subscription {
            self.0.subscription()
        }
        fn on_delivered(&mut self, now: Time, handle: u32, message: u32) {
            self.0.on_delivered(now, handle, message);
        }
    }
    let (mut net, near, far) = two_switches();
    net.plan.run.stop = Time::from_ms(60);
    let done: Arc<Mutex<BTreeMap<u32, u64>>> = Arc::default();
    let rings = Rings { flows: vec![ring(0, [near[0], near[1], far[0], far[1]])], done: Arc::clone(&done) };
    let schemes = vec![SchemeFacts {
        formats: [Format::default(); 2],
        first_limits: Box::new(|_| None),
        keeps_initial_rate: true,
    }];
    let mut world = FlowWorld::new(net.plan, schemes, vec![Box::new(Both(rings, false))]);
    world.run_to_end();
    assert_eq!(world.check_conservation(), Ok(()));
    let ms = done.lock().unwrap()[&0] as f64 / 1e9;
    assert!((ms - ms_at(200)).abs() < 0.05, "{ms} ms, not {}", ms_at(200));
    // Its record is the only one.
    assert_eq!(world.flows.len(), 1);
}
