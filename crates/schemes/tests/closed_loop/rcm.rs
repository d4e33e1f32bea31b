//! RCM on small networks of 100G links, PFC at 80 KB as the queues of 100 KB suggest.

use crate::bench::*;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{ProbeTarget, Thresholds};
use xoff_fabric::record::Metric;
use xoff_fabric::simulation::Simulation;
use xoff_fabric::traffic::FlowSpec;
use xoff_fabric::world::{Progress, World};
use xoff_schemes::Any;
use xoff_schemes::any::AnySwitch;
use xoff_schemes::rcm::{Control, Role};

const DELAY: Span = Span::from_ns(500);

fn us(us: u64) -> Time {
    Time::from_us(us)
}

fn network(seed: u64) -> Net {
    let mut net = Net::new();
    net.plan.seed = seed;
    net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 80_000, xon_bytes: 78_000 };
    net
}

fn inside(world: &dyn Simulation) -> &World<Any> {
    (world as &dyn std::any::Any).downcast_ref().unwrap()
}

fn control(world: &dyn Simulation, switch: u32) -> &Control {
    match inside(world).switch_control(switch) {
        Some(AnySwitch::Rcm(control)) => control,
        _ => panic!("node {switch} is no VOQ switch"),
    }
}

/// Runs to the end and looks at the world every 200 ns or so of simulated time.
fn watch(world: &mut dyn Simulation, mut look: impl FnMut(&dyn Simulation)) {
    let mut next = Time::ZERO;
    while world.run(1) == Progress::Running {
        if world.now >= next {
            next = world.now + Span::from_ns(200);
            look(world);
        }
    }
    assert!(world.failure.is_none(), "{:?}", world.failure);
    assert_eq!(world.check_conservation(), Ok(()));
}

#[test]
fn rcm_9_5_a_region_grows_along_the_harmful_path_and_goes() {
    // s0 - s1 - s2 - h2. Flow 0 comes from s0 by all three, flow 1 enters at s2: the root is the
    // output of s2 to h2, and the region reaches back to s0.
    let mut net = network(1);
    let switches = [net.switch("s0"), net.switch("s1"), net.switch("s2")];
    let hosts = [net.host("h0"), net.host("h1"), net.host("h2")];
    net.link(hosts[0], switches[0], 100, DELAY);
    net.link(hosts[1], switches[2], 100, DELAY);
    let ports = [
        net.link(switches[0], switches[1], 100, DELAY),
        net.link(switches[1], switches[2], 100, DELAY),
        net.link(switches[2], hosts[2], 100, DELAY),
    ];
    // With `present` the root's list is both flows for as long as both are seen.
    let mut bench = Bench::new(net, scheme("rcm+none", &[("cfr_rule", "present")]));
    bench.start(Time::ZERO, flow(0, hosts[0], hosts[2], 2_000_000));
    bench.start(Time::ZERO, flow(1, hosts[1], hosts[2], 2_000_000));
    let mut world = bench.world(us(600));
    let mut first = [[None; 3]; 3];
    let (mut whole, mut alike) = (0, 0);
    let mut last = [Time::ZERO; 3];
    watch(&mut *world, |world| {
        let at = |i: usize| (control(world, switches[i]), inside(&*world).local_port(ports[i]));
        for i in 0..3 {
            let (control, port) = at(i);
            let role = control.role(port, 0);
            if role != Role::Outside {
                let seen =
                    &mut first[i][[Role::Root, Role::Edge, Role::Inner].iter().position(|&r| r == role).unwrap()];
                seen.get_or_insert(world.now);
                last[i] = world.now;
                assert!(control.harmful(port, 0).iter().all(|flow| *flow < 2));
            }
            // Nothing but the path of harmful packets is in the region.
            for other in 0..4u16 {
                let ports = [2, 2, 3][i];
                assert!(other >= ports || other == port || control.role(other, 0) == Role::Outside);
            }
        }
        // Once all three are in it, all have the root's list. (When its notifications pause, s1 may
        // briefly be a root of its own, of flow 0 alone, and s0 receives that.)
        if (0..3).all(|i| at(i).0.role(at(i).1, 0) != Role::Outside) && world.now < us(250) {
            let list = |i: usize| at(i).0.harmful(at(i).1, 0);
            whole += 1;
            alike += u32::from(list(2) == [0, 1] && list(1) == [0, 1] && list(0) == [0, 1]);
        }
    });
    let [s0, s1, s2] = first;
    assert!(s2[0].is_some() && s2[1].is_none() && s2[2].is_none(), "the root has the local flag only: {s2:?}");
    let (root, edge, inner) = (s2[0].unwrap(), s1[1].expect("s1 becomes an edge"), s1[2].expect("then an inner point"));
    assert!(root < edge && edge < inner, "{root:?} {edge:?} {inner:?}");
    assert!(s0[1].is_some_and(|edge| edge > inner), "s0 is notified once the input of s1 is congested: {s0:?}");
    assert!(whole > 100 && alike * 3 > whole * 2, "{alike} of {whole} looks at a whole region");
    // 4 MB take 320 us and the rest of the run is silence: every flag is gone T_cn per hop later.
    let end = world.flows.iter().filter_map(|flow| flow.delivered_at).max().expect("both flows end");
    assert!(last.iter().all(|&last| last < end + Span::from_us(3 * 20)), "{last:?} after {end:?}");
    for (i, &port) in ports.iter().enumerate() {
        let (control, port) = (control(&*world, switches[i]), inside(&*world).local_port(port));
        assert!(control.role(port, 0) == Role::Outside && control.harmful(port, 0).is_empty());
        assert!(control.window(port, 0).is_none(), "no limit is left");
    }
    // Blocking moves packets from lane to lane; none overtakes another of its flow.
    assert_eq!(world.counters.naks_sent, 0);
}

