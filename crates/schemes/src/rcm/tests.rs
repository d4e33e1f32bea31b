//! Worked numbers of the specification's section 9, and the rules they rest on.

use super::*;
use crate::param::Value;
use crate::select;
use crate::testing::configured;
use xoff_engine::BitRate;

const RATE: BitRate = BitRate::from_gbps(100);
const MTU: u32 = 1082;

fn params(texts: &[(&str, &str)]) -> Params {
    Params::read(&select("rcm").unwrap().with(texts))
}

/// QCN's sampling interval.
fn qcn_sampling() -> Params {
    params(&[("sample_max", "150KB"), ("sample_min", "15KB")])
}

fn window_law() -> WindowLaw {
    WindowLaw {
        gain: 1.0 / 126.0,
        min_bytes: 16_000,
        max_bytes: 100_000,
        mtu_bytes: 1_000,
        rate: RATE,
        again: false,
        one_cut: false,
        others_first: true,
    }
}

/// Queues as a test says.
#[derive(Clone, Copy, Default)]
struct Queues {
    input: u64,
    output: u64,
    voq: u64,
}

impl Occupancy for Queues {
    fn input_bytes(&self, _: u16, _: u8) -> u64 {
        self.input
    }
    fn output_bytes(&self, _: u16, _: u8) -> u64 {
        self.output
    }
    fn voq_bytes(&self, _: u16, _: u16, _: u8) -> u64 {
        self.voq
    }
}

fn control(texts: &[(&str, &str)]) -> Control {
    let port = PortFacts { rate: RATE, delay: Span::from_us(1), to_switch: true };
    let facts = SwitchFacts { seed: 1, switch: 0, ports: &[port; 4], classes: 1, mtu_wire_bytes: MTU };
    Control::new(Arc::new(params(texts)), &facts)
}

fn packet(us: u64, ingress: u16, egress: u16, flow: u32) -> Passing {
    Passing { now: Time::from_us(us), ingress, egress, class: 0, flow, frame_bytes: 1_000 }
}

/// A sample of output 2 (by input 0) that meets these queues; what it sends.
fn sample(control: &mut Control, us: u64, queues: Queues) -> Vec<(u16, Cn)> {
    let mut sent = Vec::new();
    for _ in 0..50 {
        control.on_arrival(&packet(us, 0, 2, 7), &queues, |port, cn| sent.push((port, cn)));
        control.on_transfer(&packet(us, 0, 2, 7), &queues);
    }
    sent
}

fn ids(flows: &[u32]) -> Ids {
    let mut ids = Ids::EMPTY;
    flows.iter().for_each(|&flow| ids.insert(flow, 64));
    ids
}

fn cn(degree: u8, flows: &[u32]) -> Cn {
    Cn { degree, class: 0, harmful: ids(flows) }
}

#[test]
fn rcm_9_1_measure_and_degree() {
    let params = params(&[]);
    for (last, queue, measure, degree) in [
        (10_000, 30_000, 48_000.0, 27),
        (30_000, 60_000, 98_000.0, 56),
        (60_000, 50_000, 8_000.0, 5),
        (70_000, 100_000, 138_000.0, 63),
        (60_000, 20_000, -82_000.0, 0),
    ] {
        assert_eq!(params.measure(queue, last), measure, "{last} to {queue} bytes");
        assert_eq!(params.quantise(measure), degree, "{last} to {queue} bytes");
    }
    // The flag follows the sign of each sample.
    let mut queue = Crd::default();
    queue.sample(&params, Time::ZERO, 60_000);
    assert!(queue.congested);
    queue.sample(&params, Time::ZERO, 20_000);
    assert!(!queue.congested && queue.degree == 0);
}

#[test]
fn rcm_9_2_regional_degree() {
    for (w, degree) in [(0.5, 30), (0.0, 20), (1.0, 40)] {
        let params = Params { w, ..params(&[]) };
        assert_eq!(params.regional(20, Some(40)), degree, "w = {w}");
        assert_eq!(params.regional(20, None), 20);
    }
}

#[test]
fn rcm_9_3_windows() {
    let law = window_law();
    let mut window = Window::new(&law, 160_000, 100_000, Time::ZERO);
    window.cut(&law, 63);
    assert_eq!((window.harmful_bytes, window.other_bytes()), (50_000, 110_000));
    window.cut(&law, 30);
    assert_eq!((window.harmful_bytes, window.other_bytes()), (38_095, 121_905));
    // Section 5: the floor is one MTU.
    for _ in 0..20 {
        window.cut(&law, 63);
    }
    assert_eq!(window.harmful_bytes, law.mtu_bytes);
}

