//! Packets of one flow on several paths: chosen by the sender, or by switches.

use crate::common::*;
use crate::scripted::{Scripted, World};
use std::sync::atomic::{AtomicU64, Ordering};
use xoff_engine::{Rng, Span, Time, stream};
use xoff_fabric::forwarding::*;
use xoff_fabric::packet::Ecn;
use xoff_fabric::plan::*;
use xoff_fabric::record::Paths;
use xoff_fabric::scheme::{Format, Limits};
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
    Forwarding { paths, choice: PathRule::Own(|_| Box::new(RoundRobin)), ..Forwarding::default() }
}

fn least_queue() -> Forwarding {
    Forwarding { next_hop: Some(NextHopRule::Own(|_| Box::new(LeastQueue))), ..Forwarding::default() }
}

const SPINES: u32 = 4;
/// Leaves are nodes 0 and 1, spines 2 to 5, the sender 6, the receiver 7.
const ENDS: (u32, u32) = (6, 7);

/// Two leaves with a host of 100 Gb/s each, and four spines of 25 Gb/s between them.
pub fn leaves(forwarding: Forwarding) -> Net {
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
pub fn run(net: Net, parts: usize, specs: Vec<FlowSpec>) -> World {
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

pub fn one_flow() -> Vec<FlowSpec> {
    vec![flow(0, ENDS.0, ENDS.1, 10_000_000)]
}

/// Runs in one part and in two; they may not differ.
fn both(net: impl Fn() -> Net) -> World {
    let [one, two] = [1, 2].map(|parts| run(net(), parts, one_flow()));
    assert_eq!((&one.flows, one.counters), (&two.flows, two.counters));
    one
}

/// Packets that a leaf has sent to the spines.
pub fn uplinks(world: &mut World) -> Vec<u64> {
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
    let forwarding =
        Forwarding { paths: u16::MAX, choice: spray, next_hop: Some(NextHopRule::Ecmp), ..Forwarding::default() };
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
    fn on_loss(&mut self, _: Time, path: u16, _: Loss) {
        panic!("nothing was lost on path {path}");
    }
}

#[test]
fn a_path_choice_receives_every_ack_by_path() {
    let choice = PathRule::Own(|_| Box::new(Counting));
    let hashed = Forwarding { paths: 3, choice, next_hop: Some(NextHopRule::Ecmp), ..Forwarding::default() };
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

fn by_switches(rule: NextHopRule) -> Forwarding {
    Forwarding { next_hop: Some(rule), ..Forwarding::default() }
}

fn by_sender(choice: PathRule, paths: u16, path_map: PathMap) -> Forwarding {
    Forwarding { paths, path_map, choice, ..Forwarding::default() }
}

const ADAPTIVE: AdaptiveSettings =
    AdaptiveSettings { quantum_bytes: 0, skip_paused: true, tie: Tie::Random, flowlet_gap: None };

/// The bounds of a binomial with p = 1/4 that a fair choice leaves once in a million runs.
#[test]
fn paths_8_1_spraying_at_a_switch_is_binomial() {
    let mut world = both(|| leaves(by_switches(NextHopRule::Spray)));
    let sent = uplinks(&mut world);
    assert!(sent.iter().all(|packets| (2_290..=2_714).contains(packets)), "{sent:?}");
    let spread = world.flows[0].multipath.spread.expect("several paths");
    assert_eq!(spread.paths_used, 4);
    assert!(spread.order.reordered > 0 && spread.order.extent_most > 0, "{spread:?}");
    // Nothing is lost, so every packet that comes early fills no gap twice.
    assert_eq!((world.flows[0].recovery.duplicates, world.flows[0].packets_retransmitted), (0, 0));
}

#[test]
fn paths_8_2_rounds_over_paths_are_even_to_a_packet() {
    let mut world = both(|| leaves(by_sender(PathRule::Oblivious, 4, PathMap::Path)));
    assert_eq!(uplinks(&mut world), [2_500; 4]);
    // Sixteen numbers of four paths, and hashes that put them where they like.
    let mut hashed = both(|| leaves(by_sender(PathRule::Oblivious, 16, PathMap::Hash)));
    let sent = uplinks(&mut hashed);
    assert!(sent.iter().all(|packets| packets % 625 < 2), "{sent:?}: each number 625 times");
}

/// Packets that each spine gets of one flow in a run with this seed.
fn shares(forwarding: Forwarding, seed: u64, packets: u64) -> Vec<u64> {
    let mut net = leaves(forwarding);
    net.plan.seed = seed;
    let scheme = Scripted::rates(&[100]).format(Format { reorder: true, ..Format::default() });
    let flows = Script::flows(vec![(Time::ZERO, flow(0, ENDS.0, ENDS.1, packets * 1_000))]);
    let mut world = World::new(net.plan, vec![scheme], vec![flows]);
    world.run_to_end();
    let sent = uplinks(&mut world);
    assert_eq!(sent.iter().sum::<u64>(), packets);
    sent
}

/// Chi-square of four shares has three degrees of freedom: over 1,000 seeds a tenth of its values lies between two
/// deciles. (33.7: what ten equal shares of 1,000 exceed once in 10,000 times.)
#[test]
fn paths_8_1_sprayed_shares_vary_over_seeds_as_chance_has_it() {
    const DECILES: [f64; 9] = [0.5844, 1.0052, 1.4237, 1.8692, 2.3660, 2.9462, 3.6649, 4.6416, 6.2514];
    const PACKETS: u64 = 400;
    for spray in [by_switches(NextHopRule::Spray), by_sender(PathRule::Spray, 4, PathMap::Path)] {
        let mut tenths = [0_u32; 10];
        for seed in 1..=1_000 {
            let mean = PACKETS as f64 / f64::from(SPINES);
            let square = |&sent: &u64| (sent as f64 - mean).powi(2) / mean;
            let chi_square: f64 = shares(spray, seed, PACKETS).iter().map(square).sum();
            tenths[DECILES.iter().filter(|&&decile| chi_square > decile).count()] += 1;
        }
        let uneven: f64 = tenths.iter().map(|&count| (f64::from(count) - 100.0).powi(2) / 100.0).sum();
        assert!(uneven < 33.7, "{tenths:?}: {uneven}");
    }
}

/// A round over hashed numbers loads the fullest of four links as balls in bins do: 1.263 times the mean by 64 numbers,
/// 1.185 times by 128.
#[test]
fn paths_8_2_a_round_over_hashed_numbers_is_not_even() {
    for (numbers, expected) in [(64, 1.263), (128, 1.185)] {
        const RUNS: u64 = 600;
        let hashed = by_sender(PathRule::Oblivious, numbers, PathMap::Hash);
        let largest = (1..=RUNS).map(|seed| *shares(hashed, seed, u64::from(numbers)).iter().max().unwrap());
        let ratio = largest.sum::<u64>() as f64 * f64::from(SPINES) / (RUNS * u64::from(numbers)) as f64;
        assert!((ratio - expected).abs() < 0.02, "{numbers} numbers: {ratio}, {expected} expected");
    }
}

/// Four spines, one at half rate: equal shares wait for the slowest, 4 x 12.5 Gb/s; by queues it is 87.5 Gb/s.
#[test]
fn paths_8_4_equal_shares_wait_for_the_slowest_link() {
    let slow = |forwarding| {
        let mut net = leaves(forwarding);
        let rate = xoff_engine::BitRate::from_mbps(12_500);
        for link in [0, SPINES as usize] {
            (net.plan.links[link].a_to_b.rate, net.plan.links[link].b_to_a.rate) = (rate, rate);
        }
        net
    };
    let wire_us = 10_000.0 * 1082.0 * 8.0 / 1e3;
    for (forwarding, gbps) in
        [(by_sender(PathRule::Oblivious, 4, PathMap::Path), 50.0), (by_switches(NextHopRule::Adaptive(ADAPTIVE)), 87.5)]
    {
        let world = both(|| slow(forwarding));
        let took = finished_us(&world);
        let expected = wire_us / gbps;
        assert!((expected..expected * 1.03 + 10.0).contains(&took), "{forwarding:?}: {took} us, {expected} expected");
        // The ideal time counts all paths together.
        assert!((world.flows[0].ideal.as_us() - wire_us / 87.5).abs() < 10.0, "{}", world.flows[0].ideal);
    }
}

#[test]
fn every_rule_of_switches_spreads_a_flow_and_gives_the_same_in_parts() {
    let drill = |samples, memory| NextHopRule::Drill(DrillSettings { samples, memory });
    for (rule, most_us) in [
        (NextHopRule::Adaptive(ADAPTIVE), 880.0),
        (NextHopRule::Adaptive(AdaptiveSettings { quantum_bytes: 8_000, tie: Tie::Hash, ..ADAPTIVE }), 900.0),
        (drill(2, 1), 880.0),
        (drill(1, 0), 1_000.0),
    ] {
        let world = both(|| leaves(by_switches(rule)));
        let took = finished_us(&world);
        assert!((865.6..most_us).contains(&took), "{rule:?}: {took} us");
        assert_eq!(world.flows[0].path.iter().count(), 4);
    }
    // Packets follow each other, so a flowlet never ends.
    for rule in [
        NextHopRule::LetFlow(Span::from_us(100)),
        NextHopRule::Adaptive(AdaptiveSettings { flowlet_gap: Some(Span::from_us(100)), ..ADAPTIVE }),
    ] {
        let world = both(|| leaves(by_switches(rule)));
        assert!(finished_us(&world) > 3_460.0, "{}", finished_us(&world));
        let spread = world.flows[0].multipath.spread.expect("a path of several");
        assert_eq!((spread.paths_used, spread.order.reordered), (1, 0));
    }
}

#[test]
fn every_rule_of_senders_uses_all_paths_and_gives_the_same_in_parts() {
    for choice in [PathRule::Spray, PathRule::Oblivious, PathRule::Bitmap, PathRule::Reps, PathRule::Mixed] {
        for ack_path in [AckPath::Ecmp, AckPath::Entropy, AckPath::Symmetric] {
            let world = both(|| {
                let mut net = leaves(by_sender(choice, 16, PathMap::Path));
                net.plan.ack_path = ack_path;
                net
            });
            let spread = world.flows[0].multipath.spread.expect("several paths");
            assert_eq!(spread.paths_used, 4, "{choice:?}");
            assert!(finished_us(&world) < 1_000.0, "{choice:?}: {}", finished_us(&world));
        }
    }
    // Without a mark PLB has no reason to leave its path.
    let plb = PathRule::Plb(PlbSettings { rounds: 3, idle_rounds: 3, marked_of_256: 128 });
    let world = both(|| leaves(by_sender(plb, 16, PathMap::Path)));
    assert_eq!(world.flows[0].multipath.spread.map(|spread| spread.paths_used), Some(1));
}

/// Go-back-N takes packets that overtake others for losses: it sends again, and still delivers all of them once.
#[test]
fn go_back_n_survives_spraying_at_a_price() {
    let [one, two] = [1, 2].map(|parts| {
        let flows = Script::flows(one_flow().into_iter().map(|spec| (Time::ZERO, spec)).collect());
        let net = leaves(by_switches(NextHopRule::Spray));
        let part_of = if parts == 1 { vec![0; 8] } else { vec![0, 1, 0, 0, 1, 1, 0, 1] };
        let mut world = World::in_parts(net.plan, vec![Scripted::rates(&[100; 4])], vec![flows], part_of);
        world.run_to_end();
        world
    });
    // Copies arrive after the end of the flow.
    assert_eq!((&one.flows, one.counters), (&two.flows, two.counters));
    let world = one;
    assert!(world.failure.is_none() && world.flows[0].delivered_at.is_some(), "{:?}", world.failure);
    let flow = &world.flows[0];
    assert!(flow.packets_retransmitted > 1_000, "{}", flow.packets_retransmitted);
    assert_eq!(flow.lost, 0);
}

/// Flows on equal links: expected largest number of flows on a link, and rate of permutations with fair shares.
#[test]
fn paths_8_3_ecmp_throws_balls_into_bins() {
    use xoff_fabric::route::{FlowKey, Routes};
    for (links, flows, largest) in [(4, 4, 2.125), (8, 8, 2.597), (4, 16, 6.139)] {
        let mut net = Net::new();
        net.switch("leaf0");
        net.switch("leaf1");
        let ends = [net.host("h0"), net.host("h1")];
        for (host, leaf) in ends.into_iter().zip(0..) {
            net.link(host, leaf, 100, Span::from_us(1));
        }
        for _ in 0..links {
            net.link(0, 1, 100, Span::from_us(1));
        }
        let routes = Routes::new(&net.plan, |_| true);
        let (mut sum, mut rate, mut path) = (0, 0.0, Vec::new());
        const RUNS: u64 = 4_000;
        for run in 0..RUNS {
            let mut load = std::collections::BTreeMap::new();
            for flow in 0..flows {
                let identity = xoff_engine::rng::mix(run * flows + flow + 1);
                let key = FlowKey { seed: 1, identity, ..FlowKey::between(ends[0], ends[1]) };
                assert!(routes.path(ends[0], ends[1], &key, &mut path));
                *load.entry(path[1]).or_insert(0_u64) += 1;
            }
            sum += load.values().max().copied().unwrap_or(0);
            rate += load.len() as f64 / flows as f64;
        }
        let mean = sum as f64 / RUNS as f64;
        assert!((mean - largest).abs() < 0.06, "{flows} flows on {links} links: {mean}");
        if links == flows {
            let expected = 1.0 - (1.0 - 1.0 / links as f64).powi(links as i32);
            assert!((rate / RUNS as f64 - expected).abs() < 0.01, "{links} links: {}", rate / RUNS as f64);
        }
    }
}

/// A flow of at most 50 Gb/s whose packets to the first spine are lost from 100 us on, while routes stay.
fn with_a_dead_path(choice: PathRule, stop: Time) -> World {
    let mut net = leaves(by_sender(choice, 16, PathMap::Path));
    for class in &mut net.plan.classes.list {
        class.lossless = false;
    }
    net.plan.hosts[0].recovery = Recovery::Sack(Sack::UEC);
    net.plan.hosts[0].retransmit_timeout = Span::from_us(300);
    net.plan.faults = vec![Fault { at: Time::from_us(100), what: FaultKind::Loss { port: 0, loss: 1.0 } }];
    (net.plan.run.stop, net.plan.run.stall_after) = (stop, None);
    let scheme = Scripted::limits(vec![Limits { rate_bps: 50e9, window_bytes: 100_000 }]);
    let flows = Script::flows(vec![(Time::ZERO, endless(0, ENDS.0, ENDS.1))]);
    let mut world = World::in_parts(net.plan, vec![scheme], vec![flows], vec![0; 8]);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    world
}

/// A sprayed flow loses one packet in four, for ever. REPS loses some until its first timeout and until
/// eight ACKs have filled its ring with paths that work; then none, until it thaws and explores, 10 ms later.
#[test]
fn paths_8_9_a_dead_path_under_spraying_and_under_reps() {
    let lost = |choice, us| with_a_dead_path(choice, Time::from_us(us)).counters.drops_fault;
    let sprayed = |us| {
        let world = with_a_dead_path(PathRule::Spray, Time::from_us(us));
        (world.counters.data_packets_sent as f64, world.counters.drops_fault as f64)
    };
    let ((sent_before, _), (sent, drops)) = (sprayed(100), sprayed(20_000));
    let expected = (sent - sent_before) / 4.0;
    // Five standard deviations of a binomial.
    assert!((drops - expected).abs() < 5.0 * (expected * 0.75).sqrt(), "{drops} of {sent}, {expected} expected");
    // The first loss is found 300 us after it left; a round trip and eight ACKs are less than 30 us.
    let [first, frozen, thawed] = [450, 10_350, 12_000].map(|us| lost(PathRule::Reps, us));
    assert!(first > 0 && frozen == first && thawed > frozen, "{first} {frozen} {thawed}");
}

/// Two links of equal rate, one of which is longer: packets wait for as many as the difference holds.
#[test]
fn paths_8_8_reordering_is_bounded_by_the_difference_of_delays() {
    for (gbps, skew, most) in [
        (100, Span::from_us(1), 3),
        (100, Span::from_ns(14_280), 43),
        // More than a map of 64 packets.
        (400, Span::from_ns(12_600), 151),
    ] {
        let mut net = Net::new();
        let leaves = [net.switch("leaf0"), net.switch("leaf1")];
        let ends = [net.host("h0"), net.host("h1")];
        for delay in [Span::from_us(1), Span::from_us(1) + skew] {
            net.link(leaves[0], leaves[1], gbps, delay);
        }
        for (host, leaf) in ends.into_iter().zip(leaves) {
            net.link(host, leaf, gbps, Span::from_us(1));
        }
        for class in &mut net.plan.classes.list {
            class.lossless = false;
        }
        net.plan.hosts[0].mtu_bytes = 4096;
        net.plan.hosts[0].recovery = Recovery::Sack(Sack::UEC);
        let choice = PathRule::Own(|_| Box::new(RoundRobin));
        net.plan.model.forwarding = Forwarding { paths: 2, choice, path_map: PathMap::Path, ..Forwarding::default() };
        let world = net.run(vec![(Time::ZERO, flow(0, ends[0], ends[1], 8_192_000))]);
        let record = &world.flows[0];
        let order = record.multipath.spread.expect("two paths").order;
        assert!((most - 2..=most).contains(&order.extent_most), "{gbps}G, {skew:?}: {order:?}");
        let again = (record.packets_retransmitted, record.recovery.duplicates, record.recovery.timeouts);
        assert_eq!(again, (0, 0, 0), "{gbps}G, {skew:?}");
    }
}
