//! Small networks and sources for the fabric's own tests.
#![allow(dead_code)]

pub mod random;

use xoff_engine::{BitRate, Span, Time};
use xoff_fabric::plan::*;
use xoff_fabric::traffic::{Action, FlowSpec, Source};

pub const GBPS: u64 = 1_000_000_000;

/// Builds plans node by node.
pub struct Net {
    pub plan: Plan,
}

impl Net {
    pub fn new() -> Net {
        let thresholds = Thresholds::Static { xoff_bytes: 320_000, xon_bytes: 318_000 };
        let pfc = PfcSettings { thresholds, ..PfcSettings::default() };
        let switch = SwitchSettings { buffer_bytes: 64_000_000, pfc, ..SwitchSettings::default() };
        let run = RunSettings { record_pauses: true, ..RunSettings::default() };
        Net { plan: Plan { switches: vec![switch], run, ..Plan::default() } }
    }

    fn node(&mut self, kind: NodeKind, name: &str) -> u32 {
        self.plan.nodes.push(Node { name: name.into(), kind, profile: 0, layer: "test".into(), domain: 0 });
        self.plan.nodes.len() as u32 - 1
    }
    pub fn host(&mut self, name: &str) -> u32 {
        self.node(NodeKind::Host, name)
    }
    pub fn switch(&mut self, name: &str) -> u32 {
        self.node(NodeKind::Switch, name)
    }
    /// Returns the port at `a`; the one at `b` is its peer.
    pub fn link(&mut self, a: u32, b: u32, gbps: u64, delay: Span) -> u32 {
        let direction = Direction { rate: BitRate::from_bps(gbps * GBPS), delay, loss: 0.0 };
        self.plan.links.push(Link { a, b, a_to_b: direction, b_to_a: direction });
        (self.plan.links.len() as u32 - 1) * 2
    }
    /// `n` hosts on one switch.
    pub fn star(n: usize, gbps: u64, delay: Span) -> Net {
        let mut net = Net::new();
        let switch = net.switch("s0");
        for i in 0..n {
            let host = net.host(&format!("h{i}"));
            net.link(host, switch, gbps, delay);
        }
        net
    }
}

pub fn flow(handle: u32, src: u32, dst: u32, size: u64) -> FlowSpec {
    FlowSpec { size_bytes: Some(size), ..FlowSpec::new(handle, src, dst) }
}

pub fn endless(handle: u32, src: u32, dst: u32) -> FlowSpec {
    FlowSpec::new(handle, src, dst)
}

/// Explicit flows at explicit times.
pub struct List {
    flows: Vec<(Time, FlowSpec)>,
    next: usize,
}

impl List {
    pub fn boxed(mut flows: Vec<(Time, FlowSpec)>) -> Box<dyn Source> {
        flows.sort_by_key(|(at, _)| *at);
        Box::new(List { flows, next: 0 })
    }
}

impl Source for List {
    fn next(&self) -> Option<Time> {
        self.flows.get(self.next).map(|(at, _)| *at)
    }
    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        while let Some((at, spec)) = self.flows.get(self.next)
            && *at == now
        {
            out.push(Action::Start(spec.clone()));
            self.next += 1;
        }
    }
}
