//! The fabric against closed forms: exact times, goodput, the PFC cycle, shares, waiting times.

use crate::common::*;
use crate::scripted::Scripted;
use xoff_engine::{BitRate, Span, Time, stream};
use xoff_fabric::plan::*;
use xoff_fabric::traffic::{Action, Source};

#[test]
fn one_flow_takes_the_closed_form_to_the_picosecond_over_one_to_six_hops() {
    for hops in 1..=6u64 {
        for size in [1u64, 1000, 1001, 5000, 123_456] {
            let rates = vec![100; hops as usize];
            let (net, src, dst) = Net::chain(&rates, Span::from_us(1));
            let world = net.run(vec![(Time::from_us(3), flow(0, src, dst, size))]);
            let record = &world.flows[0];
            // Equal links: the last packet leaves after all others, then crosses the other hops.
            let packets = size.div_ceil(1000);
            let last = (size - (packets - 1) * 1000 + 62).max(64) + 20;
            let full = 1082 * 80;
            // A short last packet catches up with the full one ahead of it at every hop but the first.
            let expected = if packets == 1 {
                hops * (last * 80 + 1_000_000)
            } else {
                (packets - 1) * full + (hops - 1) * full + last * 80 + hops * 1_000_000
            };
            let fct = record.delivered_at.unwrap() - record.start;
            assert_eq!(fct.ps(), expected, "{size} bytes over {hops} hops");
            assert_eq!(record.ideal, fct, "ideal of {size} bytes over {hops} hops");
            // The ACK: 86 bytes back over every hop, unless a shorter packet came so close behind
            // another that its ACK waits for that one's.
            if packets == 1 || last >= 86 {
                let acked = record.acked_at.unwrap() - record.delivered_at.unwrap();
                assert_eq!(acked.ps(), hops * (86 * 80 + 1_000_000));
            }
        }
    }
}

#[test]
fn ideal_time_is_exact_over_unequal_links() {
    for rates in [vec![100, 400, 400, 100], vec![25, 100, 10], vec![400, 10, 400], vec![10, 100, 25, 40]] {
        for size in [1500u64, 2000, 64_000, 64_001] {
            let (net, src, dst) = Net::chain(&rates, Span::from_ns(700));
            let world = net.run(vec![(Time::ZERO, flow(0, src, dst, size))]);
            let record = &world.flows[0];
            // PFC may hold the sender back, never delivery: the slowest link always has a packet.
            assert_eq!(record.delivered_at.unwrap() - record.start, record.ideal, "{size} over {rates:?}");
        }
    }
}

#[test]
fn goodput_at_line_rate_pays_for_headers() {
    // roce-transport 5.1: 100G with 1024 B payload carries 92.59 Gb/s.
    let mut net = Net::star(2, 100, Span::from_us(1));
    net.plan.hosts[0].mtu_bytes = 1024;
    let world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 102_400_000))]);
    let record = &world.flows[0];
    let seconds = (record.delivered_at.unwrap() - record.start).as_s();
    let goodput = 102_400_000.0 * 8.0 / seconds / 1e9;
    assert!((goodput - 92.586).abs() < 0.03, "{goodput} Gb/s");
}

#[test]
fn two_flows_of_one_nic_alternate_and_a_paced_one_gets_its_quarter() {
    // roce-transport 5.5
    let net = Net::star(4, 100, Span::from_us(1));
    let world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 1_000_000)), (Time::ZERO, flow(1, 1, 3, 1_000_000))]);
    let ends: Vec<u64> = world.flows.iter().map(|f| f.delivered_at.unwrap().ps()).collect();
    assert_eq!(ends[0].abs_diff(ends[1]), 1082 * 80, "strict alternation ends one packet apart");

    let mut net = Net::star(4, 100, Span::from_us(1));
    net.plan.run.stop = Time::from_ms(10);
    let mut quarter = endless(1, 1, 3);
    quarter.rate_cap = Some(BitRate::from_gbps(25));
    let world = net.run(vec![(Time::ZERO, endless(0, 1, 2)), (Time::ZERO, quarter)]);
    let bytes: Vec<f64> = world.flows.iter().map(|f| f.delivered_bytes as f64).collect();
    assert!((bytes[1] / (bytes[0] + bytes[1]) - 0.25).abs() < 0.001, "{bytes:?}");
}

