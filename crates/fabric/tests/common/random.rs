//! Random networks and traffic. Trees only: they have no cyclic buffer dependency, so nothing may
//! ever deadlock.

use super::{Net, flow};
use xoff_engine::{Span, Time, TimeResolution, stream};
use xoff_fabric::pfc;
use xoff_fabric::plan::*;
use xoff_fabric::traffic::FlowSpec;

const RATES: [u64; 6] = [10, 25, 40, 100, 200, 400];

/// A random tree of switches with hosts on them, some links doubled.
pub fn network(seed: u64) -> (Plan, Vec<u32>) {
    let mut rng = stream(seed, "swarm network", 0);
    let mut net = Net::new();
    let switches: Vec<u32> = (0..1 + rng.below(5)).map(|i| net.switch(&format!("s{i}"))).collect();
    let mut rate = {
        let mut rng = rng.clone();
        move || RATES[rng.below(6) as usize]
    };
    for i in 1..switches.len() {
        let parent = switches[rng.below(i as u64) as usize];
        let (gbps, delay) = (rate(), Span::from_ns(rng.below(8_000)));
        for _ in 0..1 + rng.below(2) {
            net.link(switches[i], parent, gbps, delay);
        }
    }
    let hosts: Vec<u32> = (0..2 + rng.below(7))
        .map(|i| {
            let switch = switches[rng.below(switches.len() as u64) as usize];
            net.host_at(&format!("h{i}"), switch, rate(), Span::from_ns(rng.below(5_000))).0
        })
        .collect();
    net.plan.hosts[0].mtu_bytes = [256, 1000, 1024, 4096][rng.below(4) as usize];
    net.plan.hosts[0].ack_every = 1 + rng.below(4) as u32;
    net.plan.hosts[0].ack_class = if rng.below(2) == 0 { AckClass::Control } else { AckClass::WithData };
    net.plan.hosts[0].ack_delay = Span::from_ns(rng.below(3) * 500);
    net.plan.ack_path = if rng.below(2) == 0 { AckPath::Ecmp } else { AckPath::Symmetric };
    if rng.below(2) == 0 {
        let xoff = 10_000 + rng.below(120_000);
        net.plan.switches[0].pfc.thresholds =
            Thresholds::Static { xoff_bytes: xoff, xon_bytes: xoff.saturating_sub(rng.below(8_000)) };
    } else {
        net.plan.switches[0].pfc.thresholds = Thresholds::Dynamic {
            alpha: Alpha::Fixed([0.0625, 0.125, 1.0][rng.below(3) as usize]),
            reserve_bytes: 4096 * rng.below(3),
            resume_offset_bytes: 3072,
            resume_below_bytes: 1,
            rule: Rule::Dynamic,
        };
        net.plan.switches[0].buffer_bytes = 9_000_000 + rng.below(8_000_000);
    }
    if rng.below(3) == 0 {
        // A second lossless class, weighted against the first.
        net.plan.classes.list[0].service = Service::Weighted(3_000);
        let class = Class { priority: 4, service: Service::Weighted(9_000), ..Class::default() };
        net.plan.classes.list.insert(1, class);
        net.plan.classes.control = 2;
    }
    net.plan.seed = seed;
    other_rules(seed, &mut net.plan);
    responses(seed, &mut net.plan);
    make_room(&mut net.plan);
    // Switches in up to three domains, hosts in those of their switches.
    let mut rng = stream(seed, "swarm domains", 0);
    switches.iter().for_each(|&switch| net.plan.nodes[switch as usize].domain = rng.below(3) as u16);
    for link in net.plan.links.iter().filter(|link| hosts.contains(&link.a)) {
        net.plan.nodes[link.a as usize].domain = net.plan.nodes[link.b as usize].domain;
    }
    (net.plan, hosts)
}

