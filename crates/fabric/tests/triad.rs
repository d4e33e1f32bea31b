//! Every hook of the triad end to end: telemetry out and back, notices of switches, timers.

use crate::common::*;
use crate::scripted::{QueuePoint, Scripted};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use xoff_engine::{Span, Time};
use xoff_fabric::packet::IntHop;
use xoff_fabric::scheme::*;

#[derive(Default)]
struct Seen {
    acks: AtomicU64,
    hops: AtomicU64,
    feedback: AtomicU64,
    ticks: AtomicU64,
    np_ticks: AtomicU64,
    names: std::sync::Mutex<std::collections::BTreeSet<(u32, u32)>>,
}

struct Cp(Arc<Seen>, u32, Option<Time>);
struct Np(Arc<Seen>, Option<Time>);
struct Rp(Arc<Seen>, f64);

impl QueuePoint for Cp {
    fn hooks(&self) -> Hooks {
        Hooks::ENQUEUE.with(Hooks::DEQUEUE).with(Hooks::TIMER)
    }
    fn on_enqueue(
        &mut self,
        view: &QueueView,
        packet: &PacketFacts,
        weight: u16,
        _: Mark<'_>,
        notify: &mut dyn FnMut(u32, u64),
    ) {
        assert_eq!(weight, 7);
        self.1 += 1;
        self.0.names.lock().unwrap().insert((packet.flow, packet.name));
        self.2.get_or_insert(view.now + Span::from_us(10));
        if self.1.is_multiple_of(10) {
            notify(packet.flow, 42);
        }
    }
    fn on_dequeue(&mut self, view: &QueueView, mark: Mark<'_>) {
        let hop = IntHop { rate: view.rate, at: view.now, tx_bytes: view.tx_bytes, queue_bytes: view.port_bytes };
        mark.int.expect("data packets carry a stack").push(hop);
    }
    fn on_timer(&mut self, _: &QueueView) {
        self.0.ticks.fetch_add(1, Relaxed);
        self.2 = None;
    }
    fn timer(&self) -> Option<Time> {
        self.2
    }
}
impl NotificationPoint for Np {
    type Feedback = u64;
    fn on_data(&mut self, packet: &Received) -> Option<u64> {
        self.1.get_or_insert(packet.now + Span::from_us(5));
        None
    }
    fn on_timer(&mut self, _: Time) -> Option<u64> {
        self.1 = None;
        self.0.np_ticks.fetch_add(1, Relaxed);
        Some(1)
    }
    fn timer(&self) -> Option<Time> {
        self.1
    }
}
impl ReactionPoint for Rp {
    type Feedback = u64;
    fn limits(&self) -> Limits {
        Limits { rate_bps: self.1, window_bytes: u64::MAX }
    }
    fn on_ack(&mut self, ack: &Acked<'_>) {
        let stack = ack.int.expect("the ACK brings the stack back");
        assert!(stack.hops().is_sorted_by_key(|hop| hop.at), "in path order");
        self.0.hops.fetch_add(stack.hops().len() as u64, Relaxed);
        self.0.acks.fetch_add(1, Relaxed);
    }
    fn on_feedback(&mut self, _: Time, feedback: &u64) {
        self.0.feedback.fetch_add(u64::from(*feedback == 42), Relaxed);
    }
}
/// Does a little of everything and remembers what came through.
fn everything(seen: &Arc<Seen>) -> Scripted {
    let of = || seen.clone();
    let (cp, np, rp) = (of(), of(), of());
    Scripted::with(move |of| Rp(rp.clone(), of.line_rate.bps() as f64))
        .cp(move || Cp(cp.clone(), 0, None))
        .np(move |_| Np(np.clone(), None))
        .format(Format { data_bytes: 42, ack_bytes: 42, int: true, ..Format::default() })
}

#[test]
fn telemetry_notices_and_timers_go_all_the_way() {
    // Two senders through two switches to one receiver: two switch hops for every packet.
    let mut net = Net::new();
    let (s0, s1) = (net.switch("s0"), net.switch("s1"));
    let hosts: Vec<u32> = (0..3).map(|i| net.host(&format!("h{i}"))).collect();
    net.link(hosts[0], s0, 100, Span::from_us(1));
    net.link(hosts[1], s0, 100, Span::from_us(1));
    net.link(s0, s1, 100, Span::from_us(1));
    net.link(s1, hosts[2], 100, Span::from_us(1));
    let seen = Arc::new(Seen::default());
    let flows = (0..2)
        .map(|i| {
            let mut spec = flow(i, hosts[i as usize], hosts[2], 200_000);
            spec.weight = 7;
            (Time::ZERO, spec)
        })
        .collect();
    let world = net.run_under(everything(&seen), Script::flows(flows));
    assert!(world.failure.is_none(), "{:?}", world.failure);
    let (acks, hops) = (seen.acks.load(Relaxed), seen.hops.load(Relaxed));
    assert_eq!(acks, 400);
    assert_eq!(hops, 2 * acks, "one record per switch egress");
    // 400 packets at each of two congestion points, every tenth notified; all arrive before the
    // flows are over but the very last.
    let notified = seen.feedback.load(Relaxed);
    assert!((70..=80).contains(&notified), "{notified} of 80 notices");
    // 36 us of traffic: arrivals at s0 last half of that, at s1 all of it; timers of 10 and 5 us.
    let (ticks, np_ticks) = (seen.ticks.load(Relaxed), seen.np_ticks.load(Relaxed));
    assert!((4..=6).contains(&ticks) && (10..=16).contains(&np_ticks), "{ticks} and {np_ticks} ticks");
    assert_eq!(seen.names.lock().unwrap().len(), 2, "a flow has one number and one name at both switches");
    assert_eq!(world.flows_in_flight(), 0, "every slot is free once its packets are gone");
}
