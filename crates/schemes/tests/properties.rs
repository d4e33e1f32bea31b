//! What must hold of every scheme of the registry, whatever happens to it.

mod common;

use common::Script;
use common::random::{network, traffic};
use xoff_engine::{BitRate, Rng, Span, Time, stream};
use xoff_fabric::packet::{Ecn, IntHop, IntStack};
use xoff_fabric::plan::{Fault, FaultKind, Irn, NodeKind, Plan, Recovery, Sack, Thresholds};
use xoff_fabric::record::{Counters, FlowRecord};
use xoff_fabric::scheme::*;
use xoff_schemes::param::{Base, ParamValues, RateValue, Value};
use xoff_schemes::{Any, SchemeSet, all, bases, select};
use xoff_yardstick::every_case;

/// Every scheme with every preset of its own, all of which are valid; every overlay over every base that it accepts.
fn everything() -> Vec<(String, ParamValues)> {
    let mut found = Vec::new();
    for spec in all() {
        found.push((spec.name.to_owned(), select(spec.name).unwrap()));
        for preset in spec.presets.iter().skip(1) {
            let name = format!("{}:{}", spec.name, preset.name);
            let values = select(&name).unwrap_or_else(|why| panic!("{name}: {why}"));
            found.push((name, values));
        }
        if spec.base != Base::Alone {
            let names = bases().iter().map(|base| format!("{}+{}", spec.name, base.name));
            found.extend(names.filter_map(|name| select(&name).ok().map(|values| (name, values))));
        }
    }
    found
}

/// One queue, one receiver and one sender of a flow, fed with whatever comes.
struct Points {
    now: Time,
    view: QueueView,
    cp: <Any as Scheme>::Cp,
    np: <Any as Scheme>::Np,
    rp: <Any as Scheme>::Rp,
    transit: Option<<Any as Scheme>::Transit>,
    /// What was said to the flow so far; any of it may reach it at any time, twice or never.
    said: Vec<<Any as Scheme>::Feedback>,
    int: Option<IntStack>,
    sent: u64,
    acked: u64,
}

const OWN: u32 = 7;

impl Points {
    fn new(scheme: &Any, line: BitRate, rng: &mut Rng) -> Points {
        let flow = FlowFacts {
            initial_rate: if rng.below(3) == 0 { BitRate::from_bps(line.bps() / 3) } else { line },
            weight: 1 + rng.below(4) as u16,
            flow: rng.below(1000),
            inter_domain: (rng.below(2) == 0).then(|| InterDomain {
                near_rtt: Span::from_us(1 + rng.below(30)),
                far_rtt: Span::from_us(1 + rng.below(30)),
                far_line_rate: line,
            }),
            ..FlowFacts::at(line, Span::from_us(2 + rng.below(100)))
        };
        let static_pfc = rng.below(2) == 0;
        let queue = QueueFacts {
            queue: rng.below(1000),
            xoff_bytes: static_pfc.then_some(320_000),
            xon_bytes: static_pfc.then_some(318_000),
            pause_bytes: static_pfc.then_some(320_000),
            leaves_domain: rng.below(2) == 0,
            ..QueueFacts::at(line)
        };
        Points {
            now: Time::ZERO,
            view: QueueView::at(line, Time::ZERO, 0),
            cp: scheme.congestion_point(&queue),
            np: scheme.notification_point(&flow),
            rp: scheme.reaction_point(&flow),
            transit: flow.inter_domain.and_then(|_| scheme.transit(&flow)),
            said: Vec::new(),
            int: scheme.format().int.then(IntStack::default),
            sent: 0,
            acked: 0,
        }
    }

    fn receive(&mut self, flow: u32, feedback: <Any as Scheme>::Feedback) {
        if flow == OWN {
            self.said.push(feedback);
            if self.said.len() > 50 {
                self.said.remove(0);
            }
        }
    }