/// An RCC whose window was measured over ten packets, three of them harmful.
fn three_of_ten(law: &WindowLaw) -> Rcc {
    let mut rcc = Rcc::default();
    rcc.on_congestion(law, 0, 1);
    for i in 0..10 {
        rcc.on_sent(law, Time::ZERO, 1_000, (i < 3).then_some(0));
    }
    let window = rcc.window().expect("measured");
    assert_eq!((window.bytes, window.harmful_bytes), (10_000, 3_000));
    rcc
}

#[test]
fn rcm_9_4_three_harmful_packets_in_ten() {
    // Both lists are backlogged; where both may send they alternate. Section 1 of the paper: others go
    // first. W_c stays what eq 5 leaves to harmful flows: strictly last they would have nothing, where
    // Fig. 6 shows a quarter of the link.
    for (others_first, expected) in [(true, "ooooooohhh"), (false, "hohohooooo")] {
        let law = WindowLaw { min_bytes: 10_000, others_first, ..window_law() };
        let mut rcc = three_of_ten(&law);
        let mut pattern = String::new();
        let mut last = Lane::Free;
        for _ in 0..30 {
            let (lanes, opens) = rcc.gate(&law, Time::ZERO, Lanes::BOTH);
            assert!(lanes != Lanes::NONE && opens.is_none(), "some lane may always send");
            last = match lanes {
                Lanes::BOTH if last == Lane::Free => Lane::Held,
                Lanes::HELD => Lane::Held,
                _ => Lane::Free,
            };
            pattern.push(if last == Lane::Held { 'h' } else { 'o' });
            rcc.on_sent(&law, Time::ZERO, 1_000, (last == Lane::Held).then_some(0));
        }
        assert_eq!(pattern, expected.repeat(3));
    }
}

#[test]
fn rcm_3_4_others_never_wait_for_harmful_flows_that_may_not_send() {
    let law = WindowLaw { min_bytes: 10_000, ..window_law() };
    let mut rcc = three_of_ten(&law);
    // A flow that waits alone is served, whatever the shares.
    (0..8).for_each(|_| {
        assert!(rcc.gate(&law, Time::ZERO, Lanes::FREE).0.has(Lane::Free));
        rcc.on_sent(&law, Time::ZERO, 1_000, None);
    });
    // W_nc is used and harmful packets come: the rest of W is theirs, and the next period's others'.
    let next = [(); 3].map(|()| {
        let lanes = rcc.gate(&law, Time::ZERO, Lanes::BOTH).0;
        rcc.on_sent(&law, Time::ZERO, 1_000, lanes.has(Lane::Held).then_some(0));
        lanes
    });
    assert_eq!(next, [Lanes::HELD, Lanes::HELD, Lanes::FREE]);
}

#[test]
fn rcm_9_4_without_others_three_per_window_time() {
    let law = WindowLaw { min_bytes: 10_000, ..window_law() };
    let mut rcc = three_of_ten(&law);
    // Ten packets of 1000 B take 800 ns at 100 Gb/s; each takes 80 ns.
    let mut now = Time::ZERO;
    let mut sent = 0u32;
    while now < Time::from_ns(80_000) {
        match rcc.gate(&law, now, Lanes::HELD) {
            (lanes, None) if lanes.has(Lane::Held) => {
                rcc.on_sent(&law, now, 1_000, Some(0));
                sent += 1;
                now += Span::from_ns(80);
            }
            (_, Some(opens)) => {
                assert!(opens > now, "or it would ask for ever");
                now = opens;
            }
            (lanes, None) => panic!("{lanes:?} and no time"),
        }
    }
    assert_eq!(sent, 300, "30 % of the 1000 packets that fit");
}