/// Experiment (a): four flows enter the last switch by one port, at 150 us a burst of 250 KB by another.
/// Goodput in Gb/s of the burst, and of the four together, in bins of 5 us.
fn incast_with_burst(name: &str, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut net = network(seed);
    let (edge, other, last) = (net.switch("edge"), net.switch("other"), net.switch("last"));
    let hosts: Vec<u32> = (0..6).map(|i| net.host(&format!("h{i}"))).collect();
    for &host in &hosts[..4] {
        net.link(host, edge, 100, DELAY);
    }
    net.link(hosts[4], other, 100, DELAY);
    net.link(edge, last, 100, DELAY);
    net.link(other, last, 100, DELAY);
    net.link(last, hosts[5], 100, DELAY);
    let mut bench = Bench::new(net, scheme(name, &[]));
    for i in 0..4 {
        bench.start(Time::ZERO, FlowSpec { probed: true, ..endless(i, hosts[i as usize], hosts[5]) });
    }
    bench.start(us(150), FlowSpec { probed: true, label: 1, ..flow(4, hosts[4], hosts[5], 250_000) });
    bench.probe(ProbeTarget::Flows, Span::from_us(5), us(100));
    let outcome = bench.run(us(300));
    let sum = |label: u32, bin: u64| {
        let at = |s: &&xoff_fabric::record::Sample| s.at == us(bin) && s.metric == Metric::FlowThroughput;
        outcome.world.samples.iter().filter(at).filter(|s| s.label == label).map(|s| s.value / 1e9).sum::<f64>()
    };
    let bins = || (105..300).step_by(5);
    (bins().map(|bin| sum(1, bin)).collect(), bins().map(|bin| sum(0, bin)).collect())
}

#[test]
fn rcm_8_a_the_burst_is_cut_and_the_incast_returns() {
    // Bins by their end: 155 us is number 10. The burst's first packet arrives at 152 us.
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // 100G carry 92.4 Gb/s of payload. Under DCQCN the burst has half of it to its end at 197 us.
    let (burst, incast) = incast_with_burst("dcqcn:vendor-100g", 1);
    assert!(burst[11..19].iter().all(|&rate| (rate - 46.2).abs() < 3.0), "{burst:?}");
    assert!(mean(&incast[11..19]) < 50.0, "{incast:?}");
    // With RCM it has half at first; then 25G (23.1 of payload) are what the paper shows. Which
    // flows the ring of 16 holds is chance, so the mean over seeds is what must agree.
    let (mut cut, mut back) = (Vec::new(), Vec::new());
    for seed in 1..=8 {
        let (burst, incast) = incast_with_burst("rcm", seed);
        assert!(burst[11] > 25.0, "the first queue is what was there before the reaction: {burst:?}");
        cut.push(mean(&burst[13..21]));
        back.push(mean(&incast[13..21]));
        // Before and after the burst the link is full: control costs no throughput.
        assert!(mean(&incast[..9]) > 88.0 && mean(&incast[32..]) > 88.0, "{incast:?}");
        assert!(burst[13..21].iter().zip(&incast[13..21]).all(|(b, i)| b + i > 85.0), "{burst:?} {incast:?}");
    }
    // A quarter is what a figure can be read to, and three standard errors of eight runs.
    assert!((mean(&cut) / 23.1 - 1.0).abs() < 0.25, "{cut:?}");
    assert!((mean(&back) / 69.3 - 1.0).abs() < 0.1, "{back:?}");
}