#[test]
fn pacing_spaces_packets_by_the_rate() {
    // roce-transport 5.2: 1024 B payload at 4.5 Gb/s leaves every 1966.2 ns.
    let mut net = Net::star(2, 100, Span::from_us(1));
    net.plan.hosts[0].mtu_bytes = 1024;
    let mut paced = flow(0, 1, 2, 1024 * 101);
    paced.rate_cap = Some(BitRate::from_mbps(4_500));
    let world = net.run(vec![(Time::ZERO, paced)]);
    let record = &world.flows[0];
    let path = 2 * (1106 * 80 + 1_000_000);
    let spacing = (record.delivered_at.unwrap().ps() - path) as f64 / 100.0 / 1e3;
    assert!((spacing - 1966.2222).abs() < 0.001, "{spacing} ns");
}

#[test]
fn pfc_cycles_as_the_closed_form_says() {
    // pfc 7.2: C = 40G into a 20G drain, Xoff/Xon 320/318 KB, loop delay about 8.4 us.
    let (mut net, src, dst) = Net::chain(&[40, 20], Span::from_us(4));
    net.plan.run.stop = Time::from_ms(5);
    let world = net.run(vec![(Time::ZERO, endless(0, src, dst))]);
    let ingress = 1;
    let pauses: Vec<_> = world.pauses.iter().filter(|p| p.port == ingress).collect();
    let on: Vec<f64> = pauses.iter().filter(|p| p.pause).map(|p| p.at.as_us()).collect();
    let cycle = (on[on.len() - 1] - on[1]) / (on.len() - 2) as f64;
    // tau: PAUSE decided to last bit in: PFC behind nothing (ACKs are short), 4 us each way and
    // half a packet of reaction on average.
    assert!((cycle - 35.2).abs() < 1.0, "cycle {cycle} us");
    let mut world = world;
    let reports = world.port_reports();
    let peak = reports[ingress as usize].classes[0].ingress_bytes_peak;
    assert!((340_000..=342_500).contains(&peak), "peak {peak}");
    // The mean rate is exactly the drain's.
    let delivered = world.flows[0].delivered_bytes as f64 * 1082.0 / 1000.0 * 8.0 / 5e-3 / 1e9;
    assert!((delivered - 20.0).abs() < 0.1, "{delivered} Gb/s");
    assert_eq!(world.counters.drops_lossless, 0);
}

#[test]
fn pfc_frames_are_kept_when_they_arrive_and_only_on_request() {
    let run = |asked| {
        let (mut net, src, dst) = Net::chain(&[40, 20], Span::from_us(4));
        net.plan.run.stop = Time::from_ms(2);
        net.plan.run.record_pfc_frames = asked;
        net.run(vec![(Time::ZERO, endless(0, src, dst))])
    };
    assert!(run(false).pfc_frames.is_empty());
    let world = run(true);
    assert!(world.pauses.len() > 50);
    // 64 B and 20 B of preamble and gap at 40 Gb/s: the last bit is in before the gap has passed.
    let least = Span::from_ns(4_000) + Span::from_ps(64 * 200);
    // An ACK on the wire goes first.
    let most = least + Span::from_ps(200 * 200);
    for (sent, received) in world.pauses.iter().zip(&world.pfc_frames) {
        assert_eq!((received.port, received.class, received.pause), (0, sent.class, sent.pause));
        let took = received.at - sent.at;
        assert!(took >= least && took <= most, "{took:?}");
    }
    // Only the last ones may still be under way.
    assert!(world.pauses.len() - world.pfc_frames.len() <= 1);
}

#[test]
fn dynamic_threshold_settles_at_its_fixed_point() {
    // pfc 7.3: n ingresses settle at alpha S / (1 + n alpha).
    for (n, expected) in [(1u64, 1_223_537u64), (2, 1_101_184), (8, 688_240)] {
        let mut net = Net::new();
        let s0 = net.switch("s0");
        let dst = net.host("dst");
        net.link(s0, dst, 10, Span::from_us(1));
        let mut flows = Vec::new();
        for i in 0..n {
            let (src, _) = net.host_at(&format!("h{i}"), s0, 100, Span::from_us(1));
            flows.push((Time::ZERO, endless(i as u32, src, dst)));
        }
        let ports = n + 1;
        let (headroom, reserve) = (100_000, 4096);
        net.plan.switches[0] = SwitchSettings {
            buffer_bytes: 11_011_840 + ports * (headroom + reserve),
            pfc: PfcSettings { headroom: Headroom::Bytes(headroom), ..PfcSettings::default() },
            ..SwitchSettings::default()
        };
        net.plan.run.stop = Time::from_ms(20);
        let mut world = net.run(flows);
        let reports = world.port_reports();
        for i in 0..n as usize {
            let row = &reports[(i + 1) * 2 + 1].classes[0];
            let threshold = row.xoff_bytes.unwrap() - reserve;
            let off = threshold.abs_diff(expected) as f64 / expected as f64;
            assert!(off < 0.01, "n = {n}: threshold {threshold}, expected {expected}");
            assert!(row.ingress_bytes_peak <= threshold + reserve + headroom + 2 * 1082, "usage stays within headroom");
        }
    }
}