#[test]
fn rcm_9_5_flags_of_one_switch() {
    let mut control = control(&[]);
    assert_eq!(control.role(2, 0), Role::Outside);
    // The output detects first: root, local flag only.
    for _ in 0..16 {
        control.points[2].cam.write(Time::ZERO, 7);
    }
    let sent = sample(&mut control, 1, Queues { input: 5_000, output: 60_000, voq: 5_000 });
    assert_eq!(control.role(2, 0), Role::Root);
    assert_eq!(control.harmful(2, 0), [7]);
    assert!(sent.is_empty() && !control.input_congested(0, 0), "its input is not congested yet");
    // Then the input that holds its packets tells its neighbour.
    let sent = sample(&mut control, 5, Queues { input: 60_000, output: 60_000, voq: 60_000 });
    assert!(control.input_congested(0, 0));
    assert_eq!((sent[0].0, sent[0].1.harmful), (0, ids(&[7])));
    assert_eq!(control.role(2, 0), Role::Root, "no notification has come from downstream");
    // A notification makes another port an edge, with the IDs it brings, and an inner point once an
    // input is congested with packets for it.
    control.on_message(Time::from_us(6), 3, &cn(40, &[8, 9]));
    assert_eq!((control.role(3, 0), control.harmful(3, 0)), (Role::Edge, &[8, 9][..]));
    let sent = sample(&mut control, 9, Queues { input: 80_000, output: 60_000, voq: 60_000 });
    assert_eq!((control.role(3, 0), control.harmful(3, 0)), (Role::Inner, &[8, 9][..]));
    assert_eq!(sent[0].1.harmful, ids(&[7, 8, 9]), "of all congested outputs with packets from here");
    // Section 1: at the root itself the list is replaced by the one received.
    control.on_message(Time::from_us(10), 2, &cn(40, &[8, 9]));
    assert_eq!((control.role(2, 0), control.harmful(2, 0)), (Role::Inner, &[8, 9][..]));
    // Silence: the remote flags clear after T_cn, the local ones when the queues are short again.
    control.on_timer(Time::from_us(31), &Queues::default());
    assert!([2, 3].iter().all(|&port| control.role(port, 0) == Role::Outside && control.harmful(port, 0).is_empty()));
    assert!(!control.input_congested(0, 0) && control.window(2, 0).is_none());
}

#[test]
fn rcm_9_6_ring() {
    // Flows at 60, 30 and 10 % of an output, D = 16: 9.6, 4.8 and 1.6 entries on average, the third
    // absent with probability 0.9^16 = 18.5 %.
    let (params, expiry) = (params(&[]), Span::from_us(100));
    let mut cam = Cam::new(16, stream(1, "test", 0));
    let mut traffic = stream(2, "test", 0);
    let (mut entries, mut absent) = ([0u32; 3], 0);
    let rounds = 20_000;
    for _ in 0..rounds {
        let mut written = 0;
        while written < 16 {
            let flow = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2][traffic.below(10) as usize];
            written += u32::from(cam.on_packet(&params, Time::ZERO, flow));
        }
        cam.entries(expiry, Time::ZERO).for_each(|flow| entries[flow as usize] += 1);
        absent += u32::from(!cam.holds(expiry, Time::ZERO, 2));
    }
    for (got, expected) in entries.iter().zip([9.6, 4.8, 1.6]) {
        // 0.1 is five standard deviations and more of a mean over 20 000 rings.
        assert!((f64::from(*got) / f64::from(rounds) - expected).abs() < 0.1, "{entries:?}");
    }
    assert!((f64::from(absent) / f64::from(rounds) - 0.185).abs() < 0.015, "{absent}");
}

#[test]
fn rcm_9_6_rules() {
    let ring = |flows: &[u32], rule| {
        let mut cam = Cam::new(flows.len() as u8, stream(1, "test", 0));
        flows.iter().for_each(|&flow| cam.write(Time::ZERO, flow));
        [0, 101].map(|us| cam.harmful(rule, Span::from_us(100), Time::from_us(us)))
    };
    // D = 5 and two IDs: threshold 2.5.
    assert_eq!(ring(&[0, 0, 2, 2, 0], Rule::Present)[0], ids(&[0, 2]));
    assert_eq!(ring(&[0, 0, 2, 2, 0], Rule::AboveMean)[0], ids(&[0]));
    // Section 4: a burst with half the output against four flows, threshold 3.2.
    let burst = [9, 1, 9, 2, 9, 3, 9, 4, 9, 1, 9, 2, 9, 3, 9, 4];
    assert_eq!(ring(&burst, Rule::AboveMean)[0], ids(&[9]));
    assert_eq!(ring(&burst, Rule::Present)[0], ids(&[1, 2, 3, 4, 9]));
    // Four equal flows: 4 hits each, threshold 4, all harmful.
    let equal = [1, 2, 3, 4].repeat(4);
    assert_eq!(ring(&equal, Rule::AboveMean)[0], ids(&[1, 2, 3, 4]));
    // Entries expire after 100 us.
    assert_eq!(ring(&burst, Rule::Present)[1], Ids::EMPTY);
}