/// Experiment (b): S1 to S4 send to D0 over two ways, Sv to Dv shares the first of them up to its
/// core. Goodput in Gb/s from 0.5 ms to 3 ms.
fn victim(name: &str, texts: &[(&str, &str)], seed: u64) -> Vec<f64> {
    victim_among(name, (name, texts), seed)
}

/// Throughput of the victim with the harmful flows under a scheme of their own.
fn victim_among(harmful: &str, (name, texts): (&str, &[(&str, &str)]), seed: u64) -> Vec<f64> {
    let mut net = network(seed);
    let hosts: Vec<u32> = (0..7).map(|i| net.host(&format!("h{i}"))).collect();
    let (edge, far, side) = (net.switch("edge"), net.switch("far"), net.switch("side"));
    let up: Vec<u32> = hosts[..5].iter().map(|&host| net.link(host, edge, 100, DELAY)).collect();
    let mut ways = Vec::new();
    let mut cores = Vec::new();
    for way in 0..2 {
        let row = ["agg", "core", "down"].map(|name| net.switch(&format!("{name}{way}")));
        let nodes = [edge, row[0], row[1], row[2], far];
        ways.push(nodes.windows(2).map(|pair| net.link(pair[0], pair[1], 100, DELAY)).collect::<Vec<u32>>());
        cores.push(row[1]);
    }
    let to_d0 = net.link(far, hosts[5], 100, DELAY);
    let (to_side, to_dv) = (net.link(cores[0], side, 100, DELAY), net.link(side, hosts[6], 100, DELAY));
    let mut bench = Bench::new(net, scheme(name, texts));
    let other = if harmful == name { 0 } else { bench.also(scheme(harmful, &[])) };
    for i in 0..4u32 {
        let path: Vec<u32> = [up[i as usize]].iter().chain(&ways[i as usize / 2]).chain(&[to_d0]).copied().collect();
        let spec = endless(i, hosts[i as usize], hosts[5]);
        let path = Some(path.into());
        bench.start(Time::ZERO, FlowSpec { path, probed: true, label: i, scheme: other, ..spec });
    }
    let path = [up[4], ways[0][0], ways[0][1], to_side, to_dv];
    let spec = endless(4, hosts[4], hosts[6]);
    bench.start(Time::ZERO, FlowSpec { path: Some(path.into()), probed: true, label: 4, ..spec });
    bench.probe(ProbeTarget::Flows, Span::from_us(50), us(500));
    let outcome = bench.run(Time::from_ms(3));
    let of = |label: u32| {
        let mine = outcome.world.samples.iter().filter(|s| s.metric == Metric::FlowThroughput && s.label == label);
        let rates: Vec<f64> = mine.map(|s| s.value / 1e9).collect();
        // The first sample covers the time from the start.
        rates[1..].iter().sum::<f64>() / (rates.len() - 1) as f64
    };
    (0..5).map(of).collect()
}

#[test]
fn rcm_8_b_a_victim_gets_its_share() {
    // In payload, 25G are 23.1 and 50G are 46.2.
    for name in ["none", "dcqcn:vendor-100g"] {
        let rates = victim(name, &[], 1);
        assert!(rates.iter().all(|&rate| (rate - 23.1).abs() < 1.0), "{name}: all alike behind PFC, {rates:?}");
    }
    // As printed, with a window that is measured once, it comes most of the way to the paper's "nearly
    // 50"; with one that is measured again whenever the list grows it is there. Some pauses still
    // reach the shared links while limits are not in force.
    let again = [("window_measure", "again"), ("order", "age")];
    for (seed, texts, least) in (1..=3).flat_map(|seed| [(seed, &[][..], 1.5 * 23.1), (seed, &again[..], 0.87 * 46.2)])
    {
        let rates = victim("rcm", texts, seed);
        assert!((least..1.13 * 46.2).contains(&rates[4]), "the victim with RCM and {texts:?}: {rates:?}");
        let incast: f64 = rates[..4].iter().sum();
        assert!(incast > 0.95 * 92.4, "the bottleneck stays full: {rates:?}");
        assert!(rates[..4].iter().all(|rate| (rate / 23.1 - 1.0).abs() < 0.15), "25G each: {rates:?}");
    }
    // With QCN's sampling interval, more than a queue, notifications come too late for half of it.
    let rates = victim("rcm:qcn-sampling", &[], 1);
    assert!(rates[4] > 1.25 * 23.1 && rates[4] < 0.8 * 46.2, "{rates:?}");
}