#[test]
fn pausing_one_class_leaves_the_others_at_line_rate() {
    // pfc 7.5
    let mut net = Net::star(3, 40, Span::from_us(1));
    net.plan.classes.list.insert(1, Class { priority: 4, ..Class::default() });
    net.plan.classes.control = 2;
    net.plan.run.stop = Time::from_ms(2);
    net.plan.faults = vec![Fault { at: Time::ZERO, what: FaultKind::PauseStorm { host_port: 2, class: 0, on: true } }];
    net.plan.run.stall_after = None;
    let mut other = endless(1, 1, 2);
    other.class = 1;
    let world = net.run(vec![(Time::ZERO, endless(0, 1, 2)), (Time::ZERO, other)]);
    let [paused, free] = [&world.flows[0], &world.flows[1]].map(|f| f.delivered_bytes as f64 * 8.0 / 2e-3 / 1e9);
    assert!(paused < 0.2, "the paused class moved {paused} Gb/s");
    assert!((free - 40.0 * 1000.0 / 1082.0).abs() < 0.2, "the free class got {free} Gb/s");
}

#[test]
fn timed_pauses_expire_are_overwritten_and_end_at_once() {
    // pfc 7.4, with pauses of 5 us sent by a host: alone it lasts 5 us; a second one 2 us later
    // overwrites and does not add; a RESUME ends it at once.
    let paused = |signals: &[(u64, bool)]| {
        let mut net = Net::star(2, 40, Span::from_us(1));
        net.plan.switches[0].pfc.signalling = Signalling::Timed {
            pause: Span::from_us(5),
            refresh: Span::from_us(2),
            per_arrival: false,
            resume: ResumeAt::Departures,
        };
        net.plan.run.stop = Time::from_ms(1);
        net.plan.faults = signals
            .iter()
            .map(|&(us, on)| Fault {
                at: Time::from_us(us),
                what: FaultKind::PauseStorm { host_port: 2, class: 0, on },
            })
            .collect();
        // The host must have nothing else to send, or its frames would wait for that.
        net.plan.hosts[0].ack_every = 1000;
        let mut world = net.run(vec![(Time::ZERO, endless(0, 1, 2))]);
        world.port_reports()[3].classes[0].paused
    };
    assert_eq!(paused(&[(100, true)]), Span::from_us(5));
    assert_eq!(paused(&[(100, true), (102, true)]), Span::from_us(7));
    assert_eq!(paused(&[(100, true), (103, false)]), Span::from_us(3));
}

/// What a switch decides about its sender, in picoseconds, where 40 Gb/s come in and 10 Gb/s go out; PAUSEs last 5 us
/// and are looked after every 2 us.
fn looked_at(resume: ResumeAt, xon_bytes: u64) -> Vec<(u64, bool)> {
    let mut net = Net::star(2, 40, Span::from_us(1));
    net.plan.links[1].b_to_a.rate = BitRate::from_gbps(10);
    net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 20_000, xon_bytes };
    net.plan.switches[0].pfc.signalling =
        Signalling::Timed { pause: Span::from_us(5), refresh: Span::from_us(2), per_arrival: true, resume };
    (net.plan.run.record_pauses, net.plan.run.record_refreshes) = (true, true);
    // Nothing but PFC goes back to the sender.
    net.plan.hosts[0].ack_every = 1000;
    let world = net.run(vec![(Time::ZERO, flow(0, 1, 2, 400_000))]);
    assert_eq!((world.counters.flows_completed, world.counters.drops_lossless), (1, 0));
    world.pauses.iter().map(|record| (record.at.ps(), record.pause)).collect()
}