#[test]
fn rcm_4_presence_of_a_small_flow() {
    // A flow with 12.5 % of the output is in a ring of 16 with probability 1 - 0.875^16 = 88 %.
    let absent = (0..16).fold(1.0, |p, _| p * 0.875);
    assert!((1.0 - absent - 0.88f64).abs() < 0.005);
}

#[test]
fn rcm_9_7_only_victims_move_and_only_to_better_ports() {
    let long = Queues { input: 60_000, output: 90_000, voq: 60_000 };
    let mut control = control(&[]);
    control.on_message(Time::from_us(1), 1, &cn(60, &[5]));
    let choose = |control: &mut Control, us, flow| control.choose(&packet(us, 0, 1, flow), &[1, 2, 3], &long);
    assert_eq!(choose(&mut control, 2, 5), 1, "a harmful flow never moves");
    assert_eq!(choose(&mut control, 2, 6), 2, "a victim does");
    assert_eq!(control.detoured(6), Some(2));
    // It keeps its port, whatever becomes of it, for as long as it sends.
    control.on_message(Time::from_us(3), 2, &cn(60, &[5]));
    assert_eq!(choose(&mut control, 90, 6), 2);
    assert_eq!(choose(&mut control, 180, 6), 2);
    control.on_timer(Time::from_us(181), &Queues::default());
    // After a gap of more than 100 us, and out of the region, it is back on its route.
    assert_eq!(choose(&mut control, 281, 6), 1);
    // Every port is in a region of the same degree: no flow moves.
    for port in 1..=3 {
        control.on_message(Time::from_us(300), port, &cn(60, &[5]));
    }
    assert_eq!(choose(&mut control, 301, 6), 1);
}

#[test]
fn rcm_3_4_the_least_regional_degree_decides_also_within_regions() {
    let long = Queues { input: 60_000, output: 90_000, voq: 60_000 };
    let chosen = |degrees: [u8; 3], texts: &[(&str, &str)]| {
        let mut control = control(texts);
        for (port, degree) in (1..).zip(degrees) {
            control.on_message(Time::from_us(1), port, &cn(degree, &[5]));
        }
        control.choose(&packet(2, 0, 1, 6), &[1, 2, 3], &long)
    };
    // All three ports are in regions. w = 0.5 halves what was received.
    assert_eq!(chosen([60, 40, 20], &[]), 3);
    assert_eq!(chosen([60, 20, 40], &[]), 2);
    assert_eq!(chosen([20, 60, 40], &[]), 1, "the own port has the least");
    assert_eq!(chosen([60, 58, 60], &[]), 2, "lower at all is lower");
    assert_eq!(chosen([60, 46, 60], &[("sar_margin", "8")]), 1);
    assert_eq!(chosen([60, 40, 20], &[("sar_ports", "outside")]), 1, "no port is outside every region");
}

#[test]
fn rcm_3_4_a_moved_flow_that_becomes_harmful_comes_back() {
    let long = Queues { input: 60_000, output: 90_000, voq: 60_000 };
    // Listed at the port it was moved to, at its own, or at a third it could take.
    for listed_at in [2, 1, 3] {
        let mut control = control(&[]);
        control.on_message(Time::from_us(1), 1, &cn(60, &[5]));
        assert_eq!(control.choose(&packet(2, 0, 1, 6), &[1, 2, 3], &long), 2);
        control.on_message(Time::from_us(3), listed_at, &cn(60, &[6]));
        assert_eq!(control.choose(&packet(4, 0, 1, 6), &[1, 2, 3], &long), 1, "listed at {listed_at}");
        assert_eq!(control.detoured(6), None);
        assert_eq!(control.choose(&packet(5, 0, 1, 6), &[1, 2, 3], &long), 1, "and stays while it is listed");
    }
}

