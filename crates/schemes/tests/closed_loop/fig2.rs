//! Figure 2 of the Mercury paper: a congested flow, a victim, and a burst three switches away.
//!
//! ```text
//!  H1 --\                                            /--> R1
//!        S1 (P1) ---> S2 (P2) ---> S3 ---------------
//!  H2 --/                          |  \--- (P3) -------> R2
//!                                  B1 ... B8
//! ```
//!
//! H1 and H2 have 20 Gb/s, everything else 40 Gb/s, 4 us per link. F1 (H1 to R1) and F2 (H2 to R2) are
//! endless; at 3 ms the eight B burst to R2 for about 500 us. P3 is congested, P2 and P1 are only
//! paused, so F2 is a culprit and F1 a victim.

use crate::bench::*;
use xoff_engine::{Span, Time};
use xoff_fabric::plan::{ProbeTarget, Thresholds, peer};
use xoff_fabric::record::{FlowRecord, Metric};
use xoff_fabric::traffic::FlowSpec;
use xoff_schemes::param::ParamValues;

pub const BURST: Time = Time::from_ms(3);
/// Rates are of wire bytes, deliveries of payload.
const WIRE_PER_PAYLOAD: f64 = 1.082;

pub struct Fig2 {
    pub outcome: Outcome,
    /// Ports that send PAUSE to S2, to S1, and to H1.
    pub pausers: [u32; 3],
    /// P1 and P2.
    pub paused: [u32; 2],
}

/// The paper's XOFF.
pub const XOFF: u64 = 320_000;

/// Six flows of 50 KB from each of eight hosts are 480 us of the link to R2. They end within a round
/// trip or two, so no scheme slows them: they run without one.
pub fn run(scheme: ParamValues, xoff_bytes: u64) -> Fig2 {
    let mut net = Net::new();
    let delay = Span::from_us(4);
    let [s1, s2, s3] = ["S1", "S2", "S3"].map(|name| net.switch(name));
    let (p1, p2) = (net.link(s1, s2, 40, delay), net.link(s2, s3, 40, delay));
    let mut host = |name: String, switch, gbps| net.host_at(&name, switch, gbps, delay);
    let [h1, h2] = ["H1", "H2"].map(|name| host(name.into(), s1, 20));
    let [r1, r2] = ["R1", "R2"].map(|name| host(name.into(), s3, 40));
    let senders: Vec<_> = (1..=8).map(|i| host(format!("B{i}"), s3, 40)).collect();
    net.plan.switches[0].pfc.thresholds = Thresholds::Static { xoff_bytes, xon_bytes: xoff_bytes - 2000 };
    let mut bench = Bench::new(net, scheme);
    let none = bench.also(super::bench::scheme("none", &[]));
    bench.start(Time::ZERO, FlowSpec { probed: true, label: 1, ..endless(1, h1.0, r1.0) });
    bench.start(Time::ZERO, FlowSpec { probed: true, label: 2, ..endless(2, h2.0, r2.0) });
    for (i, sender) in senders.iter().enumerate() {
        for k in 0..6 {
            let handle = (10 + i * 6 + k) as u32;
            bench.start(BURST, FlowSpec { scheme: none, label: 9, ..flow(handle, sender.0, r2.0, 50_000) });
        }
    }
    bench.probe(ProbeTarget::Flows, Span::from_us(1), BURST);
    for port in [p1, p2] {
        bench.probe(ProbeTarget::Queue { port, class: 0 }, Span::from_us(1), BURST);
    }
    let outcome = bench.run(Time::from_ms(5));
    Fig2 { outcome, pausers: [peer(p2), peer(p1), peer(h1.1)], paused: [p1, p2] }
}

impl Fig2 {
    pub fn flow(&self, label: u32) -> &FlowRecord {
        self.outcome.world.flows.iter().find(|flow| flow.label == label).expect("endless flows are recorded at the end")
    }
    /// How often each of the three upstreams was paused.
    pub fn pauses(&self) -> [usize; 3] {
        let sent = |port| self.outcome.world.pauses.iter().filter(move |p| p.pause && p.port == port).count();
        self.pausers.map(sent)
    }
    /// The lowest rate asked of a flow, in Gb/s, since the burst.
    pub fn lowest_rate(&self, label: u32) -> f64 {
        let of = |s: &&xoff_fabric::record::Sample| s.metric == Metric::FlowRate && s.label == label;
        self.outcome.world.samples.iter().filter(of).map(|s| s.value / 1e9).fold(f64::MAX, f64::min)
    }
    /// When the rate asked of a flow first fell below what it was, after the burst began.
    pub fn first_cut(&self, label: u32) -> Option<Span> {
        let mut of = self.outcome.world.samples.iter().filter(|s| s.metric == Metric::FlowRate && s.label == label);
        let before = of.next()?.value;
        of.find(|s| s.value < before).map(|s| s.at - BURST)
    }
    /// Wire throughput over a time after the burst began.
    pub fn throughput(&self, label: u32, from_us: u64, to_us: u64) -> f64 {
        let (from, to) = (BURST + Span::from_us(from_us), BURST + Span::from_us(to_us));
        self.outcome.mean_of_label(Metric::FlowThroughput, label, from, to) * WIRE_PER_PAYLOAD / 1e9
    }
}