#[test]
fn an_ingress_may_be_resumed_at_looks_only() {
    const US: u64 = 1_000_000;
    let resumes = |told: &[(u64, bool)]| told.iter().filter(|(_, pause)| !pause).count();
    // With XON right below XOFF a look finds one or the other: a RESUME comes exactly 2 us after the last PAUSE.
    // What arrives meanwhile above XOFF is another PAUSE, and puts the look off.
    let told = looked_at(ResumeAt::Checks, 19_999);
    assert!(resumes(&told) > 3, "{told:?}");
    for pair in told.windows(2).filter(|pair| !pair[1].1) {
        assert_eq!((pair[0].1, pair[1].0 - pair[0].0), (true, 2 * US));
    }
    let gaps: Vec<u64> =
        told.windows(2).filter(|pair| pair[0].1 && pair[1].1).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(gaps.iter().all(|gap| *gap <= 2 * US) && gaps.contains(&(2 * US)), "{gaps:?}");
    // As packets leave, 1062 B every 0.866 us, it is found sooner.
    let sooner = looked_at(ResumeAt::Departures, 19_999);
    let waits = |told: &[(u64, bool)]| {
        told.windows(2).filter(|pair| pair[0].1 && !pair[1].1).map(|pair| pair[1].0 - pair[0].0).min()
    };
    assert!(waits(&sooner) < Some(US), "{sooner:?}");
    // A look between XON and XOFF ends the looks: there is no RESUME, the PAUSE runs out 5 us after it was told.
    let told = looked_at(ResumeAt::Checks, 0);
    assert_eq!(resumes(&told), 0, "{told:?}");
    let longest = told.windows(2).map(|pair| pair[1].0 - pair[0].0).max();
    assert!(longest > Some(5 * US), "{told:?}");
}

#[test]
fn equal_senders_share_equally() {
    for n in [2u32, 3, 7] {
        let mut net = Net::star(n as usize + 1, 100, Span::from_us(1));
        net.plan.run.stop = Time::from_ms(20);
        let flows = (0..n).map(|i| (Time::ZERO, endless(i, i + 1, n + 1))).collect();
        let world = net.run(flows);
        let bytes: Vec<f64> = world.flows.iter().map(|f| f.delivered_bytes as f64).collect();
        let fair = 100e9 / 8.0 * 1000.0 / 1082.0 * 0.02 / f64::from(n);
        for b in &bytes {
            assert!((b / fair - 1.0).abs() < 0.02, "{n} senders: {bytes:?}, fair {fair}");
        }
    }
}

#[test]
fn simultaneous_arrivals_have_no_favourite() {
    // Two equal senders start together, so every pair of packets meets at the same picosecond.
    // The queue is short enough that no PFC acts; order in the queue decides who is delivered
    // first, and neither side may win always.
    let mut net = Net::star(3, 100, Span::from_us(1));
    net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 40_000_000, xon_bytes: 39_000_000 };
    let mut first = [0u32; 2];
    for round in 0..200u64 {
        let at = Time::from_ps(round * 1_234_567);
        let world = Net { plan: net.plan.clone() }.run(vec![(at, flow(0, 1, 3, 1000)), (at, flow(1, 2, 3, 1000))]);
        let winner = world.flows.iter().min_by_key(|f| f.delivered_at).unwrap();
        first[winner.src as usize - 1] += 1;
    }
    assert!((70..=130).contains(&first[0]), "sender 1 won {first:?}");
}

/// Packets of one MTU at Poisson times.
struct PoissonPackets {
    rng: xoff_engine::Rng,
    mean_ps: f64,
    at: Time,
    sent: u32,
    total: u32,
    hosts: u32,
    dst: u32,
}

impl Source for PoissonPackets {
    fn next(&self) -> Option<Time> {
        (self.sent < self.total).then_some(self.at)
    }
    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        // Spread over many senders, so that the NIC itself never queues.
        out.push(Action::Start(flow(self.sent, 1 + self.sent % self.hosts, self.dst, 1000)));
        self.sent += 1;
        self.at = now + Span::from_ps(self.rng.exponential(self.mean_ps) as u64);
    }
}

#[test]
fn waiting_time_is_that_of_an_m_d_1_queue() {
    let hosts = 400;
    let mut net = Net::new();
    let s0 = net.switch("s0");
    for i in 0..hosts {
        // Fast enough that a packet is in the switch almost when it is made.
        net.host_at(&format!("h{i}"), s0, 1600, Span::from_ns(1));
    }
    let dst = net.host("dst");
    net.link(s0, dst, 10, Span::from_ns(1));
    net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes: 100_000, xon_bytes: 90_000 };
    net.plan.run.stop = Time::from_ms(100_000);
    let service = 1082.0 * 800.0;
    let rho = 0.7;
    let source = PoissonPackets {
        rng: stream(5, "md1", 0),
        mean_ps: service / rho,
        at: Time::ZERO,
        sent: 0,
        total: 600_000,
        hosts,
        dst,
    };
    let world = net.run_under(Scripted::uncontrolled(), Box::new(source));
    let waits: f64 =
        world.flows.iter().map(|f| (f.delivered_at.unwrap() - f.start).ps() as f64 - f.ideal.ps() as f64).sum::<f64>()
            / world.flows.len() as f64;
    let expected = rho / (2.0 * (1.0 - rho)) * service;
    assert!((waits / expected - 1.0).abs() < 0.01, "mean wait {waits} ps, M/D/1 says {expected}");
}