    fn switch(&mut self, rng: &mut Rng) {
        let mut notices = Vec::new();
        let mut notified = |flow, feedback| notices.push((flow, feedback));
        let flow = if rng.below(3) == 0 { OWN } else { rng.below(40) as u32 };
        let packet = PacketFacts {
            flow,
            name: flow.wrapping_mul(0x9e37_79b9),
            ends: (flow / 4) as u16,
            frame_bytes: 64 + rng.below(4000) as u32,
            own: flow == OWN || flow.is_multiple_of(2),
        };
        if !packet.own && !self.cp.hooks().has(Hooks::EVERY) {
            return;
        }
        self.view.now = self.now;
        let mut ecn = [Ecn::Ect0, Ecn::Ect1, Ecn::Ce][rng.below(3) as usize];
        match rng.below(8) {
            0 => {
                self.view.paused = !self.view.paused;
                self.cp.on_pause_change(&self.view);
            }
            1 => {
                // The queue jumps: everything is possible but a negative length.
                self.view.queue_packets = rng.below(3000) as u32;
                self.view.queue_bytes = u64::from(self.view.queue_packets) * 1062;
            }
            2..5 => {
                let mark = Mark { ecn: &mut ecn, int: if packet.own { self.int.as_mut() } else { None } };
                self.cp.on_enqueue(&self.view, &packet, 1 + rng.below(4) as u16, mark, &mut notified);
                self.view.queue_bytes += u64::from(packet.frame_bytes);
                self.view.queue_packets += 1;
            }
            _ => {
                self.view.queue_bytes = self.view.queue_bytes.saturating_sub(u64::from(packet.frame_bytes));
                self.view.queue_packets = self.view.queue_packets.saturating_sub(1);
                if let Some(int) = &mut self.int {
                    int.clear();
                    // Reordered, repeated and jumping telemetry of other hops before this one.
                    for _ in 0..rng.below(4) {
                        int.push(IntHop {
                            rate: self.view.rate,
                            at: Time::from_ps(self.now.ps() / 2 + rng.below(self.now.ps() / 2 + 1)),
                            tx_bytes: rng.below(1 << 40),
                            queue_bytes: rng.below(1 << 26),
                        });
                    }
                }
                let mark = Mark { ecn: &mut ecn, int: if packet.own { self.int.as_mut() } else { None } };
                self.cp.on_dequeue(&self.view, &packet, mark, &mut notified);
                self.view.tx_bytes += u64::from(packet.frame_bytes);
            }
        }
        self.view.port_bytes = self.view.queue_bytes;
        if self.cp.hooks().has(Hooks::TIMER)
            && let Some(at) = CongestionPoint::timer(&self.cp)
            && at <= self.now
        {
            CongestionPoint::on_timer(&mut self.cp, &self.view, &mut notified);
            let next = CongestionPoint::timer(&self.cp);
            assert!(
                next.is_none_or(|next| next > self.now),
                "a timer that does not advance: {next:?} at {:?}",
                self.now
            );
        }
        for (flow, feedback) in notices {
            self.receive(flow, feedback);
        }
    }

    fn receiver(&mut self, rng: &mut Rng) {
        let packet = Received {
            now: self.now,
            wire_bytes: 84 + rng.below(4000) as u32,
            payload_bytes: 1 + rng.below(4000) as u32,
            ecn: [Ecn::Ect0, Ecn::Ect1, Ecn::Ce, Ecn::Ce][rng.below(4) as usize],
        };
        self.gateway(rng);
        if self.np.feeds_back_in_acks() {
            if let Some(int) = &self.int {
                self.np.on_telemetry(self.now, int);
            }
            let feedback = self.np.ack_feedback(self.now);
            self.said.extend(feedback);
        }
        let feedback = self.np.on_data(&packet);
        self.said.extend(feedback);
        for _ in 0..3 {
            if NotificationPoint::timer(&self.np).is_some_and(|at| at <= self.now) {
                let feedback = NotificationPoint::on_timer(&mut self.np, self.now);
                self.said.extend(feedback);
            }
        }
        let next = NotificationPoint::timer(&self.np);
        assert!(next.is_none_or(|next| next > self.now), "a timer that does not advance: {next:?} at {:?}", self.now);
    }

