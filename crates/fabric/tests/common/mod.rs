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
    /// Returns a host on a switch, and its port.
    pub fn host_at(&mut self, name: &str, switch: u32, gbps: u64, delay: Span) -> (u32, u32) {
        let host = self.host(name);
        (host, self.link(host, switch, gbps, delay))
    }
    /// Takes a link out of service between two instants.
    pub fn cut(&mut self, link: u32, from: Time, until: Time) {
        let changes = [(from, FaultKind::LinkDown { link }), (until, FaultKind::LinkUp { link })];
        self.plan.faults.extend(changes.map(|(at, what)| Fault { at, what }));
    }
    /// A chain of links with the given rates (Gb/s) from a host over switches to a host, which are returned too. Link `i`
    /// has ports `2 i`, at its begin, and `2 i + 1`.
    pub fn chain(rates: &[u64], delay: Span) -> (Net, u32, u32) {
        let mut net = Net::new();
        let src = net.host("src");
        let mut at = src;
        for (i, &rate) in rates.iter().enumerate() {
            let last = i + 1 == rates.len();
            let next = if last { net.host("dst") } else { net.switch(&format!("s{i}")) };
            net.link(at, next, rate, delay);
            at = next;
        }
        (net, src, at)
    }
    /// `n` hosts on one switch.
    pub fn star(n: usize, gbps: u64, delay: Span) -> Net {
        let mut net = Net::new();
        let switch = net.switch("s0");
        for i in 0..n {
            net.host_at(&format!("h{i}"), switch, gbps, delay);
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

/// Source that does given things at given times.
pub struct Script {
    actions: Vec<(Time, Action)>,
    next: usize,
}

impl Script {
    pub fn new(mut actions: Vec<(Time, Action)>) -> Script {
        actions.sort_by_key(|(at, _)| *at);
        Script { actions, next: 0 }
    }
    pub fn boxed(actions: Vec<(Time, Action)>) -> Box<dyn Source> {
        Box::new(Script::new(actions))
    }
    /// Flows at given times.
    pub fn flows(flows: Vec<(Time, FlowSpec)>) -> Box<dyn Source> {
        Script::boxed(flows.into_iter().map(|(at, spec)| (at, Action::Start(spec))).collect())
    }
}

impl Source for Script {
    fn next(&self) -> Option<Time> {
        self.actions.get(self.next).map(|(at, _)| *at)
    }
    fn act(&mut self, now: Time, out: &mut Vec<Action>) {
        while let Some((at, action)) = self.actions.get(self.next)
            && *at == now
        {
            out.push(action.clone());
            self.next += 1;
        }
    }
}
