//! Many flows over many paths: closed forms of permutations and incasts, and what links carry of a flow.

use crate::common::*;
use crate::forwarding::{leaves, one_flow, run, uplinks};
use crate::scripted::{Scripted, World};
use xoff_engine::{Span, Time};
use xoff_fabric::plan::*;
use xoff_fabric::scheme::Limits;
use xoff_fabric::traffic::FlowSpec;

/// Four leaves of four hosts and four spines, all links 100 Gb/s and 1 us: as much goes up as comes in. Lossy, 60 kB of
/// queue, trimming, selective acknowledgements; every flow has a window of a bandwidth-delay product and a half.
fn fabric(forwarding: Forwarding) -> (Net, Vec<u32>) {
    let mut net = Net::new();
    let leaves: Vec<u32> = (0..4).map(|i| net.switch(&format!("leaf{i}"))).collect();
    for spine in 0..4 {
        let spine = net.switch(&format!("spine{spine}"));
        for &leaf in &leaves {
            net.link(leaf, spine, 100, Span::from_us(1));
        }
    }
    let host = |i: usize| net.host_at(&format!("h{i}"), leaves[i / 4], 100, Span::from_us(1)).0;
    let hosts = (0..16).map(host).collect();
    let control = usize::from(net.plan.classes.control);
    for (number, class) in net.plan.classes.list.iter_mut().enumerate() {
        class.lossless = false;
        class.queue_limit_bytes = (number != control).then_some(60_000);
    }
    net.plan.hosts[0].recovery = Recovery::Sack(Sack::UEC);
    net.plan.hosts[0].retransmit_timeout = Span::from_us(300);
    net.plan.switches[0].trim_bytes = Some(64);
    net.plan.ack_path = AckPath::Entropy;
    net.plan.model.forwarding = forwarding;
    (net, hosts)
}

const WINDOW: u64 = 160_000;
const WIRE: Span = Span::from_ps(1082 * 80);

fn run_flows(net: Net, specs: Vec<FlowSpec>) -> World {
    let scheme = Scripted::limits(vec![Limits { rate_bps: 100e9, window_bytes: WINDOW }; specs.len()]);
    let flows = Script::flows(specs.into_iter().map(|spec| (Time::ZERO, spec)).collect());
    let mut world = World::new(net.plan, vec![scheme], vec![flows]);
    world.run_to_end();
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.check_conservation(), Ok(()));
    world
}

fn sender(choice: PathRule, path_map: PathMap) -> Forwarding {
    Forwarding { paths: 64, choice, path_map, ..Forwarding::default() }
}

fn adaptive() -> Forwarding {
    let settings = AdaptiveSettings { quantum_bytes: 0, skip_paused: true, tie: Tie::Random, flowlet_gap: None };
    Forwarding { next_hop: Some(NextHopRule::Adaptive(settings)), ..Forwarding::default() }
}

/// Every host sends 2,000 packets to one of the next leaf. The bound is their time on the wire, and one packet's on the
/// way; returned are the mean and the last completion over it.
fn permutation(forwarding: Forwarding) -> [f64; 2] {
    let (net, hosts) = fabric(forwarding);
    let specs = (0..16).map(|i| flow(i as u32, hosts[i], hosts[(i + 4) % 16], 2_000_000)).collect();
    let world = run_flows(net, specs);
    let bound = (WIRE * 2_003 + Span::from_us(4)).as_us();
    let times: Vec<f64> = world.flows.iter().map(|flow| flow.delivered_at.unwrap().as_us() / bound).collect();
    assert_eq!(times.len(), 16);
    assert!(times.iter().all(|time| *time >= 0.999), "faster than the wire: {times:?}");
    [times.iter().sum::<f64>() / 16.0, times.iter().copied().fold(0.0, f64::max)]
}

/// Round after round over laid paths meets no other flow; switches that look at queues come near; hashed numbers put
/// more on some links than on others, and one path far more. (The order and the distances of the reference runs.)
#[test]
fn paths_8_5_a_permutation_and_its_bound() {
    let one = permutation(Forwarding::default());
    let laid = permutation(sender(PathRule::Oblivious, PathMap::Path));
    let queues = permutation(adaptive());
    let hashed = permutation(sender(PathRule::Oblivious, PathMap::Hash));
    let bitmap = permutation(sender(PathRule::Bitmap, PathMap::Hash));
    let all = [laid, queues, bitmap, hashed, one];
    assert!(laid[1] < 1.05 && queues[1] < 1.06, "{all:?}");
    assert!(bitmap[0] < hashed[0] && hashed[0] < one[0], "{all:?}");
    assert!(bitmap[0] < 1.12 && hashed[1] < 1.5 && one[1] > 1.9, "{all:?}");
}

/// Fifteen hosts send 123 packets each to one: its line decides, and no choice of paths helps at the last hop.
#[test]
fn paths_8_6_an_incast_takes_the_time_of_its_last_hop() {
    let last = |forwarding| {
        let (net, hosts) = fabric(forwarding);
        let specs = (1..16).map(|i| flow(i as u32, hosts[i], hosts[0], 123_000)).collect();
        let world = run_flows(net, specs);
        let of = world.counters;
        assert_eq!((of.timeouts, of.drops_lossy), (0, 0), "{forwarding:?}");
        let last = world.flows.iter().filter_map(|flow| flow.delivered_at).max().unwrap();
        // All packets, headers of those that were trimmed, and two round trips of 8.5 us.
        let bound = (WIRE * (15 * 123)).as_us();
        let headers = of.packets_trimmed as f64 * 84.0 * 80e-6;
        assert!(last.as_us() > bound && last.as_us() < bound + headers + 17.0, "{forwarding:?}: {last:?}");
        last.as_us()
    };
    let choices = [PathRule::Spray, PathRule::Oblivious, PathRule::Reps, PathRule::Bitmap];
    let times = choices.map(|choice| last(sender(choice, PathMap::Hash)));
    let [least, most] = [f64::min, f64::max].map(|pick| times.iter().copied().reduce(pick).unwrap());
    assert!(most / least < 1.04, "{times:?}");
}

/// Counting changes nothing, gives the same in parts, and what the links of a node carry of a flow is all of it.
#[test]
fn links_of_a_flow_carry_all_of_its_packets() {
    let spray = Forwarding { next_hop: Some(NextHopRule::Spray), ..Forwarding::default() };
    let [one, mut two] = [1, 2].map(|parts| {
        let mut net = leaves(spray);
        net.plan.run.record_flow_links = true;
        run(net, parts, one_flow())
    });
    let plain = run(leaves(spray), 1, one_flow());
    assert_eq!((&plain.flows, plain.counters), (&one.flows, one.counters));
    assert!(plain.flow_links().is_empty());
    let rows = two.flow_links();
    assert_eq!(one.flow_links(), rows);
    let packets = |port: u32| rows.iter().find(|row| row.port == port).map_or(0, |row| row.packets);
    assert_eq!((packets(16), packets(19)), (10_000, 10_000), "{rows:?}");
    assert_eq!([0, 2, 4, 6].map(packets).to_vec(), uplinks(&mut two));
    assert_eq!(rows.len(), 1 + 4 + 4 + 1);
    assert!(rows.iter().all(|row| row.flow == two.flows[0].id && row.wire_bytes == row.packets * 1082));
}