    fn gateway(&mut self, rng: &mut Rng) {
        let Some(transit) = &mut self.transit else { return };
        let queue_bytes = rng.below(3) * rng.below(1 << 30);
        match rng.below(3) {
            0 => transit.on_arrive(self.now, queue_bytes),
            1 => transit.on_release(self.now, queue_bytes, self.int.as_mut()),
            _ => {
                if !self.said.is_empty() {
                    transit.on_ack(self.now, &self.said[rng.below(self.said.len() as u64) as usize]);
                }
            }
        }
        let rate = transit.rate_bps();
        assert!(rate.is_finite() && rate > 0.0 && rate <= self.view.rate.bps() as f64, "{rate}");
    }

    fn sender(&mut self, rng: &mut Rng) {
        match rng.below(10) {
            0..3 => {
                self.sent += 1000;
                self.rp.on_sent(self.now, 1082);
            }
            3..7 => {
                let bytes = rng.below(8) * 1000;
                let before = self.acked;
                self.acked = (self.acked + bytes).min(self.sent);
                self.rp.on_ack(&Acked {
                    now: self.now,
                    bytes: self.acked - before,
                    acked_bytes: self.acked,
                    sent_bytes: self.sent,
                    rtt: Span::from_ns(1 + rng.below(2_000_000)),
                    ecn: [Ecn::Ect0, Ecn::Ect1, Ecn::Ce][rng.below(3) as usize],
                    int: self.int.as_ref(),
                    duplicate: self.acked == before && self.sent > before && rng.below(4) > 0,
                    resent: rng.below(4) == 0,
                    path: 0,
                    nak: rng.below(4) == 0,
                });
            }
            7 => {
                let loss = [Loss::Nak, Loss::Trimmed, Loss::Timeout][rng.below(3) as usize];
                self.rp.on_loss(self.now, loss, rng.below(3) * 1000);
            }
            8 => {
                // Late, early or stale: a timer may be called at any time it asked for or after.
                if ReactionPoint::timer(&self.rp).is_some_and(|at| at <= self.now) {
                    self.rp.on_timer(self.now);
                }
            }
            _ => {
                if !self.said.is_empty() {
                    let any = rng.below(self.said.len() as u64) as usize;
                    let feedback = self.said[any];
                    self.rp.on_feedback(self.now, &feedback);
                }
            }
        }
        self.rp.resend(&Outstanding {
            now: self.now,
            acked_bytes: self.acked,
            sent_bytes: self.sent,
            highest_bytes: self.sent + rng.below(3) * 1000,
        });
    }
}

#[test]
fn rates_and_windows_stay_within_their_bounds() {
    for (name, values) in everything() {
        for case in 0..12 {
            let mut rng = stream(case, "points", 0);
            let line = BitRate::from_gbps([1, 10, 40, 100, 400][rng.below(5) as usize]);
            let scheme = Any::configure(&values).unwrap();
            let floor = floor(&values, line);
            let mut points = Points::new(&scheme, line, &mut rng);
            for step in 0..4000 {
                let longest = [20, 2_000, 300_000][rng.below(3) as usize];
                points.now += Span::from_ns(rng.below(longest));
                match rng.below(3) {
                    0 => points.switch(&mut rng),
                    1 => points.receiver(&mut rng),
                    _ => points.sender(&mut rng),
                }
                let limits = points.rp.limits();
                let (rate, line) = (limits.rate_bps, line.bps() as f64);
                assert!(rate.is_finite() && rate <= line, "{name}, case {case}, step {step}: {rate} above {line}");
                assert!(rate >= floor, "{name}, case {case}, step {step}: {rate} below {floor}");
                assert!(limits.window_bytes >= 1, "{name}, case {case}, step {step}: no window");
            }
        }
    }
}

/// The scheme's own floor where it has one; a millionth of the line otherwise.
fn floor(values: &ParamValues, line: BitRate) -> f64 {
    let least = line.bps() as f64 * 1e-6;
    let own = |values: &ParamValues| {
        // The gap after a burst is the pace of its last packet, below any floor of the mean rate.
        let even = values.spec().param("pacing").is_none() || *values.get("pacing") != Value::Choice("burst");
        let rate_min = values.spec().param("rate_min").map(|_| values.value::<RateValue>("rate_min"));
        rate_min.filter(|_| even).map(|rate| rate.at(line).min(line.bps() as f64) * (1.0 - 1e-9))
    };
    let base = values.base().and_then(own);
    match (own(values), base) {
        (Some(a), Some(b)) => a.min(b),
        (Some(a), None) if values.base().is_none() => a,
        _ => least,
    }
}