/// A buffer holds what lossless classes are promised, and more: the fabric trusts its plan, and whoever reads a
/// scenario refuses one where it does not.
fn make_room(plan: &mut Plan) {
    let set_aside = match plan.switches[0].pfc.thresholds {
        Thresholds::Static { xoff_bytes, .. } => xoff_bytes,
        Thresholds::Dynamic { reserve_bytes, .. } => reserve_bytes,
    };
    let lossless = plan.classes.list.iter().filter(|class| class.lossless).count() as u64;
    let mtu = pfc::mtu_wire_bytes(plan);
    let mut promised = vec![0; plan.nodes.len()];
    for port in 0..plan.ports() as u32 {
        let headroom = pfc::PauseLoop::of(plan, port, mtu).required();
        promised[plan.node_of(port) as usize] += lossless * (headroom + set_aside);
    }
    let most = promised.into_iter().max().unwrap_or(0);
    let buffer_bytes = &mut plan.switches[0].buffer_bytes;
    *buffer_bytes = (*buffer_bytes).max(most + 1_000_000);
}

/// In two of three networks devices take their time to obey a PAUSE.
fn responses(seed: u64, plan: &mut Plan) {
    let mut rng = stream(seed, "swarm responses", 0);
    let mut response = || match rng.below(3) {
        0 => PfcResponse::Ieee,
        1 => PfcResponse::After(Span::from_ns(rng.below(6_000))),
        _ => PfcResponse::default(),
    };
    (plan.switches[0].pfc_response, plan.hosts[0].pfc_response) = (response(), response());
}

/// Every third network follows rules of other simulators, each at random.
fn other_rules(seed: u64, plan: &mut Plan) {
    let mut rng = stream(seed, "swarm rules", 0);
    if rng.below(3) != 0 {
        return;
    }
    let mut yes = || rng.below(2) == 0;
    plan.model = Model {
        resolution: if yes() { TimeResolution::BinaryNanosecond } else { TimeResolution::Nanosecond },
        ties: if yes() { Ties::Scheduled } else { Ties::Hash },
        ecmp: if yes() { Ecmp::Murmur3 } else { Ecmp::Mix },
        next_hops: if yes() { NextHops::Descending } else { NextHops::ByLink },
        base_rtt: if yes() { BaseRtt::Payload } else { BaseRtt::Wire },
        random: if yes() { Random::Shared { first: seed } } else { Random::Own },
        ..plan.model
    };
    plan.switches[0].count_passing = yes();
    let host = &mut plan.hosts[0];
    host.sizes.min_frame_bytes = if yes() { 1 } else { 64 };
    let acks_paused_by = if yes() { Some(3) } else { None };
    host.nic = NicSettings {
        scheduler: if yes() { NicScheduler::Scan { acks_paused_by } } else { NicScheduler::Ready },
        follow_rate: yes(),
        pace: yes(),
        inflight_cap: if yes() {
            Some(InflightCap { longest: yes(), at_line_rate: false, scales: yes() })
        } else {
            None
        },
    };
    if host.nic.scheduler != NicScheduler::Ready {
        // ACKs that do not stop with their own class are no longer lossless.
        host.ack_class = AckClass::Control;
    }
    if host.nic.inflight_cap.is_some() {
        // A cap below what one ACK answers would wait for the ACK that waits for it.
        host.ack_every = 1;
    }
}

/// Flows between them, half of them into one host.
pub fn traffic(seed: u64, plan: &Plan, hosts: &[u32]) -> Vec<(Time, FlowSpec)> {
    let mut rng = stream(seed, "swarm traffic", 0);
    let sink = hosts[rng.below(hosts.len() as u64) as usize];
    (0..1 + rng.below(40) as u32)
        .map(|handle| {
            let src = hosts[rng.below(hosts.len() as u64) as usize];
            // Half of it is an incast on one host.
            let dst = if rng.below(2) == 0 { sink } else { hosts[rng.below(hosts.len() as u64) as usize] };
            let dst =
                if dst == src { hosts[(hosts.iter().position(|&h| h == src).unwrap() + 1) % hosts.len()] } else { dst };
            let mut spec = flow(handle, src, dst, 1 + rng.pareto(100_000.0, 1.0).min(3_000_000.0) as u64);
            spec.class = rng.below(plan.classes.list.len() as u64 - 1) as u8;
            (Time::from_ns(rng.below(20_000)), spec)
        })
        .collect()
}
