//! Packets of one flow on several paths: chosen by the sender, or by switches.

use crate::common::*;
use crate::scripted::{Scripted, World};
use std::sync::atomic::{AtomicU64, Ordering};
use xoff_engine::{Rng, Span, Time, stream};
use xoff_fabric::forwarding::*;
use xoff_fabric::packet::Ecn;
use xoff_fabric::plan::*;
use xoff_fabric::record::Paths;
use xoff_fabric::scheme::Format;
use xoff_fabric::traffic::FlowSpec;

/// Paths one after the other.
struct RoundRobin;
impl PathChoice for RoundRobin {
    fn pick(&mut self, _: Time, psn: u32, paths: u16) -> u16 {
        (psn % u32::from(paths)) as u16
    }
}

/// Any path.
struct Spray(Rng);
impl PathChoice for Spray {
    fn pick(&mut self, _: Time, _: u32, paths: u16) -> u16 {
        self.0.below(paths.into()) as u16
    }
}

/// The shortest queue; the first of several.
struct LeastQueue;
impl NextHop for LeastQueue {
    fn pick(&mut self, _: &Forwarded, candidates: &[Candidate]) -> usize {
        let queue = |&place: &usize| (candidates[place].paused, candidates[place].queue_bytes);
        (0..candidates.len()).min_by_key(queue).unwrap_or(0)
    }
}

fn round_robin(paths: u16) -> Forwarding {
    Forwarding { paths, choice: PathRule::Own(|_| Box::new(RoundRobin)), next_hop: None }
}

fn least_queue() -> Forwarding {
    Forwarding { next_hop: Some(NextHopRule::Own(|_| Box::new(LeastQueue))), ..Forwarding::default() }
}

const SPINES: u32 = 4;
/// Leaves are nodes 0 and 1, spines 2 to 5, the sender 6, the receiver 7.
const ENDS: (u32, u32) = (6, 7);

/// Two leaves with a host of 100 Gb/s each, and four spines of 25 Gb/s between them.
fn leaves(forwarding: Forwarding) -> Net {
    let mut net = Net::new();
    for name in ["leaf0", "leaf1", "spine0", "spine1", "spine2", "spine3"] {
        net.switch(name);
    }
    let ends = [net.host("h0"), net.host("h1")];
    for leaf in 0..2 {
        for spine in 0..SPINES {
            net.link(leaf, 2 + spine, 25, Span::from_us(1));
        }
    }
    for (leaf, host) in (0..).zip(ends) {
        net.link(host, leaf, 100, Span::from_us(1));
    }
    net.plan.model.forwarding = forwarding;
    net
}

/// Runs 10 MB from one host to the other, receivers taking packets in any order.
fn run(net: Net, parts: usize, specs: Vec<FlowSpec>) -> World {
    let part_of = if parts == 1 { vec![0; 8] } else { vec![0, 1, 0, 0, 1, 1, 0, 1] };
    let scheme = Scripted::rates(&[100; 4]).format(Format { reorder: true, ..Format::default() });
    let flows = Script::flows(specs.into_iter().map(|spec| (Time::ZERO, spec)).collect());
    let mut world = World::in_parts(net.plan, vec![scheme], vec![flows], part_of);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!((world.parts(), world.check_conservation()), (parts, Ok(())));
    assert_eq!(world.counters.delivered_bytes, 10_000_000 * world.flows.len() as u64);
    world
}

fn one_flow() -> Vec<FlowSpec> {
    vec![flow(0, ENDS.0, ENDS.1, 10_000_000)]
}

/// Runs in one part and in two; they may not differ.
fn both(net: impl Fn() -> Net) -> World {
    let [one, two] = [1, 2].map(|parts| run(net(), parts, one_flow()));
    assert_eq!((&one.flows, one.counters), (&two.flows, two.counters));
    one
}

/// Packets that a leaf has sent to the spines.
fn uplinks(world: &mut World) -> Vec<u64> {
    (0..SPINES).map(|spine| world.port_reports()[2 * spine as usize].tx_packets).collect()
}

fn finished_us(world: &World) -> f64 {
    world.flows[0].delivered_at.unwrap().as_us()
}

/// 10,000 packets of 1082 bytes: 3462.4 us by one spine, and as much of that as the busiest one carries.
#[test]
fn a_flow_takes_as_long_as_the_busiest_of_its_paths() {
    let mut times = Vec::new();
    for paths in [1, 4, 16, 64] {
        let mut world = both(|| leaves(round_robin(paths)));
        let sent = uplinks(&mut world);
        assert_eq!(sent.iter().sum::<u64>(), 10_000);
        let busiest = *sent.iter().max().unwrap() as f64;
        let (expected, took) = (busiest * 1082.0 * 8.0 / 25e3, finished_us(&world));
        assert!((expected..expected + 30.0).contains(&took), "{paths} paths: {took} us, {expected} expected");
        let taken = sent.iter().filter(|&&packets| packets > 0).count();
        let Some(record) = world.flows.first() else { panic!("no record") };
        assert_eq!(record.path.iter().count(), taken, "{:?}", record.path);
        assert!(record.path.iter().all(|path| path.len() == 4 && path[0] == 16 && path[3] == 19));
        times.push(took);
    }
    assert_eq!(times.iter().map(|us| us.round()).collect::<Vec<f64>>(), [3467.0, 1736.0, 1303.0, 1086.0]);
}