/// A random tree with random traffic under one scheme, and things that go wrong: frames lost on
/// wires, a host in a PAUSE storm, a link that flaps and moves flows to its twin.
fn run(values: &ParamValues, seed: u64) -> (Counters, Vec<FlowRecord>, Vec<String>) {
    run_changed(values, seed, |_| {})
}

/// Runs with a plan that `change` has changed, trouble included.
fn run_changed(
    values: &ParamValues,
    seed: u64,
    change: impl FnOnce(&mut Plan),
) -> (Counters, Vec<FlowRecord>, Vec<String>) {
    let (mut plan, hosts) = network(seed);
    let flows = traffic(seed, &plan, &hosts);
    plan.run.stall_after = Some(Span::from_ms(2000));
    plan.run.stop = Time::from_ms(60_000);
    let trouble = trouble(&mut plan, seed);
    change(&mut plan);
    let mut world = xoff_schemes::world(plan, &[values], vec![Script::flows(flows)], None);
    world.run_to_end();
    assert_eq!((&world.failure, world.check_conservation()), (&None, Ok(())), "seed {seed}: {trouble:?}");
    (world.counters, std::mem::take(&mut world.flows), trouble)
}

fn trouble(plan: &mut Plan, seed: u64) -> Vec<String> {
    let mut rng = stream(seed, "trouble", 0);
    let mut trouble = Vec::new();
    if rng.below(2) == 0 {
        let port = rng.below(plan.ports() as u64) as u32;
        let loss = [1e-4, 1e-3, 1e-2][rng.below(3) as usize];
        let direction = &mut plan.links[port as usize / 2];
        if port & 1 == 0 {
            direction.a_to_b.loss = loss
        } else {
            direction.b_to_a.loss = loss
        }
        trouble.push(format!("loss {loss} on port {port}"));
    }
    if rng.below(2) == 0 {
        let host_port = (0..plan.ports() as u32)
            .find(|&port| plan.nodes[plan.node_of(port) as usize].kind == NodeKind::Host)
            .expect("there are hosts");
        for (at, on) in [(30, true), (230, false)] {
            let what = FaultKind::PauseStorm { host_port, class: 0, on };
            plan.faults.push(Fault { at: Time::from_us(at), what });
        }
        trouble.push(format!("storm at port {host_port}"));
    }
    if rng.below(2) == 0 {
        let link = rng.below(plan.links.len() as u64) as u32;
        plan.faults.push(Fault { at: Time::from_us(40), what: FaultKind::LinkDown { link } });
        plan.faults.push(Fault { at: Time::from_us(340), what: FaultKind::LinkUp { link } });
        plan.faults.sort_by_key(|fault| fault.at);
        trouble.push(format!("link {link} flaps"));
    }
    trouble
}

/// Runs every `step`th scheme from `first` on.
fn every_flow_finishes(first: usize, step: usize) {
    let (seeds, twice) = if every_case() { (6, 3) } else { (2, 1) };
    for (name, values) in everything().into_iter().skip(first).step_by(step) {
        for seed in 0..seeds {
            let (counters, flows, trouble) = run(&values, seed);
            assert_eq!(
                counters.flows_completed, counters.flows_started,
                "{name}, seed {seed}, with {trouble:?}: flows are left over"
            );
            assert!(flows.iter().all(|flow| Some(flow.delivered_bytes) == flow.size_bytes), "{name}, seed {seed}");
            if seed < twice {
                let again = run(&values, seed);
                assert_eq!((counters, &flows), (again.0, &again.1), "{name}, seed {seed}: two runs differ");
            }
        }
    }
}

#[test]
fn every_flow_finishes_and_the_same_seed_gives_the_same_run() {
    every_flow_finishes(0, 2);
}

/// The other half of the schemes, beside the first.
#[test]
fn every_flow_finishes_and_the_same_seed_gives_the_same_run_others() {
    every_flow_finishes(1, 2);
}

