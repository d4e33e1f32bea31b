use xoff_engine::*;
use xoff_fabric::plan::*;
use xoff_fabric::traffic::*;
use xoff_fabric::world::*;
use xoff_schemes::*;

struct Ws {
    rng: Rng,
    mean_ps: f64,
    at: Time,
    sent: u32,
    total: u32,
    hosts: Vec<u32>,
}
const CDF: &[(f64, f64)] = &[
    (0., 0.),
    (10000., 0.15),
    (20000., 0.2),
    (30000., 0.3),
    (50000., 0.4),
    (80000., 0.53),
    (200000., 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (1e7, 0.97),
    (3e7, 1.0),
];
impl Source for Ws {
    fn next(&self) -> Option<Time> {
        (self.sent < self.total).then_some(self.at)
    }
    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        let u = self.rng.unit_open();
        let i = CDF.iter().position(|c| c.1 >= u).unwrap();
        let (a, b) = (CDF[i - 1], CDF[i]);
        let size = (a.0 + (u - a.1) / (b.1 - a.1) * (b.0 - a.0)).round().max(1.0) as u64;
        let s = self.rng.below(self.hosts.len() as u64) as usize;
        let mut d = self.rng.below(self.hosts.len() as u64 - 1) as usize;
        if d >= s {
            d += 1
        }
        out.push(Action::Start(FlowSpec {
            handle: self.sent,
            src: self.hosts[s],
            dst: self.hosts[d],
            size_bytes: Some(size),
            offered_bytes: None,
            class: 0,
            scheme: 0,
            weight: 1,
            rate_cap: None,
            path: None,
            label: 0,
            probed: false,
        }));
        self.sent += 1;
        self.at = now + Span::from_ps(self.rng.exponential(self.mean_ps) as u64);
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let scheme = args.get(1).map_or("dcqcn", |s| s.as_str());
    let flows: u32 = args.get(2).map_or(2000, |s| s.parse().unwrap());
    let preset = args.get(3).map_or("nic", |s| s.as_str());
    let (mut nodes, mut links) = (vec![], vec![]);
    let mut add = |k: NodeKind, n: String| {
        nodes.push(Node { name: n, kind: k, profile: 0, layer: "x".into() });
        nodes.len() as u32 - 1
    };
    let hosts: Vec<u32> = (0..320).map(|i| add(NodeKind::Host, format!("h{i}"))).collect();
    let tors: Vec<u32> = (0..20).map(|i| add(NodeKind::Switch, format!("t{i}"))).collect();
    let aggs: Vec<u32> = (0..20).map(|i| add(NodeKind::Switch, format!("a{i}"))).collect();
    let cores: Vec<u32> = (0..16).map(|i| add(NodeKind::Switch, format!("c{i}"))).collect();
    let mut link = |a, b, g| {
        let d = Direction { rate: BitRate::from_gbps(g), delay: Span::from_us(1), loss: 0.0 };
        links.push(Link { a, b, a_to_b: d, b_to_a: d })
    };
    for i in 0..320 {
        link(hosts[i], tors[i / 16], 100)
    }
    for p in 0..5 {
        for t in 0..4 {
            for a in 0..4 {
                link(tors[p * 4 + t], aggs[p * 4 + a], 400)
            }
        }
    }
    for p in 0..5 {
        for a in 0..4 {
            for c in 0..4 {
                link(aggs[p * 4 + a], cores[a * 4 + c], 400)
            }
        }
    }
    let data = Class { priority: 3, lossless: true, service: Service::Strict, queue_limit_bytes: None };
    let control = Class { priority: 6, lossless: false, service: Service::Strict, queue_limit_bytes: None };
    let plan = Plan {
        seed: 1,
        nodes,
        links,
        classes: Classes { list: vec![data, control], control: 1 },
        switches: vec![SwitchSettings {
            buffer_bytes: 32_000_000,
            pfc: PfcSettings {
                thresholds: Thresholds::Static { xoff_bytes: 620_000, xon_bytes: 618_000 },
                headroom: Headroom::Auto,
                signalling: Signalling::OnOff,
            },
            watchdog: None,
        }],
        hosts: vec![HostSettings {
            mtu_bytes: 1000,
            sizes: FrameSizes::ROCE_V2,
            ack_every: 1,
            ack_class: AckClass::Control,
            ack_delay: Span::ZERO,
            notify_delay: Span::ZERO,
            nak_interval: Span::from_us(500),
            retransmit_timeout: Span::from_ms(10),
        }],
        ack_path: AckPath::Ecmp,
        faults: vec![],
        probes: vec![],
        run: RunSettings {
            stop: Time::from_ms(1000),
            stop_when_idle: true,
            allow_drops: false,
            deadlock_check: Some(Span::from_ms(1)),
            stop_on_deadlock: true,
            stall_after: Some(Span::from_ms(50)),
            record_pauses: true,
        },
    };
    let mean = 1711250.0 * 8.0 / (0.5 * 320.0 * 100e9) * 1e12;
    let ws = Ws { rng: stream(1, "ws", 0), mean_ps: mean, at: Time::ZERO, sent: 0, total: flows, hosts };
    let spec = find(scheme).unwrap();
    let any = Any::configure(&spec.values(spec.preset(preset)));
    let mut w = World::new(plan, vec![any], vec![Box::new(ws) as Box<dyn Source>]);
    let t = std::time::Instant::now();
    w.run_to_end();
    let s = t.elapsed().as_secs_f64();
    let c = w.counters;
    println!(
        "{:?} sim {} wall {s:.3} hops/s {:.2}M events/hop {:.3} ns/hop {:.1}",
        c,
        w.now,
        c.packet_hops as f64 / s / 1e6,
        c.events as f64 / c.packet_hops as f64,
        s * 1e9 / c.packet_hops as f64
    );
    println!("fail {:?}", w.failure);
}