#[test]
fn rcm_6_triggers() {
    let short = Queues::default();
    let moved = |control: &mut Control, us, queues: &Queues| {
        let port = control.choose(&packet(us, 0, 1, 6), &[1, 2], queues);
        control.flowlets.forget(6);
        port != 1
    };
    // Three notifications within 50 us.
    let mut one = control(&[]);
    for (us, starts) in [(0, false), (30, false), (51, false), (60, true)] {
        one.on_message(Time::from_us(us), 1, &cn(60, &[5]));
        assert_eq!(moved(&mut one, us, &short), starts, "at {us} us");
    }
    // An output queue above 80 % of 100 KB, in a region.
    let mut one = control(&[]);
    let queue = |output| Queues { output, ..Queues::default() };
    assert!(!moved(&mut one, 0, &queue(90_000)), "not in a region");
    one.on_message(Time::from_us(1), 1, &cn(60, &[5]));
    assert!(!moved(&mut one, 2, &queue(80_000)));
    assert!(moved(&mut one, 2, &queue(80_001)));
    // If the other port must be 8 lower: w = 0.5 makes 7 of a received 14, 8 of 16.
    let mut one = control(&[("sar_margin", "8")]);
    one.on_message(Time::from_us(1), 1, &cn(14, &[5]));
    assert!(!moved(&mut one, 2, &queue(90_000)));
    one.on_message(Time::from_us(2), 1, &cn(16, &[5]));
    assert!(moved(&mut one, 2, &queue(90_000)));
    // Weak notifications do not count if told so; without SAR nothing moves.
    let mut one = control(&[("sar_strong", "32")]);
    (0..3).for_each(|us| one.on_message(Time::from_us(us), 1, &cn(31, &[5])));
    assert!(!moved(&mut one, 3, &short));
    let one = control(&[("sar", "false")]);
    assert!(!one.detours());
}

#[test]
fn rcm_6_receivers_accept_any_order_only_for_detours() {
    let reorder = |texts: &[(&str, &str)]| configured::<Rcm>("rcm", texts).format().reorder;
    assert!(reorder(&[]));
    assert!(!reorder(&[("reorder", "go-back-n")]));
    assert!(!reorder(&[("sar", "false")]));
}

#[test]
fn rcm_2_sampling_interval() {
    // One sample per 150 KB at degree 0, per 15 KB at the largest: 12 us and 1.2 us at 100 Gb/s.
    let params = qcn_sampling();
    let count = |queue: &mut Crd, bytes: u64| {
        let mut arrived = 0;
        loop {
            arrived += 1_000;
            if queue.on_arrival(&params, 1_000) {
                queue.sample(&params, Time::ZERO, bytes);
                return arrived;
            }
        }
    };
    let mut queue = Crd::default();
    assert_eq!(count(&mut queue, 100_000), 150_000);
    assert_eq!(queue.degree, 63);
    assert_eq!(count(&mut queue, 0), 15_000);
    assert_eq!(RATE.bytes_in(Span::from_us(12)), 150_000);
    // Half the degree: half way, to the packet.
    queue.sample(&params, Time::ZERO, 25_376);
    assert_eq!(queue.degree, 31);
    assert_eq!(count(&mut queue, 0), 84_000);
}

#[test]
fn rcm_2_notifications_keep_their_distance() {
    let mut control = control(&[]);
    let queues = Queues { input: 90_000, output: 90_000, voq: 50_000 };
    let mut sent = Vec::new();
    // A packet of 1000 B every 80 ns for 40 us.
    for i in 0..500 {
        let passing = Passing { now: Time::from_ns(i * 80), ..packet(0, 0, 2, 7) };
        control.on_arrival(&passing, &queues, |_, _| sent.push(passing.now));
    }
    assert!(sent.len() >= 5 && sent.windows(2).all(|pair| pair[1] - pair[0] >= Span::from_us(2)), "{sent:?}");
    // A port to a host says nothing.
    let host = PortFacts { rate: RATE, delay: Span::from_us(1), to_switch: false };
    let facts = SwitchFacts { seed: 1, switch: 0, ports: &[host; 4], classes: 1, mtu_wire_bytes: MTU };
    let mut control = Control::new(Arc::new(params(&[])), &facts);
    assert!(sample(&mut control, 1, queues).is_empty());
}

#[test]
fn rcm_2_the_degree_sent_upstream_is_regional() {
    let mut control = control(&[]);
    control.on_message(Time::ZERO, 2, &cn(20, &[7]));
    // The input's own sample from 0 to 60 KB: F_b 158 000, degree 63; with 20 received: 42.
    let sent = sample(&mut control, 1, Queues { input: 60_000, output: 0, voq: 60_000 });
    assert_eq!(sent[0].1.degree, 42);
}