/// Hosts that recover so. In a lossy class nothing pauses, and switches trim if receivers send NACKs of that.
fn recover(plan: &mut Plan, recovery: Recovery, lossless: bool) {
    for host in &mut plan.hosts {
        (host.recovery, host.ack_every) = (recovery, 1);
        host.retransmit_timeout = host.retransmit_timeout.min(Span::from_ms(2));
    }
    if !lossless {
        plan.classes.list.iter_mut().for_each(|class| class.lossless = false);
        plan.faults.retain(|fault| !matches!(fault.what, FaultKind::PauseStorm { .. }));
        for switch in &mut plan.switches {
            switch.trim_bytes = matches!(recovery, Recovery::Sack(_)).then_some(64);
        }
    }
}

#[test]
fn every_scheme_finishes_with_every_recovery() {
    let recoveries = [Recovery::Irn(Irn::PAPER), Recovery::IrnRewind(Irn::PAPER), Recovery::Sack(Sack::UEC)];
    let mut naks = 0;
    for (number, spec) in (0..).zip(all()) {
        let values = select(spec.name).unwrap();
        // Receivers that reorder by a rule of their own, and TCP.
        if xoff_schemes::formats(&values).iter().all(|of| of.reorder || of.transport == Transport::Tcp) {
            continue;
        }
        for (recovery, lossless) in recoveries.into_iter().flat_map(|recovery| [(recovery, true), (recovery, false)]) {
            let (counters, flows, trouble) = run_changed(&values, number, |plan| recover(plan, recovery, lossless));
            let what = format!("{}, {recovery:?}, lossless {lossless}, with {trouble:?}", spec.name);
            assert_eq!(counters.flows_completed, counters.flows_started, "{what}: flows are left over");
            assert!(flows.iter().all(|flow| Some(flow.delivered_bytes) == flow.size_bytes), "{what}");
            naks += counters.naks_sent;
        }
    }
    assert!(naks > 1000, "{naks}");
}

#[test]
fn trouble_breaks_no_fabric() {
    // Many draws of what can go wrong, under the scheme that fills buffers most.
    let values = select("none").unwrap();
    for seed in 0..if every_case() { 300 } else { 100 } {
        let (counters, _, trouble) = run(&values, seed);
        assert_eq!(counters.flows_completed, counters.flows_started, "seed {seed}, with {trouble:?}");
    }
}

/// Without trouble a lossless tree loses nothing and sends nothing twice.
#[test]
fn without_trouble_nothing_is_lost() {
    let (mut paused, mut dynamic, mut classes) = (0, 0, 0);
    let seeds = if every_case() { 200 } else { 100 };
    for seed in 0..seeds {
        let (mut plan, hosts) = network(seed);
        // An ACK that travels with the data may wait out a whole incast: longer than any usual time-out.
        plan.hosts[0].retransmit_timeout = Span::from_ms(500);
        let is_dynamic = matches!(plan.switches[0].pfc.thresholds, Thresholds::Dynamic { .. });
        classes += u32::from(plan.classes.list.len() == 3);
        let flows = traffic(seed, &plan, &hosts);
        let mut world = xoff_schemes::world(plan, &[&select("none").unwrap()], vec![Script::flows(flows)], None);
        world.run_to_end();
        let c = &world.counters;
        assert_eq!((&world.failure, c.flows_completed), (&None, c.flows_started), "seed {seed}");
        let lost = (c.drops_lossless, c.drops_lossy, c.data_packets_retransmitted);
        assert_eq!((lost, world.check_conservation()), ((0, 0, 0), Ok(())), "seed {seed}");
        assert!(world.flows.iter().all(|flow| Some(flow.delivered_bytes) == flow.size_bytes), "seed {seed}");
        let faster = |flow: &&FlowRecord| flow.delivered_at.is_some_and(|at| at - flow.start < flow.ideal);
        assert_eq!(world.flows.iter().find(faster), None, "seed {seed}: faster than alone");
        paused += u32::from(c.pause_frames > 5);
        dynamic += u32::from(c.pause_frames > 5 && is_dynamic);
    }
    assert!(
        u64::from(paused) > seeds / 4 && dynamic > 0 && classes > 0,
        "{paused} {dynamic} {classes}: PFC fires in many"
    );
}
