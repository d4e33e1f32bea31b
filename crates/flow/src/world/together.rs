//! Macro-flows in the world: one queue pair for many connections.

use crate::macro_flow::{Slices, Together, whole};
use crate::queue_pair::{Message, QueuePair, Way, first_path};
use crate::world::FlowWorld;
use xoff_engine::BitRate;
use xoff_fabric::SourceName;

use xoff_fabric::record::Paths;
use xoff_fabric::route::FlowKey;
use xoff_fabric::timing;
use xoff_fabric::traffic::{Edge, FlowSpec, MacroFlow, Pace};

/// Kinds of paths that are remembered, at most.
const MOST_KINDS: usize = 64;

/// Ports and what they carry, summed up port by port.
#[derive(Default)]
struct Loads {
    of: Vec<f64>,
    used: Vec<u32>,
}

impl Loads {
    fn add(&mut self, port: u32, weight: f64) {
        let of = &mut self.of[port as usize];
        if *of == 0.0 {
            self.used.push(port);
        }
        *of += weight;
    }

    fn take(&mut self) -> Vec<(u32, f64)> {
        self.used.sort_unstable();
        self.used.drain(..).map(|port| (port, std::mem::take(&mut self.of[port as usize]))).collect()
    }
}

/// A path as messages find it: rates and delays, and sizes of packets.
#[derive(Clone, PartialEq)]
struct Kind {
    links: Vec<(u64, u64)>,
    back_ps: u64,
    sizes: [u32; 4],
}

/// A connection on an idle network: rate of its slowest link, and by part what a slice takes on the wire there and in
/// all.
#[derive(Clone, Default)]
struct Idle {
    slowest_bps: f64,
    back_ps: f64,
    slices: Vec<(f64, f64)>,
}

/// Sums over all connections.
struct Sums {
    slices: Vec<Slices>,
    shares: f64,
    limit_bps: f64,
    slowest_bps: f64,
    stranded: bool,
}

impl FlowWorld {
    pub(crate) fn start_together(&mut self, source: u32, flow: Box<MacroFlow>) {
        let id = self.state.counters.flows_started as u32;
        self.state.counters.flows_started += flow.edges.len() as u64;
        let of = &mut self.sources[source as usize];
        let last = flow.edges.iter().map(|edge| u64::from(edge.number) + 1).max().unwrap_or(0);
        of.started = of.started.max(last);
        let (name, tells) = (of.name, of.subscription.of_messages());
        let spec = FlowSpec { src: flow.edges[0].src, dst: flow.edges[0].dst, ..flow.spec.clone() };
        let identity = name.flow(flow.edges[0].number.into(), &spec);
        let (sizes, _) = self.sizes_of(&spec);
        let (way, together) = self.lay_together(name, flow, tells);
        let (handle, stranded) = (spec.handle, way.stranded);
        let key =
            FlowKey { seed: self.state.plan.seed, identity, from: spec.src, to: spec.dst, ports: (0, 0), number: 0 };
        let idle = QueuePair::idle(source, id, key, spec, sizes, way, self.state.now);
        let number = together.flow.edges[0].number.into();
        let of = QueuePair { number, together: Some(Box::new(together)), ..idle };
        let slot = self.flows.insert(of);
        self.sources[source as usize].flows.insert(handle, slot);
        self.tell_shares_together(slot);
        if stranded {
            let now = self.state.now;
            self.tell(source, |of| of.on_stranded(now, handle, true));
        }
    }

    /// Tells the shares where a macro-flow goes. Its ports are many, and kept in one place.
    fn tell_shares_together(&mut self, slot: u32) {
        let flow = &mut self.flows[slot];
        let (hops, class) = (std::mem::take(&mut flow.way.hops), flow.spec.class);
        let acks = flow.together.as_mut().map(|of| std::mem::take(&mut of.acks)).unwrap_or_default();
        self.shares.set_flow(slot, class, hops, acks);
        let limit = self.limit_of(slot);
        self.shares.set_limit(slot, limit);
    }

    /// All messages of a macro-flow as one.
    pub(crate) fn message_together(together: &Together, bytes: u64, name: u32) -> Message {
        let payload = (bytes as f64 * together.shares) as u64;
        Message { payload, wire: together.whole.wire, name, told: true }
    }

    /// A macro-flow goes another way. Returns whether it has one.
    pub(crate) fn reroute_together(&mut self, slot: u32, tells: bool) -> bool {
        let name = self.sources[self.flows[slot].source as usize].name;
        let Some(together) = self.flows[slot].together.take() else { return false };
        let (way, together) = self.lay_together(name, together.flow, tells);
        let found = !way.stranded;
        let flow = &mut self.flows[slot];
        flow.together = Some(Box::new(together));
        flow.way.stranded = !found;
        if found {
            flow.way = way;
            self.tell_shares_together(slot);
        }
        found
    }