#[test]
fn rcm_3_frame_sizes() {
    for (ids, bytes) in [(0, 64), (1, 64), (3, 64), (4, 76), (16, 232)] {
        assert_eq!(cn_bytes(ids), bytes, "{ids} IDs");
    }
}

#[test]
fn rcm_3_an_empty_list_replaces_nothing() {
    let mut control = control(&[]);
    (0..16).for_each(|_| control.points[2].cam.write(Time::ZERO, 7));
    sample(&mut control, 1, Queues { input: 0, output: 60_000, voq: 0 });
    control.on_message(Time::from_us(2), 2, &cn(10, &[]));
    assert_eq!((control.role(2, 0), control.harmful(2, 0)), (Role::Inner, &[7][..]));
}

#[test]
fn rcm_5_measurement() {
    let law = window_law();
    let mut rcc = Rcc::default();
    rcc.on_congestion(&law, 63, 0b11);
    // 16 KB are not enough while the second harmful flow has not sent; nothing is limited yet.
    (0..20).for_each(|i| rcc.on_sent(&law, Time::ZERO, 1_000, (i % 2 == 0).then_some(0)));
    assert!(rcc.window().is_none());
    assert_eq!(rcc.gate(&law, Time::ZERO, Lanes::HELD), (Lanes::BOTH, None));
    rcc.on_sent(&law, Time::ZERO, 1_000, Some(1));
    let window = *rcc.window().expect("all have sent");
    assert_eq!((window.bytes, window.harmful_bytes), (21_000, 5_500), "11 KB halved by degree 63");
    // Later samples cut again.
    rcc.on_congestion(&law, 63, 0b11);
    assert_eq!(rcc.window().map(|window| window.harmful_bytes), Some(2_750));
    // Flows that enter the list change nothing: W is measured once, and W_c only shrinks (eq 5).
    rcc.on_list(&law, &ids(&[1, 2]), &ids(&[1, 2, 3]), 0b100);
    (0..16).for_each(|_| rcc.on_sent(&law, Time::ZERO, 1_000, Some(2)));
    assert_eq!(rcc.window().map(|window| (window.bytes, window.harmful_bytes)), Some((21_000, 2_750)));
    rcc.quit();
    assert!(rcc.window().is_none());
    // A flow that never sends: W ends at 100 KB.
    rcc.on_congestion(&law, 0, 0b1);
    (0..100).for_each(|_| rcc.on_sent(&law, Time::ZERO, 1_000, None));
    assert_eq!(rcc.window().map(|window| (window.bytes, window.harmful_bytes)), Some((100_000, 1_000)));
}

#[test]
fn rcm_3_4_a_measurement_goes_on_when_the_list_changes() {
    let law = window_law();
    let mut rcc = Rcc::default();
    rcc.on_congestion(&law, 63, 0b11);
    // Flows 4 and 9 are listed; 9 has sent when 4 makes place for 2 and 7. 2 is not seen here.
    (0..10).for_each(|_| rcc.on_sent(&law, Time::ZERO, 1_000, Some(1)));
    rcc.on_list(&law, &ids(&[4, 9]), &ids(&[2, 7, 9]), 0b110);
    (0..9).for_each(|_| rcc.on_sent(&law, Time::ZERO, 1_000, None));
    assert!(rcc.window().is_none(), "7 has not sent");
    rcc.on_sent(&law, Time::ZERO, 1_000, Some(1));
    let window = rcc.window().expect("9 had sent before, 7 has now");
    assert_eq!((window.bytes, window.harmful_bytes), (20_000, 5_500), "11 KB halved");
    // A list that changes at every packet does not put off the end at 100 KB.
    let mut rcc = Rcc::default();
    rcc.on_congestion(&law, 0, 0b1);
    for flow in 0..100 {
        rcc.on_list(&law, &ids(&[flow]), &ids(&[flow + 1]), 0b1);
        assert!(rcc.window().is_none());
        rcc.on_sent(&law, Time::ZERO, 1_000, None);
    }
    assert_eq!(rcc.window().map(|window| window.bytes), Some(100_000));
}