#[test]
fn rcm_1_flows_of_other_schemes_are_held_back_too() {
    let rates = victim_among("none", ("rcm", &[]), 1);
    assert!(rates[4] > 1.5 * 23.1, "{rates:?}");
}

#[test]
fn rcm_9_7_a_victim_leaves_the_region_and_harmful_flows_stay() {
    // Two spines. Flow 0 (h0 to d0) and flow 1 (from the far leaf itself to d0) overload d0's port;
    // flow 2 (h1 to d1) shares flow 0's way.
    let run = |seed: u64, texts: &[(&str, &str)]| {
        let mut net = network(seed);
        let (near, far) = (net.switch("leaf0"), net.switch("leaf1"));
        let spines = [net.switch("spine0"), net.switch("spine1")];
        let [h0, h1, h2, d0, d1] = ["h0", "h1", "h2", "d0", "d1"].map(|name| net.host(name));
        for (host, leaf) in [(h0, near), (h1, near), (h2, far), (d0, far), (d1, far)] {
            net.link(host, leaf, 100, DELAY);
        }
        let up = spines.map(|spine| net.link(near, spine, 100, DELAY));
        for spine in spines {
            net.link(far, spine, 100, DELAY);
        }
        let mut bench = Bench::new(net, scheme("rcm+none", texts));
        bench.start(Time::ZERO, endless(0, h0, d0));
        bench.start(Time::ZERO, endless(1, h2, d0));
        // Their list must be whole when the victim comes: it comes later.
        bench.start(us(100), endless(2, h1, d1));
        let mut world = bench.world(us(600));
        let mut moved = None;
        watch(&mut *world, |world| {
            let control = control(world, near);
            assert!(control.detoured(0).is_none(), "a harmful flow never moves");
            if let Some(port) = control.detoured(2).filter(|_| moved.is_none()) {
                moved = Some(up.iter().position(|&at| inside(&*world).local_port(at) == port).expect("an uplink"));
                // It left a port in a region for one that is in none.
                let roles = up.map(|at| control.role(inside(&*world).local_port(at), 0));
                assert!(roles[moved.unwrap()] == Role::Outside && roles[1 - moved.unwrap()] != Role::Outside);
            }
        });
        let way = |id: u32| {
            let flow = world.flows.iter().find(|flow| flow.id == id).expect("a record of every flow");
            (up.iter().position(|at| flow.path.contains(*at)), flow.delivered_bytes)
        };
        (way(0).0, way(2), moved, world.counters.naks_sent)
    };
    let (mut shared, mut apart) = (0, 0);
    for seed in 1..=12 {
        let rule = ("cfr_rule", "present");
        let (harmful, (victim, bytes), moved, naks) = run(seed, &[rule]);
        if harmful == victim {
            // On the harmful flow's way: it moves to the other spine.
            assert_eq!(moved, victim.map(|way| 1 - way), "seed {seed}");
            let (_, (_, stayed), unmoved, ordered) = run(seed, &[rule, ("sar", "false")]);
            assert_eq!((unmoved, ordered), (None, 0), "without SAR no flow moves, and all is in order");
            // It has a link to itself, and what overtook on the way is kept.
            assert!(bytes > stayed, "seed {seed}: {bytes} bytes with SAR, {stayed} without");
            assert_eq!(naks, 0, "receivers accept any order");
            shared += 1;
        } else {
            assert_eq!(moved, None, "seed {seed}: a flow outside the region stays");
            apart += 1;
        }
    }
    assert!(shared >= 2 && apart >= 2, "{shared} and {apart}");
}