    /// Ports of all connections, by the routes of now, and how long their messages take.
    fn lay_together(&self, name: SourceName, flow: Box<MacroFlow>, tells: bool) -> (Way, Together) {
        let ports = self.state.plan.ports();
        let new = || Loads { of: vec![0.0; ports], used: Vec::new() };
        let (mut hops, mut acks) = (new(), new());
        let mut kinds: Vec<(Kind, Idle)> = Vec::new();
        let mut sums = Sums {
            slices: vec![Slices::default(); flow.parts.len()],
            shares: 0.0,
            limit_bps: f64::INFINITY,
            slowest_bps: f64::INFINITY,
            stranded: false,
        };
        for (number, edge) in (0..).zip(&flow.edges) {
            let idle = self.lay_edge(name, &flow, edge, tells, (&mut hops, &mut acks), &mut kinds);
            sums.add(&idle, edge, number, &flow);
        }
        for slices in &mut sums.slices {
            slices.mean_ps /= flow.edges.len() as f64;
            slices.back_ps /= flow.edges.len() as f64;
        }
        let (sizes, _) =
            self.sizes_of(&FlowSpec { src: flow.edges[0].src, dst: flow.edges[0].dst, ..flow.spec.clone() });
        for (slices, part) in sums.slices.iter_mut().zip(&flow.parts) {
            let slice = part.slice_bytes.max(1);
            let last = part.chunk_bytes - (part.chunk_bytes.div_ceil(slice).max(1) - 1) * slice;
            (slices.wire, slices.last_wire) = (sizes.wire(slice.min(part.chunk_bytes)) as f64, sizes.wire(last) as f64);
        }
        let parts: Vec<_> = flow.parts.iter().copied().zip(sums.slices).collect();
        let mut whole = whole(&parts, &flow.pace);
        whole.limit_bps = whole.limit_bps.min(sums.limit_bps);
        let way = Way {
            path: Paths::One(Box::default()),
            hops: hops.take(),
            spread: None,
            back: Vec::new(),
            back_ps: parts.first().map_or(0, |(_, slices)| slices.back_ps as u64),
            slowest_bps: sums.slowest_bps as u64,
            stranded: sums.stranded,
        };
        (way, Together { whole, acks: acks.take(), shares: sums.shares, flow })
    }

    /// One connection: adds what it loads, and yields how it is on an idle network.
    fn lay_edge(
        &self,
        name: SourceName,
        flow: &MacroFlow,
        edge: &Edge,
        tells: bool,
        (loads, acks): (&mut Loads, &mut Loads),
        kinds: &mut Vec<(Kind, Idle)>,
    ) -> Option<Idle> {
        let plan = &*self.state.plan;
        let spec = FlowSpec { src: edge.src, dst: edge.dst, ..flow.spec.clone() };
        let (number, share) = (u64::from(edge.number), f64::from(edge.share));
        let ports = spec.ports_or(name.port(number));
        let identity = name.flow(number, &spec);
        let key = FlowKey { seed: plan.seed, identity, from: spec.src, to: spec.dst, ports, number: 0 };
        let (sizes, transport) = self.sizes_of(&spec);
        let way = self.way_of(&spec, &key, &sizes, tells);
        if way.stranded {
            return None;
        }
        for (port, weight) in way.shares() {
            loads.add(port, share * weight);
        }
        let every = match plan.host(spec.dst).ack_every {
            0 | 1 => 1,
            _ => {
                let (_, base_rtt) = self.times_of(&spec, &way, &sizes);
                self.acks_every(&spec, identity, base_rtt, (&way, &sizes), transport)
            }
        };
        let ack_share = f64::from(sizes.ack) / (f64::from(sizes.full()) * f64::from(every));
        for &port in &way.back {
            acks.add(port, share * ack_share);
        }
        let path = first_path(&way.path);
        let kind = Kind {
            links: path.iter().map(|&port| (plan.fastest(port).rate.bps(), plan.direction(port).delay.ps())).collect(),
            back_ps: way.back_ps,
            sizes: [sizes.mtu, sizes.overhead, sizes.least, sizes.ack],
        };
        let spread = way.spread.is_some();
        if let Some((_, idle)) = kinds.iter().find(|(known, _)| !spread && *known == kind) {
            return Some(idle.clone());
        }
        let slowest_bps = way.slowest_bps as f64;
        let slice = |part: &xoff_fabric::traffic::MacroPart| {
            let (packets, last) = sizes.packets(part.slice_bytes.min(part.chunk_bytes));
            let ideal = match &way.spread {
                Some(hops) => timing::ideal_over_all(plan, hops, packets, sizes.full(), last),
                None => timing::ideal_delivery(plan, path, packets, sizes.full(), last),
            };
            let tau = sizes.wire(part.slice_bytes.min(part.chunk_bytes)) as f64 * 8e12 / slowest_bps;
            let back = if flow.acknowledged { way.back_ps } else { 0 };
            (tau, ideal.ps() as f64 + back as f64 + flow.overhead.ps() as f64)
        };
        let back_ps = if flow.acknowledged { way.back_ps as f64 } else { 0.0 };
        let idle = Idle { slowest_bps, back_ps, slices: flow.parts.iter().map(slice).collect() };
        if kinds.len() < MOST_KINDS {
            kinds.push((kind, idle.clone()));
        }
        Some(idle)
    }

    /// The most that each connection with a share of one may send.
    pub(crate) fn limit_together(&self, together: &Together) -> f64 {
        let cap = together.flow.spec.rate_cap.map_or(f64::INFINITY, |rate| BitRate::bps(rate) as f64);
        together.whole.limit_bps.min(cap)
    }
}

impl Sums {
    fn add(&mut self, idle: &Option<Idle>, edge: &Edge, number: u32, flow: &MacroFlow) {
        let share = f64::from(edge.share);
        self.shares += share;
        let Some(idle) = idle else {
            self.stranded = true;
            return;
        };
        self.limit_bps = self.limit_bps.min(idle.slowest_bps / share);
        self.slowest_bps = self.slowest_bps.min(idle.slowest_bps);
        for (slices, &(tau, all)) in self.slices.iter_mut().zip(&idle.slices) {
            slices.mean_ps += all;
            slices.back_ps += idle.back_ps;
            slices.most_ps = slices.most_ps.max(all);
            slices.tau_ps = slices.tau_ps.max(tau);
            if matches!(&flow.pace, Pace::Path(path) if path.contains(&number)) {
                slices.path_ps += all;
            }
        }
    }
}