#[test]
fn rcm_5_windows_measured_again() {
    let law = WindowLaw { again: true, ..window_law() };
    let mut rcc = Rcc::default();
    rcc.on_congestion(&law, 63, 0b1);
    (0..16).for_each(|i| rcc.on_sent(&law, Time::ZERO, 1_000, (i % 2 == 0).then_some(0)));
    assert_eq!(rcc.window().map(|window| window.harmful_bytes), Some(4_000));
    // A flow that left the list changes nothing, one that entered it does.
    rcc.on_list(&law, &ids(&[1, 2]), &ids(&[1]), 0b1);
    (0..16).for_each(|_| rcc.on_sent(&law, Time::ZERO, 1_000, Some(0)));
    assert_eq!(rcc.window().map(|window| window.harmful_bytes), Some(4_000));
    rcc.on_list(&law, &ids(&[1]), &ids(&[1, 3]), 0b10);
    (0..16).for_each(|_| rcc.on_sent(&law, Time::ZERO, 1_000, Some(1)));
    assert_eq!(rcc.window().map(|window| (window.bytes, window.harmful_bytes)), Some((16_000, 16_000)));
}

#[test]
fn rcm_5_cuts_once_per_window() {
    let law = WindowLaw { one_cut: true, ..window_law() };
    let mut window = Window::new(&law, 16_000, 16_000, Time::ZERO);
    (0..3).for_each(|_| window.cut(&law, 63));
    assert_eq!(window.harmful_bytes, 8_000, "where every detection cuts, 2 000");
    let mut rcc = Rcc::default();
    rcc.on_congestion(&law, 0, 0);
    (0..16).for_each(|_| rcc.on_sent(&law, Time::ZERO, 1_000, Some(0)));
    for left in [16_000, 8_000, 4_000] {
        // A degree of 0 counts as the cut of the first period, which measured it.
        assert_eq!(rcc.window().map(|window| window.harmful_bytes), Some(left));
        (0..16).for_each(|_| rcc.on_sent(&law, Time::ZERO, 1_000, None));
        rcc.gate(&law, Time::ZERO, Lanes::FREE);
        (0..2).for_each(|_| rcc.on_congestion(&law, 63, 0));
    }
}

#[test]
fn rcm_3_4_no_window_without_harmful_flows() {
    let mut control = control(&[]);
    let queues = Queues { output: 60_000, ..Queues::default() };
    // The notification names no flow, and nothing has been sampled yet.
    control.on_message(Time::from_us(1), 2, &cn(40, &[]));
    assert_eq!((control.role(2, 0), control.harmful(2, 0)), (Role::Edge, &[][..]));
    for flow in 0..3 {
        control.points[2].cam = Cam::new(16, stream(1, "test", 0));
        (0..40).for_each(|_| control.on_transfer(&packet(2, 0, 2, 100 + flow), &Queues::default()));
    }
    assert!(control.window(2, 0).is_none(), "no flow to hold back");
    control.on_message(Time::from_us(3), 2, &cn(40, &[7]));
    (0..40).for_each(|_| control.on_transfer(&packet(3, 0, 2, 7), &queues));
    assert!(control.window(2, 0).is_some());
}

#[test]
fn rcm_3_2_notifications_last_as_long_as_congestion() {
    // 1000 B every 2 us, 4 Gb/s: one sample per 50 KB would come every 100 us, T_cn is 20 us.
    let longest = |texts: &[(&str, &str)]| {
        let mut control = control(texts);
        let queues = Queues { input: 23_000, output: 60_000, voq: 23_000 };
        let (mut last, mut longest) = (None, Span::ZERO);
        for us in (0..400).step_by(2) {
            control.on_arrival(&packet(us, 0, 2, 7), &queues, |_, _| {
                let now = Time::from_us(us);
                longest = longest.max(last.map_or(Span::ZERO, |last| now - last));
                last = Some(now);
            });
        }
        longest
    };
    assert!(longest(&[]) <= Span::from_us(10));
    assert!(longest(&[("cn_renewal", "bytes")]) > Span::from_us(80));
}

#[test]
fn rcm_3_2_virtual_output_queues_may_be_watched_one_by_one() {
    // 20 KB wait for each of three outputs: 60 KB at the input, and no queue above 22 KB.
    struct Spread;
    impl Occupancy for Spread {
        fn input_bytes(&self, _: u16, _: u8) -> u64 {
            60_000
        }
        fn output_bytes(&self, _: u16, _: u8) -> u64 {
            0
        }
        fn voq_bytes(&self, _: u16, egress: u16, _: u8) -> u64 {
            if egress == 1 { 30_000 } else { 15_000 }
        }
    }
    let congested = |queues: &str, egress: u16| {
        let mut control = control(&[("input_queues", queues)]);
        // The queues are constant: the first sample sees them grow, the second does not.
        for _ in 0..100 {
            control.on_arrival(&packet(1, 0, egress, 7), &Spread, |_, _| {});
        }
        control.input_congested(0, 0)
    };
    assert!(congested("port", 2) && congested("voq", 1));
    assert!(!congested("voq", 2), "its queue is short");
}