/// The bounds of a binomial with p = 1/4 that a fair choice leaves once in a million runs.
#[test]
fn switches_that_hash_each_packet_spread_them_evenly() {
    let spray = PathRule::Own(|facts| Box::new(Spray(stream(facts.seed, "spray", facts.flow))));
    let forwarding = Forwarding { paths: u16::MAX, choice: spray, next_hop: Some(NextHopRule::Ecmp) };
    let mut world = both(|| leaves(forwarding));
    let sent = uplinks(&mut world);
    assert!(sent.iter().all(|packets| (2_290..=2_714).contains(packets)), "{sent:?}");
}

/// 10,000 packets of 1082 bytes at 4 x 25 Gb/s: 865.6 us.
#[test]
fn switches_that_choose_the_shortest_queue_use_all_links() {
    let mut world = both(|| leaves(least_queue()));
    let sent = uplinks(&mut world);
    assert!(sent.iter().all(|packets| packets.abs_diff(2_500) <= 2), "{sent:?}");
    assert!((865.6..875.0).contains(&finished_us(&world)), "{}", finished_us(&world));
    let Paths::Many(paths) = &world.flows[0].path else { panic!("{:?}", world.flows[0].path) };
    assert_eq!(paths.len(), 4);
}

#[test]
fn a_pinned_flow_keeps_its_path_where_others_are_spread() {
    for forwarding in [round_robin(64), least_queue()] {
        let path = [16, 4, 13, 19];
        let pinned = FlowSpec { path: Some(path.into()), ..flow(1, ENDS.0, ENDS.1, 10_000_000) };
        let world = run(leaves(forwarding), 2, one_flow().into_iter().chain([pinned]).collect());
        let of = |number: u64| world.flows.iter().find(|flow| flow.number == number).unwrap();
        assert_eq!(of(1).path, Paths::One(Box::new(path)));
        assert!(matches!(of(0).path, Paths::Many(_)));
    }
}

/// A spine is away from 100 to 300 us: what is lost there is sent again after 10 ms, by ways that exist.
#[test]
fn paths_follow_the_links_that_are_up() {
    for forwarding in [round_robin(64), least_queue()] {
        let world = both(|| {
            let mut net = leaves(forwarding);
            let fault = |us, what| Fault { at: Time::from_us(us), what };
            net.plan.faults =
                vec![fault(100, FaultKind::LinkDown { link: 1 }), fault(300, FaultKind::LinkUp { link: 1 })];
            net
        });
        assert!(world.counters.drops_fault > 0 && world.flows[0].packets_retransmitted > 0);
    }
}

static PICKED: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
static ANSWERED: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Counts what it chose, and what came back.
struct Counting;
impl PathChoice for Counting {
    fn pick(&mut self, _: Time, psn: u32, _: u16) -> u16 {
        // 0 0 0 1 1 2
        let path = [0, 0, 0, 1, 1, 2][psn as usize % 6];
        PICKED[path].fetch_add(1, Ordering::Relaxed);
        path as u16
    }
    fn on_ack(&mut self, _: Time, path: u16, ecn: Ecn, rtt: Span) {
        assert!(ecn == Ecn::Ect0 && rtt > Span::from_us(8), "{ecn:?} {rtt:?}");
        ANSWERED[usize::from(path)].fetch_add(1, Ordering::Relaxed);
    }
    fn on_loss(&mut self, _: Time, path: u16) {
        panic!("nothing was lost on path {path}");
    }
}

#[test]
fn a_path_choice_receives_every_ack_by_path() {
    let choice = PathRule::Own(|_| Box::new(Counting));
    let hashed = Forwarding { paths: 3, choice, next_hop: Some(NextHopRule::Ecmp) };
    let mut expected = [0; 3];
    for (ack_path, forwarding) in [
        (AckPath::Ecmp, Forwarding { next_hop: None, ..hashed }),
        (AckPath::Symmetric, Forwarding { next_hop: None, ..hashed }),
        (AckPath::Ecmp, hashed),
    ] {
        for parts in [1, 2] {
            let mut net = leaves(forwarding);
            net.plan.ack_path = ack_path;
            run(net, parts, one_flow());
            // The last packets of each round: 10,000 is 1666 rounds and four more.
            expected = [expected[0] + 5_001, expected[1] + 3_333, expected[2] + 1_666];
            let counts = |of: &[AtomicU64; 3]| [0, 1, 2].map(|path| of[path].load(Ordering::Relaxed));
            assert_eq!(counts(&PICKED), expected);
            assert_eq!(counts(&ANSWERED).iter().sum::<u64>(), expected.iter().sum());
            assert_eq!(counts(&ANSWERED), expected);
        }
    }
}