#[test]
fn rcm_5_what_goes_beyond_a_window_is_charged_to_the_next() {
    // W_c of 2.5 packets: three and two in turn.
    let law = WindowLaw { min_bytes: 10_000, ..window_law() };
    let mut rcc = Rcc::default();
    rcc.on_congestion(&law, 0, 1);
    (0..10).for_each(|i| rcc.on_sent(&law, Time::ZERO, 1_000, (i < 5).then_some(0)));
    rcc.on_congestion(&law, 63, 1);
    let mut sent = [0; 8];
    for period in &mut sent {
        for _ in 0..10 {
            let harmful = rcc.gate(&law, Time::ZERO, Lanes::BOTH).0.has(Lane::Held);
            *period += u32::from(harmful);
            rcc.on_sent(&law, Time::ZERO, 1_000, harmful.then_some(0));
        }
    }
    assert_eq!(sent, [3, 2, 3, 2, 3, 2, 3, 2]);
}

#[test]
fn rcm_7_times_follow_the_rate() {
    for (gbps, t_cn, spacing) in [(10, 200, 20), (25, 80, 8), (40, 50, 5), (100, 20, 2)] {
        let port = PortFacts { rate: BitRate::from_gbps(gbps), delay: Span::from_us(1), to_switch: true };
        let facts = SwitchFacts { seed: 1, switch: 0, ports: &[port; 2], classes: 2, mtu_wire_bytes: MTU };
        let control = Control::new(Arc::new(params(&[])), &facts);
        assert_eq!(control.ports[0].t_cn, Span::from_us(t_cn), "{gbps}G");
        assert_eq!(control.ports[0].cn_spacing, Span::from_us(spacing), "{gbps}G");
    }
}

#[test]
fn rcm_7_works_over_a_named_base() {
    let base = |name: &str| select(name).map(|values| values.base().map(|base| base.spec().name));
    assert_eq!(base("rcm"), Ok(Some("dcqcn")));
    assert_eq!(base("rcm+none"), Ok(Some("none")));
    let mut values = select("rcm").expect("it exists");
    values.set("sample_min", Value::Bytes(200_000));
    assert!(Rcm::validation_error(&values).is_some_and(|why| why.contains("sample_min")));
}

#[test]
fn rcm_3_4_control_ends_when_the_queue_has_run_empty() {
    let mut control = control(&[]);
    (0..16).for_each(|_| control.points[2].cam.write(Time::ZERO, 7));
    let long = Queues { output: 60_000, ..Queues::default() };
    // Detected after 50 KB, measured over 16 KB more; then W_c is used up, and W is not.
    (0..80).for_each(|_| control.on_transfer(&packet(1, 0, 2, 7), &long));
    assert!(control.window(2, 0).is_some_and(|window| window.harmful_bytes < window.bytes));
    let now = Time::from_us(1);
    assert_eq!(control.gate(now, 2, 0, Lanes::HELD, &long), Lanes::FREE, "harmful packets wait");
    // What waits brings no samples, so the empty queue is one.
    assert_eq!(control.gate(now, 2, 0, Lanes::HELD, &Queues::default()), Lanes::BOTH);
    assert_eq!((control.role(2, 0), control.window(2, 0)), (Role::Outside, None));
}

#[test]
fn a_notification_is_read_from_its_frame_unless_its_class_is_not_there() {
    let control = control(&[]);
    let mut harmful = Ids::EMPTY;
    [9, 4, 7].into_iter().for_each(|flow| harmful.insert(flow, 64));
    let content = control.frame_content(&Cn { degree: 5, class: 0, harmful });
    let read = control.read_content(&content).unwrap();
    assert_eq!((read.degree, read.class, read.harmful.as_slice()), (5, 0, &[4, 7, 9][..]));
    assert_eq!(control.frame_content(&read), content);
    let other = control.frame_content(&Cn { degree: 5, class: 1, harmful });
    assert!(control.read_content(&other).is_none(), "the switch has one class");
    assert!(control.read_content(&FrameContent::default()).is_none());
}
